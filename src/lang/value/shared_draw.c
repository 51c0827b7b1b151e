// Random draws in index equations: the axes of a draw, and warnings about draws that are shared
// over an index without saying so.
//
// A draw is repeated for each index of the enclosing equations that is known at that point: those
// of the left side and those named by a reduction. It is not repeated for indices of an equation
// without a left side, nor inside a value that is read at an index or reduced as a whole; there it
// may be shared. Input: the value of an equation or of a reduction in it, and the boxes made for
// it. Output: a warning at each draw that depends on none of the equation's indices, such as
// `normal[]` in `return x[i] + normal[]`, one number for all i.
//
// Method: from the value backwards, track which axes of each wire vary with an index. A draw
// without such an axis is shared. Exceptions: a draw read at some index, since its type says what
// it depends on, and a draw made before the equation, since it has a name.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/value/value.h"

typedef struct {
  Body *b;
  const Eq *eq;
  uint32_t first; // the first box made for the equation
  bool whole;     // the value is that of an equation without a left side
  bool *seen;     // [box since `first`, twice]: visited as shared, and as not shared
} DrawSearch;

static bool is_active(const EqIndex *index) {
  return index->name && (index->left || (index->bound && !index->gone && !index->outer));
}

// An index that remains in the result of an equation without a left side.
static bool is_free(const EqIndex *index) {
  return index->name && !index->ranged && !index->left && !index->bound && !index->outer &&
         !index->gone && !index->summed.file;
}

static bool is_about(const DrawSearch *s, const EqIndex *index) {
  return is_active(index) || (s->whole && is_free(index));
}

static bool varies_with_index(const DrawSearch *s, Name label) {
  uint32_t at;
  if (!label || !eq_has(s->eq, label, &at)) return false;
  return s->eq->index.at[at].outer || is_about(s, &s->eq->index.at[at]);
}

static bool has_label(const Axis *axis, uint32_t n, Name label) {
  for (uint32_t i = 0; i < n; i++)
    if (axis[i].label == label) return true;
  return false;
}

static bool draws(const Box *b) {
  return b->op == OP_random || (b->op == OP_call && b->callee->noisy) ||
         (b->op == OP_scan && b->scan->body->noisy);
}

// The indices the draw lacks: as prose "i and j", as source "i j", and their sizes "3 4".
static void name_indices(const DrawSearch *s, const Type *t, Buf *prose, Buf *brackets,
                         Buf *sizes) {
  World *w = s->b->w;
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->eq->index.n; i++) {
    const EqIndex *index = &s->eq->index.at[i];
    Id var;
    if (!is_about(s, index) || has_label(t->axis, t->rank, index->name)) continue;
    const char *name = name_text(w->names, index->name);
    bool unknown = size_is_var(w, index->size, &var) && size_var_kind(w, var) == VAR_INDEX;
    buf_printf(prose, "%s%s", n ? " and " : "", name);
    buf_printf(brackets, "%s%s", n ? " " : "", name);
    buf_printf(sizes, "%s%s", n ? " " : "", unknown ? name : size_text(w, index->size));
    n++;
  }
}

static void warn_draw(const DrawSearch *s, const Box *box) {
  World *w = s->b->w;
  Span span = origin_span(w, box->origin);
  uint32_t own[RANK_LIMIT];
  Buf prose = buf_new(w->arena), brackets = buf_new(w->arena), sizes = buf_new(w->arena);
  if (!span.file) return;
  const Type *t = &s->b->d->wire.at[box->out[0]].type;
  name_indices(s, t, &prose, &brackets, &sizes);
  bool number = box->op == OP_random && !own_axes(t, own);
  const char *said = span_words(w, span);
  Id e = diag_warning(w->diags, span,
                      number ? "this is one number for all of %s"
                             : "this draws once, the same for all of %s",
                      prose.at);
  if (s->whole) {
    diag_help(w->diags, e,
              "a line of its own with %s on its left side draws for each; a name in a line before, "
              "as in `u = %s`, says that one draw is meant",
              prose.at, said);
  } else if (number) {
    const char *word = box->random->noise == NOISE_NORMAL ? "normal" : "uniform";
    diag_help(
        w->diags, e,
        "`u = %s[%s]` in a line before, and `u[%s]` here, draws one for each; `u = %s[]` in a "
        "line before, and `u` here, says that one is meant",
        word, sizes.at, brackets.at, word);
  } else {
    diag_help(w->diags, e, "a name in a line before, as in `u = %s`, says that one draw is meant",
              said);
  }
}

static void search_wire(DrawSearch *s, Id wire, uint64_t with);

