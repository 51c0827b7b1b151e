// Arguments meet parameters. A parameter takes the last axes of its argument, as many as it names,
// or the axis that an option selects by its label; names of axes are bound to what they meet. The
// axes left in front pass over the box: over all arguments they make one list.
#include "call.h"

// -- matching an argument with a parameter --------------------------------------------------------

const char *call_name(const Call *c) { return name_text(c->b->w->names, c->def->name); }

static bool is_over(const Call *c, Name label) {
  for (uint32_t i = 1; c->over && label && i < c->over->nkid; i++)
    if (c->over->kid[i]->name == label) return true;
  return false;
}

static Name along_label(const Call *c, const Node *item) {
  if (item->kind != N_NAME) return 0;
  uint32_t at;
  if (!cfg_named(c->h->cfg, item->name, &at)) return 0;
  Binding *bind = env_find(c->to, item->name);
  return bind && bind->kind == BIND_OPTION && !bind->open ? bind->label : 0;
}

// Where to complain about an argument: at itself if it is written in the call, at the box if it
// comes along a pipe.
bool inside(Span s, Span whole) {
  return s.file == whole.file && s.at >= whole.at && s.at + s.n <= whole.at + whole.n;
}

static Span place_of(const Call *c, const Val *arg) {
  return inside(arg->span, c->span) || !c->span.file || c->b->distance ? arg->span : c->span;
}

// The formal axis meets an actual one: its name is bound, or must agree with what it is bound to.
static bool bind_axis(const Call *c, const Node *item, const Axis *actual, const Val *arg,
                      Axis *inner) {
  World *w = c->b->w;
  Binding *bind = item->kind == N_NAME ? env_find(c->to, item->name) : NULL;
  if (item->kind == N_NAME && !bind) {
    Def *d = scope_find(c->to->scope, item->name);
    if (!d || d->kind != DEF_AXIS) {
      *inner = (Axis){.label = item->name, .size = actual->size};
      env_bind(c->to, item->name,
               (Binding){.kind = BIND_SIZE,
                         .size = actual->size,
                         .label = actual->label,
                         .decl = actual->decl,
                         .span = arg->span});
      return true;
    }
  }
  Axis formal[RANK_LIMIT];
  Node items = {.kind = N_ITEMS, .nkid = 1, .kid = (Node *[]){(Node *)item}, .span = item->span};
  Node brackets = {.kind = N_BRACKETS, .nkid = 1, .kid = (Node *[]){&items}, .span = item->span};
  if (axes_eval(c->b, c->to, &brackets, true, formal) != 1) return false;
  *inner = formal[0];
  if (bind && bind->kind == BIND_OPTION && !bind->label) bind->label = actual->label;
  if (item->kind == N_SIZED && env_find(c->to, item->name))
    env_find(c->to, item->name)->label = actual->label;
  if (formal[0].decl && actual->decl && formal[0].decl != actual->decl) {
    Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants axis %s here, but this is axis %s",
                      call_name(c), name_text(w->names, formal[0].label),
                      name_text(w->names, actual->label));
    diag_help(w->diags, e, "both are declared, and they are not the same even if their sizes are");
    diag_note(w->diags, e, item->span, "declared here");
    return false;
  }
  if (sizes_agree(c->b, formal[0].size, actual->size, arg->span, item->span, "an argument"))
    return true;
  const char *label = name_text(w->names, actual->label), *wanted = size_text(w, formal[0].size);
  Id e;
  if (arg->type.base == BASE_LABEL && !actual->label && actual->size == arg->type.count)
    e = diag_error(w->diags, place_of(c, arg), "`%s` wants labels of %s%s%s, but this is %s",
                   call_name(c), name_text(w->names, formal[0].label), formal[0].label ? " = " : "",
                   wanted, own_text(w, &arg->type));
  else if (formal[0].label)
    e = diag_error(w->diags, place_of(c, arg),
                   "`%s` wants its axis %s to be %s, but %s has %s%s%s there", call_name(c),
                   name_text(w->names, formal[0].label), wanted, own_text(w, &arg->type), label,
                   *label ? " = " : "", size_text(w, actual->size));
  else
    e = diag_error(w->diags, place_of(c, arg), "`%s` wants an axis of %s, but %s has %s%s%s there",
                   call_name(c), wanted, own_text(w, &arg->type), label, *label ? " = " : "",
                   size_text(w, actual->size));
  Size all = size_of(w, 1);
  uint32_t own = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++)
    if (!arg->type.axis[i].pass) all = size_mul(w, all, arg->type.axis[i].size), own++;
  if (own > 1 && size_now(w, all) == size_now(w, formal[0].size))
    diag_help(w->diags, e, "`flatten` makes one axis of all");
  if (bind && bind->span.file)
    diag_note(w->diags, e, bind->span, "%s = %s comes from here", name_text(w->names, item->name),
              size_text(w, formal[0].size));
  else
    diag_note(w->diags, e, item->span, "declared here");
  return false;
}

