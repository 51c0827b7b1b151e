// Checks of boxes: evaluates both sides on all points if there are few, otherwise on random ones.
// The points are the samples of one run, with initial or trained weights.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "run/feed/feed.h"
#include "run/sim/sim_own.h"

#include "core/pass/pipeline.h"
#include <math.h>

enum { POINTS = 256, ALL_POINTS = 4096, NUMBERS_SHOWN = 8 };

typedef struct {
  World *w;
  const SimOptions *how;
  const Check *c;
  const BoxCase *of;
  const Diagram *d; // flat
  Arena *arena;
  Store *store;
  Engine *engine;
  int64_t points;
  bool all;
  double **in; // [input][point cells]
} BoxTrial;

static const Type *in_type(const BoxTrial *t, uint32_t i) {
  return &t->d->wire.at[t->d->in.at[i]].type;
}
static const Type *out_type(const BoxTrial *t, uint32_t i) {
  return &t->d->wire.at[t->d->out.at[i]].type;
}

// Of one point, without the sample axis.
static int64_t cells_of(World *w, const Type *t) {
  Type own = *t;
  int64_t n = 1;
  if (own.rank && own.axis[0].pass == PASS_SAMPLE) own.axis++, own.rank--;
  return type_count(w, &own, &n) ? n : 0;
}

int64_t values_of(World *w, const Type *t) {
  int64_t n = 2;
  if (t->base == BASE_R || (t->base == BASE_LABEL && !size_value(w, t->count, &n))) return 0;
  return n;
}

double case_value(int64_t values, uint64_t seed, uint64_t number, uint64_t element,
                  uint64_t *rest) {
  if (!values) return noise_normal(seed, number, 1, element);
  if (!rest) return floor(noise_uniform(seed, number, 1, element) * (double)values);
  double value = (double)(*rest % (uint64_t)values);
  *rest /= (uint64_t)values;
  return value;
}

static void count_points(BoxTrial *t) {
  double n = 1;
  for (uint32_t i = 0; i < t->d->in.n; i++)
    n *= pow((double)values_of(t->w, in_type(t, i)), (double)cells_of(t->w, in_type(t, i)));
  t->all = n > 0 && n <= ALL_POINTS;
  t->points = t->all ? (int64_t)n : POINTS;
}

static void draw_points(BoxTrial *t) {
  t->in = NEW_ARRAY(t->arena, double *, t->d->in.n + 1);
  for (uint32_t i = 0; i < t->d->in.n; i++)
    t->in[i] = NEW_ARRAY(t->arena, double, t->points *cells_of(t->w, in_type(t, i)) + 1);
  for (int64_t p = 0; p < t->points; p++) {
    uint64_t rest = (uint64_t)p, element = 0, seed = t->how->seed;
    for (uint32_t i = 0; i < t->d->in.n; i++) {
      int64_t values = values_of(t->w, in_type(t, i)), n = cells_of(t->w, in_type(t, i));
      double *to = t->in[i] + p * n;
      for (int64_t k = 0; k < n; k++)
        to[k] = case_value(values, seed, (uint64_t)p, element++, t->all ? &rest : NULL);
    }
  }
  for (uint32_t i = 0; i < t->d->in.n; i++)
    engine_set(t->engine, i, t->in[i], t->points * cells_of(t->w, in_type(t, i)));
}

static bool open_trial(BoxTrial *t) {
  t->store = store_in(t->arena);
  if (!t->store) return store_out_of_memory(t->w, "the check", &(Type){.base = BASE_R});
  t->d = passes_flat(t->w, t->of->diagram);
  if (!store_add_params(t->w, t->store, t->d, t->how->initial_seed) ||
      !sim_begin(t->how, t->store) || !sim_fill(t->how, t->store))
    return false;
  count_points(t);
  Target how = {.threads = t->how->threads,
                .reference = t->how->reference,
                .no_compiler = true, // compiling would take longer than the run
                .seed = t->how->seed};
  t->engine = engine_new(t->w, t->d, t->store, t->points, &how);
  if (!t->engine) return false;
  draw_points(t);
  if (engine_run(t->engine, t->points, 0) == RUN_FAILED)
    return diag_refuse(t->w->diags, t->c->span, "%s", engine_error(t->engine));
  return true;
}

