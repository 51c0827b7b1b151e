// Serialisation of a solver at one moment, as a vector of numbers. The same code writes and reads.
//
// Data of a single step (stages, Jacobian, buffers of searches) are not saved. Everything else is,
// so a restored solver continues bit for bit. If the vector is too short, or was written for
// another problem, `wrong` is set, and 0 is read.
#include "run/solve/solve_own.h"

// -- rows -----------------------------------------------------------------------------------------
static double archive_real(Archive *c, double x) {
  if (!c->reading) {
    vec_push(c->arena, &c->row, x);
    return x;
  }
  c->wrong |= c->at >= c->row.n;
  return c->wrong ? 0 : c->row.at[c->at++];
}

void archive_reals(Archive *c, double *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = archive_real(c, x[i]);
}

void archive_bytes(Archive *c, void *x, uint64_t n) {
  uint8_t *byte = x;
  for (uint64_t i = 0; i < n; i++) byte[i] = archive_real(c, byte[i]) != 0;
}

// Counts stay below 2^53, so doubles hold them exactly.
static uint64_t count(Archive *c, uint64_t n) {
  double x = archive_real(c, (double)n);
  if (!(x >= 0 && x < 9007199254740992.0)) c->wrong = true;
  return c->wrong ? 0 : (uint64_t)x;
}

void archive_counts(Archive *c, uint64_t *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = count(c, x[i]);
}

void archive_counts32(Archive *c, uint32_t *x, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) x[i] = (uint32_t)count(c, x[i]);
}

uint64_t archive_same(Archive *c, uint64_t n) {
  uint64_t there = count(c, n);
  c->wrong |= there != n;
  return there;
}

void archive_text(Archive *c, const char **text) {
  uint64_t n = *text ? strlen(*text) + 1 : 0;
  archive_counts(c, &n, 1);
  if (c->reading) {
    c->wrong |= n > c->row.n - c->at;
    char *to = n && !c->wrong ? NEW_ARRAY(c->arena, char, n) : NULL;
    for (uint64_t i = 0; to && i + 1 < n; i++) to[i] = (char)(unsigned char)count(c, 0);
    if (to) count(c, 0);
    *text = to;
    return;
  }
  for (uint64_t i = 0; i < n; i++) archive_real(c, (unsigned char)(*text)[i]);
}

// -- the solver -----------------------------------------------------------------------------------
static uint32_t stepper_number(const SolverStepper *x) {
  uint32_t i = 0;
  while (i < SOLVE_GIVEN && solver_steppers[i] != x) i++;
  return i;
}

// The method may have changed during the run: dormand.c.
static void archive_stepper(Solver *s, Archive *c, const SolverStepper **x) {
  uint32_t number = *x ? stepper_number(*x) + 1 : 0;
  archive_counts32(c, &number, 1);
  if (!c->reading) return;
  c->wrong |= number > SOLVE_GIVEN + 1;
  *x = number && !c->wrong ? solver_steppers[number - 1] : NULL;
  if (*x != &stiff_stepper || s->stiff) return;
  solver_stages(s, stiff_stepper.stages);
  stiff_new(s);
}

static void archive_events(Solver *s, Archive *c) {
  uint32_t m = s->problem.events;
  double *row[] = {s->guard_now, s->event_last, s->event_since, s->guard.noise, s->guard.barely};
  archive_bytes(c, s->armed, m);
  archive_bytes(c, s->fired, m);
  archive_bytes(c, s->guard.falls, m);
  for (uint32_t i = 0; i < COUNT(row); i++) archive_reals(c, row[i], m);
  archive_counts32(c, s->event_quick, m);
  archive_counts32(c, s->event_count, m);
  archive_bytes(c, &s->guard.noisy, 1);
  archive_bytes(c, &s->guard.uncertain, 1);
  for (uint32_t i = 0; i < m; i++) {
    EventPace *p = &s->pace[i];
    archive_reals(c, &p->gap, 1);
    archive_reals(c, &p->first, 1);
    archive_reals(c, &p->since, 1);
    archive_counts32(c, &p->shrinks, 1);
  }
}

static void archive_steps(Solver *s, Archive *c) {
  double step = s->how.step;
  archive_reals(c, &step, 1);
  archive_reals(c, &s->anchor, 1);
  archive_counts(c, &s->ticks, 1);
  if (s->stepper && s->stepper->fixed && step != s->how.step) s->anchor = s->t, s->ticks = 0;
}

void solver_archive(Solver *s, Archive *c) {
  double *real[] = {&s->t,         &s->from,     &s->h,          &s->next_event, &s->error,
                    &s->log_error, &s->odd_time, &s->dense.from, &s->dense.h,    &s->known_length};
  bool *flag[] = {&s->known,   &s->restarted, &s->rejected,    &s->nonfinite, &s->happened,
                  &s->stopped, &s->begun,     &s->events_done, &s->limited,   &s->released};
  uint32_t *number[] = {&s->worst, &s->odd_number, &s->stiff_hits, &s->stiff_misses,
                        &s->first_event};
  uint64_t *counts[] = {&s->steps, &s->rejections, &s->rates};
  archive_same(c, s->n);
  archive_same(c, s->problem.events);
  archive_same(c, s->problem.delayed);
  archive_same(c, s->how.method);
  if (c->wrong) return;
  for (uint32_t i = 0; i < COUNT(real); i++) archive_reals(c, real[i], 1);
  for (uint32_t i = 0; i < COUNT(flag); i++) archive_bytes(c, flag[i], 1);
  for (uint32_t i = 0; i < COUNT(number); i++) archive_counts32(c, number[i], 1);
  for (uint32_t i = 0; i < COUNT(counts); i++) archive_counts(c, counts[i], 1);
  archive_reals(c, s->x, s->n);
  archive_reals(c, s->rate, s->n);
  archive_reals(c, s->dense.part, 5 * (uint64_t)s->n);
  archive_stepper(s, c, &s->stepper);
  archive_stepper(s, c, &s->next_stepper);
  archive_text(c, &s->note);
  archive_steps(s, c);
  if (s->problem.events) archive_events(s, c);
  if (s->history) delays_archive(s, c);
  if (!solver_steppers[s->how.method]->fixed) slide_archive(s, c);
}
