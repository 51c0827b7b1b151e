// Shared by the files of this folder only: the state of the parser, and the rules that parse.c
// (declarations, statements) and parse_expr.c (expressions, brackets, types) ask of each other.
#ifndef LIMN_LANG_SYNTAX_PARSE_OWN_H
#define LIMN_LANG_SYNTAX_PARSE_OWN_H

#include "lang/syntax/syntax.h"

enum { MAX_DEPTH = 200 }; // of nesting; chains of operators are flat and may be of any length

// Nobody reads more than this many messages about one file; a file that is not a program could have
// a million of them.
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
  VEC(Syntax *) stack; // kids of the nodes under construction
  struct {             // the last list of names looked over by names_lead_to
    uint32_t from, to; // tokens
  } names;
} Parser;

// lex.c
bool is_one(const char *word, const char *list); // of a list separated by spaces
ErrorLimit error_limit(const Front *);
void mute_after_many(const Front *, ErrorLimit *);
void unmute(const Front *, ErrorLimit *);
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
void want_name(Parser *, Syntax *); // into name and name_span
void want_new_name(Parser *, Syntax *);
void want_any_name(Parser *, Syntax *);    // a word of the language will do
void want_dotted_name(Parser *, Syntax *); // a.b.c, as one name
bool deeper(Parser *);                     // false, and panic, when nested too deeply
bool starts_line(const Parser *, const Token *);

// parse_expr.c: nodes
Syntax *node_new(Parser *, SyntaxKind);
Syntax *node_end(Parser *, Syntax *);                    // its span ends at the last token
Syntax *node_fixed(Parser *, SyntaxKind, uint32_t kids); // with room for that many kids
Syntax *node_word(Parser *, SyntaxKind, uint32_t kids);  // the same, of a word that it begins with
Syntax *node_around(Parser *, SyntaxKind, Syntax *base, Syntax *other); // base is parsed already
Syntax *error_node(Parser *, const char *wanted);                       // N_ERROR, after fail
Syntax *node_name(Parser *);                                            // N_NAME
Syntax *node_string(Parser *, const char *wanted);                      // N_STR
Syntax *node_number(Parser *, const char *wanted);                      // N_NUM
Syntax *labelled(Parser *, SyntaxKind, Syntax *(*value)(Parser *));     // NAME ":" value
void kid_push(Parser *, Syntax *);
SyntaxSign comparison(const Parser *,
                      bool equal); // the sign that comes next; equal: `=` and `<=` too
Syntax *kids_end(Parser *, Syntax *, uint32_t mark); // takes the kids from the stack

// parse_expr.c: rules
Syntax *parse_expr(Parser *, bool equal); // equal: `=` and `<=` compare
Syntax *parse_cond(Parser *);
Syntax *parse_sum(Parser *);
Syntax *parse_postfix(Parser *);
Syntax *parse_soft_postfix(Parser *); // may begin with a word of the language
Syntax *parse_path(Parser *);
Syntax *parse_brackets(Parser *);
Syntax *parse_size(Parser *);
Syntax *parse_range(Parser *);
Syntax *parse_type(Parser *);
Syntax *parse_types(Parser *);
Syntax *parse_sig(Parser *);
bool names_lead_to(Parser *, uint32_t ahead, const char *symbol);

// parse.c: what the rules of learning diagrams share with others
Syntax *list_of(Parser *, SyntaxKind, Syntax *(*item)(Parser *));     // item { "," item }
Syntax *worded_list(Parser *, SyntaxKind, Syntax *(*item)(Parser *)); // word item { "," item }
Syntax *bracketed(Parser *, SyntaxKind, Syntax *(*item)(Parser *));   // with brackets around it
Syntax *node_labelled(Parser *, SyntaxKind);                          // word [ NAME ":" ]
Syntax *space_of(Parser *, bool diagram);
Syntax *parse_block(Parser *, Syntax *(*statement)(Parser *));
void parse_box_header(Parser *, Syntax *);
Syntax *parse_body(Parser *, const char *wanted);
Syntax *parse_learner(Parser *);
Syntax *parse_freeze(Parser *);
Syntax *parse_target(Parser *); // what a goal or an order trains
Syntax *clause_of(Parser *, SyntaxKind, Syntax *(*value)(Parser *)); // word value
Syntax *parse_statement(Parser *);
Syntax *parse_equation(Parser *);
Syntax *parse_lhs(Parser *);
Syntax *parse_for(Parser *, Syntax *(*item)(Parser *));
void parse_ports(Parser *, Syntax *, uint32_t kid); // [ params ] [ "->" result ] into two kids

// parse_learning.c: learning diagrams
Syntax *parse_diagram(Parser *);
Syntax *parse_find(Parser *);
Syntax *parse_set(Parser *);

// parse_machine.c: machines
Syntax *parse_machine(Parser *);
Syntax *parse_simulate(Parser *);
Syntax *parse_check(Parser *);

#endif
