// A nest as the lanes of a team share it. Its cells, which are the loops that nothing sums over, are dealt out to the lanes. What is
// summed is a chain of its own for each cell where there are cells enough; else several lanes take turns at one cell, and
// what they have is put together in a fixed order, so that the same numbers give the same sums on every device.
#include "run/engine/cuda/emit_cuda_own.h"

enum { FEW_TRIPS = 8 }; // that are spelled out
enum { DEAR_TERM = 4 }; // more operations than it takes to join what two lanes have

// -- lengths --------------------------------------------------------------------------------------
const char *cuda_length(Emit *e, const Extent *dim, uint32_t from, uint32_t to) {
  Buf b = buf_new(e->p->arena);
  int64_t known = 1;
  for (uint32_t d = from; d < to; d++)
    if (dim[d].per)
      buf_printf(&b, "%s * ", emit_extent(e, dim[d]));
    else
      known *= dim[d].c;
  buf_printf(&b, "%lldL", (long long)known);
  return b.at;
}

int64_t cuda_length_most(const Plan *p, const Extent *dim, uint32_t from, uint32_t to) {
  int64_t n = 1;
  for (uint32_t d = from; d < to; d++) n *= extent_most(p, dim[d]);
  return n;
}

// The loops [from, to) of a number that counts all their points, the last one fastest. Numbers of 32
// bits are divided in a few instructions, those of 64 in a hundred.
void cuda_digits(Emit *e, const char *of, uint32_t first, const Extent *dim, uint32_t from,
                 uint32_t to) {
  if (from == to) return;
  const char *number = cuda_length_most(e->p, dim, from, to) <= INT32_MAX ? "unsigned" : "long";
  emit_line(e, "%s r%u = (%s)(%s);", number, first + from, number, of);
  for (uint32_t d = to; d-- > from;) {
    if (d == from) {
      emit_line(e, "const long i%u = r%u;", first + d, first + from);
      continue;
    }
    const char *n = emit_extent(e, dim[d]);
    emit_line(e, "const long i%u = r%u %% (%s)(%s); r%u /= (%s)(%s);", first + d, first + from,
              number, n, first + from, number, n);
  }
}

// -- nests ----------------------------------------------------------------------------------------
void cuda_same(Emit *e, const NodeLevels *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].uniform[k]) emit_scalar(e, &w[i], k);
}

bool team_keeps_sum(const TeamNest *t, const NodeLevels *w) {
  return w->sum_loop != PLAN_NONE && w->sum_loop <= t->s->ndim;
}

// What another lane has joins what this one has. A best of equal ones is the first in the order of the
// loops.
void cuda_join(Emit *e, const NodeLevels *w, const char *way) {
  const PlanNode *x = w->x;
  const char *type = emit_sum_type(e, x);
  bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT;
  uint32_t s = w->id;
  emit_line(e, "const %s v = %s_%s(s%u, other);", type, way, type, s);
  if (x->nwinner && !node_wants_winner(x))
    emit_line(e, "bad%u |= %s_int(bad%u, other);", s, way, s);
  if (!node_wants_winner(x)) {
    if (x->combine >= MAX && !bit)
      emit_line(e, "s%u = v %s s%u ? v : s%u;", s, x->combine == MAX ? ">" : "<", s, s);
    else
      emit_line(e, "s%u = s%u %s v;", s, s, emit_combine_text[bit][x->combine]);
    return;
  }
  emit_line(e, "const long a = %s_long(at%u, other);", way, s);
  emit_line(e, "const int b = (v %s s%u) | ((v != v) & (s%u == s%u)) |",
            x->combine == MAX ? ">" : "<", s, s, s);
  emit_line(e, "              ((a < at%u) & ((v == s%u) | ((v != v) & (s%u != s%u))));", s, s, s,
            s);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE)
      emit_line(e, "{ const int n = %s_int(n%u_%u, other); n%u_%u = b ? n : n%u_%u; }", way, s, k,
                s, k, s, k);
  emit_line(e, "s%u = b ? v : s%u; at%u = b ? a : at%u;", s, s, s, s);
}

