// How long one step of a program takes: forward, reverse, optimiser; all turns of a round.
//   build/bench-step FILE [--batch N] [--threads N] [--precision 32|64|bf16|tf32] [--steps N] [--plan | --open]
// --plan also shows how long each kernel takes; --open shows the kernels, and runs none of them. Inputs are random and stay the same. Prints lines "key value": the median of several repetitions
// of --steps rounds (as many as take 20 ms) from the same start, what the matrix products of a
// round are worth in flop and what share of the cores' peak that is, how long the engines take to
// open with an empty cache folder and with a full one, and memory.
//
// The first opening is made by a child, so that the memory of this process is that of one training.
// Peak is measured before and after the steps, since a shared machine does not keep its speed.
#define _XOPEN_SOURCE 700
#include "base/files.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "fail.h"
#include "run/engine/prebuilt/gemm.h"
#include "run/feed/feed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPETITIONS = 60, FEW_REPETITIONS = 5 };
static const double one_repetition = 0.02, budget = 2; // seconds

typedef struct {
  const char *file;
  int64_t batch, steps;
  Precision precision;
  Target target;
  const char *device;
  bool plan, open;
} Asked;

typedef struct {
  World *w;
  Elab *in;
  Program *p;
  Regime regime;
  Store *store;
  Engine **engine; // [step of the regime]
  int32_t ***rows; // [step][input] numbers of rows, where a device keeps all samples; or NULL
  int64_t samples;
  Ids turn;      // steps of one round
  uint64_t runs; // so far: noise is fresh in each
  char **start;  // [state] its first value
  const char *device;
} Bench;

// -- what the products of a step are worth --------------------------------------------------------
static bool reads_index(const Access *a, uint32_t index) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (!a->coord[i].term[k].operand && a->coord[i].term[k].var == index) return true;
  return false;
}

static double index_size(World *w, Size s, int64_t samples) {
  int64_t n;
  Id var;
  if (size_value(w, size_now(w, s), &n)) return (double)n;
  return size_is_var(w, s, &var) && size_var_kind(w, var) == VAR_SAMPLE ? (double)samples : 1;
}

// A sum of products of two operands, each of which lacks an index of the other: as a matrix has it.
static double product_flop(World *w, const Loop *l, int64_t samples) {
  if (l->combine != SUM || l->nin != 2 || l->nscalar != 3 || l->scalar[2].fn != FN_mul) return 0;
  double points = 1;
  bool lacks[2] = {false, false};
  for (uint32_t i = 0; i < l->nindex; i++) {
    double n = index_size(w, l->index[i].size, samples);
    points *= n;
    for (uint32_t k = 0; k < 2; k++) lacks[k] |= n > 1 && !reads_index(&l->in[k], i);
  }
  return lacks[0] && lacks[1] ? 2 * points : 0;
}

static double diagram_flop(World *w, const Diagram *d, int64_t samples) {
  double sum = 0;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_loop) sum += product_flop(w, b->loop, samples);
    if (b->op == OP_scan)
      sum += index_size(w, b->scan->axis.size, samples) * diagram_flop(w, b->scan->body, samples);
  }
  return sum;
}

// -- a round --------------------------------------------------------------------------------------
static double round_flop(const Bench *b) {
  double sum = 0, each;
  for (uint32_t i = 0; i < b->regime.step.n; i++) {
    const Diagram *flat =
        diagram_simplify(b->w, diagram_inline(b->w, b->regime.step.at[i].diagram));
    each = diagram_flop(b->w, flat, b->samples);
    if (!b->regime.turn.n) sum += each;
    for (uint32_t k = 0; k < b->regime.turn.n; k++)
      if (b->regime.turn.at[k].step == i) sum += each * b->regime.turn.at[k].times;
  }
  return sum;
}

static void find_turns(Bench *b) {
  for (uint32_t i = 0; i < b->regime.step.n && !b->regime.turn.n; i++)
    vec_push(b->w->arena, &b->turn, i);
  for (uint32_t i = 0; i < b->regime.turn.n; i++)
    for (uint32_t k = 0; k < b->regime.turn.at[i].times; k++)
      vec_push(b->w->arena, &b->turn, b->regime.turn.at[i].step);
}

// How many rounds may wait for whoever computes them, as in training.
static int64_t rounds_at_once(const Bench *b) {
  int64_t most = INT64_MAX;
  for (uint32_t i = 0; i < b->turn.n; i++) {
    int64_t uses = 0;
    for (uint32_t k = 0; k < b->turn.n; k++) uses += b->turn.at[k] == b->turn.at[i];
    int64_t room = (int64_t)engine_queue_limit(b->engine[b->turn.at[i]]) / uses;
    if (room < most) most = room;
  }
  return most;
}

