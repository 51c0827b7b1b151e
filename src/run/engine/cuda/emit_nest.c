// Prints a loop nest for a team of lanes (see TeamNest). Output cells are dealt out to the lanes. With enough
// cells, one lane computes the whole reduction of a cell; otherwise several lanes share it, and their
// accumulators are combined in a fixed order, so that sums are the same on every device.
#include "run/engine/cuda/emit_cuda_own.h"

enum { FEW_TRIPS = 8 }; // the most turns that are unrolled completely
enum { DEAR_TERM = 4 }; // operations: a costlier term is worth a lane of its own

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

// 32-bit divisions take a few instructions, 64-bit ones a hundred.
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
void cuda_uniforms(Emit *e, const NodeLevels *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].uniform[k]) emit_scalar(e, &w[i], k);
}

bool team_keeps_sum(const TeamNest *t, const NodeLevels *w) { return sums_in_variable(t->e->k, w); }

// Of equal maxima (or minima), the winner is the first one in the order of the loops.
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

// A butterfly reduction: combines with lanes at distances from, 2·from, … < to.
static void emit_butterfly(const TeamNest *t, const NodeLevels *w, uint32_t from, uint32_t to,
                           const char *way) {
  Emit *e = t->e;
  if (from >= to) return;
  emit_line(e, "for (int far = %u; far < %u; far *= 2) {", from, to);
  e->indent++;
  // a team may be a part of a warp
  const char *lane = strcmp(way, "near") == 0 ? "(int)threadIdx.x" : "LANE";
  if (t->lanes_across_cells)
    emit_line(e, "const int other = %s ^ far * %u;", lane, t->cells_at_once);
  else
    emit_line(e, "const int other = %s ^ far;", lane);
  cuda_join(e, w, way);
  emit_close(e);
}

// After the lanes of each warp have equal accumulators, each lane takes that of another warp of its cell, so
// that the rest of the reduction is inside the warp.
static void emit_exchange(const TeamNest *t, const NodeLevels *w, uint32_t warps) {
  Emit *e = t->e;
  const PlanNode *x = w->x;
  uint32_t s = w->id;
  emit_open(e);
  emit_line(e, "const int other = LANE / %u * %u + LANE %% %u * %u;", t->lanes_per_cell,
            t->lanes_per_cell, warps, WARP);
  emit_line(e, "s%u = far_%s(s%u, other);", s, emit_sum_type(e, x), s);
  if (x->nwinner && !node_wants_winner(x)) emit_line(e, "bad%u = far_int(bad%u, other);", s, s);
  if (node_wants_winner(x)) emit_line(e, "at%u = far_long(at%u, other);", s, s);
  for (uint32_t k = 0; node_wants_winner(x) && k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "n%u_%u = far_int(n%u_%u, other);", s, k, s, k);
  emit_close(e);
}

// All lanes write their accumulators to shared memory, and each combines those of its cell in order.
static void emit_ordered_joins(const TeamNest *t, const NodeLevels *w, uint32_t near) {
  Emit *e = t->e;
  const char *type = emit_sum_type(e, w->x);
  uint32_t first = near * t->cells_at_once;
  emit_open(e);
  emit_line(e, "const %s *all = shown_%s(s%u);", type, type, w->id);
  emit_line(e, "s%u = all[LANE %% %u];", w->id, first);
  emit_line(e, "for (int far = %u; far < %u; far += %u) {", first,
            t->lanes_per_cell * t->cells_at_once, first);
  e->indent++;
  emit_line(e, "const int other = LANE %% %u + far;", first);
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close(e);
}

