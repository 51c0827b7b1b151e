// Diagrams from text (the grammar is in text_own.h).
//
// The text may come from anywhere, so nothing is believed: names must be known, counts must fit,
// and every finished diagram must pass diagram_valid before another may call it. The first error
// ends the reading. Boxes are made by the functions every pass uses; the types written at their
// results then replace those they made, as long as base and rank agree, because labels and passing
// axes are only in the text.
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/print.h"
#include "diagram_help.h"
#include "diagram_text.h"

#include <math.h>

enum { RANK_LIMIT = 64 };

typedef struct {
  DiagramText t;
  World *w;
  Table *var;     // tok_key to Size
  Table *names;   // the number of a list to its Id
  Table *diagram; // tok_key to Diagram.id
  Table *wire;    // tok_key to wire, in the diagram being read
  Diagram *d;
  Diagram *last, *main;
} TextRead;

typedef struct {
  Name name;
  const char *key; // its tok_key
  size_t nkey;
  Type type;
  Span span;
} Result;

typedef VEC(Result) ReadResults;

// -- names and numbers ----------------------------------------------------------------------------
static void want_name(TextRead *r) {
  if (r->t.tok.kind != T_NAME) text_error(&r->t, "a name is wanted here");
}

static Id known(TextRead *r, const Table *table, const char *what) {
  size_t n;
  want_name(r);
  if (r->t.failed) return 0;
  const char *key = tok_key(&r->t, &n);
  Id id = table_get(table, key, n);
  if (!id) text_error(&r->t, "there is no %s `%.*s`", what, (int)r->t.tok.n, r->t.tok.at);
  text_next(&r->t);
  return r->t.failed ? 0 : id;
}

static uint32_t want_whole(TextRead *r, uint32_t limit) {
  uint32_t n = (uint32_t)r->t.tok.whole;
  if (r->t.tok.kind != T_NUMBER || !r->t.tok.is_whole || r->t.tok.whole > limit)
    text_error(&r->t, "a number up to %u is wanted here", limit);
  text_next(&r->t);
  return n;
}

static double want_number(TextRead *r) {
  DiagramText *t = &r->t;
  double x = 0;
  bool minus = take_symbol(t, '-');
  if (t->tok.kind == T_NUMBER)
    x = t->tok.number;
  else if (is_word(t, "inf"))
    x = INFINITY;
  else if (is_word(t, "nan"))
    x = NAN;
  else
    text_error(t, "a number is wanted here");
  text_next(t);
  return minus ? -x : x;
}

// -- types ----------------------------------------------------------------------------------------
static bool operator_follows(const DiagramText *t) {
  static const char sign[] = {'+', '-', '*', '/', '^', SYM_FLOOR};
  return t->tok.kind == T_SYMBOL && !t->tok.spaced && memchr(sign, t->tok.symbol, sizeof sign);
}

// `k:8`, `k` (the size of that name), `:n`, `8`, `2*n+1`
static Axis read_axis(TextRead *r) {
  DiagramText *t = &r->t, name = r->t;
  Axis a = {0};
  if (t->tok.kind == T_NAME) text_next(t);
  if (name.tok.kind != T_NAME || operator_follows(t)) {
    if (!t->failed) *t = name;
    take_symbol(t, ':');
    a.size = read_size(t, true);
  } else {
    size_t n;
    const char *key = tok_key(&name, &n);
    a.label = tok_name(&name);
    a.size = is_symbol(t, ':') && !t->tok.spaced ? (text_next(t), read_size(t, true))
                                                 : table_get(r->var, key, n);
    if (!a.size && !t->failed) t->tok.span = name.tok.span, text_error(t, "this axis has no size");
  }
  if (take_symbol(t, '~')) a.pass = want_whole(r, UINT32_MAX);
  return a;
}

static void read_label_base(TextRead *r, Type *type) {
  DiagramText *t = &r->t;
  type->base = BASE_LABEL;
  type->count = read_size(t, false);
  if (take_word(t, "of")) {
    uint32_t number = want_whole(r, UINT32_MAX);
    type->names = table_get(r->names, &number, sizeof number);
    if (!type->names) text_error(t, "there is no such list of names");
  }
  want_symbol(t, '}');
}

