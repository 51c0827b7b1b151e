// Prints diagrams as text (grammar: text_own.h).
//
// The text holds the whole data structure, so parsing gives the diagram back, except that origins
// are printed as comments and ids (of wires, variables, declarations) are not printed. A loop body
// is printed as one expression. A scalar that is used twice is bound to a name, and so is a scalar
// at every fortieth level, which bounds the nesting depth that a parser must accept.
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/diagram/text_own.h"

#include <math.h>

enum { LEVELS = 40 };

typedef struct {
  World *w;
  const PrintNames *names;
  Buf *out;
  bool origins;
  const Diagram *d;
  const char **wire; // [wire] unique name
} Print;

static void text(Print *p, const char *s) { buf_text(p->out, s); }
static void size_out(Print *p, Size s) { text(p, size_by_names(p->w, p->names, s)); }

static void name_out(Print *p, Name name) {
  const char *s = name_text(p->w->names, name);
  if (!name)
    buf_char(p->out, '%');
  else if (is_plain_name(s))
    text(p, s);
  else
    buf_json(p->out, s, strlen(s));
}

// -- types ----------------------------------------------------------------------------------------
static void axis_out(Print *p, const Axis *a) {
  const char *size = size_by_names(p->w, p->names, a->size);
  if (a->label) {
    size_t before = p->out->n;
    name_out(p, a->label);
    if (strcmp(p->out->at + before, size) != 0) buf_printf(p->out, ":%s", size);
  } else {
    bool word = size_is_var(p->w, a->size, NULL) || size_too_large(p->w, a->size);
    buf_printf(p->out, "%s%s", word ? ":" : "", size);
  }
  if (a->pass) buf_printf(p->out, "~%u", a->pass);
}

static void type_out(Print *p, const Type *t) {
  if (t->base == BASE_LABEL) {
    buf_printf(p->out, "{%s", size_by_names(p->w, p->names, t->count));
    for (uint32_t i = 0; t->names && i < p->names->label_names.n; i++)
      if (p->names->label_names.at[i] == t->names) buf_printf(p->out, " of %u", i + 1);
    buf_char(p->out, '}');
  } else {
    text(p, t->base == BASE_BIT ? "B" : "R");
  }
  for (uint32_t i = 0; i < t->rank; i++) {
    buf_char(p->out, i ? ' ' : '[');
    axis_out(p, &t->axis[i]);
  }
  if (t->rank) buf_char(p->out, ']');
}

static void wire_out(Print *p, Id wire) {
  text(p, wire < p->d->wire.n && p->wire[wire] ? p->wire[wire] : "?");
}

static void typed_out(Print *p, Id wire) {
  wire_out(p, wire);
  text(p, ": ");
  type_out(p, &p->d->wire.at[wire].type);
}

static void wires_out(Print *p, const Id *wire, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_char(p->out, ' ');
    wire_out(p, wire[i]);
  }
}

// -- accesses -------------------------------------------------------------------------------------
// A size in a coordinate: a number as digits, anything else in braces.
static void factor_out(Print *p, Size s, bool first) {
  int64_t n;
  if (size_value(p->w, s, &n))
    buf_printf(p->out, "%s%lld", first || n < 0 ? "" : "+", (long long)n);
  else
    buf_printf(p->out, "%s{%s}", first ? "" : "+", size_by_names(p->w, p->names, s));
}

static void term_out(Print *p, const Term *t, const char *const *index, bool first) {
  int64_t n;
  bool known = size_value(p->w, t->coef, &n);
  if (known && n == 1) {
    text(p, first ? "" : "+");
  } else if (known && n == -1) {
    text(p, "-");
  } else {
    factor_out(p, t->coef, first);
    text(p, "*");
  }
  if (t->operand)
    buf_printf(p->out, "$%u", t->var);
  else
    text(p, index[t->var]);
}

static void access_out(Print *p, const Access *a, const char *const *index) {
  int64_t n;
  for (uint32_t i = 0; i < a->rank; i++) {
    const Coord *c = &a->coord[i];
    buf_char(p->out, i ? ' ' : '[');
    for (uint32_t k = 0; k < c->n; k++) term_out(p, &c->term[k], index, k == 0);
    bool zero = !c->c || (size_value(p->w, c->c, &n) && n == 0);
    if (!zero)
      factor_out(p, c->c, c->n == 0);
    else if (!c->n)
      text(p, "0");
  }
  if (a->rank) buf_char(p->out, ']');
}

