// Index equations: Y[left] = terms. The left side says where results are written. Sizes of indices
// are variables until solved from, in this order: a plain read, a size written with the index, an
// axis of that name, the type of a result, and last the largest range that keeps every read inside.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/elab/index_own.h"
#include "lang/elab/partial.h"

// -- solving sizes --------------------------------------------------------------------------------
static void solve_by_name(Body *b, Env *env, Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->index.n; i++) {
    EqIndex *index = &eq->index.at[i];
    if (!index->name || index->ranged) continue;
    Binding *bind = env_find(env, index->name);
    Def *d = bind ? NULL : scope_find(env->scope, index->name);
    Size s = 0;
    if (bind && (bind->kind == BIND_SIZE || bind->kind == BIND_OPTION)) s = bind->size;
    if (d && d->kind == DEF_AXIS) s = axis_size(b->in, d), d->used = true;
    if (s) use_index_as_axis(b->in, index->name, index->span, bind, d);
    if (!s || sizes_agree(b, index->size, s, index->span, index->span, "an index")) continue;
    Id e = diag_error(w->diags, index->span, "index %s runs over %s places, but %s is %s",
                      name_text(w->names, index->name), size_text(w, index->size),
                      name_text(w->names, index->name), size_text(w, s));
    diag_note(w->diags, e, bind ? bind->span : d->span, "%s = %s comes from here",
              name_text(w->names, index->name), size_text(w, s));
  }
}

static void solve_by_around(Body *b, Eq *eq) {
  for (uint32_t i = 0; i < eq->index.n; i++)
    if (eq->index.at[i].outer && index_unsolved(b->w, &eq->index.at[i]))
      size_equate(b->w, eq->index.at[i].size, index_around(eq, eq->index.at[i].name)->size, true);
}

// Reports x[n-1-i] with n an axis: n would be an index that is summed.
static void check_lengths(Body *b, Env *env, const Eq *eq) {
  World *w = b->w;
  for (uint32_t i = 0; i < eq->index.n; i++) {
    const EqIndex *index = &eq->index.at[i];
    if (index->plain || index->left || index->bound || index->ranged || !index->name) continue;
    Binding *bind = env_find(env, index->name);
    Def *d = bind ? NULL : scope_find(env->scope, index->name);
    if (!(bind && bind->kind == BIND_SIZE) && !(d && d->kind == DEF_AXIS)) continue;
    const char *name = name_text(w->names, index->name);
    Id e = diag_error(w->diags, index->span, "`%s` is an index here, and it would be summed", name);
    diag_help(w->diags, e, "the length of axis %s is `size[%s]`", name, name);
  }
}

// False: a size could not be solved.
static bool eq_finish(Body *b, Env *env, Eq *eq, bool quiet) {
  World *w = b->w;
  bool known = true;
  index_solve_groups(b, eq);
  solve_by_name(b, env, eq);
  index_solve_groups(b, eq);
  solve_by_around(b, eq);
  index_solve_by_reach(b, eq, false);
  index_solve_groups(b, eq);
  index_solve_by_reach(b, eq, false);
  index_solve_by_reach(b, eq, true);
  if (!quiet) index_check_groups(b, eq);
  if (!quiet) check_lengths(b, env, eq);
  for (uint32_t i = 0; i < eq->index.n; i++) {
    EqIndex *index = &eq->index.at[i];
    int64_t v;
    if (index_unsolved(w, index)) {
      known = false;
      size_equate(w, index->size, size_of(w, 1), true);
      if (quiet || index->told) continue;
      Id e = diag_error(w->diags, index->span, "the size of index %s is not known",
                        name_text(w->names, index->name));
      diag_help(w->diags, e, "write it with its size, `%s:3`", name_text(w->names, index->name));
    } else if (size_value(w, index->size, &v) && v <= 0) {
      diag_error(w->diags, index->span, "index %s would have %lld places",
                 name_text(w->names, index->name), (long long)v);
    }
  }
  for (uint32_t i = 0; i < eq->reach.n && !quiet; i++) index_check_reach(b, eq, &eq->reach.at[i]);
  return known;
}

// -- equations ------------------------------------------------------------------------------------
static void eq_pad(Body *b, Env *env, Eq *eq, const Syntax *pad) {
  if (!pad) return;
  bool known = static_number(b, env, pad, &eq->pad);
  eq->padded = true;
  if (!known) diag_error(b->w->diags, pad->span, "`pad` wants a number that is known beforehand");
}

