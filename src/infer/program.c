// A whole program: the library and the used files, every box and learner checked, data given, goals and measures as diagrams.
#include "data.h"
#include "elab.h"
#include "library.h"

#include <math.h>

Infer *infer_new(World *w) {
  Infer *in = NEW(w->arena, Infer);
  in->w = w;
  in->front = (Front){w->arena, w->names, w->diags, w->sources};
  in->instances = table_new(w->arena);
  in->working = table_new(w->arena);
  in->scopes = table_new(w->arena);
  in->sets = table_new(w->arena);
  vec_push(w->arena, &in->def, NULL);
  in->work_limit = WORK_LIMIT;
  in->library = scope_load(in, "library.limn", limn_library, limn_library_size, NULL);
  return in;
}

void infer_set(Infer *in, const char *name, const char *value) {
  vec_push(in->w->arena, &in->set_value, value);
  table_put(in->sets, name, strlen(name), in->set_value.n);
}

World *infer_world(Infer *in) { return in->w; }
Def *def_of(Infer *in, Id id) { return in->def.at[id]; }

static void add_learner(Infer *in, Def *d, Ids *out);

// -- declarations that change others --------------------------------------------------------------
static Def *learner_named(Infer *in, Scope *s, const Node *n) {
  const Node *base = n;
  while (base->kind == N_AT || base->kind == N_DOT) base = base->kid[0];
  Def *d = base->kind == N_NAME ? scope_find(s, base->name) : NULL;
  if (d && (d->kind == DEF_LEARNER || d->kind == DEF_STALE)) return d;
  Body b = {.in = in, .w = in->w};
  if (!d) unknown_name(&b, env_new(in, NULL, s, &b), base, "learner");
  else if (!d->broken) {
    Id e = diag_error(in->w->diags, base->span, "`%s` is not a learner", name_text(in->w->names, base->name));
    diag_note(in->w->diags, e, d->span, "declared here");
  }
  return NULL;
}

void def_closure(Infer *in, Def *d, Ids *out) { add_learner(in, d, out); }

static void do_refine(Infer *in, Scope *s, const Node *n) {
  World *w = in->w;
  Node name = {.kind = N_NAME, .name = n->name, .span = n->name_span, .name_span = n->name_span};
  Def *d = learner_named(in, s, &name);
  if (!d || d->kind != DEF_LEARNER) return;
  if (d->node->kid[4] || d->refined) {
    Id e = diag_error(w->diags, n->name_span, "`%s` has a body already", name_text(w->names, n->name));
    diag_note(w->diags, e, d->refined ? d->refined->name_span : d->node->kid[4]->span, "here");
    return;
  }
  d->refined = n;
}

static void do_stale(Infer *in, Scope *s, const Node *n) {
  Def *d = scope_find(s, n->name), *of = learner_named(in, s, n->kid[0]);
  if (!d || d->kind != DEF_STALE) return;
  d->of = of;
  if (!of) d->broken = true;
}

// -- given ----------------------------------------------------------------------------------------
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
  if (n->kind == N_DOT) return source_parts(n->kid[0], part, count, config) && *count < 3 && (part[(*count)++] = n->name);
  if (n->kind == N_AT) {
    *config = n->kid[1];
    return source_parts(n->kid[0], part, count, config);
  }
  if (n->kind != N_NAME) return false;
  part[(*count)++] = n->name;
  return true;
}

static bool is_split(const char *text) { return !strcmp(text, "train") || !strcmp(text, "valid") || !strcmp(text, "test"); }

static void no_such_set(Infer *in, const Node *n, const char *set) {
  const char *near = data_nearest(set);
  Id e = diag_error(in->w->diags, n->span, "there is no data set `%s`", set);
  if (near) diag_help(in->w->diags, e, "did you mean `%s`?", near);
  else diag_help(in->w->diags, e, "a file is named in quotes: from \"table.csv\"");
}

// A source: set, split, a field of it, or noise.
static bool read_source(Infer *in, Scope *s, const Node *n, Given *g, Name *field, const Node **config) {
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
    diag_error(w->diags, n->span, "data comes from a set, a file in quotes, or noise: `from mnist`, `from \"t.csv\"`, `from normal[64]`");
    return false;
  }
  const char *set = name_text(w->names, part[0]);
  if ((!strcmp(set, "normal") || !strcmp(set, "uniform")) && count == 1) {
    Body *b = body_new(in, part[0]);
    b->env = env_new(in, NULL, s, b);
    b->pass[0] = (Axis){.label = name_from(w->names, "batch"), .size = in->sample, .pass = PASS_SAMPLE};
    b->npass = 1;
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
    if (is_split(name_text(w->names, part[i]))) g->split = part[i];
    else *field = part[i];
  }
  if (data_is_set(set)) return true;
  const Node *base = n;
  while (base->kind == N_DOT || base->kind == N_AT) base = base->kid[0];
  no_such_set(in, base, set);
  return false;
}

