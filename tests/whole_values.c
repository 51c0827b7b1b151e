// Values for the laws of whole programs: random inputs, results of boxes, comparisons.
#include "base/files.h"
#include "whole_laws.h"

#include <math.h>

bool case_says(Case *c, const char *format, ...) {
  va_list list;
  va_start(list, format);
  buf_vprintf(&c->said, format, list);
  va_end(list);
  return false;
}

// A message without names and numbers: what is refused is of one kind.
static void put_kind(Buf *b, const char *text) {
  for (bool quoted = false; *text && *text != '\n'; text++) {
    if (*text == '`') quoted = !quoted;
    if (!quoted && *text != ':' && !(*text >= '0' && *text <= '9')) buf_char(b, *text);
  }
}

Limn *case_load(Case *c, const char *text) {
  const char *path = "chance.limn";
  for (uint32_t i = 0; i < c->p->file.n; i++)
    file_write(c->arena, c->p->file.at[i].path, c->p->file.at[i].bytes, c->p->file.at[i].n);
  file_write(c->arena, path, text, strlen(text));
  Limn *l = limn_new();
  if (limn_load(l, path) == LIMN_GOOD) return l;
  LimnMessage m = {.size = sizeof m};
  buf_text(&c->said, "refused ");
  for (uint32_t i = 0; i < limn_message_count(l); i++)
    if (limn_message(l, i, &m) == LIMN_GOOD && m.severity == LIMN_ERROR) {
      put_kind(&c->said, m.text);
      break;
    }
  case_says(c, ":\n%s\n%s", limn_messages(l, false), text);
  limn_free(l);
  return NULL;
}

// -- boxes ----------------------------------------------------------------------------------------
bool whole_is_quiet(const WholeDecl *d) {
  bool learner = d->kind == DECL_LEARNER && d->text && !d->family;
  return d->in.n && !d->elsewhere && (learner || (d->asked && !d->noisy));
}

bool whole_is_real(const WholeDecl *d) { return d->out.n == 1 && !d->out.at[0].labels; }

static const char *closed_text(Case *c, const WholeDecl *d, bool *open) {
  Buf b = buf_new(c->arena);
  Ids done = {0};
  for (uint32_t i = 0; i < d->in.n; i++)
    for (uint32_t k = 0; k < d->in.at[i].type.rank; k++) {
      const WholeAxis *a = &d->in.at[i].type.axis[k];
      bool known = !a->variable;
      for (uint32_t j = 0; !known && j < done.n; j++) known = done.at[j] == a->variable;
      if (known) continue;
      buf_printf(&b, "axis %s = %u\n", whole_name(c->p, a->variable, false), a->n);
      vec_push(c->arena, &done, a->variable);
      *open = true;
    }
  buf_text(&b, whole_text(c->arena, c->p, &(Printed){0}));
  return b.at;
}

Limn *whole_closed(Case *c, const WholeDecl *d, bool *other) {
  bool open = false;
  size_t said = c->said.n;
  const char *text = closed_text(c, d, &open);
  Limn *l = case_load(c, text);
  *other = !l && open;
  if (*other) c->said.n = said;
  return l;
}

// -- inputs ---------------------------------------------------------------------------------------
static double number_by(uint64_t seed) {
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9u;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBu;
  return (double)((seed ^ (seed >> 31)) >> 11) / 9007199254740992.0;
}

static Value value_new(Arena *a, uint32_t rank, const int64_t *shape) {
  Value v = {.name = "", .rank = rank, .n = 1};
  for (uint32_t i = 0; i < rank; i++) v.n *= v.shape[i] = shape[i];
  v.data = NEW_ARRAY(a, double, v.n + 1);
  return v;
}

Value value_input(Case *c, const WholeDecl *d, uint32_t input, uint32_t sample) {
  const WholeType *t = &d->in.at[input].type;
  int64_t shape[WHOLE_AXES];
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->axis[i].n;
  Value v = value_new(c->arena, t->rank, shape);
  for (int64_t i = 0; i < v.n; i++) {
    double x =
        number_by(((uint64_t)(i + 1) * 1000 + sample * 31 + input * 7) * 0x9E3779B97F4A7C15u);
    v.data[i] = t->labels ? floor(x * t->range.n) : floor(x * 3000) / 1000 - 1.5;
  }
  return v;
}

