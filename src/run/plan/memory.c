// Memory of wires. A value that one nest makes and reads is a register. A value that lives within
// one point of a kernel is in the thread's scratch (a tile). The next value of a state overwrites
// the state in place if nothing reads the old value later. All other wires share one arena: first
// fit, by size or by length of live range, and wires whose live ranges overlap share no bytes.
//
// A wire from outside a scan that is read inside stays live until the scan ends.
#include "run/plan/plan.h"

#include <stdlib.h>

enum { ALIGN = 64, MOST_FIRST_FIT = 1024 };
enum { LEAST_GAIN = 32 }; // least gain of the order by live ranges: one part of so many

static int64_t bytes_of(const PlanWire *w) {
  return (w->count * (int64_t)number_bytes(w->number) + ALIGN - 1) / ALIGN * ALIGN;
}

// -- live ranges ----------------------------------------------------------------------------------
static bool is_placed(const PlanNode *x) { return x->kind != NODE_GONE && x->kernel != PLAN_NONE; }

static bool is_reading(const PlanNode *x) {
  return is_placed(x) && x->kind != NODE_SCAN && x->kind != NODE_SCAN_END;
}

static void extend_live_range(Plan *p, uint32_t wire, uint32_t kernel) {
  PlanWire *w = &p->wire.at[wire_root(p, wire)];
  if (w->first == PLAN_NONE) w->first = w->last = kernel;
  if (kernel < w->first) w->first = kernel;
  if (kernel > w->last) w->last = kernel;
}

// A wire that crosses the border of a scan is live in the whole scan. Inner scans first: they end
// first.
static void extend_through_scans(Plan *p) {
  VEC(uint32_t) open = {0};
  for (uint32_t end = 0; end < p->kernel.n; end++) {
    if (p->kernel.at[end].kind == KERNEL_SCAN) vec_push(p->arena, &open, end);
    if (p->kernel.at[end].kind != KERNEL_SCAN_END) continue;
    uint32_t begin = open.at[--open.n];
    for (uint32_t i = 0; i < p->wire.n; i++) {
      PlanWire *w = &p->wire.at[i];
      if (w->first == PLAN_NONE) continue;
      if (w->first < begin && w->last > begin && w->last < end) w->last = end;
      if (w->first > begin && w->first < end && w->last > end) w->first = begin;
    }
  }
}

// Before fusion each node counts as a kernel.
static uint32_t program_points(const Plan *p) { return p->kernel.n ? p->kernel.n : p->node.n; }

static void find_live_ranges(Plan *p) {
  for (uint32_t i = 0; i < p->wire.n; i++) p->wire.at[i].first = p->wire.at[i].last = PLAN_NONE;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    uint32_t place = p->kernel.n ? x->kernel : i;
    bool reads = x->kind != NODE_GONE && x->kind != NODE_SCAN && x->kind != NODE_SCAN_END;
    for (uint32_t k = 0; reads && place != PLAN_NONE && k < node_wires(x); k++)
      if (node_wire(x, k) != PLAN_NONE) extend_live_range(p, node_wire(x, k), place);
  }
  for (uint32_t i = 0; i < p->out.n; i++) extend_live_range(p, p->out.at[i], program_points(p));
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE) extend_live_range(p, p->next.at[i], program_points(p));
  extend_through_scans(p);
}

// -- registers and tiles --------------------------------------------------------------------------
static bool plain_nest(const PlanNode *x) {
  return x->kind == NODE_NEST && !x->scatter && !node_has_reduction(x);
}

// May other nodes of its kernel use what this node makes without memory?
static bool is_joined(const Plan *p, const PlanNode *x) {
  const Kernel *k = &p->kernel.at[x->kernel];
  return k->kind == KERNEL_LOOPS || (k->kind == KERNEL_PRODUCT && k->nest.n);
}

