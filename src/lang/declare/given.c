// `given` statements: the names they bind and the type of each field.
//
// Fields are known from the set or the file. The names of a `given` are either all field names, or
// stand for the fields in order. A written type reshapes a field, or has more axes in front:
// several rows are one sample. In a table, a name that is not a column binds as many numeric
// columns as its type has numbers.
#include "base/diag.h"
#include "base/names.h"
#include "lang/declare/fields.h"
#include "lang/declare/statements.h"

static bool source_parts(const Syntax *n, Name *part, uint32_t *count, const Syntax **config) {
  if (n->kind == N_DOT)
    return source_parts(dot_base(n), part, count, config) && *count < 3 &&
           (part[(*count)++] = n->name);
  if (n->kind == N_AT) {
    *config = at_brackets(n);
    return source_parts(at_base(n), part, count, config);
  }
  if (n->kind != N_NAME) return false;
  part[(*count)++] = n->name;
  return true;
}

enum { FIELDS_SAID = 29, FIELDS_TRIED = 64 }; // limits in messages

bool is_split(const char *text) {
  return !strcmp(text, "train") || !strcmp(text, "valid") || !strcmp(text, "test");
}

static void no_such_set(Elab *in, const Syntax *n, const char *set) {
  Id e = diag_error(in->w->diags, n->span, "there is no data set `%s`", set);
  if (!diag_suggest(in->w->diags, e, set_nearest(set)))
    diag_help(in->w->diags, e, "a file is named in quotes: from \"table.csv\"");
}

// "t.csv", "t.txt"[pieces: 300], and their splits, "t.csv".test.
static bool read_path(World *w, const Syntax *n, Given *g, const Syntax **config) {
  const Syntax *file = n, *options = NULL;
  Name split = 0;
  if (n->kind == N_DOT && is_split(name_text(w->names, n->name)))
    split = n->name, file = dot_base(n);
  if (file->kind == N_AT) options = at_brackets(file), file = at_base(file);
  if (file->kind != N_STR) return false;
  g->path = file->text;
  g->split = split;
  if (options) *config = options;
  return true;
}

// After the set: a split and a field, each at most once, in either order.
static bool source_rest(Elab *in, const Syntax *n, const Name *part, uint32_t count, Given *g,
                        Name *field) {
  for (uint32_t i = 1; i < count; i++) {
    bool split = is_split(name_text(in->w->names, part[i]));
    if (split && g->split)
      return diag_refuse(in->w->diags, n->span, "this names two splits, `%s` and `%s`",
                         name_text(in->w->names, g->split), name_text(in->w->names, part[i]));
    if (!split && *field) return no_such_field(in, g, *field, n, n->span, true) == 0;
    if (split)
      g->split = part[i];
    else
      *field = part[i];
  }
  return true;
}

// A source: set, split, field, or noise.
bool read_source(Elab *in, Scope *s, const Syntax *n, Given *g, Name *field,
                 const Syntax **config) {
  World *w = in->w;
  Name part[4];
  uint32_t count = 0;
  *field = 0;
  g->node = n;
  g->beside = s->path;
  if (read_path(w, n, g, config)) return true;
  if (!source_parts(n, part, &count, config))
    return diag_refuse(
        w->diags, n->span,
        "data comes from a set, a file in quotes, or noise: `from mnist`, `from \"t.csv\"`, "
        "`from normal[64]`");
  const char *set = name_text(w->names, part[0]);
  if ((!strcmp(set, "normal") || !strcmp(set, "uniform")) && count == 1) {
    Body *b = body_new(in, part[0]);
    b->env = env_new(in, NULL, s, b);
    body_pass(b, PASS_SAMPLE, (Axis){.label = name_from(w->names, "batch"), .size = in->sample});
    Value v = n->kind == N_AT ? eval_alone(b, b->env, n) : value_error(b, n->span);
    if (n->kind != N_AT) diag_error(w->diags, n->span, "`%s` wants its axes: `%s[64]`", set, set);
    if (v.n != 1 || v.at[0].error) return false;
    diagram_output(w, b->d, val_to_wire(b, &v.at[0], 0));
    body_finish(b);
    g->noise = b->d;
    return true;
  }
  g->set = part[0];
  if (!set_is_known(set)) {
    no_such_set(in, path_root(n), set);
    return false;
  }
  return source_rest(in, n, part, count, g, field);
}

