// Data for the inputs of engines. In: fields of the program. Out: inlets, which copy batches into
// engines.
//
// One `given` is one draw: an endless sequence of samples, one shuffle of the set after the other.
// All draws of a step have the same number of samples in an epoch, that of the longest, so a
// shorter set is repeated.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "run/feed/feed.h"

// Is a part of the training data reserved for validation? If the program refers to it, or stops by
// patience without a measure.
static bool needs_validation(Data *d) {
  const Program *p = d->p;
  Name valid = name_from(d->w->names, "valid");
  for (uint32_t i = 0; i < p->given.n; i++)
    if (p->given.at[i].split == valid) return true;
  for (uint32_t i = 0; i < p->measure.n; i++)
    if (p->measure.at[i].on.split == valid) return true;
  for (uint32_t i = 0; i < p->show.n; i++)
    if (p->show.at[i].on.split == valid) return true;
  for (uint32_t i = 0; i < p->train.n && !p->measure.n; i++) {
    Training training = {0};
    if (elab_training(d->in, d->p, p->train.at[i], &training) && training.patience) return true;
  }
  return false;
}

Data *data_new(Elab *in, Program *p, Arena *a) {
  Data *d = NEW(a, Data);
  World *w = elab_world(in);
  *d = (Data){.in = in, .w = w, .p = p, .arena = a};
  d->set = NEW_ARRAY(a, Set *, p->given.n + 1);
  d->valid = needs_validation(d);
  return d;
}

static const char *const split_word[SPLITS] = {"train", "valid", "test"};

static Split split_named(World *w, Name name) {
  Split split = SPLIT_TRAIN;
  for (uint32_t i = 0; i < SPLITS; i++)
    if (strcmp(name_text(w->names, name), split_word[i]) == 0) split = (Split)i;
  return split;
}

DataOverride samples_on(World *w, const OnData *on) {
  return (DataOverride){
      .on = on->node ? on : NULL, .split = split_named(w, on->split), .ordered = true};
}

// -- sets -----------------------------------------------------------------------------------------
static bool same_words(const WordsList *a, const WordsList *b) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t k = 0; k < b->n; k++)
      found += !strcmp(a->at[i].field, b->at[k].field) && words_equal(&a->at[i], &b->at[k]);
  return found == a->n && a->n == b->n;
}

// The words of an open set, for a set that replaces it.
static void words_of(Data *d, const Given *g, const Set *like, WordsList *out) {
  for (uint32_t i = 0; i < g->column.n; i++) {
    const Words *words = set_words(like, name_text(d->w->names, g->column.at[i]));
    if (words) vec_push(d->arena, out, *words);
  }
}

// like: the set that this one replaces, or NULL. whole: a file without splits is not split.
static Set *open_set(Data *d, const Given *g, const Set *like, bool whole) {
  const char *key = given_source_key(d->w, g), *why = "";
  int64_t window = 0;
  WordsList words = {0};
  if (like) words_of(d, g, like, &words);
  if (!like && !given_words(d, g, &words)) return NULL;
  if (g->window) size_value(d->w, g->window, &window);
  for (uint32_t i = 0; i < d->opened.n; i++) {
    const OpenedSet *o = &d->opened.at[i];
    if (!strcmp(o->key, key) && o->bits == g->bits && o->window == window && o->whole == whole &&
        o->pieces == g->pieces && !memcmp(&o->episodes, &g->episodes, sizeof o->episodes) &&
        same_words(&o->words, &words))
      return o->set;
  }
  // The set is the same for every seed of a program: rows for testing, and samples made by code.
  SetOptions how = {.file = g->path != NULL,
                    .bits = g->bits,
                    .valid = d->valid,
                    .window = window,
                    .whole = whole,
                    .beside = g->beside,
                    .rights = d->w->sources->rights,
                    .episodes = g->episodes,
                    .pieces = g->pieces,
                    .words = words.at,
                    .nwords = words.n};
  const char *name = g->path ? g->path : name_text(d->w->names, g->set);
  Set *set = set_open(d->arena, name, &how, &why);
  if (!set) {
    diag_error(d->w->diags, g->node->span, "%s", why);
    return NULL;
  }
  vec_push(d->arena, &d->opened,
           (OpenedSet){.name = given_name(d, g),
                       .key = key,
                       .bits = g->bits,
                       .window = window,
                       .episodes = g->episodes,
                       .pieces = g->pieces,
                       .whole = whole,
                       .words = words,
                       .set = set,
                       .fields = set_fields(set)});
  return set;
}

