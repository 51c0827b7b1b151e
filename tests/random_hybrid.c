// Random hybrid systems. Machines come first, each after a pattern that stays bounded: a rate pulls
// back, what pushes goes through tanh; events reset, count, bounce or switch between two borders.
// Then wirings of earlier kinds, the last one around all.
//
// The first port of what has a state shows states alone, so that anything may read it; what answers
// at the same moment is read by later parts only.
#include "random_hybrid.h"

#include <string.h>

enum { ATOMS = 24 };

typedef struct {
  Hybrid *h;
  Arena *a;
  Chance chance;
  HybridSort *sort;
  HybridLine *block;       // lines are put here
  const char *atom[ATOMS]; // numbers that may be read
  uint32_t atoms;
  const char *shown; // by its first port
  bool shown_too;    // what the second one shows is said
} HybridMaker;

static uint32_t some(HybridMaker *m, uint32_t n) { return chance_below(&m->chance, n); }
static double number(HybridMaker *m) { return chance_number(&m->chance); }
static double between(HybridMaker *m, double low, double high) {
  return low + (high - low) * (1 + some(m, 31)) / 32;
}

static void readable(HybridMaker *m, const char *text) {
  if (m->atoms < ATOMS) m->atom[m->atoms++] = text;
}

static HybridLine *add(HybridMaker *m, HybridLine *to, HybridLine line) {
  vec_push(m->a, &to->inner, line);
  return &to->inner.at[to->inner.n - 1];
}
static void line(HybridMaker *m, const char *text) { add(m, m->block, (HybridLine){.text = text}); }
#define LINE(m, ...) line(m, arena_format((m)->a, __VA_ARGS__))

// -- expressions ----------------------------------------------------------------------------------
static const char *atom(HybridMaker *m) {
  if (m->atoms && some(m, 6)) return m->atom[some(m, m->atoms)];
  return arena_format(m->a, "%g", number(m));
}

static const char *expr(HybridMaker *m, uint32_t depth) {
  uint32_t kind = depth ? some(m, 6) : 0;
  if (!kind) return atom(m);
  if (kind == 5 && !some(m, 5)) { // it jumps, and nothing says when
    const char *yes = atom(m), *no = atom(m), *of = atom(m);
    m->h->jumps = true;
    return arena_format(m->a, "\1(%s when %s > %g else %s)\2", yes, of, number(m) - 0.4, no);
  }
  if (kind == 1) {
    double by = number(m);
    return arena_format(m->a, "\1(%g * %s)\2", by, atom(m));
  }
  const char *x = expr(m, depth - 1);
  if (kind == 2) return arena_format(m->a, "\1tanh(%s)\2", x);
  const char *y = expr(m, depth - 1);
  return arena_format(m->a, "\1(%s %s %s)\2", x, kind == 3 ? "-" : "+", y);
}

static const char *push(HybridMaker *m) { return arena_format(m->a, "tanh(%s)", expr(m, 2)); }

// -- machines -------------------------------------------------------------------------------------
static void state(HybridMaker *m, const char *name, double start) {
  LINE(m, "state @%s = %g", name, start);
  readable(m, arena_format(m->a, "@%s", name));
}

// How a number goes on: by its rate, or from tick to tick.
static void goes_on(HybridMaker *m, const char *name, const char *rate) {
  if (m->h->by_ticks)
    LINE(m, "next @%s = @%s + 0.1 * (%s)", name, name, rate);
  else
    LINE(m, "@%s' = %s", name, rate);
}

static const char *pull(HybridMaker *m, const char *name) { // a rate that stays bounded
  double back = between(m, 0.3, 2), by = number(m);
  return arena_format(m->a, "\1(%g * %s)\2 - \1%g * @%s\2", by, push(m), back, name);
}

static void smooth(HybridMaker *m) {
  uint32_t n = 1 + some(m, 2);
  state(m, "s0", number(m));
  if (n > 1) state(m, "s1", -number(m));
  for (uint32_t i = 0; i < n; i++) LINE(m, "@s%u' = %s", i, pull(m, arena_format(m->a, "s%u", i)));
}

