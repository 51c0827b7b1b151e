// Private to edit: the index of a program, and helpers that write answers.
#ifndef LIMN_EDIT_EDIT_OWN_H
#define LIMN_EDIT_EDIT_OWN_H

#include "base/source.h"
#include "edit/edit.h"

struct EditIndex {
  World *w;
  Elab *in;
  const Program *program;
  const Sources *sources;
  uint32_t file; // the program's own file
  const Syntax *tree;
  VEC(EditUse) use; // sorted by file and offset
  VEC(EditSymbol) symbol;
  VEC(Span) declaration;       // of the program's own file
  VEC(const Syntax *) equated; // left sides of equations, in source order
  VEC(const Syntax *) block;   // bodies in braces
  // [def] what elaboration found out about a definition: an axis's size, a type; or NULL
  const char **fact;
  Table *named; // name as text to Def, for the definitions of this program's files
  // Every definition visible in this file: its own, those of used files, the library's.
  VEC(const Def *)
  def;
};

// index.c
// the name at this offset; NULL: none
const EditUse *edit_use_at(const EditIndex *, uint32_t file, uint32_t at);
const EditSymbol *edit_symbol(const EditIndex *, const EditUse *);
const Def *edit_def_named(const EditIndex *, const char *text, size_t n); // NULL: none
const char *edit_fact(const EditIndex *, const Def *);                    // NULL: none
uint32_t edit_declaration_at(const EditIndex *, uint32_t at);             // its number + 1; 0: none
const Syntax *edit_def_node(const Def *);                                 // its declaration

// place.c
uint32_t position_offset(const EditQuestion *, EditPosition); // offset in the current text
// The offset in the checked text; false: it lies in the changed part.
bool offset_when_checked(const EditQuestion *, uint32_t now, uint32_t *then);
// The inverse; false: the span was changed.
bool span_offset_now(const EditQuestion *, Span, uint32_t *at);
// a range of the current text
void json_range_now(const EditQuestion *, JsonOut *, const char *key, uint32_t at, uint32_t n);
// Of any file; false: the span was changed.
bool json_span(const EditQuestion *, JsonOut *, const char *key, Span);
// The span must not have been changed.
void json_location(const EditQuestion *, JsonOut *, const char *key, Span);
void json_edit(const EditQuestion *, JsonOut *, uint32_t at, uint32_t n, const char *text);
const char *edit_uri(const EditQuestion *, uint32_t file);
typedef struct {
  uint32_t at, n;   // the bytes replaced
  const char *text; // the replacement
} TextChange;
typedef VEC(TextChange) TextChanges;
// The current text after changes, which are sorted and do not overlap; *n: its length.
const char *text_with_changes(const EditQuestion *, const TextChanges *, size_t *n);
EditPosition position_at(const EditQuestion *, uint32_t offset); // of an offset in the current text
// Of any text.
void json_range_in(const EditQuestion *, JsonOut *, const char *key, const char *text, size_t n,
                   Span);

// rename.c
typedef VEC(Span) Spans;
bool is_new_name(Arena *, const char *text); // may a declaration have this name?
bool rename_places(EditQuestion *, Spans *); // all uses of the symbol at `at`; false: refused
// The word that contains or touches the offset: returns its length (0: none) and sets *at to its
// beginning.
uint32_t word_around(const EditText *, uint32_t offset, uint32_t *at);
bool is_word_byte(char);

// known.c
typedef struct {
  const char *name, *form, *doc;
} KnownWord;
const KnownWord *known_word(const char *name); // a keyword or standard value of the language
// a box built into the compiler, or a function
const KnownWord *known_box(Arena *, const char *name);
const char *known_word_name(uint32_t k); // NULL after the last
const char *known_box_name(uint32_t k);  // of a box or function; NULL after the last

// describe.c
const char *def_header(Arena *, const EditIndex *, const Def *); // box f(x: R[n]) -> R[]
const char *span_header(Arena *, const EditIndex *, const Syntax *);
const char *comment_above(Arena *, const Source *, uint32_t at); // "" if there is none
const Syntax *
declared_options(const Syntax *); // N_CFG of a box or machine; NULL: it has no options
const char *symbol_text(const EditQuestion *, const EditSymbol *, Span name);
const char *symbol_word(const EditSymbol *); // its kind, in one word: "axis", "learner" …

// answers
bool answer_hover(EditQuestion *, JsonOut *);
bool answer_definition(EditQuestion *, JsonOut *);
bool answer_references(EditQuestion *, JsonOut *);
bool answer_highlight(EditQuestion *, JsonOut *);
bool answer_prepare(EditQuestion *, JsonOut *);
bool answer_rename(EditQuestion *, JsonOut *);
bool answer_rename_in(EditQuestion *, JsonOut *);
bool answer_completion(EditQuestion *, JsonOut *);
bool answer_signature(EditQuestion *, JsonOut *);
bool answer_symbols(EditQuestion *, JsonOut *);
bool answer_tokens(EditQuestion *, JsonOut *);
bool answer_legend(EditQuestion *, JsonOut *);
bool answer_folding(EditQuestion *, JsonOut *);
bool answer_hints(EditQuestion *, JsonOut *);
bool answer_actions(EditQuestion *, JsonOut *);
bool answer_messages(EditQuestion *, JsonOut *);
bool answer_box(EditQuestion *, JsonOut *);
bool answer_gesture(EditQuestion *, JsonOut *);
bool answer_palette(EditQuestion *, JsonOut *);
bool answer_numbers(EditQuestion *, JsonOut *);

#endif
