// `limn export FILE NAME --as c`: a box or learner as a C function, with its weights in the .c or
// in a file next to it.
#include "core/diagram/interpret.h"
#include "port/c/c_own.h"

#include <math.h>

// The values in memory representation.
static const void *cells_of(Arena *a, Number number, const Tensor *t) {
  void *to = arena_alloc(a, (size_t)t->count * number_bytes(number) + 1);
  numbers_set(number, to, t->data, t->count);
  return to;
}

static bool all_finite(const Tensor *t) {
  for (int64_t i = 0; i < t->count; i++)
    if (!isfinite(t->data[i])) return false;
  return true;
}

// Collects the weights that kernels read into a struct; others are not exported.
static bool collect_weights(CFile *f, CUnit *u, CRecord *r) {
  Export *e = f->e;
  Tensor *value;
  if (!export_params(e, u->d, &value)) return false;
  for (uint32_t i = 0; i < u->d->param.n; i++) {
    const Param *p = &u->d->param.at[i];
    if (!c_unit_reads(u, i)) continue;
    if (!all_finite(&value[i]))
      return export_error(e, OUTCOME_WRONG, "weight %s is not finite: C has no number for it",
                          p->path);
    const PlanWire *w = &u->p->wire.at[u->p->param.at[i]];
    CMember m = {.path = p->path,
                 .says = type_text(e->w, &u->d->wire.at[p->wire].type),
                 .number = w->number,
                 .count = value[i].count,
                 .data = cells_of(e->arena, w->number, &value[i])};
    uint32_t at = c_record_add(e->arena, r, m);
    u->param[i] = arena_format(e->arena, "weights->%s", r->at[at].name);
  }
  return true;
}

// -- the header -----------------------------------------------------------------------------------
static void write_header(CFile *f, const CUnit *u, const CRecord *r) {
  Arena *a = f->e->arena;
  Buf *h = &f->h;
  const char *upper = c_upper(a, f->name), *given = f->beside && r->n ? r->name : NULL;
  buf_printf(h, "// %s, written by limn %s.\n//\n", f->name, LIMN_VERSION);
  c_unit_describe(u, h);
  buf_text(h, "//\n// Labels are from 0 to below their number, bits are 0 or 1. The result is 0, "
              "or 2 where "
              "one is not: then\n// nothing is computed.\n");
  if (u->noise) buf_text(h, "// Noise depends on seed and step, and on nothing else.\n");
  buf_printf(h, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n", upper, upper);
  buf_printf(h, "#define %s_BATCH %lld\n", upper, (long long)f->batch);
  buf_printf(h, "#define %s_MEMORY %lld // bytes that a call works in\n", upper,
             (long long)u->bytes);
  for (uint32_t i = 0; i < u->d->in.n + u->d->out.n; i++) {
    const CArgument *x = i < u->d->in.n ? &u->in[i] : &u->out[i - u->d->in.n];
    buf_printf(h, "#define %s_%s_SIZE %lld\n", upper, x->size, (long long)x->count);
  }
  if (given)
    buf_printf(h, "#define %s_WEIGHTS %lld // bytes\n", upper, (long long)c_record_size(r));
  buf_text(h, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  Buf arguments = buf_new(a);
  if (given) buf_printf(&arguments, "const %s *weights, ", given);
  c_unit_arguments(u, &arguments);
  if (given) {
    buf_printf(h, "// The bytes of %s.bin, on a machine that has the lowest byte first.\n",
               f->name);
    c_record_type(a, r, h);
  }
  buf_printf(h, "int %s(%s); // in memory of its own: one call at a time\n", f->name, arguments.at);
  buf_printf(h, "int %s_at(void *memory, %s);\n", f->name, arguments.at);
  buf_text(h, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

// -- the functions --------------------------------------------------------------------------------
static void write_functions(CFile *f, CUnit *u, const CRecord *r) {
  Arena *a = f->e->arena;
  Buf *c = &f->body, arguments = buf_new(a), passed = buf_new(a);
  bool given = f->beside && r->n;
  if (given) buf_printf(&arguments, "const %s *weights, ", r->name);
  if (given) buf_text(&passed, "weights, ");
  c_unit_arguments(u, &arguments);
  c_unit_call_arguments(u, &passed);
  if (!given && r->n) {
    c_record_type(a, r, c);
    buf_printf(c, "static const %s %s_inside = ", r->name, r->name);
    c_record_value(a, r, c);
    buf_text(c, ";\n\n");
  }
  buf_printf(c, "int %s_at(void *memory, %s) {\n", f->name, arguments.at);
  if (!given && r->n) buf_printf(c, "  const %s *weights = &%s_inside;\n", r->name, r->name);
  c_unit_body(u, "memory", c);
  buf_text(c, "  (void)limn_bad;\n  return 0;\n}\n\n");
  buf_printf(c, "static union { double aligned; unsigned char bytes[%s_MEMORY]; } limn_memory;\n",
             c_upper(a, f->name));
  buf_printf(c, "int %s(%s) { return %s_at(limn_memory.bytes, %s); }\n", f->name, arguments.at,
             f->name, passed.at);
}

// Buffers are constant: their next values are dropped.
static const Diagram *drop_next_values(World *w, const Diagram *d) {
  Diagram *still = NEW(w->arena, Diagram);
  *still = *d;
  still->param.at = arena_copy(w->arena, d->param.at, d->param.n * sizeof *d->param.at);
  for (uint32_t i = 0; i < still->param.n; i++) still->param.at[i].next = 0;
  return still;
}

static bool export_function(CFile *f) {
  Export *e = f->e;
  const Diagram *d = export_diagram(e, f->batch > 1);
  if (!d || !diagram_is_small(e->w, d)) return false;
  CUnit u = {.name = f->name, .d = drop_next_values(e->w, d)};
  CRecord weights = {.name = arena_format(e->arena, "%s_weights", f->name)};
  if (!c_unit_plan(e, &u, f->batch, f->wide) || !collect_weights(f, &u, &weights)) return false;
  c_unit_kernels(&u, &f->kernels);
  write_functions(f, &u, &weights);
  write_header(f, &u, &weights);
  c_file_join(f, u.axes, u.emit.product.n > 0);
  return c_file_close(f, f->beside && weights.n ? &weights : NULL);
}

bool export_c(Export *e) {
  CFile f;
  if (!c_file_open(e, &f)) return false;
  return e->how->train ? c_export_step(&f) : export_function(&f);
}