const Node *formal_items(const Formal *f, uint32_t *n) {
  const Node *brackets = f->type && f->type->nkid > 1 ? f->type->kid[1] : NULL;
  const Node *items = brackets && brackets->nkid ? brackets->kid[0] : NULL;
  *n = items ? items->nkid : 0;
  return items;
}

static bool wrong_base(const Call *c, const Formal *f, const Val *arg, Base want) {
  if (arg->type.base == want) return false;
  World *w = c->b->w;
  const char *word = want == BASE_R ? "real numbers" : want == BASE_BIT ? "bits" : "labels";
  Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %s, but this is %s", call_name(c), word,
                    own_text(w, &arg->type));
  if (arg->type.base == BASE_LABEL)
    diag_help(w->diags, e,
              "labels are not numbers: `one_hot(x)`, `number(x)`, `embed[m](x)`, or the label as "
              "an index");
  diag_note(w->diags, e, f->span, "the parameter");
  return true;
}

static bool take_spread(const Call *c, const Node *item, const Val *arg, const uint32_t *own,
                        uint32_t n, Match *m, Axis *inner) {
  World *w = c->b->w;
  Binding *s = env_find(c->to, item->name);
  if (s && s->kind == BIND_SPREAD) {
    bool same = s->naxis == n;
    for (uint32_t i = 0; same && i < n; i++)
      same = sizes_agree(c->b, s->axis[i].size, arg->type.axis[own[i]].size, arg->span, s->span,
                         "a row of axes");
    if (!same) {
      Type first = {.base = BASE_R,
                    .rank = s->naxis,
                    .axis = arena_copy(w->arena, s->axis, s->naxis * sizeof(Axis))};
      for (uint32_t i = 0; i < s->naxis; i++) first.axis[i].label = 0;
      Id e = diag_error(w->diags, place_of(c, arg),
                        "`%s` wants the same axes in both: %s here, but %s before", call_name(c),
                        own_text(w, &arg->type), own_text(w, &first));
      diag_note(w->diags, e, s->span, "the other one");
      return false;
    }
  } else {
    Binding row = {
        .kind = BIND_SPREAD, .naxis = n, .axis = NEW_ARRAY(w->arena, Axis, n), .span = arg->span};
    for (uint32_t i = 0; i < n; i++) row.axis[i] = arg->type.axis[own[i]];
    bind_spread(c->to, w, item->name, row);
    s = env_find(c->to, item->name);
  }
  for (uint32_t i = 0; i < n; i++) m->take[m->ntake++] = own[i], *inner++ = s->axis[i];
  return true;
}

static bool find_along(const Call *c, Name label, const Val *arg, uint32_t *own, uint32_t n,
                       uint32_t *at) {
  World *w = c->b->w;
  uint32_t found = 0;
  for (uint32_t i = 0; i < n; i++)
    if (own[i] != UINT32_MAX && arg->type.axis[own[i]].label == label) *at = i, found++;
  if (found == 1) return true;
  if (found)
    diag_error(w->diags, arg->span,
               "%s has two axes called %s: which one `%s` works along is not clear",
               own_text(w, &arg->type), name_text(w->names, label), call_name(c));
  return false;
}