static void turning(HybridMaker *m) { // an oscillator
  double fast = between(m, 1, 4);
  state(m, "s0", number(m));
  state(m, "s1", number(m));
  LINE(m, "@s0' = %g * @s1", fast);
  LINE(m, "@s1' = \1(0.2 * %s)\2 - %g * @s0 - 0.1 * @s1", push(m), fast);
}

static void firing(HybridMaker *m) {
  double border = between(m, 0.6, 1), drive = between(m, 1.2, 3);
  double leak = between(m, 0.2, 0.8);
  state(m, "s0", border * number(m) / 2);
  state(m, "s1", 0);
  LINE(m, "@s0' = %g + \1(0.3 * %s)\2 - %g * @s0", drive, push(m), leak);
  LINE(m, "next @s0 = \1%g * %s\2 when @s0 >= %g", 0.2, push(m), border);
  LINE(m, "next @s1 = @s1 + 1 when @s0 >= %g", border);
}

static void bouncing(HybridMaker *m) {
  state(m, "s0", 0.3 + number(m));
  state(m, "s1", number(m) - 0.5);
  LINE(m, "@s0' = @s1");
  LINE(m, "@s1' = \1(0.2 * %s)\2 - %g", push(m), between(m, 1, 3));
  LINE(m, "next @s1 = -%g * @s1 when @s0 <= 0", between(m, 0.85, 1));
}

// One of several ways to say that something is above.
static const char *above(HybridMaker *m, const char *what, double border) {
  uint32_t k = some(m, 5);
  return k == 0   ? arena_format(m->a, "%s > %g", what, border)
         : k == 1 ? arena_format(m->a, "%s >= %g", what, border)
         : k == 2 ? arena_format(m->a, "not (%s <= %g)", what, border)
         : k == 3 ? arena_format(m->a, "%s > %g or %s > %g", what, border + 1, what, border)
                  : arena_format(m->a, "%s > %g and %s < %g", what, border, what, border + 2);
}

static void counting(HybridMaker *m) { // it waits for what comes in
  double border = number(m) - 0.3;
  state(m, "s0", 0);
  LINE(m, "next @s0 = @s0 + 1 when %s", above(m, "@x0", border));
  if (some(m, 2)) return;
  state(m, "s1", number(m));
  LINE(m, "next @s1 = %s when @x0 < %g", push(m), border - between(m, 0.05, 0.5));
}

// Two modes in a mode: slower behind the middle.
static void modes_inside(HybridMaker *m, double middle, double speed) {
  HybridLine *all = m->block, a = {.kind = HYBRID_MODE, .block = true, .text = "mode @a"};
  HybridLine b = {.kind = HYBRID_MODE, .block = true, .text = "mode @b"};
  m->block = &a;
  LINE(m, "@s0' = \1(0.3 * %s)\2 + %g", push(m), speed);
  LINE(m, "jump @b when @s0 >= %g", middle);
  m->block = &b;
  LINE(m, "@s0' = \1(0.2 * %s)\2 + %g", push(m), speed / 2);
  m->block = all;
  add(m, all, a);
  add(m, all, b);
}

static void switching(HybridMaker *m) {
  double low = number(m) / 2 - 0.2, high = low + between(m, 0.2, 0.8), speed = between(m, 1, 3);
  bool own_port = m->sort->out > 1 && some(m, 2); // each mode says what it shows
  m->sort->modes = m->h->modes = true;
  m->shown_too = own_port;
  state(m, "s0", low + 0.1);
  HybridLine *all = m->block;
  for (uint32_t mode = 0; mode < 2; mode++) {
    HybridLine in = {.kind = HYBRID_MODE, .block = true};
    in.text = arena_format(m->a, "mode @m%u", mode);
    m->block = &in;
    if (mode || some(m, 2))
      LINE(m, "@s0' = \1(0.3 * %s)\2 + %g", push(m), mode ? -speed : speed);
    else
      modes_inside(m, (low + high) / 2, speed);
    if (own_port) LINE(m, "@y1 = %s", push(m));
    LINE(m, "jump @m%u when @s0 %s %g", 1 - mode, mode ? "<=" : ">=", mode ? low : high);
    m->block = all;
    add(m, all, in);
  }
}

