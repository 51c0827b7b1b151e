// Pictures behind the public interface: which picture a name and its options ask for, and where it
// goes.
#include "api/api_own.h"

#include "lang/learning/learning.h"

#include <math.h>
#include <stdlib.h>

// -- pictures -------------------------------------------------------------------------------------
// Which of these words; 0 for NULL. False with a diagnostic.
static bool word_of(Limn *l, const char *what, const char *word, const char *const *words,
                    uint32_t n, uint32_t *out) {
  for (*out = 0; word && *out < n; ++*out)
    if (strcmp(words[*out], word) == 0) return true;
  if (!word) return true;
  Buf b = buf_new(l->world);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%s%s", i ? ", " : "", words[i]);
  diag_error(l->diags, (Span){0}, "a %s is one of %s, not %s", what, b.at, word);
  return false;
}

// Something went wrong in this call.
static bool is_wrong(const Limn *l) { return l->diags->errors > l->load_errors; }

// Tries the names of all calls in a diagram, and in what it calls; true: one is called so.
static bool find_call(Limn *l, const Diagram *d, const char *name, Table *seen, Nearest *near) {
  if (table_get(seen, &d, sizeof d)) return false;
  table_put(seen, &d, sizeof d, 1);
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    const Diagram *inner = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
    const char *own = b->op == OP_call ? name_text(l->w->names, inner->name) : NULL;
    if (own && strcmp(own, name) == 0) return true;
    if (own) nearest_try(near, own);
    if (inner && find_call(l, inner, name, seen, near)) return true;
  }
  return false;
}

// Names that --open or --close cannot mean: they would be passed over in silence.
static void warn_uncalled(Limn *l, const Diagram *d, const char *option, const char *const *list) {
  for (; list && *list; list++) {
    Nearest near = nearest_to(*list);
    if (find_call(l, d, *list, table_new(l->world), &near)) continue;
    Id e = diag_warning(l->diags, (Span){0}, "%s %s: nothing of this name is called here", option,
                        *list);
    diag_suggest(l->diags, e, near.best);
  }
}

static Canvas *draw_box(Limn *l, const char *name, const CircuitOptions *how) {
  Span use = {0};
  Diagram *d = diagram_named(l->in, l->program, name, &(Instance){.use = &use});
  if (d && use.file)
    diag_warning(l->diags, use,
                 "`%s` needs a use to be drawn: this is the picture of its first one", name);
  if (d) warn_uncalled(l, d, "--open", how->open), warn_uncalled(l, d, "--close", how->close);
  return d && diagram_is_small(l->w, d) ? circuit_draw(l->w, l->world, d, how) : NULL;
}

// NULL: there is none of that name.
static const Learning *learning_named(Limn *l, const char *name) {
  for (uint32_t i = 0; name && l->program && i < l->program->learning.n; i++)
    if (strcmp(name_text(l->w->names, l->program->learning.at[i]->name), name) == 0)
      return l->program->learning.at[i];
  return NULL;
}

static Canvas *draw_goals(Limn *l, bool places) {
  Canvas *c = goals_draw(l->in, l->world, l->program, places);
  if (!c) diag_error(l->diags, (Span){0}, "this program has no goals: name a box or a learner");
  return c;
}

static bool is_machine(Limn *l, const char *name) {
  return name && l->program && machine_known(l->in, l->program, name);
}

// What is drawn when no name is given and there are no goals: what runs.
static const char *name_or_machine(Limn *l, const char *name, const LimnDraw *how) {
  if (how->unfold && !name) return machine_last(l->w, l->program);
  bool other = name || how->lens || how->grad || how->who;
  return other || l->program->goal.n ? name : machine_last(l->w, l->program);
}