// Combines the accumulators of all lanes of a cell, so that all end up with the same value: by shuffles
// inside a warp, through shared memory between warps.
static void emit_joins(const TeamNest *t, const NodeLevels *w) {
  uint32_t near = t->lanes_across_cells ? WARP / t->cells_at_once : WARP,
           warps = t->lanes_per_cell / WARP;
  if (near < 1) near = 1;
  if (near > t->lanes_per_cell) near = t->lanes_per_cell;
  emit_butterfly(t, w, 1, near, "near");
  if (t->lanes_across_cells && near < t->lanes_per_cell && !w->x->nwinner) {
    emit_ordered_joins(t, w, near);
  } else if (!t->lanes_across_cells && warps > 1) {
    emit_exchange(t, w, warps);
    emit_butterfly(t, w, 1, warps, "near");
  } else {
    emit_butterfly(t, w, near, t->lanes_per_cell, "far");
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

// -- sums of columns ------------------------------------------------------------------------------
// No node stores inside the loops, so loads of several turns may be in flight.
static bool stores_after_loops(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!team_keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]))
      return false;
  return true;
}

// The nest sums columns: four output cells are contiguous, and so are cells of some operand.
static bool can_sum_columns(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!t->lanes_across_cells || !t->cell_loops || t->cell_loops != t->split_loop ||
      !vector_divides(s->dim[t->cell_loops - 1], t->vector) || !stores_after_loops(t))
    return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (w->x->nwinner || w->x->scatter || w->x->noise ||
        (team_keeps_sum(t, w) && w->sum_loop != t->cell_loops) || w->sum_loop == s->ndim + 1)
      return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= vector_loads(t, w, k, t->cell_loops - 1);
  }
  return any;
}

static void mark_columns(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    t->w[i].vector_store = false;
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].packed[k] = vector_loads(t, &t->w[i], k, t->cell_loops - 1);
  }
}

static void use_column_sums(TeamNest *t) {
  uint32_t lot = t->vector;
  t->vector = FOUR;
  t->column_sums = can_sum_columns(t);
  if (!t->column_sums) {
    t->vector = lot;
    return;
  }
  t->vectorised = false;
  mark_columns(t);
  t->vector = choose_vector(t, t->cell_loops - 1);
  mark_columns(t);
}

static void open_column(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->cell_loops - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->vector);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", loop, loop);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]))
      emit_line(e, "%s s%u = sums%u[u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->w[i].id);
}

// One turn: prints the levels from the cells' loop on for each cell of the vector.
static void emit_columns(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->cell_loops - 1;
  e->vectorised = true;
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_vector_loads(t);
  open_column(t);
  team_levels(t, t->cell_loops, t->s->ndim);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]))
      emit_line(e, t->no_remainder ? "sums%u[u] = s%u;" : "sums%u[u] = there ? s%u : sums%u[u];",
                t->w[i].id, t->w[i].id, t->w[i].id);
  emit_close(e);
  e->vectorised = false;
}

// -- turns ----------------------------------------------------------------------------------------
// Opens the completely unrolled rounds over a short row.
static void open_rounds(const TeamNest *t) {
  emit_line(t->e, "UNROLL for (int round = 0; round < %u; round++) {",
            (t->row_turns + t->unrolled - 1) / t->unrolled);
  t->e->indent++;
  emit_line(t->e, "const long first = LANE + round * %u;", t->unrolled * t->lanes);
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

void team_preloads(const TeamNest *t, uint32_t from, const char *last, uint32_t step) {
  Emit *e = t->e;
  uint32_t along = t->column_sums ? t->cell_loops - 1 : t->s->ndim - 1, loop = e->k->np + along;
  preload_declare(t, along);
  preload_open_row(t, "first", last, step);
  cuda_digits(e, "m", e->k->np, team_loops(t), from, t->s->ndim);
  if (!t->column_sums) emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->vector);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  preload_emit(t, along);
  emit_close(e);
  emit_close(e);
  preload_hold(t, along);
  preload_mark(t, along);
}

// Prints unrolled turns: all loads first, then the computations.
static void emit_unrolled_turns(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  const char *last = t->row_turns ? "turns" : "last";
  emit_line(e, "const long turns = ok ? %s : 0;", cuda_length(e, dim, t->split_loop, t->s->ndim));
  if (t->row_turns)
    open_rounds(t);
  else
    team_open_turns(t, "first", t->unrolled * t->lanes_per_cell);
  team_preloads(t, t->split_loop, last, t->lanes_per_cell);
  preload_open_row(t, "first", last, t->lanes_per_cell);
  cuda_digits(e, "m", e->k->np, dim, t->split_loop, t->s->ndim);
  if (t->column_sums) {
    emit_columns(t);
  } else {
    remainder_save(t);
    team_levels(t, t->split_loop + 1, t->s->ndim - 1);
    team_last_level(t);
    remainder_restore(t);
  }
  emit_close(e);
  emit_close(e);
}