// Reports an unknown field or split at its position.
Id no_such_field(Elab *in, const Given *g, Name name, const Syntax *source, Span span, bool split) {
  World *w = in->w;
  DataFields d;
  uint32_t n = 0;
  Buf all = buf_new(w->arena);
  Nearest near = nearest_to(name_text(w->names, name));
  if (!data_fields(in, g, &d)) return 0;
  for (; n < d.field.n && n < FIELDS_SAID && !split; n++) {
    buf_printf(&all, "%s%s : %s", n ? ", " : "", d.field.at[n].name,
               field_type(w->arena, &d.field.at[n]));
    nearest_try(&near, d.field.at[n].name);
  }
  if (n < d.field.n && !split) buf_text(&all, ", …");
  if (source) nearest_try(&near, "train"), nearest_try(&near, "valid"), nearest_try(&near, "test");
  while (source && source->kind == N_DOT && source->name != name) source = dot_base(source);
  if (source && source->kind == N_DOT) span = source->name_span;
  Id e = diag_error(w->diags, span, split ? "%s has no split `%s`" : "%s has no field `%s`",
                    data_title(w, g), near.text);
  const char *guess = near.best ? arena_format(w->arena, "did you mean `%s`? ", near.best) : "";
  if (split)
    diag_help(w->diags, e, "%sits splits are train, valid and test", guess);
  else if (source)
    diag_help(w->diags, e, "%sit has the fields %s, and the splits train, valid and test", guess,
              all.at);
  else
    diag_help(w->diags, e, "%sit has the fields %s", guess, all.at);
  return e;
}

// -- options --------------------------------------------------------------------------------------
// mnist[fields: index image, bits: 1]: the columns, and whether they are read as bits.
// omniglot[way: 5, shot: 1]: a sample is an episode. shakespeare[pieces: 300]: labels are pieces of
// text.
typedef struct {
  bool bits;
  int64_t pieces;
  Episodes episodes;
  uint32_t n;
  Name column[8];
} GivenOptions;

// The numeric option of this name, or NULL.
static int64_t *number_option(GivenOptions *o, const char *word) {
  Episodes *e = &o->episodes;
  return !strcmp(word, "pieces")     ? &o->pieces
         : !strcmp(word, "way")      ? &e->way
         : !strcmp(word, "shot")     ? &e->shot
         : !strcmp(word, "query")    ? &e->ask
         : !strcmp(word, "episodes") ? &e->count
                                     : NULL;
}

static void read_number_option(Elab *in, Scope *s, const Syntax *sized, int64_t *out) {
  Body b = {.in = in, .w = in->w};
  Size size = size_eval(&b, env_new(in, NULL, s, &b), sized_value(sized), false);
  if (!size) return;
  if (!size_value(in->w, size, out) || *out < 1 || *out > 1000000000)
    diag_error(in->w->diags, sized->span, "`%s` wants a whole number above 0",
               name_text(in->w->names, sized->name));
}

static void check_episodes(Elab *in, const Syntax *config, Episodes *e) {
  if (!e->way && !e->shot && !e->ask && !e->count) return;
  if (!e->shot) e->shot = 1;
  if (!e->ask) e->ask = 5;
  if (!e->count) e->count = 1000;
  if (e->way < 2)
    diag_error(in->w->diags, config->span,
               "an episode wants at least two classes: `[way: 5, shot: 1]`");
  else if (e->way > EPISODE_LIMIT / e->shot || e->way > EPISODE_LIMIT / e->ask ||
           e->shot + e->ask > EPISODE_LIMIT)
    diag_error(in->w->diags, config->span, "an episode has at most %d samples", EPISODE_LIMIT);
}

static void given_options(Elab *in, Scope *s, const Syntax *config, GivenOptions *o) {
  World *w = in->w;
  for (uint32_t i = 0; config && i < brackets_slots(config).n; i++) {
    const Syntax *items = brackets_slots(config).at[i],
                 *first = items_in(items).n ? items_in(items).at[0] : NULL;
    const char *word = first && first->kind == N_SIZED ? name_text(w->names, first->name) : "";
    int64_t *number = number_option(o, word);
    if (strcmp(word, "bits") == 0) {
      o->bits = true;
    } else if (number) {
      read_number_option(in, s, first, number);
    } else if (strcmp(word, "fields") == 0) {
      if (sized_value(first)->kind == N_NAME) o->column[o->n++] = sized_value(first)->name;
      for (uint32_t k = 1; k < items_in(items).n && o->n < COUNT(o->column); k++)
        if (items_in(items).at[k]->kind == N_NAME) o->column[o->n++] = items_in(items).at[k]->name;
    } else {
      diag_error(
          w->diags, items->span,
          "a set has the options `fields: …`, `bits: 1`, `pieces: 300` and `way: 5, shot: 1`");
    }
  }
  check_episodes(in, config, &o->episodes);
}

