// The pipeline behind the public interface: text → program → diagram → pass → text, and the
// reference interpreter with arrays from files.
#include "api/api_own.h"
#include "core/pass/pass.h"

#include "lang/learning/learning.h"

#include <math.h>
#include <stdlib.h>

const char *limn_version(void) { return LIMN_VERSION; }

static bool limn_start(Limn *l) {
  GUARDED(l, false);
  l->w = world_new(l->arena);
  l->in = elab_new(l->w);
  return true;
}

Limn *limn_new(void) {
  Limn *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->arena = arena_new();
  if (l->arena && limn_start(l)) return l;
  limn_free(l);
  return NULL;
}

void limn_free(Limn *l) {
  if (!l) return;
  arena_free(l->arena);
  free(l);
}

void limn_set(Limn *l, const char *name, const char *value) { elab_set(l->in, name, value); }
uint32_t limn_errors(const Limn *l) { return l->w->diags->errors; }

LimnStatus limn_load_text(Limn *l, const char *name, const char *text, size_t n) {
  GUARDED(l, LIMN_MACHINE);
  if (n > TEXT_LIMIT) {
    diag_error(l->w->diags, (Span){0}, "cannot read %s: it is larger than %d bytes", name,
               TEXT_LIMIT);
    return LIMN_WRONG;
  }
  l->program = elab_program(l->in, name, text, n);
  diags_sort(l->w->diags);
  return limn_errors(l) ? LIMN_WRONG : LIMN_GOOD;
}

LimnStatus limn_load(Limn *l, const char *path) {
  GUARDED(l, LIMN_MACHINE);
  FileText f = file_read(l->arena, path, TEXT_LIMIT);
  if (!f.text) {
    diag_error(l->w->diags, (Span){0}, "cannot read %s: %s", path, f.error);
    return LIMN_WRONG;
  }
  return limn_load_text(l, path, f.text, f.n);
}

void limn_forget(Limn *l) {
  l->w->diags->list.n = 1; // 0 is not an entry
  l->w->diags->errors = l->w->diags->unsaid = 0;
}

const char *limn_messages(Limn *l, bool json) {
  GUARDED(l, "");
  Buf b = buf_new(l->arena);
  diags_sort(l->w->diags);
  if (json)
    diags_json(l->w->diags, &b);
  else
    diags_print(l->w->diags, &b);
  return b.at;
}

// -- what is in a program -------------------------------------------------------------------------
static void count_line(Buf *b, uint32_t n, const char *one, const char *many, bool *any) {
  if (!n) return;
  buf_printf(b, "%s%u %s", *any ? ", " : "", n, n == 1 ? one : many);
  *any = true;
}

static uint64_t weights_of(World *w, const Program *p) {
  uint64_t n = 0;
  Table *seen = table_new(w->arena);
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const Diagram *d = p->goal.at[g].diagram;
    for (uint32_t i = 0; d && i < d->param.n; i++) {
      const Param *q = &d->param.at[i];
      int64_t count;
      if (q->role != ROLE_WEIGHT || table_get(seen, q->path, strlen(q->path)) ||
          !type_count(w, &d->wire.at[q->wire].type, &count))
        continue;
      table_put(seen, q->path, strlen(q->path), 1);
      n += (uint64_t)count;
    }
  }
  return n;
}

const char *limn_summary(Limn *l, bool json) {
  GUARDED(l, "");
  const Program *p = l->program;
  Buf b = buf_new(l->arena);
  uint64_t weights = weights_of(l->w, p);
  if (json) {
    JsonOut j = json_out(&b);
    json_object(&j, NULL);
    json_number(&j, "boxes", p->box.n);
    json_number(&j, "learners", p->learner.n);
    json_number(&j, "goals", p->goal.n);
    json_number(&j, "measures", p->measure.n);
    json_number(&j, "weights", (double)weights);
    json_end(&j);
    return b.at;
  }
  bool any = false;
  count_line(&b, p->box.n, "box", "boxes", &any);
  count_line(&b, p->learner.n, "learner", "learners", &any);
  count_line(&b, p->learning.n, "learning diagram", "learning diagrams", &any);
  count_line(&b, p->machines, "machine", "machines", &any);
  count_line(&b, p->goal.n, "goal", "goals", &any);
  count_line(&b, p->measure.n, "measure", "measures", &any);
  if (weights) buf_printf(&b, "%s%llu weights", any ? ", " : "", (unsigned long long)weights);
  if (!any) buf_text(&b, "nothing declared");
  buf_char(&b, '\n');
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->fallback)
      buf_printf(&b, "  %s has no body; in its place: %s\n",
                 name_text(l->w->names, p->learner.at[i]->name), p->learner.at[i]->fallback);
  return b.at;
}

