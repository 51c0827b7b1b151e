// Draws a diagram as a neural circuit diagram: each wire is a bundle with a strand per axis, each
// box one or more stages. This file handles inputs and results, and boxes that are neither loops
// nor calls.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "show/circuit/circuit_own.h"

// -- words ----------------------------------------------------------------------------------------
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t word_bytes(const char *at) {
  size_t n = 0;
  while (char_is_word(at[n]) || at[n] == '_') n++;
  return n;
}

// A size in readable form: 4m, hk, ⌊h/2⌋, 2^{k}. Names of several letters are kept together.
const char *size_label(World *w, Arena *a, Size size) {
  const char *at = size_text(w, size);
  Buf b = buf_new(a);
  uint32_t depth = 0, floors = 0; // bit set by nesting depth: the bracket is a floor
  bool whole = false;             // the previous name had several letters
  while (*at) {
    size_t n = word_bytes(at);
    if (n) {
      buf_add(&b, at, n);
      whole = n > 1 && !is_digit(*at);
      at += n;
    } else if (*at == '*') {
      size_t next = word_bytes(at + 1);
      bool apart = whole || (next > 1 && !is_digit(at[1])) || is_digit(at[1]);
      buf_text(&b, apart ? "·" : "");
      at++;
    } else if (*at == '/' && at[1] == '/') {
      buf_char(&b, '/');
      at += 2;
    } else if (*at == '^') {
      n = word_bytes(at + 1);
      buf_printf(&b, n ? "^{%.*s}" : "^", (int)n, at + 1);
      at += 1 + n;
    } else if (*at == '(') {
      const char *end = at + 1; // up to the end of the name
      bool floor = false;
      for (uint32_t open = 1; *end && open; end++) {
        open += *end == '(', open -= *end == ')';
        floor |= open == 1 && *end == '/' && end[1] == '/';
      }
      floors = floors << 1 | floor, depth++;
      buf_text(&b, floor ? "⌊" : "(");
      at++;
    } else if (*at == ')' && depth) {
      buf_text(&b, floors & 1 ? "⌋" : ")");
      floors >>= 1, depth--, at++;
    } else {
      if (*at == '-')
        buf_text(&b, "−");
      else
        buf_char(&b, *at);
      at++;
    }
  }
  return b.n ? b.at : "";
}

// Axes of a spread are named o_0, o_1 internally; their sizes say more to a reader.
static bool is_made_up(const char *label) {
  const char *line = strrchr(label, '_');
  return line && line > label && is_digit(line[1]) &&
         strspn(line + 1, "0123456789") == strlen(line + 1);
}

bool is_called(const char *label) { return *label && !is_made_up(label); }

const char *axis_label(Circuit *c, const Axis *a) {
  const char *label = name_text(c->w->names, a->label);
  return is_called(label) ? label : size_label(c->w, c->s->arena, a->size);
}

const char *axis_value(Circuit *c, const Axis *a) {
  int64_t n;
  if (!is_called(name_text(c->w->names, a->label)) || !size_value(c->w, a->size, &n)) return NULL;
  return arena_format(c->s->arena, "%lld", (long long)n);
}

bool is_string(const Circuit *c) { return c->how->level == LEVEL_LEARNER; }

static uint32_t strands_for(const Circuit *c, const Type *t) {
  return is_string(c) || !t->rank ? 1 : t->rank;
}

// A type without mapped axes: declared axes by name, others by size.
const char *string_type(World *w, Arena *a, const Type *t) {
  Type own = *t;
  own.rank = 0;
  own.axis = NEW_ARRAY(a, Axis, t->rank + 1);
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->axis[i].pass) continue;
    own.axis[own.rank] = t->axis[i];
    if (!t->axis[i].decl) own.axis[own.rank].label = 0;
    own.rank++;
  }
  Buf b = buf_new(a);
  for (const char *at = type_text(w, &own); *at; at++) {
    if (*at == ':') // z:20 becomes z
      while (at[1] && !strchr(" ])", at[1])) at++;
    else
      buf_char(&b, *at);
  }
  return b.at;
}

