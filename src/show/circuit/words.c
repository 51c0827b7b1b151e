// Describes a picture in words. Every block, glyph and wire of an unsettled sketch gets a stable
// name (multihead/attend/softmax, numbered if necessary), and the whole gets a sentence that says
// what passes through what, in the order of stages.
#include "base/table.h"
#include "show/circuit/circuit_own.h"

enum { STEPS = 80 }; // steps that are described

typedef struct {
  Sketch *s;
  Table *used;       // names in use, with counts
  uint32_t *maker;   // [bundle] stage + 1; 0: an input
  const char **word; // [bundle] its name; NULL: "it", or "the result of …"
  uint32_t last;     // the bundle made by the last step
} PictureWords;

// -- names ----------------------------------------------------------------------------------------
// The leading words of a text as an identifier: other characters become single underscores.
static const char *slug(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text && *text != ':' && *text != '(' && strncmp(text, " over ", 6) != 0; text++) {
    bool plain = (*text >= '0' && *text <= '9') || ((*text | 32) >= 'a' && (*text | 32) <= 'z') ||
                 *text == '_' || (uint8_t)*text >= 128;
    if (plain)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != '-')
      buf_char(&b, '-');
  }
  while (b.n && b.at[b.n - 1] == '-') b.at[--b.n] = 0;
  return b.n ? b.at : "part";
}

static const char *path(PictureWords *w, const char *parent, const char *text) {
  Arena *a = w->s->arena;
  const char *id = arena_format(a, "%s/%s", parent, slug(a, text));
  uint32_t n = table_get(w->used, id, strlen(id)) + 1;
  table_put(w->used, id, strlen(id), n);
  return n == 1 ? id : arena_format(a, "%s-%u", id, n);
}

static void name_blocks(PictureWords *w) {
  Sketch *s = w->s;
  s->block.at[0].id = slug(s->arena, s->title);
  for (uint32_t b = 1; b < s->block.n; b++) {
    Block *k = &s->block.at[b];
    k->id = path(w, s->block.at[k->parent].id, k->title ? k->title : "repeat");
  }
}

// A formula without markup.
static const char *plain(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text; text++) {
    bool mark = text[1] == '{' && strchr("!^_", *text) != NULL;
    if (mark && *text != '!') buf_char(&b, *text);
    if (mark)
      text++;
    else if (*text != '}')
      buf_char(&b, *text);
  }
  return b.n ? b.at : "";
}

static const char *glyph_words(Arena *a, const Stage *t, const Glyph *g) {
  return plain(a, g->words ? g->words : g->kind == GLYPH_WISE && g->text ? g->text : t->words);
}

static void name_glyphs(PictureWords *w) {
  Sketch *s = w->s;
  for (uint32_t k = 0; k < s->stage.n; k++) {
    Stage *t = &s->stage.at[k];
    for (uint32_t i = 0; i < t->glyph.n; i++) {
      Glyph *g = &t->glyph.at[i];
      g->words = glyph_words(s->arena, t, g);
      g->id = path(w, s->block.at[t->block].id, g->words);
    }
  }
}

// Names all strands of a wire.
static void name_wires(PictureWords *w) {
  Sketch *s = w->s;
  for (uint32_t b = 1; b < s->bundle.n; b++) {
    Bundle *k = &s->bundle.at[b];
    uint32_t block = w->maker[b] ? s->stage.at[w->maker[b] - 1].block : 0;
    const char *id = k->of ? NULL : path(w, s->block.at[block].id, k->name ? k->name : "wire");
    for (uint32_t i = 0; i < k->n; i++) {
      Strand *x = &s->strand.at[k->first + i];
      const Strand *like = k->of ? &s->strand.at[s->bundle.at[k->of].first + i] : NULL;
      x->id = like ? like->id : id;
      if (like)
        x->words = like->words;
      else if (x->label)
        x->words = k->name ? arena_format(s->arena, "%s of %s", x->label, k->name) : x->label;
    }
  }
}

// -- the sentence ---------------------------------------------------------------------------------
static void say_axes(const Sketch *s, uint32_t bundle, Buf *out) {
  const Bundle *k = &s->bundle.at[bundle];
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->n; i++) {
    const char *label = s->strand.at[k->first + i].label;
    if (label) buf_printf(out, "%s%s", n++ ? " by " : "", label);
  }
  if (!n) buf_text(out, "a number");
}

static const char *bundle_name(PictureWords *w, uint32_t bundle) {
  if (w->word[bundle]) return w->word[bundle];
  if (bundle == w->last) return "it";
  uint32_t maker = w->maker[bundle];
  const Stage *t = maker ? &w->s->stage.at[maker - 1] : NULL;
  const char *by = t && t->glyph.n ? t->glyph.at[0].words : "an earlier step";
  size_t n = strcspn(by, ":");
  return arena_format(w->s->arena, "the result of %.*s", (int)n, by);
}

