// Draws the reverse derivative of a box: wires forward, cotangents in another colour. A closed call
// stays a call: of its own derivative, named ∂ and its name, so the derivative of a model consists
// of the derivatives of its parts. Library boxes with glyphs are never opened.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "show/circuit/circuit_own.h"

typedef struct {
  World *w;
  const CircuitOptions *how;
  Table *closed; // diagram to the diagram with closed calls
} Grad;

static Diagram *with_calls(Grad *g, const Diagram *d);

static bool has_cotangent(const Type *t) { return t->base == BASE_R || t->base == BASE_BIT; }

static bool *all_params(World *w, const Diagram *d) {
  bool *want = NEW_ARRAY(w->arena, bool, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++)
    want[i] = has_cotangent(&d->wire.at[d->param.at[i].wire].type);
  return want;
}

static Diagram *copy_of(World *w, const Diagram *d) {
  Diagram *c = diagram_new(w, d->name);
  Id id = c->id;
  *c = *d;
  c->id = id;
  return c;
}

static Diagram *callee_for(Grad *g, Diagram *callee) {
  World *w = g->w;
  Id known = table_get(g->closed, &callee->id, sizeof callee->id);
  if (known) return w->diagram.at[known];
  const char *name = name_text(w->names, callee->name);
  Diagram *c;
  if (call_is_open(g->how, name) && !call_has_glyph(name)) {
    c = with_calls(g, callee);
  } else {
    c = copy_of(w, callee);
    if (!c->reverse)
      c->reverse = diagram_reverse(w, callee, &(Wanted){.want_param = all_params(w, callee)});
    c->reverse = copy_of(w, c->reverse);
    c->reverse->name = name_from(w->names, arena_format(w->arena, "∂%s", name));
  }
  table_put(g->closed, &callee->id, sizeof callee->id, c->id);
  return c;
}

static Diagram *with_calls(Grad *g, const Diagram *d) {
  Diagram *c = copy_of(g->w, d);
  c->box.at = arena_copy(g->w->arena, d->box.at, d->box.n * sizeof *d->box.at);
  for (Id i = 1; i < c->box.n; i++)
    if (c->box.at[i].op == OP_call) c->box.at[i].callee = callee_for(g, c->box.at[i].callee);
  return c;
}

// -- weights that are used several times ----------------------------------------------------------
// Is the box an elementwise sum of its operands?
static bool is_sum(const Box *b) {
  if (b->op != OP_loop || b->loop->nin < 2 || b->loop->combine != SUM ||
      b->loop->nindex != b->loop->out.rank)
    return false;
  for (uint32_t i = 0; i < b->loop->nscalar; i++) {
    uint8_t fn = b->loop->scalar[i].fn;
    if (fn != FN_ARG && fn != FN_add && fn != FN_xor) return false;
  }
  return true;
}

static void add_parts(World *w, const Diagram *r, Id wire, Ids *out) {
  const Box *b = &r->box.at[r->wire.at[wire].box];
  if (!r->wire.at[wire].box || !is_sum(b)) {
    vec_push(w->arena, out, wire);
    return;
  }
  for (uint32_t i = 0; i < b->nin; i++) add_parts(w, r, b->in[i], out);
}

// The cotangent of a weight with several uses is a sum: returns its summands as results instead.
// *whole: for each output, the wire of r that it is a summand of.
static Diagram *without_sums(World *w, const Diagram *r, uint32_t inputs, Ids *whole) {
  Diagram *c = copy_of(w, r);
  c->out = (Ids){0};
  for (uint32_t i = 0; i < r->out.n; i++) {
    if (i < inputs)
      vec_push(w->arena, &c->out, r->out.at[i]);
    else
      add_parts(w, r, r->out.at[i], &c->out);
    while (whole->n < c->out.n) vec_push(w->arena, whole, r->out.at[i]);
  }
  return diagram_simplify(w, c);
}