// A line of its own: its name and its checksum.
static const char *sum_line(OpenedSet *o, Arena *a) {
  if (!o->summed) o->sum = set_sum(o->set, o->fields), o->summed = true;
  return arena_format(a, "\n%s\t%016llx\n", o->name, (unsigned long long)o->sum);
}

const char *data_sums_text(Data *d, Arena *a) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < d->opened.n; i++) buf_text(&b, sum_line(&d->opened.at[i], a));
  return b.at;
}

const char *data_differs(Data *d, Arena *a, const char *sums) {
  for (uint32_t i = 0; i < d->opened.n; i++) {
    OpenedSet *o = &d->opened.at[i];
    bool known = strstr(sums, arena_format(a, "\n%s\t", o->name)) != NULL;
    if (known && !strstr(sums, sum_line(o, a))) return o->name;
  }
  return NULL;
}

// Are the labels and bits of a field within its type? The file may have changed since the program
// was checked against it.
static bool labels_fit(const Data *d, const Field *f, const Type *t) {
  int64_t count = 2;
  if (t->base == BASE_R) return true;
  if (t->base == BASE_BIT && f->kind == FIELD_BIT) return true;
  if (t->base == BASE_LABEL && !size_value(d->w, t->count, &count)) return false;
  return f->kind != FIELD_BIT && f->labels > 0 && f->labels <= count;
}

// Warns, once for each column, if rounding to 32 bits loses information.
static void warn_rounding(Data *d, const Given *g, Set *s, uint32_t field, Span span) {
  PrecisionLoss r;
  const char *key = given_source_key(d->w, g);
  if (d->exact) return;
  for (uint32_t i = 0; i < d->checked.n; i++)
    if (!strcmp(d->checked.at[i].key, key) && d->checked.at[i].field == field) return;
  vec_push(d->arena, &d->checked, (RoundingCheck){key, field});
  if (!set_precision_loss(s, field, &r)) return;
  Id said = diag_warning(d->w->diags, span, "`%s` of %s is %s", r.column, given_name(d, g),
                         precision_loss_text(d->arena, &r));
  diag_help(d->w->diags, said,
            "--precision 64 keeps it; or numbers that count from a nearer start");
}

// Finds the field of a name of the program. It must have as many numbers as its type.
static bool find_field(Data *d, const Given *g, Set *s, uint32_t i, uint32_t *out) {
  const char *name = name_text(d->w->names, g->column.at[i]);
  Span span = g->field.at[i] ? g->field.at[i]->span : g->node->span;
  int64_t cells;
  *out = set_find(s, name);
  if (*out == FIELD_NONE)
    return diag_refuse(d->w->diags, span, "%s has no field `%s`", given_name(d, g), name);
  if (*out == FIELD_INDEX) return true;
  const Field *f = set_field(s, *out);
  if (type_count(d->w, &g->type.at[i], &cells) && cells == field_count(f) &&
      labels_fit(d, f, &g->type.at[i])) {
    if (g->type.at[i].base == BASE_R) warn_rounding(d, g, s, *out, span);
    return true;
  }
  return diag_refuse(d->w->diags, span, "field `%s` of %s is %s, and cannot be read as %s", name,
                     given_name(d, g), field_type(d->arena, f), type_text(d->w, &g->type.at[i]));
}

