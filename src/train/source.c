// Where inputs come from. Fields of the program come in, and what fills the inputs of an engine
// goes out.
//
// A stream is one `given`: an endless row of samples, one shuffle of the set after the other.
// Sample q of it is place q mod rows of shuffle q div rows, so a batch is a function of seed and
// position, and a set that is shorter than another goes round by itself. Streams of different
// givens have different keys, made of the set's name and the first field's.
#include "train/trainer.h"

static bool is_index(const Data *d, const Given *g, uint32_t field) {
  return strcmp(name_text(d->w->names, g->column.at[field]), "index") == 0;
}

static const char *given_name(const Data *d, const Given *g) {
  return g->path ? g->path : name_text(d->w->names, g->set);
}

Data *data_new(Infer *in, Program *p, Arena *a) {
  Data *d = NEW(a, Data);
  World *w = infer_world(in);
  *d = (Data){.in = in, .w = w, .p = p, .arena = a};
  d->beside = w->sources->file.at[p->tree->span.file].path;
  d->set = NEW_ARRAY(a, Set *, p->given.n + 1);
  return d;
}

void data_close(Data *d) {
  for (uint32_t i = 0; d && i < d->opened.n; i++) set_close(d->opened.at[i].set);
  if (d) d->opened.n = 0;
}

bool split_from(const char *name, Split *split) {
  static const char *const names[SPLITS] = {"train", "valid", "test"};
  *split = SPLIT_TRAIN;
  for (uint32_t i = 0; i < SPLITS; i++)
    if (strcmp(name, names[i]) == 0) *split = (Split)i;
  return !*name || strcmp(name, names[*split]) == 0;
}

// -- sets
// ---------------------------------------------------------------------------------------------
static Set *open_set(Data *d, const Given *g, int64_t window) {
  bool bits = false;
  for (uint32_t i = 0; i < g->type.n; i++) bits |= g->type.at[i].base == BASE_BIT;
  const char *name = given_name(d, g), *why = "";
  for (uint32_t i = 0; i < d->opened.n; i++) {
    const Opened *o = &d->opened.at[i];
    if (!strcmp(o->name, name) && o->bits == bits && o->window == window) return o->set;
  }
  SetOptions how = {.seed = d->seed, .bits = bits, .window = window, .beside = d->beside};
  Set *set = set_open(d->arena, name, &how, &why);
  if (!set) {
    diag_error(d->w->diags, g->node->span, "%s", why);
    return NULL;
  }
  vec_push(d->arena, &d->opened, (Opened){name, bits, window, set});
  return set;
}

static bool find_named(const Set *s, const char *name, uint32_t *field) {
  for (uint32_t i = 0; i < set_fields(s); i++)
    if (strcmp(set_field(s, i)->name, name) == 0) return *field = i, true;
  return false;
}

// Fields match by name, else by order, never a mixture.
static bool find_field(const Data *d, const Given *g, const Set *s, uint32_t field, uint32_t *out) {
  bool any = false;
  uint32_t ignored;
  for (uint32_t i = 0; i < g->column.n; i++)
    any |= find_named(s, name_text(d->w->names, g->column.at[i]), &ignored);
  if (find_named(s, name_text(d->w->names, g->column.at[field]), out)) return true;
  *out = field;
  if (!any && field < set_fields(s)) return true;
  Buf all = buf_new(d->arena);
  for (uint32_t i = 0; i < set_fields(s); i++)
    buf_printf(&all, "%s%s", i ? ", " : "", set_field(s, i)->name);
  diag_error(d->w->diags, g->field.at[field] ? g->field.at[field]->span : g->node->span,
             "%s has no field `%s`: it has %s", given_name(d, g),
             name_text(d->w->names, g->column.at[field]), all.at);
  return false;
}

static int64_t field_cells(const Field *f) {
  int64_t n = 1;
  for (uint32_t i = 0; i < f->rank; i++) n *= f->shape[i];
  return n;
}

