// The laws of hybrid systems. Most compare two programs that must have the same trace to the last
// bit: all recorded values, and all events with their times. Laws about steps and tolerances
// require the same events, and times and values that differ by no more than the tolerance and the
// sensitivity of the system, which is measured by a small change of the initial state.
#include "hybrid_laws.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"

#include <string.h>

static bool says(HybridCase *, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool says(HybridCase *c, const char *format, ...) {
  va_list list;
  va_start(list, format);
  buf_vprintf(&c->said, format, list);
  va_end(list);
  return false;
}

bool hybrid_differs(HybridCase *c, const char *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  buf_vprintf(&c->said, format, list);
  va_end(list);
  buf_printf(&c->said, "\n%s", text);
  return false;
}

// -- following ------------------------------------------------------------------------------------
// What a run may say against itself: nothing is wrong with the law then.
static bool is_own_fault(const char *message) {
  return strstr(message, "too many events") || strstr(message, "two events set") ||
         strstr(message, "slides: its rate jumps");
}

// The words of the first message without what is quoted: another refusal is another fault.
static const char *refusal(HybridCase *c, const char *message) {
  Buf b = buf_new(c->arena);
  const char *at = strstr(message, "error: ");
  for (bool quoted = false; at && *at && *at != '\n'; at++) {
    if (*at == '`') quoted = !quoted;
    if (!quoted && *at != ':' && !(*at >= '0' && *at <= '9')) buf_char(&b, *at);
  }
  return b.n ? b.at : "";
}

static bool followed_so(HybridCase *c, const char *text, const SimOptions *how, Ran *r) {
  *r = ran_read(text);
  if (r->w->diags->errors) {
    const char *why = ran_messages(r);
    return says(c, "refused %s: %s\n%s", refusal(c, why), why, text);
  }
  r->f = NEW_ARRAY(r->arena, Followed, r->p->ran->run.n + 1);
  for (uint32_t i = 0; i < r->p->ran->run.n; i++)
    if (!follow_run(r->in, r->p, i, how, &r->f[i])) {
      const char *why = ran_messages(r);
      return says(c, "%s: %s\n%s", is_own_fault(why) ? "skipped" : "stopped", why, text);
    }
  return true;
}

static bool followed(HybridCase *c, const char *text, bool compiled, Ran *r) {
  return followed_so(c, text, &(SimOptions){.threads = 1, .reference = !compiled}, r);
}

// Where the values of a run end: `) to 3`, `) for 3 ticks`.
static const char *values_end(const char *run) {
  const char *to = strstr(run, ") to");
  return to ? to : strstr(run, ") for");
}

// The program in some way, with one run.
static bool one_run(HybridCase *c, HybridPrint how, const char *by, bool compiled, Ran *r) {
  const char *more = how.more ? how.more : "";
  how.more = arena_format(c->arena, "%s%s", hybrid_run(c->arena, c->h, by, &how), more);
  return followed(c, hybrid_text(c->arena, c->h, &how), compiled, r);
}

static const SimChannel *channel(const SimRecord *r, const char *name) {
  for (uint32_t i = 0; i < r->channel.n; i++)
    if (!strcmp(r->channel.at[i].name, name)) return &r->channel.at[i];
  return NULL;
}

// -- the same trace -------------------------------------------------------------------------------
static bool same_numbers(HybridCase *c, const SimChannel *x, const SimChannel *y,
                         const Ran *other) {
  if (x->value.n != y->value.n)
    return says(c, "moments: %s has %u numbers, %u in\n%s", x->name, x->value.n, y->value.n,
                other->text);
  for (uint32_t i = 0; i < x->value.n; i++)
    if (!same_bits(x->value.at[i], y->value.at[i]))
      return says(c, "numbers: %s[%u] is %.17g, %.17g in\n%s", x->name, i, x->value.at[i],
                  y->value.at[i], other->text);
  return true;
}

// What happens at one moment has no order.
static bool has_happening(const SimRecord *r, double time, const char *path, const char *what) {
  for (uint32_t i = 0; i < r->events_logged.n; i++) {
    const LoggedEvent *h = &r->events_logged.at[i];
    if (same_bits(h->time, time) && !strcmp(h->path, path) && !strcmp(h->what, what)) return true;
  }
  return false;
}

// A part is found by something in it.
static const char *other_part(HybridCase *c, const char *path, const HybridPrint *how) {
  const char *inside = arena_format(c->arena, "%s.s", path);
  char *name = arena_format(c->arena, "%s", hybrid_name(c->arena, c->h, inside, how));
  *strrchr(name, '.') = 0;
  return name;
}

static bool same_happenings(HybridCase *c, const SimRecord *x, const SimRecord *y,
                            const HybridPrint *how) {
  if (x->events_logged.n != y->events_logged.n)
    return says(c, "happenings: %u and %u", x->events_logged.n, y->events_logged.n);
  for (uint32_t i = 0; i < x->events_logged.n; i++) {
    const LoggedEvent *h = &x->events_logged.at[i];
    const char *path = *h->path ? other_part(c, h->path, how) : "", *what = h->what;
    if (strcmp(what, "born") != 0 && strcmp(what, "died") != 0)
      what = hybrid_name(c->arena, c->h, what, how);
    if (!has_happening(y, h->time, path, what))
      return says(c, "happenings: %s of `%s` at %.17g, not %s of `%s`", h->what, h->path, h->time,
                  what, path);
  }
  return true;
}

static bool same_trace(HybridCase *c, const Ran *a, const Ran *b, uint32_t run,
                       const HybridPrint *how) {
  const SimRecord *x = &a->f[0].record, *y = &b->f[run].record;
  if (x->time.n != y->time.n)
    return says(c, "moments: %u, and %u in\n%s", x->time.n, y->time.n, b->text);
  for (uint32_t i = 0; i < x->time.n; i++)
    if (!same_bits(x->time.at[i], y->time.at[i]))
      return says(c, "moments: number %u is %.17g, %.17g in\n%s", i, x->time.at[i], y->time.at[i],
                  b->text);
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *one = &x->channel.at[i];
    const char *name = hybrid_name(c->arena, c->h, one->name, how);
    const SimChannel *other = channel(y, name);
    if (!other) return says(c, "names: %s is not seen as %s in\n%s", one->name, name, b->text);
    if (!same_numbers(c, one, other, b)) return false;
  }
  return same_happenings(c, x, y, how) || says(c, " in\n%s", b->text);
}

