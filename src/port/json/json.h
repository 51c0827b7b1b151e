// json: diagrams as JSON, for programs in other languages. `diagram_json` writes a diagram;
// `json_program` makes a limn program from one.
#ifndef LIMN_PORT_JSON_JSON_H
#define LIMN_PORT_JSON_JSON_H

#include "core/diagram/diagram.h"
#include "port/out/out.h"

enum { DIAGRAM_JSON_VERSION = 1 };

void diagram_json(World *, const Diagram *, Buf *); // with all callees, which come first

typedef struct {
  const char *from, *to; // the path of a weight in the file, and in the program
} JsonRename;
typedef struct {
  const char *text; // its last declaration is the main diagram
  VEC(JsonRename) rename;
} JsonProgram;
// With `places`, comments say which part of the file a line comes from.
bool json_program(Arena *, const char *text, size_t n, bool places, JsonProgram *,
                  const char **error);
bool export_json(Export *);

#endif
