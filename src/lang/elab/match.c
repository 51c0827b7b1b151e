// Matches arguments with parameters. A parameter consumes the last axes of its argument, as many as
// it names, or the axis that an option selects by label; its axis names are bound to their sizes.
// The remaining axes in front become batch axes, merged over all arguments.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/call.h"
#include "lang/elab/partial.h"

// -- one argument ---------------------------------------------------------------------------------

const char *call_name(const Call *c) { return name_text(c->b->w->names, c->def->name); }

static bool is_over(const Call *c, Name label) {
  for (uint32_t i = 0; c->over && label && i < over_names(c->over).n; i++)
    if (over_names(c->over).at[i]->name == label) return true;
  return false;
}

static Name along_label(const Call *c, const Syntax *item) {
  if (item->kind != N_NAME) return 0;
  uint32_t at;
  if (!cfg_named(c->h->cfg, item->name, &at)) return 0;
  Binding *bind = env_meaning(c->to, item);
  return bind && bind->kind == BIND_OPTION && !bind->open ? bind->label : 0;
}

// Where to report an argument: at itself if it is written in the call, at the box if it comes from
// a pipe.
bool inside(Span s, Span whole) {
  return s.file == whole.file && s.at >= whole.at && s.at + s.n <= whole.at + whole.n;
}

static Span place_of(const Call *c, const Val *arg) {
  return inside(arg->span, c->span) || !c->span.file || c->b->distance ? arg->span : c->span;
}

// An option that names an axis without a size.
static bool is_label_only(const Binding *bind) {
  return bind->kind == BIND_OPTION && bind->label && !bind->size && !bind->open &&
         !bind->has_number && !bind->box.node && !bind->text;
}

// An unbound name, or an option that is only a label, is bound to the axis it meets.
static bool takes_axis(const Call *c, const Syntax *item, const Axis *actual, Span span,
                       Axis *inner) {
  Binding *bind = item->kind == N_NAME ? env_meaning(c->to, item) : NULL;
  if (bind && is_label_only(bind)) {
    bind->size = actual->size;
    *inner = (Axis){.label = item->name, .size = actual->size};
    return true;
  }
  if (item->kind != N_NAME || bind) return false;
  Def *d = scope_meaning(c->to->scope, item);
  if (d && (d->kind == DEF_AXIS || d->kind == DEF_CONST)) return false;
  *inner = (Axis){.label = item->name, .size = actual->size};
  env_bind(c->to, item->name,
           (Binding){.kind = BIND_SIZE,
                     .size = actual->size,
                     .label = actual->label,
                     .decl = actual->decl,
                     .named = item->span,
                     .span = span});
  return true;
}

static void report_other_axis(const Call *c, const Syntax *item, const Axis *formal,
                              const Axis *actual, const Val *arg) {
  World *w = c->b->w;
  Id e = diag_error(w->diags, place_of(c, arg), "`%s` wants axis %s here, but this is axis %s",
                    call_name(c), name_text(w->names, formal->label),
                    name_text(w->names, actual->label));
  diag_help(w->diags, e, "both are declared, and they are not the same even if their sizes are");
  diag_note(w->diags, e, item->span, "declared here");
  clash_note(c->b, *formal, *actual);
}

static Id report_size(const Call *c, const Axis *formal, const Axis *actual, const Val *arg) {
  World *w = c->b->w;
  const char *label = name_text(w->names, actual->label), *wanted = size_text(w, formal->size);
  if (arg->type.base == BASE_LABEL && !actual->label && actual->size == arg->type.count)
    return diag_error(w->diags, place_of(c, arg), "`%s` wants labels of %s%s%s, but this is %s",
                      call_name(c), name_text(w->names, formal->label), formal->label ? " = " : "",
                      wanted, own_text(w, &arg->type));
  if (formal->label)
    return diag_error(w->diags, place_of(c, arg),
                      "`%s` wants its axis %s to be %s, but %s has %s%s%s there", call_name(c),
                      name_text(w->names, formal->label), wanted, own_text(w, &arg->type), label,
                      *label ? " = " : "", size_text(w, actual->size));
  return diag_error(w->diags, place_of(c, arg), "`%s` wants an axis of %s, but %s has %s%s%s there",
                    call_name(c), wanted, own_text(w, &arg->type), label, *label ? " = " : "",
                    size_text(w, actual->size));
}

