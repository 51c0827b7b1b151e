// Scalar expressions from text, for loop bodies: all that is printed, and errors with their places.
//
//   scalar  = sum [ ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
//   sum     = product { ( "+" | "-" ) product }            product = unary { ( "*" | "/" ) unary }
//   unary   = [ "-" ] power                                power   = primary [ "^" unary ]
//   primary = number | "inf" | "nan" | name | "$" operand | row "(" scalar { "," scalar } ")"
//             | "at" "(" index ")" | "size" "(" size ")" | "(" scalar ")"
//
// A leaf may say its base, as in 1:B or at(i):L. Otherwise bases are inferred: every node starts
// with a base of its own, the signatures of the rows unite and fix them, and what stays open is
// real. Equal nodes become one scalar. Nodes are made arguments first, which is already the order
// of the loop's scalars.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "diagram_text.h"

#include <math.h>

typedef struct {
  Scalar s;
  uint32_t same; // united with that one; itself = it speaks for all
  Span span;
} ScalarNode;

typedef struct {
  DiagramText *t;
  Loop *loop;
  const uint8_t *operand_base; // [operand]
  VEC(ScalarNode) node;
  Table *bound; // names bound by := to nodes + 1
} Parse;

static uint32_t scalar(Parse *p);

static uint32_t node_add(Parse *p, Scalar s, Span span) {
  uint32_t number = p->node.n;
  vec_push(p->t->arena, &p->node, (ScalarNode){.s = s, .same = number, .span = span});
  return number;
}

static uint32_t node_fn(Parse *p, Fn fn, uint32_t a, uint32_t b, Span span) {
  return node_add(p, (Scalar){.fn = (uint8_t)fn, .arg = {a, b, 0}}, span);
}

// -- leaves ---------------------------------------------------------------------------------------
static uint32_t node_leaf(Parse *p, Scalar s, Span span) {
  DiagramText *t = p->t;
  if (is_symbol(t, ':') && !t->tok.spaced) {
    text_next(t);
    if (take_word(t, "R"))
      s.base = BASE_R;
    else if (take_word(t, "B"))
      s.base = BASE_BIT;
    else if (take_word(t, "L"))
      s.base = BASE_LABEL;
    else
      text_error(t, "a base is wanted here: R, B or L");
  }
  return node_add(p, s, span);
}

static uint32_t operand(Parse *p) {
  Span span = p->t->tok.span;
  Scalar s = {.fn = FN_ARG, .ref = (uint32_t)p->t->tok.whole};
  if (p->t->tok.whole >= p->loop->nin)
    text_error(p->t, "there is no operand %llu", (unsigned long long)p->t->tok.whole);
  else
    s.base = p->operand_base[s.ref];
  text_next(p->t);
  return node_add(p, s, span);
}

static bool number_follows(const DiagramText *t, double *out) {
  if (t->tok.kind == T_NUMBER)
    *out = t->tok.number;
  else if (is_word(t, "inf"))
    *out = INFINITY;
  else if (is_word(t, "nan"))
    *out = NAN;
  else
    return false;
  return true;
}

static uint32_t position(Parse *p, Span span) {
  DiagramText *t = p->t;
  Scalar s = {.fn = FN_AT};
  Name name = tok_name(t);
  uint32_t which = t->tok.suffix > 1 ? t->tok.suffix : 1;
  while (s.ref < p->loop->nindex && (p->loop->index[s.ref].name != name || --which)) s.ref++;
  if (t->tok.kind != T_NAME || s.ref == p->loop->nindex)
    text_error(t, "this is not an index of the loop");
  text_next(t);
  want_symbol(t, ')');
  return node_leaf(p, s, span);
}

static uint32_t size_leaf(Parse *p, Span span) {
  Scalar s = {.fn = FN_SIZE, .ref = read_size(p->t, false)};
  want_symbol(p->t, ')');
  return node_leaf(p, s, span);
}

static uint32_t application(Parse *p, const char *name, Span span) {
  Fn fn = fn_find(name);
  Scalar s = {.fn = (uint8_t)fn};
  if (fn == FN_COUNT) {
    p->t->tok.span = span;
    text_error(p->t, "there is no function `%s`", name);
    return 0;
  }
  for (uint32_t i = 0; i < fn_rows[fn].arity; i++) {
    if (i) want_symbol(p->t, ',');
    s.arg[i] = scalar(p);
  }
  want_symbol(p->t, ')');
  return node_add(p, s, span);
}