bool match_formal(const Call *c, const Formal *f, const Val *arg, Match *m) {
  World *w = c->b->w;
  uint32_t own[RANK_LIMIT], n = 0, count;
  Axis inner[RANK_LIMIT];
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (arg->type.axis[i].pass) continue;
    if (is_over(c, arg->type.axis[i].label))
      m->rest[m->nrest++] = i;
    else
      own[n++] = i;
  }
  m->type = arg->type;
  if (!f->type && !f->fixed) { // nothing said: everything is taken as it is
    for (uint32_t i = 0; i < n; i++)
      m->take[m->ntake++] = own[i], inner[i] = arg->type.axis[own[i]];
    m->type.axis = arena_copy(w->arena, inner, n * sizeof(Axis));
    m->type.rank = n;
    return true;
  }
  const Node *items = formal_items(f, &count), *base = f->type ? f->type->kid[0] : NULL;
  if (f->fixed) count = f->known.rank;
  Base want = f->fixed                                            ? (Base)f->known.base
              : base->kind == N_LABELS                            ? BASE_LABEL
              : strcmp(name_text(w->names, base->name), "B") == 0 ? BASE_BIT
                                                                  : BASE_R;
  if (base && base->kind == N_NAME && want == BASE_R &&
      strcmp(name_text(w->names, base->name), "R") != 0) {
    Types none = {0};
    types_eval(c->b, c->to, f->type, true, &none, NULL); // says what is wrong with the type
    return false;
  }
  if (wrong_base(c, f, arg, want)) return false;
  if (want == BASE_LABEL && !f->fixed) {
    const Node *size = base->nkid == 1 ? base->kid[0] : NULL;
    Axis a = {.size = arg->type.count}, ignored;
    if (size && !bind_axis(c, size, &a, arg, &ignored)) return false;
    m->type.count = arg->type.count;
  }
  uint32_t spread = 0;
  for (uint32_t i = 0; items && i < count; i++) spread += items->kid[i]->kind == N_SPREAD;
  if (spread > 1 || count > RANK_LIMIT) {
    diag_error(
        w->diags, f->span,
        spread > 1
            ? "one row of axes is enough: where the first ends and the next begins is not clear"
            : "more than %d axes",
        RANK_LIMIT);
    return false;
  }
  if (n + spread < count) {
    Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %u %s, but %s has %u", call_name(c),
                      count - spread, count - spread == 1 ? "axis" : "axes",
                      own_text(w, &arg->type), n);
    diag_note(w->diags, e, f->span, "the parameter");
    return false;
  }
  // First the axes that an option selects by label, wherever they stand; then the last ones.
  uint32_t chosen[RANK_LIMIT], picked[RANK_LIMIT];
  for (uint32_t i = 0; i < count && !f->fixed; i++) {
    Name label = along_label(c, items->kid[i]);
    chosen[i] = UINT32_MAX;
    if (!label) continue;
    uint32_t at;
    if (!find_along(c, label, arg, own, n, &at)) {
      Binding *bind = env_find(c->to, items->kid[i]->name);
      if (bind->size && n && own[n - 1] != UINT32_MAX && !arg->type.axis[own[n - 1]].label)
        continue; // an axis without a label meets anything of its size
      Id e = diag_error(w->diags, place_of(c, arg), "`%s` works along %s, but %s has no such axis",
                        call_name(c), name_text(w->names, label), own_text(w, &arg->type));
      diag_note(w->diags, e, bind->span, "chosen here");
      const char *near = nearest_label(w, &arg->type, label);
      if (near) diag_help(w->diags, e, "did you mean `%s`?", near);
      return false;
    }
    chosen[i] = own[at];
    own[at] = UINT32_MAX;
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++)
    if (own[i] != UINT32_MAX) picked[left++] = own[i];
  uint32_t need = 0;
  for (uint32_t i = 0; i < count; i++)
    need += f->fixed || (items->kid[i]->kind != N_SPREAD && chosen[i] == UINT32_MAX);
  uint32_t taken = spread ? left : need; // ...s takes all
  uint32_t at = left - taken;
  for (uint32_t i = 0; i < at; i++) m->rest[m->nrest++] = picked[i];
  for (uint32_t i = 0; i < count; i++) {
    const Node *item = items ? items->kid[i] : NULL;
    if (item && item->kind == N_SPREAD) {
      uint32_t many = left - at;
      for (uint32_t k = i + 1; k < count; k++) many -= chosen[k] == UINT32_MAX;
      if (!take_spread(c, item, arg, picked + at, many, m, inner + m->ntake)) return false;
      at += many;
      continue;
    }
    uint32_t from = !f->fixed && chosen[i] != UINT32_MAX ? chosen[i] : picked[at++];
    const Axis *actual = &arg->type.axis[from];
    if (f->fixed) {
      inner[m->ntake] = f->known.axis[i];
      const Axis *formal = &f->known.axis[i];
      if (formal->decl && actual->decl && formal->decl != actual->decl) {
        diag_error(w->diags, arg->span, "`%s` wants axis %s here, but this is axis %s",
                   call_name(c), name_text(w->names, formal->label),
                   name_text(w->names, actual->label));
        return false;
      }
      if (!sizes_agree(c->b, formal->size, actual->size, arg->span, f->span, "an argument")) {
        Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants %s, but this is %s", call_name(c),
                          own_text(w, &f->known), own_text(w, &arg->type));
        diag_note(w->diags, e, f->span, "the parameter");
        return false;
      }
    } else if (!bind_axis(c, item, actual, arg, &inner[m->ntake])) {
      return false;
    }
    m->take[m->ntake++] = from;
  }
  // keep what is in front in the order in which it stands
  for (uint32_t i = 1; i < m->nrest; i++)
    for (uint32_t k = i; k > 0 && m->rest[k] < m->rest[k - 1]; k--) {
      uint32_t swap = m->rest[k];
      m->rest[k] = m->rest[k - 1];
      m->rest[k - 1] = swap;
    }
  m->type.axis = arena_copy(w->arena, inner, m->ntake * sizeof(Axis));
  m->type.rank = m->ntake;
  return true;
}