// What is drawn goes by names.
static bool is_noisy(HybridCase *c) {
  return c->h->noisy && !says(c, "skipped: another name, another draw");
}
// The program's own check.
bool hybrid_checked(HybridCase *c) {
  Ran r;
  HybridPrint how = {.more = "check Whole : nested = flat\n"};
  if (is_noisy(c)) return false;
  if (!followed(c, hybrid_text(c->arena, c->h, &how), false, &r)) return false;
  Verdict v = {0};
  SimOptions options = {.threads = 1, .reference = true};
  if (!verify_check(r.in, r.p, 0, r.f, &options, &v))
    return says(c, "unverified: %s", ran_messages(&r));
  return v.holds || says(c, "check: %s\n%s", v.figure, r.text);
}

// A second run in the program, and a third one in another order: nothing is left of the first.
bool hybrid_again(HybridCase *c) {
  Ran one, two;
  const char *run = hybrid_run(c->arena, c->h, "", &(HybridPrint){0});
  Hybrid half = *c->h;
  half.end = 1.5;
  const char *more =
      arena_format(c->arena, "%s%s", hybrid_run(c->arena, &half, "", &(HybridPrint){0}), run);
  return one_run(c, (HybridPrint){0}, "", false, &one) &&
         one_run(c, (HybridPrint){.more = more}, "", false, &two) &&
         same_trace(c, &one, &two, 0, &(HybridPrint){0}) &&
         same_trace(c, &one, &two, 2, &(HybridPrint){0});
}

