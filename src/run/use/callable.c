// A box, learner, goal or measure made ready to be called again and again. Arrays come in, arrays
// and gradients go out; between them is an engine that was compiled for such sizes and is kept.
//
// Its weights are its own, in one store under all its engines. Samples in front of the inputs are
// any number: values go through in parts, and what needs all samples at once (noise, batch
// statistics, sums, gradients of weights) in one. No call changes a weight.
//
// A derivative of some order is the reverse derivative of the box taken so often, with its weights:
// what comes in are its inputs, and behind them a cotangent for each result that each one took.
#include "core/pass/pipeline.h"
#include "run/use/use_own.h"

enum { MADE_MOST = 64, SAMPLES_AT_ONCE = 1024 };

typedef struct {
  uint32_t rank;
  int64_t *shape; // the first is not looked at where there are samples
  bool samples;
} CallShape;

typedef struct { // an engine, and what it was made for
  bool grad;
  uint32_t order;
  CallShape *in;           // [input]
  const Diagram *instance; // the box for these sizes
  const Diagram *d, *runs; // its derivative of this order, and what the engine runs
  Engine *engine;
  int64_t samples; // the most at once; 0: there are none
  bool whole;      // and no fewer
  bool at_once;
} CallMade;

struct Callable {
  Use u;
  UseCall call;
  LimnUse how;
  const char *name;
  Arena *keep, *sizes;   // sizes: of what was made
  const Diagram *formal; // NULL: not made
  VEC(CallMade) made;
  Pool *pool;     // of all its engines
  uint32_t tries; // what they cost stays until all is forgotten
};

// -- opening --------------------------------------------------------------------------------------
static bool is_known(World *w, const Diagram *d) {
  int64_t n;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!type_count(w, &d->wire.at[d->param.at[i].wire].type, &n)) return false;
  return true;
}

// Weights that are there keep their values.
static bool add_weights(Callable *f, const Diagram *d) {
  Use *u = &f->u;
  uint32_t before = store_count(u->store);
  return store_add_params(u->w, u->store, d, u->seed) &&
         (before == store_count(u->store) ||
          use_fill_from(u, u->store, before, weight_paths(u->arena, d)));
}

const Diagram *callable_diagram(Callable *f) {
  if (!f->formal) f->formal = diagram_trained(f->u.in, f->u.p, f->name);
  return f->formal;
}

static bool prepare(Callable *f) {
  Use *u = &f->u;
  const Diagram *d = callable_diagram(f);
  return d && diagram_is_small(u->w, d) && use_read(u) && use_store(u) &&
         (!is_known(u->w, d) || add_weights(f, d));
}

Callable *callable_open(Elab *in, Program *p, Arena *keep, const char *name, const LimnPrepare *how,
                        const Arrays *set, Outcome *end) {
  Callable *f = NEW(keep, Callable);
  World *w = elab_world(in);
  f->keep = keep;
  f->name = arena_text(keep, name, strlen(name));
  f->how = (LimnUse){.from = how->from,
                     .seed = how->seed,
                     .has_seed = how->has_seed,
                     .threads = how->threads,
                     .precision = how->precision,
                     .reference = how->reference,
                     .say = how->say,
                     .say_to = how->say_to,
                     .stop = how->stop};
  f->call = (UseCall){.how = &f->how, .set = set};
  f->u = (Use){.in = in,
               .w = w,
               .p = p,
               .arena = keep, // of weights out of a file
               .call = &f->call,
               .how = &f->how,
               .begins = !how->from,
               .training = how->training};
  bool good = prepare(f);
  f->u.arena = w->arena;
  f->how.from = NULL; // its text is the caller's
  *end = good ? OUTCOME_GOOD : f->u.status ? f->u.status : OUTCOME_WRONG;
  return f;
}

void callable_forget(Callable *f) {
  for (uint32_t i = 0; i < f->made.n; i++) engine_free(f->made.at[i].engine);
  arena_free(f->sizes);
  f->sizes = NULL;
  f->made.at = NULL, f->made.n = f->made.cap = 0;
  f->formal = NULL;
  f->tries = 0;
}

void callable_close(Callable *f) {
  callable_forget(f);
  pool_free(f->pool);
  store_free(f->u.store);
  f->u.store = NULL;
}

