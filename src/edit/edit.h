// edit: language services for editors: hover, definition, references, rename, completion, tokens,
// folding, diagnostics, code actions, and edits made in a picture.
//
//   elab_note_uses(in);                                    // before the program is elaborated
//   const EditIndex *index = edit_index(arena, in, program);
//   EditText now = edit_text(arena, index, text, n);       // the current text
//   const char *json = edit_answer(&(EditQuestion){.index = index, .now = &now, .arena = arena, …}, "hover");
//
// Name resolution is what elaboration noted (lang/value/uses.c); nothing is resolved twice. The
// user may have edited the text since it was checked: offsets before and after the changed region are
// translated. Answers are JSON in the shapes of the Language Server Protocol, over any transport.
#ifndef LIMN_EDIT_EDIT_H
#define LIMN_EDIT_EDIT_H

#include "lang/program/program.h"
#include "lang/value/value.h"

// What a name refers to.
typedef struct {
  Span first; // its declaration; file 0: it has none in a text
  NamedKind kind;
  const Def *def;       // NAMED_DEF
  const char *types[2]; // of a wire: at its definition, and at a use if that differs
  const Syntax *decl;   // the declaration itself, if it is one of a file
  uint32_t inside;      // the number of the enclosing declaration + 1; 0: a declaration of the file
} EditSymbol;
typedef struct {
  Span at;
  uint32_t symbol;
} EditUse;
typedef struct EditIndex EditIndex;
EditIndex *edit_index(Arena *, Elab *, Program *);

// The current text with its lines, and where it differs from the text that was checked.
typedef struct {
  const char *text;
  uint32_t n, nline;
  const uint32_t *line;
  uint32_t same_before, same_after; // lengths of the common prefix and suffix
  int64_t shift; // the offset of the suffix now, minus its offset in the checked text
} EditText;
EditText edit_text(Arena *, const EditIndex *, const char *text, size_t n);

typedef struct {
  uint32_t line, character; // from 0, in units of the protocol
} EditPosition;
typedef struct {
  const EditIndex *index;
  const EditText *now;
  Arena *arena; // of the answer
  const Diags *diags;
  EditPosition at, end;
  const char *text;    // of `rename`: the new name
  const char *library; // the URI of the library's text
  const char *root;    // the folder that file:/// stands for, or NULL
  const char *own;     // the URI of an unsaved text, or NULL
  bool utf8;           // characters count bytes; otherwise UTF-16 units
  bool no_declaration; // of `references`: leave out the declaration
  // For `hover`: one line about the cost of a declaration, or NULL.
  const char *(*cost)(void *context, const Def *);
  void *cost_of;
  const char *refused; // why there is no answer
  // Set by `gesture`: the resulting text, which the caller checks before it offers the edit, and the
  // span that the edit is about.
  const char *result;
  size_t result_n;
  Span result_at;
} EditQuestion;
// The answer as JSON. NULL: no such question, or refused: `refused` says why.
const char *edit_answer(EditQuestion *, const char *question);
bool edit_is_plain(EditQuestion *); // the index has every use: `rename` needs no second check
// The text that `rename` results in; and whether two texts resolve their names alike.
const char *edit_renamed(EditQuestion *, size_t *n);
bool edit_same_names(const EditIndex *, const EditIndex *, Arena *scratch);
// The answer to `gesture` that refuses the edit.
const char *edit_refusal(EditQuestion *, const char *why);

#endif
