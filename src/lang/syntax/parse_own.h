// Shared by the files of this folder only: the state of the parser, and the rules that parse.c
// (declarations, statements) and parse_expr.c (expressions, brackets, types) ask of each other.
#ifndef LIMN_FRONT_PARSE_H
#define LIMN_FRONT_PARSE_H

#include "lang/syntax/syntax.h"

enum { MAX_DEPTH = 200 }; // of nesting; chains of operators are flat and may be of any length

// Nobody reads more than this many messages about one file; a file that is no program could have a
// million of them.
typedef struct {
  uint32_t before; // errors when the file was begun
  bool muted;
} ErrorLimit;

// While `panic` is on, the current token reads as the end of the file: every rule returns at once
// and no second message is made, until a bracket, a statement or a declaration recovers.
typedef struct Parser {
  const Front *front;
  Arena *arena;
  Token *token;
  uint32_t *partner; // of each bracket, the other one; lex() has balanced them
  uint32_t at;       // the current token
  uint32_t depth;
  bool panic;
  bool lost;   // the last declaration began with no word of ours
  bool rates;  // we are in a machine, where `x'` may stand
  bool spoilt; // brackets of this statement hold an error: it is read on, but not looked at later
  ErrorLimit limit;
  Token stop;          // what is seen in panic
  VEC(Name) misused;   // words of the language that were taken for names: said once
  VEC(Node *) stack;   // kids of the nodes under construction
  struct {             // the last list of names looked over by names_lead_to
    uint32_t from, to; // tokens
  } names;
} Parser;

// lex.c
bool is_declaration_word(const char *word);
ErrorLimit error_limit(const Front *);
void mute_after_many(const Front *, ErrorLimit *);
void unmute(const Front *, ErrorLimit *);
uint32_t utf8_length(const char *text, size_t left); // bytes of the character; 0 when malformed
extern const char *const declaration_words[];
extern const uint32_t declaration_word_count;

// parse_expr.c: tokens
const Token *peek(const Parser *, uint32_t ahead);
const char *token_text(const Parser *, const Token *); // as written, ended by 0
bool sees(const Parser *, uint32_t ahead, const char *symbol_or_word);
bool sees_name(const Parser *, uint32_t ahead);
bool sees_word(const Parser *, uint32_t ahead, const char *); // a name that is a word here only
bool sees_label(const Parser *);                              // a name or word, and `:` behind it
bool eat(Parser *, const char *symbol_or_word);
void need(Parser *, const char *symbol_or_word);
void need_after_term(Parser *, const char *text); // like need, where an operator could stand too
void close_bracket(Parser *, uint32_t open, const char *wanted); // recovers; wanted: besides it
void fail(Parser *, const char *wanted); // "found …, wanted …", and panic
void fail_after_term(Parser *, const char *wanted);
void want_name(Parser *, Node *); // into name and name_span
void want_new_name(Parser *, Node *);
void want_any_name(Parser *, Node *); // a word of the language will do
bool deeper(Parser *);                // false, and panic, when nested too deeply
bool starts_line(const Parser *, const Token *);

// parse_expr.c: nodes
Node *node_new(Parser *, NodeKind);
Node *node_end(Parser *, Node *);                    // its span ends at the last token
Node *node_fixed(Parser *, NodeKind, uint32_t kids); // with room for that many kids
Node *node_name(Parser *);                           // N_NAME
Node *node_string(Parser *, const char *wanted);     // N_STR
Node *node_number(Parser *, const char *wanted);     // N_NUM
void kid_push(Parser *, Node *);
Node *kids_end(Parser *, Node *, uint32_t mark); // takes the kids from the stack

// parse_expr.c: rules
Node *parse_expr(Parser *, bool equal); // equal: `=` and `<=` compare
Node *parse_cond(Parser *);
Node *parse_sum(Parser *);
Node *parse_postfix(Parser *);
Node *parse_soft_postfix(Parser *); // may begin with a word of the language
Node *parse_path(Parser *);
Node *parse_brackets(Parser *);
Node *parse_size(Parser *);
Node *parse_range(Parser *);
Node *parse_type(Parser *);
Node *parse_types(Parser *);
Node *parse_sig(Parser *);
bool names_lead_to(Parser *, uint32_t ahead, const char *symbol);

// parse.c: what the rules of learning diagrams share with others
Node *list_of(Parser *, NodeKind, Node *(*item)(Parser *));     // item { "," item }
Node *worded_list(Parser *, NodeKind, Node *(*item)(Parser *)); // word item { "," item }
Node *parse_block(Parser *, Node *(*statement)(Parser *));
void parse_box_header(Parser *, Node *);
Node *parse_body(Parser *, const char *wanted);
Node *parse_learner(Parser *);
Node *parse_freeze(Parser *);
Node *clause_of(Parser *, NodeKind, Node *(*value)(Parser *)); // word value
Node *parse_statement(Parser *);
Node *parse_equation(Parser *);
Node *parse_lhs(Parser *);
Node *parse_for(Parser *, Node *(*item)(Parser *));
void parse_ports(Parser *, Node *, uint32_t kid); // [ params ] [ "->" result ] into two kids

// parse_graph.c: learning diagrams
Node *parse_diagram(Parser *);
Node *parse_find(Parser *);
Node *parse_set(Parser *);

// parse_machine.c: machines
Node *parse_machine(Parser *);
Node *parse_simulate(Parser *);
Node *parse_check(Parser *);

#endif
