// What the files about index equations share.
#ifndef LIMN_LANG_ELAB_INDEX_OWN_H
#define LIMN_LANG_ELAB_INDEX_OWN_H

#include "core/diagram/ops.h"
#include "lang/elab/elab.h"

// An affine coordinate while it is read: a constant and coefficients of indices and labels.
typedef struct {
  uint32_t n;
  Size coef[RANK_LIMIT];
  uint32_t var[RANK_LIMIT]; // an index of the equation, or a label
  bool label[RANK_LIMIT];
  Size c;
  bool group, range;
} Affine;

typedef struct {
  Body *b;
  Env *env;
  Eq *eq;
  VEC(Val) label; // label values met
  bool named;     // an index occurs
} PlaceReader;

// The positions in one pair of brackets.
typedef struct {
  PlaceReader r;
  uint32_t room; // capacity of `place`
  Affine *place; // one for each own axis
  Span *span;
  uint32_t n;
} IndexPlaces;

typedef struct {
  uint32_t n; // number wanted; those beyond RANK_LIMIT are dropped
  Axis axis[RANK_LIMIT];
} AxisList;

// index_place.c
bool is_plain_index(World *, const Affine *); // a single index
bool read_places(IndexPlaces *p, const Syntax *brackets, const Axis *axis, const uint32_t *own,
                 uint32_t nown);
uint32_t axis_for(AxisList *list, const Axis *axis);
Axis index_axis(const Eq *eq, uint32_t i);
Expr *label_leaf(Body *b, AxisList *list, const Val *v);

// index_product.c
Expr *without_padding(Body *b, Expr *x, double pad);
bool range_left_over(Body *,
                     const EqIndex *); // reports a sum over a range; false

#endif