static void label_bundle(Circuit *c, uint32_t bundle, const Type *t) {
  if (!t->base) {
    *strand_of(c->s, bundle, 0) = (Strand){.label = "?", .line = LINE_UNKNOWN, .bundle = bundle};
    return;
  }
  if (is_string(c)) {
    strand_of(c->s, bundle, 0)->type = string_type(c->w, c->s->arena, t);
    return;
  }
  for (uint32_t i = 0; i < t->rank; i++) {
    Strand *x = strand_of(c->s, bundle, i);
    x->label = axis_label(c, &t->axis[i]);
    x->size = axis_value(c, &t->axis[i]);
    x->line = t->base == BASE_R ? LINE_PLAIN : LINE_THICK;
  }
  if (!t->rank && t->base != BASE_R) strand_of(c->s, bundle, 0)->line = LINE_THICK;
}

static const Type *wire_type(const CircuitPart *p, Id wire) { return &p->d->wire.at[wire].type; }

// In a derivative, cotangents have another colour, and their axes a ∂.
static void mark_cotangent(CircuitPart *p, uint32_t bundle, Id wire) {
  if (!p->c->how->grad || !origin_is_reverse(p->c->w, p->d->wire.at[wire].origin)) return;
  for (uint32_t i = 0; i < p->c->s->bundle.at[bundle].n; i++) {
    Strand *x = strand_of(p->c->s, bundle, i);
    x->ink = INK_SERIES2;
    if (x->label) x->label = arena_format(p->c->s->arena, "∂%s", x->label);
  }
}

void label_wire(CircuitPart *p, Id wire) {
  const char *name = name_text(p->c->w->names, p->d->wire.at[wire].name);
  if (*name) p->c->s->bundle.at[p->made[wire]].name = name;
  label_bundle(p->c, p->made[wire], wire_type(p, wire));
  turn_labels(p, p->made[wire], wire);
  mark_cotangent(p, p->made[wire], wire);
  const GroupOf *of = wire_group(p->c->w, p->c->s->arena, p->d, wire, p->around);
  for (uint32_t i = 0; i < p->c->s->bundle.at[p->made[wire]].n; i++)
    strand_of(p->c->s, p->made[wire], i)->of = of;
}

uint32_t part_make(CircuitPart *p, uint32_t stage, Id wire) {
  p->made[wire] = sketch_make(p->c->s, stage, NULL, strands_for(p->c, wire_type(p, wire)));
  label_wire(p, wire);
  return p->made[wire];
}

void say_use(CircuitPart *p, const Id *in, uint32_t i, uint32_t use) {
  Sketch *s = p->c->s;
  uint32_t before = 0;
  if (!p->c->how->places) return;
  for (uint32_t k = 0; k < i; k++) before += in[k] == in[i];
  const GroupOf *of =
      use_group(p->c->how->places, p->c->s->arena, s->of, strand_of(s, use, 0)->of, before);
  for (uint32_t k = 0; k < s->bundle.at[use].n; k++) strand_of(s, use, k)->of = of;
}

uint32_t *part_uses(CircuitPart *p, const Id *in, uint32_t n, const char *words, uint32_t *stage) {
  uint32_t *use = NEW_ARRAY(p->c->s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) use[i] = bundle_of(p, in[i]);
  *stage = sketch_stage(p->c->s, p->block, words);
  for (uint32_t i = 0; i < n; i++) use[i] = sketch_use(p->c->s, *stage, use[i]);
  for (uint32_t i = 0; i < n; i++) say_use(p, in, i, use[i]);
  return use;
}

uint32_t param_number(const Diagram *d, Id wire) {
  uint32_t i = 0;
  while (i < d->param.n && d->param.at[i].wire != wire) i++;
  return i;
}

uint32_t source_number(const Diagram *d, Id wire) {
  uint32_t i = ids_find(&d->in, wire);
  return i < d->in.n ? i : i + param_number(d, wire);
}

