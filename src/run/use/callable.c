// Calls of a box, learner, goal or measure: functions of the public interface, `predict` and `sample`
// stand on it. Arrays in, arrays and gradients out; engines are compiled for the sizes of the arrays
// and cached.
//
// The weights are in one store for all engines. The number of samples is arbitrary: values are
// computed in batches; batch statistics, sums over samples and gradients of weights need all samples
// in one batch, and so does noise, unless `noise_by_batch`. No call changes a weight.
//
// The derivative of order k is the reverse derivative, taken k times, with the weights of the box.
// Its inputs are those of the box, followed by a cotangent for each result of each derivative
// taken.
#include "base/names.h"
#include "core/pass/pipeline.h"
#include "run/use/use_own.h"

enum { MOST_COMPILED = 64, SAMPLES_AT_ONCE = 1024 };

typedef struct {
  uint32_t rank;
  int64_t *shape; // the first length is ignored if `samples`
  bool samples;
} CallShape;

typedef struct { // an engine, and the sizes that it was compiled for
  bool grad;
  uint32_t order;
  CallShape *in;           // [input]
  const Diagram *instance; // the box for these sizes
  const Diagram *d, *runs; // its derivative of this order, and the diagram that the engine runs
  Engine *engine;
  int64_t samples; // batch size; 0: there is no sample axis
  bool whole;      // exactly so many samples
  bool one_batch;
} CompiledCall;

struct Callable {
  Use *u;
  const char *name;
  bool noise_by_batch;   // each batch has noise of its own step
  Arena *keep, *sizes;   // `sizes`: memory of compiled engines and their diagrams
  const Diagram *formal; // NULL: not elaborated
  VEC(CompiledCall) compiled;
  Pool *pool;        // shared by all engines
  uint32_t attempts; // engines compiled and calls refused; their memory stays until callable_forget
};

// -- opening --------------------------------------------------------------------------------------
// Adds the weights of a diagram. Weights that the store has keep their values.
static bool add_weights(Callable *f, const Diagram *d) {
  Use *u = f->u;
  uint32_t before = store_count(u->store);
  return store_add_params(u->w, u->store, d, u->seed) &&
         (before == store_count(u->store) ||
          use_load_states_from(u, u->store, before, weight_paths(u->arena, d)));
}

const Diagram *callable_diagram(Callable *f) {
  if (!f->formal) f->formal = diagram_trained(f->u->in, f->u->p, f->name);
  return f->formal;
}

static bool prepare(Callable *f) {
  Use *u = f->u;
  const Diagram *d = callable_diagram(f);
  return d && diagram_is_small(u->w, d) && use_open(u) && use_new_store(u) &&
         (!sizes_known(u->w, d) || add_weights(f, d));
}

Callable *callable_of(Use *u, const char *name) {
  Callable *f = u->callable = NEW(u->arena, Callable);
  *f = (Callable){.u = u, .keep = u->arena, .name = name, .noise_by_batch = true};
  return f;
}

Outcome callable_open(Elab *in, Program *p, Arena *keep, const char *name, const LimnPrepare *how,
                      const Arrays *set, Callable **out) {
  Callable *f = *out = NEW(keep, Callable);
  LimnUse *options = NEW(keep, LimnUse);
  UseCall *call = NEW(keep, UseCall);
  Use *u = NEW(keep, Use);
  *options = (LimnUse){.from = how->from,
                       .seed = how->seed,
                       .has_seed = how->has_seed,
                       .threads = how->threads,
                       .precision = how->precision,
                       .reference = how->reference,
                       .say = how->say,
                       .say_to = how->say_to,
                       .stop = how->stop};
  *call = (UseCall){.how = options, .set = set};
  *u = (Use){.in = in,
             .w = elab_world(in),
             .p = p,
             .arena = keep, // weights are read into this arena
             .call = call,
             .how = options,
             .begins = !how->from,
             .training = how->training};
  *f = (Callable){.u = u, .keep = keep, .name = arena_text(keep, name, strlen(name))};
  bool good = prepare(f);
  u->arena = u->w->arena;
  options->from = NULL; // the text belongs to the caller
  return good ? OUTCOME_GOOD : u->status ? u->status : OUTCOME_WRONG;
}

void callable_forget(Callable *f) {
  for (uint32_t i = 0; i < f->compiled.n; i++) engine_free(f->compiled.at[i].engine);
  arena_free(f->sizes);
  f->sizes = NULL;
  f->compiled.at = NULL, f->compiled.n = f->compiled.cap = 0;
  f->formal = NULL;
  f->attempts = 0;
}

