// `limn export FILE --as c --train`: a training step as a C function. All persistent state is in
// one struct of the caller: weights, optimiser state, counters, the seed and the position in the
// noise stream. The caller passes a batch and gets the losses.
//
// If training takes turns, each step is a function of its own; all share the struct.
#include "base/diag.h"
#include "base/names.h"
#include "port/c/c_own.h"

#include "run/runs/weights.h"
#include "run/train/train.h"

#include <assert.h>

typedef struct {
  CFile *f;
  const TrainSteps *steps;
  CUnit *unit;   // [step]
  CRecord state; // the struct of the caller
  CRecord first; // members with nonzero initial values
  Ids member;    // [member of .state] its index in .first; PLAN_NONE: zeros
} CTrain;

// -- persistent state -----------------------------------------------------------------------------
static bool is_zero(const State *s) {
  const char *bytes = s->data;
  size_t n = (size_t)s->count * number_bytes(s->number);
  for (size_t i = 0; i < n; i++)
    if (bytes[i]) return false;
  return true;
}

static uint32_t find_member(const CTrain *t, const char *path) {
  for (uint32_t i = 0; i < t->state.n; i++)
    if (strcmp(t->state.at[i].path, path) == 0) return i;
  return PLAN_NONE;
}

// Scalars in float arrays and counters are doubles inside kernels, so they are converted.
static bool needs_conversion(const State *s) {
  return s && !s->rank && s->base == BASE_R && s->number != NUMBER_F64;
}

static uint32_t add_state(CTrain *t, const State *s, const char *type) {
  Arena *a = t->f->e->arena;
  uint32_t at = find_member(t, s->path);
  if (at != PLAN_NONE) return at;
  CMember m = {
      .path = s->path, .says = type, .number = s->number, .count = s->count, .data = s->data};
  bool zero = is_zero(s);
  vec_push(a, &t->member, zero ? PLAN_NONE : t->first.n);
  if (!zero) c_record_add(a, &t->first, m);
  return c_record_add(a, &t->state, m);
}

static const char *state_type(CTrain *t, const State *s, const Param *p, const CUnit *u) {
  World *w = t->f->e->w;
  if (strcmp(s->path, p->path) == 0) return type_text(w, &u->d->wire.at[p->wire].type);
  return arena_format(w->arena, "R[%lld]", (long long)s->count);
}

static bool add_param(CTrain *t, CUnit *u, uint32_t i) {
  Export *e = t->f->e;
  const Param *p = &u->d->param.at[i];
  State *s = store_find(t->steps->store, p->path);
  if (!c_unit_reads(u, i) && !p->next) return true;
  assert(s || p->role == ROLE_CLOCK);
  u->param[i] = arena_format(e->arena, "&limn_clock%u", i);
  if (!s && t->steps->endless && text_ends(p->path, "steps"))
    return diag_refuse(
        e->w->diags, (Span){0},
        "how many steps there are depends on data that are not here, and the program "
        "reads it: say `train 1000 steps`");
  if (!s) return true;
  const State *whole = store_at(t->steps->store, s->whole);
  uint32_t at = add_state(t, whole, state_type(t, whole, p, u));
  const char *cell = arena_format(e->arena, "(state->%s + %lld)", t->state.at[at].name,
                                  (long long)(whole == s ? 0 : s->offset));
  if (!needs_conversion(s)) u->param[i] = cell;
  return true;
}

// -- text -----------------------------------------------------------------------------------------
// Converts scalars that are stored otherwise than kernels read them: counters and float members.
static void write_clocks(const CTrain *t, const CUnit *u, bool behind, Buf *c) {
  for (uint32_t i = 0; i < u->d->param.n; i++) {
    const Param *p = &u->d->param.at[i];
    if (!u->param[i] || u->param[i][0] != '&') continue;
    const State *s = store_find(t->steps->store, p->path);
    if (!s && !behind) {
      bool all = text_ends(p->path, "steps");
      buf_printf(c, "  double limn_clock%u = ", i);
      buf_printf(c, all ? "%llu.0;\n" : "(double)step;\n", (unsigned long long)t->steps->rounds);
    }
    if (!s) continue;
    const State *whole = store_at(t->steps->store, s->whole);
    const char *name = t->state.at[find_member(t, whole->path)].name;
    if (!behind)
      buf_printf(c, "  double limn_clock%u = (double)state->%s[%lld];\n", i, name,
                 (long long)s->offset);
    else if (p->next)
      buf_printf(c, "  state->%s[%lld] = (float)limn_clock%u;\n", name, (long long)s->offset, i);
  }
}