// In a dry run a named set need not be installed; a file must exist.
static bool is_absent(Data *d, const Given *g) {
  SetOptions how = {.beside = g->beside};
  bool absent =
      d->dry_run && !g->path && !set_is_here(d->arena, name_text(d->w->names, g->set), &how);
  d->missing |= absent;
  return absent;
}

bool data_need(Data *d, const Ids *fields) {
  for (uint32_t i = 0; i < fields->n; i++) {
    const Def *def = def_of(d->in, fields->at[i]);
    const Given *g = &d->p->given.at[def->given];
    uint32_t field;
    if (g->noise || is_absent(d, g)) continue;
    if (!d->set[def->given]) d->set[def->given] = open_set(d, g, NULL, false);
    Set *set = d->set[def->given];
    if (!set || !find_field(d, g, set, def->field, &field)) return false;
  }
  return true;
}

bool data_open_all(Data *d) {
  bool good = true;
  for (uint32_t i = 0; good && i < d->p->goal.n; i++) good = data_need(d, &d->p->goal.at[i].fields);
  for (uint32_t i = 0; good && i < d->p->measure.n; i++)
    good = data_need(d, &d->p->measure.at[i].fields);
  for (uint32_t i = 0; good && i < d->p->show.n; i++) good = data_need(d, &d->p->show.at[i].fields);
  return good;
}

// -- draws ----------------------------------------------------------------------------------------
static bool is_replaced(const Data *d, const Given *g, const DataOverride *override) {
  if (override->every || !override->on) return override->every;
  return override->on->other || on_source_of(d->w, override->on, g);
}

static Split split_of(const Data *d, const Given *g, const DataOverride *override) {
  return is_replaced(d, g, override) ? override->split : split_named(d->w, g->split);
}

// The same, from another set.
static Given given_on(const Given *g, const OnData *on) {
  Given theirs = *g;
  theirs.set = on->set, theirs.path = on->path, theirs.beside = on->beside;
  theirs.node = on->node;
  return theirs;
}

// The set that a given draws from. A file after `on` is read as a whole, even the one that the program
// trains on, unless a split is named. NULL with a diagnostic.
static Set *set_drawn(Data *d, uint32_t given, const DataOverride *override) {
  const Given *g = &d->p->given.at[given];
  const OnData *on = override->on;
  bool whole = on && on->path && !on->split;
  if (!on || !is_replaced(d, g, override) || (!on->other && !whole)) return d->set[given];
  Given theirs = given_on(g, on);
  return open_set(d, &theirs, d->set[given], whole);
}

// Finds the field of the set that a given draws from.
static bool field_drawn(Data *d, uint32_t given, Set *s, uint32_t i, const DataOverride *override,
                        uint32_t *out) {
  const Given *g = &d->p->given.at[given];
  if (s == d->set[given]) return find_field(d, g, s, i, out);
  Given theirs = given_on(g, override->on);
  uint32_t own;
  if (!find_field(d, g, d->set[given], i, &own)) return false;
  *out = set_find_as(s, d->set[given], name_text(d->w->names, g->column.at[i]));
  if (*out == FIELD_NONE)
    return diag_refuse(d->w->diags, theirs.node->span, "%s has no field `%s`",
                       given_name(d, &theirs), name_text(d->w->names, g->column.at[i]));
  const Field *f = *out == FIELD_INDEX ? NULL : set_field(s, *out);
  if (g->type.at[i].base == BASE_R) warn_rounding(d, &theirs, s, *out, theirs.node->span);
  return !f || labels_fit(d, f, &g->type.at[i]) ||
         diag_refuse(d->w->diags, theirs.node->span,
                     "field `%s` of %s is %s, and cannot be read as %s", f->name,
                     given_name(d, &theirs), field_type(d->arena, f),
                     type_text(d->w, &g->type.at[i]));
}