// The result axis of a position on the left: its size and label.
static Axis left_axis(Body *b, Eq *eq, const Affine *a, const Axis *want, Span span) {
  World *w = b->w;
  Axis axis = {0};
  if (a->n == 1 && a->c == size_of(w, 0) && a->coef[0] == size_of(w, 1))
    return index_axis(eq, a->var[0]);
  Size one = size_of(w, 1);
  axis.size = size_add(w, a->c, one);
  for (uint32_t k = 0; k < a->n; k++) {
    double sign;
    if (a->label[k]) axis.size = 0;
    if (!axis.size) break;
    if (size_number(w, a->coef[k], &sign) && sign < 0) continue;
    axis.size = size_add(w, axis.size,
                         size_mul(w, a->coef[k], size_sub(w, eq->index.at[a->var[k]].size, one)));
  }
  if (want && !a->group) axis.size = want->size;
  if (want && a->group) sizes_agree(b, axis.size, want->size, span, span, "a group");
  if (!axis.size) return axis;
  if (!a->group) {
    IndexReach reach = {
        .size = axis.size, .coord = {.c = a->c}, .span = span, .padded = eq->padded, .write = true};
    for (uint32_t k = 0; k < a->n; k++)
      if (!a->label[k]) reach.coord = coord_add(w, reach.coord, a->coef[k], a->var[k], false);
    vec_push(w->arena, &eq->reach, reach);
  }
  return axis;
}

typedef struct {
  IndexPlaces p;
  Eq eq;
} Left;

static bool read_left(Left *l, Body *b, Env *env, const Syntax *brackets, const Type *want) {
  World *w = b->w;
  l->p.r = (PlaceReader){.b = b, .env = env, .eq = &l->eq};
  if (!read_places(&l->p, brackets, NULL, NULL, 0)) return false;
  for (uint32_t i = 0; i < l->eq.index.n; i++) l->eq.index.at[i].left = true;
  l->eq.left = true;
  l->eq.mention.n = 0;
  if (want && want->rank != l->p.n)
    return diag_refuse(w->diags, brackets->span, "%u %s on the left for a result of %s", l->p.n,
                       l->p.n == 1 ? "index" : "indices", own_text(w, want));
  for (uint32_t k = 0; want && k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    if (!is_plain_index(w, a)) continue;
    if (sizes_agree(b, l->eq.index.at[a->var[0]].size, want->axis[k].size, l->p.span[k],
                    l->p.span[k], "a result"))
      continue;
    return diag_refuse(
        w->diags, l->p.span[k], "index %s has %s places, but the result wants %s there",
        name_text(w->names, l->eq.index.at[a->var[0]].name),
        size_text(w, l->eq.index.at[a->var[0]].size), size_text(w, want->axis[k].size));
  }
  return true;
}

static bool left_is_plain(World *w, const Left *l) {
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    if (!is_plain_index(w, a)) return false;
    for (uint32_t i = 0; i < k; i++)
      if (l->p.place[i].var[0] == a->var[0]) return false;
  }
  return true;
}

static uint32_t value_axis(Val *v, Axis *room, const Axis *axis) {
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!v->type.axis[i].pass && v->type.axis[i].label == axis->label) return i;
  room[v->type.rank] = *axis;
  return v->type.rank++;
}

