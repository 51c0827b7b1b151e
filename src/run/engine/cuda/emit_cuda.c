// Prints kernels as CUDA C: after the prelude, one function for each kernel of loops:
//
//   extern "C" __global__ void limn_k3(const Context *g, Wires7 wires, Places at) {
//     for (long q = first team; q < points; q += teams) {     the parallel loops
//       const long i1 = q % 64, i0 = q / 64;
//       …                                                     nest after nest, by the team's lanes
//
// In a kernel of one nest without reductions each point is a thread. Otherwise a team of lanes works on a
// point of the parallel loops, nest after nest. The output cells of a nest are dealt out to the lanes. With
// enough cells, one lane computes the whole reduction of a cell; otherwise several lanes share it, and
// their accumulators are combined in a fixed order, so that sums are the same on every device.
#include "base/table.h"
#include "run/engine/cuda/emit_cuda_own.h"

#include <ctype.h>

enum { BLOCK_LANES = 256, MIN_BLOCKS = 3 };
enum { ENOUGH_LANES = 256 * 1024 }; // lanes that fill a large device
enum { FEW_POINTS = 256 };          // one or two for each multiprocessor of the largest devices
enum { MANY_POINTS = 4096, LONG_ROW = 1024, SHORT_ROW = 512 };
enum { SLICES = 128, SLICED_BYTES = 64 << 20, SERIAL = 64, FEWEST_LOTS = 16 };

// -- pointers -------------------------------------------------------------------------------------
static void emit_wires(Emit *e) {
  const Ids *slot = &e->entry->slot;
  for (uint32_t i = 0; i < slot->n; i++) {
    const PlanWire *w = &e->p->wire.at[slot->at[i]];
    const char *number = emit_number(w->number);
    e->slot[slot->at[i]] = i;
    if (e->wire_address && e->wire_address[slot->at[i]])
      emit_line(e, "%s *w%u = (%s *)(%s)%s;", number, i, number, e->wire_address[slot->at[i]],
                emit_scan_offset(e, slot->at[i]));
    else if (w->place == AT_TILE)
      emit_line(e, "%s *w%u = (%s *)(s + %lldL);", number, i, number, (long long)w->at);
    else
      emit_line(e, "%s *w%u = (%s *)wires.at[%u]%s;", number, i, number, i,
                emit_scan_offset(e, slot->at[i]));
  }
}

// -- kernels --------------------------------------------------------------------------------------
static bool is_flat(const Plan *p, const Kernel *k) {
  if (k->nest.n != 1) return false;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    if (node_has_reduction(x) || x->scatter) return false;
  }
  return true;
}

// Each point of the parallel loops and of the nest is a thread.
static void emit_flat(Emit *e) {
  const Kernel *k = e->k;
  const Nest *s = &k->nest.at[0];
  TeamNest t = team_nest(e, 0, 1);
  Extent all[64];
  memcpy(all, k->p, k->np * sizeof *all);
  memcpy(all + k->np, team_loops(&t), s->ndim * sizeof *all);
  cuda_uniforms(e, t.w, s->node.n);
  emit_line(e, "const long points = %s;", cuda_length(e, all, 0, k->np + s->ndim));
  emit_line(e, "for (long q = GRID_THREAD; q < points; q += GRID_THREADS) {");
  e->indent++;
  cuda_digits(e, "q", 0, all, 0, k->np + s->ndim);
  for (uint32_t d = 0; d < s->ndim; d++) team_levels(&t, d, d);
  team_last_level(&t);
  emit_close(e);
}

// The cells from the first to the last one of an output. A view of another wire may have gaps.
static int64_t output_reach(const Plan *p, const PlanNode *x) {
  const PlanWire *out = &p->wire.at[x->out.wire];
  int64_t reach = 1;
  for (uint32_t d = 0; d < out->rank; d++)
    reach += (extent_most(p, out->shape[d]) - 1) * out->stride[d];
  return reach;
}

// The bytes of a slice for the outputs of the kernel's first n nodes.
static int64_t slice_reach(const Plan *p, const Kernel *k, uint32_t n) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    Number number = p->wire.at[x->out.wire].number;
    bytes += (output_reach(p, x) * (int64_t)number_bytes(number) + 255) / 256 * 256;
  }
  return bytes;
}

