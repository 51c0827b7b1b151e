// `limn predict FILE NAME --from DIR --in x=…`: a box or learner on the user's arrays. An array
// with one axis more than the input has a row for each sample. Rows with as many numbers as the
// input are reshaped.
#include "base/diag.h"
#include "base/names.h"
#include "run/use/use_own.h"

#include <math.h>

// Does the array have the shape of the type? An open size matches any.
static bool has_shape(World *w, const Type *t, const Array *x) {
  int64_t n;
  bool good = x->rank == t->rank;
  for (uint32_t i = 0; good && i < t->rank; i++)
    good =
        !size_value(w, t->axis[i].size, &n) || t->axis[i].pass == PASS_SAMPLE || n == x->shape[i];
  return good;
}

// Reshapes rows with as many numbers as `t`.
static bool rows_shaped(Use *u, const Type *t, Array *x) {
  int64_t want, each = x->rank && x->shape[0] ? x->count / x->shape[0] : 0;
  if (!type_count(u->w, t, &want) || each != want) return false;
  int64_t *shape = NEW_ARRAY(u->arena, int64_t, t->rank + 1);
  shape[0] = x->shape[0];
  if (!engine_shape(u->w, t, 0, shape + 1)) return false;
  x->rank = t->rank + 1;
  x->shape = shape;
  return true;
}

// Are the last axes of the array those of the type?
static bool ends_with(World *w, const Type *t, const Array *x) {
  Array last = *x;
  if (x->rank < t->rank) return false;
  last.rank = t->rank, last.shape = x->shape + (x->rank - t->rank);
  return has_shape(w, t, &last);
}

void input_reshape(Use *u, const Type *t, Array *x) {
  bool own = t->rank && t->axis[0].pass == PASS_SAMPLE;
  if (!own && !ends_with(u->w, t, x)) rows_shaped(u, t, x);
}

static Type type_of_sample(Use *u, const Type *t) {
  Type each = type_make(u->w, t->base, t->rank - 1, t->axis + 1);
  each.count = t->count;
  each.names = t->names;
  return each;
}

// An input that already has a sample axis, as the inputs of a goal do.
static bool shape_samples(Use *u, const Type *t, const char *name, Array *x) {
  Type each = type_of_sample(u, t);
  if (has_shape(u->w, t, x) || (x->rank && rows_shaped(u, &each, x))) return true;
  return use_wrong(u, OUTCOME_WRONG,
                   "input %s is %s, but a row of %s is wanted, one for each sample",
                   *name ? name : "1", array_type(u->arena, x), type_text(u->w, &each));
}

// *sliced: the first axis of the array is the samples.
static bool shape_input(Use *u, const Type *t, const char *name, Array *x, bool *sliced) {
  int64_t want;
  bool known = type_count(u->w, t, &want), own = t->rank && t->axis[0].pass == PASS_SAMPLE;
  *sliced = !own && x->rank == t->rank + 1;
  if (own) return shape_samples(u, t, name, x);
  if (has_shape(u->w, t, x) || (*sliced && !known)) return true;
  *sliced = rows_shaped(u, t, x);
  if (*sliced || x->rank == t->rank) return true; // its own sizes are refused where it is called
  return use_wrong(u, OUTCOME_WRONG, "input %s is %s, but %s is wanted, or a row of them",
                   *name ? name : "1", array_type(u->arena, x), type_text(u->w, t));
}

Type type_for_array(Use *u, const Type *t, const Array *x, bool sliced) {
  Axis *axis = NEW_ARRAY(u->arena, Axis, x->rank + 1);
  uint32_t more = x->rank > t->rank ? x->rank - t->rank : 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    axis[i] = (Axis){.size = size_of(u->w, x->shape[i])};
    if (i < more) continue;
    axis[i].label = t->axis[i - more].label;
    axis[i].decl = t->axis[i - more].decl;
  }
  if (sliced) axis[0] = elab_samples(u->in);
  Type made = type_make(u->w, t->base, x->rank, axis);
  made.count = t->count;
  made.names = t->names;
  return made;
}

const Diagram *use_instance(Use *u, const char *name, const Diagram *formal, Array *x, int64_t *n) {
  Type *type = NEW_ARRAY(u->arena, Type, formal->in.n + 1);
  bool said = false; // *n is known
  *n = 1;
  u->many = has_sample_axis(u->w, formal);
  for (uint32_t i = 0; i < formal->in.n; i++) {
    const Wire *wire = &formal->wire.at[formal->in.at[i]];
    bool sliced, own = wire->type.rank && wire->type.axis[0].pass == PASS_SAMPLE;
    if (!shape_input(u, &wire->type, name_text(u->w->names, wire->name), &x[i], &sliced))
      return NULL;
    type[i] = type_for_array(u, &wire->type, &x[i], sliced);
    if (!sliced && !own) continue;
    if (said && x[i].shape[0] != *n) {
      use_wrong(u, OUTCOME_WRONG, "inputs have different numbers of samples: %lld and %lld",
                (long long)*n, (long long)x[i].shape[0]);
      return NULL;
    }
    *n = x[i].shape[0];
    said = u->many = true;
  }
  if (has_sample_axis(u->w, formal) || (!formal->in.n && !u->training)) return formal;
  Instance how = {.training = u->training, .nin = formal->in.n, .in = type};
  return diagram_named(u->in, u->p, name, &how);
}

