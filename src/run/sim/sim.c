// A system with its memory: states in a store, in double precision, and engines for its functions.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "run/feed/feed.h"
#include "run/sim/sim_own.h"

int64_t sim_cells(const Sim *m, const Type *t) {
  int64_t n = 1;
  return type_count(m->w, t, &n) ? n : 1;
}

int64_t sim_in_cells(const Sim *m, uint32_t port) {
  return sim_cells(m, &m->s->d->wire.at[m->s->d->in.at[port]].type);
}

static bool add_clock(Sim *m, const char *path, const Type *t) {
  int64_t shape[ARRAY_RANK_LIMIT];
  if (store_find(m->store, path)) return true;
  if (!store_shape(m->w, t, shape, path)) return false;
  return store_add(m->store, path, (Base)t->base, t->rank, shape) != STORE_NONE ||
         store_out_of_memory(m->w, path, t);
}

static bool add_clocks(Sim *m) {
  const Diagram *d = m->s->d;
  if (!add_clock(m, "time", &(Type){.base = BASE_R})) return false;
  for (uint32_t i = 0; i < m->s->lag.n + m->s->white.n; i++) {
    bool lag = i < m->s->lag.n;
    const Param *p =
        &d->param.at[lag ? m->s->lag.at[i].param : m->s->white.at[i - m->s->lag.n].param];
    if (!add_clock(m, p->path, &d->wire.at[p->wire].type)) return false;
  }
  return true;
}

static bool add_params(const Sim *m, const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CONST)
      table_put(m->constant, d->param.at[i].path, strlen(d->param.at[i].path), 1);
  return store_add_params(m->w, m->store, d, m->how->initial_seed);
}

bool sim_begin(const SimOptions *how, Store *s) {
  return !how->begin || how->begin(how->context, s);
}

bool sim_fill(const SimOptions *how, Store *s) { return !how->fill || how->fill(how->context, s); }

// Parameters for an initial value or a check: initial weights, or trained ones.
bool sim_params(World *w, const SimOptions *how, const Diagram *d, Arena *a, Tensor *param) {
  bool weights = false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    weights |= p->role == ROLE_WEIGHT || p->init.as;
    if (!init_eval(w, a, &p->init, &d->wire.at[p->wire].type, how->initial_seed,
                   site_hash(0, p->path), &param[i]))
      return false;
  }
  if (!weights) return true;
  Store *held = store_in(a);
  if (!held) return store_out_of_memory(w, "the run", &(Type){.base = BASE_R});
  if (!store_add_params(w, held, d, how->initial_seed) || !sim_begin(how, held) ||
      !sim_fill(how, held))
    return false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const State *s = store_find(held, d->param.at[i].path);
    if (s && s->count == param[i].count) state_get(s, param[i].data);
  }
  return true;
}

static bool value_of(const Sim *m, const Diagram *d, double *out, int64_t n) {
  Arena *a = arena_child(m->arena);
  Tensor result = {0}, *param = NEW_ARRAY(a, Tensor, d->param.n + 1);
  bool good = sim_params(m->w, m->how, d, a, param);
  Eval e = {.arena = a, .out = &result, .param = param, .seed = m->how->seed};
  good = good && diagram_eval(m->w, d, &e) && (result.count == n || result.count == 1);
  for (int64_t i = 0; good && i < n; i++) out[i] = result.data[result.count == 1 ? 0 : i];
  arena_free(a);
  return good;
}

bool sim_set(const Sim *m, const RunStart *x) {
  if (x->kind == SEES_IN) return value_of(m, x->value, m->input[x->at], sim_in_cells(m, x->at));
  State *s = sim_state(m, x->at);
  double *value = NEW_ARRAY(m->arena, double, s->count + 1);
  if (!value_of(m, x->value, value, s->count)) return false;
  state_set(s, value);
  return true;
}

State *sim_state(const Sim *m, uint32_t state) {
  return store_find(m->store, m->s->d->param.at[m->s->state.at[state].param].path);
}

const char *sim_state_name(const Sim *m, uint32_t state) {
  return name_text(m->w->names, m->sights.at[m->s->out.n + m->s->in.n + state].name);
}

const char *sim_place_of(const Sim *m, const char *path, const Type *t, int64_t cell) {
  int64_t shape[ARRAY_RANK_LIMIT];
  Buf b = buf_new(m->arena);
  for (const char *c = path; *c; c++) buf_char(&b, *c == '/' ? '.' : *c);
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(m->w, t->axis[i].size, &shape[i])) shape[i] = 1;
  buf_indices(&b, t->rank, shape, cell);
  return b.at;
}