void callable_close(Callable *f) {
  callable_forget(f);
  pool_free(f->pool);
  store_free(f->u->store);
  f->u->store = NULL;
}

Precision callable_precision(const Callable *f) { return f->u->precision; }
bool callable_is_full(const Callable *f) { return f->attempts > MOST_COMPILED; }

// -- shapes ---------------------------------------------------------------------------------------
static bool read_shape(Callable *f, const CallOf *c, const LimnArray *from, Array *x) {
  const char *error;
  int64_t count;
  if (!array_size(c->scratch, from, &count, &error))
    return use_wrong(f->u, OUTCOME_WRONG, "%s", error);
  *x = (Array){.name = "",
               .kind = memory_element(from->type),
               .rank = from->rank,
               .shape = arena_copy(c->scratch, from->shape, from->rank * sizeof(int64_t)),
               .count = count};
  return true;
}

static int64_t cells_of(World *w, const Type *t, int64_t n, int64_t *shape) {
  int64_t count = 1;
  engine_shape(w, t, n, shape);
  for (uint32_t i = 0; i < t->rank; i++) count *= shape[i];
  return count;
}

// which: 0, 1, … among the cotangents that are given
static bool has_cotangent_shape(Callable *f, const CallOf *c, const Type *t, int64_t n,
                                const Array *x, uint32_t which) {
  int64_t shape[ARRAY_RANK_LIMIT];
  cells_of(f->u->w, t, n, shape);
  bool fits = x->rank == t->rank;
  for (uint32_t i = 0; fits && i < t->rank; i++) fits = x->shape[i] == shape[i];
  if (fits) return true;
  Array wanted = {.rank = t->rank, .shape = shape};
  return use_wrong(f->u, OUTCOME_WRONG, "the cotangent of result %u is %s, but the result is %s",
                   which + 1, array_type(c->scratch, x), array_type(c->scratch, &wanted));
}

// -- compiled for these sizes ---------------------------------------------------------------------
static bool fits_call(const CompiledCall *m, const CallOf *c, const Array *x, uint32_t n,
                      int64_t *samples) {
  if (m->grad != (c->grads != NULL) || m->order != c->order || m->d->in.n != n) return false;
  *samples = 0;
  for (uint32_t i = 0; i < n; i++) {
    const CallShape *s = &m->in[i];
    if (s->rank != x[i].rank) return false;
    if (s->samples && *samples && x[i].shape[0] != *samples) return false;
    if (s->samples) *samples = x[i].shape[0];
    for (uint32_t k = s->samples; k < s->rank; k++)
      if (s->shape[k] != x[i].shape[k]) return false;
  }
  if (!m->samples) return true;
  return m->whole ? *samples == m->samples : *samples <= m->samples || !m->one_batch;
}

static const CompiledCall *find_compiled(const Callable *f, const CallOf *c, const Array *x,
                                         int64_t *n) {
  for (uint32_t i = f->compiled.n; i-- > 0;)
    if (fits_call(&f->compiled.at[i], c, x, c->nin, n)) return &f->compiled.at[i];
  return NULL;
}

// A copy without state updates.
static const Diagram *without_next(World *w, const Diagram *d) {
  Diagram *own = arena_copy(w->arena, d, sizeof *d);
  own->param.at = arena_copy(w->arena, d->param.at, d->param.n * sizeof *d->param.at);
  for (uint32_t i = 0; i < own->param.n; i++) own->param.at[i].next = 0;
  return own;
}

static Diagram *reverse_of(Callable *f, const Diagram *d, bool keep_out) {
  if (label_results(d) < d->out.n)
    return diagram_reverse(f->u->w, d, &(Wanted){.keep_out = keep_out});
  use_wrong(f->u, OUTCOME_WRONG, "labels have no gradient");
  return NULL;
}

// The box itself; with gradients, a diagram from its inputs and cotangents to its results and the
// gradients of inputs and weights.
static const Diagram *diagram_to_run(Callable *f, const Diagram *d, bool grad) {
  World *w = f->u->w;
  const Diagram *runs = grad ? reverse_of(f, d, true) : d;
  return runs ? passes_step(w, without_next(w, runs)) : NULL;
}

