// Laws of special kinds of systems: shared variables, modes, events, conserved quantities, finite
// machines, markets and unfolded networks. The programs are random or small and fixed; expected
// results are computed independently here.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "machine_help.h"

#ifdef LIMN_GUARD
enum { CASES = 10, GUARDS = 300, MARKETS = 3, NET_TICKS = 200 }; // the sanitizers are slow
#else
enum { CASES = 40, GUARDS = 1500, MARKETS = 6, NET_TICKS = 2000 };
#endif

// -- shared variables -----------------------------------------------------------------------------
enum { VARIABLES = 4, SHARES = 5, ARGUMENTS = 3 };
typedef struct {
  uint32_t n, variable[ARGUMENTS]; // which variables it shares; not twice the same
  const char *rate[ARGUMENTS];     // what it adds to each: over a, b, c
} Sharing;
typedef struct {
  Sharing share[SHARES];
  double start[VARIABLES];
} Shared;

static const char *const letter[] = {"a", "b", "c"};

// Sums and differences of a few bits only: they are exact for some ticks, in any order.
// Draws have names, because C leaves open in which order arguments are evaluated.
static const char *exact_rate(Arena *a, Chance *d, uint32_t n) {
  uint32_t less = chance_below(d, n), times = chance_below(d, 2), more = chance_below(d, n);
  return arena_format(a, "0.5 * %s - %u * %s", letter[more], times, letter[less]);
}

static const char *any_rate(Arena *a, Chance *d, uint32_t n) {
  uint32_t z = chance_below(d, n);
  double less = chance_number(d);
  uint32_t y = chance_below(d, n), x = chance_below(d, n);
  return arena_format(a, "%g * tanh(%s * %s) - %g * %s", chance_number(d), letter[x], letter[y],
                      less, letter[z]);
}

static void make_shared(Arena *a, Chance *d, bool exact, Shared *s) {
  *s = (Shared){0};
  for (uint32_t i = 0; i < VARIABLES; i++) s->start[i] = 1 + chance_below(d, 8) / 8.0;
  for (uint32_t i = 0; i < SHARES; i++) {
    Sharing *x = &s->share[i];
    uint32_t first = chance_below(d, VARIABLES);
    x->n = 1 + chance_below(d, ARGUMENTS);
    for (uint32_t k = 0; k < x->n; k++) x->variable[k] = (first + k) % VARIABLES;
    for (uint32_t k = 0; k < x->n; k++)
      x->rate[k] = exact ? exact_rate(a, d, x->n) : any_rate(a, d, x->n);
  }
}

static const char *shared_run(Arena *a, const Shared *s, const char *name, const char *how) {
  Buf b = buf_new(a);
  buf_printf(&b, "run %s(", name);
  for (uint32_t i = 0; i < VARIABLES; i++)
    buf_printf(&b, "%sv%u: %g", i ? ", " : "", i, s->start[i]);
  buf_printf(&b, ") %s\n", how);
  return b.at;
}

static void write_shares(const Shared *s, bool rates, Buf *b) {
  for (uint32_t i = 0; i < SHARES; i++) {
    const Sharing *x = &s->share[i];
    buf_printf(b, "share S%u(", i);
    for (uint32_t k = 0; k < x->n; k++) buf_printf(b, "%s%s", k ? ", " : "", letter[k]);
    buf_text(b, ") {\n");
    for (uint32_t k = 0; k < x->n; k++)
      if (rates)
        buf_printf(b, "  %s' = %s\n", letter[k], x->rate[k]);
      else
        buf_printf(b, "  next %s = %s + (%s)\n", letter[k], letter[k], x->rate[k]);
    buf_text(b, "}\n");
  }
}

static void write_call(const Shared *s, uint32_t i, Lines *out, Arena *a) {
  Buf b = buf_new(a);
  buf_printf(&b, "S%u(", i);
  for (uint32_t k = 0; k < s->share[i].n; k++)
    buf_printf(&b, "%sv%u", k ? ", " : "", s->share[i].variable[k]);
  buf_text(&b, ")");
  vec_push(a, out, b.at);
}

// `nested`: the shares from that one on stand in a wiring of their own.
static const char *shared_text(Arena *a, const Shared *s, bool rates, uint64_t order,
                               uint32_t nested) {
  Buf b = buf_new(a);
  Lines calls = {0};
  Chance d = {order};
  write_shares(s, rates, &b);
  for (uint32_t i = 0; i < nested; i++) write_call(s, i, &calls, a);
  if (nested < SHARES) {
    Lines inner = {0};
    for (uint32_t i = nested; i < SHARES; i++) write_call(s, i, &inner, a);
    buf_text(&b, "wiring Inner(v0, v1, v2, v3) {\n");
    for (uint32_t i = 0; i < inner.n; i++) buf_printf(&b, "  %s\n", inner.at[i]);
    buf_text(&b, "}\n");
    vec_push(a, &calls, "Inner(v0, v1, v2, v3)");
  }
  if (order) chance_shuffle(&d, calls.at, calls.n);
  buf_text(&b, "wiring Whole(v0, v1, v2, v3) {\n");
  for (uint32_t i = 0; i < calls.n; i++) buf_printf(&b, "  %s\n", calls.at[i]);
  buf_text(&b, "}\n");
  return b.at;
}