// Training shuffles all sources. A measure reads the sources that it names in order. Of two givens
// over one set the second is a draw of its own, always shuffled in the same way.
static bool is_shuffled(const Data *d, const Feed *f, uint32_t given,
                        const DataOverride *override) {
  bool replaced = is_replaced(d, &d->p->given.at[given], override);
  if (!override->ordered || (override->on && !replaced)) return true;
  for (uint32_t i = 0; i < f->given.n; i++)
    if (d->set[f->given.at[i]] == d->set[given]) return true;
  return false;
}

static Draw draw_of(const Data *d, const Feed *f, uint32_t given, Set *set,
                    const DataOverride *override) {
  const Given *g = &d->p->given.at[given];
  return (Draw){.rows = set_rows(set, split_of(d, g, override)),
                .stride = set_stride(set),
                .seed = override->ordered ? 0 : d->draw_seed,
                .stream = given_stream(d->in, d->p, given),
                .shuffle = is_shuffled(d, f, given, override)};
}

// Dry run: is the set of a given not installed?
static bool is_unknown(Data *d, Feed *f, uint32_t given, const DataOverride *override) {
  const Given *g = &d->p->given.at[given];
  bool other = override->on && override->on->other;
  Given theirs = other ? given_on(g, override->on) : *g;
  bool unknown = is_absent(d, g) || (other && is_absent(d, &theirs));
  f->unknown |= unknown;
  return unknown;
}

static bool draw_add(Data *d, Feed *f, uint32_t given, const DataOverride *override,
                     uint32_t *out) {
  const Given *g = &d->p->given.at[given];
  Given theirs = override->on && override->on->other ? given_on(g, override->on) : *g;
  for (*out = 0; *out < f->given.n; ++*out)
    if (f->given.at[*out] == given) return true;
  Set *set = set_drawn(d, given, override);
  if (!set) return false;
  Draw draw = draw_of(d, f, given, set, override);
  if (draw.rows <= 0)
    return diag_refuse(d->w->diags, theirs.node->span, "%s has no samples in its split `%s`",
                       given_name(d, &theirs), split_word[split_of(d, g, override)]);
  vec_push(d->arena, &f->given, given);
  vec_push(d->arena, &f->draw, draw);
  bool counts = !override->on || is_replaced(d, g, override);
  if (counts && draw_samples(&draw) > f->samples) f->samples = draw_samples(&draw);
  return true;
}

static uint32_t source_add_once(Data *d, Feed *f, LoaderSource s) {
  for (uint32_t i = 0; i < f->source.n; i++) {
    const LoaderSource *o = &f->source.at[i];
    if (o->draw == s.draw && o->field == s.field && o->number == s.number) return i;
  }
  vec_push(d->arena, &f->source, s);
  return f->source.n - 1;
}

// The number of a sample must be one of the labels of its type.
static bool index_fits(const Data *d, const Given *g, uint32_t i, int64_t rows) {
  const Type *t = &g->type.at[i];
  int64_t count = 2;
  if (t->base == BASE_R) return true;
  if (t->base == BASE_LABEL && !size_value(d->w, t->count, &count)) count = INT32_MAX;
  Span span = g->field.at[i] ? g->field.at[i]->span : g->node->span;
  return rows <= count ||
         diag_refuse(d->w->diags, span, "%s has %lld samples, but their numbers are %s",
                     given_name(d, g), (long long)rows, type_text(d->w, t));
}

// Reads rows of a source, for a device that stores the whole source.
static bool read_rows(void *of, int64_t first, int64_t n, void *to) {
  const LoaderSource *s = of;
  const char *why;
  SetRows rows = {.split = s->split, .field = s->field, .n = n};
  return set_read_from(s->set, first, rows, s->number, to, &why);
}

// If the engine's device stores the whole source, the inlet takes row numbers instead. Windows are
// excluded: they would be stored once for each position.
static void use_row_numbers(Engine *e, uint32_t input, LoaderSource *s, Inlet *inlet) {
  if (!e || s->field == FIELD_INDEX || set_stride(s->set) > 1 ||
      !set_is_whole(s->set, s->split, s->field))
    return;
  EngineTable table = {.rows = set_rows(s->set, s->split), .of = s, .read = read_rows};
  int32_t *rows = engine_table(e, input, &table);
  if (!rows) return;
  s->field = FIELD_INDEX;
  s->number = NUMBER_I32;
  *inlet = (Inlet){.bytes = sizeof *rows, .to = rows, .by_rows = rows - ROWS_HEAD};
}

