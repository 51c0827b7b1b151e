// Assignments to elements: `next a[0] = …` sets one element of a state, the others keep their
// values. The elements are bits beside the value; lines for different elements are independent.
//
// Overlap is checked in two steps: at compile time two unconditional lines may not assign the same
// element, which the loop that writes the bits tells if sizes are known. If a label selects the
// element, the check is made at run time.
#include "core/diagram/ops.h"
#include "lang/machine/machine_own.h"

enum { SHOWN_LIMIT = 1 << 20, CELLS_LIMIT = 1 << 16 };

static bool is_index(MachineBuilder *m, const Type *own, const Syntax *item) {
  return place_kind(m, own, item) == PLACE_INDEX;
}

// Distinct plain indices: all elements.
static bool names_all(MachineBuilder *m, const Type *own, Nodes item) {
  for (uint32_t i = 0; i < item.n; i++) {
    if (!is_index(m, own, item.at[i])) return false;
    for (uint32_t k = 0; k < i; k++)
      if (tree_equal(item.at[i], item.at[k])) return false;
  }
  return true;
}

// Only literals and plain indices: index ranges do not depend on the value.
static bool is_simple(MachineBuilder *m, const Type *own, Nodes item) {
  for (uint32_t i = 0; i < item.n; i++)
    if (item.at[i]->kind != N_NUM && !is_index(m, own, item.at[i])) return false;
  return true;
}

Syntax *over_places(MachineBuilder *m, const Syntax *brackets, const Syntax *value, const Type *own,
                    const Syntax *what) {
  World *w = m->w;
  if (is_simple(m, own, brackets_items(brackets))) return (Syntax *)what;
  Span span = brackets->span;
  Syntax *same = node_cmp(w->arena, span, (CmpParts){(Syntax *)value, (Syntax *)value});
  syntax_signed(w->arena, same, SIGN_EQUAL);
  return node_when(w->arena, span, (WhenParts){(Syntax *)what, same, (Syntax *)what});
}

LinePlaces line_places(MachineBuilder *m, Env *env, const Syntax *brackets, const Syntax *value,
                       const Syntax *pad, const Type *own) {
  World *w = m->w;
  LinePlaces p = {0};
  Nodes item = brackets ? brackets_items(brackets) : (Nodes){0, NULL};
  if (!item.n || names_all(m, own, item)) return p;
  Span span = brackets->span;
  Syntax *ones = over_places(m, brackets, value, own, syntax_number(w->arena, 1, span));
  Type number = *own, bits = *own;
  number.base = BASE_R, number.names = 0, number.count = 0;
  bits = number;
  bits.base = BASE_BIT;
  Value v = eval_equation(m->b, env, brackets, ones, pad, &number, span);
  if (v.n != 1 || v.at[0].error) return p;
  p.written = val_to_wire(m->b, &v.at[0], 0);
  Val pair[2] = {val_literal(m->b, 0, span), val_wire(m->b, p.written, span)};
  p.named =
      fit_value(m, val_fn(m->b, FN_lt, pair, 2, span, NULL), &bits, span, "the places of a line");
  return p;
}

// -- enumerating elements -------------------------------------------------------------------------
// Marks the positions that a coordinate of a loop takes along one axis; false: unknown.
static bool mark_axis_positions(World *w, const Loop *loop, const Coord *c, bool *at,
                                int64_t size) {
  int64_t begin, first[RANK_LIMIT], coef[RANK_LIMIT], n[RANK_LIMIT], turns = 1;
  if (!size_value(w, c->c, &begin) || c->n > RANK_LIMIT) return false;
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (t->operand || !size_value(w, t->coef, &coef[i]) ||
        !size_value(w, loop->index[t->var].size, &n[i]))
      return false;
    turns *= n[i];
    if (turns > SHOWN_LIMIT) return false;
  }
  for (int64_t turn = 0; turn < turns; turn++) {
    int64_t rest = turn, place = begin;
    for (uint32_t i = 0; i < c->n; i++) {
      first[i] = rest % n[i];
      rest /= n[i];
      place += coef[i] * first[i];
    }
    if (place >= 0 && place < size) at[place] = true;
  }
  return true;
}

// The loop that writes the bits; NULL: another box.
static const Loop *writing_loop(MachineBuilder *m, const LinePlaces *p) {
  const Diagram *d = m->b->d;
  const Box *box = &d->box.at[d->wire.at[p->written].box];
  return box->op == OP_loop ? box->loop : NULL;
}