static void begin_step(Bench *b, uint32_t step) {
  const Diagram *d = b->regime.step.at[step].diagram;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (b->rows[step][i]) b->rows[step][i][-ROWS_HEAD] = 1;
  if (!engine_queue(b->engine[step], b->samples, b->runs++))
    fail("%s", engine_error(b->engine[step]));
}

static void end_step(Bench *b, uint32_t step) {
  RunStatus s = engine_next(b->engine[step]);
  if (s == RUN_NOT_FINITE) fail("a loss is not finite");
  if (s == RUN_FAILED) fail("%s", engine_error(b->engine[step]));
}

static void run_rounds(Bench *b, int64_t rounds) {
  int64_t all = rounds * b->turn.n,
          room = rounds_at_once(b) < 2 ? 1 : rounds_at_once(b) * b->turn.n;
  for (int64_t begun = 0, ended = 0; ended < all;) {
    if (begun < all && begun - ended < room)
      begin_step(b, b->turn.at[begun++ % b->turn.n]);
    else
      end_step(b, b->turn.at[ended++ % b->turn.n]);
  }
}

static void print_losses(const Bench *b, const char *key) {
  printf("%-16s", key);
  for (uint32_t i = 0; i < b->regime.step.n; i++)
    for (uint32_t k = 0; k < b->regime.step.at[i].goals.n; k++)
      printf(" %.6g", *(const double *)engine_out(b->engine[i], k));
  putchar('\n');
}

// -- opening --------------------------------------------------------------------------------------
static void read_program(Bench *b, Arena *a, const char *file) {
  *b = (Bench){.w = world_new(a)};
  b->in = elab_new(b->w);
  FileText f = file_read(a, file, TEXT_LIMIT);
  if (!f.text) fail("cannot read %s: %s", file, f.error);
  b->p = elab_program(b->in, file, f.text, f.n);
  if (b->w->diags->errors) fail_with_messages(b->w);
  if (!b->p->train.n) fail("%s has no `train`", file);
}

static void make_regime(Bench *b, int64_t batch) {
  if (!learn_regime(b->in, b->p, b->p->train.at[0], &b->regime)) fail_with_messages(b->w);
  bool samples = false;
  for (uint32_t i = 0; i < b->regime.step.n; i++) {
    Step *s = &b->regime.step.at[i];
    s->diagram = compose_noise(b->in, b->p, s->diagram, &s->fields);
    if (!s->diagram) fail_with_messages(b->w);
    samples |= has_sample_axis(b->w, s->diagram);
  }
  b->samples = !samples                   ? 0
               : batch                    ? batch
               : b->regime.training.batch ? b->regime.training.batch
                                          : 64;
}

static void fill_store(Bench *b, Precision precision) {
  b->store = store_new(precision);
  if (!b->store) fail("out of memory");
  bool good = true;
  for (uint32_t i = 0; i < b->regime.flat.n; i++)
    good = good && store_add_flat(b->w, b->store, &b->regime.flat.at[i], 0);
  for (uint32_t i = 0; i < b->regime.step.n; i++)
    good = good && store_add_params(b->w, b->store, b->regime.step.at[i].diagram, 0);
  for (uint32_t i = 0; i < b->regime.start.n; i++)
    good = good &&
           store_start_as(b->w, b->store, b->regime.start.at[i].path, b->regime.start.at[i].as);
  if (!good) fail_with_messages(b->w);
}

static size_t state_bytes(const State *s) { return (size_t)s->count * number_bytes(s->number); }

static void keep_start(Bench *b) {
  b->start = NEW_ARRAY(b->w->arena, char *, store_count(b->store) + 1);
  for (uint32_t i = 0; i < store_count(b->store); i++) {
    const State *s = store_at(b->store, i);
    if (s->whole == i) b->start[i] = arena_copy(b->w->arena, state_data(s), state_bytes(s));
  }
}

// Long training on one batch would end in numbers too small to be usual.
static void start_again(Bench *b) {
  for (uint32_t i = 0; i < store_count(b->store); i++)
    if (b->start[i])
      memcpy(state_writable_data(store_at(b->store, i)), b->start[i],
             state_bytes(store_at(b->store, i)));
}

// The batch as all that there is, for a device that keeps it.
typedef struct {
  const char *data;
  size_t row_bytes;
} Whole;

