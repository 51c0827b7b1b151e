// Draws goals and learners as parametric lenses. A bundle is a pair of strands: a value going
// forward and its change going back; what has no gradient (labels, constants, noise) only goes
// forward. Each box is a round box; its weights enter from above, and their change leaves upwards
// to the optimiser. A goal ends in its distance, with its target from above, its factor, and the
// learning rate, with which everything is multiplied on the way back.
//
// Three levels of detail: a box per learner; the boxes of its body; each of these opened.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "show/circuit/circuit.h"
#include "show/circuit/lens_own.h"

enum { LETTERS = 80 }; // maximal length of a formula

typedef struct { // a diagram being drawn, possibly inside another
  Lens *k;
  const Diagram *d;
  uint32_t block;
  uint32_t *made;       // [wire] its bundle
  uint32_t *weights;    // [wire] index of the weight + 1; 0: none
  bool open;            // inside a learner whose boxes are opened
  const SaidAt *around; // the enclosing call; NULL: the whole
} LensWalk;

static Arena *arena_of(const Lens *k) { return k->g->arena; }

static LensWalk walk_new(Lens *k, const Diagram *d) {
  LensWalk v = {.k = k, .d = d};
  v.made = NEW_ARRAY(arena_of(k), uint32_t, d->wire.n + 1);
  v.weights = NEW_ARRAY(arena_of(k), uint32_t, d->wire.n + 1);
  return v;
}

// -- strands --------------------------------------------------------------------------------------
static bool has_slope(const Type *t) { return t->base == BASE_R || t->base == BASE_BIT; }

static void set_strands(const Lens *k, uint32_t bundle, const Type *t, const GroupOf *of) {
  for (uint32_t i = 0; i < k->s->bundle.at[bundle].n; i++) {
    Strand *x = strand_of(k->s, bundle, i);
    x->line = i ? LINE_BACK : LINE_FORTH;
    x->type = string_type(k->g->w, arena_of(k), t);
    x->of = of;
  }
}

static uint32_t make(LensWalk *v, uint32_t stage, Id wire, bool pair) {
  const Type *t = &v->d->wire.at[wire].type;
  uint32_t b = sketch_make(v->k->s, stage, NULL, pair && has_slope(t) ? 2 : 1);
  set_strands(v->k, b, t, wire_group(v->k->g->w, arena_of(v->k), v->d, wire, v->around));
  v->made[wire] = b;
  return b;
}

// -- weights --------------------------------------------------------------------------------------
static const Param *goal_param(const Goal *g, const char *path, bool *trains) {
  for (uint32_t i = 0; g->diagram && i < g->diagram->param.n; i++)
    if (strcmp(g->diagram->param.at[i].path, path) == 0) {
      *trains = g->trains[i];
      return &g->diagram->param.at[i];
    }
  return NULL;
}

static const char *span_text(const Lens *k, Span at) {
  return arena_text(arena_of(k), k->g->w->sources->file.at[at.file].text + at.at, at.n);
}

static Nodes settings_of(const Stepper *s) {
  const Syntax *call = s ? s->call : NULL;
  return call && call->kind == N_CALL ? call_args(call) : (Nodes){0, NULL};
}

// The setting that is the learning rate: the one with that name, or the first. Their number: none.
static uint32_t rate_at(const Lens *k, const Stepper *s) {
  Nodes args = settings_of(s);
  uint32_t i = 0;
  while (i < args.n && args.at[i]->kind == N_ARG &&
         strcmp(name_text(k->g->w->names, args.at[i]->name), "rate") != 0)
    i++;
  return i;
}

static const char *rate_text(const Lens *k, const Stepper *s) {
  Nodes args = settings_of(s);
  uint32_t i = rate_at(k, s);
  if (i < args.n) return span_text(k, arg_given(args.at[i])->span);
  return s ? "ε" : "0.001";
}