// Another lane's part joins this one's, over and over: each time the other is twice as far.
static void emit_joins_over(const TeamNest *t, const NodeLevels *w, uint32_t from, uint32_t to,
                            const char *way) {
  Emit *e = t->e;
  if (from >= to) return;
  emit_line(e, "for (int far = %u; far < %u; far *= 2) {", from, to);
  e->indent++;
  // a team may be a part of a warp
  const char *lane = strcmp(way, "near") == 0 ? "(int)threadIdx.x" : "LANE";
  if (t->across)
    emit_line(e, "const int other = %s ^ far * %u;", lane, t->width);
  else
    emit_line(e, "const int other = %s ^ far;", lane);
  cuda_join(e, w, way);
  emit_close(e);
}

// What the lanes of a warp have is the same; now each takes what another warp of its cell has, so that all that is
// left to join is inside the warp.
static void emit_exchange(const TeamNest *t, const NodeLevels *w, uint32_t warps) {
  Emit *e = t->e;
  const PlanNode *x = w->x;
  uint32_t s = w->id;
  emit_open(e);
  emit_line(e, "const int other = LANE / %u * %u + LANE %% %u * %u;", t->turns, t->turns, warps,
            WARP);
  emit_line(e, "s%u = far_%s(s%u, other);", s, emit_sum_type(e, x), s);
  if (x->nwinner && !node_wants_winner(x)) emit_line(e, "bad%u = far_int(bad%u, other);", s, s);
  if (node_wants_winner(x)) emit_line(e, "at%u = far_long(at%u, other);", s, s);
  for (uint32_t k = 0; node_wants_winner(x) && k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "n%u_%u = far_int(n%u_%u, other);", s, k, s, k);
  emit_close(e);
}

// All lanes show what they have, and each goes through those that took turns at its cell, in order.
static void emit_joins_in_order(const TeamNest *t, const NodeLevels *w, uint32_t near) {
  Emit *e = t->e;
  const char *type = emit_sum_type(e, w->x);
  uint32_t first = near * t->width;
  emit_open(e);
  emit_line(e, "const %s *all = shown_%s(s%u);", type, type, w->id);
  emit_line(e, "s%u = all[LANE %% %u];", w->id, first);
  emit_line(e, "for (int far = %u; far < %u; far += %u) {", first, t->turns * t->width, first);
  e->indent++;
  emit_line(e, "const int other = LANE %% %u + far;", first);
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close(e);
}

// All lanes that took turns at a cell exchange what they have, so that in the end all have the same:
// inside a warp at once, beyond it through memory.
static void emit_joins(const TeamNest *t, const NodeLevels *w) {
  uint32_t near = t->across ? WARP / t->width : WARP, warps = t->turns / WARP;
  if (near < 1) near = 1;
  if (near > t->turns) near = t->turns;
  emit_joins_over(t, w, 1, near, "near");
  if (t->across && near < t->turns && !w->x->nwinner) {
    emit_joins_in_order(t, w, near);
  } else if (!t->across && warps > 1) {
    emit_exchange(t, w, warps);
    emit_joins_over(t, w, 1, warps, "near");
  } else {
    emit_joins_over(t, w, near, t->turns, "far");
  }
}

static void open_sums(const TeamNest *t, uint32_t level) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (!team_keeps_sum(t, w) || w->sum_loop != level) continue;
    emit_open_sum(t->e, w);
    if (node_wants_winner(w->x)) emit_line(t->e, "long at%u = 0;", w->id);
  }
}

static void close_sums(const TeamNest *t, uint32_t level) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (!team_keeps_sum(t, w) || w->sum_loop != level) continue;
    emit_joins(t, w);
    emit_line(e, "if (ok & (turn == 0)) {");
    e->indent++;
    emit_close_sum(e, w);
    emit_close(e);
  }
}