static const Diagram *derivative_of(Callable *f, const Diagram *d, uint32_t order) {
  for (; d && order; order--) {
    Diagram *back = reverse_of(f, d, false);
    GradientNames names = gradient_names(f->u->w, f->u->w->arena, d);
    for (uint32_t i = 0; back && i < names.n; i++)
      vec_push(f->u->w->arena, &back->out_name, name_from(f->u->w->names, names.at[i]));
    d = back;
  }
  return d && diagram_is_small(f->u->w, d) ? d : NULL;
}

static int64_t power_of_two_above(int64_t n) {
  int64_t p = 1;
  while (p < n && p < INT64_MAX / 2) p *= 2;
  return p;
}

// If an engine was too small before, the next one is compiled for a power of two, so that growth is
// geometric.
static int64_t samples_for(const Callable *f, const CompiledCall *m, int64_t n) {
  bool before = false;
  for (uint32_t i = 0; i < f->compiled.n; i++)
    before |= f->compiled.at[i].instance == m->instance && f->compiled.at[i].order == m->order &&
              f->compiled.at[i].grad == m->grad && !f->compiled.at[i].whole;
  if (!m->one_batch) {
    int64_t most = samples_per_batch(f->u->w, m->d, SAMPLES_AT_ONCE);
    if (n > most) return most;
  }
  return before ? power_of_two_above(n) : n;
}

static CallShape *copy_shapes(Callable *f, const Diagram *d, const Array *given) {
  CallShape *in = NEW_ARRAY(f->sizes, CallShape, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++)
    in[i] =
        (CallShape){.rank = given[i].rank,
                    .shape = arena_copy(f->sizes, given[i].shape, given[i].rank * sizeof(int64_t)),
                    .samples = is_sample_axis(f->u->w, &d->wire.at[d->in.at[i]].type)};
  return in;
}

static bool open_engine(Callable *f, CompiledCall *m, int64_t samples) {
  Use *u = f->u;
  Target how = use_target(u);
  if (!f->pool && !how.reference) f->pool = pool_new(how.threads);
  how.pool = f->pool;
  m->samples = samples;
  m->engine =
      engine_new_fitting(u->w, m->runs, u->store, &m->samples, samples && !m->one_batch, &how);
  m->whole = m->engine && engine_full_batches_only(m->engine);
  return m->engine != NULL;
}

// Do the inputs after those of the box fit the derivative? There is one cotangent for each result.
static bool cotangents_fit(Callable *f, const CallOf *c, const Diagram *d, const Array *x,
                           int64_t n) {
  if (c->nin != d->in.n)
    return use_wrong(f->u, OUTCOME_WRONG,
                     "the derivative of order %u of `%s` takes %u arrays, and %u are given",
                     c->order, f->name, d->in.n, c->nin);
  uint32_t own = f->formal->in.n;
  for (uint32_t i = own; i < d->in.n; i++)
    if (!has_cotangent_shape(f, c, &d->wire.at[d->in.at[i]].type, n, &x[i], i - own)) return false;
  return true;
}

static const CompiledCall *compile_for(Callable *f, const CallOf *c, Array *x, int64_t *n) {
  Use *u = f->u;
  Array *given = arena_copy(c->scratch, x, c->nin * sizeof *x);
  CompiledCall m = {.grad = c->grads != NULL, .order = c->order};
  f->attempts++;
  if (!f->sizes) f->sizes = arena_child(f->keep);
  m.instance = use_instance(u, f->name, f->formal, x, n);
  if (!m.instance || !diagram_is_small(u->w, m.instance) || (!u->store && !use_new_store(u)) ||
      !add_weights(f, m.instance))
    return NULL;
  m.d = derivative_of(f, m.instance, m.order);
  if (!m.d || !cotangents_fit(f, c, m.d, x, *n)) return NULL;
  m.runs = diagram_to_run(f, m.d, m.grad);
  if (!m.runs) return NULL;
  bool samples = has_sample_axis(u->w, m.d);
  m.one_batch = m.grad || m.order || u->training || (m.instance->noisy && !f->noise_by_batch) ||
                (samples && samples_interact(u->w, m.d));
  m.in = copy_shapes(f, m.d, given);
  int64_t room = samples ? samples_for(f, &m, *n) : 0;
  if (!open_engine(f, &m, room)) return NULL;
  if (m.whole && room > *n) { // then compile for exactly n samples
    engine_free(m.engine);
    if (!open_engine(f, &m, *n)) return NULL;
  }
  vec_push(f->sizes, &f->compiled, m);
  return &f->compiled.at[f->compiled.n - 1];
}