static void stopping(HybridMaker *m) { // until it is far enough
  HybridLine *all = m->block, runs = {.kind = HYBRID_MODE, .block = true, .text = "mode @m0"};
  HybridLine done = {.kind = HYBRID_MODE, .text = "mode @m1 stop"};
  double border = between(m, 0.5, 2), speed = between(m, 0.5, 2);
  m->sort->modes = m->h->modes = m->sort->starts = true;
  state(m, "s0", number(m) / 2);
  m->block = &runs;
  goes_on(m, "s0", arena_format(m->a, "\1(0.3 * %s)\2 + %g", push(m), speed));
  LINE(m, "jump @m1 when @s0 >= %g", border);
  m->block = all;
  add(m, all, runs);
  add(m, all, done);
}

static void wandering(HybridMaker *m) { // white noise in a rate
  double by = between(m, 0.1, 0.5);
  m->h->white = m->h->noisy = m->sort->starts = true;
  state(m, "s0", number(m));
  uint32_t kind = some(m, 3);
  if (kind == 1) LINE(m, "@n = white[]");
  LINE(m, "@s0' = %s + %g * %s", pull(m, "s0"), by,
       kind == 0   ? "white[]"
       : kind == 1 ? "@s0 * @n"
                   : "(white[] + white[])");
  if (some(m, 2)) return;
  state(m, "s1", 0);
  LINE(m, "next @s1 = @s1 + 1 when @s0 > %g", number(m) - 0.3);
}

static void learning(HybridMaker *m) { // at each tick, from what flows by
  static const char *const rule[] = {"adam(0.05)", "gd(0.1)", "momentum(0.05)"};
  uint32_t net = m->h->decl.n;
  HybridLine l = {
      .text = arena_format(m->a, "learn @net%u : R[2] -> R[] = dense[3] ; tanh ; dense[]", net)};
  vec_push(m->a, &m->h->decl, l);
  m->h->learns = m->h->noisy = m->sort->ticks = m->h->ticks = m->sort->starts = true;
  m->sort->flows = false;
  state(m, "s0", number(m));
  LINE(m, "@g = @net%u([@x0, @s0])", net);
  LINE(m, "@e = (@g - %s)^2", push(m));
  LINE(m, "next @net%u by %s on @e%s", net, rule[some(m, COUNT(rule))],
       some(m, 3) ? "" : " when @x0 < 0.7");
  LINE(m, "next @s0 = \1(0.5 * @s0)\2 + 0.5 * tanh(@g)");
}

static void labelled(HybridMaker *m) { // it waits, and a label says for what
  double border = number(m) - 0.3, less = border - between(m, 0.05, 0.4);
  LINE(m, "state @c : {@red, @green} = @red");
  LINE(m, "next @c = @green when @x0 > %g", border);
  LINE(m, "next @c = @red when @x0 < %g", less);
  m->shown = arena_format(m->a, "%g when @c = @green else 0.1", number(m));
  readable(m, arena_format(m->a, "(0.7 when @c = @green else %g)", number(m)));
}

static void sampling(HybridMaker *m) {
  m->sort->ticks = m->h->ticks = true;
  m->sort->starts = true;
  m->sort->flows = !some(m, 2) && !m->h->by_ticks;
  state(m, "s0", number(m));
  LINE(m, "next @s0 = \1(0.5 * @s0)\2 + \1(0.5 * %s)\2", push(m));
  if (!m->sort->flows) return;
  state(m, "s1", number(m)); // it flows between the ticks
  LINE(m, "@s1' = %s", pull(m, "s1"));
}

