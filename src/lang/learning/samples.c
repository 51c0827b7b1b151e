// Samples of an index set. All edges from one index set read the same draw: their bodies mention
// its fields, `mnist.image` or `N.image`, and one `given` with all mentioned fields is synthesised.
//
// A field that is the whole body of an edge takes the shape of the space where the edge ends.
// Fields are declared in the order of the set, under its names, so that a hand-written `given`
// draws the same samples.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/declare/fields.h"
#include "lang/learning/learning_own.h"

#include <stdlib.h>

typedef struct {
  Name column; // 0: the sample itself, of noise
  Name key;    // its name inside the diagram
  Name space;  // the space whose type it is read as; 0: its own type
  uint32_t at; // position in the set
  Span span;
} SampleField;
typedef VEC(SampleField) Fields;

typedef struct {
  LearningReader *r;
  uint32_t vertex;
  const GraphSpace *space;
  Given given;
  DataFields data;
  Fields field;
  bool good;
} Sampling;

// -- mentioned fields -----------------------------------------------------------------------------
static const char *last_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : path;
}

// Does this denote the whole sample: N, mnist, mnist.train, "t.csv"?
static bool is_sample(const LearningReader *r, uint32_t vertex, const Syntax *n) {
  const Syntax *source = r->g->space.at[vertex].source;
  const char *own = last_name(r->g->graph->vertex.at[vertex].name);
  if (n->kind == N_NAME && !strcmp(name_text(r->w->names, n->name), own)) return true;
  if (tree_equal(n, source) || tree_equal(n, use_base(source))) return true;
  const Syntax *root = use_base(source);
  if (root->kind == N_DOT && is_split(name_text(r->w->names, root->name))) root = dot_base(root);
  return tree_equal(n, root);
}

// The field mentioned here; false: none.
static bool mentions(const LearningReader *r, uint32_t vertex, const Syntax *n, Name *column) {
  if (n->kind == N_DOT && is_sample(r, vertex, dot_base(n)) &&
      !is_split(name_text(r->w->names, n->name))) {
    *column = n->name;
    return true;
  }
  *column = 0;
  return (n->kind == N_NAME || n->kind == N_AT) && is_sample(r, vertex, n);
}

static bool is_noise(const Sampling *x) { return x->given.noise != NULL; }

static Name key_of(const LearningReader *r, uint32_t vertex, Name column, Name space) {
  const char *index = r->g->graph->vertex.at[vertex].name;
  Buf b = buf_new(r->w->arena);
  buf_text(&b, index);
  if (column) buf_printf(&b, ".%s", name_text(r->w->names, column));
  if (space) buf_printf(&b, " : %s", name_text(r->w->names, space));
  return name_from(r->w->names, b.at);
}

// An edge that is only a field reads it with the type of its end, if their bases fit.
static Name read_as(const Sampling *x, uint32_t edge, Name column) {
  LearningReader *r = x->r;
  uint32_t to = r->g->graph->edge.at[edge].to;
  const Def *d = r->g->space.at[to].def;
  Types t = {0};
  if (!d || d->broken || is_noise(x) || x->given.episodes.way) return 0;
  if (!space_points(r->in, (Def *)d, &t)) return 0;
  const Field *f = column ? data_find(&x->data, name_text(r->w->names, column)) : NULL;
  if (t.n != 1 || (!f && !x->data.absent && !x->data.table)) return 0;
  if (f && data_type(r->w, f).base != t.at[0].base && !(f->labels && t.at[0].base != BASE_R))
    return 0;
  if (f && x->given.bits) return 0;
  Type own = f ? data_type(r->w, f) : (Type){0};
  if (f && type_equal(r->w, &own, &t.at[0])) return 0; // unchanged
  return name_from(r->w->names, r->g->graph->vertex.at[to].name);
}

static uint32_t place_of(const Sampling *x, Name column) {
  const char *text = name_text(x->r->w->names, column);
  for (uint32_t i = 0; i < x->data.field.n; i++)
    if (strcmp(x->data.field.at[i].name, text) == 0) return i;
  return x->data.field.n;
}

static void add_field(Sampling *x, Name column, Name space, Span span) {
  Name key = key_of(x->r, x->vertex, column, space);
  for (uint32_t i = 0; i < x->field.n; i++)
    if (x->field.at[i].key == key) return;
  vec_push(x->r->w->arena, &x->field, (SampleField){column, key, space, place_of(x, column), span});
}

