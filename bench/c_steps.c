// Exported C against our own compiled steps, of one program, from the same start and on the same
// numbers.
//   build/c-steps FILE LIBRARY [--batch N] [--precision 32|64] [--steps N] [--time]
// LIBRARY has the exported functions behind those that tests/c_out/steps.py writes: `steps_begin`,
// `steps_run`, and a table of the members of the state. Prints the largest difference between states
// after so many rounds, relative to the largest number of each, and between losses; with --time also
// the seconds of a round of both, in turn on one thread, by its own clock, and their ratio.
#define _XOPEN_SOURCE 700
#include "base/files.h"
#include "core/diagram/interpret.h"
#include "fail.h"
#include "run/train/train.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS_OF_TIME = 15 };
static const double one_repetition = 0.02; // seconds

typedef struct { // as steps.py writes it
  const char *path;
  long offset, count;
} StateMember;

typedef struct {
  const char *file, *library;
  LimnTrain how;
  int64_t rounds;
  bool time;
} Asked;

typedef struct {
  const Asked *asked;
  World *w;
  const TrainSteps *steps;
  Engine **engine; // [step]
  uint64_t runs;
  void (*begin)(void *);
  int (*run)(int step, void *state, void **in, void **out);
  void *state;
  const StateMember *member;
  void ***in, ***out; // [step]
} BothSteps;

// -- the same numbers for both --------------------------------------------------------------------
static void fill_input(BothSteps *q, uint32_t step, uint32_t i) {
  const Diagram *d = q->steps->regime->step.at[step].diagram;
  const Type *t = &d->wire.at[d->in.at[i]].type;
  int64_t shape[64], labels = 2, count = 1;
  if (!engine_shape(q->w, t, q->steps->batch, shape)) fail("a size is not known");
  if (t->base == BASE_LABEL) size_value(q->w, t->count, &labels);
  for (uint32_t k = 0; k < t->rank; k++) count *= shape[k];
  double *x = NEW_ARRAY(q->w->arena, double, count + 1);
  for (int64_t k = 0; k < count; k++) {
    x[k] = noise_uniform(1, 0, i, (uint64_t)k);
    if (t->base != BASE_R) x[k] = (double)(int64_t)(x[k] * (double)labels);
  }
  numbers_set(engine_in_number(q->engine[step], i), engine_in(q->engine[step], i), x, count);
}

// Reals without axes are doubles to an engine, and in C as all others.
static bool is_wide(const BothSteps *q) { return q->asked->how.precision == LIMN_PRECISION_64; }

static void *input_of_c(BothSteps *q, uint32_t step, uint32_t i) {
  const Diagram *d = q->steps->regime->step.at[step].diagram;
  const Type *t = &d->wire.at[d->in.at[i]].type;
  void *ours = engine_in(q->engine[step], i);
  if (t->rank || t->base != BASE_R || is_wide(q)) return ours;
  float *theirs = NEW(q->w->arena, float);
  *theirs = (float)*(const double *)ours;
  return theirs;
}

static void open_step(BothSteps *q, uint32_t i) {
  const Step *s = &q->steps->regime->step.at[i];
  Arena *a = q->w->arena;
  Target how = {.threads = 1, .seed = q->steps->seed, .steps = (double)q->steps->rounds};
  bool samples = has_sample_axis(q->w, s->diagram);
  q->engine[i] = engine_new(q->w, s->diagram, q->steps->store, samples ? q->steps->batch : 0, &how);
  if (!q->engine[i]) fail_with_messages(q->w);
  q->in[i] = NEW_ARRAY(a, void *, s->diagram->in.n + 1);
  q->out[i] = NEW_ARRAY(a, void *, s->diagram->out.n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->diagram->in.n; k++) {
    fill_input(q, i, k);
    if (s->fields.at[k]) q->in[i][n++] = input_of_c(q, i, k);
  }
  for (uint32_t k = 0; k < s->diagram->out.n; k++) q->out[i][k] = NEW(a, double);
}

static void *symbol(void *library, const char *name) {
  void *at = dlsym(library, name);
  if (!at) fail("%s", dlerror());
  return at;
}

