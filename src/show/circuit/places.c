// The coordinates of a loop, for string diagrams: `[0]`, `[1..3]`, `[j i]`. Indices of the result
// are i, j, … in order, then reduced ones. Usual accesses are not written: operands that have the
// last axes of the result, reductions of the last axes of one operand, products over adjacent axes,
// a table with a label in front. Mapped axes are ignored.
#include "show/circuit/circuit_own.h"

typedef struct {
  World *w;
  const Diagram *d;
  const Box *box;
  const Loop *l;
  uint32_t *order; // [index] its position among the letters
  uint32_t own;    // number of the result's indices that are not mapped over
} Places;

static const Type *type_at(const Places *p, uint32_t operand) {
  Id wire = operand < p->l->nin ? p->box->in[operand] : p->box->out[0];
  return &p->d->wire.at[wire].type;
}

static const Access *access_at(const Places *p, uint32_t operand) {
  return operand < p->l->nin ? &p->l->in[operand] : &p->l->out;
}

static bool passes(const Places *p, uint32_t operand, uint32_t axis) {
  const Type *t = type_at(p, operand);
  return axis < t->rank && t->axis[axis].pass;
}

// Indices of the result in order, then others as they occur.
static void put_in_order(Places *p, Arena *a) {
  uint32_t n = 0, index;
  p->order = NEW_ARRAY(a, uint32_t, p->l->nindex + 1);
  for (uint32_t i = 0; i < p->l->nindex; i++) p->order[i] = UINT32_MAX;
  for (uint32_t k = 0; k <= p->l->nin; k++) {
    uint32_t operand = k ? k - 1 : p->l->nin;
    const Access *x = access_at(p, operand);
    for (uint32_t i = 0; i < x->rank; i++) {
      bool plain = coord_is_plain(p->w, &x->coord[i], &index);
      if (plain && !passes(p, operand, i) && p->order[index] == UINT32_MAX) p->order[index] = n++;
    }
    if (!k) p->own = n;
  }
  for (uint32_t i = 0; i < p->l->nindex; i++)
    if (p->order[i] == UINT32_MAX) p->order[i] = n++;
}

// -- usual accesses -------------------------------------------------------------------------------
// The indices of plain coordinates; false: there are others.
static bool plain_places(const Places *p, uint32_t operand, Arena *a, Ids *out) {
  const Access *x = access_at(p, operand);
  uint32_t index;
  if (x->padded) return false;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (passes(p, operand, i)) continue;
    if (!coord_is_plain(p->w, &x->coord[i], &index)) return false;
    vec_push(a, out, p->order[index]);
  }
  return true;
}

static bool is_run(const Ids *at, uint32_t from, uint32_t to) { // from, from + 1, … to
  bool run = at->n == to - from;
  for (uint32_t i = 0; run && i < at->n; i++) run = at->at[i] == from + i;
  return run;
}

// It has the last axes of the result, or all of them followed by others.
static bool is_usual_operand(const Places *p, const Ids *at) {
  return at->n <= p->own ? is_run(at, p->own - at->n, p->own) : is_run(at, 0, at->n);
}

static bool is_shared(const Places *p, const Ids *at, uint32_t place) {
  return place >= p->own && ids_find(at, place) < at->n;
}

// x[i k] y[k j]: each operand continues with the last index of the previous one; the rest is the
// result.
static bool is_chain(const Places *p, const Ids *at, Arena *a) {
  Ids left = {0};
  for (uint32_t k = 0; k < p->l->nin; k++)
    for (uint32_t i = 0; i < at[k].n; i++) {
      uint32_t place = at[k].at[i];
      bool before =
          k && !i && is_shared(p, &at[k - 1], place) && at[k - 1].at[at[k - 1].n - 1] == place;
      bool after = k + 1 < p->l->nin && i + 1 == at[k].n && at[k + 1].n &&
                   at[k + 1].at[0] == place && place >= p->own;
      if (!before && !after) vec_push(a, &left, place);
    }
  return is_run(&left, 0, p->own);
}

static bool is_table(const Places *p) { // E[x m] with a label x
  const Loop *l = p->l;
  if (l->nin != 2 || !l->in[1].rank) return false;
  const Coord *first = &l->in[1].coord[0];
  return first->n == 1 && first->term[0].operand && first->c == size_of(p->w, 0) &&
         first->term[0].coef == size_of(p->w, 1);
}

static bool rest_is_usual(const Places *p, Arena *a) {
  Ids rest = {0};
  uint32_t index;
  const Access *x = &p->l->in[1];
  for (uint32_t i = 1; i < x->rank; i++) {
    if (!coord_is_plain(p->w, &x->coord[i], &index)) return false;
    vec_push(a, &rest, p->order[index]);
  }
  return !x->padded && is_usual_operand(p, &rest);
}