// Marks the nests after this one that can be printed inside it (holds_next) because they have no conflict.
// Gives the first nest that cannot; *meets: a barrier is needed before it.
static uint32_t mark_held_nests(Emit *e, TeamNest *all, uint32_t i, bool *meets) {
  *meets = false;
  while (++i < e->k->nest.n && !fused_is_on_side(e, &e->k->nest.at[i])) {
    Conflict with = fused_conflict(e, &all[i]);
    *meets = with == NEEDS_BARRIER;
    all[i - 1].holds_next = with == NO_CONFLICT && team_may_hold(&all[i - 1]);
    if (!all[i - 1].holds_next) break;
  }
  return i;
}

// The nests of a kernel in a fused step.
static void emit_fused_nests(Emit *e, TeamNest *all) {
  const Kernel *k = e->k;
  bool asked = false, meets = false;
  for (uint32_t i = 0, next; i < k->nest.n; i = next) {
    if (fused_is_on_side(e, &k->nest.at[i])) {
      fused_store_side(e, &k->nest.at[i]);
      next = i + 1;
      asked = false;
      continue;
    }
    if (asked ? meets : fused_conflict(e, &all[i]) == NEEDS_BARRIER) emit_line(e, "TEAM_SYNC();");
    next = mark_held_nests(e, all, i, &meets);
    asked = true; // `meets` holds for the next nest, unless the side warp runs it
    team_emit(all, i);
  }
}

static void emit_teams(Emit *e, const CudaKernel *c) {
  const Kernel *k = e->k;
  const char *points = cuda_length(e, k->p, 0, k->np);
  if (c->slices) emit_line(e, "enum { SLICES = %u };", c->slices);
  if (c->buckets) emit_line(e, "enum { SLICES = %u };", c->buckets);
  bool cut = c->slices || c->buckets;
  emit_line(e, "const long points = %s%s;", points, cut ? " * SLICES" : "");
  if (e->wire_address && !k->np)
    emit_line(e, "{ const long q = 0;");
  else if (e->wire_address)
    emit_line(e, "for (long q = 0; q < points; q++) {");
  else
    emit_line(e, "for (long q = GRID_TEAM; q < points; q += GRID_TEAMS) {");
  e->indent++;
  if (c->slices) emit_line(e, "const long slice = q %% SLICES;");
  for (uint32_t i = 0; c->slices && i < k->node.n; i++) {
    uint32_t out = e->p->node.at[k->node.at[i]].out.wire;
    emit_line(e, "w%u = (%s *)(c->parts + slice * %lldL + %lldL);", e->slot[out],
              emit_number(e->p->wire.at[out].number), (long long)c->slice_bytes,
              (long long)slice_reach(e->p, k, i));
  }
  if (c->buckets) emit_line(e, "const unsigned bucket = (unsigned)(q %% SLICES);");
  cuda_digits(e, cut ? "q / SLICES" : "q", 0, k->p, 0, k->np);
  TeamNest *all = team_nests(e, c);
  if (e->accesses && !k->np) {
    emit_fused_nests(e, all);
    emit_close(e);
    return;
  }
  uint32_t done = 0;
  for (uint32_t i = 0; i < k->nest.n; i++) {
    if (i < done) continue;
    if (e->accesses && fused_conflict(e, &all[i]) == NEEDS_BARRIER) emit_line(e, "TEAM_SYNC();");
    if (softmax_matches(all, i)) {
      softmax_emit(all, i);
      emit_line(e, "TEAM_SYNC();");
      team_emit(all, i + 1);
      done = i + 3;
    } else {
      team_emit(all, i);
    }
    emit_line(e, "TEAM_SYNC();");
  }
  emit_close(e);
}

