// Constants read from a file: `const U : R[a b] from "payoffs.npy"`.
//
// Input: the declaration. Output: the numbers and their type. An npy, npz or safetensors file has a
// shape; a csv file is a matrix. If the declared type has as many axes, their sizes are unified one
// by one; otherwise the array is reshaped, keeping the number of elements. A file is read once.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "io/data/data.h"
#include "lang/value/value.h"

#include <math.h>

typedef struct {
  Body *b;
  Def *d;
  const Syntax *file; // the file name, a string
  const char *path;
} ConstReading;

static const char *const_name(const ConstReading *r) {
  return name_text(r->b->w->names, r->d->name);
}

static bool refuse(ConstReading *r, const char *why) {
  diag_error(r->b->w->diags, r->file->span, "%s", why);
  r->d->broken = true;
  return false;
}

static bool read_file(ConstReading *r, Array *out) {
  Arena *a = r->b->w->arena;
  const char *why = "", *no = rights_refuse(a, r->b->w->sources->rights, r->path);
  if (no) return refuse(r, arena_format(a, "cannot read %s: %s", r->path, no));
  return array_from_file(a, r->path, const_name(r), out, &why) || refuse(r, why);
}

// -- type checks ----------------------------------------------------------------------------------
static bool misfit(ConstReading *r, const Array *x, const Type *want) {
  World *w = r->b->w;
  return refuse(r, arena_format(w->arena, "`%s` is %s, but %s holds %s", const_name(r),
                                own_text(w, want), r->path, array_type(w->arena, x)));
}

// For a type of bits or labels, every number must be one.
static bool numbers_fit(ConstReading *r, const Array *x, const Type *t) {
  int64_t labels = 2;
  if (t->base == BASE_R) return true;
  if (t->base == BASE_LABEL && !size_value(r->b->w, t->count, &labels)) return true;
  for (int64_t i = 0; i < x->count; i++)
    if (!(x->data[i] >= 0 && x->data[i] < (double)labels && x->data[i] == floor(x->data[i])))
      return refuse(
          r, arena_format(r->b->w->arena, "%s holds %g, but %s wants whole numbers from 0 to %lld",
                          r->path, x->data[i], own_text(r->b->w, t), (long long)labels - 1));
  return true;
}

static bool type_of_file(ConstReading *r, const Array *x, const Type *want, Type *out) {
  World *w = r->b->w;
  Axis axis[RANK_LIMIT];
  int64_t count;
  if (!x->count || (!want && x->rank > RANK_LIMIT))
    return refuse(r, arena_format(w->arena, "%s holds %s, which is not a constant", r->path,
                                  array_type(w->arena, x)));
  if (want && want->rank != x->rank) {
    *out = *want;
    return (type_count(w, want, &count) && count == x->count) || misfit(r, x, want);
  }
  for (uint32_t i = 0; i < x->rank; i++) {
    axis[i] = (Axis){.size = size_of(w, x->shape[i])};
    if (!want) continue;
    if (!sizes_agree(r->b, want->axis[i].size, axis[i].size, r->file->span, r->file->span,
                     "a file"))
      return misfit(r, x, want);
    axis[i] = want->axis[i];
  }
  *out = type_make(w, want ? (Base)want->base : BASE_R, x->rank, axis);
  if (want) out->count = want->count, out->names = want->names;
  return true;
}

bool const_file_read(Body *b, Def *d, const Syntax *file, const Type *want, Type *out) {
  World *w = b->w;
  ConstReading r = {b, d, file, data_file(w->arena, d->scope->path, file->text)};
  if (!d->file) {
    Array *x = NEW(w->arena, Array);
    if (!read_file(&r, x)) return false;
    d->file = x;
  }
  return type_of_file(&r, d->file, want, out) && numbers_fit(&r, d->file, out);
}