static bool read_whole(void *of, int64_t first, int64_t n, void *to) {
  const Whole *w = of;
  memcpy(to, w->data + (size_t)first * w->row_bytes, (size_t)n * w->row_bytes);
  return true;
}

static int32_t *keep_rows(Bench *b, uint32_t step, uint32_t input, int64_t count) {
  Engine *e = b->engine[step];
  if (!b->samples || count % b->samples) return NULL;
  Whole whole = {engine_in(e, input),
                 (size_t)(count / b->samples) * number_bytes(engine_in_number(e, input))};
  int32_t *rows = engine_table(e, input, &(EngineTable){b->samples, &whole, read_whole});
  for (int64_t i = 0; rows && i < b->samples; i++) rows[i] = (int32_t)i;
  return rows;
}

static void fill_inputs(Bench *b, uint32_t step) {
  const Diagram *d = b->regime.step.at[step].diagram;
  b->rows[step] = NEW_ARRAY(b->w->arena, int32_t *, d->in.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    int64_t shape[ARRAY_RANK_LIMIT], labels = 2, count = 1;
    if (t->rank > ARRAY_RANK_LIMIT || !engine_shape(b->w, t, b->samples, shape))
      fail_with_messages(b->w);
    if (t->base == BASE_LABEL) size_value(b->w, t->count, &labels);
    for (uint32_t k = 0; k < t->rank; k++) count *= shape[k];
    double *x = NEW_ARRAY(b->w->arena, double, count + 1);
    for (int64_t k = 0; k < count; k++) {
      x[k] = noise_uniform(1, 0, i, (uint64_t)k);
      if (t->base != BASE_R) x[k] = (double)(int64_t)(x[k] * (double)labels);
    }
    numbers_set(engine_in_number(b->engine[step], i), engine_in(b->engine[step], i), x, count);
    b->rows[step][i] = keep_rows(b, step, i, count);
  }
}

// Seconds that opening all engines takes.
static double open_engines(Bench *b, const Target *asked) {
  double start = clock_seconds();
  Target own = *asked, *target = &own;
  const char *why;
  if (!engine_device(b->w, b->device, &own.device, &why)) fail("%s", why);
  b->engine = NEW_ARRAY(b->w->arena, Engine *, b->regime.step.n + 1);
  b->rows = NEW_ARRAY(b->w->arena, int32_t **, b->regime.step.n + 1);
  for (uint32_t i = 0; i < b->regime.step.n; i++) {
    b->engine[i] = engine_new(b->w, b->regime.step.at[i].diagram, b->store, b->samples, target);
    if (!b->engine[i]) fail_with_messages(b->w);
  }
  return clock_seconds() - start;
}

static double open_in_child(Bench *b, const Target *target) {
  int ends[2], status;
  double seconds = 0;
  if (pipe(ends)) fail("no pipe");
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) fail("no process");
  if (!child) {
    seconds = open_engines(b, target);
    _exit(write(ends[1], &seconds, sizeof seconds) != sizeof seconds);
  }
  close(ends[1]);
  bool good = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  close(ends[0]);
  if (waitpid(child, &status, 0) != child || !good) exit(1);
  return seconds;
}

static void remove_folder(Arena *a, const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *e; folder && (e = readdir(folder));)
    if (e->d_name[0] != '.') unlink(arena_format(a, "%s/%s", path, e->d_name));
  if (folder) closedir(folder);
  rmdir(path);
}

