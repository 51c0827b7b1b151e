// Events of one moment, compared with a simple interpreter.
//
// Random parts have states with small integers, modes, and conditions on states, ports and clocks
// whose times differ by 1 to 1e-9. The interpreter works in rounds, as in the manual: all armed
// events whose condition is true happen at once and read the values from before; this repeats until
// no condition is newly true. Both must agree on the times, the number of events at each, the final
// states, and the errors: two lines that set one state to different values, and endless rounds.
#include "base/diag.h"
#include "hybrid_laws.h"

#include <string.h>

enum {
  PARTS = 4,
  STATES = 3,
  LINES = 6,
  CLOCKS = 2,
  MOMENTS = 10,
  ROUNDS_MOST = 1000,
  MODES = 3,
  ATOMS = 2
};

typedef struct {
  uint32_t kind, part, state,
      other; // 0: a > k; 1: a < k; 2: a > port; 3: a + b > k; 4: not (a > k); 5: a > b
  double k;
} Atom;
typedef struct {
  Atom atom[ATOMS];
  uint32_t atoms;
  bool either; // or
  int in_mode; // -1: in all of them
  bool jump;
  uint32_t to;                // the state, or the mode
  uint32_t value, from, more; // how it is set
} Line;
typedef struct {
  uint32_t states, modes, lines,
      port; // whose state 0 its port reads; PARTS + c: the count of clock c
  double start[STATES];
  Line line[LINES];
} Automaton;
typedef struct {
  uint32_t n, form; // 0: by `time`, 1: by a state, 2: by a state that is twice as fast
  double at[MOMENTS];
} Clock;
typedef struct {
  uint32_t parts, clocks;
  Automaton part[PARTS];
  Clock clock[CLOCKS];
} Automata;

// -- random ---------------------------------------------------------------------------------------
static Atom random_atom(Chance *d, const Automaton *p) {
  static const uint32_t kinds[] = {0, 1, 2, 3, 4, 5, 2, 2};
  Atom a = {.kind = kinds[chance_below(d, COUNT(kinds))],
            .state = chance_below(d, p->states),
            .other = chance_below(d, p->states)};
  a.k = chance_below(d, 4) - 0.5;
  return a;
}

static Line random_line(Chance *d, const Automaton *p) {
  Line l = {.atoms = 1 + chance_below(d, ATOMS), .either = chance_below(d, 3) == 0, .in_mode = -1};
  for (uint32_t i = 0; i < l.atoms; i++) l.atom[i] = random_atom(d, p);
  if (p->modes && chance_below(d, 3)) l.in_mode = (int)chance_below(d, p->modes);
  l.jump = l.in_mode >= 0 && chance_below(d, 2);
  l.to = chance_below(d, l.jump ? p->modes : p->states);
  l.value = chance_below(d, 7);
  l.from = chance_below(d, p->states), l.more = chance_below(d, p->states);
  return l;
}

// Another line that sets the same, under conditions that may hold together: most are left out.
static bool rivals(const Automaton *p, const Line *l) {
  for (uint32_t i = 0; i < p->lines; i++) {
    const Line *o = &p->line[i];
    bool apart = l->in_mode >= 0 && o->in_mode >= 0 && l->in_mode != o->in_mode;
    if (o->jump == l->jump && (l->jump || o->to == l->to) && !apart) return true;
  }
  return false;
}

static Automaton random_automaton(Chance *d, const Automata *a) {
  Automaton p = {.states = 1 + chance_below(d, STATES)};
  p.modes = chance_below(d, 2) ? 2 + chance_below(d, MODES - 1) : 0;
  p.port = chance_below(d, 2) ? PARTS + chance_below(d, a->clocks) : chance_below(d, a->parts);
  for (uint32_t k = 0; k < p.states; k++) p.start[k] = chance_below(d, 3);
  for (uint32_t tries = 2 + chance_below(d, LINES - 1); tries > 0; tries--) {
    Line l = random_line(d, &p);
    if (!rivals(&p, &l) || chance_below(d, 8) == 0) p.line[p.lines++] = l;
  }
  return p;
}

static Clock random_clock(Chance *d, double t) {
  static const double gap[] = {1, 0.3, 0.01, 1e-3, 1e-5, 1e-7, 1e-9};
  Clock k = {.n = 4 + chance_below(d, MOMENTS - 3), .form = chance_below(d, 3)};
  for (uint32_t i = 0; i < k.n; i++)
    k.at[i] = t += gap[chance_below(d, COUNT(gap))] * (1 + chance_number(d)) / 2;
  return k;
}

