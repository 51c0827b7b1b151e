// Laws of single boxes: on stacks of samples, and with other names, named subexpressions and
// orders.
#include "whole_laws.h"

#include <stdlib.h>

enum { SAMPLES = 3 };

// -- batch ----------------------------------------------------------------------------------------
typedef struct {
  Case *c;
  Limn *l;
  const WholeDecl *d;
  const char *name;
  uint32_t stacked; // which inputs
  Values out[SAMPLES], grads[SAMPLES];
} Stacks;

static Value slope_for(Case *c, const Value *out, uint32_t sample) {
  Value v = *out;
  v.data = NEW_ARRAY(c->arena, double, v.n + 1);
  for (int64_t i = 0; i < v.n; i++) v.data[i] = (double)((i * 7 + sample * 3) % 5) * 0.5 - 0.75;
  return v;
}

static bool is_sloped(const WholeDecl *d) { return d->out.n == 1 && !d->out.at[0].labels; }

static bool eval_each(Stacks *s) {
  for (uint32_t k = 0; k < SAMPLES; k++) {
    Values in = {0}, none = {0};
    for (uint32_t i = 0; i < s->d->in.n; i++)
      vec_push(s->c->arena, &in, value_input(s->c, s->d, i, s->stacked >> i & 1 ? k : 0));
    if (!case_eval(s->c, s->l, s->name, &in, NULL, &s->out[k], NULL)) return false;
    if (!is_sloped(s->d)) continue;
    Value dy = slope_for(s->c, &s->out[k].at[0], k);
    if (!case_eval(s->c, s->l, s->name, &in, &dy, &none, &s->grads[k])) return false;
  }
  return true;
}

static Value pile(Case *c, const Value *one[SAMPLES]) {
  Value v = {.rank = one[0]->rank + 1, .shape = {SAMPLES}, .n = SAMPLES * one[0]->n};
  v.data = NEW_ARRAY(c->arena, double, v.n + 1);
  for (uint32_t i = 0; i < one[0]->rank; i++) v.shape[i + 1] = one[0]->shape[i];
  for (uint32_t k = 0; k < SAMPLES; k++)
    memcpy(v.data + k * one[0]->n, one[k]->data, (size_t)one[0]->n * sizeof *v.data);
  return v;
}

// Weights of learners are the same everywhere.
static bool is_learners(const Whole *p, const char *path) {
  for (uint32_t i = 0; i < p->decl.n; i++) {
    const char *name = whole_name(p, p->decl.at[i]->name, false);
    size_t n = strlen(name);
    if (p->decl.at[i]->kind == DECL_LEARNER && !strncmp(path, name, n) && strchr("./", path[n]))
      return true;
  }
  return false;
}

// Weights of a box have its name in front or not, and that of the box around it.
static bool set_weights(Stacks *s, Limn *to, const char *front) {
  LimnArrays w = {0};
  size_t n = strlen(s->name);
  bool good = limn_weights(s->l, s->name, &w) == LIMN_GOOD;
  for (uint32_t i = 0; good && i < w.n; i++) {
    const char *path = w.at[i].name;
    if (is_learners(s->c->p, path)) continue;
    bool own = !strncmp(path, s->name, n) && path[n] == '/';
    const char *full =
        arena_format(s->c->arena, "%s%s/%s", front, s->name, own ? path + n + 1 : path);
    good = limn_weight_set(to, full, &w.at[i].array) == LIMN_GOOD;
  }
  limn_forget(to), limn_forget(s->l);
  return good;
}

// Which input a slope belongs to; -1: it is of a weight.
static int input_of(const Stacks *s, const char *name) {
  for (uint32_t i = 0; i < s->d->in.n; i++) {
    char outer[16];
    snprintf(outer, sizeof outer, "a%u", i);
    if (!strcmp(name, outer) || !strcmp(name, whole_name(s->c->p, s->d->in.at[i].name, false)))
      return (int)i;
  }
  return -1;
}

// The slope of the same thing for one sample: of the same name, or of the end of it.
static const Value *slope_of_one(Stacks *s, uint32_t k, const char *name) {
  int input = input_of(s, name);
  const Value *found = NULL;
  for (uint32_t i = 0; i < s->grads[k].n; i++) {
    const Value *v = &s->grads[k].at[i];
    size_t n = strlen(name), m = strlen(v->name);
    if (input >= 0 && input_of(s, v->name) == input) return v;
    if (input >= 0 || n < m || strcmp(name + n - m, v->name)) continue;
    if (!found || strlen(found->name) < m) found = v;
  }
  return found;
}