static Ran run_shared(Arena *a, const Shared *s, bool rates, uint64_t order, uint32_t nested,
                      const char *how) {
  return ran_text(arena_format(a, "%s%s", shared_text(a, s, rates, order, nested),
                               shared_run(a, s, "Whole", how)),
                  false);
}

static double furthest(const Ran *x, const Ran *y) {
  double most = 0;
  for (uint32_t i = 0; i < VARIABLES; i++) {
    char name[8];
    snprintf(name, sizeof name, "v%u", i);
    const SimChannel *c = ran_channel(x, 0, name), *d = ran_channel(y, 0, name);
    assert_int_equal(c->value.n, d->value.n);
    for (uint32_t k = 0; k < c->value.n; k++)
      most = fmax(most, fabs(c->value.at[k] - d->value.at[k]) / (1 + fabs(c->value.at[k])));
  }
  return most;
}

// Law 6: the order of shares, and whether some stand in a wiring of their own, means nothing.
// Differences that are exact in binary, over 8 ticks: bit by bit. Rates with rounding, whose sums
// are associated as the text has them: within 1e-12, relative, over 20 steps of RK4.
static void shares_in_any_order(void **state) {
  (void)state;
  double most = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    Shared s;
    make_shared(a, &d, true, &s);
    Ran one = run_shared(a, &s, false, 0, SHARES, "for 8 ticks"),
        two = run_shared(a, &s, false, seed, SHARES, "for 8 ticks"),
        three = run_shared(a, &s, false, seed, 1 + chance_below(&d, 4), "for 8 ticks");
    assert_true(furthest(&one, &two) == 0 && furthest(&one, &three) == 0);
    make_shared(a, &d, false, &s);
    Ran x = run_shared(a, &s, true, 0, SHARES, "to 1 by rk4[0.05] every 0.05"),
        y = run_shared(a, &s, true, seed, 2, "to 1 by rk4[0.05] every 0.05");
    most = fmax(most, furthest(&x, &y));
    Ran *all[] = {&one, &two, &three, &x, &y};
    for (uint32_t i = 0; i < COUNT(all); i++) ran_free(all[i]);
    arena_free(a);
  }
  print_message("6 shares in any order: %d systems, the farthest %.2g\n", CASES, most);
  assert_true(most < 1e-12);
}

// What the shares add to a variable, in the order of the text.
static const char *all_added(Arena *a, const Shared *s, uint32_t variable) {
  const char *sum = NULL;
  for (uint32_t i = 0; i < SHARES; i++)
    for (uint32_t k = 0; k < s->share[i].n; k++)
      if (s->share[i].variable[k] == variable)
        sum = sum ? arena_format(a, "(%s + s%u.d%s)", sum, i, letter[k])
                  : arena_format(a, "s%u.d%s", i, letter[k]);
  return sum;
}

static const char *directed_text(Arena *a, const Shared *s) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < SHARES; i++) {
    const Sharing *x = &s->share[i];
    buf_printf(&b, "machine S%u(", i);
    for (uint32_t k = 0; k < x->n; k++) buf_printf(&b, "%s%s: R[]", k ? ", " : "", letter[k]);
    buf_text(&b, ") -> (");
    for (uint32_t k = 0; k < x->n; k++) buf_printf(&b, "%sd%s: R[]", k ? ", " : "", letter[k]);
    buf_text(&b, ") {\n");
    for (uint32_t k = 0; k < x->n; k++) buf_printf(&b, "  d%s = %s\n", letter[k], x->rate[k]);
    buf_text(&b, "}\n");
  }
  buf_text(
      &b,
      "machine Variable[first: 1](d: R[]) -> (v: R[]) {\n  state v : R[] = first\n  v' = d\n}\n");
  buf_text(&b, "wiring Directed -> (v0: R[], v1: R[], v2: R[], v3: R[]) {\n");
  for (uint32_t i = 0; i < VARIABLES; i++) {
    const char *sum = all_added(a, s, i);
    buf_printf(&b, "  k%u : Variable[%g]\n  %s -> k%u.d\n  v%u = k%u.v\n", i, s->start[i],
               sum ? sum : "0", i, i, i);
  }
  for (uint32_t i = 0; i < SHARES; i++) {
    buf_printf(&b, "  s%u : S%u\n", i, i);
    for (uint32_t k = 0; k < s->share[i].n; k++)
      buf_printf(&b, "  k%u.v -> s%u.%s\n", s->share[i].variable[k], i, letter[k]);
  }
  buf_text(&b, "}\nrun Directed to 1 by rk4[0.05] every 0.05\n");
  return b.at;
}

// Law 7: shared variables against a wiring of machines, one for each variable and one for each
// share, whose sums are those of the text: 20 steps of RK4, bit by bit.
static void sharing_is_wiring(void **state) {
  (void)state;
  uint64_t numbers = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    Shared s;
    make_shared(a, &d, false, &s);
    Ran one = run_shared(a, &s, true, 0, SHARES, "to 1 by rk4[0.05] every 0.05"),
        two = ran_text(directed_text(a, &s), false);
    for (uint32_t i = 0; i < VARIABLES; i++) {
      const char *name = arena_format(a, "v%u", i);
      numbers += same_channel(ran_channel(&one, 0, name), ran_channel(&two, 0, name));
    }
    ran_free(&one);
    ran_free(&two);
    arena_free(a);
  }
  print_message("7 sharing = wiring: %d systems, %llu numbers\n", CASES,
                (unsigned long long)numbers);
}

