// Compares two models: programs, runs, ONNX files, files of weights.
#include "api/diff_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/table.h"

#include "show/diff/picture.h"

typedef struct {
  ApiCall *c;
  DiffSide side[2];
  DiffSource source[2];
  DiffAnswer answer;
  DiffPairs pairs;
  Table *used[2]; // the weights used by the things that were asked for, by path; NULL: all
} DiffWork;

// -- things ---------------------------------------------------------------------------------------
// Goals also need the same data, the same learners trained, the same factor and the same direction.
static bool same_goals(const DiffWork *d, const Goal *a, const Goal *b) {
  if (!a || !b) return !a && !b;
  if (!diff_same_fields(d->side, &a->fields, &b->fields)) return false;
  bool same =
      a->weight == b->weight && a->sign == b->sign && a->diagram->param.n == b->diagram->param.n;
  for (uint32_t i = 0; same && i < a->diagram->param.n; i++) same = a->trains[i] == b->trains[i];
  return same;
}

// Compares machines, wirings and learning diagrams by source; a picture of the difference shows
// their statements as a graph.
static bool compare_block(DiffWork *d, DiffThing *t) {
  Outline *o[2] = {NULL, NULL};
  for (int i = 0; i < 2 && t->mark != DIFF_SAME; i++)
    if (t->node[i]) o[i] = outline_of_block(d->c->scratch, &d->source[i], t->name[i], t->node[i]);
  bool both = !t->node[0] == !o[0] && !t->node[1] == !o[1];
  if (t->mark != DIFF_SAME && both) t->body = outlines_align(d->c->scratch, o[0], o[1]);
  return t->body || t->mark == DIFF_SAME || !both;
}

// Something that only one side has still gets an outline for the picture.
static bool outline_one_side(DiffWork *d, DiffThing *t) {
  if (t->kind != N_LEARNER && t->kind != N_BOX) return true;
  DiffModel m = diff_model(d->c, &d->side[t->node[0] ? 0 : 1], t, d->answer.models);
  if (!m.shown) return true;
  t->body = outlines_align(d->c->scratch, t->node[0] ? m.shown : NULL, t->node[1] ? m.shown : NULL);
  return t->body != NULL;
}

static void note_used(DiffWork *d, int side, const Outline *o) {
  const char **path = d->used[side] ? outline_paths(d->c->scratch, o) : NULL;
  for (uint32_t i = 0; path && i < o->weight.n; i++)
    table_put(d->used[side], path[i], strlen(path[i]), 1);
}

// Compares diagrams in use (k = 0) or in training (k = 1): as boxes, or with all boxes inlined.
static bool same_function(DiffWork *d, const DiffThing *t, const DiffModel *a, const DiffModel *b,
                          int k) {
  if (a->whole[k] == b->whole[k]) return true;
  if (!a->whole[k] || !b->whole[k] || t->kind == N_GOAL) return false;
  uint64_t flat = diff_flat(d->c, &d->side[0], t->name[0], k);
  return flat && flat == diff_flat(d->c, &d->side[1], t->name[1], k);
}

static bool has_changes(const DiffBody *b) {
  return b->count.of[DIFF_CHANGED] || b->count.of[DIFF_ADDED] || b->count.of[DIFF_GONE] ||
         b->count.of[DIFF_MOVED];
}