// -- inputs ---------------------------------------------------------------------------------------
static bool match_inputs(Callable *f, const CallOf *c, const LimnInput **in, Array *x) {
  Use *u = f->u;
  uint32_t own = f->formal->in.n, n = c->order && c->nin > own ? own : c->nin;
  if (!inputs_match(u->w, f->formal, c->in, n, in)) return f->attempts++, false;
  for (uint32_t i = own; i < c->nin; i++) in[i] = &c->in[i]; // cotangents
  for (uint32_t i = 0; i < c->nin; i++) {
    if (!in[i]->array)
      return use_wrong(u, OUTCOME_USAGE, "an input of a function is an array in memory");
    if (!read_shape(f, c, in[i]->array, &x[i])) return false;
    if (i < own && !input_is_nonempty(u, f->formal, i, &x[i])) return false;
  }
  return true;
}

typedef struct {
  const CompiledCall *compiled;
  const LimnInput **in;
  Array *x;
  int64_t n; // number of samples
} CallWork;

// The samples from `first` on.
static LimnArray samples_from(const LimnArray *x, int64_t first, int64_t *shape) {
  LimnArray part = *x;
  for (uint32_t i = 1; i < x->rank; i++) shape[i] = x->shape[i];
  int64_t step = x->strides ? x->strides[0] : array_row_bytes(x);
  part.shape = shape;
  part.data = (char *)x->data + first * step;
  return part;
}

static bool write_input(Callable *f, const CallWork *k, uint32_t i, int64_t first, int64_t n) {
  const CompiledCall *m = k->compiled;
  int64_t shape[ARRAY_RANK_LIMIT] = {n}, wrong;
  double value;
  LimnArray from = *k->in[i]->array;
  int64_t count = k->x[i].count;
  if (m->in[i].samples)
    count = count / k->x[i].shape[0] * n, from = samples_from(&from, first, shape);
  CellsTo to = {.at = engine_in(m->engine, i),
                .number = engine_in_number(m->engine, i),
                .labels = labels_of(f->u->w, &m->d->wire.at[m->d->in.at[i]].type)};
  if (cells_from_memory(&from, count, to, &wrong, &value)) return true;
  return label_refuse(f->u, m->d, i, NULL, &k->x[i], wrong + first * (count / n), value);
}

// Writes the cotangent of a result that is not a label; 1 if none is given.
static bool write_cotangent(Callable *f, const CallOf *c, const CallWork *k, uint32_t out,
                            uint32_t at) {
  const Diagram *d = k->compiled->d;
  const Type *t = &d->wire.at[d->out.at[out]].type;
  int64_t shape[ARRAY_RANK_LIMIT], wrong, count = cells_of(f->u->w, t, k->n, shape);
  double one = 1, value;
  LimnArray ones = {LIMN_F64, t->rank, shape, (int64_t[ARRAY_RANK_LIMIT]){0}, &one};
  const LimnArray *dy = c->ndy ? &c->dy[out] : &ones;
  Array x;
  if (!read_shape(f, c, dy, &x) || !has_cotangent_shape(f, c, t, k->n, &x, out)) return false;
  CellsTo to = {.at = engine_in(k->compiled->engine, at),
                .number = engine_in_number(k->compiled->engine, at)};
  return cells_from_memory(dy, count, to, &wrong, &value);
}

static bool write_cotangents(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->compiled->d;
  uint32_t at = d->in.n;
  if (c->ndy && c->ndy != d->out.n)
    return use_wrong(f->u, OUTCOME_WRONG, "`%s` has %u results, and %u cotangents are given",
                     f->name, d->out.n, c->ndy);
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base != BASE_LABEL && !write_cotangent(f, c, k, i, at++))
      return false;
  return true;
}

// -- outputs --------------------------------------------------------------------------------------
// A result in the engine's own memory.
static LimnNamedArray array_out(Callable *f, const CallOf *c, const CallWork *k, uint32_t i,
                                const char *name) {
  const CompiledCall *m = k->compiled;
  const Type *t = &m->runs->wire.at[m->runs->out.at[i]].type;
  int64_t *shape = NEW_ARRAY(c->keep, int64_t, t->rank + 1);
  cells_of(f->u->w, t, k->n, shape);
  return (LimnNamedArray){arena_text(c->keep, name, strlen(name)),
                          {.type = number_type(engine_out_number(m->engine, i)),
                           .rank = t->rank,
                           .shape = shape,
                           .data = (void *)(uintptr_t)engine_out(m->engine, i)}};
}

