// Initial values of all states: from the program, another run, or a file. A stale copy starts as
// the weight that it follows.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/value/value.h"
#include "run/feed/feed.h"

bool store_add_flat(World *w, Store *s, const WeightRow *f, uint64_t seed) {
  Type row = type_make(w, f->base, 1, &(Axis){.size = size_of(w, f->count)});
  uint32_t whole = store_add(s, f->path, f->base, 1, &f->count);
  if (whole == STORE_NONE) return store_out_of_memory(w, f->path, &row);
  for (uint32_t i = 0; i < f->member.n; i++) {
    const RowMember *m = &f->member.at[i];
    int64_t shape[ARRAY_RANK_LIMIT];
    if (!store_shape(w, &m->type, shape, m->path)) return false;
    uint32_t part = store_part(s, m->path, whole, m->offset, m->type.rank, shape);
    if (part == STORE_NONE) return store_out_of_memory(w, m->path, &m->type);
    if (!state_initialise_new(w, store_at(s, part), &m->init, &m->type, seed)) return false;
  }
  return true;
}

static void copy_state(World *w, State *to, const State *from) {
  Arena *a = arena_child(w->arena);
  double *value = NEW_ARRAY(a, double, from->count);
  state_get(from, value);
  if (to->count == from->count) state_set(to, value);
  arena_free(a);
}

bool store_start_as(World *w, Store *s, const char *path, const char *as) {
  State *to = store_find(s, path);
  const State *from = store_find(s, as);
  if (to && from && to->count == from->count) return copy_state(w, to, from), true;
  return diag_refuse(w->diags, (Span){0}, "%s cannot start as %s does", path, as);
}

bool store_copy_paths(World *w, Store *to, Store *from, const Table *which) {
  for (uint32_t i = 0; i < store_count(from); i++) {
    const State *old = store_at(from, i);
    if (!table_get(which, old->path, strlen(old->path))) continue;
    if (!store_find(to, old->path) &&
        store_add(to, old->path, old->base, old->rank, old->shape) == STORE_NONE) {
      Type t = {.base = (uint8_t)old->base};
      return store_out_of_memory(w, old->path, &t);
    }
    copy_state(w, store_find(to, old->path), old);
  }
  return true;
}

// -- from files -----------------------------------------------------------------------------------
bool store_load(World *w, Store *s, const Arrays *all, const char *file) {
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *state = store_at(s, i);
    if (state->whole != i) continue; // an alias into a row is loaded with the row
    const Array *a = arrays_find(all, state->path);
    if (!a) diag_error(w->diags, (Span){0}, "%s has no %s", file, state->path);
    if (!a || !state_from_array(w, state, a, file)) return false;
  }
  return true;
}

void paths_add(Table *paths, const Arrays *all) {
  for (uint32_t i = 0; all && i < all->array.n; i++)
    table_put(paths, all->array.at[i].name, strlen(all->array.at[i].name), 1);
}

// The name of a weight in its learner; of a stale copy, in the learner that it follows.
static const char *learned_path(const State *s) { return s->as ? s->as : s->of ? s->of : s->path; }

static bool has_value(const Table *known, const char *path) {
  return known && path && table_get(known, path, strlen(path));
}

// Does this weight belong to the learner, with no value from elsewhere?
static bool is_wanted(World *w, const State *s, const Def *d, const Table *known) {
  Param q = {.path = learned_path(s), .rooted = true};
  const char *own = s->of ? s->of : s->path;
  return def_owns(w, &q, d, NULL) && !has_value(known, own) && !has_value(known, s->as);
}

static bool wants_weights_of(World *w, Store *s, const Def *d, const Table *known) {
  for (uint32_t i = 0; i < store_count(s); i++)
    if (is_wanted(w, store_at(s, i), d, known)) return true;
  return false;
}

static bool has_from(const Def *d) { return d->kind == DEF_LEARNER && learner_from(d->node); }

const char *source_file(Elab *in, const Def *d) {
  World *w = elab_world(in);
  if (!has_from(d)) return NULL;
  const char *beside = w->sources->file.at[d->span.file].path;
  return folder_weights(w->arena, path_join(w->arena, beside, learner_from(d->node)->text));
}

// Messages about arrays have no place: those since `first` are about this learner's `from`.
static void place_messages(Diags *diags, uint32_t first, Span span) {
  for (uint32_t i = first; i < diags->list.n; i++)
    if (!diags->list.at[i].span.file && !diags->list.at[i].settled) diags->list.at[i].span = span;
}