static void read_options(Elab *in, Scope *s, const Syntax *config, Given *g, GivenOptions *o) {
  if (!g->noise) given_options(in, s, config, o);
  g->bits = o->bits;
  g->episodes = o->episodes;
  g->pieces = o->pieces;
}

void source_options(Elab *in, Scope *s, const Syntax *config, Given *g) {
  read_options(in, s, config, g, &(GivenOptions){0});
}

// -- one given ------------------------------------------------------------------------------------
typedef struct {
  Elab *in;
  Scope *s;
  Given *g;
  DataFields data;
  GivenOptions o;
  bool named;        // bound by field name, not in order
  bool some;         // some name is a field name: a similar one is a misspelling
  const Syntax *one; // such a name, if not all are
  bool *taken;       // [column of a table] bound already
  bool one_row;      // a field has one row per sample
  Env *env;          // shared, so that equal size names unify
} GivenReading;

static bool seems_misspelt(const GivenReading *r, const char *name) {
  Nearest near = nearest_to(name);
  for (uint32_t i = 0; i < r->data.field.n && i < FIELDS_TRIED; i++)
    nearest_try(&near, r->data.field.at[i].name);
  return near.best != NULL;
}

// Binds by field name if all names are fields, or if one is a field at another position.
static void choose_manner(GivenReading *r, const Syntax *params) {
  bool all = true, elsewhere = false;
  r->some = false;
  for (uint32_t i = 0; i < params_in(params).n; i++) {
    const Field *f = data_find(&r->data, name_text(r->in->w->names, params_in(params).at[i]->name));
    all &= f != NULL;
    r->some |= f != NULL;
    elsewhere |= f && f != &r->data.field.at[i];
    if (f) r->one = params_in(params).at[i];
  }
  r->named = all || elsewhere;
}

static Field *field_number(GivenReading *r, uint32_t k) {
  return k < r->data.field.n ? &r->data.field.at[k] : NULL;
}

// -- columns of a table ---------------------------------------------------------------------------
static uint32_t free_columns(const GivenReading *r, FieldKind kind) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < r->data.field.n; k++)
    n += !r->taken[k] && r->data.field.at[k].kind == kind;
  return n;
}

static uint32_t first_column(const GivenReading *r, FieldKind kind) {
  uint32_t k = 0;
  while (k < r->data.field.n && (r->taken[k] || r->data.field.at[k].kind != kind)) k++;
  return k;
}

// The number of columns for a type: all its numbers; or if there are fewer columns, those of all
// axes but the first, which then counts rows.
static uint32_t columns_wanted(GivenReading *r, const Type *t, uint32_t there) {
  int64_t all, row;
  Type inner = *t;
  if (!t->base) return there;
  if (t->rank > 1) inner.rank--, inner.axis++;
  bool known = type_count(r->in->w, t, &all);
  if (known && all <= there) return (uint32_t)all;
  if (t->rank > 1 && type_count(r->in->w, &inner, &row) && row <= there) return (uint32_t)row;
  return known ? UINT32_MAX : there;
}

// Binds the next n free numeric columns as one field.
static bool bind_numbers(GivenReading *r, uint32_t n, Field *own, Name *column) {
  World *w = r->in->w;
  uint32_t k = first_column(r, FIELD_REAL), last = k, count = 0;
  if (!n || n > free_columns(r, FIELD_REAL)) return false;
  *own = r->data.field.at[k];
  for (; count < n; k++) {
    const Field *f = &r->data.field.at[k];
    if (f->kind != FIELD_REAL) continue;
    if (r->taken[k]) return false; // they must be adjacent
    r->taken[k] = true;
    own->labels = own->labels && f->labels > own->labels ? f->labels : f->labels ? own->labels : 0;
    last = k;
    count++;
  }
  const char *name = own->name;
  if (n > 1) {
    name = arena_format(w->arena, "%s..%s", own->name, r->data.field.at[last].name);
    own->rank = 1;
    own->shape[0] = n;
  }
  *column = name_from(w->names, name);
  return true;
}

