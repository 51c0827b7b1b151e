// One training step on a batch of the caller's arrays, which replaces the program's data. Arrays
// are matched to fields by name and copied into the engines' input memory. The whole batch is
// checked before anything is written, so a refused batch changes nothing.
#include "base/diag.h"
#include "base/names.h"
#include "run/train/train_own.h"

#include <assert.h>

static const char *field_name(const Trainer *t, Id field) {
  return name_text(t->w->names, def_of(t->in, field)->name);
}

static const LimnInput *given_named(const CallerBatch *b, const char *name) {
  for (uint32_t i = 0; i < b->n; i++)
    if (strcmp(b->in[i].name, name) == 0) return &b->in[i];
  return NULL;
}

static const Type *type_of_field(const Trainer *t, uint32_t step, uint32_t i) {
  const Diagram *d = t->regime.step.at[step].diagram;
  return &d->wire.at[d->in.at[i]].type;
}

// Reports why the batch is refused; the run can continue. Always false.
#define refuse(t, ...) diag_refuse((t)->w->diags, (Span){0}, __VA_ARGS__)

static bool has_shape(Trainer *t, const Type *type, const LimnArray *x, int64_t n) {
  int64_t shape[ARRAY_RANK_LIMIT];
  bool fits = x->rank == type->rank && engine_shape(t->w, type, n, shape);
  for (uint32_t i = 0; fits && i < type->rank; i++) fits = shape[i] == x->shape[i];
  return fits;
}

// Are all values valid labels, if labels are wanted? Converts into scratch memory to find out.
static bool are_labels(Trainer *t, const Type *type, const char *name, const LimnArray *x,
                       int64_t count, Arena *scratch) {
  int64_t wrong, labels = labels_of(t->w, type);
  double value;
  if (!labels) return true;
  CellsTo to = {NEW_ARRAY(scratch, int32_t, count + 1), NUMBER_I32, labels};
  if (cells_from_memory(x, count, to, &wrong, &value)) return true;
  return refuse(t, "field %s of the batch holds %g: a label here is a whole number from 0 to %lld",
                name, value, (long long)labels - 1);
}

static bool field_fits(Trainer *t, CallerBatch *b, uint32_t step, uint32_t i, Arena *scratch) {
  const Type *type = type_of_field(t, step, i);
  const char *name = field_name(t, t->regime.step.at[step].fields.at[i]), *error;
  const LimnInput *in = given_named(b, name);
  int64_t count;
  if (!in || !in->array)
    return refuse(t, "the batch has no array for the field %s : %s", name, type_text(t->w, type));
  if (!array_size(scratch, in->array, &count, &error)) return refuse(t, "%s", error);
  if (b->samples < 0 && in->array->rank) b->samples = in->array->shape[0];
  if (!has_shape(t, type, in->array, b->samples) || !count) {
    Array x = {.kind = memory_element(in->array->type),
               .rank = in->array->rank,
               .shape = (int64_t *)(uintptr_t)in->array->shape};
    return refuse(t, "field %s of the batch is %s, but %s is wanted, samples in front", name,
                  array_type(scratch, &x), type_text(t->w, type));
  }
  return are_labels(t, type, name, in->array, count, scratch);
}

static bool batch_fits(Trainer *t, CallerBatch *b, Arena *scratch) {
  bool exactly = false;
  for (uint32_t k = 0; k < t->regime.step.n; k++) {
    const Ids *fields = &t->regime.step.at[k].fields;
    for (uint32_t i = 0; i < fields->n; i++)
      if (fields->at[i] && !field_fits(t, b, k, i, scratch)) return false;
    exactly |= engine_full_batches_only(t->engine[k]);
  }
  if (b->samples < 0) return refuse(t, "no goal reads a field: a step takes no batch");
  return (exactly ? b->samples == t->batch : b->samples <= t->batch) ||
         refuse(t,
                "the batch has %lld samples, and a step is made for %lld %s: `batch` says how many",
                (long long)b->samples, (long long)t->batch, exactly ? "exactly" : "at most");
}

void caller_batch_write(Trainer *t, uint32_t k) {
  const Ids *fields = &t->regime.step.at[k].fields;
  for (uint32_t i = 0; i < fields->n; i++) {
    if (!fields->at[i]) continue;
    const LimnArray *x = given_named(t->caller_batch, field_name(t, fields->at[i]))->array;
    int64_t count = 1, wrong;
    double value;
    for (uint32_t a = 0; a < x->rank; a++) count *= x->shape[a];
    CellsTo to = {engine_in(t->engine[k], i), engine_in_number(t->engine[k], i),
                  labels_of(t->w, type_of_field(t, k, i))};
    bool fits = cells_from_memory(x, count, to, &wrong, &value);
    assert(fits); // batch_fits has checked the batch
    (void)fits;
  }
}

Outcome train_step_on(Trainer *t, const LimnInput *in, uint32_t n, Arena *scratch) {
  CallerBatch own = {in, n, -1};
  if (train_ended(t)) return t->status;
  if (!fields_are_distinct(t->in, t->p) || !batch_fits(t, &own, scratch)) return OUTCOME_WRONG;
  t->caller_batch = &own;
  Outcome end = train_go(t, 1);
  t->caller_batch = NULL;
  return end;
}