// Two ports of one share that are one variable: what both add is added up. dx = (a^2, 2 a - b) at
// a = b = 5 is 30, and Euler's step of 0.1 leads to 8.
static void one_variable_twice(void **state) {
  (void)state;
  Ran r = ran_text("share S(a, b) {\n  a' = a^2\n  b' = 2 * a - b\n}\nwiring W(u) { S(u, u) }\n"
                   "run W(u: 5) to 0.1 by euler[0.1]\n",
                   false);
  const SimChannel *u = ran_channel(&r, 0, "u");
  assert_true(fabs(u->value.at[u->value.n - 1] - 8) < 1e-12);
  ran_free(&r);
}

// -- 10: markets ----------------------------------------------------------------------------------
static const char *market_text(Arena *a, Chance *d) {
  double most = 0.3 + 0.4 * chance_number(d), start = 0.1 + 0.8 * chance_number(d);
  return arena_format(
      a,
      "machine World -> (o: R[], q: R[2 3]) {\n" // experts and outcomes that nobody foresees
      "  state z : R[] = %g, e : R[2 3] = uniform\n"
      "  next z = 3.99 * z * (1 - z)\n"
      "  next e = 3.97 * e * (1 - e)\n"
      "  o = 1 when z > %g else 0\n"
      "  q = 0.05 + 0.9 * e\n"
      "}\n"
      "wiring Market(q: R[3], o: R[]) -> (price: R[]) {\n"
      "  state mu : simplex[3]\n"
      "  like[i] = q[i] when o > 0.5 else 1 - q[i]\n"
      "  all = sum[i](mu[i] * like[i])\n"
      "  price = sum[i](mu[i] * q[i])\n"
      "  next mu[i] = mu[i] * like[i] / all\n"
      "}\n"
      "wiring Nested(q: R[2 3], o: R[]) -> (price: R[]) {\n"
      "  m[2] : Market\n"
      "  state nu : simplex[2]\n"
      "  q[i j] -> m[i].q[j]\n"
      "  o -> m[i].o\n"
      "  like[i] = m[i].price when o > 0.5 else 1 - m[i].price\n"
      "  all = sum[i](nu[i] * like[i])\n"
      "  price = sum[i](nu[i] * m[i].price)\n"
      "  next nu[i] = nu[i] * like[i] / all\n"
      "}\n"
      "wiring Flat(q: R[2 3], o: R[]) -> (price: R[]) {\n"
      "  state mu : R[2 3] = 1/6, loss : R[] = 0, each : R[2 3] = 0\n"
      "  like[i j] = q[i j] when o > 0.5 else 1 - q[i j]\n"
      "  all = sum[i j](mu[i j] * like[i j])\n"
      "  price = sum[i j](mu[i j] * q[i j])\n"
      "  next mu[i j] = mu[i j] * like[i j] / all\n"
      "  next loss = loss - log(all)\n"
      "  next each[i j] = each[i j] - log(like[i j])\n"
      "}\n"
      "run Nested for 200 ticks on World\n"
      "run Flat for 200 ticks on World\n",
      start, most);
}

// Law 10: the weight of an expert in the flat market is the product of the two weights in the
// market of markets, at each of 200 ticks (within 1e-13); both have the same price; the loss of the
// market is -ln of the mean of e^-loss (within 1e-9), and above that of the best expert by ln 6 at
// most.
static void markets_nest(void **state) {
  (void)state;
  double square = 0, identity = 0, regret = 0;
  for (uint64_t seed = 1; seed <= MARKETS; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    Ran r = ran_text(market_text(a, &d), false);
    const SimChannel *mu = ran_channel(&r, 0, "m.mu"), *nu = ran_channel(&r, 0, "nu"),
                     *flat = ran_channel(&r, 1, "mu"), *p = ran_channel(&r, 0, "price"),
                     *q = ran_channel(&r, 1, "price"), *loss = ran_channel(&r, 1, "loss"),
                     *each = ran_channel(&r, 1, "each");
    for (uint32_t t = 0; t < 200; t++) {
      double mean = 0, best = INFINITY;
      for (uint32_t k = 0; k < 6; k++) {
        double product = nu->value.at[2 * t + k / 3] * mu->value.at[6 * t + k];
        square = fmax(square, fabs(product - flat->value.at[6 * t + k]));
        mean += exp(-each->value.at[6 * t + k]) / 6;
        best = fmin(best, each->value.at[6 * t + k]);
      }
      square = fmax(square, fabs(p->value.at[t] - q->value.at[t]));
      identity = fmax(identity, fabs(loss->value.at[t] + log(mean)));
      regret = fmax(regret, loss->value.at[t] - best);
    }
    ran_free(&r);
    arena_free(a);
  }
  print_message("10 markets: %d of 200 ticks, square %.2g, loss %.2g, regret %.6f\n", MARKETS,
                square, identity, regret);
  assert_true(square < 1e-13 && identity < 1e-9 && regret <= log(6) + 1e-9);
}