Precision callable_precision(const Callable *f) { return f->u.precision; }
bool callable_is_full(const Callable *f) { return f->tries > MADE_MOST; }

// -- shapes ---------------------------------------------------------------------------------------
static bool take_shape(Callable *f, const CallOf *c, const LimnArray *from, Array *x) {
  const char *error;
  int64_t count;
  if (!array_size(c->scratch, from, &count, &error))
    return use_wrong(&f->u, OUTCOME_WRONG, "%s", error);
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

// which: 0, 1, … among those that are given
static bool has_cotangent_shape(Callable *f, const CallOf *c, const Type *t, int64_t n,
                                const Array *x, uint32_t which) {
  int64_t shape[ARRAY_RANK_LIMIT];
  cells_of(f->u.w, t, n, shape);
  bool fits = x->rank == t->rank;
  for (uint32_t i = 0; fits && i < t->rank; i++) fits = x->shape[i] == shape[i];
  if (fits) return true;
  Array wanted = {.rank = t->rank, .shape = shape};
  return use_wrong(&f->u, OUTCOME_WRONG, "the cotangent of result %u is %s, but the result is %s",
                   which + 1, array_type(c->scratch, x), array_type(c->scratch, &wanted));
}

// -- for these sizes ------------------------------------------------------------------------------
static bool is_for(const CallMade *m, const CallOf *c, const Array *x, uint32_t n,
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
  return m->whole ? *samples == m->samples : *samples <= m->samples || !m->at_once;
}

static const CallMade *find_made(const Callable *f, const CallOf *c, const Array *x, int64_t *n) {
  for (uint32_t i = f->made.n; i-- > 0;)
    if (is_for(&f->made.at[i], c, x, c->nin, n)) return &f->made.at[i];
  return NULL;
}

// The same, but nothing lasts.
static const Diagram *without_next(World *w, const Diagram *d) {
  Diagram *own = arena_copy(w->arena, d, sizeof *d);
  own->param.at = arena_copy(w->arena, d->param.at, d->param.n * sizeof *d->param.at);
  for (uint32_t i = 0; i < own->param.n; i++) own->param.at[i].next = 0;
  return own;
}

static bool any_moves(const Diagram *d) {
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base != BASE_LABEL) return true;
  return false;
}

static Diagram *reverse_of(Callable *f, const Diagram *d, bool keep_out) {
  if (any_moves(d)) return diagram_reverse(f->u.w, d, &(Wanted){.keep_out = keep_out});
  use_wrong(&f->u, OUTCOME_WRONG, "labels have no gradient");
  return NULL;
}

// Values alone: the box. With gradients: its results and cotangents to those of inputs and weights.
static const Diagram *diagram_to_run(Callable *f, const Diagram *d, bool grad) {
  World *w = f->u.w;
  const Diagram *runs = grad ? reverse_of(f, d, true) : d;
  return runs ? passes_step(w, without_next(w, runs)) : NULL;
}

// A gradient has the name of the input or the weight that it is of.
static void name_gradients(World *w, Diagram *back, const Diagram *d) {
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    if (wire->type.base != BASE_LABEL) vec_push(w->arena, &back->out_name, wire->name);
  }
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_WEIGHT)
      vec_push(w->arena, &back->out_name, name_from(w->names, d->param.at[i].path));
}

static const Diagram *derivative_of(Callable *f, const Diagram *d, uint32_t order) {
  for (; d && order; order--) {
    Diagram *back = reverse_of(f, d, false);
    if (back) name_gradients(f->u.w, back, d);
    d = back;
  }
  return d && diagram_is_small(f->u.w, d) ? d : NULL;
}

static int64_t power_from(int64_t n) {
  int64_t p = 1;
  while (p < n && p < INT64_MAX / 2) p *= 2;
  return p;
}

// One that was too small before is made larger than is asked for, so that growing ends soon.
static int64_t samples_for(const Callable *f, const CallMade *m, int64_t n) {
  bool before = false;
  for (uint32_t i = 0; i < f->made.n; i++)
    before |= f->made.at[i].instance == m->instance && f->made.at[i].order == m->order &&
              f->made.at[i].grad == m->grad && !f->made.at[i].whole;
  if (!m->at_once && n > SAMPLES_AT_ONCE) return SAMPLES_AT_ONCE;
  return before ? power_from(n) : n;
}