static void write_step(CTrain *t, CUnit *u, Buf *c) {
  Arena *a = t->f->e->arena;
  Buf arguments = buf_new(a), passed = buf_new(a);
  c_unit_arguments(u, &arguments);
  c_unit_call_arguments(u, &passed);
  const char *more = arguments.n ? ", " : "";
  buf_printf(c, "int %s_at(void *memory, %s *state%s%s) {\n", u->name, t->state.name, more,
             arguments.at);
  buf_text(c, "  const Bits64 seed = state->seed, step = state->run;\n  (void)seed, (void)step;\n");
  write_clocks(t, u, false, c);
  c_unit_body(u, "memory", c);
  buf_text(c, "  if (limn_bad) return 1;\n  state->run++;\n");
  write_clocks(t, u, true, c);
  buf_text(c, "  return 0;\n}\n\n");
  buf_printf(c, "int %s(%s *state%s%s) { return %s_at(limn_memory.bytes, state%s%s); }\n\n",
             u->name, t->state.name, more, arguments.at, u->name, more, passed.at);
}

static void write_begin(CTrain *t, Buf *c) {
  Arena *a = t->f->e->arena;
  if (t->first.n) {
    c_record_type(a, &t->first, c);
    buf_printf(c, "static const %s %s_inside = ", t->first.name, t->first.name);
    c_record_value(a, &t->first, c);
    buf_text(c, ";\n\n");
  }
  buf_printf(c, "void %s_begin(%s *state) {\n", t->f->name, t->state.name);
  buf_printf(c, "  state->seed = %lluU;\n  state->run = 0;\n", (unsigned long long)t->steps->seed);
  for (uint32_t i = 0; i < t->state.n; i++) {
    const CMember *m = &t->state.at[i];
    if (t->member.at[i] == PLAN_NONE)
      buf_printf(c, "  for (long i = 0; i < %lldL; i++) state->%s[i] = 0;\n", (long long)m->count,
                 m->name);
    else
      buf_printf(c, "  limn_copy(state->%s, %s_inside.%s, (long)sizeof state->%s);\n", m->name,
                 t->first.name, t->first.at[t->member.at[i]].name, m->name);
  }
  buf_text(c, "}\n\n");
}

// The offsets of weights that are stored in one flat array.
static void describe_members(const CTrain *t, Buf *h) {
  const Regime *r = t->steps->regime;
  for (uint32_t i = 0; i < r->flat.n; i++) {
    uint32_t at = find_member(t, r->flat.at[i].path);
    if (at == PLAN_NONE) continue;
    for (uint32_t k = 0; k < r->flat.at[i].member.n; k++) {
      const RowMember *m = &r->flat.at[i].member.at[k];
      buf_printf(h, "//   %s[%lld …]: %s : %s\n", t->state.at[at].name, (long long)m->offset,
                 m->path, type_text(t->f->e->w, &m->type));
    }
  }
}

static int64_t most_memory(const CTrain *t) {
  int64_t most = 1;
  for (uint32_t i = 0; i < t->steps->regime->step.n; i++)
    if (t->unit[i].bytes > most) most = t->unit[i].bytes;
  return most;
}

static void describe_round(const CTrain *t, Buf *h) {
  buf_text(h, "// A round is");
  for (uint32_t i = 0; i < t->steps->turns; i++)
    buf_printf(h, "%s %s", i ? "," : "", t->unit[t->steps->turn[i]].name);
  buf_text(h, ", each with a batch of its own.\n");
}