// How deep parts are opened: as many as can be read; --level layer: all, learner: none; --open 2.
static Canvas *draw_machine(Limn *l, const char *name, bool runs, const LimnDraw *how,
                            const CircuitOptions *circuit) {
  static const uint32_t depth[] = {0, UINT32_MAX, 1};
  WiringOptions wiring = {.depth = depth[circuit->level],
                          .unfold = how->unfold,
                          .width = circuit->width,
                          .no_legend = circuit->no_legend,
                          .runs = runs};
  const char *open = how->open ? how->open[0] : NULL;
  char *end = NULL;
  unsigned long levels = open ? strtoul(open, &end, 10) : 0;
  if (open && (*end || !levels || levels > 64)) {
    diag_error(l->diags, (Span){0}, "a machine is opened by levels: --open 2, from 1 to 64, not %s",
               open);
    return NULL;
  }
  if (open) wiring.depth = (uint32_t)levels;
  Canvas *c = machine_draw(l->in, l->world, l->program, name, &wiring);
  if (!c && how->unfold && !is_wrong(l))
    diag_error(l->diags, (Span){0},
               "`%s` cannot be unfolded: that wants a wiring whose parts hear each other in "
               "layers, with outputs from the last layer",
               name);
  return c;
}

// The width of a row in units; negative: one row; 0: the default. A unit is half a point in print,
// so that labels are 7 points high.
static bool width_of(Limn *l, const char *text, double *out) {
  const char *end = NULL;
  *out = 0;
  if (!text) return true;
  double x = number_read(text, &end);
  bool mm = strcmp(end, "mm") == 0, good = end != text && (!*end || mm) && x >= 0 && x <= 100000;
  if (mm) x *= 2 * 72.27 / 25.4;
  if (!good || (x > 0 && x < 100)) {
    diag_error(l->diags, (Span){0},
               "a width is a number of units, at least 100, or of millimetres (86mm), or 0 for one "
               "row, not %s",
               text);
    return false;
  }
  *out = x > 0 ? x : -1;
  return true;
}

static Canvas *draw_who(Limn *l) {
  Canvas *c = who_draw(l->in, l->world, l->program);
  if (!c) diag_error(l->diags, (Span){0}, "no goal of this program moves a learner");
  return c;
}

static Canvas *draw_lens(Limn *l, const char *name, const CircuitOptions *how) {
  Diagram *d = name ? diagram_named(l->in, l->program, name, NULL) : NULL;
  if (name && (!d || !diagram_is_small(l->w, d))) return NULL;
  Canvas *c = lens_draw(l->in, l->world, l->program, name, how);
  if (!c && !name) diag_error(l->diags, (Span){0}, "this program has no goals: name a learner");
  return c;
}

static Canvas *draw_grad(Limn *l, const char *name, const CircuitOptions *how) {
  if (!name) diag_error(l->diags, (Span){0}, "a gradient wants the name of a box or a learner");
  Diagram *d = name ? diagram_named(l->in, l->program, name, NULL) : NULL;
  if (!d || !diagram_is_small(l->w, d)) return NULL;
  Canvas *c = grad_draw(l->w, l->world, d, how);
  if (!c) diag_error(l->diags, (Span){0}, "nothing in `%s` has a derivative", name);
  return c;
}

// Of a program with errors: what can be shown. NULL: nothing, and what is missing was said.
static Canvas *draw_broken(Limn *l, const char *name, const CircuitOptions *how) {
  if (!l->program) return NULL;
  const Learning *g = learning_named(l, name);
  if (g) return learning_draw(l->in, l->world, l->program, g, true);
  bool goal = !name;
  for (uint32_t i = 0; i < l->program->goal.n && name; i++)
    goal |= strcmp(name_text(l->w->names, l->program->goal.at[i].name), name) == 0;
  Canvas *c = goal ? goals_draw(l->in, l->world, l->program, how->places) : NULL;
  if (c) return c;
  if (!name) name = elab_first_broken(l->in, l->program);
  if (!name) return NULL;
  PartialDiagram *k = elab_broken(l->in, l->program, name);
  if (k) return diagram_is_small(l->w, k->diagram) ? broken_draw(l->w, l->world, k, how) : NULL;
  return draw_box(l, name, how);
}

