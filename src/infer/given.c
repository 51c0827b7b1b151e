// Data: what `given` names, and the type each field has. Sets are known by name; a type written on
// a field reshapes it.
#include "data.h"
#include "program.h"

static Type type_from_text(Infer *in, Scope *s, const char *text) {
  World *w = in->w;
  const char *source = arena_format(w->arena, "space S = %s\n", text);
  uint32_t file = source_add(w->sources, "data", source, strlen(source));
  Node *tree = parse(&in->front, file);
  Body b = {.in = in, .w = w};
  Types t = {0};
  types_eval(&b, env_new(in, NULL, s, &b), tree->kid[0]->kid[0], false, &t, NULL);
  return t.at[0];
}

static bool source_parts(const Node *n, Name *part, uint32_t *count, const Node **config) {
  if (n->kind == N_DOT)
    return source_parts(n->kid[0], part, count, config) && *count < 3 &&
           (part[(*count)++] = n->name);
  if (n->kind == N_AT) {
    *config = n->kid[1];
    return source_parts(n->kid[0], part, count, config);
  }
  if (n->kind != N_NAME) return false;
  part[(*count)++] = n->name;
  return true;
}

static bool is_split(const char *text) {
  return !strcmp(text, "train") || !strcmp(text, "valid") || !strcmp(text, "test");
}

static void no_such_set(Infer *in, const Node *n, const char *set) {
  const char *near = data_nearest(set);
  Id e = diag_error(in->w->diags, n->span, "there is no data set `%s`", set);
  if (near)
    diag_help(in->w->diags, e, "did you mean `%s`?", near);
  else
    diag_help(in->w->diags, e, "a file is named in quotes: from \"table.csv\"");
}

// A source: set, split, a field of it, or noise.
bool read_source(Infer *in, Scope *s, const Node *n, Given *g, Name *field, const Node **config) {
  World *w = in->w;
  Name part[4];
  uint32_t count = 0;
  *field = 0;
  g->node = n;
  if (n->kind == N_STR) {
    g->path = n->text;
    return true;
  }
  if (!source_parts(n, part, &count, config)) {
    diag_error(w->diags, n->span,
               "data comes from a set, a file in quotes, or noise: `from mnist`, `from \"t.csv\"`, "
               "`from normal[64]`");
    return false;
  }
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
  for (uint32_t i = 1; i < count; i++) {
    if (is_split(name_text(w->names, part[i])))
      g->split = part[i];
    else
      *field = part[i];
  }
  if (data_is_set(set)) return true;
  const Node *base = n;
  while (base->kind == N_DOT || base->kind == N_AT) base = base->kid[0];
  no_such_set(in, base, set);
  return false;
}

// A field or split that the set does not have, at the place where it is written.
void no_such_field(Infer *in, const char *set, Name name, const Node *source, Span span,
                   bool split) {
  World *w = in->w;
  const char *field, *type, *names[32];
  uint32_t n = 0;
  Buf all = buf_new(w->arena);
  for (uint32_t k = 0; (field = data_field(set, k, &type)) && n + 3 < COUNT(names) && !split; k++) {
    buf_printf(&all, "%s%s : %s", k ? ", " : "", field, type);
    names[n++] = field;
  }
  if (source) names[n++] = "train", names[n++] = "valid", names[n++] = "test";
  while (source && source->kind == N_DOT && source->name != name) source = source->kid[0];
  if (source && source->kind == N_DOT) span = source->name_span;
  const char *near = nearest_name(name_text(w->names, name), names, n);
  Id e = diag_error(w->diags, span, split ? "set %s has no split `%s`" : "set %s has no field `%s`",
                    set, name_text(w->names, name));
  const char *guess = near ? arena_format(w->arena, "did you mean `%s`? ", near) : "";
  if (split)
    diag_help(w->diags, e, "%sits splits are train, valid and test", guess);
  else if (source)
    diag_help(w->diags, e, "%sit has the fields %s, and the splits train, valid and test", guess,
              all.at);
  else
    diag_help(w->diags, e, "%sit has the fields %s", guess, all.at);
}

