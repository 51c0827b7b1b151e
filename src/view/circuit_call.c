// A call has a glyph if the library's box has one, is opened, or is a block; axes that pass over
// the callee pass.
#include "view/circuit.h"

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
    uint32_t b = part_make(p, stage, box->out[o]);
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

uint32_t call_frame(Circuit *c, uint32_t parent, const Diagram *callee) {
  static const Ink inks[] = {INK_FRAME1, INK_FRAME2, INK_FRAME3, INK_FRAME4};
  return sketch_block(c->s, parent, name_text(c->w->names, callee->name),
                      inks[c->frames++ % COUNT(inks)]);
}

static void open_call(Part *p, const Box *box) {
  Circuit *c = p->c;
  const Diagram *callee = box->callee;
  same_count(c->same, callee);
  if (draw_inset(p, box)) return;
  uint32_t block = call_frame(c, p->block, callee);
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

void draw_call(Part *p, const Box *box) {
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