void team_levels(const TeamNest *t, uint32_t from, uint32_t to) {
  for (uint32_t d = from; d <= to; d++) emit_level(t->e, t->w, t->s->node.n, d, t->s->ndim);
}

// -- sums side by side ----------------------------------------------------------------------------
// Nothing is stored on the way: several turns' loads may be under way at once.
static bool only_sums(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!team_keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]))
      return false;
  return true;
}

// Sums of which four lie side by side in memory, as what they are made of does.
static bool choose_columns(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!t->across || !t->kept || t->kept != t->summed || !lot_divides(s->dim[t->kept - 1], t->lot) ||
      !only_sums(t))
    return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (w->x->nwinner || w->x->scatter || w->x->noise ||
        (team_keeps_sum(t, w) && w->sum_loop != t->kept) || w->sum_loop == s->ndim + 1)
      return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= lot_loads(t, w, k, t->kept - 1);
  }
  return any;
}

static void mark_columns(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    t->w[i].vector_store = false;
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].packed[k] = lot_loads(t, &t->w[i], k, t->kept - 1);
  }
}

static void take_columns(TeamNest *t) {
  uint32_t lot = t->lot;
  t->lot = FOUR;
  t->columns = choose_columns(t);
  if (!t->columns) {
    t->lot = lot;
    return;
  }
  t->vectorised = false;
  mark_columns(t);
  t->lot = lot_choose(t, t->kept - 1);
  mark_columns(t);
}

static void open_column(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", loop, loop);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]))
      emit_line(e, "%s s%u = sums%u[u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->w[i].id);
}

// What is known of a cell, and all behind it, stands here for each of a lot.
static void emit_columns(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  e->vectorised = true;
  emit_line(e, "const long i%u = four%u;", loop, loop);
  lots_load(t);
  open_column(t);
  team_levels(t, t->kept, t->s->ndim);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]))
      emit_line(e, t->even ? "sums%u[u] = s%u;" : "sums%u[u] = there ? s%u : sums%u[u];",
                t->w[i].id, t->w[i].id, t->w[i].id);
  emit_close(e);
  e->vectorised = false;
}

// -- turns ----------------------------------------------------------------------------------------
// A short row's turns, in rounds that are spelled out.
static void open_rounds(const TeamNest *t) {
  emit_line(t->e, "UNROLL for (int round = 0; round < %u; round++) {",
            (t->trips + t->ahead - 1) / t->ahead);
  t->e->indent++;
  emit_line(t->e, "const long first = LANE + round * %u;", t->ahead * t->lanes);
}

void team_open_turns(const TeamNest *t, const char *name, uint32_t step) {
  if (t->sliced)
    emit_line(
        t->e,
        "for (long %s = LIMN_SLICE(slice, turns) + turn, last = LIMN_SLICE(slice + 1, turns); "
        "%s < last; %s += %u) {",
        name, name, name, step);
  else
    emit_line(t->e, "for (long %s = turn, last = turns; %s < last; %s += %u) {", name, name, name,
              step);
  t->e->indent++;
}

// All loads of several turns at the loops from `from` on. Beyond the last turn, the first is read once more.
void team_loads_ahead(const TeamNest *t, uint32_t from, const char *last, uint32_t step) {
  Emit *e = t->e;
  uint32_t along = t->columns ? t->kept - 1 : t->s->ndim - 1, loop = e->k->np + along;
  ahead_arrays(t, along);
  ahead_open_row(t, "first", last, step);
  cuda_digits(e, "m", e->k->np, team_loops(t), from, t->s->ndim);
  if (!t->columns) emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  ahead_loads(t, along);
  emit_close(e);
  emit_close(e);
  ahead_held(t, along);
  ahead_mark(t, along);
}