// -- 11: networks ---------------------------------------------------------------------------------
enum { HIDDEN = 4 };
static const char network_text[] =
    "machine World -> (x: R[2], t: R[]) {\n"
    "  state z : R[2] = uniform\n"
    "  next z = 3.99 * z * (1 - z)\n"
    "  x = 2 * z - 1\n"
    "  t = z[0] * z[1]\n"
    "}\n"
    "machine Neuron[n](x: R[n], dy: R[]) -> (y: R[], dx: R[n]) {\n" // shows activation and feedback
    "  state w : R[n] = normal, b : R[] = 0.1\n"
    "  a = sum[i](w[i] * x[i])\n"
    "  y = tanh(b + a)\n"
    "  d = (1 - y * y) * dy\n"
    "  dx[i] = d * w[i]\n"
    "  e = 0.1 * d\n"
    "  next w[i] = w[i] - e * x[i]\n"
    "  next b = b - e\n"
    "}\n"
    "wiring Layer[n, h](x: R[n], dy: R[h]) -> (y: R[h], dx: R[n]) {\n"
    "  u[h] : Neuron[n]\n"
    "  x[j] -> u[i].x[j]\n"
    "  dy[i] -> u[i].dy\n"
    "  y[i] = u[i].y\n"
    "  dx[j] = sum[i](u[i].dx[j])\n"
    "}\n"
    "wiring Unfolded(x: R[2], t: R[]) -> (y: R[], dx: R[2]) {\n"
    "  inner : Layer[2, 4]\n"
    "  outer : Layer[4, 1]\n"
    "  x -> inner.x\n"
    "  inner.y -> outer.x\n"
    "  outer.dx -> inner.dy\n"
    "  y - t -> outer.dy[i]\n"
    "  y = outer.y[0]\n"
    "  dx = inner.dx\n"
    "}\n"
    "machine Learns(x: R[2], t: R[]) -> (y: R[]) {\n" // and the same by the reverse derivative
    "  state w : R[4 2] = normal, b : R[4] = 0.1, v : R[4] = normal, c : R[] = 0.1\n"
    "  k[i] = tanh(b[i] + sum[j](w[i j] * x[j]))\n"
    "  y = tanh(c + sum[i](v[i] * k[i]))\n"
    "  next w by gd(0.1) on 0.5 * (y - t)^2\n"
    "  next b by gd(0.1) on 0.5 * (y - t)^2\n"
    "  next v by gd(0.1) on 0.5 * (y - t)^2\n"
    "  next c by gd(0.1) on 0.5 * (y - t)^2\n"
    "}\n";

typedef struct {
  double w[HIDDEN][2], b[HIDDEN], v[HIDDEN], c; // weights
  double k[HIDDEN], y, dx[2];                   // what it shows
} Net;

static double net_output(Net *n, const double *x) {
  double sum = 0;
  for (uint32_t i = 0; i < HIDDEN; i++) {
    double a = 0;
    for (uint32_t j = 0; j < 2; j++) a += n->w[i][j] * x[j];
    n->k[i] = tanh(n->b[i] + a);
  }
  for (uint32_t i = 0; i < HIDDEN; i++) sum += n->v[i] * n->k[i];
  return n->y = tanh(n->c + sum);
}

// Forward, backward, and a step down, as it is always written.
static void net_step(Net *n, const double *x, double t, double rate) {
  double d = (1 - n->y * n->y) * (n->y - t), hidden[HIDDEN];
  for (uint32_t i = 0; i < HIDDEN; i++) hidden[i] = (1 - n->k[i] * n->k[i]) * (d * n->v[i]);
  for (uint32_t j = 0; j < 2; j++) {
    n->dx[j] = 0;
    for (uint32_t i = 0; i < HIDDEN; i++) n->dx[j] += hidden[i] * n->w[i][j];
  }
  for (uint32_t i = 0; i < HIDDEN; i++) {
    n->v[i] -= rate * d * n->k[i];
    n->b[i] -= rate * hidden[i];
    for (uint32_t j = 0; j < 2; j++) n->w[i][j] -= rate * hidden[i] * x[j];
  }
  n->c -= rate * d;
}

typedef struct {
  const SimChannel *w, *b, *v, *c, *x, *t, *y;
} NetSeen;

static void net_at(const NetSeen *s, uint32_t tick, Net *n) {
  memcpy(n->w, s->w->value.at + 2 * HIDDEN * tick, sizeof n->w);
  memcpy(n->b, s->b->value.at + HIDDEN * tick, sizeof n->b);
  memcpy(n->v, s->v->value.at + HIDDEN * tick, sizeof n->v);
  n->c = s->c->value.at[tick];
}

