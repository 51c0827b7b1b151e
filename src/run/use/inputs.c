// The inputs of a call: matched to those of the box, and read from files, text or memory. They are
// matched by name; by order if the array or the input has no name. Each array must have an input, and
// each input one array.
#include "base/diag.h"
#include "base/names.h"
#include "run/use/use_own.h"

typedef struct {
  World *w;
  const Diagram *d;
  const LimnInput *given;
  uint32_t n;
} GivenInputs;

static const char *wire_name(const GivenInputs *x, uint32_t i) {
  return name_text(x->w->names, x->d->wire.at[x->d->in.at[i]].name);
}

static const LimnInput *given_named(const GivenInputs *x, const char *name) {
  for (uint32_t i = 0; i < x->n; i++)
    if (strcmp(x->given[i].name, name) == 0) return &x->given[i];
  return NULL;
}

static bool is_known(const GivenInputs *x, const char *name, Nearest *near) {
  bool known = !*name;
  for (uint32_t i = 0; i < x->d->in.n && !known; i++) {
    const char *own = wire_name(x, i);
    if (*own) nearest_try(near, own);
    known = !*own || strcmp(name, own) == 0;
  }
  return known;
}

static bool all_fit(const GivenInputs *x) {
  Diags *diags = x->w->diags;
  for (uint32_t i = 0; i < x->n; i++) {
    const char *name = x->given[i].name;
    Nearest near = nearest_to(name);
    if (*name && given_named(x, name) != &x->given[i])
      return diag_refuse(diags, (Span){0}, "input `%s` is given twice", name);
    if (is_known(x, name, &near)) continue;
    diag_suggest(diags, diag_error(diags, (Span){0}, "there is no input `%s`", name), near.best);
    return false;
  }
  return x->n <= x->d->in.n || diag_refuse(diags, (Span){0}, "there are more inputs than `%s` has",
                                           name_text(x->w->names, x->d->name));
}

bool inputs_match(World *w, const Diagram *d, const LimnInput *given, uint32_t n,
                  const LimnInput **to) {
  GivenInputs x = {w, d, given, n};
  if (!all_fit(&x)) return false;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const char *name = wire_name(&x, i);
    to[i] = *name ? given_named(&x, name) : NULL;
    if (!to[i] && i < n && (!*name || !*given[i].name)) to[i] = &given[i];
    if (to[i]) continue;
    if (!*name) name = arena_format(w->arena, "%u", i + 1);
    return diag_refuse(w->diags, (Span){0}, "input %s : %s is not given", name,
                       type_text(w, &d->wire.at[d->in.at[i]].type));
  }
  return true;
}

// -- reading --------------------------------------------------------------------------------------
bool input_read(Use *u, const LimnInput *in, const Type *t, Array *x) {
  const char *error;
  if (in->array)
    return array_from_memory(u->arena, in->array, x, &error) ||
           use_wrong(u, OUTCOME_WRONG, "%s", error);
  return in->value ? array_from(u, in->value, t, x)
                   : use_wrong(u, OUTCOME_USAGE, "an input without a value");
}

bool input_is_nonempty(Use *u, const Diagram *d, uint32_t i, const Array *x) {
  const char *name = name_text(u->w->names, d->wire.at[d->in.at[i]].name);
  for (uint32_t k = 0; k < x->rank; k++)
    if (!x->shape[k])
      return use_wrong(u, OUTCOME_WRONG,
                       "input %s has no place along its axis %u: every axis has one",
                       *name ? name : arena_format(u->arena, "%u", i + 1), k + 1);
  return true;
}

// A quoted text is an input of labels.
static bool read_one(Use *u, const Diagram *d, uint32_t i, const LimnInput *in, Array *x) {
  const char *error = "", *value = in->array ? NULL : in->value;
  const Json *text =
      value && *value == '"' ? json_read(u->arena, value, strlen(value), &error) : NULL;
  if (text) return labels_of_text(u, d, i, text->text, x);
  return input_read(u, in, &d->wire.at[d->in.at[i]].type, x);
}

bool inputs_read(Use *u, const Diagram *d, const LimnInput *given, uint32_t n, const LimnInput **in,
                 Array *x) {
  if (!inputs_match(u->w, d, given, n, in)) return false;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (!read_one(u, d, i, in[i], &x[i]) || !input_is_nonempty(u, d, i, &x[i])) return false;
  return true;
}