// A field or split that the set does not have, at the place where it is written.
static void no_such_field(Infer *in, const char *set, Name name, const Node *source, Span span, bool split) {
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
  Id e = diag_error(w->diags, span, split ? "set %s has no split `%s`" : "set %s has no field `%s`", set, name_text(w->names, name));
  const char *guess = near ? arena_format(w->arena, "did you mean `%s`? ", near) : "";
  if (split) diag_help(w->diags, e, "%sits splits are train, valid and test", guess);
  else if (source) diag_help(w->diags, e, "%sit has the fields %s, and the splits train, valid and test", guess, all.at);
  else diag_help(w->diags, e, "%sit has the fields %s", guess, all.at);
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
  if (!types_eval(&b, env_new(in, NULL, s, &b), type, false, &t, NULL)) return false;
  if (t.n != 1) {
    diag_error(w->diags, type->span, "one field has one type");
    return false;
  }
  *out = t.at[0];
  if (!own->base) return true;
  bool labels = own->base != BASE_LABEL || t.at[0].base != BASE_LABEL || sizes_agree(&b, t.at[0].count, own->count, type->span, type->span, "a field");
  int64_t want = elements(in, &t.at[0]), have = elements(in, own);
  bool rows = t.at[0].rank > own->rank;
  if (!labels || t.at[0].base != own->base || (want >= 0 && have >= 0 && want != have && !rows)) {
    Id e = diag_error(w->diags, type->span, "field `%s` is %s, and cannot be read as %s", name_text(w->names, param->name), own_text(w, own), own_text(w, &t.at[0]));
    if (t.at[0].base == own->base && labels) diag_help(w->diags, e, "a type on a field reshapes it: the number of elements stays");
    else if (own->base == BASE_LABEL && t.at[0].base != BASE_LABEL) diag_help(w->diags, e, "labels are not numbers: take them as they are, and use `one_hot(x)` or `number(x)`");
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

static bool field_type(Infer *in, Scope *s, const Given *g, Name wanted, bool by_name, uint32_t at, const Node *param, Type *out, Name *column) {
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
  if (!field && !wanted && !(by_name && seems_misspelt(set, name_text(w->names, name)))) field = data_field(set, at, &type); // by order
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
  if (t.base == BASE_R) t.base = BASE_BIT;
  else if (t.base == BASE_LABEL) t = type_make(w, BASE_BIT, 1, &(Axis){.size = t.count}); // one-hot
  return t;
}

static bool given_type(Infer *in, Scope *s, const Given *g, const SetOptions *o, Name field, uint32_t at, const Node *param, Type *out, Name *column) {
  World *w = in->w;
  Type own = {0};
  if (!field && at < o->n) field = o->column[at];
  bool index = field && strcmp(name_text(w->names, field), "index") == 0; // the number of the sample, whatever the set
  *column = index ? field : param->name;
  if (!index && !field_type(in, s, g, field, o->by_name, at, param, &own, column)) return false;
  if (o->bits) own = as_bits(w, own);
  if (!retype(in, s, param, &own, out)) return false;
  if (out->base) return true;
  if (index) diag_error(w->diags, param->span, "how many samples there are must be written: `given %s : {60000}`", name_text(w->names, param->name));
  else diag_error(w->diags, param->span, "the type of a field of a file must be written: `given x : R[4] from \"t.csv\"`");
  return false;
}

static void do_given(Infer *in, Program *p, Scope *s, const Node *n) {
  World *w = in->w;
  Given g = {0};
  SetOptions options = {0};
  Name field;
  const Node *config = NULL, *params = n->kid[0];
  bool good = read_source(in, s, n->kid[1], &g, &field, &config);
  if (!g.noise) set_options(in, config, &options);
  for (uint32_t i = 0; g.set && i < params->nkid; i++) {
    const char *type, *name;
    for (uint32_t k = 0; (name = data_field(name_text(w->names, g.set), k, &type)); k++) options.by_name |= !strcmp(name, name_text(w->names, params->kid[i]->name));
  }
  for (uint32_t i = 0; i < params->nkid; i++) {
    const Node *param = params->kid[i];
    Type t = {0};
    Name column = param->name;
    bool fine = good && given_type(in, s, &g, &options, params->nkid == 1 ? field : 0, i, param, &t, &column);
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

// -- goals and measures ---------------------------------------------------------------------------
static Body *goal_body(Infer *in, Program *p, Name name) {
  World *w = in->w;
  Body *b = body_new(in, name);
  b->env = env_new(in, NULL, p->acting, b);
  b->pass[0] = (Axis){.label = name_from(w->names, "batch"), .size = in->sample, .pass = PASS_SAMPLE};
  b->npass = 1;
  b->fields = table_new(w->arena);
  return b;
}

static const Node *clause(const Node *n, NodeKind kind) {
  for (uint32_t i = 1; i < n->nkid; i++)
    if (n->kid[i] && n->kid[i]->kind == kind) return n->kid[i];
  return NULL;
}

// Literals on one side take the type of the other.
static bool balance(Body *b, Value *left, Value *right, Span span) {
  for (uint32_t i = 0; i < left->n + right->n; i++)
    if ((i < left->n ? left->at[i] : right->at[i - left->n]).error) return false;
  if (left->n != right->n) {
    if (left->n == 1 && left->at[0].literal) *left = (Value){0};
    else if (right->n == 1 && right->at[0].literal) *right = (Value){0};
    diag_error(b->w->diags, span, "the two sides of a goal must fit: %u %s on the left, %u on the right", left->n, left->n == 1 ? "wire" : "wires", right->n);
    return false;
  }
  for (uint32_t i = 0; i < left->n; i++) {
    Val *l = &left->at[i], *r = &right->at[i];
    if (l->error || r->error) return false;
    val_settle(b, l);
    val_settle(b, r);
    if (l->literal && r->literal) {
      diag_error(b->w->diags, span, "both sides of this goal are numbers");
      return false;
    }
    if (l->literal) *l = val_fill(b, *l, r->type);
    if (r->literal && l->type.base != BASE_LABEL) *r = val_fill(b, *r, l->type);
  }
  return true;
}

static Value by_distance(Body *b, Env *env, const Node *distance, Value left, Value right, Span span) {
  Value both = value_concat(b, left, right);
  both.at = arena_copy(b->w->arena, both.at, both.n * sizeof(Val));
  b->distance = true; // unless a measure compares the two sides of a goal elsewhere
  for (uint32_t i = 0; i < both.n; i++) b->distance &= both.at[i].span.at >= span.at && both.at[i].span.at < span.at + span.n;
  Value v = apply(b, env, distance, both, NULL, span);
  b->distance = false;
  return v;
}

static void no_distance(Body *b, const Value *left, const Value *right, Span span) {
  World *w = b->w;
  Buf types = buf_new(w->arena);
  for (uint32_t i = 0; i < left->n; i++) {
    Type shown = left->at[i].type;
    if (shown.rank && shown.axis[0].pass == PASS_SAMPLE) shown.axis++, shown.rank--;
    buf_printf(&types, "%s%s", i ? ", " : "", own_text(w, &shown));
  }
  uint8_t base = left->n ? left->at[0].type.base : BASE_R, other = right->n ? right->at[0].type.base : BASE_R;
  const char *usual = other == BASE_LABEL ? "cross_entropy" : base == BASE_BIT ? "xor" : "l2";
  Id e = diag_error(w->diags, span, "how far apart these two are is not said: %s has no distance", types.at);
  diag_help(w->diags, e, "say it here, `by %s`, or give it to the space: `space S = %s by %s`", usual, types.at, usual);
}

static Value distance_value(Body *b, const Node *by, Value left, Value right, Span span, const char **name) {
  World *w = b->w;
  if (by) {
    const Node *base = by->kid[0]->kind == N_AT ? by->kid[0]->kid[0] : by->kid[0];
    *name = name_text(w->names, base->name);
    return by_distance(b, b->env, by->kid[0], left, right, span);
  }
  const Def *space = left.space && left.space->node->kid[1] ? left.space : right.space && right.space->node->kid[1] ? right.space : NULL;
  if (!space) {
    no_distance(b, &left, &right, span);
    return value_error(b, span);
  }
  const Node *d = space->node->kid[1];
  *name = name_text(w->names, d->kind == N_AT ? d->kid[0]->name : d->name);
  return by_distance(b, env_new(b->in, NULL, space->scope, b), d, left, right, span);
}

static Val mean_of_all(Body *b, Val v, Span span) {
  bool axes[RANK_LIMIT];
  Size n = size_of(b->w, 1);
  val_settle(b, &v);
  for (uint32_t i = 0; i < v.type.rank; i++) axes[i] = true, n = size_mul(b->w, n, v.type.axis[i].size);
  if (!v.type.rank) return v;
  v = val_reduce(b, v, SUM, axes);
  val_settle(b, &v);
  Val pair[2] = {v, val_size(b, n, span)};
  return val_fn(b, FN_div, pair, 2, span, NULL);
}

// A weight must belong to a learner: otherwise two goals would train two copies.
static bool owned(Body *b, Span span) {
  for (uint32_t i = 0; i < b->d->param.n; i++) {
    const Param *p = &b->d->param.at[i];
    if (p->rooted || p->role == ROLE_CONST) continue;
    Span at = b->param_site.at[i] ? b->site.at[b->param_site.at[i] - 1].use->span : span;
    Id e = diag_error(b->w->diags, at, "this box has a weight, %s, that belongs to no learner", p->path);
    diag_help(b->w->diags, e, "write `learn f = …` and use f: a learner is one thing, a box is a pattern");
    return false;
  }
  return true;
}

static bool goal_output(Body *b, Value v, double factor, Span span) {
  if (v.n != 1 || v.at[0].error) {
    if (v.n != 1) diag_error(b->w->diags, span, "a distance is one number, but this gives %u wires", v.n);
    return false;
  }
  Val one = v.at[0];
  if (one.literal) one = val_fill(b, one, (Type){.base = BASE_R});
  if (one.type.base == BASE_BIT) { // over bits a loss is counted
    val_settle(b, &one);
    one = val_fn(b, FN_number, &one, 1, span, NULL);
  }
  if (one.type.base != BASE_R) {
    diag_error(b->w->diags, span, "a loss is a real number, but this is %s", own_text(b->w, &one.type));
    return false;
  }
  one = mean_of_all(b, one, span);
  if (factor != 1) {
    Val pair[2] = {one, val_literal(b, factor, span)};
    one = val_fn(b, FN_mul, pair, 2, span, NULL);
  }
  Id wire = val_to_wire(b, &one, b->d->name);
  if (!wire) return false;
  diagram_output(b->w, b->d, wire);
  vec_push(b->w->arena, &b->out_type, b->d->wire.at[wire].type);
  body_finish(b);
  return owned(b, span);
}

static Ids fields_of(Body *b) {
  Ids fields = {0};
  for (uint32_t i = 0; i < table_count(b->fields); i++) {
    Id id;
    memcpy(&id, table_key(b->fields, i, NULL), sizeof id);
    vec_push(b->w->arena, &fields, id);
  }
  return fields;
}

static bool goal_value(Body *b, const Node *claim, const Node *by, Span span, const char **distance, Value *out) {
  if (claim->kind != N_EQUAL) {
    const Node *e = claim->kind == N_MAXIMISE || claim->kind == N_MINIMISE ? claim->kid[0] : claim;
    *out = eval_alone(b, b->env, e);
    if (by) diag_error(b->w->diags, by->span, "`by` compares two sides, and there is only one here");
    return true;
  }
  Value left = eval_alone(b, b->env, claim->kid[0]), right = eval_alone(b, b->env, claim->kid[1]);
  if (!balance(b, &left, &right, claim->span)) return false;
  *out = distance_value(b, by, left, right, claim->span.file == span.file && !by ? claim->span : span, distance);
  return true;
}

// -- who is trained -------------------------------------------------------------------------------
static void add_closure(Infer *in, Scope *s, const Node *n, Ids *out);

static void add_learner(Infer *in, Def *d, Ids *out) {
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i] == d->id) return;
  vec_push(in->w->arena, out, d->id);
  if (d->kind == DEF_STALE) return;
  if (d->node->kid[4]) add_closure(in, d->scope, d->node->kid[4], out);
  if (d->refined) add_closure(in, d->scope, d->refined->kid[1], out);
}

// Every learner that a text mentions, through boxes and other learners.
static void add_closure(Infer *in, Scope *s, const Node *n, Ids *out) {
  if (!n) return;
  if (n->kind == N_NAME) {
    Def *d = scope_find(s, n->name);
    if (d && d->kind == DEF_LEARNER) add_learner(in, d, out);
    if (d && d->kind == DEF_BOX && d->scope->library && d->visited != in->closure) {
      d->visited = in->closure;
      add_closure(in, d->scope, d->node->kid[3], out);
    }
  }
  for (uint32_t i = 0; i < n->nkid; i++) add_closure(in, s, n->kid[i], out);
}

// A learner, and every other one that its text mentions.
static void add_whole_learner(Infer *in, Def *d, Ids *out) {
  in->closure++;
  add_learner(in, d, out);
}

// Does this param belong to the learner (or to this member of the family)?
static bool belongs(World *w, const Param *p, const Def *d, const char *member) {
  const char *name = name_text(w->names, d->name);
  size_t n = strlen(name), m = member ? strlen(member) : 0;
  if (!p->rooted || strncmp(p->path, name, n) != 0) return false;
  if (m && strncmp(p->path + n, member, m) != 0) return false;
  char end = p->path[n + m];
  return end == 0 || end == '/' || (end == '.' && d->node->kid[1] && !m);
}

static bool among(Infer *in, const Param *p, const Ids *learners) {
  for (uint32_t i = 0; i < learners->n; i++)
    if (belongs(in->w, p, in->def.at[learners->at[i]], NULL)) return true;
  return false;
}

static const char *target_member(Infer *in, Body *b, const Node *target, const Def *d) {
  if (target->kind != N_AT) return NULL;
  if (d->node->kid[1]) return family_member(b, b->env, d->node, target->kid[1]);
  diag_error(in->w->diags, target->span, "`%s` is not a family", name_text(in->w->names, d->name));
  return NULL;
}

static void who_trains(Infer *in, Program *p, Body *b, Goal *g, bool *doubtful) {
  World *w = in->w;
  const Node *trains = clause(g->node, N_TRAINS);
  uint32_t n = b->d->param.n;
  g->trains = NEW_ARRAY(w->arena, bool, n + 1);
  for (uint32_t i = 0; i < n && !trains; i++) g->trains[i] = b->d->param.at[i].role == ROLE_WEIGHT;
  for (uint32_t k = 0; trains && k < trains->nkid; k++) {
    Def *d = learner_named(in, p->acting, trains->kid[k]);
    if (!d) continue;
    if (d->kind == DEF_STALE) {
      diag_error(w->diags, trains->kid[k]->span, "`%s` is a stale copy: nothing trains it", name_text(w->names, d->name));
      continue;
    }
    Ids closure = {0};
    add_whole_learner(in, d, &closure);
    vec_push(w->arena, &g->targets, d->id);
    const char *member = target_member(in, b, trains->kid[k], d);
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
      const Param *param = &b->d->param.at[i];
      if (param->role != ROLE_WEIGHT) continue;
      bool mine = member ? belongs(w, param, d, member) : among(in, param, &closure);
      g->trains[i] |= mine;
      any |= mine;
    }
    if (!any) diag_warning(w->diags, trains->kid[k]->span, "`%s` does not occur in this goal, so the goal cannot train it", name_text(w->names, d->name));
    else if (d->frozen) diag_warning(w->diags, trains->kid[k]->span, "`%s` is frozen: nothing trains it", name_text(w->names, d->name));
    if (!any || d->frozen) *doubtful = true;
  }
  Ids frozen = {0};
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->frozen) add_whole_learner(in, p->learner.at[i], &frozen);
  for (uint32_t i = 0; i < n; i++)
    if (g->trains[i] && among(in, &b->d->param.at[i], &frozen)) g->trains[i] = false;
}