static uint32_t plain_name(Parse *p, const char *name, Span span) {
  Id bound = table_get(p->bound, name, strlen(name));
  if (bound) return bound - 1;
  p->t->tok.span = span;
  text_error(p->t, "there is no `%s` here", name);
  return 0;
}

static uint32_t primary(Parse *p) {
  DiagramText *t = p->t;
  Scalar s = {.fn = FN_CONST};
  Span span = t->tok.span;
  if (number_follows(t, &s.k)) {
    text_next(t);
    return node_leaf(p, s, span);
  }
  if (t->tok.kind == T_OPERAND) return operand(p);
  if (take_symbol(t, '(')) {
    uint32_t inside = scalar(p);
    want_symbol(t, ')');
    return inside;
  }
  if (t->tok.kind != T_NAME) {
    text_error(t, "a scalar is wanted here");
    return 0;
  }
  const char *name = arena_text(t->arena, t->tok.at, t->tok.n);
  text_next(t);
  if (!take_symbol(t, '(')) return plain_name(p, name, span);
  if (strcmp(name, "at") == 0) return position(p, span);
  if (strcmp(name, "size") == 0) return size_leaf(p, span);
  return application(p, name, span);
}

// -- operators ------------------------------------------------------------------------------------
static uint32_t unary(Parse *p);

static uint32_t power(Parse *p) {
  uint32_t a = primary(p);
  Span span = p->t->tok.span;
  return take_symbol(p->t, '^') ? node_fn(p, FN_pow, a, unary(p), span) : a;
}

// A minus before a number belongs to the number, unless the number is raised to a power.
static uint32_t unary(Parse *p) {
  DiagramText *t = p->t;
  Span span = t->tok.span;
  if (!take_symbol(t, '-')) return power(p);
  if (!text_deeper(t)) return 0;
  Scalar s = {.fn = FN_CONST};
  uint32_t node;
  DiagramText behind = *t;
  behind.quiet = true;
  if (number_follows(t, &s.k) && (text_next(&behind), !is_symbol(&behind, '^'))) {
    text_next(t);
    s.k = -s.k;
    node = node_leaf(p, s, span);
  } else {
    node = node_fn(p, FN_neg, unary(p), 0, span);
  }
  t->depth--;
  return node;
}

static uint32_t product(Parse *p) {
  uint32_t a = unary(p);
  for (;;) {
    Span span = p->t->tok.span;
    if (take_symbol(p->t, '*'))
      a = node_fn(p, FN_mul, a, unary(p), span);
    else if (take_symbol(p->t, '/'))
      a = node_fn(p, FN_div, a, unary(p), span);
    else
      return a;
  }
}

static uint32_t sum(Parse *p) {
  uint32_t a = product(p);
  for (;;) {
    Span span = p->t->tok.span;
    if (take_symbol(p->t, '+'))
      a = node_fn(p, FN_add, a, product(p), span);
    else if (take_symbol(p->t, '-'))
      a = node_fn(p, FN_sub, a, product(p), span);
    else
      return a;
  }
}

static uint32_t scalar(Parse *p) {
  static const struct {
    char symbol;
    uint8_t fn;
    bool turned;
  } compare[] = {{'=', FN_eq, false},    {SYM_NE, FN_ne, false}, {'<', FN_lt, false},
                 {SYM_LE, FN_le, false}, {'>', FN_lt, true},     {SYM_GE, FN_le, true}};
  if (!text_deeper(p->t)) return 0;
  uint32_t a = sum(p);
  for (uint32_t i = 0; i < COUNT(compare); i++) {
    Span span = p->t->tok.span;
    if (!take_symbol(p->t, compare[i].symbol)) continue;
    uint32_t b = sum(p);
    a = compare[i].turned ? node_fn(p, (Fn)compare[i].fn, b, a, span)
                          : node_fn(p, (Fn)compare[i].fn, a, b, span);
    break;
  }
  p->t->depth--;
  return a;
}