// A name that is not a column: numeric columns for a type of numbers, a column of words for a
// label; without a type, all numeric columns first, then words.
static bool bind_columns(GivenReading *r, const Type *t, Field *own, Name *column) {
  uint32_t numbers = free_columns(r, FIELD_REAL), word = first_column(r, FIELD_LABEL);
  bool wants_word = t->base == BASE_LABEL || (!t->base && !numbers);
  if (wants_word && word < r->data.field.n) {
    r->taken[word] = true;
    *own = r->data.field.at[word];
    *column = name_from(r->in->w->names, own->name);
    return true;
  }
  return bind_numbers(r, columns_wanted(r, t, numbers), own, column);
}

static void no_column_left(GivenReading *r, const Syntax *param, const Type *t) {
  World *w = r->in->w;
  Buf all = buf_new(w->arena);
  uint32_t n = r->data.field.n;
  for (uint32_t k = 0; k < n && k < 12; k++)
    buf_printf(&all, "%s%s : %s", k ? ", " : "", r->data.field.at[k].name,
               field_type(w->arena, &r->data.field.at[k]));
  Id e = diag_error(w->diags, param->span, "%s has no columns left for `%s`%s%s",
                    data_title(w, r->g), name_text(w->names, param->name), t->base ? " : " : "",
                    t->base ? own_text(w, t) : "");
  diag_help(w->diags, e, "it has %s%s", all.at, n > 12 ? ", …" : "");
}

// -- finding the field ----------------------------------------------------------------------------
static bool find_field(GivenReading *r, uint32_t at, const Syntax *param, Name wanted,
                       const Type *t, Field *own, Name *column) {
  World *w = r->in->w;
  Name name = wanted ? wanted : param->name;
  const char *text = name_text(w->names, name);
  const Field *f = wanted || r->named || !r->data.table ? data_find(&r->data, text) : NULL;
  bool in_order = !wanted && !r->named && !(r->some && seems_misspelt(r, text));
  if (!f && in_order && r->data.table) {
    if (bind_columns(r, t, own, column)) return true;
    no_column_left(r, param, t);
    return false;
  }
  if (!f && in_order) f = field_number(r, at);
  if (!f) {
    Id e = no_such_field(r->in, r->g, name, wanted ? r->g->node : NULL, param->name_span, false);
    if (!wanted && r->one)
      diag_note(w->diags, e, r->one->name_span,
                "`%s` is one: names of fields are not mixed with others",
                name_text(w->names, r->one->name));
    return false;
  }
  *own = *f;
  *column = name_from(w->names, f->name);
  if (r->data.table) r->taken[f - r->data.field.at] = true;
  return true;
}

// -- matching the written type --------------------------------------------------------------------
static int64_t elements(Elab *in, const Type *t) {
  int64_t n;
  return type_count(in->w, t, &n) ? n : -1;
}

static Type as_bits(World *w, Type t) {
  if (t.base == BASE_LABEL) { // one-hot
    Axis axis[RANK_LIMIT];
    memcpy(axis, t.axis, t.rank * sizeof *axis);
    axis[t.rank] = (Axis){.size = t.count};
    return type_make(w, BASE_BIT, t.rank + 1, axis);
  }
  t.base = BASE_BIT;
  return t;
}

// A column of words matches a label type that names all of them, in any order.
static bool words_fit(Body *b, const Field *f, const Type *t, Span span) {
  World *w = b->w;
  for (int64_t i = 0; i < f->labels; i++)
    if (label_named(w, t, name_from(w->names, f->label[i])) < 0)
      return diag_refuse(w->diags, span, "`%s` is a word of the field `%s`, but none of %s",
                         f->label[i], f->name, own_text(w, t));
  return true;
}

// Whole numbers may be read as labels or bits.
static bool base_fits(Body *b, const Field *f, const Type *own, const Type *t, Span span) {
  int64_t count;
  if (own->base == BASE_LABEL && t->base == BASE_LABEL && t->names && f->label) return true;
  if (own->base == BASE_LABEL && t->base == BASE_LABEL)
    return sizes_agree(b, t->count, own->count, span, span, "a field");
  if (own->base == t->base) return true;
  if (own->base != BASE_R || !f->labels) return false;
  if (t->base == BASE_BIT) return f->labels <= 2;
  if (t->base == BASE_LABEL && size_value(b->w, t->count, &count)) return f->labels <= count;
  return t->base == BASE_LABEL &&
         sizes_agree(b, t->count, size_of(b->w, f->labels), span, span, "a field");
}

