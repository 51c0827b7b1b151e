// Gradients of one batch: the values of wires inside the goals, and the gradients of the losses by
// these wires and by the weights.
//
//   goals ─inlined─► one diagram ─reverse─► losses, d weights, wires, d wires ─► an engine
//
// The batch is the first one that a run of the same seed draws, so the numbers of two checkpoints
// differ by their weights only. Goals have the weights that they have in the run now.
#include "base/diag.h"
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "run/use/use_own.h"

#include <stdlib.h>

enum { BATCH = 64 }; // default batch size

typedef struct {
  Use *u;
  Loss loss;
  // All goals, so that names of wires do not depend on the goals asked for. Outputs: losses of the
  // goals asked for.
  Diagram *flat;
  const bool *const *moves; // [output][param]
  bool *part;               // [wire] an output depends on it
  Ids weight;               // params whose gradients are asked for
  Ids wire;                 // wires of `flat` whose gradients are asked for
} GoalGradients;

// -- the run --------------------------------------------------------------------------------------
// Reads run.json. False: `from` is a file of weights, or not given.
static bool read_run_note(Use *u, RunNote *out) {
  const char *error;
  return u->how->from && path_is_folder(u->how->from) &&
         note_read(u->arena, u->how->from, out, &error);
}

static Changes weights_now(Use *u, const RunNote *note) {
  const Json *all = json_get(note->json, "settings");
  const Json *key = all && all->kind == JSON_OBJECT && all->n ? json_first(all) : NULL;
  Changes out = {0};
  for (uint32_t i = 0; key && i < all->n; i++, key = json_next(key + 1))
    if (key[1].kind == JSON_NUMBER && text_ends(key->text, ".weight"))
      vec_push(u->arena, &out, (Change){.what = key->text, .value = key[1].number});
  return out;
}

// The program with the goals' weights of the run, which may have been changed. NULL with a
// diagnostic: the run has another program.
static Program *program_of_run(Use *u, const RunNote *note) {
  Program *p = arena_copy(u->w->arena, u->p, sizeof *p);
  const char *other = program_difference_but_shows(u->w, u->p, u->how->from);
  if (other) {
    use_wrong(u, OUTCOME_WRONG, "the program is another one than that of %s: %s", u->how->from,
              other);
    return NULL;
  }
  Changes now = weights_now(u, note);
  p->goal.at = arena_copy(u->w->arena, p->goal.at, p->goal.n * sizeof *p->goal.at);
  change_goals(u->w, p, &now);
  return p;
}

// -- goals, weights and wires asked for -----------------------------------------------------------
static bool find_goals(Use *u, const Program *p, const char *name, Ids *out) {
  const char **names = NEW_ARRAY(u->arena, const char *, p->goal.n + 1);
  for (uint32_t i = 0; i < p->goal.n; i++) {
    names[i] = name_text(u->w->names, p->goal.at[i].name);
    if (!name || strcmp(names[i], name) == 0) vec_push(u->w->arena, out, i);
  }
  if (out->n) return true;
  if (!name)
    return use_wrong(u, OUTCOME_WRONG, "this program has no goals, and so there are no gradients");
  Id e = diag_error(u->w->diags, (Span){0}, "there is no goal `%s` in this program", name);
  diag_suggest(u->w->diags, e, nearest_name(name, names, p->goal.n));
  u->status = OUTCOME_WRONG;
  return false;
}

static bool is_real(const Wire *x) { return x->type.base == BASE_R; }

static bool has_gradient(const GoalGradients *in, uint32_t param) {
  for (uint32_t o = 0; o < in->flat->out.n; o++)
    if (in->moves[o][param]) return true;
  return false;
}

Ids wires_called(World *w, Arena *a, const Diagram *flat, const char *name) {
  const char *dot = strrchr(name, '.');
  bool numbered = dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1);
  size_t n = numbered ? (size_t)(dot - name) : strlen(name);
  uint64_t wanted = numbered ? strtoull(dot + 1, NULL, 10) : 0, k = 0;
  Ids out = {0};
  for (Id i = 1; i < flat->box.n; i++)
    for (uint32_t o = 0; o < flat->box.at[i].nout; o++) {
      Id id = flat->box.at[i].out[o];
      const char *own = name_text(w->names, flat->wire.at[id].name);
      if (strlen(own) == n && n && memcmp(own, name, n) == 0 && (++k == wanted || !numbered))
        vec_push(a, &out, id);
    }
  return out;
}