// Several turns together.
static void emit_turns_ahead(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  const char *last = t->trips ? "turns" : "last";
  emit_line(e, "const long turns = ok ? %s : 0;", cuda_length(e, dim, t->summed, t->s->ndim));
  if (t->trips)
    open_rounds(t);
  else
    team_open_turns(t, "first", t->ahead * t->turns);
  team_loads_ahead(t, t->summed, last, t->turns);
  ahead_open_row(t, "first", last, t->turns);
  cuda_digits(e, "m", e->k->np, dim, t->summed, t->s->ndim);
  if (t->columns) {
    emit_columns(t);
  } else {
    ahead_open_doubt(t);
    team_levels(t, t->summed + 1, t->s->ndim - 1);
    team_last_level(t);
    ahead_close_doubt(t);
  }
  emit_close(e);
  emit_close(e);
}

// A lane's turns, of which there are few, spelled out: all their loads may be under way together.
static void open_few_turns(const TeamNest *t, int64_t trips) {
  emit_line(t->e, "UNROLL for (int trip = 0; trip < %lld; trip++) {", (long long)trips);
  t->e->indent++;
  emit_line(t->e, "const long m = turn + trip * %u;", t->turns);
  emit_line(t->e, "if (m >= turns) continue;");
}

// The loops of which each lane has its share. Where all is at hand, a lane without a cell adds up what another one does, for
// nobody, instead of asking at each turn whether it has one.
static void emit_turns(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  const Extent *dim = team_loops(t);
  int64_t trips = (cuda_length_most(e->p, dim, t->summed, s->ndim) + t->turns - 1) / t->turns;
  emit_line(e, "const long turns = %s%s%s;", e->all_shared && only_sums(t) ? "" : "ok ? ",
            cuda_length(e, dim, t->summed, s->ndim), e->all_shared && only_sums(t) ? "" : " : 0");
  if (e->all_shared && trips <= FEW_TRIPS) {
    open_few_turns(t, trips);
  } else {
    if (only_sums(t)) emit_line(e, "UNROLL_SOME");
    team_open_turns(t, "m", t->turns);
  }
  emit_line(e, "const long at = %s;",
            t->kept < t->summed ? arena_format(e->p->arena, "before * %s + m",
                                               cuda_length(e, dim, t->summed, s->ndim))
                                : "m");
  emit_line(e, "(void)at;");
  cuda_digits(e, "m", e->k->np, dim, t->summed, s->ndim);
  team_levels(t, t->summed + 1, s->ndim - 1);
  team_last_level(t);
  emit_close(e);
}

// In a step that is one block's, the text is run again and again: what needs no loop has none.
static bool once(const TeamNest *t, const Extent *dim, uint32_t ndim, uint32_t lanes) {
  return t->e->wire_address && cuda_length_most(t->e->p, dim, 0, ndim) <= lanes;
}

// Lanes that took turns at a cell and are near each other: they exchange what they have at once.
static uint32_t near_turns(const TeamNest *t) {
  uint32_t near = !t->across ? WARP : t->width < WARP ? WARP / t->width : 1;
  return near < t->turns ? near : t->turns;
}

static bool all_are_real(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && strcmp(emit_sum_type(t->e, t->w[i].x), "real") != 0)
      return false;
  return true;
}

// What the warps have of columns: all of them are shown at once, and each lane goes through those of a column, in order.
static void emit_column_joins(const TeamNest *t, const NodeLevels *w) {
  Emit *e = t->e;
  uint32_t near = near_turns(t), columns = t->lot * t->width, loop = e->k->np + t->kept - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "real s%u = sums%u[u];", w->id, w->id);
  emit_joins_over(t, w, 1, near, "near");
  emit_line(e, "sums%u[u] = s%u;", w->id, w->id);
  emit_close(e);
  emit_line(e, "TEAM_SYNC();"); // some may still look at what was shown before
  emit_line(e, "if (ok & (LANE %% %u < %u))", near * t->width, t->width);
  emit_line(e, "  UNROLL for (int u = 0; u < %u; u++)", t->lot);
  emit_line(e, "    all[(LANE / %u * %u + u) * %u + LANE %% %u] = sums%u[u];", near * t->width,
            t->lot, t->width, t->width, w->id);
  emit_line(e, "TEAM_SYNC();");
  emit_line(e, "for (int column = LANE; ok & (column < %u); column += %u) {", columns,
            t->turns * t->width);
  e->indent++;
  emit_line(e, "const long i%u = four%u + column / %u;", loop, loop, t->width);
  emit_line(e, "real s%u = all[column];", w->id);
  emit_line(e, "UNROLL_SOME");
  emit_line(e, "for (int other = column + %u; other < %u; other += %u) {", columns,
            t->turns / near * columns, columns);
  e->indent++;
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close_sum(e, w);
  emit_close(e);
}

