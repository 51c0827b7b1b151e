// Private to edit: the index of a program, and what its answers are written with.
#ifndef LIMN_EDIT_EDIT_OWN_H
#define LIMN_EDIT_EDIT_OWN_H

#include "edit/edit.h"

struct EditIndex {
  World *w;
  Elab *in;
  const Program *program;
  const Sources *sources;
  uint32_t file; // the program's own
  const Syntax *tree;
  VEC(EditUse) use; // by file and place
  VEC(EditSymbol) symbol;
  VEC(Span) declaration;       // of the program's own file
  VEC(const Syntax *) equated; // left sides of equations, in the order of the text
  VEC(const Syntax *) block;   // what is between braces
  const char *
      *fact;    // [def] what is known of it beside its text: the size of an axis, a type; or NULL
  Table *named; // text to the Def that a file of this program calls so
  VEC(const Def *)
  def; // all that can be named in this file: its own, those of used files, the library's
};

// index.c
const EditUse *edit_use_at(const EditIndex *, uint32_t file, uint32_t at); // the name here; or NULL
const EditSymbol *edit_symbol(const EditIndex *, const EditUse *);
const Def *edit_def_named(const EditIndex *, const char *text, size_t n); // NULL: none
const char *edit_fact(const EditIndex *, const Def *);                    // NULL: none
uint32_t edit_declaration_at(const EditIndex *, uint32_t at);             // + 1; 0: none
const Syntax *edit_def_node(const Def *);                                 // its declaration

// place.c
uint32_t place_offset(const EditAsk *, EditPlace);                 // in the text as it is by now
bool place_checked(const EditAsk *, uint32_t now, uint32_t *then); // in the one that was looked at
bool span_now(const EditAsk *, Span, uint32_t *at);                // and back; false: it has gone
void json_range_of(const EditAsk *, JsonOut *, const char *key, uint32_t at, uint32_t n); // by now
bool json_span(const EditAsk *, JsonOut *, const char *key,
               Span); // of any file; false: it has gone
void json_location(const EditAsk *, JsonOut *, const char *key, Span); // which has not
void json_edit(const EditAsk *, JsonOut *, uint32_t at, uint32_t n, const char *text);
const char *edit_uri(const EditAsk *, uint32_t file);
EditPlace place_at(const EditAsk *, uint32_t offset); // in the text as it is by now
void json_range_in(const EditAsk *, JsonOut *, const char *key, const char *text, size_t n,
                   Span); // of any text

// rename.c
typedef VEC(Span) Spans;
bool is_new_name(Arena *, const char *text); // something can be called so
bool rename_places(EditAsk *, Spans *);      // all places of the name at `at`; false: refused
// The word around a place: how many bytes from *at on; 0: none.
uint32_t word_around(const EditText *, uint32_t offset, uint32_t *at);
bool is_word_byte(char);

// known.c
typedef struct {
  const char *name, *form, *doc;
} KnownWord;
const KnownWord *known_word(const char *name); // of the language
const KnownWord *known_box(Arena *,
                           const char *name); // that the compiler makes itself, or a function
const char *known_word_name(uint32_t k);      // NULL after the last
const char *known_box_name(uint32_t k);       // of a box or function; NULL after the last

// describe.c
const char *def_header(Arena *, const EditIndex *, const Def *); // box f(x: R[n]) -> R[]
const char *span_header(Arena *, const EditIndex *, const Syntax *);
const char *comment_above(Arena *, const Source *, uint32_t at); // "" where there is none
const char *symbol_text(const EditAsk *, const EditSymbol *, Span name);
const char *symbol_word(const EditSymbol *); // what it is, in a word

// answers
bool answer_hover(EditAsk *, JsonOut *);
bool answer_definition(EditAsk *, JsonOut *);
bool answer_references(EditAsk *, JsonOut *);
bool answer_highlight(EditAsk *, JsonOut *);
bool answer_prepare(EditAsk *, JsonOut *);
bool answer_rename(EditAsk *, JsonOut *);
bool answer_rename_in(EditAsk *, JsonOut *);
bool answer_completion(EditAsk *, JsonOut *);
bool answer_signature(EditAsk *, JsonOut *);
bool answer_symbols(EditAsk *, JsonOut *);
bool answer_tokens(EditAsk *, JsonOut *);
bool answer_legend(EditAsk *, JsonOut *);
bool answer_folding(EditAsk *, JsonOut *);
bool answer_hints(EditAsk *, JsonOut *);
bool answer_actions(EditAsk *, JsonOut *);
bool answer_messages(EditAsk *, JsonOut *);
bool answer_box(EditAsk *, JsonOut *);
bool answer_gesture(EditAsk *, JsonOut *);
bool answer_palette(EditAsk *, JsonOut *);
bool answer_numbers(EditAsk *, JsonOut *);

#endif