// Opens a completely unrolled loop over a lane's few turns, so that all loads may be in flight.
static void open_few_turns(const TeamNest *t, int64_t trips) {
  emit_line(t->e, "UNROLL for (int trip = 0; trip < %lld; trip++) {", (long long)trips);
  t->e->indent++;
  emit_line(t->e, "const long m = turn + trip * %u;", t->lanes_per_cell);
  emit_line(t->e, "if (m >= turns) continue;");
}

// Prints the loops that lanes share. If all data are in shared memory, a lane without a cell computes
// another lane's sum in vain, instead of testing in each turn whether it has a cell.
static void emit_turns(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  const Extent *dim = team_loops(t);
  int64_t trips = (cuda_length_most(e->p, dim, t->split_loop, s->ndim) + t->lanes_per_cell - 1) /
                  t->lanes_per_cell;
  emit_line(e, "const long turns = %s%s%s;", e->all_shared && stores_after_loops(t) ? "" : "ok ? ",
            cuda_length(e, dim, t->split_loop, s->ndim),
            e->all_shared && stores_after_loops(t) ? "" : " : 0");
  if (e->all_shared && trips <= FEW_TRIPS) {
    open_few_turns(t, trips);
  } else {
    if (stores_after_loops(t)) emit_line(e, "UNROLL_SOME");
    team_open_turns(t, "m", t->lanes_per_cell);
  }
  emit_line(e, "const long at = %s;",
            t->cell_loops < t->split_loop
                ? arena_format(e->p->arena, "before * %s + m",
                               cuda_length(e, dim, t->split_loop, s->ndim))
                : "m");
  emit_line(e, "(void)at;");
  cuda_digits(e, "m", e->k->np, dim, t->split_loop, s->ndim);
  team_levels(t, t->split_loop + 1, s->ndim - 1);
  team_last_level(t);
  emit_close(e);
}

// In a fused step, a loop that runs once is printed without a loop.
static bool runs_once(const TeamNest *t, const Extent *dim, uint32_t ndim, uint32_t lanes) {
  return t->e->wire_address && cuda_length_most(t->e->p, dim, 0, ndim) <= lanes;
}

// The lanes of a cell that are in the same warp.
static uint32_t lanes_in_warp(const TeamNest *t) {
  uint32_t near = !t->lanes_across_cells    ? WARP
                  : t->cells_at_once < WARP ? WARP / t->cells_at_once
                                            : 1;
  return near < t->lanes_per_cell ? near : t->lanes_per_cell;
}

static bool all_are_real(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && strcmp(emit_sum_type(t->e, t->w[i].x), "real") != 0)
      return false;
  return true;
}

// Combines the column sums of all warps: all are written to shared memory, and each lane adds those of one
// column in order.
static void emit_column_joins(const TeamNest *t, const NodeLevels *w) {
  Emit *e = t->e;
  uint32_t near = lanes_in_warp(t), columns = t->vector * t->cells_at_once,
           loop = e->k->np + t->cell_loops - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->vector);
  e->indent++;
  emit_line(e, "real s%u = sums%u[u];", w->id, w->id);
  emit_butterfly(t, w, 1, near, "near");
  emit_line(e, "sums%u[u] = s%u;", w->id, w->id);
  emit_close(e);
  emit_line(e, "TEAM_SYNC();"); // other lanes may still read the previous sums
  emit_line(e, "if (ok & (LANE %% %u < %u))", near * t->cells_at_once, t->cells_at_once);
  emit_line(e, "  UNROLL for (int u = 0; u < %u; u++)", t->vector);
  emit_line(e, "    all[(LANE / %u * %u + u) * %u + LANE %% %u] = sums%u[u];",
            near * t->cells_at_once, t->vector, t->cells_at_once, t->cells_at_once, w->id);
  emit_line(e, "TEAM_SYNC();");
  emit_line(e, "for (int column = LANE; ok & (column < %u); column += %u) {", columns,
            t->lanes_per_cell * t->cells_at_once);
  e->indent++;
  emit_line(e, "const long i%u = four%u + column / %u;", loop, loop, t->cells_at_once);
  emit_line(e, "real s%u = all[column];", w->id);
  emit_line(e, "UNROLL_SOME");
  emit_line(e, "for (int other = column + %u; other < %u; other += %u) {", columns,
            t->lanes_per_cell / near * columns, columns);
  e->indent++;
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close_sum(e, w);
  emit_close(e);
}

