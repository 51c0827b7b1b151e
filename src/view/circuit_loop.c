// A loop is read by its indices. One that stands in an operand and in the result passes; in several
// operands and the result, they merge; in two operands and not in the result, they meet in a cup;
// alone in an operand, it is summed up; alone in the result, it begins. Coordinates that are not
// plain come first, and last for the result: a view, a convolution's window, a fixed place. What
// the body does to numbers stands above.
#include "view/circuit.h"

#include <math.h>

// -- what a body does to numbers ------------------------------------------------------------------
enum { FORMULA = 18 }; // letters that a formula may have

typedef struct {
  Circuit *c;
  const Loop *l;
  Buf *out;
} Formula;

static const char *infix(Fn fn, int *level) {
  *level = fn == FN_lt                    ? 0
           : fn == FN_add || fn == FN_sub ? 1
           : fn == FN_mul || fn == FN_div ? 2
           : fn == FN_pow                 ? 3
                                          : 4;
  return fn == FN_lt    ? " < "
         : fn == FN_add ? " + "
         : fn == FN_sub ? " − "
         : fn == FN_mul ? " · "
         : fn == FN_div ? "/"
         : fn == FN_pow ? "^"
                        : NULL;
}

// A number where a condition holds, and 0 elsewhere.
static bool is_gate(const Loop *l, const Scalar *x) {
  const Scalar *other = &l->scalar[x->arg[2]];
  return x->fn == FN_select && other->fn == FN_CONST && other->k == 0;
}

static void formula(const Formula *f, uint32_t i, int level) {
  const Scalar *x = &f->l->scalar[i];
  int own;
  const char *sign = infix((Fn)x->fn, &own);
  if (x->fn == FN_CONST) {
    if (x->k == -INFINITY)
      buf_text(f->out, "−∞");
    else
      buf_printf(f->out, "%.4g", x->k);
  } else if (x->fn == FN_ARG) {
    buf_printf(f->out, "%c", f->l->nin == 1 ? 'x' : (char)('x' + (int)(x->ref % 3)));
  } else if (x->fn == FN_AT) {
    buf_text(f->out, name_text(f->c->w->names, f->l->index[x->ref].name));
  } else if (x->fn == FN_SIZE) {
    buf_text(f->out, size_text(f->c->w, x->ref));
  } else if (is_gate(f->l, x)) {
    formula(f, x->arg[1], 2);
    buf_text(f->out, " · [");
    formula(f, x->arg[0], 0);
    buf_char(f->out, ']');
  } else if (sign) {
    if (own < level) buf_char(f->out, '(');
    formula(f, x->arg[0], own);
    buf_text(f->out, sign);
    formula(f, x->arg[1], own + 1);
    if (own < level) buf_char(f->out, ')');
  } else {
    buf_text(f->out, fn_rows[x->fn].glyph);
    bool bare = x->fn == FN_sqrt && f->l->scalar[x->arg[0]].fn <= FN_SIZE;
    if (!bare) buf_char(f->out, '(');
    for (uint32_t k = 0; k < fn_rows[x->fn].arity; k++) {
      if (k) buf_text(f->out, ", ");
      formula(f, x->arg[k], 0);
    }
    if (!bare) buf_char(f->out, ')');
  }
}

// Is the body the product of its operands?
static bool is_product(const Loop *l, uint32_t i) {
  const Scalar *x = &l->scalar[i];
  if (x->fn == FN_ARG) return true;
  return x->fn == FN_mul && is_product(l, x->arg[0]) && is_product(l, x->arg[1]);
}

static bool is_arg(const Loop *l, uint32_t i) { return l->scalar[i].fn == FN_ARG; }