static bool binding_follows(const DiagramText *t) {
  DiagramText behind = *t;
  behind.quiet = true;
  if (t->tok.kind != T_NAME) return false;
  text_next(&behind);
  return is_symbol(&behind, SYM_BIND);
}

static uint32_t with_bindings(Parse *p) {
  DiagramText *t = p->t;
  while (!t->failed && binding_follows(t)) {
    const char *name = arena_text(t->arena, t->tok.at, t->tok.n);
    text_next(t);
    want_symbol(t, SYM_BIND);
    uint32_t node = scalar(p);
    want_symbol(t, ';');
    table_put(p->bound, name, strlen(name), node + 1);
  }
  return scalar(p);
}

// -- bases ----------------------------------------------------------------------------------------
static uint32_t speaker(Parse *p, uint32_t i) {
  while (p->node.at[i].same != i) i = p->node.at[i].same = p->node.at[p->node.at[i].same].same;
  return i;
}

static void fix_base(Parse *p, uint32_t node, uint8_t base, uint32_t at) {
  static const char *const word[] = {"", "a real number", "a label", "a bit"};
  Scalar *s = &p->node.at[speaker(p, node)].s;
  if (!base || s->base == base) return;
  if (s->base) {
    p->t->tok.span = p->node.at[at].span;
    text_error(p->t, "this mixes %s with %s", word[s->base], word[base]);
  }
  s->base = base;
}

static void unite(Parse *p, uint32_t a, uint32_t b, uint32_t at) {
  a = speaker(p, a);
  b = speaker(p, b);
  if (a == b) return;
  fix_base(p, a, p->node.at[b].s.base, at);
  p->node.at[b].same = a;
}

static void elab_node(Parse *p, uint32_t i) {
  const ScalarNode *node = &p->node.at[i];
  if (node->s.fn <= FN_SIZE) return;
  const FnRow *row = &fn_rows[node->s.fn];
  uint32_t star = UINT32_MAX;
  for (uint32_t k = 0; k <= row->arity; k++) {
    char letter = row->sig[k < row->arity ? k : k + 1];
    uint32_t part = k < row->arity ? node->s.arg[k] : i;
    if (letter == 'R')
      fix_base(p, part, BASE_R, i);
    else if (letter == 'B')
      fix_base(p, part, BASE_BIT, i);
    else if (star == UINT32_MAX)
      star = part;
    else
      unite(p, star, part, i);
  }
}

static void emit(Parse *p, uint32_t root, uint32_t *out) {
  Table *seen = table_new(p->t->arena);
  uint32_t *place = NEW_ARRAY(p->t->arena, uint32_t, p->node.n);
  for (uint32_t i = 0; i <= root; i++) {
    const ScalarNode *node = &p->node.at[i];
    Scalar s = {.fn = node->s.fn,
                .base = p->node.at[speaker(p, i)].s.base,
                .ref = node->s.ref,
                .k = node->s.k};
    if (!s.base) s.base = BASE_R;
    if (s.fn > FN_SIZE)
      for (uint32_t k = 0; k < fn_rows[s.fn].arity; k++) s.arg[k] = place[node->s.arg[k]];
    uint32_t word[6] = {s.fn, s.base, s.arg[0], s.arg[1], s.arg[2], s.ref};
    char key[sizeof word + sizeof s.k];
    memcpy(key, word, sizeof word);
    memcpy(key + sizeof word, &s.k, sizeof s.k);
    Id known = table_get(seen, key, sizeof key);
    place[i] = known ? known - 1 : scalar_push(p->t->w, p->loop, s);
    table_put(seen, key, sizeof key, place[i] + 1);
  }
  *out = place[root];
}

bool read_scalar(DiagramText *t, Loop *loop, const uint8_t *operand_base, uint8_t base,
                 uint32_t *out) {
  Parse p = {.t = t, .loop = loop, .operand_base = operand_base, .bound = table_new(t->arena)};
  uint32_t root = with_bindings(&p);
  if (t->failed) return false;
  for (uint32_t i = 0; i < p.node.n; i++) elab_node(&p, i);
  fix_base(&p, root, base, root);
  if (t->failed) return false;
  emit(&p, root, out);
  return true;
}