// Compares two things by their diagrams where possible, otherwise by source. False: too many boxes.
static bool compare_thing(DiffWork *d, DiffThing *t) {
  if (t->kind == N_MACHINE || t->kind == N_DIAGRAM) return compare_block(d, t);
  if (!t->node[0] || !t->node[1]) return outline_one_side(d, t);
  if (t->kind == N_MEASURE) {
    bool same = t->mark == DIFF_CHANGED && diff_same_measure(d->c, d->side, t);
    if (same) t->mark = DIFF_SAME, t->otherwise = true;
    return true;
  }
  DiffModel a = diff_model(d->c, &d->side[0], t, d->answer.models);
  DiffModel b = diff_model(d->c, &d->side[1], t, d->answer.models);
  if (!a.shown || !b.shown) return true;
  note_used(d, 0, a.shown), note_used(d, 1, b.shown);
  bool same = same_goals(d, a.goal, b.goal);
  for (int k = 0; same && k < 2; k++) same = same_function(d, t, &a, &b, k);
  t->body = outlines_align(d->c->scratch, a.shown, b.shown);
  const DiffModel *both[2] = {&a, &b};
  t->by_values = !same && d->answer.models && t->body &&
                 (t->kind == N_LEARNER || t->kind == N_BOX) &&
                 diff_values(d->c, d->side, t, both, &t->apart);
  t->boxes[0] = a.shown->box.n, t->boxes[1] = b.shown->box.n;
  same |= t->by_values;
  if (same && a.shown->whole != b.shown->whole) // the picture shows the first side's form
    t->body = outlines_align(d->c->scratch, a.shown, a.shown);
  if (!t->body) return false;
  bool paired = (t->kind == N_LEARNER || t->kind == N_BOX) && t->body->b == b.shown;
  if (paired) weights_pair(d->c->scratch, t->body, &d->pairs);
  bool written = t->mark != DIFF_SAME, learner = t->kind == N_LEARNER;
  if (same && (d->answer.models || !t->beside || t->kind == N_GOAL))
    t->mark = DIFF_SAME, t->otherwise = written && !d->answer.models;
  else if (learner || d->answer.models)
    t->mark = DIFF_CHANGED;
  else if (!written && t->kind == N_BOX && !d->side[0].l->program->learner.n)
    t->mark = same ? DIFF_SAME : DIFF_CHANGED;
  // the source of an imported model is generated: its lines say nothing
  if (d->answer.models && has_changes(t->body)) t->line.n = 0;
  return true;
}

static void look_at_files(DiffWork *d, DiffThing *t) {
  if (t->mark != DIFF_SAME || d->answer.models || !t->node[0] || !t->node[1]) return;
  const char *file = diff_other_file(d->c, d->side, t);
  if (!file) return;
  const char *text = arena_format(d->c->scratch, "%s%s%s: %s has other bytes", t->word,
                                  t->name[0] ? " " : "", t->name[0] ? t->name[0] : "", file);
  t->mark = DIFF_CHANGED, t->beside = true, t->line.n = 0;
  vec_push(d->c->scratch, &t->line, (DiffLine){0, DIFF_CHANGED, text});
}

static bool is_asked(const DiffThing *t, const char *name) {
  return !name || (t->name[0] && !strcmp(t->name[0], name)) ||
         (t->name[1] && !strcmp(t->name[1], name));
}

// Something that was asked for by name may be a box; otherwise only learners are models.
static bool is_model(const DiffWork *d, const DiffThing *t, bool asked) {
  if (asked) return t->kind == N_LEARNER || t->kind == N_BOX;
  bool learners = d->side[0].l->program->learner.n || d->side[1].l->program->learner.n;
  return t->kind == (learners ? N_LEARNER : N_BOX);
}

static LimnStatus compare_things(DiffWork *d, const LimnDiff *how) {
  ApiCall *c = d->c;
  for (int i = 0; i < 2; i++) {
    d->source[i] = diff_source(c, &d->side[i]);
    bool onnx = d->side[i].kind == SIDE_ONNX, both = onnx && d->side[!i].kind == SIDE_ONNX;
    if (onnx && !both) d->source[i].alias = how->name ? how->name : d->side[i].graph;
  }
  DiffThings all = statements_pair(c->scratch, d->source);
  for (uint32_t i = 0; i < all.n; i++) {
    const char *const *name = all.at[i].name;
    if (!name[0] || !name[1] || (all.at[i].kind != N_LEARNER && all.at[i].kind != N_STALE))
      continue;
    vec_push(c->scratch, &d->side[0].names, (OutlineName){name[0], name[0]});
    vec_push(c->scratch, &d->side[1].names, (OutlineName){name[1], name[0]});
  }
  for (uint32_t i = 0; i < all.n; i++) {
    DiffThing *t = &all.at[i];
    if (!is_asked(t, how->name) || (d->answer.models && !is_model(d, t, how->name))) continue;
    if (!compare_thing(d, t))
      return call_fail(c, LIMN_WRONG, "%s and %s have too many boxes in one body to be compared",
                       d->side[0].path, d->side[1].path);
    look_at_files(d, t);
    vec_push(c->scratch, &d->answer.thing, *t);
  }
  if (!how->name || d->answer.thing.n) return LIMN_GOOD;
  return call_fail(c, LIMN_WRONG, "neither %s nor %s has anything called `%s`", d->side[0].path,
                   d->side[1].path, how->name);
}