// Law 11, first half: nested wirings of neurons, with activations one way and feedback the other,
// against backpropagation written by hand: outputs, weights and gradients of the input, bit by bit.
static void unfolded_is_flat(void **state) {
  (void)state;
  Arena *a = arena_new();
  Ran r = ran_text(
      arena_format(a, "%srun Unfolded for %d ticks on World\n", network_text, NET_TICKS), false);
  NetSeen s = {ran_channel(&r, 0, "inner.u.w"), ran_channel(&r, 0, "inner.u.b"),
               ran_channel(&r, 0, "outer.u.w"), ran_channel(&r, 0, "outer.u.b"),
               ran_channel(&r, 0, "x"),         ran_channel(&r, 0, "t"),
               ran_channel(&r, 0, "y")};
  const SimChannel *dx = ran_channel(&r, 0, "dx");
  Net net = {0}, seen;
  net_at(&s, 0, &net);
  for (uint32_t t = 0; t < NET_TICKS; t++) {
    const double *x = s.x->value.at + 2 * t;
    net_at(&s, t, &seen);
    assert_true(!memcmp(seen.w, net.w, sizeof net.w) && !memcmp(seen.v, net.v, sizeof net.v));
    assert_true(!memcmp(seen.b, net.b, sizeof net.b) && same_bits(seen.c, net.c));
    net_output(&net, x);
    assert_true(same_bits(net.y, s.y->value.at[t]));
    net_step(&net, x, s.t->value.at[t], 0.1);
    assert_true(!memcmp(net.dx, dx->value.at + 2 * t, sizeof net.dx));
  }
  print_message("11 unfolded = flat: %d ticks\n", NET_TICKS);
  ran_free(&r);
  arena_free(a);
}

static double net_loss(Net n, const double *x, double t) {
  double off = net_output(&n, x) - t;
  return 0.5 * off * off;
}

// Law 11, second half: `next w by gd` against backpropagation by hand (1e-12) and against finite
// differences of the loss (1e-6), at each of 200 ticks.
static void learning_is_descent(void **state) {
  (void)state;
  Arena *a = arena_new();
  Ran r = ran_text(arena_format(a, "%srun Learns for 200 ticks on World\n", network_text), false);
  NetSeen s = {ran_channel(&r, 0, "w"), ran_channel(&r, 0, "b"), ran_channel(&r, 0, "v"),
               ran_channel(&r, 0, "c"), ran_channel(&r, 0, "x"), ran_channel(&r, 0, "t"),
               ran_channel(&r, 0, "y")};
  double most = 0, slope = 0;
  for (uint32_t tick = 0; tick + 1 < 200; tick++) {
    const double *x = s.x->value.at + 2 * tick, t = s.t->value.at[tick];
    Net net = {0}, after = {0};
    net_at(&s, tick, &net);
    net_at(&s, tick + 1, &after);
    for (uint32_t i = 0; i < HIDDEN; i++) {
      Net up = net, down = net;
      up.w[i][1] += 1e-5;
      down.w[i][1] -= 1e-5;
      double by = (net_loss(up, x, t) - net_loss(down, x, t)) / 2e-5;
      slope = fmax(slope, fabs((net.w[i][1] - after.w[i][1]) / 0.1 - by));
    }
    net_output(&net, x);
    net_step(&net, x, t, 0.1);
    for (uint32_t i = 0; i < HIDDEN; i++) {
      most = fmax(most, fmax(fabs(net.v[i] - after.v[i]), fabs(net.b[i] - after.b[i])));
      for (uint32_t j = 0; j < 2; j++) most = fmax(most, fabs(net.w[i][j] - after.w[i][j]));
    }
    most = fmax(most, fabs(net.c - after.c));
  }
  print_message("11 learning = descent: off by %.2g, from finite differences by %.2g\n", most,
                slope);
  assert_true(most < 1e-12 && slope < 1e-6);
  ran_free(&r);
  arena_free(a);
}

// -- 12: modes ------------------------------------------------------------------------------------
enum { TAGS = 4 }; // a.mode, b.mode, q.mode, link
static const uint32_t tag_values[TAGS] = {3, 2, 2, 2};
static const char *const tag_name[TAGS] = {"a.mode", "b.mode", "q.mode", "link"};

typedef enum { G_ALWAYS, G_IS, G_IS_NOT, G_NOT, G_AND, G_OR } GuardOp;
typedef struct TagGuard TagGuard;
struct TagGuard {
  GuardOp op;
  uint32_t tag, value;
  TagGuard *x, *y;
};

static TagGuard *some_guard(Arena *a, Chance *d, uint32_t depth) {
  TagGuard *g = NEW(a, TagGuard);
  uint32_t kind = depth ? chance_below(d, 6) : chance_below(d, 2);
  g->op = kind == 0 ? G_IS : kind == 1 ? G_IS_NOT : kind == 2 ? G_NOT : kind == 3 ? G_OR : G_AND;
  g->tag = chance_below(d, TAGS);
  g->value = chance_below(d, tag_values[g->tag]);
  if (g->op >= G_NOT) g->x = some_guard(a, d, depth - 1);
  if (g->op > G_NOT) g->y = some_guard(a, d, depth - 1);
  return g;
}

static bool guard_holds(const TagGuard *g, const uint32_t *now) {
  switch (g->op) {
  case G_IS: return now[g->tag] == g->value;
  case G_IS_NOT: return now[g->tag] != g->value;
  case G_NOT: return !guard_holds(g->x, now);
  case G_AND: return guard_holds(g->x, now) && guard_holds(g->y, now);
  case G_OR: return guard_holds(g->x, now) || guard_holds(g->y, now);
  default: return true;
  }
}

static void write_guard(const TagGuard *g, Buf *b) {
  if (g->op == G_IS || g->op == G_IS_NOT) {
    buf_printf(b, "%s %s m%u", tag_name[g->tag], g->op == G_IS ? "=" : "!=", g->value);
    return;
  }
  buf_text(b, g->op == G_NOT ? "not (" : "(");
  write_guard(g->x, b);
  if (g->y) {
    buf_text(b, g->op == G_AND ? ") and (" : ") or (");
    write_guard(g->y, b);
  }
  buf_text(b, ")");
}

