// Equal things look equal, and are laid out once. A box that is opened twice or more in a picture
// is laid out alone, and stands in the picture as it is, wherever it is called. One that is opened
// once is part of the whole, and so is one that would not fit into a row: it has to be cut.
#include "base/names.h"
#include "base/table.h"
#include "show/circuit/circuit_own.h"

#define INSET_MOST 0.8 // of a row

struct Same {
  bool drawn; // all is counted
  Arena *arena;
  Table *alike;     // [callee] the first that is alike, by its id
  Table *text;      // what is written: the same
  Table *times;     // [callee] how often it is opened
  Table *number;    // [callee] its picture, in `of`, + 1
  VEC(Layout *) of; // NULL: it is not drawn alone
};

Same *same_new(Arena *a) {
  Same *k = NEW(a, Same);
  k->arena = a;
  k->alike = table_new(a), k->text = table_new(a);
  k->times = table_new(a), k->number = table_new(a);
  return k;
}

// The first one that is written in the same way: it looks the same too.
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

// Axes that run in tandem do so outside too, or nowhere: then it is part of the whole.
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
