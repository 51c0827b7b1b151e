// The parser: tokens to declarations and statements.
//
// Input: a file. Output: always an N_PROGRAM; errors are in the diagnostics. One rule of the
// grammar is one function, with the rule above it. ◆ marks a rule that needs lookahead.
//
// Recovery: an error inside a block skips its statement, up to the end of the line, a `,` or the
// closing brace. An error in a declaration skips the declaration, up to the next word in column 1.
// What was skipped becomes an N_ERROR that lists the names it would have declared, so that later
// passes do not report them as unknown.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/parse_own.h"

static Syntax *parse_declaration(Parser *);

// -- lists

Syntax *parse_list_of(Parser *p, SyntaxKind kind, Syntax *(*item)(Parser *)) { // item { "," item }
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, kind);
  do kid_push(p, item(p));
  while (eat(p, ","));
  return kids_end(p, node, mark);
}

// word item { "," item }
Syntax *parse_keyword_list(Parser *p, SyntaxKind kind, Syntax *(*item)(Parser *)) {
  Span word = peek(p, 0)->span;
  p->at++;
  Syntax *node = parse_list_of(p, kind, item);
  node->span = span_join(word, node->span);
  return node;
}

// "(" item { "," item } ")", with any kind of brackets
Syntax *parse_bracketed(Parser *p, SyntaxKind kind, Syntax *(*item)(Parser *)) {
  uint32_t open = p->at;
  Syntax *node = parse_keyword_list(p, kind, item);
  close_bracket(p, open, "`,` or ");
  return node_end(p, node);
}

// -- small declarations

// use = "use" STRING
static Syntax *parse_use(Parser *p) {
  Syntax *node = node_word(p, N_USE, 0);
  Syntax *path = node_string(p, "a file name in quotes");
  node->text = path->text;
  node->name_span = path->span;
  return node_end(p, node);
}

// NAME [ "=" size ]
static Syntax *parse_axis(Parser *p) {
  Syntax *node = node_fixed(p, N_AXIS, 1);
  want_new_name(p, node);
  if (sees(p, 0, ":")) fail(p, "`=` before the size of an axis");
  if (eat(p, "=")) node->kid[0] = parse_size(p);
  return node_end(p, node);
}

// unit = "in" sum          of names and powers of them, as in `in kg*m/s^2`
static Syntax *parse_unit(Parser *p) { return eat(p, "in") ? parse_sum(p) : NULL; }

// typed = NAME [ brackets ] [ ":" type ] [ "=" expr ] [ unit ]
static Syntax *parse_typed(Parser *p) {
  Syntax *node = node_fixed(p, N_TYPED, 4);
  want_new_name(p, node);
  if (sees(p, 0, "[")) node->kid[0] = parse_brackets(p);
  if (eat(p, ":")) node->kid[1] = parse_type(p);
  if (eat(p, "=")) node->kid[2] = parse_expr(p, false);
  node->kid[3] = parse_unit(p);
  return node_end(p, node);
}

// const = typed | NAME [ ":" type ] "from" STRING
static Syntax *parse_const(Parser *p) {
  if (sees(p, 1, "[")) fail(p, "a constant without indices, `const c : R[3] = …`");
  Syntax *node = parse_typed(p);
  if (!node->kid[2] && eat(p, "from"))
    node->kid[2] = node_string(p, "a file of numbers, in quotes");
  return node_end(p, node);
}

// space = "space" NAME [ "=" types [ "by" distance ] ]; outside diagrams "by" may come without "="
Syntax *space_of(Parser *p, bool diagram) {
  Syntax *node = node_word(p, N_SPACE, 2);
  want_new_name(p, node);
  if (diagram && !sees(p, 0, "=")) return node_end(p, node);
  if (eat(p, "=")) node->kid[0] = parse_types(p);
  if (eat(p, "by")) node->kid[1] = parse_soft_postfix(p);
  return node_end(p, node);
}

static Syntax *parse_space(Parser *p) { return space_of(p, false); }

// -- boxes

// Is the text after the comma a domain: 0 <= p, p < 1, -1 < p, 2*p != 1, and not another parameter?
static bool sees_domain(const Parser *p) {
  static const char *const op[] = {"<", "<=", ">", ">=", "!=", "=", "+", "-", "*", "/", "//", "^"};
  uint32_t at = sees(p, 1, "-") ? 2 : 1;
  if (!sees_name(p, at) && peek(p, at)->kind != TK_NUM) return false;
  for (uint32_t i = 0; i < COUNT(op); i++)
    if (sees(p, at + 1, op[i])) return true;
  return at == 2;
}

// domain = sum op sum [ op sum ]
static Syntax *parse_domain(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_fixed(p, N_DOMAIN, 0), *left = parse_sum(p);
  for (uint32_t i = 0; i < 2; i++) {
    SyntaxSign sign = comparison(p, true);
    if (i && !sign) break; // a single comparison
    if (!sign || sees(p, 0, "=")) fail(p, "a comparison, as in `0 <= p < 1`");
    if (!sign) break;
    p->at++;
    Syntax *right = parse_sum(p), *cmp = node_around(p, N_CMP, left, right);
    syntax_signed(p->arena, cmp, sign);
    kid_push(p, cmp);
    left = right;
  }
  return kids_end(p, node, mark);
}