static TagGuard *guard_with(Arena *a, GuardOp op, TagGuard *x, TagGuard *y) {
  TagGuard *g = NEW(a, TagGuard);
  *g = (TagGuard){.op = op, .x = x, .y = y};
  return g;
}

static TagGuard *guard_is(Arena *a, uint32_t tag, uint32_t value) {
  TagGuard *g = NEW(a, TagGuard);
  *g = (TagGuard){.op = G_IS, .tag = tag, .value = value};
  return g;
}

// Guards of the wires into one port. Half of the time they are split from one, so that they fit;
// `open`: the port is there in mode m1 of q only.
static uint32_t some_wires(Arena *a, Chance *d, bool open, TagGuard **out) {
  if (chance_below(d, 2)) {
    uint32_t n = 1 + chance_below(d, 3);
    for (uint32_t i = 0; i < n; i++)
      out[i] = chance_below(d, 5) ? some_guard(a, d, 2) : guard_with(a, G_ALWAYS, NULL, NULL);
    return n;
  }
  TagGuard *g = some_guard(a, d, 1), *h = some_guard(a, d, 1), *no = guard_with(a, G_NOT, g, NULL);
  out[0] = g;
  out[1] = guard_with(a, G_AND, no, h);
  out[2] = guard_with(a, G_AND, no, guard_with(a, G_NOT, h, NULL));
  for (uint32_t i = 0; i < 3 && open; i++) out[i] = guard_with(a, G_AND, guard_is(a, 2, 1), out[i]);
  return 3;
}

static bool one_source(TagGuard *const *g, uint32_t n, bool open) {
  for (uint32_t s = 0; s < 3 * 2 * 2 * 2; s++) {
    uint32_t now[TAGS] = {s % 3, s / 3 % 2, s / 6 % 2, s / 12}, sources = 0;
    for (uint32_t i = 0; i < n; i++) sources += guard_holds(g[i], now);
    if (sources != (!open || now[2] == 1)) return false;
  }
  return true;
}

static const char guarded_text[] =
    "machine Three -> (y: R[]) {\n  state s : R[] = 0\n"
    "  mode m0 { y = s, jump m1 when s > 1 }\n"
    "  mode m1 { y = s, jump m2 when s > 2 }\n"
    "  mode m2 { y = s, jump m0 when s > 3 }\n}\n"
    "machine Two(x: R[]) -> (y: R[]) {\n  state s : R[] = 0\n"
    "  mode m0 { y = s, next s = x, jump m1 when s > 1 }\n"
    "  mode m1(z: R[]) { y = s, next s = z, jump m0 when s > 2 }\n}\n"
    "wiring W(u: R[]) -> (y: R[]) {\n  a : Three\n  b, q : Two\n"
    "  state link : {m0, m1} = m0\n  u -> b.x\n  u -> b.z when b.mode = m1\n"
    "  y = q.y\n";

// Law 12: wires with random guards (over the modes of three parts and a label of the wiring)
// into a port that is always open and one that is open in one mode. The program is accepted exactly
// if, in each of the 24 situations, every open port has one source and a closed one has none.
static void modes_are_total(void **state) {
  (void)state;
  uint32_t accepted = 0;
  for (uint64_t seed = 1; seed <= GUARDS; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    TagGuard *x[3], *z[3];
    uint32_t nx = some_wires(a, &d, false, x), nz = some_wires(a, &d, true, z);
    Buf b = buf_new(a);
    buf_text(&b, guarded_text);
    for (uint32_t i = 0; i < nx + nz; i++) {
      const TagGuard *g = i < nx ? x[i] : z[i - nx];
      buf_printf(&b, "  u -> q.%s", i < nx ? "x" : "z");
      if (g->op != G_ALWAYS) buf_text(&b, " when ");
      if (g->op != G_ALWAYS) write_guard(g, &b);
      buf_text(&b, "\n");
    }
    buf_text(&b, "}\n");
    bool good = one_source(x, nx, false) && one_source(z, nz, true);
    Ran r = ran_read(b.at);
    if (good != !r.w->diags->errors)
      fail_msg("%s but limn says:\n%s\n%s",
               good ? "each port has one source," : "not one source each,", ran_messages(&r), b.at);
    if (!good) assert_non_null(strstr(ran_messages(&r), "port `q."));
    accepted += good;
    ran_free(&r);
    arena_free(a);
  }
  print_message("12 modes: %d wirings, %u of them well\n", GUARDS, accepted);
  assert_true(accepted > GUARDS / 20);
}

// Law 12, halting: in a mode that says nothing, no state steps any more.
static void a_still_mode_is_the_end(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= 20; n++) {
    Arena *a = arena_new();
    Ran r = ran_text(arena_format(a,
                                  "machine Counts -> (y: R[]) {\n  state s : R[] = 0\n  y = s\n"
                                  "  mode go { next s = s + 1, jump stop when s + 1 >= %u }\n"
                                  "  mode stop { }\n}\nrun Counts for 40 ticks\n",
                                  n),
                     false);
    const SimChannel *y = ran_channel(&r, 0, "y");
    for (uint32_t t = 0; t < 40; t++) assert_true(y->value.at[t] == (t < n ? t : n));
    ran_free(&r);
    arena_free(a);
  }
}

