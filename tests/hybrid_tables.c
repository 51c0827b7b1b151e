// Balls that bounce on moving tables, compared with a separate simulation.
//
// Between two bounces the height above the table is h + v s - g s^2 / 2 - a sin(w t + p), whose
// second derivative is at most g + a w^2. This bounds the time until the next bounce, and steps of
// that length find each bounce. The law requires the same bounces as long as they can be
// distinguished, a run that stops with a message where they accumulate and nowhere else, and that
// the ball is never below the table.
#include "base/diag.h"
#include "hybrid_laws.h"

#include <string.h>

static const double gravity = 9.81;

typedef struct {
  double e, a, w, p,
      h; // of the bounces; of the table: a sin(w t + p); where the ball is at the start
  double end;
  uint32_t form;
} BallTable;

// -- by itself ------------------------------------------------------------------------------------
enum { BOUNCES = 4000 };
typedef struct {
  double at[BOUNCES];
  uint32_t n;
  double limit; // where they come to one; or infinite
} Bounces;

typedef struct {
  long double h, v, from; // after the last bounce
} Flight;

// Above the table at t, and how fast it comes up from it.
static long double above(const BallTable *b, const Flight *f, long double t, long double *slope) {
  long double s = t - f->from, turn = (long double)b->w * t + b->p;
  *slope = f->v - gravity * s - b->a * (long double)b->w * cosl(turn);
  return f->h + s * (f->v - gravity * s / 2) - b->a * sinl(turn);
}

// A moment up to which it does not come down, or t itself.
static long double until(const BallTable *b, const Flight *f, long double t) {
  long double most = gravity + b->a * (long double)b->w * b->w, slope;
  long double high = above(b, f, t, &slope);
  if (t == f->from) high = 0; // it is on the table there
  if (high < 0 || (t == f->from && slope <= 0)) return t;
  return t + (slope + sqrtl(slope * slope + 2 * most * high)) / most;
}

static Bounces bounced(const BallTable *b, double higher) {
  enum { STEPS = 10000000 };
  const long double short_gap = 1e-10L, digits = 1e-17L;
  Flight f = {.h = b->h + higher};
  Bounces out = {.limit = INFINITY};
  long double t = 1e-9L, slope; // it starts above
  for (uint32_t steps = 0; steps < STEPS && t < b->end && out.n < BOUNCES; steps++) {
    long double next = until(b, &f, t);
    if (next > t + digits * (1 + t)) {
      t = next;
      continue;
    }
    if (out.n && t - f.from < short_gap) {
      out.limit = (double)t;
      break;
    }
    out.at[out.n++] = (double)t;
    above(b, &f, t, &slope);
    long double turn = (long double)b->w * t + b->p, u = b->a * (long double)b->w * cosl(turn);
    f = (Flight){.h = b->a * sinl(turn), .v = u - b->e * slope, .from = t};
  }
  return out;
}

// -- as a program ---------------------------------------------------------------------------------
static const char *ball_text(Arena *arena, const BallTable *b, uint64_t seed) {
  static const char *const by[] = {"",
                                   "",
                                   " by dormand[1e-6]",
                                   " by dormand[1e-11]",
                                   " by stiff",
                                   " by dormand[1e-9, step: 0.01]"};
  static const char *const form[] = {
      "  z = a * sin(w * time + p)\n  u = a * w * cos(w * time + p)\n"
      "  next v = u - e * (v - u) when h <= z\n",
      "  state z = a * sin(p), u = a * w * cos(p)\n  z' = u\n  u' = -w^2 * z\n"
      "  next v = u - e * (v - u) when h <= z\n",
      "  z = a * sin(w * time + p)\n  u = a * w * cos(w * time + p)\n"
      "  next v = -e * v + (1 + e) * u when h - z <= 0\n",
      "  z = a * sin(w * time + p)\n  u = a * w * cos(w * time + p)\n"
      "  next v = u - e * (v - u) when h < z\n  next h = z when h < z\n"};
  Buf t = buf_new(arena);
  buf_printf(&t, "const e = %.17g, a = %.17g, w = %.17g, p = %.17g\n", b->e, b->a, b->w, b->p);
  buf_printf(&t,
             "machine Ball -> (h, z: R[]) {\n  state h = %.17g, v = 0\n  h' = v\n  v' = -%.17g\n",
             b->h, gravity);
  buf_text(&t, form[b->form]);
  buf_printf(&t, "}\nrun Ball to %g every 0.01%s\n", b->end, by[seed % COUNT(by)]);
  return t.at;
}

