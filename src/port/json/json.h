// json: diagrams for programs in other languages, and back. `diagram_json` writes a diagram down;
// `json_program` makes a limn program of what was read.
#ifndef LIMN_PORT_JSON_JSON_H
#define LIMN_PORT_JSON_JSON_H

#include "core/diagram/diagram.h"
#include "port/out/out.h"

enum { DIAGRAM_JSON_VERSION = 1 };

void diagram_json(World *, const Diagram *, Buf *); // with all diagrams it calls, callees first

typedef struct {
  const char *from, *to; // what a weight is called in the file, and in the program
} JsonRename;
typedef struct {
  const char *text; // its last declaration is the main diagram
  VEC(JsonRename) rename;
} JsonProgram;
// With `places`, comments in the program say of which part of the file its lines were made.
bool json_program(Arena *, const char *text, size_t n, bool places, JsonProgram *,
                  const char **error);
bool export_json(Export *);

#endif