static bool is_usual(const Places *p, Arena *a) {
  const Loop *l = p->l;
  Ids *at = NEW_ARRAY(a, Ids, l->nin + 1);
  bool usual = true, same = true;
  if (!plain_places(p, l->nin, a, &at[l->nin]) || !is_run(&at[l->nin], 0, p->own)) return false;
  if (is_table(p)) return rest_is_usual(p, a);
  for (uint32_t k = 0; k < l->nin; k++) {
    if (!plain_places(p, k, a, &at[k])) return false;
    usual &= is_usual_operand(p, &at[k]);
    same &= at[k].n == at[0].n && is_usual_operand(p, &at[k]);
  }
  bool reduced = false;
  for (uint32_t i = 0; i < l->nindex; i++) reduced |= loop_is_reduced(p->w, l, i);
  if (!reduced || l->nin < 2) return usual;
  return same || is_chain(p, at, a);
}

// -- as text --------------------------------------------------------------------------------------
static void put_letter(Buf *b, uint32_t place) {
  buf_char(b, (char)('i' + place % 12));
  if (place >= 12) buf_printf(b, "%u", place / 12);
}

static void put_size(const Places *p, Buf *b, Size size) {
  buf_text(b, size_label(p->w, b->arena, size));
}

// i + 1 with an index used nowhere else is a slice: 1..3
static bool put_part(const Places *p, Buf *b, const Coord *k) {
  if (k->n != 1 || k->term[0].operand || k->term[0].coef != size_of(p->w, 1)) return false;
  Size size = p->l->index[k->term[0].var].size;
  put_size(p, b, k->c);
  buf_text(b, "..");
  put_size(p, b, size_sub(p->w, size_add(p->w, k->c, size), size_of(p->w, 1)));
  return true;
}

static void put_coord(const Places *p, Buf *b, const Coord *k) {
  uint32_t index;
  bool zero = k->c == size_of(p->w, 0);
  if (coord_is_plain(p->w, k, &index)) {
    put_letter(b, p->order[index]);
    return;
  }
  if (!zero && put_part(p, b, k)) return;
  for (uint32_t i = 0; i < k->n; i++) {
    const Term *t = &k->term[i];
    if (i) buf_char(b, '+');
    if (t->coef != size_of(p->w, 1)) put_size(p, b, t->coef), buf_text(b, "·");
    if (t->operand)
      buf_printf(b, "#%u", t->var + 1);
    else
      put_letter(b, p->order[t->var]);
  }
  if (zero && k->n) return;
  if (k->n) buf_char(b, '+');
  put_size(p, b, k->c);
}

static void put_access(const Places *p, Buf *b, uint32_t operand) {
  const Access *x = access_at(p, operand);
  uint32_t n = 0;
  buf_char(b, '[');
  for (uint32_t i = 0; i < x->rank; i++) {
    if (passes(p, operand, i)) continue;
    if (n++) buf_char(b, ' ');
    put_coord(p, b, &x->coord[i]);
  }
  buf_char(b, ']');
  if (x->padded) buf_printf(b, " pad %s", formula_number(b->arena, x->pad));
}

static const char *places_text(World *w, Arena *a, const Diagram *d, const Box *box) {
  Places p = {.w = w, .d = d, .box = box, .l = box->loop};
  Ids to = {0};
  put_in_order(&p, a);
  if (!p.l->nin || is_usual(&p, a)) return NULL;
  Buf b = buf_new(a);
  if (!plain_places(&p, p.l->nin, a, &to)) {
    put_access(&p, &b, p.l->nin);
    buf_text(&b, " ← ");
  }
  for (uint32_t k = 0; k < p.l->nin; k++) {
    if (k) buf_char(&b, ' ');
    put_access(&p, &b, k);
  }
  return b.at;
}

// -- a loop in words ------------------------------------------------------------------------------
bool loop_is_wire(World *w, Arena *a, const Diagram *d, const Box *box) {
  const Loop *l = box->loop;
  FormulaOf of = {w, d, l, box->in};
  return l->nin == 1 && l->combine == SUM && l->in[0].rank == l->out.rank &&
         !formula_text(&of, a) && !places_text(w, a, d, box);
}

// The function, with the reduction: Σ exp(x), Max, ArgMax.
static const char *does_text(World *w, Arena *a, const Diagram *d, const Box *box) {
  const Loop *l = box->loop;
  const char *text = formula_text(&(FormulaOf){w, d, l, box->in}, a);
  Buf b = buf_new(a);
  bool reduced = false;
  for (uint32_t i = 0; i < l->nindex; i++) reduced |= loop_is_reduced(w, l, i);
  if (!text && l->nin > 1 && l->combine == SUM) return "·";
  if (text && !reduced) return text;
  if (!text && !reduced) return "";
  for (uint32_t i = 0; i < box->nout; i++)
    buf_printf(&b, "%s%s", i ? ", " : "",
               combine_text(l->combine, d->wire.at[box->out[i]].port > 0));
  if (text) buf_printf(&b, " %s", text);
  return b.at;
}

const char *loop_words(World *w, Arena *a, const Diagram *d, const Box *box) {
  const char *does = does_text(w, a, d, box), *places = places_text(w, a, d, box);
  if (!places) return *does ? does : "Σ";
  return *does ? arena_format(a, "%s %s", does, places) : places;
}
