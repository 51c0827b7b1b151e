// The state of the parser, and the rules that its files share.
#ifndef LIMN_LANG_SYNTAX_PARSE_OWN_H
#define LIMN_LANG_SYNTAX_PARSE_OWN_H

#include "lang/syntax/syntax.h"

enum { MAX_DEPTH = 200 }; // of nesting; chains of operators are flat and unlimited

// Messages about one file are limited: a file that is not a program could produce a million.
typedef struct {
  uint32_t before; // number of errors when the file was begun
  bool muted;
} ErrorLimit;

// In panic mode the current token reads as the end of the file: every rule returns at once without
// another message, until a bracket, a statement or a declaration recovers.
typedef struct Parser {
  const Front *front;
  Arena *arena;
  Token *token;
  uint32_t *partner; // of each bracket the matching one; lex() has balanced them
  uint32_t at;       // the current token
  uint32_t depth;
  bool panic;
  bool lost;  // the last declaration began with an unknown word
  bool rates; // inside a machine, where `x'` is allowed
  bool
      spoilt; // an error was recovered at a bracket of this statement: parsing continues, later passes skip it
  ErrorLimit limit;
  Token stop;          // the token that peek() returns in panic mode
  VEC(Name) misused;   // keywords used as names, reported once
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
const char *token_text(const Parser *, const Token *); // as written, with a final 0
bool sees(const Parser *, uint32_t ahead, const char *symbol_or_word);
bool sees_name(const Parser *, uint32_t ahead);
bool sees_word(const Parser *, uint32_t ahead, const char *); // a contextual keyword
bool sees_label(const Parser *);                              // a name or keyword, then `:`
bool eat(Parser *, const char *symbol_or_word);
void expect(Parser *, const char *symbol_or_word);
void close_bracket(Parser *, uint32_t open,
                   const char *wanted);  // recovers; wanted: what else could follow
void fail(Parser *, const char *wanted); // reports "found …, wanted …" and sets panic
void fail_after_term(Parser *, const char *wanted);
void want_name(Parser *, Syntax *); // into name and name_span
void want_new_name(Parser *, Syntax *);
void want_any_name(Parser *, Syntax *);    // keywords allowed
void want_dotted_name(Parser *, Syntax *); // a.b.c, as one name
bool deeper(Parser *);                     // false, and panic, if nested too deeply
bool starts_line(const Parser *, const Token *);

// parse_expr.c: nodes
Syntax *node_new(Parser *, SyntaxKind);
Syntax *node_end(Parser *, Syntax *);                    // sets the end of its span
Syntax *node_fixed(Parser *, SyntaxKind, uint32_t kids); // with a fixed number of kids
Syntax *node_word(Parser *, SyntaxKind,
                  uint32_t kids); // the same, and consumes the keyword it begins with
Syntax *node_around(Parser *, SyntaxKind, Syntax *base, Syntax *other);   // base is parsed already
Syntax *error_node(Parser *, const char *wanted);                         // N_ERROR, after fail
Syntax *node_name(Parser *);                                              // N_NAME
Syntax *node_string(Parser *, const char *wanted);                        // N_STR
Syntax *node_number(Parser *, const char *wanted);                        // N_NUM
Syntax *parse_labelled(Parser *, SyntaxKind, Syntax *(*value)(Parser *)); // NAME ":" value
void kid_push(Parser *, Syntax *);
SyntaxSign
comparison(const Parser *,
           bool equal); // the comparison operator at the current token; equal: `=` and `<=` too
Syntax *kids_end(Parser *, Syntax *, uint32_t mark); // pops the kids from the stack

// parse_expr.c: rules
Syntax *parse_expr(Parser *, bool equal); // equal: `=` and `<=` compare
Syntax *parse_cond(Parser *);
Syntax *parse_sum(Parser *);
Syntax *parse_postfix(Parser *);
Syntax *parse_soft_postfix(Parser *); // may begin with a keyword
Syntax *parse_path(Parser *);
Syntax *parse_brackets(Parser *);
Syntax *parse_size(Parser *);
Syntax *parse_range(Parser *);
Syntax *parse_type(Parser *);
Syntax *parse_types(Parser *);
Syntax *parse_sig(Parser *);
bool names_lead_to(Parser *, uint32_t ahead, const char *symbol);

// parse.c: rules used by other files
Syntax *parse_list_of(Parser *, SyntaxKind, Syntax *(*item)(Parser *)); // item { "," item }
Syntax *parse_keyword_list(Parser *, SyntaxKind,
                           Syntax *(*item)(Parser *));                    // word item { "," item }
Syntax *parse_bracketed(Parser *, SyntaxKind, Syntax *(*item)(Parser *)); // in brackets
Syntax *node_labelled(Parser *, SyntaxKind);                              // word [ NAME ":" ]
Syntax *space_of(Parser *, bool diagram);
Syntax *parse_block(Parser *, Syntax *(*statement)(Parser *));
void parse_box_header(Parser *, Syntax *);
Syntax *parse_body(Parser *, const char *wanted);
Syntax *parse_learner(Parser *);
Syntax *parse_freeze(Parser *);
Syntax *parse_target(Parser *);                                            // the target of `trains`
Syntax *parse_clause_of(Parser *, SyntaxKind, Syntax *(*value)(Parser *)); // word value
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