static BallTable random_ball(uint64_t seed) {
  Chance d = {seed};
  BallTable b = {.form = chance_below(&d, 4), .end = 4};
  b.e = chance_below(&d, 4) ? 0.5 + chance_number(&d) / 2 : chance_number(&d);
  if (chance_below(&d, 16) == 0) b.e = pow(10, -1 - 6 * chance_number(&d));
  b.a = exp(log(1e-3) + chance_number(&d) * log(5e3));
  b.w = exp(log(0.3) + chance_number(&d) * log(100));
  b.p = chance_below(&d, 2) ? 0 : 6 * chance_number(&d);
  b.h = b.a + chance_number(&d);
  return b;
}

// -- compared -------------------------------------------------------------------------------------
static bool stays_above(HybridCase *c, const char *text, const SimRecord *r) {
  const double *h = r->channel.at[0].value.at, *z = r->channel.at[1].value.at;
  for (uint32_t k = 0; k < r->time.n; k++)
    if (h[k] - z[k] < -1e-7)
      return hybrid_differs(c, text, "tables: it is %.3g below the table at %.17g", z[k] - h[k],
                            r->time.at[k]);
  return true;
}

// How many bounces can be told: a ball that starts a little higher has nearly the same.
static uint32_t told(const Bounces *x, const Bounces *moved) {
  uint32_t k = 0;
  while (k < x->n && k < moved->n && fabs(x->at[k] - moved->at[k]) < 1e-5) k++;
  return k;
}

static bool bounces_agree(HybridCase *c, const char *text, const SimRecord *r, const Bounces two[2],
                          uint32_t n) {
  uint32_t k = 0;
  double before = 0;
  for (uint32_t i = 0; k < n && i < r->events_logged.n; i++) {
    double at = r->events_logged.at[i].time, wanted = two[0].at[k];
    if (at == before) continue; // two lines of one bounce
    before = at;
    if (fabs(at - wanted) > 1e-4 + 10 * fabs(wanted - two[1].at[k]))
      return hybrid_differs(c, text, "tables: bounce %u is at %.17g, not at %.17g", k, at, wanted);
    k++;
  }
  return true;
}

// Where all bounces can be told: they come to a limit, or do not.
static bool ends_agree(HybridCase *c, const char *text, const SimRecord *r, const Bounces two[2],
                       const char *why) {
  double last = r->events_logged.n ? r->events_logged.at[r->events_logged.n - 1].time : 0;
  double limit = two[0].limit, other = two[1].limit;
  if (isfinite(limit) && isfinite(other)) {
    if (!why && limit < r->reached - 1e-3)
      return hybrid_differs(c, text, "tables: it comes to a limit at %.17g, and goes on", limit);
    return !why || fabs(last - limit) < 1e-4 ||
           hybrid_differs(c, text, "tables: it stops at %.17g, not at %.17g", last, limit);
  }
  return !why || isfinite(limit) || isfinite(other) ||
         hybrid_differs(c, text, "tables: nothing comes to a limit, but: %s", why);
}

bool hybrid_tables(HybridCase *c) {
  BallTable b = random_ball(c->h->seed);
  const char *text = ball_text(c->arena, &b, c->h->seed);
  SimOptions how = {.threads = 1, .reference = c->h->seed % 8 == 3};
  Followed f;
  Ran r = ran_read(text);
  if (r.w->diags->errors) return hybrid_differs(c, text, "refused: %s", ran_messages(&r));
  const char *why = follow_run(r.in, r.p, 0, &how, &f) ? NULL : ran_messages(&r);
  if (why && !strstr(why, "too many events")) return hybrid_differs(c, text, "stopped: %s", why);
  if (!stays_above(c, text, &f.record)) return false;
  const Bounces two[2] = {bounced(&b, 0), bounced(&b, 1e-9)};
  uint32_t n = told(&two[0], &two[1]);
  if (!bounces_agree(c, text, &f.record, two, n)) return false;
  bool all = n == two[0].n && n == two[1].n;
  return !all || ends_agree(c, text, &f.record, two, why);
}
