// Private to edit: edits made in a picture, translated to changes of the source text.
//
//   gesture.c         the kinds by name; changes, applied to the text and written as an answer
//   gesture_find.c    from a position in a picture to a node of the syntax tree
//   gesture_boxes.c   insert, remove, replace
//   gesture_wires.c   connect, copy, swap, name
//   gesture_lines.c   inserting and deleting statements
//   gesture_train.c   goals, gluing of learning diagrams, training settings
//   numbers.c         listing the numbers of the text and replacing one
//
// A gesture parses the current text, so spans of its tree are exact. It changes a few spans; all
// text between them, comments and layout included, stays as it is.
#ifndef LIMN_EDIT_GESTURE_H
#define LIMN_EDIT_GESTURE_H

#include "edit/edit_own.h"
#include "io/bytes/bytes.h"

typedef struct {
  EditQuestion *q;
  Arena *arena;
  const Json *edit;
  const char *text; // the current text
  uint32_t n;
  Names *names;
  const Syntax *tree;
  TextChanges change;
  // Which change is selected afterwards, and which bytes of its replacement.
  uint32_t select, skip, length;
  bool selects;
  const char *note;
  const char *refused;
  Span where; // the position that a refusal is about
} Gesture;

enum { TREE_DEPTH = 256 };
typedef struct { // a node of the syntax tree and its ancestors
  const Syntax *node;
  const Syntax *path[TREE_DEPTH]; // ancestors, from the program to the node itself
  uint32_t depth;                 // path[depth] is the node
  bool name;                      // the position is the name that the node declares
} Found;

// -- gesture.c ------------------------------------------------------------------------------------
Gesture gesture_read(EditQuestion *); // parses the text; applies nothing
bool refuse_gesture(Gesture *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void replace_text(Gesture *, uint32_t at, uint32_t n, const char *text);
// Selects this part of the last change's replacement.
void select_text(Gesture *, const char *part);
const char *gesture_text(Gesture *, const char *key); // a string of the request; NULL: absent
// The same; refuses and returns NULL if absent.
const char *gesture_wants(Gesture *, const char *key);
const char *gesture_name(Gesture *, const char *key); // a valid new name; NULL: refused
const char *source_text(const Gesture *, Span);       // the source text of a span
const char *name_of_node(const Gesture *, const Syntax *);

// -- gesture_find.c -------------------------------------------------------------------------------
bool read_place(Gesture *, const char *text, Span *); // "L:C-L:C"; false: malformed
bool is_place(const char *text);
// The one of these names that the request's `wire` says, or the only one; NULL: unclear.
const Syntax *name_meant(Gesture *, Nodes names);
// The body of a box, learner or refinement; NULL: none.
const Syntax *body_of(const Syntax *);
// The node at the position that the request has under `key`; false: refused.
bool find_at(Gesture *, const char *key, Found *);
// The same; a statement stands for the value that it defines.
bool find_wire(Gesture *, const char *key, Found *);
typedef struct {
  Name name;
  uint32_t uses, indexed; // `indexed`: uses of the form x[i]
  const Syntax *last, *body;
} InputUses;
InputUses input_uses(const Found *input); // counts uses in the body of that input
void find_use(const Gesture *, Found *);  // if `f` is an input with one use, moves to that use
void find_node(const Gesture *, const Syntax *, Found *); // finds the ancestors of a node
// The enclosing box, learner or machine.
const Syntax *found_whole(const Found *, const Syntax **body);
const Syntax *found_parent(const Found *, uint32_t up);
// The innermost ancestor of a kind; NULL: none.
const Syntax *found_around(const Found *, SyntaxKind);
// The enclosing statement of a block or of the program.
const Syntax *found_statement(const Found *);
// a box is expected there, not a value
bool is_box_place(const Found *, uint32_t depth);
// Any expression may stand there without parentheses.
bool is_alone(const Found *, uint32_t depth);
// The expression never needs parentheses.
bool is_primary(const Syntax *);
// Parses a box and gives its kind; false: refused.
bool read_box(Gesture *, const char *text, SyntaxKind *kind);
// The only name on the left; NULL: there are several, or none.
const Syntax *plain_lhs(const Syntax *equation);
const Syntax *lhs_meant(Gesture *, const Syntax *equation); // name_meant of its left side
uint32_t span_end(const Syntax *);

// -- gesture_lines.c ------------------------------------------------------------------------------
const char *line_break(const Gesture *); // the line ending of the text: "\n" or "\r\n"
void insert_line_before(Gesture *, const Syntax *statement, const char *text);
void insert_line_after(Gesture *, const Syntax *statement, const char *text);
void delete_line(Gesture *, const Syntax *statement);
void delete_text(Gesture *, uint32_t from, uint32_t to); // deletes text but moves its comments
// Moves comments inside changed spans to the end of the line of the change.
void keep_comments(Gesture *);
// Adds a declaration where others of its kind are.
bool add_declaration(Gesture *, SyntaxKind, const char *text);
// a name derived from `like` that the text does not use
const char *fresh_name(Gesture *, const char *like);

// -- gesture_boxes.c ------------------------------------------------------------------------------
bool is_header_type(const Found *); // an input of a box whose wires have no names

// -- gesture_wires.c ------------------------------------------------------------------------------
// the wire's name or its source text; NULL: refused
const char *wire_text(Gesture *, const Found *);

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