// Writes the value at the positions of the left side. Indices only on the left broadcast.
static Val write_left(Body *b, Left *l, Val v, const Type *want, Span span) {
  World *w = b->w;
  bool plain = left_is_plain(w, l);
  if (v.nreduce && (v.combine != SUM) && !plain) val_settle(b, &v);
  Axis room[RANK_LIMIT * 2], out_axis[RANK_LIMIT * 2];
  Access out = {.coord = NEW_ARRAY(w->arena, Coord, RANK_LIMIT * 2)};
  uint32_t old = v.type.rank;
  if (!rank_fits(w, (uint64_t)old + l->eq.index.n, span)) return val_error(span);
  if (old) memcpy(room, v.type.axis, old * sizeof(Axis));
  v.type.axis = room;
  for (uint32_t i = 0; i < old; i++)
    if (room[i].pass) {
      out_axis[out.rank] = room[i];
      out.coord[out.rank++] = coord_index(w, i);
    }
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    Coord c = coord_const(w, a->c);
    for (uint32_t i = 0; i < a->n; i++) {
      Axis axis = index_axis(&l->eq, a->var[i]);
      c = coord_add(w, c, a->coef[i], value_axis(&v, room, &axis), false);
    }
    out_axis[out.rank] = left_axis(b, &l->eq, a, want ? &want->axis[k] : NULL, l->p.span[k]);
    if (!out_axis[out.rank].size) return val_error(span);
    out.coord[out.rank++] = c;
  }
  Type t = type_like(w, &v.type, out.rank, out_axis);
  if (plain && old == v.type.rank && !v.nreduce) {
    uint32_t order[RANK_LIMIT];
    for (uint32_t i = 0; i < out.rank; i++) order[i] = out.coord[i].term[0].var;
    v.type.axis = arena_copy(w->arena, room, old * sizeof(Axis));
    v = val_permute(b, v, order, out.rank);
    v.type = t;
    return v;
  }
  if (v.x->kind == X_WIRE && v.x->padded && v.x->pad == 0 && !plain)
    v.x = without_padding(b, v.x, 0);
  return val_wire(b, val_emit(b, &v, &out, t, span), span);
}

// The size of an axis that is written at labels: the number of labels.
static bool scatter_axis(Body *b, Left *l, uint32_t k, const Type *want, Axis *out) {
  World *w = b->w;
  const Affine *a = &l->p.place[k];
  bool only = a->n == 1 && a->label[0] && a->c == size_of(w, 0) && a->coef[0] == size_of(w, 1);
  Size count = only ? l->p.r.label.at[a->var[0]].type.count : 0;
  if (!want && only) {
    *out = (Axis){.size = count};
    return true;
  }
  if (want && only &&
      !sizes_agree(b, want->axis[k].size, count, l->p.span[k], l->p.span[k], "labels"))
    return diag_refuse(w->diags, l->p.span[k],
                       "these labels are {%s}, but the result has %s places there",
                       size_text(w, count), size_text(w, want->axis[k].size));
  *out = want ? want->axis[k] : left_axis(b, &l->eq, a, NULL, l->p.span[k]);
  if (out->size) return true;
  return diag_refuse(w->diags, l->p.span[k],
                     "how long this axis is, the labels on the left do not say: use them in a "
                     "`return` with a declared type");
}

// Scatter-add, Y[y[i] m] = v: label wires become operands of the write.
static Val scatter(Body *b, Left *l, Val v, const Type *want, Span span) {
  World *w = b->w;
  val_settle(b, &v);
  AxisList list = {0};
  for (uint32_t i = 0; i < v.type.rank; i++) axis_for(&list, &v.type.axis[i]);
  Expr **leaf = NEW_ARRAY(w->arena, Expr *, l->p.r.label.n);
  for (uint32_t i = 0; i < l->p.r.label.n; i++) leaf[i] = label_leaf(b, &list, &l->p.r.label.at[i]);
  Id wire = val_to_wire(b, &v, 0);
  if (!wire) return val_error(span);
  Loop loop = {.combine = SUM};
  Access out = {.coord = NEW_ARRAY(w->arena, Coord, RANK_LIMIT * 2)};
  Axis out_axis[RANK_LIMIT * 2];
  for (uint32_t i = 0; i < list.n && i < RANK_LIMIT; i++)
    if (list.axis[i].pass)
      out_axis[out.rank] = list.axis[i], out.coord[out.rank++] = coord_index(w, i);
  for (uint32_t k = 0; k < l->p.n; k++) {
    const Affine *a = &l->p.place[k];
    Coord c = coord_const(w, a->c);
    for (uint32_t i = 0; i < a->n; i++) {
      Axis axis = a->label[i] ? (Axis){0} : index_axis(&l->eq, a->var[i]);
      c = coord_add(w, c, a->coef[i], a->label[i] ? a->var[i] : axis_for(&list, &axis),
                    a->label[i]);
    }
    if (!scatter_axis(b, l, k, want, &out_axis[out.rank])) return val_error(span);
    out.coord[out.rank++] = c;
  }
  if (!rank_fits(w, (uint64_t)list.n, span) || !rank_fits(w, out.rank, span))
    return val_error(span);
  loop.nindex = list.n;
  loop.index = NEW_ARRAY(w->arena, Index, list.n);
  uint32_t all[RANK_LIMIT];
  for (uint32_t i = 0; i < list.n; i++) {
    all[i] = i;
    Name name = list.axis[i].label ? list.axis[i].label
                                   : name_from(w->names, arena_format(w->arena, "i%u", i));
    loop.index[i] = (Index){name, list.axis[i].size};
  }
  loop.nin = l->p.r.label.n + 1;
  loop.in = NEW_ARRAY(w->arena, Access, loop.nin);
  Id in[RANK_LIMIT + 1];
  for (uint32_t i = 0; i + 1 < loop.nin; i++) {
    loop.in[i] = (Access){.rank = b->d->wire.at[leaf[i]->wire].type.rank, .coord = leaf[i]->coord};
    in[i] = leaf[i]->wire;
  }
  loop.in[loop.nin - 1] = access_plain(w, v.type.rank, all);
  in[loop.nin - 1] = wire;
  loop.out = out;
  scalar_push(w, &loop, (Scalar){.fn = FN_ARG, .base = v.type.base, .ref = loop.nin - 1});
  Type t = type_make(w, v.type.base, out.rank, out_axis);
  return val_wire(b, box_loop(w, b->d, &loop, in, loop.nin, t, origin_at(b, span)), span);
}

