// The text of diagrams, read: words, sizes and scalars, for diagram_read.c (the grammar is in
// text_own.h).
#ifndef LIMN_DIAGRAM_TEXT_H
#define LIMN_DIAGRAM_TEXT_H

#include "core/diagram/text_own.h"

// -- diagram_lex.c --------------------------------------------------------------------------------
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

// -- diagram_scalar.c -----------------------------------------------------------------------------
// base: of the result; BASE_NONE = any
bool read_scalar(DiagramText *, Loop *, const uint8_t *operand_base, uint8_t base, uint32_t *out);

#endif
