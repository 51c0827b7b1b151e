// text: what printing, reading and comparing diagrams share. Inside this folder only.
//
//   file      = { "sizes" { name [ ":" kind ] } | "names" number "=" { name } | diagram
//               | "reverse" name "=" name | "main" name }
//   diagram   = "diagram" name "(" [ name ":" type { "," name ":" type } ] ")" { param } { box }
//               "return" { name } { "next" name "=" name }
//   param     = ( "weight" | "buffer" | "clock" | "const" ) name ":" type string
//               [ "rooted" ] [ "init" init ]
//   init      = "const" number | "normal" | "uniform" | "glorot" size size | "he" size size
//               | "orthogonal" | "diagram" name | "data" "[" { number } "]"
//   box       = result { "," result } "=" operation
//   result    = name [ access ] ":" type
//   operation = ( "map" | "sum" | "prod" | "max" | "min" ) { name [ access ] [ "else" number ] }
//               "over" { name ":" size } ":" { name ":=" scalar ";" } scalar
//               | "join" number { name }
//               | "order" number name
//               | "random" ( "normal" | "uniform" ) number
//               | "call" name "(" { name } [ ";" { name } ] ")" [ "at" number ]
//               | "scan" name "over" name ":" size [ "back" ]
//                 "(" slices ";" carries ";" holds ";" params ")"
//   access    = "[" { coord } "]"
//   coord     = sums of  3  i  2*i  $0  {n+1}*i  {n}   without spaces
//   type      = ( "R" | "B" | "{" size [ "of" number ] "}" ) [ "[" { axis } "]" ]
//   axis      = ( label [ ":" size ] | ":" size | size ) [ "~" pass ]
//
// "map" is a sum in which every index is an axis of the result: nothing is added up.
// A name that is not a plain word, or one of the words above, stands in quotes; no name at all is %.
// Where a name was taken, .2, .3 … follow it; they only tell things apart. From @ to the end of a
// line is comment.
#ifndef LIMN_CORE_DIAGRAM_TEXT_OWN_H
#define LIMN_CORE_DIAGRAM_TEXT_OWN_H

#include "core/diagram/diagram.h"

// -- text_names.c ---------------------------------------------------------------------------------
typedef VEC(const Diagram *) Diagrams;
typedef struct {
  Diagrams diagrams;    // callees first; those that are only reverses come last
  const char **diagram; // [Diagram.id] its unique text
  Ids vars;             // size variables in use, by number
  const char **var;     // [variable] its unique text; NULL when not in use
  Ids label_names;      // lists of names in use, in order of use
} Cast;
Cast *cast_of(World *, const Diagram *root);
const char *cast_size(World *, const Cast *, Size);
bool is_plain_name(const char *text); // needs no quotes
const char *name_unique(World *, Table *taken, Name);
Ids wires_in_order(World *, const Diagram *); // inputs, params, then the outputs of the boxes
// Scalars that compute the same get the same number, from 1; loops that share a table can be
// compared.
uint32_t *scalar_numbers(World *, const Cast *, const Loop *, Table *);

// -- text_lex.c -----------------------------------------------------------------------------------
typedef enum { T_END, T_NAME, T_NUMBER, T_OPERAND, T_SYMBOL } TokKind;
enum {
  SYM_FLOOR = 'F',
  SYM_LE = 'l',
  SYM_GE = 'g',
  SYM_NE = 'n',
  SYM_BIND = 'd'
}; // // <= >= != :=
typedef struct {
  uint8_t kind;
  bool spaced;    // white space stands before it
  bool quoted;    // T_NAME
  char symbol;    // T_SYMBOL: the character, or a SYM_
  const char *at; // T_NAME: its text, without quotes
  uint32_t n;
  uint32_t suffix; // T_NAME: the number after the point, or 0
  double number;   // T_NUMBER
  uint64_t whole;  // T_NUMBER, T_OPERAND: the same, if it is a whole number written without point
  bool is_whole;
  Span span;
} Tok;
typedef struct {
  World *w;
  Arena *arena; // for what is needed while reading
  const char *text;
  uint32_t n, at; // at: behind the present token
  uint32_t file;
  bool quiet;  // report nothing
  bool failed; // from then on every token is T_END
  uint32_t depth;
  Tok tok;          // the present one
  const Table *var; // names of size variables, by tok_key; NULL = there are none
} DiagramText;
void text_start(DiagramText *);
void text_next(DiagramText *);
__attribute__((format(printf, 2, 3))) void text_error(DiagramText *, const char *format, ...);
bool is_symbol(const DiagramText *, char);
bool is_word(const DiagramText *, const char *); // this word, not in quotes
bool take_symbol(DiagramText *, char);           // eats it, if it stands there
bool take_word(DiagramText *, const char *);
void want_symbol(DiagramText *, char); // eats it, or fails
void want_word(DiagramText *, const char *);
Name tok_name(const DiagramText *);                  // without the number
const char *tok_key(const DiagramText *, size_t *n); // what tells it apart: text and number
bool text_deeper(DiagramText *);           // one level down; false, with an error, when too deep
Size read_size(DiagramText *, bool glued); // glued: operators must follow without space

// -- text_scalar.c --------------------------------------------------------------------------------
typedef struct {
  const uint8_t *operand_base; // [operand] or NULL when not known
  const char *const *name;     // names that stand for scalars of the loop
  const uint32_t *value;
  uint32_t n;
  uint8_t base; // of the result; BASE_NONE = any
} ScalarScope;
bool read_scalar(DiagramText *, Loop *, const ScalarScope *, uint32_t *out);

#endif