static CallShape *shapes_kept(Callable *f, const Diagram *d, const Array *given) {
  CallShape *in = NEW_ARRAY(f->sizes, CallShape, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++)
    in[i] =
        (CallShape){.rank = given[i].rank,
                    .shape = arena_copy(f->sizes, given[i].shape, given[i].rank * sizeof(int64_t)),
                    .samples = is_sample_axis(f->u.w, &d->wire.at[d->in.at[i]].type)};
  return in;
}

static bool open_engine(Callable *f, CallMade *m, int64_t samples) {
  Use *u = &f->u;
  Target how = use_target(u);
  if (!f->pool && !how.reference) f->pool = pool_new(how.threads);
  how.pool = f->pool;
  m->samples = samples;
  m->engine = engine_with_room(u->w, m->runs, u->store, &m->samples, samples && !m->at_once, &how);
  m->whole = m->engine && engine_is_whole(m->engine);
  return m->engine != NULL;
}

// What follows the inputs of the box fits the derivative: one cotangent for each result.
static bool cotangents_fit(Callable *f, const CallOf *c, const Diagram *d, const Array *x,
                           int64_t n) {
  if (c->nin != d->in.n)
    return use_wrong(&f->u, OUTCOME_WRONG,
                     "the derivative of order %u of `%s` takes %u arrays, and %u are given",
                     c->order, f->name, d->in.n, c->nin);
  uint32_t own = f->formal->in.n;
  for (uint32_t i = own; i < d->in.n; i++)
    if (!has_cotangent_shape(f, c, &d->wire.at[d->in.at[i]].type, n, &x[i], i - own)) return false;
  return true;
}

static const CallMade *make(Callable *f, const CallOf *c, Array *x, int64_t *n) {
  Use *u = &f->u;
  Array *given = arena_copy(c->scratch, x, c->nin * sizeof *x);
  CallMade m = {.grad = c->grads != NULL, .order = c->order};
  f->tries++;
  if (!f->sizes) f->sizes = arena_child(f->keep);
  m.instance = use_instance(u, f->name, f->formal, x, n);
  if (!m.instance || !diagram_is_small(u->w, m.instance) || !add_weights(f, m.instance))
    return NULL;
  m.d = derivative_of(f, m.instance, m.order);
  if (!m.d || !cotangents_fit(f, c, m.d, x, *n)) return NULL;
  m.runs = diagram_to_run(f, m.d, m.grad);
  if (!m.runs) return NULL;
  bool samples = has_sample_axis(u->w, m.d);
  m.at_once =
      m.grad || m.order || u->training || m.instance->noisy || has_sample_axis(u->w, f->formal);
  m.in = shapes_kept(f, m.d, given);
  int64_t room = samples ? samples_for(f, &m, *n) : 0;
  if (!open_engine(f, &m, room)) return NULL;
  if (m.whole && room > *n) { // then for exactly these
    engine_free(m.engine);
    if (!open_engine(f, &m, *n)) return NULL;
  }
  vec_push(f->sizes, &f->made, m);
  return &f->made.at[f->made.n - 1];
}

// -- arrays in ------------------------------------------------------------------------------------
static bool take_inputs(Callable *f, const CallOf *c, const LimnInput **in, Array *x) {
  Use *u = &f->u;
  uint32_t own = f->formal->in.n, n = c->order && c->nin > own ? own : c->nin;
  if (!inputs_match(u->w, f->formal, c->in, n, in)) return f->tries++, false;
  for (uint32_t i = own; i < c->nin; i++) in[i] = &c->in[i]; // cotangents
  for (uint32_t i = 0; i < c->nin; i++) {
    if (!in[i]->array)
      return use_wrong(u, OUTCOME_USAGE, "an input of a function is an array in memory");
    if (!take_shape(f, c, in[i]->array, &x[i])) return false;
    if (i < own && !input_has_places(u, f->formal, i, &x[i])) return false;
  }
  return true;
}

typedef struct {
  const CallMade *made;
  const LimnInput **in;
  Array *x;
  int64_t n; // samples in all
} CallWork;

// Samples from this one on.
static LimnArray part_of(const LimnArray *x, int64_t first, int64_t *shape) {
  LimnArray part = *x;
  for (uint32_t i = 1; i < x->rank; i++) shape[i] = x->shape[i];
  int64_t step = x->strides ? x->strides[0] : array_row_bytes(x);
  part.shape = shape;
  part.data = (char *)x->data + first * step;
  return part;
}