const char *param_name(const CircuitPart *p, Id wire) {
  uint32_t i = param_number(p->d, wire);
  if (i == p->d->param.n) return "?";
  const char *path = p->d->param.at[i].path, *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// [[0, 1], [2, 3]], truncated to a readable length.
static void put_numbers(Arena *a, const double *data, const int64_t *shape, uint32_t rank, Buf *b) {
  int64_t each = 1;
  for (uint32_t i = 1; i < rank; i++) each *= shape[i];
  if (!rank) buf_text(b, formula_number(a, data[0]));
  if (rank) buf_char(b, '[');
  for (int64_t i = 0; rank && i < shape[0]; i++) {
    if (i) buf_text(b, ", ");
    put_numbers(a, data + i * each, shape + 1, rank - 1, b);
  }
  if (rank) buf_char(b, ']');
}

static const char *data_text(World *w, Arena *a, const Type *t, const double *data) {
  enum { READABLE = 9, DEEPEST = 4 };
  int64_t n, shape[DEEPEST + 1] = {0};
  Buf b = buf_new(a);
  if (t->rank > DEEPEST || !type_count(w, t, &n) || n > READABLE || n < 1) return NULL;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(w, t->axis[i].size, &shape[i])) return NULL;
  put_numbers(a, data, shape, t->rank, &b);
  return b.at;
}

// The constant that an initial value is computed from, if it is a single number or table: 0.5 for a
// `positive` that starts there.
static const char *computed_text(World *w, Arena *a, const Diagram *d) {
  const char *text = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->param.n; i++, n++)
    if (d->param.at[i].init.kind == INIT_DATA)
      text = data_text(w, a, &d->wire.at[d->param.at[i].wire].type, d->param.at[i].init.data);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *box = &d->box.at[i];
    bool number = box->op == OP_loop && !box->nin && box->loop->nscalar == 1;
    if (number && box->loop->scalar[0].fn == FN_CONST)
      text = formula_number(a, box->loop->scalar[0].k), n++;
    else if (box->op != OP_call)
      n = 2;
  }
  return n == 1 && text ? text : "…";
}

static bool is_drawn_by_lot(InitKind kind) {
  return kind == INIT_NORMAL || kind == INIT_UNIFORM || kind == INIT_HE || kind == INIT_ORTHOGONAL;
}

// The initial value of a weight or state, if the program gives one, or the value of a constant:
// "=0".
static const char *start_text(const CircuitPart *p, Id wire) {
  uint32_t i = param_number(p->d, wire);
  const Param *x = i < p->d->param.n ? &p->d->param.at[i] : NULL;
  Arena *a = p->c->s->arena;
  const char *text = NULL;
  if (!x || (is_string(p->c) && is_drawn_by_lot(x->init.kind))) return NULL;
  switch (x->init.kind) {
  case INIT_CONST: text = formula_number(a, x->init.k); break;
  case INIT_DATA: text = data_text(p->c->w, a, &p->d->wire.at[wire].type, x->init.data); break;
  case INIT_DIAGRAM: text = computed_text(p->c->w, a, x->init.diagram); break;
  case INIT_NORMAL: text = "normal"; break;
  case INIT_UNIFORM: text = "uniform"; break;
  case INIT_HE: text = "he"; break;
  case INIT_ORTHOGONAL: text = "orthogonal"; break;
  default: break;
  }
  return text;
}

// Draws a long initial value on a plate.
static Glyph *put_source(CircuitPart *p, uint32_t stage, Id wire) {
  const char *name = weight_label(p, param_name(p, wire)), *text = start_text(p, wire);
  Sketch *s = p->c->s;
  if (text && formula_letters(text) > 5)
    return stage_glyph(s, stage, GLYPH_BOX, arena_format(s->arena, "!{%s} = %s", name, text));
  Glyph *g = stage_glyph(s, stage, GLYPH_START, name);
  g->bold = true;
  g->below = text ? arena_format(s->arena, "=%s", text) : NULL;
  return g;
}

