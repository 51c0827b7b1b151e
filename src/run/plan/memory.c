// Where wires live. What is made and read in one nest lives in registers; what stays within one
// point of a kernel lives in the thread's scratch; the next value of a state is written over the
// old one where nothing reads the old one later; everything else gets an offset in one arena,
// largest first or longest in life first, first fit, two wires sharing bytes when they are not alive
// at the same time.
//
// A wire that comes from outside a scan and is read inside must last to the end of the scan.
#include "run/plan/plan.h"

#include <stdlib.h>

enum { ALIGN = 64, FIT_LIMIT = 1024 };
enum { LIVES_SAVE = 32 }; // one part of so many, at least

static int64_t bytes_of(const PlanWire *w) {
  return (w->count * (int64_t)number_bytes(w->number) + ALIGN - 1) / ALIGN * ALIGN;
}

// -- lifetimes ------------------------------------------------------------------------------------
static bool is_placed(const PlanNode *x) { return x->kind != NODE_GONE && x->kernel != PLAN_NONE; }

static bool is_reading(const PlanNode *x) {
  return is_placed(x) && x->kind != NODE_SCAN && x->kind != NODE_SCAN_END;
}

static void touch(Plan *p, uint32_t wire, uint32_t kernel) {
  PlanWire *w = &p->wire.at[wire_root(p, wire)];
  if (w->first == PLAN_NONE) w->first = w->last = kernel;
  if (kernel < w->first) w->first = kernel;
  if (kernel > w->last) w->last = kernel;
}

// What crosses the border of a scan lives in all of it. Inner scans come first: they end first.
static void live_through_scans(Plan *p) {
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

// While there are no kernels, each node is one.
static uint32_t places(const Plan *p) { return p->kernel.n ? p->kernel.n : p->node.n; }

static void find_lives(Plan *p) {
  for (uint32_t i = 0; i < p->wire.n; i++) p->wire.at[i].first = p->wire.at[i].last = PLAN_NONE;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    uint32_t place = p->kernel.n ? x->kernel : i;
    bool reads = x->kind != NODE_GONE && x->kind != NODE_SCAN && x->kind != NODE_SCAN_END;
    for (uint32_t k = 0; reads && place != PLAN_NONE && k < node_wires(x); k++)
      if (node_wire(x, k) != PLAN_NONE) touch(p, node_wire(x, k), place);
  }
  for (uint32_t i = 0; i < p->out.n; i++) touch(p, p->out.at[i], places(p));
  for (uint32_t i = 0; i < p->next.n; i++)
    if (p->next.at[i] != PLAN_NONE) touch(p, p->next.at[i], places(p));
  live_through_scans(p);
}

// -- registers and tiles --------------------------------------------------------------------------
static bool plain_nest(const PlanNode *x) {
  return x->kind == NODE_NEST && !x->scatter && !node_sums(x);
}

// Is what this node makes seen by the other nodes of its kernel?
static bool is_joined(const Plan *p, const PlanNode *x) {
  const Kernel *k = &p->kernel.at[x->kernel];
  return k->kind == KERNEL_LOOPS || (k->kind == KERNEL_PRODUCT && k->nest.n);
}