// [size] the positions along one axis of the state; NULL: unknown.
static bool *places_along(MachineBuilder *m, const LinePlaces *p, const Type *own, uint32_t axis,
                          int64_t *size) {
  World *w = m->w;
  if (!size_value(w, own->axis[axis].size, size) || *size > SHOWN_LIMIT) return NULL;
  bool *at = NEW_ARRAY(w->arena, bool, *size + 1);
  if (!p->named) {
    memset(at, 1, (size_t)*size);
    return at;
  }
  const Loop *loop = writing_loop(m, p);
  if (!loop) return NULL;
  uint32_t extra = loop->out.rank - own->rank; // batch axes
  return mark_axis_positions(w, loop, &loop->out.coord[extra + axis], at, *size) ? at : NULL;
}

// Counts the iterations over indices of the output coordinates; false: unknown or too many.
static bool loop_turns(World *w, const Loop *loop, uint32_t extra, int64_t *n, int64_t *turns) {
  *turns = 1;
  for (uint32_t i = 0; i < loop->nindex; i++) n[i] = 1;
  for (uint32_t a = extra; a < loop->out.rank; a++)
    for (uint32_t i = 0; i < loop->out.coord[a].n; i++) {
      const Term *t = &loop->out.coord[a].term[i];
      int64_t coef;
      if (t->operand || !size_value(w, t->coef, &coef)) return false;
      if (!size_value(w, loop->index[t->var].size, &n[t->var])) return false;
    }
  for (uint32_t i = 0; i < loop->nindex; i++)
    if ((*turns *= n[i]) > SHOWN_LIMIT) return false;
  return true;
}

// Marks the elements that are written; false: unknown.
static bool mark_written(MachineBuilder *m, const Loop *loop, const Type *own, bool *is) {
  World *w = m->w;
  uint32_t extra = loop->out.rank - own->rank;
  int64_t *n = NEW_ARRAY(w->arena, int64_t, loop->nindex + 1),
          *at = NEW_ARRAY(w->arena, int64_t, loop->nindex + 1), turns;
  if (!loop_turns(w, loop, extra, n, &turns)) return false;
  for (int64_t turn = 0; turn < turns; turn++) {
    int64_t rest = turn, cell = 0, size = 1, k;
    bool inside = true;
    for (uint32_t i = 0; i < loop->nindex; rest /= n[i++]) at[i] = rest % n[i];
    for (uint32_t a = extra; a < loop->out.rank; a++) {
      const Coord *c = &loop->out.coord[a];
      int64_t place;
      if (!size_value(w, c->c, &place) || !size_value(w, own->axis[a - extra].size, &size))
        return false;
      for (uint32_t i = 0; i < c->n; i++)
        if (size_value(w, c->term[i].coef, &k)) place += k * at[c->term[i].var];
      inside &= place >= 0 && place < size;
      cell = cell * size + place;
    }
    if (inside) is[cell] = true;
  }
  return true;
}

// [cells] the elements that a line assigns; NULL: unknown
static bool *cells_of(MachineBuilder *m, const LinePlaces *p, const Type *own, int64_t cells) {
  bool *is = NEW_ARRAY(m->w->arena, bool, cells + 1);
  if (!p->named) memset(is, 1, (size_t)cells);
  const Loop *loop = p->named ? writing_loop(m, p) : NULL;
  return !p->named || (loop && mark_written(m, loop, own, is)) ? is : NULL;
}

static const char *cell_text(World *w, const Type *own, int64_t cell) {
  int64_t shape[RANK_LIMIT];
  Buf text = buf_new(w->arena);
  for (uint32_t i = 0; i < own->rank; i++)
    if (!size_value(w, own->axis[i].size, &shape[i])) return "";
  buf_indices(&text, own->rank, shape, cell);
  return text.at;
}

const char *places_left(MachineBuilder *m, const LinePlaces *p, uint32_t n, const Type *own) {
  World *w = m->w;
  int64_t cells, first = 0, left = 0;
  if (!type_count(w, own, &cells) || cells > SHOWN_LIMIT) return NULL;
  bool *is = NEW_ARRAY(w->arena, bool, cells + 1);
  for (uint32_t i = 0; i < n; i++) {
    const bool *one = cells_of(m, &p[i], own, cells);
    if (!one) return "";
    for (int64_t k = 0; k < cells; k++) is[k] |= one[k];
  }
  for (int64_t i = cells; i-- > 0;)
    if (!is[i]) first = i, left++;
  if (!left) return NULL;
  return arena_format(w->arena, "%s%s", left > 1 ? "places like " : "place ",
                      cell_text(w, own, first));
}

