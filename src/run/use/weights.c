// The weights of a diagram: set in memory, from a file or a run, from the sources that the program
// names, or as initialised.
#include "base/diag.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "run/use/use_own.h"

#include "run/runs/weights.h"

typedef struct {
  Use *u;
  const Diagram *d;
  const WeightsAsked *asked;
  const char *file;     // NULL: none
  Arrays given, source; // arrays of the file, and of the sources that the program names
  uint64_t seed;        // of what neither has
} WeightReading;

static bool weight_fits(WeightReading *r, const Param *p, const Array *a, const char *where) {
  World *w = r->u->w;
  const Type *t = &r->d->wire.at[p->wire].type;
  bool fits = a->rank == t->rank;
  for (uint32_t k = 0; fits && k < t->rank; k++) {
    int64_t n;
    fits = !size_value(w, t->axis[k].size, &n) || n == a->shape[k];
  }
  return fits || use_wrong(r->u, OUTCOME_WRONG, "weight %s is %s in %s, but the program wants %s",
                           p->path, array_type(r->u->arena, a), where, type_text(w, t));
}

bool use_sources(Elab *in, Program *p, const Diagram *d, const Table *known, Arena *a,
                 Arrays *out) {
  World *w = elab_world(in);
  Arena *own = arena_child(a);
  Store *held = store_in(own);
  bool good =
      held ? store_load_sources_of(in, p, held, d, known) : diag_machine(w->diags, "out of memory");
  for (uint32_t i = 0; good && i < store_count(held); i++) {
    const State *s = store_at(held, i);
    Tensor t = tensor_new(a, s->rank, s->shape);
    state_get(s, t.data);
    vec_push(a, &out->array, tensor_array(&t, arena_text(a, s->path, strlen(s->path))));
  }
  arena_free(own);
  return good;
}

// The value of a weight, or of the weight that a stale copy follows.
static const Array *find_weight(const Arrays *all, const Param *p) {
  const Array *a = arrays_find(all, p->path);
  return a || !p->init.as ? a : arrays_find(all, p->init.as);
}

static bool read_weight(WeightReading *r, const Param *p, Tensor *out) {
  World *w = r->u->w;
  const Type *t = &r->d->wire.at[p->wire].type;
  const Array *set = r->asked->set ? find_weight(r->asked->set, p) : NULL;
  const Array *a = set ? set : find_weight(&r->given, p);
  if (!a) a = arrays_find(&r->source, p->path);
  if (a) {
    *out = array_tensor(a);
    return weight_fits(r, p, a, set ? "memory" : r->file);
  }
  if (r->file && (p->role == ROLE_WEIGHT || p->init.as))
    return use_wrong(r->u, OUTCOME_WRONG, "%s has no weight %s (%s)", r->file, p->path,
                     type_text(w, t));
  if (type_over_open(w, t, (Span){0})) return r->u->status = OUTCOME_WRONG, false;
  return init_eval(w, r->u->arena, &p->init, t, r->seed, site_hash(0, p->path), out) ||
         use_wrong(r->u, OUTCOME_WRONG, "weight %s : %s cannot be made: %s", p->path,
                   type_text(w, t), init_fault(w, t));
}

static void warn_of_unused(WeightReading *r) {
  for (uint32_t i = 0; i < r->given.array.n; i++) {
    bool known = false;
    for (uint32_t k = 0; k < r->d->param.n; k++)
      known |= strcmp(r->d->param.at[k].path, r->given.array.at[i].name) == 0;
    if (!known)
      diag_warning(r->u->w->diags, (Span){0}, "weight %s in %s is not used here",
                   r->given.array.at[i].name, r->asked->weights);
  }
}

bool use_weights(Use *u, const Diagram *d, const WeightsAsked *asked, Tensor *out) {
  WeightReading r = {.u = u, .d = d, .asked = asked, .file = asked->weights};
  const char *error;
  if (asked->weights && asked->from)
    return use_wrong(u, OUTCOME_USAGE, "either --from or --weights is wanted, not both");
  if (!r.file && asked->from) r.file = folder_weights(u->arena, asked->from);
  bool good = asked->from ? folder_read_weights(u->arena, asked->from, &r.given, &error)
                          : !r.file || safetensors_read(u->arena, r.file, &r.given, &error);
  if (!good) return use_wrong(u, OUTCOME_WRONG, "%s", error);
  if (asked->from) use_tell_settings(u->in, u->arena, asked->from);
  r.seed = asked->has_seed ? asked->seed : weights_seed(u->in, u->p, &r.given);
  Table *known = table_new(u->arena);
  paths_add(known, &r.given);
  paths_add(known, asked->set);
  if (!use_sources(u->in, u->p, d, known, u->arena, &r.source)) return false;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!read_weight(&r, &d->param.at[i], &out[i])) return false;
  if (asked->weights && !asked->part) warn_of_unused(&r);
  return true;
}

Outcome use_params(Elab *in, Program *p, const Diagram *d, const WeightsAsked *asked,
                   Tensor *param) {
  World *w = elab_world(in);
  Use u = {.in = in, .w = w, .p = p, .arena = w->arena};
  if (!use_weights(&u, d, asked, param) && u.status == OUTCOME_GOOD) u.status = OUTCOME_WRONG;
  return u.status;
}