// What stands above the result; NULL: nothing, the wires say it all.
const char *body_text(Circuit *c, const Loop *l) {
  uint32_t last = l->nscalar - 1;
  const Scalar *x = &l->scalar[last];
  if (is_product(l, last)) return NULL;
  bool plain = x->fn > FN_SIZE;
  for (uint32_t k = 0; plain && k < fn_rows[x->fn].arity; k++) plain = is_arg(l, x->arg[k]);
  if (plain) return fn_rows[x->fn].glyph;
  bool first = (x->fn == FN_div || x->fn == FN_mul) && is_arg(l, x->arg[0]) && l->nin == 1;
  Buf b = buf_new(c->s->arena);
  Formula f = {c, l, &b};
  if (first) {
    buf_text(&b, x->fn == FN_div ? "1/" : "");
    formula(&f, x->arg[1], 3);
  } else {
    formula(&f, last, 0);
  }
  return b.n > FORMULA + 6 ? "f" : b.at;
}

// -- loops ----------------------------------------------------------------------------------------
typedef struct {
  Part *p;
  const Box *box;
  const Loop *l;
  uint32_t *bundle; // [operand] with a strand for each of its indices
  Ids *index;       // [operand] index of each of these strands + 1; 0: a number without axes
} Reading;

static bool plain_index(const Reading *r, const Coord *k, uint32_t *index) {
  return coord_is_plain(r->p->c->w, k, index);
}

static bool is_plain_access(const Reading *r, const Access *a) {
  uint32_t index;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!plain_index(r, &a->coord[i], &index)) return false;
  return true;
}

static const char *index_label(const Reading *r, uint32_t index) {
  Axis a = {.label = r->l->index[index].name, .size = r->l->index[index].size};
  return axis_label(r->p->c, &a);
}

// Is this coordinate a row of indices side by side, (h w)? Then it is a view and not a window:
// there is an index that counts by one, another that counts by the size of it, and so on.
static bool is_view(const Reading *r, const Coord *k) {
  World *w = r->p->c->w;
  Size each = size_of(w, 1);
  if (k->c && size_now(w, k->c) != size_of(w, 0)) return false;
  for (uint32_t n = 0, i; n < k->n; n++) {
    for (i = 0; i < k->n && (k->term[i].operand || size_now(w, k->term[i].coef) != each);) i++;
    if (i == k->n) return false;
    each = size_now(w, size_mul(w, each, r->l->index[k->term[i].var].size));
  }
  return k->n > 1;
}

static const char *coord_text(const Reading *r, const Coord *k) {
  int64_t n;
  World *w = r->p->c->w;
  if (!k->n)
    return size_value(w, k->c, &n) ? arena_format(r->p->c->s->arena, "%lld", (long long)n)
                                   : size_text(w, k->c);
  return k->term[0].operand ? "·" : "?";
}

// The stride of a window: what its first index is multiplied by.
static const char *stride_text(const Reading *r, const Coord *k) {
  int64_t n;
  if (!k->n || !size_value(r->p->c->w, k->term[0].coef, &n) || n == 1) return NULL;
  return arena_format(r->p->c->s->arena, "%lld", (long long)n);
}

// One coordinate that is not plain: an axis on one side, indices on the other.
static void coord_glyph(Reading *r, uint32_t stage, const Coord *k, uint32_t axis, uint32_t bundle,
                        Ids *index, uint32_t *at, bool out) {
  Sketch *s = r->p->c->s;
  uint32_t plain;
  if (plain_index(r, k, &plain)) {
    uint32_t strand = strand_at(s, bundle, *at);
    if (!out) vec_push(s->arena, index, plain + 1);
    stage_link(s, stage, LINK_PASS, out ? strand : axis, out ? axis : strand);
    ++*at;
    return;
  }
  uint32_t terms = 0;
  for (uint32_t i = 0; i < k->n; i++) terms += !k->term[i].operand;
  GlyphKind kind = !terms ? GLYPH_INDEX : is_view(r, k) ? GLYPH_BAR : GLYPH_CONV;
  Glyph *g = stage_glyph(s, stage, kind, kind == GLYPH_INDEX ? coord_text(r, k) : NULL);
  if (kind == GLYPH_CONV) g->above = stride_text(r, k);
  if (kind == GLYPH_CONV && out) g->below = "T";
  vec_push(s->arena, out ? &g->out : &g->in, axis);
  for (uint32_t i = 0; i < k->n; i++) {
    if (k->term[i].operand) continue;
    if (!out) vec_push(s->arena, index, k->term[i].var + 1);
    vec_push(s->arena, out ? &g->in : &g->out, strand_at(s, bundle, (*at)++));
  }
}

