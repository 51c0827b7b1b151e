// Values: evaluating a box on arrays, using trained learners on new data, and weights by name.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/interpret.h"

#include "io/data/one_sample.h"
#include "run/runs/weights.h"

// -- arrays out -----------------------------------------------------------------------------------
static LimnArray array_of(const Array *x) {
  return (LimnArray){.type = LIMN_F64, .rank = x->rank, .shape = x->shape, .data = x->data};
}

void copy_arrays_out(Arena *a, const Arrays *from, LimnArrays *to) {
  LimnNamedArray *at = NEW_ARRAY(a, LimnNamedArray, from->array.n + 1);
  for (uint32_t i = 0; i < from->array.n; i++)
    at[i] = (LimnNamedArray){from->array.at[i].name, array_of(&from->array.at[i])};
  *to = (LimnArrays){from->array.n, at};
}

const LimnArray *limn_array(const LimnArrays *all, const char *name) {
  for (uint32_t i = 0; all && name && i < all->n; i++)
    if (strcmp(all->at[i].name, name) == 0) return &all->at[i].array;
  return NULL;
}

// -- a box on arrays ------------------------------------------------------------------------------
// Checks the options of an evaluation.
static bool eval_asked(ApiCall *c, const char *name, const LimnEval *how, LimnEval *own,
                       const void *to) {
  if (!name || !to) call_misuse(c, "limn_eval wants a name, and a place for its answer");
  return name && to && copy_eval_options(c, how, own);
}

LimnStatus limn_eval(Limn *l, const char *name, const LimnEval *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_EVAL, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnEval own;
  if (!eval_asked(c, name, how, &own, text)) return call_end(c, LIMN_USAGE);
  Buf b = buf_new(c->answer);
  Arrays set = weights_overridden(c);
  EvalCall call = {.how = &own, .set = &set, .text = &b};
  LimnStatus status = status_of(use_evaluate(l->in, l->program, name, &call));
  *text = status ? NULL : b.at;
  return call_end(c, status);
}

LimnStatus limn_eval_arrays(Limn *l, const char *name, const LimnEval *how, LimnArrays *out,
                            LimnArrays *grads) {
  if (out) *out = (LimnArrays){0};
  if (grads) *grads = (LimnArrays){0};
  ENTER(c, l, ANSWER_EVAL_ARRAYS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnEval own;
  if (!eval_asked(c, name, how, &own, out)) return call_end(c, LIMN_USAGE);
  Arrays results = {0}, gradients = {0}, set = weights_overridden(c);
  EvalCall call = {.how = &own, .set = &set, .out = &results, .keep = c->answer};
  if (grads) call.grads = &gradients;
  LimnStatus status = status_of(use_evaluate(l->in, l->program, name, &call));
  copy_arrays_out(c->answer, &results, out);
  if (grads) copy_arrays_out(c->answer, &gradients, grads);
  return call_end(c, status);
}

LimnStatus limn_data_sample(Limn *l, const char *set, uint64_t at, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  ENTER(c, l, ANSWER_SAMPLE_OF, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!set || !out)
    return call_end(c, call_misuse(c, "limn_data_sample wants a set and a place for its arrays"));
  Arrays all = {0};
  const char *why = "";
  bool good = set_is_known(set) || file_error(c->scratch, &why, "there is no set `%s`", set);
  if (good && data_sample(c->answer, set, at, &all, &why))
    return copy_arrays_out(c->answer, &all, out), call_end(c, LIMN_GOOD);
  return call_end(c, call_fail(c, LIMN_WRONG, "%s", why));
}

// -- using trained learners -----------------------------------------------------------------------
typedef LimnStatus Used(Limn *, const char *name, const UseCall *);

static LimnStatus ask_measure(Limn *l, const char *name, const UseCall *call) {
  (void)name;
  return status_of(use_measure(l->in, l->program, call));
}

static LimnStatus ask_predict(Limn *l, const char *name, const UseCall *call) {
  if (name) return status_of(use_predict(l->in, l->program, name, call));
  return call_misuse(l->call, "limn_predict wants the name of a box or learner");
}

static LimnStatus ask_sample(Limn *l, const char *name, const UseCall *call) {
  return status_of(use_sample(l->in, l->program, name, call));
}

// The result as text, or as arrays.
static LimnStatus answer_use(ApiCall *c, Used *used, const char *name, const LimnUse *how,
                             const char **text, LimnArrays *arrays) {
  LimnUse own;
  if (!text && !arrays) return call_misuse(c, "there is no place for the answer");
  if (!copy_use_options(c, how, &own)) return LIMN_USAGE;
  Buf b = buf_new(c->answer);
  Arrays out = {0}, set = weights_overridden(c);
  UseCall call = {.how = &own, .set = &set, .text = &b, .keep = c->answer};
  if (arrays) call.out = &out;
  LimnStatus status = used(c->l, name, &call);
  if (text) *text = status ? NULL : b.at;
  if (arrays) copy_arrays_out(c->answer, &out, arrays);
  return status;
}

LimnStatus limn_measure(Limn *l, const LimnUse *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_MEASURE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_measure, NULL, how, text, NULL));
}