static void find_local(Plan *p) {
  uint32_t *kernel = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1),
           *nest = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1);
  bool *local = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *held = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *many_makers = NEW_ARRAY(p->arena, bool, p->wire.n + 1), // made by several kernels
           *used = NEW_ARRAY(p->arena, bool, p->wire.n + 1);    // accessed by some kernel
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (!is_placed(x)) continue;
    for (uint32_t k = 0; k < node_wires(x); k++)
      if (node_wire(x, k) != PLAN_NONE) used[node_wire(x, k)] = true;
    if (!is_joined(p, x)) continue;
    for (uint32_t k = 0; k <= x->nwinner; k++) {
      uint32_t w = k ? x->winner[k - 1] : x->out.wire;
      if (w == PLAN_NONE || p->wire.at[w].place != AT_NOWHERE ||
          p->wire.at[w].alias_of != PLAN_NONE || p->wire.at[w].needs_memory)
        continue;
      many_makers[w] |= local[w] && kernel[w] != x->kernel;
      local[w] = true;
      held[w] = plain_nest(x) || p->kernel.at[x->kernel].kind == KERNEL_PRODUCT;
      kernel[w] = x->kernel;
      nest[w] = x->nest;
    }
  }
  for (uint32_t i = 0; i < p->wire.n; i++) // a wire with an alias in memory is in memory
    if (p->wire.at[i].alias_of != PLAN_NONE && (used[i] || p->wire.at[i].needs_memory))
      local[p->wire.at[i].alias_of] = false;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; is_placed(x) && k < x->nin; k++) {
      uint32_t w = x->in[k].wire;
      if (x->kernel != kernel[w]) local[w] = false;
      if (x->nest != nest[w] || x->kind != NODE_NEST) held[w] = false;
    }
  }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (local[i] && !many_makers[i]) p->wire.at[i].place = held[i] ? AT_REGISTER : AT_TILE;
}

static void drop_block_terms(Plan *p, const Kernel *k, const PlanNode *x, PlanCoord *c) {
  PlanTerm *term = NEW_ARRAY(p->arena, PlanTerm, c->n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->term[i].operand || x->var[c->term[i].var] != k->np - 1) term[n++] = c->term[i];
  c->term = term;
  c->n = n;
}

// A wire inside a kernel with a blocked loop holds one block: coordinates along that axis become
// those in the block, in every access.
static void shrink_to_block(Plan *p, const Kernel *k, const PlanNode *x, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  Extent rows;
  for (uint32_t axis = 0; axis < w->rank; axis++) {
    if (!operand_block(p, k, x, &x->out, axis, &rows)) continue;
    w->shape[axis] = rows;
    for (uint32_t i = 0; i < k->node.n; i++) {
      PlanNode *y = &p->node.at[k->node.at[i]];
      for (uint32_t v = 0; v < y->nin; v++)
        if (y->in[v].wire == wire) drop_block_terms(p, k, y, &y->in[v].coord[axis]);
      if (y->out.wire == wire) drop_block_terms(p, k, y, &y->out.coord[axis]);
    }
  }
}

// Axes that are parallel loops have stride 0: each point has its own tile.
static void place_tile(Plan *p, const PlanNode *x, uint32_t wire, Kernel *k) {
  PlanWire *w = &p->wire.at[wire];
  uint32_t index;
  w->at = k->tile_bytes;
  if (k->np) w->count = 1;
  if (k->block) shrink_to_block(p, k, x, wire);
  for (uint32_t i = k->np ? w->rank : 0; i-- > 0;) {
    bool parallel = operand_axis_is_index(p, &x->out, i, &index) && x->var[index] < k->np;
    w->stride[i] = parallel ? 0 : w->count;
    if (!parallel) w->count *= extent_most(p, w->shape[i]);
  }
  k->tile_bytes += bytes_of(w);
}

static void place_tiles(Plan *p) {
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Kernel *k = &p->kernel.at[i];
    for (uint32_t j = 0; k->kind == KERNEL_LOOPS && j < k->node.n; j++) {
      const PlanNode *x = &p->node.at[k->node.at[j]];
      for (uint32_t v = 0; v <= x->nwinner; v++) {
        uint32_t w = v ? x->winner[v - 1] : x->out.wire;
        if (w != PLAN_NONE && p->wire.at[w].place == AT_TILE) place_tile(p, x, w, k);
      }
    }
    if (k->tile_bytes > p->scratch_bytes) p->scratch_bytes = k->tile_bytes;
  }
}