// A weight or constant begins at its first use.
uint32_t bundle_of(CircuitPart *p, Id wire) {
  if (p->made[wire]) return p->made[wire];
  uint32_t kept = kept_bundle(p, wire);
  if (kept) return kept;
  uint32_t stage = sketch_stage(p->c->s, p->block,
                                arena_format(p->c->s->arena, "weight %s", param_name(p, wire)));
  uint32_t b = part_make(p, stage, wire);
  Glyph *g = put_source(p, stage, wire);
  g->of = strand_of(p->c->s, b, 0)->of;
  add_ports(p->c->s, &g->out, b);
  return b;
}

uint32_t wire_reads(const Diagram *d, Id wire) {
  uint32_t n = 0;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) n += d->box.at[i].in[k] == wire;
  for (uint32_t i = 0; i < d->out.n; i++) n += d->out.at[i] == wire;
  return n;
}

// Counted once: wires added to the copy of the diagram have no readers among the boxes.
uint32_t part_reads(CircuitPart *p, Id wire) {
  const Diagram *d = p->d;
  if (!p->read) {
    p->reads = d->wire.n;
    p->read = NEW_ARRAY(p->c->s->arena, uint32_t, d->wire.n + 1);
    p->reader = NEW_ARRAY(p->c->s->arena, Id, d->wire.n + 1);
    for (Id i = 1; i < d->box.n; i++)
      for (uint32_t k = 0; k < d->box.at[i].nin; k++) {
        p->read[d->box.at[i].in[k]]++;
        p->reader[d->box.at[i].in[k]] = i;
      }
    for (uint32_t i = 0; i < d->out.n; i++) p->read[d->out.at[i]]++;
  }
  return wire < p->reads ? p->read[wire] : 0;
}

Glyph *all_ports(CircuitPart *p, const Box *box, uint32_t nin, uint32_t nout, GlyphKind kind,
                 const char *text) {
  Sketch *s = p->c->s;
  uint32_t stage, *use = part_uses(p, box->in, nin, text, &stage);
  Glyph *g = stage_glyph(s, stage, kind, text);
  for (uint32_t i = 0; i < nin; i++) add_ports(s, &g->in, use[i]);
  for (uint32_t i = 0; i < nout; i++) add_ports(s, &g->out, part_make(p, stage, box->out[i]));
  return g;
}

static Glyph *own_ports(CircuitPart *p, const Box *box, GlyphKind kind, const char *text) {
  return all_ports(p, box, box->nin, box->nout, kind, text);
}

// -- the other boxes ------------------------------------------------------------------------------

// The strand of a box's axis; in string diagrams the single strand.
static uint32_t axis_strand(const Sketch *s, const Box *box) { return s->strings ? 0 : box->axis; }

// The axis number does not count mapped axes, and is left out if there is only one.
const char *along_title(Arena *a, const Diagram *d, const Box *box, const char *name) {
  const Type *t = &d->wire.at[box->out[0]].type;
  uint32_t own = 0, at = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->axis[i].pass) continue;
    if (i < box->axis) at++;
    own++;
  }
  return own > 1 ? arena_format(a, "%s [%u]", name, at) : name;
}