// The declared value, followed by its domains: { "," domain }
static Syntax *with_domains(Parser *p, Syntax *node, Syntax *value) {
  uint32_t mark = p->stack.n;
  kid_push(p, value);
  while (sees(p, 0, ",") && sees_domain(p)) {
    p->at++;
    kid_push(p, parse_domain(p));
  }
  return kids_end(p, node, mark);
}

// cfgpar = [ "..." ] NAME [ ":" expr ] { "," domain }
static Syntax *parse_cfgpar(Parser *p) {
  Syntax *node = node_fixed(p, N_CFGPAR, 0), *value = NULL;
  if (eat(p, "...")) syntax_signed(p->arena, node, SIGN_SPREAD);
  want_new_name(p, node);
  if (eat(p, ":")) value = parse_expr(p, false);
  if (sees_name(p, 0)) fail(p, "`,` between two options");
  return with_domains(p, node, value);
}

// cfg = "[" cfgpar { "," cfgpar } "]"
static Syntax *parse_cfg(Parser *p) { return parse_bracketed(p, N_CFG, parse_cfgpar); }

// param = NAME [ ":" type ] [ unit ]
static Syntax *parse_param(Parser *p) {
  Syntax *node = node_fixed(p, N_PARAM, 2);
  want_new_name(p, node);
  if (sees_name(p, 0) || sees(p, 0, "{")) fail(p, "`:` before the type");
  if (eat(p, ":")) node->kid[0] = parse_type(p);
  node->kid[1] = parse_unit(p);
  return node_end(p, node);
}

// In (a, b: R[n] in m) both names share one type node.
static Syntax *share_types(Syntax *params) {
  for (uint32_t i = params->nkid; i-- > 1;) {
    Syntax *to = params->kid[i - 1], *from = params->kid[i];
    if (to->kid[0] || to->kid[1]) continue;
    to->kid[0] = from->kid[0];
    to->kid[1] = from->kid[1];
  }
  return params;
}

// params = "(" [ param { "," param } ] ")"
static Syntax *parse_params(Parser *p) {
  if (!sees(p, 1, ")")) return share_types(parse_bracketed(p, N_PARAMS, parse_param));
  Syntax *node = node_word(p, N_PARAMS, 0);
  p->at++;
  return node_end(p, node);
}

// result = types | "(" param { "," param } ")"     ◆ names up to ":" decide
static Syntax *parse_result(Parser *p) {
  if (sees(p, 0, "(") && names_lead_to(p, 1, ":")) return parse_params(p);
  return parse_types(p);
}

// body = "=" expr [ "pad" sum ] | "{" { statement } "}"
Syntax *parse_body(Parser *p, const char *wanted) {
  if (sees(p, 0, "{")) return parse_block(p, parse_statement);
  if (!eat(p, "=")) return error_node(p, wanted);
  Syntax *e = parse_expr(p, false);
  return eat(p, "pad") ? node_around(p, N_PADDED, e, parse_sum(p)) : e;
}

// [ params ] [ "->" result ]
void parse_ports(Parser *p, Syntax *node, uint32_t kid) {
  if (sees(p, 0, "(")) node->kid[kid] = parse_params(p);
  if (node->kid[kid] && sees(p, 0, ":")) fail(p, "`->` before the result of a box");
  if (eat(p, "->")) node->kid[kid + 1] = parse_result(p);
}

// box    = "box" header body [ "reverse" NAME ] [ "maximise" | "minimise" ]
// header = NAME [ cfg ] ( ":" sig | [ params ] [ "->" result ] )
void parse_box_header(Parser *p, Syntax *node) {
  p->at++;
  want_new_name(p, node);
  if (sees(p, 0, "[")) node->kid[0] = parse_cfg(p);
  if (eat(p, ":")) {
    node->kid[2] = parse_sig(p);
  } else {
    parse_ports(p, node, 1);
  }
}

// Says which direction is better when the box is the distance of a measure.
static Syntax *parse_better(Parser *p) {
  bool more = sees(p, 0, "maximise");
  if (!more && !sees(p, 0, "minimise")) return NULL;
  Syntax *node = node_word(p, N_NAME, 0);
  node->name = name_from(p->front->names, more ? "maximise" : "minimise");
  return node_end(p, node);
}

static Syntax *parse_box(Parser *p) {
  Syntax *node = node_fixed(p, N_BOX, 6);
  parse_box_header(p, node);
  node->kid[3] = parse_body(p, "`=` or `{`, the body of the box");
  if (sees_word(p, 0, "reverse")) {
    p->at++;
    node->kid[4] = node_name(p);
  }
  node->kid[5] = parse_better(p);
  return node_end(p, node);
}

// -- learners

