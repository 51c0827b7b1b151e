// Evaluates a box, learner, goal or measure by the reference interpreter. In: arrays from files,
// text or memory; weights from a file, from memory, or as initialised. Out: results, and on request
// the gradients of inputs and weights, as text, files or arrays.
#include "base/json_write.h"
#include "core/diagram/interpret.h"
#include "core/diagram/subst.h"
#include "core/pass/pass.h"
#include "run/use/use_own.h"

typedef struct {
  Use u; // context and outcome
  World *w;
  Arena *arena;
  const EvalCall *call;
  const LimnEval *how;
  Diagram *d;
  Tensor *input, *param;
  uint32_t own; // number of the diagram's own results; watched wires follow
  JsonOut json; // the text as JSON
} Evaluation;

// -- sizes ----------------------------------------------------------------------------------------
static bool has_open_sizes(World *w, const Diagram *d) {
  Ids vars = {0};
  for (uint32_t i = 0; i < d->in.n; i++) type_vars(w, &d->wire.at[d->in.at[i]].type, &vars);
  return vars.n > 0;
}

static bool has_samples(const Diagram *d) {
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    if (t->rank && t->axis[0].pass == PASS_SAMPLE) return true;
  }
  return false;
}

// Elaborates the box again with the sizes of the arrays. Additional leading axes are batch axes.
static bool with_sizes(Evaluation *r, const char *name, const Array *array) {
  Type *types = NEW_ARRAY(r->arena, Type, r->d->in.n + 1);
  for (uint32_t i = 0; i < r->d->in.n; i++)
    types[i] = type_for_array(&r->u, &r->d->wire.at[r->d->in.at[i]].type, &array[i], false);
  Instance how = {.training = r->how->training, .nin = r->d->in.n, .in = types};
  Diagram *d = elab_diagram(r->u.in, r->u.p, name, &how);
  if (d) r->d = d;
  return d != NULL;
}

// -- results --------------------------------------------------------------------------------------
// label: prefix in plain text, such as "d x = "; "": none
static void show_array(Evaluation *r, const char *key, const char *label, const Array *a) {
  if (r->how->json) {
    json_array(&r->json, key, a);
    return;
  }
  buf_text(r->call->text, label);
  array_print(r->call->text, a, false);
  buf_char(r->call->text, '\n');
}

// y.npy, or of several results y.0.npy, y.1.npy, …
static const char *out_file(Evaluation *r, uint32_t i) {
  const char *path = r->how->out;
  size_t n = strlen(path);
  if (r->d->out.n == 1) return path;
  return arena_format(r->arena, "%.*s.%u.npy", (int)(n - 4), path, i);
}

// A name without a suffix, such as /dev/null, is accepted for a single result.
static bool is_unknown_format(const Evaluation *r) {
  const char *name = strrchr(r->how->out, '/');
  if (text_ends(r->how->out, ".npy")) return false;
  return r->d->out.n > 1 || strchr(name ? name : r->how->out, '.');
}

static bool write_out(Evaluation *r, const Tensor *out) {
  const char *error;
  if (r->how->out && is_unknown_format(r))
    return use_wrong(&r->u, OUTCOME_USAGE, "results of eval are written as .npy, not as %s",
                     r->how->out);
  for (uint32_t i = 0; r->how->out && i < r->d->out.n; i++) {
    Array a = tensor_array(&out[i], "");
    if (!npy_write(r->arena, out_file(r, i), &a, &error))
      return use_wrong(&r->u, OUTCOME_SYSTEM, "%s", error);
  }
  return true;
}

static bool write_weights(Evaluation *r) {
  const char *error;
  Arrays all = {0};
  if (!r->how->save) return true;
  for (uint32_t i = 0; i < r->d->param.n; i++)
    if (r->d->param.at[i].role != ROLE_CLOCK && r->d->param.at[i].role != ROLE_CONST)
      vec_push(r->arena, &all.array, tensor_array(&r->param[i], r->d->param.at[i].path));
  return safetensors_write(r->arena, r->how->save, &all, &error) ||
         use_wrong(&r->u, OUTCOME_SYSTEM, "%s", error);
}