// The operands of a loop, with the axes that vary with an index, given those of its result.
static void search_loop(DrawSearch *s, const Box *box, uint64_t with) {
  const Loop *l = box->loop;
  uint64_t index = 0;
  for (uint32_t a = 0; a < l->out.rank; a++)
    for (uint32_t k = 0; with >> a & 1 && k < l->out.coord[a].n; k++)
      if (!l->out.coord[a].term[k].operand) index |= (uint64_t)1 << l->out.coord[a].term[k].var;
  for (uint32_t i = 0; i < l->nin; i++) {
    uint64_t own = 0;
    for (uint32_t a = 0; a < l->in[i].rank; a++)
      for (uint32_t k = 0; k < l->in[i].coord[a].n; k++) {
        const Term *t = &l->in[i].coord[a].term[k];
        if (t->operand || index >> t->var & 1) own |= (uint64_t)1 << a;
      }
    search_wire(s, box->in[i], own);
  }
}

// The operands of a call: batch axes keep their names; how the callee uses other axes is unknown.
static void search_inputs(DrawSearch *s, const Box *box, uint64_t with) {
  for (uint32_t i = 0; i < box->nin; i++) {
    const Type *t = &s->b->d->wire.at[box->in[i]].type;
    uint64_t own = 0;
    uint32_t position[RANK_LIMIT];
    for (uint32_t a = 0; with && a < t->rank; a++)
      if (!t->axis[a].pass && varies_with_index(s, t->axis[a].label)) own |= (uint64_t)1 << a;
    if (!with || own || !own_axes(t, position)) search_wire(s, box->in[i], own);
  }
}

// Does the draw have some, but not all, of the indices that remain?
static bool lacks_free(const DrawSearch *s, const Type *t) {
  bool some = false, lacks = false;
  for (uint32_t i = 0; s->whole && i < s->eq->index.n; i++) {
    const EqIndex *index = &s->eq->index.at[i];
    bool has = index->name && has_label(t->axis, t->rank, index->name);
    some |= has;
    lacks |= !has && is_free(index);
  }
  return some && lacks;
}

static void search_wire(DrawSearch *s, Id wire, uint64_t with) {
  Id made = s->b->d->wire.at[wire].box;
  if (made < s->first || !made) return;
  bool *seen = &s->seen[2 * (made - s->first) + !with];
  if (*seen) return;
  *seen = true;
  const Box *box = &s->b->d->box.at[made];
  if (draws(box) && (!with || lacks_free(s, &s->b->d->wire.at[wire].type)))
    warn_draw(s, box);
  else if (box->op == OP_loop)
    search_loop(s, box, with);
  else
    search_inputs(s, box, with);
}

// `with`: bit set of the axes of x that vary with an index.
static void search_expr(DrawSearch *s, const Expr *x, uint64_t with) {
  if (x->kind == X_WIRE) {
    uint32_t rank = s->b->d->wire.at[x->wire].type.rank;
    uint64_t own = 0;
    for (uint32_t a = 0; a < rank; a++)
      for (uint32_t k = 0; k < x->coord[a].n; k++) {
        const Term *t = &x->coord[a].term[k];
        if (t->operand || with >> t->var & 1) own |= (uint64_t)1 << a;
      }
    search_wire(s, x->wire, own);
  }
  for (uint32_t i = 0; x->kind == X_FN && i < fn_rows[x->fn].arity; i++) {
    uint64_t own = 0;
    for (uint32_t a = 0; a < x->arg[i]->rank; a++) own |= (with >> x->map[i][a] & 1) << a;
    search_expr(s, x->arg[i], own);
  }
}

void warn_shared_draws(Body *b, const Val *v, const Eq *eq, uint32_t first, bool whole) {
  DrawSearch s = {.b = b, .eq = eq, .first = first, .whole = whole && !eq->left};
  bool any = false, about = false;
  uint64_t with = 0;
  for (uint32_t i = first; i < b->d->box.n; i++) any |= draws(&b->d->box.at[i]);
  for (uint32_t i = 0; i < eq->index.n; i++) about |= is_about(&s, &eq->index.at[i]);
  if (!any || !about || v->error || b->w->diags->muted) return;
  s.seen = NEW_ARRAY(b->w->arena, bool, 2 * (b->d->box.n - first));
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!v->type.axis[i].pass && varies_with_index(&s, v->type.axis[i].label))
      with |= (uint64_t)1 << i;
  search_expr(&s, v->x, with);
}

uint32_t draw_axes(const Body *b, const Axis *own, uint32_t nown, Axis *out) {
  uint32_t n = 0;
  for (const Eq *eq = b->eq; eq; eq = eq->around) {
    if (eq->whole) return 0;
    for (uint32_t i = 0; i < eq->index.n && n < RANK_LIMIT; i++) {
      const EqIndex *index = &eq->index.at[i];
      if (is_active(index) && !has_label(own, nown, index->name) && !has_label(out, n, index->name))
        out[n++] = (Axis){.label = index->name, .size = index->size};
    }
  }
  return n;
}