// Reports an index that is summed in a product but also used outside of it.
static bool summed_left_over(Body *b, Eq *eq, const Val *v) {
  World *w = b->w;
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t at = 0;
    if (v->type.axis[i].pass || !eq_has(eq, v->type.axis[i].label, &at) || val_reduces(v, i))
      continue;
    const EqIndex *index = &eq->index.at[at];
    if (index->left || index->bound || index->ranged || !index->summed.file) continue;
    Id e =
        diag_error(w->diags, v->span, "index %s is summed, and has no value outside of its product",
                   name_text(w->names, index->name));
    if (index->summed.at != v->span.at || index->summed.n != v->span.n)
      diag_note(w->diags, e, index->summed, "summed here");
    return true;
  }
  return false;
}

// y[i] = softmax[j](S[i j]): results of calls are not summed implicitly, so j is an error.
static bool called_left_over(Body *b, const Eq *eq, const Val *v) {
  for (uint32_t i = 0; i < v->type.rank; i++) {
    Name name = v->type.axis[i].label;
    if (v->type.axis[i].pass || val_reduces(v, i) || eq_has(eq, name, NULL) ||
        !names_have(&eq->called, name))
      continue;
    const char *text = name_text(b->w->names, name);
    Id e = diag_error(b->w->diags, v->span, "index %s stays here, and is not on the left", text);
    diag_help(b->w->diags, e, "write `sum[%s](…)` where a sum is meant", text);
    return true;
  }
  return false;
}

// The remaining axes of a call's result, as i and j of softmax[j](Q[i c] K[j c]), unify with
// indices of the left side by name.
static bool meet_indices(Body *b, Eq *eq, const Val *v) {
  for (uint32_t i = 0; i < v->type.rank; i++) {
    uint32_t index;
    const Axis *axis = &v->type.axis[i];
    if (axis->pass || val_reduces(v, i) || !eq_has(eq, axis->label, &index)) continue;
    EqIndex *e = &eq->index.at[index];
    if (e->ranged) return range_left_over(b, e);
    if (sizes_agree(b, e->size, axis->size, v->span, e->span, "an index")) continue;
    return diag_refuse(b->w->diags, v->span, "index %s has %s places on the left, but %s here",
                       name_text(b->w->names, e->name), size_text(b->w, e->size),
                       size_text(b->w, axis->size));
  }
  return true;
}