// -- bodies ---------------------------------------------------------------------------------------
typedef struct {
  Print *p;
  const Loop *loop;
  const char *const *index;
  uint32_t *first; // [scalar] the first scalar with the same value
  uint32_t *uses;  // [scalar] number of uses
  uint32_t *level; // [scalar] depth of its expression
  uint32_t *name;  // [scalar] number n of its name `tn`; 0: printed inline
} PrintBody;

static uint32_t arity_of(const Scalar *s) { return s->fn <= FN_SIZE ? 0 : fn_rows[s->fn].arity; }

static PrintBody body_analyse(Print *p, const Loop *loop, const char *const *index) {
  Arena *a = p->w->arena;
  uint32_t n = loop->nscalar, *number = scalar_numbers(p->w, p->names, loop, table_new(a)),
           named = 0;
  uint32_t *seen = NEW_ARRAY(a, uint32_t, n + 1);
  PrintBody b = {.p = p,
                 .loop = loop,
                 .index = index,
                 .first = NEW_ARRAY(a, uint32_t, n),
                 .uses = NEW_ARRAY(a, uint32_t, n)};
  b.level = NEW_ARRAY(a, uint32_t, n);
  b.name = NEW_ARRAY(a, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!seen[number[i]]) seen[number[i]] = i + 1;
    b.first[i] = seen[number[i]] - 1;
  }
  b.uses[b.first[n - 1]] = 1;
  for (uint32_t i = n; i-- > 0;)
    for (uint32_t k = 0; b.uses[i] && k < arity_of(&loop->scalar[i]); k++)
      b.uses[b.first[loop->scalar[i].arg[k]]]++;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t arity = arity_of(&loop->scalar[i]);
    for (uint32_t k = 0; k < arity; k++) {
      uint32_t arg = b.first[loop->scalar[i].arg[k]], level = b.name[arg] ? 0 : b.level[arg];
      if (level >= b.level[i]) b.level[i] = level + 1;
    }
    if (arity && b.uses[i] && i != b.first[n - 1] && (b.uses[i] > 1 || b.level[i] >= LEVELS))
      b.name[i] = ++named;
  }
  return b;
}

static void base_out(Print *p, const Scalar *s) {
  if (s->base == BASE_BIT) text(p, ":B");
  if (s->base == BASE_LABEL) text(p, ":L");
}

static void leaf_out(const PrintBody *b, const Scalar *s, int level) {
  Print *p = b->p;
  bool guarded = s->fn == FN_CONST && signbit(s->k) && !isnan(s->k) && level > 4;
  if (guarded) text(p, "(");
  switch (s->fn) {
  case FN_CONST: buf_number(p->out, s->k); break;
  case FN_ARG: buf_printf(p->out, "$%u", s->ref); return;
  case FN_AT: buf_printf(p->out, "at(%s)", b->index[s->ref]); break;
  default: buf_printf(p->out, "size(%s)", size_by_names(p->w, p->names, s->ref));
  }
  base_out(p, s);
  if (guarded) text(p, ")");
}

// Precedences: 1 comparison, 2 sum, 3 product, 4 minus, 5 power.
typedef struct {
  uint8_t fn, level, left, right;
  const char *sign;
} Infix;
static const Infix infix[] = {
    {FN_add, 2, 2, 3, " + "}, {FN_sub, 2, 2, 3, " - "}, {FN_mul, 3, 3, 4, " * "},
    {FN_div, 3, 3, 4, " / "}, {FN_pow, 5, 6, 4, "^"},   {FN_lt, 1, 2, 2, " < "},
    {FN_le, 1, 2, 2, " <= "}, {FN_eq, 1, 2, 2, " = "},  {FN_ne, 1, 2, 2, " != "}};

static void scalar_out(const PrintBody *b, uint32_t i, int level);

static void function_out(const PrintBody *b, const Scalar *s) {
  const FnRow *row = &fn_rows[s->fn];
  buf_printf(b->p->out, "%s(", row->name);
  for (uint32_t k = 0; k < row->arity; k++) {
    if (k) text(b->p, ", ");
    scalar_out(b, s->arg[k], 0);
  }
  text(b->p, ")");
}

static void expression_out(const PrintBody *b, const Scalar *s, int level) {
  Print *p = b->p;
  const Infix *op = NULL;
  for (uint32_t i = 0; i < COUNT(infix); i++)
    if (infix[i].fn == s->fn) op = &infix[i];
  bool minus = s->fn == FN_neg && b->loop->scalar[s->arg[0]].fn != FN_CONST;
  if (!op && !minus) {
    function_out(b, s);
    return;
  }
  int own = op ? op->level : 4;
  if (own < level) text(p, "(");
  if (op) scalar_out(b, s->arg[0], op->left);
  text(p, op ? op->sign : "-");
  scalar_out(b, s->arg[op ? 1 : 0], op ? op->right : 4);
  if (own < level) text(p, ")");
}

