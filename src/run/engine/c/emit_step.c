// Prints the functions of a plan: one for each kernel of loops, and one for the step, which runs all
// kernels in order on one thread.
//
// For an engine, kernels take their memory from tables of pointers, and the engine runs the products.
// Exported C is for one number of samples, and its step is complete: products are calls of c->small, with
// the product's description in the table, and copies are calls of limn_copy.
#include "base/table.h"
#include "run/engine/c/emit_own.h"

enum { INLINE_LIMIT = 256 }; // kernels: in larger steps they are not inlined

// The prefix of the functions of kernels; the kernel's number follows.
static const char *function_name(const Emit *e) {
  if (e->export_prefix) return arena_format(e->p->arena, "%s_k", e->export_prefix);
  return e->full_batch ? "limn_f" : "limn_k";
}

// Prints the function of a kernel, unless an earlier kernel has the same body (`known`): then that
// function is shared.
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
  e->entry->fn = found ? found - 1 : i;
  if (found) return;
  table_put(known, body.at, body.n, i + 1);
  e->entry->at = e->b->n;
  bool apart = e->export_prefix ? !e->p->tiny : e->p->kernel.n > INLINE_LIMIT;
  emit_line(e, "%s%svoid %s%u(const Context *c, char **w, long low, long high, char *s) {",
            e->full_batch ? "static " : "",
            e->full_batch && apart ? "__attribute__((noinline)) " : "", function_name(e), i);
  if (e->export_prefix) emit_line(e, "  (void)c, (void)w, (void)low, (void)high, (void)s;");
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

// Returns 1 if a loss is not finite, before the step overwrites a state.
static void emit_loss_test(Emit *e) {
  for (uint32_t i = 0; i < e->p->out.n; i++) {
    const PlanWire *w = &e->p->wire.at[e->p->out.at[i]];
    if (w->rank || w->base != BASE_R) continue;
    emit_line(e, "{ const double x = *(double *)c->out[%u]; if (x - x != 0) return 1; }", i);
  }
}

