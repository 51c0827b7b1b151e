// The functions of a plan: one for each kernel of loops, and one for the step, which runs all of
// them in order on one thread.
//
// For an engine, the text takes its memory from tables of pointers, and products are the engine's.
// A text that stands for itself is for one number of samples, and its step has everything: products
// are calls of c->small, with the product's description in the table, and copies are calls too.
#include "run/engine/c/emit_own.h"

enum { INLINE_LIMIT = 256 };

// What the functions of kernels begin with; their number follows.
static const char *function_name(const Emit *e) {
  if (e->alone) return arena_format(e->p->arena, "%s_k", e->alone);
  return e->full ? "limn_f" : "limn_k";
}

// The body of a kernel, and the function that has it: an earlier one with the same text serves
// again.
static void emit_kernel(Emit *e, uint32_t i, Table *known) {
  Buf body = buf_new(e->p->arena), *out = e->b;
  e->k = &e->p->kernel.at[i];
  if (e->k->kind != KERNEL_LOOPS && e->k->kind != KERNEL_ORDER) return;
  e->b = &body;
  e->indent = 1;
  if (e->k->kind == KERNEL_LOOPS)
    emit_loops(e);
  else
    emit_order(e);
  e->indent = 0;
  e->b = out;
  Id found = table_get(known, body.at, body.n);
  e->now->fn = found ? found - 1 : i;
  if (found) return;
  table_put(known, body.at, body.n, i + 1);
  e->now->at = e->b->n;
  bool apart = e->alone ? !e->p->tiny : e->p->kernel.n > INLINE_LIMIT;
  emit_line(e, "%s%svoid %s%u(const Context *c, char **w, long low, long high, char *s) {",
            e->full ? "static " : "", e->full && apart ? "__attribute__((noinline)) " : "",
            function_name(e), i);
  if (e->alone) emit_line(e, "  (void)c, (void)w, (void)low, (void)high, (void)s;");
  buf_add(e->b, body.at, body.n);
  emit_line(e, "}");
}

static const char *points_text(Emit *e, const Kernel *k) {
  Buf b = buf_new(e->p->arena);
  if (k->ranged) return emit_extent(e, k->nest.at[0].dim[0]);
  buf_char(&b, '1');
  for (uint32_t d = 0; d < k->split; d++) buf_printf(&b, " * %s", emit_extent(e, k->p[d]));
  return b.at;
}

// Losses that are not finite end the step before it changes a state.
static void emit_finite(Emit *e) {
  for (uint32_t i = 0; i < e->p->out.n; i++) {
    const PlanWire *w = &e->p->wire.at[e->p->out.at[i]];
    if (w->rank || w->base != BASE_R) continue;
    emit_line(e, "{ const double x = *(double *)c->out[%u]; if (x - x != 0) return 1; }", i);
  }
}

// Wires that are held in a scan come from memory before it, and go there behind it. Scratch is of
// no use to anyone else.
static void emit_held(Emit *e, const EmitKernel *kernel, uint32_t scan, uint32_t end, bool behind) {
  bool *done = NEW_ARRAY(e->p->arena, bool, e->p->wire.n + 1);
  for (uint32_t i = scan + 1; i < end; i++)
    for (uint32_t k = 0; k < kernel[i].slot.n; k++) {
      uint32_t wire = kernel[i].slot.at[k];
      if (wire >= e->p->wire.n || !e->held[wire] || done[wire]) continue;
      const PlanWire *w = &e->p->wire.at[wire];
      const char *number = emit_cell(e, w->number);
      bool inside =
          w->place == AT_TILE || (w->place == AT_ARENA && w->first > scan && w->last < end);
      done[wire] = true;
      if (!behind && inside)
        emit_line(e, "%s m%u = 0;", number, wire);
      else if (!behind)
        emit_line(e, "%s m%u = *(%s *)c->table[%u][%u];", number, wire, number, i, k);
      else if (!inside && (e->held[wire] & HELD_WRITTEN))
        emit_line(e, "*(%s *)c->table[%u][%u] = m%u;", number, i, k, wire);
    }
}

