// Draws calls. A library box with a glyph, or a box that is a convolution, becomes a glyph; one
// that only moves data becomes wires; others are opened or drawn as a block. Mapped axes pass.
#include "base/hash.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "show/circuit/circuit_own.h"

// -- glyphs of boxes ------------------------------------------------------------------------------
typedef enum { AS_GLYPH, AS_WIRES, AS_BLOCK } As;
typedef struct {
  const char *name;
  As as;
  GlyphKind kind;
  const char *text, *then, *below; // then: a function applied to the result elementwise
  Ink ink;                         // of the block, or of the frame when opened
  bool across;                     // it works along mapped axes
} KnownGlyph;
static const KnownGlyph rows[] = {
    {"linear", AS_GLYPH, GLYPH_LEARNED, "L", NULL, NULL, INK_FRAME8, false},
    {"dense", AS_GLYPH, GLYPH_LEARNED, "L", NULL, "+", INK_FRAME8, false},
    {"embed", AS_GLYPH, GLYPH_LEARNED, "E", NULL, NULL, INK_FRAME8, false},
    {"bias", AS_GLYPH, GLYPH_WISE, "+ !{b}", NULL, NULL, INK_FRAME8, false},
    {"softmax", AS_GLYPH, GLYPH_SOFTMAX, NULL, NULL, NULL, INK_FRAME2, false},
    {"log_softmax", AS_GLYPH, GLYPH_SOFTMAX, NULL, "log", NULL, INK_FRAME2, false},
    {"layer_norm", AS_GLYPH, GLYPH_NORM, NULL, NULL, NULL, INK_FRAME5, false},
    {"batch_norm", AS_GLYPH, GLYPH_NORM, NULL, NULL, NULL, INK_FRAME5, true},
    {"group_norm", AS_GLYPH, GLYPH_NORM, "G", NULL, NULL, INK_FRAME5, false},
    {"rms_norm", AS_GLYPH, GLYPH_NORM, "V", NULL, NULL, INK_FRAME5, false},
    {"dropout", AS_GLYPH, GLYPH_WISE, "dropout", NULL, NULL, INK_FRAME5, false},
    {"residual", AS_WIRES, GLYPH_BOX, NULL, NULL, NULL, INK_FRAME6, false},
    {"add_positions", AS_WIRES, GLYPH_BOX, NULL, NULL, NULL, INK_FRAME6, false},
    {"attend", AS_BLOCK, GLYPH_BLOCK, NULL, NULL, NULL, INK_FRAME1, false},
    {"causal", AS_BLOCK, GLYPH_BLOCK, NULL, NULL, NULL, INK_FRAME1, false},
    {"attend_masked", AS_BLOCK, GLYPH_BLOCK, NULL, NULL, NULL, INK_FRAME1, false},
    {"multihead", AS_BLOCK, GLYPH_BLOCK, NULL, NULL, NULL, INK_FRAME3, false},
    {"self_attention", AS_BLOCK, GLYPH_BLOCK, NULL, NULL, NULL, INK_FRAME6, false},
};