static void emit_order(Emit *e) {
  const PlanNode *x = &e->p->node.at[e->k->node.at[0]];
  const PlanWire *in = &e->p->wire.at[x->in[0].wire];
  Buf count = buf_new(e->p->arena);
  buf_text(&count, "1L");
  for (uint32_t i = 0; i < in->rank; i++)
    if (i != x->axis) buf_printf(&count, " * %s", emit_extent(e, in->shape[i]));
  emit_line(e, "const long points = %s;", count.at);
  emit_line(e, "for (long q = GRID_TEAM; q < points; q += GRID_TEAMS) {");
  e->indent++;
  emit_line(e, "long r = q, row = 0;");
  for (uint32_t i = in->rank; i-- > 0;) {
    if (i == x->axis) continue;
    const char *n = emit_extent(e, in->shape[i]);
    emit_line(e, "row += r %% %s * %lldL; r /= %s;", n, (long long)in->stride[i], n);
  }
  int64_t most = extent_most(e->p, in->shape[x->axis]);
  emit_line(e, "limn_order(w%u + row, %lldL, %s, (int *)s, (int *)s + %lldL, w%u + row);",
            e->slot[x->in[0].wire], (long long)in->stride[x->axis],
            emit_extent(e, in->shape[x->axis]), (long long)most, e->slot[x->out.wire]);
  emit_line(e, "TEAM_SYNC();");
  emit_close(e);
}

// Chooses the lanes of a team: as many as the largest nest can use.
static void choose_team(const Plan *p, const Kernel *k, uint32_t lanes, CudaKernel *c) {
  int64_t inner = 1;
  c->points = cuda_length_most(p, k->p, 0, k->np);
  for (uint32_t i = 0; i < k->nest.n; i++) {
    int64_t n = cuda_length_most(p, k->nest.at[i].dim, 0, k->nest.at[i].ndim);
    if (n > inner) inner = n;
  }
  c->tile_bytes = k->tile_bytes;
  c->teams = 1;
  bool few = c->points < FEW_POINTS && inner > 4 * BLOCK_LANES;
  bool many = c->points >= MANY_POINTS; // one warp for each row: no barriers between warps
  c->team = few || inner > 64 * 1024                ? 4 * BLOCK_LANES
            : inner > (many ? LONG_ROW : SHORT_ROW) ? BLOCK_LANES
                                                    : WARP;
  if (c->team == WARP && c->tile_bytes * (BLOCK_LANES / WARP) <= SHARED_BYTES)
    c->teams = BLOCK_LANES / WARP;
  if (lanes) c->team = lanes, c->teams = 1;
  c->shared = c->tile_bytes * c->teams <= SHARED_BYTES;
}

// The lanes that the largest nest can use, if its lengths are constants; otherwise WARP.
static int64_t useful_lanes(Emit *e) {
  int64_t most = 1;
  for (uint32_t i = 0; i < e->k->nest.n; i++) {
    TeamNest t = team_nest(e, i, WARP);
    const Extent *dim = team_loops(&t);
    int64_t n = cuda_length_most(e->p, dim, 0, t.s->ndim);
    for (uint32_t d = 0; d < t.s->ndim; d++)
      if (dim[d].per || dim[d].part) return WARP;
    if (t.w->x->scatter) return WARP;
    if (n > most) most = n;
  }
  return most;
}

// For very short rows a team is a part of a warp. The number of points must fill whole warps, because all
// lanes of a warp reach its barriers.
static void choose_part_of_warp(Emit *e, CudaKernel *c) {
  int64_t known = 1;
  uint32_t team = cuda_power_up(useful_lanes(e), WARP);
  for (uint32_t d = 0; d < e->k->np; d++)
    known *= !e->k->p[d].per ? e->k->p[d].c : e->k->p[d].c ? 1 : e->k->p[d].per;
  if (c->team != WARP || c->points < MANY_POINTS || team >= WARP || team < FOUR ||
      known % (WARP / team) || c->tile_bytes * (BLOCK_LANES / team) > SHARED_BYTES / 2)
    return;
  c->team = team;
  c->teams = BLOCK_LANES / team;
  c->shared = true;
}

static void split_into_slices(const Plan *p, const Kernel *k, CudaKernel *c, int64_t most) {
  int64_t bytes = slice_reach(p, k, k->node.n), slices = SLICED_BYTES / bytes;
  if (slices > SLICES) slices = SLICES;
  if (slices > most) slices = most;
  if (slices < 2) return;
  c->slice_bytes = bytes;
  c->slices = (uint32_t)slices;
  c->points *= slices;
}

