// edit: what an editor asks of a program: what stands at a place, where it is declared and used, what
// could be written there, how it is coloured and folded, what is wrong with it and what helps.
//
//   elab_note_uses(in);                                    // before the program is elaborated
//   const EditIndex *index = edit_index(arena, in, program);
//   EditText now = edit_text(arena, index, text, n);       // as it is by now
//   const char *json = edit_answer(&(EditAsk){.index = index, .now = &now, .arena = arena, …}, "hover");
//
// What names mean is what the elaboration found (lang/value/uses.c); there is no second way to find
// out. The text may have gone on since: places before and behind what changed are still known.
// Answers are JSON in the shapes of the Language Server Protocol, so that every editor can have them,
// whoever carries them there.
#ifndef LIMN_EDIT_EDIT_H
#define LIMN_EDIT_EDIT_H

#include "lang/program/program.h"
#include "lang/value/value.h"

// A name and everything that is known of what it means.
typedef struct {
  Span first; // where it is declared; file 0: nowhere in a text
  NamedKind kind;
  const Def *def;       // NAMED_DEF
  const char *types[2]; // of a wire, as they are first known, and in a use where that differs
  const Syntax *decl;   // the declaration that it is, of a file
  uint32_t inside; // the declaration of the text that it stands in + 1; 0: none, or a file's own
} EditSymbol;
typedef struct {
  Span at;
  uint32_t symbol;
} EditUse;
typedef struct EditIndex EditIndex;
EditIndex *edit_index(Arena *, Elab *, Program *);

// A text with its lines, and how it differs from the one that was looked at.
typedef struct {
  const char *text;
  uint32_t n, nline;
  const uint32_t *line;
  uint32_t before, behind; // bytes that are the same at the beginning and at the end
  int64_t moved;           // how much further back the end stands
} EditText;
EditText edit_text(Arena *, const EditIndex *, const char *text, size_t n);

typedef struct {
  uint32_t line, character; // from 0, as the protocol counts
} EditPlace;
typedef struct {
  const EditIndex *index;
  const EditText *now;
  Arena *arena; // of the answer
  const Diags *diags;
  EditPlace at, end;
  const char *text;    // of `rename`: the new name
  const char *library; // the address of the library's text
  const char *root;    // the folder that file:/// is, or NULL
  const char *own;     // the address of a text that is in no file, or NULL
  bool utf8;           // characters are bytes; otherwise units of UTF-16
  bool no_declaration; // of `references`: those behind it only
  // What a declaration costs, in a line; or NULL. Of what `hover` is about.
  const char *(*cost)(void *context, const Def *);
  void *cost_of;
  const char *refused; // why there is no answer
  // Of `gesture`: the text that comes out of it, to be looked at before it is offered, and the place that
  // it is about.
  const char *made;
  size_t made_n;
  Span made_at;
} EditAsk;
// The answer as JSON. NULL: there is no such question, or `refused` says why there is none.
const char *edit_answer(EditAsk *, const char *question);
const char *edit_question(uint32_t k); // the k-th that there is; NULL after the last
bool edit_is_plain(EditAsk *); // `rename` needs no second look: all that it could change was seen
// Of `rename`: the whole text that comes out of it; and whether names mean the same in both.
const char *edit_renamed(EditAsk *, size_t *n);
bool edit_same_names(const EditIndex *, const EditIndex *, Arena *scratch);
// Of `gesture`: the answer that says why not.
const char *edit_refusal(EditAsk *, const char *why);
const char *edit_box_at(EditAsk *); // the declaration that a picture would show; NULL: none

#endif