static void find_local(Plan *p) {
  uint32_t *kernel = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1),
           *nest = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1);
  bool *local = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *held = NEW_ARRAY(p->arena, bool, p->wire.n + 1),
       *several = NEW_ARRAY(p->arena, bool, p->wire.n + 1),  // made in pieces, by several kernels
           *used = NEW_ARRAY(p->arena, bool, p->wire.n + 1); // by some kernel
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (!is_placed(x)) continue;
    for (uint32_t k = 0; k < node_wires(x); k++)
      if (node_wire(x, k) != PLAN_NONE) used[node_wire(x, k)] = true;
    if (!is_joined(p, x)) continue;
    for (uint32_t k = 0; k <= x->nwinner; k++) {
      uint32_t w = k ? x->winner[k - 1] : x->out.wire;
      if (w == PLAN_NONE || p->wire.at[w].place != AT_NOWHERE || p->wire.at[w].of != PLAN_NONE ||
          p->wire.at[w].kept)
        continue;
      several[w] |= local[w] && kernel[w] != x->kernel;
      local[w] = true;
      held[w] = plain_nest(x) || p->kernel.at[x->kernel].kind == KERNEL_PRODUCT;
      kernel[w] = x->kernel;
      nest[w] = x->nest;
    }
  }
  for (uint32_t i = 0; i < p->wire.n; i++) // a part of it lies in memory: so does it
    if (p->wire.at[i].of != PLAN_NONE && (used[i] || p->wire.at[i].kept))
      local[p->wire.at[i].of] = false;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; is_placed(x) && k < x->nin; k++) {
      uint32_t w = x->in[k].wire;
      if (x->kernel != kernel[w]) local[w] = false;
      if (x->nest != nest[w] || x->kind != NODE_NEST) held[w] = false;
    }
  }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (local[i] && !several[i]) p->wire.at[i].place = held[i] ? AT_REGISTER : AT_TILE;
}

static void drop_blocks(Plan *p, const Kernel *k, const PlanNode *x, PlanCoord *c) {
  PlanTerm *term = NEW_ARRAY(p->arena, PlanTerm, c->n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->term[i].operand || x->var[c->term[i].var] != k->np - 1) term[n++] = c->term[i];
  c->term = term;
  c->n = n;
}

// A wire inside a kernel that takes a loop in blocks holds one block: places along that axis are
// those in the block, in every access.
static void hold_block(Plan *p, const Kernel *k, const PlanNode *x, uint32_t wire) {
  PlanWire *w = &p->wire.at[wire];
  Extent rows;
  for (uint32_t axis = 0; axis < w->rank; axis++) {
    if (!operand_block(p, k, x, &x->out, axis, &rows)) continue;
    w->shape[axis] = rows;
    for (uint32_t i = 0; i < k->node.n; i++) {
      PlanNode *y = &p->node.at[k->node.at[i]];
      for (uint32_t v = 0; v < y->nin; v++)
        if (y->in[v].wire == wire) drop_blocks(p, k, y, &y->in[v].coord[axis]);
      if (y->out.wire == wire) drop_blocks(p, k, y, &y->out.coord[axis]);
    }
  }
}

// Axes that are parallel loops are the same cell at every point: step 0.
static void lay_tile(Plan *p, const PlanNode *x, uint32_t wire, Kernel *k) {
  PlanWire *w = &p->wire.at[wire];
  uint32_t index;
  w->at = k->tile_bytes;
  if (k->np) w->count = 1;
  if (k->block) hold_block(p, k, x, wire);
  for (uint32_t i = k->np ? w->rank : 0; i-- > 0;) {
    bool parallel = operand_plain(p, &x->out, i, &index) && x->var[index] < k->np;
    w->stride[i] = parallel ? 0 : w->count;
    if (!parallel) w->count *= extent_most(p, w->shape[i]);
  }
  k->tile_bytes += bytes_of(w);
}

static void lay_tiles(Plan *p) {
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    Kernel *k = &p->kernel.at[i];
    for (uint32_t j = 0; k->kind == KERNEL_LOOPS && j < k->node.n; j++) {
      const PlanNode *x = &p->node.at[k->node.at[j]];
      for (uint32_t v = 0; v <= x->nwinner; v++) {
        uint32_t w = v ? x->winner[v - 1] : x->out.wire;
        if (w != PLAN_NONE && p->wire.at[w].place == AT_TILE) lay_tile(p, x, w, k);
      }
    }
    if (k->tile_bytes > p->scratch_bytes) p->scratch_bytes = k->tile_bytes;
  }
}