// Finds a weight by its path, or wires by name.
static bool find_wanted(GoalGradients *in, const char *name) {
  const Diagram *d = in->flat;
  Use *u = in->u;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (has_gradient(in, i) && (!name || strcmp(d->param.at[i].path, name) == 0))
      vec_push(u->arena, &in->weight, i);
  if (!name || in->weight.n) return true;
  Ids all = wires_called(u->w, u->arena, d, name);
  for (uint32_t i = 0; i < all.n; i++)
    if (is_real(&d->wire.at[all.at[i]]) && in->part[all.at[i]])
      vec_push(u->arena, &in->wire, all.at[i]);
  return in->wire.n ||
         use_wrong(u, OUTCOME_WRONG,
                   "there is no weight and no wire `%s` in the goals that a gradient reaches",
                   name);
}

static void select_goals(GoalGradients *in, const Ids *goals) {
  const bool **moves = NEW_ARRAY(in->u->arena, const bool *, goals->n + 1);
  for (uint32_t i = 0; i < goals->n;
       i++) { // ascending order: no output is overwritten before it is read
    in->flat->out.at[i] = in->flat->out.at[goals->at[i]];
    moves[i] = in->loss.mask[goals->at[i]];
  }
  in->flat->out.n = goals->n;
  in->moves = moves;
}

static bool *parts_of_outputs(World *w, const Diagram *d) {
  bool *part = NEW_ARRAY(w->arena, bool, d->wire.n + 1);
  for (uint32_t i = 0; i < d->out.n; i++) part[d->out.at[i]] = true;
  mark_needed(d, part);
  return part;
}

static bool open_goals(GoalGradients *in, const Program *p, const char *goal) {
  World *w = in->u->w;
  Ids goals = {0};
  if (!find_goals(in->u, p, goal, &goals)) return false;
  in->loss = learn_loss(in->u->in, p);
  if (!in->loss.diagram || !diagram_is_small(w, in->loss.diagram)) return false;
  in->flat = diagram_inline(w, in->loss.diagram);
  select_goals(in, &goals);
  in->part = parts_of_outputs(w, in->flat);
  return true;
}

// -- computation ----------------------------------------------------------------------------------
// Out: the losses, d of each weight, then each wire and its d. States do not move.
static Diagram *gradient_of(GoalGradients *in) {
  World *w = in->u->w;
  uint32_t goals = in->flat->out.n, params = in->flat->param.n;
  const bool **mask = NEW_ARRAY(w->arena, const bool *, goals + 1);
  for (uint32_t o = 0; o < goals; o++) {
    bool *row = NEW_ARRAY(w->arena, bool, params + 1);
    for (uint32_t i = 0; i < in->weight.n; i++)
      row[in->weight.at[i]] = in->moves[o][in->weight.at[i]];
    mask[o] = row;
  }
  Diagram *d = diagram_gradient_at(w, in->flat, mask, &in->wire);
  for (uint32_t i = 0; i < d->param.n; i++) d->param.at[i].next = 0;
  return passes_step(w, d);
}

static int64_t batch_of(const GoalGradients *in, const RunNote *note) {
  Use *u = in->u;
  double noted = 0;
  if (u->how->n > 0) return u->how->n;
  if (note->json && note_number(note, "batch", &noted) && noted >= 1) return (int64_t)noted;
  int64_t said = program_batch(u->in, u->p);
  return said > 0 ? said : BATCH;
}

static bool open_batch(Use *u, Data *data, Ids *fields, int64_t *batch) {
  Probe *probe = u->probe;
  Target how = use_target(u);
  if (!feed_draws(data, &probe->feed, fields, &(DataOverride){0})) return false;
  if (probe->feed.samples && probe->feed.samples < *batch) *batch = probe->feed.samples;
  if (!has_sample_axis(u->w, probe->d)) *batch = 0;
  if (!use_new_store(u) || !store_add_params(u->w, u->store, probe->d, u->seed) ||
      !use_load_states(u, u->store, weight_paths(u->arena, probe->d)))
    return false;
  probe->engine = engine_new(u->w, probe->d, u->store, *batch, &how);
  return probe->engine &&
         feed_add(data, &probe->feed, fields, probe->engine, &(DataOverride){0}, &probe->inlet) &&
         feed_start(data, &probe->feed, *batch, 0, 0);
}