static void scalar_out(const PrintBody *b, uint32_t i, int level) {
  i = b->first[i];
  const Scalar *s = &b->loop->scalar[i];
  if (b->name[i])
    buf_printf(b->p->out, "t%u", b->name[i]);
  else if (s->fn <= FN_SIZE)
    leaf_out(b, s, level);
  else
    expression_out(b, s, level);
}

static void body_out(Print *p, const Loop *loop, const char *const *index) {
  if (!loop->nscalar) return;
  PrintBody b = body_analyse(p, loop, index);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    if (!b.name[i]) continue;
    buf_printf(p->out, "t%u := ", b.name[i]);
    expression_out(&b, &loop->scalar[i], 0);
    text(p, "; ");
  }
  scalar_out(&b, loop->nscalar - 1, 0);
}

// -- boxes ----------------------------------------------------------------------------------------
// True if nothing is reduced: every index is an axis of the result.
static bool is_map(World *w, const Loop *loop) {
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (loop_is_reduced(w, loop, i)) return false;
  return loop->combine == SUM;
}

static void loop_out(Print *p, const Box *b, const char *const *index) {
  static const char *const combine[] = {"sum", "prod", "max", "min"};
  const Loop *loop = b->loop;
  text(p, is_map(p->w, loop) ? "map" : combine[loop->combine]);
  for (uint32_t i = 0; i < loop->nin; i++) {
    text(p, " ");
    wire_out(p, b->in[i]);
    access_out(p, &loop->in[i], index);
    if (!loop->in[i].padded) continue;
    text(p, " else ");
    buf_number(p->out, loop->in[i].pad);
  }
  text(p, " over");
  for (uint32_t i = 0; i < loop->nindex; i++)
    buf_printf(p->out, " %s:%s", index[i], size_by_names(p->w, p->names, loop->index[i].size));
  text(p, " : ");
  body_out(p, loop, index);
}

static void scan_out(Print *p, const Box *b) {
  const Scan *s = b->scan;
  uint32_t end[4] = {s->slice, s->slice + s->carry, s->slice + s->carry + s->hold, b->nin}, at = 0;
  buf_printf(p->out, "scan %s over ", p->names->diagram[s->body->id]);
  name_out(p, s->axis.name);
  text(p, ":");
  size_out(p, s->axis.size);
  text(p, s->back ? " back (" : " (");
  for (int i = 0; i < 4; i++) {
    if (i) text(p, "; ");
    wires_out(p, b->in + at, end[i] - at);
    at = end[i];
  }
  text(p, ")");
}

static void call_out(Print *p, const Box *b) {
  uint32_t n = b->callee->in.n < b->nin ? b->callee->in.n : b->nin;
  buf_printf(p->out, "call %s(", p->names->diagram[b->callee->id]);
  wires_out(p, b->in, n);
  if (n < b->nin) text(p, "; ");
  wires_out(p, b->in + n, b->nin - n);
  text(p, ")");
  if (b->site) buf_printf(p->out, " at 0x%016llx", (unsigned long long)b->site);
}

static void origin_out(Print *p, Id origin) {
  Span span = origin_span(p->w, origin);
  uint32_t line, column;
  if (!p->origins || !span.file) return;
  source_place(p->w->sources, span, &line, &column);
  buf_printf(p->out, "  @%u:%u", line, column);
}

static void box_out(Print *p, const Box *b) {
  const char **index = NULL;
  text(p, "  ");
  if (b->op == OP_loop) {
    Table *taken = table_new(p->w->arena);
    index = NEW_ARRAY(p->w->arena, const char *, b->loop->nindex);
    for (uint32_t i = 0; i < b->loop->nindex; i++)
      index[i] = name_unique(p->w, taken, b->loop->index[i].name);
  }
  for (uint32_t i = 0; i < b->nout; i++) {
    if (i) text(p, ", ");
    wire_out(p, b->out[i]);
    if (!i && index) access_out(p, &b->loop->out, index);
    text(p, ": ");
    type_out(p, &p->d->wire.at[b->out[i]].type);
  }
  text(p, " = ");
  switch (b->op) {
  case OP_loop: loop_out(p, b, index); break;
  case OP_scan: scan_out(p, b); break;
  case OP_call: call_out(p, b); break;
  case OP_random:
    buf_printf(p->out, "random %s 0x%016llx",
               b->random->noise == NOISE_NORMAL ? "normal" : "uniform",
               (unsigned long long)b->random->site);
    break;
  default:
    buf_printf(p->out, "%s %u ", b->op == OP_join ? "join" : "order", b->axis);
    wires_out(p, b->in, b->nin);
  }
  origin_out(p, b->origin);
  text(p, "\n");
}