// The kernel is one nest of sums that can be split into slices: one sum or scatter, or several sums.
static bool can_split(const Plan *p, const Kernel *k) {
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    if (x->nwinner || x->combine != SUM || x->noise || p->wire.at[x->out.wire].base != BASE_R ||
        operand_start(p, &x->out) || (k->node.n > 1 && !node_has_reduction(x)))
      return false;
  }
  return k->nest.n == 1;
}

// Makes each bucket of labels a point. With a list, several loads are in flight: see choose_occupancy.
static void split_into_buckets(const Plan *p, const Kernel *k, CudaKernel *c) {
  int64_t list = scatter_list_bytes(p, k, &p->node.at[k->node.at[0]], c->team);
  c->buckets = BUCKETS;
  c->points *= BUCKETS;
  c->tile_bytes += list;
  c->shared = c->tile_bytes * c->teams <= SHARED_BYTES;
  if (list) c->min_blocks = MIN_BLOCKS * BLOCK_LANES / (c->team * c->teams);
}

// Splits a scatter whose lanes have many sequential additions: into slices or buckets of labels.
static void split_scatter(const Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  uint32_t of_dim[64], first = PLAN_NONE;
  int64_t serial = 1, cells = 1;
  node_dims(k, x, of_dim);
  for (uint32_t d = 0; d < k->nest.at[0].ndim; d++) {
    int64_t length = extent_most(p, k->nest.at[0].dim[d]);
    bool owned = scatter_owns(p, k, x, of_dim[d]);
    *(owned ? &cells : &serial) *= length;
    if (!owned && first == PLAN_NONE) first = d;
  }
  if (cells < c->team && c->team > WARP)
    c->team = cells > WARP ? cuda_power_up(cells, c->team) : WARP;
  if (serial < SERIAL) return;
  if (!x->accumulate) split_into_slices(p, k, c, extent_most(p, k->nest.at[0].dim[first]));
  bool dense = x->accumulate || output_reach(p, x) == p->wire.at[x->out.wire].count;
  if (c->slices || !dense || k->depth || scatter_label(p, x) == PLAN_NONE) return;
  split_into_buckets(p, k, c);
}

// Splits sums of columns into as many slices as fill the device, each of whole groups of rows.
static void split_columns(Plan *p, const Kernel *k, CudaKernel *c) {
  Emit e = {.p = p, .k = k, .lanes = true};
  TeamNest t = team_nest(&e, 0, BLOCK_LANES);
  const Nest *s = &k->nest.at[0];
  int64_t rows = cuda_length_most(p, s->dim, t.split_loop, s->ndim),
          lot = (int64_t)ROWS * t.lanes_per_cell, lots = (rows + lot - 1) / lot,
          wanted = ENOUGH_LANES / 2 / (c->points * BLOCK_LANES);
  if (lots < FEWEST_LOTS || wanted < 2) return;
  int64_t each = (lots + wanted / 2) / wanted;
  if (each < 1) each = 1;
  split_into_slices(p, k, c, (lots + each - 1) / each);
  if (c->slices) c->team = BLOCK_LANES;
}

// Splits long sums into slices if there are few of them.
static void split_sum(Plan *p, const Kernel *k, CudaKernel *c) {
  Emit e = {.p = p, .k = k, .lanes = true};
  TeamNest t = team_nest(&e, 0, c->team);
  const Nest *s = &k->nest.at[0];
  int64_t lanes = c->points * c->team;
  if (t.cell_loops != t.split_loop || t.cell_loops == s->ndim || lanes >= ENOUGH_LANES) return;
  if (t.column_sums && c->team >= BLOCK_LANES) {
    split_columns(p, k, c);
    return;
  }
  int64_t long_enough =
              cuda_length_most(p, s->dim, t.split_loop, s->ndim) / t.lanes_per_cell / SERIAL * 4,
          wanted = (t.column_sums ? 1 : 2) * ENOUGH_LANES / lanes;
  if (t.column_sums) long_enough *= t.vector;
  split_into_slices(p, k, c, wanted < long_enough ? wanted : long_enough);
}