const char *limn_who(Limn *l, bool json) {
  GUARDED(l, "");
  Buf b = buf_new(l->arena);
  if (json)
    learn_who_json(l->in, l->program, &b);
  else
    learn_who(l->in, l->program, &b);
  return b.at;
}

const char *limn_paths(Limn *l, const char *name, bool json) {
  GUARDED(l, NULL);
  const Program *p = l->program;
  const Learning *only = NULL;
  Nearest near = nearest_to(name ? name : "");
  for (uint32_t i = 0; name && i < p->learning.n; i++) {
    const char *own = name_text(l->w->names, p->learning.at[i]->name);
    nearest_try(&near, own);
    if (strcmp(own, name) == 0) only = p->learning.at[i];
  }
  if (name && !only) {
    Id e = diag_error(l->w->diags, (Span){0}, "there is no learning diagram `%s` in this program",
                      name);
    diag_suggest(l->w->diags, e, near.best);
    return NULL;
  }
  Buf b = buf_new(l->arena);
  if (json)
    elab_paths_json(l->in, p, only, &b);
  else
    elab_paths(l->in, p, only, &b);
  return b.at;
}

const char *limn_find(Limn *l, const char *pattern, bool json) {
  GUARDED(l, NULL);
  Buf b = buf_new(l->arena);
  return elab_find(l->in, l->program, pattern, json, &b) ? b.at : NULL;
}

const char *limn_format(Limn *l, const char *path, const char *text, size_t n) {
  GUARDED(l, NULL);
  World *w = l->w;
  Front front = {w->arena, w->names, w->diags, w->sources};
  uint32_t file = source_add(w->sources, path, text, n), errors = w->diags->errors;
  Syntax *tree = parse(&front, file);
  if (w->diags->errors > errors) return NULL;
  Buf b = buf_new(l->arena);
  format_program(&front, file, tree, &b);
  return b.at;
}

LimnStatus limn_format_file(Limn *l, const char *path, bool check, bool *same) {
  GUARDED(l, LIMN_MACHINE);
  FileText f = file_read(l->arena, path, TEXT_LIMIT);
  if (!f.text) {
    diag_error(l->w->diags, (Span){0}, "cannot read %s: %s", path, f.error);
    return LIMN_WRONG;
  }
  const char *text = limn_format(l, path, f.text, f.n);
  if (!text) return LIMN_WRONG;
  *same = strlen(text) == f.n && memcmp(text, f.text, f.n) == 0;
  if (*same || check) return LIMN_GOOD;
  const char *error = file_write(l->arena, path, text, strlen(text));
  if (!error) return LIMN_GOOD;
  diag_error(l->w->diags, (Span){0}, "cannot write %s: %s", path, error);
  return LIMN_MACHINE;
}

const char *limn_quote(Limn *l, const char *text) {
  GUARDED(l, "\"\"");
  Buf b = buf_new(l->arena);
  buf_json(&b, text, strlen(text));
  return b.at;
}

const char *limn_nearest(const char *name, const char *const *list, uint32_t n) {
  return nearest_name(name, list, n);
}

const char *limn_ops(Limn *l) {
  GUARDED(l, "");
  Buf b = buf_new(l->arena);
  ops_markdown(&b);
  return b.at;
}

// Does the program of a run have the pattern in it? One that cannot be read has not.
static bool run_matches(const RunInfo *r, const char *pattern) {
  Limn *l = limn_new();
  if (!l) return false;
  const char *path = arena_format(l->arena, "%s/program.limn", r->dir), *found = NULL;
  if (limn_load(l, path) == LIMN_GOOD) found = limn_find(l, pattern, true);
  bool any = found && strcmp(found, "[]") != 0;
  limn_free(l);
  return any;
}

LimnStatus limn_runs(Limn *l, const char *dir, const char *learner, const char *pattern, bool json,
                     const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Buf b = buf_new(l->arena);
  const char *why = "";
  RunInfos all = {0}, some = {0};
  if (!runs_read(l->arena, dir, &all, &why)) {
    diag_error(l->w->diags, (Span){0}, "%s", why);
    return LIMN_WRONG;
  }
  for (uint32_t i = 0; i < all.n; i++)
    if ((!learner || run_has(&all.at[i], learner)) &&
        (!pattern || run_matches(&all.at[i], pattern)))
      vec_push(l->arena, &some, all.at[i]);
  runs_print(&some, json, &b);
  *text = b.n ? b.at : "";
  return LIMN_GOOD;
}