// `[ ]` without `:` is an error: it is the header of a box.
static void check_family(Parser *p, const Syntax *brackets) {
  if (p->panic || sees(p, 0, ":")) return;
  Id id = diag_error(
      p->front->diags, brackets->span,
      "a learner is one thing with one set of weights: write `box` for a pattern with sizes");
  diag_help(p->front->diags, id, "a family of learners has a `:`, as in `learn f[3] : A -> B`");
}

static Syntax *parse_new_name(Parser *p) {
  Syntax *node = node_new(p, N_NAME);
  want_new_name(p, node);
  return node_end(p, node);
}

// learner = NAME { "," NAME } [ "[" size "]" ] [ params "->" result | ":" sig ] [ body ] [ "from"
// STRING ]
Syntax *parse_learner(Parser *p) {
  Syntax *node = node_fixed(p, N_LEARNER, 6);
  node->kid[0] = parse_list_of(p, N_NAMES, parse_new_name);
  if (sees(p, 0, "[")) {
    node->kid[1] = parse_brackets(p);
    check_family(p, node->kid[1]);
  }
  if (sees(p, 0, "(")) {
    node->kid[2] = parse_params(p);
    expect(p, "->");
    node->kid[3] = parse_result(p);
  } else if (eat(p, ":")) {
    node->kid[3] = parse_sig(p);
  }
  if (sees(p, 0, "=") || sees(p, 0, "{")) node->kid[4] = parse_body(p, "");
  if (sees(p, 0, "->"))
    fail(p, "the end of the line (types go after `:`, as in `learn f : A -> B`)");
  if (eat(p, "from")) node->kid[5] = node_string(p, "the folder of a run, in quotes");
  return node_end(p, node);
}

// refine = "refine" NAME [ params ] body
static Syntax *parse_refine(Parser *p) {
  Syntax *node = node_word(p, N_REFINE, 2);
  want_name(p, node);
  if (sees(p, 0, "(")) node->kid[0] = parse_params(p);
  node->kid[1] = parse_body(p, "`=` or `{`, the body of the refinement");
  return node_end(p, node);
}

// freeze = "freeze" path { "," path } [ "in" path ]
Syntax *parse_freeze(Parser *p) {
  Syntax *node = node_word(p, N_FREEZE, 2);
  node->kid[0] = parse_list_of(p, N_NAMES, parse_path);
  if (eat(p, "in")) node->kid[1] = parse_path(p);
  return node_end(p, node);
}

// stale = "stale" NAME "=" target ( "every" sum | "by" sum )
static Syntax *parse_stale(Parser *p) {
  Syntax *node = node_word(p, N_STALE, 2);
  want_new_name(p, node);
  expect(p, "=");
  node->kid[0] = parse_target(p);
  syntax_signed(p->arena, node, sees(p, 0, "by") ? SIGN_BY : SIGN_EVERY);
  if (!eat(p, "every") && !eat(p, "by")) fail(p, "`every` or `by`");
  node->kid[1] = parse_sum(p);
  return node_end(p, node);
}

// -- data, goals, training

// given = "given" param { "," param } "from" source
static Syntax *parse_given(Parser *p) {
  Syntax *node = node_word(p, N_GIVEN, 2);
  node->kid[0] = share_types(parse_list_of(p, N_PARAMS, parse_param));
  expect(p, "from");
  node->kid[1] = parse_postfix(p);
  return node_end(p, node);
}

static Syntax *with_brackets(Parser *p, Syntax *base) { // base [ brackets ]
  return sees(p, 0, "[") ? node_around(p, N_AT, base, parse_brackets(p)) : base;
}

// target = path [ brackets ]
Syntax *parse_target(Parser *p) { return with_brackets(p, parse_path(p)); }

// view = NAME [ brackets ]
static Syntax *parse_view(Parser *p) {
  if (!p->panic && p->token[p->at].kind == TK_WORD) p->token[p->at].kind = TK_NAME;
  return with_brackets(p, node_name(p));
}

// "for" NAME "in" range
static Syntax *forin_of(Parser *p, SyntaxKind kind, uint32_t kids) {
  Syntax *node = node_word(p, kind, kids);
  want_new_name(p, node);
  expect(p, "in");
  node->kid[0] = parse_range(p);
  return node_end(p, node);
}

Syntax *parse_clause_of(Parser *p, SyntaxKind kind, Syntax *(*value)(Parser *)) {
  Syntax *node = node_word(p, kind, 1);
  node->kid[0] = value(p);
  return node_end(p, node);
}

typedef struct {
  const char *word;
  SyntaxKind kind;
} Clause;
static const Clause clause_words[] = {{"by", N_BY},     {"trains", N_TRAINS}, {"times", N_TIMES},
                                      {"on", N_ON},     {"every", N_EVERY},   {"as", N_AS},
                                      {"for", N_FORIN}, {"refit", N_REFIT}};

static Syntax *parse_trainopt(Parser *);

// NUMBER NAME { "," trainopt }; the kids from `mark` on come first
static Syntax *end_training(Parser *p, Syntax *node, uint32_t mark, const char *length,
                            const char *unit) {
  kid_push(p, node_number(p, length));
  if (sees_name(p, 0))
    want_name(p, node);
  else
    fail(p, unit);
  if (sees(p, 0, "by") || sees_name(p, 0))
    fail(p, "`,` before what else is said, as in `train 800 steps, adam(0.001), batch 64`");
  while (eat(p, ",")) kid_push(p, parse_trainopt(p));
  return kids_end(p, node, mark);
}

