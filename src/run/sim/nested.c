// Compares a nested system with its flattened form, both by the interpreter, bit for bit.
//
// Nested: every wiring keeps its own states and evaluates its parts. A port is evaluated on demand:
// an output by the part's own lens, an input by the lens of the surrounding wiring. This follows
// the definition of a wiring literally, and shares only the lenses with flattening. A state that
// learns is stepped by the gradient of its own wiring, parts included.
//
// Members of an array may depend on each other within one moment. A port that is read while it is
// being evaluated gets a guess, and evaluation is repeated until all guesses are right: each round
// settles at least one more member of the chain.
//
// Ticks have random inputs; in continuous time, a tick is a small Euler step.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "run/feed/feed.h"
#include "run/sim/sim_own.h"

#include <math.h>

enum { TICKS = 64, ROUNDS_LIMIT = 100000 };
static const double euler_step = 1.0 / 64;

typedef struct NestedInside NestedInside;
struct NestedInside { // an instance of a system
  const System *s;
  const char *path; // ends in `/`
  NestedInside *around;
  uint32_t part;        // index in the surrounding system
  NestedInside **inner; // [part]
  Tensor *param;        // [param of the lens]
  Tensor *more;         // [param of the diagram] those that only learning uses
  Tensor *in, *out;
  uint8_t *has_in, *has_out; // NestedKnown
};
typedef enum { NOT_ASKED, BEING_FOUND, IS_KNOWN } NestedKnown;

typedef struct { // the guessed value of a port
  NestedInside *x;
  uint32_t port;
  bool in;
  Tensor value;
} Guess;

typedef struct {
  World *w;
  Arena *arena, *tick_arena;
  uint64_t seed, tick;
  const SimOptions *how;
  Store *store; // initial weights and states
  VEC(Guess) guess;
  const char *error;
} Nested;

static Tensor output_value(Nested *, NestedInside *, uint32_t port);

static Tensor start_of(Nested *n, const Diagram *d, uint32_t i, const char *path) {
  Tensor t = {0};
  const Param *p = &d->param.at[i];
  const Type *type = &d->wire.at[p->wire].type;
  const char *full = p->rooted ? p->path : arena_format(n->arena, "%s%s", path, p->path);
  const State *known = p->role == ROLE_CLOCK ? NULL : store_find(n->store, full);
  if (known) {
    t = tensor_new(n->arena, known->rank, known->shape);
    state_get(known, t.data);
  } else if (p->role == ROLE_CLOCK) {
    int64_t shape[ARRAY_RANK_LIMIT];
    if (store_shape(n->w, type, shape, full)) t = tensor_new(n->arena, type->rank, shape);
  } else if (!init_eval(n->w, n->arena, &p->init, type, n->how->initial_seed, site_hash(0, full),
                        &t)) {
    n->error = arena_format(n->arena, "%s has no first value", full);
  }
  return t;
}

static NestedInside *inside_new(Nested *n, const System *s, NestedInside *around, uint32_t part) {
  NestedInside *x = NEW(n->arena, NestedInside);
  *x = (NestedInside){.s = s, .around = around, .part = part, .path = ""};
  if (around)
    x->path = arena_format(n->arena, "%s%s/", around->path,
                           name_text(n->w->names, around->s->part.at[part].name));
  x->param = NEW_ARRAY(n->arena, Tensor, s->lens->param.n + 1);
  for (uint32_t i = 0; i < s->lens->param.n; i++) x->param[i] = start_of(n, s->lens, i, x->path);
  x->more = NEW_ARRAY(n->arena, Tensor, s->d->param.n + 1);
  x->in = NEW_ARRAY(n->arena, Tensor, s->in.n + 1);
  x->out = NEW_ARRAY(n->arena, Tensor, s->out.n + 1);
  x->has_in = NEW_ARRAY(n->arena, uint8_t, s->in.n + 1);
  x->has_out = NEW_ARRAY(n->arena, uint8_t, s->out.n + 1);
  x->inner = NEW_ARRAY(n->arena, NestedInside *, s->part.n + 1);
  for (uint32_t i = 0; i < s->part.n; i++) x->inner[i] = inside_new(n, s->part.at[i].of, x, i);
  return x;
}