static uint32_t cotangents(const Diagram *f) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->in.n; i++) n += has_cotangent(&f->wire.at[f->in.at[i]].type);
  return n;
}

// -- names ----------------------------------------------------------------------------------------
// dX becomes ∂X.
static const char *d_name(Arena *a, const char *name) {
  return arena_format(a, "∂%s", *name == 'd' ? name + 1 : "");
}

// The cotangent that is the input of the reverse pass.
static void mark_seed(Sketch *s, uint32_t in) {
  for (uint32_t x = 1; x < s->strand.n; x++) {
    Strand *strand = &s->strand.at[x];
    if (strand->bundle != in && s->bundle.at[strand->bundle].of != in) continue;
    strand->ink = INK_SERIES2;
    if (strand->label) strand->label = arena_format(s->arena, "∂%s", strand->label);
  }
}

static void name_ends(World *w, const Diagram *f, const Diagram *r, Sketch *s) {
  for (uint32_t i = f->in.n; i < s->in.n && i < r->in.n; i++) {
    const char *name = name_text(w->names, r->wire.at[r->in.at[i]].name);
    s->bundle.at[s->in.at[i]].name = d_name(s->arena, name);
    mark_seed(s, s->in.at[i]);
  }
}

// -- ends of weight cotangents --------------------------------------------------------------------
enum { FEW = 2 }; // weights of one box that are named individually

uint32_t maker_of(const Sketch *s, uint32_t bundle) {
  uint32_t k = 0;
  while (k < s->stage.n && ids_find(&s->stage.at[k].out, bundle) == s->stage.at[k].out.n) k++;
  return k;
}

// Adds a stage that ends this use, right after its producer.
static void end_in(Sketch *s, uint32_t use, const char *name) {
  Stage end = {.words = name};
  Glyph g = {.kind = GLYPH_EFFECT, .text = name};
  uint32_t at = maker_of(s, s->bundle.at[use].of);
  if (at < s->stage.n) {
    end.of = place_group(s->arena, s->stage.at[at].of);
    end.block = s->stage.at[at++].block;
  }
  vec_push(s->arena, &end.in, use);
  add_ports(s, &g.in, use);
  vec_push(s->arena, &end.glyph, g);
  vec_push(s->arena, &s->stage, end);
  for (uint32_t k = s->stage.n - 1; k > at; k--) s->stage.at[k] = s->stage.at[k - 1];
  s->stage.at[at] = end;
}

static void take_out(Ids *from, uint32_t x) {
  uint32_t at = ids_find(from, x);
  if (at == from->n) return;
  for (uint32_t i = at; i + 1 < from->n; i++) from->at[i] = from->at[i + 1];
  from->n--;
}

// Removes a result of a stage.
static void drop(Sketch *s, Stage *t, uint32_t bundle) {
  take_out(&t->out, bundle);
  for (uint32_t g = 0; g < t->glyph.n; g++)
    for (uint32_t i = 0; i < s->bundle.at[bundle].n; i++)
      take_out(&t->glyph.at[g].out, strand_at(s, bundle, i));
}

static bool is_used(const Sketch *s, uint32_t bundle) {
  for (uint32_t b = 1; b < s->bundle.n; b++)
    if (s->bundle.at[b].of == bundle) return true;
  return false;
}

// Hides unread results of the reverse: cotangents of constants and states.
static void drop_unused(Sketch *s) {
  for (uint32_t k = 0; k < s->stage.n; k++) {
    Stage *t = &s->stage.at[k];
    if (strncmp(t->words, "∂", strlen("∂")) != 0) continue;
    for (uint32_t i = t->out.n; i-- > 0 && t->out.n > 1;)
      if (!is_used(s, t->out.at[i])) drop(s, t, t->out.at[i]);
  }
}

static bool is_taken(const Sketch *s, uint32_t use) {
  for (uint32_t k = 0; k < s->stage.n; k++)
    if (ids_find(&s->stage.at[k].in, use) < s->stage.at[k].in.n) return true;
  return false;
}