// "refit" NUMBER NAME { "," trainopt }
static Syntax *parse_refit(Parser *p) {
  Syntax *node = node_word(p, N_REFIT, 0);
  return end_training(p, node, p->stack.n, "how long, as in `refit 100 steps`",
                      "`steps`, as in `refit 100 steps, gd(0.05)`");
}

static Syntax *parse_clause(Parser *p, SyntaxKind kind) {
  switch (kind) {
  case N_BY: return parse_clause_of(p, kind, parse_soft_postfix);
  case N_ON: return parse_clause_of(p, kind, parse_postfix);
  case N_TRAINS: return parse_keyword_list(p, kind, parse_target);
  case N_AS: return parse_keyword_list(p, kind, parse_view);
  case N_FORIN: return forin_of(p, kind, 1);
  case N_REFIT: return parse_refit(p);
  default: return parse_clause_of(p, kind, parse_sum); // times, every
  }
}

// { clause }: each allowed clause at most once. The node holds `first` and the clauses.
static Syntax *with_clauses(Parser *p, Syntax *node, Syntax *first, const char *what,
                            const char *allowed) {
  uint32_t mark = p->stack.n;
  bool said[COUNT(clause_words)] = {0}, told = false;
  kid_push(p, first);
  for (;;) {
    uint32_t i = 0;
    while (i < COUNT(clause_words) && !sees(p, 0, clause_words[i].word) &&
           !sees_word(p, 0, clause_words[i].word))
      i++;
    if (i == COUNT(clause_words)) return kids_end(p, node, mark);
    const char *word = clause_words[i].word;
    Span span = peek(p, 0)->span;
    bool fits = strstr(allowed, arena_format(p->arena, "`%s`", word)) != NULL;
    Syntax *clause = parse_clause(p, clause_words[i].kind);
    if (fits && !said[i])
      kid_push(p, clause);
    else if (!told && fits)
      diag_error(p->front->diags, span, "`%s` is given twice", word);
    else if (!told)
      diag_error(p->front->diags, span, "found `%s`, but a %s takes %s", word, what, allowed);
    told = told || !fits || said[i];
    said[i] = true;
  }
}

static Syntax *parse_plain_expr(Parser *p) { return parse_expr(p, false); }

// claim = ( "maximise" | "minimise" ) expr | expr "~" expr          or only an expr
static Syntax *parse_claim(Parser *p) {
  if (sees(p, 0, "maximise")) return parse_clause_of(p, N_MAXIMISE, parse_plain_expr);
  if (sees(p, 0, "minimise")) return parse_clause_of(p, N_MINIMISE, parse_plain_expr);
  Syntax *left = parse_expr(p, false);
  if (sees(p, 0, "="))
    diag_error(p->front->diags, peek(p, 0)->span,
               "found `=`, wanted `~`: that is how a goal says \"equal\"");
  if (!eat(p, "~") && !eat(p, "=")) return left;
  return node_around(p, N_EQUAL, left, parse_expr(p, false));
}

Syntax *node_labelled(Parser *p, SyntaxKind kind) { // word [ NAME ":" ]
  Syntax *node = node_word(p, kind, 0);
  if (!sees_label(p)) return node;
  want_any_name(p, node);
  p->at++;
  return node;
}

// goal = "goal" [ NAME ":" ] claim { "by" distance | "trains" target { "," target } | "times" sum }
static Syntax *parse_goal(Parser *p) {
  Syntax *node = node_labelled(p, N_GOAL);
  Syntax *claim = parse_claim(p);
  if (claim->kind < N_EQUAL || claim->kind > N_MINIMISE)
    fail_after_term(p, "`~` (a goal is an equation, or `maximise`, or `minimise`)");
  return with_clauses(p, node, claim, "goal", "`by`, `trains`, `times`");
}

// measure = "measure" [ NAME ":" ] ( claim | expr ) { "by" distance | "on" source | refit }
static Syntax *parse_measure(Parser *p) {
  Syntax *node = node_labelled(p, N_MEASURE);
  return with_clauses(p, node, parse_claim(p), "measure", "`by`, `on`, `refit`");
}

// trainopt = NAME ":" postfix | postfix [ sum ]
static Syntax *parse_trainopt(Parser *p) {
  if (sees_label(p)) return parse_labelled(p, N_ARG, parse_postfix);
  Syntax *node = node_fixed(p, N_OPTION, 2);
  node->kid[0] = parse_postfix(p);
  if ((node->kid[0]->kind == N_AT || node->kid[0]->kind == N_DOT) && eat(p, ":")) {
    node->kind = N_STEPPED;
    node->kid[1] = parse_postfix(p);
    return node_end(p, node);
  }
  TokenKind next = (TokenKind)peek(p, 0)->kind;
  if (next == TK_NUM || next == TK_NAME || next == TK_STR || sees(p, 0, "-"))
    node->kid[1] = parse_sum(p);
  return node_end(p, node);
}

