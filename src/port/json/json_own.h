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
  bool said;                // the program has it
  bool random;              // it draws numbers, or calls who does
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
  bool samples_shown; // the axis of the samples is written as any other
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
bool axis_shown(const Reading *, const ReadType *, uint32_t axis);
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
void type_write(const Reading *, const ReadType *, Buf *);
uint32_t type_rank(const Reading *, const ReadType *); // of what is shown

#endif