static Type read_type(TextRead *r) {
  DiagramText *t = &r->t;
  Type type = {0};
  if (take_word(t, "R"))
    type.base = BASE_R;
  else if (take_word(t, "B"))
    type.base = BASE_BIT;
  else if (take_symbol(t, '{'))
    read_label_base(r, &type);
  else
    text_error(t, "a type is wanted here: R, B or {n}");
  if (!take_symbol(t, '[')) return type;
  VEC(Axis) axis = {0};
  while (!t->failed && !is_symbol(t, ']')) {
    vec_push(t->arena, &axis, read_axis(r));
    if (axis.n > RANK_LIMIT) text_error(t, "a wire has at most %d axes", RANK_LIMIT);
  }
  want_symbol(t, ']');
  type.rank = axis.n;
  type.axis = arena_copy(r->w->arena, axis.at, axis.n * sizeof(Axis));
  return type;
}

// A name with its type: `x: R[3]`. What lies between them is left to the caller.
static Result read_new_name(TextRead *r) {
  Result x = {.span = r->t.tok.span};
  want_name(r);
  if (r->t.failed) return x;
  x.name = tok_name(&r->t);
  x.key = tok_key(&r->t, &x.nkey);
  if (table_get(r->wire, x.key, x.nkey)) text_error(&r->t, "there are two wires of this name");
  text_next(&r->t);
  return x;
}

static void declare(TextRead *r, const Result *x, Id wire) {
  if (r->t.failed) return;
  if (table_get(r->wire, x->key, x->nkey)) {
    r->t.tok.span = x->span;
    text_error(&r->t, "there are two wires of this name");
  }
  r->d->wire.at[wire].name = x->name;
  table_put(r->wire, x->key, x->nkey, wire);
}

static bool is_keyword(const DiagramText *t) {
  return t->tok.kind == T_NAME && t->tok.n && !t->tok.quoted &&
         !is_plain_name(arena_text(t->arena, t->tok.at, t->tok.n));
}

// As many wires as there are. A name that is new and looks like a result begins the next box.
static Ids read_wires(TextRead *r) {
  Ids in = {0};
  while (r->t.tok.kind == T_NAME && !is_keyword(&r->t)) {
    DiagramText behind = r->t;
    size_t n;
    const char *key = tok_key(&r->t, &n);
    behind.quiet = true;
    text_next(&behind);
    bool result = is_symbol(&behind, ':') || is_symbol(&behind, '[') || is_symbol(&behind, ',');
    if (result && !table_get(r->wire, key, n)) break;
    vec_push(r->t.arena, &in, known(r, r->wire, "wire"));
  }
  return in;
}

// -- loops ----------------------------------------------------------------------------------------
// Indices are written behind the accesses that use them, so accesses are skipped first and read
// later.
static DiagramText skip_access(TextRead *r) {
  DiagramText here = r->t;
  if (!is_symbol(&r->t, '[')) return here;
  while (!r->t.failed && r->t.tok.kind != T_END && !is_symbol(&r->t, ']')) text_next(&r->t);
  want_symbol(&r->t, ']');
  return here;
}

static bool find_index(const DiagramText *t, const Loop *loop, uint32_t *out) {
  Name name = tok_name(t);
  uint32_t which = t->tok.suffix > 1 ? t->tok.suffix : 1;
  for (*out = 0; *out < loop->nindex; ++*out)
    if (loop->index[*out].name == name && !--which) return true;
  return false;
}