// The slope of everything that is stacked, sample by sample; of the rest, the sum.
static bool slopes_agree(Stacks *s, const Values *all, const char *how) {
  for (uint32_t i = 0; i < all->n; i++) {
    const Value *one[SAMPLES];
    for (uint32_t k = 0; k < SAMPLES; k++) {
      one[k] = slope_of_one(s, k, all->at[i].name);
      if (!one[k]) return case_says(s->c, "other slopes: %s", all->at[i].name);
    }
    int input = input_of(s, all->at[i].name);
    Value want = pile(s->c, one);
    if (input < 0 || !(s->stacked >> input & 1)) {
      want.n = one[0]->n;
      for (uint32_t k = 1; k < SAMPLES; k++) value_add(&want, one[k]);
    }
    const char *what =
        arena_format(s->c->arena, "slope %s: of %s by %s", how, s->name, all->at[i].name);
    if (!values_near(s->c, what, &all->at[i], &want, 1e-6)) return false;
  }
  return true;
}

static bool eval_all(Stacks *s, Limn *l, const char *name, const char *how) {
  Values in = {0}, out = {0}, grads = {0};
  for (uint32_t i = 0; i < s->d->in.n; i++)
    vec_push(s->c->arena, &in,
             s->stacked >> i & 1 ? value_stack(s->c, s->d, i) : value_input(s->c, s->d, i, 0));
  if (!case_eval(s->c, l, name, &in, NULL, &out, NULL)) return false;
  for (uint32_t i = 0; i < out.n; i++) {
    const Value *one[SAMPLES];
    for (uint32_t k = 0; k < SAMPLES; k++) one[k] = &s->out[k].at[i];
    Value want = pile(s->c, one);
    const char *what = arena_format(s->c->arena, "value %s: of %s", how, s->name);
    if (out.at[i].n == one[0]->n) { // it depends on nothing that is stacked
      if (!values_near(s->c, what, &out.at[i], one[1], 1e-9)) return false;
    } else if (!values_near(s->c, what, &out.at[i], &want, 1e-9))
      return false;
  }
  if (!is_sloped(s->d) || out.at[0].n == s->out[0].at[0].n) return true;
  const Value *one[SAMPLES];
  Value dy[SAMPLES];
  for (uint32_t k = 0; k < SAMPLES; k++)
    dy[k] = slope_for(s->c, &s->out[k].at[0], k), one[k] = &dy[k];
  Value slope = pile(s->c, one);
  Values again = {0};
  if (!case_eval(s->c, l, name, &in, &slope, &again, &grads)) return false;
  return slopes_agree(s, &grads, how);
}

// box outer(x: R[k …], y: …) -> R[k …] = inner(x, y)
static const char *outer_text(Stacks *s) {
  Buf b = buf_new(s->c->arena);
  buf_text(&b, "box outer(");
  for (uint32_t i = 0; i < s->d->in.n; i++) {
    Buf t = buf_new(s->c->arena);
    whole_type(&t, s->c->p, &s->d->in.at[i].type, false);
    char *open = s->d->in.at[i].type.labels ? strchr(t.at, '[') : t.at + 1;
    bool more = s->stacked >> i & 1;
    buf_printf(&b, "%sa%u: ", i ? ", " : "", i);
    if (more && open)
      buf_printf(&b, "%.*s[rows:3%s%s", (int)(open - t.at), t.at, open[1] == ']' ? "" : " ",
                 open + 1);
    else
      buf_printf(&b, "%s%s", t.at, more ? "[rows:3]" : "");
  }
  buf_printf(&b, ") { return %s(", s->name);
  for (uint32_t i = 0; i < s->d->in.n; i++) buf_printf(&b, "%sa%u", i ? ", " : "", i);
  buf_text(&b, ") }\n");
  return b.at;
}

static bool over_samples(Stacks *s) { return eval_all(s, s->l, s->name, "of samples"); }

static bool over_an_axis(Stacks *s) {
  Limn *l = case_load(s->c, whole_text(s->c->arena, s->c->p, &(Printed){.more = outer_text(s)}));
  if (!l) return false;
  // A box is a pattern: used in another one, its weights are others, and sizes may be open.
  bool good =
      (s->d->weighted && !set_weights(s, l, "outer/")) || eval_all(s, l, "outer", "of rows");
  limn_free(l);
  return good;
}

bool each_quiet_box(Case *c, Limn *l, bool (*law)(Case *, Limn *, const WholeDecl *)) {
  for (uint32_t i = 0; i < c->p->decl.n; i++) {
    const WholeDecl *d = c->p->decl.at[i];
    if (d->asked && !d->noisy && d->in.n && !law(c, l, d)) return false;
  }
  return true;
}

