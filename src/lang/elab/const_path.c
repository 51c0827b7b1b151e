// Paths of constants. A path is the key of a value in memory and in exported files, so constants
// with different values have different paths: `T`, `T_2`, …
//
// Constants of files are distinguished by their declarations. Lists in bodies are distinguished by
// their numbers, since a body is elaborated several times, and equal lists may share memory.
#include "base/names.h"
#include "base/table.h"
#include "lang/elab/body.h"

static bool has_path(const Def *d) { return is_learner(d) || d->kind == DEF_CONST; }

// The learner or constant that a file declares under this name, or NULL.
static const Def *declared_in(const Scope *s, Name name) {
  Id id = table_get(s->names, &name, sizeof name);
  const Def *d = id ? s->in->def.at[id] : NULL;
  return d && d->scope == s && d->name == name && has_path(d) ? d : NULL;
}

static bool is_taken(const Elab *in, Name name) {
  for (uint32_t i = 0; i < in->scope.n; i++)
    if (declared_in(in->scope.at[i], name)) return true;
  return false;
}

static const char *numbered(const Elab *in, const char *path, uint32_t number) {
  return number > 1 ? arena_format(in->w->arena, "%s_%u", path, number) : path;
}

// Learners come first, then constants of the program's own file, then those of used files.
static uint32_t place_of(const Elab *in, const Def *d) {
  uint32_t before = 0;
  const Scope *own = in->program->scope;
  for (uint32_t i = 0; i < in->scope.n; i++) {
    const Def *other = declared_in(in->scope.at[i], d->name);
    if (!other || other == d) continue;
    bool first = other->scope == own || (d->scope != own && other->id < d->id);
    before += is_learner(other) || first;
  }
  return before;
}

const char *const_path(Elab *in, const Def *d) {
  const char *name = name_text(in->w->names, d->name);
  uint32_t number = place_of(in, d) + 1;
  if (number == 1) return name;
  const char *path = numbered(in, name, number);
  while (is_taken(in, name_from(in->w->names, path))) path = numbered(in, path, 2);
  return path;
}

const char *list_path(Elab *in, const char *where, const char *path, const Type *t,
                      const double *number) {
  Buf key = buf_new(in->w->arena);
  int64_t count = 0;
  buf_printf(&key, "%s/%s", where, path);
  size_t n = key.n;
  if (!in->lists) in->lists = table_new(in->w->arena);
  type_count(in->w, t, &count);
  buf_add(&key, "", 1);
  for (uint32_t i = 0; i < t->rank; i++)
    buf_add(&key, (const char *)&t->axis[i].size, sizeof t->axis[i].size);
  buf_add(&key, (const char *)number, (size_t)count * sizeof *number);
  Id known = table_get(in->lists, key.at, key.n);
  if (known) return numbered(in, path, known);
  Id last = table_get(in->lists, key.at, n);
  if (!last && !*where && is_taken(in, name_from(in->w->names, path))) last = 1;
  table_put(in->lists, key.at, n, last + 1);
  table_put(in->lists, key.at, key.n, last + 1);
  return numbered(in, path, last + 1);
}
