// Loads the two sides of a comparison: a program, a run, an ONNX file or a file of weights, each
// into its own handle.
#include "api/diff_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"

#include "run/runs/weights.h"

#include "core/pass/pass.h"
#include "lang/value/value.h"
#include "port/import/import.h"

#include <math.h>

enum { FILES_MOST = 64 }; // of one statement

// -- loading --------------------------------------------------------------------------------------
static DiffSideKind kind_of(const char *path) {
  if (text_ends(path, ".onnx")) return SIDE_ONNX;
  if (text_ends(path, ".safetensors")) return SIDE_WEIGHTS;
  return path_is_folder(path) ? SIDE_RUN : SIDE_PROGRAM;
}

static LimnStatus load_onnx(ApiCall *c, DiffSide *side) {
  Imported out = {0};
  const char *slash = strrchr(side->path, '/'), *file = slash ? slash + 1 : side->path;
  ImportOptions how = {.path = side->path, .weights = file, .numbers_inside = true};
  if (!import_onnx(c->scratch, c->l->diags, &how, &out)) return LIMN_WRONG;
  side->weights = out.weights;
  side->graph = arena_text(c->scratch, out.graph, strlen(out.graph));
  side->has_weights = out.weights.array.n;
  return limn_load_text(side->l, side->path, out.text, strlen(out.text));
}

// Parses "n=3 m=R[4 5]": a word without `=` continues the value before it.
static void set_as_noted(ApiCall *c, DiffSide *side) {
  char *text = arena_text(c->scratch, side->note.set, strlen(side->note.set)), *name = text;
  while (name && *name) {
    char *value = strchr(name, '='), *next = value;
    if (!value) return;
    *value++ = 0;
    do next = strchr(next + 1, ' ');
    while (next && !memchr(next + 1, '=', strcspn(next + 1, " ")));
    if (next) *next++ = 0;
    limn_set(side->l, name, value);
    name = next;
  }
}

// A file that exists but cannot be read is an error.
static bool report_unreadable(ApiCall *c, const DiffSide *side, bool read, const char *name,
                              const char *error) {
  if (read || !path_exists(arena_format(c->scratch, "%s/%s", side->path, name))) return false;
  return !diag_refuse(c->l->diags, (Span){0}, "%s", error);
}

static LimnStatus load_run(ApiCall *c, DiffSide *side) {
  const char *error = "";
  side->has_weights = folder_read_weights(c->scratch, side->path, &side->weights, &error);
  if (report_unreadable(c, side, side->has_weights, "model.safetensors", error)) return LIMN_WRONG;
  side->noted = note_read(c->scratch, side->path, &side->note, &error);
  if (report_unreadable(c, side, side->noted, "run.json", error)) return LIMN_WRONG;
  if (side->noted && side->note.set) set_as_noted(c, side);
  side->has_rows = rows_read(c->scratch, arena_format(c->scratch, "%s/metrics.csv", side->path),
                             &side->rows, &error);
  if (report_unreadable(c, side, side->has_rows, "metrics.csv", error)) return LIMN_WRONG;
  error = file_check_in(c->scratch, side->path, "program.limn");
  if (!error) return limn_load(side->l, arena_format(c->scratch, "%s/program.limn", side->path));
  return call_fail(c, LIMN_WRONG, "cannot read %s/program.limn: %s", side->path, error);
}

static LimnStatus load_weights(ApiCall *c, DiffSide *side) {
  const char *error = "";
  side->has_weights = safetensors_read(c->scratch, side->path, &side->weights, &error);
  if (side->has_weights) return LIMN_GOOD;
  return call_fail(c, LIMN_WRONG, "%s", error);
}

// The weights that its learners take from files are the weights of this side.
static LimnStatus load_program(ApiCall *c, DiffSide *side) {
  Limn *l = side->l;
  LimnStatus status = limn_load(l, side->path);
  if (status) return status;
  const Program *p = l->program;
  l->w->diags->muted++;
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Arrays found = {0};
    Diagram *d = diagram_trained(l->in, l->program, name_text(l->w->names, p->learner.at[i]->name));
    if (!d || !use_sources(l->in, l->program, d, NULL, c->scratch, &found)) continue;
    for (uint32_t k = 0; k < found.array.n; k++)
      if (!arrays_find(&side->weights, found.array.at[k].name))
        vec_push(c->scratch, &side->weights.array, found.array.at[k]);
  }
  l->w->diags->muted--;
  side->has_weights = side->weights.array.n;
  return LIMN_GOOD;
}

LimnStatus diff_load(ApiCall *c, DiffSide *side) {
  for (uint32_t i = 0; i < c->l->allowed.n; i++) limn_allow(side->l, c->l->allowed.at[i]);
  side->kind = kind_of(side->path);
  LimnStatus status = side->kind == SIDE_ONNX      ? load_onnx(c, side)
                      : side->kind == SIDE_WEIGHTS ? load_weights(c, side)
                      : side->kind == SIDE_RUN     ? load_run(c, side)
                                                   : load_program(c, side);
  if (status) move_messages(c->l, side->l);
  return status;
}