static void drawing(HybridMaker *m) { // chance, at ticks or at events
  m->h->noisy = m->sort->starts = true;
  if (some(m, 2) || m->h->by_ticks) {
    m->sort->ticks = m->h->ticks = true;
    m->sort->flows = false;
    state(m, "s0", number(m));
    LINE(m, "next @s0 = \1(0.5 * @s0)\2 + 0.3 * normal[] + \1(0.2 * %s)\2", push(m));
    return;
  }
  state(m, "s0", 0.3 + number(m));
  state(m, "s1", number(m) - 0.5);
  LINE(m, "@s0' = @s1");
  LINE(m, "@s1' = \1(0.2 * %s)\2 - %g", push(m), between(m, 1, 3));
  LINE(m, "next @s1 = (-0.9 - 0.1 * uniform[]) * @s1 when @s0 <= 0");
}

static void echoing(HybridMaker *m) {
  m->h->delays = m->sort->delays = true;
  state(m, "s0", number(m));
  double late = between(m, 0.3, 1.1);
  LINE(m, "@late = delay[%g](%s)", late, some(m, 2) ? "@x0" : "@s0");
  readable(m, "@late");
  LINE(m, "@s0' = %s", pull(m, "s0"));
}

static void in_rows(HybridMaker *m) { // states with an axis
  LINE(m, "state @s0 : R[3] = %g", number(m));
  double by = number(m), back = between(m, 1, 3);
  bool wide = m->sort->wide_in[1];
  for (uint32_t i = 0; i < 3; i++) readable(m, arena_format(m->a, "@s0[%u]", i));
  LINE(m, "@s0' = %g * roll(@s0) + \1(%g * %s)\2 - %g * @s0", by, by, wide ? "tanh(@x1)" : push(m),
       back);
  if (some(m, 2)) return;
  double border = between(m, 0.2, 0.6);
  LINE(m, "next @s0 = \1(0.5 * %s)\2 when @s0[%u] > %g", push(m), some(m, 3), border);
}

static void timed(HybridMaker *m) {
  m->h->timed = true;
  state(m, "s0", number(m));
  LINE(m, "@s0' = \1sin(%g * time)\2 - \1%g * @s0\2", between(m, 1, 6), between(m, 0.3, 1));
  if (some(m, 2)) return;
  state(m, "s1", 0);
  LINE(m, "next @s1 = @s1 + 1 when sin(%g * time) > %g", between(m, 1, 6), number(m) - 0.5);
}

static void pulsed(HybridMaker *m) { // a square wave, a staircase or a saw
  double by = between(m, 0.5, 3), every = between(m, 0.2, 1.5);
  uint32_t kind = some(m, 4);
  m->h->timed = m->h->jumps = true;
  state(m, "s0", number(m));
  const char *wave =
      kind == 0 ? arena_format(m->a, "(%g when sin(%g * time) > %g else -%g)", by,
                               between(m, 2, 20), number(m) - 0.5, by)
      : kind == 1
          ? arena_format(m->a, "(%g when mod(time, %g) < %g else 0)", 10 * by, every, every / 10)
      : kind == 2 ? arena_format(m->a, "(floor(time / %g) - 2)", every)
                  : arena_format(m->a, "(%g * sign(mod(time, %g) - %g))", by, every, every / 3);
  LINE(m, "@s0' = \1%s\2 + \1(0.3 * %s)\2 - %g * @s0", wave, push(m), between(m, 0.3, 2));
}

static void balanced(HybridMaker *m) { // what an equation says, whose source may jump
  m->h->timed = m->h->equations = true;
  m->sort->delays = true; // it cannot die either
  state(m, "s0", number(m));
  bool jumps = some(m, 2);
  m->h->jumps |= jumps;
  const char *source =
      jumps ? arena_format(m->a, "(3 when sin(%g * time) > 0 else -3)", between(m, 2, 9)) : "@s0";
  LINE(m, "state @s1 = 0");
  LINE(m, "0 = %s + \1(0.3 * %s)\2 - @s1 - %g * (exp(4 * @s1) - exp(-4 * @s1))", source, push(m),
       between(m, 0.01, 0.1));
  readable(m, "@s1");
  LINE(m, "@s0' = %s + 0.5 * @s1", pull(m, "s0"));
}