static bool put_input(Callable *f, const CallWork *k, uint32_t i, int64_t first, int64_t n) {
  const CallMade *m = k->made;
  int64_t shape[ARRAY_RANK_LIMIT] = {n}, wrong;
  double value;
  LimnArray from = *k->in[i]->array;
  int64_t count = k->x[i].count;
  if (m->in[i].samples) count = count / k->x[i].shape[0] * n, from = part_of(&from, first, shape);
  CellsTo to = {.at = engine_in(m->engine, i),
                .number = engine_in_number(m->engine, i),
                .labels = labels_of(f->u.w, &m->d->wire.at[m->d->in.at[i]].type)};
  if (cells_from_memory(&from, count, to, &wrong, &value)) return true;
  return label_refuse(&f->u, m->d, i, NULL, &k->x[i], wrong + first * (count / n), value);
}

// A cotangent for each result that is not a label.
static bool put_cotangent(Callable *f, const CallOf *c, const CallWork *k, uint32_t out,
                          uint32_t at) {
  const Diagram *d = k->made->d;
  const Type *t = &d->wire.at[d->out.at[out]].type;
  int64_t shape[ARRAY_RANK_LIMIT], wrong, count = cells_of(f->u.w, t, k->n, shape);
  double one = 1, value;
  LimnArray ones = {LIMN_F64, t->rank, shape, (int64_t[ARRAY_RANK_LIMIT]){0}, &one};
  const LimnArray *dy = c->ndy ? &c->dy[out] : &ones;
  Array x;
  if (!take_shape(f, c, dy, &x) || !has_cotangent_shape(f, c, t, k->n, &x, out)) return false;
  CellsTo to = {.at = engine_in(k->made->engine, at),
                .number = engine_in_number(k->made->engine, at)};
  return cells_from_memory(dy, count, to, &wrong, &value);
}

static bool put_cotangents(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->made->d;
  uint32_t at = d->in.n;
  if (c->ndy && c->ndy != d->out.n)
    return use_wrong(&f->u, OUTCOME_WRONG, "`%s` has %u results, and %u cotangents are given",
                     f->name, d->out.n, c->ndy);
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base != BASE_LABEL && !put_cotangent(f, c, k, i, at++))
      return false;
  return true;
}

// -- arrays out -----------------------------------------------------------------------------------
// One result of an engine, where it lies.
static LimnNamedArray array_out(Callable *f, const CallOf *c, const CallWork *k, uint32_t i,
                                const char *name) {
  const CallMade *m = k->made;
  const Type *t = &m->runs->wire.at[m->runs->out.at[i]].type;
  int64_t *shape = NEW_ARRAY(c->keep, int64_t, t->rank + 1);
  cells_of(f->u.w, t, k->n, shape);
  return (LimnNamedArray){arena_text(c->keep, name, strlen(name)),
                          {.type = number_type(engine_out_number(m->engine, i)),
                           .rank = t->rank,
                           .shape = shape,
                           .data = (void *)(uintptr_t)engine_out(m->engine, i)}};
}

static void give_results(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->made->d;
  LimnNamedArray *out = NEW_ARRAY(c->keep, LimnNamedArray, d->out.n + 1);
  for (uint32_t i = 0; i < d->out.n; i++)
    out[i] = array_out(f, c, k, i, diagram_result_text(f->u.w, c->scratch, d, i));
  *c->out = (LimnArrays){d->out.n, out};
}

static void give_gradients(Callable *f, const CallOf *c, const CallWork *k) {
  const Diagram *d = k->made->d;
  LimnNamedArray *at = NEW_ARRAY(c->keep, LimnNamedArray, k->made->runs->out.n + 1);
  uint32_t n = 0, from = d->out.n;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *name = name_text(f->u.w->names, wire->name);
    if (wire->type.base == BASE_LABEL) continue;
    if (!*name) name = arena_format(c->keep, "in.%u", i + 1);
    at[n] = array_out(f, c, k, from + n, name), n++;
  }
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_WEIGHT)
      at[n] = array_out(f, c, k, from + n, d->param.at[i].path), n++;
  *c->grads = (LimnArrays){n, at};
}