static void do_goal(Infer *in, Program *p, const Node *n, Env *loop, const char *suffix) {
  World *w = in->w;
  Goal g = {.name = n->name, .node = n, .span = n->span, .weight = 1, .sign = n->kid[0]->kind == N_MAXIMISE ? -1 : 1};
  Name name = n->name ? n->name : name_from(w->names, arena_format(w->arena, "goal%u", p->goal.n + 1));
  if (suffix) name = name_from(w->names, arena_format(w->arena, "%s%s", name_text(w->names, name), suffix));
  g.name = name;
  const Node *times = clause(n, N_TIMES), *by = clause(n, N_BY);
  in->training = true;
  Body *b = goal_body(in, p, name);
  if (loop) loop->body = b, loop->scope = p->acting, b->env = loop;
  if (times && !static_number(b, b->env, times->kid[0], &g.weight)) diag_error(w->diags, times->span, "`times` wants a number that is known beforehand");
  Value v;
  uint32_t errors = w->diags->errors;
  bool good = goal_value(b, n->kid[0], by, n->span, &g.distance, &v) && goal_output(b, v, g.sign * g.weight, by ? by->kid[0]->span : n->span);
  in->training = false;
  if (good && w->diags->errors == errors) {
    g.diagram = b->d;
    g.fields = fields_of(b);
    bool any = false, doubtful = false;
    who_trains(in, p, b, &g, &doubtful);
    if (doubtful) in->doubtful = true;
    for (uint32_t i = 0; i < b->d->param.n; i++) any |= g.trains[i];
    if (!any && !doubtful && w->diags->errors == errors) diag_warning(w->diags, n->name ? n->name_span : n->span, "this goal moves no learner");
  }
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (n->name && p->goal.at[i].name == name && p->goal.at[i].node != n) {
      Id e = diag_error(w->diags, n->name_span, "there are two goals `%s`", name_text(w->names, name));
      diag_note(w->diags, e, p->goal.at[i].node->name_span, "the other one");
    }
  vec_push(w->arena, &p->goal, g);
}