LimnStatus limn_data(Limn *l, const char *name, const char *out, bool json, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Buf b = buf_new(l->arena);
  const char *why = NULL;
  Picture p;
  Arrays all = {0};
  bool good = true, disk = false, rows = out && text_ends(out, ".safetensors");
  if (name)
    good = data_show(l->arena, &b, name, json, out && !rows ? &p : NULL, &why) &&
           (!rows || data_arrays(l->arena, name, &all, &why));
  else if (out)
    good =
        file_error(l->arena, &why, "%s wants the name of one set", rows ? "a file" : "a picture");
  else
    data_list(l->arena, &b, json);
  if (good && out)
    good = rows ? safetensors_write(l->arena, out, &all, &why) : png_write(l->arena, out, &p, &why),
    disk = !good;
  *text = good ? b.at : NULL;
  if (good) return LIMN_GOOD;
  diag_error(l->w->diags, (Span){0}, "%s", why);
  return disk ? LIMN_MACHINE : LIMN_WRONG;
}

// -- diagrams -------------------------------------------------------------------------------------
Diagram *find_diagram(Limn *l, const char *name, const Instance *how) {
  uint32_t errors = limn_errors(l);
  Diagram *d = elab_diagram(l->in, l->program, name, how);
  if (d || limn_errors(l) > errors) return d;
  Id e = diag_error(l->w->diags, (Span){0},
                    "there is no box, learner, goal or measure `%s` in this program", name);
  diag_suggest(l->w->diags, e, elab_names(l->in, l->program, name));
  return NULL;
}

static Diagram *whole_loss(Limn *l, Loss *loss) {
  *loss = learn_loss(l->in, l->program);
  if (!loss->diagram)
    diag_error(l->w->diags, (Span){0}, "this program has no goals: name a box or a learner");
  return loss->diagram;
}

// Boxes that call boxes may be too many to be written out.
bool is_small(Limn *l, const Diagram *d) {
  if (diagram_boxes(l->w, d) <= BOXES_LIMIT) return true;
  diag_error(l->w->diags, (Span){0}, "`%s` is more than %d boxes, written out: too many for this",
             name_text(l->w->names, d->name), BOXES_LIMIT);
  return false;
}

// The first step of the first `train`.
static Diagram *first_step(Limn *l) {
  const Program *p = l->program;
  Regime r;
  if (!p->train.n) {
    diag_error(l->w->diags, (Span){0}, "`step` wants a `train`, and this program has none");
    return NULL;
  }
  return learn_regime(l->in, l->program, p->train.at[0], &r) ? r.step.at[0].diagram : NULL;
}

static Diagram *after_pass(Limn *l, Diagram *d, const Loss *loss, const char *pass) {
  World *w = l->w;
  if (!pass || strcmp(pass, "check") == 0) return d;
  if (!is_small(l, d)) return NULL;
  if (strcmp(pass, "inline") == 0) return diagram_inline(w, d);
  if (strcmp(pass, "simplify") == 0) return diagram_simplify(w, diagram_inline(w, d));
  if (strcmp(pass, "reverse") == 0) return diagram_simplify(w, diagram_reverse(w, d, &(Wanted){0}));
  if (strcmp(pass, "forward") == 0) return diagram_simplify(w, diagram_forward(w, d, &(Wanted){0}));
  if (strcmp(pass, "gradient") == 0) {
    if (loss->mask) return diagram_simplify(w, diagram_gradient(w, d, loss->mask));
    diag_error(w->diags, (Span){0}, "`gradient` is of the whole loss and takes no name");
    return NULL;
  }
  if (strcmp(pass, "step") == 0) {
    if (loss->mask) return first_step(l);
    diag_error(w->diags, (Span){0}, "`step` is of all goals and takes no name");
    return NULL;
  }
  static const char *const passes[] = {"check",   "inline",   "simplify", "reverse",
                                       "forward", "gradient", "step"};
  Id e = diag_error(w->diags, (Span){0}, "there is no pass `%s`", pass);
  if (!diag_suggest(w->diags, e, nearest_name(pass, passes, COUNT(passes))))
    diag_help(w->diags, e, "passes are check, inline, simplify, reverse, forward, gradient, step");
  return NULL;
}

