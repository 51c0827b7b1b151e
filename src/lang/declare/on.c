// `on SET`: the samples of a measure or a show. The set is either a split of a given one, or
// another set that replaces all data: its fields are found by name and must have the same types.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/declare/fields.h"
#include "lang/declare/statements.h"

void read_on(Elab *in, Program *p, const Syntax *on, OnData *out) {
  Name field = 0;
  const Syntax *config = NULL;
  Given g = {0};
  *out = (OnData){.node = on};
  if (!read_source(in, p->acting, on_source(on), &g, &field, &config)) return;
  if (g.noise || config) {
    diag_error(in->w->diags, on_source(on)->span,
               "`on` names a set or a file, and perhaps a split: `on mnist.test`");
    return;
  }
  if (field) no_such_field(in, &g, field, on_source(on), on->span, true);
  out->set = g.set, out->split = g.split, out->path = g.path, out->beside = g.beside;
}

// One text may name different files in two folders, and one file may have several paths.
const char *given_source_key(World *w, const Given *g) {
  if (g->noise) return NULL;
  if (!g->path) return name_text(w->names, g->set);
  const char *path = data_file(w->arena, g->beside, g->path), *real = path_real(w->arena, path);
  return real ? real : path;
}

bool on_source_of(World *w, const OnData *on, const Given *g) {
  if (!on->path || !g->path) return !on->path && g->set && g->set == on->set;
  Given theirs = {.path = on->path, .beside = on->beside};
  return strcmp(given_source_key(w, g), given_source_key(w, &theirs)) == 0;
}

// -- fields of another set ------------------------------------------------------------------------
typedef struct {
  Elab *in;
  const Given *own, *theirs; // theirs: the same given, read from the other set
  DataFields here, there;
  Span span;
} FieldsMatch;

static bool says_differ(FieldsMatch *m, const char *name, const char *own, const char *theirs) {
  World *w = m->in->w;
  return diag_refuse(w->diags, m->span, "`%s` is %s in %s, but %s in %s", name, own,
                     data_title(w, m->own), theirs, data_title(w, m->theirs));
}

// Words are compared one by one, since some may be absent from the other set.
static bool words_fit(const FieldsMatch *m, const Field *own, const Field *theirs) {
  World *w = m->in->w;
  Table *known = table_new(w->arena);
  for (int64_t i = 0; i < own->labels; i++)
    table_put(known, own->label[i], strlen(own->label[i]), 1);
  for (int64_t i = 0; i < theirs->labels; i++)
    if (!table_get(known, theirs->label[i], strlen(theirs->label[i])))
      return diag_refuse(w->diags, m->span, "`%s` has the word `%s` in %s, which is none of %s's",
                         own->name, theirs->label[i], data_title(w, m->theirs),
                         data_title(w, m->own));
  return true;
}

static int64_t label_count(const FieldsMatch *m, const Field *own, const Type *t) {
  int64_t count = own->labels;
  if (t->base == BASE_LABEL) size_value(m->in->w, t->count, &count);
  return t->base == BASE_BIT && own->kind != FIELD_BIT ? 2 : count;
}

static bool labels_fit(const FieldsMatch *m, const Field *own, const Field *theirs, const Type *t) {
  int64_t count = label_count(m, own, t);
  if (own->kind == FIELD_REAL && t->base != BASE_R)
    return theirs->labels && theirs->labels <= count;
  if (own->kind != FIELD_LABEL || (own->label && theirs->label)) return true;
  return m->there.table ? theirs->labels <= count : theirs->labels == own->labels;
}

static bool one_field(FieldsMatch *m, const char *name, const Type *t) {
  World *w = m->in->w;
  const Field *own = data_find(&m->here, name), *theirs = data_find(&m->there, name);
  if (!theirs) {
    no_such_field(m->in, m->theirs, name_from(w->names, name), NULL, m->span, false);
    return false;
  }
  if (!own) return true; // a missing file
  bool same = own->kind == theirs->kind && own->rank == theirs->rank &&
              memcmp(own->shape, theirs->shape, own->rank * sizeof *own->shape) == 0;
  bool fits = same && labels_fit(m, own, theirs, t);
  bool beyond = !theirs->labels || theirs->labels > label_count(m, own, t);
  if (same && !fits && beyond && theirs->peak)
    return diag_refuse(w->diags, m->span, "`%s` is read as %s, but in %s, %s", name,
                       type_text(w, t), data_title(w, m->theirs), theirs->peak);
  if (!fits) {
    says_differ(m, name, field_type(w->arena, own), field_type(w->arena, theirs));
    if (theirs->mixed) diag_help(w->diags, w->diags->list.n - 1, "%s", theirs->mixed);
    return false;
  }
  bool named = t->base == BASE_LABEL && t->names; // named by the program, checked when it is read
  return named || own->kind != FIELD_LABEL || !own->label || !theirs->label ||
         words_fit(m, own, theirs);
}

// "a..d": each of the columns from a to d.
static bool run_of_columns(FieldsMatch *m, const char *name, const char *dots, const Type *t) {
  World *w = m->in->w;
  const Field *from = data_find(&m->here, arena_text(w->arena, name, (size_t)(dots - name))),
              *to = data_find(&m->here, dots + 2);
  for (const Field *f = from; f && to && f <= to; f++)
    if (f->kind == FIELD_REAL && !one_field(m, f->name, t)) return false;
  return true;
}

static bool field_matches(FieldsMatch *m, uint32_t i) {
  const char *name = name_text(m->in->w->names, m->own->column.at[i]), *dots = strstr(name, "..");
  if (strcmp(name, "index") == 0 && !data_find(&m->here, name))
    return diag_refuse(m->in->w->diags, m->span,
                       "the number of a sample in %s says nothing in another set",
                       data_title(m->in->w, m->own));
  const Type *t = &m->own->type.at[i];
  return dots ? run_of_columns(m, name, dots, t) : one_field(m, name, t);
}

static bool given_matches(Elab *in, const Program *p, const OnData *on, const Ids *fields,
                          uint32_t given) {
  const Given *own = &p->given.at[given];
  Given theirs = *own;
  theirs.set = on->set, theirs.path = on->path, theirs.beside = on->beside;
  theirs.node = on_source(on->node);
  FieldsMatch m = {.in = in, .own = own, .theirs = &theirs, .span = on_source(on->node)->span};
  if (!data_fields(in, own, &m.here) || !data_fields(in, &theirs, &m.there)) return false;
  if (m.there.absent) return diag_refuse(in->w->diags, m.span, "%s", m.there.absent);
  for (uint32_t i = 0; i < fields->n; i++) {
    const Def *d = in->def.at[fields->at[i]];
    if (d->given == given && !field_matches(&m, d->field)) return false;
  }
  return true;
}

void check_on(Elab *in, const Program *p, const Ids *fields, OnData *on) {
  bool any = false, same = false, *read = NEW_ARRAY(in->w->arena, bool, p->given.n + 1);
  if (!on->set && !on->path) return;
  for (uint32_t i = 0; i < fields->n; i++) {
    uint32_t k = in->def.at[fields->at[i]]->given;
    read[k] = !p->given.at[k].noise;
    any |= read[k];
    same |= on_source_of(in->w, on, &p->given.at[k]);
  }
  if (!any)
    diag_error(in->w->diags, on->node->span,
               "`on` says where samples come from, and this reads no data");
  on->other = any && !same;
  for (uint32_t k = 0; on->other && k < p->given.n; k++)
    if (read[k] && !given_matches(in, p, on, fields, k)) return;
}
