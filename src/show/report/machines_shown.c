// The shows of a run as arrays for plots: moments are the leading axis, with their times.
//
// `show x, y as curves, phase` selects values and views. Without `as`: numbers are curves, labels
// and bits are bands, many numbers are space against time, a square table is a matrix. A run
// without shows shows its ports. `every 500` thins the moments.
#include "base/names.h"
#include "show/report/report_own.h"

#include <math.h>

enum {
  CURVES_MOST = 8,    // elements of an array shown as curves by default
  BANDS_MOST = 24,    // as bands
  MATRICES_MOST = 12, // moments shown as matrices
  STRIP_MOST = 8,     // wirings side by side
  MOVING_MOST = 60,   // moments of an animation
  IMAGES_MOST = 24,
};

typedef VEC(const SimChannel *) Channels;

typedef struct {
  const Results *r;
  const SimRecord *record;
  const System *system;
  double every;
  const ShowAs *as; // NULL: chosen by shape
  const bool *held; // [channel]
  bool swept;       // one of a family, whose curves share a picture
  RanShows *out;
} Showing;

// -- moments --------------------------------------------------------------------------------------
// The moments selected by `every`, and the last.
static Ids moments_of(const Showing *s) {
  const SimRecord *r = s->record;
  Ids out = {0};
  double next = 0;
  for (uint32_t i = 0; i < r->time.n; i++) {
    double t = r->time.at[i];
    if (s->every > 0 && t < next - 1e-9 * s->every && i + 1 < r->time.n) continue;
    vec_push(s->r->arena, &out, i);
    if (s->every > 0) next = (floor(t / s->every + 1e-9) + 1) * s->every;
  }
  return out;
}

// At most `most` of them, evenly spaced, including the first and last.
static Ids some_of(Arena *a, const Ids *all, uint32_t most) {
  Ids out = {0};
  if (all->n <= most) return *all;
  uint32_t step = (all->n - 1 + most - 2) / (most - 1);
  for (uint32_t i = 0; i + 1 < all->n; i += step) vec_push(a, &out, all->at[i]);
  vec_push(a, &out, all->at[all->n - 1]);
  return out;
}

static const char *moment_text(const Showing *s, uint32_t i) {
  double t = s->record->time.at[i];
  return arena_format(s->r->arena, s->record->flows ? "t = %s" : "tick %s",
                      number_text(s->r->arena, t));
}

// -- values ---------------------------------------------------------------------------------------
static Array gather_moments(const Showing *s, const SimChannel *c, const Ids *moment) {
  Arena *a = s->r->arena;
  Array x = {.name = one_line(a, c->name), .rank = c->rank + 1};
  x.shape = NEW_ARRAY(a, int64_t, x.rank);
  x.shape[0] = moment->n;
  memcpy(x.shape + 1, c->shape, c->rank * sizeof *c->shape);
  x.count = (int64_t)moment->n * c->cells;
  x.data = c->value.at;
  if (moment->n == s->record->time.n) return x;
  x.data = NEW_ARRAY(a, double, x.count);
  for (uint32_t i = 0; i < moment->n; i++)
    memcpy(x.data + i * c->cells, c->value.at + moment->at[i] * c->cells,
           (size_t)c->cells * sizeof(double));
  return x;
}

// [t a b] becomes [t k].
static void flatten(Array *x, int64_t cells) {
  if (x->rank <= 2) return;
  x->rank = 2;
  x->shape[1] = cells;
}

static const char *const *names_of_labels(const Showing *s, const SimChannel *c) {
  if (c->base != BASE_LABEL || !c->names) return NULL;
  const Ids *all = &s->r->w->label_names.at[c->names];
  const char **name = NEW_ARRAY(s->r->arena, const char *, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) name[i] = name_text(s->r->w->names, all->at[i]);
  return name;
}

