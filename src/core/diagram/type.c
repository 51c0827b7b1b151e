// Types of wires: a base and a list of axes.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/diagram.h"

Type type_make(World *w, Base base, uint32_t rank, const Axis *axis) {
  return (Type){
      .base = (uint8_t)base, .rank = rank, .axis = arena_copy(w->arena, axis, rank * sizeof(Axis))};
}

Type type_label(World *w, Size count, uint32_t rank, const Axis *axis) {
  Type t = type_make(w, BASE_LABEL, rank, axis);
  t.count = count;
  return t;
}

bool type_equal(World *w, const Type *a, const Type *b) {
  if (a->base != b->base || a->rank != b->rank) return false;
  if (a->base == BASE_LABEL && size_now(w, a->count) != size_now(w, b->count)) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (size_now(w, a->axis[i].size) != size_now(w, b->axis[i].size)) return false;
  return true;
}

static void print_axis(World *w, const Axis *a, Buf *out) {
  const char *label = name_text(w->names, a->label);
  const char *size = size_text(w, a->size);
  if (a->pass) buf_text(out, "…");
  if (*label && strcmp(label, size) != 0)
    buf_printf(out, "%s:%s", label, size);
  else
    buf_text(out, size);
}

static void print_labels(World *w, const Type *t, Buf *out) {
  buf_char(out, '{');
  if (t->names) {
    const Ids *names = &w->label_names.at[t->names];
    for (uint32_t i = 0; i < names->n; i++)
      buf_printf(out, "%s%s", i ? ", " : "", name_text(w->names, names->at[i]));
  } else {
    size_print(w, t->count, out);
  }
  buf_char(out, '}');
}

// The type of a point of an open space is printed as the name of the space.
static bool print_open(World *w, const Type *t, Buf *out) {
  Id var;
  if (t->rank != 1 || t->base != BASE_R || !size_is_var(w, t->axis[0].size, &var) ||
      size_var_kind(w, var) != VAR_SPACE ||
      (t->axis[0].label && t->axis[0].label != size_var_name(w, var)))
    return false;
  buf_text(out, name_text(w->names, size_var_name(w, var)));
  return true;
}

void type_print(World *w, const Type *t, Buf *out) {
  if (print_open(w, t, out)) return;
  if (t->base == BASE_LABEL)
    print_labels(w, t, out);
  else
    buf_char(out, t->base == BASE_BIT ? 'B' : t->base == BASE_R ? 'R' : '?');
  if (t->base == BASE_LABEL && !t->rank) return;
  buf_char(out, '[');
  for (uint32_t i = 0; i < t->rank; i++) {
    if (i) buf_char(out, ' ');
    print_axis(w, &t->axis[i], out);
  }
  buf_char(out, ']');
}

const char *type_text(World *w, const Type *t) {
  Buf b = buf_new(w->arena);
  type_print(w, t, &b);
  return b.at;
}

bool type_count(World *w, const Type *t, int64_t *out) {
  int64_t count = 1, n;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!size_value(w, t->axis[i].size, &n) || n < 0) return false;
    if (n && count > INT64_MAX / n) return false;
    count *= n;
  }
  *out = count;
  return true;
}

bool type_over_open(World *w, const Type *t, Span span) {
  Id var = 0;
  for (uint32_t i = 0; i < t->rank && !var; i++) size_open_space(w, t->axis[i].size, &var);
  if (!var) return false;
  const char *name = name_text(w->names, size_var_name(w, var));
  Span declared = size_var_span(w, var);
  Id e =
      diag_error(w->diags, span.file ? span : declared,
                 "space `%s` is open, and what is over it cannot run before it has a type", name);
  if (span.file) diag_note(w->diags, e, declared, "it is left open here");
  diag_help(w->diags, e, "`set %s = R[20]` gives it one, or `--set %s='R[20]'`", name, name);
  return true;
}