const char *limn_print(Limn *l, const char *name, const char *pass, bool origins) {
  GUARDED(l, NULL);
  Loss loss = {0};
  Diagram *d = name ? find_diagram(l, name, NULL) : whole_loss(l, &loss);
  if (d) d = after_pass(l, d, &loss, pass);
  if (!d) return NULL;
  Buf b = buf_new(l->arena);
  diagram_print(l->w, d, &b, origins);
  return b.at;
}

// -- cost -----------------------------------------------------------------------------------------
typedef struct {
  Limn *l;
  Buf out;
  bool json;
  JsonOut j;
} CostText;

static void cost_row(CostText *t, const char *what, Size s) {
  World *w = t->l->w;
  double number;
  if (!t->json)
    buf_printf(&t->out, "  %-16s %s\n", what, size_text(w, s));
  else if (size_number(w, s, &number))
    json_number(&t->j, what, number);
  else
    json_text(&t->j, what, size_text(w, s));
}

// key: in JSON; title: for people
static void cost_block(CostText *t, const char *key, const char *title, const Cost *c) {
  if (t->json)
    json_object(&t->j, key);
  else
    buf_printf(&t->out, "\n%s\n", title);
  cost_row(t, "multiplications", c->multiplications);
  cost_row(t, "additions", c->additions);
  cost_row(t, "functions", c->functions);
  cost_row(t, "memory, peak", c->memory_peak);
  cost_row(t, "memory, all", c->memory_all);
  if (t->json) json_end(&t->j);
}

static bool is_differentiable(const Diagram *d) {
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base == BASE_LABEL) return false;
  return true;
}

const char *limn_cost(Limn *l, const char *name, bool json) {
  GUARDED(l, NULL);
  Loss loss = {0};
  Diagram *d = name ? find_diagram(l, name, NULL) : whole_loss(l, &loss);
  if (!d || !is_small(l, d)) return NULL;
  World *w = l->w;
  CostText t = {.l = l, .out = buf_new(l->arena), .json = json};
  Diagram *flat = diagram_simplify(w, diagram_inline(w, d));
  Cost forward = diagram_cost(w, flat);
  t.j = json_out(&t.out);
  if (json)
    json_object(&t.j, NULL);
  else
    buf_printf(&t.out, "%s: numbers counted, sizes by their names\n", name_text(w->names, d->name));
  cost_block(&t, "forward", "forward", &forward);
  if (is_differentiable(d)) {
    Diagram *back = diagram_simplify(w, loss.mask ? diagram_gradient(w, d, loss.mask)
                                                  : diagram_reverse(w, d, &(Wanted){0}));
    Cost reverse = diagram_cost(w, back), naive = diagram_cost_forward_mode(w, flat);
    cost_block(&t, "reverse", "reverse (values and gradients)", &reverse);
    cost_block(&t, "naive", "naive (the forward derivative, once for each number it depends on)",
               &naive);
  }
  if (json) json_end(&t.j);
  return t.out.at;
}

// -- evaluating -----------------------------------------------------------------------------------
typedef struct {
  Limn *l;
  const LimnEval *how;
  Diagram *d;
  Tensor *in, *param;
  Buf text;  // the answer
  JsonOut j; // of it, where JSON is wanted
  bool disk; // what went wrong is not the user's fault
} Evaluation;

__attribute__((format(printf, 2, 3))) static bool wrong(Evaluation *r, const char *format, ...) {
  Buf b = buf_new(r->l->arena);
  va_list args;
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  diag_error(r->l->w->diags, (Span){0}, "%s", b.at);
  return false;
}

static bool read_array(Evaluation *r, const char *value, Array *out) {
  const char *error;
  const char *end = strrchr(value, '.');
  bool good = end && strcmp(end, ".npy") == 0 ? npy_read(r->l->arena, value, out, &error)
                                              : array_parse(r->l->arena, value, out, &error);
  return good ? true : wrong(r, "%s", error);
}

static Tensor tensor_of(const Array *a) { return (Tensor){a->rank, a->shape, a->count, a->data}; }

static const LimnInput *input_named(const LimnEval *how, const char *name) {
  for (uint32_t i = 0; i < how->nin; i++)
    if (strcmp(how->in[i].name, name) == 0) return &how->in[i];
  return NULL;
}