// False with a diagnostic: an option that is not one.
static bool take_look(Limn *l, const LimnDraw *how, Look *look, CircuitOptions *circuit) {
  static const char *const levels[] = {"model", "layer", "learner"};
  static const char *const themes[] = {"auto", "light", "dark", "mono"};
  uint32_t level, theme;
  double width;
  if (!word_of(l, "level", how->level, levels, COUNT(levels), &level) ||
      !word_of(l, "theme", how->theme, themes, COUNT(themes), &theme) ||
      !width_of(l, how->width, &width))
    return false;
  look->theme = (Theme)theme;
  look->ascii = how->ascii;
  if (how->places && l->program) look->places = l->w->sources, look->file = l->program->scope->file;
  *circuit = (CircuitOptions){.level = (Level)level,
                              .open = how->open,
                              .close = how->close,
                              .no_legend = how->no_legend,
                              .notes = how->notes,
                              .places = how->places ? l->in : NULL,
                              .width = width};
  return true;
}

// What a picture is of decides which options mean anything.
typedef enum {
  PICTURE_BOX,  // a circuit, broken into rows
  PICTURE_GRAD, // as well
  PICTURE_LENS, // these have no rows: they are made smaller
  PICTURE_GOALS,
  PICTURE_WHO,
  PICTURE_GRAPH,
  PICTURE_MACHINE,
  PICTURE_UNFOLDED,
} PictureKind;

static PictureKind picture_kind(Limn *l, const char *name, const LimnDraw *how) {
  if (how->who) return PICTURE_WHO;
  if (how->lens) return PICTURE_LENS;
  if (how->grad) return PICTURE_GRAD;
  if (learning_named(l, name)) return PICTURE_GRAPH;
  name = l->load_errors ? name : name_or_machine(l, name, how);
  if (is_machine(l, name)) return how->unfold ? PICTURE_UNFOLDED : PICTURE_MACHINE;
  return name ? PICTURE_BOX : PICTURE_GOALS;
}

static bool has_names(const char *const *list) { return list && *list; }

// The one of these that is given; two exclude each other, and are refused.
static bool one_view(Limn *l, const LimnDraw *how) {
  const struct {
    const char *option;
    bool given;
  } view[] = {
      {"--lens", how->lens}, {"--grad", how->grad}, {"--who", how->who}, {"--unfold", how->unfold}};
  const char *first = NULL;
  for (uint32_t i = 0; i < COUNT(view); i++) {
    if (view[i].given && first)
      diag_error(l->diags, (Span){0}, "either %s or %s is wanted, not both", first, view[i].option);
    if (view[i].given && first) return false;
    if (view[i].given) first = view[i].option;
  }
  return true;
}

// An option that cannot mean anything is not passed over. An editor keeps its level from one picture
// to the next.
static bool options_fit(Limn *l, PictureKind kind, const LimnDraw *how) {
  enum {
    BOX = 1 << PICTURE_BOX,
    GRAD = 1 << PICTURE_GRAD,
    LENS = 1 << PICTURE_LENS,
    GOALS = 1 << PICTURE_GOALS,
    GRAPH = 1 << PICTURE_GRAPH,
    MACHINE = 1 << PICTURE_MACHINE,
    UNFOLDED = 1 << PICTURE_UNFOLDED
  };
  static const char *const of[] = {
      [PICTURE_BOX] = "a box",           [PICTURE_GRAD] = "a derivative",
      [PICTURE_LENS] = "lenses",         [PICTURE_GOALS] = "goals",
      [PICTURE_WHO] = "who trains whom", [PICTURE_GRAPH] = "a learning diagram",
      [PICTURE_MACHINE] = "a machine",   [PICTURE_UNFOLDED] = "an unfolded wiring"};
  const struct {
    const char *option;
    bool given;
    unsigned kinds;
  } all[] = {{"--open", has_names(how->open), BOX | GRAD | LENS | MACHINE},
             {"--close", has_names(how->close), BOX | GRAD | LENS},
             {"--level", how->level,
              BOX | GRAD | LENS | GRAPH | MACHINE | (how->places ? GOALS | UNFOLDED : 0)},
             {"--no-legend", how->no_legend, BOX | LENS | MACHINE | UNFOLDED},
             {"--notes", how->notes, BOX}};
  if (!one_view(l, how)) return false;
  for (uint32_t i = 0; i < COUNT(all) && !l->load_errors; i++) {
    if (!all[i].given || all[i].kinds >> kind & 1) continue;
    diag_error(l->diags, (Span){0}, "%s means nothing for a picture of %s", all[i].option,
               of[kind]);
    return false;
  }
  return true;
}