static void emit_joined_columns(const TeamNest *t) {
  uint32_t near = near_turns(t);
  bool alone = t->e->k->nest.n == 1; // shared memory has room for one nest's
  if (near == t->turns || !alone || !all_are_real(t)) {
    open_column(t);
    close_sums(t, t->kept);
    emit_close(t->e);
    return;
  }
  emit_line(t->e, "SHARED(real, all, %u);", t->turns / near * t->lot * t->width);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i])) emit_column_joins(t, &t->w[i]);
}

static void emit_column_sums(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  for (uint32_t d = 0; d < t->kept; d++) team_levels(t, d, d);
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    if (!team_keeps_sum(t, &t->w[i])) continue;
    emit_line(e, "%s sums%u[%u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->lot);
    emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sums%u[u] = %s;", t->lot, t->w[i].id,
              emit_identity(e, t->w[i].x));
  }
  emit_turns_ahead(t);
  emit_joined_columns(t);
}

static void emit_sum_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  uint32_t np = e->k->np;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->kept));
  emit_line(e, "const int turn = %s %s %u;", "LANE", t->across ? "/" : "%",
            t->across ? t->width : t->turns);
  if (once(t, dim, t->kept, t->width))
    emit_line(e, "{ const long base = 0;");
  else
    emit_line(e, "for (long base = 0; base < cells; base += %u) {", t->width);
  e->indent++;
  emit_line(e, "const long cell = base + LANE %s %u;", t->across ? "%" : "/",
            t->across ? t->width : t->turns);
  emit_line(e, "const int ok = (cell < cells) & (turn < %u);", t->turns);
  cuda_digits(e, "ok ? cell : 0", np, dim, 0, t->kept);
  if (t->columns) {
    emit_column_sums(t);
    emit_close(e);
    return;
  }
  team_levels(t, 0, t->kept);
  open_sums(t, t->kept);
  if (t->kept < t->summed) emit_line(e, "long before = 0;");
  for (uint32_t d = t->kept; d < t->summed; d++) {
    emit_open_loop(e, 'i', np + d, emit_extent(e, s->dim[d]));
    team_levels(t, d + 1, d + 1);
    open_sums(t, d + 1);
  }
  if (t->ahead)
    emit_turns_ahead(t);
  else
    emit_turns(t);
  for (uint32_t d = t->summed; d > t->kept; d--) {
    close_sums(t, d);
    if (d == t->summed) emit_line(e, "before++;");
    emit_close(e);
  }
  if (t->holds) team_emit(t->all, t->number + 1);
  close_sums(t, t->kept);
  emit_close(e);
}

// -- nests without sums ---------------------------------------------------------------------------
static void emit_plain_ahead(const TeamNest *t) {
  Emit *e = t->e;
  team_levels(t, 0, 0);
  if (t->trips) {
    open_rounds(t);
  } else {
    emit_line(e, "for (long first = LANE; first < cells; first += %u * TEAM) {", t->ahead);
    e->indent++;
  }
  team_loads_ahead(t, 0, "cells", t->width);
  ahead_open_row(t, "first", "cells", t->width);
  cuda_digits(e, "m", e->k->np, team_loops(t), 0, t->s->ndim);
  for (uint32_t d = 1; d < t->s->ndim; d++) team_levels(t, d, d);
  team_last_level(t);
  emit_close(e);
  emit_close(e);
}