static void write_header(CTrain *t) {
  CFile *f = t->f;
  Arena *a = f->e->arena;
  Buf *h = &f->h;
  const char *upper = c_upper(a, f->name);
  buf_printf(h, "// Training steps of %s, written by limn %s.\n", f->name, LIMN_VERSION);
  for (uint32_t i = 0; i < t->steps->regime->step.n; i++) {
    buf_printf(h, "//\n// %s:\n", t->unit[i].name);
    c_unit_describe(&t->unit[i], h);
  }
  buf_text(
      h,
      "//\n// Labels are from 0 to below their number, bits are 0 or 1. A step gives 0, or 1 when "
      "a "
      "loss is not finite,\n// or 2 when a label or bit is outside of its range: then the state is "
      "as it was.\n");
  if (t->steps->turns > 1) describe_round(t, h);
  buf_printf(h, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n", upper, upper);
  buf_printf(h, "#define %s_BATCH %lld\n", upper, (long long)t->steps->batch);
  buf_printf(h, "#define %s_MEMORY %lld // bytes that a step works in\n", upper,
             (long long)most_memory(t));
  buf_text(h, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  if (f->beside)
    buf_printf(
        h, "// It begins as the bytes of %s.bin, on a machine that has the lowest byte first.\n",
        f->name);
  describe_members(t, h);
  c_record_type(a, &t->state, h);
  if (!f->beside) buf_printf(h, "void %s_begin(%s *state);\n", f->name, t->state.name);
  for (uint32_t i = 0; i < t->steps->regime->step.n; i++) {
    Buf arguments = buf_new(a);
    c_unit_arguments(&t->unit[i], &arguments);
    const char *more = arguments.n ? ", " : "";
    buf_printf(h, "int %s(%s *state%s%s); // in memory of its own: one call at a time\n",
               t->unit[i].name, t->state.name, more, arguments.at);
    buf_printf(h, "int %s_at(void *memory, %s *state%s%s);\n", t->unit[i].name, t->state.name, more,
               arguments.at);
  }
  buf_text(h, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

// -- the whole ------------------------------------------------------------------------------------
static bool make_unit(CTrain *t, uint32_t i) {
  Export *e = t->f->e;
  const Step *s = &t->steps->regime->step.at[i];
  CUnit *u = &t->unit[i];
  *u = (CUnit){.d = s->diagram, .name = arena_format(e->arena, "%s_step", t->f->name)};
  if (t->steps->regime->step.n > 1) u->name = arena_format(e->arena, "%s%u", u->name, i + 1);
  bool samples = has_sample_axis(e->w, s->diagram);
  if (!c_unit_plan(e, u, samples ? t->steps->batch : 0, t->f->wide)) return false;
  for (uint32_t k = 0; k < s->fields.n; k++)
    if (!s->fields.at[k]) u->in[k].name = NULL;
  for (uint32_t k = 0; k < s->goals.n; k++)
    u->out[k].name =
        c_identifier(e->arena, name_text(e->w->names, e->p->goal.at[s->goals.at[k]].name));
  u->stepped = true;
  for (uint32_t k = 0; k < u->d->param.n; k++)
    if (!add_param(t, u, k)) return false;
  c_unit_kernels(u, &t->f->kernels);
  return true;
}

static bool write_files(CTrain *t) {
  CFile *f = t->f;
  uint32_t axes = 0, n = t->steps->regime->step.n;
  for (uint32_t i = 0; i < n; i++)
    if (t->unit[i].axes > axes) axes = t->unit[i].axes;
  if (!f->beside) write_begin(t, &f->body);
  buf_printf(&f->body,
             "static union { double aligned; unsigned char bytes[%s_MEMORY]; } limn_memory;\n",
             c_upper(f->e->arena, f->name));
  for (uint32_t i = 0; i < n; i++) write_step(t, &t->unit[i], &f->body);
  c_file_join(f, axes, axes > 0);
  write_header(t);
  return c_file_close(f, f->beside ? &t->state : NULL);
}

static bool export_steps(void *context, const TrainSteps *steps) {
  CTrain *t = context;
  Arena *a = t->f->e->arena;
  t->steps = steps;
  t->unit = NEW_ARRAY(a, CUnit, steps->regime->step.n + 1);
  t->state = (CRecord){.name = arena_format(a, "%s_state", t->f->name),
                       .head = "  uint64_t seed, run; // of noise; how many steps were made\n",
                       .seed = steps->seed,
                       .head_bytes = 16};
  t->first = (CRecord){.name = arena_format(a, "%s_first", t->f->name)};
  for (uint32_t i = 0; i < steps->regime->step.n; i++)
    if (!make_unit(t, i)) return false;
  return write_files(t);
}

// The initial weights, if a file is named.
static bool read_initial_weights(Export *e, Arrays *set) {
  const char *error = "", *file = e->how->weights, *from = e->how->from;
  bool good = file ? safetensors_read(e->arena, file, set, &error)
                   : !from || folder_read_weights(e->arena, from, set, &error);
  return good || export_error(e, OUTCOME_WRONG, "%s", error);
}

bool c_export_step(CFile *f) {
  Export *e = f->e;
  Arrays set = {0};
  CTrain t = {.f = f};
  LimnTrain how = {.size = sizeof how,
                   .precision = e->how->precision,
                   .seed = e->how->seed,
                   .has_seed = e->how->has_seed,
                   .batch = e->how->batch,
                   .in_memory = true,
                   .quiet = true};
  if (!read_initial_weights(e, &set)) return false;
  e->status = train_steps(e->in, e->p, &how, set.array.n ? &set : e->set, export_steps, &t);
  return e->status == OUTCOME_GOOD;
}