// bind: the earlier binding of the formal axis, or NULL
static void report_other_size(const Call *c, const Syntax *item, const Binding *bind,
                              const Axis *formal, const Axis *actual, const Val *arg) {
  World *w = c->b->w;
  Id e = report_size(c, formal, actual, arg);
  Size all = size_of(w, 1);
  uint32_t own = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++)
    if (!arg->type.axis[i].pass) all = size_mul(w, all, arg->type.axis[i].size), own++;
  if (own > 1 && size_now(w, all) == size_now(w, formal->size))
    diag_help(w->diags, e, "`flatten` makes one axis of all");
  if (bind && bind->span.file)
    diag_note(w->diags, e, bind->span, "%s = %s comes from here", name_text(w->names, item->name),
              size_text(w, formal->size));
  else
    diag_note(w->diags, e, item->span, "declared here");
}

// Unifies a formal axis with an actual one, binding its name if unbound.
static bool bind_axis(const Call *c, const Syntax *item, const Axis *actual, const Val *arg,
                      Axis *inner) {
  if (takes_axis(c, item, actual, arg->span, inner)) return true;
  Axis formal[RANK_LIMIT];
  Binding *bind = item->kind == N_NAME ? env_meaning(c->to, item) : NULL;
  const Syntax *brackets = brackets_of(c->b->w->arena, item->span, NODES((Syntax *)item));
  if (axes_eval(c->b, c->to, brackets, true, formal) != 1) return false;
  *inner = formal[0];
  if (bind && bind->kind == BIND_OPTION && !bind->label) bind->label = actual->label;
  if (item->kind == N_SIZED && env_meaning(c->to, item))
    env_meaning(c->to, item)->label = actual->label;
  if (formal[0].decl && actual->decl && formal[0].decl != actual->decl) {
    report_other_axis(c, item, &formal[0], actual, arg);
    return false;
  }
  if (sizes_agree(c->b, formal[0].size, actual->size, arg->span, item->span, "an argument"))
    return true;
  report_other_size(c, item, bind, &formal[0], actual, arg);
  return false;
}

const Syntax *formal_items(const Formal *f, uint32_t *n) {
  const Syntax *items = f->type ? brackets_first(type_brackets(f->type)) : NULL;
  *n = items ? items_in(items).n : 0;
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

static bool match_spread(const Call *c, const Syntax *item, const Val *arg, const uint32_t *own,
                         uint32_t n, Match *m, Axis *inner) {
  World *w = c->b->w;
  Binding *s = env_meaning(c->to, item);
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
      return diag_note(w->diags, e, s->span, "the other one");
    }
  } else {
    Binding row = {.kind = BIND_SPREAD,
                   .naxis = n,
                   .axis = NEW_ARRAY(w->arena, Axis, n),
                   .span = arg->span,
                   .named = item->name_span};
    for (uint32_t i = 0; i < n; i++) row.axis[i] = arg->type.axis[own[i]];
    bind_spread(c->to, w, item->name, row);
    s = env_meaning(c->to, item);
  }
  for (uint32_t i = 0; i < n; i++) m->take[m->ntake++] = own[i], *inner++ = s->axis[i];
  return true;
}

uint32_t find_axis(World *w, const Val *v, Name label, const uint32_t *own, uint32_t n,
                   const char *word, uint32_t *at) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < n; i++)
    if (own[i] != UINT32_MAX && v->type.axis[own[i]].label == label) *at = i, found++;
  if (found > 1)
    diag_error(w->diags, v->span,
               "%s has two axes called %s: which one `%s` works along is not clear",
               own_text(w, &v->type), name_text(w->names, label), word);
  return found;
}

// The state of matching one argument with one parameter.
typedef struct {
  const Call *c;
  const Formal *f;
  const Val *arg;
  Match *m;
  const Syntax *items;            // the parameter's axes as written, `count` of them
  uint32_t count, spread;         // spread: how many of them are ...s
  uint32_t own[RANK_LIMIT], nown; // the argument's own axes; UINT32_MAX = already chosen
  uint32_t chosen[RANK_LIMIT];    // for each item: the axis selected by an option, or UINT32_MAX
  Axis inner[RANK_LIMIT];         // the axes inside the callee
} AxisMatch;