static const KnownGlyph *known_box(const char *name) {
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

// The same name has the same colour in every picture.
Ink ink_of(const char *name) {
  static const Ink inks[] = {INK_BLOCK,  INK_FRAME4, INK_FRAME3, INK_FRAME6,
                             INK_FRAME2, INK_FRAME7, INK_FRAME1};
  const KnownGlyph *k = known_box(name);
  uint32_t hash = hash_bytes_32(HASH_START_32, name, strlen(name));
  return k ? k->ink : inks[(hash >> 16) % COUNT(inks)];
}

static bool is_named(const char *const *list, const char *name) {
  for (; list && *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

bool call_is_closed(const CircuitOptions *how, const char *name) {
  return is_named(how->close, name);
}

bool call_is_open(const CircuitOptions *how, const char *name) {
  if (is_named(how->close, name)) return false;
  return how->level == LEVEL_LAYER || is_named(how->open, name);
}

bool call_has_glyph(const char *name) {
  const KnownGlyph *k = known_box(name);
  return k && k->as == AS_GLYPH;
}

// -- options of a box -----------------------------------------------------------------------------
typedef struct { // configuration of a diagram, or of a call
  World *w;
  Arena *arena;
  const Diagram *d;
  CircuitPart *p; // NULL: not a call
  const Box *call;
} Configured;

static Configured configured(CircuitPart *p, const Box *call) {
  return (Configured){p->c->w, p->c->s->arena, call->callee, p, call};
}

// If no axis lines identify the axis, its name is added: i:4.
static const char *axis_option(const Configured *x, const Option *o, uint32_t i) {
  const char *size = size_label(x->w, x->arena, o->size[i]);
  const char *label = o->label ? name_text(x->w->names, o->label[i]) : "";
  return is_called(label) && strcmp(label, size) != 0 ? arena_format(x->arena, "%s:%s", label, size)
                                                      : size;
}

static void option_text(const Configured *x, uint32_t k, Buf *b) {
  const Option *o = &x->d->option.at[k];
  if (o->text) buf_text(b, o->text);
  for (uint32_t i = 0; i < o->nsize; i++)
    buf_printf(b, "%s%s", i ? " " : "",
               x->p ? turn_option(x->p, x->call, k, i) : axis_option(x, o, i));
}

// "8, 64" for multihead[8, 64]; NULL: no options were given. After an omitted option, with names.
static const char *options_of(const Configured *x) {
  const Diagram *d = x->d;
  Buf b = buf_new(x->arena);
  bool left_out = false;
  for (uint32_t i = 0; i < d->option.n; i++) {
    const Option *o = &d->option.at[i];
    left_out |= o->by_default;
    if (o->by_default) continue;
    if (b.n) buf_text(&b, ", ");
    if (left_out) buf_printf(&b, "%s: ", name_text(x->w->names, o->name));
    option_text(x, i, &b);
  }
  return b.n ? b.at : NULL;
}

// The name with its options: "multihead (8, 64)". All pictures that name a box use this.
static const char *title(const Configured *x, const char *name) {
  const char *options = options_of(x);
  return options ? arena_format(x->arena, "%s (%s)", name, options) : name;
}

const char *box_title(World *w, Arena *a, const Diagram *d) {
  return title(&(Configured){.w = w, .arena = a, .d = d}, name_text(w->names, d->name));
}

// The path of the first weight of a called learner; NULL: none.
static const char *learner_path(const Diagram *d, const Box *call) {
  for (uint32_t i = call->callee->in.n; i < call->nin; i++) {
    uint32_t k = param_number(d, call->in[i]);
    if (k < d->param.n && d->param.at[k].rooted) return d->param.at[k].path;
  }
  return NULL;
}

// Weights of gate[1] have paths gate.1/…
static const char *called_name(World *w, Arena *a, const Diagram *d, const Box *call) {
  const char *name = name_text(w->names, call->callee->name), *path = learner_path(d, call);
  size_t n = strlen(name);
  if (!path || strncmp(path, name, n) != 0 || path[n] != '.') return name;
  size_t digits = strspn(path + n + 1, "0123456789");
  return arena_format(a, "%s[%.*s]", name, (int)digits, path + n + 1);
}

const char *call_title(World *w, Arena *a, const Diagram *d, const Box *call) {
  return title(&(Configured){.w = w, .arena = a, .d = call->callee}, called_name(w, a, d, call));
}

bool title_names(const char *text, const char *name) {
  size_t n = strlen(name);
  return strncmp(text, name, n) == 0 && (!text[n] || text[n] == '[');
}

// -- convolutions ---------------------------------------------------------------------------------
typedef struct {
  Size kernel[3], stride, dilation;
  uint32_t n;    // spatial axes
  bool up, bias; // transposed; with a bias
} Window;

static bool is_param(const Diagram *d, Id wire) { return param_number(d, wire) < d->param.n; }

// A coordinate stride*i + dilation*p, with position i and window index p.
static void add_window(World *w, const Loop *l, const Coord *k, Window *out) {
  if (k->n != 2 || k->term[0].operand || k->term[1].operand || out->n == 3) return;
  bool first = loop_is_reduced(w, l, k->term[0].var);
  if (out->up) // p is what the weight is read at, i what the input is
    first = index_place(w, &l->in[0], k->term[0].var) == l->in[0].rank;
  const Term *window = &k->term[first ? 0 : 1], *place = &k->term[first ? 1 : 0];
  if (!out->up && index_place(w, &l->out, place->var) == l->out.rank)
    return; // separate axes, not a window
  out->stride = size_now(w, place->coef), out->dilation = size_now(w, window->coef);
  out->kernel[out->n++] = size_now(w, l->index[window->var].size);
}

// A product of a windowed input and one weight.
static bool is_convolution(World *w, const Diagram *d, const Box *box, Window *out) {
  if (box->op != OP_loop || box->nin != 2 || d->in.n != 1) return false;
  const Loop *l = box->loop;
  if (l->combine != SUM || !is_product(l, l->nscalar - 1)) return false;
  if (box->in[0] != d->in.at[0] || !is_param(d, box->in[1])) return false;
  for (uint32_t i = 0; i < l->in[0].rank; i++) add_window(w, l, &l->in[0].coord[i], out);
  out->up = !out->n;
  for (uint32_t i = 0; out->up && i < l->out.rank; i++) add_window(w, l, &l->out.coord[i], out);
  return out->n > 0;
}

static bool is_bias(const Diagram *d, const Box *box, Id sum) {
  if (box->op != OP_loop || box->nin != 2 || box->loop->scalar[box->loop->nscalar - 1].fn != FN_add)
    return false;
  return (box->in[0] == sum && is_param(d, box->in[1])) ||
         (box->in[1] == sum && is_param(d, box->in[0]));
}

static bool convolution_of(World *w, const Diagram *d, Window *out) {
  *out = (Window){0};
  if (d->box.n < 2 || d->box.n > 3 || d->out.n != 1 || !is_convolution(w, d, &d->box.at[1], out))
    return false;
  out->bias = d->box.n == 3;
  return !out->bias || is_bias(d, &d->box.at[2], d->box.at[1].out[0]);
}

// ★3, with ↓2 for a stride and ↑2 for a transposed one.
static Glyph star(Circuit *c, const Window *x, const char *name) {
  Arena *a = c->s->arena;
  World *w = c->w;
  Buf b = buf_new(a), words = buf_new(a);
  bool square = true;
  buf_text(&b, "★");
  for (uint32_t i = 1; i < x->n; i++) square &= x->kernel[i] == x->kernel[0];
  for (uint32_t i = 0; i < (square ? 1 : x->n); i++)
    buf_printf(&b, "%s%s", i ? "×" : "", size_label(w, a, x->kernel[i]));
  buf_printf(&words, "%s: %sconvolution, window %s", name, x->up ? "transposed " : "",
             b.at + strlen("★"));
  if (x->stride != size_of(w, 1)) {
    buf_printf(&b, "%s%s", x->up ? "↑" : "↓", size_label(w, a, x->stride));
    buf_printf(&words, ", stride %s", size_label(w, a, x->stride));
  }
  if (x->dilation != size_of(w, 1)) {
    buf_printf(&b, "⋅%s", size_label(w, a, x->dilation));
    buf_printf(&words, ", dilation %s", size_label(w, a, x->dilation));
  }
  return (Glyph){
      .kind = GLYPH_STAR, .text = b.at, .below = x->bias ? "+" : NULL, .words = words.at};
}

// -- wires alone ----------------------------------------------------------------------------------
// Is it the identity, as dropout in use? Then wires are enough.
static bool is_nothing(const Diagram *d) {
  bool same = d->box.n == 1 && d->in.n == d->out.n && !d->param.n;
  for (uint32_t i = 0; same && i < d->in.n; i++) same = d->in.at[i] == d->out.at[i];
  return same;
}

// Does it only move data or reduce along axes? Then its wires say more than its name.
static bool is_only_wires(Circuit *c, const Diagram *d) {
  uint32_t loops = 0;
  if (d->param.n || d->box.n > 3 || is_nothing(d)) return false;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *box = &d->box.at[i];
    if (box->op != OP_loop) return false;
    Id from = box->nin == 1 ? d->wire.at[box->in[0]].box : 0;
    bool mean = from && d->box.at[from].op == OP_loop && box->loop->nscalar == 3 &&
                is_count(c->w, d->box.at[from].loop, box->loop, 1);
    FormulaOf of = {c->w, d, box->loop, box->in};
    if (!mean && (++loops > 1 || formula_text(&of, c->s->arena))) return false;
  }
  return true;
}

// The callee of a box that is only a call, such as Q in `learn Q = linear[h k]`.
static const Diagram *only_call(const Diagram *d) {
  if (d->box.n != 2 || d->box.at[1].op != OP_call) return NULL;
  const Box *box = &d->box.at[1];
  const Diagram *f = box->callee;
  bool same = f->in.n == d->in.n && f->out.n == d->out.n;
  for (uint32_t i = 0; same && i < d->in.n; i++) same = box->in[i] == d->in.at[i];
  for (uint32_t i = 0; same && i < d->out.n; i++) same = box->out[i] == d->out.at[i];
  return same ? f : NULL;
}

// The library's glyph for a box, or for the box that it renames.
static const KnownGlyph *known_as(Circuit *c, const Diagram *d, const char **as) {
  const KnownGlyph *k = known_box(name_text(c->w->names, d->name));
  *as = NULL;
  for (const Diagram *f = only_call(d); f && !k; f = only_call(f)) {
    k = known_box(name_text(c->w->names, f->name));
    if (k && k->as == AS_GLYPH) *as = name_text(c->w->names, d->name);
    if (k && k->as != AS_GLYPH) return NULL;
  }
  return k;
}

// -- closed calls ---------------------------------------------------------------------------------
// The axis of a result that is mapped over with this number; rank: none.
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

typedef struct {
  CircuitPart *p;
  const Box *box;
  const Diagram *callee;
  uint32_t stage;
  uint32_t *use; // [argument]
  bool across;   // it works along mapped axes
  bool whole;    // labels become numbers: their line changes, so no axis passes
} ClosedCall;

// The continuation of an argument's axis; 0: it ends at the glyph.
static uint32_t goes_on(const ClosedCall *x, uint32_t pass) {
  for (uint32_t o = 0; pass && !x->whole && o < x->callee->out.n; o++) {
    const Type *out = &x->callee->wire.at[x->callee->out.at[o]].type;
    uint32_t at = passing(out, pass);
    if (at < out->rank) return strand_at(x->p->c->s, x->p->made[x->box->out[o]], at);
  }
  return 0;
}

static void closed_outs(ClosedCall *x, Glyph *g) {
  Sketch *s = x->p->c->s;
  for (uint32_t o = 0; o < x->callee->out.n; o++) {
    const Type *t = &x->callee->wire.at[x->callee->out.at[o]].type;
    uint32_t b = part_make(x->p, x->stage, x->box->out[o]);
    for (uint32_t i = 0; i < t->rank; i++) {
      uint32_t pass = t->axis[i].pass, strand = strand_at(s, b, i);
      bool passes = !x->whole && pass && passers(x->callee, x->callee->in.n, pass);
      // With several results, it passes as an axis of one.
      if (!passes || goes_on(x, pass) != strand) vec_push(s->arena, &g->out, strand);
    }
    if (!t->rank) vec_push(s->arena, &g->out, strand_at(s, b, 0));
  }
}

static void closed_ins(ClosedCall *x, Glyph *g) {
  Sketch *s = x->p->c->s;
  for (uint32_t a = 0; a < x->callee->in.n; a++) {
    const Type *t = &x->callee->wire.at[x->callee->in.at[a]].type;
    for (uint32_t i = 0; i < t->rank; i++) {
      uint32_t from = strand_at(s, x->use[a], i), to = goes_on(x, t->axis[i].pass);
      bool merge = to && passers(x->callee, x->callee->in.n, t->axis[i].pass) > 1;
      if (to && g->kind == GLYPH_NORM && x->across) vec_push(s->arena, &g->touch, from);
      if (to)
        stage_link(s, x->stage, merge ? LINK_MERGE : LINK_PASS, from, to);
      else
        vec_push(s->arena, &g->in, from);
    }
    if (!t->rank) vec_push(s->arena, &g->in, strand_at(s, x->use[a], 0));
  }
}

static void mark_pairs(ClosedCall *x) {
  Sketch *s = x->p->c->s;
  const uint32_t *pair = diagram_pairs(x->p->c, x->callee);
  for (uint32_t k = 0; k < x->callee->in.n + x->callee->out.n; k++) {
    bool in = k < x->callee->in.n;
    uint32_t b = in ? x->use[k] : x->p->made[x->box->out[k - x->callee->in.n]];
    for (uint32_t i = 0; i + 1 < s->bundle.at[b].n; i++)
      if (pair[k] >> i & 1) strand_of(s, b, i)->pair = true;
  }
}

// An elementwise box: all axes pass, and the glyph is above them.
static void put_above(ClosedCall *x, Glyph *g) {
  Sketch *s = x->p->c->s;
  for (uint32_t i = 0; i < g->in.n && i < g->out.n; i++)
    stage_link(s, x->stage, LINK_PASS, g->in.at[i], g->out.at[i]);
  g->in.n = g->out.n = 0;
  g->over = x->p->made[x->box->out[0]];
}

// A norm works along the last axis; the others pass, even if its type has them.
static void pass_rest(ClosedCall *x, Glyph *g) {
  uint32_t n = g->in.n;
  if (n < 2 || g->out.n != n) return;
  for (uint32_t i = 0; i + 1 < n; i++)
    stage_link(x->p->c->s, x->stage, LINK_PASS, g->in.at[i], g->out.at[i]);
  g->in.at[0] = g->in.at[n - 1], g->out.at[0] = g->out.at[n - 1];
  g->in.n = g->out.n = 1;
}

static bool is_of_labels(const Diagram *callee) {
  return callee->in.n == 1 && callee->out.n == 1 &&
         callee->wire.at[callee->in.at[0]].type.base == BASE_LABEL;
}

static void closed_call(CircuitPart *p, const Box *box, Glyph g, const KnownGlyph *k) {
  Sketch *s = p->c->s;
  ClosedCall x = {.p = p, .box = box, .callee = box->callee, .across = k && k->across};
  uint32_t args = x.callee->in.n;
  x.whole = g.kind == GLYPH_LEARNED && is_of_labels(x.callee);
  x.use = part_uses(p, box->in, args, g.words, &x.stage);
  closed_outs(&x, &g);
  closed_ins(&x, &g);
  mark_pairs(&x);
  bool alike = g.in.n == g.out.n && args == 1 && x.callee->out.n == 1;
  if (g.kind == GLYPH_WISE && !alike) g.kind = GLYPH_BOX;
  bool bare = !g.in.n && !g.out.n && x.callee->out.n; // all axes pass: the glyph has no ports
  if (bare && g.kind != GLYPH_NORM) g.kind = GLYPH_WISE;
  if (g.kind == GLYPH_WISE && g.second)
    g.text = arena_format(s->arena, "%s %s", g.text, g.second), g.second = NULL;
  if (g.kind == GLYPH_WISE) put_above(&x, &g);
  if (g.kind == GLYPH_NORM) pass_rest(&x, &g);
  vec_push(s->arena, &s->stage.at[x.stage].glyph, g);
  if (k && k->then) stage_glyph(s, x.stage, GLYPH_WISE, k->then)->over = p->made[box->out[0]];
}

// -- opened calls ---------------------------------------------------------------------------------
static const char *open_title(CircuitPart *p, const Box *box) {
  Configured x = configured(p, box);
  return title(&x, called_name(x.w, x.arena, p->d, box));
}

static void open_call(CircuitPart *p, const Box *box, bool frame) {
  Circuit *c = p->c;
  const char *name = name_text(c->w->names, box->callee->name);
  // labels may differ between iterations; a member of a family has its own title
  bool alone = frame && !p->fold && called_name(c->w, c->s->arena, p->d, box) == name;
  if (alone) same_count(c->same, c->w, box->callee);
  if (alone && draw_inset(p, box)) return;
  const Diagram *callee = part_diagram(c, box->callee);
  uint32_t block = p->block;
  const GroupOf *of = c->s->of;
  if (frame) {
    block = sketch_block(c->s, p->block, open_title(p, box), ink_of(name));
    c->s->block.at[block].of = of;
  }
  CircuitPart inner = {.c = c, .d = callee, .block = block, .fold = fold_inside(p, box)};
  inner.around = text_place(c->w, c->s->arena, box->origin, p->around);
  inner.made = NEW_ARRAY(c->s->arena, uint32_t, callee->wire.n + 1);
  for (uint32_t i = 0; i < callee->in.n; i++)
    inner.made[callee->in.at[i]] = bundle_of(p, box->in[i]);
  draw_part(&inner);
  for (uint32_t i = 0; i < callee->out.n; i++) {
    p->made[box->out[i]] = bundle_of(&inner, callee->out.at[i]);
    label_wire(p, box->out[i]);
  }
}

// In a string diagram, a call is a box on all its wires, or their source if it has no inputs.
static void string_call(CircuitPart *p, const Box *box) {
  const Diagram *f = box->callee;
  all_ports(p, box, f->in.n, f->out.n, f->in.n ? GLYPH_BOX : GLYPH_START,
            call_title(p->c->w, p->c->s->arena, p->d, box))
      ->bold = f->param.n > 0;
}

// The axes that a callee consumes or creates, in the caller's names: "m", "h by k", "a number".
static const char *own_axes(CircuitPart *p, const Diagram *callee, const Ids *inner,
                            const Id *outer) {
  Circuit *c = p->c;
  Buf b = buf_new(c->s->arena);
  for (uint32_t i = 0; i < inner->n; i++) {
    const Type *own = &callee->wire.at[inner->at[i]].type, *t = &p->d->wire.at[outer[i]].type;
    uint32_t n = 0;
    if (i) buf_text(&b, " and ");
    for (uint32_t k = 0; k < own->rank && k < t->rank; k++)
      if (!own->axis[k].pass) buf_printf(&b, "%s%s", n++ ? " by " : "", axis_label(c, &t->axis[k]));
    if (!n) buf_text(&b, t->base == BASE_LABEL ? "a label" : "a number");
  }
  return b.n ? b.at : "nothing";
}

// "linear Q: m to h by k", "softmax over x", "relu"
static const char *call_words(CircuitPart *p, const Box *box, const char *as, bool known) {
  Circuit *c = p->c;
  const Diagram *d = box->callee;
  const char *in = own_axes(p, d, &d->in, box->in), *out = own_axes(p, d, &d->out, box->out);
  const char *title = known ? name_text(c->w->names, d->name) : box_title(c->w, c->s->arena, d);
  if (strcmp(in, out) != 0)
    return arena_format(c->s->arena, "%s%s%s: %s to %s", title, as ? " " : "", as ? as : "", in,
                        out);
  if (strcmp(in, "a number") == 0) return title;
  return arena_format(c->s->arena, "%s over %s", title, in);
}

// For Q = linear[h k](X): the linear map Q.
static const char *given_name(const CircuitPart *p, const Box *box) {
  const char *name =
      box->callee->out.n == 1 ? name_text(p->c->w->names, p->d->wire.at[box->out[0]].name) : "";
  return *name && strlen(name) <= 3 ? name : NULL;
}

// Does a short option fit beside the letter in the circle?
static bool fits_circle(const KnownGlyph *k, const char *options) {
  return !options || (k->text && strcmp(k->text, "G") == 0 && strlen(options) < 3);
}

static Glyph glyph_of(CircuitPart *p, const Box *box, const KnownGlyph *k, const char *as) {
  const char *name = name_text(p->c->w->names, box->callee->name);
  Glyph g = {.kind = GLYPH_BLOCK, .ink = ink_of(name)};
  g.text = called_name(p->c->w, p->c->s->arena, p->d, box);
  Configured x = configured(p, box);
  const char *options = options_of(&x);
  if (k && k->as == AS_GLYPH && (k->kind != GLYPH_NORM || fits_circle(k, options))) {
    g = (Glyph){.kind = k->kind, .text = k->text, .below = k->below};
    if (k->kind == GLYPH_LEARNED) g.above = as ? as : given_name(p, box);
    as = as ? NULL : g.above;
    g.bold = box->callee->param.n > 0;
    if (k->kind == GLYPH_NORM && options) g.below = options;
    if (k->kind == GLYPH_WISE && options) g.second = arena_format(p->c->s->arena, "(%s)", options);
  } else if (options) {
    g.second = arena_format(p->c->s->arena, "(%s)", options);
  }
  g.words = call_words(p, box, as, k && k->as == AS_GLYPH);
  return g;
}

void draw_call(CircuitPart *p, const Box *box) {
  if (is_string(p->c)) {
    string_call(p, box);
    return;
  }
  const CircuitOptions *how = p->c->how;
  const char *name = name_text(p->c->w->names, box->callee->name);
  const char *as;
  const KnownGlyph *k = known_as(p->c, box->callee, &as);
  Window window;
  bool named = is_named(how->open, name), shows = named || !is_nothing(box->callee);
  bool open = call_is_open(how, name) && !how->grad && shows;
  bool wires = (k && k->as == AS_WIRES) || is_only_wires(p->c, box->callee);
  if (open || (wires && !is_named(how->close, name)))
    open_call(p, box, !wires || named);
  else if (convolution_of(p->c->w, box->callee, &window))
    closed_call(p, box, star(p->c, &window, name), NULL);
  else
    closed_call(p, box, glyph_of(p, box, k, as), k);
}
