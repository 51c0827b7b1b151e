// One diagram as one C function. Given a diagram and a number of samples: its plan, the text of its
// kernels, and the statements that run them in memory of the caller.
//
// Kernels address memory by a table of pointers. The table is filled at the start of a call with
// the caller's arguments, the weights, and one block for everything else.
#include "base/diag.h"
#include "base/names.h"
#include "core/pass/pipeline.h"
#include "port/c/c_own.h"
#include "run/engine/kernel/loop_levels.h"

enum { MEMORY_ALIGN = 64 };

static int64_t aligned(int64_t n) { return (n + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN; }

// -- planning -------------------------------------------------------------------------------------
static int64_t scratch_of(const Plan *p, const Kernel *k) {
  int64_t most = k->tile_bytes;
  const PlanNode *first = k->node.n ? &p->node.at[k->node.at[0]] : NULL;
  if (k->kind == KERNEL_PRODUCT) return c_product_bytes(p, first);
  if (k->kind == KERNEL_ORDER)
    return 8 * extent_most(p, p->wire.at[first->in[0].wire].shape[first->axis]) + MEMORY_ALIGN;
  for (uint32_t i = 0; i < k->nest.n; i++) {
    const PlanNode *x = &p->node.at[k->nest.at[i].node.at[0]];
    if (x->kind != NODE_PRODUCT) continue;
    int64_t bytes = k->tile_bytes + c_product_bytes(p, x);
    if (bytes > most) most = bytes;
  }
  return most;
}

static void find_memory(CUnit *u) {
  int64_t scratch = 0;
  for (uint32_t i = 0; i < u->p->kernel.n; i++) {
    int64_t bytes = scratch_of(u->p, &u->p->kernel.at[i]);
    if (bytes > scratch) scratch = bytes;
  }
  u->scratch_at = aligned(u->p->arena_bytes);
  u->bytes = MEMORY_ALIGN + u->scratch_at + aligned(scratch);
}

static void find_noise(CUnit *u) {
  for (uint32_t i = 0; i < u->p->node.n; i++) u->noise |= u->p->node.at[i].noise != NULL;
}

// Arguments are named like their wires, converted to C identifiers, distinct from each other and
// from the names and macros of the file.
static void name_arguments(CUnit *u, bool results, CArgument *to, const char **taken,
                           uint32_t before) {
  Arena *a = u->p->arena;
  const Ids *wires = results ? &u->d->out : &u->d->in;
  const char *own = arena_format(a, "%s_", c_upper(a, u->name)); // prefix of functions and macros
  const char **size = NEW_ARRAY(a, const char *, before + wires->n + 1);
  for (uint32_t i = 0; i < before; i++) size[i] = c_upper(a, taken[i]);
  for (uint32_t i = 0; i < wires->n; i++) {
    const Wire *wire = &u->d->wire.at[wires->at[i]];
    const PlanWire *memory = &u->p->wire.at[(results ? u->p->out : u->p->in).at[i]];
    const char *name =
        results ? diagram_result_text(u->w, a, u->d, i) : name_text(u->w->names, wire->name);
    if (!*name) name = wires->n == 1 ? "in" : arena_format(a, "in.%u", i + 1);
    name = c_identifier(a, name);
    if (strncmp(c_upper(a, name), own, strlen(own)) == 0) name = arena_format(a, "v_%s", name);
    const char *made = c_distinct(a, name, taken, before + i);
    taken[before + i] = made;
    size[before + i] = c_distinct(a, c_upper(a, made), size, before + i);
    Number inside = memory->number, number = inside;
    if (memory->base == BASE_R) number = u->wide ? NUMBER_F64 : NUMBER_F32;
    to[i] = (CArgument){made, size[before + i], wire->type, number, inside, memory->count};
  }
}

bool c_unit_plan(Export *e, CUnit *u, int64_t samples, bool wide) {
  u->w = e->w;
  u->wide = wide;
  u->p = plan_make(e->w, passes_engine(e->w, u->d),
                   &(PlanOptions){.samples = samples, .fuse = true, .wide = wide});
  if (u->p->error) return diag_refuse(e->w->diags, u->p->error_at, "%s", u->p->error);
  Arena *a = u->p->arena;
  const char **taken = NEW_ARRAY(a, const char *, u->d->in.n + u->d->out.n + 1);
  u->in = NEW_ARRAY(a, CArgument, u->d->in.n + 1);
  u->out = NEW_ARRAY(a, CArgument, u->d->out.n + 1);
  name_arguments(u, false, u->in, taken, 0);
  name_arguments(u, true, u->out, taken, u->d->in.n);
  u->param = NEW_ARRAY(a, const char *, u->d->param.n + 1);
  u->emit.name = u->name;
  u->emit.check_at = plan_first_state_write(u->p);
  find_memory(u);
  find_noise(u);
  return true;
}

static bool is_state(const Plan *p, uint32_t wire, uint32_t param) {
  const PlanWire *root = &p->wire.at[wire_root(p, wire)];
  return root->place == AT_STATE && root->number_of == param;
}

bool c_unit_reads(const CUnit *u, uint32_t param) {
  const Plan *p = u->p;
  for (uint32_t i = 0; i < p->node.n; i++) {
    const PlanNode *x = &p->node.at[i];
    if (x->kind == NODE_SCAN || x->kind == NODE_SCAN_END || x->kind == NODE_GONE) continue;
    for (uint32_t k = 0; k < node_wires(x); k++) {
      uint32_t wire = node_wire(x, k);
      if (wire != PLAN_NONE && is_state(p, wire, param)) return true;
    }
  }
  for (uint32_t i = 0; i < p->out.n; i++) // an input returned unchanged
    if (is_state(p, p->out.at[i], param)) return true;
  for (uint32_t i = 0; i < p->kernel.n; i++) { // … or copied
    const Kernel *k = &p->kernel.at[i];
    for (uint32_t c = 0; c < k->to.n; c++)
      if (is_state(p, k->to.at[c], param) || is_state(p, k->from.at[c], param)) return true;
  }
  return false;
}

// -- text -----------------------------------------------------------------------------------------
void c_unit_kernels(CUnit *u, Buf *c) {
  Arena *a = u->p->arena;
  emit_export(u->p, &u->emit, c);
  for (uint32_t i = 0; i < u->emit.product.n; i++) {
    const PlanNode *x = u->emit.product.at[i];
    uint32_t axes = c_product_axes(u->p, x);
    if (axes > u->axes) u->axes = axes;
    c_product_write(u->p, x, arena_format(a, "%s_p%u", u->name, i), c);
  }
}

// A scalar real that the caller passes as float.
static bool needs_conversion(const CArgument *x) { return x->name && x->number != x->inside; }

// The address of a wire's first element, outside of scans.
static const char *address_of(const CUnit *u, uint32_t wire) {
  const Plan *p = u->p;
  Arena *a = p->arena;
  int64_t cells = 0;
  size_t each = number_bytes(p->wire.at[wire].number);
  uint32_t root = wire;
  for (; p->wire.at[root].alias_of != PLAN_NONE; root = p->wire.at[root].alias_of)
    cells += p->wire.at[root].offset;
  const PlanWire *r = &p->wire.at[root];
  long long offset = (long long)cells * (long long)each;
  if (r->place == AT_STATE)
    return arena_format(a, "(char *)%s + %lld", u->param[r->number_of], offset);
  if (r->place == AT_INPUT && needs_conversion(&u->in[r->number_of]))
    return arena_format(a, "(char *)&limn_in%u", r->number_of);
  if (r->place == AT_INPUT)
    return arena_format(a, "(char *)%s + %lld", u->in[r->number_of].name, offset);
  return arena_format(a, "limn_m + %lld", (long long)r->at + offset);
}

static void write_table(const CUnit *u, uint32_t i, Buf *c) {
  const Ids *slot = &u->emit.kernel[i].slot;
  const Plan *p = u->p;
  if (!slot->n) return;
  buf_printf(c, "  char *limn_t%u[] = {", i);
  for (uint32_t k = 0; k < slot->n; k++) {
    uint32_t wire = slot->at[k];
    buf_text(c, k ? ",\n    " : "\n    ");
    if (wire >= p->wire.n)
      buf_printf(c, "(char *)&%s_p%u", u->name, wire - p->wire.n);
    else if (p->wire.at[wire].place == AT_TILE)
      buf_text(c, "0");
    else
      buf_text(c, address_of(u, wire));
  }
  buf_text(c, "};\n");
}

// Copies results to the caller at the end: some are also inputs of the next call.
static void write_results(const CUnit *u, Buf *c) {
  const Plan *p = u->p;
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *w = &p->wire.at[p->out.at[i]];
    const char *from = address_of(u, p->out.at[i]);
    if (needs_conversion(&u->out[i]))
      buf_printf(c, "  *%s = limn_float(%s);\n", u->out[i].name, from);
    else
      buf_printf(c, "  limn_copy(%s, %s, %lldL);\n", u->out[i].name, from,
                 (long long)w->count * (long long)number_bytes(w->number));
  }
}