// [number | {size}] [*] [index | operand], with the sign in front already taken
static void read_term(TextRead *r, const Loop *loop, uint32_t before, Size sign, Coord *c) {
  DiagramText *t = &r->t;
  Size coef = sign;
  bool alone = false;
  uint32_t var = 0;
  if (take_symbol(t, '{')) {
    coef = size_mul(r->w, sign, read_size(t, false));
    want_symbol(t, '}');
    alone = true;
  } else if (t->tok.kind == T_NUMBER) {
    if (!t->tok.is_whole || t->tok.whole > INT64_MAX)
      text_error(t, "a whole number is wanted here");
    coef = size_mul(r->w, sign, size_of(r->w, (int64_t)t->tok.whole));
    text_next(t);
    alone = true;
  }
  if (alone && !take_symbol(t, '*')) {
    c->c = size_add(r->w, c->c, coef);
  } else if (t->tok.kind == T_OPERAND) {
    if (t->tok.whole >= before) text_error(t, "a coordinate reads only operands before it");
    *c = coord_add(r->w, *c, coef, (uint32_t)t->tok.whole, true);
    text_next(t);
  } else if (t->tok.kind == T_NAME && find_index(t, loop, &var)) {
    *c = coord_add(r->w, *c, coef, var, false);
    text_next(t);
  } else {
    text_error(t, "this is not an index of the loop");
  }
}

static Coord read_coord(TextRead *r, const Loop *loop, uint32_t before) {
  DiagramText *t = &r->t;
  Coord c = coord_const(r->w, size_of(r->w, 0));
  Size plus = size_of(r->w, 1), minus = size_of(r->w, -1);
  read_term(r, loop, before, take_symbol(t, '-') ? minus : plus, &c);
  while (!t->tok.spaced && (is_symbol(t, '+') || is_symbol(t, '-'))) {
    bool less = is_symbol(t, '-');
    text_next(t);
    read_term(r, loop, before, less ? minus : plus, &c);
  }
  return c;
}

static Access read_access(TextRead *r, const Loop *loop, uint32_t before) {
  VEC(Coord) coord = {0};
  Access a = {0};
  if (!take_symbol(&r->t, '[')) return a;
  while (!r->t.failed && !is_symbol(&r->t, ']'))
    vec_push(r->t.arena, &coord, read_coord(r, loop, before));
  want_symbol(&r->t, ']');
  a.rank = coord.n;
  a.coord = arena_copy(r->w->arena, coord.at, coord.n * sizeof(Coord));
  return a;
}

// Reads an access that was skipped. Its error, if any, becomes ours.
static Access read_skipped(TextRead *r, DiagramText there, const Loop *loop, uint32_t before) {
  DiagramText here = r->t;
  if (here.failed) return (Access){0};
  r->t = there;
  Access a = read_access(r, loop, before);
  if (!r->t.failed) r->t = here;
  return a;
}

typedef struct {
  Id wire;
  DiagramText access;
  bool padded;
  double pad;
} ReadOperand;
typedef VEC(ReadOperand) ReadOperands;

static ReadOperands read_operands(TextRead *r) {
  ReadOperands all = {0};
  while (!r->t.failed && r->t.tok.kind == T_NAME && !is_word(&r->t, "over")) {
    ReadOperand o = {.wire = known(r, r->wire, "wire")};
    o.access = skip_access(r);
    o.padded = take_word(&r->t, "else");
    if (o.padded) o.pad = want_number(r);
    vec_push(r->t.arena, &all, o);
  }
  return all;
}

static void read_indices(TextRead *r, Loop *loop) {
  VEC(Index) index = {0};
  while (!r->t.failed && r->t.tok.kind == T_NAME) {
    Name name = tok_name(&r->t);
    text_next(&r->t);
    want_symbol(&r->t, ':');
    vec_push(r->t.arena, &index, (Index){name, read_size(&r->t, true)});
    if (index.n > RANK_LIMIT) text_error(&r->t, "a loop has at most %d indices", RANK_LIMIT);
  }
  loop->index = index.at;
  loop->nindex = index.n;
}

static void read_body(TextRead *r, Loop *loop, const Id *wire, uint8_t base) {
  uint8_t *bases = NEW_ARRAY(r->t.arena, uint8_t, loop->nin);
  uint32_t last;
  for (uint32_t i = 0; !r->t.failed && i < loop->nin; i++)
    bases[i] = r->d->wire.at[wire[i]].type.base;
  if (!r->t.failed && read_scalar(&r->t, loop, bases, base, &last))
    loop->nscalar = last + 1; // what comes later is not read by it
}