static void emit_joined_columns(const TeamNest *t) {
  uint32_t near = lanes_in_warp(t);
  bool alone = t->e->k->nest.n == 1; // shared memory is reserved for one nest
  if (near == t->lanes_per_cell || !alone || !all_are_real(t)) {
    open_column(t);
    close_sums(t, t->cell_loops);
    emit_close(t->e);
    return;
  }
  emit_line(t->e, "SHARED(real, all, %u);",
            t->lanes_per_cell / near * t->vector * t->cells_at_once);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i])) emit_column_joins(t, &t->w[i]);
}

static void emit_column_sums(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->cell_loops - 1;
  for (uint32_t d = 0; d < t->cell_loops; d++) team_levels(t, d, d);
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->vector);
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    if (!team_keeps_sum(t, &t->w[i])) continue;
    emit_line(e, "%s sums%u[%u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->vector);
    emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sums%u[u] = %s;", t->vector, t->w[i].id,
              emit_identity(e, t->w[i].x));
  }
  emit_unrolled_turns(t);
  emit_joined_columns(t);
}

static void emit_sum_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  uint32_t np = e->k->np;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->cell_loops));
  emit_line(e, "const int turn = %s %s %u;", "LANE", t->lanes_across_cells ? "/" : "%",
            t->lanes_across_cells ? t->cells_at_once : t->lanes_per_cell);
  if (runs_once(t, dim, t->cell_loops, t->cells_at_once))
    emit_line(e, "{ const long base = 0;");
  else
    emit_line(e, "for (long base = 0; base < cells; base += %u) {", t->cells_at_once);
  e->indent++;
  emit_line(e, "const long cell = base + LANE %s %u;", t->lanes_across_cells ? "%" : "/",
            t->lanes_across_cells ? t->cells_at_once : t->lanes_per_cell);
  emit_line(e, "const int ok = (cell < cells) & (turn < %u);", t->lanes_per_cell);
  cuda_digits(e, "ok ? cell : 0", np, dim, 0, t->cell_loops);
  if (t->column_sums) {
    emit_column_sums(t);
    emit_close(e);
    return;
  }
  team_levels(t, 0, t->cell_loops);
  open_sums(t, t->cell_loops);
  if (t->cell_loops < t->split_loop) emit_line(e, "long before = 0;");
  for (uint32_t d = t->cell_loops; d < t->split_loop; d++) {
    emit_open_loop(e, 'i', np + d, emit_extent(e, s->dim[d]));
    team_levels(t, d + 1, d + 1);
    open_sums(t, d + 1);
  }
  if (t->unrolled)
    emit_unrolled_turns(t);
  else
    emit_turns(t);
  for (uint32_t d = t->split_loop; d > t->cell_loops; d--) {
    close_sums(t, d);
    if (d == t->split_loop) emit_line(e, "before++;");
    emit_close(e);
  }
  if (t->holds_next) team_emit(t->all, t->number + 1);
  close_sums(t, t->cell_loops);
  emit_close(e);
}