static void choose_slices(Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  if (!can_split(p, k)) return;
  if (x->scatter)
    split_scatter(p, k, c);
  else if (node_has_reduction(x))
    split_sum(p, k, c);
}

// A compiler that aims at high occupancy saves registers by serialising loads. With unrolled loads, ROOM
// blocks on a multiprocessor are enough.
static void choose_occupancy(Emit *e, CudaKernel *c) {
  for (uint32_t i = 0; i < e->k->nest.n; i++)
    if (team_nest(e, i, c->team).unrolled && c->team * c->teams == BLOCK_LANES)
      c->min_blocks = MIN_BLOCKS;
}

// Kernels with several passes over long rows: fewer rows at the same time, so that a row stays in the cache
// between passes.
static void choose_for_long_rows(Emit *e, CudaKernel *c) {
  uint32_t walks = 0;
  for (uint32_t i = 0; i < e->k->nest.n; i++) {
    const Nest *s = &e->k->nest.at[i];
    walks += cuda_length_most(e->p, s->dim, 0, s->ndim) >= e->p->target->far_row;
  }
  if (walks < 2 || c->team != BLOCK_LANES || c->slices || c->buckets) return;
  c->team = 2 * BLOCK_LANES;
  c->min_blocks = c->max_blocks = 2;
  e->streaming_stores = true;
}

static void choose_flat(Emit *e, CudaKernel *c) {
  const Kernel *k = e->k;
  TeamNest t = team_nest(e, 0, 1);
  c->team = 1;
  c->teams = BLOCK_LANES;
  c->points =
      cuda_length_most(e->p, k->p, 0, k->np) * cuda_length_most(e->p, team_loops(&t), 0, t.s->ndim);
}

static void choose_order(const Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  const PlanWire *in = &p->wire.at[x->in[0].wire];
  int64_t most = extent_most(p, in->shape[x->axis]);
  c->team = BLOCK_LANES;
  c->teams = 1;
  c->points = most ? in->count / most : 0;
  c->tile_bytes = 8 * most;
  c->shared = c->tile_bytes <= SHARED_BYTES;
}

// lanes: of the block that runs a fused step; 0: the step is not fused.
static void emit_body(Emit *e, CudaKernel *c, uint32_t lanes) {
  e->streaming_stores = false;
  if (e->k->kind == KERNEL_ORDER)
    choose_order(e->p, e->k, c);
  else if (e->k->kind == KERNEL_ATTENTION)
    attention_choose(e, c);
  else if (!lanes && is_flat(e->p, e->k))
    choose_flat(e, c);
  else
    choose_team(e->p, e->k, lanes, c);
  if (e->k->kind == KERNEL_LOOPS && !lanes && c->team == WARP) choose_part_of_warp(e, c);
  if (e->k->kind == KERNEL_LOOPS && !lanes && c->team > 1) {
    choose_slices(e->p, e->k, c);
    choose_occupancy(e, c);
    choose_for_long_rows(e, c);
  }
  emit_wires(e);
  if (e->k->kind == KERNEL_ORDER)
    emit_order(e);
  else if (e->k->kind == KERNEL_ATTENTION)
    attention_emit(e, c);
  else if (c->team == 1)
    emit_flat(e);
  else
    emit_teams(e, c);
}

// Adds the slices of an output in order, cell by cell.
static void emit_sum_of_slices(Emit *e, const CudaKernel *c, uint32_t node) {
  const PlanWire *out = &e->p->wire.at[e->p->node.at[e->k->node.at[node]].out.wire];
  const char *number = emit_number(out->number);
  emit_line(e, "for (long q = GRID_THREAD, points = %s; q < points; q += GRID_THREADS) {",
            cuda_length(e, out->shape, 0, out->rank));
  e->indent++;
  emit_line(e, "long r = q, at = 0;");
  for (uint32_t d = out->rank; d-- > 0;) {
    const char *n = emit_extent(e, out->shape[d]);
    emit_line(e, "at += r %% %s * %lldL; r /= %s;", n, (long long)out->stride[d], n);
  }
  emit_line(e, "%s sum = 0;", number);
  emit_line(e, "UNROLL_MANY"); // few threads: each has many loads in flight
  emit_line(e,
            "for (int slice = 0; slice < %u; slice++) sum += ((const %s *)(c->parts + slice * "
            "%lldL + %lldL))[at];",
            c->slices, number, (long long)c->slice_bytes, (long long)slice_reach(e->p, e->k, node));
  emit_line(e, "w%u[at] = sum;", e->slot[e->p->node.at[e->k->node.at[node]].out.wire]);
  emit_close(e);
}