// -- in-place updates of states -------------------------------------------------------------------
// Do both operands always access the same cell of a state? begin_a, begin_b: first cells of their
// wires.
static bool same_cell(const Plan *p, const PlanNode *x, const Operand *a, int64_t begin_a,
                      const PlanNode *y, int64_t begin_b) {
  const Kernel *k = &p->kernel.at[y->kernel];
  const Operand *b = &y->out;
  if (begin_a + operand_start(p, a) != begin_b + operand_start(p, b)) return false;
  for (uint32_t v = 0; v < k->np + k->nest.at[y->nest].ndim; v++) {
    int64_t s = 0, t = 0;
    for (uint32_t i = 0; i < x->nindex; i++)
      if (x->var[i] == v) s += operand_step(p, a, i);
    for (uint32_t i = 0; i < y->nindex; i++)
      if (y->var[i] == v) t += operand_step(p, b, i);
    if (s != t) return false;
  }
  for (uint32_t i = 0; i < p->wire.at[a->wire].rank; i++)
    for (uint32_t t = 0; t < a->coord[i].n; t++)
      if (a->coord[i].term[t].operand) return false;
  return true;
}

// Makers and readers of wires among the nodes in kernels.
typedef struct {
  uint32_t *maker;       // [wire] a node; PLAN_NONE: none
  bool *many_makers;     // [wire] several nodes make it
  bool *whole;           // [wire] it has aliases
  uint32_t *first;       // [wire + 1] first of its readers in `reader`
  uint32_t *reader;      // nodes, in their order
  uint32_t after_losses; // the first kernel after the losses
  uint32_t copies;       // the kernel that copies what is made before the losses; PLAN_NONE: none
} Uses;

static Uses find_uses(const Plan *p) {
  uint32_t n = p->wire.n, all = 0;
  Uses u = {.maker = plan_nones(p, n),
            .many_makers = NEW_ARRAY(p->arena, bool, n + 1),
            .whole = NEW_ARRAY(p->arena, bool, n + 1),
            .first = NEW_ARRAY(p->arena, uint32_t, n + 2),
            .after_losses = plan_after_losses(p),
            .copies = PLAN_NONE};
  for (uint32_t i = 0; i < n; i++)
    if (p->wire.at[i].alias_of != PLAN_NONE) u.whole[p->wire.at[i].alias_of] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (!is_placed(x)) continue;
    if (x->out.wire < n) {
      u.many_makers[x->out.wire] |= u.maker[x->out.wire] != PLAN_NONE;
      u.maker[x->out.wire] = i;
    }
    for (uint32_t k = 0; is_reading(x) && k < x->nin; k++, all++)
      u.first[wire_root(p, x->in[k].wire) + 1]++;
  }
  for (uint32_t i = 0; i < n; i++) u.first[i + 1] += u.first[i];
  uint32_t *next = arena_copy(p->arena, u.first, (n + 1) * sizeof *next);
  u.reader = NEW_ARRAY(p->arena, uint32_t, all + 1);
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; is_reading(x) && k < x->nin; k++)
      u.reader[next[wire_root(p, x->in[k].wire)]++] = i;
  }
  return u;
}