static void return_results(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->compiled->d;
  LimnNamedArray *out = NEW_ARRAY(c->keep, LimnNamedArray, d->out.n + 1);
  for (uint32_t i = 0; i < d->out.n; i++)
    out[i] = array_out(f, c, k, i, diagram_result_text(f->u->w, c->scratch, d, i));
  *c->out = (LimnArrays){d->out.n, out};
}

static void return_gradients(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->compiled->d;
  GradientNames names = gradient_names(f->u->w, c->scratch, d);
  LimnNamedArray *at = NEW_ARRAY(c->keep, LimnNamedArray, names.n + 1);
  for (uint32_t i = 0; i < names.n; i++) at[i] = array_out(f, c, k, d->out.n + i, names.at[i]);
  *c->grads = (LimnArrays){names.n, at};
}

// Copies the results of a batch into arrays for all samples.
static void store_batch(Callable *f, const CallWork *k, char **all, int64_t first, int64_t n,
                        Arena *keep) {
  const CompiledCall *m = k->compiled;
  for (uint32_t i = 0; i < m->d->out.n; i++) {
    const Type *t = &m->runs->wire.at[m->runs->out.at[i]].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    size_t cell = number_bytes(engine_out_number(m->engine, i));
    int64_t count = cells_of(f->u->w, t, k->n, shape);
    bool samples = is_sample_axis(f->u->w, t);
    if (!all[i]) all[i] = arena_alloc(keep, (size_t)count * cell + 1);
    int64_t each = samples ? count / k->n : count;
    memcpy(all[i] + (samples ? (size_t)(first * each) * cell : 0), engine_out(m->engine, i),
           (size_t)(samples ? n * each : each) * cell);
  }
}

// -- calling --------------------------------------------------------------------------------------
static bool run_part(Callable *f, const CallOf *c, const CallWork *k, int64_t first, int64_t n) {
  const CompiledCall *m = k->compiled;
  uint64_t part = m->samples ? (uint64_t)(first / m->samples) : 0;
  for (uint32_t i = 0; i < m->d->in.n; i++)
    if (!write_input(f, k, i, first, n)) return false;
  if (c->grads && !write_cotangents(f, c, k)) return false;
  if (engine_run(m->engine, m->samples ? n : 0, c->step + (part << 40)) != RUN_FAILED) return true;
  return use_wrong(f->u, OUTCOME_WRONG, "%s", engine_error(m->engine));
}

static bool run_parts(Callable *f, const CallOf *c, const CallWork *k) {
  const CompiledCall *m = k->compiled;
  char **all = NEW_ARRAY(c->scratch, char *, m->d->out.n + 1);
  for (int64_t first = 0; first < k->n; first += m->samples) {
    int64_t n = k->n - first < m->samples ? k->n - first : m->samples;
    if (!run_part(f, c, k, first, n)) return false;
    store_batch(f, k, all, first, n, c->keep);
  }
  return_results(f, c, k);
  LimnNamedArray *out = (LimnNamedArray *)(uintptr_t)c->out->at;
  for (uint32_t i = 0; i < m->d->out.n; i++) out[i].array.data = all[i];
  return true;
}

static bool call(Callable *f, const CallOf *c) {
  const Diagram *formal = callable_diagram(f);
  if (!formal) return f->attempts++, false;
  uint32_t most = formal->in.n > c->nin ? formal->in.n : c->nin;
  CallWork k = {.in = NEW_ARRAY(c->scratch, const LimnInput *, most + 1),
                .x = NEW_ARRAY(c->scratch, Array, most + 1)};
  if (!match_inputs(f, c, k.in, k.x)) return false;
  k.compiled = find_compiled(f, c, k.x, &k.n);
  if (!k.compiled) k.compiled = compile_for(f, c, k.x, &k.n);
  if (!k.compiled) return false;
  if (k.compiled->samples && k.n > k.compiled->samples) return run_parts(f, c, &k);
  if (!run_part(f, c, &k, 0, k.compiled->samples ? k.n : 1)) return false;
  return_results(f, c, &k);
  if (c->grads) return_gradients(f, c, &k);
  return true;
}