// The values for each point; a value without sample axis is repeated.
static double *out_numbers(const BoxTrial *t, uint32_t i) {
  int64_t n = cells_of(t->w, out_type(t, i));
  double *all = NEW_ARRAY(t->arena, double, t->points *n + 1);
  bool each = out_type(t, i)->rank && out_type(t, i)->axis[0].pass == PASS_SAMPLE;
  engine_get(t->engine, i, all, each ? t->points * n : n);
  for (int64_t p = 1; !each && p < t->points; p++)
    memcpy(all + p * n, all, (size_t)n * sizeof *all);
  return all;
}

// Two values that are not numbers are equal. Labels and bits are equal or not.
static double distance(Base base, double a, double b) {
  if (isnan(a) && isnan(b)) return 0;
  if (a == b) return 0;
  double off = base == BASE_R ? fabs(a - b) : INFINITY;
  return isnan(off) ? INFINITY : off;
}

static void compare_sides(const BoxTrial *t, double *off) { // [point]
  uint32_t half = t->d->out.n / 2;
  for (uint32_t i = 0; i < half; i++) {
    double *left = out_numbers(t, i), *right = out_numbers(t, half + i);
    int64_t n = cells_of(t->w, out_type(t, i));
    for (int64_t k = 0; k < t->points * n; k++)
      off[k / n] = fmax(off[k / n], distance((Base)out_type(t, i)->base, left[k], right[k]));
  }
}

static const char *point_text(const BoxTrial *t, int64_t point) {
  Buf b = buf_new(t->w->arena);
  if (*t->of->sizes) buf_printf(&b, "%s, ", t->of->sizes);
  for (uint32_t i = 0; i < t->d->in.n; i++) {
    int64_t n = cells_of(t->w, in_type(t, i));
    const char *name = name_text(t->w->names, t->d->wire.at[t->d->in.at[i]].name);
    buf_printf(&b, "%s%s = ", i ? ", " : "", name);
    for (int64_t k = 0; k < n && k < NUMBERS_SHOWN; k++)
      buf_printf(&b, "%s%.4g", k ? " " : "", t->in[i][point * n + k]);
    if (n > NUMBERS_SHOWN) buf_text(&b, " …");
  }
  return t->d->in.n ? b.at : "without inputs";
}

typedef struct {
  int64_t points, right;
  bool all; // all points were tried
  bool reals;
  double off;
  const char *worst;
} BoxVerdict;

static bool try_case(BoxTrial *t, BoxVerdict *v) {
  t->arena = arena_child(t->w->arena);
  bool good = open_trial(t);
  if (good) {
    double *off = NEW_ARRAY(t->arena, double, t->points + 1);
    compare_sides(t, off);
    v->points += t->points;
    v->all &= t->all;
    for (uint32_t i = 0; i < t->d->out.n; i++) v->reals |= out_type(t, i)->base == BASE_R;
    for (int64_t p = 0; p < t->points; p++) {
      bool right = off[p] <= t->c->within;
      v->right += right;
      if (!right && (!v->worst || off[p] > v->off)) v->worst = point_text(t, p);
      v->off = fmax(v->off, off[p]);
    }
  }
  if (t->engine) engine_free(t->engine);
  arena_free(t->arena);
  return good;
}

// A check over an open space has types, and no points.
static bool is_over_open(World *w, const Check *c) {
  for (uint32_t i = 0; i < c->boxes.n; i++)
    for (Id k = 1; k < c->boxes.at[i].diagram->wire.n; k++)
      if (type_over_open(w, &c->boxes.at[i].diagram->wire.at[k].type, c->span)) return true;
  return false;
}

bool verify_boxes(World *w, const Check *c, const SimOptions *how, Verdict *out) {
  BoxVerdict v = {.all = true};
  if (is_over_open(w, c)) return false;
  for (uint32_t i = 0; i < c->boxes.n; i++) {
    BoxTrial t = {.w = w, .how = how, .c = c, .of = &c->boxes.at[i]};
    if (!try_case(&t, &v)) return false;
  }
  Buf b = buf_new(w->arena);
  if (v.points > 1)
    buf_printf(&b, "%lld of %lld %s", (long long)v.right, (long long)v.points,
               v.all ? "inputs" : "drawn inputs");
  if (v.reals) buf_printf(&b, "%soff by %.2g%s", b.n ? ", " : "", v.off, b.n ? " at most" : "");
  if (v.worst && v.points > 1) buf_printf(&b, "; worst for %s", v.worst);
  out->figure = b.n ? b.at : v.right ? "true" : "not true";
  out->holds = v.right == v.points;
  return true;
}
