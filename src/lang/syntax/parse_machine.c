// The parser: machines, that is `machine`, `share` and `wiring` with their bodies, `run` and
// `check`. Recovery is that of parse.c.
#include "base/diag.h"
#include "base/names.h"
#include "lang/syntax/parse_own.h"

static Syntax *parse_part(Parser *);

// -- the body of a machine

// "mode" NAME [ "stop" ] [ params ] [ "->" result ] "{" { part } "}"; with "stop" the braces are
// optional
static Syntax *parse_mode(Parser *p) {
  Syntax *node = node_word(p, N_MODE, 3);
  want_any_name(p, node);
  bool stops = sees_word(p, 0, "stop");
  if (stops) {
    p->at++;
    syntax_signed(p->arena, node, SIGN_STOP);
  }
  parse_ports(p, node, 0);
  bool none = stops && !node->kid[0] && !node->kid[1] && !sees(p, 0, "{");
  if (!none) node->kid[2] = parse_block(p, parse_part);
  return node_end(p, node);
}

// "jump" NAME { "." NAME } "when" cond
static Syntax *parse_jump(Parser *p) {
  Syntax *node = node_word(p, N_JUMP, 1);
  want_dotted_name(p, node);
  if (!eat(p, "when")) fail(p, "`when` and what makes it jump");
  node->kid[0] = parse_cond(p);
  return node_end(p, node);
}

static Syntax *parse_born_value(Parser *p) { return parse_expr(p, false); }

// NAME ":" expr
static Syntax *parse_born(Parser *p) { return parse_labelled(p, N_ARG, parse_born_value); }

// lhs { "," lhs } ":" postfix [ "every" sum ] [ "while" cond [ "born" "(" born { "," born } ")" ] ]
static Syntax *parse_parts(Parser *p) {
  Syntax *node = node_fixed(p, N_PART, 5);
  node->kid[0] = parse_list_of(p, N_LHSS, parse_lhs);
  expect(p, ":");
  node->kid[1] = parse_postfix(p);
  if (eat(p, "every")) node->kid[2] = parse_sum(p);
  if (!sees_word(p, 0, "while")) return node_end(p, node);
  p->at++;
  node->kid[3] = parse_cond(p);
  if (sees_word(p, 0, "born")) {
    p->at++;
    node->kid[4] = parse_bracketed(p, N_PARAMS, parse_born);
  }
  return node_end(p, node);
}

// The state name in dx/dt = …, which is reported; otherwise NULL.
static const char *leibniz_state(const Parser *p, const Syntax *n) {
  if (n->kind != N_PROD || n->nkid != 2 || !sees(p, 0, "=")) return NULL;
  if (n->kid[0]->kind != N_NAME || n->kid[1]->kind != N_NAME) return NULL;
  const char *over = name_text(p->front->names, n->kid[0]->name),
             *under = name_text(p->front->names, n->kid[1]->name);
  return over[0] == 'd' && over[1] && under[0] == 'd' && under[1] && !under[2] ? over + 1 : NULL;
}

// expr [ "pad" sum ] "->" postfix [ "pad" sum ] [ "when" cond ] | call
static Syntax *parse_route(Parser *p) {
  Syntax *value = parse_expr(p, false);
  if (value->kind == N_CALL && sees(p, 0, "="))
    fail(p, "`->`: the left side of an equation is a name, and a rate is written `x' = …`");
  if (value->kind == N_CALL && !sees(p, 0, "->") && !sees(p, 0, "pad")) return value;
  Syntax *node = node_fixed(p, N_ROUTE, 4);
  node->span = value->span;
  node->kid[0] = value;
  if (eat(p, "pad")) node->kid[3] = parse_sum(p);
  const char *state = leibniz_state(p, value);
  if (state) fail(p, arena_format(p->arena, "a rate, which is written `%s' = …`", state));
  if (!eat(p, "->"))
    fail_after_term(p, "`->` and a port (a part is `name : Machine`, an equation `name = …`)");
  node->kid[1] = parse_postfix(p);
  if (!node->kid[3] && eat(p, "pad")) node->kid[3] = parse_sum(p);
  if (eat(p, "when")) node->kid[2] = parse_cond(p);
  return node_end(p, node);
}