// A concatenation: a bar on the joined axis, dots on the others.
static void draw_join(CircuitPart *p, const Box *box) {
  Sketch *s = p->c->s;
  const char *title = along_title(s->arena, p->d, box, "");
  if (s->strings && *title) {
    own_ports(p, box, GLYPH_BOX, along_title(s->arena, p->d, box, "concat"));
    return;
  }
  uint32_t axis = axis_strand(s, box);
  uint32_t stage, *from = part_uses(p, box->in, box->nin, "concatenation", &stage);
  uint32_t b = part_make(p, stage, box->out[0]);
  s->stage.at[stage].free = true; // the order of the bar's ports is fixed
  Glyph g = {.kind = GLYPH_BAR};
  for (uint32_t k = 0; k < s->bundle.at[b].n; k++) {
    if (k == axis) vec_push(s->arena, &g.out, strand_at(s, b, k));
    for (uint32_t i = 0; i < box->nin; i++) {
      if (k == axis)
        vec_push(s->arena, &g.in, strand_at(s, from[i], k));
      else
        stage_link(s, stage, LINK_MERGE, strand_at(s, from[i], k), strand_at(s, b, k));
    }
  }
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

// Sorting: a glyph on the sorted axis; the others pass.
static void draw_order(CircuitPart *p, const Box *box) {
  Sketch *s = p->c->s;
  uint32_t axis = axis_strand(s, box);
  uint32_t stage, use = *part_uses(p, box->in, 1, "order", &stage);
  Glyph g = {.kind = GLYPH_BOX, .text = "order"};
  uint32_t b = part_make(p, stage, box->out[0]);
  for (uint32_t k = 0; k < s->bundle.at[b].n; k++)
    if (k == axis)
      vec_push(s->arena, &g.in, strand_at(s, use, k)),
          vec_push(s->arena, &g.out, strand_at(s, b, k));
    else
      stage_link(s, stage, LINK_PASS, strand_at(s, use, k), strand_at(s, b, k));
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

// Drops unread results: the maximum or its positions.
static void drop_unread(CircuitPart *p, Box *box) {
  uint32_t n = 0, all = box->nout;
  Id *out = NEW_ARRAY(p->c->s->arena, Id, all + 1);
  for (uint32_t i = 0; i < all; i++)
    if (part_reads(p, box->out[i])) out[n++] = box->out[i];
  if (n) box->out = out, box->nout = n;
}

// In a string diagram, a loop is a box with an operator; one that only moves data is a wire.
static void string_loop(CircuitPart *p, const Box *box) {
  const Loop *l = box->loop;
  World *w = p->c->w;
  Arena *a = p->c->s->arena;
  if (loop_is_wire(w, a, p->d, box)) {
    p->made[box->out[0]] = bundle_of(p, box->in[0]);
    return;
  }
  if (loop_is_stop(l)) {
    own_ports(p, box, GLYPH_STOP, "stop");
    return;
  }
  Ids wires = {0};
  Box plain = stop_operands(p, box, &wires);
  drop_unread(p, &plain);
  own_ports(p, &plain, l->nin ? GLYPH_BOX : GLYPH_START, loop_words(w, a, p->d, &plain));
  for (uint32_t i = 0; i < wires.n; i += 2) p->made[wires.at[i]] = wires.at[i + 1];
}

const char *noise_letter(const Box *box) { return box->random->noise == NOISE_NORMAL ? "N" : "U"; }

void draw_box(CircuitPart *p, const Box *box) {
  bool string = is_string(p->c);
  if (p->c->broken && draw_unknown(p, box)) return;
  switch (box->op) {
  case OP_loop: (string ? string_loop : draw_loop)(p, box); break;
  case OP_call: draw_call(p, box); break;
  case OP_join: draw_join(p, box); break;
  case OP_random:
    own_ports(p, box, GLYPH_START, noise_letter(box))->words =
        box->random->noise == NOISE_NORMAL ? "normal noise" : "uniform noise";
    break;
  case OP_scan: draw_scan(p, box); break;
  case OP_order:
    if (string)
      own_ports(p, box, GLYPH_BOX, along_title(p->c->s->arena, p->d, box, "order"));
    else
      draw_order(p, box);
    break;
  }
}

// -- the whole ------------------------------------------------------------------------------------
void inputs_from_left(CircuitPart *p) {
  for (uint32_t i = 0; i < p->d->in.n; i++) {
    Id wire = p->d->in.at[i];
    p->made[wire] = sketch_input(p->c->s, NULL, strands_for(p->c, wire_type(p, wire)));
    label_wire(p, wire);
  }
}

// Each source is a bar from which its fields leave.
static void inputs_from_sources(CircuitPart *p, const Supply *supply) {
  Sketch *s = p->c->s;
  for (uint32_t i = 0; i < p->d->in.n; i++) {
    if (p->made[p->d->in.at[i]]) continue;
    uint32_t stage = sketch_stage(s, p->block, supply[i].name);
    Glyph g = {.kind = GLYPH_SOURCE, .text = supply[i].name};
    g.of = group_at(s->arena, supply[i].said, NULL);
    s->stage.at[stage].early = true;
    for (uint32_t k = i; k < p->d->in.n; k++) {
      if (supply[k].number != supply[i].number) continue;
      uint32_t b = part_make(p, stage, p->d->in.at[k]);
      strand_of(s, b, 0)->label = supply[k].field;
      vec_push(s->arena, &g.out, strand_at(s, b, 0));
    }
    vec_push(s->arena, &s->stage.at[stage].glyph, g);
  }
}

// The callee, if the diagram only calls a learner.
const Diagram *circuit_unwrapped(const Diagram *d) {
  while (d->box.n == 2 && d->box.at[1].op == OP_call && d->box.at[1].callee->name == d->name)
    d = d->box.at[1].callee;
  return d;
}

// Prepares each diagram once. In string diagrams formulas are not split.
const Diagram *part_diagram(Circuit *c, const Diagram *d) {
  World *w = c->w;
  uint32_t at = table_get(c->steps, &d, sizeof d);
  if (at) return w->diagram.at[at];
  const Diagram *made = is_string(c) ? diagram_simplify(w, d) : diagram_steps(w, d);
  table_put(c->steps, &d, sizeof d, made->id);
  return made;
}

static Sketch *draw_whole(Circuit *c, Arena *a, const Diagram *d, const Supply *supply) {
  c->s = sketch_new(a, box_title(c->w, a, d));
  c->series.n = 0;
  CircuitPart p = {.c = c, .d = d, .made = NEW_ARRAY(a, uint32_t, d->wire.n + 1)};
  c->s->strings = is_string(c);
  if (supply)
    inputs_from_sources(&p, supply);
  else
    inputs_from_left(&p);
  if (c->broken) mark_inputs(&p);
  draw_part(&p);
  for (uint32_t i = 0; i < d->out.n; i++) sketch_output(c->s, bundle_of(&p, d->out.at[i]));
  if (c->broken) mark_ends(&p);
  series_rows(c);
  sketch_words(c->s);
  c->s->of = c->s->wire = NULL;
  c->s->origin = d->origin ? d->origin : d->box.n > 1 ? d->box.at[d->box.n - 1].origin : 0;
  if (!is_string(c)) sketch_tandem(c->s);
  return c->s;
}

// Which boxes are opened twice is only known after a first pass.
static Sketch *whole_of(World *w, Arena *a, const Diagram *whole, const PartialDiagram *broken,
                        const CircuitOptions *how, const Supply *supply) {
  Circuit c = {
      .w = w, .how = how, .steps = table_new(a), .pairs_of = table_new(a), .broken = broken};
  c.s = sketch_new(a, ""); // in the scratch arena
  c.compared = table_new(a);
  c.same = same_new(a);
  const Diagram *d = broken ? whole : part_diagram(&c, circuit_unwrapped(whole));
  Sketch *s = draw_whole(&c, a, d, supply);
  return same_counted(c.same) ? draw_whole(&c, a, d, supply) : s;
}

Sketch *circuit_of(World *w, Arena *a, const Diagram *whole, const CircuitOptions *how,
                   const Supply *supply) {
  return whole_of(w, a, whole, NULL, how, supply);
}

Sketch *circuit_broken(World *w, Arena *a, const PartialDiagram *k, const CircuitOptions *how,
                       const Supply *supply) {
  return whole_of(w, a, k->diagram, k, how, supply);
}

// With notes, the picture is one row unless a width is given.
Canvas *circuit_draw(World *w, Arena *a, const Diagram *d, const CircuitOptions *how) {
  Sketch *s = circuit_of(w, a, d, how, NULL);
  bool limited = how->width > 0;
  SketchPage *p = lay_page(a, s, how->notes && !limited ? -1 : how->width);
  if (!p) return NULL;
  Canvas *c =
      how->notes ? notes_paint(w, a, p, origin_span(w, s->origin).file) : page_paint(a, p, s);
  if (!how->no_legend) legend_paint(c, a, p);
  return c;
}