static bool rows_are_alone(Case *c, Limn *l, const WholeDecl *d) {
  uint32_t all = (1u << d->in.n) - 1, mask[2] = {all, 1 + d->scope % all};
  for (uint32_t k = 0; k < (all > 1 ? 2 : 1); k++) {
    Stacks s = {.c = c, .l = l, .d = d, .stacked = mask[k]};
    s.name = whole_name(c->p, d->name, false);
    if (!eval_each(&s) || !over_samples(&s) || !over_an_axis(&s)) return false;
  }
  return true;
}

bool law_batch(Case *c) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = each_quiet_box(c, l, rows_are_alone);
  limn_free(l);
  return good;
}

// -- names, naming, order -------------------------------------------------------------------------
// The number of a derivative counts every one of the box, also those without weights, and so goes by
// the order of lines: `rev.3/f/W`. Those with weights keep their order.
static bool is_derivative(const char *at) {
  bool word = !strncmp(at, "rev", 3) || !strncmp(at, "fwd", 3);
  return word && (at[3] == '.' || at[3] == '/');
}

static const char *unnumbered(Arena *a, const char *path) {
  Buf b = buf_new(a);
  for (const char *at = path; *at;) {
    size_t n = strcspn(at, "/");
    buf_printf(&b, "%.*s", (int)(is_derivative(at) ? 3 : n), at);
    at += n;
    if (*at) buf_char(&b, *at++);
  }
  return b.at;
}

// Is a before b, of two paths that differ only in numbers? The first has none.
static bool is_before(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    if (*a == *b) continue;
    return *a == '/' || *b == '/' ? *a == '/' : strtoul(a, NULL, 10) < strtoul(b, NULL, 10);
  }
  return false;
}

typedef VEC(const char *) Paths;
static uint32_t place_among(Arena *a, const Paths *all, const char *path) {
  const char *plain = unnumbered(a, path);
  uint32_t before = 0;
  for (uint32_t i = 0; i < all->n; i++)
    before += !strcmp(unnumbered(a, all->at[i]), plain) && is_before(all->at[i], path);
  return before;
}

// The path of the same weight in the other program: as many are before it, numbers apart.
static const char *path_in(Case *c, const Paths *mine, const Paths *theirs, const char *path) {
  const char *plain = unnumbered(c->arena, path);
  uint32_t before = place_among(c->arena, mine, path);
  for (uint32_t i = 0; i < theirs->n; i++)
    if (!strcmp(unnumbered(c->arena, theirs->at[i]), plain) &&
        place_among(c->arena, theirs, theirs->at[i]) == before)
      return theirs->at[i];
  return path;
}

static Paths paths_of(Case *c, const LimnArrays *w, bool renamed) {
  Paths all = {0};
  for (uint32_t i = 0; i < w->n; i++) {
    const char *path = arena_format(c->arena, "%s", w->at[i].name);
    vec_push(c->arena, &all, renamed ? whole_weight(c->arena, c->p, path) : path);
  }
  return all;
}

// The weights of one program for the other; with `take_back`, they are not set any more. Those of
// boxes with open sizes are not known.
static bool same_weights(Case *c, Limn *from, Limn *to, const WholeDecl *d, bool renamed,
                         bool take_back) {
  LimnArrays w = {0}, others = {0};
  bool good = limn_weights(from, whole_name(c->p, d->name, false), &w) == LIMN_GOOD &&
              limn_weights(to, whole_name(c->p, d->name, renamed), &others) == LIMN_GOOD;
  Paths mine = paths_of(c, &w, renamed), theirs = paths_of(c, &others, false);
  for (uint32_t i = 0; good && i < w.n; i++)
    good = limn_weight_set(to, path_in(c, &mine, &theirs, mine.at[i]),
                           take_back ? NULL : &w.at[i].array) == LIMN_GOOD;
  limn_forget(from), limn_forget(to);
  return good;
}

// Those of inputs go by their order.
static bool same_slopes(Case *c, const WholeDecl *d, const Values *slopes, const Values *others,
                        const Printed *how) {
  const char *what = how->renamed ? "names" : how->naming ? "naming" : "order";
  what = arena_format(c->arena, "slopes %s: of %s", what, whole_name(c->p, d->name, false));
  uint32_t inputs = 0;
  for (uint32_t i = 0; i < d->in.n; i++) inputs += !d->in.at[i].type.labels;
  Paths mine = {0}, theirs = {0};
  for (uint32_t i = inputs; i < slopes->n; i++) {
    const char *path = slopes->at[i].name;
    vec_push(c->arena, &mine, how->renamed ? whole_weight(c->arena, c->p, path) : path);
    vec_push(c->arena, &theirs, others->at[i].name);
  }
  for (uint32_t i = 0; i < slopes->n; i++) {
    const Value *other = &others->at[i];
    const char *path = i < inputs ? "" : path_in(c, &mine, &theirs, mine.at[i - inputs]);
    if (i >= inputs) other = value_named(others, path);
    if (!other) return case_says(c, "%s: none by %s", what, path);
    if (!values_near(c, what, other, &slopes->at[i], how->renamed ? 1e-12 : 1e-9)) return false;
  }
  return true;
}

