// A diagram as a neural circuit diagram: every wire is a bundle with a strand for each axis, every
// box a stage or a few.
//
// A loop is read by its indices. One that stands in an operand and in the result passes; in several
// operands and the result, they merge; in two operands and not in the result, they meet in a cup;
// alone in an operand, it is summed up; alone in the result, it begins. Coordinates that are not
// plain come first, and last for the result: a view, a convolution's window, a fixed place. What
// the body does to numbers stands above. A call has a glyph if the library's box has one, is
// opened, or is a block; axes that pass over it pass.
#include "view/sketch.h"

#include <math.h>

typedef struct {
  World *w;
  Sketch *s;
  const CircuitHow *how;
  uint32_t frames; // opened so far
} Circuit;

typedef struct { // a diagram that is being drawn, perhaps inside another
  Circuit *c;
  const Diagram *d;
  uint32_t block;
  uint32_t *made; // [wire] its bundle
} Part;

// -- words ----------------------------------------------------------------------------------------
static const char *axis_label(Circuit *c, const Axis *a) {
  int64_t n;
  const char *label = a->label ? name_text(c->w->names, a->label) : NULL;
  if (label && *label) return label;
  if (size_value(c->w, a->size, &n)) return arena_format(c->s->arena, "%lld", (long long)n);
  return size_text(c->w, a->size);
}

static bool is_string(const Circuit *c) { return c->how->level == LEVEL_LEARNER; }

static uint32_t strands_for(const Circuit *c, const Type *t) {
  return is_string(c) || !t->rank ? 1 : t->rank;
}

static void label_bundle(Circuit *c, uint32_t bundle, const Type *t) {
  if (is_string(c)) return;
  for (uint32_t i = 0; i < t->rank; i++) {
    Strand *x = strand_of(c->s, bundle, i);
    x->label = axis_label(c, &t->axis[i]);
    x->line = t->base == BASE_R ? LINE_PLAIN : LINE_THICK;
  }
  if (!t->rank && t->base != BASE_R) strand_of(c->s, bundle, 0)->line = LINE_THICK;
}

static const Type *wire_type(const Part *p, Id wire) { return &p->d->wire.at[wire].type; }

static uint32_t make(Part *p, uint32_t stage, Id wire) {
  const Type *t = wire_type(p, wire);
  uint32_t b = sketch_make(p->c->s, stage, NULL, strands_for(p->c, t));
  label_bundle(p->c, b, t);
  p->made[wire] = b;
  return b;
}

static const char *param_name(Part *p, Id wire) {
  for (uint32_t i = 0; i < p->d->param.n; i++) {
    if (p->d->param.at[i].wire != wire) continue;
    const char *path = p->d->param.at[i].path, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
  }
  return "?";
}

// A weight or constant is there where it is first used.
static uint32_t bundle_of(Part *p, Id wire) {
  if (p->made[wire]) return p->made[wire];
  uint32_t stage = sketch_stage(p->c->s, p->block, "a weight");
  uint32_t b = make(p, stage, wire);
  Glyph *g = stage_glyph(p->c->s, stage, GLYPH_START, param_name(p, wire));
  g->bold = true;
  for (uint32_t i = 0; i < p->c->s->bundle.at[b].n; i++)
    vec_push(p->c->s->arena, &g->out, strand_at(p->c->s, b, i));
  return b;
}

// -- what a body does to numbers ------------------------------------------------------------------
enum { FORMULA = 18 }; // letters that a formula may have

typedef struct {
  Circuit *c;
  const Loop *l;
  Buf *out;
} Formula;

static const char *infix(Fn fn, int *level) {
  *level = fn == FN_add || fn == FN_sub   ? 1
           : fn == FN_mul || fn == FN_div ? 2
           : fn == FN_pow                 ? 3
                                          : 4;
  return fn == FN_add   ? " + "
         : fn == FN_sub ? " − "
         : fn == FN_mul ? " · "
         : fn == FN_div ? "/"
         : fn == FN_pow ? "^"
                        : NULL;
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
static const char *body_text(Circuit *c, const Loop *l) {
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
  uint32_t use = sketch_use(s, stage, joined), b = make(r->p, stage, r->box->out[0]);
  for (uint32_t k = 0; k < r->l->out.rank; k++)
    coord_glyph(r, stage, &r->l->out.coord[k], strand_at(s, b, k), use, NULL, &at, true);
}

static uint32_t reads(const Diagram *d, Id wire) {
  uint32_t n = 0;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) n += d->box.at[i].in[k] == wire;
  for (uint32_t i = 0; i < d->out.n; i++) n += d->out.at[i] == wire;
  return n;
}