// The inputs' arrays, found by name; where wires have no names, by order.
static bool read_inputs(Evaluation *r, const Diagram *d, Array *array) {
  World *w = r->l->w;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *name = name_text(w->names, wire->name);
    const LimnInput *in = *name ? input_named(r->how, name) : NULL;
    if (!in && (!*name || r->how->nin == d->in.n) && i < r->how->nin &&
        (!*name || !*r->how->in[i].name))
      in = &r->how->in[i];
    if (!in)
      return wrong(r, "input %s : %s is not given: --in %s=…", *name ? name : "1",
                   type_text(w, &wire->type), *name ? name : "x");
    if (!read_array(r, in->value, &array[i])) return false;
  }
  for (uint32_t i = 0; i < r->how->nin; i++) {
    bool known = !*r->how->in[i].name;
    for (uint32_t k = 0; k < d->in.n; k++)
      known |= strcmp(r->how->in[i].name, name_text(w->names, d->wire.at[d->in.at[k]].name)) == 0;
    for (uint32_t k = 0; k < d->in.n; k++) known |= !d->wire.at[d->in.at[k]].name;
    if (!known) return wrong(r, "there is no input `%s`", r->how->in[i].name);
  }
  return true;
}

static bool is_symbolic(World *w, const Diagram *d) {
  Ids vars = {0};
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    size_vars(w, t->count ? t->count : size_of(w, 1), &vars);
    for (uint32_t k = 0; k < t->rank; k++) size_vars(w, t->axis[k].size, &vars);
  }
  return vars.n > 0;
}

static bool has_samples(const Diagram *d) {
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    if (t->rank && t->axis[0].pass == PASS_SAMPLE) return true;
  }
  return false;
}

// A box is checked again with the sizes of the arrays; further axes in front pass over it.
static bool with_sizes(Evaluation *r, const char *name, const Array *array) {
  World *w = r->l->w;
  Type *types = NEW_ARRAY(w->arena, Type, r->d->in.n + 1);
  for (uint32_t i = 0; i < r->d->in.n; i++) {
    const Type *formal = &r->d->wire.at[r->d->in.at[i]].type;
    Axis *axis = NEW_ARRAY(w->arena, Axis, array[i].rank);
    for (uint32_t k = 0; k < array[i].rank; k++) axis[k].size = size_of(w, array[i].shape[k]);
    types[i] = type_make(w, formal->base, array[i].rank, axis);
    types[i].names = formal->names;
    types[i].count = formal->count;
    for (uint32_t k = 0; k < array[i].rank && k < formal->rank; k++)
      types[i].axis[array[i].rank - 1 - k].label = formal->axis[formal->rank - 1 - k].label;
  }
  Instance how = {.training = r->how->training, .nin = r->d->in.n, .in = types};
  Diagram *d = elab_diagram(r->l->in, r->l->program, name, &how);
  if (d) r->d = d;
  return d != NULL;
}

static bool read_weights(Evaluation *r) {
  World *w = r->l->w;
  Arrays given = {0};
  const char *error, *file = r->how->weights;
  if (!file && r->how->from) file = folder_weights(w->arena, r->how->from);
  if (file && !safetensors_read(r->l->arena, file, &given, &error)) return wrong(r, "%s", error);
  r->param = NEW_ARRAY(w->arena, Tensor, r->d->param.n + 1);
  uint32_t used = 0;
  for (uint32_t i = 0; i < r->d->param.n; i++) {
    const Param *p = &r->d->param.at[i];
    const Type *t = &r->d->wire.at[p->wire].type;
    const Array *a = arrays_find(&given, p->path);
    if (a) {
      r->param[i] = tensor_of(a);
      used++;
      bool fits = a->rank == t->rank;
      for (uint32_t k = 0; fits && k < t->rank; k++) {
        int64_t n;
        fits = !size_value(w, t->axis[k].size, &n) || n == a->shape[k];
      }
      if (!fits)
        return wrong(r, "weight %s is %s in %s, but the program wants %s", p->path,
                     array_type(w->arena, a), file, type_text(w, t));
      continue;
    }
    if (file && p->role == ROLE_WEIGHT)
      return wrong(r, "%s has no weight %s (%s)", file, p->path, type_text(w, t));
    if (!init_eval(w, r->l->arena, &p->init, t, r->how->seed, site_hash(0, p->path), &r->param[i]))
      return wrong(r, "weight %s : %s cannot be made: its sizes are not known", p->path,
                   type_text(w, t));
  }
  for (uint32_t i = 0; r->how->weights && i < given.array.n && used < given.array.n; i++) {
    bool known = false;
    for (uint32_t k = 0; k < r->d->param.n; k++)
      known |= strcmp(r->d->param.at[k].path, given.array.at[i].name) == 0;
    if (!known)
      diag_warning(w->diags, (Span){0}, "weight %s in %s is not used here", given.array.at[i].name,
                   r->how->weights);
  }
  return true;
}