// "0" "=" expr [ "pad" sum ]
static Syntax *parse_constraint(Parser *p) {
  Syntax *node = node_fixed(p, N_CONSTRAINT, 2);
  Syntax *zero = parse_postfix(p);
  if (zero->kind != N_NUM || zero->num != 0)
    diag_error(p->front->diags, zero->span,
               "an equation between values has 0 on its left: `0 = a - b`");
  expect(p, "=");
  node->kid[0] = parse_expr(p, false);
  if (eat(p, "pad")) node->kid[1] = parse_sum(p);
  return node_end(p, node);
}

// part = state | next | const | axis | for | mode | jump | parts | equation | constraint | route
static Syntax *parse_part(Parser *p) {
  if (sees(p, 0, "mode")) return parse_mode(p);
  if (sees(p, 0, "jump")) return parse_jump(p);
  if (sees(p, 0, "for")) return parse_for(p, parse_part);
  if (sees(p, 0, "return")) return error_node(p, "`name = …`: what a machine shows has names");
  static const char *const plain[] = {"state", "next", "const", "axis", "learn"};
  for (uint32_t i = 0; i < COUNT(plain); i++)
    if (sees(p, 0, plain[i])) return parse_statement(p);
  if (names_lead_to(p, 0, ":")) return parse_parts(p);
  if (names_lead_to(p, 0, "=")) return parse_equation(p);
  if (peek(p, 0)->kind == TK_NUM && sees(p, 1, "=")) return parse_constraint(p);
  return parse_route(p);
}

// machine = ( "machine" | "share" | "wiring" ) header ( "=" expr | "{" { part } "}" )
Syntax *parse_machine(Parser *p) {
  Syntax *node = node_fixed(p, N_MACHINE, 4);
  syntax_signed(p->arena, node,
                sees(p, 0, "machine") ? SIGN_MACHINE
                : sees(p, 0, "share") ? SIGN_SHARE
                                      : SIGN_WIRING);
  parse_box_header(p, node);
  p->rates = true;
  if (eat(p, "="))
    node->kid[3] = parse_expr(p, false);
  else if (sees(p, 0, "{"))
    node->kid[3] = parse_block(p, parse_part);
  else
    fail(p, "`{`, or `=` and what it shows");
  p->rates = false;
  return node_end(p, node);
}

// -- runs and checks

// "for" NUMBER NAME
static Syntax *parse_duration(Parser *p) {
  Syntax *node = parse_clause_of(p, N_LASTS, parse_sum);
  want_name(p, node);
  return node_end(p, node);
}

// run = "run" [ NAME ":" ] postfix { "for" sum NAME | "to" sum | "on" postfix | "every" sum
//                                  | "by" postfix }
Syntax *parse_simulate(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_labelled(p, N_SIMULATE);
  kid_push(p, parse_postfix(p));
  for (;;) {
    if (sees(p, 0, "for"))
      kid_push(p, parse_duration(p));
    else if (sees(p, 0, "to"))
      kid_push(p, parse_clause_of(p, N_TO, parse_sum));
    else if (sees(p, 0, "on"))
      kid_push(p, parse_clause_of(p, N_ON, parse_postfix));
    else if (sees(p, 0, "every"))
      kid_push(p, parse_clause_of(p, N_EVERY, parse_sum));
    else if (sees(p, 0, "by"))
      kid_push(p, parse_clause_of(p, N_BY, parse_soft_postfix));
    else
      break;
  }
  return kids_end(p, node, mark);
}

// check = "check" [ NAME [ brackets ] ":" ] expr [ ( "=" | "<=" ) expr ] [ "within" sum ]
Syntax *parse_check(Parser *p) {
  Syntax *node = node_word(p, N_CHECK, 4);
  if (names_lead_to(p, 0, ":")) {
    node->kid[0] = parse_postfix(p);
    expect(p, ":");
  }
  node->kid[1] = parse_expr(p, false);
  if (eat(p, "<="))
    node->kid[1] = syntax_signed(
        p->arena, node_around(p, N_CMP, node->kid[1], parse_expr(p, false)), SIGN_AT_MOST);
  else if (eat(p, "="))
    node->kid[2] = parse_expr(p, false);
  if (eat(p, "within")) node->kid[3] = parse_sum(p);
  return node_end(p, node);
}