static const Goal *goal_named(const Program *p, Name name) {
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (p->goal.at[i].name == name) return &p->goal.at[i];
  return NULL;
}

static void do_measure(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  Measure m = {.name = n->name, .node = n, .span = n->span};
  const Node *claim = n->kid[0], *by = clause(n, N_BY), *on = clause(n, N_ON);
  if (claim->kind == N_NAME) {
    const Goal *g = goal_named(p, claim->name);
    if (g) {
      claim = g->node->kid[0]; // the goal's two sides again
      if (!by) by = clause(g->node, N_BY);
      if (!m.name) m.name = g->name;
    } else if (strcmp(name_text(w->names, claim->name), "exploitability") == 0) {
      m.name = claim->name;
      vec_push(w->arena, &p->measure, m);
      return;
    } else if (by && !scope_find(p->acting, claim->name)) {
      VEC(const char *) names = {0};
      for (uint32_t i = 0; i < p->goal.n; i++) vec_push(w->arena, &names, name_text(w->names, p->goal.at[i].name));
      const char *near = nearest_name(name_text(w->names, claim->name), names.at, names.n);
      Id e = diag_error(w->diags, claim->span, "there is no goal `%s` to measure by another distance", name_text(w->names, claim->name));
      if (near) diag_help(w->diags, e, "did you mean `%s`?", near);
      return;
    }
  }
  if (on) {
    Given g = {0};
    Name field;
    const Node *config = NULL;
    const char *type, *name = NULL;
    if (read_source(in, p->acting, on->kid[0], &g, &field, &config) && field && g.set) {
      const char *set = name_text(w->names, g.set);
      for (uint32_t k = 0; (name = data_field(set, k, &type)) && strcmp(name, name_text(w->names, field));) k++;
      if (!name) no_such_field(in, set, field, on->kid[0], on->span, true);
    }
  }
  Body *b = goal_body(in, p, m.name ? m.name : name_from(w->names, arena_format(w->arena, "measure%u", p->measure.n + 1)));
  m.name = b->d->name;
  const char *distance;
  Value v;
  uint32_t errors = w->diags->errors;
  bool good = goal_value(b, claim, by, n->span, &distance, &v) && goal_output(b, v, 1, n->span);
  if (good && w->diags->errors == errors) m.diagram = b->d, m.fields = fields_of(b);
  vec_push(w->arena, &p->measure, m);
}