// -- params and diagrams --------------------------------------------------------------------------
static void init_out(Print *p, const Init *init, const Type *t) {
  static const char *const word[] = {"",   "const",      "normal",  "uniform", "glorot",
                                     "he", "orthogonal", "diagram", "data"};
  int64_t count;
  if (init->kind == INIT_NONE) return;
  buf_printf(p->out, " init %s", word[init->kind]);
  if (init->kind == INIT_CONST) text(p, " "), buf_number(p->out, init->k);
  if (init->kind == INIT_GLOROT || init->kind == INIT_HE)
    buf_printf(p->out, " %s %s", size_by_names(p->w, p->names, init->fan_in),
               size_by_names(p->w, p->names, init->fan_out));
  if (init->kind == INIT_DIAGRAM) buf_printf(p->out, " %s", p->names->diagram[init->diagram->id]);
  if (init->kind != INIT_DATA) return;
  text(p, " [");
  if (!type_count(p->w, t, &count)) count = 0;
  for (int64_t i = 0; i < count; i++) {
    if (i) text(p, " ");
    buf_number(p->out, init->data[i]);
  }
  text(p, "]");
}

static void param_out(Print *p, const Param *param) {
  static const char *const role[] = {"weight", "buffer", "clock", "const"};
  buf_printf(p->out, "  %s ", role[param->role]);
  typed_out(p, param->wire);
  text(p, " ");
  buf_json(p->out, param->path, strlen(param->path));
  if (param->rooted) text(p, " rooted");
  init_out(p, &param->init, &p->d->wire.at[param->wire].type);
  text(p, "\n");
}

static void diagram_out(Print *p, const Diagram *d) {
  p->d = d;
  p->wire = wire_names(p->w, d);
  buf_printf(p->out, "diagram %s(", p->names->diagram[d->id]);
  for (uint32_t i = 0; i < d->in.n; i++) {
    if (i) text(p, ", ");
    typed_out(p, d->in.at[i]);
  }
  text(p, ")");
  origin_out(p, d->origin);
  text(p, "\n");
  for (uint32_t i = 0; i < d->param.n; i++) param_out(p, &d->param.at[i]);
  for (uint32_t i = 1; i < d->box.n; i++) box_out(p, &d->box.at[i]);
  text(p, d->out.n ? "  return " : "  return");
  wires_out(p, d->out.at, d->out.n);
  text(p, "\n");
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (!d->param.at[i].next) continue;
    text(p, "  next ");
    wire_out(p, d->param.at[i].wire);
    text(p, " = ");
    wire_out(p, d->param.at[i].next);
    text(p, "\n");
  }
}

static void heading_out(Print *p) {
  static const char *const kind[] = {"", ":local", ":index", ":sample", ":space"};
  _Static_assert(COUNT(kind) == VAR_SPACE + 1, "each kind has its word");
  const PrintNames *names = p->names;
  if (names->vars.n) text(p, "sizes");
  for (uint32_t i = 0; i < names->vars.n; i++)
    buf_printf(p->out, " %s%s", names->var[names->vars.at[i]],
               kind[size_var_kind(p->w, names->vars.at[i])]);
  if (names->vars.n) text(p, "\n");
  for (uint32_t i = 0; i < names->label_names.n; i++) {
    const Ids *list = &p->w->label_names.at[names->label_names.at[i]];
    buf_printf(p->out, "names %u =", i + 1);
    for (uint32_t k = 0; k < list->n; k++) {
      text(p, " ");
      name_out(p, list->at[k]);
    }
    text(p, "\n");
  }
}

void diagram_print(World *w, const Diagram *d, Buf *out, bool origins) {
  Print p = {.w = w, .names = print_names(w, d), .out = out, .origins = origins};
  const Diagrams *all = &p.names->diagrams;
  heading_out(&p);
  for (uint32_t i = 0; i < all->n; i++) {
    if (out->n) text(&p, "\n");
    diagram_out(&p, all->at[i]);
  }
  for (uint32_t i = 0; i < all->n; i++)
    if (all->at[i]->reverse)
      buf_printf(out, "reverse %s = %s\n", p.names->diagram[all->at[i]->id],
                 p.names->diagram[all->at[i]->reverse->id]);
  if (all->at[all->n - 1] != d) buf_printf(out, "main %s\n", p.names->diagram[d->id]);
}