// train = "train" [ path ] NUMBER NAME { "," trainopt }
static Syntax *parse_train(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_word(p, N_TRAIN, 0);
  kid_push(p, sees_name(p, 0) ? parse_path(p) : NULL);
  return end_training(p, node, mark, "how long, as in `train 5 epochs`",
                      "`epochs` or `steps`, as in `train 5 epochs, batch 64`");
}

static Syntax *tuple_or_expr(Parser *p) { // expr { "," expr }
  Syntax *tuple = parse_list_of(p, N_TUPLE, parse_plain_expr);
  return tuple->nkid == 1 ? tuple->kid[0] : tuple;
}

// show = "show" expr { "," expr } { "for" NAME "in" range | "on" source | "every" sum | "as" view …
// }
static Syntax *parse_show(Parser *p) {
  Syntax *node = node_word(p, N_SHOW, 0);
  return with_clauses(p, node, tuple_or_expr(p), "show", "`for`, `on`, `every`, `as`");
}

// -- optimisers

// NAME ":" expr { "," domain }
static Syntax *parse_default(Parser *p) {
  Syntax *node = node_fixed(p, N_ARG, 0);
  want_new_name(p, node);
  if (!eat(p, ":")) fail(p, "`:` and the default of this setting");
  return with_domains(p, node, parse_expr(p, false));
}

static Syntax *parse_guard(Parser *p) { return eat(p, "when") ? parse_cond(p) : NULL; }

// learned = NAME [ brackets ]
static Syntax *parse_learned(Parser *p) {
  Syntax *node = node_fixed(p, N_LHS, 1);
  want_name(p, node);
  if (sees(p, 0, "[")) node->kid[0] = parse_brackets(p);
  return node_end(p, node);
}

static Syntax *parse_next_by(Parser *p, Syntax *node) {
  node->kind = N_STEPBY;
  node->kid[0] = parse_list_of(p, N_LHSS, parse_learned);
  node->name = node->kid[0]->kid[0]->name;
  node->name_span = node->kid[0]->kid[0]->name_span;
  p->at++;
  node->kid[1] = parse_soft_postfix(p);
  if (!eat(p, "on")) fail(p, "`on` and the loss");
  node->kid[2] = parse_expr(p, false);
  if (sees_word(p, 0, "unroll")) {
    p->at++;
    node->kid[4] = parse_sum(p);
  }
  node->kid[3] = parse_guard(p);
  return node_end(p, node);
}

// next = "next" NAME [ brackets ] "=" expr [ "when" cond ]
//      | "next" learned { "," learned } "by" postfix "on" expr [ "unroll" sum ] [ "when" cond ]
static Syntax *parse_next(Parser *p) {
  uint32_t start = p->at;
  Syntax *node = node_fixed(p, N_STEP, 5);
  if (sees(p, 1, "=")) { // next = …: the keyword is used as a name
    fail(p, "a name");
    vec_push(p->arena, &p->misused, p->token[start].name);
    return node;
  }
  p->at++;
  if (names_lead_to(p, 0, "by")) return parse_next_by(p, node);
  want_name(p, node);
  if (sees(p, 0, "[")) node->kid[0] = parse_brackets(p);
  expect(p, "=");
  node->kid[1] = parse_expr(p, false);
  node->kid[2] = parse_guard(p);
  return node_end(p, node);
}

static Syntax *parse_states(Parser *p) { return parse_keyword_list(p, N_STATES, parse_typed); }

// state | look | next
static Syntax *parse_optimiser_part(Parser *p) {
  if (sees(p, 0, "state")) return parse_states(p);
  if (sees(p, 0, "look")) return parse_clause_of(p, N_LOOK, parse_plain_expr);
  if (sees(p, 0, "next")) return parse_next(p);
  return error_node(p, "`state`, `look` or `next`");
}

// optimiser = "optimiser" NAME [ "(" default { "," default } ")" ] "{" { part } "}"
static Syntax *parse_optimiser(Parser *p) {
  Syntax *node = node_word(p, N_OPTIMISER, 2);
  want_new_name(p, node);
  if (sees(p, 0, "(")) node->kid[0] = parse_bracketed(p, N_PARAMS, parse_default);
  node->kid[1] = parse_block(p, parse_optimiser_part);
  return node_end(p, node);
}

// -- statements

// lhs = NAME [ "'" ] [ brackets ]
Syntax *parse_lhs(Parser *p) {
  Syntax *node = node_fixed(p, N_LHS, 1);
  want_new_name(p, node);
  if (sees(p, 0, "'")) {
    if (!p->rates)
      diag_error(p->front->diags, peek(p, 0)->span, "`'` is a rate of change; it is for machines");
    syntax_signed(p->arena, node, SIGN_RATE);
    p->at++;
  }
  if (sees(p, 0, "[")) node->kid[0] = parse_brackets(p);
  return node_end(p, node);
}