const char *sim_place(const Sim *m, uint32_t state, int64_t cell) {
  const Diagram *d = m->s->d;
  const Type *t = &d->wire.at[d->param.at[m->s->state.at[state].param].wire].type;
  return sim_place_of(m, sim_state_name(m, state), t, cell);
}

State *sim_clock(const Sim *m, const char *path) { return store_find(m->store, path); }

enum { NUMBERS_MOST = 1 << 28, EARLY_NUMBERS = 1 << 20, OF_A_STEP = 50 };

uint64_t sim_prebuilt_runs(const Sim *m) {
  return m->how->device ? 0 : EARLY_NUMBERS / (OF_A_STEP + (uint64_t)m->numbers);
}

bool sim_open(Sim *m, Elab *in, Program *p, const System *s, const Run *run,
              const SimOptions *how) {
  World *w = elab_world(in);
  *m = (Sim){.in = in, .p = p, .w = w, .arena = w->arena, .s = s, .run = run, .how = how};
  system_sights(w, s, &m->sights);
  m->own = arena_child(w->arena);
  m->prebuilt = NEW(m->own, bool);
  *m->prebuilt = s->flows;
  for (Id i = 1; i < s->d->wire.n && m->numbers < NUMBERS_MOST; i++)
    m->numbers += sim_cells(m, &s->d->wire.at[i].type);
  m->store = store_in(m->own);
  if (!m->store) return store_out_of_memory(w, "the run", &(Type){.base = BASE_R});
  store_set_threads(m->store, how->threads);
  m->constant = table_new(m->arena);
  if (!add_clocks(m) || !add_params(m, s->d)) return false;
  if (!sim_begin(how, m->store) || !sim_fill(how, m->store)) return false;
  m->input = NEW_ARRAY(m->arena, double *, s->in.n + 1);
  for (uint32_t i = 0; i < s->in.n; i++)
    m->input[i] = NEW_ARRAY(m->arena, double, sim_in_cells(m, i) + 1);
  for (uint32_t i = 0; run && i < run->start.n; i++)
    if (!sim_set(m, &run->start.at[i]))
      return diag_refuse(w->diags, run->span, "`%s` has no value to start with",
                         name_text(w->names, run->start.at[i].name));
  return true;
}

void sim_close(Sim *m) {
  arena_free(m->own);
  m->own = NULL;
  m->store = NULL;
}

Engine *sim_engine(const Sim *m, const Diagram *d) {
  Target how = {.threads = m->how->threads,
                .device = m->ticks ? m->how->device : NULL,
                .reference = m->how->reference,
                .seed = m->how->seed,
                .ticks = m->ticks,
                .prebuilt_while = m->prebuilt,
                .say = m->how->say,
                .say_to = m->how->context,
                .stop = m->how->stop,
                .caller_stops = true};
  if (!add_params(m, d)) return NULL; // the params of what is observed
  Engine *e = engine_new(m->w, d, m->store, 0, &how);
  for (uint32_t i = 0; e && i < m->s->in.n && i < d->in.n; i++) {
    int64_t n = sim_cells(m, &d->wire.at[d->in.at[i]].type);
    if (n == sim_in_cells(m, i)) engine_set(e, i, m->input[i], n);
  }
  return e;
}

bool sim_run_trial(const Sim *m, Engine *e, uint64_t step, bool *finite) {
  RunStatus status = engine_run(e, 0, step);
  *finite = status == RUN_GOOD;
  return status != RUN_FAILED ||
         diag_refuse(m->w->diags, m->run ? m->run->span : m->s->span, "%s", engine_error(e));
}

bool sim_report_nonfinite(const Sim *m, Engine *e, uint64_t step, const char *what) {
  Span span = {0};
  const char *why = engine_trace_nonfinite(e, 0, step, &span);
  return diag_refuse(m->w->diags, span.file ? span : m->s->span, "%s%s%s", what ? what : "",
                     what && why ? ": " : "",
                     why    ? why
                     : what ? ""
                            : "a number is not finite");
}

bool sim_run(const Sim *m, Engine *e, uint64_t step) {
  bool finite;
  return sim_run_trial(m, e, step, &finite) && (finite || sim_report_nonfinite(m, e, step, NULL));
}