// values: the present values become guesses
static void forget_ports(NestedInside *x, bool values) {
  memset(x->has_in, NOT_ASKED, x->s->in.n);
  memset(x->has_out, NOT_ASKED, x->s->out.n);
  for (uint32_t i = 0; values && i < x->s->in.n; i++) x->in[i] = (Tensor){0};
  for (uint32_t i = 0; values && i < x->s->out.n; i++) x->out[i] = (Tensor){0};
  for (uint32_t i = 0; i < x->s->part.n; i++) forget_ports(x->inner[i], values);
}

// The part of the lens that one wire depends on, and the inputs of it.
static Diagram *only_wire(World *w, const Diagram *d, Id wire, Ids *inputs) {
  Diagram *to = diagram_prune(w, diagram_up_to(w, d, &(Ids){.at = &wire, .n = 1}));
  *inputs = diagram_drop_inputs(w, to);
  return to;
}

static Tensor input_value(Nested *, NestedInside *, uint32_t port);

static Tensor lens_input_value(Nested *n, NestedInside *x, uint32_t i) {
  if (i < x->s->in.n) return input_value(n, x, i);
  i -= x->s->in.n;
  for (uint32_t p = 0; p < x->s->part.n; p++) {
    uint32_t outs = x->s->part.at[p].of->out.n;
    if (i < outs) return output_value(n, x->inner[p], i);
    i -= outs;
  }
  return (Tensor){0};
}

static void eval(Nested *n, const Diagram *d, Eval e) {
  e.arena = n->tick_arena;
  e.seed = n->seed;
  e.step = n->tick;
  if (!n->error && !diagram_eval(n->w, d, &e)) n->error = e.error;
}

static Tensor eval_one(Nested *n, const Diagram *d, const Tensor *in, const Tensor *param) {
  Tensor out = {0};
  eval(n, d, (Eval){.in = in, .param = param, .out = &out});
  return out;
}

static Tensor *params_for(Nested *n, const NestedInside *x, const Diagram *d) {
  Tensor *param = NEW_ARRAY(n->tick_arena, Tensor, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++)
    for (uint32_t k = 0; k < x->s->lens->param.n; k++)
      if (!strcmp(d->param.at[i].path, x->s->lens->param.at[k].path)) param[i] = x->param[k];
  return param;
}

static Tensor wire_value(Nested *n, NestedInside *x, Id wire) {
  Ids inputs = {0};
  Diagram *d = only_wire(n->w, x->s->lens, wire, &inputs);
  Tensor *in = NEW_ARRAY(n->tick_arena, Tensor, inputs.n + 1);
  for (uint32_t i = 0; i < inputs.n; i++) in[i] = lens_input_value(n, x, inputs.at[i]);
  return eval_one(n, d, in, params_for(n, x, d));
}

// The value of the previous round; 0 in the first.
static Tensor guess_of(Nested *n, NestedInside *x, uint32_t port, bool in) {
  Tensor *value = in ? &x->in[port] : &x->out[port];
  const Diagram *d = x->s->d;
  int64_t shape[ARRAY_RANK_LIMIT];
  const Type *t = &d->wire.at[in ? d->in.at[port] : d->out.at[port]].type;
  if (!value->data && !n->error) {
    if (store_shape(n->w, t, shape, "a port"))
      *value = tensor_new(n->tick_arena, t->rank, shape);
    else
      n->error = "a port has no size";
  }
  vec_push(n->tick_arena, &n->guess, (Guess){x, port, in, *value});
  return *value;
}

static Tensor output_value(Nested *n, NestedInside *x, uint32_t port) {
  if (x->has_out[port] == BEING_FOUND) return guess_of(n, x, port, false);
  if (x->has_out[port] == NOT_ASKED) {
    x->has_out[port] = BEING_FOUND;
    x->out[port] = wire_value(n, x, x->s->lens->out.at[port]);
    x->has_out[port] = IS_KNOWN;
  }
  return x->out[port];
}

