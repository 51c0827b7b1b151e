// A picture in words, for those who do not see it: what comes in, what is done, what goes out.
//
// What comes in is a sketch before it is settled, so that its stages are the steps of the program
// and nothing has been copied or moved. Each stage is one phrase: what it is, which axes it takes
// and which it makes. Steps of an opened block are said together, after its name. A picture is not
// told to its end if that takes more than about LIMIT letters.
#include "view/sketch.h"

enum { LIMIT = 2000 };

// A label without the signs that set it: x_{i} is "xi", 2^{k} "2^k".
static void say_label(Buf *b, const char *label) {
  for (const char *at = label; *at; at++) {
    if (*at == '_' && at[1] == '{')
      at++;
    else if (*at != '{' && *at != '}')
      buf_char(b, *at);
  }
}

// Axes of different tensors have "and" between them.
static void say_axes(Buf *b, const Sketch *s, const Id *strand, uint32_t n) {
  uint32_t said = 0, of = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Strand *t = &s->strand.at[strand[i]];
    if (!t->label) continue;
    if (said++) buf_text(b, of == t->bundle ? " by " : " and ");
    say_label(b, t->label);
    of = t->bundle;
  }
  if (!said) buf_text(b, "one number");
}

static void say_bundle(Buf *b, const Sketch *s, uint32_t bundle) {
  const Bundle *t = &s->bundle.at[bundle];
  Ids axes = {0};
  for (uint32_t i = 0; i < t->n; i++) vec_push(s->arena, &axes, strand_at(s, bundle, i));
  if (t->name) say_label(b, t->name), buf_text(b, " of ");
  say_axes(b, s, axes.at, axes.n);
}

static void say_bundles(Buf *b, const Sketch *s, const Ids *bundles) {
  for (uint32_t i = 0; i < bundles->n; i++) {
    if (i) buf_text(b, i + 1 < bundles->n ? ", " : " and ");
    say_bundle(b, s, bundles->at[i]);
  }
  if (!bundles->n) buf_text(b, "nothing");
}

static bool same_axes(const Sketch *s, const Ids *x, const Ids *y) {
  for (uint32_t i = 0; i < x->n && i < y->n; i++) {
    const char *a = s->strand.at[x->at[i]].label, *c = s->strand.at[y->at[i]].label;
    if (!a || !c || strcmp(a, c) != 0) return false;
  }
  return x->n == y->n;
}

static const char *glyph_name(const Stage *t, const Glyph *g) {
  switch (g->kind) {
  case GLYPH_BAR: return "view";
  case GLYPH_CONV: return "windows";
  case GLYPH_INDEX: return "one place";
  case GLYPH_MASK: return "mask";
  default: return t->words && *t->words ? t->words : g->text ? g->text : "a function";
  }
}

static void say_glyph(Buf *b, const Sketch *s, const Stage *t, const Glyph *g) {
  if (g->kind == GLYPH_WISE && g->text) {
    say_label(b, g->text), buf_text(b, " at each place");
    return;
  }
  if (g->bold || g->kind == GLYPH_LEARNED || g->kind == GLYPH_STAR) buf_text(b, "learned ");
  say_label(b, glyph_name(t, g));
  if (!g->in.n && !g->out.n) return;
  if (g->in.n && same_axes(s, &g->in, &g->out)) {
    buf_text(b, " along "), say_axes(b, s, g->in.at, g->in.n);
    return;
  }
  if (g->in.n) buf_text(b, " from "), say_axes(b, s, g->in.at, g->in.n);
  if (g->out.n) buf_text(b, " to "), say_axes(b, s, g->out.at, g->out.n);
}

// What lines do among themselves.
static void say_links(Buf *b, const Sketch *s, const Stage *t) {
  static const char *const word[] = {
      [LINK_CUP] = "inner product along ", [LINK_END] = "sum along "};
  const char *between = "";
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *l = &t->link.at[i];
    if (l->kind != LINK_CUP && l->kind != LINK_END) continue;
    buf_text(b, between), buf_text(b, word[l->kind]);
    say_axes(b, s, &l->a, 1);
    between = ", ";
  }
}

// Nothing, where lines only stand in another order.
static void say_stage(Buf *b, const Sketch *s, const Stage *t) {
  size_t begin = b->n;
  say_links(b, s, t);
  for (uint32_t i = 0; i < t->glyph.n; i++) {
    if (b->n > begin) buf_text(b, ", ");
    say_glyph(b, s, t, &t->glyph.at[i]);
  }
}

static void enter_block(Buf *b, const Block *k) {
  if (k->title) buf_text(b, "in "), say_label(b, k->title), buf_text(b, ", ");
  if (k->times) say_label(b, k->times), buf_text(b, " times, ");
  if (!k->title && !k->times) buf_text(b, "then ");
}

static void say_steps(Buf *b, const Sketch *s) {
  const char *before = " Steps: ";
  uint32_t block = 0;
  for (uint32_t i = 0; i < s->stage.n && b->n < LIMIT; i++) {
    const Stage *t = &s->stage.at[i];
    Buf step = buf_new(s->arena);
    say_stage(&step, s, t);
    if (!step.n) continue;
    buf_text(b, before);
    if (t->block != block) enter_block(b, &s->block.at[t->block]);
    buf_text(b, step.at);
    block = t->block, before = "; ";
  }
  if (b->n >= LIMIT) buf_text(b, " and so on");
  if (*before == ';') buf_char(b, '.');
}

const char *sketch_say(const Sketch *s) {
  Buf b = buf_new(s->arena);
  buf_text(&b, "From "), say_bundles(&b, s, &s->in);
  buf_text(&b, " to "), say_bundles(&b, s, &s->out), buf_char(&b, '.');
  say_steps(&b, s);
  return b.at;
}