static Id read_loop(TextRead *r, Combine combine, const ReadResults *result,
                    DiagramText out_access) {
  Loop loop = {.combine = combine};
  ReadOperands operand = read_operands(r);
  Id *wire = NEW_ARRAY(r->t.arena, Id, operand.n);
  want_word(&r->t, "over");
  read_indices(r, &loop);
  want_symbol(&r->t, ':');
  loop.nin = operand.n;
  loop.in = NEW_ARRAY(r->t.arena, Access, operand.n);
  for (uint32_t i = 0; i < operand.n; i++) {
    wire[i] = operand.at[i].wire;
    loop.in[i] = read_skipped(r, operand.at[i].access, &loop, i);
    loop.in[i].padded = operand.at[i].padded;
    loop.in[i].pad = operand.at[i].pad;
  }
  loop.out = read_skipped(r, out_access, &loop, operand.n);
  read_body(r, &loop, wire, result->at[0].type.base);
  return r->t.failed ? 0 : box_loop(r->w, r->d, &loop, wire, operand.n, result->at[0].type, 0);
}

// -- other boxes ----------------------------------------------------------------------------------
static Id read_join(TextRead *r) {
  uint32_t axis = want_whole(r, RANK_LIMIT);
  Ids in = read_wires(r);
  if (!in.n) text_error(&r->t, "there is nothing to join");
  for (uint32_t i = 0; !r->t.failed && i < in.n; i++) {
    const Type *t = &r->d->wire.at[in.at[i]].type, *first = &r->d->wire.at[in.at[0]].type;
    if (t->rank != first->rank || t->base != first->base || axis >= t->rank)
      text_error(&r->t, "these wires cannot be joined");
  }
  return r->t.failed ? 0 : box_join(r->w, r->d, axis, in.at, in.n, 0);
}

static Id read_order(TextRead *r) {
  uint32_t axis = want_whole(r, RANK_LIMIT);
  Id in = known(r, r->wire, "wire");
  if (!r->t.failed && axis >= r->d->wire.at[in].type.rank)
    text_error(&r->t, "this wire has no axis %u", axis);
  return r->t.failed ? 0 : box_order(r->w, r->d, axis, in, 0);
}

static uint64_t read_site(TextRead *r) {
  uint64_t site = r->t.tok.whole;
  if (r->t.tok.kind != T_NUMBER || !r->t.tok.is_whole)
    text_error(&r->t, "the number of a site is wanted here");
  text_next(&r->t);
  return site;
}

static Id read_random(TextRead *r, const ReadResults *result) {
  Noise noise = NOISE_NORMAL;
  if (take_word(&r->t, "uniform"))
    noise = NOISE_UNIFORM;
  else
    want_word(&r->t, "normal");
  uint64_t site = read_site(r);
  if (result->at[0].type.base != BASE_R) text_error(&r->t, "noise is real");
  return r->t.failed ? 0 : box_random(r->w, r->d, noise, site, result->at[0].type, 0);
}

static Diagram *known_diagram(TextRead *r) {
  Id id = known(r, r->diagram, "diagram");
  return id ? r->w->diagram.at[id] : NULL;
}

static Ids read_group(TextRead *r, char end) {
  Ids in = read_wires(r);
  want_symbol(&r->t, end);
  return in;
}

static void append(TextRead *r, Ids *all, Ids more) {
  for (uint32_t i = 0; i < more.n; i++) vec_push(r->t.arena, all, more.at[i]);
}

static Id read_call(TextRead *r) {
  Diagram *f = known_diagram(r);
  want_symbol(&r->t, '(');
  Ids in = read_wires(r);
  if (take_symbol(&r->t, ';')) append(r, &in, read_wires(r));
  want_symbol(&r->t, ')');
  if (f && in.n != f->in.n + f->param.n)
    text_error(&r->t, "%u wires are given, but %u are wanted", in.n, f->in.n + f->param.n);
  uint64_t site = take_word(&r->t, "at") ? read_site(r) : 0;
  if (r->t.failed) return 0;
  Id first = box_call(r->w, r->d, f, in.at, in.n, 0);
  r->d->box.at[r->d->box.n - 1].site = site;
  return first;
}