static Tensor input_value(Nested *n, NestedInside *x, uint32_t port) {
  if (x->has_in[port] == BEING_FOUND) return guess_of(n, x, port, true);
  if (x->has_in[port] == IS_KNOWN) return x->in[port];
  uint32_t at = x->around->s->out.n + port;
  for (uint32_t p = 0; p < x->part; p++) at += x->around->s->part.at[p].of->in.n;
  x->has_in[port] = BEING_FOUND;
  x->in[port] = wire_value(n, x->around, x->around->s->lens->out.at[at]);
  x->has_in[port] = IS_KNOWN;
  return x->in[port];
}

// -- steps ----------------------------------------------------------------------------------------
// Finds a state by path, in any instance.
static Tensor *find_param(NestedInside *x, const World *w, const char *path) {
  for (uint32_t i = 0; i < x->s->lens->param.n; i++)
    if (!strcmp(path, x->s->lens->param.at[i].path)) return &x->param[i];
  for (uint32_t p = 0; p < x->s->part.n; p++) {
    const char *name = name_text(w->names, x->s->part.at[p].name);
    size_t n = strlen(name);
    if (strncmp(path, name, n) || path[n] != '/') continue;
    Tensor *t = find_param(x->inner[p], w, path + n + 1);
    if (t) return t;
  }
  for (uint32_t i = 0; i < x->s->d->param.n; i++)
    if (!strcmp(path, x->s->d->param.at[i].path)) return &x->more[i];
  return NULL;
}

static Tensor learned_next(Nested *n, NestedInside *x, Id wire) {
  const Diagram *whole = x->s->d;
  Ids inputs = {0};
  Diagram *d = diagram_inline_all(n->w, only_wire(n->w, whole, wire, &inputs));
  Tensor *in = NEW_ARRAY(n->tick_arena, Tensor, inputs.n + 1),
         *param = NEW_ARRAY(n->tick_arena, Tensor, d->param.n + 1);
  for (uint32_t i = 0; i < inputs.n; i++) in[i] = input_value(n, x, inputs.at[i]);
  for (uint32_t i = 0; i < d->param.n; i++) {
    Tensor *t = find_param(x, n->w, d->param.at[i].path);
    if (t && !t->data)
      for (uint32_t k = 0; k < whole->param.n; k++)
        if (!strcmp(whole->param.at[k].path, d->param.at[i].path))
          *t = start_of(n, whole, k, x->path);
    if (t) param[i] = *t;
  }
  return eval_one(n, d, in, param);
}

static Tensor euler(Nested *n, Tensor x, Tensor rate) {
  Tensor t = tensor_new(n->arena, x.rank, x.shape);
  for (int64_t i = 0; i < t.count; i++) t.data[i] = x.data[i] + euler_step * rate.data[i];
  return t;
}

static Tensor lasting(Nested *n, Tensor t) {
  Tensor copy = tensor_new(n->arena, t.rank, t.shape);
  memcpy(copy.data, t.data, (size_t)t.count * sizeof(double));
  return copy;
}

typedef struct {
  Tensor *to;
  Tensor value;
} Put;
typedef VEC(Put) Puts;

static bool is_due(const Nested *n, double every) {
  return every <= 1 || fmod((double)n->tick, every) < 0.5;
}

// Computes all next values from the old ones, then writes them; `every`: the period of the
// surrounding part.
static void next_states(Nested *n, NestedInside *x, double every, Puts *puts) {
  const System *s = x->s;
  for (uint32_t i = 0; i < s->own.n; i++) {
    Tensor *state = &x->param[s->own_param.at[i]];
    Tensor value = {0};
    if (s->own_rate.at[i])
      value = euler(n, *state, wire_value(n, x, s->own_rate.at[i]));
    else if (s->own.at[i].learns && is_due(n, every))
      value = lasting(n, learned_next(n, x, s->state.at[i].next));
    else if (s->own_next.at[i] && is_due(n, every))
      value = lasting(n, wire_value(n, x, s->own_next.at[i]));
    if (value.data) vec_push(n->arena, puts, (Put){state, value});
  }
  for (uint32_t i = s->learnt_from; i < s->learnt_to; i++) { // optimiser states
    const SystemState *y = &s->state.at[i];
    Tensor *state = find_param(x, n->w, s->d->param.at[y->param].path);
    if (is_due(n, every))
      vec_push(n->arena, puts, (Put){state, lasting(n, learned_next(n, x, y->next))});
  }
  for (uint32_t p = 0; p < s->part.n; p++)
    next_states(n, x->inner[p], every * s->part.at[p].every, puts);
}

