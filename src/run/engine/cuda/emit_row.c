// A long row that the nests of a kernel walk over more than once: what the first has read stays in memory that the block shares, and
// the others take it from there. Each lane has the same lots in all of them, so nobody waits for anybody. Without this, a wide softmax
// would read half of its rows twice from far away: a device's caches hold some of them only.
#include "run/engine/cuda/emit_cuda_own.h"

// Lots of a row without gaps, each of which is read once, by the lane whose number it has modulo all lanes.
static bool may_stay(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  bool sums = t->kept < t->s->ndim, dealt = sums ? t->turns == t->lanes : t->width == t->lanes;
  return t->ahead && !t->trips && !t->columns && !t->sliced && !t->across && t->s->ndim == 1 &&
         dealt && ahead_has(t, w, k) && operand_free(t->e->p, &w->x->in[k]);
}

static bool is_changed(const Plan *p, const Kernel *k, uint32_t wire) {
  for (uint32_t i = 0; i < k->node.n; i++)
    if (wire_root(p, p->node.at[k->node.at[i]].out.wire) == wire_root(p, wire)) return true;
  return false;
}

static bool reads_row(const TeamRow *row, const TeamNest *t, const NodeLevels *w, uint32_t k) {
  return t->number > row->nest && t->lot == row->lot && may_stay(t, w, k) &&
         lot_same_cells(t->e->p, row->from->x, &row->from->x->in[row->k], w->x, &w->x->in[k],
                        t->e->k->np + 1);
}

static bool nest_reads(const TeamRow *row, const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (reads_row(row, t, &t->w[i], k)) return true;
  return false;
}

// Does a nest behind it take the row, other than one that is made by the same walk?
static bool is_wanted(const TeamRow *row, const TeamNest *all, uint32_t nests) {
  uint32_t walked = team_walks(all, row->nest) ? row->nest + 2 : PLAN_NONE;
  for (uint32_t i = row->nest + 1; i < nests; i++)
    if (i != walked && nest_reads(row, &all[i])) return true;
  return false;
}

const TeamRow *near_row_find(const TeamNest *all, const Kernel *k) {
  const Plan *p = all->e->p;
  TeamRow *row = NEW(p->arena, TeamRow);
  for (uint32_t n = 0; n < k->nest.n; n++)
    for (uint32_t i = 0; i < all[n].s->node.n; i++)
      for (uint32_t j = 0; j < all[n].w[i].x->nin; j++) {
        uint32_t wire = all[n].w[i].x->in[j].wire;
        *row = (TeamRow){.from = &all[n].w[i],
                         .nest = n,
                         .k = j,
                         .lot = all[n].lot,
                         .bytes = extent_most(p, all[n].s->dim[0]) *
                                  (int64_t)number_bytes(p->wire.at[wire].number)};
        if (may_stay(&all[n], &all[n].w[i], j) && !is_changed(p, k, wire) &&
            is_wanted(row, all, k->nest.n))
          return row;
      }
  return NULL;
}

bool near_row_has(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  const TeamRow *row = t->e->row;
  return row && reads_row(row, t, w, k);
}

// Behind all loads of several turns.
void near_row_put(const TeamNest *t, const char *last, uint32_t step) {
  const TeamRow *row = t->e->row;
  if (!row || !t->all || row->nest != t->number) return;
  uint32_t words = lot_words(t, &row->from->x->in[row->k]);
  ahead_open_row(t, "first", last, step);
  emit_line(t->e, "LIMN_LAY_%u(&near_row[m * %u], ahead%u_%u[nth])", words, words, row->from->id,
            row->k);
  emit_close(t->e);
}