static uint32_t terms_of(const Access *a) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++) n += !a->coord[i].term[k].operand;
  return n;
}

static void label_indices(Reading *r, uint32_t bundle, const Ids *index) {
  for (uint32_t i = 0; i < index->n; i++)
    if (index->at[i]) strand_of(r->p->c->s, bundle, i)->label = index_label(r, index->at[i] - 1);
}

// Operands get a strand for each index that reads them.
static void read_operand(Reading *r, uint32_t i) {
  Sketch *s = r->p->c->s;
  const Access *a = &r->l->in[i];
  uint32_t made = bundle_of(r->p, r->box->in[i]), index, at = 0;
  r->bundle[i] = made;
  if (is_plain_access(r, a)) {
    for (uint32_t k = 0; k < a->rank; k++) {
      plain_index(r, &a->coord[k], &index);
      vec_push(s->arena, &r->index[i], index + 1);
    }
    if (!a->rank) vec_push(s->arena, &r->index[i], 0);
    return;
  }
  uint32_t stage = sketch_stage(s, r->p->block, "read"), use = sketch_use(s, stage, made);
  uint32_t terms = terms_of(a), b = sketch_make(s, stage, NULL, terms ? terms : 1);
  for (uint32_t k = 0; k < a->rank; k++)
    coord_glyph(r, stage, &a->coord[k], strand_at(s, use, k), b, &r->index[i], &at, false);
  if (!terms) {
    vec_push(s->arena, &r->index[i], 0);
    Glyph *g = &s->stage.at[stage].glyph.at[s->stage.at[stage].glyph.n - 1];
    vec_push(s->arena, &g->out, strand_at(s, b, 0));
  }
  label_indices(r, b, &r->index[i]);
  r->bundle[i] = b;
}

typedef struct {
  uint32_t stage, result; // the bundle that comes out, a strand for each index in `order`
  uint32_t *use;          // [operand]
  Ids order;
} Joining;

static uint32_t uses_of(const Reading *r, const Joining *j, uint32_t index, Ids *out) {
  const Sketch *s = r->p->c->s;
  for (uint32_t i = 0; i < r->l->nin; i++)
    for (uint32_t k = 0; k < r->index[i].n; k++)
      if (r->index[i].at[k] == index + 1) vec_push(s->arena, out, strand_at(s, j->use[i], k));
  return out->n;
}

static void join_index(Reading *r, Joining *j, uint32_t index, bool product) {
  static const char *const word[] = {[SUM] = "Σ", [PROD] = "Π", [MAX] = "Max", [MIN] = "Min"};
  Sketch *s = r->p->c->s;
  Ids uses = {0};
  uint32_t n = uses_of(r, j, index, &uses), at = 0;
  while (at < j->order.n && j->order.at[at] != index + 1) at++;
  if (at < j->order.n) {
    uint32_t to = strand_at(s, j->result, at);
    if (!n) stage_link(s, j->stage, LINK_BEGIN, 0, to);
    for (uint32_t i = 0; i < n; i++)
      stage_link(s, j->stage, n == 1 ? LINK_PASS : LINK_MERGE, uses.at[i], to);
    return;
  }
  if (n == 2 && product && r->l->combine == SUM) {
    stage_link(s, j->stage, LINK_CUP, uses.at[0], uses.at[1]);
    return;
  }
  if (!n) return;
  Glyph *g = stage_glyph(s, j->stage, GLYPH_REDUCE, word[r->l->combine]);
  g->in = uses;
}