// The name with settings other than the rate: "adam (b1: 0.8)".
static const char *stepper_title(const Lens *k, const Stepper *s) {
  Nodes args = settings_of(s);
  Buf b = buf_new(arena_of(k));
  uint32_t rate = rate_at(k, s);
  for (uint32_t i = 0; i < args.n; i++)
    if (i != rate)
      buf_printf(&b, "%s%s",
                 b.n                              ? ", "
                 : i && args.at[i]->kind != N_ARG ? "·, "
                                                  : "",
                 span_text(k, args.at[i]->span));
  return b.n ? arena_format(arena_of(k), "%s (%s)", s->name, b.at) : s->name;
}

static const char *call_text(const Lens *k, const Stepper *s) {
  if (!s) return "adam(0.001)";
  return s->call ? span_text(k, s->call->span) : s->name;
}

static void set_optimiser(Lens *k, const Param *p, Weighted *to) {
  const Stepper *s = k->training ? training_stepper(k->g->in, k->training, p) : NULL;
  const char *rate = rate_text(k, s);
  to->optimiser = s ? stepper_title(k, s) : default_optimiser(BASE_R);
  to->words = call_text(k, s);
  to->of = s && s->call ? group_at(arena_of(k), s->call->span, s->name) : NULL;
  if (!k->rate)
    k->rate = rate;
  else if (strcmp(k->rate, rate) != 0)
    k->rate = "";
}

static bool is_stepped(const Lens *k, const Param *p) {
  bool trains = false;
  if (p->role != ROLE_WEIGHT) return false;
  if (k->goal) return goal_param(k->goal, p->path, &trains) && trains;
  for (uint32_t i = 0; i < k->g->p->learner.n; i++) {
    const Def *d = k->g->p->learner.at[i];
    if (def_owns(k->g->w, p, d, NULL)) return !d->frozen && d->kind == DEF_LEARNER;
  }
  return true;
}

static void number_weights(LensWalk *v) {
  Lens *k = v->k;
  for (uint32_t i = 0; i < v->d->param.n; i++) {
    const Param *p = &v->d->param.at[i];
    uint32_t n = table_get(k->weight, p->path, strlen(p->path));
    if (p->role != ROLE_WEIGHT && p->role != ROLE_BUFFER) continue;
    if (!n) {
      n = table_count(k->weight) + 1;
      table_put(k->weight, p->path, strlen(p->path), n);
    }
    v->weights[p->wire] = n;
  }
}

static const Param *param_named(const Lens *k, const Diagram *d, uint32_t number) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (table_get(k->weight, d->param.at[i].path, strlen(d->param.at[i].path)) == number)
      return &d->param.at[i];
  return NULL;
}

// Weights enter a box from above. The outermost diagram knows their paths.
static void add_weighted(LensWalk *v, const Diagram *top, uint32_t stage, const Ids *numbers) {
  Weighted x = {.stage = stage, .weights = *numbers};
  for (uint32_t i = 0; i < numbers->n && !x.optimiser; i++) {
    const Param *p = param_named(v->k, top, numbers->at[i]);
    if (p && is_stepped(v->k, p)) set_optimiser(v->k, p, &x);
  }
  vec_push(arena_of(v->k), &v->k->weighted, x);
}

// -- boxes ----------------------------------------------------------------------------------------
// A box is opened by its own name, or by that of its learner.
static GlyphKind kind_of(const LensWalk *v, const char *name) {
  const CircuitOptions *how = v->k->how;
  bool open = call_is_open(how, name) || (v->open && !call_is_closed(how, name));
  return open ? GLYPH_OPTIC : GLYPH_LENS;
}

