// Boxes that are opened repeatedly are laid out once, so equal boxes look equal: such a box is an
// inset, a finished layout placed at each call. A box that is opened once, or too wide for a row,
// is part of the whole layout.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/print.h"
#include "show/circuit/circuit_own.h"

#define INSET_MOST 0.8 // of the row width

struct Same {
  bool drawn; // counting is finished
  Arena *arena;
  Table *alike;     // [callee] the first equal callee, by id
  Table *text;      // equal written forms
  Table *times;     // [callee] number of openings
  Table *number;    // [callee] index of its layout in `of`, + 1
  VEC(Layout *) of; // NULL: not an inset
};

Same *same_new(Arena *a) {
  Same *k = NEW(a, Same);
  k->arena = a;
  k->alike = table_new(a), k->text = table_new(a);
  k->times = table_new(a), k->number = table_new(a);
  return k;
}

// The first callee with the same written form: it looks the same.
static const Diagram *first_alike(Same *k, World *w, const Diagram *callee) {
  Id at = table_get(k->alike, &callee, sizeof callee);
  if (at) return w->diagram.at[at];
  Buf b = buf_new(k->arena);
  diagram_print(w, callee, &b, false);
  at = table_get(k->text, b.at, b.n);
  if (!at) table_put(k->text, b.at, b.n, at = callee->id);
  table_put(k->alike, &callee, sizeof callee, at);
  return w->diagram.at[at];
}

void same_count(Same *k, World *w, const Diagram *callee) {
  if (k->drawn) return;
  callee = first_alike(k, w, callee);
  Id n = table_get(k->times, &callee, sizeof callee);
  table_put(k->times, &callee, sizeof callee, n + 1);
}

bool same_counted(Same *k) {
  for (uint32_t i = 0; i < table_count(k->times); i++) k->drawn |= table_value(k->times, i) > 1;
  return k->drawn;
}

static double most_width(const CircuitOptions *how) {
  return how->width < 0 ? 1e9 : INSET_MOST * (how->width > 0 ? how->width : ROW_WIDTH);
}

static uint32_t strands_in(const Sketch *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->in.n; i++) n += s->bundle.at[s->in.at[i]].n;
  for (uint32_t i = 0; i < s->out.n; i++) n += s->bundle.at[s->out.at[i]].n;
  return n;
}

static Sketch *draw_alone(Circuit *c, const Diagram *called) {
  Arena *a = c->s->arena;
  Sketch *outer = c->s, *s = c->s = sketch_new(a, box_title(c->w, a, called));
  const Diagram *callee = part_diagram(c, called);
  CircuitPart p = {.c = c, .d = callee, .made = NEW_ARRAY(a, uint32_t, callee->wire.n + 1)};
  p.block = sketch_block(s, 0, s->title, ink_of(name_text(c->w->names, called->name)));
  inputs_from_left(&p);
  draw_part(&p);
  for (uint32_t i = 0; i < callee->out.n; i++) sketch_output(s, bundle_of(&p, callee->out.at[i]));
  s->inset = true;
  s->of = s->wire = NULL;
  c->s = outer;
  return s;
}

// Its tandem axes must also be in tandem outside, or not at all; otherwise it is no inset.
static Layout *lay_alone(Circuit *c, const Diagram *callee) {
  Sketch *s = draw_alone(c, callee);
  uint32_t strands = strands_in(s);
  sketch_words(s);
  sketch_tandem(s);
  if (strands_in(s) != strands) return NULL;
  Layout *l = lay_out(s->arena, s);
  return l && inset_width(l) <= most_width(c->how) ? l : NULL;
}

static Layout *picture_of(Circuit *c, const Diagram *callee) {
  Same *k = c->same;
  if (!callee->in.n || !callee->out.n || table_get(k->times, &callee, sizeof callee) < 2)
    return NULL;
  Id at = table_get(k->number, &callee, sizeof callee);
  if (at) return k->of.at[at - 1];
  Layout *l = lay_alone(c, callee);
  vec_push(c->s->arena, &k->of, l);
  table_put(k->number, &callee, sizeof callee, k->of.n);
  return l;
}

bool draw_inset(CircuitPart *p, const Box *box) {
  Layout *l =
      p->c->same->drawn ? picture_of(p->c, first_alike(p->c->same, p->c->w, box->callee)) : NULL;
  if (!l) return false;
  all_ports(p, box, box->callee->in.n, box->callee->out.n, GLYPH_INSET, l->s->title)->inset = l;
  return true;
}