static int64_t elements(Infer *in, const Type *t) {
  int64_t n;
  return type_count(in->w, t, &n) ? n : -1;
}

// A written type reshapes a field, or says how many rows make a sample.
static bool retype(Infer *in, Scope *s, const Node *param, const Type *own, Type *out) {
  World *w = in->w;
  Body b = {.in = in, .w = w};
  Types t = {0};
  const Node *type = param->nkid ? param->kid[0] : NULL;
  if (!type) {
    *out = *own;
    return true;
  }
  bool later = !own->base; // of a file: sizes that are not declared are found when it is read
  if (!types_eval(&b, env_new(in, NULL, s, &b), type, later, &t, NULL)) return false;
  if (t.n != 1) {
    diag_error(w->diags, type->span, "one field has one type");
    return false;
  }
  *out = t.at[0];
  if (!own->base) return true;
  bool labels = own->base != BASE_LABEL || t.at[0].base != BASE_LABEL ||
                sizes_agree(&b, t.at[0].count, own->count, type->span, type->span, "a field");
  int64_t want = elements(in, &t.at[0]), have = elements(in, own);
  bool rows = t.at[0].rank > own->rank;
  if (!labels || t.at[0].base != own->base || (want >= 0 && have >= 0 && want != have && !rows)) {
    Id e = diag_error(w->diags, type->span, "field `%s` is %s, and cannot be read as %s",
                      name_text(w->names, param->name), own_text(w, own), own_text(w, &t.at[0]));
    if (t.at[0].base == own->base && labels)
      diag_help(w->diags, e, "a type on a field reshapes it: the number of elements stays");
    else if (own->base == BASE_LABEL && t.at[0].base != BASE_LABEL)
      diag_help(
          w->diags, e,
          "labels are not numbers: take them as they are, and use `one_hot(x)` or `number(x)`");
    return false;
  }
  if (!rows && want < 0) { // sizes that are not known yet must come to as many elements
    Size left = size_of(w, 1), right = size_of(w, 1);
    for (uint32_t i = 0; i < t.at[0].rank; i++) left = size_mul(w, left, t.at[0].axis[i].size);
    for (uint32_t i = 0; i < own->rank; i++) right = size_mul(w, right, own->axis[i].size);
    sizes_agree(&b, left, right, type->span, type->span, "a field");
  }
  return true;
}

static bool seems_misspelt(const char *set, const char *name) {
  const char *field, *type, *names[32];
  uint32_t n = 0;
  while (n < COUNT(names) && (field = data_field(set, n, &type))) names[n++] = field;
  return nearest_name(name, names, n) != NULL;
}

static bool field_type(Infer *in, Scope *s, const Given *g, Name wanted, bool by_name, uint32_t at,
                       const Node *param, Type *out, Name *column) {
  World *w = in->w;
  *out = (Type){0};
  if (g->path) return true;
  if (g->noise) {
    Type t = g->noise->wire.at[g->noise->out.at[0]].type;
    *out = (Type){.base = t.base, .rank = t.rank - 1, .axis = t.axis + 1};
    return at == 0;
  }
  const char *set = name_text(w->names, g->set), *type = NULL, *field = NULL;
  Name name = wanted ? wanted : param->name;
  for (uint32_t k = 0; (field = data_field(set, k, &type)); k++)
    if (strcmp(field, name_text(w->names, name)) == 0) break;
  if (!field && !wanted && !(by_name && seems_misspelt(set, name_text(w->names, name))))
    field = data_field(set, at, &type); // by order
  if (!field) {
    no_such_field(in, set, name, wanted ? g->node : NULL, param->name_span, false);
    return false;
  }
  *column = name_from(w->names, field);
  *out = type_from_text(in, s, type);
  return true;
}