// -- train and show -------------------------------------------------------------------------------
// A setting of an optimiser is one number, perhaps one that changes with the step.
static void check_setting(Infer *in, Program *p, const Node *n) {
  if (n->kind == N_CMP && n->op[0] == '=' && n->kid[0]->kind == N_NAME) {
    diag_error(in->w->diags, n->span, "a setting is given with a colon: `%s: …`", name_text(in->w->names, n->kid[0]->name));
    return;
  }
  Body *b = body_new(in, name_from(in->w->names, "setting"));
  b->env = env_new(in, NULL, p->scope, b);
  Value v = eval_alone(b, b->env, n);
  if (v.n == 1 && !v.at[0].error && (v.at[0].type.rank || v.at[0].type.base != BASE_R))
    diag_error(in->w->diags, n->span, "a setting is one number, but this is %s", own_text(in->w, &v.at[0].type));
}

static void check_optimiser(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  const Node *base = n;
  while (base->kind == N_CALL || base->kind == N_AT) base = base->kid[0];
  static const char *const words[] = {"batch", "clip", "seed", "turns", "accumulate", "patience", "decay"};
  if (base->kind != N_NAME) return;
  const char *text = name_text(w->names, base->name);
  Def *d = scope_find(p->scope, base->name);
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (strcmp(text, words[i]) == 0) return;
  if (d && d->kind == DEF_OPTIMISER) {
    const Node *params = d->node->kid[0];
    for (uint32_t i = 1; n->kind == N_CALL && i < n->nkid; i++) {
      bool found = n->kid[i]->kind != N_ARG && params && i - 1 < params->nkid;
      for (uint32_t k = 0; n->kid[i]->kind == N_ARG && params && k < params->nkid; k++) found |= params->kid[k]->name == n->kid[i]->name;
      if (found) {
        check_setting(in, p, n->kid[i]->kind == N_ARG ? n->kid[i]->kid[0] : n->kid[i]);
        continue;
      }
      VEC(const char *) names = {0};
      Buf all = buf_new(w->arena);
      uint32_t count = params ? params->nkid : 0;
      for (uint32_t k = 0; k < count; k++) {
        vec_push(w->arena, &names, name_text(w->names, params->kid[k]->name));
        buf_printf(&all, "%s%s", k ? ", " : "", names.at[k]);
      }
      bool named = n->kid[i]->kind == N_ARG;
      const char *wrong = named ? name_text(w->names, n->kid[i]->name) : "", *near = named ? nearest_name(wrong, names.at, names.n) : NULL;
      Id e = named ? diag_error(w->diags, n->kid[i]->name_span.file ? n->kid[i]->name_span : n->kid[i]->span, "optimiser `%s` has no setting `%s`", text, wrong)
                   : diag_error(w->diags, n->kid[i]->span, count ? "optimiser `%s` has only %u %s" : "optimiser `%s` has no settings", text, count, count == 1 ? "setting" : "settings");
      if (count) diag_help(w->diags, e, "%s%s%sits setting%s %s", near ? "did you mean `" : "", near ? near : "", near ? "`? " : "", count == 1 ? " is" : "s are", all.at);
      diag_note(w->diags, e, d->span, "declared here");
    }
    return;
  }
  if (d && d->broken) return;
  if (d) {
    Id e = diag_error(w->diags, base->span, "`%s` is not an optimiser", text);
    diag_note(w->diags, e, d->span, "declared here");
    return;
  }
  Body b = {.in = in, .w = w};
  unknown_name(&b, env_new(in, NULL, p->scope, &b), base, "optimiser or setting");
}

static void do_train(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  const char *unit = name_text(w->names, n->name);
  if (strcmp(unit, "epochs") && strcmp(unit, "epoch") && strcmp(unit, "steps") && strcmp(unit, "step") && strcmp(unit, "pass") && strcmp(unit, "passes"))
    diag_error(w->diags, n->name_span.file ? n->name_span : n->span, "training lasts a number of `epochs` or `steps`, not `%s`", unit);
  for (uint32_t i = 2; i < n->nkid; i++) {
    const Node *o = n->kid[i];
    if (o->kind == N_ARG) {
      Node name = {.kind = N_NAME, .name = o->name, .span = o->name_span, .name_span = o->name_span};
      learner_named(in, p->scope, &name);
      check_optimiser(in, p, o->kid[0]);
    } else if (o->kind == N_OPTION) {
      check_optimiser(in, p, o->kid[0]);
    }
  }
  vec_push(w->arena, &p->train, n);
}

// -- the whole ------------------------------------------------------------------------------------
static void do_loop(Infer *in, Program *p, const Node *n) {
  World *w = in->w;
  Body b = {.in = in, .w = w};
  Env *env = env_new(in, NULL, p->acting, &b);
  const Node *range = n->kid[0];
  if (range->kind != N_RANGE) {
    diag_error(w->diags, range->span, "a loop over goals runs over a range, `0..3`");
    return;
  }
  int64_t from, to;
  Size low = size_eval(&b, env, range->kid[0], false), high = size_eval(&b, env, range->kid[1], false);
  if (!low || !high) return;
  if (!size_value(w, low, &from) || !size_value(w, high, &to) || (to > from && (uint64_t)to - (uint64_t)from > 10000)) {
    diag_error(w->diags, range->span, "how far this loop runs must be a number below 10000");
    return;
  }
  for (int64_t k = from; k <= to; k++)
    for (uint32_t i = 0; i < n->kid[1]->nkid; i++) {
      Env *turn = env_new(in, NULL, p->acting, &b);
      env_bind(turn, n->name, (Binding){.kind = BIND_LOOP, .size = size_of(w, k), .span = n->name_span});
      if (n->kid[1]->kid[i]->kind == N_GOAL) do_goal(in, p, n->kid[1]->kid[i], turn, arena_format(w->arena, ".%lld", (long long)k));
      else diag_error(w->diags, n->kid[1]->kid[i]->span, "a loop at the top of a program holds goals");
    }
}