static void emit_sums_of_slices(Emit *e, const CudaKernel *c, uint32_t i) {
  emit_line(e, "KERNEL(limn_k%u_sum, Wires%u, %u) {", i, i, BLOCK_LANES);
  e->indent = 1;
  emit_line(e, "BEGIN(Wires%u, 1, 0, 1)", i);
  emit_wires(e);
  for (uint32_t k = 0; k < e->k->node.n; k++) emit_sum_of_slices(e, c, k);
  e->indent = 0;
  emit_line(e, "}");
}

// The texts being printed; `known` finds kernels with equal bodies.
typedef struct {
  Buf *part;
  uint32_t parts;
  Table *known;
  CudaKernel *kernel;
} CudaText;

static uint32_t shortest_part(const CudaText *t) {
  uint32_t least = 0;
  for (uint32_t i = 1; i < t->parts; i++)
    if (t->part[i].n < t->part[least].n) least = i;
  return least;
}

// -- 32-bit indices -------------------------------------------------------------------------------
// A kernel uses 32-bit indices if its points and cells are few enough: 64-bit arithmetic takes two to four
// times as many instructions.
static bool fits_32_bits(const Plan *p, const Kernel *k, const CudaKernel *c) {
  enum { CELLS = 1 << 29 };
  double points = 1;
  for (uint32_t i = 0; i < k->np; i++) points *= (double)extent_most(p, k->p[i]);
  for (uint32_t i = 0; i < k->nest.n; i++) {
    double all = points;
    for (uint32_t d = 0; d < k->nest.at[i].ndim; d++)
      all *= (double)extent_most(p, k->nest.at[i].dim[d]);
    if (all > CELLS) return false;
  }
  for (uint32_t i = 0; i < c->emit.slot.n; i++)
    if (c->emit.slot.at[i] < p->wire.n && p->wire.at[c->emit.slot.at[i]].count > CELLS)
      return false;
  return c->points <= CELLS && c->slices * c->slice_bytes <= CELLS;
}

static bool in_word(char x) { return isalnum((unsigned char)x) || x == '_'; }

// Replaces every long by int, and removes the suffix L of constants.
static void use_32_bits(Buf *b) {
  size_t to = 0;
  for (size_t i = 0; i < b->n;) {
    size_t end = i;
    while (end < b->n && in_word(b->at[end])) end++;
    if (end == i) {
      b->at[to++] = b->at[i++];
      continue;
    }
    bool number = isdigit((unsigned char)b->at[i]) && b->at[end - 1] == 'L';
    if (end - i == 4 && !memcmp(b->at + i, "long", 4)) {
      memcpy(b->at + to, "int", 3);
      to += 3;
    } else {
      memmove(b->at + to, b->at + i, end - i - number);
      to += end - i - number;
    }
    i = end;
  }
  b->n = to;
  b->at[to] = 0;
}