// Checks labels and bits, which are used as table indices: a value out of range would read outside
// of a table.
static void write_range(const CUnit *u, const CArgument *x, Buf *c) {
  int64_t most = INT64_MAX;
  if (x->type.base != BASE_LABEL && x->type.base != BASE_BIT) return;
  bool bit = x->type.base == BASE_BIT;
  if (bit) most = 2;
  if (!bit && !size_value(u->w, x->type.count, &most)) most = INT64_MAX;
  buf_printf(c, "  for (long limn_i = 0; limn_i < %lldL; limn_i++)\n    if (", (long long)x->count);
  if (!bit) buf_printf(c, "%s[limn_i] < 0", x->name);
  if (most <= INT32_MAX)
    buf_printf(c, "%s%s[limn_i] >= %lld", bit ? "" : " || ", x->name, (long long)most);
  buf_text(c, ") return 2;\n");
}

static void write_inputs(const CUnit *u, Buf *c) {
  for (uint32_t i = 0; i < u->d->in.n; i++)
    if (u->in[i].name) write_range(u, &u->in[i], c);
  for (uint32_t i = 0; i < u->d->in.n; i++) {
    const char *name = u->in[i].name;
    if (needs_conversion(&u->in[i]))
      buf_printf(c, "  double limn_in%u = (double)*%s;\n  (void)limn_in%u;\n", i, name, i);
    else if (name)
      buf_printf(c, "  (void)%s;\n", name);
  }
}