static void open_library(BothSteps *q) {
  void *library = dlopen(q->asked->library, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("%s", dlerror());
  *(void **)&q->begin = symbol(library, "steps_begin");
  *(void **)&q->run = symbol(library, "steps_run");
  q->member = symbol(library, "steps_member");
  size_t bytes = (size_t) * (long *)symbol(library, "steps_bytes");
  q->state = NEW_ARRAY(q->w->arena, double, bytes / sizeof(double) + 1);
  q->begin(q->state);
}

// -- running --------------------------------------------------------------------------------------
static void round_of_ours(BothSteps *q) {
  bool samples = q->steps->batch > 0;
  for (uint32_t i = 0; i < q->steps->turns; i++) {
    Engine *e = q->engine[q->steps->turn[i]];
    if (engine_run(e, samples ? q->steps->batch : 0, q->runs++) != RUN_GOOD)
      fail("our step failed: %s", engine_error(e));
  }
}

static void round_of_c(BothSteps *q) {
  for (uint32_t i = 0; i < q->steps->turns; i++) {
    uint32_t step = q->steps->turn[i];
    if (q->run((int)step, q->state, q->in[step], q->out[step])) fail("a loss of C is not finite");
  }
}

static double difference(BothSteps *q) {
  double worst = 0;
  for (const StateMember *m = q->member; m->path; m++) {
    const State *s = store_find(q->steps->store, m->path);
    if (!s || s->count != m->count) fail("there is no state %s of that size", m->path);
    double *ours = NEW_ARRAY(q->w->arena, double, s->count + 1),
           *theirs = NEW_ARRAY(q->w->arena, double, s->count + 1), largest = 1e-30, far = 0;
    state_get(s, ours);
    numbers_get(s->number, (char *)q->state + m->offset, theirs, s->count);
    for (int64_t i = 0; i < s->count; i++) {
      largest = fmax(largest, fabs(ours[i]));
      far = fabs(ours[i] - theirs[i]) <= far ? far : fabs(ours[i] - theirs[i]);
    }
    if (!(far / largest <= worst)) worst = far / largest;
  }
  return worst;
}

static double loss_difference(BothSteps *q) {
  double worst = 0;
  for (uint32_t i = 0; i < q->steps->regime->step.n; i++)
    for (uint32_t k = 0; k < q->steps->regime->step.at[i].goals.n; k++) {
      double ours = *(const double *)engine_out(q->engine[i], k),
             theirs = is_wide(q) ? *(double *)q->out[i][k] : (double)*(float *)q->out[i][k];
      double far = fabs(ours - theirs) / fmax(1, fabs(ours));
      if (!(far <= worst)) worst = far;
    }
  return worst;
}

// Of this thread: both run on it alone, and others may have the core meanwhile.
static double own_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(BothSteps *q, void (*round)(BothSteps *), int64_t n) {
  double start = own_seconds();
  for (int64_t i = 0; i < n; i++) round(q);
  return (own_seconds() - start) / (double)n;
}

// The best of several, in turn: a shared machine does not keep its speed.
static void print_time(BothSteps *q) {
  int64_t n = 1;
  while (n < 100000 && seconds_of(q, round_of_ours, n) * (double)n < one_repetition) n *= 2;
  double ours = INFINITY, theirs = INFINITY;
  for (int i = 0; i < ROUNDS_OF_TIME; i++) {
    q->begin(q->state);
    ours = fmin(ours, seconds_of(q, round_of_ours, n));
    theirs = fmin(theirs, seconds_of(q, round_of_c, n));
  }
  printf("ours_ms %.5g\nc_ms %.5g\nratio %.3f\n", 1000 * ours, 1000 * theirs, theirs / ours);
}

static bool use_steps(void *context, const TrainSteps *steps) {
  BothSteps *q = context;
  q->steps = steps;
  uint32_t n = steps->regime->step.n;
  q->engine = NEW_ARRAY(q->w->arena, Engine *, n + 1);
  q->in = NEW_ARRAY(q->w->arena, void **, n + 1);
  q->out = NEW_ARRAY(q->w->arena, void **, n + 1);
  for (uint32_t i = 0; i < n; i++) open_step(q, i);
  open_library(q);
  for (int64_t i = 0; i < q->asked->rounds; i++) round_of_ours(q), round_of_c(q);
  printf("state %.3g\nloss %.3g\n", difference(q), loss_difference(q));
  if (q->asked->time) print_time(q);
  return true;
}

int main(int argc, char **argv) {
  Asked asked = {.rounds = 10, .how = {.size = sizeof asked.how, .in_memory = true}};
  for (int i = 1; i < argc; i++) {
    bool more = i + 1 < argc;
    if (!strcmp(argv[i], "--time"))
      asked.time = true;
    else if (more && !strcmp(argv[i], "--batch"))
      asked.how.batch = atoll(argv[++i]);
    else if (more && !strcmp(argv[i], "--steps"))
      asked.rounds = atoll(argv[++i]);
    else if (more && !strcmp(argv[i], "--precision"))
      asked.how.precision = !strcmp(argv[++i], "64") ? LIMN_PRECISION_64 : LIMN_PRECISION_32;
    else if (!asked.file)
      asked.file = argv[i];
    else
      asked.library = argv[i];
  }
  if (!asked.library) fail("c-steps FILE LIBRARY");
  Arena *a = arena_new();
  World *w = world_new(a);
  Elab *in = elab_new(w);
  FileText f = file_read(a, asked.file, TEXT_LIMIT);
  if (!f.text) fail("cannot read %s: %s", asked.file, f.error);
  Program *p = elab_program(in, asked.file, f.text, f.n);
  if (w->diags->errors) fail_with_messages(w);
  BothSteps q = {.asked = &asked, .w = w};
  if (train_steps(in, p, &asked.how, NULL, use_steps, &q) != OUTCOME_GOOD) fail_with_messages(w);
  arena_free(a);
  return 0;
}