// -- nests without reductions ---------------------------------------------------------------------
static void emit_unrolled_cells(const TeamNest *t) {
  Emit *e = t->e;
  team_levels(t, 0, 0);
  if (t->row_turns) {
    open_rounds(t);
  } else {
    emit_line(e, "for (long first = LANE; first < cells; first += %u * TEAM) {", t->unrolled);
    e->indent++;
  }
  team_preloads(t, 0, "cells", t->cells_at_once);
  preload_open_row(t, "first", "cells", t->cells_at_once);
  cuda_digits(e, "m", e->k->np, team_loops(t), 0, t->s->ndim);
  for (uint32_t d = 1; d < t->s->ndim; d++) team_levels(t, d, d);
  team_last_level(t);
  emit_close(e);
  emit_close(e);
}

static void emit_cells(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->s->ndim));
  if (t->unrolled) {
    emit_unrolled_cells(t);
    return;
  }
  if (runs_once(t, dim, t->s->ndim, t->cells_at_once)) {
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

// More operands are contiguous along the last cell loop than along the last reduced loop. Neighbouring lanes
// should then have neighbouring cells, so that loads are coalesced.
static bool prefers_lanes_across_cells(const TeamNest *t) {
  const Plan *p = t->e->p;
  int along = 0;
  if (!t->cell_loops) return false;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const PlanNode *x = t->w[i].x;
    uint32_t of_dim[64];
    node_dims(t->e->k, x, of_dim);
    for (uint32_t k = 0; k < x->nin; k++) {
      along += operand_step(p, &x->in[k], of_dim[t->cell_loops - 1]) == 1;
      along -= operand_step(p, &x->in[k], of_dim[t->s->ndim - 1]) == 1;
    }
  }
  return along > 0;
}

static bool stores_vectors_only(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!team_keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]) &&
        !t->w[i].vector_store)
      return false;
  return true;
}

// The number of turns to unroll together: the fewest rounds that registers allow.
static uint32_t turns_to_unroll(const TeamNest *t, int64_t turns) {
  uint32_t words = preload_words(t), most = words ? AHEAD_WORDS / words : 0;
  if (most > AHEAD_TURNS) most = AHEAD_TURNS;
  if (!words && turns <= AHEAD_TURNS) most = AHEAD_TURNS;
  if (most < 2) return 0;
  int64_t rounds = (turns + most - 1) / most;
  return (uint32_t)((turns + rounds - 1) / rounds);
}

// Chooses unrolling for the loops from `from` on, shared by `lanes` lanes, if their lengths are constants.
static void choose_unrolling(TeamNest *t, uint32_t from, uint32_t lanes) {
  const Extent *dim = team_loops(t);
  if (!t->vectorised || t->e->wire_address || !stores_vectors_only(t)) return;
  for (uint32_t d = from; d < t->s->ndim; d++)
    if (dim[d].per || dim[d].part) return;
  int64_t all = cuda_length_most(t->e->p, dim, from, t->s->ndim), turns = (all + lanes - 1) / lanes;
  t->unrolled = turns_to_unroll(t, turns);
  t->no_remainder = t->unrolled && all % ((int64_t)t->unrolled * lanes) == 0;
  if (!t->unrolled || t->s->ndim != 1 || turns > AHEAD_TURNS || all < lanes || lanes != t->lanes)
    return;
  t->row_turns = (uint32_t)turns;
  t->row_vectors = all;
}

// In a fused step with few cells, one or two cells for each lane are faster than vectors.
static bool wants_vectors(const TeamNest *t) {
  const Nest *s = t->s;
  return !t->e->wire_address || t->cell_loops < s->ndim ||
         cuda_length_most(t->e->p, s->dim, 0, s->ndim) > 2 * t->lanes;
}

// A term of the nest's sums is costly, so each term should have its own lane. Stores count as costly,
// because loads may not pass them.
static bool is_costly(const TeamNest *t) {
  uint32_t work = stores_after_loops(t) ? 0 : DEAR_TERM + 1;
  for (uint32_t i = 0; i < t->s->node.n; i++) work += emit_flops(t->w[i].x, t->w[i].uniform);
  return work > DEAR_TERM;
}