// NULL with a diagnostic.
static Canvas *draw_any(Limn *l, const char *name, const LimnDraw *how,
                        const CircuitOptions *circuit) {
  Level level = circuit->level;
  if (l->load_errors) return draw_broken(l, name, circuit);
  bool named = name != NULL;
  name = name_or_machine(l, name, how);
  bool machine = is_machine(l, name);
  if (how->unfold && !machine) {
    diag_error(l->diags, (Span){0}, "unfolding wants the name of a wiring");
    return NULL;
  }
  const Learning *g = learning_named(l, name);
  Canvas *c = how->who                        ? draw_who(l)
              : g && !how->lens && !how->grad ? learning_draw(l->in, l->world, l->program, g,
                                                              !how->level || level != LEVEL_MODEL)
              : how->lens                     ? draw_lens(l, name, circuit)
              : how->grad                     ? draw_grad(l, name, circuit)
              : machine                       ? draw_machine(l, name, !named, how, circuit)
              : name                          ? draw_box(l, name, circuit)
                                              : draw_goals(l, how->places);
  if (!c && !is_wrong(l)) diag_error(l->diags, (Span){0}, "this cannot be laid out");
  return is_wrong(l) ? NULL : c;
}

// A picture is whole, or there is none.
static Canvas *draw(Limn *l, const char *name, const LimnDraw *how, const CircuitOptions *circuit) {
  Canvas *c = draw_any(l, name, how, circuit);
  if (!c || !canvas_is_cut(c)) return c;
  diag_error(l->diags, (Span){0},
             "this picture would be more than 100 000 units wide or high: draw a part of it, or "
             "a lower --level, and in rows");
  return NULL;
}

typedef struct {
  LimnDraw how;
  Look look;
  Canvas *canvas;
  double fit; // it has no rows, and is so wide at most; 0: as wide as it is
  Buf text;   // of the answer
} AskedPicture;

// The picture that is asked for, or a status that is not LIMN_GOOD.
static LimnStatus draw_asked(ApiCall *c, const char *name, const LimnDraw *how, const void *to,
                             AskedPicture *out) {
  *out = (AskedPicture){.text = buf_new(c->slot ? c->answer : c->scratch)};
  if (!to) return call_misuse(c, "there is no place for the picture");
  CircuitOptions circuit;
  if (!OPTIONS(c, &out->how, how) || !take_look(c->l, &out->how, &out->look, &circuit))
    return LIMN_USAGE;
  PictureKind kind = c->l->program ? picture_kind(c->l, name, &out->how) : PICTURE_BOX;
  if (!options_fit(c->l, kind, &out->how)) return LIMN_USAGE;
  out->canvas = draw(c->l, name, &out->how, &circuit);
  if (kind != PICTURE_BOX && kind != PICTURE_GRAD && circuit.width > 0) out->fit = circuit.width;
  return out->canvas ? LIMN_GOOD : LIMN_WRONG;
}