// Adds the query fields of an episode for its support fields.
static void add_asked(Sampling *x, GraphSpace *space) {
  enum { ASKED = EPISODE_FIELDS / 2 };
  Names *names = x->r->w->names;
  for (uint32_t k = 0; k < EPISODE_FIELDS; k++)
    space->task[k] = name_from(names, x->data.field.at[k].name);
  for (uint32_t i = 0, n = x->field.n; i < n; i++)
    if (x->field.at[i].at < ASKED)
      add_field(x, space->task[x->field.at[i].at + ASKED], 0, x->field.at[i].span);
}

static void foreign_data(Sampling *x, const Syntax *n, const Def *d) {
  LearningReader *r = x->r;
  Id e = diag_error(r->w->diags, n->span, "`%s` is another draw than `%s`",
                    name_text(r->w->names, n->name), r->g->graph->vertex.at[x->vertex].name);
  diag_note(r->w->diags, e, d->span, "given here");
  diag_help(r->w->diags, e, "an edge reads the fields of the index it begins in: `%s.…`",
            r->g->graph->vertex.at[x->vertex].name);
  x->good = false;
}

// Does it read a data set other than this index set?
static bool is_other_set(const Sampling *x, uint32_t edge, const Syntax *n) {
  if (n->kind != N_DOT) return false;
  n = path_root(n);
  return n->kind == N_NAME && !scope_meaning(x->r->g->edge.at[edge].home, n) &&
         set_is_known(name_text(x->r->w->names, n->name));
}

static void other_set(Sampling *x, const Syntax *n) {
  LearningReader *r = x->r;
  const char *index = last_name(r->g->graph->vertex.at[x->vertex].name);
  Id e =
      diag_error(r->w->diags, n->span, "this reads a sample of `%s`, which is another set", index);
  diag_note(r->w->diags, e, x->space->source->span, "this one");
  diag_help(r->w->diags, e, "`%s.%s` reads whatever set `%s` is", index,
            name_text(r->w->names, n->name), index);
  x->good = false;
}

static void bare_sample(Sampling *x, const Syntax *n) {
  LearningReader *r = x->r;
  Buf all = buf_new(r->w->arena);
  for (uint32_t i = 0; i < x->data.field.n && i < 8; i++)
    buf_printf(&all, "%s%s", i ? ", " : "", x->data.field.at[i].name);
  Id e = diag_error(r->w->diags, n->span, "which field of a sample of `%s`?",
                    r->g->graph->vertex.at[x->vertex].name);
  if (all.n) diag_help(r->w->diags, e, "it has %s%s", all.at, x->data.field.n > 8 ? ", …" : "");
  x->good = false;
}

static void collect_fields(Sampling *x, uint32_t edge, const Syntax *n, bool direct) {
  LearningReader *r = x->r;
  Name column;
  if (!n) return;
  if (mentions(r, x->vertex, n, &column)) {
    if (!column && !is_noise(x))
      bare_sample(x, n);
    else
      add_field(x, column, direct ? read_as(x, edge, column) : 0, n->span);
    return;
  }
  if (is_other_set(x, edge, n)) {
    other_set(x, n);
    return;
  }
  Def *d = n->kind == N_NAME ? scope_meaning(r->g->edge.at[edge].home, n) : NULL;
  if (d && d->kind == DEF_GIVEN) foreign_data(x, n, d);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    collect_fields(x, edge, syntax_parts(n).at[i], direct && n->kind == N_PAREN);
}

// -- the `given` ----------------------------------------------------------------------------------
static int by_place(const void *a, const void *b) {
  const SampleField *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return (x->space > y->space) - (x->space < y->space);
}

// Two index sets over one data set draw independently: the fields of the second are named after it.
static bool is_second(const Sampling *x) {
  const Learning *g = x->r->g;
  const Graph *graph = g->graph;
  const Vertex *own = &graph->vertex.at[x->vertex];
  for (uint32_t v = 0; v < graph->vertex.n; v++)
    if (graph->vertex.at[v].index && graph->vertex.at[v].what == own->what &&
        strcmp(graph->vertex.at[v].name, own->name) < 0)
      return true;
  return false;
}

static Syntax *param_of(Sampling *x, const SampleField *f, bool second) {
  Arena *a = x->r->w->arena;
  Names *names = x->r->w->names;
  Syntax *type = NULL;
  if (f->space)
    type = node_type(a, f->span, (TypeParts){.base = syntax_name(a, f->space, f->span)});
  Syntax *param = syntax_named(node_param(a, f->span, (ParamParts){.type = type}), f->key, f->span);
  Name plain = f->column ? f->column : name_from(names, last_name(name_text(names, f->key)));
  scope_add(x->r->g->inside, DEF_GIVEN, f->key, second ? f->key : plain, f->span, param);
  return param;
}