// Sizes of a file's field that the program left open.
static void settle_field(Data *d, const Type *t, const Field *f) {
  World *w = d->w;
  if (t->base == BASE_LABEL && f->labels) size_equate(w, t->count, size_of(w, f->labels), false);
  for (uint32_t i = 0; t->rank == f->rank && i < t->rank; i++)
    size_equate(w, t->axis[i].size, size_of(w, f->shape[i]), false);
}

static const char *field_text(Data *d, const Field *f) {
  Buf b = buf_new(d->arena);
  if (f->kind == FIELD_LABEL)
    buf_printf(&b, "{%lld}", (long long)f->labels);
  else
    buf_char(&b, f->kind == FIELD_BIT ? 'B' : 'R');
  for (uint32_t i = 0; i < f->rank; i++)
    buf_printf(&b, "%s%lld", i ? " " : "[", (long long)f->shape[i]);
  buf_text(&b, f->rank ? "]" : "");
  return b.at;
}

// How many rows make a sample of this type: 1 for a reshaped field, more for a window. 0 with a
// diagnostic.
static int64_t field_window(Data *d, const Given *g, uint32_t i, const Field *f) {
  const Type *t = &g->type.at[i];
  int64_t want, have = field_cells(f), labels = 0;
  bool kind = (t->base == BASE_LABEL) == (f->kind == FIELD_LABEL);
  bool few = t->base != BASE_LABEL || !size_value(d->w, t->count, &labels) || f->labels <= labels;
  bool known = type_count(d->w, t, &want);
  if (kind && few && known && have > 0 && want % have == 0) return want / have;
  diag_error(d->w->diags, g->field.at[i] ? g->field.at[i]->span : g->node->span,
             known ? "field `%s` of %s is %s, and cannot be read as %s"
                   : "field `%s` of %s is %s, which does not settle %s",
             f->name, given_name(d, g), field_text(d, f), type_text(d->w, t));
  return 0;
}

static bool open_given(Data *d, uint32_t number) {
  const Given *g = &d->p->given.at[number];
  Set *s = open_set(d, g, 0);
  int64_t window = 1;
  for (uint32_t i = 0; s && i < g->type.n; i++) {
    uint32_t field;
    if (is_index(d, g, i)) continue;
    if (!find_field(d, g, s, i, &field)) return false;
    settle_field(d, &g->type.at[i], set_field(s, field));
    int64_t rows = field_window(d, g, i, set_field(s, field));
    if (!rows) return false;
    if (rows > window) window = rows;
  }
  if (s && window > 1) s = open_set(d, g, window);
  for (uint32_t i = 0; s && window > 1 && i < g->type.n; i++) { // each of them is as long
    uint32_t field;
    if (!find_field(d, g, s, i, &field) || field_window(d, g, i, set_field(s, field)) != 1)
      return false;
  }
  d->set[number] = s;
  return s != NULL;
}

bool data_need(Data *d, const Ids *fields) {
  for (uint32_t i = 0; i < fields->n; i++) {
    uint32_t given = def_of(d->in, fields->at[i])->given;
    if (!d->p->given.at[given].noise && !d->set[given] && !open_given(d, given)) return false;
  }
  for (Id i = 1; i < d->w->diagram.n; i++) diagram_zonk(d->w, d->w->diagram.at[i]);
  return true;
}

// -- streams
// ------------------------------------------------------------------------------------------
static bool is_replaced(const Given *g, const Instead *instead) {
  if (instead->every || !instead->on) return instead->every;
  return instead->path ? g->path && strcmp(g->path, instead->path) == 0
                       : g->set && g->set == instead->set;
}