Outcome callable_call(Callable *f, const CallOf *c) {
  f->u->status = OUTCOME_GOOD;
  bool good = call(f, c);
  if (!good && f->u->status == OUTCOME_GOOD) f->u->status = OUTCOME_WRONG;
  return f->u->status;
}

bool callable_takes(Callable *f, Array *x) {
  int64_t n;
  return use_instance(f->u, f->name, callable_diagram(f), x, &n) != NULL;
}

bool callable_arrays(Callable *f, const ArraysCall *c, Arrays *out) {
  Use *u = f->u;
  const char *error;
  uint32_t n = callable_diagram(f)->in.n;
  LimnArray *memory = NEW_ARRAY(c->keep, LimnArray, n + 1);
  LimnInput *in = NEW_ARRAY(c->keep, LimnInput, n + 1);
  LimnArrays results;
  for (uint32_t i = 0; i < n; i++) {
    const Array *x = &c->in[i];
    memory[i] = (LimnArray){.type = LIMN_F64, .rank = x->rank, .shape = x->shape, .data = x->data};
    in[i] = (LimnInput){.name = "", .array = &memory[i]};
  }
  CallOf how = {
      .in = in, .nin = n, .step = c->step, .out = &results, .scratch = c->keep, .keep = c->keep};
  if (!call(f, &how)) return false;
  for (uint32_t i = 0; i < results.n; i++) {
    Array x;
    if (!array_from_memory(c->keep, &results.at[i].array, &x, &error))
      return use_wrong(u, OUTCOME_WRONG, "%s", error);
    x.name = results.at[i].name;
    if (x.kind == EL_F64 && u->precision != PRECISION_64) x.kind = EL_F32;
    vec_push(c->keep, &out->array, x);
  }
  return true;
}

// -- weights --------------------------------------------------------------------------------------
// The weight or buffer of the box with this path; NULL: none.
static const Param *weight_at(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    bool is_state = p->role == ROLE_WEIGHT || p->role == ROLE_BUFFER;
    if (is_state && strcmp(p->path, path) == 0) return p;
  }
  return NULL;
}

void callable_weights(Callable *f, Arena *a, bool buffers, LimnArrays *out) {
  Store *s = f->u->store;
  const Diagram *d = callable_diagram(f);
  LimnNamedArray *at = NEW_ARRAY(a, LimnNamedArray, store_count(s) + 1);
  *out = (LimnArrays){.at = at};
  for (uint32_t i = 0; d && i < store_count(s); i++) {
    const State *x = store_at(s, i);
    const Param *p = weight_at(d, x->path);
    if (p && (p->role == ROLE_BUFFER) == buffers)
      at[out->n++] = (LimnNamedArray){
          x->path,
          {.type = number_type(x->number), .rank = x->rank, .shape = x->shape, .data = x->data}};
  }
}

static bool weight_put(Callable *f, State *s, int64_t labels, const LimnArray *from) {
  Use *u = f->u;
  const char *error;
  int64_t count, wrong;
  double value;
  if (!array_size(u->w->arena, from, &count, &error))
    return f->attempts++, use_wrong(u, OUTCOME_USAGE, "%s", error);
  bool fits = from->rank == s->rank;
  for (uint32_t i = 0; fits && i < s->rank; i++) fits = from->shape[i] == s->shape[i];
  if (!fits)
    return f->attempts++,
           use_wrong(u, OUTCOME_WRONG, "weight %s has another shape than %s", s->path,
                     array_type(u->w->arena, &(Array){.kind = memory_element(from->type),
                                                      .rank = from->rank,
                                                      .shape = (int64_t *)(uintptr_t)from->shape}));
  if (cells_from_memory(from, count, (CellsTo){s->data, s->number, labels}, &wrong, &value))
    return true;
  return use_wrong(u, OUTCOME_WRONG, "%s holds %g, which is not one of its %lld values", s->path,
                   value, (long long)labels);
}

Outcome callable_weight_set(Callable *f, const char *path, const LimnArray *from) {
  Use *u = f->u;
  const Diagram *d = callable_diagram(f);
  const Param *p = d ? weight_at(d, path) : NULL;
  State *s = p ? store_find(u->store, path) : NULL;
  u->status = OUTCOME_GOOD;
  if (!s)
    use_wrong(u, OUTCOME_WRONG, "`%s` has no weight `%s`", f->name, path);
  else
    weight_put(f, s, labels_of(u->w, &d->wire.at[p->wire].type), from);
  return u->status;
}