// Loads the weights of one learner, under their own paths or under their paths without its name.
static bool start_from_run(Elab *in, Store *s, const Def *d, const Table *known) {
  World *w = elab_world(in);
  const char *file = source_file(in, d), *error;
  Arena *a = arena_child(w->arena);
  Arrays all = {0};
  uint32_t first = w->diags->list.n;
  const char *no = rights_refuse(a, w->sources->rights, file);
  bool good = no ? file_error(a, &error, "cannot read %s: %s", file, no)
                 : safetensors_read(a, file, &all, &error);
  if (!good) diag_error(w->diags, d->span, "%s", error);
  for (uint32_t i = 0; good && i < store_count(s); i++) {
    State *state = store_at(s, i);
    if (!is_wanted(w, state, d, known)) continue;
    const char *path = learned_path(state), *slash = strchr(path, '/');
    const Array *x = arrays_find(&all, path);
    if (!x && slash) x = arrays_find(&all, slash + 1);
    if (!x) diag_error(w->diags, d->span, "%s has no weight %s", file, path);
    good = x && (state->of ? state_from_learner(w, state, x, file)
                           : state_from_array(w, state, x, file));
  }
  place_messages(w->diags, first, d->span);
  arena_free(a);
  return good;
}

bool store_load_sources(Elab *in, Program *p, Store *s, const Table *known) {
  for (uint32_t i = 0; i < p->learner.n; i++) {
    const Def *d = p->learner.at[i];
    if (has_from(d) && wants_weights_of(elab_world(in), s, d, known) &&
        !start_from_run(in, s, d, known))
      return false;
  }
  return true;
}

bool has_source(Elab *in, const Program *p, const char *path) {
  Param q = {.path = path, .rooted = true};
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (has_from(p->learner.at[i]) && def_owns(elab_world(in), &q, p->learner.at[i], NULL))
      return true;
  return false;
}

static bool is_learners(Elab *in, const Program *p, const char *path) {
  Param q = {.path = path, .rooted = true};
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->kind == DEF_LEARNER &&
        def_owns(elab_world(in), &q, p->learner.at[i], NULL))
      return true;
  return false;
}

bool store_load_all(Elab *in, const Program *p, Store *s, const Arrays *all, const char *file) {
  World *w = elab_world(in);
  for (uint32_t i = 0; i < store_count(s); i++) {
    const char *path = learned_path(store_at(s, i));
    if (state_find(all, store_at(s, i)) || !is_learners(in, p, path) || has_source(in, p, path))
      continue;
    return diag_refuse(w->diags, (Span){0}, "%s has no weight %s", file, path);
  }
  return store_set_arrays(w, s, all, file);
}

bool store_load_sources_of(Elab *in, Program *p, Store *s, const Diagram *d, const Table *known) {
  World *w = elab_world(in);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *q = &d->param.at[i];
    const Type *t = &d->wire.at[q->wire].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    if (q->role != ROLE_WEIGHT && q->role != ROLE_BUFFER) continue;
    if (!has_source(in, p, q->init.as ? q->init.as : q->path) || store_find(s, q->path)) continue;
    if (!store_shape(w, t, shape, q->path)) return false;
    uint32_t number = store_add(s, q->path, t->base, t->rank, shape);
    if (number == STORE_NONE) return store_out_of_memory(w, q->path, t);
    state_note_origin(store_at(s, number), &q->init);
  }
  return store_load_sources(in, p, s, known);
}

bool sizes_known(World *w, const Diagram *d) {
  int64_t n;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!type_count(w, &d->wire.at[d->param.at[i].wire].type, &n)) return false;
  return true;
}

static bool sources_fit_in(Elab *in, Program *p, Store *s, const Diagram *d) {
  return !d || !sizes_known(elab_world(in), d) || store_load_sources_of(in, p, s, d, NULL);
}

static const Diagram *named_diagram(const Program *p, Name name) {
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->name == name) return p->learner.at[i]->made;
  for (uint32_t i = 0; i < p->box.n; i++)
    if (p->box.at[i]->name == name && p->box.at[i]->alone) return p->box.at[i]->alone->d;
  return NULL;
}