// -- what passes over -----------------------------------------------------------------------------

// A label that all arguments have, though not as their last axis: was it meant to pass over?
static Name common_label(const Value *args) {
  for (uint32_t k = 0; args->n && k + 1 < args->at[0].type.rank; k++) {
    const Axis *axis = &args->at[0].type.axis[k];
    bool all = !axis->pass && axis->label;
    for (uint32_t a = 1; a < args->n && all; a++) {
      all = false;
      for (uint32_t i = 0; i + 1 < args->at[a].type.rank; i++)
        all |= !args->at[a].type.axis[i].pass && args->at[a].type.axis[i].label == axis->label;
    }
    if (all) return axis->label;
  }
  return 0;
}

static void outer_product(const Call *c, const Value *args, const Val *arg, const Val *other) {
  World *w = c->b->w;
  Name label = c->over ? 0 : common_label(args);
  Id e = diag_error(w->diags, place_of(c, arg),
                    "the axes that pass over `%s` do not fit: %s here, %s there", call_name(c),
                    own_text(w, &arg->type), own_text(w, &other->type));
  if (label)
    diag_help(w->diags, e, "did you mean `%s(…) over %s`?", call_name(c),
              name_text(w->names, label));
  else
    diag_help(w->diags, e, "limn never makes an outer product by itself: write the index equation");
  if (other->span.at != arg->span.at) diag_note(w->diags, e, other->span, "the other one");
}

static bool same_axis(const Axis *a, const Axis *z) {
  return a->label && z->label ? a->label == z->label : !a->label && !z->label;
}

// All arguments' passing axes as one list; where[i][k] is the place of the k-th passing axis of
// argument i.
bool merge_passing(const Call *c, const Value *args, const Match *m, Passing *p,
                   uint32_t (*where)[RANK_LIMIT]) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < args->n; i++)
    if (m[i].nrest > m[most].nrest) most = i;
  for (uint32_t i = 0; args->n && i < m[most].nrest; i++)
    p->axis[p->n++] = args->at[most].type.axis[m[most].rest[i]];
  for (uint32_t a = 0; a < args->n; a++) {
    const Val *arg = &args->at[a];
    uint32_t at = p->n;
    for (uint32_t k = m[a].nrest; k-- > 0;) {
      const Axis *axis = &arg->type.axis[m[a].rest[k]];
      uint32_t found = UINT32_MAX;
      bool over = is_over(c, axis->label); // found by its name wherever it stands
      for (uint32_t i = over ? p->n : at; i-- > 0 && found == UINT32_MAX;)
        if (same_axis(&p->axis[i], axis) || (!axis->label && i == at - 1) ||
            (!p->axis[i].label && i == at - 1))
          found = i;
      if (found == UINT32_MAX || !sizes_agree(c->b, p->axis[found].size, axis->size, arg->span,
                                              c->span, "axes that pass over")) {
        outer_product(c, args, arg, &args->at[most]);
        return false;
      }
      where[a][k] = found;
      if (!over) at = found;
    }
  }
  return true;
}
