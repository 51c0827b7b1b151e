// Pictures of the public interface: selects the kind of picture from the name and the options,
// draws and writes it.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/table.h"

#include "lang/learning/learning.h"

#include <math.h>
#include <stdlib.h>

// -- pictures -------------------------------------------------------------------------------------
// The index of a word in `words`; 0 for NULL. False with a diagnostic.
static bool read_word(Limn *l, const char *what, const char *word, const char *const *words,
                      uint32_t n, uint32_t *out) {
  for (*out = 0; word && *out < n; ++*out)
    if (strcmp(words[*out], word) == 0) return true;
  if (!word) return true;
  Buf b = buf_new(l->world);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%s%s", i ? ", " : "", words[i]);
  diag_error(l->diags, (Span){0}, "a %s is one of %s, not %s", what, b.at, word);
  return false;
}

// Did this call report an error?
static bool is_wrong(const Limn *l) { return l->diags->errors > l->load_errors; }

// Searches the calls of a diagram and of its callees for a name; true: found. Suggests names that
// are close.
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

// Warns of names in --open or --close that match no call: they would have no effect.
static void warn_uncalled(Limn *l, const Diagram *d, const char *option, const char *const *list) {
  for (; list && *list; list++) {
    Nearest near = nearest_to(*list);
    if (find_call(l, d, *list, table_new(l->world), &near)) continue;
    Id e = diag_warning(l->diags, (Span){0}, "%s %s: nothing of this name is called here", option,
                        *list);
    diag_suggest(l->diags, e, near.best);
  }
}

// -- the subject of a picture ---------------------------------------------------------------------
typedef struct {
  Limn *l;
  const char *name; // what is drawn; NULL: the goals
  bool chosen;      // no name was given, and the machine that runs was chosen
  const LimnDraw *how;
  CircuitOptions circuit;
} PictureAsked;

// NULL: there is no such learning diagram.
static const Learning *learning_named(Limn *l, const char *name) {
  for (uint32_t i = 0; name && l->program && i < l->program->learning.n; i++)
    if (strcmp(name_text(l->w->names, l->program->learning.at[i]->name), name) == 0)
      return l->program->learning.at[i];
  return NULL;
}

static bool is_machine(Limn *l, const char *name) {
  return name && l->program && machine_known(l->in, l->program, name);
}

// NULL with a diagnostic: no such box or learner, or it is too large.
static Diagram *small_diagram(Limn *l, const char *name) {
  Diagram *d = diagram_named(l->in, l->program, name, NULL);
  return d && diagram_is_small(l->w, d) ? d : NULL;
}

// -- builders: NULL, perhaps with a diagnostic ----------------------------------------------------
static Canvas *draw_box(const PictureAsked *p) {
  Limn *l = p->l;
  Span use = {0};
  Diagram *d = diagram_named(l->in, l->program, p->name, &(Instance){.use = &use});
  if (d && use.file)
    diag_warning(l->diags, use,
                 "`%s` needs a use to be drawn: this is the picture of its first one", p->name);
  if (d) warn_uncalled(l, d, "--open", p->circuit.open);
  if (d) warn_uncalled(l, d, "--close", p->circuit.close);
  return d && diagram_is_small(l->w, d) ? circuit_draw(l->w, l->world, d, &p->circuit) : NULL;
}

static Canvas *draw_gradient(const PictureAsked *p) {
  Limn *l = p->l;
  if (!p->name) diag_error(l->diags, (Span){0}, "a gradient wants the name of a box or a learner");
  Diagram *d = p->name ? small_diagram(l, p->name) : NULL;
  if (!d) return NULL;
  Canvas *c = grad_draw(l->w, l->world, d, &p->circuit);
  if (!c) diag_error(l->diags, (Span){0}, "nothing in `%s` has a derivative", p->name);
  return c;
}