static bool run_batch(Use *u, const Diagram *d, Ids fields, int64_t batch, Tensor *out) {
  const char *why = NULL;
  Data *data = use_data(u);
  Probe *probe = u->probe = NEW(u->arena, Probe);
  *probe = (Probe){0};
  if (!data) return false;
  data->draw_seed = u->seed;
  if (!data_need(data, &fields)) return false;
  probe->d = compose_noise(u->in, u->p, (Diagram *)d, &fields);
  if (!probe->d || !open_batch(u, data, &fields, &batch)) return false;
  int64_t n = batch && probe->feed.samples ? feed_next(&probe->feed, &probe->inlet, &why) : batch;
  if (n < 0 || engine_run(probe->engine, n, 0) == RUN_FAILED)
    return use_wrong(u, OUTCOME_WRONG, "%s", why ? why : engine_error(probe->engine));
  for (uint32_t i = 0; i < probe->d->out.n; i++) {
    const Type *t = &probe->d->wire.at[probe->d->out.at[i]].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    engine_shape(u->w, t, n, shape);
    out[i] = tensor_new(u->arena, t->rank, shape);
    engine_get(probe->engine, i, out[i].data, out[i].count);
  }
  return true;
}

// -- results --------------------------------------------------------------------------------------
static const char *wire_name(const GoalGradients *in, Id wire) {
  Use *u = in->u;
  const char *name = name_text(u->w->names, in->flat->wire.at[wire].name);
  Ids all = wires_called(u->w, u->arena, in->flat, name);
  uint32_t k = 0;
  while (all.at[k] != wire) k++;
  return arena_format(u->arena, "%s.%u", name, k + 1);
}

static void add_array(const GoalGradients *in, Arrays *to, const char *name, const Tensor *x) {
  Array a = tensor_array(x, name);
  if (to) arrays_keep(in->u->call->keep, to, &a);
}

static void add_weight_value(const GoalGradients *in, const char *path, const Tensor *like) {
  const State *state = store_find(in->u->store, path);
  Tensor x = tensor_new(in->u->arena, like->rank, like->shape);
  if (!state || !in->u->call->out) return;
  state_get(state, x.data);
  add_array(in, in->u->call->out, path, &x);
}

static void add_results(const GoalGradients *in, const GradientsAsked *q, const Tensor *out) {
  out += in->flat->out.n; // after the losses
  for (uint32_t i = 0; i < in->weight.n; i++, out++) {
    const char *path = in->flat->param.at[in->weight.at[i]].path;
    add_weight_value(in, path, out);
    add_array(in, q->grads, path, out);
  }
  for (uint32_t i = 0; i < in->wire.n; i++, out += 2) {
    const char *name = wire_name(in, in->wire.at[i]);
    add_array(in, in->u->call->out, name, &out[0]);
    add_array(in, q->grads, name, &out[1]);
  }
}

static bool compute_gradients(Use *u, void *context) {
  const GradientsAsked *q = context;
  RunNote note = {0};
  GoalGradients in = {.u = u};
  u->begins = !u->file;
  Program *p = read_run_note(u, &note) ? program_of_run(u, &note) : u->p;
  if (!p || !open_goals(&in, p, q->goal) || !find_wanted(&in, q->name)) return false;
  const Diagram *d = gradient_of(&in);
  Tensor *out = NEW_ARRAY(u->arena, Tensor, d->out.n + 1);
  if (!run_batch(u, d, in.loss.fields, batch_of(&in, &note), out)) return false;
  add_results(&in, q, out);
  return true;
}

Outcome use_gradients(Elab *in, Program *p, const UseCall *call, const GradientsAsked *asked) {
  GradientsAsked own = *asked;
  return use_guarded(in, p, call, compute_gradients, &own);
}

// -- names ----------------------------------------------------------------------------------------
static bool is_loss(const Diagram *d, Id wire) {
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->out.at[i] == wire) return true;
  return false;
}

Outcome use_wires(Elab *in, Program *p, const char *goal, Buf *text) {
  World *w = elab_world(in);
  Use u = {.in = in, .w = w, .p = p, .arena = w->arena};
  GoalGradients inside = {.u = &u};
  if (!open_goals(&inside, p, goal)) return OUTCOME_WRONG;
  const Diagram *d = inside.flat;
  Table *seen = table_new(w->arena);
  JsonOut j = json_out(text);
  json_list(&j, NULL);
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t o = 0; o < d->box.at[i].nout; o++) {
      Id id = d->box.at[i].out[o];
      const char *name = name_text(w->names, d->wire.at[id].name);
      size_t n = strlen(name);
      uint32_t k = n ? table_get(seen, name, n) + 1 : 0;
      if (n) table_put(seen, name, n, k);
      if (n && is_real(&d->wire.at[id]) && inside.part[id] && !is_loss(d, id))
        json_text(&j, NULL, arena_format(w->arena, "%s.%u", name, k));
    }
  json_end(&j);
  return OUTCOME_GOOD;
}
