// Private to edit: a gesture in a picture becomes a few changes of the text.
//
//   gesture.c        the kinds by name; changes to a new text, and both as an answer
//   gesture_find.c   from a place in a picture to a part of the syntax tree
//   gesture_boxes.c  insert, remove, replace
//   gesture_wires.c  connect, copy, swap, name
//   gesture_lines.c  statements: new ones where such stand, lines that come and go
//   gesture_train.c  goals, learning diagrams that are glued, and how it is trained
//   numbers.c        what is a number in the text, and another one in its place
//
// A gesture reads the text anew: its tree has exactly the places of the text. What it changes are spans of
// that text; everything between them stays as it is, with its comments and its layout.
#ifndef LIMN_EDIT_GESTURE_H
#define LIMN_EDIT_GESTURE_H

#include "edit/edit_own.h"
#include "io/bytes/bytes.h"

typedef struct {
  uint32_t at, n;   // what goes
  const char *text; // what comes
} TextChange;

typedef struct {
  EditAsk *q;
  Arena *arena;
  const Json *edit;
  const char *text; // as it is by now
  uint32_t n;
  Names *names;
  const Syntax *tree;
  VEC(TextChange) change;
  uint32_t select, skip, length; // the change that is selected, and which bytes of what comes
  bool selects;
  const char *note;
  const char *refused;
  Span where; // that it is about, for a refusal
} Gesture;

enum { TREE_DEPTH = 256 };
typedef struct { // a part of the tree, and what it is in
  const Syntax *node;
  const Syntax *path[TREE_DEPTH]; // from the program to the node itself
  uint32_t depth;                 // of the node: path[depth]
  bool name;                      // it is the name that the node declares
} Found;

// -- gesture.c ------------------------------------------------------------------------------------
Gesture gesture_read(EditAsk *); // the text is read, and nothing is asked yet
bool refuse_gesture(Gesture *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void change(Gesture *, uint32_t at, uint32_t n, const char *text);
void select_text(Gesture *, const char *part);         // the last change: this part of what comes
const char *gesture_text(Gesture *, const char *key);  // NULL: the edit has none
const char *gesture_wants(Gesture *, const char *key); // NULL: refused
const char *gesture_name(Gesture *, const char *key);  // one that can be given; NULL: refused
const char *said_text(const Gesture *, Span);          // as it is written
const char *name_of_node(const Gesture *, const Syntax *);

// -- gesture_find.c -------------------------------------------------------------------------------
bool read_place(Gesture *, const char *text, Span *); // "L:C-L:C"; false: it is none
bool find_at(Gesture *, const char *key, Found *);    // false: refused
bool find_wire(Gesture *, const char *key, Found *); // the same; of a line, the value that it gives
typedef struct {
  Name name;
  uint32_t uses, indexed; // indexed: x[i]
  const Syntax *last, *body;
} InputUses;
InputUses uses_of(const Found *input);   // in the body that it is an input of
void find_use(const Gesture *, Found *); // of an input its only use; otherwise as it is
void find_node(const Gesture *, const Syntax *, Found *);      // one of the tree
const Syntax *found_whole(const Found *, const Syntax **body); // the box, learner or machine around
const Syntax *found_parent(const Found *, uint32_t up);
const Syntax *found_around(const Found *, SyntaxKind);        // the innermost; NULL: none
const Syntax *found_statement(const Found *);                 // of a block or the program
bool is_box_place(const Found *, uint32_t depth);             // a box stands there, not a value
bool is_alone(const Found *, uint32_t depth);                 // it stands there without need of ( )
bool is_primary(const Syntax *);                              // it never needs ( )
bool read_box(Gesture *, const char *text, SyntaxKind *kind); // is it a box? its kind; or refused
const Syntax *plain_lhs(const Syntax *equation); // the only name that it gives; NULL: others
const Syntax *lhs_meant(Gesture *,
                        const Syntax *equation); // the only one, or that of `wire`; or NULL
uint32_t span_end(const Syntax *);

// -- gesture_lines.c ------------------------------------------------------------------------------
const char *line_break(const Gesture *); // as the text has them
void line_before(Gesture *, const Syntax *statement, const char *text);
void line_behind(Gesture *, const Syntax *statement, const char *text);
void line_drop(Gesture *, const Syntax *statement);
void text_drop(Gesture *, uint32_t from, uint32_t to); // but not its comments
void comments_keep(Gesture *); // those that a change would take go to the end of its last line
bool declare(Gesture *, SyntaxKind, const char *text); // a new declaration, where such stand
const char *fresh_name(Gesture *, const char *like);   // one that the text does not have

// -- gesture_boxes.c ------------------------------------------------------------------------------
bool is_header_type(const Found *); // what comes into a box without names for its wires

// -- gesture_wires.c ------------------------------------------------------------------------------
const char *wire_text(Gesture *, const Found *); // its name, or how it is written; NULL: refused

// -- the kinds ------------------------------------------------------------------------------------
bool gesture_insert(Gesture *);
bool gesture_remove(Gesture *);
bool gesture_replace(Gesture *);
bool gesture_connect(Gesture *);
bool gesture_copy(Gesture *);
bool gesture_swap(Gesture *);
bool gesture_name_wire(Gesture *);
bool gesture_goal(Gesture *);
bool gesture_learner(Gesture *);
bool gesture_given(Gesture *);
bool gesture_box(Gesture *);
bool gesture_glue(Gesture *);
bool gesture_train(Gesture *);
bool gesture_number(Gesture *);

#endif
