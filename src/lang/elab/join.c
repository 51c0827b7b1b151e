// Joining values along axes: broadcasting, `concat` along an existing axis, [x, y] along a new one.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/builtin.h"

// Broadcasts to `more` axes, and permutes all axes by `out`.
static Val spread_along(Body *b, Val v, const Axis *added, uint32_t more, const uint32_t *out,
                        uint32_t n, Span span) {
  Axis axis[RANK_LIMIT], final[RANK_LIMIT];
  uint32_t all = v.type.rank + more;
  if (!more) return val_permute(b, v, out, n);
  if (v.type.rank) memcpy(axis, v.type.axis, v.type.rank * sizeof(Axis));
  memcpy(axis + v.type.rank, added, more * sizeof(Axis));
  Val wide = v;
  wide.type = type_like(b->w, &v.type, all, axis);
  for (uint32_t k = 0; k < n; k++) final[k] = axis[out[k]];
  Type t = type_like(b->w, &v.type, n, final);
  Access access = access_plain(b->w, n, out);
  return val_wire(b, val_emit(b, &wide, &access, t, span), span);
}

Val arrange_axes(Body *b, Val v, const Axis *want, uint32_t n, Span span) {
  Axis added[RANK_LIMIT];
  uint32_t out[RANK_LIMIT], own[RANK_LIMIT], more = 0, next = 0;
  if (v.error || !rank_fits(b->w, n, span)) return val_error(span);
  own_axes(&v.type, own);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at = want[k].pass ? UINT32_MAX : own[next++];
    for (uint32_t i = 0; want[k].pass && i < v.type.rank; i++)
      if (v.type.axis[i].pass == want[k].pass) at = i;
    if (at == UINT32_MAX) added[more] = want[k], at = v.type.rank + more++;
    out[k] = at;
  }
  return spread_along(b, v, added, more, out, n, span);
}

Val with_rows(Body *b, Val v, const Type *want, uint32_t rows, Span span) {
  Axis added[RANK_LIMIT];
  uint32_t out[RANK_LIMIT], own[RANK_LIMIT], n = own_axes(&v.type, own), all[RANK_LIMIT];
  uint32_t taken = own_axes(want, all) - rows, more = 0, next = 0, have = 0, met = 0;
  if (n < taken || n > taken + rows) return v;
  for (uint32_t k = 0; k < want->rank; k++) {
    const Axis *axis = &want->axis[k];
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; axis->pass && i < v.type.rank; i++)
      if (v.type.axis[i].pass == axis->pass) at = i;
    if (!axis->pass && next >= rows) at = own[n - taken + next - rows];
    if (!axis->pass && next < rows && have + taken < n)
      if (n == taken + rows || v.type.axis[own[have]].label == axis->label) at = own[have++], met++;
    next += !axis->pass;
    if (at == UINT32_MAX) added[more] = *axis, at = v.type.rank + more++;
    out[k] = at;
  }
  if (met + taken < n) return v;
  return spread_along(b, v, added, more, out, want->rank, span);
}

Val for_each_row(Body *b, Val v, const Axis *pass, uint32_t npass, Span span) {
  Axis want[RANK_LIMIT * 2];
  uint32_t n = 0;
  val_settle(b, &v);
  for (uint32_t p = 0; p < npass; p++) {
    bool have = false;
    for (uint32_t k = 0; k < v.type.rank; k++) have |= v.type.axis[k].pass == pass[p].pass;
    if (!have) want[n++] = pass[p];
  }
  if (!n || v.error) return v;
  if (v.type.rank) memcpy(want + n, v.type.axis, v.type.rank * sizeof(Axis));
  return arrange_axes(b, v, want, n + v.type.rank, span);
}

Val broadcast_to(Body *b, Val v, const Axis *pass, uint32_t npass, Span span) {
  Axis want[RANK_LIMIT * 2];
  uint32_t n = npass;
  memcpy(want, pass, npass * sizeof(Axis));
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (!v.type.axis[i].pass) want[n++] = v.type.axis[i];
  return arrange_axes(b, v, want, n, span);
}

uint32_t all_passing(const Value *args, Axis *pass) {
  uint32_t n = 0;
  for (uint32_t id = 1; id <= RANK_LIMIT; id++)
    for (uint32_t a = 0, found = 0; a < args->n && !found; a++)
      for (uint32_t i = 0; i < args->at[a].type.rank && !found; i++)
        if (args->at[a].type.axis[i].pass == id) pass[n++] = args->at[a].type.axis[i], found = 1;
  return n;
}

static bool join_place(Body *b, const Value *args, const Syntax *config, uint32_t *at, Span span) {
  World *w = b->w;
  const Syntax *items = brackets_first(config);
  uint32_t own[RANK_LIMIT], n = own_axes(&args->at[0].type, own);
  if (!n)
    return diag_refuse(w->diags, span, "`concat` joins along an axis, but this is one number");
  *at = n - 1;
  if (!items) return true;
  if (items_in(items).n != 1 || items_in(items).at[0]->kind != N_NAME)
    return diag_refuse(w->diags, config->span, "`concat` joins along one axis: `concat[n](a, b)`");
  const Syntax *along = items_in(items).at[0];
  for (uint32_t a = 0; a < args->n; a++) {
    uint32_t k = own_axes(&args->at[a].type, own);
    uint32_t found = find_axis(w, &args->at[a], along->name, own, k, "concat", at);
    if (found) return found == 1;
  }
  return diag_refuse(w->diags, along->span, "no argument of `concat` has an axis %s",
                     name_text(w->names, along->name));
}