static void emit_inside(Emit *e, EmitKernel *kernel, uint32_t i) {
  e->k = &e->p->kernel.at[i];
  e->now = &kernel[i];
  emit_open(e);
  emit_line(e, e->alone ? "char **w = c->table[%u]; (void)w;" : "char **w = c->table[%u];", i);
  emit_loops(e);
  emit_close(e);
}

// A cell of a kernel's table as an address: where the positions of scans have moved it, and `start`
// cells on.
static const char *place_text(Emit *e, uint32_t kernel, uint32_t slot, uint32_t wire,
                              int64_t start) {
  const char *cell = emit_cell(e, e->p->wire.at[wire].number);
  return arena_format(e->p->arena, "(%s *)(void *)c->table[%u][%u] + %lldL%s", cell, kernel, slot,
                      (long long)start, emit_moves(e, wire));
}

static void emit_copy(Emit *e, uint32_t i) {
  const Kernel *k = &e->p->kernel.at[i];
  if (!e->alone) emit_line(e, "c->copy(c, %u);", i);
  for (uint32_t c = 0; e->alone && c < k->to.n; c++) {
    const PlanWire *to = &e->p->wire.at[k->to.at[c]];
    emit_line(e, "limn_copy(%s, %s, %lldL);", place_text(e, i, 2 * c, k->to.at[c], 0),
              place_text(e, i, 2 * c + 1, k->from.at[c], 0),
              (long long)to->count * (long long)number_bytes(to->number));
  }
}

static int64_t group_most(const Emit *e, const PlanNode *x, const uint32_t *group, uint32_t n) {
  int64_t size = 1;
  for (uint32_t i = 0; i < n; i++) size *= extent_most(e->p, x->index[group[i]]);
  return size;
}

static void emit_product(Emit *e, uint32_t i) {
  const PlanNode *x = &e->p->node.at[e->p->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  if (!e->alone) return; // the engine's
  emit_line(e, "c->small(c->table[%u][3], %s, %s, %s, s, %lldL, %lldL, %lldL, 0);", i,
            place_text(e, i, 0, a->wire, operand_start(e->p, a)),
            place_text(e, i, 1, b->wire, operand_start(e->p, b)),
            place_text(e, i, 2, x->out.wire, operand_start(e->p, &x->out)),
            (long long)group_most(e, x, q->m, q->nm), (long long)group_most(e, x, q->n, q->nn),
            (long long)group_most(e, x, q->k, q->nk));
}

// All kernels in order, on one thread.
static void emit_step(Emit *e, EmitKernel *kernel, uint32_t check_at) {
  if (e->alone)
    emit_line(e, "static int %s_kernels(Context *c, char *s) {", e->alone);
  else
    emit_line(e, "int limn_%s(Context *c, char *s) {", e->full ? "full" : "step");
  e->indent++;
  uint32_t scan = 0, end = 0;
  for (uint32_t i = 0; i < e->p->kernel.n; i++) {
    if (i == check_at) emit_finite(e);
    const Kernel *k = &e->p->kernel.at[i];
    const PlanNode *x = k->node.n ? &e->p->node.at[k->node.at[0]] : NULL;
    switch (k->kind) {
    case KERNEL_LOOPS:
    case KERNEL_ORDER:
      if (e->held) {
        emit_inside(e, kernel, i);
        break;
      }
      emit_line(e, "%s%u(c, c->table[%u], 0, %s, s);", function_name(e), kernel[i].fn, i,
                points_text(e, k));
      break;
    case KERNEL_SCAN:
      e->held = scan_holds(e->p, i, &end);
      if (e->held) {
        scan = i;
        emit_open(e);
        emit_held(e, kernel, scan, end, false);
      }
      emit_open_loop(e, 't', i, emit_extent(e, x->times));
      if (x->back)
        emit_line(e, "c->at[%u] = %s - 1 - t%u;", k->depth, emit_extent(e, x->times), i);
      else
        emit_line(e, "c->at[%u] = t%u;", k->depth, i);
      break;
    case KERNEL_SCAN_END:
      emit_close(e);
      if (!e->held) break;
      emit_held(e, kernel, scan, end, true);
      emit_close(e);
      e->held = NULL;
      break;
    case KERNEL_COPY: emit_copy(e, i); break;
    case KERNEL_PRODUCT: emit_product(e, i); break;
    case KERNEL_ATTENTION: break; // a plan for a CPU has none
    }
  }
  if (check_at >= e->p->kernel.n) emit_finite(e);
  emit_line(e, "return 0;");
  emit_close(e);
}

static void emit_front(Emit *e) {
  emit_line(e, "typedef struct Context { long n; Bits64 seed, step; long at[8]; char ***table; "
               "void **out;");
  emit_line(e,
            "  void (*small)(const void *, const void *, const void *, void *, void *, long, long, "
            "long, int);");
  emit_line(e, "  void (*copy)(struct Context *, unsigned); } Context;");
}

static void emit_kernels(Emit *e, EmitKernel *kernel) {
  Table *known = table_new(e->p->arena);
  const Ids *slot = kernel_slots(e->p);
  for (uint32_t i = 0; i < e->p->kernel.n; i++) {
    e->now = &kernel[i];
    e->now->slot = slot[i];
    emit_kernel(e, i, known);
  }
}

void emit_c(Plan *p, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *b) {
  Emit e = {.p = p, .b = b, .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1)};
  emit_front(&e);
  emit_kernels(&e, kernel);
  if (!whole) return;
  emit_step(&e, kernel, check_at);
  e.full = true;
  EmitKernel *again = NEW_ARRAY(p->arena, EmitKernel, p->kernel.n + 1); // the same tables
  emit_kernels(&e, again);
  emit_step(&e, again, check_at);
}