static const char *size(bool wide) { return wide ? "[3]" : "[]"; }

static void read_inputs(HybridMaker *m) {
  for (uint32_t i = 0; i < m->sort->in; i++)
    readable(m, arena_format(m->a, m->sort->wide_in[i] ? "@x%u[%u]" : "@x%u", i, some(m, 3)));
}

static const char *head(HybridMaker *m, const char *word) {
  Buf b = buf_new(m->a);
  const HybridSort *s = m->sort;
  buf_printf(&b, "%s @%s(", word, s->name);
  for (uint32_t i = 0; i < s->in; i++)
    buf_printf(&b, "%s@x%u: R%s", i ? ", " : "", i, size(s->wide_in[i]));
  buf_text(&b, ") -> (");
  for (uint32_t i = 0; i < s->out; i++)
    buf_printf(&b, "%s@y%u: R%s", i ? ", " : "", i, size(s->wide_out[i]));
  buf_text(&b, ")");
  return b.at;
}

static void show_numbers(HybridMaker *m, bool row) {
  m->sort->wide_out[0] = row;
  LINE(m, "@y0 = %s", m->shown);
  if (m->sort->out < 2) return;
  m->sort->at_once[1] = true;
  if (!m->shown_too) LINE(m, "@y1 = %s", push(m));
}

static void make_machine(HybridMaker *m, HybridLine *to) {
  static void (*const all[])(HybridMaker *) = {
      smooth,  turning, firing,  bouncing, counting, in_rows, labelled, switching, sampling,
      echoing, timed,   drawing, stopping, learning, pulsed,  balanced, wandering};
  static void (*const by_ticks[])(HybridMaker *) = {counting, labelled, sampling,
                                                    drawing,  stopping, learning};
  enum { KNOW_NO_TIME = 7 };
  void (*const *pattern)(HybridMaker *) = m->h->by_ticks ? by_ticks : all;
  uint32_t which = some(m, m->h->by_ticks   ? COUNT(by_ticks)
                           : m->h->seed % 3 ? COUNT(all)
                                            : KNOW_NO_TIME);
  void (*made)(HybridMaker *) = pattern[which];
  bool both = (made == wandering && m->h->equations) || (made == balanced && m->h->white);
  if (both) made = pulsed; // no method follows both
  m->shown = "@s0";
  m->shown_too = false;
  *to = (HybridLine){.block = true};
  m->block = to;
  m->atoms = 0;
  m->sort->in = 1 + some(m, 2);
  m->sort->out = 1 + some(m, 2);
  m->sort->wide_in[1] = m->sort->in > 1 && !some(m, 3);
  read_inputs(m);
  m->sort->flows = made != counting && made != labelled;
  m->sort->waits = !m->sort->flows;
  if (m->h->by_ticks) m->sort->flows = false;
  made(m);
  show_numbers(m, made == in_rows);
  to->text = head(m, "machine");
}

// -- wirings --------------------------------------------------------------------------------------
static const char *const array_size[] = {"", "[3]", "[2 3]"};
static const char *const array_each[] = {"", "[i]", "[i j]"};

// Of an array, one member, or the one of the same place.
static const char *member(HybridMaker *m, uint32_t axes, uint32_t indices) {
  if (axes && axes <= indices && some(m, 2)) return axes < indices ? "[j]" : array_each[axes];
  if (axes == 2 && indices == 1 && some(m, 2)) return arena_format(m->a, "[%u i]", some(m, 2));
  uint32_t first = some(m, 2), second = some(m, 3);
  return axes == 2   ? arena_format(m->a, "[%u %u]", first, second)
         : axes == 1 ? arena_format(m->a, "[%u]", second)
                     : "";
}

// What a part shows becomes readable.
static void read_part(HybridMaker *m, const HybridLine *p, bool at_once, uint32_t indices) {
  const HybridSort *of = &m->h->sort[p->of];
  for (uint32_t i = 0; i < of->out; i++) {
    if (of->at_once[i] && !at_once) continue;
    const char *in = member(m, p->axes, indices);
    const char *cell = of->wide_out[i] ? arena_format(m->a, "[%u]", some(m, 3)) : "";
    readable(m, arena_format(m->a, "@p%u%s.@y%u%s", p->part, in, i, cell));
  }
}