// -- labels and bits ------------------------------------------------------------------------------
// Position of the k-th number of an array: " at [3 0]"; "" for a scalar.
static const char *position_text(Use *u, const Array *x, int64_t k) {
  if (!x->rank) return "";
  Buf b = buf_new(u->arena);
  buf_text(&b, " at ");
  buf_indices(&b, x->rank, x->shape, k);
  return b.at;
}

bool label_refuse(Use *u, const Diagram *d, uint32_t i, const char *file, const Array *x, int64_t k,
                  double value) {
  const Wire *wire = &d->wire.at[d->in.at[i]];
  const char *name = name_text(u->w->names, wire->name);
  return use_wrong(
      u, OUTCOME_WRONG, "input %s%s%s holds %g%s: a %s is a whole number from 0 to %lld",
      *name ? name : arena_format(u->arena, "%u", i + 1), file ? ", " : "", file ? file : "", value,
      position_text(u, x, k), wire->type.base == BASE_BIT ? "bit" : "label here",
      (long long)labels_of(u->w, &wire->type) - 1);
}

// An error of the inputs is reported before one of the weights.
static bool labels_fit(Use *u, const Diagram *d, uint32_t i, const LimnInput *in, const Array *x) {
  int64_t count = labels_of(u->w, &d->wire.at[d->in.at[i]].type);
  for (int64_t k = 0; count && k < x->count; k++) {
    double v = x->data[k];
    if (v >= 0 && v < (double)count && v == floor(v)) continue;
    const char *dot = in->array ? NULL : strrchr(in->value, '.');
    bool file = dot && (!strncmp(dot, ".csv", 4) || !strcmp(dot, ".npy") || !strcmp(dot, ".png"));
    return label_refuse(u, d, i, file ? in->value : NULL, x, k, v);
  }
  return true;
}

// Do named labels of the diagram agree with the words of the run?
static bool words_agree(Use *u, const Diagram *d) {
  Data *data = use_data(u);
  bool good = data != NULL;
  for (uint32_t i = 0; good && i < d->in.n; i++)
    good = data_words_agree(data, &d->wire.at[d->in.at[i]].type, "");
  for (uint32_t i = 0; good && i < d->out.n; i++)
    good = data_words_agree(data, &d->wire.at[d->out.at[i]].type, "");
  return good;
}

// Warns of what an input loses in 32 bits.
static void warn_rounding(Use *u, const Diagram *d, uint32_t i, const Array *x) {
  const Wire *wire = &d->wire.at[d->in.at[i]];
  const char *name = name_text(u->w->names, wire->name);
  int64_t rows = u->many && x->rank ? x->shape[0] : 1;
  PrecisionLoss r;
  if (number_of(u->precision, wire->type.base, x->rank) != NUMBER_F32 || !rows) return;
  if (!numbers_precision_loss(u->arena, x->data, rows, x->count / rows, &r)) return;
  Id said = diag_warning(u->w->diags, (Span){0}, "input %s is %s",
                         *name ? name : arena_format(u->arena, "%u", i + 1),
                         precision_loss_text(u->arena, &r));
  diag_help(u->w->diags, said, "--precision 64 keeps it");
}

// -- results --------------------------------------------------------------------------------------
static void repeat_for_samples(Use *u, Array *x, int64_t samples) {
  Array all = *x;
  all.rank++;
  all.shape = NEW_ARRAY(u->arena, int64_t, all.rank);
  all.shape[0] = samples;
  if (x->rank) memcpy(all.shape + 1, x->shape, x->rank * sizeof *x->shape);
  all.count = samples * x->count;
  all.data = NEW_ARRAY(u->arena, double, all.count + 1);
  for (int64_t i = 0; i < samples && x->count; i++)
    memcpy(all.data + i * x->count, x->data, (size_t)x->count * sizeof *x->data);
  *x = all;
}

// A box that knows nothing of samples has a row of results for each sample, also of a result that is the same for all.
static void rows_for_samples(Use *u, const char *name, const Diagram *formal, Array *in,
                             Arrays *out) {
  int64_t samples;
  if (!u->many || has_sample_axis(u->w, formal)) return;
  const Diagram *d = use_instance(u, name, formal, in, &samples);
  for (uint32_t i = 0; d && i < d->out.n; i++) {
    const Type *t = &d->wire.at[d->out.at[i]].type;
    bool own = t->rank && t->axis[0].pass == PASS_SAMPLE;
    if (!own) repeat_for_samples(u, &out->array.at[i], samples);
  }
}

static bool predict(Use *u, void *context) {
  Callable *f = callable_of(u, context);
  const Diagram *d = callable_diagram(f);
  if (!d || !words_agree(u, d)) return false;
  Array *x = NEW_ARRAY(u->arena, Array, d->in.n + 1);
  const LimnInput **in = NEW_ARRAY(u->arena, const LimnInput *, d->in.n + 1);
  Arrays out = {0};
  if (!inputs_read(u, d, u->how->in, u->how->nin, in, x)) return false;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (!labels_fit(u, d, i, in[i], &x[i])) return false;
  ArraysCall call = {.in = x, .keep = u->arena};
  if (!callable_arrays(f, &call, &out)) return false;
  rows_for_samples(u, context, d, x, &out);
  for (uint32_t i = 0; i < d->in.n; i++) warn_rounding(u, d, i, &x[i]);
  return arrays_put(u, &out);
}

Outcome use_predict(Elab *in, Program *p, const char *name, const UseCall *call) {
  return use_guarded(in, p, call, predict, (void *)(uintptr_t)name);
}