// Results of parts are put one behind the other.
static void keep_part(Callable *f, const CallWork *k, char **all, int64_t first, int64_t n,
                      Arena *keep) {
  const CallMade *m = k->made;
  for (uint32_t i = 0; i < m->d->out.n; i++) {
    const Type *t = &m->runs->wire.at[m->runs->out.at[i]].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    size_t cell = number_bytes(engine_out_number(m->engine, i));
    int64_t count = cells_of(f->u.w, t, k->n, shape);
    bool samples = is_sample_axis(f->u.w, t);
    if (!all[i]) all[i] = arena_alloc(keep, (size_t)count * cell + 1);
    int64_t each = samples ? count / k->n : count;
    memcpy(all[i] + (samples ? (size_t)(first * each) * cell : 0), engine_out(m->engine, i),
           (size_t)(samples ? n * each : each) * cell);
  }
}

// -- calling --------------------------------------------------------------------------------------
static bool run_part(Callable *f, const CallOf *c, const CallWork *k, int64_t first, int64_t n) {
  const CallMade *m = k->made;
  uint64_t part = m->samples ? (uint64_t)(first / m->samples) : 0;
  for (uint32_t i = 0; i < m->d->in.n; i++)
    if (!put_input(f, k, i, first, n)) return false;
  if (c->grads && !put_cotangents(f, c, k)) return false;
  if (engine_run(m->engine, m->samples ? n : 0, c->step + (part << 40)) != RUN_FAILED) return true;
  return use_wrong(&f->u, OUTCOME_WRONG, "%s", engine_error(m->engine));
}

static bool run_parts(Callable *f, const CallOf *c, const CallWork *k) {
  const CallMade *m = k->made;
  char **all = NEW_ARRAY(c->scratch, char *, m->d->out.n + 1);
  for (int64_t first = 0; first < k->n; first += m->samples) {
    int64_t n = k->n - first < m->samples ? k->n - first : m->samples;
    if (!run_part(f, c, k, first, n)) return false;
    keep_part(f, k, all, first, n, c->keep);
  }
  give_results(f, c, k);
  LimnNamedArray *out = (LimnNamedArray *)(uintptr_t)c->out->at;
  for (uint32_t i = 0; i < m->d->out.n; i++) out[i].array.data = all[i];
  return true;
}

static bool call(Callable *f, const CallOf *c) {
  const Diagram *formal = callable_diagram(f);
  if (!formal) return f->tries++, false;
  uint32_t most = formal->in.n > c->nin ? formal->in.n : c->nin;
  CallWork k = {.in = NEW_ARRAY(c->scratch, const LimnInput *, most + 1),
                .x = NEW_ARRAY(c->scratch, Array, most + 1)};
  if (!take_inputs(f, c, k.in, k.x)) return false;
  k.made = find_made(f, c, k.x, &k.n);
  if (!k.made) k.made = make(f, c, k.x, &k.n);
  if (!k.made) return false;
  if (k.made->samples && k.n > k.made->samples) return run_parts(f, c, &k);
  if (!run_part(f, c, &k, 0, k.made->samples ? k.n : 1)) return false;
  give_results(f, c, &k);
  if (c->grads) give_gradients(f, c, &k);
  return true;
}

Outcome callable_call(Callable *f, const CallOf *c) {
  f->u.status = OUTCOME_GOOD;
  bool good = call(f, c);
  if (!good && f->u.status == OUTCOME_GOOD) f->u.status = OUTCOME_WRONG;
  return f->u.status;
}

// -- weights --------------------------------------------------------------------------------------
// Its number among the params of the box; those are all that there are.
static const Param *weight_at(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    bool lasts = p->role == ROLE_WEIGHT || p->role == ROLE_BUFFER;
    if (lasts && strcmp(p->path, path) == 0) return p;
  }
  return NULL;
}

void callable_weights(Callable *f, Arena *a, bool buffers, LimnArrays *out) {
  Store *s = f->u.store;
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
  Use *u = &f->u;
  const char *error;
  int64_t count, wrong;
  double value;
  if (!array_size(u->w->arena, from, &count, &error))
    return f->tries++, use_wrong(u, OUTCOME_USAGE, "%s", error);
  bool fits = from->rank == s->rank;
  for (uint32_t i = 0; fits && i < s->rank; i++) fits = from->shape[i] == s->shape[i];
  if (!fits)
    return f->tries++,
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
  Use *u = &f->u;
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