static Canvas *draw_lens(const PictureAsked *p) {
  Limn *l = p->l;
  if (p->name && !small_diagram(l, p->name)) return NULL;
  Canvas *c = lens_draw(l->in, l->world, l->program, p->name, &p->circuit);
  if (!c && !p->name) diag_error(l->diags, (Span){0}, "this program has no goals: name a learner");
  return c;
}

static Canvas *draw_goals(const PictureAsked *p) {
  Limn *l = p->l;
  Canvas *c = goals_draw(l->in, l->world, l->program, p->how->places);
  if (!c) diag_error(l->diags, (Span){0}, "this program has no goals: name a box or a learner");
  return c;
}

static Canvas *draw_who(const PictureAsked *p) {
  Limn *l = p->l;
  Canvas *c = who_draw(l->in, l->world, l->program);
  if (!c) diag_error(l->diags, (Span){0}, "no goal of this program moves a learner");
  return c;
}

static Canvas *draw_learning(const PictureAsked *p) {
  bool parts = !p->how->level || p->circuit.level != LEVEL_MODEL;
  return learning_draw(p->l->in, p->l->world, p->l->program, learning_named(p->l, p->name), parts);
}

// How many levels of parts are opened. Default: as many as stay readable; --level layer: all;
// learner: none; --open 2: two. False with a diagnostic: --open is no number of levels.
static bool depth_of(const PictureAsked *p, uint32_t *out) {
  static const uint32_t depth[] = {
      [LEVEL_MODEL] = 0, [LEVEL_LAYER] = UINT32_MAX, [LEVEL_LEARNER] = 1};
  const char *open = p->how->open ? p->how->open[0] : NULL;
  char *end = NULL;
  unsigned long levels = open ? strtoul(open, &end, 10) : 0;
  *out = open ? (uint32_t)levels : depth[p->circuit.level];
  if (!open || (!*end && levels && levels <= 64)) return true;
  diag_error(p->l->diags, (Span){0},
             "a machine is opened by levels: --open 2, from 1 to 64, not %s", open);
  return false;
}

static Canvas *draw_machine(const PictureAsked *p) {
  WiringOptions wiring = {.unfold = p->how->unfold,
                          .width = p->circuit.width,
                          .no_legend = p->circuit.no_legend,
                          .runs = p->chosen};
  if (!depth_of(p, &wiring.depth)) return NULL;
  return machine_draw(p->l->in, p->l->world, p->l->program, p->name, &wiring);
}

static Canvas *draw_unfolded(const PictureAsked *p) {
  Limn *l = p->l;
  if (!is_machine(l, p->name)) {
    diag_error(l->diags, (Span){0}, "unfolding wants the name of a wiring");
    return NULL;
  }
  Canvas *c = draw_machine(p);
  if (!c && !is_wrong(l))
    diag_error(l->diags, (Span){0},
               "`%s` cannot be unfolded: that wants a wiring whose parts hear each other in "
               "layers, with outputs from the last layer",
               p->name);
  return c;
}

// A picture of a program with errors: what can be drawn, with the missing parts reported. NULL:
// nothing.
static Canvas *draw_broken(const PictureAsked *p) {
  Limn *l = p->l;
  if (!l->program) return NULL;
  const Learning *g = learning_named(l, p->name);
  if (g) return learning_draw(l->in, l->world, l->program, g, true);
  bool goal = !p->name;
  for (uint32_t i = 0; i < l->program->goal.n && p->name; i++)
    goal |= strcmp(name_text(l->w->names, l->program->goal.at[i].name), p->name) == 0;
  Canvas *c = goal ? goals_draw(l->in, l->world, l->program, p->circuit.places) : NULL;
  if (c) return c;
  PictureAsked first = *p;
  if (!p->name) first.name = elab_first_broken(l->in, l->program);
  if (!first.name) return NULL;
  PartialDiagram *k = elab_broken(l->in, l->program, first.name);
  if (!k) return draw_box(&first);
  return diagram_is_small(l->w, k->diagram) ? broken_draw(l->w, l->world, k, &p->circuit) : NULL;
}