static void do_freeze(Infer *in, Scope *s, const Node *n) {
  for (uint32_t i = 0; i < n->kid[0]->nkid; i++) {
    Def *d = learner_named(in, s, n->kid[0]->kid[i]);
    if (d) d->frozen = true;
  }
}

static void prepare(Infer *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < s->tree->nkid; i++) {
    const Node *n = s->tree->kid[i];
    switch (n->kind) {
    case N_REFINE: do_refine(in, s, n); break;
    case N_FREEZE: do_freeze(in, s, n); break;
    case N_STALE: do_stale(in, s, n); break;
    case N_GIVEN: do_given(in, p, s, n); break;
    case N_LATER: p->later++; break;
    default: break;
    }
  }
}

// The names in a sum of constants, which is worked out only where it is used.
static void check_names(Infer *in, Scope *s, const Node *n) {
  Body b = {.in = in, .w = in->w};
  if (n->kind == N_NAME && !scope_find(s, n->name) && strcmp(name_text(in->w->names, n->name), "inf") && !is_box(&b, env_new(in, NULL, s, &b), n))
    unknown_name(&b, env_new(in, NULL, s, &b), n, "wire or value");
  bool sum = n->kind == N_SUM || n->kind == N_PROD || n->kind == N_NEG || n->kind == N_POW || n->kind == N_PAREN;
  for (uint32_t i = 0; sum && i < n->nkid; i++) check_names(in, s, n->kid[i]);
}

static void check_boxes(Infer *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < table_count(s->names); i++) {
    Def *d = in->def.at[table_value(s->names, i)];
    if (d->kind == DEF_AXIS) axis_size(in, d);
    if (d->kind == DEF_SPACE) {
      Body b = {.in = in, .w = in->w};
      Types t = {0};
      types_eval(&b, env_new(in, NULL, d->scope, &b), d->node->kid[0], false, &t, NULL);
    }
    if (d->kind == DEF_BOX) vec_push(in->w->arena, &p->box, d);
    if (d->kind == DEF_LEARNER || d->kind == DEF_STALE) vec_push(in->w->arena, &p->learner, d);
    if (d->kind == DEF_CONST && !d->broken) {
      uint32_t before = in->w->diags->errors;
      if (d->node->kid[2]) check_names(in, d->scope, d->node->kid[2]);
      if (in->w->diags->errors > before) d->broken = true;
    }
    if (d->kind == DEF_OPTIMISER && !d->broken) { // on a weight with two axes
      Axis axis[2];
      for (uint32_t k = 0; k < 2; k++) {
        Name name = name_from(in->w->names, k ? "b" : "a");
        axis[k] = (Axis){.label = name, .size = size_var(in->w, name, VAR_LOCAL, d->span)};
      }
      infer_optimiser(in, p, name_text(in->w->names, d->name), type_make(in->w, BASE_R, 2, axis));
    }
    if (d->kind != DEF_BOX || d->broken) continue;
    uint32_t errors = in->w->diags->errors;
    instance_alone(in, d, NULL, NULL, NULL);
    if (in->w->diags->errors > errors) d->broken = true;
  }
}

void infer_library(Infer *in, void (*each)(void *, const Def *, Diagram *), void *context) {
  for (uint32_t i = 1; i < in->def.n; i++) {
    Def *d = in->def.at[i];
    if (d->kind != DEF_BOX || d->scope != in->library) continue;
    Body *b = instance_alone(in, d, NULL, NULL, NULL);
    if (b) diagram_zonk(in->w, b->d);
    each(context, d, b ? b->d : NULL);
  }
}

static void check_learners(Infer *in, Program *p) {
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Def *d = p->learner.at[i];
    if (d->broken || d->kind == DEF_STALE) continue;
    uint32_t errors = in->w->diags->errors;
    if (learner_has_input(d)) {
      instance_alone(in, d, d->node->kid[1] ? ".0" : NULL, NULL, NULL);
    } else {
      Body *b = body_new(in, d->name);
      b->env = env_new(in, NULL, d->scope, b);
      learner_weight(b, b->env, d, NULL, d->node->kid[1] ? ".0" : NULL, d->span);
    }
    if (in->w->diags->errors > errors) d->broken = true;
  }
}

static bool hidden(const Program *p, const Node *goal) { // the file itself has a goal of that name
  for (uint32_t i = 0; i < p->tree->nkid; i++)
    if (goal->name && p->tree->kid[i]->kind == goal->kind && p->tree->kid[i]->name == goal->name && p->tree->kid[i] != goal) return true;
  return false;
}

// The goals and measures of used files count too: a file that uses another and refines a learner of it trains by its goals.
static void act(Infer *in, Program *p, uint32_t first) {
  for (uint32_t k = in->scope.n; k-- > first;) {
    p->acting = in->scope.at[k];
    const Node *tree = p->acting->tree;
    for (uint32_t i = 0; i < tree->nkid; i++) {
      if (tree->kid[i]->kind == N_GOAL && !(tree != p->tree && hidden(p, tree->kid[i]))) do_goal(in, p, tree->kid[i], NULL, NULL);
      if (tree->kid[i]->kind == N_FOR) do_loop(in, p, tree->kid[i]);
    }
    for (uint32_t i = 0; i < tree->nkid; i++)
      if (tree->kid[i]->kind == N_MEASURE && !(tree != p->tree && hidden(p, tree->kid[i]))) do_measure(in, p, tree->kid[i]);
  }
  for (uint32_t i = 0; i < p->tree->nkid; i++) {
    if (p->tree->kid[i]->kind == N_TRAIN) do_train(in, p, p->tree->kid[i]);
    if (p->tree->kid[i]->kind == N_SHOW) vec_push(in->w->arena, &p->show, p->tree->kid[i]);
  }
}