static void emit_kernel(Emit *e, const CudaText *t, uint32_t i, uint32_t lanes) {
  CudaKernel *c = &t->kernel[i];
  Buf body = buf_new(e->p->arena);
  e->k = &e->p->kernel.at[i];
  e->entry = &c->emit;
  e->b = &body;
  e->indent = 1;
  emit_body(e, c, lanes);
  if (fits_32_bits(e->p, e->k, c)) use_32_bits(&body);
  e->indent = 0;
  c->part = shortest_part(t);
  e->b = &t->part[c->part];
  buf_printf(&body, "// %u lanes, %lld bytes%s\n", c->team, (long long)c->tile_bytes,
             c->shared ? ", shared" : "");
  Id found = table_get(t->known, body.at, body.n);
  c->emit.fn = found ? found - 1 : i;
  if (found) c->part = t->kernel[found - 1].part;
  if (found) return;
  table_put(t->known, body.at, body.n, i + 1);
  uint32_t wires = c->emit.slot.n ? c->emit.slot.n : 1;
  emit_line(e, "typedef struct { char *at[%u]; } Wires%u;", wires, i);
  if (lanes) {
    emit_line(e, "PART(limn_k%u, Wires%u, %u)", i, i, lanes);
  } else {
    const char *room = c->min_blocks ? arena_format(e->p->arena, ", %u", c->min_blocks) : "";
    emit_line(e, "KERNEL(limn_k%u, Wires%u, %u%s) {", i, i, c->team * c->teams, room);
    emit_line(e, "  BEGIN(Wires%u, %u, %lldL, %d)", i, c->team, (long long)c->tile_bytes,
              c->shared);
  }
  buf_add(e->b, body.at, body.n);
  emit_line(e, "}");
  if (c->slices) emit_sums_of_slices(e, c, i);
}

// Prints the nests of a kernel that the side warp runs, as a function of their own.
static void emit_side_kernel(Emit *e, const CudaText *t, uint32_t i) {
  CudaKernel c = t->kernel[i];
  Buf body = buf_new(e->p->arena);
  bool any = false;
  e->b = &body;
  e->indent = 1;
  emit_wires(e);
  c.team = WARP;
  const TeamNest *all = team_nests(e, &c);
  for (uint32_t n = 0; n < e->k->nest.n; n++) {
    if (!fused_is_on_side(e, &e->k->nest.at[n])) continue;
    team_emit(all, n);
    emit_line(e, "TEAM_SYNC();");
    any = true;
  }
  if (fits_32_bits(e->p, e->k, &c)) use_32_bits(&body);
  e->b = &t->part[c.part];
  e->indent = 0;
  if (!any) return;
  emit_line(e, "PART(limn_beside%u, Wires%u, %u)", i, c.emit.fn, WARP);
  buf_add(e->b, body.at, body.n);
  emit_line(e, "}");
}

// -- epilogues of products ------------------------------------------------------------------------
// Declares the epilogue's loop indices for a group of the product's indices, from its linear index `of`.
static void epilogue_digits(Emit *e, const char *of, const uint32_t *group, uint32_t n) {
  const PlanNode *x = &e->p->node.at[e->k->node.at[0]];
  uint32_t index[PLAN_AXES];
  operand_is_permutation(e->p, &x->out, index);
  emit_line(e, "unsigned %s_left = (unsigned)%s;", of, of);
  for (uint32_t i = n; i-- > 0;) {
    const char *length = emit_extent(e, x->index[group[i]]);
    for (uint32_t axis = 0; axis < e->p->wire.at[x->out.wire].rank; axis++)
      if (index[axis] == group[i])
        emit_line(e, "const long i%u = %s_left%s;", epilogue_loop(e->p, e->k, axis), of,
                  i ? arena_format(e->p->arena, " %% (unsigned)%s", length) : "");
    if (i) emit_line(e, "%s_left /= (unsigned)%s;", of, length);
  }
}

static void epilogue_begin(Emit *e) {
  const Product *q = e->p->node.at[e->k->node.at[0]].product;
  emit_wires(e);
  epilogue_digits(e, "y", q->m, q->nm);
  epilogue_digits(e, "x", q->n, q->nn);
  epilogue_digits(e, "t", q->batch, q->nbatch);
}

// Operands of an epilogue are loaded before the product is computed: a load takes as long as a small
// product, and loads may not pass the stores of other cells.
static bool is_preloaded_operand(const Emit *e, const NodeLevels *w, uint32_t k) {
  const Operand *o = &w->x->in[k];
  uint32_t maker;
  return e->p->wire.at[o->wire].base == BASE_R && !operand_checked(e->p, o) &&
         operand_is_affine(e->p, o) && !producer_in_nest(e->p, e->k, w, o->wire, &maker);
}