static LimnStatus draw_file(ApiCall *c, const char *name, const LimnDraw *how) {
  const char *error = "";
  AskedPicture d;
  LimnStatus status = draw_asked(c, name, how, how, &d);
  const char *out = d.how.out;
  d.look.ascii = false;
  if (status) return status;
  if (d.fit > 0) canvas_fit(d.canvas, d.fit);
  if (!out) return call_misuse(c, "limn_draw wants a file: out");
  if (!out_take(c, c->l, out)) return LIMN_USAGE;
  if (canvas_write(d.canvas, out, &d.look, &error)) return LIMN_GOOD;
  diag_error(c->l->diags, (Span){0}, "%s", error);
  bool known = text_ends(out, ".png") || canvas_file(d.canvas, out, &d.look, &d.text);
  return known ? LIMN_SYSTEM : LIMN_USAGE;
}

LimnStatus limn_draw(Limn *l, const char *name, const LimnDraw *how) {
  ENTER(c, l, ANSWER_NONE, NEEDS_TEXT, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, draw_file(c, name, how));
}

LimnStatus limn_draw_text(Limn *l, const char *name, const LimnDraw *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DRAW_TEXT, NEEDS_TEXT, LIMN_USAGE, LIMN_SYSTEM);
  AskedPicture d;
  LimnStatus status = draw_asked(c, name, how, text, &d);
  if (text) *text = NULL;
  if (status) return call_end(c, status);
  if (d.fit > 0 && d.fit < canvas_width(d.canvas)) {
    diag_error(l->diags, (Span){0},
               "as text, only boxes and learners have rows: leave --width out");
    return call_end(c, LIMN_USAGE);
  }
  canvas_art(d.canvas, &d.look, &d.text);
  *text = d.text.at;
  return call_end(c, LIMN_GOOD);
}

LimnStatus limn_draw_bytes(Limn *l, const char *name, const LimnDraw *how, const char **bytes,
                           size_t *n) {
  if (bytes) *bytes = NULL;
  if (n) *n = 0;
  ENTER(c, l, ANSWER_DRAW_BYTES, NEEDS_TEXT, LIMN_USAGE, LIMN_SYSTEM);
  AskedPicture d;
  LimnStatus status = draw_asked(c, name, how, n ? bytes : NULL, &d);
  if (bytes) *bytes = NULL;
  if (n) *n = 0;
  if (status) return call_end(c, status);
  if (d.fit > 0) canvas_fit(d.canvas, d.fit);
  if (!d.how.out || !canvas_file(d.canvas, d.how.out, &d.look, &d.text))
    return call_end(c,
                    call_misuse(c, "limn_draw_bytes wants `out` to end in svg, pdf, tex or txt"));
  *bytes = d.text.at, *n = d.text.n;
  return call_end(c, LIMN_GOOD);
}

// Of a box, the circuit is compared with its diagram too.
static void check_circuit(Limn *l, const char *name, const LimnDraw *how, Canvas *canvas,
                          Faults *faults) {
  bool box = name && !l->load_errors && !how->grad && !how->lens && !how->who &&
             !learning_named(l, name) && !is_machine(l, name);
  Diagram *d = box ? diagram_named(l->in, l->program, name, &(Instance){.use = &(Span){0}}) : NULL;
  bool strings = how->level && strcmp(how->level, "learner") == 0;
  if (d) circuit_check(l->w, l->world, d, strings, canvas, faults);
}

LimnStatus limn_draw_check(Limn *l, const char *name, const LimnDraw *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DRAW_CHECK, NEEDS_TEXT, LIMN_USAGE, LIMN_SYSTEM);
  Faults faults = {0};
  AskedPicture d;
  LimnStatus status = draw_asked(c, name, how, text, &d);
  if (text) *text = NULL;
  if (status) return call_end(c, status);
  if (d.fit > 0) canvas_fit(d.canvas, d.fit);
  canvas_check(l->world, d.canvas, &faults);
  if (!d.how.lens) beginnings_check(l->world, d.canvas, &faults);
  check_circuit(l, name, &d.how, d.canvas, &faults);
  faults_print(&faults, &d.text);
  *text = d.text.at;
  return call_end(c, LIMN_GOOD);
}