// -- contents of a side ---------------------------------------------------------------------------
// The names of the library, the built-in boxes and the scalar functions, which renaming cannot
// change.
static Table *fixed_names(ApiCall *c, Limn *l) {
  Table *out = table_new(c->scratch);
  for (uint32_t i = 0; i < table_count(l->in->library->names); i++) {
    size_t n;
    const char *key = table_key(l->in->library->names, i, &n);
    table_put(out, key, n, 1);
  }
  for (uint32_t i = 0; i < l->in->builtin.n; i++) {
    Name name = name_from(l->w->names, l->in->builtin.at[i]->name);
    table_put(out, &name, sizeof name, 1);
  }
  for (uint32_t i = FN_SIZE + 1; i < FN_COUNT; i++) {
    Name name = name_from(l->w->names, fn_rows[i].name);
    table_put(out, &name, sizeof name, 1);
  }
  return out;
}

static Table *columns(ApiCall *c, const Program *p) {
  Table *out = table_new(c->scratch);
  for (uint32_t i = 0; i < p->given.n; i++) {
    const Given *g = &p->given.at[i];
    for (uint32_t k = 0; k < g->field.n && k < g->column.n; k++)
      if (g->column.at[k]) table_put(out, &g->field.at[k]->name, sizeof(Name), g->column.at[k]);
  }
  return out;
}

DiffSource diff_source(ApiCall *c, DiffSide *side) {
  Limn *l = side->l;
  DiffSource out = {.names = l->w->names,
                    .sources = l->w->sources,
                    .fixed = fixed_names(c, l),
                    .column = columns(c, l->program)};
  for (uint32_t i = 0; i < l->in->scope.n; i++)
    if (l->in->scope.at[i]->library && l->in->scope.at[i]->tree)
      vec_push(c->scratch, &out.tree, l->in->scope.at[i]->tree);
  return out;
}

static double work_of(World *w, const Diagram *d) {
  Cost cost = diagram_cost(w, d);
  double all = 0, n;
  Size part[] = {cost.multiplications, cost.additions, cost.functions};
  for (uint32_t i = 0; i < COUNT(part); i++) all += size_number(w, part[i], &n) ? n : INFINITY;
  return all;
}

// NULL for a box with open sizes: it is compared where it is called.
static Diagram *small_diagram(DiffSide *side, const char *name, bool training) {
  Limn *l = side->l;
  l->w->diags->muted++;
  Diagram *d = training ? diagram_named(l->in, l->program, name, &(Instance){.training = true})
                        : diagram_trained(l->in, l->program, name);
  bool small = d && diagram_is_small(l->w, d);
  l->w->diags->muted--;
  return small ? d : NULL;
}

static bool has_reverse(const Diagram *d, uint8_t *seen) {
  bool any = d->reverse;
  if (seen[d->id]) return false;
  seen[d->id] = 1;
  for (uint32_t i = 1; i < d->box.n && !any; i++) {
    const Box *b = &d->box.at[i];
    const Diagram *below = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
    any = below && has_reverse(below, seen);
  }
  return any;
}

// Inlining drops the derivatives that a program writes itself: with them there is no flat form of
// training.
uint64_t diff_flat(ApiCall *c, DiffSide *side, const char *name, bool training) {
  World *w = side->l->w;
  const Diagram *d = small_diagram(side, name, training);
  if (!d || (training && has_reverse(d, NEW_ARRAY(c->scratch, uint8_t, w->diagram.n + 1))))
    return 0;
  return outline_whole(c->scratch, w, diagram_simplify(w, diagram_inline_all(w, d)), &side->names);
}

// work may be NULL
static Outline *outline_named(ApiCall *c, DiffSide *side, const char *name, bool training,
                              double *work) {
  Limn *l = side->l;
  const Diagram *small = small_diagram(side, name, training);
  if (work) *work = small ? work_of(l->w, small) : INFINITY;
  return small ? outline_of(c->scratch, l->w, name, small, &side->names) : NULL;
}

static const Goal *only_goal(const Program *p, const Syntax *node) {
  const Goal *found = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (p->goal.at[i].node == node) found = &p->goal.at[i], n++;
  return n == 1 && found->diagram ? found : NULL;
}

static const Measure *only_measure(const Program *p, const Syntax *node) {
  const Measure *found = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->measure.n; i++)
    if (p->measure.at[i].node == node) found = &p->measure.at[i], n++;
  return n == 1 && found->diagram ? found : NULL;
}

bool diff_same_fields(const DiffSide side[2], const Ids *a, const Ids *b) {
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    const Def *x = side[0].l->in->def.at[a->at[i]], *y = side[1].l->in->def.at[b->at[i]];
    bool same_place = x->given == y->given && x->field == y->field; // perhaps renamed
    if (!same_place &&
        strcmp(name_text(side[0].l->w->names, x->name), name_text(side[1].l->w->names, y->name)))
      return false;
  }
  return true;
}