// In training everything is shuffled. A measure reads the sources it names in order; of two givens
// over one set the second is a draw of its own, shuffled always in the same way.
static Stream stream_of(Data *d, const Feed *f, uint32_t number, const Instead *instead) {
  const Given *g = &d->p->given.at[number];
  Stream s = {.given = number, .set = d->set[number]};
  const char *first =
      g->field.n && g->field.at[0] ? name_text(d->w->names, g->field.at[0]->name) : "";
  split_from(name_text(d->w->names, g->split), &s.split);
  bool replaced = is_replaced(g, instead),
       measured = instead->on || instead->whole || instead->every;
  if (replaced) s.split = instead->split;
  s.rows = set_rows(s.set, s.split);
  s.shuffle = !measured || (instead->on && !replaced);
  for (uint32_t i = 0; measured && i < f->stream.n; i++) s.shuffle |= f->stream.at[i].set == s.set;
  s.key = site_step(site_hash(site_hash(0, given_name(d, g)), first), measured ? 0 : d->seed);
  return s;
}

static bool stream_find(Data *d, Feed *f, uint32_t given, const Instead *instead, uint32_t *out) {
  for (*out = 0; *out < f->stream.n; ++*out)
    if (f->stream.at[*out].given == given) return true;
  Stream s = stream_of(d, f, given, instead);
  static const char *const split[SPLITS] = {"train", "valid", "test"};
  if (s.rows <= 0) {
    diag_error(d->w->diags, d->p->given.at[given].node->span, "%s has no samples in its split `%s`",
               given_name(d, &d->p->given.at[given]), split[s.split]);
    return false;
  }
  vec_push(d->arena, &f->stream, s);
  bool counts = !instead->on || instead->every || is_replaced(&d->p->given.at[given], instead);
  if (counts && s.rows > f->rows) f->rows = s.rows;
  return true;
}

bool feed_open(Data *d, const Ids *fields, Engine *e, int64_t batch, const Instead *instead,
               Feed *f) {
  *f = (Feed){.row = NEW_ARRAY(d->arena, int64_t, batch + 1)};
  for (uint32_t i = 0; i < fields->n; i++) {
    if (!fields->at[i]) continue; // it only says how many samples there are
    const Def *def = def_of(d->in, fields->at[i]);
    const Given *g = &d->p->given.at[def->given];
    Inlet inlet = {.number = engine_in_number(e, i), .to = engine_in(e, i)};
    inlet.index = is_index(d, g, def->field);
    if (!stream_find(d, f, def->given, instead, &inlet.stream)) return false;
    if (!inlet.index && !find_field(d, g, d->set[def->given], def->field, &inlet.field))
      return false;
    vec_push(d->arena, &f->inlet, inlet);
  }
  return true;
}

static void stream_rows(const Stream *s, int64_t first, int64_t n, int64_t *row) {
  int64_t round = first / s->rows, place = first % s->rows;
  uint64_t key = site_step(s->key, (uint64_t)round);
  for (int64_t i = 0; i < n; i++, place++) {
    if (place == s->rows) place = 0, key = site_step(s->key, (uint64_t)++round);
    row[i] = s->shuffle ? shuffle_place(key, s->rows, place) : place;
  }
}

static void index_numbers(const Inlet *inlet, const int64_t *row, int64_t n) {
  for (int64_t i = 0; i < n; i++) ((int32_t *)inlet->to)[i] = (int32_t)row[i];
}

bool feed_fill(Feed *f, int64_t first, int64_t n, const char **why) {
  for (uint32_t k = 0; k < f->stream.n; k++) {
    Stream *s = &f->stream.at[k];
    stream_rows(s, first, n, f->row);
    for (uint32_t i = 0; i < f->inlet.n; i++) {
      const Inlet *inlet = &f->inlet.at[i];
      if (inlet->stream != k) continue;
      if (inlet->index)
        index_numbers(inlet, f->row, n);
      else if (!set_read(s->set, s->split, inlet->field, f->row, n, inlet->number, inlet->to, why))
        return false;
    }
  }
  return true;
}