// -- weights and runs -----------------------------------------------------------------------------
static void keep_used(DiffWork *d, int side) {
  Arrays kept = {0}, *all = &d->side[side].weights;
  for (uint32_t i = 0; d->used[side] && i < all->array.n; i++)
    if (table_get(d->used[side], all->array.at[i].name, strlen(all->array.at[i].name)))
      vec_push(d->c->scratch, &kept.array, all->array.at[i]);
  if (d->used[side] && table_count(d->used[side])) all->array = kept.array;
}

static LimnStatus compare_weights(DiffWork *d) {
  for (int i = 0; i < 2; i++) keep_used(d, i);
  for (int i = 0; i < 2; i++) {
    const DiffSide *other = &d->side[1 - i];
    if (d->side[i].has_weights) d->answer.weights[i] = &d->side[i].weights;
    if (d->side[i].has_weights || other->kind != SIDE_WEIGHTS) continue;
    diag_error(d->c->l->diags, (Span){0}, "%s has no weights, and %s has nothing else",
               d->side[i].path, other->path);
    return LIMN_WRONG;
  }
  if (d->side[0].has_weights && d->side[1].has_weights)
    d->answer.weight =
        weights_match(d->c->scratch, &d->side[0].weights, &d->side[1].weights, &d->pairs);
  return LIMN_GOOD;
}

static void read_figure(const MetricRows *r, const char *name, int side, DiffFigure *f) {
  uint32_t column;
  if (!rows_find(r, name, &column)) return;
  for (int64_t i = r->rows; i-- > 0 && !f->known[side];)
    if (r->known.at[i * r->name.n + column])
      f->known[side] = true, f->last[side] = r->value.at[i * r->name.n + column];
}

// The other side's name for this metric.
static const char *name_there(const DiffWork *d, int from, const char *name) {
  for (uint32_t i = 0; i < d->answer.thing.n; i++) {
    const DiffThing *t = &d->answer.thing.at[i];
    bool column = t->kind == N_GOAL || t->kind == N_MEASURE;
    if (column && t->name[0] && t->name[1] && !strcmp(t->name[from], name)) return t->name[!from];
  }
  return name;
}

static void compare_metrics(DiffWork *d) {
  const MetricRows *rows[2] = {&d->side[0].rows, &d->side[1].rows};
  for (int side = 0; side < 2 && d->side[0].has_rows && d->side[1].has_rows; side++)
    for (uint32_t i = METRICS_FIXED; i < rows[side]->name.n; i++) {
      const char *own = rows[side]->name.at[i], *there = name_there(d, side, own);
      DiffFigure f = {.name = {side ? there : own, side ? own : there}};
      uint32_t column;
      if (side && rows_find(rows[0], there, &column)) continue;
      for (int k = 0; k < 2; k++) read_figure(rows[k], f.name[k], k, &f);
      vec_push(d->c->scratch, &d->answer.figure, f);
    }
}

static void add_setting_line(DiffWork *d, const char *what, const char *a, const char *b) {
  if (!strcmp(a, b)) return;
  Arena *s = d->c->scratch;
  const char *text = arena_format(s, "%s %s → %s", what, *a ? a : "nothing", *b ? b : "nothing");
  vec_push(s, &d->answer.run, (DiffLine){0, DIFF_CHANGED, text});
}

static const char *as_text(Arena *a, double x) { return arena_format(a, "%.17g", x); }

static const char *changes_text(Arena *a, const RunNote *n) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < n->change.n; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", change_text(a, &n->change.at[i]));
  return b.at;
}

// Compares the settings of two runs; for a run and a program, only the options that were set.
static void compare_settings(DiffWork *d) {
  const RunNote *a = &d->side[0].note, *b = &d->side[1].note;
  Arena *s = d->c->scratch;
  add_setting_line(d, "set", a->set ? a->set : "", b->set ? b->set : "");
  if (!d->side[0].noted || !d->side[1].noted) return;
  add_setting_line(d, "seed", as_text(s, a->seed), as_text(s, b->seed));
  add_setting_line(d, "batch", as_text(s, a->batch), as_text(s, b->batch));
  add_setting_line(d, "steps", as_text(s, a->steps), as_text(s, b->steps));
  if (a->device_is && b->device_is) // older runs do not record it
    add_setting_line(d, "device", a->device_is, b->device_is);
  add_setting_line(d, "precision", a->precision ? a->precision : "",
                   b->precision ? b->precision : "");
  add_setting_line(d, "changed", changes_text(s, a), changes_text(s, b));
}

// -- the picture ----------------------------------------------------------------------------------
static bool set_theme(const char *word, Look *look) {
  static const char *const themes[] = {"auto", "light", "dark", "mono"};
  for (uint32_t i = 0; word && i < COUNT(themes); i++)
    if (!strcmp(word, themes[i])) return look->theme = (Theme)i, true;
  return !word;
}

