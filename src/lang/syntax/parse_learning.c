// The parser: learning diagrams, that is `diagram`, `find` and `set`. Recovery is that of parse.c.
//
// `at`, `most`, `only` and `replace` are keywords only here.
#include "base/diag.h"
#include "lang/syntax/parse_own.h"

static Syntax *parse_route_of_steps(Parser *p, Syntax *(*step)(Parser *)) { // step { ";" step }
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_PIPE);
  do kid_push(p, step(p));
  while (eat(p, ";"));
  kids_end(p, node, mark);
  return node->nkid == 1 ? node->kid[0] : node;
}

// -- the body of a diagram

// [ "at" "most" NUMBER "times" ]
static Syntax *parse_most(Parser *p, Syntax *edge) {
  if (!sees_word(p, 0, "at") || !sees_word(p, 1, "most")) return edge;
  p->at += 2;
  Syntax *times = node_number(p, "how often a path may run along it");
  Syntax *node = node_around(p, N_MOST, edge, times);
  expect(p, "times");
  return node_end(p, node);
}

// edge = "box" header [ body ] | "learn" learner
static Syntax *parse_edge(Parser *p) {
  if (sees(p, 0, "learn")) return parse_most(p, parse_keyword_list(p, N_LEARN, parse_learner));
  Syntax *node = node_fixed(p, N_BOX, 6);
  parse_box_header(p, node);
  if (sees(p, 0, "=") || sees(p, 0, "{")) node->kid[3] = parse_body(p, "");
  return parse_most(p, node_end(p, node));
}

// order = [ NAME ":" ] route "<=" route [ "only" ] { "times" sum | "trains" target { "," target } }
// route = path { ";" path }
static Syntax *parse_order(Parser *p) {
  Syntax *node = node_fixed(p, N_ORDER, 4);
  if (sees_label(p)) {
    want_new_name(p, node);
    p->at++;
  }
  node->kid[0] = parse_route_of_steps(p, parse_path);
  if (!eat(p, "<=")) fail(p, "`<=` between two routes, or `;` and the next edge");
  node->kid[1] = parse_route_of_steps(p, parse_path);
  if (sees_word(p, 0, "only")) {
    p->at++;
    syntax_signed(p->arena, node, SIGN_ONLY);
  }
  while (sees(p, 0, "times") || sees(p, 0, "trains")) {
    bool times = sees(p, 0, "times");
    if (node->kid[times ? 2 : 3])
      diag_error(p->front->diags, peek(p, 0)->span, "`%s` is given twice",
                 times ? "times" : "trains");
    if (eat(p, "times"))
      node->kid[2] = parse_sum(p);
    else
      node->kid[3] = parse_keyword_list(p, N_TRAINS, parse_target);
  }
  return node_end(p, node);
}

// part = space | edge | freeze | order          space = "space" NAME [ "=" types [ "by" distance ] ]
static Syntax *parse_graph_part(Parser *p) {
  if (sees(p, 0, "space")) return space_of(p, true);
  if (sees(p, 0, "box") || sees(p, 0, "learn")) return parse_edge(p);
  if (sees(p, 0, "freeze")) return parse_freeze(p);
  if (sees_name(p, 0)) return parse_order(p);
  return error_node(p,
                    "`space`, `box`, `learn`, `freeze`, or an order between routes, `f ; g <= h`");
}

// -- declarations

// path [ "as" NAME ]
static Syntax *parse_glued(Parser *p) {
  Syntax *path = parse_path(p);
  if (!eat(p, "as")) return path;
  Syntax *node = node_around(p, N_ARG, path, NULL);
  want_new_name(p, node);
  return node_end(p, node);
}

static Syntax *parse_parts(Parser *p) { // part { "+" part }
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_NAMES);
  do kid_push(p, parse_glued(p));
  while (eat(p, "+"));
  return kids_end(p, node, mark);
}

static Syntax *parse_same(Parser *p) { // path { "=" path }
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_SAME);
  do kid_push(p, parse_path(p));
  while (eat(p, "="));
  kids_end(p, node, mark);
  return node->nkid == 1 ? node->kid[0] : node;
}