static const char *out_name(Evaluation *r, uint32_t i) {
  if (i >= r->own) return arena_format(r->arena, "%s.%u", r->how->watch, i + 1 - r->own);
  return diagram_result_text(r->w, r->arena, r->d, i);
}

static void show_results(Evaluation *r, const Tensor *out) {
  for (uint32_t i = 0; i < r->d->out.n && (!r->how->out || r->how->json); i++) {
    Array a = tensor_array(&out[i], "");
    show_array(r, out_name(r, i), "", &a);
  }
}

static void copy_results(Evaluation *r, const Tensor *out) {
  for (uint32_t i = 0; i < r->d->out.n; i++) {
    Array a = tensor_array(&out[i], out_name(r, i));
    arrays_keep(r->call->keep, r->call->out, &a);
  }
}

// -- gradients ------------------------------------------------------------------------------------
// One for each result: ones; or the first is given, and the others are zeros.
static bool make_cotangents(Evaluation *r, const Tensor *out, Tensor *to) {
  Array dy = {0};
  bool given = r->how->dy || r->how->dy_array;
  LimnInput in = {.value = r->how->dy, .array = r->how->dy_array};
  if (given && !input_read(&r->u, &in, &r->d->wire.at[r->d->out.at[0]].type, &dy)) return false;
  for (uint32_t i = 0; i < r->d->out.n; i++) {
    to[i] = tensor_new(r->arena, out[i].rank, out[i].shape);
    for (int64_t k = 0; k < to[i].count; k++) to[i].data[k] = given ? 0 : 1;
  }
  if (!given) return true;
  if (dy.count != out[0].count)
    return use_wrong(&r->u, OUTCOME_WRONG, "the cotangent has %lld numbers, the result %lld",
                     (long long)dy.count, (long long)out[0].count);
  to[0].data = dy.data;
  return true;
}

static bool run_diagram(Evaluation *r, const Diagram *d, Eval *eval) {
  if (diagram_eval(r->w, d, eval)) return true;
  return use_wrong(&r->u, OUTCOME_WRONG, "%s", eval->error);
}

static bool show_gradients(Evaluation *r, const Arrays *all) {
  const char *error;
  if (r->call->grads)
    for (uint32_t i = 0; i < all->array.n; i++)
      arrays_keep(r->call->keep, r->call->grads, &all->array.at[i]);
  if (r->how->grads)
    return safetensors_write(r->arena, r->how->grads, all, &error) ||
           use_wrong(&r->u, OUTCOME_SYSTEM, "%s", error);
  for (uint32_t i = 0; r->call->text && i < all->array.n; i++) {
    const char *key = arena_format(r->arena, "d %s", all->array.at[i].name);
    show_array(r, key, arena_format(r->arena, "%s = ", key), &all->array.at[i]);
  }
  return true;
}

// The reverse derivative, run by the interpreter: cotangents in, gradients out.
static bool compute_gradients(Evaluation *r, const Tensor *out) {
  Diagram *d = r->d;
  if (!r->how->dy && !r->how->dy_array && !r->how->grads && !r->call->grads) return true;
  if (label_results(d)) return use_wrong(&r->u, OUTCOME_WRONG, "labels have no gradient");
  Diagram *back = diagram_reverse(r->w, d, &(Wanted){0});
  Tensor *in = NEW_ARRAY(r->arena, Tensor, d->in.n + d->out.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++) in[i] = r->input[i];
  if (!make_cotangents(r, out, in + d->in.n)) return false;
  Eval eval = {.arena = r->arena,
               .seed = r->how->seed,
               .in = in,
               .param = r->param,
               .out = NEW_ARRAY(r->arena, Tensor, back->out.n + 1)};
  Arrays all = {0};
  if (!run_diagram(r, back, &eval)) return false;
  GradientNames names = gradient_names(r->w, r->arena, d);
  for (uint32_t i = 0; i < names.n && i < back->out.n; i++)
    vec_push(r->arena, &all.array, tensor_array(&eval.out[i], names.at[i]));
  return show_gradients(r, &all);
}

