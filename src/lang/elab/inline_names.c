// Calls of an instance: readable names for its weights, averaging of states that several uses
// propose, fresh noise for each use.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/elab/body.h"

static uint32_t site_find(Body *b, const Syntax *use, Name name) {
  for (uint32_t i = b->site.n; i-- > 0;) {
    const Site *s = &b->site.at[i];
    if (s->use == use && s->suffix == b->suffix && s->name == name) return i;
    if (b->site.n - i > 8) break;
  }
  vec_push(b->w->arena, &b->site, (Site){.use = use, .name = name, .suffix = b->suffix});
  return b->site.n - 1;
}

static void number_sites(Body *b) {
  if (!b->site.n) return;
  Table *count = table_new(b->w->arena), *seen = table_new(b->w->arena);
  for (uint32_t i = 0; i < b->site.n; i++) {
    Site *s = &b->site.at[i];
    struct {
      const Syntax *use;
      uint64_t name;
    } key = {s->use, s->name};
    if (!s->weighty) continue;
    s->number = table_get(seen, &key, sizeof key);
    if (s->number) continue;
    s->number = table_get(count, &s->name, sizeof s->name) + 1;
    table_put(count, &s->name, sizeof s->name, s->number);
    table_put(seen, &key, sizeof key, s->number);
  }
  for (uint32_t i = 0; i < b->site.n; i++)
    if (table_get(count, &b->site.at[i].name, sizeof(Name)) == 1) b->site.at[i].number = 0;
}

static const char *site_text(Body *b, const Site *s) {
  const char *name = name_text(b->w->names, s->name), *suffix = s->suffix ? s->suffix : "";
  return s->number ? arena_format(b->w->arena, "%s.%u%s", name, s->number, suffix)
                   : arena_format(b->w->arena, "%s%s", name, suffix);
}

static Val with_number(Body *b, Fn fn, Val v, uint32_t number) {
  return val_fn(b, fn, (Val[]){v, val_literal(b, number, (Span){0})}, 2, (Span){0}, NULL);
}

// The next state of a learner is the mean over its uses. A callee proposes the mean of its own uses,
// which counts as often as there are of them. If all callees have equally many, their mean is taken.
static void settle_states(Body *b) {
  for (uint32_t p = 0; p < b->d->param.n; p++) {
    Val sum = {0};
    uint32_t n = 0, uses = 0;
    bool equal = true;
    for (uint32_t i = 0, first = 0; i < b->proposal.n; i++) {
      const Proposal *x = &b->proposal.at[i];
      if (x->param != p) continue;
      first = first ? first : x->uses;
      equal &= x->uses == first;
    }
    for (uint32_t i = 0; i < b->proposal.n; i++) {
      const Proposal *x = &b->proposal.at[i];
      if (x->param != p) continue;
      Val v = val_wire(b, x->wire, x->span);
      if (n && v.type.base != BASE_R) {
        no_mean_of_states(b->w, x->span, &v.type);
        break;
      }
      if (!equal && x->uses > 1) v = with_number(b, FN_mul, v, x->uses);
      sum = n++ ? val_fn(b, FN_add, (Val[]){sum, v}, 2, (Span){0}, NULL) : v;
      uses += x->uses;
    }
    if (!n) continue;
    if (n > 1) sum = with_number(b, FN_div, sum, equal ? n : uses);
    b->d->param.at[p].next = val_to_wire(b, &sum, 0);
    b->d->param.at[p].uses = uses;
  }
}

void body_finish(Body *b) {
  number_sites(b);
  if (b->proposal.n) settle_states(b);
  sync_sites(b);
  for (uint32_t i = 0; i < b->d->param.n; i++) {
    if (!b->param_site.at[i]) continue;
    Param *p = &b->d->param.at[i];
    p->path = arena_format(b->w->arena, "%s/%s", site_text(b, &b->site.at[b->param_site.at[i] - 1]),
                           strchr(p->path, '\1') + 1);
  }
  b->d->param_table = NULL;
}