// A sweep is its runs, one after the other.
bool hybrid_swept(HybridCase *c) {
  Ran one, all;
  Arena *a = c->arena;
  const char *run = hybrid_run(a, c->h, "", &(HybridPrint){0}), *close = values_end(run);
  const char *start = arena_text(a, run, (size_t)(close - run));
  const char *swept = arena_format(a, "for q in [0.1, 0.35] {\n  %s, w0: q%s}\n", start, close);
  if (!followed(c, hybrid_text(a, c->h, &(HybridPrint){.more = swept}), false, &all)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    const char *alone = arena_format(a, "%s, w0: %s%s", start, i ? "0.35" : "0.1", close);
    if (!followed(c, hybrid_text(a, c->h, &(HybridPrint){.more = alone}), false, &one) ||
        !same_trace(c, &one, &all, i, &(HybridPrint){0}))
      return false;
  }
  return true;
}

// What is watched changes nothing.
bool hybrid_watched(HybridCase *c) {
  Ran one, two;
  HybridPrint how = {.more = "check highest(y0) < 1000\ncheck times_true(y0 > 0.25) < 100000\n"
                             "check average(w0) < 1000\ncheck when_first[1](w0 > 100) < 0\n"};
  return one_run(c, (HybridPrint){0}, "", false, &one) && one_run(c, how, "", false, &two) &&
         same_trace(c, &one, &two, 0, &how);
}

// -- the same within what is allowed --------------------------------------------------------------
static bool same_event(const LoggedEvent *x, const LoggedEvent *y) {
  return !strcmp(x->path, y->path) && !strcmp(x->what, y->what);
}

// How far apart the moments of two runs are at most; infinite where other things happen. Things within
// `within` of each other may be in another order.
static double moments_apart(const SimRecord *x, const SimRecord *y, double within) {
  double most = 0;
  if (x->events_logged.n != y->events_logged.n) return INFINITY;
  uint8_t *used = calloc(y->events_logged.n + 1, 1);
  for (uint32_t i = 0; used && i < x->events_logged.n; i++) {
    const LoggedEvent *h = &x->events_logged.at[i];
    double near = INFINITY;
    uint32_t at = 0;
    for (uint32_t k = 0; k < y->events_logged.n; k++) {
      if (used[k] || !same_event(h, &y->events_logged.at[k])) continue;
      near = fabs(y->events_logged.at[k].time - h->time), at = k;
      break;
    }
    if (isfinite(near)) used[at] = 1;
    most = fmax(most, near);
  }
  free(used);
  return most <= within ? most : INFINITY;
}

// A part that is born or dies at the very end is there or not by the last digit.
static bool lives_to_the_end(const SimRecord *x) {
  double end = x->time.n ? x->time.at[x->time.n - 1] : 0;
  for (uint32_t i = 0; i < x->events_logged.n; i++) {
    const LoggedEvent *h = &x->events_logged.at[i];
    if (fabs(h->time - end) < 1e-9 && (!strcmp(h->what, "died") || !strcmp(h->what, "born")))
      return false;
  }
  return true;
}

static double ends_apart(const SimRecord *x, const SimRecord *y) {
  if (!lives_to_the_end(x) || !lives_to_the_end(y)) return 0;
  double most = 0;
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *a = &x->channel.at[i], *b = channel(y, a->name);
    bool kept = b && a->value.n && b->value.n; // weights are not
    for (int64_t k = 0; kept && k < a->cells; k++)
      most = fmax(most, fabs(a->value.at[a->value.n - (uint64_t)a->cells + (uint64_t)k] -
                             b->value.at[b->value.n - (uint64_t)b->cells + (uint64_t)k]));
  }
  return most;
}

// A matrix has an order: what equations say is the same but for digits.
static bool nearly_same(HybridCase *c, const Ran *one, const Ran *other, const HybridPrint *how) {
  if (how->renamed || how->grouped) return says(c, "skipped: equations under other names");
  const SimRecord *x = &one->f[0].record, *y = &other->f[0].record;
  double moments = moments_apart(x, y, 1e-6), ends = ends_apart(x, y);
  return (moments <= 1e-7 && ends <= 1e-7) ||
         says(c, "order: moments %.3g, ends %.3g off in\n%s", moments, ends, other->text);
}