Value value_stack(Case *c, const WholeDecl *d, uint32_t input) {
  Value one = value_input(c, d, input, 0);
  int64_t shape[WHOLE_AXES + 1] = {3};
  for (uint32_t i = 0; i < one.rank; i++) shape[i + 1] = one.shape[i];
  Value all = value_new(c->arena, one.rank + 1, shape);
  for (uint32_t s = 0; s < 3; s++)
    memcpy(all.data + s * one.n, value_input(c, d, input, s).data,
           (size_t)one.n * sizeof *all.data);
  return all;
}

// -- evaluation -----------------------------------------------------------------------------------
void case_take(Case *c, const LimnArrays *from, Values *to) {
  for (uint32_t i = 0; i < from->n; i++) {
    const LimnArray *a = &from->at[i].array;
    Value v = value_new(c->arena, a->rank, a->shape);
    v.name = arena_format(c->arena, "%s", from->at[i].name);
    for (int64_t k = 0; k < v.n; k++)
      v.data[k] = a->type == LIMN_F64   ? ((double *)a->data)[k]
                  : a->type == LIMN_F32 ? (double)((float *)a->data)[k]
                  : a->type == LIMN_I64 ? (double)((int64_t *)a->data)[k]
                  : a->type == LIMN_I32 ? (double)((int32_t *)a->data)[k]
                                        : (double)((uint8_t *)a->data)[k];
    vec_push(c->arena, to, v);
  }
}

bool case_eval(Case *c, Limn *l, const char *name, const Values *in, const Value *dy, Values *out,
               Values *grads) {
  LimnArray *array = NEW_ARRAY(c->arena, LimnArray, in->n + 2);
  LimnInput *input = NEW_ARRAY(c->arena, LimnInput, in->n + 1);
  for (uint32_t i = 0; i < in->n; i++) {
    const Value *v = &in->at[i];
    array[i] = (LimnArray){.type = LIMN_F64, .rank = v->rank, .shape = v->shape, .data = v->data};
    input[i] = (LimnInput){.name = "", .array = &array[i]};
  }
  LimnEval how = {.size = sizeof how, .in = input, .nin = in->n, .weights = c->weights};
  if (dy) {
    array[in->n] =
        (LimnArray){.type = LIMN_F64, .rank = dy->rank, .shape = dy->shape, .data = dy->data};
    how.dy_array = &array[in->n];
  }
  LimnArrays values = {0}, slopes = {0};
  if (limn_eval_arrays(l, name, &how, &values, dy ? &slopes : NULL) != LIMN_GOOD)
    return case_says(c, "no value: %s%s: %s\n", name, dy ? " with slopes" : "",
                     limn_messages(l, false));
  case_take(c, &values, out);
  if (dy) case_take(c, &slopes, grads);
  return true;
}

// -- comparison -----------------------------------------------------------------------------------
void value_show(Buf *b, const Value *v) {
  for (int64_t i = 0; i < v->n && i < 24; i++) buf_printf(b, "%s%.9g", i ? " " : "[", v->data[i]);
  buf_text(b, v->n > 24 ? " …]" : v->n ? "]" : "[]");
}

static bool is_near(double x, double y, double within) {
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= within * (1 + fabs(y));
}

bool values_near(Case *c, const char *what, const Value *a, const Value *b, double within) {
  bool same = a->n == b->n;
  for (int64_t i = 0; same && i < a->n; i++) same = is_near(a->data[i], b->data[i], within);
  if (same) return true;
  case_says(c, "%s\n  is ", what);
  value_show(&c->said, a);
  buf_text(&c->said, "\n  should be ");
  value_show(&c->said, b);
  buf_char(&c->said, '\n');
  return false;
}

const Value *value_named(const Values *v, const char *name) {
  for (uint32_t i = 0; i < v->n; i++)
    if (!strcmp(v->at[i].name, name)) return &v->at[i];
  return NULL;
}

void value_add(Value *to, const Value *more) {
  for (int64_t i = 0; i < to->n && i < more->n; i++) to->data[i] += more->data[i];
}