static Size product(World *w, const Axis *axis, uint32_t n) {
  Size s = size_of(w, 1);
  for (uint32_t i = 0; i < n; i++) s = size_mul(w, s, axis[i].size);
  return s;
}

static void rows_differ(GivenReading *r, const Syntax *param, Span span) {
  diag_error(r->in->w->diags, span,
             "the fields of one `given` are read over the same rows, but `%s` is not",
             name_text(r->in->w->names, param->name));
}

// One sample is several rows, counted by the leading axes.
static bool bind_rows(GivenReading *r, Body *b, const Syntax *param, const Type *own,
                      const Type *t) {
  World *w = r->in->w;
  uint32_t front = t->rank - own->rank;
  Span span = param_type(param)->span;
  Size window = product(w, t->axis, front);
  int64_t number;
  for (uint32_t i = 0; i < own->rank; i++)
    if (!sizes_agree(b, t->axis[front + i].size, own->axis[i].size, span, span, "a field"))
      return false;
  if (r->data.rows && !size_value(w, window, &number)) // open size: the whole file
    sizes_agree(b, window, size_of(w, r->data.rows), span, span, "the rows of a file");
  if (r->data.rows && size_value(w, window, &number) && number > r->data.rows)
    diag_error(w->diags, span, "a sample of %lld rows is wanted, but %s has %lld",
               (long long)number, data_title(w, r->g), (long long)r->data.rows);
  if (r->one_row || (r->g->window && !sizes_agree(b, window, r->g->window, span, span, "rows")))
    rows_differ(r, param, span);
  r->g->window = window;
  return true;
}

static bool does_not_fit(GivenReading *r, const Syntax *param, const Field *f, const Type *own,
                         const Type *t) {
  World *w = r->in->w;
  Id e = diag_error(w->diags, param_type(param)->span, "field `%s` is %s, and cannot be read as %s",
                    name_text(w->names, param->name), own_text(w, own), own_text(w, t));
  if (f->mixed && t->base != BASE_LABEL)
    diag_help(w->diags, e, "%s", f->mixed);
  else if (own->base == BASE_R && f->labels && t->base != BASE_R)
    diag_help(w->diags, e, "its numbers are whole and go up to %lld%s%s", (long long)f->labels - 1,
              f->peak ? ": " : "", f->peak ? f->peak : "");
  else if (own->base == BASE_R && t->base == BASE_LABEL)
    diag_help(w->diags, e, "labels are whole numbers from 0 up, or words%s%s", f->peak ? ": " : "",
              f->peak ? f->peak : "");
  else if (own->base == BASE_LABEL && t->base != BASE_LABEL)
    diag_help(w->diags, e,
              "labels are not numbers: take them as they are, and use `one_hot(x)` or `number(x)`");
  else if (t->base == own->base && t->base != BASE_LABEL)
    diag_help(w->diags, e, "a type on a field reshapes it: the number of elements stays");
  return false;
}

static void set_one_row(GivenReading *r, const Syntax *param, Span span) {
  if (r->g->window) rows_differ(r, param, span);
  r->one_row = true;
}

// A written type reshapes a field, or makes several rows one sample.
static bool fit_type(GivenReading *r, const Syntax *param, const Field *f, const Type *own,
                     Type *t) {
  World *w = r->in->w;
  Body b = {.in = r->in, .w = w};
  if (!t->base) {
    *t = *own;
    set_one_row(r, param, param->name_span);
    return true;
  }
  Span span = param_type(param)->span;
  int64_t want = elements(r->in, t), have = elements(r->in, own);
  if (!base_fits(&b, f, own, t, span)) return does_not_fit(r, param, f, own, t);
  if (own->base == BASE_LABEL && t->base == BASE_LABEL && t->names && f->label &&
      !words_fit(&b, f, t, span))
    return false;
  if (t->rank > own->rank && want != have)
    return bind_rows(r, &b, param, own, t) || does_not_fit(r, param, f, own, t);
  set_one_row(r, param, span);
  if (want >= 0 && have >= 0) return want == have || does_not_fit(r, param, f, own, t);
  // open sizes: the numbers of elements must be equal
  sizes_agree(&b, product(w, t->axis, t->rank), product(w, own->axis, own->rank), span, span,
              "a field");
  return true;
}