// Is this learner drawn as the boxes of its body?
static bool is_opened(const Lens *k, const char *name) {
  if (call_is_closed(k->how, name)) return false;
  return k->level != LEVEL_LEARNER || call_is_open(k->how, name);
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *name_above(const LensWalk *v, Id wire) {
  for (uint32_t i = 0; i < v->d->param.n; i++)
    if (v->d->param.at[i].wire == wire) return last_name(v->d->param.at[i].path);
  return "?";
}

static void put_box(LensWalk *v, const Diagram *top, const Box *box, GlyphKind kind,
                    const char *text, const Ids *weights);

// The bundle of a weight read directly, or of a constant.
static uint32_t bundle_for(LensWalk *v, const Diagram *top, Id wire) {
  if (v->made[wire]) return v->made[wire];
  Id out[1] = {wire};
  Ids weights = {0};
  Box from = {.nout = 1, .out = out, .op = OP_random, .origin = v->d->wire.at[wire].origin};
  if (v->weights[wire]) vec_push(arena_of(v->k), &weights, v->weights[wire]);
  put_box(v, top, &from, weights.n ? GLYPH_LENS : GLYPH_START, name_above(v, wire), &weights);
  return v->made[wire];
}

static void put_box(LensWalk *v, const Diagram *top, const Box *box, GlyphKind kind,
                    const char *text, const Ids *weights) {
  Lens *k = v->k;
  Sketch *s = k->s;
  uint32_t *from = NEW_ARRAY(s->arena, uint32_t, box->nin + 1);
  for (uint32_t i = 0; i < box->nin; i++) from[i] = bundle_for(v, top, box->in[i]);
  uint32_t stage = sketch_stage(s, v->block, text);
  Glyph g = {.kind = kind, .text = text, .bold = weights->n > 0, .tag = stage + 1};
  g.of = box_group(k->g->w, s->arena, v->d, box, v->around, true);
  for (uint32_t i = 0; i < box->nin; i++) add_ports(s, &g.in, sketch_use(s, stage, from[i]));
  for (uint32_t i = 0; i < box->nout; i++)
    add_ports(s, &g.out, make(v, stage, box->out[i], kind != GLYPH_START));
  if (weights->n) {
    add_weighted(v, top, stage, weights);
    k->weighted.at[k->weighted.n - 1].wire = place_group(s->arena, g.of);
    g.above = k->weighted.at[k->weighted.n - 1].optimiser;
  }
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
}

static void walk_diagram(LensWalk *v, const Diagram *top);

static bool is_learner(const Lens *k, const Diagram *d) {
  for (uint32_t i = 0; i < k->g->p->learner.n; i++)
    if (k->g->p->learner.at[i]->name == d->name) return d->param.n > 0;
  return false;
}

// Draws a learner as the boxes of its body.
static void open_learner(LensWalk *v, const Diagram *top, const Box *box) {
  const Diagram *callee = box->callee;
  Lens *k = v->k;
  LensWalk inner = walk_new(k, callee);
  inner.block = sketch_block(k->s, v->block, NULL, INK_NONE);
  for (uint32_t i = 0; i < callee->in.n; i++)
    inner.made[callee->in.at[i]] = bundle_for(v, top, box->in[i]);
  for (uint32_t i = 0; i < callee->param.n; i++)
    inner.weights[callee->param.at[i].wire] = v->weights[box->in[callee->in.n + i]];
  inner.around = text_place(k->g->w, arena_of(k), box->origin, v->around);
  const char *name = name_text(k->g->w->names, callee->name);
  inner.open = call_is_open(k->how, name);
  const char *title = call_title(k->g->w, arena_of(k), v->d, box);
  vec_push(arena_of(k), &k->group, (LensGroup){inner.block, title});
  walk_diagram(&inner, top);
  for (uint32_t i = 0; i < callee->out.n; i++)
    v->made[box->out[i]] = bundle_for(&inner, top, callee->out.at[i]);
}

static void add_weights_of(LensWalk *v, const Box *box, Ids *out) {
  for (uint32_t i = box->callee->in.n; i < box->nin; i++)
    if (v->weights[box->in[i]] && ids_find(out, v->weights[box->in[i]]) == out->n)
      vec_push(arena_of(v->k), out, v->weights[box->in[i]]);
}

static void walk_call(LensWalk *v, const Diagram *top, const Box *box, const Ids *weights) {
  Lens *k = v->k;
  const char *name = name_text(k->g->w->names, box->callee->name);
  if (v->d == top && k->goal && is_learner(k, box->callee) && is_opened(k, name)) {
    open_learner(v, top, box);
    return;
  }
  Box args = *box;
  args.nin = box->callee->in.n;
  args.nout = box->callee->out.n;
  put_box(v, top, &args, args.nin || weights->n ? kind_of(v, name) : GLYPH_START,
          call_title(k->g->w, arena_of(k), v->d, box), weights);
}

// The value continues, its change ends.
static uint32_t put_stop(LensWalk *v, const Diagram *top, Id wire) {
  Sketch *s = v->k->s;
  uint32_t from = bundle_for(v, top, wire), stage = sketch_stage(s, v->block, "stop");
  uint32_t use = sketch_use(s, stage, from), made = sketch_make(s, stage, NULL, 1);
  *strand_of(s, made, 0) = *strand_of(s, from, 0);
  strand_of(s, made, 0)->bundle = made;
  Glyph *g = stage_glyph(s, stage, GLYPH_STOP, "stop");
  vec_push(s->arena, &g->in, strand_at(s, use, 0));
  vec_push(s->arena, &g->out, strand_at(s, made, 0));
  for (uint32_t i = 1; i < s->bundle.at[use].n; i++)
    stage_link(s, stage, LINK_END, strand_at(s, use, i), 0);
  return made;
}

static void walk_plain_loop(LensWalk *v, const Diagram *top, const Box *box) {
  const Loop *l = box->loop;
  World *w = v->k->g->w;
  if (loop_is_wire(w, arena_of(v->k), v->d, box)) {
    v->made[box->out[0]] = bundle_for(v, top, box->in[0]);
    return;
  }
  const char *text = loop_words(w, arena_of(v->k), v->d, box);
  if (formula_letters(text) > LETTERS) text = "f";
  put_box(v, top, box, l->nin ? kind_of(v, text) : GLYPH_START, text, &(Ids){0});
}

// Operands with a stopped gradient have other bundles while the loop is drawn.
static void walk_loop(LensWalk *v, const Diagram *top, const Box *box) {
  Box plain = *box;
  uint32_t *before = NEW_ARRAY(arena_of(v->k), uint32_t, box->nin + 1);
  if (loop_is_stop(box->loop)) {
    v->made[box->out[0]] = put_stop(v, top, box->in[0]);
    return;
  }
  for (uint32_t i = 0; i < box->nin; i++) {
    if (!loop_stops(box->loop, i)) continue;
    if (plain.loop == box->loop) plain.loop = loop_copy(v->k->g->w, box->loop);
    loop_skip_stops(plain.loop, i);
    uint32_t made = put_stop(v, top, box->in[i]);
    before[i] = v->made[box->in[i]];
    v->made[box->in[i]] = made;
  }
  walk_plain_loop(v, top, &plain);
  for (uint32_t i = 0; i < box->nin; i++)
    if (before[i]) v->made[box->in[i]] = before[i];
}

static void put_along(LensWalk *v, const Diagram *top, const Box *box, const char *name,
                      const Ids *weights) {
  put_box(v, top, box, kind_of(v, name), along_title(arena_of(v->k), v->d, box, name), weights);
}

static void walk_box(LensWalk *v, const Diagram *top, const Box *box, const Ids *weights) {
  switch (box->op) {
  case OP_call: walk_call(v, top, box, weights); break;
  case OP_loop: walk_loop(v, top, box); break;
  case OP_join: put_along(v, top, box, "concat", weights); break;
  case OP_order: put_along(v, top, box, "order", weights); break;
  case OP_scan:
    put_box(v, top, box, kind_of(v, "scan"), scan_title(v->k->g->w, arena_of(v->k), box), weights);
    break;
  default: put_box(v, top, box, GLYPH_START, *noise_letter(box) == 'N' ? "𝒩" : "𝒰", weights); break;
  }
}

static bool goes_on(const Diagram *d, const Box *before, const Box *box) {
  return before->op == OP_call && box->op == OP_call && box->callee == before->callee &&
         box->callee->out.n == 1 && box->callee->in.n == 1 && box->in[0] == before->out[0] &&
         wire_reads(d, before->out[0]) == 1;
}

// Repeats are drawn once, each iteration with its own weights.
static void walk_diagram(LensWalk *v, const Diagram *top) {
  for (Id i = 1; i < v->d->box.n; i++) {
    const Box *box = &v->d->box.at[i];
    uint32_t times = 1, block = v->block;
    Ids weights = {0};
    if (box->op == OP_call) add_weights_of(v, box, &weights);
    while (i + 1 < v->d->box.n && goes_on(v->d, &v->d->box.at[i], &v->d->box.at[i + 1])) {
      add_weights_of(v, &v->d->box.at[++i], &weights);
      times++;
    }
    if (times > 1) {
      v->block = sketch_block(v->k->s, block, NULL, INK_NONE);
      v->k->s->block.at[v->block].times = arena_format(arena_of(v->k), "%u", times);
    }
    walk_box(v, top, box, &weights);
    v->block = block;
    v->made[v->d->box.at[i].out[0]] = v->made[box->out[0]];
  }
}

// -- wholes ---------------------------------------------------------------------------------------
static uint32_t input_bundle(Lens *k, const Diagram *d, Id wire, const char *name) {
  const Wire *x = &d->wire.at[wire];
  uint32_t b = sketch_input(k->s, *name ? name : NULL, has_slope(&x->type) ? 2 : 1);
  set_strands(k, b, &x->type, wire_group(k->g->w, arena_of(k), d, wire, NULL));
  return b;
}

static void walk_whole(LensWalk *v, Ids *out) {
  number_weights(v);
  walk_diagram(v, v->d);
  for (uint32_t i = 0; i < v->d->out.n; i++)
    vec_push(arena_of(v->k), out, bundle_for(v, v->d, v->d->out.at[i]));
}

// Fields used by both sides enter once.
static void walk_side(LensWalk *v, const Ids *fields, const Ids *known, const uint32_t *bundle,
                      Ids *out) {
  Lens *k = v->k;
  for (uint32_t i = 0; i < fields->n; i++) {
    uint32_t at = ids_find(known, fields->at[i]);
    const char *name = name_text(k->g->w->names, def_of(k->g->in, fields->at[i])->name);
    Id wire = v->d->in.at[i];
    v->made[wire] = at < known->n ? bundle[at] : input_bundle(k, v->d, wire, name);
  }
  walk_whole(v, out);
}

// Constants and given fields enter the loss from above; collects their names.
static bool is_plain(const Lens *k, const Diagram *d, const Ids *fields, Lens *to) {
  for (uint32_t i = 0; i < d->out.n; i++) {
    Id wire = d->out.at[i];
    const Box *box = &d->box.at[d->wire.at[wire].box];
    uint32_t at = ids_find(&d->in, wire);
    const char *text = NULL;
    if (at < d->in.n)
      text = name_text(k->g->w->names, def_of(k->g->in, fields->at[at])->name);
    else if (d->wire.at[wire].box && box->op == OP_loop && !box->loop->nin)
      text = formula_text(&(FormulaOf){.w = k->g->w, .l = box->loop}, arena_of(k));
    if (!text) return false;
    vec_push(arena_of(k), &to->label, text);
  }
  return true;
}

static uint32_t scalar_stage(Lens *k, const char *text, const Ids *from) {
  Type number = {.base = BASE_R};
  uint32_t stage = sketch_stage(k->s, 0, text);
  Glyph g = {.kind = GLYPH_LENS, .text = text, .tag = stage + 1};
  for (uint32_t i = 0; i < from->n; i++)
    add_ports(k->s, &g.in, sketch_use(k->s, stage, from->at[i]));
  uint32_t b = sketch_make(k->s, stage, NULL, 2);
  set_strands(k, b, &number, k->s->of);
  add_ports(k->s, &g.out, b);
  vec_push(arena_of(k), &k->s->stage.at[stage].glyph, g);
  return b;
}

static void put_cap(Lens *k, uint32_t from) {
  const char *text = k->rate && *k->rate ? k->rate : "1";
  uint32_t stage = sketch_stage(k->s, 0, "rate"), use = sketch_use(k->s, stage, from);
  add_ports(k->s, &stage_glyph(k->s, stage, GLYPH_RATE, text)->in, use);
}

static uint32_t put_factor(Lens *k, uint32_t from) {
  double factor = k->goal->weight * k->goal->sign;
  Buf b = buf_new(arena_of(k));
  if (factor == 1) return from;
  buf_text(&b, factor < 0 ? "×−" : "×");
  buf_number(&b, factor < 0 ? -factor : factor);
  return scalar_stage(k, b.at, &(Ids){.at = &from, .n = 1});
}

static bool lens_of_goal(Lens *k) {
  Diagram *side[2];
  Ids fields[2] = {{0}};
  World *w = k->g->w;
  if (!elab_sides(k->g->in, k->g->p, k->goal, side, fields)) return false;
  LensWalk left = walk_new(k, diagram_simplify(w, side[0]));
  Ids from = {0};
  walk_side(&left, &fields[0], &(Ids){0}, NULL, &from);
  if (side[1] && !is_plain(k, diagram_simplify(w, side[1]), &fields[1], k)) {
    k->label.n = 0;
    LensWalk right = walk_new(k, diagram_simplify(w, side[1]));
    uint32_t *known = NEW_ARRAY(arena_of(k), uint32_t, fields[0].n + 1);
    for (uint32_t i = 0; i < fields[0].n; i++) known[i] = left.made[left.d->in.at[i]];
    walk_side(&right, &fields[1], &fields[0], known, &from);
  }
  uint32_t end = from.at[0];
  k->s->of = group_at(arena_of(k), k->goal->node->span, NULL);
  if (side[1]) {
    k->loss = k->s->stage.n + 1;
    end = scalar_stage(k, k->goal->distance ? goals_distance(k->g, k->goal) : "d", &from);
  }
  put_cap(k, put_factor(k, end));
  k->s->of = NULL;
  return true;
}

static bool lens_of_learner(Lens *k, const Diagram *d) {
  const Diagram *whole = d;
  while (k->level != LEVEL_LEARNER && d->box.n == 2 && d->box.at[1].op == OP_call &&
         d->box.at[1].callee->name == d->name)
    d = d->box.at[1].callee;
  LensWalk v = walk_new(k, d == whole ? diagram_simplify(k->g->w, d) : d);
  for (uint32_t i = 0; i < v.d->in.n; i++) {
    const Wire *x = &v.d->wire.at[v.d->in.at[i]];
    v.made[v.d->in.at[i]] = input_bundle(k, v.d, v.d->in.at[i], name_text(k->g->w->names, x->name));
  }
  Ids out = {0};
  walk_whole(&v, &out);
  for (uint32_t i = 0; i < out.n; i++) sketch_output(k->s, out.at[i]);
  return out.n > 0;
}

static Lens lens_new(Goals *g, const Training *t, const char *name, const CircuitOptions *how) {
  Lens k = {.g = g, .level = how->level, .how = how, .name = name, .weight = table_new(g->arena)};
  k.s = sketch_new(g->arena, name);
  k.s->strings = k.s->apart = true;
  k.s->room = 30;
  k.training = t;
  return k;
}

static bool lay(Lens *k) {
  goals_tint(k->g, k->s);
  goals_freeze(k->g, k->s);
  for (uint32_t i = 0; i < k->weighted.n; i++) // rates that differ are written at their optimisers
    if (k->rate && !*k->rate && k->weighted.at[i].optimiser)
      k->weighted.at[i].optimiser = k->weighted.at[i].words;
  k->l = lay_out(k->g->arena, k->s);
  return k->l != NULL;
}

typedef VEC(Lens) Lenses;

static Canvas *paint_all(Goals *g, Lenses *all) {
  double width = 0, height = 0;
  for (uint32_t i = 0; i < all->n; i++) {
    const Lens *k = &all->at[i];
    width = k->l->width > width ? k->l->width : width;
    height += k->l->height + lens_above(k) + lens_below(k);
  }
  Canvas *c = canvas_new(g->arena, width, height, "Lenses",
                         "Values go forward, changes go back; weights come from above");
  double top = 0;
  for (uint32_t i = 0; i < all->n; i++) {
    Lens *k = &all->at[i];
    layout_shift(k->l, 0, top + lens_above(k));
    paint(c, g->arena, k->l);
    lens_marks(c, k, top);
    top += k->l->height + lens_above(k) + lens_below(k);
  }
  return c;
}

// The text after `train`, in one line without comments.
static const char *train_text(const Goals *g, Span at) {
  const char *text = g->w->sources->file.at[at.file].text, *from = text + at.at, *end = from + at.n;
  Buf b = buf_new(g->arena);
  for (from += strcspn(from, " \n"); from < end; from++) {
    if (*from == '#') from += strcspn(from, "\n");
    bool space = *from == ' ' || *from == '\n';
    if (!space)
      buf_char(&b, *from);
    else if (b.n && b.at[b.n - 1] != ' ')
      buf_char(&b, ' ');
  }
  return b.n ? b.at : "";
}

// Draws the optimisers of the first `train`. If there are more gradient steps or more `train`
// statements, a legend lists them all.
static void paint_trains(const Goals *g, Canvas *c, const Training *t) {
  RowList rows = {0};
  uint32_t n = g->p->train.n;
  bool plain = t->clip == 0 && t->decay == 0 && t->accumulate <= 1 && !t->turn.n;
  if (n == 1 && plain) return;
  for (uint32_t i = 0; i < n; i++) {
    const char *number = n > 1 ? arena_format(g->arena, "train %u", i + 1) : "train";
    legend_add(g->arena, &rows, number, train_text(g, g->p->train.at[i]->span));
  }
  legend_plate(c, &rows, true, true);
}

Canvas *lens_draw(Elab *in, Arena *a, Program *p, const char *name, const CircuitOptions *how) {
  Goals g = {.in = in, .w = elab_world(in), .arena = a, .p = p};
  Training training = {0};
  Lenses all = {0};
  g.w->diags->muted++;
  bool known = p->train.n && elab_training(in, p, p->train.at[0], &training);
  g.w->diags->muted--;
  const Training *t = known ? &training : NULL;
  for (uint32_t i = 0; i < p->goal.n; i++) {
    const char *goal = name_text(g.w->names, p->goal.at[i].name);
    if (name && strcmp(name, goal) != 0) continue;
    Lens k = lens_new(&g, t, goal, how);
    k.goal = &p->goal.at[i];
    if (lens_of_goal(&k) && lay(&k)) vec_push(a, &all, k);
  }
  if (!all.n && name) {
    const Diagram *d = elab_diagram(in, p, name, NULL);
    Lens k = lens_new(&g, t, name, how);
    if (d && lens_of_learner(&k, d) && lay(&k)) vec_push(a, &all, k);
  }
  if (!all.n) return NULL;
  Canvas *c = paint_all(&g, &all);
  if (t && !how->no_legend) paint_trains(&g, c, t);
  return c;
}