// -- states in place ------------------------------------------------------------------------------
// Are both operands always the same cell of a state, in which their wires begin at these?
static bool same_place(const Plan *p, const PlanNode *x, const Operand *a, int64_t begin_a,
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

// What makes and what reads a wire, of those that are in kernels.
typedef struct {
  uint32_t *maker;  // [wire] a node; PLAN_NONE: none
  bool *several;    // [wire] it has more than one
  bool *whole;      // [wire] others are parts of it
  uint32_t *first;  // [wire + 1] of its readers
  uint32_t *reader; // nodes, in their order
  uint32_t behind;  // the first kernel behind the losses
  uint32_t copies;  // the kernel that copies what is made before; PLAN_NONE: none does
} Uses;

static Uses find_uses(const Plan *p) {
  uint32_t n = p->wire.n, all = 0;
  Uses u = {.maker = plan_nones(p, n),
            .several = NEW_ARRAY(p->arena, bool, n + 1),
            .whole = NEW_ARRAY(p->arena, bool, n + 1),
            .first = NEW_ARRAY(p->arena, uint32_t, n + 2),
            .behind = plan_behind_losses(p),
            .copies = PLAN_NONE};
  for (uint32_t i = 0; i < n; i++)
    if (p->wire.at[i].of != PLAN_NONE) u.whole[p->wire.at[i].of] = true;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (!is_placed(x)) continue;
    if (x->out.wire < n) {
      u.several[x->out.wire] |= u.maker[x->out.wire] != PLAN_NONE;
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

// May the node that makes the next value, or a part of it, write it over the state? All that read those cells must have done
// so, or do it where they are written; and losses must be known, since a step in which one is not finite changes nothing.
static bool may_overwrite(const Plan *p, const Uses *u, uint32_t state, const PlanPart *part) {
  const PlanWire *w = &p->wire.at[part->wire];
  uint32_t maker = u->maker[part->wire];
  if (w->of != PLAN_NONE || w->place != AT_NOWHERE || w->number != p->wire.at[state].number ||
      u->whole[part->wire] || maker == PLAN_NONE || u->several[part->wire])
    return false;
  const PlanNode *y = &p->node.at[maker];
  if (y->depth || y->kind != NODE_NEST || y->scatter || y->kernel < u->behind) return false;
  for (uint32_t r = u->first[state]; r < u->first[state + 1]; r++) {
    uint32_t i = u->reader[r];
    const PlanNode *x = &p->node.at[i];
    for (uint32_t k = 0; k < x->nin; k++) {
      int64_t from, to;
      if (wire_root(p, x->in[k].wire) != state || x->kernel < y->kernel) continue;
      wire_cells(p, x->in[k].wire, &from, &to);
      if (to <= part->offset || from >= part->offset + w->count) continue;
      if (x->kernel > y->kernel || x->nest != y->nest || i > maker || x->kind != NODE_NEST ||
          !plain_nest(y) || !is_joined(p, y) || !same_place(p, x, &x->in[k], from, y, part->offset))
        return false;
    }
  }
  return true;
}

// The parts of a param's next value, which may be one.
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

static void lie_in(Plan *p, const Parts *parts, uint32_t wire) {
  for (uint32_t i = 0; i < parts->n; i++) {
    PlanWire *w = &p->wire.at[parts->at[i].wire];
    if (parts->at[i].wire == wire) continue;
    w->of = wire;
    w->offset = parts->at[i].offset;
  }
}

// At the end of the step. What was made before losses were known, such as what a norm keeps for later, is copied at once.
static void push_copy(Plan *p, Uses *u, uint32_t state, uint32_t next) {
  uint32_t maker = u->maker[next], at = p->kernel.n;
  bool before = maker != PLAN_NONE && !u->several[next] && p->node.at[maker].kernel < u->behind;
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
  bool *taken = NEW_ARRAY(p->arena, bool, p->wire.n + 1); // shown, or the next of another
  for (uint32_t i = 0; i < p->out.n; i++) taken[wire_root(p, p->out.at[i])] = true;
  for (uint32_t i = 0; i < p->next.n; i++) {
    uint32_t next = p->next.at[i], state = p->param.at[i];
    if (next == PLAN_NONE) continue;
    Parts parts = parts_of(p, i);
    bool over = !taken[next] && may_overwrite_all(p, &u, state, &parts);
    lie_in(p, &parts, next);
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
  uint32_t life; // kernels, less one
} MemoryPiece;

typedef struct {
  uint32_t wire, first, last, place;
} Life;

static int larger_first(const void *a, const void *b) {
  const MemoryPiece *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->wire < y->wire ? -1 : 1;
}

static int longer_first(const void *a, const void *b) {
  const MemoryPiece *x = a, *y = b;
  if (x->life != y->life) return x->life < y->life ? 1 : -1;
  return larger_first(a, b);
}

static int earlier_first(const void *a, const void *b) {
  const Life *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->wire < y->wire ? -1 : x->wire > y->wire;
}

// -- many pieces of one size: each takes the place of one that is over, or a new one
static void sift_down(Life *heap, uint32_t n) {
  for (uint32_t i = 0;;) {
    uint32_t least = i, left = 2 * i + 1;
    for (uint32_t k = left; k < left + 2 && k < n; k++)
      if (heap[k].last < heap[least].last) least = k;
    if (least == i) return;
    Life swap = heap[i];
    heap[i] = heap[least], heap[least] = swap;
    i = least;
  }
}

static void heap_push(Life *heap, uint32_t n, Life x) {
  uint32_t i = n;
  for (; i && heap[(i - 1) / 2].last > x.last; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = x;
}

static void lay_alike(Plan *p, const MemoryPiece *piece, uint32_t n) {
  Life *life = NEW_ARRAY(p->arena, Life, n), *heap = NEW_ARRAY(p->arena, Life, n);
  uint32_t live = 0, places = 0;
  int64_t bytes = piece[0].bytes, base = p->arena_bytes;
  for (uint32_t i = 0; i < n; i++) {
    const PlanWire *w = &p->wire.at[piece[i].wire];
    life[i] = (Life){piece[i].wire, w->first, w->last, 0};
  }
  qsort(life, n, sizeof *life, earlier_first);
  for (uint32_t i = 0; i < n; i++) {
    Life x = life[i];
    if (live && heap[0].last < x.first) {
      x.place = heap[0].place;
      heap[0] = x;
      sift_down(heap, live);
    } else {
      x.place = places++;
      heap_push(heap, live++, x);
    }
    p->wire.at[x.wire].at = base + bytes * x.place;
  }
  p->arena_bytes = base + bytes * places;
}

static int by_place(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return x[0] < y[0] ? -1 : x[0] > y[0];
}

// Each where the first gap is that is wide enough, among those that live at the same time.
static void lay_first_fit(Plan *p, const MemoryPiece *piece, uint32_t n) {
  int64_t(*taken)[2] = (void *)NEW_ARRAY(p->arena, int64_t, 2 * (size_t)n + 2);
  for (uint32_t i = 0; i < n; i++) {
    PlanWire *w = &p->wire.at[piece[i].wire];
    uint32_t m = 0;
    for (uint32_t k = 0; k < i; k++) {
      const PlanWire *o = &p->wire.at[piece[k].wire];
      if (o->last < w->first || o->first > w->last) continue;
      taken[m][0] = o->at;
      taken[m++][1] = o->at + piece[k].bytes;
    }
    if (m) qsort(taken, m, sizeof *taken, by_place);
    int64_t at = 0;
    for (uint32_t k = 0; k < m && taken[k][0] < at + piece[i].bytes; k++)
      if (taken[k][1] > at) at = taken[k][1];
    w->at = at;
    if (at + piece[i].bytes > p->arena_bytes) p->arena_bytes = at + piece[i].bytes;
  }
}

// First fit looks at all pairs; where there are very many wires, the small ones behind are laid by
// their sizes.
static void lay_pieces(Plan *p, const MemoryPiece *piece, uint32_t n) {
  uint32_t fitted = n < FIT_LIMIT ? n : FIT_LIMIT;
  p->arena_bytes = 0;
  lay_first_fit(p, piece, fitted);
  for (uint32_t i = fitted, end; i < n; i = end) {
    for (end = i + 1; end < n && piece[end].bytes == piece[i].bytes;) end++;
    lay_alike(p, piece + i, end - i);
  }
}

// What all that is there takes, where that is most: no arena is smaller.
static int64_t most_at_once(const Plan *p, const MemoryPiece *piece, uint32_t n) {
  int64_t *more = NEW_ARRAY(p->arena, int64_t, places(p) + 2), now = 0, most = 0;
  for (uint32_t i = 0; i < n; i++) {
    more[p->wire.at[piece[i].wire].first] += piece[i].bytes;
    more[p->wire.at[piece[i].wire].last + 1] -= piece[i].bytes;
  }
  for (uint32_t i = 0; i <= places(p); i++) {
    now += more[i];
    if (now > most) most = now;
  }
  return most;
}

int64_t plan_most_at_once(Plan *p) {
  VEC(MemoryPiece) piece = {0};
  find_lives(p);
  for (uint32_t i = 0; i < p->wire.n; i++) {
    const PlanWire *w = &p->wire.at[i];
    if (w->place == AT_NOWHERE && w->of == PLAN_NONE && w->first != w->last) // others may be tiles
      vec_push(p->arena, &piece, ((MemoryPiece){.wire = i, .bytes = bytes_of(w)}));
  }
  return most_at_once(p, piece.at, piece.n);
}

// One behind the other. Kernels of wires that share no bytes may run side by side: where all wires together have room in a
// device's cache, nothing is won by sharing.
static bool lay_apart(Plan *p, const MemoryPiece *piece, uint32_t n) {
  int64_t all = 0;
  for (uint32_t i = 0; i < n; i++) all += piece[i].bytes;
  if (all > p->target->near_bytes) return false;
  p->arena_bytes = 0;
  for (uint32_t i = 0; i < n; i++) {
    p->wire.at[piece[i].wire].at = p->arena_bytes;
    p->arena_bytes += piece[i].bytes;
  }
  return true;
}

// The order of sizes leaves gaps where small pieces live long: then the order of lives may leave less. It has more of them
// share bytes, though, and those that do cannot be made side by side.
static void lay_arena(Plan *p) {
  VEC(MemoryPiece) piece = {0};
  for (uint32_t i = 0; i < p->wire.n; i++) {
    PlanWire *w = &p->wire.at[i];
    if (w->place != AT_NOWHERE || w->of != PLAN_NONE || w->first == PLAN_NONE) continue;
    w->place = AT_ARENA;
    vec_push(p->arena, &piece, ((MemoryPiece){i, bytes_of(w), w->last - w->first}));
  }
  if (!piece.n) return;
  qsort(piece.at, piece.n, sizeof(MemoryPiece), larger_first);
  if (lay_apart(p, piece.at, piece.n)) return;
  lay_pieces(p, piece.at, piece.n);
  int64_t by_size = p->arena_bytes;
  if (piece.n > FIT_LIMIT || by_size == most_at_once(p, piece.at, piece.n)) return;
  MemoryPiece *long_first = arena_copy(p->arena, piece.at, piece.n * sizeof *long_first);
  qsort(long_first, piece.n, sizeof *long_first, longer_first);
  lay_pieces(p, long_first, piece.n);
  if (p->arena_bytes > by_size - by_size / LIVES_SAVE) lay_pieces(p, piece.at, piece.n);
}

void plan_memory(Plan *p) {
  find_local(p);
  place_states(p);
  find_lives(p);
  lay_tiles(p);
  lay_arena(p);
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

uint32_t plan_first_write(const Plan *p) {
  uint32_t first = 0;
  while (first < p->kernel.n && !kernel_writes_state(p, &p->kernel.at[first])) first++;
  return first;
}