static Id read_scan(TextRead *r) {
  Scan s = {.body = known_diagram(r)};
  want_word(&r->t, "over");
  want_name(r);
  s.axis.name = tok_name(&r->t);
  text_next(&r->t);
  want_symbol(&r->t, ':');
  s.axis.size = read_size(&r->t, true);
  s.back = take_word(&r->t, "back");
  want_symbol(&r->t, '(');
  Ids in = read_group(r, ';'), carry = read_group(r, ';'), hold = read_group(r, ';');
  s.slice = in.n;
  s.carry = carry.n;
  s.hold = hold.n;
  append(r, &in, carry);
  append(r, &in, hold);
  append(r, &in, read_group(r, ')'));
  if (r->t.failed) return 0;
  if (s.carry > s.body->out.n)
    text_error(&r->t, "the body gives fewer results than there are carries");
  return r->t.failed ? 0 : box_scan(r->w, r->d, &s, in.at, in.n, 0);
}

// -- a box and its results ------------------------------------------------------------------------
static Id read_operation(TextRead *r, const ReadResults *result, DiagramText access) {
  static const char *const combine[] = {"sum", "prod", "max", "min"};
  DiagramText *t = &r->t;
  for (int i = 0; i < 4; i++)
    if (take_word(t, combine[i])) return read_loop(r, (Combine)i, result, access);
  if (take_word(t, "map")) return read_loop(r, SUM, result, access);
  if (is_symbol(&access, '[')) text_error(t, "only the result of a loop is written as an access");
  if (take_word(t, "join")) return read_join(r);
  if (take_word(t, "order")) return read_order(r);
  if (take_word(t, "random")) return read_random(r, result);
  if (take_word(t, "call")) return read_call(r);
  if (take_word(t, "scan")) return read_scan(r);
  text_error(t,
             "an operation is wanted here: sum, prod, max, min, join, order, random, call or scan");
  return 0;
}

static void take_results(TextRead *r, const ReadResults *result, Id box) {
  const Box *b = &r->d->box.at[box];
  if (b->nout != result->n) {
    r->t.tok.span = result->at[0].span;
    text_error(&r->t, "this box has %u results, but %u are named", b->nout, result->n);
  }
  for (uint32_t i = 0; !r->t.failed && i < result->n; i++) {
    Type *made = &r->d->wire.at[b->out[i]].type;
    const Type *want = &result->at[i].type;
    if (made->base != want->base || made->rank != want->rank) {
      r->t.tok.span = result->at[i].span;
      text_error(&r->t, "this is %s", type_text(r->w, made));
      return;
    }
    *made = *want;
    declare(r, &result->at[i], b->out[i]);
  }
}

static void read_box(TextRead *r) {
  ReadResults result = {0};
  DiagramText access = r->t;
  do {
    Result x = read_new_name(r);
    if (!result.n) access = skip_access(r);
    want_symbol(&r->t, ':');
    x.type = read_type(r);
    vec_push(r->t.arena, &result, x);
  } while (take_symbol(&r->t, ','));
  want_symbol(&r->t, '=');
  if (r->t.failed) return;
  uint32_t boxes = r->d->box.n;
  read_operation(r, &result, access);
  if (!r->t.failed && r->d->box.n == boxes + 1) take_results(r, &result, boxes);
}

// -- params ---------------------------------------------------------------------------------------
static Size read_fan(TextRead *r) { return take_symbol(&r->t, '?') ? 0 : read_size(&r->t, true); }