// Numbers without axes end where they are used.
static void join_scalars(Reading *r, Joining *j) {
  Sketch *s = r->p->c->s;
  for (uint32_t i = 0; i < r->l->nin; i++) {
    if (r->index[i].n != 1 || r->index[i].at[0]) continue;
    uint32_t x = strand_at(s, j->use[i], 0);
    if (!j->order.n)
      stage_link(s, j->stage, LINK_MERGE, x, strand_at(s, j->result, 0));
    else
      stage_link(s, j->stage, LINK_END, x, 0);
  }
}

// A result without axes begins where the last sum ends.
static void begin_scalar(Reading *r, Joining *j) {
  Sketch *s = r->p->c->s;
  Stage *t = &s->stage.at[j->stage];
  uint32_t x = strand_at(s, j->result, 0);
  if (j->order.n) return;
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].to == x) return;
  if (t->glyph.n)
    vec_push(s->arena, &t->glyph.at[0].out, x);
  else
    stage_link(s, j->stage, LINK_BEGIN, 0, x);
}

// The indices of the result, in order.
static Ids result_order(Reading *r) {
  Ids order = {0};
  for (uint32_t i = 0; i < r->l->out.rank; i++)
    for (uint32_t k = 0; k < r->l->out.coord[i].n; k++)
      if (!r->l->out.coord[i].term[k].operand)
        vec_push(r->p->c->s->arena, &order, r->l->out.coord[i].term[k].var + 1);
  return order;
}

static void write_result(Reading *r, uint32_t joined) {
  Sketch *s = r->p->c->s;
  uint32_t stage = sketch_stage(s, r->p->block, "write"), at = 0;
  uint32_t use = sketch_use(s, stage, joined), b = part_make(r->p, stage, r->box->out[0]);
  for (uint32_t k = 0; k < r->l->out.rank; k++)
    coord_glyph(r, stage, &r->l->out.coord[k], strand_at(s, b, k), use, NULL, &at, true);
}

// Where the largest is: it begins beside the result.
static void make_winner(Part *p, uint32_t stage, Id wire) {
  Sketch *s = p->c->s;
  uint32_t b = part_make(p, stage, wire);
  for (uint32_t i = 0; i < s->bundle.at[b].n; i++)
    stage_link(s, stage, LINK_BEGIN, 0, strand_at(s, b, i));
}

void draw_loop(Part *p, const Box *box) {
  Sketch *s = p->c->s;
  const Loop *l = box->loop;
  Reading r = {.p = p, .box = box, .l = l};
  r.bundle = NEW_ARRAY(s->arena, uint32_t, l->nin + 1);
  r.index = NEW_ARRAY(s->arena, Ids, l->nin + 1);
  for (uint32_t i = 0; i < l->nin; i++) read_operand(&r, i);
  const char *text = body_text(p->c, l);
  bool plain = is_plain_access(&r, &l->out), product = is_product(l, l->nscalar - 1);
  Joining j = {.order = result_order(&r)};
  j.stage = sketch_stage(s, p->block, text ? text : "combine");
  s->stage.at[j.stage].free = true;
  j.use = NEW_ARRAY(s->arena, uint32_t, l->nin + 1);
  for (uint32_t i = 0; i < l->nin; i++) j.use[i] = sketch_use(s, j.stage, r.bundle[i]);
  if (plain) {
    j.result = part_make(p, j.stage, box->out[0]);
  } else {
    j.result = sketch_make(s, j.stage, NULL, j.order.n ? j.order.n : 1);
    label_indices(&r, j.result, &j.order);
  }
  for (uint32_t i = 0; i < l->nindex; i++) join_index(&r, &j, i, product);
  join_scalars(&r, &j);
  begin_scalar(&r, &j);
  if (text) stage_glyph(s, j.stage, GLYPH_WISE, text)->over = j.result;
  if (!plain) write_result(&r, j.result);
  for (uint32_t i = 1; i < box->nout; i++)
    if (reads(p->d, box->out[i])) make_winner(p, j.stage, box->out[i]);
}