static Array array_of(const Tensor *t, const char *name) {
  return (Array){name, t->rank, t->shape, t->count, t->data, EL_F64};
}

// label: what stands before it for people, as "d x = "; "": nothing
static void show_tensor(Evaluation *r, const char *key, const char *label, const Tensor *t) {
  Array a = array_of(t, "");
  if (r->how->json) {
    json_array(&r->j, key, &a);
    return;
  }
  buf_text(&r->text, label);
  array_print(&r->text, &a, false);
  buf_char(&r->text, '\n');
}

static bool write_out(Evaluation *r, const Tensor *out) {
  const char *error;
  Array a = array_of(out, "");
  if (!r->how->out) return true;
  r->disk = !npy_write(r->l->arena, r->how->out, &a, &error);
  return r->disk ? wrong(r, "%s", error) : true;
}

static bool write_weights(Evaluation *r) {
  const char *error;
  Arrays all = {0};
  if (!r->how->save) return true;
  for (uint32_t i = 0; i < r->d->param.n; i++)
    if (r->d->param.at[i].role != ROLE_CLOCK && r->d->param.at[i].role != ROLE_CONST)
      vec_push(r->l->arena, &all.array, array_of(&r->param[i], r->d->param.at[i].path));
  r->disk = !safetensors_write(r->l->arena, r->how->save, &all, &error);
  return r->disk ? wrong(r, "%s", error) : true;
}

// Cotangents in, gradients out: the reverse derivative, run by the same interpreter.
static bool gradients(Evaluation *r, const Tensor *out) {
  World *w = r->l->w;
  Diagram *d = r->d;
  if (!r->how->dy && !r->how->grads) return true;
  Array dy = {0};
  if (r->how->dy && !read_array(r, r->how->dy, &dy)) return false;
  if (!is_differentiable(d)) return wrong(r, "labels have no gradient");
  Diagram *back = diagram_reverse(w, d, &(Wanted){0});
  Tensor *in = NEW_ARRAY(w->arena, Tensor, d->in.n + d->out.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = r->in[i];
  for (uint32_t i = 0; i < d->out.n; i++) {
    Tensor *t = &in[d->in.n + i];
    if (i == 0 && r->how->dy) {
      *t = tensor_of(&dy);
      if (t->count != out[0].count)
        return wrong(r, "the cotangent has %lld numbers, the result %lld", (long long)t->count,
                     (long long)out[0].count);
      t->rank = out[0].rank;
      t->shape = out[0].shape;
      continue;
    }
    *t = tensor_new(w->arena, out[i].rank, out[i].shape);
    for (int64_t k = 0; k < t->count; k++) t->data[k] = 1;
  }
  Eval eval = {.arena = w->arena,
               .seed = r->how->seed,
               .in = in,
               .param = r->param,
               .out = NEW_ARRAY(w->arena, Tensor, back->out.n + 1)};
  if (!diagram_eval(w, back, &eval)) return wrong(r, "%s", eval.error);
  Arrays all = {0};
  uint32_t at = 0;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    if (wire->type.base == BASE_LABEL) continue;
    const char *name = name_text(w->names, wire->name);
    vec_push(w->arena, &all.array,
             array_of(&eval.out[at++],
                      arena_format(w->arena, "%s",
                                   *name ? name : arena_format(w->arena, "in.%u", i + 1))));
  }
  for (uint32_t i = 0; i < d->param.n && at < back->out.n; i++)
    if (d->param.at[i].role == ROLE_WEIGHT)
      vec_push(w->arena, &all.array, array_of(&eval.out[at++], d->param.at[i].path));
  const char *error;
  if (r->how->grads) {
    r->disk = !safetensors_write(w->arena, r->how->grads, &all, &error);
    return r->disk ? wrong(r, "%s", error) : true;
  }
  for (uint32_t i = 0; i < all.array.n; i++) {
    Tensor t = tensor_of(&all.array.at[i]);
    const char *key = arena_format(w->arena, "d %s", all.array.at[i].name);
    show_tensor(r, key, arena_format(w->arena, "%s = ", key), &t);
  }
  return true;
}

