// Shared by exporters: the requested diagram, in use; the values of its weights; and writing a
// file.
#include "port/out/out.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/source.h"
#include "core/diagram/each.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"

bool export_error(Export *e, Outcome status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(e->w->diags, (Span){0}, format, args);
  va_end(args);
  e->status = status;
  return false;
}

// -- the diagram ----------------------------------------------------------------------------------
static Type type_with_samples(Export *e, const Type *t) {
  if (t->rank && t->axis[0].pass == PASS_SAMPLE) return *t;
  Axis *axis = NEW_ARRAY(e->arena, Axis, t->rank + 1);
  axis[0] = elab_samples(e->in);
  for (uint32_t k = 0; k < t->rank; k++) axis[k + 1] = t->axis[k];
  Type made = type_make(e->w, t->base, t->rank + 1, axis);
  made.count = t->count;
  made.names = t->names;
  return made;
}

static bool has_samples(const Export *e, const Type *t) {
  return t->rank && t->axis[0].size == e->samples;
}

// Expands a result that does not depend on the sample over the sample axis.
static Id for_each_sample(Export *e, Diagram *d, Id wire) {
  World *w = e->w;
  Wire from = d->wire.at[wire];
  if (has_samples(e, &from.type)) return wire;
  Type t = type_with_samples(e, &from.type);
  Loop *loop = loop_over(w, &t);
  loop->nin = 1;
  loop->in = NEW(w->arena, Access);
  loop->in->rank = from.type.rank;
  loop->in->coord = NEW_ARRAY(w->arena, Coord, from.type.rank + 1);
  for (uint32_t k = 0; k < from.type.rank; k++) loop->in->coord[k] = coord_index(w, k + 1);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = from.type.base});
  Id made = box_loop(w, d, loop, &wire, 1, t, from.origin);
  d->wire.at[made].name = from.name;
  return made;
}

// Results that do not depend on the samples are expanded too.
static Diagram *all_for_samples(Export *e, Diagram *from) {
  bool all = true;
  for (uint32_t i = 0; i < from->out.n; i++)
    all &= has_samples(e, &from->wire.at[from->out.at[i]].type);
  if (all) return from;
  Arena *a = e->w->arena;
  Diagram *d = diagram_new(e->w, from->name); // a new diagram: other code may hold the present one
  Id id = d->id;
  *d = *from;
  d->id = id;
  d->wire.cap = d->wire.n;
  d->box.cap = d->box.n;
  d->wire.at = arena_copy(a, from->wire.at, from->wire.n * sizeof *from->wire.at);
  d->box.at = arena_copy(a, from->box.at, from->box.n * sizeof *from->box.at);
  d->out = (Ids){0};
  for (uint32_t i = 0; i < from->out.n; i++)
    diagram_output(e->w, d, for_each_sample(e, d, from->out.at[i]));
  return d;
}

// Type-checks the box on inputs with a sample axis, as a use would. If its sizes depend on its
// inputs, the diagram is used as it is, and every box in it gets the axis.
static Diagram *on_samples(Export *e, const Diagram *d) {
  Diags *diags = e->w->diags;
  Type *type = NEW_ARRAY(e->arena, Type, d->in.n);
  bool *given = NEW_ARRAY(e->arena, bool, d->in.n);
  Axis axis = elab_samples(e->in);
  e->samples = axis.size;
  for (uint32_t i = 0; i < d->in.n; i++) {
    type[i] = type_with_samples(e, &d->wire.at[d->in.at[i]].type);
    given[i] = true;
  }
  diags->muted++;
  Diagram *made = elab_diagram(e->in, e->p, e->name, &(Instance){.nin = d->in.n, .in = type});
  diags->muted--;
  if (!made && diagram_is_small(e->w, d))
    made = diagram_vmap(e->w, d, given, (Index){axis.label, axis.size});
  return made ? all_for_samples(e, made) : NULL;
}

Diagram *export_diagram(Export *e, bool samples) {
  if (!e->name) {
    export_error(e, OUTCOME_USAGE, "`%s` wants the name of a box, learner or goal", e->how->as);
    return NULL;
  }
  Diagram *d = diagram_trained(e->in, e->p, e->name);
  return !d || !samples || !d->in.n || has_sample_axis(e->w, d) ? d : on_samples(e, d);
}

// -- weights --------------------------------------------------------------------------------------
bool export_params(Export *e, const Diagram *d, Tensor **param) {
  *param = NEW_ARRAY(e->arena, Tensor, d->param.n + 1);
  WeightsAsked asked = {.weights = e->how->weights,
                        .from = e->how->from,
                        .set = e->set,
                        .seed = e->how->seed,
                        .has_seed = e->how->has_seed || e->how->seed,
                        .part = true};
  e->status = use_params(e->in, e->p, d, &asked, *param);
  return e->status == OUTCOME_GOOD;
}

bool export_weights(Export *e, const Diagram *d, Arrays *all) {
  Tensor *param;
  if (!export_params(e, d, &param)) return false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    if ((p->role != ROLE_WEIGHT && p->role != ROLE_BUFFER) || arrays_find(all, p->path)) continue;
    Array a = tensor_array(&param[i], p->path);
    Base base = (Base)d->wire.at[p->wire].type.base;
    a.kind = base == BASE_LABEL                       ? EL_I64
             : base == BASE_BIT                       ? EL_U8
             : e->how->precision == LIMN_PRECISION_64 ? EL_F64
                                                      : EL_F32;
    vec_push(e->arena, &all->array, a);
  }
  return true;
}

// -- the file -------------------------------------------------------------------------------------
// "net" for "dir/net.limn"
static const char *program_name(Export *e) {
  const char *name;
  path_folder(e->arena, e->w->sources->file.at[e->p->tree->span.file].path, &name);
  size_t n = strlen(name);
  return text_ends(name, ".limn") ? arena_text(e->arena, name, n - strlen(".limn")) : name;
}

const char *export_file(Export *e) {
  if (e->how->out) return e->how->out;
  return arena_format(e->arena, "%s%s%s", e->name ? e->name : program_name(e), e->kind, e->ending);
}

bool export_may_write(Export *e, const char *const *path, uint32_t n) {
  FolderNames to = {0};
  for (uint32_t i = 0; i < n; i++) vec_push(e->arena, &to, path[i]);
  const char *why = paths_clash(e->arena, e->reads ? e->reads : &(FolderNames){0}, &to);
  return !why || export_error(e, OUTCOME_USAGE, "%s", why);
}

bool export_write_file(Export *e, const char *path, const void *bytes, size_t n) {
  if (!export_may_write(e, &path, 1)) return false;
  const char *error = file_write(e->arena, path, bytes, n);
  if (error) return export_error(e, OUTCOME_SYSTEM, "cannot write %s: %s", path, error);
  buf_printf(e->text, "%s\n", path);
  return true;
}