// May the maker of the next value, or of a part of it, overwrite the state? All readers of those
// cells must run before, or read each cell where it is written. The losses must be known, since a
// step with a loss that is not finite changes nothing.
static bool may_overwrite(const Plan *p, const Uses *u, uint32_t state, const PlanPart *part) {
  const PlanWire *w = &p->wire.at[part->wire];
  uint32_t maker = u->maker[part->wire];
  if (w->alias_of != PLAN_NONE || w->place != AT_NOWHERE || w->number != p->wire.at[state].number ||
      u->whole[part->wire] || maker == PLAN_NONE || u->many_makers[part->wire])
    return false;
  const PlanNode *y = &p->node.at[maker];
  if (y->depth || y->kind != NODE_NEST || y->scatter || y->kernel < u->after_losses) return false;
  for (uint32_t r = u->first[state]; r < u->first[state + 1]; r++) {
    uint32_t i = u->reader[r];
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; k < x->nin; k++) {
      int64_t from, to;
      if (wire_root(p, x->in[k].wire) != state || x->kernel < y->kernel) continue;
      wire_cells(p, x->in[k].wire, &from, &to);
      if (to <= part->offset || from >= part->offset + w->count) continue;
      if (x->kernel > y->kernel || x->nest != y->nest || i > maker || x->kind != NODE_NEST ||
          !plain_nest(y) || !is_joined(p, y) || !same_cell(p, x, &x->in[k], from, y, part->offset))
        return false;
    }
  }
  return true;
}

// The parts of a param's next value; the whole value is one part if it is not split.
typedef VEC(PlanPart) Parts;
static Parts parts_of(const Plan *p, uint32_t param) {
  Parts parts = {0};
  for (uint32_t i = 0; i < p->part.n; i++)
    if (p->part.at[i].param == param) vec_push(p->arena, &parts, p->part.at[i]);
  if (!parts.n) vec_push(p->arena, &parts, ((PlanPart){.wire = p->next.at[param], .param = param}));
  return parts;
}

static bool may_overwrite_all(const Plan *p, const Uses *u, uint32_t state, const Parts *parts) {
  int64_t cells = 0;
  for (uint32_t i = 0; i < parts->n; i++) {
    if (!may_overwrite(p, u, state, &parts->at[i])) return false;
    cells += p->wire.at[parts->at[i].wire].count;
  }
  return cells == p->wire.at[state].count;
}

static void alias_parts(Plan *p, const Parts *parts, uint32_t wire) {
  for (uint32_t i = 0; i < parts->n; i++) {
    PlanWire *w = &p->wire.at[parts->at[i].wire];
    if (parts->at[i].wire == wire) continue;
    w->alias_of = wire;
    w->offset = parts->at[i].offset;
  }
}

// Copies the next value at the end of the step. Values that are made before the losses, such as
// running means of norms, share one copy kernel.
static void push_copy(Plan *p, Uses *u, uint32_t state, uint32_t next) {
  uint32_t maker = u->maker[next], at = p->kernel.n;
  bool before =
      maker != PLAN_NONE && !u->many_makers[next] && p->node.at[maker].kernel < u->after_losses;
  if (before && u->copies != PLAN_NONE) at = u->copies;
  if (at == p->kernel.n) vec_push(p->arena, &p->kernel, ((Kernel){.kind = KERNEL_COPY}));
  if (before) u->copies = at;
  Kernel *copy = &p->kernel.at[at];
  copy->work += p->wire.at[state].count;
  vec_push(p->arena, &copy->to, state);
  vec_push(p->arena, &copy->from, next);
}

static void place_states(Plan *p) {
  Uses u = find_uses(p);
  // [wire] an output, or the next value of another state
  bool *taken = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  for (uint32_t i = 0; i < p->out.n; i++) taken[wire_root(p, p->out.at[i])] = true;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t next = p->next.at[i], state = p->param.at[i];
    if (next == PLAN_NONE) continue;
    Parts parts = parts_of(p, i);
    bool over = !taken[next] && may_overwrite_all(p, &u, state, &parts);
    alias_parts(p, &parts, next);
    taken[next] = true;
    if (over) {
      p->wire.at[next].place = AT_STATE;
      p->wire.at[next].number_of = i;
      continue;
    }
    push_copy(p, &u, state, next);
  }
}

// -- the arena ------------------------------------------------------------------------------------
typedef struct {
  uint32_t wire;
  int64_t bytes;
  uint32_t life; // kernels in its live range, less one
} Allocation;

typedef struct {
  uint32_t wire, first, last, place;
} LiveRange;

static int larger_first(const void *a, const void *b) {
  const Allocation *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->wire < y->wire ? -1 : 1;
}