static bool run(Evaluation *r, const char *name) {
  World *w = r->l->w;
  Array *array = NEW_ARRAY(w->arena, Array, r->d->in.n + 1);
  if (!read_inputs(r, r->d, array)) return false;
  bool extra = is_symbolic(w, r->d) || r->how->training;
  for (uint32_t i = 0; i < r->d->in.n; i++)
    extra |= array[i].rank != r->d->wire.at[r->d->in.at[i]].type.rank;
  if (extra && !has_samples(r->d) && r->d->in.n && !with_sizes(r, name, array)) return false;
  if (!read_weights(r)) return false;
  r->in = NEW_ARRAY(w->arena, Tensor, r->d->in.n + 1);
  for (uint32_t i = 0; i < r->d->in.n; i++) r->in[i] = tensor_of(&array[i]);
  Tensor *out = NEW_ARRAY(w->arena, Tensor, r->d->out.n + 1);
  Eval eval = {.arena = w->arena, .seed = r->how->seed, .in = r->in, .param = r->param, .out = out};
  if (!diagram_eval(w, r->d, &eval)) return wrong(r, "%s", eval.error);
  if (r->how->json) json_object(&r->j, NULL);
  for (uint32_t i = 0; i < r->d->out.n && (!r->how->out || r->how->json || i); i++)
    show_tensor(r, arena_format(w->arena, "out.%u", i + 1), "", &out[i]);
  if (!write_out(r, &out[0]) || !write_weights(r) || !gradients(r, out)) return false;
  if (r->how->count && r->how->json)
    json_number(&r->j, "multiplications", (double)eval.multiplications);
  if (r->how->count && !r->how->json)
    buf_printf(&r->text, "%llu multiplications\n", (unsigned long long)eval.multiplications);
  if (r->how->json) json_end(&r->j);
  return true;
}

LimnStatus limn_eval(Limn *l, const char *name, const LimnEval *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Evaluation r = {.l = l, .how = how, .text = buf_new(l->arena)};
  r.j = json_out(&r.text);
  r.d = find_diagram(l, name, NULL);
  if (!r.d || !is_small(l, r.d) || !run(&r, name)) return r.disk ? LIMN_MACHINE : LIMN_WRONG;
  *text = r.text.at;
  return LIMN_GOOD;
}

// -- training -------------------------------------------------------------------------------------
_Static_assert((int)OUTCOME_GOOD == LIMN_GOOD && (int)OUTCOME_WRONG == LIMN_WRONG &&
                   (int)OUTCOME_USAGE == LIMN_USAGE && (int)OUTCOME_SYSTEM == LIMN_MACHINE,
               "what a run ends with is what the interface says");

static RunTell teller_of(const LimnTell *t) {
  return (RunTell){t->context, t->line, t->redraw, t->width};
}

static TrainOptions train_settings(const LimnTrain *o) {
  return (TrainOptions){.out = o->out,
                        .resume = o->resume,
                        .epochs = o->epochs,
                        .steps = o->steps,
                        .batch = o->batch,
                        .seed = o->seed,
                        .pause = o->pause,
                        .threads = o->threads,
                        .precision = o->precision,
                        .device = o->device,
                        .every = o->every,
                        .has_seed = o->has_seed,
                        .reference = o->reference,
                        .plan = o->plan,
                        .json = o->json,
                        .quiet = o->quiet,
                        .stop = o->stop,
                        .tell = teller_of(&o->tell)};
}

static UseOptions use_options(Limn *l, const LimnUse *o) {
  UseInput *in = NEW_ARRAY(l->arena, UseInput, o->nin + 1);
  for (uint32_t i = 0; i < o->nin; i++) in[i] = (UseInput){o->in[i].name, o->in[i].value};
  return (UseOptions){.from = o->from,
                      .in = in,
                      .nin = o->nin,
                      .out = o->out,
                      .seed = o->seed,
                      .threads = o->threads,
                      .precision = o->precision,
                      .has_seed = o->has_seed,
                      .reference = o->reference,
                      .json = o->json,
                      .n = o->n,
                      .length = o->length,
                      .temperature = o->temperature,
                      .prompt = o->prompt};
}

static LimnStatus failed(Limn *l, LimnStatus status, const char *why) {
  diag_error(l->w->diags, (Span){0}, "%s", why);
  return status;
}

// The page of a run of machines, from what its folder holds.
static LimnStatus machines_report(Limn *l, const char *dir) {
  Results r;
  const char *error = "";
  if (!results_read(l->in, l->program, dir, &r, &error)) return failed(l, LIMN_WRONG, error);
  return machines_page(&r, &error) ? LIMN_GOOD : failed(l, LIMN_MACHINE, error);
}