// mnist[fields: index image, bits: 1]: which columns are meant, and whether they are read as bits.
typedef struct {
  bool bits;
  uint32_t n;
  Name column[8];
  bool by_name; // some of the names are fields of the set: one that nearly is, is misspelt
} SetOptions;

static void set_options(Infer *in, const Node *config, SetOptions *o) {
  World *w = in->w;
  for (uint32_t i = 0; config && i < config->nkid; i++) {
    const Node *items = config->kid[i], *first = items->nkid ? items->kid[0] : NULL;
    const char *word = first && first->kind == N_SIZED ? name_text(w->names, first->name) : "";
    if (strcmp(word, "bits") == 0) {
      o->bits = true;
    } else if (strcmp(word, "fields") == 0) {
      if (first->kid[0]->kind == N_NAME) o->column[o->n++] = first->kid[0]->name;
      for (uint32_t k = 1; k < items->nkid && o->n < COUNT(o->column); k++)
        if (items->kid[k]->kind == N_NAME) o->column[o->n++] = items->kid[k]->name;
    } else {
      diag_error(w->diags, items->span, "a set has the options `fields: …` and `bits: 1`");
    }
  }
}

static Type as_bits(World *w, Type t) {
  if (t.base == BASE_R)
    t.base = BASE_BIT;
  else if (t.base == BASE_LABEL)
    t = type_make(w, BASE_BIT, 1, &(Axis){.size = t.count}); // one-hot
  return t;
}

static bool given_type(Infer *in, Scope *s, const Given *g, const SetOptions *o, Name field,
                       uint32_t at, const Node *param, Type *out, Name *column) {
  World *w = in->w;
  Type own = {0};
  if (!field && at < o->n) field = o->column[at];
  bool index = field && strcmp(name_text(w->names, field), "index") ==
                            0; // the number of the sample, whatever the set
  *column = index ? field : param->name;
  if (!index && !field_type(in, s, g, field, o->by_name, at, param, &own, column)) return false;
  if (o->bits) own = as_bits(w, own);
  if (!retype(in, s, param, &own, out)) return false;
  if (out->base) return true;
  if (index)
    diag_error(w->diags, param->span,
               "how many samples there are must be written: `given %s : {60000}`",
               name_text(w->names, param->name));
  else
    diag_error(w->diags, param->span,
               "the type of a field of a file must be written: `given x : R[4] from \"t.csv\"`");
  return false;
}

void do_given(Infer *in, Program *p, Scope *s, const Node *n) {
  World *w = in->w;
  Given g = {0};
  SetOptions options = {0};
  Name field;
  const Node *config = NULL, *params = n->kid[0];
  bool good = read_source(in, s, n->kid[1], &g, &field, &config);
  if (!g.noise) set_options(in, config, &options);
  for (uint32_t i = 0; g.set && i < params->nkid; i++) {
    const char *type, *name;
    for (uint32_t k = 0; (name = data_field(name_text(w->names, g.set), k, &type)); k++)
      options.by_name |= !strcmp(name, name_text(w->names, params->kid[i]->name));
  }
  for (uint32_t i = 0; i < params->nkid; i++) {
    const Node *param = params->kid[i];
    Type t = {0};
    Name column = param->name;
    bool fine = good && given_type(in, s, &g, &options, params->nkid == 1 ? field : 0, i, param, &t,
                                   &column);
    Def *d = scope_find(s, param->name);
    if (d && d->kind == DEF_GIVEN && d->node == param) {
      d->given = p->given.n;
      d->field = i;
      if (!fine) d->broken = true;
    }
    vec_push(w->arena, &g.field, d);
    vec_push(w->arena, &g.type, fine ? t : (Type){0});
    vec_push(w->arena, &g.column, column);
  }
  vec_push(w->arena, &p->given, g);
}
