// Solves the sizes of the indices of an equation from its reads and writes. An axis group gives the
// size of one index when the others are known; an offset such as x[i+1] bounds its index, since the
// read must stay inside.
#include "base/diag.h"
#include "base/names.h"
#include "lang/value/value.h"

bool index_unsolved(World *w, const EqIndex *index) {
  Id var;
  return size_is_var(w, index->size, &var) && size_var_kind(w, var) == VAR_INDEX;
}

void index_solve_groups(Body *b, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->reach.n; i++) {
    IndexReach *r = &eq->reach.at[i];
    if (!r->group) continue;
    Size product = size_of(w, 1);
    for (uint32_t k = 0; k < r->coord.n; k++)
      product = size_mul(w, product, eq->index.at[r->coord.term[k].var].size);
    if (size_equate(w, r->size, product, b->generic) != SIZES_CLASH) continue;
    diag_error(w->diags, r->span, "this group has %s places, but its axis has %s",
               size_text(w, product), size_text(w, r->size));
    r->group = false;
    for (uint32_t k = 0; k < r->coord.n; k++)
      if (index_unsolved(w, &eq->index.at[r->coord.term[k].var]))
        eq->index.at[r->coord.term[k].var].told = true;
  }
}

// Sets each unsolved index to the largest size with every read inside; `writes`: and every write to
// an axis of declared size.
void index_solve_by_reach(Body *b, Eq *eq, bool writes) {
  World *w = b->w;
  Size one = size_of(w, 1);
  for (uint32_t i = 0; i < eq->index.n; i++) {
    if (!index_unsolved(w, &eq->index.at[i])) continue;
    Size best = 0;
    for (uint32_t r = 0; r < eq->reach.n; r++) {
      const IndexReach *reach = &eq->reach.at[r];
      Size coef = 0, rest = size_sub(w, size_sub(w, reach->size, one), reach->coord.c),
           low = reach->coord.c;
      double sign;
      bool known = !reach->padded && (writes || !reach->write) && !reach->group;
      for (uint32_t k = 0; k < reach->coord.n; k++) {
        const Term *t = &reach->coord.term[k];
        if (t->var == i)
          coef = t->coef;
        else {
          known &= !index_unsolved(w, &eq->index.at[t->var]);
          Size last = size_mul(w, t->coef, size_sub(w, eq->index.at[t->var].size, one));
          if (size_number(w, t->coef, &sign) && sign < 0)
            low = size_add(w, low, last);
          else
            rest = size_sub(w, rest, last);
        }
      }
      if (!coef || !known || coef == size_of(w, 0)) continue;
      bool back = size_number(w, coef, &sign) && sign < 0; // x[3-i] runs backwards
      Size n = size_add(w,
                        back ? size_floor(w, low, size_sub(w, size_of(w, 0), coef))
                             : size_floor(w, rest, coef),
                        one);
      int64_t x, y;
      if (!best || (size_value(w, n, &x) && size_value(w, best, &y) && x < y)) best = n;
    }
    if (best) size_equate(w, eq->index.at[i].size, best, true);
  }
}

void index_check_reach(Body *b, const Eq *eq, const IndexReach *r) {
  World *w = b->w;
  Size low = r->coord.c, high = r->coord.c, one = size_of(w, 1);
  if (r->padded || r->group) return;
  for (uint32_t k = 0; k < r->coord.n; k++) {
    const Term *t = &r->coord.term[k];
    Size last = size_mul(w, t->coef, size_sub(w, eq->index.at[t->var].size, one));
    double sign;
    if (size_number(w, t->coef, &sign) && sign < 0)
      low = size_add(w, low, last);
    else
      high = size_add(w, high, last);
  }
  double over = 0, under;
  Size beyond = size_sub(w, high, size_sub(w, r->size, one));
  bool outside = (size_number(w, size_now(w, beyond), &over) && over > 0) ||
                 (size_number(w, size_now(w, low), &under) && under < 0);
  if (outside && (!r->coord.n || r->range)) { // constant positions: no hint at `pad`
    Id e = diag_error(w->diags, r->span,
                      r->range ? "this range leaves the axis, whose places are 0 to %s"
                               : "there is no such place: those of the axis are 0 to %s",
                      size_text(w, size_sub(w, r->size, one)));
    if (r->range) diag_help(w->diags, e, "the last place of a range belongs to it");
    return;
  }
  if (!outside) return;
  Id e = over > 0 ? diag_error(w->diags, r->span,
                               "this place reaches %s, but the axis ends at %s: it hangs over by "
                               "%.0f",
                               size_text(w, high), size_text(w, size_sub(w, r->size, one)), over)
                  : diag_error(w->diags, r->span, "this place begins at %s, before the axis does",
                               size_text(w, low));
  diag_help(w->diags, e, "`pad 0` after the equation says what is %s outside",
            r->write ? "dropped" : "read");
}

// Two unknown indices in a group (i j) cannot both be solved.
void index_check_groups(Body *b, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->reach.n; i++) {
    const IndexReach *r = &eq->reach.at[i];
    Buf names = buf_new(w->arena);
    uint32_t n = 0;
    Name first = 0;
    for (uint32_t k = r->coord.n; r->group && k-- > 0;) {
      EqIndex *index = &eq->index.at[r->coord.term[k].var];
      if (!index_unsolved(w, index) || index->told) continue;
      if (!n) first = index->name;
      buf_printf(&names, "%s%s", n++ ? " and " : "", name_text(w->names, index->name));
    }
    if (n < 2) continue;
    Id e = diag_error(w->diags, r->span, "the %s places of this axis do not say how many %s have",
                      size_text(w, r->size), names.at);
    diag_help(w->diags, e, "write one of them with its size, as in `%s:3`",
              name_text(w->names, first));
    for (uint32_t k = 0; k < r->coord.n; k++) eq->index.at[r->coord.term[k].var].told = true;
  }
}