LimnStatus limn_measure_arrays(Limn *l, const LimnUse *how, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  ENTER(c, l, ANSWER_MEASURE_ARRAYS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_measure, NULL, how, NULL, out));
}

LimnStatus limn_predict(Limn *l, const char *name, const LimnUse *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_PREDICT, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_predict, name, how, text, NULL));
}

LimnStatus limn_predict_arrays(Limn *l, const char *name, const LimnUse *how, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  ENTER(c, l, ANSWER_PREDICT_ARRAYS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_predict, name, how, NULL, out));
}

LimnStatus limn_sample(Limn *l, const char *name, const LimnUse *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_SAMPLE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_sample, name, how, text, NULL));
}

LimnStatus limn_sample_arrays(Limn *l, const char *name, const LimnUse *how, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  ENTER(c, l, ANSWER_SAMPLE_ARRAYS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  return call_end(c, answer_use(c, ask_sample, name, how, NULL, out));
}

// -- inside of goals ------------------------------------------------------------------------------
LimnStatus limn_gradients(Limn *l, const char *goal, const char *name, const LimnUse *how,
                          LimnArrays *values, LimnArrays *grads) {
  if (values) *values = (LimnArrays){0};
  if (grads) *grads = (LimnArrays){0};
  ENTER(c, l, ANSWER_GRADIENTS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnUse own;
  if (!values && !grads) call_misuse(c, "limn_gradients wants a place for its arrays");
  if ((!values && !grads) || !copy_use_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  Arrays out = {0}, found = {0}, set = weights_overridden(c);
  UseCall call = {.how = &own, .set = &set, .out = &out, .keep = c->answer};
  GradientsAsked asked = {.goal = goal, .name = name, .grads = &found};
  LimnStatus status = status_of(use_gradients(l->in, l->program, &call, &asked));
  if (values) copy_arrays_out(c->answer, &out, values);
  if (grads) copy_arrays_out(c->answer, &found, grads);
  return call_end(c, status);
}

const char *limn_wires(Limn *l, const char *goal) {
  ENTER(c, l, ANSWER_WIRES, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  LimnStatus status = status_of(use_wires(l->in, l->program, goal, &b));
  call_end(c, status);
  return status ? NULL : b.at;
}

// -- weights --------------------------------------------------------------------------------------
static ApiWeight *find_set_weight(Limn *l, const char *name) {
  for (uint32_t i = 0; i < l->weight.n; i++)
    if (strcmp(l->weight.at[i].array.name, name) == 0) return &l->weight.at[i];
  return NULL;
}

Arrays weights_overridden(ApiCall *c) {
  Arrays all = {0};
  for (uint32_t i = 0; i < c->l->weight.n; i++)
    if (c->l->weight.at[i].set) vec_push(c->scratch, &all.array, c->l->weight.at[i].array);
  return all;
}

// Allocates once per weight: its shape is fixed by the program.
static void store_weight(Limn *l, const char *name, const Array *x) {
  ApiWeight *w = find_set_weight(l, name);
  if (!w || w->array.count != x->count) {
    Array own = *x;
    own.name = arena_text(l->weights, name, strlen(name));
    own.shape = arena_copy(l->weights, x->shape, x->rank * sizeof *x->shape);
    own.data = NEW_ARRAY(l->weights, double, x->count);
    if (!w) {
      vec_push(l->weights, &l->weight, (ApiWeight){0});
      w = &l->weight.at[l->weight.n - 1];
    }
    w->array = own;
  }
  if (x->count) memcpy(w->array.data, x->data, (size_t)x->count * sizeof(double));
  w->set = true;
}

typedef struct {
  const Param *param;
  const Diagram *d;
} NamedWeight;
typedef struct {
  NamedWeight *at;
  uint32_t n, cap;
  bool constants; // instead of weights and buffers
} NamedWeights;

static bool is_asked(const NamedWeights *all, const Param *p) {
  return all->constants ? p->role == ROLE_CONST : p->role == ROLE_WEIGHT || p->role == ROLE_BUFFER;
}

static void add_weights(ApiCall *c, NamedWeights *all, Table *seen, const Diagram *d) {
  for (uint32_t i = 0; d && i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    size_t n = strlen(p->path);
    if (!is_asked(all, p) || table_get(seen, p->path, n)) continue;
    table_put(seen, p->path, n, 1);
    vec_push(c->scratch, all, (NamedWeight){p, d});
  }
}

static void add_defs(ApiCall *c, NamedWeights *all, Table *seen, Def *const *def, uint32_t n) {
  Limn *l = c->l;
  l->diags->muted++;
  for (uint32_t i = 0; i < n; i++)
    add_weights(c, all, seen,
                elab_diagram(l->in, l->program, name_text(l->w->names, def[i]->name), NULL));
  l->diags->muted--;
}

static NamedWeights program_params(ApiCall *c, bool every, bool constants) {
  const Program *p = c->l->program;
  NamedWeights all = {.constants = constants};
  Table *seen = table_new(c->scratch);
  for (uint32_t i = 0; i < p->goal.n; i++) add_weights(c, &all, seen, p->goal.at[i].diagram);
  for (uint32_t i = 0; i < p->measure.n; i++) add_weights(c, &all, seen, p->measure.at[i].diagram);
  if (every) add_defs(c, &all, seen, p->learner.at, p->learner.n);
  if (every) add_defs(c, &all, seen, p->box.at, p->box.n);
  return all;
}

// The weights of goals and measures; with `every`, of all boxes and learners.
static NamedWeights program_weights(ApiCall *c, bool every) {
  return program_params(c, every, false);
}

// NULL with a message.
static const NamedWeight *weight_named(ApiCall *c, const NamedWeights *all, const char *name) {
  Limn *l = c->l;
  const char **names = NEW_ARRAY(c->scratch, const char *, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) {
    names[i] = all->at[i].param->path;
    if (strcmp(names[i], name) == 0) return &all->at[i];
  }
  Id e = diag_error(l->diags, (Span){0}, "there is no weight `%s` in this program", name);
  diag_suggest(l->diags, e, nearest_name(name, names, all->n));
  return NULL;
}

static bool weight_fits(ApiCall *c, const NamedWeight *w, const Array *x) {
  World *world = c->l->w;
  const Type *t = &w->d->wire.at[w->param->wire].type;
  bool fits = x->rank == t->rank;
  for (uint32_t i = 0; fits && i < t->rank; i++) {
    int64_t n;
    fits = !size_value(world, t->axis[i].size, &n) || n == x->shape[i];
  }
  if (!fits)
    diag_error(c->l->diags, (Span){0}, "weight %s is %s, but the program wants %s", w->param->path,
               array_type(c->scratch, x), type_text(world, t));
  return fits;
}

// Reads weights that the program takes from runs; `n` weights of one diagram.
static bool weights_in_runs(ApiCall *c, const NamedWeight *all, uint32_t n, Arrays *out) {
  for (uint32_t i = 0; i < n; i++)
    if ((!i || all[i].d != all[i - 1].d) &&
        !use_sources(c->l->in, c->l->program, all[i].d, NULL, c->scratch, out))
      return false;
  return true;
}

// The value that was set; else that of the run which the program names; else the initial value.
static bool weight_value(ApiCall *c, const NamedWeight *w, const Arrays *source, Array *out) {
  World *world = c->l->w;
  const ApiWeight *kept = find_set_weight(c->l, w->param->path);
  const Type *t = &w->d->wire.at[w->param->wire].type;
  Tensor x;
  if (kept && kept->set) return *out = kept->array, true;
  const Array *found = arrays_find(source, w->param->path);
  if (found) return *out = *found, true;
  uint64_t seed = program_seed(c->l->in, c->l->program);
  if (init_eval(world, c->scratch, &w->param->init, t, seed, site_hash(0, w->param->path), &x)) {
    *out = (Array){w->param->path, x.rank, x.shape, x.count, x.data, EL_F64};
    return true;
  }
  if (!type_over_open(world, t, (Span){0}))
    diag_error(c->l->diags, (Span){0}, "weight %s : %s cannot be made: %s", w->param->path,
               type_text(world, t), init_fault(world, t));
  return false;
}

static LimnStatus read_weights(ApiCall *c, const char *name, LimnArrays *out) {
  NamedWeights all = {0};
  Arrays values = {0}, source = {0};
  *out = (LimnArrays){0};
  if (name) {
    const Diagram *d = diagram_named(c->l->in, c->l->program, name, NULL);
    if (!d) return LIMN_WRONG;
    add_weights(c, &all, table_new(c->scratch), d);
  } else {
    all = program_weights(c, false);
  }
  if (!weights_in_runs(c, all.at, all.n, &source)) return LIMN_WRONG;
  for (uint32_t i = 0; i < all.n; i++) {
    Array x;
    if (!weight_value(c, &all.at[i], &source, &x)) return LIMN_WRONG;
    arrays_keep(c->answer, &values, &x);
  }
  copy_arrays_out(c->answer, &values, out);
  return LIMN_GOOD;
}

LimnStatus limn_weights(Limn *l, const char *name, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  ENTER(c, l, ANSWER_WEIGHTS, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  if (!out) return call_end(c, call_misuse(c, "limn_weights wants a place for its arrays"));
  return call_end(c, read_weights(c, name, out));
}

static LimnStatus weight_get(ApiCall *c, const char *name, LimnArray *out) {
  NamedWeights all = program_weights(c, true);
  const NamedWeight *w = weight_named(c, &all, name);
  Array x;
  Arrays kept = {0}, source = {0};
  if (!w || !weights_in_runs(c, w, 1, &source) || !weight_value(c, w, &source, &x))
    return LIMN_WRONG;
  arrays_keep(c->answer, &kept, &x);
  *out = array_of(&kept.array.at[0]);
  return LIMN_GOOD;
}

LimnStatus limn_weight_get(Limn *l, const char *weight, LimnArray *out) {
  if (out) *out = (LimnArray){0};
  ENTER(c, l, ANSWER_WEIGHT, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  if (!weight || !out)
    return call_end(c, call_misuse(c, "limn_weight_get wants a name and a place for the array"));
  return call_end(c, weight_get(c, weight, out));
}

static LimnStatus weight_set(ApiCall *c, const char *name, const LimnArray *from) {
  NamedWeights all = program_weights(c, true);
  const NamedWeight *w = weight_named(c, &all, name);
  const char *error;
  ApiWeight *kept = find_set_weight(c->l, name);
  Array x;
  if (!w) return LIMN_WRONG;
  if (!from) {
    if (kept) kept->set = false;
    return LIMN_GOOD;
  }
  if (!array_from_memory(c->scratch, from, &x, &error)) return call_misuse(c, "%s", error);
  if (!weight_fits(c, w, &x)) return LIMN_WRONG;
  store_weight(c->l, name, &x);
  return LIMN_GOOD;
}

LimnStatus limn_weight_set(Limn *l, const char *weight, const LimnArray *from) {
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  if (!weight) return call_end(c, call_misuse(c, "limn_weight_set wants the name of a weight"));
  return call_end(c, weight_set(c, weight, from));
}

// Constants of random numbers have the values that they had in the run which wrote the weights.
static void set_drawn_constants(ApiCall *c, const Arrays *given) {
  NamedWeights all = program_params(c, true, true);
  uint64_t seed = weights_seed(c->l->in, c->l->program, given);
  for (uint32_t i = 0; i < all.n; i++) {
    const Param *p = all.at[i].param;
    const Type *t = &all.at[i].d->wire.at[p->wire].type;
    Tensor x;
    if (p->init.kind == INIT_CONST || p->init.kind == INIT_DATA) continue;
    if (!init_eval(c->l->w, c->scratch, &p->init, t, seed, site_hash(0, p->path), &x)) continue;
    store_weight(c->l, p->path, &(Array){p->path, x.rank, x.shape, x.count, x.data, EL_F64});
  }
}

// Sets the program's weights that the file has. If one does not fit, none is set.
static LimnStatus weights_read(ApiCall *c, const char *from) {
  const char *error, *file = folder_weights(c->scratch, from);
  Arrays given = {0};
  if (!folder_read_weights(c->scratch, from, &given, &error))
    return call_fail(c, LIMN_WRONG, "%s", error);
  NamedWeights all = program_weights(c, true);
  uint32_t found = 0;
  for (uint32_t i = 0; i < all.n; i++) {
    const Array *x = arrays_find(&given, all.at[i].param->path);
    if (x && !weight_fits(c, &all.at[i], x)) return LIMN_WRONG;
    found += x != NULL;
  }
  if (!found)
    return call_fail(c, LIMN_WRONG, "%s has none of the weights of this program%s%s", file,
                     all.n ? ": it wants " : ", which has none",
                     all.n ? all.at[0].param->path : "");
  for (uint32_t i = 0; i < all.n; i++) {
    const Array *x = arrays_find(&given, all.at[i].param->path);
    if (x) store_weight(c->l, all.at[i].param->path, x);
  }
  if (arrays_metadata(&given, "seed")) set_drawn_constants(c, &given);
  return LIMN_GOOD;
}

LimnStatus limn_weights_read(Limn *l, const char *from) {
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  if (!from) return call_end(c, call_misuse(c, "limn_weights_read wants a run folder or a file"));
  return call_end(c, weights_read(c, from));
}