static bool same_values(Case *c, Limn *a, Limn *b, const WholeDecl *d, const Printed *how) {
  Values in = {0}, one = {0}, two = {0}, slopes = {0}, others = {0};
  const char *name = whole_name(c->p, d->name, false);
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(c->arena, &in, value_input(c, d, i, 1));
  if (!case_eval(c, a, name, &in, NULL, &one, NULL)) return false;
  Value dy = slope_for(c, &one.at[0], 1), *slope = is_sloped(d) ? &dy : NULL;
  one.n = 0;
  bool weights = d->weighted || d->learns;
  if (weights && !same_weights(c, a, b, d, how->renamed, false) && how->renamed) return true;
  if (!case_eval(c, a, name, &in, slope, &one, &slopes)) return false;
  if (!case_eval(c, b, whole_name(c->p, d->name, how->renamed), &in, slope, &two, &others))
    return false;
  if (weights) same_weights(c, a, b, d, how->renamed, true);
  const char *what = how->renamed ? "names: " : how->naming ? "naming: " : "order: ";
  if (one.n != two.n || slopes.n != others.n) return case_says(c, "%s other results", what);
  what = arena_format(c->arena, "%sof %s", what, name);
  for (uint32_t i = 0; i < one.n; i++)
    if (!values_near(c, what, &two.at[i], &one.at[i], how->renamed ? 0 : 1e-9)) return false;
  return same_slopes(c, d, &slopes, &others, how);
}

// A measure may look at learners that no goal has: their weights are not among those that were set.
static bool is_measure(const Whole *p, const char *name) {
  bool goal = strchr(name, '.') != NULL; // of a learning diagram
  for (uint32_t i = 0; i < p->goal.n; i++)
    goal |= !strcmp(whole_name(p, p->goal.at[i], false), name);
  return !goal;
}

// The losses of two steps, from the same weights.
static bool same_losses(Case *c, Limn *a, Limn *b, bool renamed) {
  Values one = {0}, two = {0};
  LimnArrays w = {0}, others = {0};
  if (limn_weights(a, NULL, &w) != LIMN_GOOD)
    return case_says(c, "no weights: %s", limn_messages(a, false));
  if (limn_weights(b, NULL, &others) != LIMN_GOOD)
    return case_says(c, "no weights: %s", limn_messages(b, false));
  Paths mine = paths_of(c, &w, renamed), theirs = paths_of(c, &others, false);
  for (uint32_t i = 0; i < w.n; i++) {
    const char *name = path_in(c, &mine, &theirs, mine.at[i]);
    limn_weight_set(a, w.at[i].name, &w.at[i].array); // with the seed of the training it has others
    if (limn_weight_set(b, name, &w.at[i].array) != LIMN_GOOD)
      return case_says(c, "no such weight: %s", limn_messages(b, false));
  }
  if (!case_losses(c, a, &one) || !case_losses(c, b, &two)) return false;
  if (one.n != two.n) return case_says(c, "other losses: %u and %u", one.n, two.n);
  for (uint32_t i = 0; i < one.n; i++)
    if (!(renamed && is_measure(c->p, one.at[i].name)) &&
        !values_near(c, arena_format(c->arena, "losses: of %s", one.at[i].name), &two.at[i],
                     &one.at[i], 1e-9))
      return false;
  return true;
}

static bool same_program(Case *c, const Printed *how) {
  const char *text = whole_text(c->arena, c->p, how);
  Limn *a = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!a) return false;
  Limn *b = case_load(c, text);
  bool good = b != NULL;
  for (uint32_t i = 0; good && i < c->p->decl.n; i++) {
    const WholeDecl *d = c->p->decl.at[i];
    if (d->asked && !d->noisy) good = same_values(c, a, b, d, how);
  }
  if (good && c->p->trains && !c->p->noisy) good = same_losses(c, a, b, how->renamed);
  if (!good && b) case_says(c, "\n%s", text);
  limn_free(a), limn_free(b);
  return good;
}

bool law_names(Case *c) { return same_program(c, &(Printed){.renamed = true}); }
bool law_naming(Case *c) {
  for (uint64_t k = 1; k < 4; k++)
    if (!same_program(c, &(Printed){.naming = k})) return false;
  return true;
}
bool law_order(Case *c) {
  return same_program(c, &(Printed){.order = 1}) && same_program(c, &(Printed){.order = 2});
}