// The lanes for `turns` turns if all data are in shared memory: a lane takes several turns if that is faster
// than combining accumulators, which is slowest between warps.
static int64_t lanes_for_turns(const TeamNest *t, int64_t turns) {
  bool dear = is_costly(t);
  int64_t lanes = t->vectorised || dear ? turns : (turns + FOUR - 1) / FOUR;
  return lanes > WARP && turns <= WARP * (dear ? FEW_TRIPS : FOUR * FEW_TRIPS) ? WARP : lanes;
}

TeamNest team_nest(Emit *e, uint32_t nest, uint32_t team) {
  const Nest *s = &e->k->nest.at[nest];
  TeamNest t = {.e = e,
                .s = s,
                .w = nest_levels(e->p, e->k, nest),
                .cell_loops = s->ndim,
                .lanes_per_cell = 1,
                .vector = FOUR,
                .lanes = team};
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t.w[i];
    w->vector_store = false;
    for (uint32_t k = 0; k < w->x->nin; k++) w->packed[k] = false;
    if (!team_keeps_sum(&t, w)) continue;
    if (w->sum_loop < t.cell_loops) t.cell_loops = w->sum_loop;
    if (w->sum_loop > t.split_loop) t.split_loop = w->sum_loop;
  }
  if (t.split_loop < t.cell_loops) t.split_loop = t.cell_loops;
  t.vectorised = wants_vectors(&t) && choose_vectorised(&t);
  if (t.vectorised && choose_vector(&t, s->ndim - 1) == EIGHT)
    t.vector = EIGHT, choose_vectorised(&t);
  if (team == 1 || t.cell_loops == s->ndim) {
    t.cells_at_once = team;
    if (team > 1) choose_unrolling(&t, 0, team);
    return t;
  }
  t.lanes_across_cells =
      !e->all_shared && prefers_lanes_across_cells(&t); // shared memory needs no coalescing
  use_column_sums(&t);
  const Extent *dim = team_loops(&t);
  int64_t cells = cuda_length_most(e->p, dim, 0, t.cell_loops),
          turns = cuda_length_most(e->p, dim, t.split_loop, s->ndim);
  uint32_t wide = cuda_power_up(cells, team), share = team / wide;
  if (!t.lanes_across_cells && share < WARP && !e->all_shared) share = WARP < team ? WARP : team;
  if (e->all_shared) turns = lanes_for_turns(&t, turns);
  t.lanes_per_cell = cuda_power_up(turns, share);
  t.cells_at_once = t.lanes_across_cells ? wide : team / t.lanes_per_cell;
  if (t.column_sums)
    t.unrolled = ROWS;
  else if (t.cell_loops == t.split_loop)
    choose_unrolling(&t, t.split_loop, t.lanes_per_cell);
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
    if (all[i].sliced) all[i].no_remainder = false, all[i].row_turns = 0;
  }
  return all;
}

// Each lane has at most one cell, and stores only after the reduction.
bool team_may_hold(const TeamNest *t) {
  return t->e->all_shared && has_sum(t) && !t->w->x->scatter && !t->column_sums &&
         t->cell_loops == t->split_loop && t->lanes_per_cell <= WARP && stores_after_loops(t) &&
         runs_once(t, team_loops(t), t->cell_loops, t->cells_at_once);
}

void team_emit(const TeamNest *all, uint32_t nest) {
  TeamNest t = all[nest];
  Emit *e = t.e;
  if (t.sliced) t.no_remainder = false;
  // warps without cells skip the uniform scalars, which may be costly
  bool few = e->wire_address && !t.w->x->scatter && !has_sum(&t) &&
             cuda_length_most(e->p, team_loops(&t), 0, t.s->ndim) <= WARP;
  declare_reused(&t);
  if (few && t.lanes > WARP) emit_line(e, "if (LANE < %d)", WARP);
  emit_open(e);
  cuda_uniforms(e, t.w, t.s->node.n);
  if (t.w->x->scatter)
    scatter_emit(&t);
  else if (has_sum(&t))
    emit_sum_nest(&t);
  else
    emit_cells(&t);
  emit_close(e);
}