// diagram = "diagram" NAME ( block | "=" part { "+" part } [ "along" same { "," same } ] [ block ]
// )
Syntax *parse_diagram(Parser *p) {
  Syntax *node = node_word(p, N_DIAGRAM, 3);
  want_new_name(p, node);
  if (eat(p, "=")) {
    node->kid[0] = parse_parts(p);
    if (sees(p, 0, "along")) node->kid[1] = parse_keyword_list(p, N_NAMES, parse_same);
  } else if (!sees(p, 0, "{")) {
    fail(p, "`{`, or `=` and the diagrams that are glued");
  }
  if (sees(p, 0, "{")) node->kid[2] = parse_block(p, parse_graph_part);
  return node_end(p, node);
}

static bool sees_deed(const Parser *p) {
  return sees(p, 0, "freeze") || sees(p, 0, "set") || sees_word(p, 0, "replace");
}

// Does a path with `=` after it follow?
static bool sees_piece(const Parser *p) {
  uint32_t i = 0;
  while (sees_name(p, i) && sees(p, i + 1, ".")) i += 2;
  return sees_name(p, i) && sees(p, i + 1, "=");
}

// deed = "freeze" [ path ] | "set" [ path "=" ] expr | "replace" expr
static Syntax *parse_deed(Parser *p) {
  Syntax *node = node_fixed(p, N_DEED, 2);
  bool freeze = sees(p, 0, "freeze"), set = sees(p, 0, "set");
  syntax_signed(p->arena, node, freeze ? SIGN_FREEZE : set ? SIGN_SET : SIGN_REPLACE);
  if (!sees_deed(p)) fail(p, "what to do with it: `freeze`, `set …` or `replace …`");
  p->at += !p->panic;
  if (freeze) {
    if (sees_name(p, 0)) node->kid[0] = parse_path(p);
    return node_end(p, node);
  }
  if (set && sees_piece(p)) {
    node->kid[0] = parse_path(p);
    expect(p, "=");
  }
  node->kid[1] = parse_expr(p, false);
  return node_end(p, node);
}

// freeze m, n: `freeze` applies to each path of the list
static Syntax *parse_frozen_too(Parser *p) {
  Syntax *node = node_fixed(p, N_DEED, 2);
  syntax_signed(p->arena, node, SIGN_FREEZE);
  node->kid[0] = parse_path(p);
  return node_end(p, node);
}

// find = "find" route "in" path "=>" deed { "," ( deed | path ) }
Syntax *parse_find(Parser *p) {
  Syntax *node = node_word(p, N_FIND, 0);
  uint32_t mark = p->stack.n;
  kid_push(p, parse_route_of_steps(p, parse_postfix));
  expect(p, "in");
  kid_push(p, parse_path(p));
  expect(p, "=>");
  Syntax *deed = parse_deed(p);
  kid_push(p, deed);
  while (eat(p, ",")) {
    bool more = deed_kind(deed) == SIGN_FREEZE && deed_piece(deed) && sees_name(p, 0) &&
                !sees_word(p, 0, "replace");
    deed = more ? parse_frozen_too(p) : parse_deed(p);
    kid_push(p, deed);
  }
  return kids_end(p, node, mark);
}

// Does a type follow, not an expression? {5}, R[2], or anything with a distance.
static bool sees_types(const Parser *p) {
  if (sees(p, 0, "{")) return true;
  if ((sees_word(p, 0, "R") || sees_word(p, 0, "B")) && sees(p, 1, "[")) return true;
  for (uint32_t i = 0; peek(p, i)->kind != TK_END && peek(p, i)->kind != TK_LINE; i++)
    if (sees(p, i, "by")) return true;
  return false;
}

// set = "set" path "=" ( expr | types [ "by" distance ] )
Syntax *parse_set(Parser *p) {
  Syntax *node = node_word(p, N_SET, 3);
  node->kid[0] = parse_path(p);
  expect(p, "=");
  bool types = sees_types(p);
  node->kid[1] = types ? parse_types(p) : parse_expr(p, false);
  if (types && eat(p, "by")) node->kid[2] = parse_soft_postfix(p);
  return node_end(p, node);
}