static void read_parts(HybridMaker *m, const HybridLine *part, uint32_t n, uint32_t before,
                       uint32_t indices) {
  for (uint32_t i = 0; i < n; i++) read_part(m, &part[i], i < before, indices);
}

static void wire(HybridMaker *m, const HybridLine *p, uint32_t port, const char *guard) {
  bool wide = m->h->sort[p->of].wide_in[port];
  const char *value = expr(m, 2);
  HybridLine w = {.kind = HYBRID_WIRE, .part = p->part, .of = p->of, .port = port, .axes = p->axes};
  w.text = arena_format(m->a, "%s -> @p%u%s.@x%u%s%s", value, p->part, array_each[p->axes], port,
                        wide ? "[k]" : "", guard);
  add(m, m->block, w);
}

// A member of an array hears the one before it, perhaps at the same moment.
static void chain(HybridMaker *m, const HybridLine *p, uint32_t port) {
  static const char *const before[2][2] = {{"[i-1]", "[i-1]"}, {"[i-1 j]", "[i j-1]"}};
  const HybridSort *of = &m->h->sort[p->of];
  uint32_t out = of->out > 1 && !of->wide_out[1] ? 1 : 0;
  HybridLine w = {.kind = HYBRID_WIRE, .part = p->part, .of = p->of, .port = port, .axes = p->axes};
  w.text = arena_format(m->a, "@p%u%s.@y%u%s pad %g -> @p%u%s.@x%u", p->part,
                        before[p->axes - 1][port % 2], out, of->wide_out[out] ? "[1]" : "",
                        number(m), p->part, array_each[p->axes], port);
  add(m, m->block, w);
}

static void wires_of(HybridMaker *m, HybridLine *part, uint32_t n, uint32_t p) {
  uint32_t own = m->atoms;
  for (uint32_t port = 0; port < m->h->sort[part[p].of].in; port++) {
    m->atoms = own;
    if (part[p].axes && !m->h->sort[part[p].of].wide_in[port] && !some(m, 3)) {
      chain(m, &part[p], port);
      continue;
    }
    read_parts(m, part, n, p, part[p].axes);
    uint32_t asked = some(m, n);
    bool guarded = !part[asked].axes && m->h->sort[part[asked].of].modes;
    part[asked].asked |= guarded;
    if (!guarded) wire(m, &part[p], port, "");
    for (uint32_t mode = 0; guarded && mode < 2; mode++)
      wire(m, &part[p], port, arena_format(m->a, " when @p%u.mode = @m%u", asked, mode));
  }
  m->atoms = own;
}

// Variables that are shared: two numbers, or a row whose neighbours are called on.
static void shared(HybridMaker *m, uint32_t number_of) {
  m->h->shares = true;
  if (some(m, 2)) {
    state(m, "u0", number(m));
    state(m, "u1", number(m));
    LINE(m, "@Both%u(@u0, @u1)", number_of);
    LINE(m, "@One%u(@u%u)", number_of, some(m, 2));
    return;
  }
  double one = number(m), two = number(m), three = number(m);
  LINE(m, "state @u0 : R[3] = [%g, %g, %g]", one, two, three);
  for (uint32_t i = 0; i < 3; i++) readable(m, arena_format(m->a, "@u0[%u]", i));
  LINE(m, "@Both%u(@u0[i], @u0[i+1])", number_of);
  LINE(m, some(m, 2) ? "@One%u(@u0[%u])" : "@One%u(@u0[i])", number_of, some(m, 3));
}