// -- watched wires --------------------------------------------------------------------------------
// Appends wires inside the diagram to the results. All calls are inlined first, so each wire is
// there once for each call.
static bool watch(Evaluation *r, const char *name) {
  const char *wanted = r->how->watch;
  r->own = r->d->out.n;
  if (!wanted) return true;
  Diagram *flat = diagram_inline_all(r->w, r->d);
  Ids wires = wires_called(r->w, r->arena, flat, wanted);
  for (uint32_t i = 0; i < wires.n; i++) diagram_output(r->w, flat, wires.at[i]);
  if (!wires.n)
    return use_wrong(&r->u, OUTCOME_WRONG, "there is no wire `%s` inside of `%s`", wanted, name);
  r->d = flat;
  return true;
}

// -- evaluation -----------------------------------------------------------------------------------
static bool prepare(Evaluation *r, const char *name) {
  Array *array = NEW_ARRAY(r->arena, Array, r->d->in.n + 1);
  const LimnInput **in = NEW_ARRAY(r->arena, const LimnInput *, r->d->in.n + 1);
  if (!inputs_read(&r->u, r->d, r->how->in, r->how->nin, in, array)) return false;
  bool extra = has_open_sizes(r->w, r->d) || r->how->training;
  for (uint32_t i = 0; i < r->d->in.n; i++)
    input_reshape(&r->u, &r->d->wire.at[r->d->in.at[i]].type, &array[i]);
  for (uint32_t i = 0; i < r->d->in.n; i++)
    extra |= array[i].rank != r->d->wire.at[r->d->in.at[i]].type.rank;
  if (extra && !has_samples(r->d) && r->d->in.n && !with_sizes(r, name, array)) return false;
  if (!watch(r, name)) return false;
  r->input = NEW_ARRAY(r->arena, Tensor, r->d->in.n + 1);
  for (uint32_t i = 0; i < r->d->in.n; i++) r->input[i] = array_tensor(&array[i]);
  r->param = NEW_ARRAY(r->arena, Tensor, r->d->param.n + 1);
  WeightsAsked asked = {.weights = r->how->weights,
                        .from = r->how->from,
                        .set = r->call->set,
                        .seed = r->how->seed,
                        .has_seed = r->how->has_seed || r->how->seed};
  return use_weights(&r->u, r->d, &asked, r->param);
}

static bool evaluate(Evaluation *r, const char *name) {
  Buf *text = r->call->text;
  if (!prepare(r, name)) return false;
  Tensor *out = NEW_ARRAY(r->arena, Tensor, r->d->out.n + 1);
  Eval eval = {
      .arena = r->arena, .seed = r->how->seed, .in = r->input, .param = r->param, .out = out};
  if (!run_diagram(r, r->d, &eval)) return false;
  if (r->call->out) copy_results(r, out);
  bool json = text && r->how->json;
  if (json) r->json = json_out(text), json_object(&r->json, NULL);
  if (text) show_results(r, out);
  if (!write_out(r, out) || !write_weights(r) || !compute_gradients(r, out)) return false;
  if (json && r->how->count)
    json_number(&r->json, "multiplications", (double)eval.multiplications);
  else if (text && r->how->count)
    buf_printf(text, "%llu multiplications\n", (unsigned long long)eval.multiplications);
  if (json) json_end(&r->json);
  return true;
}

Outcome use_evaluate(Elab *in, Program *p, const char *name, const EvalCall *call) {
  World *w = elab_world(in);
  Evaluation r = {.u = {.in = in, .w = w, .p = p, .arena = w->arena},
                  .w = w,
                  .arena = w->arena,
                  .call = call,
                  .how = call->how,
                  .d = diagram_trained(in, p, name)};
  if (!r.d || !diagram_is_small(w, r.d)) return OUTCOME_WRONG;
  if (!evaluate(&r, name) && r.u.status == OUTCOME_GOOD) r.u.status = OUTCOME_WRONG;
  return r.u.status;
}