// Tables of what else a step does, and the descriptions of products, which slots from the number of
// wires on ask for.
static void alone_slots(Plan *p, EmitAlone *a) {
  for (uint32_t i = 0; i < p->kernel.n; i++) { // as kernel_slots counts them
    const Kernel *k = &p->kernel.at[i];
    for (uint32_t j = 0; j < k->nest.n && k->kind == KERNEL_LOOPS; j++) {
      const PlanNode *x = &p->node.at[k->nest.at[j].node.at[0]];
      if (x->kind == NODE_PRODUCT) vec_push(p->arena, &a->product, x);
    }
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    const Kernel *k = &p->kernel.at[i];
    Ids *slot = &a->kernel[i].slot;
    for (uint32_t c = 0; c < k->to.n; c++) {
      vec_push(p->arena, slot, k->to.at[c]);
      vec_push(p->arena, slot, k->from.at[c]);
    }
    if (k->kind == KERNEL_PRODUCT) {
      const PlanNode *x = &p->node.at[k->node.at[0]];
      vec_push(p->arena, slot, x->in[x->product->a].wire);
      vec_push(p->arena, slot, x->in[x->product->b].wire);
      vec_push(p->arena, slot, x->out.wire);
      vec_push(p->arena, slot, p->wire.n + a->product.n);
      vec_push(p->arena, &a->product, x);
    }
  }
}

void emit_alone_front(Arena *arena, Buf *b) {
  Plan none = {.arena = arena};
  emit_front(&(Emit){.p = &none, .b = b});
}

void emit_alone(Plan *p, EmitAlone *a, Buf *b) {
  Emit e = {.p = p,
            .b = b,
            .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1),
            .full = true,
            .alone = a->name};
  a->kernel = NEW_ARRAY(p->arena, EmitKernel, p->kernel.n + 1);
  emit_kernels(&e, a->kernel);
  alone_slots(p, a);
  emit_step(&e, a->kernel, a->check_at);
}