static void make_shares(HybridMaker *m, uint32_t number_of) {
  HybridLine both = {.block = true}, one = {.block = true};
  both.text = arena_format(m->a, "share @Both%u(@a, @b)", number_of);
  one.text = arena_format(m->a, "share @One%u(@a)", number_of);
  double by = number(m), back = between(m, 0.2, 1);
  m->block = &both;
  LINE(m, "@a' = \1(0 - %g * @a * @b)\2", by);
  LINE(m, "@b' = \1(%g * @a * @b)\2 - %g * @b", by, back);
  m->block = &one;
  LINE(m, "@a' = \1(%g - @a)\2", back);
  vec_push(m->a, &m->h->decl, both);
  vec_push(m->a, &m->h->decl, one);
}

// A part is there while a clock of its own runs below a border, which members of an array have each for
// itself.
static const char *life(HybridMaker *m, const HybridLine *p) {
  static const char *const members[] = {"", "[i:3]", "[i:2 j:3]"}, *const which[] = {
                                                                       "", " + 0.1 * i",
                                                                       " + 0.1 * i + 0.05 * j"};
  const HybridSort *of = &m->h->sort[p->of];
  double end = between(m, 0.8, 1.5), border = between(m, 0.2, 0.7), start = number(m) / 2;
  uint32_t k = p->part;
  m->h->dies = true;
  m->h->jumps |= !m->h->by_ticks; // where a part dies, its rates do
  LINE(m, "state @l%u = %g", k, start);
  if (m->h->by_ticks)
    LINE(m, "next @l%u = (@l%u + 0.13) when @l%u < %g else 0", k, k, k, end);
  else
    LINE(m, "@l%u' = 1", k), LINE(m, "next @l%u = 0 when @l%u >= %g", k, k, end);
  LINE(m, "@a%u%s = (@l%u < %g%s)", k, members[p->axes], k, border, which[p->axes]);
  const char *born = "";
  m->atoms = 0;
  readable(m, arena_format(m->a, "@l%u", k));
  if (of->starts && some(m, 2)) born = arena_format(m->a, " born (@s0: %s)", expr(m, 1));
  return arena_format(m->a, " while @a%u%s%s", k, array_each[p->axes], born);
}

// What is in a part is in the wiring.
static void take_over(HybridMaker *m, uint32_t kind) {
  const HybridSort *of = &m->h->sort[kind];
  m->sort->flows |= of->flows;
  m->sort->ticks |= of->ticks;
  m->sort->delays |= of->delays;
  m->sort->slower |= of->slower;
  m->sort->dies |= of->dies;
}

// Three parts that `for` makes, side by side or in a chain.
static void copied(HybridMaker *m, uint32_t kind) {
  const HybridSort *of = &m->h->sort[kind];
  HybridLine *all = m->block, parts = {.block = true, .text = "for z in 0..2"}, wires = parts;
  bool chained = some(m, 2);
  m->h->copies = true;
  take_over(m, kind);
  m->block = &parts;
  LINE(m, "@r[z] : @%s", of->name);
  m->block = &wires;
  for (uint32_t i = chained; i < of->in; i++)
    LINE(m, "%s -> @r[z].@x%u%s", expr(m, 1), i, of->wide_in[i] ? "[k]" : "");
  HybridLine chain = {.block = true, .text = "for z in 1..2"};
  m->block = &chain;
  const char *cell = of->wide_out[0] ? "[1]" : "";
  LINE(m, "@r[z-1].@y0%s -> @r[z].@x0", cell);
  m->block = all;
  add(m, all, parts);
  if (wires.inner.n) add(m, all, wires);
  if (chained) add(m, all, chain);
  if (chained) LINE(m, "%s -> @r[0].@x0", expr(m, 1));
  for (uint32_t i = 0; i < 3; i++) readable(m, arena_format(m->a, "@r[%u].@y0%s", i, cell));
}

// The outermost has a state that flows, and so the whole does.
static void own(HybridMaker *m) {
  state(m, "w0", number(m));
  goes_on(m, "w0", pull(m, "w0"));
  if (m->h->by_ticks || some(m, 2)) return;
  double border = between(m, -0.3, 0.3);
  LINE(m, "next @w0 = \1(%g - @w0)\2 when @w0 > %g", 2 * border - 0.3, border);
}

static const char *of_states(HybridMaker *m, HybridLine *part, uint32_t n) {
  m->atoms = 0;
  read_parts(m, part, n, 0, 0);
  const char *text = expr(m, 2);
  return text;
}