static const char *name_or_none(const DiffSide *side, Name name) {
  return name ? name_text(side->l->w->names, name) : "";
}

static const char *text_or_none(const char *text) { return text ? text : ""; }

// Are the samples those of the same data?
static bool same_data(const DiffSide side[2], const OnData *a, const OnData *b) {
  return !a->node == !b->node && a->other == b->other &&
         !strcmp(name_or_none(&side[0], a->set), name_or_none(&side[1], b->set)) &&
         !strcmp(name_or_none(&side[0], a->split), name_or_none(&side[1], b->split)) &&
         !strcmp(text_or_none(a->path), text_or_none(b->path));
}

bool diff_same_measure(ApiCall *c, DiffSide side[2], const DiffThing *t) {
  const Measure *m[2];
  uint64_t whole[2];
  for (int i = 0; i < 2; i++) {
    World *w = side[i].l->w;
    m[i] = only_measure(side[i].l->program, t->node[i]);
    if (!m[i] || !diagram_is_small(w, m[i]->diagram)) return false;
    Diagram *flat = diagram_simplify(w, diagram_inline_all(w, m[i]->diagram));
    whole[i] = outline_whole(c->scratch, w, flat, &side[i].names);
  }
  return whole[0] == whole[1] && m[0]->better == m[1]->better &&
         diff_same_fields(side, &m[0]->fields, &m[1]->fields) &&
         same_data(side, &m[0]->on, &m[1]->on);
}

// Does the training form have known weight sizes, or are they only known in use?
static bool says_sizes(const Outline *training, const Outline *use) {
  bool same = training && training->weight.n == use->weight.n;
  for (uint32_t i = 0; same && i < use->weight.n; i++)
    same = !strcmp(training->weight.at[i].type, use->weight.at[i].type);
  return same;
}

DiffModel diff_model(ApiCall *c, DiffSide *side, const DiffThing *t, bool models) {
  DiffModel m = {0};
  const char *name = t->name[side->second];
  const Syntax *node = t->node[side->second];
  if (t->kind == N_GOAL) {
    m.goal = only_goal(side->l->program, node);
    m.shown = m.goal ? outline_of(c->scratch, side->l->w, name ? name : "goal", m.goal->diagram,
                                  &side->names)
                     : NULL;
    if (m.shown) m.whole[0] = m.whole[1] = m.shown->whole;
    return m;
  }
  if (t->kind != N_LEARNER && t->kind != N_BOX) return m;
  Outline *use = outline_named(c, side, name, false, &m.work);
  Outline *training = models || !use ? NULL : outline_named(c, side, name, true, NULL);
  m.shown = use && says_sizes(training, use) ? training : use;
  if (use) m.whole[0] = use->whole;
  if (training) m.whole[1] = training->whole;
  return m;
}

// -- files that a statement names -----------------------------------------------------------------
typedef struct {
  const Syntax *found[FILES_MOST];
  uint32_t n;
} FileSearch;

static bool note_file(void *context, const Syntax *n) {
  FileSearch *f = context;
  if (n->kind == N_STR && f->n < FILES_MOST) f->found[f->n++] = n;
  return false;
}

// A file next to the program, or the weights of a folder; NULL: neither, or reading it is not
// allowed.
static const char *file_named(ApiCall *c, const DiffSide *side, const Syntax *n) {
  const Sources *all = side->l->w->sources;
  const char *path = path_join(c->scratch, all->file.at[n->span.file].path, n->text);
  path = folder_weights(c->scratch, path);
  if (!path_is_file(path) || rights_refuse(c->scratch, all->rights, path)) return NULL;
  return path;
}

static bool same_bytes(ApiCall *c, const char *a, const char *b) {
  const char *x = path_real(c->scratch, a), *y = path_real(c->scratch, b);
  if (x && y && !strcmp(x, y)) return true;
  FileText one = file_bytes(c->scratch, a), two = file_bytes(c->scratch, b);
  if (!one.text || !two.text) return true; // the error is reported where the file is used
  return one.n == two.n && !memcmp(one.text, two.text, one.n);
}

const char *diff_other_file(ApiCall *c, const DiffSide side[2], const DiffThing *t) {
  FileSearch found[2] = {{.n = 0}, {.n = 0}};
  for (int i = 0; i < 2; i++) syntax_any(t->node[i], note_file, &found[i]);
  for (uint32_t i = 0; i < found[0].n && i < found[1].n; i++) {
    const char *a = file_named(c, &side[0], found[0].found[i]);
    const char *b = file_named(c, &side[1], found[1].found[i]);
    if (a && b && !same_bytes(c, a, b)) return found[0].found[i]->text;
  }
  return NULL;
}