// What a stage does, in a few words; NULL: it only permutes.
static const char *happens(const Sketch *s, const Stage *t) {
  Buf b = buf_new(s->arena);
  bool product = t->in.n > 1;
  for (uint32_t g = 0; g < t->glyph.n; g++) {
    buf_printf(&b, "%s%s", b.n ? " and " : "", t->glyph.at[g].words);
    product &= t->glyph.at[g].kind == GLYPH_REDUCE;
  }
  if (!product) return b.n ? b.at : NULL;
  Buf p = buf_new(s->arena);
  buf_text(&p, "their product");
  for (uint32_t i = 0, n = 0; i < t->link.n; i++) {
    const char *label = s->strand.at[t->link.at[i].a].label;
    if (t->link.at[i].kind == LINK_CUP)
      buf_printf(&p, "%s%s", n++ ? " and " : ", summed over ", label ? label : "an axis");
  }
  if (b.n) buf_printf(&p, " and %s", b.at);
  return p.at;
}

// Writes "X goes through f", or "X and Y meet in f".
static void say_step(PictureWords *w, uint32_t k, Buf *out) {
  Sketch *s = w->s;
  const Stage *t = &s->stage.at[k];
  const char *what = happens(s, t), *name;
  uint32_t result = t->out.n ? t->out.at[0] : 0;
  if (!t->in.n || !result) { // described at its use
    for (uint32_t i = 0; i < t->out.n && t->glyph.n; i++)
      if (!w->word[t->out.at[i]]) w->word[t->out.at[i]] = t->glyph.at[0].words;
    return;
  }
  if (!what) { // only a change of view
    uint32_t from = s->bundle.at[t->in.at[0]].of;
    if (!w->word[result]) w->word[result] = w->word[from];
    if (from == w->last) w->last = result;
    return;
  }
  for (uint32_t i = 0; i < t->in.n; i++) {
    uint32_t from = s->bundle.at[t->in.at[i]].of;
    buf_printf(out, "%s%s", !i ? "" : i + 1 == t->in.n ? " and " : ", ", bundle_name(w, from));
  }
  buf_printf(out, " %s %s", t->in.n == 1 ? "goes through" : "meet in", what);
  name = s->bundle.at[result].name;
  if (name) buf_printf(out, ", which gives %s", name);
  w->last = result;
}

static void say_whole(PictureWords *w, Buf *out) {
  Sketch *s = w->s;
  buf_text(out, s->title);
  for (uint32_t i = 0; i < s->in.n; i++) {
    const char *name = s->bundle.at[s->in.at[i]].name;
    buf_printf(out, "%s%s (",
               !i                 ? " takes "
               : i + 1 == s->in.n ? " and "
                                  : ", ",
               name ? name : "a wire");
    say_axes(s, s->in.at[i], out);
    buf_char(out, ')');
    w->word[s->in.at[i]] = name ? name : s->in.n == 1 ? "what comes in" : NULL;
  }
  for (uint32_t i = 0; i < s->out.n; i++) {
    buf_printf(out, !i ? "%s gives " : i + 1 == s->out.n ? " and " : ", ", s->in.n ? " and" : "");
    say_axes(s, s->out.at[i], out);
  }
}

static const char *describe_whole(PictureWords *w) {
  Sketch *s = w->s;
  Buf whole = buf_new(s->arena), steps = buf_new(s->arena);
  uint32_t block = 0, n = 0;
  say_whole(w, &whole);
  for (uint32_t k = 0; k < s->stage.n && n < STEPS; k++) {
    uint32_t own = s->stage.at[k].block;
    Buf step = buf_new(s->arena);
    say_step(w, k, &step);
    if (!step.n) continue;
    if (n++) buf_text(&steps, "; ");
    if (own != block && own && s->block.at[own].title)
      buf_printf(&steps, "inside %s, ", s->block.at[own].title);
    if (own != block && own && s->block.at[own].times)
      buf_printf(&steps, "%s times: ", s->block.at[own].times);
    buf_text(&steps, step.at);
    block = own;
  }
  if (n == STEPS) buf_text(&steps, "; and so on");
  return arena_format(s->arena, steps.n ? "%s: %s." : "%s%s.", whole.at, steps.n ? steps.at : "");
}

void sketch_words(Sketch *s) {
  PictureWords w = {.s = s, .used = table_new(s->arena)};
  w.maker = NEW_ARRAY(s->arena, uint32_t, s->bundle.n);
  w.word = NEW_ARRAY(s->arena, const char *, s->bundle.n);
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++) w.maker[s->stage.at[k].out.at[i]] = k + 1;
  for (uint32_t b = 1; b < s->bundle.n; b++)
    w.word[b] = s->bundle.at[b].of ? NULL : s->bundle.at[b].name;
  name_blocks(&w);
  name_glyphs(&w);
  name_wires(&w);
  s->about = describe_whole(&w);
}
