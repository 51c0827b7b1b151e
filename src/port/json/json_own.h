// Private to json: diagrams as read from JSON, before they become a program.
#ifndef LIMN_PORT_JSON_JSON_OWN_H
#define LIMN_PORT_JSON_JSON_OWN_H

#include "io/bytes/bytes.h"
#include "port/json/json.h"

enum { PASS_LIMIT = 64 }; // axes over which a diagram is mapped

typedef struct {
  const char *base;  // R, B or {n}
  const char *count; // the range of labels; NULL: no labels
  uint32_t rank;
  const char **size; // of each axis
  uint32_t *passes;  // number of a mapped axis; 0: not mapped
} ReadType;
typedef struct {
  const char *name; // in the program
  ReadType type;
  bool used; // it has a reader
} ReadWire;
typedef struct {
  uint32_t wire;
  const char *role, *path;
  const char *was; // the path in the file
  bool rooted;
  const Json *init;
  uint32_t next; // a wire + 1, or 0
} ReadParam;
typedef struct ReadDiagram ReadDiagram;
typedef struct {
  const Json *json;
  const char *op;
  uint32_t first, n;   // its results
  ReadDiagram *callee; // of a call or scan; NULL
  Ids in, params;      // wires; of a scan: slices, carries, holds. A loop has reads instead
  uint32_t slices, carries;
} ReadBox;
typedef struct {
  const char *from, *to;
} SizeShort;
struct ReadDiagram {
  const Json *json;
  const char *key, *name; // in the file, in the program
  Table *wire_table;      // key to number + 1
  Table *size_table;      // what a size is called in the file, to number + 1
  VEC(const char *) size; // size variables, local to this diagram
  VEC(SizeShort) brief;   // input sizes replaced by a variable: `h//2` if h occurs nowhere else
  Table *taken;           // names of wires, and names that they must not hide
  VEC(ReadWire) wire;
  VEC(ReadParam) param;
  VEC(ReadBox) box;
  uint32_t nin;
  Ids out;
  VEC(const char *) result; // names in the header; none: unnamed
  Table *thing_table;       // path component to number + 1
  VEC(const char *) thing;  // instances: callees used several times with the same weights
  const char **path;        // [param] its path in the program; NULL: unknown
  bool learner;             // declared with `learn` at the top
  bool cell;                // it is the body of a scan
  bool plain;               // its results are only the carried values, which are also emitted
  uint32_t slices, carries; // inputs of the scan body; held values follow
  bool said;                // it is written into the program
  bool random;              // it draws noise, also in callees
  bool shown;               // mapped axes are written explicitly
};
typedef struct {
  Arena *arena;
  const Json *root, *at;  // of the file; and the current part, for messages
  VEC(const Json *) made; // parts of the file by number, referred to by marks in the text
  Table *size_table;      // names of sizes in the file
  ReadDiagram *in;        // the diagram being read
  Table *diagram_table;   // key to number + 1
  VEC(ReadDiagram) diagram;
  Table *taken;      // top-level names
  Table *roots;      // weights declared at the top
  Table *root_table; // path in the file to number + 1
  VEC(const char *) root_name;
  uint32_t main;
  bool opened; // weights are wires: main owns them and passes them to callees
  const char **error;
} Reading;

bool json_reading(Reading *, const Json *root);
// The path of a part of the file relative to another one: boxes[3].in[0].
const char *json_path(Arena *, const Json *below, const Json *part);
// Records the first error, with its diagram. Returns false.
bool reading_error(Reading *, const ReadDiagram *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t reading_wire(Reading *, const ReadDiagram *, const Json *key); // + 1; 0 with an error
ReadDiagram *reading_diagram(const Reading *, const char *key);         // NULL: there is none
const char *reading_size(Reading *, const Json *);                      // NULL: an error
// Replaces input sizes whose variables occur nowhere else by a variable of this diagram.
void sizes_shorten(Reading *, ReadDiagram *);
const char *place_size(Reading *, const char *size);    // in a form for coordinates and values
const char *size_variable(const char *size, size_t *n); // the first variable, or NULL
// Sizes are compared by their values for several assignments of their variables.
enum { SIZE_ROUNDS = 8 };
void size_samples(const char *size, double to[SIZE_ROUNDS]);
bool samples_equal(const double a[SIZE_ROUNDS], const double b[SIZE_ROUNDS]);
const char *reading_name(Reading *, Table *taken, const char *key); // an unused identifier
// The same for local names, whose number suffix does not matter.
const char *reading_new_name(Reading *, Table *taken, const char *key);
double json_real(const Json *);                             // a number, or "inf", "-inf", "nan"
const char *json_word(const Json *object, const char *key); // "" if absent
// Iterates over the items of a list with their index; `list` may be NULL.
#define EACH_ITEM(item, i, list)                                                                   \
  const Json *item = (list) && (list)->kind == JSON_LIST ? json_first(list) : NULL;                \
  for (uint32_t i = 0; item && i < (list)->n; i++, item = i < (list)->n ? json_next(item) : NULL)

// equation.c: writes a loop as an index equation
typedef struct {
  Reading *r;
  ReadDiagram *d;
  Buf *out;
  Buf *boxes;       // helper boxes, written before the current box
  uint32_t helpers; // their number
  bool returns;     // the diagram is one box, so its equation can be the body
  bool returned;    // and it was written so
} Writing;
bool loop_equation(Writing *, const ReadBox *);
const ReadParam *param_of(const ReadDiagram *, uint32_t wire);   // NULL: no param
bool param_is_own(const ReadParam *);                            // not of a callee
const char *index_name(Writing *, Table *own, const char *word); // distinct from wires
// The path component that a call adds to the paths of its params; NULL: the callee has no weights of
// its own. False with an error if the paths have no common component.
bool call_path_component(Writing *, const ReadBox *, const char **segment);
bool callee_name(Writing *, const ReadBox *, const char **name);
ReadDiagram *written_diagram(Reading *, ReadDiagram *callee, bool thing);

// opened.c: weights as wires, if they cannot be attributed to boxes
void weights_to_wires(Reading *);
bool param_is_argument(const Reading *, const ReadDiagram *,
                       const ReadParam *); // passed as argument

// scan.c: scans and their bodies
void cell_note(const ReadBox *scan, ReadDiagram *cell);
Ids diagram_inputs(const Reading *, const ReadDiagram *);  // in the order of its header
Ids diagram_results(const Reading *, const ReadDiagram *); // the same
void cell_inputs_write(Writing *, uint32_t before);        // inputs that the body does not read
bool scan_write(Writing *, const ReadBox *);

// shown.c: hides axes over which a whole diagram is mapped
void find_visible_axes(Reading *);
bool axis_is_visible(const ReadDiagram *, const ReadType *, uint32_t axis);
uint32_t type_rank(const ReadDiagram *, const ReadType *); // without hidden axes
void type_write(const ReadDiagram *, const ReadType *, Buf *);

#endif
