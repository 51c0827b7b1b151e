// Finds the values of a run that are piecewise constant: they change at ticks and events only.
//
// This follows from the diagram: a wire changes continuously if it depends on a state with a rate,
// the clock, a delayed or noisy value, or an input that changes. Bits and labels never do, and
// neither do values that only select by them. What the diagram does not tell, such as `floor(time)`
// or an input, is decided by the values: equal bits before and after each change.
#include "run/sim/sim_own.h"
#include "run/sim/simulate.h"

// -- numbers --------------------------------------------------------------------------------------
static bool cell_stays(const SimChannel *c, uint32_t moments, int64_t cell) {
  const double *x = c->value.at + cell;
  bool changed = false, ever = false;
  for (uint32_t i = 1; i < moments; i++) {
    double before = x[(int64_t)(i - 1) * c->cells], now = x[(int64_t)i * c->cells];
    bool changes = !(before == now);
    if (changes && changed) return false;
    changed = changes, ever |= !changes;
  }
  return ever;
}

static bool numbers_stay(const SimRecord *r, const SimChannel *c) {
  if ((int64_t)c->value.n != (int64_t)r->time.n * c->cells) return false;
  for (int64_t k = 0; k < c->cells; k++)
    if (!cell_stays(c, r->time.n, k)) return false;
  return true;
}

// -- wires ----------------------------------------------------------------------------------------
static bool wire_moves(const Diagram *d, const bool *moves, Id wire) {
  return moves[wire] && d->wire.at[wire].type.base == BASE_R;
}

// Propagates to all dependent wires; boxes are in topological order.
static void spread_moves(const Diagram *d, bool *moves) {
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool any = b->op == OP_random;
    for (uint32_t k = 0; k < b->nin; k++) any |= wire_moves(d, moves, b->in[k]);
    for (uint32_t k = 0; any && k < b->nout; k++) moves[b->out[k]] = true;
  }
}

static bool *wires_of(Arena *a, const Diagram *d) { return NEW_ARRAY(a, bool, d->wire.n + 1); }

static bool *system_moves(Arena *a, const SimRecord *r, const Sights *sights, const bool *stays) {
  const System *s = r->system;
  const Diagram *d = s->d;
  bool *moves = wires_of(a, d);
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].rate) moves[d->param.at[s->state.at[i].param].wire] = true;
  for (uint32_t i = 0; i < s->lag.n; i++) moves[d->param.at[s->lag.at[i].param].wire] = true;
  for (uint32_t i = 0; i < s->white.n; i++) moves[d->param.at[s->white.at[i].param].wire] = true;
  for (uint32_t i = 0; i < r->sights; i++)
    if (sights->at[i].kind == SEES_IN && !stays[i]) moves[d->in.at[sights->at[i].at]] = true;
  if (s->time) moves[s->time] = true;
  spread_moves(d, moves);
  return moves;
}

static bool seen_moves(Arena *a, const Seen *seen, const bool *sight_moves) {
  const Diagram *d = seen->diagram;
  bool *moves = wires_of(a, d);
  for (uint32_t i = 0; i < seen->sight.n && i < d->in.n; i++)
    moves[d->in.at[i]] = sight_moves[seen->sight.at[i]];
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK) moves[d->param.at[i].wire] = true;
  spread_moves(d, moves);
  return wire_moves(d, moves, d->out.at[0]);
}

// -- channels -------------------------------------------------------------------------------------
static void find_held(const Results *of, uint32_t run, bool *held) {
  const SimRecord *r = &of->run.at[run].record;
  Arena *a = arena_child(of->arena);
  Sights sights = {0};
  system_sights(of->w, r->system, &sights);
  const bool *wire = system_moves(a, r, &sights, held);
  bool *moves = NEW_ARRAY(a, bool, sights.n + 1);
  for (uint32_t i = 0; i < sights.n; i++)
    moves[i] = wire_moves(r->system->d, wire, sight_wire(r->system, &sights.at[i]));
  for (uint32_t i = 0; i < r->sights; i++) held[i] |= !moves[i];
  uint32_t at = r->sights;
  for (uint32_t i = 0; i < of->p->ran->show.n; i++) {
    const RunShow *show = &of->p->ran->show.at[i];
    for (uint32_t k = 0; show->run == run && k < show->seen.n; k++, at++)
      held[at] |= !seen_moves(a, &show->seen.at[k], moves);
  }
  arena_free(a);
}

const bool *channels_held(const Results *of, uint32_t run) {
  const SimRecord *r = &of->run.at[run].record;
  bool *held = NEW_ARRAY(of->arena, bool, r->channel.n + 1);
  for (uint32_t i = 0; i < r->channel.n; i++) {
    const SimChannel *c = &r->channel.at[i];
    held[i] = c->base != BASE_R || numbers_stay(r, c);
  }
  if (r->flows) find_held(of, run, held);
  return held;
}