// -- kinds of pictures ----------------------------------------------------------------------------
// Options that only some kinds of pictures support
enum { TAKES_OPEN = 1, TAKES_CLOSE = 2, TAKES_LEVEL = 4, TAKES_LEGEND = 8, TAKES_NOTES = 16 };

typedef enum {
  PICTURE_BOX,
  PICTURE_GRADIENT,
  PICTURE_LENS,
  PICTURE_GOALS,
  PICTURE_WHO,
  PICTURE_LEARNING,
  PICTURE_MACHINE,
  PICTURE_UNFOLDED,
} PictureKind;

static const struct {
  const char *of; // what it shows, for messages
  Canvas *(*draw)(const PictureAsked *);
  unsigned takes; // supported options
  bool ignores;   // --level is ignored: editors keep their level when the kind of picture changes
  bool rows;      // wide pictures are broken into rows; otherwise they are scaled down
} kinds[] = {
    [PICTURE_BOX] = {.of = "a box",
                     .draw = draw_box,
                     .takes = TAKES_OPEN | TAKES_CLOSE | TAKES_LEVEL | TAKES_LEGEND | TAKES_NOTES,
                     .rows = true},
    [PICTURE_GRADIENT] = {.of = "a derivative",
                          .draw = draw_gradient,
                          .takes = TAKES_OPEN | TAKES_CLOSE | TAKES_LEVEL,
                          .rows = true},
    [PICTURE_LENS] = {.of = "lenses",
                      .draw = draw_lens,
                      .takes = TAKES_OPEN | TAKES_CLOSE | TAKES_LEVEL | TAKES_LEGEND},
    [PICTURE_GOALS] = {.of = "goals", .draw = draw_goals, .ignores = true},
    [PICTURE_WHO] = {.of = "who trains whom", .draw = draw_who},
    [PICTURE_LEARNING] = {.of = "a learning diagram", .draw = draw_learning, .takes = TAKES_LEVEL},
    [PICTURE_MACHINE] = {.of = "a machine",
                         .draw = draw_machine,
                         .takes = TAKES_OPEN | TAKES_LEVEL | TAKES_LEGEND},
    [PICTURE_UNFOLDED] = {.of = "an unfolded wiring",
                          .draw = draw_unfolded,
                          .takes = TAKES_LEGEND,
                          .ignores = true},
};

// An option selects the kind, otherwise the name does. Without a name: the goals, and without goals
// the machine that runs.
static PictureKind picture_kind(PictureAsked *p) {
  Limn *l = p->l;
  const LimnDraw *how = p->how;
  if (how->who) return PICTURE_WHO;
  if (how->lens) return PICTURE_LENS;
  if (how->grad) return PICTURE_GRADIENT;
  if (!p->name && !l->load_errors && (how->unfold || !l->program->goal.n))
    p->chosen = true, p->name = machine_last(l->w, l->program);
  if (how->unfold) return PICTURE_UNFOLDED;
  if (learning_named(l, p->name)) return PICTURE_LEARNING;
  if (is_machine(l, p->name)) return PICTURE_MACHINE;
  return p->name ? PICTURE_BOX : PICTURE_GOALS;
}

static bool has_names(const char *const *list) { return list && *list; }

// At most one of these options may be given; two are refused.
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

// Refuses options that have no effect on this kind.
static bool options_fit(const PictureAsked *p, PictureKind kind) {
  const LimnDraw *how = p->how;
  const struct {
    const char *option;
    bool given;
    unsigned bit;
  } all[] = {{"--open", has_names(how->open), TAKES_OPEN},
             {"--close", has_names(how->close), TAKES_CLOSE},
             {"--level", how->level, TAKES_LEVEL},
             {"--no-legend", how->no_legend, TAKES_LEGEND},
             {"--notes", how->notes, TAKES_NOTES}};
  unsigned takes = kinds[kind].takes;
  if (kinds[kind].ignores && how->places) takes |= TAKES_LEVEL;
  if (!one_view(p->l, how)) return false;
  for (uint32_t i = 0; i < COUNT(all) && !p->l->load_errors; i++) {
    if (!all[i].given || all[i].bit & takes) continue;
    diag_error(p->l->diags, (Span){0}, "%s means nothing for a picture of %s", all[i].option,
               kinds[kind].of);
    return false;
  }
  return true;
}