// -- the flattened system -------------------------------------------------------------------------
static void flat_step(Nested *n, const System *s, const Diagram *d, const Tensor *in, Tensor *param,
                      Tensor *out) {
  Tensor *next = NEW_ARRAY(n->tick_arena, Tensor, d->param.n + 1);
  eval(n, d, (Eval){.in = in, .param = param, .out = out, .next = next});
  for (uint32_t i = 0; !n->error && i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    if (x->rate)
      param[x->param] = euler(n, param[x->param], next[x->param]);
    else if (x->next && is_due(n, x->every))
      param[x->param] = lasting(n, next[x->param]);
  }
}

static Tensor random_input(Nested *n, const Type *type, uint64_t element) {
  int64_t shape[ARRAY_RANK_LIMIT], labels = 2;
  if (!store_shape(n->w, type, shape, "an input")) {
    n->error = "an input has no size";
    return (Tensor){0};
  }
  Tensor t = tensor_new(n->arena, type->rank, shape);
  if (type->base == BASE_LABEL) size_value(n->w, type->count, &labels);
  for (int64_t i = 0; i < t.count; i++) {
    uint64_t at = element * 1000003 + (uint64_t)i;
    t.data[i] = type->base == BASE_R
                    ? noise_normal(n->seed, n->tick, 2, at)
                    : floor(noise_uniform(n->seed, n->tick, 2, at) * (double)labels);
  }
  return t;
}

static int64_t differ(const Tensor *a, const Tensor *b) {
  int64_t n = 0;
  for (int64_t i = 0; i < a->count; i++)
    n += memcmp(&a->data[i], &b->data[i], sizeof(double)) != 0 &&
         !(isnan(a->data[i]) && isnan(b->data[i]));
  return n;
}

static bool all_guesses_right(const Nested *n) {
  for (uint32_t i = 0; i < n->guess.n; i++) {
    const Guess *g = &n->guess.at[i];
    if (differ(&g->value, g->in ? &g->x->in[g->port] : &g->x->out[g->port])) return false;
  }
  return true;
}

static void nested_step(Nested *n, NestedInside *x, const Tensor *in, Puts *puts) {
  const System *s = x->s;
  forget_ports(x, true);
  for (uint32_t round = 0; !n->error; round++) {
    forget_ports(x, false);
    n->guess.at = NULL, n->guess.n = n->guess.cap = puts->n = 0;
    for (uint32_t i = 0; i < s->in.n; i++) x->in[i] = in[i], x->has_in[i] = IS_KNOWN;
    for (uint32_t i = 0; i < s->out.n && !n->error; i++) output_value(n, x, i);
    next_states(n, x, 1, puts);
    if (n->error || all_guesses_right(n)) return;
    if (round == ROUNDS_LIMIT) n->error = "its parts need each other at the same moment";
  }
}

// The name of the first difference; NULL: none.
static const char *one_tick(Nested *n, NestedInside *x, const Diagram *flat, Tensor *param,
                            int64_t *compared) {
  const System *s = x->s;
  Tensor *in = NEW_ARRAY(n->tick_arena, Tensor, s->in.n + 1),
         *out = NEW_ARRAY(n->tick_arena, Tensor, s->out.n + 1);
  Puts puts = {0};
  for (uint32_t i = 0; i < s->in.n; i++)
    in[i] = random_input(n, &s->d->wire.at[s->d->in.at[i]].type, i);
  flat_step(n, s, flat, in, param, out);
  nested_step(n, x, in, &puts);
  for (uint32_t i = 0; i < s->out.n && !n->error; i++) {
    *compared += x->out[i].count;
    if (differ(&x->out[i], &out[i])) return name_text(n->w->names, s->out.at[i].name);
  }
  for (uint32_t i = 0; i < puts.n; i++) *puts.at[i].to = puts.at[i].value;
  for (uint32_t i = 0; i < s->state.n && !n->error; i++) {
    const char *path = s->d->param.at[s->state.at[i].param].path;
    Tensor *nested = find_param(x, n->w, path);
    if (!nested || !nested->data) continue;
    *compared += nested->count;
    if (differ(nested, &param[s->state.at[i].param])) return path;
  }
  return NULL;
}