static bool inlet_add(Data *d, Feed *f, Id field, Engine *e, uint32_t input,
                      const DataOverride *override, Inlets *inlets) {
  const Def *def = def_of(d->in, field);
  const Given *g = &d->p->given.at[def->given];
  if (is_unknown(d, f, def->given, override)) return true;
  LoaderSource s = {.set = set_drawn(d, def->given, override),
                    .split = split_of(d, g, override),
                    .number = e ? engine_in_number(e, input) : NUMBER_F64};
  if (!s.set || !draw_add(d, f, def->given, override, &s.draw)) return false;
  if (!field_drawn(d, def->given, s.set, def->field, override, &s.field)) return false;
  if (s.field == FIELD_INDEX && !index_fits(d, g, def->field, f->draw.at[s.draw].rows))
    return false;
  int64_t cells = s.field == FIELD_INDEX ? 1 : field_count(set_field(s.set, s.field));
  Inlet inlet = {.bytes = (size_t)cells * number_bytes(s.number),
                 .to = e ? engine_in(e, input) : NULL};
  use_row_numbers(e, input, &s, &inlet);
  inlet.source = source_add_once(d, f, s);
  vec_push(d->arena, inlets, inlet);
  return true;
}

bool feed_draws(Data *d, Feed *f, const Ids *fields, const DataOverride *override) {
  uint32_t ignored;
  for (uint32_t i = 0; i < fields->n; i++) {
    uint32_t given = fields->at[i] ? def_of(d->in, fields->at[i])->given : 0;
    if (!fields->at[i] || is_unknown(d, f, given, override)) continue;
    if (!draw_add(d, f, given, override, &ignored)) return false;
  }
  return true;
}

bool feed_add(Data *d, Feed *f, const Ids *fields, Engine *e, const DataOverride *override,
              Inlets *inlets) {
  for (uint32_t i = 0; i < fields->n; i++) // 0: only the number of samples
    if (fields->at[i] && !inlet_add(d, f, fields->at[i], e, i, override, inlets)) return false;
  return true;
}

// -- batches --------------------------------------------------------------------------------------
bool feed_start(Data *d, Feed *f, int64_t batch, int64_t epoch, int64_t number) {
  const char *why = "";
  if (!f->samples) return true;
  for (uint32_t i = 0; i < f->draw.n; i++) {
    f->draw.at[i].batch = batch;
    f->draw.at[i].epoch = f->samples;
  }
  f->arena = arena_child(d->arena);
  LoaderPlan plan = {f->draw.n, f->draw.at, f->source.n, f->source.at};
  f->loader = loader_new(f->arena, &plan, epoch, number, &why);
  if (!f->loader) diag_error(d->w->diags, (Span){0}, "%s", why);
  return f->loader != NULL;
}

void feed_stop(Feed *f) {
  if (f->loader) loader_free(f->loader);
  arena_free(f->arena);
  f->loader = NULL;
  f->arena = NULL;
}

int64_t feed_batches(const Feed *f) { return f->samples ? draw_batches(&f->draw.at[0]) : 0; }

int64_t feed_next(Feed *f, const Inlets *inlets, const char **why) {
  const Batch *b = loader_next(f->loader);
  if (!b) return *why = loader_error(f->loader), -1;
  for (uint32_t i = 0; i < inlets->n; i++) {
    const Inlet *inlet = &inlets->at[i];
    memcpy(inlet->to, b->data[inlet->source], (size_t)b->n * inlet->bytes);
    if (inlet->by_rows) *inlet->by_rows = 1;
  }
  return b->n;
}