static void emit_plain_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->s->ndim));
  if (t->ahead) {
    emit_plain_ahead(t);
    return;
  }
  if (once(t, dim, t->s->ndim, t->width)) {
    emit_line(e, "const long cell = LANE;");
    emit_line(e, "if (cell < cells) {");
  } else {
    emit_line(e, "for (long cell = LANE; cell < cells; cell += TEAM) {");
  }
  e->indent++;
  cuda_digits(e, "cell", e->k->np, dim, 0, t->s->ndim);
  for (uint32_t d = 0; d < t->s->ndim; d++) team_levels(t, d, d);
  team_last_level(t);
  emit_close(e);
}

// -- how a team shares a nest ---------------------------------------------------------------------
uint32_t cuda_power_up(int64_t n, uint32_t most) {
  uint32_t x = 1;
  while (x < most && x < n) x *= 2;
  return x;
}

// Are more of the operands read along the last cell's loop than along the last summed one?
static bool is_across(const TeamNest *t) {
  const Plan *p = t->e->p;
  int along = 0;
  if (!t->kept) return false;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const PlanNode *x = t->w[i].x;
    uint32_t of_dim[64];
    node_dims(t->e->k, x, of_dim);
    for (uint32_t k = 0; k < x->nin; k++) {
      along += operand_step(p, &x->in[k], of_dim[t->kept - 1]) == 1;
      along -= operand_step(p, &x->in[k], of_dim[t->s->ndim - 1]) == 1;
    }
  }
  return along > 0;
}

static bool stores_lots_only(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!team_keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]) &&
        !t->w[i].vector_store)
      return false;
  return true;
}

// How many of so many turns are taken together: as few rounds as registers allow.
static uint32_t turns_ahead(const TeamNest *t, int64_t turns) {
  uint32_t words = ahead_words(t), most = words ? AHEAD_WORDS / words : 0;
  if (most > AHEAD_TURNS) most = AHEAD_TURNS;
  if (!words && turns <= AHEAD_TURNS) most = AHEAD_TURNS;
  if (most < 2) return 0;
  int64_t rounds = (turns + most - 1) / most;
  return (uint32_t)((turns + rounds - 1) / rounds);
}

// Turns at loops that are the same for all samples, by so many lanes.
static void take_ahead(TeamNest *t, uint32_t from, uint32_t lanes) {
  const Extent *dim = team_loops(t);
  if (!t->vectorised || t->e->wire_address || !stores_lots_only(t)) return;
  for (uint32_t d = from; d < t->s->ndim; d++)
    if (dim[d].per || dim[d].part) return;
  int64_t all = cuda_length_most(t->e->p, dim, from, t->s->ndim), turns = (all + lanes - 1) / lanes;
  t->ahead = turns_ahead(t, turns);
  t->even = t->ahead && all % ((int64_t)t->ahead * lanes) == 0;
  if (!t->ahead || t->s->ndim != 1 || turns > AHEAD_TURNS || all < lanes || lanes != t->lanes)
    return;
  t->trips = (uint32_t)turns;
  t->lots = all;
}

// In a step that is one block's, a lane that has a cell or two is done sooner than one that has a lot.
static bool wants_lots(const TeamNest *t) {
  const Nest *s = t->s;
  return !t->e->wire_address || t->kept < s->ndim ||
         cuda_length_most(t->e->p, s->dim, 0, s->ndim) > 2 * t->lanes;
}

// Does a term of the nest's sums take so long that each had better be another lane's? So does one that is stored, since loads
// may not pass stores.
static bool is_dear(const TeamNest *t) {
  uint32_t work = only_sums(t) ? 0 : DEAR_TERM + 1;
  for (uint32_t i = 0; i < t->s->node.n; i++) work += emit_flops(t->w[i].x, t->w[i].uniform);
  return work > DEAR_TERM;
}

// Lanes for so many turns, where all is at hand: one lane has several if it is done with them sooner than lanes have joined what
// they have, which takes longest beyond a warp.
static int64_t turns_at_hand(const TeamNest *t, int64_t turns) {
  bool dear = is_dear(t);
  int64_t lanes = t->vectorised || dear ? turns : (turns + FOUR - 1) / FOUR;
  return lanes > WARP && turns <= WARP * (dear ? FEW_TRIPS : FOUR * FEW_TRIPS) ? WARP : lanes;
}