// The initial value of a state in a run, in the shape of the state; a scalar is broadcast.
// Parameters of its diagram are separate from those of other initial values.
static Tensor initial_value(Nested *n, const Diagram *d, const Tensor *like) {
  Tensor *own = NEW_ARRAY(n->arena, Tensor, d->param.n + 1),
         t = tensor_new(n->arena, like->rank, like->shape);
  n->tick_arena = n->arena;
  if (!sim_params(n->w, n->how, d, n->arena, own)) {
    n->error = "a start has no value";
    return t;
  }
  Tensor value = eval_one(n, d, NULL, own);
  if (n->error) return t;
  for (int64_t i = 0; i < t.count; i++) t.data[i] = value.data[value.count == t.count ? i : 0];
  return t;
}

// Sets the initial values of the run that the check refers to.
static void set_starts(Nested *n, NestedInside *x, const Run *run, const Diagram *flat,
                       Tensor *param) {
  for (uint32_t i = 0; i < run->start.n && !n->error; i++) {
    const RunStart *start = &run->start.at[i];
    if (start->kind != SEES_STATE) continue;
    const char *path = run->system->d->param.at[run->system->state.at[start->at].param].path;
    Tensor *nested = find_param(x, n->w, path);
    for (uint32_t k = 0; k < flat->param.n && !n->error; k++)
      if (nested && !strcmp(path, flat->param.at[k].path))
        *nested = param[k] = initial_value(n, start->value, &param[k]);
  }
}

// Loads weights from the sources that the program or the caller names, for both.
static bool fill_store(Nested *n, const Diagram *flat) {
  n->store = store_in(n->arena);
  if (!n->store) return store_out_of_memory(n->w, "the check", &(Type){.base = BASE_R});
  if (!store_add_params(n->w, n->store, flat, n->how->initial_seed)) return false;
  return sim_begin(n->how, n->store) && sim_fill(n->how, n->store);
}

bool verify_nested(Elab *in, Program *p, const Check *c, const SimOptions *how, Verdict *v) {
  World *w = elab_world(in);
  const System *s = c->system;
  Nested n = {.w = w, .arena = arena_child(w->arena), .seed = how->seed, .how = how};
  Diagram *flat = diagram_inline_all(w, s->d);
  const Run *run = c->run ? &p->ran->run.at[c->run - 1] : NULL;
  if (!fill_store(&n, flat)) return arena_free(n.arena), false;
  NestedInside *x = inside_new(&n, s, NULL, 0);
  Tensor *param = NEW_ARRAY(n.arena, Tensor, flat->param.n + 1);
  for (uint32_t i = 0; i < flat->param.n; i++) param[i] = start_of(&n, flat, i, "");
  if (run) set_starts(&n, x, run, flat, param);
  int64_t compared = 0;
  const char *where = NULL;
  for (; n.tick < TICKS && !where && !n.error; n.tick++) {
    n.tick_arena = arena_child(n.arena);
    where = one_tick(&n, x, flat, param, &compared);
    if (!where) arena_free(n.tick_arena);
  }
  if (n.error) diag_error(w->diags, c->span, "%s", n.error);
  v->holds = !where;
  v->figure = where ? arena_format(w->arena, "they differ in `%s` at tick %llu", where,
                                   (unsigned long long)n.tick - 1)
                    : arena_format(w->arena, "%lld numbers over %d ticks, all the same to the bit",
                                   (long long)compared, TICKS);
  bool good = !n.error;
  arena_free(n.arena);
  return good;
}