// Prints the fields for these operands, and their loads.
static void emit_epilogue_loads(Emit *e, NodeLevels *w, uint32_t n, Buf *fields) {
  e->preload_struct = false;
  epilogue_begin(e);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nin; k++) {
      if (!is_preloaded_operand(e, &w[i], k)) continue;
      bool wide = e->p->wire.at[w[i].x->in[k].wire].number == NUMBER_F64;
      buf_printf(fields, "%s early%u_%u; ", wide ? "double" : "float", w[i].id, k);
      emit_line(e, "read->early%u_%u = %s;", w[i].id, k, emit_load(e, &w[i], k));
      w[i].preloaded[k] = true;
    }
}

static void emit_epilogue(Emit *e, const NodeLevels *w) {
  const Nest *s = &e->k->nest.at[0];
  e->preload_struct = true;
  epilogue_begin(e);
  cuda_uniforms(e, w, s->node.n);
  for (uint32_t level = 0; level <= s->ndim; level++) emit_level(e, w, s->node.n, level, s->ndim);
}

// Prints epilogue i: its arguments, the struct of preloaded operands, the function that loads them, and the
// function that computes a cell.
static void write_epilogue(Buf *text, uint32_t i, uint32_t slots, const Buf *fields,
                           const Buf *reads, const Buf *body) {
  buf_printf(text, "typedef struct { LIMN_PRODUCT_FIELDS char *at[%u]; } LimnProduct%u;\n",
             slots + 1, i);
  buf_printf(text, "typedef struct { %s} limn_finish%u_read;\n",
             fields->n ? fields->at : "int none; ", i);
  buf_printf(text,
             "INLINE void limn_finish%u_first(const Context *c, LimnProduct%u wires, int y, int x, "
             "int t, limn_finish%u_read *read) {\n%s}\n",
             i, i, i, reads->at);
  buf_printf(text,
             "INLINE void limn_finish%u(const Context *c, LimnProduct%u wires, int y, int x, "
             "int t, float v0, limn_finish%u_read read) {\n%s}\n",
             i, i, i, body->at);
}

void emit_epilogues(Plan *p, CudaKernel *kernel, Buf *text) {
  Emit e = {.p = p, .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1), .lanes = true};
  Table *known = table_new(p->arena);
  const Ids *slot = kernel_slots(p);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Buf reads = buf_new(p->arena), fields = buf_new(p->arena), body = buf_new(p->arena);
    e.k = &p->kernel.at[i];
    if (e.k->kind != KERNEL_PRODUCT || !e.k->nest.n) continue;
    kernel[i].emit.slot = slot[i];
    e.entry = &kernel[i].emit;
    e.indent = 1;
    NodeLevels *w = nest_levels(p, e.k, 0);
    e.b = &reads;
    emit_epilogue_loads(&e, w, e.k->nest.at[0].node.n, &fields);
    e.b = &body;
    emit_epilogue(&e, w);
    if (fits_32_bits(p, e.k, &kernel[i])) {
      use_32_bits(&reads);
      use_32_bits(&body);
    }
    Buf both = buf_new(p->arena);
    buf_printf(&both, "%s%s", reads.at, body.at);
    Id found = table_get(known, both.at, both.n);
    kernel[i].emit.fn = found ? found - 1 : i;
    if (found) continue;
    table_put(known, both.at, both.n, i + 1);
    write_epilogue(text, i, slot[i].n, &fields, &reads, &body);
  }
}

void emit_cuda(Plan *p, CudaKernel *kernel, CudaFusedStep *whole, Buf *part, uint32_t parts) {
  Emit e = {.p = p, .b = part, .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1), .lanes = true};
  CudaText t = {part, parts, table_new(p->arena), kernel};
  const Ids *slot = kernel_slots(p);
  const FusedStep *w = fused_new(&e, kernel, whole);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    kernel[i].emit.slot = slot[i];
    fused_before(w, i);
    if (kernel_has_text(&p->kernel.at[i])) emit_kernel(&e, &t, i, whole->lanes);
    if (whole->threads > whole->lanes && kernel_has_text(&p->kernel.at[i]))
      emit_side_kernel(&e, &t, i);
  }
  e.b = part;
  fused_emit(w);
}