static Automata random_automata(uint64_t seed) {
  Chance d = {seed};
  Automata a = {.parts = 1 + chance_below(&d, PARTS), .clocks = 1 + chance_below(&d, CLOCKS)};
  for (uint32_t c = 0; c < a.clocks; c++) a.clock[c] = random_clock(&d, 0.1 + 0.7 * c);
  if (a.clocks > 1 && chance_below(&d, 2)) { // the same moments
    a.clock[0].form = 0;
    a.clock[1] = a.clock[0];
  }
  for (uint32_t i = 0; i < a.parts; i++) a.part[i] = random_automaton(&d, &a);
  return a;
}

// -- as a program ---------------------------------------------------------------------------------
static void print_atom(Buf *b, const Atom *a) {
  switch (a->kind) {
  case 0: buf_printf(b, "s%u > %g", a->state, a->k); break;
  case 1: buf_printf(b, "s%u < %g", a->state, a->k); break;
  case 2: buf_printf(b, "u > s%u", a->state); break;
  case 3: buf_printf(b, "s%u + s%u > %g", a->state, a->other, a->k); break;
  case 4: buf_printf(b, "not (u > %g)", a->k); break;
  default: buf_printf(b, "(1 when s%u > s%u else -1) > 0", a->state, a->other);
  }
}

static void print_line(Buf *b, const Line *l) {
  if (l->jump) {
    buf_printf(b, "    jump m%u when ", l->to);
  } else {
    buf_printf(b, "    next s%u = ", l->to);
    switch (l->value) {
    case 0: buf_printf(b, "mod(s%u + 1, 3)", l->to); break;
    case 1: buf_printf(b, "1 - s%u", l->from); break;
    case 2: buf_printf(b, "u"); break;
    case 3: buf_printf(b, "mod(s%u + s%u, 4)", l->from, l->more); break;
    default: buf_printf(b, "minimum(s%u + 1, 50)", l->to);
    }
    buf_text(b, " when ");
  }
  for (uint32_t i = 0; i < l->atoms; i++) {
    if (i) buf_text(b, l->either ? " or " : " and ");
    print_atom(b, &l->atom[i]);
  }
  buf_char(b, '\n');
}

static void print_part(Buf *b, const Automaton *p, uint32_t number) {
  buf_printf(b, "machine P%u(u: R[]) -> (o: R[]) {\n", number);
  for (uint32_t k = 0; k < p->states; k++) buf_printf(b, "  state s%u = %g\n", k, p->start[k]);
  for (uint32_t m = 0; m < p->modes; m++) {
    buf_printf(b, "  mode m%u {\n", m);
    for (uint32_t k = 0; k < p->lines; k++)
      if (p->line[k].in_mode == (int)m) print_line(b, &p->line[k]);
    buf_text(b, "  }\n");
  }
  for (uint32_t k = 0; k < p->lines; k++)
    if (p->line[k].in_mode < 0) print_line(b, &p->line[k]);
  for (uint32_t k = 0; k < p->states; k++) {
    bool set = false;
    for (uint32_t i = 0; i < p->lines; i++) set |= !p->line[i].jump && p->line[i].to == k;
    if (!set) buf_printf(b, "    next s%u = s%u + 1 when s%u < -5\n", k, k, k);
  }
  buf_text(b, "  o = s0\n}\n");
}

static void print_clock(Buf *b, const Clock *c, uint32_t number) {
  buf_printf(b, "machine C%u -> (k: R[]) {\n  state k = 0, c = 0\n  c' = %d\n  t = ", number,
             c->form == 2 ? 2 : 1);
  for (uint32_t i = 0; i < c->n; i++) buf_printf(b, "%.17g when k < %u.5 else ", c->at[i], i);
  buf_printf(b, "1000\n  next k = k + 1 when %s >= t\n}\n",
             c->form == 0   ? "time"
             : c->form == 1 ? "c"
                            : "c / 2");
}

static void print_port(Buf *b, const char *name, uint32_t of) {
  buf_printf(b, of >= PARTS ? "  c%u.k" : "  p%u.o", of >= PARTS ? of - PARTS : of);
  buf_printf(b, " -> %s\n", name);
}