// a, b = x, y: the right side becomes a tuple unless another equation follows
static Syntax *loose_tuple(Parser *p, Syntax *first) {
  if (!sees(p, 0, ",") || !(sees_name(p, 1) || peek(p, 1)->kind == TK_NUM || sees(p, 1, "(")))
    return first;
  if (names_lead_to(p, 1, "=")) return first;
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_TUPLE);
  node->span = first->span;
  kid_push(p, first);
  while (eat(p, ",")) kid_push(p, parse_expr(p, false));
  kids_end(p, node, mark);
  if (!p->panic) diag_error(p->front->diags, node->span, "several values on the right go in `( )`");
  return node;
}

// equation = lhs { "," lhs } "=" expr [ "pad" sum ] [ "when" cond ]
Syntax *parse_equation(Parser *p) {
  Syntax *node = node_fixed(p, N_EQUATION, 4);
  node->kid[0] = parse_list_of(p, N_LHSS, parse_lhs);
  expect(p, "=");
  node->kid[1] = parse_expr(p, false);
  if (node->kid[0]->nkid > 1) node->kid[1] = loose_tuple(p, node->kid[1]);
  if (eat(p, "pad")) node->kid[2] = parse_sum(p);
  node->kid[3] = parse_guard(p);
  if (node->kid[3] && peek(p, 0)->kind == TK_LINE && sees(p, 1, "else")) {
    p->at++;
    fail(p, "the end of the statement");
  }
  return node_end(p, node);
}

// "return" ( equation | expr { "," expr } [ "pad" sum ] )          ◆ names up to "=" decide
static Syntax *parse_return(Parser *p) {
  Syntax *node = node_word(p, N_RETURN, 2);
  if (names_lead_to(p, 0, "=")) {
    node->kid[0] = parse_equation(p);
    if (sees(p, 0, ","))
      fail(p, "the end of the line (`return` takes one equation, or several values)");
  } else {
    node->kid[0] = tuple_or_expr(p);
    if (eat(p, "pad")) node->kid[1] = parse_sum(p);
  }
  return node_end(p, node);
}

// "for" NAME "in" range [ "down" ] "{" { item } "}"
Syntax *parse_for(Parser *p, Syntax *(*item)(Parser *)) {
  Syntax *node = forin_of(p, N_FOR, 2);
  if (sees_word(p, 0, "down")) {
    p->at++;
    syntax_signed(p->arena, node, SIGN_DOWN);
  }
  node->kid[1] = parse_block(p, item);
  if (item == parse_declaration) node->kid[1]->kind = N_PROGRAM;
  return node_end(p, node);
}

// Keywords of other languages, and limn's words for them.
static const struct {
  const char *ours, *words;
} foreign_words[] = {{"box", "def fn fun func function class module layer"},
                     {"const", "let var val static constant"},
                     {"use", "import include require open from"},
                     {"space", "type struct"},
                     {"given", "data dataset load input"},
                     {"learn", "param parameter model weight"},
                     {"goal", "loss objective"},
                     {"goal minimise", "minimize minimise"},
                     {"goal maximise", "maximize maximise"},
                     {"show", "print plot draw"},
                     {"train", "fit"},
                     {"optimiser", "optimizer"},
                     {"measure", "test eval metric"},
                     {"check", "assert"},
                     {"axis", "dim axes"}};

static const char *our_word(const char *word) {
  for (uint32_t i = 0; i < COUNT(foreign_words); i++)
    if (is_one(word, foreign_words[i].words)) return foreign_words[i].ours;
  return NULL;
}

static Syntax *fail_statement(Parser *p) {
  Syntax *error = node_new(p, N_ERROR);
  const char *word = token_text(p, peek(p, 0)), *ours = our_word(word);
  bool bare = sees_name(p, 0) && !sees_name(p, 1);
  if (sees_name(p, 0) && sees(p, 1, ":")) {
    error->name = peek(p, 0)->name;
    error->name_span = peek(p, 0)->span;
    p->at++;
    fail(p, "`=` (a wire in a body has no type written)");
  } else if (ours && sees_name(p, 1))
    fail(p, strcmp(ours, "const") ? "a statement: `name = …`, `learn`, `for` or `return`"
                                  : "an equation, which needs no word: `name = …`");
  else if (strcmp(word, "if") == 0)
    fail(p, "a statement; a choice is written `y = a when c else b`");
  else if (strcmp(word, "while") == 0)
    fail(p, "a statement; a loop is written `for l in 1..4 { … }`");
  else if (bare && p->token[p->names.to].kind == TK_LINE)
    p->at = p->names.to,
    fail(p, "`=` (a name alone is not a statement; several results have `( )`)");
  else
    fail(p, "a statement: `name = …`, `learn`, `for` or `return`");
  return error;
}