static Val equation_with_left(Body *b, Env *env, const Syntax *brackets, const Syntax *expr,
                              const Syntax *pad, const Type *want, Span span) {
  Left l = {0};
  uint32_t errors = b->w->diags->met, first = b->d->box.n;
  eq_pad(b, env, &l.eq, pad);
  if (!read_left(&l, b, env, brackets, want)) return val_error(span);
  Val v = eval_one(b, env, expr, &l.eq);
  if (v.error || summed_left_over(b, &l.eq, &v) || called_left_over(b, &l.eq, &v))
    return val_error(span);
  Type one = want ? type_like(b->w, want, 0, NULL) : (Type){.base = BASE_R};
  if (v.literal) v = val_fill(b, v, one);
  uint32_t own[RANK_LIMIT];
  if (!v.indexed && own_axes(&v.type, own)) {
    bool all = true;
    for (uint32_t i = 0; i < v.type.rank; i++)
      all &= v.type.axis[i].pass || eq_has(&l.eq, v.type.axis[i].label, NULL);
    if (!all) {
      Id e = diag_error(b->w->diags, expr->span,
                        "the left side has indices, but the right side is %s without them",
                        own_text(b->w, &v.type));
      diag_help(b->w->diags, e, "as many indices as axes, always");
      return val_error(span);
    }
  }
  if (!meet_indices(b, &l.eq, &v)) return val_error(span);
  Val written = l.p.r.label.n ? scatter(b, &l, v, want, span) : write_left(b, &l, v, want, span);
  if (!eq_finish(b, env, &l.eq, written.error || b->w->diags->met > errors)) return val_error(span);
  warn_shared_draws(b, &v, &l.eq, first, true);
  written.span = span;
  written.indexed = written.access = false;
  return written;
}

// Unifies the sizes of free indices with the declared result.
static void take_sizes(Body *b, const Val *v, const Type *want, Span span) {
  uint32_t stay[RANK_LIMIT], n = 0;
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!v->type.axis[i].pass && !val_reduces(v, i)) stay[n++] = i;
  for (uint32_t k = 0; k < n && n == want->rank; k++)
    sizes_agree(b, v->type.axis[stay[k]].size, want->axis[k].size, span, span, "a result");
}

// An axis that is a range keeps the label of its source axis.
static void label_ranges(Body *b, const Eq *eq, Val *v) {
  uint32_t index;
  v->type.axis = arena_copy(b->w->arena, v->type.axis, v->type.rank * sizeof(Axis));
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (eq_has(eq, v->type.axis[i].label, &index) && eq->index.at[index].ranged)
      v->type.axis[i].label = eq->index.at[index].label;
}

static Value without_left(Body *b, Env *env, Eq *eq, const Syntax *expr, const Type *want,
                          Span span) {
  uint32_t errors = b->w->diags->met, first = b->d->box.n;
  Value v = eval(b, env, expr, eq);
  bool failed = false;
  for (uint32_t i = 0; i < v.n; i++) {
    Val *one = &v.at[i];
    if (!one->error && summed_left_over(b, eq, one)) *one = val_error(span);
    failed |= one->error;
    if (one->error) continue;
    warn_shared_draws(b, one, eq, first, true);
    if (want && one->indexed && v.n == 1) take_sizes(b, one, want, span);
    one->indexed = one->access = false;
    label_ranges(b, eq, one);
  }
  if (!eq_finish(b, env, eq, failed || b->w->diags->met > errors))
    for (uint32_t i = 0; i < v.n; i++) v.at[i] = val_error(span);
  return v;
}

static Value equation_result(Body *b, Env *env, const Syntax *brackets, const Syntax *expr,
                             const Syntax *pad, const Type *want, Span span) {
  if (brackets) return value_one(b, equation_with_left(b, env, brackets, expr, pad, want, span));
  if (expr->kind == N_TUPLE) { // each part has its own index scope
    WideValue all = {0};
    for (uint32_t i = 0; i < tuple_values(expr).n; i++) {
      const Syntax *part = tuple_values(expr).at[i];
      Value one = eval_equation(b, env, NULL, part, pad, NULL, part->span);
      if (!value_join(b, &all, one, span)) break;
    }
    return all.value;
  }
  Eq eq = {0};
  eq_pad(b, env, &eq, pad);
  return without_left(b, env, &eq, expr, want, span);
}

Value eval_equation(Body *b, Env *env, const Syntax *brackets, const Syntax *expr,
                    const Syntax *pad, const Type *want, Span span) {
  uint32_t mark = trace_begin(b);
  return trace_value(b, env, expr, mark, equation_result(b, env, brackets, expr, pad, want, span),
                     true);
}

Value eval_argument(Body *b, Env *env, const Syntax *n, const Eq *around) {
  if (n->kind == N_TUPLE || !around) return eval_alone(b, env, n);
  Eq eq = {.around = around, .padded = around->padded, .pad = around->pad};
  uint32_t mark = trace_begin(b);
  return trace_value(b, env, n, mark, without_left(b, env, &eq, n, NULL, n->span), true);
}