static void read_data(TextRead *r, Init *init, const Type *type) {
  VEC(double) number = {0};
  int64_t count;
  want_symbol(&r->t, '[');
  while (!r->t.failed && !is_symbol(&r->t, ']')) vec_push(r->t.arena, &number, want_number(r));
  want_symbol(&r->t, ']');
  if (!type_count(r->w, type, &count) || count != (int64_t)number.n)
    text_error(&r->t, "%u numbers do not fill %s", number.n, type_text(r->w, type));
  init->data = arena_copy(r->w->arena, number.at, number.n * sizeof(double));
}

static Init read_init(TextRead *r, const Type *type) {
  static const char *const word[] = {"const", "normal",     "uniform", "glorot",
                                     "he",    "orthogonal", "diagram", "data"};
  Init init = {0};
  for (uint32_t i = 0; i < COUNT(word) && !init.kind; i++)
    if (take_word(&r->t, word[i])) init.kind = (InitKind)(INIT_CONST + i);
  switch (init.kind) {
  case INIT_NONE:
    text_error(&r->t, "a start value is wanted here: const, normal, uniform, glorot, he, "
                      "orthogonal, diagram or data");
    break;
  case INIT_CONST: init.k = want_number(r); break;
  case INIT_GLOROT:
  case INIT_HE:
    init.fan_in = read_fan(r);
    init.fan_out = read_fan(r);
    break;
  case INIT_DATA: read_data(r, &init, type); break;
  case INIT_DIAGRAM:
    init.diagram = known_diagram(r);
    if (init.diagram && (init.diagram->in.n || init.diagram->param.n || init.diagram->out.n != 1))
      text_error(&r->t, "a diagram that is a start value has no inputs and one output");
    break;
  default: break;
  }
  return init;
}

static void read_param(TextRead *r, Role role) {
  Param p = {.role = role, .path = ""};
  Result x = read_new_name(r);
  want_symbol(&r->t, ':');
  x.type = read_type(r);
  if (r->t.tok.kind != T_NAME || !r->t.tok.quoted)
    text_error(&r->t, "a path in quotes is wanted here");
  else
    p.path = arena_text(r->w->arena, r->t.tok.at, r->t.tok.n);
  text_next(&r->t);
  p.rooted = take_word(&r->t, "rooted");
  if (take_word(&r->t, "init")) p.init = read_init(r, &x.type);
  if (r->t.failed) return;
  uint32_t before = r->d->param.n, number = diagram_param(r->w, r->d, p, x.type, x.name, 0);
  if (r->d->param.n == before)
    text_error(&r->t, "there are two params of this path");
  else
    declare(r, &x, r->d->param.at[number].wire);
}

static void read_next(TextRead *r) {
  Id wire = known(r, r->wire, "wire");
  want_symbol(&r->t, '=');
  Id next = known(r, r->wire, "wire");
  for (uint32_t i = 0; !r->t.failed && i < r->d->param.n; i++) {
    if (r->d->param.at[i].wire != wire) continue;
    const Type *old = &r->d->wire.at[wire].type, *new = &r->d->wire.at[next].type;
    if (old->base != new->base || old->rank != new->rank)
      text_error(&r->t, "the next value has another type");
    r->d->param.at[i].next = next;
    return;
  }
  text_error(&r->t, "only a param has a next value");
}

// -- diagrams and the file ------------------------------------------------------------------------
static void read_inputs(TextRead *r) {
  want_symbol(&r->t, '(');
  while (!r->t.failed && !is_symbol(&r->t, ')')) {
    Result x = read_new_name(r);
    want_symbol(&r->t, ':');
    x.type = read_type(r);
    if (r->t.failed) return;
    declare(r, &x, diagram_input(r->w, r->d, x.type, x.name, 0));
    if (!take_symbol(&r->t, ',')) break;
  }
  want_symbol(&r->t, ')');
}

static void read_contents(TextRead *r) {
  static const char *const role[] = {"weight", "buffer", "clock", "const"};
  DiagramText *t = &r->t;
  for (bool more = true; more && !t->failed;) {
    more = false;
    for (int i = 0; i < 4 && !more; i++) {
      more = take_word(t, role[i]);
      if (more) read_param(r, (Role)i);
    }
  }
  while (!t->failed && !is_word(t, "return")) read_box(r);
  want_word(t, "return");
  Ids out = read_wires(r);
  for (uint32_t i = 0; !t->failed && i < out.n; i++) diagram_output(r->w, r->d, out.at[i]);
  while (take_word(t, "next")) read_next(r);
}