Base wanted_base(World *w, const Formal *f) {
  if (f->fixed) return (Base)f->known.base;
  const Syntax *base = type_base(f->type);
  if (base->kind == N_LABELS) return BASE_LABEL;
  const char *name = name_text(w->names, base->name);
  return strcmp(name, "B") == 0 ? BASE_BIT : strcmp(name, "R") == 0 ? BASE_R : BASE_NONE;
}

static bool match_base(const AxisMatch *t) {
  const Call *c = t->c;
  Base want = wanted_base(c->b->w, t->f);
  if (want == BASE_NONE) {
    Types none = {0};
    types_eval(c->b, c->to, t->f->type, true, &none, NULL); // reports the error in the type
    return false;
  }
  if (wrong_base(c, t->f, t->arg, want)) return false;
  if (want != BASE_LABEL || t->f->fixed || labels_in(type_base(t->f->type)).n != 1) return true;
  Axis labels = {.size = t->arg->type.count}, ignored;
  return bind_axis(c, labels_in(type_base(t->f->type)).at[0], &labels, t->arg, &ignored);
}

static bool enough_axes(const AxisMatch *t) {
  World *w = t->c->b->w;
  if (t->spread > 1)
    return diag_refuse(w->diags, t->f->span,
                       "two rows of axes are ambiguous: where the first ends is not known");
  if (!rank_fits(w, t->count, t->f->span)) return false;
  if (t->nown + t->spread >= t->count) return true;
  uint32_t need = t->count - t->spread;
  Id e = diag_error(w->diags, place_of(t->c, t->arg), "`%s` wants %u %s, but %s has %u",
                    call_name(t->c), need, need == 1 ? "axis" : "axes", own_text(w, &t->arg->type),
                    t->nown);
  return diag_note(w->diags, e, t->f->span, "the parameter");
}

static bool no_such_axis(const AxisMatch *t, Name label, const Binding *option) {
  World *w = t->c->b->w;
  Id e =
      diag_error(w->diags, place_of(t->c, t->arg), "`%s` works along %s, but %s has no such axis",
                 call_name(t->c), name_text(w->names, label), own_text(w, &t->arg->type));
  diag_note(w->diags, e, option->span, "chosen here");
  diag_suggest(w->diags, e, nearest_label(w, &t->arg->type, label));
  return false;
}

// Axes selected by options, by label.
static bool choose_axes(AxisMatch *t) {
  World *w = t->c->b->w;
  for (uint32_t i = 0; i < t->count; i++) {
    t->chosen[i] = UINT32_MAX;
    Name label = t->items ? along_label(t->c, items_in(t->items).at[i]) : 0;
    uint32_t at, last = t->nown ? t->own[t->nown - 1] : UINT32_MAX;
    if (!label) continue;
    if (find_axis(w, t->arg, label, t->own, t->nown, call_name(t->c), &at) == 1) {
      t->chosen[i] = t->own[at];
      t->own[at] = UINT32_MAX;
      continue;
    }
    const Binding *option = env_meaning(t->c->to, items_in(t->items).at[i]);
    bool unlabelled = last != UINT32_MAX && !t->arg->type.axis[last].label;
    if (!option->size || !unlabelled) return no_such_axis(t, label, option);
  } // an unlabelled axis matches any axis of its size
  return true;
}

// Unifies an axis of a space with the argument's.
static bool meet_fixed(const AxisMatch *t, const Axis *formal, const Axis *actual) {
  World *w = t->c->b->w;
  if (formal->decl && actual->decl && formal->decl != actual->decl)
    return diag_refuse(w->diags, t->arg->span, "`%s` wants axis %s here, but this is axis %s",
                       call_name(t->c), name_text(w->names, formal->label),
                       name_text(w->names, actual->label));
  if (sizes_agree(t->c->b, formal->size, actual->size, t->arg->span, t->f->span, "an argument"))
    return true;
  Id e = diag_error(w->diags, place_of(t->c, t->arg), "`%s` wants %s, but this is %s",
                    call_name(t->c), own_text(w, &t->f->known), own_text(w, &t->arg->type));
  return diag_note(w->diags, e, t->f->span, "the parameter");
}

