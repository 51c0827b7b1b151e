// json_own: diagrams as they were read, before they become a program. Inside this folder only.
#ifndef LIMN_PORT_JSON_JSON_OWN_H
#define LIMN_PORT_JSON_JSON_OWN_H

#include "io/bytes/bytes.h"
#include "port/json/json.h"

enum { PASS_LIMIT = 64 }; // axes that pass over a diagram

typedef struct {
  const char *base;  // R, B or {n}
  const char *count; // of labels: how many there are; NULL: these are none
  uint32_t rank;
  const char **size; // of each axis
  uint32_t *passes;  // it passes over the whole diagram: which of those; 0: it does not
} ReadType;
typedef struct {
  const char *name; // in the program
  ReadType type;
  bool used; // something reads it
} ReadWire;
typedef struct {
  uint32_t wire;
  const char *role, *path;
  const char *was; // its path in the file
  bool rooted;
  const Json *init;
  uint32_t next; // a wire + 1, or 0
} ReadParam;
typedef struct {
  const Json *json;
  uint32_t first, n; // its results: wires
} ReadBox;
typedef struct {
  const char *from, *to;
} SizeShort;
typedef struct {
  const Json *json;
  const char *key, *name; // in the file, in the program
  Table *wire_table;      // key to number + 1
  Table *size_table;      // what a size is called in the file, to number + 1
  VEC(const char *) size; // its variables: they mean something in this diagram alone
  VEC(SizeShort) brief; // sizes that are variables here: `h//2` of an input that nothing else says
  Table *taken;         // names of wires and whatever they must not hide
  VEC(ReadWire) wire;
  VEC(ReadParam) param;
  VEC(ReadBox) box;
  uint32_t nin;
  Ids out;
  VEC(const char *) result; // what its header calls them; none: it does not
  Table *thing_table;       // words in paths to number + 1
  VEC(const char *) thing;  // what is used more than once with the same weights
  Table *shared;            // how many calls have which weights
  const char **path;        // of its params, in the program; NULL: not yet found
  bool learner;             // a thing of its own, declared at the top with `learn`
  bool cell;                // a scan repeats it
  bool plain;               // it gives what it carries, which is what is emitted, and takes no more
  uint32_t slices, carries; // of the scan; behind these inputs are those that it holds
  bool said;                // the program has it
  bool random;              // it draws numbers, or calls who does
  bool shown;               // axes that pass over it are written as any other
} ReadDiagram;
typedef struct {
  Arena *arena;
  const Json *root, *at;  // of the file; and what is being looked at, for messages
  VEC(const Json *) made; // what lines were made of, by number: marks in the text
  Table *size_table;      // what sizes are called in the file
  ReadDiagram *in;        // whose sizes are read
  Table *diagram_table;   // key to number + 1
  VEC(ReadDiagram) diagram;
  Table *taken;      // names at the top
  Table *roots;      // weights that are declared there
  Table *root_table; // their paths in the file to number + 1
  VEC(const char *) root_name;
  uint32_t main;
  bool opened; // weights are wires: main has them, and hands them to all that it calls
  const char **error;
} Reading;

bool json_reading(Reading *, const Json *root);
// boxes[3].in[0]: where a part of the file is, below another one.
const char *json_path(Arena *, const Json *below, const Json *part);
// What is wrong, and in which diagram: false. Only the first is kept.
bool reading_error(Reading *, const ReadDiagram *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t reading_wire(Reading *, const ReadDiagram *, const Json *key); // + 1; 0 with an error
ReadDiagram *reading_diagram(Reading *, const ReadDiagram *, const Json *key); // NULL: an error
const char *reading_size(Reading *, const Json *);                             // NULL: an error
// An input's size of which only the whole is seen becomes a variable of this diagram.
void sizes_shorten(Reading *, ReadDiagram *);
const char *place_size(Reading *, const char *size);    // as it stands in a place, or in a value
const char *size_variable(const char *size, size_t *n); // the first one in it, or NULL
// Sizes are equal where they are for numbers in the place of their variables.
enum { SIZE_ROUNDS = 8 };
void size_samples(const char *size, double to[SIZE_ROUNDS]);
bool samples_equal(const double a[SIZE_ROUNDS], const double b[SIZE_ROUNDS]);
const char *reading_name(Reading *, Table *taken, const char *key); // a word that is free there
// The same for what has no name of its own outside: which of several it was does not matter.
const char *reading_new_name(Reading *, Table *taken, const char *key);
double json_real(const Json *);                             // a number, or "inf", "-inf", "nan"
const char *json_word(const Json *object, const char *key); // "" where there is none
// The items of a list, each with its number; none where there is no list.
#define EACH_ITEM(item, i, list)                                                                   \
  const Json *item = (list) && (list)->kind == JSON_LIST ? json_first(list) : NULL;                \
  for (uint32_t i = 0; item && i < (list)->n; i++, item = i < (list)->n ? json_next(item) : NULL)

// equation.c: a loop as an index equation
typedef struct {
  Reading *r;
  ReadDiagram *d;
  Buf *out;
  Buf *boxes;       // helpers, which stand in front of the box at hand
  uint32_t helpers; // how many there were
  bool returns;     // the result of the only box is that of the diagram
  bool returned;    // it was written so
} Writing;
bool loop_equation(Writing *, const ReadBox *);
const ReadParam *param_of(const ReadDiagram *, uint32_t wire); // NULL: it is none
bool param_is_own(const ReadParam *);                          // of this diagram itself
// The wires that a box lists under a key. False with an error.
bool wires_read(Writing *, const ReadBox *, const char *key, Ids *);
const char *index_name(Writing *, Table *own, const char *word); // one that is no wire here
// The one word that stands for the call in the paths of its params; NULL: it has none of its own. False
// with an error where there is no such word.
bool call_segment(Writing *, const ReadDiagram *callee, const Json *params, const char **segment);
bool reading_call(Writing *, const ReadDiagram *callee, const Json *params, const char **name);
ReadDiagram *said_for(Reading *, ReadDiagram *callee, bool thing);

// opened.c: weights as wires, where the boxes that own them cannot be said
void open_all(Reading *);
bool param_open(const Reading *, const ReadDiagram *, const ReadParam *); // handed in

// scan.c: scans, and the diagrams that they repeat
void cell_note(const ReadBox *scan, ReadDiagram *cell);
Ids diagram_inputs(const Reading *, const ReadDiagram *);  // in the order of its header
Ids diagram_results(const Reading *, const ReadDiagram *); // the same
void cell_inputs_write(Writing *, uint32_t before);        // those that nothing in it reads
bool scan_write(Writing *, const ReadBox *);

// shown.c: axes that pass over a diagram, which are left out of it where they only go along
void shown_find(Reading *);
bool axis_shown(const ReadDiagram *, const ReadType *, uint32_t axis);
uint32_t type_rank(const ReadDiagram *, const ReadType *); // of what is shown
void type_write(const ReadDiagram *, const ReadType *, Buf *);

#endif
