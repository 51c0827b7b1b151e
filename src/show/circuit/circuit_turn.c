// Sizes that differ between iterations. A repeat is drawn once, so its labels must hold for all
// iterations: a varying size gets the loop variable as index, and the legend lists its values. A
// series of sizes is identified by its letter and the loop variable; sizes that equal a known
// series, also shifted by an iteration, belong to it, so an input is h_{l−1} if the output is h_l,
// also in another loop over the same variable.
#include "base/names.h"
#include "base/table.h"
#include "show/circuit/circuit_own.h"

#include <stdlib.h>

// -- the same place in another turn ---------------------------------------------------------------
static Id box_in(const Fold *f, uint32_t turn, Id box) {
  if (!f->box) return box;
  uint32_t place = table_get(f->place, &box, sizeof box);
  return place ? f->box[turn].at[place - 1] : box;
}

static Id wire_in(const Fold *f, uint32_t turn, Id wire) {
  const Wire *x = &f->d[0]->wire.at[wire];
  if (x->box) return f->d[turn]->box.at[box_in(f, turn, x->box)].out[x->port];
  return f->box ? wire : diagram_source(f->d[turn], source_number(f->d[0], wire));
}

Fold *fold_inside(CircuitPart *p, const Box *call) {
  Arena *a = p->c->s->arena;
  Fold *first = NULL, **last = &first;
  Id id = p->d->wire.at[call->out[0]].box;
  for (const Fold *f = p->fold; f; f = f->outer) {
    const Diagram **d = NEW_ARRAY(a, const Diagram *, f->n);
    for (uint32_t t = 0; t < f->n; t++) {
      const Box *b = &f->d[t]->box.at[box_in(f, t, id)];
      d[t] = b->op == OP_call ? part_diagram(p->c, b->callee) : b->scan->body;
    }
    Fold *inside = NEW(a, Fold);
    *inside = (Fold){.name = f->name, .n = f->n, .value = f->value, .d = d};
    *last = inside;
    last = (Fold **)&inside->outer;
  }
  return first;
}

// -- series ---------------------------------------------------------------------------------------
static TurnSize *step_at(Series *s, int64_t at) {
  for (uint32_t i = 0; i < s->step.n; i++)
    if (s->step.at[i].at == at) return &s->step.at[i];
  return NULL;
}

static void step_add(Circuit *c, Series *s, int64_t at, Size size) {
  if (step_at(s, at)) return;
  vec_push(c->s->arena, &s->step, (TurnSize){at, size});
  for (uint32_t i = s->step.n - 1; i && s->step.at[i - 1].at > at; i--) {
    TurnSize x = s->step.at[i];
    s->step.at[i] = s->step.at[i - 1], s->step.at[i - 1] = x;
  }
}

// Do these sizes equal the series, shifted and scaled by a factor?
static bool series_fits(Circuit *c, Series *s, const Fold *f, const Axis *each, int64_t away,
                        int64_t times) {
  uint32_t known = 0;
  for (uint32_t t = 0; t < f->n; t++) {
    const TurnSize *x = step_at(s, f->value[t] + away);
    if (!x) continue;
    Size size = size_now(c->w, size_mul(c->w, size_of(c->w, times), x->size));
    if (size != size_now(c->w, each[t].size)) return false;
    known++;
  }
  return known && known + 1 >= f->n && (times == 1 || known == f->n);
}

static const char *series_label(Circuit *c, Series *s, const Fold *f, const Axis *each,
                                int64_t away, int64_t times) {
  Arena *a = c->s->arena;
  for (uint32_t t = 0; t < f->n && times == 1; t++)
    step_add(c, s, f->value[t] + away, each[t].size);
  const char *index = f->name;
  if (away) index = arena_format(a, "%s%s%lld", f->name, away < 0 ? "−" : "+", llabs(away));
  return times == 1 ? arena_format(a, "%s_{%s}", s->base, index)
                    : arena_format(a, "%lld%s_{%s}", (long long)times, s->base, index);
}

// Names that differ only in primes share a letter.
static bool same_letter(const char *base, const char *letter) {
  size_t n = strlen(letter);
  return strncmp(base, letter, n) == 0 && strspn(base + n, "'") == strlen(base + n);
}

static const char *known_series(Circuit *c, const Fold *f, const Axis *each, const char *base,
                                bool times) {
  static const struct {
    int64_t away, times;
  } way[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {-1, 1}, {1, 1}};
  for (uint32_t k = 0; k < COUNT(way); k++)
    for (uint32_t i = 0; i < c->series.n; i++) {
      Series *s = &c->series.at[i];
      if (strcmp(s->name, f->name) != 0 || (base && !same_letter(s->base, base))) continue;
      if (!times && way[k].times != 1) continue;
      if (series_fits(c, s, f, each, way[k].away, way[k].times))
        return series_label(c, s, f, each, way[k].away, way[k].times);
    }
  return NULL;
}

// The letter: the label, or the first name in its size.
static const char *series_base(Circuit *c, const Fold *f, const Axis *each) {
  for (uint32_t t = f->n; t-- > 0;)
    if (each[t].label) return name_text(c->w->names, each[t].label);
  const char *text = size_text(c->w, each[f->n - 1].size);
  while (*text && !char_is_letter(*text)) text++;
  size_t n = word_bytes(text);
  return n && text[n] != '(' ? arena_format(c->s->arena, "%.*s", (int)n, text) : NULL;
}