// -- 13: what is conserved ------------------------------------------------------------------------
static const char *closed_text(Arena *a, Chance *d, bool leaks) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < SHARES; i++) {
    const char *by = chance_below(d, 2) ? "b" : "1";
    buf_printf(&b, "share S%u(a, b) {\n  f = %g * a * %s\n  a' = 0 - f\n  b' = %s\n}\n", i,
               chance_number(d), by, leaks && !i ? "0.9 * f" : "f");
  }
  buf_text(&b, "wiring Closed(v0, v1, v2, v3) {\n");
  for (uint32_t i = 0; i < SHARES; i++) {
    uint32_t from = chance_below(d, VARIABLES);
    buf_printf(&b, "  S%u(v%u, v%u)\n", i, from, (from + 1 + chance_below(d, 3)) % VARIABLES);
  }
  buf_text(&b, "}\nrun Closed(v0: 1, v1: 0.5, v2: 0.25, v3: 2) to 5\n"
               "check conserved(v0 + v1 + v2 + v3) within 1e-9\n");
  return b.at;
}

// Law 13: what flows from one variable to another keeps the sum (within 1e-9 over time 5); where a
// tenth of one flow gets lost, the same check says so.
static void sums_are_conserved(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= CASES; seed++)
    for (uint32_t leaks = 0; leaks < 2; leaks++) {
      Arena *a = arena_new();
      Chance d = {seed};
      Ran r = ran_text(closed_text(a, &d, leaks), false);
      Verdict v = ran_verdict(&r, 0);
      if (v.holds != !leaks) fail_msg("%s\n%s", v.figure, r.text);
      ran_free(&r);
      arena_free(a);
    }
  print_message("13 conserved: %d closed systems, %d that leak\n", CASES, CASES);
}

// -- 14: events -----------------------------------------------------------------------------------
static const char *heater_text(Arena *a, double k, double heat, double low, double high) {
  return arena_format(a,
                      "machine Heater(out: R[]) -> (T: R[]) {\n  state T : R[] = %g\n"
                      "  mode on { T' = %g - %g * (T - out), jump off when T >= %g }\n"
                      "  mode off { T' = 0 - %g * (T - out), jump on when T <= %g }\n}\n"
                      "run Heater(out: 5) to 20\n"
                      "run Heater(out: 5) to 20 every 0.013\n"
                      "run Heater(out: 5) to 20 every 7\n"
                      "run Heater(out: 5) to 20 by dormand[1e-7]\n"
                      "run Heater(out: 5) to 20 by stiff[1e-9]\n",
                      low, heat, k, high, k, low);
}

// Law 14: the times of events are the same bits whatever is kept of a run, unless that makes steps
// shorter; with another tolerance or method they are the same within 1e-5; and they are those of the
// formula within 1e-7.
static void events_have_their_times(void **state) {
  (void)state;
  double formula = 0, other = 0;
  uint64_t events = 0;
  for (uint64_t seed = 1; seed <= CASES / 3; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    double k = 0.05 + 0.1 * chance_number(&d), low = 18 + chance_number(&d),
           high = 20 + chance_number(&d), heat = k * (25 + 10 * chance_number(&d)),
           top = 5 + heat / k;
    Ran r = ran_text(heater_text(a, k, heat, low, high), false);
    const SimRecord *first = &r.f[0].record;
    assert_true(first->events_logged.n > 2);
    double t = 0;
    for (uint32_t i = 0; i < first->events_logged.n; i++, events++) {
      double at = first->events_logged.at[i].time;
      t += i % 2 ? log((high - 5) / (low - 5)) / k : log((top - low) / (top - high)) / k;
      formula = fmax(formula, fabs(at - t));
      for (uint32_t run = 1; run < 5; run++) {
        assert_int_equal(r.f[run].record.events_logged.n, first->events_logged.n);
        double its = r.f[run].record.events_logged.at[i].time;
        if (run == 1) assert_true(fabs(at - its) < 1e-9);
        if (run == 2) assert_true(same_bits(at, its));
        other = fmax(other, fabs(at - its));
      }
    }
    ran_free(&r);
    arena_free(a);
  }
  print_message("14 events: %llu of %d systems, from the formula by %.2g, by tolerance %.2g\n",
                (unsigned long long)events, CASES / 3, formula, other);
  assert_true(formula < 1e-7 && other < 1e-5);
}

// -- 15: finite machines --------------------------------------------------------------------------
// A random sum of products of bits.
static const char *polynomial(Arena *a, Chance *d, const char *const *bit, uint32_t n) {
  Buf b = buf_new(a);
  buf_printf(&b, "(%u", chance_below(d, 2));
  for (uint32_t term = 1; term < 1u << n; term++) {
    if (chance_below(d, 2)) continue;
    buf_text(&b, " + ");
    bool first = true;
    for (uint32_t k = 0; k < n; k++)
      if (term >> k & 1) buf_printf(&b, "%s%s", first ? "" : " * ", bit[k]), first = false;
  }
  buf_text(&b, ")");
  return b.at;
}