// Loads the wires that a scan holds in variables before the scan (!behind), and stores them after it
// (behind). Wires that are dead outside the scan need neither.
static void emit_register_transfers(Emit *e, const EmitKernel *kernel, uint32_t scan, uint32_t end,
                                    bool behind) {
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

static void emit_inlined_kernel(Emit *e, EmitKernel *kernel, uint32_t i) {
  e->k = &e->p->kernel.at[i];
  e->entry = &kernel[i];
  emit_open(e);
  emit_line(e, e->export_prefix ? "char **w = c->table[%u]; (void)w;" : "char **w = c->table[%u];",
            i);
  emit_loops(e);
  emit_close(e);
}

// The address of a wire in a kernel's table at the current scan positions, plus `start` cells.
static const char *table_address(Emit *e, uint32_t kernel, uint32_t slot, uint32_t wire,
                                 int64_t start) {
  const char *cell = emit_cell(e, e->p->wire.at[wire].number);
  return arena_format(e->p->arena, "(%s *)(void *)c->table[%u][%u] + %lldL%s", cell, kernel, slot,
                      (long long)start, emit_scan_offset(e, wire));
}

static void emit_copy(Emit *e, uint32_t i) {
  const Kernel *k = &e->p->kernel.at[i];
  if (!e->export_prefix) emit_line(e, "c->copy(c, %u);", i);
  for (uint32_t c = 0; e->export_prefix && c < k->to.n; c++) {
    const PlanWire *to = &e->p->wire.at[k->to.at[c]];
    emit_line(e, "limn_copy(%s, %s, %lldL);", table_address(e, i, 2 * c, k->to.at[c], 0),
              table_address(e, i, 2 * c + 1, k->from.at[c], 0),
              (long long)to->count * (long long)number_bytes(to->number));
  }
}

static int64_t group_length_limit(const Emit *e, const PlanNode *x, const uint32_t *group,
                                  uint32_t n) {
  int64_t size = 1;
  for (uint32_t i = 0; i < n; i++) size *= extent_most(e->p, x->index[group[i]]);
  return size;
}

static void emit_product(Emit *e, uint32_t i) {
  const PlanNode *x = &e->p->node.at[e->p->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  if (!e->export_prefix) return; // the engine runs it
  emit_line(e, "c->small(c->table[%u][3], %s, %s, %s, s, %lldL, %lldL, %lldL, 0);", i,
            table_address(e, i, 0, a->wire, operand_start(e->p, a)),
            table_address(e, i, 1, b->wire, operand_start(e->p, b)),
            table_address(e, i, 2, x->out.wire, operand_start(e->p, &x->out)),
            (long long)group_length_limit(e, x, q->m, q->nm),
            (long long)group_length_limit(e, x, q->n, q->nn),
            (long long)group_length_limit(e, x, q->k, q->nk));
}

// Prints the step: all kernels in order.
static void emit_step(Emit *e, EmitKernel *kernel, uint32_t check_at) {
  if (e->export_prefix)
    emit_line(e, "static int %s_kernels(Context *c, char *s) {", e->export_prefix);
  else
    emit_line(e, "int limn_%s(Context *c, char *s) {", e->full_batch ? "full" : "step");
  e->indent++;
  uint32_t scan = 0, end = 0;
  for (uint32_t i = 0; i < e->p->kernel.n; i++) {
    if (i == check_at) emit_loss_test(e);
    const Kernel *k = &e->p->kernel.at[i];
    const PlanNode *x = k->node.n ? &e->p->node.at[k->node.at[0]] : NULL;
    switch (k->kind) {
    case KERNEL_LOOPS:
    case KERNEL_ORDER:
      if (e->held) {
        emit_inlined_kernel(e, kernel, i);
        break;
      }
      emit_line(e, "%s%u(c, c->table[%u], 0, %s, s);", function_name(e), kernel[i].fn, i,
                points_text(e, k));
      break;
    case KERNEL_SCAN:
      e->held = scan_registers(e->p, i, &end);
      if (e->held) {
        scan = i;
        emit_open(e);
        emit_register_transfers(e, kernel, scan, end, false);
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
      emit_register_transfers(e, kernel, scan, end, true);
      emit_close(e);
      e->held = NULL;
      break;
    case KERNEL_COPY: emit_copy(e, i); break;
    case KERNEL_PRODUCT: emit_product(e, i); break;
    case KERNEL_ATTENTION: break; // a plan for a CPU has none
    }
  }
  if (check_at >= e->p->kernel.n) emit_loss_test(e);
  emit_line(e, "return 0;");
  emit_close(e);
}

static void emit_context_type(Emit *e) {
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
    e->entry = &kernel[i];
    e->entry->slot = slot[i];
    emit_kernel(e, i, known);
  }
}

void emit_c(Plan *p, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *b) {
  Emit e = {.p = p, .b = b, .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1)};
  emit_context_type(&e);
  emit_kernels(&e, kernel);
  if (!whole) return;
  emit_step(&e, kernel, check_at);
  e.full_batch = true;
  EmitKernel *again = NEW_ARRAY(p->arena, EmitKernel, p->kernel.n + 1); // the same tables
  emit_kernels(&e, again);
  emit_step(&e, again, check_at);
}

// Fills the tables of products and copies, and the list of products whose descriptions the slots from
// p->wire.n on refer to.
static void export_slots(Plan *p, EmitExport *a) {
  for (uint32_t i = 0; i < p->kernel.n; i++) { // in the order of kernel_slots
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

void emit_export_header(Arena *arena, Buf *b) {
  Plan none = {.arena = arena};
  emit_context_type(&(Emit){.p = &none, .b = b});
}

void emit_export(Plan *p, EmitExport *a, Buf *b) {
  Emit e = {.p = p,
            .b = b,
            .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1),
            .full_batch = true,
            .export_prefix = a->name};
  a->kernel = NEW_ARRAY(p->arena, EmitKernel, p->kernel.n + 1);
  emit_kernels(&e, a->kernel);
  export_slots(p, a);
  emit_step(&e, a->kernel, a->check_at);
}