// statement = learn | state | next | const | axis | stale | for | return | equation
Syntax *parse_statement(Parser *p) {
  if (sees(p, 0, "learn")) return parse_keyword_list(p, N_LEARN, parse_learner);
  if (sees(p, 0, "state")) return parse_states(p);
  if (sees(p, 0, "next")) return parse_next(p);
  if (sees(p, 0, "const")) return parse_keyword_list(p, N_CONSTS, parse_const);
  if (sees(p, 0, "axis")) return parse_keyword_list(p, N_AXES, parse_axis);
  if (sees(p, 0, "stale")) return parse_stale(p);
  if (sees(p, 0, "for")) return parse_for(p, parse_statement);
  if (sees(p, 0, "return")) return parse_return(p);
  if (names_lead_to(p, 0, "=")) return parse_equation(p);
  if (names_lead_to(p, 0, "'")) return parse_equation(p);
  return fail_statement(p);
}

// -- declarations

// An unknown word. In a run of such lines only the first is reported, and those with a suggestion.
static Syntax *fail_declaration(Parser *p) {
  Syntax *error = node_new(p, N_ERROR);
  const Token *t = peek(p, 0);
  const char *word = t->kind == TK_NAME || t->kind == TK_WORD ? token_text(p, t) : "";
  const char *ours = our_word(word);
  const char *near = *word ? nearest_name(word, declaration_words, declaration_word_count) : NULL;
  if ((ours || near) && sees_name(p, 1)) { // the name it would have declared
    error->name = peek(p, 1)->name;
    error->name_span = peek(p, 1)->span;
  }
  if (ours)
    fail(p, arena_format(p->arena, "a declaration (limn says `%s`)", ours));
  else if (near)
    fail(p, arena_format(p->arena, "a declaration (did you mean `%s`?)", near));
  else if (p->lost)
    p->panic = true;
  else if (sees_name(p, 0) && names_lead_to(p, 0, "="))
    fail(p, "a declaration (an equation goes in a box, or after `const`)");
  else
    fail(p, "a declaration: `box`, `learn`, `given`, `goal`, `train` …");
  p->lost = true;
  return error;
}

// declaration = use | axis | const | space | box | learn | refine | given | goal | measure | train
// | …
static Syntax *parse_declaration(Parser *p) {
  static const struct {
    const char *word;
    Syntax *(*rule)(Parser *);
  } rules[] = {{"use", parse_use},         {"space", parse_space},   {"box", parse_box},
               {"refine", parse_refine},   {"given", parse_given},   {"goal", parse_goal},
               {"measure", parse_measure}, {"train", parse_train},   {"show", parse_show},
               {"freeze", parse_freeze},   {"stale", parse_stale},   {"optimiser", parse_optimiser},
               {"diagram", parse_diagram}, {"find", parse_find},     {"set", parse_set},
               {"machine", parse_machine}, {"share", parse_machine}, {"wiring", parse_machine},
               {"run", parse_simulate},    {"check", parse_check}};
  bool lost = p->lost;
  p->lost = false;
  if (sees(p, 0, "axis")) return parse_keyword_list(p, N_AXES, parse_axis);
  if (sees(p, 0, "const")) return parse_keyword_list(p, N_CONSTS, parse_const);
  if (sees(p, 0, "learn")) return parse_keyword_list(p, N_LEARN, parse_learner);
  if (sees(p, 0, "for")) return parse_for(p, parse_declaration);
  for (uint32_t i = 0; i < COUNT(rules); i++)
    if (sees(p, 0, rules[i].word)) return rules[i].rule(p);
  p->lost = lost;
  return fail_declaration(p);
}

// -- sequences, with recovery

static void push_name(Parser *p, const Syntax *from) {
  if (!from->name) return;
  Syntax *node = node_new(p, N_NAME);
  node->name = from->name;
  node->span = node->name_span = from->name_span;
  kid_push(p, node);
}

// Collects the names before `=` among the tokens skipped since `from`.
static void salvage_equations(Parser *p, uint32_t from, uint32_t mark) {
  for (uint32_t i = from; i < p->at; i++) {
    const Token *t = &p->token[i], *behind = &p->token[i + 1];
    if (t->kind != TK_NAME || behind->kind != TK_SYMBOL || strcmp(behind->symbol, "=")) continue;
    Syntax node = {.name = t->name, .name_span = t->span};
    bool known = false;
    for (uint32_t k = mark; k < p->stack.n; k++) known |= p->stack.at[k]->name == t->name;
    if (!known) push_name(p, &node);
  }
}

// An N_ERROR with the names that a broken statement would have declared.
static Syntax *salvage_names(Parser *p, const Syntax *broken, uint32_t from) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_ERROR);
  node->span = broken->span;
  push_name(p, broken);
  for (uint32_t i = 0; i < broken->nkid; i++) {
    const Syntax *kid = broken->kid[i];
    if (!kid) continue;
    if (kid->kind == N_LEARNER) kid = kid->kid[0];
    if (kid->kind == N_AXIS || kid->kind == N_TYPED) push_name(p, kid);
    bool list = kid->kind == N_NAMES || kid->kind == N_LHSS ||
                (kid->kind == N_PARAMS && broken->kind == N_GIVEN);
    for (uint32_t j = 0; list && j < kid->nkid; j++) push_name(p, kid->kid[j]);
  }
  salvage_equations(p, from, mark);
  Span span = node->span;
  kids_end(p, node, mark)->span = span;
  return node;
}

