// Finds the expression at which a rate jumps: the first wire on the way to the rates whose values
// differ on both sides of the jump, although the states are equal up to rounding.
#include "core/pass/pass.h"
#include "run/sim/rates_own.h"

#include <math.h>

typedef struct {
  const Diagram *d;
  Engine *e;
  double **at[2]; // [output] on both sides
} SlideTrace;

static Diagram *rates_diagram(const Flow *f) {
  Ids rate = flow_rate_wires(f);
  return diagram_inline(f->m->w, pick_wires(f->m->w, f->m->s, rate.at, rate.n));
}

// Makes every wire an output.
static Diagram *with_all_wires(Arena *a, const Diagram *from) {
  Diagram *d = arena_copy(a, from, sizeof *from);
  d->out = (Ids){0};
  for (Id i = 1; i < d->wire.n; i++)
    if (d->wire.at[i].box) vec_push(a, &d->out, i);
  return d;
}

static bool evaluate_side(Flow *f, SlideTrace *t, const SolverSlide *slide, int side,
                          const double *delayed) {
  bool finite;
  flow_set_point(f, slide->t, slide->side[side], delayed);
  if (!sim_run_trial(f->m, t->e, 0, &finite)) return false;
  t->at[side] = NEW_ARRAY(f->m->arena, double *, t->d->out.n + 1);
  for (uint32_t i = 0; i < t->d->out.n; i++) {
    int64_t cells = sim_cells(f->m, &t->d->wire.at[t->d->out.at[i]].type);
    t->at[side][i] = NEW_ARRAY(f->m->arena, double, cells + 1);
    engine_get(t->e, i, t->at[side][i], cells);
  }
  return true;
}

static bool differs(const double *a, const double *b, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (fabs(a[k] - b[k]) > 1e-3 * fmax(fabs(a[k]), fabs(b[k]))) return true;
  return false;
}

static Span first_jump(const Flow *f, const SlideTrace *t) {
  const Diagram *d = t->d;
  Id first = 0;
  for (uint32_t i = 0; i < d->out.n; i++) {
    const Wire *x = &d->wire.at[d->out.at[i]];
    if ((first && x->box > first) || !differs(t->at[0][i], t->at[1][i], sim_cells(f->m, &x->type)))
      continue;
    first = x->box;
  }
  return first ? origin_span(f->m->w, d->box.at[first].origin) : (Span){0};
}

Span flow_slide_span(Flow *f, const SolverSlide *slide, const double *delayed) {
  SimOptions how = *f->m->how;
  Sim m = *f->m;
  how.reference = true; // two runs only
  m.how = &how;
  SlideTrace t = {.d = with_all_wires(m.arena, rates_diagram(f))};
  t.e = sim_engine(&m, t.d);
  if (!t.e) return (Span){0};
  for (uint32_t i = 0; i < m.s->in.n; i++) engine_set(t.e, i, m.input[i], sim_in_cells(&m, i));
  bool good = evaluate_side(f, &t, slide, 0, delayed) && evaluate_side(f, &t, slide, 1, delayed);
  engine_free(t.e);
  return good ? first_jump(f, &t) : (Span){0};
}