// It gets an end of its own, or is merged into one wire for many weights.
static bool has_end(const Sketch *s, uint32_t use) {
  return !s->bundle.at[use].of || is_taken(s, use);
}

// Cotangents of a box's weights: a few are named, many become one wire.
static void end_weights_of(Sketch *s, uint32_t stage, const Ids *uses, const char *const *name) {
  Stage *t = stage < s->stage.n ? &s->stage.at[stage] : NULL;
  if (uses->n <= FEW || !t || t->glyph.n != 1) {
    for (uint32_t i = uses->n; i-- > 0;) end_in(s, uses->at[i], name[i]);
    return;
  }
  for (uint32_t i = 0; i < uses->n; i++) {
    uint32_t made = s->bundle.at[uses->at[i]].of;
    s->bundle.at[uses->at[i]].of = 0;
    if (!is_used(s, made)) drop(s, t, made);
  }
  uint32_t all = sketch_make(s, stage, NULL, 1);
  strand_of(s, all, 0)->ink = INK_SERIES2;
  vec_push(s->arena, &s->stage.at[stage].glyph.at[0].out, strand_at(s, all, 0));
  sketch_output(s, all);
  uint32_t use = s->out.at[--s->out.n];
  end_in(s, use, "∂θ");
}

// Cotangents of inputs are results; those of weights end where they are made, with the names of
// these wires.
static void end_weights(World *w, const Diagram *f, const Diagram *r, const Ids *wire, Sketch *s) {
  Ids out = s->out, rest = {0};
  uint32_t inputs = 0;
  const char **name = NEW_ARRAY(s->arena, const char *, out.n + 1);
  for (uint32_t i = 0; i < out.n; i++)
    name[i] = d_name(s->arena, name_text(w->names, r->wire.at[wire->at[i]].name));
  for (uint32_t i = 0; i < f->in.n && inputs < out.n; i++) {
    const Wire *x = &f->wire.at[f->in.at[i]];
    if (!has_cotangent(&x->type)) continue;
    vec_push(s->arena, &rest, out.at[inputs++]);
    vec_push(s->arena, &s->ends, arena_format(s->arena, "∂%s", name_text(w->names, x->name)));
  }
  s->out = rest;
  for (uint32_t i = inputs; i < out.n; i++) {
    uint32_t maker = maker_of(s, s->bundle.at[out.at[i]].of), n = 0;
    const char **own = NEW_ARRAY(s->arena, const char *, out.n + 1);
    Ids uses = {0};
    if (has_end(s, out.at[i])) continue;
    for (uint32_t k = i; k < out.n; k++)
      if (!has_end(s, out.at[k]) && maker_of(s, s->bundle.at[out.at[k]].of) == maker) {
        vec_push(s->arena, &uses, out.at[k]);
        own[n++] = name[k];
      }
    end_weights_of(s, maker, &uses, own);
  }
  drop_unused(s);
}

Canvas *grad_draw(World *w, Arena *a, const Diagram *d, const CircuitOptions *how) {
  Grad g = {w, how, table_new(a)};
  const Diagram *f = with_calls(&g, circuit_unwrapped(d));
  CircuitOptions back = *how;
  back.grad = true;
  Diagram *r = diagram_simplify(w, diagram_reverse(w, f, &(Wanted){0}));
  if (!r->out.n) return NULL;
  Ids whole = {0};
  Diagram *parts = without_sums(w, r, cotangents(f), &whole);
  Sketch *s = circuit_of(w, a, parts, &back, NULL);
  name_ends(w, f, parts, s);
  end_weights(w, f, r, &whole, s);
  s->title = arena_format(a, "∂%s", name_text(w->names, f->name));
  s->about = "The reverse derivative, as a circuit";
  SketchPage *p = lay_page(a, s, how->width);
  return p ? page_paint(a, p, s) : NULL;
}
