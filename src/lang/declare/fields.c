// The fields of a data source, and their types. Named sets are built in; of a file that exists, the
// header is read; a file that does not exist must be described by the program.
#include "lang/declare/fields.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"

const char *data_title(World *w, const Given *g) {
  return g->path ? g->path : arena_format(w->arena, "set %s", name_text(w->names, g->set));
}

static void add_field(World *w, DataFields *d, const Field *f) {
  Field copy = *f;
  copy.name = name_text(w->names, name_from(w->names, f->name));
  if (f->label) { // part of the set's static data
    const char **word = NEW_ARRAY(w->arena, const char *, f->labels);
    for (int64_t i = 0; i < f->labels; i++) word[i] = arena_format(w->arena, "%s", f->label[i]);
    copy.label = word;
  }
  if (f->mixed) copy.mixed = arena_format(w->arena, "%s", f->mixed);
  if (f->peak) copy.peak = arena_format(w->arena, "%s", f->peak);
  vec_push(w->arena, &d->field, copy);
}

static bool file_fields(Elab *in, const Given *g, DataFields *out) {
  World *w = in->w;
  const char *why, *path = data_file(w->arena, g->beside, g->path);
  if (!path_exists(path)) {
    out->absent = arena_format(w->arena, "%s is not there", path);
    return true;
  }
  Set *s = set_open(w->arena, g->path,
                    &(SetOptions){.file = true, .beside = g->beside, .rights = w->sources->rights},
                    &why);
  if (!s) return diag_refuse(w->diags, g->node->span, "%s", why);
  for (uint32_t k = 0; k < set_fields(s); k++) add_field(w, out, set_field(s, k));
  for (Split split = 0; split < SPLITS; split++) out->rows += set_rows(s, split);
  out->table = set_is_table(s);
  set_close(s);
  return true;
}

static bool as_episodes(Elab *in, const Given *g, DataFields *out) {
  Field field[EPISODE_FIELDS];
  if (!episode_fields(&g->episodes, out->field.at, out->field.n, field))
    return diag_refuse(in->w->diags, g->node->span,
                       "episodes want samples with one label each, but %s "
                       "does not have them",
                       data_title(in->w, g));
  *out = (DataFields){.absent = out->absent};
  for (uint32_t i = 0; i < EPISODE_FIELDS; i++) add_field(in->w, out, &field[i]);
  return true;
}

// [pieces: n]: the labels of a text are pieces of a vocabulary that is made at the start of a run.
static bool as_pieces(Elab *in, const Given *g, DataFields *out) {
  if (out->absent) return true;
  Field *f = out->field.n == 1 ? &out->field.at[0] : NULL;
  if (!f || f->kind != FIELD_LABEL || strcmp(f->name, "text") != 0)
    return diag_refuse(in->w->diags, g->node->span, "only texts have pieces, and %s is none",
                       data_title(in->w, g));
  if (f->labels > g->pieces)
    return diag_refuse(in->w->diags, g->node->span,
                       "%s has %lld different characters, which are the first pieces: %lld are too "
                       "few",
                       data_title(in->w, g), (long long)f->labels, (long long)g->pieces);
  f->labels = g->pieces;
  f->label = NULL;
  out->rows = 0;
  return true;
}

bool data_fields(Elab *in, const Given *g, DataFields *out) {
  Field f;
  *out = (DataFields){0};
  if (g->path && !file_fields(in, g, out)) return false;
  const char *set = g->set ? name_text(in->w->names, g->set) : "";
  for (uint32_t k = 0; set_known_field(set, k, &f); k++) add_field(in->w, out, &f);
  if (g->pieces && !as_pieces(in, g, out)) return false;
  return !g->episodes.way || as_episodes(in, g, out);
}

static bool same_letters(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a, y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
    if (x != y) return false;
  }
  return *a == *b;
}

const Field *data_find(const DataFields *d, const char *name) {
  for (uint32_t k = 0; k < d->field.n; k++)
    if (strcmp(d->field.at[k].name, name) == 0) return &d->field.at[k];
  for (uint32_t k = 0; k < d->field.n; k++)
    if (same_letters(d->field.at[k].name, name)) return &d->field.at[k];
  return NULL;
}

Type data_type(World *w, const Field *f) {
  Axis axis[FIELD_RANK_LIMIT];
  for (uint32_t i = 0; i < f->rank; i++) axis[i] = (Axis){.size = size_of(w, f->shape[i])};
  Base base = f->kind == FIELD_LABEL ? BASE_LABEL : f->kind == FIELD_BIT ? BASE_BIT : BASE_R;
  Type t = type_make(w, base, f->rank, axis);
  if (base == BASE_LABEL) t.count = size_of(w, f->labels);
  return t;
}