// NULL: not known yet.
static const Diagram *show_diagram(const Program *p, const Show *s) {
  const Syntax *at = use_callee(show_what(s->node)); // generate[f, length: 200]
  if (s->kind != SHOW_TEXT || at->kind != N_AT) return s->diagram;
  Nodes slot = brackets_slots(at_brackets(at));
  for (uint32_t i = 0; i < slot.n; i++) {
    const Syntax *item = nodes_only(items_in(slot.at[i]));
    if (item && item->kind == N_NAME) return named_diagram(p, item->name);
  }
  return NULL;
}

bool sources_fit(Elab *in, Program *p) {
  bool any = false, good = true;
  for (uint32_t i = 0; i < p->learner.n; i++) any |= has_from(p->learner.at[i]);
  Store *s = any ? store_new(PRECISION_32) : NULL;
  if (!s) return !any || diag_machine(elab_world(in)->diags, "out of memory");
  for (uint32_t i = 0; good && i < p->learner.n; i++)
    good = sources_fit_in(in, p, s, p->learner.at[i]->made);
  for (uint32_t i = 0; good && i < p->box.n; i++)
    good = sources_fit_in(in, p, s, p->box.at[i]->alone ? p->box.at[i]->alone->d : NULL);
  for (uint32_t i = 0; good && i < p->goal.n; i++)
    good = sources_fit_in(in, p, s, p->goal.at[i].diagram);
  for (uint32_t i = 0; good && i < p->measure.n; i++)
    good = sources_fit_in(in, p, s, p->measure.at[i].diagram);
  for (uint32_t i = 0; good && i < p->show.n; i++)
    good = sources_fit_in(in, p, s, show_diagram(p, &p->show.at[i]));
  store_free(s);
  return good;
}

// -- paths of a model -----------------------------------------------------------------------------
// Adds the weights and buffers of learners in a diagram.
static void add_model(Table *model, const Diagram *d) {
  for (uint32_t i = 0; d && i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    if (!p->rooted || (p->role != ROLE_WEIGHT && p->role != ROLE_BUFFER)) continue;
    table_put(model, p->path, strlen(p->path), p->role == ROLE_WEIGHT ? 1 : 2);
  }
}

// Adds the stale copies of the model's weights.
static void add_followers(World *w, Table *model, const Program *p) {
  uint32_t n = table_count(model);
  for (uint32_t i = 0; i < p->learner.n; i++) {
    const Def *d = p->learner.at[i];
    if (d->kind != DEF_STALE || !learner_of(d)) continue;
    for (uint32_t k = 0; k < n; k++) {
      const char *rest = path_after(table_key(model, k, NULL), learner_path(w, d));
      if (!rest) continue;
      const char *path = arena_format(w->arena, "%s%s", name_text(w->names, d->name), rest);
      if (!table_get(model, path, strlen(path))) table_put(model, path, strlen(path), 2);
    }
  }
}

// Weights of shows are saved even if nothing trains them: the report is made after the run.
Table *model_paths(World *w, Arena *a, const Program *p) {
  Table *model = table_new(a);
  for (uint32_t i = 0; i < p->goal.n; i++) add_model(model, p->goal.at[i].diagram);
  for (uint32_t i = 0; i < p->measure.n; i++) add_model(model, p->measure.at[i].diagram);
  for (uint32_t i = 0; i < p->show.n; i++) add_model(model, show_diagram(p, &p->show.at[i]));
  add_followers(w, model, p);
  return model;
}

static bool add_used(World *w, Store *s, const Diagram *d, uint64_t seed) {
  return !d || !sizes_known(w, d) || store_add_params(w, s, d, seed);
}

bool store_add_used(World *w, Store *s, const Program *p, uint64_t seed) {
  for (uint32_t i = 0; i < p->measure.n; i++)
    if (!add_used(w, s, p->measure.at[i].diagram, seed)) return false;
  for (uint32_t i = 0; i < p->show.n; i++)
    if (!add_used(w, s, show_diagram(p, &p->show.at[i]), seed)) return false;
  return true;
}

Table *weight_paths(Arena *a, const Diagram *d) {
  Table *model = table_new(a);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_WEIGHT || d->param.at[i].init.as)
      table_put(model, d->param.at[i].path, strlen(d->param.at[i].path), 1);
  return model;
}

// -- stores in an arena ---------------------------------------------------------------------------
static void drop_store(void *held) { store_free(*(Store **)held); }

Store *store_in(Arena *a) {
  Store **held = NEW(a, Store *);
  arena_on_free(a, drop_store, held);
  return *held = store_new(PRECISION_64);
}