// Do two values have equal bases and own axes, but for the axis `skip`?
static bool rows_fit(Body *b, const Type *z, const Type *t, uint32_t skip, Span span,
                     const char *what) {
  uint32_t first[RANK_LIMIT], own[RANK_LIMIT], n = own_axes(z, first);
  bool fits = own_axes(t, own) == n && t->base == z->base &&
              (t->base != BASE_LABEL || sizes_agree(b, z->count, t->count, span, span, "labels"));
  for (uint32_t i = 0; fits && i < n; i++)
    fits =
        i == skip || sizes_agree(b, z->axis[first[i]].size, t->axis[own[i]].size, span, span, what);
  return fits;
}

Value builtin_concat(const BuiltinUse *u) {
  Body *b = u->b;
  World *w = b->w;
  Span span = u->span;
  Value args = u->args;
  if (!args.n) return value_refuse(b, span, span, "`concat` wants values to join");
  for (uint32_t i = 0; i < args.n; i++) {
    if (args.at[i].error) return value_error(b, span);
    if (args.at[i].literal)
      return value_refuse(b, span, args.at[i].span, "a bare number has no axis to join along");
    val_settle(b, &args.at[i]);
  }
  uint32_t at;
  if (!join_place(b, &args, u->config, &at, span)) return value_error(b, span);
  if (brackets_items(u->config).n == 1) use_label_as_axis(u->env, brackets_items(u->config).at[0]);
  Axis pass[RANK_LIMIT];
  uint32_t npass = all_passing(&args, pass);
  Ids wire = {0};
  for (uint32_t a = 0; a < args.n; a++) {
    const Type *t = &args.at[a].type, *z = &args.at[0].type;
    if (!rows_fit(b, z, t, at, span, "joined values"))
      return value_refuse(b, span, args.at[a].span,
                          "%s cannot be joined to %s: %sall axes but the joined one must agree",
                          own_text(w, t), own_text(w, z),
                          t->base == BASE_LABEL ? "labels, and " : "");
    Val v = broadcast_to(b, args.at[a], pass, npass, span);
    vec_push(w->arena, &wire, val_to_wire(b, &v, 0));
    if (!wire.at[a]) return value_error(b, span);
  }
  Id out = box_join(w, b->d, npass + at, wire.at, wire.n, origin_at(b, span));
  b->d->wire.at[out].type.axis[npass + at].label = 0;
  return value_one(b, val_wire(b, out, span));
}

// -- stacking -------------------------------------------------------------------------------------
static Val with_new_axis(Body *b, Val v, uint32_t npass, Span span) {
  Axis one = {.size = size_of(b->w, 1)};
  uint32_t out[RANK_LIMIT];
  for (uint32_t k = 0; k <= v.type.rank; k++)
    out[k] = k < npass ? k : k == npass ? v.type.rank : k - 1;
  return spread_along(b, v, &one, 1, out, v.type.rank + 1, span);
}

// Literals take the type of the other rows.
static bool fill_rows(Body *b, Value *rows) {
  const Val *model = NULL;
  for (uint32_t i = 0; i < rows->n; i++)
    if (!rows->at[i].literal) {
      val_settle(b, &rows->at[i]);
      if (!model || rows->at[i].type.rank > model->type.rank) model = &rows->at[i];
    }
  Type t = {.base = BASE_R};
  if (model) t = model->type;
  for (uint32_t i = 0; i < rows->n; i++) {
    if (!rows->at[i].literal) continue;
    if (t.base == BASE_LABEL)
      return diag_refuse(b->w->diags, rows->at[i].span, "a number is not a label");
    rows->at[i] = val_fill(b, rows->at[i], t);
  }
  return true;
}

Value stack_rows(Body *b, Value rows, Span span) {
  World *w = b->w;
  Axis pass[RANK_LIMIT];
  Ids wire = {0};
  uint32_t first[RANK_LIMIT];
  if (!fill_rows(b, &rows)) return value_error(b, span);
  uint32_t npass = all_passing(&rows, pass);
  const Type *z = &rows.at[0].type;
  uint32_t n = own_axes(z, first);
  for (uint32_t a = 0; a < rows.n; a++) {
    const Type *t = &rows.at[a].type;
    bool fits = rows_fit(b, z, t, UINT32_MAX, span, "rows");
    if (!rank_fits(w, (uint64_t)npass + n + 2, span)) return value_error(b, span);
    if (!fits) {
      diag_error(w->diags, rows.at[a].span, "the first entry of this list is %s, but this is %s",
                 own_text(w, z), own_text(w, t));
      return value_error(b, span);
    }
    Val v = with_new_axis(b, broadcast_to(b, rows.at[a], pass, npass, span), npass, span);
    vec_push(w->arena, &wire, val_to_wire(b, &v, 0));
    if (!wire.at[a]) return value_error(b, span);
  }
  Id out = box_join(w, b->d, npass, wire.at, wire.n, origin_at(b, span));
  return value_one(b, val_wire(b, out, span));
}