static bool same_in(HybridCase *c, const HybridPrint *how) {
  Ran one, other;
  bool good = one_run(c, (HybridPrint){0}, "", false, &one) && one_run(c, *how, "", false, &other);
  if (good && c->h->equations) return nearly_same(c, &one, &other, how);
  return good && same_trace(c, &one, &other, 0, how);
}

bool hybrid_order(HybridCase *c) {
  return same_in(c, &(HybridPrint){.order = c->h->seed + 1}) &&
         same_in(c, &(HybridPrint){.order = 3 * c->h->seed + 7});
}
bool hybrid_names(HybridCase *c) {
  return !is_noisy(c) && same_in(c, &(HybridPrint){.renamed = true});
}
bool hybrid_nested(HybridCase *c) {
  if (is_noisy(c)) return false;
  return same_in(c, &(HybridPrint){.grouped = c->h->seed + 1}) &&
         same_in(c, &(HybridPrint){
                        .grouped = 3 * c->h->seed + 7, .order = c->h->seed, .renamed = true});
}

typedef struct {
  double moments, ends; // how far a change of 1e-6 at the start moves them
} Sensitivity;

// False: other things happen after so small a change, and the laws below say nothing of the system.
static bool is_robust(const SimRecord *x, const SimRecord *moved, Sensitivity *s) {
  s->moments = moments_apart(x, moved, 1e-3);
  s->ends = ends_apart(x, moved);
  return isfinite(s->moments) && s->ends < 1e-3;
}

static const char *moved_run(HybridCase *c, double by, const char *method) {
  char text[64];
  Arena *a = c->arena;
  const char *run = hybrid_run(a, c->h, method, &(HybridPrint){0});
  const char *close = values_end(run);
  snprintf(text, sizeof text, ", w0: %.9g", 0.31 + by);
  return arena_format(a, "%.*s%s%s", (int)(close - run), run, text, close);
}

// However it is followed, the same happens, at the same moments, up to the tolerance.
bool hybrid_precise(HybridCase *c) {
  typedef struct {
    const char *by;
    double tolerance;
  } Way;
  static const Way equations[] = {{" by stiff[1e-8]", 1e-8},
                                  {" by stiff[1e-6]", 1e-6},
                                  {" by stiff[1e-10, step: 0.01]", 1e-10},
                                  {" every 0.0025", 1e-10}};
  static const Way rates[] = {{" by dormand[1e-8]", 1e-8},
                              {" by dormand[1e-6]", 1e-6},
                              {" by dormand[1e-10, step: 0.01]", 1e-10},
                              {" every 0.0025", 1e-10},
                              {" by stiff[1e-8]", 1e-8},
                              {" by rk4[0.002]", 1e-8}};
  const Way *way = c->h->equations ? equations : rates;
  const char *exactly = c->h->equations ? " by stiff[1e-12]" : " by dormand[1e-12]";
  uint32_t ways = c->h->equations ? COUNT(equations) : COUNT(rates);
  Arena *a = c->arena;
  if (c->h->white || c->h->by_ticks) return says(c, "skipped: its steps are what it is");
  Buf runs = buf_new(a);
  for (int k = 0; k < 3; k++) buf_text(&runs, moved_run(c, k == 2 ? -1e-6 : k * 1e-6, exactly));
  for (uint32_t i = 0; i < ways; i++) buf_text(&runs, moved_run(c, 0, way[i].by));
  Ran r;
  if (!followed(c, hybrid_text(a, c->h, &(HybridPrint){.more = runs.at}), false, &r)) return false;
  const SimRecord *first = &r.f[0].record;
  Sensitivity s, t;
  if (!is_robust(first, &r.f[1].record, &s) || !is_robust(first, &r.f[2].record, &t))
    return says(c, "skipped: another start, other events");
  for (uint32_t i = 0; i < ways; i++) {
    const SimRecord *y = &r.f[3 + i].record;
    if (c->h->jumps && strstr(way[i].by, "rk4")) continue; // it steps over them
    double scale = way[i].tolerance / 1e-6, steps = 100;
    double moments = moments_apart(first, y, 1e-2), ends = ends_apart(first, y);
    if (moments > 1e-9 + steps * scale * (1e-6 + s.moments + t.moments) ||
        ends > 1e-9 + steps * scale * (1e-6 + s.ends + t.ends))
      return says(c, "steps: moments %.3g, ends %.3g off%s (a change of 1e-6: %.3g, %.3g)\n%s",
                  moments, ends, way[i].by, s.moments, s.ends, r.text);
  }
  return true;
}