// The path of a callee's weight in the caller.
static Param outer_param(Body *b, const Param *inner, const BoxUse *use, uint32_t site) {
  Param p = *inner;
  World *w = b->w;
  p.next = 0;
  if (inner->rooted) return p;
  if (inner->home) {
    if (inner->home == b->id) p.home = 0;
    return p;
  }
  if (is_learner(use->def)) {
    p.path = arena_format(w->arena, "%s%s/%s", name_text(w->names, use->def->name),
                          use->family ? use->family : "", inner->path);
    p.rooted = !use->home;
    p.home = use->home && use->home != b ? use->home->id : 0;
    if (!p.init.of) p.init.of = own_origin(b->in, use, p.path);
    if (use->def->kind != DEF_STALE) return p;
    p.role = ROLE_BUFFER;
    p.init.as = arena_format(w->arena, "%s%s/%s", learner_path(w, use->def),
                             use->family ? use->family : "", inner->path);
    return p;
  }
  p.path = arena_format(w->arena, "%u\1%s", site, inner->path);
  return p;
}

// All uses of a learner share its weights, so their sizes must agree.
static void check_weight(Body *b, const BoxUse *use, const Param *inner, const Type *want,
                         uint32_t param) {
  World *w = b->w;
  const Wire *wire = &b->d->wire.at[b->d->param.at[param].wire];
  const Type *have = &wire->type;
  for (uint32_t a = 0; a < want->rank && a < have->rank; a++) {
    if (sizes_agree(b, have->axis[a].size, want->axis[a].size, use->span, use->span, "a weight"))
      continue;
    Span first = origin_span(w, wire->origin);
    Id e = diag_error(w->diags, use->span, "`%s` has weight %s of %s, but this use wants %s",
                      name_text(w->names, use->def->name), inner->path, own_text(w, have),
                      own_text(w, want));
    diag_help(w->diags, e, "a learner has one set of weights: every use must have the same sizes");
    if (first.at != use->span.at) diag_note(w->diags, e, first, "another use");
    return;
  }
}

void body_params(Body *b, Body *callee, const BoxUse *use, Ids *in, Ids *number) {
  World *w = b->w;
  Diagram *f = callee->d;
  uint32_t site = f->param.n ? site_find(b, use->node, use->name) : 0;
  for (uint32_t i = 0; i < f->param.n; i++) {
    const Param *inner = &f->param.at[i];
    Param p = outer_param(b, inner, use, site);
    bool sited = !p.rooted && !p.home && strchr(p.path, '\1');
    uint32_t before = b->d->param.n,
             k = diagram_param(w, b->d, p, f->wire.at[inner->wire].type,
                               f->wire.at[inner->wire].name, origin_at(b, use->span));
    sync_sites(b);
    if (sited) b->site.at[site].weighty = true;
    if (b->d->param.n > before && sited) b->param_site.at[k] = site + 1;
    check_weight(b, use, inner, &f->wire.at[inner->wire].type, k);
    vec_push(w->arena, in, b->d->param.at[k].wire);
    if (number) vec_push(w->arena, number, k);
  }
}

Id body_call(Body *b, Body *callee, const Id *args, const BoxUse *use) {
  World *w = b->w;
  Diagram *f = callee->d;
  Ids in = {0}, number = {0};
  for (uint32_t i = 0; i < f->in.n; i++) vec_push(w->arena, &in, args[i]);
  body_params(b, callee, use, &in, &number);
  Id first = box_call(w, b->d, f, in.at, in.n, origin_at(b, use->span));
  if (f->noisy) b->d->box.at[b->d->box.n - 1].site = noise_site(b); // fresh for each use
  Id next = first + f->out.n;
  for (uint32_t i = 0; i < f->param.n; i++)
    if (f->param.at[i].next)
      vec_push(w->arena, &b->proposal,
               (Proposal){number.at[i], next++, f->param.at[i].uses, use->span});
  return first;
}