static const char *print_automata(Arena *arena, const Automata *a, uint64_t seed) {
  static const char *const by[] = {"", " by stiff", " by rk4[0.05]", "", " by euler[0.1]"};
  Buf b = buf_new(arena);
  for (uint32_t i = 0; i < a->clocks; i++) print_clock(&b, &a->clock[i], i);
  for (uint32_t i = 0; i < a->parts; i++) print_part(&b, &a->part[i], i);
  buf_text(&b, "wiring Whole -> (");
  for (uint32_t i = 0; i < a->parts; i++) buf_printf(&b, "%so%u: R[]", i ? ", " : "", i);
  buf_text(&b, ") {\n");
  for (uint32_t i = 0; i < a->clocks; i++) buf_printf(&b, "  c%u : C%u\n", i, i);
  for (uint32_t i = 0; i < a->parts; i++) buf_printf(&b, "  p%u : P%u\n", i, i);
  for (uint32_t i = 0; i < a->parts; i++)
    print_port(&b, arena_format(arena, "p%u.u", i), a->part[i].port);
  for (uint32_t i = 0; i < a->parts; i++) buf_printf(&b, "  o%u = p%u.o\n", i, i);
  buf_printf(&b, "}\nrun Whole to 12%s\n", by[seed % COUNT(by)]);
  for (uint32_t i = 0; i < a->parts; i++)
    for (uint32_t k = 0; k < a->part[i].states; k++) buf_printf(&b, "show p%u.s%u\n", i, k);
  return b.at;
}

// -- interpreted ----------------------------------------------------------------------------------
typedef struct {
  const Automata *a;
  double t, s[PARTS][STATES], count[CLOCKS];
  uint32_t mode[PARTS];
  bool armed[PARTS][LINES], ready[CLOCKS]; // ready: a clock's line is armed
  VEC(double) time;                        // of moments at which something happened
  VEC(uint32_t) much;
  bool clash, endless;
} Walk;

static double port_of(const Walk *w, uint32_t part) {
  uint32_t of = w->a->part[part].port;
  return of >= PARTS ? w->count[of - PARTS] : w->s[of][0];
}

static bool atom_holds(const Walk *w, uint32_t part, const Atom *a) {
  const double *s = w->s[part];
  switch (a->kind) {
  case 0: return s[a->state] > a->k;
  case 1: return s[a->state] < a->k;
  case 2: return port_of(w, part) > s[a->state];
  case 3: return s[a->state] + s[a->other] > a->k;
  case 4: return !(port_of(w, part) > a->k);
  default: return s[a->state] > s[a->other];
  }
}

static bool line_holds(const Walk *w, uint32_t part, const Line *l) {
  if (l->in_mode >= 0 && w->mode[part] != (uint32_t)l->in_mode) return false;
  bool any = false, all = true;
  for (uint32_t i = 0; i < l->atoms; i++) {
    bool one = atom_holds(w, part, &l->atom[i]);
    any |= one, all &= one;
  }
  return l->either ? any : all;
}

static double line_value(const Walk *w, uint32_t part, const Line *l) {
  const double *s = w->s[part];
  switch (l->value) {
  case 0: return s[l->to] + 1 - 3 * floor((s[l->to] + 1) / 3);
  case 1: return 1 - s[l->from];
  case 2: return port_of(w, part);
  case 3: return s[l->from] + s[l->more] - 4 * floor((s[l->from] + s[l->more]) / 4);
  default: return fmin(s[l->to] + 1, 50);
  }
}

typedef struct {
  bool fired[PARTS][LINES], tick[CLOCKS], any;
} Fired;

static bool clock_holds(const Walk *w, uint32_t c) {
  const Clock *k = &w->a->clock[c];
  return w->count[c] < k->n && w->t >= k->at[(uint32_t)w->count[c]];
}

static Fired all_fired(Walk *w) {
  Fired f = {.any = false};
  for (uint32_t c = 0; c < w->a->clocks; c++) {
    bool up = clock_holds(w, c);
    f.any |= f.tick[c] = up && w->ready[c];
    if (!up) w->ready[c] = true;
  }
  for (uint32_t p = 0; p < w->a->parts; p++)
    for (uint32_t i = 0; i < w->a->part[p].lines; i++) {
      bool up = line_holds(w, p, &w->a->part[p].line[i]);
      f.any |= f.fired[p][i] = up && w->armed[p][i];
      if (!up) w->armed[p][i] = true;
    }
  return f;
}

static uint32_t happens(Walk *w, const Fired *f) {
  Walk old = *w;
  uint32_t n = 0;
  for (uint32_t c = 0; c < w->a->clocks; c++)
    if (f->tick[c]) w->count[c]++, w->ready[c] = false, n++;
  for (uint32_t p = 0; p < w->a->parts; p++) {
    bool set[STATES] = {0}, moved = false;
    for (uint32_t i = 0; i < w->a->part[p].lines; i++) {
      const Line *l = &w->a->part[p].line[i];
      if (!f->fired[p][i]) continue;
      n++;
      w->armed[p][i] = false;
      double value = l->jump ? 0 : line_value(&old, p, l);
      if (l->jump) {
        w->clash |= moved && w->mode[p] != l->to;
        w->mode[p] = l->to, moved = true;
      } else {
        w->clash |= set[l->to] && w->s[p][l->to] != value;
        w->s[p][l->to] = value, set[l->to] = true;
      }
    }
  }
  return n;
}