// A list of lists, as its axes are.
static void write_list(Buf *b, const SimChannel *y, int64_t at, uint32_t axis, int64_t n) {
  if (axis == y->rank) {
    buf_printf(b, "%.17g", y->value.at[at]);
    return;
  }
  int64_t part = n / y->shape[axis];
  for (int64_t k = 0; k < y->shape[axis]; k++) {
    buf_text(b, k ? ", " : "[");
    write_list(b, y, at + k * part, axis + 1, part);
  }
  buf_text(b, "]");
}

// Started later from the state then, a system that knows no time goes on as it would have.
bool hybrid_shifted(HybridCase *c) {
  const Hybrid *h = c->h;
  if (h->timed || h->delays || h->ticks || h->modes || h->moved || h->noisy || h->by_ticks)
    return says(c, "skipped: it knows the time");
  if (h->copies) return says(c, "skipped: parts made by `for` are not started by name");
  Arena *a = c->arena;
  Ran one, two;
  const char *method = h->equations ? " every 0.5 by stiff[1e-12]" : " every 0.5 by dormand[1e-12]";
  const char *text = arena_format(a, "%s%s", moved_run(c, 0, method), moved_run(c, 1e-6, method));
  if (!followed(c, hybrid_text(a, h, &(HybridPrint){.more = text}), false, &one)) return false;
  Sensitivity s;
  const SimRecord *x = &one.f[0].record;
  if (!is_robust(x, &one.f[1].record, &s)) return says(c, "skipped: another start, other events");
  uint32_t at = 0;
  for (uint32_t i = 0; i < x->time.n; i++)
    if (x->time.at[i] == 1) at = i; // what happens at a moment that is kept is the last of it
  Buf run = buf_new(a);
  const char *begin = hybrid_run(a, h, "", &(HybridPrint){0});
  buf_add(&run, begin, (size_t)(strstr(begin, ") to") - begin));
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *y = &x->channel.at[i];
    if (i < x->system->out.n + x->system->in.n) continue;
    buf_printf(&run, ", %s: ", y->name);
    write_list(&run, y, (int64_t)at * y->cells, 0, y->cells);
  }
  buf_printf(&run, ") to %g by dormand[1e-12]\n", h->end - 1);
  if (!followed(c, hybrid_text(a, h, &(HybridPrint){.more = run.at}), false, &two)) return false;
  const SimRecord *z = &two.f[0].record;
  if (z->events_logged.n && z->events_logged.at[0].time == 0)
    return says(c, "skipped: it happens again at its start");
  double apart = ends_apart(x, z);
  return apart <= 1e-9 + 1e-3 * (1e-6 + s.ends) ||
         says(c, "shifted: ends %.3g off\n%s", apart, two.text);
}

// -- the same by other means ----------------------------------------------------------------------
// Compiled code has a tanh of its own: what it makes of the numbers is a last digit.
bool hybrid_compiled(HybridCase *c) {
  Ran one, two;
  Arena *a = c->arena;
  const char *runs = arena_format(a, "%s%s", moved_run(c, 0, ""), moved_run(c, 1e-6, ""));
  const char *text = hybrid_text(a, c->h, &(HybridPrint){.more = runs});
  if (!followed(c, text, false, &one) || !followed(c, text, true, &two)) return false;
  Sensitivity s;
  const SimRecord *x = &one.f[0].record, *y = &two.f[0].record;
  if (!is_robust(x, &one.f[1].record, &s)) return says(c, "skipped: another start, other events");
  double moments = moments_apart(x, y, 1e-6), ends = ends_apart(x, y);
  double digits = 1e-10;
  return (moments <= digits + 1e-3 * s.moments && ends <= digits + 1e-3 * s.ends) ||
         says(c, "compiled: moments %.3g, ends %.3g off (a change of 1e-6: %.3g, %.3g)\n%s",
              moments, ends, s.moments, s.ends, text);
}