static void read_diagram(TextRead *r) {
  Span span = r->t.tok.span;
  want_name(r);
  if (r->t.failed) return;
  size_t n;
  const char *key = tok_key(&r->t, &n);
  if (table_get(r->diagram, key, n)) text_error(&r->t, "there are two diagrams of this name");
  r->d = diagram_new(r->w, tok_name(&r->t));
  r->wire = table_new(r->t.arena);
  text_next(&r->t);
  read_inputs(r);
  read_contents(r);
  Buf why = buf_new(r->t.arena);
  if (r->t.failed) return;
  if (!diagram_valid(r->w, r->d, &why)) {
    r->t.tok.span = span;
    text_error(&r->t, "%s", why.at);
  }
  table_put(r->diagram, key, n, r->d->id);
  r->last = r->d;
}

static void read_sizes(TextRead *r) {
  static const char *const kind[] = {"axis", "local", "index", "sample", "space"};
  DiagramText *t = &r->t;
  while (!t->failed && t->tok.kind == T_NAME && !is_word(t, "names") && !is_word(t, "diagram")) {
    size_t n;
    const char *key = tok_key(t, &n);
    Name name = tok_name(t);
    Span span = t->tok.span;
    VarKind of = VAR_AXIS;
    if (table_get(r->var, key, n)) text_error(t, "there are two sizes of this name");
    text_next(t);
    if (take_symbol(t, ':')) {
      bool found = false;
      for (uint32_t i = 0; i < COUNT(kind) && !found; i++)
        if ((found = take_word(t, kind[i]))) of = (VarKind)i;
      if (!found) text_error(t, "a size is axis, local, index, sample or space");
    }
    if (!t->failed) table_put(r->var, key, n, size_var(r->w, name, of, span));
  }
}

static void read_names(TextRead *r) {
  DiagramText *t = &r->t;
  uint32_t number = want_whole(r, UINT32_MAX);
  Ids list = {0};
  want_symbol(t, '=');
  while (!t->failed && t->tok.kind == T_NAME && !is_word(t, "names") && !is_word(t, "diagram")) {
    vec_push(r->w->arena, &list, tok_name(t));
    text_next(t);
  }
  vec_push(r->w->arena, &r->w->label_names, list);
  table_put(r->names, &number, sizeof number, r->w->label_names.n - 1);
}

static void read_reverse(TextRead *r) {
  Diagram *d = known_diagram(r);
  want_symbol(&r->t, '=');
  Diagram *reverse = known_diagram(r);
  if (!r->t.failed) d->reverse = reverse;
}

static void read_file(TextRead *r) {
  DiagramText *t = &r->t;
  while (!t->failed && t->tok.kind != T_END) {
    if (take_word(t, "sizes"))
      read_sizes(r);
    else if (take_word(t, "names"))
      read_names(r);
    else if (take_word(t, "diagram"))
      read_diagram(r);
    else if (take_word(t, "reverse"))
      read_reverse(r);
    else if (take_word(t, "main"))
      r->main = known_diagram(r);
    else
      text_error(t, "a diagram is wanted here");
  }
  if (!r->last) text_error(t, "there is no diagram here");
}

Diagram *diagram_read(World *w, uint32_t file) {
  Arena *scratch = arena_child(w->arena);
  const Source *source = &w->sources->file.at[file];
  TextRead r = {
      .w = w, .t = {.w = w, .arena = scratch, .text = source->text, .n = source->n, .file = file}};
  r.var = table_new(scratch);
  r.names = table_new(scratch);
  r.diagram = table_new(scratch);
  r.t.var = r.var;
  text_start(&r.t);
  read_file(&r);
  Diagram *d = r.t.failed ? NULL : r.main ? r.main : r.last;
  arena_free(scratch);
  return d;
}