// The complete picture, or NULL with a diagnostic.
static Canvas *draw(const PictureAsked *p, PictureKind kind) {
  Limn *l = p->l;
  bool broken = l->load_errors > 0;
  Canvas *c = broken ? draw_broken(p) : kinds[kind].draw(p);
  if (!c && !broken && !is_wrong(l)) diag_error(l->diags, (Span){0}, "this cannot be laid out");
  if (!broken && is_wrong(l)) return NULL;
  if (!c || !canvas_is_cut(c)) return c;
  diag_error(l->diags, (Span){0},
             "this picture would be more than 100 000 units wide or high: draw a part of it, or "
             "a lower --level, and in rows");
  return NULL;
}

typedef struct {
  LimnDraw how;
  PictureAsked asked;
  PictureKind kind;
  Look look;
  Canvas *canvas;
  double fit; // the maximal width if it has no rows; 0: unlimited
  Buf text;   // the answer
} AskedPicture;

// The width of a row in units; negative: one row; 0: the default. In print a unit is half a point,
// so labels are 7 points high.
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

// Reads the options of appearance. False with a diagnostic: an option is invalid.
static bool read_look(Limn *l, const LimnDraw *how, Look *look, CircuitOptions *circuit) {
  static const char *const levels[] = {"model", "layer", "learner"};
  static const char *const themes[] = {"auto", "light", "dark", "mono"};
  uint32_t level, theme;
  double width;
  if (!read_word(l, "level", how->level, levels, COUNT(levels), &level) ||
      !read_word(l, "theme", how->theme, themes, COUNT(themes), &theme) ||
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

// Draws the picture that was asked for; otherwise returns the reason.
static LimnStatus draw_asked(ApiCall *c, const char *name, const LimnDraw *how, const void *to,
                             AskedPicture *out) {
  *out = (AskedPicture){.text = buf_new(c->slot ? c->answer : c->scratch)};
  if (!to) return call_misuse(c, "there is no place for the picture");
  if (!OPTIONS(c, &out->how, how)) return LIMN_USAGE;
  out->asked = (PictureAsked){.l = c->l, .name = name, .how = &out->how};
  if (!read_look(c->l, &out->how, &out->look, &out->asked.circuit)) return LIMN_USAGE;
  out->kind = picture_kind(&out->asked);
  if (!options_fit(&out->asked, out->kind)) return LIMN_USAGE;
  out->canvas = draw(&out->asked, out->kind);
  double width = out->asked.circuit.width;
  if (!kinds[out->kind].rows && width > 0) out->fit = width;
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
  CallFiles files = files_of(c);
  files_write(&files, out);
  if (!files_apart(c, &files)) return LIMN_USAGE;
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

// Checks the layout of a box's circuit against its diagram too.
static void check_circuit(const AskedPicture *d, Faults *faults) {
  Limn *l = d->asked.l;
  bool box = d->kind == PICTURE_BOX && !l->load_errors;
  Instance use = {.use = &(Span){0}};
  Diagram *of = box ? diagram_named(l->in, l->program, d->asked.name, &use) : NULL;
  bool strings = d->asked.circuit.level == LEVEL_LEARNER;
  if (of) circuit_check(l->w, l->world, of, strings, d->canvas, faults);
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
  if (d.kind != PICTURE_LENS) beginnings_check(l->world, d.canvas, &faults);
  check_circuit(&d, &faults);
  faults_print(&faults, &d.text);
  *text = d.text.at;
  return call_end(c, LIMN_GOOD);
}