// Inside a block: skips to the end of the line, a `,` or the closing brace. A keyword at the start
// of a line begins the next statement.
static void skip_statement(Parser *p, uint32_t start) {
  p->panic = false;
  for (bool moved = p->at > start;; p->at++, moved = true) {
    const Token *t = peek(p, 0);
    if (t->kind == TK_LINE || t->kind == TK_END) return;
    if (moved && t->kind == TK_WORD && starts_line(p, t)) return;
    if (t->kind != TK_SYMBOL) continue;
    if (strchr(",}", t->symbol[0])) return;
    if (strchr("([{", t->symbol[0])) p->at = p->partner[p->at];
  }
}

// At the top level: skips to the next word in column 1.
static void skip_declaration(Parser *p, uint32_t start) {
  p->panic = false;
  if (p->at == start) p->at++;
  for (;; p->at++) {
    const Token *t = peek(p, 0);
    if (t->kind == TK_END) return;
    if (t->first && (t->kind == TK_NAME || t->kind == TK_WORD)) return;
    if (t->kind == TK_SYMBOL && strchr("([{", t->symbol[0])) p->at = p->partner[p->at];
  }
}

static void end_statement(Parser *p, bool block) {
  TokenKind kind = (TokenKind)peek(p, 0)->kind;
  if (p->panic || kind == TK_LINE || kind == TK_END) return;
  if (block && (sees(p, 0, "}") || sees(p, 0, ","))) return;
  fail_after_term(p, block ? "`,` or the end of the line" : "the end of the line");
}

// Parses and pushes one item, or an N_ERROR with its names.
static void parse_one(Parser *p, Syntax *(*item)(Parser *), bool block) {
  uint32_t start = p->at, depth = p->depth, mark = p->stack.n;
  bool spoilt = p->spoilt;
  p->spoilt = false;
  mute_after_many(p->front, &p->limit);
  Syntax *node = item(p);
  end_statement(p, block);
  if (p->panic) {
    p->stack.n = mark;
    p->depth = depth;
    bool unknown = node->kind == N_ERROR; // no rule has consumed it
    if (block)
      skip_statement(p, start);
    else
      skip_declaration(p, start);
    node = salvage_names(p, node, block || unknown ? start : p->at);
  } else if (p->spoilt) {
    node = salvage_names(p, node, p->at);
  }
  p->spoilt = spoilt;
  if (p->at <= start) p->at = start + (peek(p, 0)->kind != TK_END); // ensure progress
  kid_push(p, node);
}

static void check_indented(Parser *p, bool *told) {
  const Token *t = peek(p, 0);
  if (*told || !t->first || (t->kind != TK_NAME && t->kind != TK_WORD)) return;
  *told = true;
  diag_error(p->front->diags, t->span,
             "a word in column 1 begins a declaration: indent what is in `{ }`");
}

// "{" { item } "}", the items on lines of their own or separated by ","
Syntax *parse_block(Parser *p, Syntax *(*item)(Parser *)) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_BLOCK);
  expect(p, "{");
  if (p->panic || !deeper(p)) return node;
  for (bool told = false; !sees(p, 0, "}") && peek(p, 0)->kind != TK_END;) {
    if (peek(p, 0)->kind == TK_LINE) {
      p->at++;
      continue;
    }
    check_indented(p, &told);
    parse_one(p, item, true);
    if (!eat(p, ",") && sees(p, 0, "}")) break;
  }
  eat(p, "}"); // an unclosed bracket before it may have consumed it
  p->depth--;
  return kids_end(p, node, mark);
}

// program = { declaration }
static Syntax *parse_program(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_PROGRAM);
  while (peek(p, 0)->kind != TK_END) {
    if (peek(p, 0)->kind == TK_LINE)
      p->at++;
    else
      parse_one(p, parse_declaration, false);
  }
  return kids_end(p, node, mark);
}

static uint32_t *find_partners(Arena *a, Tokens tokens) {
  uint32_t *partner = NEW_ARRAY(a, uint32_t, tokens.n);
  Ids open = {0};
  for (uint32_t i = 0; i < tokens.n; i++) {
    const Token *t = &tokens.at[i];
    if (t->kind != TK_SYMBOL) continue;
    if (strchr("([{", t->symbol[0])) {
      vec_push(a, &open, i);
    } else if (strchr(")]}", t->symbol[0])) {
      partner[i] = open.at[--open.n];
      partner[partner[i]] = i;
    }
  }
  return partner;
}

Syntax *parse(const Front *front, uint32_t file) {
  Parser p = {.front = front, .arena = front->arena};
  p.limit = error_limit(front);
  Arena *scratch = arena_child(front->arena); // tokens are freed when the tree is complete
  Tokens tokens = lex(&(Front){scratch, front->names, front->diags, front->sources}, file);
  p.token = tokens.at;
  p.partner = find_partners(scratch, tokens);
  p.stop = tokens.at[tokens.n - 1];
  Syntax *program = parse_program(&p);
  unmute(front, &p.limit);
  arena_free(scratch);
  return program;
}