// Where the largest is: it begins beside the result.
static void make_winner(Part *p, uint32_t stage, Id wire) {
  Sketch *s = p->c->s;
  uint32_t b = make(p, stage, wire);
  for (uint32_t i = 0; i < s->bundle.at[b].n; i++)
    stage_link(s, stage, LINK_BEGIN, 0, strand_at(s, b, i));
}

static void draw_loop(Part *p, const Box *box) {
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
    j.result = make(p, j.stage, box->out[0]);
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

// -- calls ----------------------------------------------------------------------------------------
typedef struct {
  const char *name;
  GlyphKind kind;
  const char *text, *below;
} Known;
static const Known known[] = {
    {"linear", GLYPH_LEARNED, "L", NULL},
    {"dense", GLYPH_LEARNED, "L", "+"},
    {"embed", GLYPH_LEARNED, "E", NULL},
    {"softmax", GLYPH_SOFTMAX, NULL, NULL},
    {"log_softmax", GLYPH_SOFTMAX, NULL, NULL},
    {"layer_norm", GLYPH_NORM, NULL, NULL},
    {"rms_norm", GLYPH_NORM, NULL, NULL},
    {"batch_norm", GLYPH_NORM, NULL, NULL},
    {"conv", GLYPH_STAR, "★", NULL},
    {"conv1", GLYPH_STAR, "★", NULL},
    {"conv_valid", GLYPH_STAR, "★", NULL},
    {"conv_up", GLYPH_STAR, "★^{T}", NULL},
    {"max_pool", GLYPH_BOX, "Max", NULL},
    {"mean_pool", GLYPH_BOX, "Mean", NULL},
};

static const Known *known_glyph(const char *name) {
  for (uint32_t i = 0; i < COUNT(known); i++)
    if (strcmp(known[i].name, name) == 0) return &known[i];
  return NULL;
}

static bool is_named(const char *const *list, const char *name) {
  for (; list && *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

static void all_ports(Part *p, const Box *box, GlyphKind kind, const char *text) {
  Sketch *s = p->c->s;
  uint32_t *from = NEW_ARRAY(s->arena, uint32_t, box->nin + 1);
  for (uint32_t i = 0; i < box->nin; i++) from[i] = bundle_of(p, box->in[i]);
  uint32_t stage = sketch_stage(s, p->block, text);
  Glyph g = {.kind = kind, .text = text};
  for (uint32_t i = 0; i < box->nin; i++) {
    uint32_t use = sketch_use(s, stage, from[i]);
    for (uint32_t k = 0; k < s->bundle.at[use].n; k++)
      vec_push(s->arena, &g.in, strand_at(s, use, k));
  }
  for (uint32_t i = 0; i < box->nout; i++) {
    uint32_t b = make(p, stage, box->out[i]);
    for (uint32_t k = 0; k < s->bundle.at[b].n; k++) vec_push(s->arena, &g.out, strand_at(s, b, k));
  }
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

static void draw_part(Part *p);

// The axis of a result that passes over the callee under this number; rank: none.
static uint32_t passing(const Type *t, uint32_t pass) {
  uint32_t i = 0;
  while (i < t->rank && t->axis[i].pass != pass) i++;
  return i;
}

static uint32_t passers(const Diagram *callee, uint32_t nin, uint32_t pass) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < nin; i++) {
    const Type *t = &callee->wire.at[callee->in.at[i]].type;
    n += passing(t, pass) < t->rank;
  }
  return n;
}

static void closed_call(Part *p, const Box *box, const Known *k) {
  Sketch *s = p->c->s;
  const Diagram *callee = box->callee;
  const char *name = name_text(p->c->w->names, callee->name);
  uint32_t args = callee->in.n, outs = callee->out.n;
  uint32_t *from = NEW_ARRAY(s->arena, uint32_t, args + 1);
  for (uint32_t i = 0; i < args; i++) from[i] = bundle_of(p, box->in[i]);
  uint32_t stage = sketch_stage(s, p->block, name);
  for (uint32_t i = 0; i < args; i++) from[i] = sketch_use(s, stage, from[i]);
  Glyph g = {
      .kind = k ? k->kind : GLYPH_BLOCK, .text = k ? k->text : name, .below = k ? k->below : NULL};
  for (uint32_t o = 0; o < outs; o++) {
    const Type *t = &callee->wire.at[callee->out.at[o]].type;
    uint32_t b = make(p, stage, box->out[o]);
    for (uint32_t i = 0; i < t->rank; i++)
      if (!t->axis[i].pass || !passers(callee, args, t->axis[i].pass))
        vec_push(s->arena, &g.out, strand_at(s, b, i));
    if (!t->rank) vec_push(s->arena, &g.out, strand_at(s, b, 0));
  }
  for (uint32_t a = 0; a < args; a++) {
    const Type *t = &callee->wire.at[callee->in.at[a]].type;
    for (uint32_t i = 0; i < t->rank; i++) {
      uint32_t x = strand_at(s, from[a], i), to = 0;
      if (t->axis[i].pass)
        for (uint32_t o = 0; o < outs && !to; o++) {
          const Type *out = &callee->wire.at[callee->out.at[o]].type;
          uint32_t at = passing(out, t->axis[i].pass);
          if (at < out->rank) to = strand_at(s, p->made[box->out[o]], at);
        }
      if (to)
        stage_link(s, stage, passers(callee, args, t->axis[i].pass) > 1 ? LINK_MERGE : LINK_PASS, x,
                   to);
      else
        vec_push(s->arena, &g.in, x);
    }
    if (!t->rank) vec_push(s->arena, &g.in, strand_at(s, from[a], 0));
  }
  if (!g.in.n && outs == 1) g.kind = GLYPH_WISE, g.text = name, g.over = p->made[box->out[0]];
  if (g.kind == GLYPH_WISE) g.out.n = 0;
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

static void open_call(Part *p, const Box *box) {
  Circuit *c = p->c;
  const Diagram *callee = box->callee;
  static const Ink inks[] = {INK_FRAME1, INK_FRAME2, INK_FRAME3, INK_FRAME4};
  uint32_t block = sketch_block(c->s, p->block, name_text(c->w->names, callee->name),
                                inks[c->frames++ % COUNT(inks)]);
  Part inner = {.c = c, .d = callee, .block = block};
  inner.made = NEW_ARRAY(c->s->arena, uint32_t, callee->wire.n + 1);
  for (uint32_t i = 0; i < callee->in.n; i++)
    inner.made[callee->in.at[i]] = bundle_of(p, box->in[i]);
  draw_part(&inner);
  for (uint32_t i = 0; i < callee->out.n; i++) p->made[box->out[i]] = inner.made[callee->out.at[i]];
}

// As a string, a call is a box on all its wires; one without any is where they begin.
static void string_call(Part *p, const Box *box) {
  Box args = *box;
  args.nin = box->callee->in.n;
  args.nout = box->callee->out.n;
  all_ports(p, &args, args.nin ? GLYPH_BOX : GLYPH_START,
            name_text(p->c->w->names, box->callee->name));
}

static void draw_call(Part *p, const Box *box) {
  if (is_string(p->c)) {
    string_call(p, box);
    return;
  }
  const CircuitHow *how = p->c->how;
  const char *name = name_text(p->c->w->names, box->callee->name);
  const Known *k = known_glyph(name);
  bool open = how->level == LEVEL_LAYER || is_named(how->open, name);
  if (is_named(how->close, name)) open = false;
  if (open)
    open_call(p, box);
  else
    closed_call(p, box, k);
}

// -- the other boxes ------------------------------------------------------------------------------

// Side by side along one axis: a bar on that axis, dots on the others.
static void draw_join(Part *p, const Box *box) {
  Sketch *s = p->c->s;
  uint32_t *from = NEW_ARRAY(s->arena, uint32_t, box->nin + 1);
  for (uint32_t i = 0; i < box->nin; i++) from[i] = bundle_of(p, box->in[i]);
  uint32_t stage = sketch_stage(s, p->block, "side by side"), b;
  for (uint32_t i = 0; i < box->nin; i++) from[i] = sketch_use(s, stage, from[i]);
  b = make(p, stage, box->out[0]);
  Glyph g = {.kind = GLYPH_BAR};
  for (uint32_t k = 0; k < s->bundle.at[b].n; k++) {
    if (k == box->axis) vec_push(s->arena, &g.out, strand_at(s, b, k));
    for (uint32_t i = 0; i < box->nin; i++) {
      if (k == box->axis)
        vec_push(s->arena, &g.in, strand_at(s, from[i], k));
      else
        stage_link(s, stage, LINK_MERGE, strand_at(s, from[i], k), strand_at(s, b, k));
    }
  }
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

// As a string, a loop is a box with a sign; one that only rearranges is a wire.
static void string_loop(Part *p, const Box *box) {
  const Loop *l = box->loop;
  const char *text = body_text(p->c, l);
  bool bare = !text && l->nin == 1 && l->combine == SUM && l->in[0].rank == l->out.rank;
  if (bare) {
    p->made[box->out[0]] = bundle_of(p, box->in[0]);
    return;
  }
  if (!text) text = l->nin > 1 ? "·" : "Σ";
  all_ports(p, box, l->nin ? GLYPH_BOX : GLYPH_START, text);
}

// -- repeats --------------------------------------------------------------------------------------
// Does this call only go on with what the one before made, in the same way?
static bool goes_on(const Diagram *d, const Box *before, const Box *box) {
  return box->op == OP_call && box->callee == before->callee && box->callee->out.n == 1 &&
         box->callee->in.n == 1 && box->in[0] == before->out[0] && reads(d, before->out[0]) == 1;
}

static void draw_box(Part *p, const Box *box) {
  bool string = is_string(p->c);
  switch (box->op) {
  case OP_loop: (string ? string_loop : draw_loop)(p, box); break;
  case OP_call: draw_call(p, box); break;
  case OP_join: draw_join(p, box); break;
  case OP_random:
    all_ports(p, box, GLYPH_START, box->random->noise == NOISE_NORMAL ? "N" : "U");
    break;
  case OP_scan: all_ports(p, box, GLYPH_BLOCK, "scan"); break;
  case OP_order: all_ports(p, box, GLYPH_BOX, "sort"); break;
  }
}

// A call that is repeated is drawn once, between parentheses.
static void draw_part(Part *p) {
  for (Id i = 1; i < p->d->box.n; i++) {
    const Box *box = &p->d->box.at[i];
    uint32_t times = 1, block = p->block;
    while (box->op == OP_call && i + 1 < p->d->box.n &&
           goes_on(p->d, &p->d->box.at[i], &p->d->box.at[i + 1]))
      i++, times++;
    if (times > 1) {
      p->block = sketch_block(p->c->s, block, NULL, INK_NONE);
      p->c->s->block.at[p->block].times = arena_format(p->c->s->arena, "%u", times);
    }
    draw_box(p, box);
    p->block = block;
    p->made[p->d->box.at[i].out[0]] = p->made[box->out[0]];
  }
}

// -- the whole ------------------------------------------------------------------------------------
static void inputs_from_left(Part *p) {
  Circuit *c = p->c;
  for (uint32_t i = 0; i < p->d->in.n; i++) {
    const Wire *x = &p->d->wire.at[p->d->in.at[i]];
    const char *name = name_text(c->w->names, x->name);
    uint32_t b = sketch_input(c->s, *name ? name : NULL, strands_for(c, &x->type));
    label_bundle(c, b, &x->type);
    p->made[p->d->in.at[i]] = b;
  }
}

// Each source is a bar; all that comes from it leaves it.
static void inputs_from_sources(Part *p, const Supply *supply) {
  Sketch *s = p->c->s;
  for (uint32_t i = 0; i < p->d->in.n; i++) {
    if (p->made[p->d->in.at[i]]) continue;
    uint32_t stage = sketch_stage(s, p->block, supply[i].name);
    Glyph g = {.kind = GLYPH_SOURCE, .text = supply[i].name};
    for (uint32_t k = i; k < p->d->in.n; k++) {
      if (supply[k].number != supply[i].number) continue;
      uint32_t b = make(p, stage, p->d->in.at[k]);
      strand_of(s, b, 0)->label = supply[k].field;
      vec_push(s->arena, &g.out, strand_at(s, b, 0));
    }
    vec_push(s->arena, &s->stage.at[stage].glyph, g);
  }
}

// A learner looked at for itself is a call of it.
static const Diagram *unwrapped(const Diagram *d) {
  while (d->box.n == 2 && d->box.at[1].op == OP_call && d->box.at[1].callee->name == d->name)
    d = d->box.at[1].callee;
  return d;
}

Sketch *circuit_of(World *w, Arena *a, const Diagram *whole, const CircuitHow *how,
                   const Supply *supply) {
  const Diagram *d = diagram_simplify(w, unwrapped(whole));
  Circuit c = {.w = w, .s = sketch_new(a, name_text(w->names, d->name)), .how = how};
  Part p = {.c = &c, .d = d, .made = NEW_ARRAY(a, uint32_t, d->wire.n + 1)};
  c.s->strings = is_string(&c);
  if (supply)
    inputs_from_sources(&p, supply);
  else
    inputs_from_left(&p);
  draw_part(&p);
  for (uint32_t i = 0; i < d->out.n; i++) sketch_output(c.s, bundle_of(&p, d->out.at[i]));
  return c.s;
}

Canvas *circuit_draw(World *w, Arena *a, const Diagram *d, const CircuitHow *how) {
  Sketch *s = circuit_of(w, a, d, how, NULL);
  Layout *l = lay_out(a, s);
  if (!l) return NULL;
  Canvas *c = canvas_new(a, l->width, l->height, s->title, s->about);
  paint(c, a, l);
  return c;
}