// In a table, a name that is not a column binds as many columns as its type has numbers.
static bool takes_columns(const Sampling *x, const SampleField *f) {
  return x->data.table && f->space && f->at == x->data.field.n;
}

static void make_given(Sampling *x) {
  LearningReader *r = x->r;
  Arena *a = r->w->arena;
  if (!x->field.n) return;
  qsort(x->field.at, x->field.n, sizeof *x->field.at, by_place);
  Name *column = NEW_ARRAY(a, Name, x->field.n);
  bool second = is_second(x);
  Nodes each = {x->field.n, NEW_ARRAY(a, Syntax *, x->field.n)};
  for (uint32_t i = 0; i < x->field.n; i++) {
    each.at[i] = param_of(x, &x->field.at[i], second);
    column[i] = takes_columns(x, &x->field.at[i]) ? 0 : x->field.at[i].column;
  }
  Syntax *params = node_params(a, x->space->span, (ParamsParts){each});
  Syntax *given = node_given(a, x->space->span, (GivenParts){params, (Syntax *)x->space->source});
  do_given(r->in, r->p, r->g->inside, given, column);
}

void index_given(LearningReader *r, uint32_t vertex) {
  GraphSpace *space = &r->g->space.at[vertex];
  Sampling x = {.r = r, .vertex = vertex, .space = space, .good = true};
  const Syntax *config = NULL;
  Name field;
  if (!read_source(r->in, x.space->home, x.space->source, &x.given, &field, &config) || field) {
    if (field)
      diag_error(r->w->diags, x.space->source->span,
                 "an index is a whole set: the edges that begin in it read its fields");
    r->g->broken = true;
    return;
  }
  x.given.node = space->source;
  source_options(r->in, space->home, config, &x.given);
  if (!is_noise(&x) && !data_fields(r->in, &x.given, &x.data)) {
    r->g->broken = true;
    return;
  }
  for (uint32_t e = 0; e < r->g->edge.n; e++)
    if (r->g->graph->edge.at[e].from == vertex && r->g->edge.at[e].body)
      collect_fields(&x, e, r->g->edge.at[e].body, true);
  if (!x.good) r->g->broken = true;
  if (x.good && x.given.episodes.way) add_asked(&x, space);
  uint32_t errors = r->w->diags->met;
  if (x.good) make_given(&x);
  if (r->w->diags->met > errors) r->g->broken = true;
}

// -- reads of an edge -----------------------------------------------------------------------------
bool index_has_tasks(const LearningReader *r, uint32_t vertex) {
  return r->g->space.at[vertex].task[0] != 0;
}

static Name asked_for(const GraphSpace *space, Name column) {
  enum { ASKED = EPISODE_FIELDS / 2 };
  for (uint32_t k = 0; k < ASKED; k++)
    if (column == space->task[k]) return space->task[k + ASKED];
  return column;
}

static Syntax *with_fields(LearningReader *r, uint32_t edge, const Syntax *n, bool direct,
                           bool asked) {
  uint32_t vertex = r->g->graph->edge.at[edge].from;
  Scope *home = r->g->edge.at[edge].home;
  Name column;
  if (!n) return NULL;
  if (mentions(r, vertex, n, &column)) {
    if (asked) column = asked_for(&r->g->space.at[vertex], column);
    uint32_t to = r->g->graph->edge.at[edge].to;
    Name space = name_from(r->w->names, r->g->graph->vertex.at[to].name),
         key = direct ? key_of(r, vertex, column, space) : 0;
    bool shaped = key && table_get(r->g->inside->names, &key, sizeof key);
    return syntax_name(r->w->arena, shaped ? key : key_of(r, vertex, column, 0), n->span);
  }
  if (n->kind == N_NAME) return copy_resolved(r->in, home, r->g->inside, n);
  Syntax *copy = syntax_copy(r->w->arena, n);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    syntax_put(copy, i,
               with_fields(r, edge, syntax_parts(n).at[i], direct && n->kind == N_PAREN, asked));
  return copy;
}

Syntax *index_read(LearningReader *r, uint32_t edge, bool asked) {
  return with_fields(r, edge, r->g->edge.at[edge].body, true, asked);
}