// Equations between sizes that waited for others.
static void settle_sizes(Infer *in) {
  World *w = in->w;
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < in->open.n; i++) {
      Open *o = &in->open.at[i];
      if (!o->what) continue;
      SizeAnswer a = size_equate(w, o->left, o->right, false);
      if (a == SIZES_OPEN) continue;
      if (a == SIZES_CLASH) {
        Id e = diag_error(w->diags, o->span, "sizes disagree for %s: %s and %s", o->what, size_text(w, o->left), size_text(w, o->right));
        if (o->other.at != o->span.at) diag_note(w->diags, e, o->other, "the other place");
      }
      o->what = NULL;
      moved = true;
    }
  }
  for (uint32_t i = 0; i < in->open.n; i++) {
    const Open *o = &in->open.at[i];
    Ids vars = {0};
    if (!o->what) continue;
    size_vars(w, o->left, &vars);
    size_vars(w, o->right, &vars);
    Buf names = buf_new(w->arena);
    for (uint32_t k = 0; k < vars.n; k++) buf_printf(&names, "%s%s", k ? " and " : "", name_text(w->names, size_var_name(w, vars.at[k])));
    Id e = diag_error(w->diags, o->span, "the sizes %s and %s must be equal here, which does not settle %s", size_text(w, o->left), size_text(w, o->right), names.at);
    if (vars.n) diag_note(w->diags, e, size_var_span(w, vars.at[0]), "%s is not known", name_text(w->names, size_var_name(w, vars.at[0])));
  }
}

static void unsolved_sizes(Infer *in, const Program *p) { // a learner that is trained has numbers for sizes
  World *w = in->w;
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const Diagram *d = p->goal.at[g].diagram;
    for (uint32_t i = 0; d && i < d->param.n; i++) {
      const Type *t = &d->wire.at[d->param.at[i].wire].type;
      for (uint32_t k = 0; k < t->rank; k++) {
        Ids vars = {0};
        size_vars(w, t->axis[k].size, &vars);
        if (!vars.n) continue;
        Id e = diag_error(w->diags, p->goal.at[g].node->name ? p->goal.at[g].node->name_span : p->goal.at[g].span, "the size %s of weight %s is not settled by anything", size_text(w, t->axis[k].size), d->param.at[i].path);
        diag_note(w->diags, e, size_var_span(w, vars.at[0]), "how large %s is must be said or follow", name_text(w->names, size_var_name(w, vars.at[0])));
        return; // the others follow from it
      }
    }
  }
}

static void idle_learners(Infer *in, const Program *p) {
  World *w = in->w;
  if (!p->goal.n) return;
  for (uint32_t i = 0; i < p->learner.n; i++) {
    const Def *d = p->learner.at[i];
    if (d->kind != DEF_LEARNER || d->frozen || d->scope != p->scope || d->broken) continue;
    bool moved = false, has = false;
    for (uint32_t g = 0; g < p->goal.n && !moved; g++) {
      const Diagram *diagram = p->goal.at[g].diagram;
      if (!diagram) return; // errors have been said
      for (uint32_t k = 0; k < diagram->param.n; k++) {
        if (!belongs(w, &diagram->param.at[k], d, NULL)) continue;
        has = true;
        moved |= p->goal.at[g].trains[k];
      }
    }
    Ids own = {0};
    add_whole_learner(in, (Def *)d, &own);
    if (!moved && !(own.n > 1 && !has)) diag_warning(w->diags, d->span, "no goal moves learner `%s`", name_text(w->names, d->name));
  }
}

static void zonk_all(World *w) {
  for (Id i = 1; i < w->diagram.n; i++) diagram_zonk(w, w->diagram.at[i]);
}

Program *infer_program(Infer *in, const char *path, const char *text, size_t n) {
  World *w = in->w;
  Program *p = NEW(w->arena, Program);
  in->program = p;
  in->sample = size_var(w, name_from(w->names, "batch"), VAR_SAMPLE, (Span){0});
  uint32_t first = in->scope.n;
  p->scope = scope_load(in, path, text, n, in->library);
  p->tree = p->scope->tree;
  for (uint32_t i = in->scope.n; i-- > first + 1;) prepare(in, p, in->scope.at[i]);
  prepare(in, p, p->scope);
  for (uint32_t i = in->scope.n; i-- > first;) check_boxes(in, p, in->scope.at[i]);
  check_learners(in, p);
  act(in, p, first);
  settle_sizes(in);
  if (!w->diags->errors) unsolved_sizes(in, p);
  if (!w->diags->errors && !in->doubtful) idle_learners(in, p);
  zonk_all(w);
  return p;
}

// -- one thing of it ------------------------------------------------------------------------------
const char *infer_names(Infer *in, Program *p, const char *near) {
  World *w = in->w;
  VEC(const char *) all = {0};
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->kind == DEF_BOX || in->def.at[i]->kind == DEF_LEARNER) vec_push(w->arena, &all, name_text(w->names, in->def.at[i]->name));
  for (uint32_t i = 0; i < p->goal.n; i++) vec_push(w->arena, &all, name_text(w->names, p->goal.at[i].name));
  for (uint32_t i = 0; i < p->measure.n; i++) vec_push(w->arena, &all, name_text(w->names, p->measure.at[i].name));
  return nearest_name(near, all.at, all.n);
}