// When a part ticks, or is there at all.
static const char *times_of(HybridMaker *m, const HybridLine *p) {
  static const char *const times[] = {"0.1", "0.25", "0.3", "1", "2", "0.7"};
  const HybridSort *of = &m->h->sort[p->of];
  if (m->h->seed % 3 == 0) return "";
  bool dies = of->dies && m->h->by_ticks, slower = of->slower && m->h->by_ticks;
  if (!of->flows && (of->ticks || of->waits) && !dies && some(m, 3)) {
    m->h->ticks = m->sort->slower = true;
    return arena_format(m->a, " every %s", m->sort->flows ? times[some(m, COUNT(times))] : "2");
  }
  if (of->delays || p->asked || slower || some(m, 4)) return "";
  m->sort->dies = true;
  m->sort->flows = !m->h->by_ticks;
  return life(m, p);
}

static void make_wiring(HybridMaker *m, HybridLine *to, bool outermost, uint32_t number_of) {
  uint32_t n = 2 + some(m, outermost ? 4 : 2), kinds = (uint32_t)(m->sort - m->h->sort);
  HybridLine part[6] = {{0}};
  bool shares = !some(m, 3) && !m->h->by_ticks, more = m->h->seed % 3;
  *to = (HybridLine){.block = true};
  m->sort->in = 1 + some(m, 2);
  m->sort->out = 1 + some(m, 2);
  if (shares) make_shares(m, number_of);
  m->block = to;
  m->atoms = 0;
  read_inputs(m);
  if (shares) shared(m, number_of);
  if (outermost) own(m);
  if (more && !some(m, 3)) copied(m, some(m, kinds));
  for (uint32_t p = 0; p < n; p++) {
    part[p] = (HybridLine){.kind = HYBRID_PART, .part = p};
    if (!some(m, 3)) part[p].axes = 1 + !some(m, 3);
    part[p].of = !p && outermost ? kinds - 1 : some(m, kinds);
    m->sort->ticks |= m->h->sort[part[p].of].ticks;
    m->sort->flows |= m->h->sort[part[p].of].flows || outermost || shares;
    take_over(m, part[p].of);
  }
  if (m->h->by_ticks) m->sort->flows = false;
  for (uint32_t p = 0; p < n; p++) wires_of(m, part, n, p);
  for (uint32_t p = 0; p < n; p++) {
    const char *when = times_of(m, &part[p]);
    part[p].text = arena_format(m->a, "@p%u%s : @%s%s", p, array_size[part[p].axes],
                                m->h->sort[part[p].of].name, when);
    add(m, to, part[p]);
  }
  if (m->sort->out > 1) {
    m->sort->at_once[1] = true;
    read_parts(m, part, n, n, 0);
    LINE(m, "@y1 = %s", expr(m, 2));
  }
  LINE(m, "@y0 = %s", of_states(m, part, n));
  to->text = head(m, "wiring");
}

Hybrid *hybrid_random(Arena *a, uint64_t seed) {
  Hybrid *h = NEW(a, Hybrid);
  *h = (Hybrid){.arena = a, .seed = seed, .by_ticks = seed % 3 && seed % 5 == 0};
  HybridMaker m = {.h = h, .a = a, .chance = {seed}};
  uint32_t machines = 2 + some(&m, 3), inner = some(&m, 3);
  for (uint32_t i = 0; i <= machines + inner; i++) {
    HybridLine made;
    bool last = i == machines + inner;
    m.sort = &h->sort[h->sorts++];
    *m.sort = (HybridSort){.name = last ? "Whole" : arena_format(a, "M%u", i)};
    if (i < machines)
      make_machine(&m, &made);
    else
      make_wiring(&m, &made, last, i);
    vec_push(a, &h->decl, made);
  }
  h->inputs = h->sort[h->sorts - 1].in;
  h->end = 2 + some(&m, 3);
  h->moved = seed % 3 && !h->by_ticks && !some(&m, 4);
  return h;
}