static LimnStatus draw_difference(DiffWork *d, const LimnDiff *how, Canvas **picture) {
  Arena *s = d->c->scratch;
  DiffRuns runs = {{NULL, NULL}};
  Look look = {0};
  const char *error = NULL;
  for (int i = 0; i < 2; i++)
    if (d->side[i].has_rows) runs.dir[i] = d->side[i].path;
  set_theme(how->theme, &look); // it was checked before
  *picture = diff_draw(s, &d->answer, &runs);
  if (!*picture || canvas_is_cut(*picture))
    return call_fail(d->c, LIMN_WRONG, "there is too much of it for one picture: see --of");
  if (how->check) return LIMN_GOOD;
  if (text_ends(how->out, ".html")) {
    Buf page = buf_new(s);
    diff_page(s, &d->answer, *picture, &page);
    error = file_write(s, how->out, page.at, page.n);
    if (!error) return LIMN_GOOD;
    return call_fail(d->c, LIMN_SYSTEM, "cannot write %s: %s", how->out, error);
  }
  if (canvas_write(*picture, how->out, &look, &error)) return LIMN_GOOD;
  Buf none = buf_new(s);
  bool known = text_ends(how->out, ".png") || canvas_file(*picture, how->out, &look, &none);
  return call_fail(d->c, known ? LIMN_SYSTEM : LIMN_USAGE, "%s", error);
}

// -- all of it ------------------------------------------------------------------------------------
static LimnStatus compare_sides(DiffWork *d, const LimnDiff *how, const char **text) {
  ApiCall *c = d->c;
  LimnStatus status = LIMN_GOOD;
  Buf out = buf_new(c->answer);
  if (!set_theme(how->theme, &(Look){0}))
    return call_fail(d->c, LIMN_USAGE, "a picture is auto, light, dark or mono");
  for (int i = 0; i < 2 && !status; i++) status = diff_load(c, &d->side[i]);
  CallFiles files = {.arena = c->scratch};
  for (int i = 0; i < 2 && !status; i++) {
    files_read_run(&files, d->side[i].path);
    if (d->side[i].l) files_read_program(&files, d->side[i].l);
  }
  files_write(&files, how->out);
  if (!status && !files_apart(c, &files)) status = LIMN_USAGE;
  if (status) return status;
  d->answer.a = d->side[0].path, d->answer.b = d->side[1].path;
  bool programs = d->side[0].kind != SIDE_WEIGHTS && d->side[1].kind != SIDE_WEIGHTS;
  d->answer.models = d->side[0].kind == SIDE_ONNX || d->side[1].kind == SIDE_ONNX;
  for (int i = 0; i < 2 && how->name; i++) d->used[i] = table_new(c->scratch);
  if (programs) status = compare_things(d, how);
  if (!status) status = compare_weights(d);
  if (status) return status;
  if (programs && !d->answer.models) compare_settings(d);
  compare_metrics(d);
  if (how->same) *how->same = diff_is_same(&d->answer);
  Canvas *picture = NULL;
  if (how->out || how->check) status = draw_difference(d, how, &picture);
  if (status) return status;
  if (how->check) {
    Faults faults = {0};
    canvas_check(c->scratch, picture, &faults);
    beginnings_check(c->scratch, picture, &faults);
    faults_print(&faults, &out);
    *text = out.at;
    return LIMN_GOOD;
  }
  if (how->json)
    diff_json(c->scratch, &d->answer, &out);
  else
    diff_text(c->scratch, &d->answer, &out);
  *text = out.at;
  return LIMN_GOOD;
}

LimnStatus limn_diff(Limn *l, const char *a, const char *b, const LimnDiff *how,
                     const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DIFF, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnDiff own;
  if (!a || !b || !text)
    return call_end(c, call_misuse(c, "limn_diff wants two paths, and a place for its answer"));
  if (!OPTIONS(c, &own, how)) return call_end(c, LIMN_USAGE);
  DiffWork d = {.c = c, .side = {{.path = a}, {.path = b, .second = true}}};
  for (int i = 0; i < 2; i++) d.side[i].l = limn_new();
  LimnStatus status = d.side[0].l && d.side[1].l ? compare_sides(&d, &own, text) : LIMN_SYSTEM;
  for (int i = 0; i < 2; i++) limn_free(d.side[i].l);
  return call_end(c, status);
}
