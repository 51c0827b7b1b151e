// Serialisation of a solver at one moment, as a vector of numbers. The same code writes and reads.
//
// Data of a single step (stages, Jacobian, buffers of searches) are not saved. Everything else is,
// so a restored solver continues bit for bit. If the vector is too short, or was written for
// another problem, `wrong` is set, and 0 is read.
#include "run/solve/solve_own.h"

// -- rows -----------------------------------------------------------------------------------------
static double carried(Carry *c, double x) {
  if (!c->put) {
    vec_push(c->arena, &c->row, x);
    return x;
  }
  c->wrong |= c->at >= c->row.n;
  return c->wrong ? 0 : c->row.at[c->at++];
}

void carry_reals(Carry *c, double *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = carried(c, x[i]);
}

void carry_bytes(Carry *c, void *x, uint64_t n) {
  uint8_t *byte = x;
  for (uint64_t i = 0; i < n; i++) byte[i] = carried(c, byte[i]) != 0;
}

// Counts stay below 2^53, so doubles hold them exactly.
static uint64_t count(Carry *c, uint64_t n) {
  double x = carried(c, (double)n);
  if (!(x >= 0 && x < 9007199254740992.0)) c->wrong = true;
  return c->wrong ? 0 : (uint64_t)x;
}

void carry_counts(Carry *c, uint64_t *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = count(c, x[i]);
}

void carry_counts32(Carry *c, uint32_t *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = (uint32_t)count(c, x[i]);
}

uint64_t carry_same(Carry *c, uint64_t n) {
  uint64_t there = count(c, n);
  c->wrong |= there != n;
  return there;
}

void carry_text(Carry *c, const char **text) {
  uint64_t n = *text ? strlen(*text) + 1 : 0;
  carry_counts(c, &n, 1);
  if (c->put) {
    c->wrong |= n > c->row.n - c->at;
    char *to = n && !c->wrong ? NEW_ARRAY(c->arena, char, n) : NULL;
    for (uint64_t i = 0; to && i + 1 < n; i++) to[i] = (char)(unsigned char)count(c, 0);
    if (to) count(c, 0);
    *text = to;
    return;
  }
  for (uint64_t i = 0; i < n; i++) carried(c, (unsigned char)(*text)[i]);
}

// -- the solver -----------------------------------------------------------------------------------
static uint32_t number_of(const SolverStepper *x) {
  uint32_t i = 0;
  while (i < SOLVE_GIVEN && solver_steppers[i] != x) i++;
  return i;
}

// The method may have changed during the run: dormand.c.
static void carry_stepper(Solver *s, Carry *c, const SolverStepper **x) {
  uint32_t number = *x ? number_of(*x) + 1 : 0;
  carry_counts32(c, &number, 1);
  if (!c->put) return;
  c->wrong |= number > SOLVE_GIVEN + 1;
  *x = number && !c->wrong ? solver_steppers[number - 1] : NULL;
  if (*x != &stiff_stepper || s->stiff) return;
  solver_stages(s, stiff_stepper.stages);
  stiff_new(s);
}

static void carry_events(Solver *s, Carry *c) {
  uint32_t m = s->problem.events;
  double *row[] = {s->guard_now, s->event_last, s->event_since, s->guard.noise};
  carry_bytes(c, s->armed, m);
  carry_bytes(c, s->fired, m);
  carry_bytes(c, s->guard.falls, m);
  for (uint32_t i = 0; i < COUNT(row); i++) carry_reals(c, row[i], m);
  carry_counts32(c, s->event_quick, m);
  carry_counts32(c, s->event_count, m);
  carry_bytes(c, &s->guard.noisy, 1);
  for (uint32_t i = 0; i < m; i++) {
    EventPace *p = &s->pace[i];
    carry_reals(c, &p->gap, 1);
    carry_reals(c, &p->first, 1);
    carry_reals(c, &p->since, 1);
    carry_counts32(c, &p->shrinks, 1);
  }
}

static void carry_steps(Solver *s, Carry *c) {
  double step = s->how.step;
  carry_reals(c, &step, 1);
  carry_reals(c, &s->anchor, 1);
  carry_counts(c, &s->ticks, 1);
  if (s->stepper && s->stepper->fixed && step != s->how.step) s->anchor = s->t, s->ticks = 0;
}

void solver_carry(Solver *s, Carry *c) {
  double *real[] = {&s->t,         &s->from,     &s->h,          &s->aim,     &s->error,
                    &s->log_error, &s->odd_time, &s->dense.from, &s->dense.h, &s->known_length};
  bool *flag[] = {&s->known,   &s->fresh, &s->rejected, &s->odd,     &s->happened,
                  &s->stopped, &s->begun, &s->met,      &s->limited, &s->loose};
  uint32_t *number[] = {&s->worst, &s->odd_number, &s->stiff_hits, &s->stiff_misses,
                        &s->first_event};
  uint64_t *counts[] = {&s->steps, &s->rejections, &s->rates};
  carry_same(c, s->n);
  carry_same(c, s->problem.events);
  carry_same(c, s->problem.late);
  carry_same(c, s->how.method);
  if (c->wrong) return;
  for (uint32_t i = 0; i < COUNT(real); i++) carry_reals(c, real[i], 1);
  for (uint32_t i = 0; i < COUNT(flag); i++) carry_bytes(c, flag[i], 1);
  for (uint32_t i = 0; i < COUNT(number); i++) carry_counts32(c, number[i], 1);
  for (uint32_t i = 0; i < COUNT(counts); i++) carry_counts(c, counts[i], 1);
  carry_reals(c, s->x, s->n);
  carry_reals(c, s->rate, s->n);
  carry_reals(c, s->dense.part, 5 * (uint64_t)s->n);
  carry_stepper(s, c, &s->stepper);
  carry_stepper(s, c, &s->instead);
  carry_text(c, &s->note);
  carry_steps(s, c);
  if (s->problem.events) carry_events(s, c);
  if (s->history) late_carry(s, c);
  if (!solver_steppers[s->how.method]->fixed) slide_carry(s, c);
}