void c_unit_body(CUnit *u, const char *memory, Buf *c) {
  const Plan *p = u->p;
  buf_printf(c, "  char *limn_m = limn_aligned((char *)%s), *limn_s = limn_m + %lldL;\n", memory,
             (long long)u->scratch_at);
  write_inputs(u, c);
  for (uint32_t i = 0; i < p->kernel.n; i++) write_table(u, i, c);
  buf_text(c, "  char **limn_tables[] = {");
  for (uint32_t i = 0; i < p->kernel.n; i++)
    if (u->emit.kernel[i].slot.n)
      buf_printf(c, "limn_t%u, ", i);
    else
      buf_text(c, "0, ");
  buf_text(c, "0};\n  void *limn_out[] = {");
  for (uint32_t i = 0; i < p->out.n; i++) buf_printf(c, "%s, ", address_of(u, p->out.at[i]));
  buf_text(c, "0};\n  Context limn_c = {.table = limn_tables, .out = limn_out");
  buf_printf(c, ", .n = %lldL", (long long)p->samples);
  if (u->noise) buf_text(c, ", .seed = seed, .step = step");
  if (u->emit.product.n) buf_text(c, ", .small = small_product");
  buf_printf(c, "};\n  int limn_bad = %s_kernels(&limn_c, limn_s);\n", u->name);
  write_results(u, c);
}

// -- arguments ------------------------------------------------------------------------------------
void c_unit_arguments(const CUnit *u, Buf *b) {
  const char *comma = "";
  if (u->noise && !u->stepped) buf_text(b, "uint64_t seed, uint64_t step"), comma = ", ";
  for (uint32_t i = 0; i < u->d->in.n; i++) {
    if (!u->in[i].name) continue;
    buf_printf(b, "%sconst %s *%s", comma, c_number_text(u->in[i].number), u->in[i].name);
    comma = ", ";
  }
  for (uint32_t i = 0; i < u->d->out.n; i++) {
    buf_printf(b, "%s%s *%s", comma, c_number_text(u->out[i].number), u->out[i].name);
    comma = ", ";
  }
}

void c_unit_call_arguments(const CUnit *u, Buf *b) {
  const char *comma = "";
  if (u->noise && !u->stepped) buf_text(b, "seed, step"), comma = ", ";
  for (uint32_t i = 0; i < u->d->in.n + u->d->out.n; i++) {
    const CArgument *x = i < u->d->in.n ? &u->in[i] : &u->out[i - u->d->in.n];
    if (!x->name) continue;
    buf_printf(b, "%s%s", comma, x->name);
    comma = ", ";
  }
}

void c_unit_describe(const CUnit *u, Buf *h) {
  for (uint32_t i = 0; i < u->d->in.n + u->d->out.n; i++) {
    bool in = i < u->d->in.n;
    const CArgument *x = in ? &u->in[i] : &u->out[i - u->d->in.n];
    if (!x->name) continue;
    const PlanWire *wire = &u->p->wire.at[in ? u->p->in.at[i] : u->p->out.at[i - u->d->in.n]];
    buf_printf(h, "//   %s %s", c_number_text(x->number), x->name);
    for (uint32_t k = 0; k < wire->rank; k++)
      buf_printf(h, "[%lld]", (long long)extent_most(u->p, wire->shape[k]));
    if (!wire->rank) buf_text(h, "[1]");
    buf_printf(h, "  %s : %s\n", in ? "in" : "out", type_text(u->w, &x->type));
  }
}