// Names with indices, for several axes: g[0 1]
static const char *const *names_of_cells(const Showing *s, const SimChannel *c) {
  if (c->rank < 2) return NULL;
  const char **name = NEW_ARRAY(s->r->arena, const char *, c->cells + 1);
  for (int64_t k = 0; k < c->cells; k++) name[k] = cell_name(s->r->arena, c, k);
  return name;
}

static void put_marks(const Showing *s, Shown *to) {
  const SimRecord *r = s->record;
  double *mark = NEW_ARRAY(s->r->arena, double, r->events_logged.n + 1);
  const char **text = NEW_ARRAY(s->r->arena, const char *, r->events_logged.n + 1);
  for (uint32_t i = 0; i < r->events_logged.n; i++) {
    const LoggedEvent *h = &r->events_logged.at[i];
    mark[i] = h->time;
    text[i] = *h->path ? arena_format(s->r->arena, "%s: %s", h->path, h->what) : h->what;
  }
  to->marks = r->events_logged.n;
  to->mark = mark;
  to->mark_text = text;
}

static const char *text_of(const Showing *s, const Channels *c) {
  Buf b = buf_new(s->r->arena);
  for (uint32_t i = 0; i < c->n; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", one_line(s->r->arena, c->at[i]->name));
  return b.at;
}

static Shown shown_of(const Showing *s, const Channels *c, const char *view, const Ids *moment) {
  Shown to = {.text = text_of(s, c), .view = view, .whole = !s->record->flows};
  double *time = NEW_ARRAY(s->r->arena, double, moment->n + 1);
  for (uint32_t i = 0; i < moment->n; i++) time[i] = s->record->time.at[moment->at[i]];
  to.over = record_clock(s->record);
  to.moments = moment->n;
  to.moment = time;
  const char *const **name = NEW_ARRAY(s->r->arena, const char *const *, c->n + 1);
  const char **unit = NEW_ARRAY(s->r->arena, const char *, c->n + 1);
  for (uint32_t i = 0; i < c->n; i++) {
    unit[i] = c->at[i]->unit;
    name[i] = names_of_labels(s, c->at[i]);
    vec_push(s->r->arena, &to.value.array, gather_moments(s, c->at[i], moment));
  }
  to.name = name;
  to.unit = unit;
  if (s->as && strcmp(s->as->name, view) == 0) {
    to.options = s->as->options;
    memcpy(to.option, s->as->option, sizeof to.option);
  }
  return to;
}

static void add_shown(const Showing *s, Shown to) {
  vec_push(s->r->arena, s->out, (RanShown){.shown = to});
}

static void add_refusal(const Showing *s, const Channels *c, const char *view, const char *why) {
  vec_push(s->r->arena, s->out,
           (RanShown){.shown = {.text = text_of(s, c), .view = view}, .why = why});
}

// -- views ----------------------------------------------------------------------------------------
// One array each: lines and space-time images have one axis besides time.
static void show_flat(const Showing *s, const Channels *c, const char *view) {
  Ids moment = moments_of(s);
  Shown to = shown_of(s, c, view, &moment);
  const char *const **name = NEW_ARRAY(s->r->arena, const char *const *, c->n + 1);
  bool lines = strcmp(view, "curves") == 0, *held = NEW_ARRAY(s->r->arena, bool, c->n + 1);
  for (uint32_t i = 0; i < c->n; i++) {
    held[i] = s->held[c->at[i] - s->record->channel.at];
    flatten(&to.value.array.at[i], c->at[i]->cells);
    name[i] = lines ? names_of_cells(s, c->at[i]) : to.name[i];
  }
  to.name = name;
  to.held = held;
  put_marks(s, &to);
  add_shown(s, to);
}

static void show_matrix(const Showing *s, const Channels *c) {
  Ids moment = moments_of(s);
  if (c->at[0]->rank != 2) {
    show_flat(s, c, c->at[0]->rank == 1 ? "spacetime" : "matrix");
    return;
  }
  for (uint32_t i = 0; i < c->n; i++) {
    Channels one = {.at = &c->at[i], .n = 1};
    Ids some = some_of(s->r->arena, &moment, MATRICES_MOST);
    if (!(s->every > 0)) some = (Ids){.at = &moment.at[moment.n - 1], .n = 1};
    Shown to = shown_of(s, &one, "matrix", &some);
    if (some.n == 1) { // a single matrix
      to.over = NULL;
      to.value.array.at[0].rank--, to.value.array.at[0].shape++;
      to.text = arena_format(s->r->arena, "%s, %s", to.text, moment_text(s, some.at[0]));
    }
    add_shown(s, to);
    s->out->at[s->out->n - 1].live = c->at[i];
  }
}

static bool is_picture(const SimChannel *c) {
  int64_t side = (int64_t)llround(sqrt((double)c->cells));
  return c->rank >= 2 || side * side == c->cells;
}

// Images: each moment is a sample. A vector becomes one image over all moments.
static void show_images(const Showing *s, const Channels *c) {
  if (!is_picture(c->at[0])) {
    show_flat(s, c, "spacetime");
    return;
  }
  Ids moment = moments_of(s), some = some_of(s->r->arena, &moment, IMAGES_MOST);
  Shown to = shown_of(s, c, s->as->name, &some);
  to.over = NULL;
  to.samples = true;
  add_shown(s, to);
}

static void show_paths(const Showing *s, const Channels *c) {
  Ids moment = moments_of(s);
  Shown to = shown_of(s, c, "paths", &moment);
  int64_t *step = NEW_ARRAY(s->r->arena, int64_t, moment.n + 1);
  for (uint32_t i = 0; i < moment.n; i++)
    step[i] = s->record->flows ? (int64_t)i : (int64_t)to.moment[i];
  to.step = step;
  to.over = NULL;
  to.samples = true;
  add_shown(s, to);
}

// -- wirings over time ----------------------------------------------------------------------------
// The parts that a k by k table refers to: the only array of k parts, or k parts.
static const char *const *part_names(const Showing *s, int64_t k) {
  const System *y = s->system;
  World *w = s->r->w;
  const Part *array = NULL;
  uint32_t arrays = 0;
  for (uint32_t i = 0; i < y->part.n; i++) {
    int64_t size = 0;
    if (y->part.at[i].axes != 1 || !size_value(w, y->part.at[i].axis[0].size, &size) || size != k)
      continue;
    array = &y->part.at[i];
    arrays++;
  }
  const char **name = NEW_ARRAY(s->r->arena, const char *, k + 1);
  bool alone = y->part.n == k && arrays != 1;
  for (int64_t i = 0; i < k; i++)
    name[i] = arrays == 1 ? arena_format(s->r->arena, "%s %lld", name_text(w->names, array->name),
                                         (long long)i)
              : alone     ? name_text(w->names, y->part.at[i].name)
                          : arena_format(s->r->arena, "%lld", (long long)i);
  return name;
}

static const WiringTimes *wiring_times(const Showing *s, const Channels *c, const Ids *moment) {
  Arena *a = s->r->arena;
  WiringTimes *t = NEW(a, WiringTimes);
  const char **when = NEW_ARRAY(a, const char *, moment->n + 1);
  for (uint32_t i = 0; i < moment->n; i++) when[i] = moment_text(s, moment->at[i]);
  t->title = text_of(s, c);
  t->parts = (uint32_t)c->at[0]->shape[0];
  t->moments = moment->n;
  t->name = part_names(s, t->parts);
  t->when = when;
  t->weight = gather_moments(s, c->at[0], moment).data;
  if (c->n > 1) t->value = gather_moments(s, c->at[1], moment).data;
  return t;
}

static void show_wiring(const Showing *s, const Channels *c) {
  const SimChannel *g = c->at[0];
  bool square = g->rank == 2 && g->shape[0] == g->shape[1] && g->base != BASE_LABEL;
  bool values = c->n == 1 ||
                (c->n == 2 && c->at[1]->rank == 1 && square && c->at[1]->shape[0] == g->shape[0]);
  if (!square || !values) {
    add_refusal(
        s, c, "wiring",
        "a wiring is a table of k by k numbers, how much each part hears each other one, and "
        "perhaps a row of k numbers for the parts themselves");
    return;
  }
  Ids all = moments_of(s), few = some_of(s->r->arena, &all, STRIP_MOST);
  Ids many = some_of(s->r->arena, &all, s->every > 0 ? MOVING_MOST : 2 * STRIP_MOST);
  RanShown to = {.shown = {.text = text_of(s, c), .view = "wiring"}};
  to.strip = wiring_times(s, c, &few);
  to.moving = wiring_times(s, c, &many);
  double *time = NEW_ARRAY(s->r->arena, double, many.n + 1);
  for (uint32_t i = 0; i < many.n; i++) time[i] = s->record->time.at[many.at[i]];
  to.moving_time = time;
  vec_push(s->r->arena, s->out, to);
}

// -- as it suits ----------------------------------------------------------------------------------
static bool is_band(const SimChannel *c) { return c->base != BASE_R && c->cells <= BANDS_MOST; }
static bool is_square(const SimChannel *c) { return c->rank == 2 && c->shape[0] == c->shape[1]; }

static double size_of_values(const SimChannel *c) {
  double most = 0;
  for (uint32_t i = 0; i < c->value.n; i++)
    if (isfinite(c->value.at[i])) most = fmax(most, fabs(c->value.at[i]));
  return most;
}

// Curves of equal unit and size share a picture.
static void show_curves(const Showing *s, const Channels *all) {
  bool *done = NEW_ARRAY(s->r->arena, bool, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) {
    Channels group = {0};
    double size = size_of_values(all->at[i]);
    for (uint32_t k = i; k < all->n; k++) {
      double other = size_of_values(all->at[k]);
      bool near = s->swept || other == size || (other > size / 20 && other < size * 20);
      if (done[k] || !near) continue;
      done[k] = true;
      vec_push(s->r->arena, &group, all->at[k]);
    }
    if (group.n) show_flat(s, &group, "curves");
  }
}

static void show_suited(const Showing *s, const Channels *all) {
  Channels curves = {0}, bands = {0}, rest = {0};
  for (uint32_t i = 0; i < all->n; i++) {
    const SimChannel *c = all->at[i];
    bool few = c->cells <= CURVES_MOST && !is_square(c);
    vec_push(s->r->arena, is_band(c) ? &bands : few ? &curves : &rest, c);
  }
  if (curves.n) show_curves(s, &curves);
  if (bands.n) show_flat(s, &bands, "bands");
  for (uint32_t i = 0; i < rest.n; i++) {
    Channels one = {.at = &rest.at[i], .n = 1};
    if (!is_square(rest.at[i])) {
      show_flat(s, &one, "spacetime");
      continue;
    }
    Showing some = *s;
    if (!(some.every > 0)) some.every = s->record->time.at[s->record->time.n - 1] / 5;
    show_matrix(&some, &one);
  }
}

// Labels are not shown as curves.
static void show_as_curves(const Showing *s, const Channels *all) {
  Channels curves = {0}, bands = {0};
  for (uint32_t i = 0; i < all->n; i++)
    vec_push(s->r->arena, all->at[i]->base == BASE_LABEL ? &bands : &curves, all->at[i]);
  if (curves.n) show_flat(s, &curves, "curves");
  if (bands.n) show_flat(s, &bands, "bands");
}

static void show_view(const Showing *s, const Channels *c) {
  static const struct {
    const char *name;
    void (*show)(const Showing *, const Channels *);
  } views[] = {{"curves", show_as_curves}, {"wiring", show_wiring}, {"matrix", show_matrix},
               {"paths", show_paths},      {"images", show_images}, {"strip", show_images}};
  for (uint32_t i = 0; s->as && i < COUNT(views); i++)
    if (strcmp(views[i].name, s->as->name) == 0) {
      views[i].show(s, c);
      return;
    }
  if (s->as)
    show_flat(s, c, s->as->name);
  else
    show_suited(s, c);
}

// -- what -----------------------------------------------------------------------------------------
static bool is_there(const SimRecord *r, const SimChannel *c) {
  return r->time.n && c->cells > 0 && (int64_t)c->value.n == (int64_t)r->time.n * c->cells;
}

static bool has_name(const Channels *all, const char *name) {
  for (uint32_t i = 0; i < all->n; i++)
    if (strcmp(all->at[i]->name, name) == 0) return true;
  return false;
}

// A constant input is not interesting.
static bool is_still(const SimRecord *r, const SimChannel *c) {
  for (uint32_t i = 1; i < r->time.n; i++)
    if (memcmp(c->value.at, c->value.at + (int64_t)i * c->cells, (size_t)c->cells * sizeof(double)))
      return false;
  return true;
}

static bool is_output(const Showing *s, const SimChannel *c) {
  for (uint32_t i = 0; i < s->system->out.n; i++)
    if (strcmp(name_text(s->r->w->names, s->system->out.at[i].name), c->name) == 0) return true;
  return false;
}

// Outputs, then inputs; without ports, the states.
static void show_ports(Showing *s) {
  const SimRecord *r = s->record;
  uint32_t out = r->system->out.n, ports = out + r->system->in.n;
  Channels first = {0}, rest = {0};
  for (uint32_t i = 0; i < (ports ? ports : r->sights) && i < r->sights; i++) {
    const SimChannel *c = &r->channel.at[i];
    bool still = i >= out && i < ports && is_there(r, c) && is_still(r, c) && first.n;
    if (!is_there(r, c) || has_name(&first, c->name) || has_name(&rest, c->name) || still) continue;
    vec_push(s->r->arena, is_output(s, c) ? &first : &rest, c);
  }
  if (first.n) show_view(s, &first);
  if (rest.n) show_view(s, &rest);
}

static void show_one(Showing *s, const RunShow *show, uint32_t first) {
  Channels all = {0};
  const char *missing = NULL;
  for (uint32_t k = 0; k < show->seen.n; k++) {
    const SimChannel *c = &s->record->channel.at[first + k];
    vec_push(s->r->arena, &all, c);
    if (!is_there(s->record, c)) missing = one_line(s->r->arena, c->name);
  }
  s->every = show->every;
  for (uint32_t i = 0; all.n && (i < show->views || !i); i++) {
    s->as = show->views ? &show->view[i] : NULL;
    if (missing)
      add_refusal(s, &all, s->as ? s->as->name : NULL,
                  arena_format(s->r->arena, "`%s` is not among the numbers of %s: run it again",
                               missing, s->r->dir));
    else
      show_view(s, &all);
  }
}

bool is_drawn_together(const RanShown *s) {
  return !s->why && !s->strip && s->shown.view &&
         (strcmp(s->shown.view, "curves") == 0 || strcmp(s->shown.view, "phase") == 0);
}

static Showing showing_of(const Results *r, uint32_t run, RanShows *out) {
  const SimResult *of = &r->run.at[run];
  return (Showing){.r = r,
                   .record = &of->record,
                   .system = of->system,
                   .held = channels_held(r, run),
                   .swept = of->turn,
                   .out = out};
}

void ran_show(const Results *r, uint32_t run, const RunShow *show, uint32_t first, RanShows *out) {
  Showing s = showing_of(r, run, out);
  show_one(&s, show, first);
}

void ran_shows(const Results *r, uint32_t run, RanShows *out) {
  Showing s = showing_of(r, run, out);
  uint32_t at = s.record->sights;
  bool any = false;
  if (!s.record->time.n) return;
  for (uint32_t i = 0; i < r->p->ran->show.n; i++) {
    const RunShow *show = &r->p->ran->show.at[i];
    if (show->run != run) continue;
    any = true;
    show_one(&s, show, at);
    at += show->seen.n;
  }
  if (!any) show_ports(&s);
}