static const char *bit_machine(Arena *a, Chance *d, const char *name) {
  static const char *const bit[] = {"s", "t", "x", "z"};
  return arena_format(a,
                      "machine %s(x: B[], z: B[]) -> (y: B[], w: B[]) {\n"
                      "  state s : B[] = 0, t : B[] = 0\n  next s = %s\n  next t = %s\n"
                      "  y = %s\n  w = %s\n}\n",
                      name, polynomial(a, d, bit, 4), polynomial(a, d, bit, 4),
                      polynomial(a, d, bit, 2), polynomial(a, d, bit, 2));
}

enum { MOST = 16 };
typedef struct {
  uint32_t in, out;       // how many values
  uint32_t n[MOST][MOST]; // [in][out] the states that stay and show this
} Steady;

// For each input and each output: how many states step to themselves and show it.
static Steady steady_of(const Ran *r, const char *name) {
  System *s = elab_system(r->in, r->p, name, NULL);
  assert_non_null(s);
  const Diagram *d = diagram_inline_all(r->w, s->d);
  Arena *a = arena_new();
  Tensor in[4], param[8], out[4], next[8];
  Steady m = {.in = 1u << d->in.n, .out = 1u << d->out.n};
  assert_true(d->in.n <= 4 && d->param.n <= 8 && d->out.n <= 4);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = tensor_new(a, 0, NULL);
  for (uint32_t i = 0; i < d->param.n; i++) param[i] = tensor_new(a, 0, NULL);
  for (uint32_t x = 0; x < m.in; x++)
    for (uint32_t t = 0; t < 1u << d->param.n; t++) {
      for (uint32_t i = 0; i < d->in.n; i++) in[i].data[0] = x >> i & 1;
      for (uint32_t i = 0; i < d->param.n; i++) param[i].data[0] = t >> i & 1;
      Eval e = {.arena = a, .in = in, .param = param, .out = out, .next = next};
      assert_true(diagram_eval(r->w, d, &e));
      bool stays = true;
      uint32_t y = 0;
      for (uint32_t i = 0; i < d->param.n; i++) stays &= next[i].data[0] == (t >> i & 1);
      for (uint32_t i = 0; i < d->out.n; i++) y |= (uint32_t)out[i].data[0] << i;
      m.n[x][y] += stays;
    }
  arena_free(a);
  return m;
}

static const char composed_text[] =
    "wiring Serial(x: B[], z: B[]) -> (y: B[], w: B[]) {\n  f : F\n  g : G\n  x -> f.x\n  z -> "
    "f.z\n"
    "  f.y -> g.x\n  f.w -> g.z\n  y = g.y\n  w = g.w\n}\n"
    "wiring Beside(x: B[], z: B[], a: B[], b: B[]) -> (y: B[], w: B[], c: B[], d: B[]) {\n"
    "  f : F\n  g : G\n  x -> f.x\n  z -> f.z\n  a -> g.x\n  b -> g.z\n"
    "  y = f.y\n  w = f.w\n  c = g.y\n  d = g.w\n}\n"
    "wiring Back(x: B[]) -> (y: B[]) {\n  f : F\n  x -> f.x\n  f.w -> f.z\n  y = f.y\n}\n";

// Law 15: the matrix of steady states [input, output] of random machines of four states: in a
// row it is the product of the matrices, side by side their Kronecker product, and with an output
// led back into an input the trace over it.
static void steady_states_compose(void **state) {
  (void)state;
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= CASES * 2; seed++) {
    Arena *a = arena_new();
    Chance d = {seed};
    const char *first = bit_machine(a, &d, "F"), *second = bit_machine(a, &d, "G");
    Ran r = ran_read(arena_format(a, "%s%s%s", first, second, composed_text));
    if (r.w->diags->errors) fail_msg("%s", ran_messages(&r));
    Steady f = steady_of(&r, "F"), g = steady_of(&r, "G"), serial = steady_of(&r, "Serial"),
           beside = steady_of(&r, "Beside"), back = steady_of(&r, "Back");
    for (uint32_t x = 0; x < 4; x++)
      for (uint32_t y = 0; y < 4; y++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 4; k++) sum += f.n[x][k] * g.n[k][y];
        assert_int_equal(serial.n[x][y], sum);
        found += sum;
      }
    for (uint32_t x = 0; x < 16; x++)
      for (uint32_t y = 0; y < 16; y++)
        assert_int_equal(beside.n[x][y], f.n[x % 4][y % 4] * g.n[x / 4][y / 4]);
    for (uint32_t x = 0; x < 2; x++)
      for (uint32_t y = 0; y < 2; y++)
        assert_int_equal(back.n[x][y], f.n[x][y] + f.n[x + 2][y + 2]);
    ran_free(&r);
    arena_free(a);
  }
  print_message("15 steady states: %d pairs, %llu of them in a row\n", CASES * 2,
                (unsigned long long)found);
  assert_true(found > CASES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_in_any_order),   cmocka_unit_test(sharing_is_wiring),
      cmocka_unit_test(one_variable_twice),    cmocka_unit_test(markets_nest),
      cmocka_unit_test(unfolded_is_flat),      cmocka_unit_test(learning_is_descent),
      cmocka_unit_test(modes_are_total),       cmocka_unit_test(a_still_mode_is_the_end),
      cmocka_unit_test(sums_are_conserved),    cmocka_unit_test(events_have_their_times),
      cmocka_unit_test(steady_states_compose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