Diagram *infer_diagram(Infer *in, Program *p, const char *name, const Instance *how) {
  World *w = in->w;
  Name id = name_from(w->names, name);
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (p->goal.at[i].name == id) return p->goal.at[i].diagram;
  for (uint32_t i = 0; i < p->measure.n; i++)
    if (p->measure.at[i].name == id) return p->measure.at[i].diagram;
  Def *d = scope_find(p->scope, id);
  if (!d || (d->kind != DEF_BOX && d->kind != DEF_LEARNER && d->kind != DEF_STALE)) return NULL;
  uint32_t errors = w->diags->errors;
  in->training = how && how->training;
  Body *b;
  if (learner_has_input(d) || d->kind == DEF_BOX) {
    const char *member = d->kind == DEF_LEARNER && d->node->kid[1] ? ".0" : NULL;
    b = instance_alone(in, d, member, NULL, how);
    if (b && d->kind != DEF_BOX && !(how && how->nin) && b->d->in.n) { // as it is used: its weights begin with its name
      Type *types = NEW_ARRAY(w->arena, Type, b->d->in.n);
      for (uint32_t i = 0; i < b->d->in.n; i++) types[i] = b->d->wire.at[b->d->in.at[i]].type;
      Instance use = {.training = in->training, .nin = b->d->in.n, .in = types};
      b = instance_alone(in, d, member, NULL, &use);
    }
  } else {
    b = body_new(in, id);
    b->env = env_new(in, NULL, d->scope, b);
    Value v = learner_weight(b, b->env, d, NULL, d->node->kid[1] ? ".0" : NULL, d->span);
    Id wire = v.at[0].error ? 0 : val_to_wire(b, &v.at[0], 0);
    if (wire) diagram_output(w, b->d, wire);
    body_finish(b);
  }
  in->training = false;
  settle_sizes(in);
  zonk_all(w);
  if (!b && w->diags->errors == errors) diag_error(w->diags, d->span, "`%s` cannot be looked at for itself: its inputs' types are not known without a use", name);
  return b && w->diags->errors == errors ? b->d : NULL;
}

// -- optimisers -----------------------------------------------------------------------------------
static void optimiser_states(Body *b, Env *env, const Node *n, const Type *t) {
  for (uint32_t i = 0; i < n->nkid; i++) {
    const Node *typed = n->kid[i];
    double k = 0;
    if (typed->kid[2] && !static_number(b, env, typed->kid[2], &k)) diag_error(b->w->diags, typed->kid[2]->span, "a state of an optimiser starts as a number");
    Param p = {.path = name_text(b->w->names, typed->name), .role = ROLE_BUFFER, .init = {.kind = INIT_CONST, .k = k}};
    uint32_t at = diagram_param(b->w, b->d, p, *t, typed->name, origin_at(b, typed->span));
    vec_push(b->w->arena, &b->param_site, 0);
    Val v = val_wire(b, b->d->param.at[at].wire, typed->span);
    env_bind(env, typed->name, (Binding){.kind = BIND_STATE, .value = value_one(b, v), .param = at, .span = typed->name_span});
  }
}

static Id optimiser_step(Body *b, Env *env, const Node *n, const Type *t) {
  World *w = b->w;
  Binding *bind = env_find(env, n->name);
  bool weight = strcmp(name_text(w->names, n->name), "p") == 0;
  if (!weight && (!bind || bind->kind != BIND_STATE)) {
    if (bind && bind->kind == BIND_VALUE && bind->value.n && bind->value.at[0].error) return 0;
    Id e = diag_error(w->diags, n->name_span, "there is no state `%s` in this optimiser", name_text(w->names, n->name));
    diag_help(w->diags, e, "`state %s = 0` declares one", name_text(w->names, n->name));
    if (!bind) env_bind(env, n->name, (Binding){.kind = BIND_VALUE, .value = value_error(b, n->span), .span = n->name_span});
    return 0;
  }
  Value v = eval_equation(b, env, n->kid[0], n->kid[1], NULL, t, n->span);
  if (v.n != 1 || v.at[0].error) return 0;
  Val one = val_fill(b, v.at[0], *t);
  val_settle(b, &one);
  if (one.type.rank < t->rank) { // a number for all: spread out
    Val pair[2] = {one, val_fill(b, val_literal(b, 0, n->span), *t)};
    one = val_fn(b, FN_add, pair, 2, n->span, NULL);
  }
  Id wire = val_to_wire(b, &one, 0);
  bind = env_find(env, n->name);
  bind->next = value_one(b, one);
  if (weight) return wire;
  b->d->param.at[bind->param].next = wire;
  return 0;
}

Diagram *infer_optimiser(Infer *in, Program *p, const char *name, Type t) {
  World *w = in->w;
  Name id = name_from(w->names, name);
  Def *d = scope_find(p->scope, id);
  if (!d || d->kind != DEF_OPTIMISER) return NULL;
  Body *b = body_new(in, id);
  Env *env = env_new(in, NULL, d->scope, b);
  b->env = env;
  b->generic = true;
  uint32_t errors = w->diags->errors;
  const Node *params = d->node->kid[0], *block = d->node->kid[1];
  for (uint32_t i = 0; params && i < params->nkid; i++)
    env_bind(env, params->kid[i]->name, (Binding){.kind = BIND_VALUE, .value = eval_alone(b, env, params->kid[i]->kid[0]), .span = params->kid[i]->span});
  Val weight = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "p"), 0), d->span);
  Val grad = val_wire(b, diagram_input(w, b->d, t, name_from(w->names, "grad"), 0), d->span);
  env_bind(env, name_from(w->names, "p"), (Binding){.kind = BIND_STATE, .value = value_one(b, weight), .span = d->span});
  env_bind(env, name_from(w->names, "grad"), (Binding){.kind = BIND_VALUE, .value = value_one(b, grad), .span = d->span});
  Id look = b->d->in.at[0], next = look;
  for (uint32_t i = 0; i < block->nkid; i++) {
    const Node *n = block->kid[i];
    for (uint32_t k = 0; n->kind == N_ERROR && k < n->nkid; k++)
      env_bind(env, n->kid[k]->name, (Binding){.kind = BIND_VALUE, .value = value_error(b, n->span), .span = n->span});
    if (n->kind == N_STATES) optimiser_states(b, env, n, &t);
    else if (n->kind == N_LOOK) {
      Value v = eval_alone(b, env, n->kid[0]);
      if (v.n == 1 && !v.at[0].error) look = val_to_wire(b, &v.at[0], 0);
    } else if (n->kind == N_STEP) {
      Id wire = optimiser_step(b, env, n, &t);
      if (wire) next = wire;
    }
  }
  diagram_output(w, b->d, look);
  diagram_output(w, b->d, next);
  body_finish(b);
  diagram_zonk(w, b->d);
  return w->diags->errors == errors ? b->d : NULL;
}