static void open_twice(Bench *b, Target target) {
  const char *tmp = getenv("TMPDIR");
  char *cache = arena_format(b->w->arena, "%s/limn-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(cache)) fail("cannot make a folder for compiled steps");
  target.cache = cache;
  printf("%-16s %.4f\n", "open_cold_s", open_in_child(b, &target));
  printf("%-16s %.4f\n", "open_cached_s", open_engines(b, &target));
  remove_folder(b->w->arena, cache);
}

// -- timing ---------------------------------------------------------------------------------------
static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double time_rounds(Bench *b, int64_t rounds) {
  double start = clock_seconds();
  run_rounds(b, rounds);
  return (clock_seconds() - start) / (double)rounds;
}

// Until a repetition is long enough to be timed.
static int64_t find_rounds(Bench *b) {
  int64_t rounds = 1;
  while (time_rounds(b, rounds) * (double)rounds < one_repetition && rounds < 1 << 24) rounds *= 2;
  return rounds;
}

static double median_round(Bench *b, int64_t rounds, double *best) {
  double time[REPETITIONS];
  int n = 0;
  for (double start = clock_seconds();
       n < FEW_REPETITIONS || (n < REPETITIONS && clock_seconds() - start < budget); n++) {
    start_again(b);
    if (b->device) run_rounds(b, 1); // what was put back goes to the device
    time[n] = time_rounds(b, rounds);
  }
  qsort(time, (size_t)n, sizeof *time, by_size);
  *best = time[0];
  return n % 2 ? time[n / 2] : (time[n / 2 - 1] + time[n / 2]) / 2;
}

static void print_times(Bench *b, const Asked *asked) {
  double peak = b->device ? 0 : gemm_peak(asked->precision), flop = round_flop(b), best, median;
  keep_start(b);
  run_rounds(b, 1);
  print_losses(b, "losses_first");
  median = median_round(b, asked->steps ? asked->steps : find_rounds(b), &best);
  print_losses(b, "losses_last");
  printf("%-16s %.6f\n%-16s %.6f\n", "round_ms", median * 1e3, "best_ms", best * 1e3);
  printf("%-16s %.6f\n%-16s %.3f\n", "gflop", flop * 1e-9, "tflops", flop / median * 1e-12);
  if (b->device) return;
  double again = gemm_peak(asked->precision);
  peak = (again > peak ? again : peak) * asked->target.threads;
  printf("%-16s %.1f\n%-16s %.3f\n", "peak_gflops", peak * 1e-9, "share_of_peak",
         flop / median / peak);
}

// After a round of its own: what timing keeps is not counted.
static void print_memory(Bench *b) {
  int64_t arena = 0, states = 0;
  run_rounds(b, 1);
  for (uint32_t i = 0; i < b->regime.step.n; i++) arena += engine_bytes(b->engine[i]);
  for (uint32_t i = 0; i < store_count(b->store); i++) {
    const State *s = store_at(b->store, i);
    if (s->whole == i) states += (int64_t)state_bytes(s);
  }
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  printf("%-16s %.2f\n%-16s %.2f\n%-16s %.1f\n", "arena_mb", (double)arena / 1e6, "states_mb",
         (double)states / 1e6, "peak_rss_mb", (double)use.ru_maxrss * 1024 / 1e6);
}

// -- what is asked for ----------------------------------------------------------------------------
static int64_t number(const char *option, const char *text) {
  char *end;
  long long n = text ? strtoll(text, &end, 10) : 0;
  if (!text || n < 1 || *end) fail("%s wants a number above 0", option);
  return n;
}

static Asked read_arguments(char **arg) {
  Asked a = {.target = {.threads = 1, .steps = 1e6}};
  for (; *arg; arg++) {
    const char *option = *arg;
    if (*option != '-') {
      a.file = option;
    } else if (!strcmp(option, "--plan")) {
      a.plan = a.target.profile = true;
    } else if (!strcmp(option, "--open")) {
      a.plan = a.open = true;
    } else {
      const char *value = *++arg;
      if (!strcmp(option, "--batch"))
        a.batch = number(option, value);
      else if (!strcmp(option, "--device"))
        a.device = value;
      else if (!strcmp(option, "--threads"))
        a.target.threads = (uint32_t)number(option, value);
      else if (!strcmp(option, "--steps"))
        a.steps = number(option, value);
      else if (strcmp(option, "--precision") || !value || !precision_from(value, &a.precision))
        fail("there is no %s %s", option, value ? value : "");
      if (!value) break;
    }
  }
  if (!a.file)
    fail("usage: bench-step FILE [--batch N] [--threads N] [--device cuda] [--precision "
         "32|64|bf16|tf32] "
         "[--steps N] [--plan | --open]");
  return a;
}

int main(int argc, char **argv) {
  (void)argc;
  Asked asked = read_arguments(argv + 1);
  Arena *arena = arena_new();
  if (!arena) fail("out of memory");
  Bench b;
  read_program(&b, arena, asked.file);
  make_regime(&b, asked.batch);
  find_turns(&b);
  fill_store(&b, asked.precision);
  printf("%-16s %s\n%-16s %lld\n%-16s %u\n", "file", asked.file, "batch", (long long)b.samples,
         "threads", asked.target.threads);
  b.device = asked.device;
  open_twice(&b, asked.target);
  for (uint32_t i = 0; i < b.regime.step.n; i++) fill_inputs(&b, i);
  if (!asked.open) {
    print_memory(&b);
    print_times(&b, &asked);
  }
  Buf plan = buf_new(arena);
  for (uint32_t i = 0; asked.plan && i < b.regime.step.n; i++) engine_plan(b.engine[i], &plan);
  if (asked.plan) fputs(plan.at, stdout);
  store_free(b.store);
  arena_free(arena);
}