static bool match_item(AxisMatch *t, uint32_t i, uint32_t from) {
  const Axis *actual = &t->arg->type.axis[from];
  Axis *inner = &t->inner[t->m->ntake];
  if (t->f->fixed) *inner = t->f->known.axis[i];
  if (t->f->fixed ? !meet_fixed(t, inner, actual)
                  : !bind_axis(t->c, items_in(t->items).at[i], actual, t->arg, inner))
    return false;
  t->m->take[t->m->ntake++] = from;
  return true;
}

// Then the last axes, as many as still needed (...s takes all); those in front become batch axes.
static bool match_axes(AxisMatch *t) {
  uint32_t left[RANK_LIMIT], n = 0, need = 0;
  for (uint32_t i = 0; i < t->nown; i++)
    if (t->own[i] != UINT32_MAX) left[n++] = t->own[i];
  for (uint32_t i = 0; i < t->count; i++)
    need += t->chosen[i] == UINT32_MAX && !(t->items && items_in(t->items).at[i]->kind == N_SPREAD);
  uint32_t at = t->spread ? 0 : n - need;
  for (uint32_t i = 0; i < at; i++) t->m->rest[t->m->nrest++] = left[i];
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->items && items_in(t->items).at[i]->kind == N_SPREAD) {
      uint32_t many = n - need;
      if (!match_spread(t->c, items_in(t->items).at[i], t->arg, left + at, many, t->m,
                        t->inner + t->m->ntake))
        return false;
      at += many;
    } else if (!match_item(t, i, t->chosen[i] != UINT32_MAX ? t->chosen[i] : left[at++])) {
      return false;
    }
  }
  return true;
}

static void sort_rest(Match *m) { // batch axes keep their order
  for (uint32_t i = 1; i < m->nrest; i++)
    for (uint32_t k = i; k > 0 && m->rest[k] < m->rest[k - 1]; k--) {
      uint32_t swap = m->rest[k];
      m->rest[k] = m->rest[k - 1];
      m->rest[k - 1] = swap;
    }
}

bool match_formal(const Call *c, const Formal *f, const Val *arg, Match *m) {
  AxisMatch t = {.c = c, .f = f, .arg = arg, .m = m};
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (arg->type.axis[i].pass) continue;
    if (is_over(c, arg->type.axis[i].label))
      m->rest[m->nrest++] = i;
    else
      t.own[t.nown++] = i;
  }
  m->type = arg->type;
  if (!f->type && !f->fixed) { // untyped: all axes are consumed
    for (; m->ntake < t.nown; m->ntake++) {
      m->take[m->ntake] = t.own[m->ntake];
      t.inner[m->ntake] = arg->type.axis[t.own[m->ntake]];
    }
  } else {
    t.items = f->fixed ? NULL : formal_items(f, &t.count);
    if (f->fixed) t.count = f->known.rank;
    for (uint32_t i = 0; t.items && i < t.count; i++)
      t.spread += items_in(t.items).at[i]->kind == N_SPREAD;
    if (!match_base(&t) || !enough_axes(&t) || !choose_axes(&t) || !match_axes(&t)) return false;
    sort_rest(m);
  }
  m->type.axis = arena_copy(c->b->w->arena, t.inner, m->ntake * sizeof(Axis));
  m->type.rank = m->ntake;
  return true;
}

// -- batch axes -----------------------------------------------------------------------------------

// A label of all arguments, none as last axis: probably meant as a batch axis.
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

static void report_outer_product(const Call *c, const Value *args, const Val *arg,
                                 const Val *other) {
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

// Merges the batch axes of all arguments; where[i][k] is the index of the k-th one of argument i.
bool merge_passing(const Call *c, const Value *args, const Match *m, Passing *p) {
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
      bool over = is_over(c, axis->label); // matched by name at any position
      for (uint32_t i = over ? p->n : at; i-- > 0 && found == UINT32_MAX;)
        if (same_axis(&p->axis[i], axis) || (!axis->label && i == at - 1) ||
            (!p->axis[i].label && i == at - 1))
          found = i;
      if (found == UINT32_MAX || !sizes_agree(c->b, p->axis[found].size, axis->size, arg->span,
                                              c->span, "axes that pass over")) {
        report_outer_product(c, args, arg, &args->at[most]);
        return false;
      }
      p->where[a][k] = found;
      if (!over) at = found;
    }
  }
  return true;
}