static void one_moment(Walk *w, Arena *arena) {
  uint32_t much = 0, often[PARTS][LINES] = {{0}};
  for (Fired f = all_fired(w); f.any && !w->clash && !w->endless; f = all_fired(w)) {
    for (uint32_t p = 0; p < PARTS; p++)
      for (uint32_t i = 0; i < LINES; i++)
        w->endless |= (often[p][i] += f.fired[p][i]) > ROUNDS_MOST;
    much += happens(w, &f);
  }
  if (!much) return;
  vec_push(arena, &w->time, w->t);
  vec_push(arena, &w->much, much);
}

static Walk interpreted(Arena *arena, const Automata *a) {
  Walk w = {.a = a};
  memset(w.armed, 1, sizeof w.armed);
  memset(w.ready, 1, sizeof w.ready);
  for (uint32_t p = 0; p < a->parts; p++) memcpy(w.s[p], a->part[p].start, sizeof w.s[p]);
  one_moment(&w, arena);
  while (!w.clash && !w.endless) {
    double next = INFINITY;
    for (uint32_t c = 0; c < a->clocks; c++)
      if (w.count[c] < a->clock[c].n) next = fmin(next, a->clock[c].at[(uint32_t)w.count[c]]);
    if (!(next <= 12)) break;
    w.t = next;
    one_moment(&w, arena);
  }
  return w;
}

// -- compared -------------------------------------------------------------------------------------
static bool moments_agree(HybridCase *c, const char *text, const Walk *w, const SimRecord *r) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < w->time.n; i++) {
    uint32_t n = 0;
    double first = k < r->events_logged.n ? r->events_logged.at[k].time : INFINITY;
    for (; k < r->events_logged.n && r->events_logged.at[k].time == first; k++) n++;
    if (!(fabs(first - w->time.at[i]) <= 1e-11 * fmax(1, first)))
      return hybrid_differs(c, text, "instants: something happens at %.17g, not at %.17g",
                            w->time.at[i], first);
    if (n != w->much.at[i])
      return hybrid_differs(c, text, "instants: at %.17g so much happens: %u, not %u", first, n,
                            w->much.at[i]);
  }
  return k == r->events_logged.n ||
         hybrid_differs(c, text, "instants: something happens at %.17g, and should not",
                        r->events_logged.at[k].time);
}

static bool states_agree(HybridCase *c, const char *text, const Walk *w, const SimRecord *r) {
  for (uint32_t p = 0; p < w->a->parts; p++)
    for (uint32_t k = 0; k < w->a->part[p].states; k++) {
      const char *name = arena_format(c->arena, "p%u.s%u", p, k);
      const SimChannel *x = NULL;
      for (uint32_t i = 0; i < r->channel.n; i++)
        if (!strcmp(r->channel.at[i].name, name)) x = &r->channel.at[i];
      if (!x || !x->value.n) return hybrid_differs(c, text, "unseen: %s", name);
      if (x->value.at[x->value.n - 1] != w->s[p][k])
        return hybrid_differs(c, text, "instants: %s ends as %g, not %g", name, w->s[p][k],
                              x->value.at[x->value.n - 1]);
    }
  return true;
}

bool hybrid_instants(HybridCase *c) {
  Automata a = random_automata(c->h->seed);
  const char *text = print_automata(c->arena, &a, c->h->seed);
  Walk w = interpreted(c->arena, &a);
  SimOptions how = {.threads = 1, .reference = c->h->seed % 2};
  Followed f;
  Ran r = ran_read(text);
  if (r.w->diags->errors) return hybrid_differs(c, text, "refused: %s", ran_messages(&r));
  bool good = follow_run(r.in, r.p, 0, &how, &f);
  const char *why = ran_messages(&r);
  if (w.clash || w.endless) {
    const char *wanted = w.clash ? "two events set" : "too many events";
    return (!good && strstr(why, wanted)) ||
           hybrid_differs(c, text, "accepted: %s: %s", wanted, why);
  }
  if (!good) return hybrid_differs(c, text, "stopped: %s", why);
  return moments_agree(c, text, &w, &f.record) && states_agree(c, text, &w, &f.record);
}