static bool written_type(GivenReading *r, const Syntax *param, Type *t) {
  Body b = {.in = r->in, .w = r->in->w};
  Types types = {0};
  const Syntax *type = param_type(param);
  *t = (Type){0};
  if (!type) return true;
  bool later =
      r->g->path; // in the type of a file, undeclared sizes are variables, solved when it is read
  if (!r->env) r->env = env_new(r->in, NULL, r->s, NULL);
  if (!types_eval(&b, r->env, type, later, &types, NULL)) return false;
  if (types.n != 1) return diag_refuse(r->in->w->diags, type->span, "one field has one type");
  *t = types.at[0];
  return true;
}

static void type_is_missing(GivenReading *r, const Syntax *param, bool index) {
  World *w = r->in->w;
  if (index) {
    diag_error(w->diags, param->span, "the number of samples must be written: `given %s : {60000}`",
               name_text(w->names, param->name));
    return;
  }
  Id e =
      diag_error(w->diags, param->span,
                 "the type of a field of a file must be written: `given x : R[4] from \"t.csv\"`");
  diag_help(w->diags, e, "it would be found in the file, but %s", r->data.absent);
}

// -- one field ------------------------------------------------------------------------------------
static bool given_field(GivenReading *r, uint32_t at, const Syntax *param, Name wanted, Type *out,
                        Name *column) {
  World *w = r->in->w;
  Field f = {0};
  Type own = {0};
  *column = param->name;
  if (!written_type(r, param, out)) return false;
  bool index = wanted && strcmp(name_text(w->names, wanted), "index") == 0; // any set has it
  if (index) *column = wanted;
  if (!index && r->g->noise) {
    Type t = r->g->noise->wire.at[r->g->noise->out.at[0]].type;
    own = (Type){.base = t.base, .rank = t.rank - 1, .axis = t.axis + 1};
    if (at) return false;
  } else if (!index && !r->data.absent) {
    if (!find_field(r, at, param, wanted, out, &f, column)) return false;
    own = data_type(w, &f);
    if (r->o.bits) own = as_bits(w, own);
  }
  if (own.base) return fit_type(r, param, &f, &own, out);
  if (!out->base) type_is_missing(r, param, index);
  return out->base;
}

static void bind_field(GivenReading *r, Program *p, uint32_t at, const Syntax *param, bool fine,
                       Type t, Name column) {
  World *w = r->in->w;
  Def *d = scope_meaning(r->s, param);
  if (d && d->kind == DEF_GIVEN && d->node == param) {
    d->given = p->given.n;
    d->field = at;
    if (!fine) d->broken = true;
  }
  vec_push(w->arena, &r->g->field, d);
  vec_push(w->arena, &r->g->type, fine ? t : (Type){0});
  vec_push(w->arena, &r->g->column, column);
}

// given x, y from moons.z: several names for one field are an error.
static bool one_field_for_several(GivenReading *r, const Syntax *params, Name field) {
  World *w = r->in->w;
  const char *name = name_text(w->names, field);
  DataFields d;
  if (!data_fields(r->in, r->g, &d)) return false;
  if (!data_find(&d, name)) {
    no_such_field(r->in, r->g, field, r->g->node, r->g->node->span, false);
    return false;
  }
  return diag_refuse(w->diags, r->g->node->span,
                     "`%s` is one field of %s, but %u names are given here", name,
                     data_title(w, r->g), params_in(params).n);
}

void do_given(Elab *in, Program *p, Scope *s, const Syntax *n, const Name *columns) {
  World *w = in->w;
  Given g = {0};
  Name field;
  const Syntax *config = NULL, *params = given_params(n);
  GivenReading r = {.in = in, .s = s, .g = &g};
  bool good = read_source(in, s, given_source(n), &g, &field, &config);
  read_options(in, s, config, &g, &r.o);
  if (good && field && params_in(params).n > 1) good = one_field_for_several(&r, params, field);
  if (good && !g.noise) good = data_fields(in, &g, &r.data);
  g.absent = r.data.absent;
  r.taken = NEW_ARRAY(w->arena, bool, r.data.field.n + 1);
  choose_manner(&r, params);
  for (uint32_t i = 0; i < params_in(params).n; i++) {
    const Syntax *param = params_in(params).at[i];
    Type t = {0};
    Name column = param->name, wanted = params_in(params).n == 1 ? field : 0;
    if (!wanted && i < r.o.n) wanted = r.o.column[i];
    if (columns) wanted = columns[i];
    bool fine = good && given_field(&r, i, param, wanted, &t, &column);
    bind_field(&r, p, i, param, fine, t, column);
  }
  vec_push(w->arena, &p->given, g);
}