TeamNest team_nest(Emit *e, uint32_t nest, uint32_t team) {
  const Nest *s = &e->k->nest.at[nest];
  TeamNest t = {.e = e,
                .s = s,
                .w = nest_levels(e->p, e->k, nest),
                .kept = s->ndim,
                .turns = 1,
                .lot = FOUR,
                .lanes = team};
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t.w[i];
    w->vector_store = false;
    for (uint32_t k = 0; k < w->x->nin; k++) w->packed[k] = false;
    if (!team_keeps_sum(&t, w)) continue;
    if (w->sum_loop < t.kept) t.kept = w->sum_loop;
    if (w->sum_loop > t.summed) t.summed = w->sum_loop;
  }
  if (t.summed < t.kept) t.summed = t.kept;
  t.vectorised = wants_lots(&t) && lots_choose(&t);
  if (t.vectorised && lot_choose(&t, s->ndim - 1) == EIGHT) t.lot = EIGHT, lots_choose(&t);
  if (team == 1 || t.kept == s->ndim) {
    t.width = team;
    if (team > 1) take_ahead(&t, 0, team);
    return t;
  }
  t.across = !e->all_shared && is_across(&t); // at hand, it does not matter what lies along memory
  take_columns(&t);
  const Extent *dim = team_loops(&t);
  int64_t cells = cuda_length_most(e->p, dim, 0, t.kept),
          turns = cuda_length_most(e->p, dim, t.summed, s->ndim);
  uint32_t wide = cuda_power_up(cells, team), share = team / wide;
  if (!t.across && share < WARP && !e->all_shared) share = WARP < team ? WARP : team;
  if (e->all_shared) turns = turns_at_hand(&t, turns);
  t.turns = cuda_power_up(turns, share);
  t.width = t.across ? wide : team / t.turns;
  if (t.columns)
    t.ahead = ROWS;
  else if (t.kept == t.summed)
    take_ahead(&t, t.summed, t.turns);
  return t;
}

static bool has_sum(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i])) return true;
  return false;
}

TeamNest *team_nests(Emit *e, const CudaKernel *c) {
  TeamNest *all = NEW_ARRAY(e->p->arena, TeamNest, e->k->nest.n + 1);
  for (uint32_t i = 0; i < e->k->nest.n; i++) {
    all[i] = team_nest(e, i, c->team);
    all[i].all = all;
    all[i].number = i;
    all[i].sliced = c->slices > 0;
    all[i].bucketed = c->buckets > 0;
    if (all[i].sliced) all[i].even = false, all[i].trips = 0;
  }
  return all;
}

// Its lanes have one cell at most, and store what they have when all is added.
bool team_may_hold(const TeamNest *t) {
  return t->e->all_shared && has_sum(t) && !t->w->x->scatter && !t->columns &&
         t->kept == t->summed && t->turns <= WARP && only_sums(t) &&
         once(t, team_loops(t), t->kept, t->width);
}

void team_emit(const TeamNest *all, uint32_t nest) {
  TeamNest t = all[nest];
  Emit *e = t.e;
  if (t.sliced) t.even = false;
  // others need not make what is the same for all cells, which may be long
  bool few = e->wire_address && !t.w->x->scatter && !has_sum(&t) &&
             cuda_length_most(e->p, team_loops(&t), 0, t.s->ndim) <= WARP;
  lot_hands(&t);
  if (few && t.lanes > WARP) emit_line(e, "if (LANE < %d)", WARP);
  emit_open(e);
  cuda_same(e, t.w, t.s->node.n);
  if (t.w->x->scatter)
    scatter_emit(&t);
  else if (has_sum(&t))
    emit_sum_nest(&t);
  else
    emit_plain_nest(&t);
  emit_close(e);
}