// A run by ticks in two pieces, the second from where the first ended, is one run.
typedef struct {
  Arena *a;
  Arrays last; // as the first piece left them
} Piece;

static bool keep_piece(void *context, uint32_t run, const Arrays *all) {
  Piece *p = context;
  (void)run;
  p->last = (Arrays){0};
  for (uint32_t i = 0; i < all->array.n; i++) {
    Array x = all->array.at[i];
    x.name = arena_text(p->a, x.name, strlen(x.name));
    x.shape = arena_copy(p->a, x.shape, x.rank * sizeof *x.shape);
    x.data = arena_copy(p->a, x.data, (size_t)x.count * sizeof *x.data);
    vec_push(p->a, &p->last.array, x);
  }
  for (uint32_t i = 0; i < all->metadata.n; i++) {
    Metadata m = all->metadata.at[i];
    m.key = arena_text(p->a, m.key, strlen(m.key));
    m.value = arena_text(p->a, m.value, strlen(m.value));
    vec_push(p->a, &p->last.metadata, m);
  }
  return true;
}

static bool give_piece(void *context, uint32_t run, SavedRun *from) {
  Piece *p = context;
  (void)run;
  *from = (SavedRun){.arrays = &p->last, .file = "first"};
  return true;
}

static bool same_from(HybridCase *c, const Ran *whole, const Ran *second) {
  const SimRecord *x = &whole->f[0].record, *y = &second->f[0].record;
  uint32_t first = 0;
  while (first < x->time.n && y->time.n && x->time.at[first] < y->time.at[0]) first++;
  if (x->time.n - first != y->time.n || !y->time.n)
    return says(c, "moments: %u and %u from tick %u on in\n%s", x->time.n, y->time.n, first,
                second->text);
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *a = &x->channel.at[i], *b = channel(y, a->name);
    if (!b) return says(c, "names: %s is not seen in\n%s", a->name, second->text);
    for (uint32_t k = 0; k < b->value.n; k++) {
      double was = a->value.at[(uint64_t)first * (uint64_t)a->cells + k];
      if (!same_bits(was, b->value.at[k]))
        return says(c, "pieces: %s[%u] is %.17g, %.17g in\n%s", a->name, k, was, b->value.at[k],
                    second->text);
    }
  }
  return true;
}

bool hybrid_pieces(HybridCase *c) {
  if (!c->h->by_ticks) return says(c, "skipped: what flows has no such pieces");
  Piece piece = {.a = c->arena};
  SimOptions how = {.threads = 1, .reference = c->h->seed % 2, .context = &piece};
  Ran whole, one, two;
  Hybrid part = *c->h;
  const char *text[3];
  for (uint32_t i = 0; i < 3; i++) {
    part.end = i == 0   ? c->h->end
               : i == 1 ? 0.35 + (double)(c->h->seed % 20) / 20
                        : c->h->end - part.end;
    text[i] = hybrid_text(
        c->arena, c->h, &(HybridPrint){.more = hybrid_run(c->arena, &part, "", &(HybridPrint){0})});
  }
  if (!followed_so(c, text[0], &how, &whole)) return false;
  how.save = keep_piece;
  if (!followed_so(c, text[1], &how, &one)) return false;
  how.save = NULL, how.before = give_piece;
  return followed_so(c, text[2], &how, &two) && same_from(c, &whole, &two);
}

// The text in its layout leaves the same trace, and its layout is its own.
static const char *formatted(HybridCase *c, const char *text) {
  Front front = {.arena = c->arena, .names = names_new(c->arena), .sources = sources_new(c->arena)};
  front.diags = diags_new(c->arena, front.sources);
  uint32_t file = source_add(front.sources, "text.limn", text, strlen(text));
  Syntax *tree = parse(&front, file);
  if (front.diags->errors) return NULL;
  Buf b = buf_new(c->arena);
  format_program(&front, file, tree, &b);
  return b.at;
}