// Lines that overlap along each axis, such as [i i] and [0 1]: do they share an element? Finds the
// first.
static bool cells_meet(MachineBuilder *m, const LinePlaces *a, const LinePlaces *b, const Type *own,
                       const char **where) {
  int64_t cells, k = 0;
  if (!type_count(m->w, own, &cells) || cells > CELLS_LIMIT) return true;
  const bool *x = cells_of(m, a, own, cells), *y = cells_of(m, b, own, cells);
  if (!x || !y) return true;
  while (k < cells && !(x[k] && y[k])) k++;
  if (k < cells) *where = cell_text(m->w, own, k);
  return k < cells;
}

Meeting places_meet(MachineBuilder *m, const LinePlaces *a, const LinePlaces *b, const Type *own,
                    const char **where) {
  World *w = m->w;
  Buf text = buf_new(w->arena);
  bool known = true;
  *where = "";
  if (!a->named && !b->named) return MEET_SURELY;
  for (uint32_t i = 0; i < own->rank; i++) {
    int64_t n = 0, k = 0;
    bool *x = places_along(m, a, own, i, &n), *y = x ? places_along(m, b, own, i, &n) : NULL;
    known &= x && y;
    if (!x || !y) continue;
    while (k < n && !(x[k] && y[k])) k++;
    if (k == n) return MEET_NEVER;
    buf_printf(&text, "%s%lld", i ? " " : "[", (long long)k);
  }
  if (!known) return MEET_PERHAPS;
  buf_text(&text, "]");
  *where = text.at;
  return own->rank > 1 && !cells_meet(m, a, b, own, where) ? MEET_NEVER : MEET_SURELY;
}

// -- restrictions to elements ---------------------------------------------------------------------
static Syntax *compared(World *w, const Syntax *name, int64_t k, SyntaxSign sign, Syntax *before) {
  Syntax *number = syntax_number(w->arena, (double)k, name->span);
  Syntax *c = node_cmp(w->arena, name->span, (CmpParts){(Syntax *)name, number});
  syntax_signed(w->arena, c, sign);
  return before ? node_and(w->arena, name->span, (AndParts){NODES(before, c)}) : c;
}

Id named_between(MachineBuilder *m, const Syntax *brackets, const LinePlaces *p, const Type *own) {
  World *w = m->w;
  Syntax *cond = NULL;
  Nodes item = brackets_items(brackets);
  for (uint32_t i = 0; p->named && i < own->rank; i++) {
    int64_t n = 0, low = 0;
    const bool *at = places_along(m, p, own, i, &n);
    int64_t high = n - 1;
    if (!at) return p->named;
    while (low < n && !at[low]) low++;
    while (high > low && !at[high]) high--;
    if (low > 0) cond = compared(w, item.at[i], low, SIGN_AT_LEAST, cond);
    if (high < n - 1) cond = compared(w, item.at[i], high, SIGN_AT_MOST, cond);
  }
  if (!cond) return 0;
  Type bits = {.base = BASE_BIT, .rank = own->rank, .axis = own->axis};
  Value v = eval_equation(m->b, m->env, brackets, cond, NULL, &bits, brackets->span);
  return v.n == 1 ? fit_value(m, v.at[0], &bits, brackets->span, "the places of a line") : p->named;
}

// -- conditions for each element ------------------------------------------------------------------
static bool has_name(Nodes item, Name name) {
  for (uint32_t i = 0; i < item.n; i++)
    if ((item.at[i]->kind == N_NAME || item.at[i]->kind == N_SIZED) && item.at[i]->name == name)
      return true;
  return false;
}

bool binds_index(const Syntax *call, Name name) {
  const Syntax *over = call->kind == N_CALL ? use_brackets(call_callee(call)) : NULL;
  return over && has_name(brackets_items(over), name);
}

// Does the name occur free, outside of reductions over it?
static bool is_free_in(const Syntax *n, Name name) {
  if (!n || binds_index(n, name)) return false;
  if (n->kind == N_NAME && n->name == name) return true;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (is_free_in(syntax_parts(n).at[i], name)) return true;
  return false;
}

typedef struct {
  MachineBuilder *m;
  const Type *own;
  const Syntax *cond;
} AskedIndex;

// An index of the left side (possibly within `i+1`) that the condition reads.
static bool is_asked(void *context, const Syntax *n) {
  const AskedIndex *c = context;
  return n->kind == N_NAME && is_index(c->m, c->own, n) && is_free_in(c->cond, n->name);
}

bool condition_for_each(MachineBuilder *m, const Syntax *brackets, const Syntax *cond,
                        const Type *own) {
  AskedIndex c = {m, own, cond};
  Nodes item = brackets ? brackets_items(brackets) : (Nodes){0, NULL};
  for (uint32_t i = 0; cond && i < item.n; i++)
    if (syntax_any(item.at[i], is_asked, &c)) return true;
  return false;
}