static bool is_taken(const Circuit *c, const char *base) {
  for (uint32_t i = 0; i < c->series.n; i++)
    if (strcmp(c->series.at[i].base, base) == 0) return true;
  return false;
}

static bool has_letter(const Circuit *c, const char *letter) {
  for (uint32_t i = 0; i < c->series.n; i++)
    if (same_letter(c->series.at[i].base, letter)) return true;
  return false;
}

// An internal index may use the letter of a known axis.
static const char *label_by_turn(Circuit *c, const Fold *f, const Axis *each, bool index) {
  const char *base = series_base(c, f, each);
  bool any = index && base && !has_letter(c, base);
  const char *label = known_series(c, f, each, any ? NULL : base, !base);
  if (label) return label;
  if (!base) base = "n";
  while (is_taken(c, base)) base = arena_format(c->s->arena, "%s'", base);
  vec_push(c->s->arena, &c->series, (Series){.base = base, .name = f->name});
  return series_label(c, &c->series.at[c->series.n - 1], f, each, 0, 1);
}

static bool differ(Circuit *c, const Fold *f, const Axis *each) {
  for (uint32_t t = 1; t < f->n; t++)
    if (size_now(c->w, each[t].size) != size_now(c->w, each[0].size)) return true;
  return false;
}

void turn_label_sizes(Circuit *c, const Fold *f, const Axis *each, Strand *x) {
  if (!differ(c, f, each)) return;
  x->label = label_by_turn(c, f, each, false);
  x->size = NULL;
}

// -- labels ---------------------------------------------------------------------------------------
bool fold_varies(Circuit *c, const Fold *f, Id wire) {
  const Type *first = &f->d[0]->wire.at[wire].type;
  for (uint32_t t = 1; t < f->n; t++) {
    const Type *other = &f->d[t]->wire.at[wire_in(f, t, wire)].type;
    for (uint32_t i = 0; i < first->rank; i++)
      if (size_now(c->w, first->axis[i].size) != size_now(c->w, other->axis[i].size)) return true;
  }
  return false;
}

// In nested loops, the innermost loop in which it varies gives the index.
void turn_labels(CircuitPart *p, uint32_t bundle, Id wire) {
  Circuit *c = p->c;
  const Type *type = &p->d->wire.at[wire].type;
  for (const Fold *f = p->fold; f && !is_string(c); f = f->outer) {
    if (!fold_varies(c, f, wire)) continue;
    Axis *each = NEW_ARRAY(c->s->arena, Axis, f->n);
    for (uint32_t i = 0; i < type->rank; i++) {
      for (uint32_t t = 0; t < f->n; t++)
        each[t] = f->d[t]->wire.at[wire_in(f, t, wire)].type.axis[i];
      turn_label_sizes(c, f, each, strand_of(c->s, bundle, i));
    }
    return;
  }
}

void turn_label(CircuitPart *p, const Box *loop, uint32_t index, Strand *x) {
  Circuit *c = p->c;
  Id id = p->d->wire.at[loop->out[0]].box;
  for (const Fold *f = p->fold; f; f = f->outer) {
    Axis *each = NEW_ARRAY(c->s->arena, Axis, f->n);
    for (uint32_t t = 0; t < f->n; t++) {
      const Index *at = &f->d[t]->box.at[box_in(f, t, id)].loop->index[index];
      each[t] = (Axis){.label = at->name, .size = at->size};
    }
    if (!differ(c, f, each)) continue;
    x->label = label_by_turn(c, f, each, true);
    x->size = NULL;
    return;
  }
}

const char *turn_option(CircuitPart *p, const Box *call, uint32_t option, uint32_t i) {
  Circuit *c = p->c;
  Id id = p->d->wire.at[call->out[0]].box;
  const Option *own = &call->callee->option.at[option];
  for (const Fold *f = p->fold; f; f = f->outer) {
    Axis *each = NEW_ARRAY(c->s->arena, Axis, f->n);
    for (uint32_t t = 0; t < f->n; t++) {
      const Option *o = &f->d[t]->box.at[box_in(f, t, id)].callee->option.at[option];
      each[t] = (Axis){.label = o->name, .size = o->size[i]};
    }
    if (differ(c, f, each)) return label_by_turn(c, f, each, false);
  }
  return size_label(c->w, c->s->arena, own->size[i]);
}

// -- the legend's rows ----------------------------------------------------------------------------
void series_rows(Circuit *c) {
  enum { MANY = 8, FIRST = 3 };
  for (uint32_t i = 0; i < c->series.n; i++) {
    const Series *s = &c->series.at[i];
    Buf b = buf_new(c->s->arena);
    for (uint32_t k = 0; k < s->step.n; k++) {
      bool skip = s->step.n > MANY && k >= FIRST && k + 1 < s->step.n;
      if (skip && k > FIRST) continue;
      buf_printf(&b, "%s%s", k ? ", " : "",
                 skip ? "…" : size_label(c->w, c->s->arena, s->step.at[k].size));
    }
    if (s->step.n && s->step.at[0].at != 1)
      buf_printf(&b, "   (%s = %lld…%lld)", s->name, (long long)s->step.at[0].at,
                 (long long)s->step.at[s->step.n - 1].at);
    const char *label = arena_format(c->s->arena, "%s_{%s}", s->base, s->name);
    vec_push(c->s->arena, &c->s->row, (Row){label, b.at});
  }
}