static LimnStatus training_report(Limn *l, const LimnUse *how) {
  Shows shown = {0};
  Buf who = buf_new(l->arena);
  const char *error = "";
  UseOptions use = use_options(l, how);
  LimnStatus status = (LimnStatus)use_shows(l->in, l->program, &use, &shown);
  arena_on_failure(l->arena, &l->failure); // the work above had a place of its own to come back to
  if (status) return status;
  learn_who(l->in, l->program, &who);
  Report r = {.dir = how->from,
              .shown = &shown,
              .goals = goals_draw(l->in, l->arena, l->program),
              .who = l->program->goal.n ? who.at : NULL};
  return report_write(l->arena, &r, &error) ? LIMN_GOOD : failed(l, LIMN_MACHINE, error);
}

static LimnStatus make_report(Limn *l, const LimnUse *how, const char **text) {
  RunNote note;
  const char *error;
  bool machines = note_read(l->arena, how->from, &note, &error) && note.machine;
  LimnStatus status = machines ? machines_report(l, how->from) : training_report(l, how);
  if (!status) *text = arena_format(l->arena, "%s/report.html", how->from);
  return status;
}

LimnStatus limn_report(Limn *l, const LimnUse *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  *text = NULL;
  if (how->from && path_is_folder(how->from)) return make_report(l, how, text);
  diag_error(l->w->diags, (Span){0}, "`report` needs --from DIR, the folder of a run");
  return LIMN_USAGE;
}

static void tell_report(Limn *l, const LimnTrain *how, const char *path) {
  if (how->quiet || !how->tell.line) return;
  Buf b = buf_new(l->arena);
  JsonOut j = json_out(&b);
  if (!how->json) {
    buf_printf(&b, "report %s", path);
  } else {
    json_object(&j, NULL);
    json_text(&j, "event", "page");
    json_text(&j, "path", path);
    json_end(&j);
  }
  how->tell.line(how->tell.context, b.at);
}

LimnStatus limn_train(Limn *l, const LimnTrain *how) {
  GUARDED(l, LIMN_MACHINE);
  const char *dir = NULL, *path = NULL;
  TrainOptions options = train_settings(how);
  LimnStatus status = (LimnStatus)train_run(l->in, l->program, &options, &dir);
  arena_on_failure(l->arena, &l->failure);
  if (status || !dir || how->plan || how->plain) return status;
  LimnUse use = {.from = dir, .threads = how->threads, .reference = how->reference};
  status = make_report(l, &use, &path);
  if (!status) tell_report(l, how, path);
  return status;
}

LimnStatus limn_measure(Limn *l, const LimnUse *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Buf b = buf_new(l->arena);
  UseOptions use = use_options(l, how);
  LimnStatus status = (LimnStatus)use_measure(l->in, l->program, &use, &b);
  *text = status ? NULL : b.at;
  return status;
}

LimnStatus limn_run(Limn *l, const LimnRun *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Results r;
  const char *error = "";
  Buf b = buf_new(l->arena);
  SimulateOptions options = {.out = how->out,
                             .from = how->from,
                             .seed = how->seed,
                             .threads = how->threads,
                             .reference = how->reference,
                             .quiet = how->quiet || how->json,
                             .plain = how->plain,
                             .stop = how->stop,
                             .tell = teller_of(&how->tell)};
  LimnStatus status = (LimnStatus)simulate_run(l->in, l->program, &options, &r);
  bool ended = strcmp(r.note.state, "running") != 0,
       page = ended && r.dir && status != LIMN_MACHINE;
  if (page && !machines_page(&r, &error))
    status = failed(l, LIMN_MACHINE, error);
  else if (page && !options.quiet)
    tell_line(&options.tell, arena_format(l->arena, "report %s/report.html", r.dir));
  if (how->json && ended) note_print(results_note(&r), &b);
  *text = b.n ? b.at : NULL;
  return status;
}

LimnStatus limn_predict(Limn *l, const char *name, const LimnUse *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Buf b = buf_new(l->arena);
  UseOptions use = use_options(l, how);
  LimnStatus status = (LimnStatus)use_predict(l->in, l->program, name, &use, &b);
  *text = status ? NULL : b.at;
  return status;
}

LimnStatus limn_sample(Limn *l, const char *name, const LimnUse *how, const char **text) {
  GUARDED(l, LIMN_MACHINE);
  Buf b = buf_new(l->arena);
  UseOptions use = use_options(l, how);
  LimnStatus status = (LimnStatus)use_sample(l->in, l->program, name, &use, &b);
  *text = status ? NULL : b.at;
  return status;
}