static int longer_first(const void *a, const void *b) {
  const Allocation *x = a, *y = b;
  if (x->life != y->life) return x->life < y->life ? 1 : -1;
  return larger_first(a, b);
}

static int earlier_first(const void *a, const void *b) {
  const LiveRange *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->wire < y->wire ? -1 : x->wire > y->wire;
}

// -- many tensors of one size: each reuses a place whose live range has ended, or gets a new one --
static void sift_down(LiveRange *heap, uint32_t n) {
  for (uint32_t i = 0;;) {
    uint32_t least = i, left = 2 * i + 1;
    for (uint32_t k = left; k < left + 2 && k < n; k++)
      if (heap[k].last < heap[least].last) least = k;
    if (least == i) return;
    LiveRange swap = heap[i];
    heap[i] = heap[least], heap[least] = swap;
    i = least;
  }
}

static void heap_push(LiveRange *heap, uint32_t n, LiveRange x) {
  uint32_t i = n;
  for (; i && heap[(i - 1) / 2].last > x.last; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = x;
}

static void place_equal_sizes(Plan *p, const Allocation *tensor, uint32_t n) {
  LiveRange *life = NEW_ARRAY(p->arena, LiveRange, n), *heap = NEW_ARRAY(p->arena, LiveRange, n);
  uint32_t live = 0, program_points = 0;
  int64_t bytes = tensor[0].bytes, base = p->arena_bytes;
  for (uint32_t i = 0; i < n; i++) {
    const PlanWire *w = &p->wire.at[tensor[i].wire];
    life[i] = (LiveRange){tensor[i].wire, w->first, w->last, 0};
  }
  qsort(life, n, sizeof *life, earlier_first);
  for (uint32_t i = 0; i < n; i++) {
    LiveRange x = life[i];
    if (live && heap[0].last < x.first) {
      x.place = heap[0].place;
      heap[0] = x;
      sift_down(heap, live);
    } else {
      x.place = program_points++;
      heap_push(heap, live++, x);
    }
    p->wire.at[x.wire].at = base + bytes * x.place;
  }
  p->arena_bytes = base + bytes * program_points;
}

static int by_place(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return x[0] < y[0] ? -1 : x[0] > y[0];
}

// First fit: the lowest gap that is wide enough, among tensors with overlapping live ranges.
static void place_first_fit(Plan *p, const Allocation *tensor, uint32_t n) {
  int64_t(*taken)[2] = (void *)NEW_ARRAY(p->arena, int64_t, 2 * (size_t)n + 2);
  for (uint32_t i = 0; i < n; i++) {
    PlanWire *w = &p->wire.at[tensor[i].wire];
    uint32_t m = 0;
    for (uint32_t k = 0; k < i; k++) {
      const PlanWire *o = &p->wire.at[tensor[k].wire];
      if (o->last < w->first || o->first > w->last) continue;
      taken[m][0] = o->at;
      taken[m++][1] = o->at + tensor[k].bytes;
    }
    if (m) qsort(taken, m, sizeof *taken, by_place);
    int64_t at = 0;
    for (uint32_t k = 0; k < m && taken[k][0] < at + tensor[i].bytes; k++)
      if (taken[k][1] > at) at = taken[k][1];
    w->at = at;
    if (at + tensor[i].bytes > p->arena_bytes) p->arena_bytes = at + tensor[i].bytes;
  }
}

// First fit compares all pairs. Beyond a limit, the remaining small tensors are placed by size.
static void place_all(Plan *p, const Allocation *tensor, uint32_t n) {
  uint32_t fitted = n < MOST_FIRST_FIT ? n : MOST_FIRST_FIT;
  p->arena_bytes = 0;
  place_first_fit(p, tensor, fitted);
  for (uint32_t i = fitted, end; i < n; i = end) {
    for (end = i + 1; end < n && tensor[end].bytes == tensor[i].bytes;) end++;
    place_equal_sizes(p, tensor + i, end - i);
  }
}

// The peak of live bytes, a lower bound of any arena.
static int64_t peak_bytes(const Plan *p, const Allocation *tensor, uint32_t n) {
  int64_t *more = NEW_ARRAY(p->arena, int64_t, program_points(p) + 2), now = 0, most = 0;
  for (uint32_t i = 0; i < n; i++) {
    more[p->wire.at[tensor[i].wire].first] += tensor[i].bytes;
    more[p->wire.at[tensor[i].wire].last + 1] -= tensor[i].bytes;
  }
  for (uint32_t i = 0; i <= program_points(p); i++) {
    now += more[i];
    if (now > most) most = now;
  }
  return most;
}

int64_t plan_peak_bytes(Plan *p) {
  VEC(Allocation) tensor = {0};
  find_live_ranges(p);
  for (uint32_t i = 0; i < p->wire.n; i++) {
    const PlanWire *w = &p->wire.at[i];
    // Wires of one kernel may be tiles
    if (w->place == AT_NOWHERE && w->alias_of == PLAN_NONE && w->first != w->last)
      vec_push(p->arena, &tensor, ((Allocation){.wire = i, .bytes = bytes_of(w)}));
  }
  return peak_bytes(p, tensor.at, tensor.n);
}

// Places tensors one after the other if all fit into the device's cache: kernels whose wires share
// no bytes may run concurrently.
static bool place_unshared(Plan *p, const Allocation *tensor, uint32_t n) {
  int64_t all = 0;
  for (uint32_t i = 0; i < n; i++) all += tensor[i].bytes;
  if (all > p->target->unshared_bytes) return false;
  p->arena_bytes = 0;
  for (uint32_t i = 0; i < n; i++) {
    p->wire.at[tensor[i].wire].at = p->arena_bytes;
    p->arena_bytes += tensor[i].bytes;
  }
  return true;
}

// The order by size leaves gaps where small tensors live long; the order by live ranges may need
// less. But with that more tensors share bytes, and their kernels cannot run concurrently, so it
// must gain enough.
static void place_arena(Plan *p) {
  VEC(Allocation) tensor = {0};
  for (uint32_t i = 0; i < p->wire.n; i++) {
    PlanWire *w = &p->wire.at[i];
    if (w->place != AT_NOWHERE || w->alias_of != PLAN_NONE || w->first == PLAN_NONE) continue;
    w->place = AT_ARENA;
    vec_push(p->arena, &tensor, ((Allocation){i, bytes_of(w), w->last - w->first}));
  }
  if (!tensor.n) return;
  qsort(tensor.at, tensor.n, sizeof(Allocation), larger_first);
  if (place_unshared(p, tensor.at, tensor.n)) return;
  place_all(p, tensor.at, tensor.n);
  int64_t by_size = p->arena_bytes;
  if (tensor.n > MOST_FIRST_FIT || by_size == peak_bytes(p, tensor.at, tensor.n)) return;
  Allocation *long_first = arena_copy(p->arena, tensor.at, tensor.n * sizeof *long_first);
  qsort(long_first, tensor.n, sizeof *long_first, longer_first);
  place_all(p, long_first, tensor.n);
  if (p->arena_bytes > by_size - by_size / LEAST_GAIN) place_all(p, tensor.at, tensor.n);
}

void plan_memory(Plan *p) {
  find_local(p);
  place_states(p);
  find_live_ranges(p);
  place_tiles(p);
  place_arena(p);
}

bool kernel_writes_state(const Plan *p, const Kernel *k) {
  if (k->kind == KERNEL_COPY) return true;
  for (uint32_t j = 0; j < k->node.n; j++) {
    const PlanNode *x = &p->node.at[k->node.at[j]];
    if (x->kind != NODE_SCAN && x->kind != NODE_SCAN_END &&
        p->wire.at[wire_root(p, x->out.wire)].place == AT_STATE)
      return true;
  }
  return false;
}

uint32_t plan_first_state_write(const Plan *p) {
  uint32_t first = 0;
  while (first < p->kernel.n && !kernel_writes_state(p, &p->kernel.at[first])) first++;
  return first;
}