bool hybrid_written(HybridCase *c) {
  Ran one, two;
  const char *text = hybrid_text(
      c->arena, c->h, &(HybridPrint){.more = hybrid_run(c->arena, c->h, "", &(HybridPrint){0})});
  const char *neat = formatted(c, text), *twice = neat ? formatted(c, neat) : NULL;
  if (!neat || !twice) return says(c, "unread: \n%s\n%s", text, neat ? neat : "");
  if (strcmp(neat, twice)) return says(c, "layout: \n%s\n%s", neat, twice);
  return followed(c, text, false, &one) && followed(c, neat, false, &two) &&
         same_trace(c, &one, &two, 0, &(HybridPrint){0});
}

// -- what is conserved ----------------------------------------------------------------------------
// Balls of some masses on a line between two walls: each collision keeps momentum and energy, each
// wall energy. What moves freely in between is a line, which every method follows to rounding.
bool hybrid_balls(HybridCase *c) {
  Arena *a = c->arena;
  Chance d = {c->h->seed};
  Buf b = buf_new(a), energy = buf_new(a), momentum = buf_new(a);
  uint32_t n = 2 + chance_below(&d, 5);
  bool walls = chance_below(&d, 2);
  buf_text(&b, "machine Balls -> (e, p: R[]) {\n");
  for (uint32_t i = 0; i < n; i++) {
    double x = i + chance_number(&d) / 2, v = 2 * chance_number(&d) - 1;
    buf_printf(&b, "  state x%u = %g, v%u = %g\n  x%u' = v%u\n", i, x, i, v, i, i);
  }
  double mass[8];
  for (uint32_t i = 0; i < n; i++) mass[i] = 0.5 + chance_number(&d);
  for (uint32_t i = 0; i + 1 < n; i++) {
    double all = mass[i] + mass[i + 1];
    const char *meet = arena_format(a, "x%u >= x%u and v%u > v%u", i, i + 1, i, i + 1);
    buf_printf(&b, "  next v%u = ((%.17g) * v%u + %.17g * v%u) / %.17g when %s\n", i,
               mass[i] - mass[i + 1], i, 2 * mass[i + 1], i + 1, all, meet);
    buf_printf(&b, "  next v%u = ((%.17g) * v%u + %.17g * v%u) / %.17g when %s\n", i + 1,
               mass[i + 1] - mass[i], i + 1, 2 * mass[i], i, all, meet);
  }
  if (walls)
    buf_printf(&b,
               "  next v0 = 0 - v0 when x0 <= -1 and v0 < 0\n  next v%u = 0 - v%u when x%u >= %u "
               "and v%u > 0\n",
               n - 1, n - 1, n - 1, n + 1, n - 1);
  for (uint32_t i = 0; i < n; i++) {
    buf_printf(&energy, "%s%.17g * v%u^2", i ? " + " : "", mass[i] / 2, i);
    buf_printf(&momentum, "%s%.17g * v%u", i ? " + " : "", mass[i], i);
  }
  buf_printf(&b, "  e = %s\n  p = %s\n}\nrun Balls to 12\ncheck conserved(e) within 1e-12\n",
             energy.at, momentum.at);
  if (!walls) buf_text(&b, "check conserved(p) within 1e-12\n");
  for (uint32_t i = 0; i + 1 < n; i++)
    buf_printf(&b, "check highest(x%u - x%u) < 1e-9\n", i, i + 1);
  Ran r;
  if (!followed(c, b.at, false, &r)) return false;
  SimOptions options = {.threads = 1, .reference = true};
  for (uint32_t i = 0; i < r.p->ran->check.n; i++) {
    Verdict v = {0};
    if (!verify_check(r.in, r.p, i, r.f, &options, &v))
      return says(c, "unverified: %s", ran_messages(&r));
    if (!v.holds)
      return says(c, "conserved: %s: %s\n%s", r.p->ran->check.at[i].text, v.figure, r.text);
  }
  return true;
}
