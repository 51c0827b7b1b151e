// Mutates a random program: other numbers, other functions, another wire of the same type, a
// function applied to a value, another axis length. Mutated programs are often accepted, and more
// varied than those of the generator. Inputs keep their types except lengths, so values for them
// are known.
#include "whole_program.h"

#include <stdlib.h>

typedef struct {
  Maker m;
  Whole *p;
  VEC(WholePiece *) part; // of one declaration: places at which a value stands
  VEC(uint32_t) line;     // in which line each is
} Varying;

static bool is_ref(const WholeNode *n) {
  return n->value && n->piece.n == 1 && n->piece.at[0].name != 0;
}

static void gather(Varying *v, WholeNode *n, uint32_t line) {
  for (uint32_t i = 0; i < n->piece.n; i++) {
    WholeNode *in = n->piece.at[i].node;
    if (!in) continue;
    if (in->value) {
      vec_push(v->p->arena, &v->part, &n->piece.at[i]);
      vec_push(v->p->arena, &v->line, line);
    }
    gather(v, in, line);
  }
}

static bool gathered(Varying *v, WholeDecl *d) {
  v->part.n = v->line.n = 0;
  for (uint32_t i = 0; i < d->line.n; i++) gather(v, d->line.at[i].line, i);
  return v->part.n > 0;
}

// -- one variation --------------------------------------------------------------------------------
typedef bool Vary(Varying *, WholeDecl *);

// A wire of the same type that is there at this line: an input, or what an earlier line makes.
static WholeNode *other_wire(Varying *v, const WholeDecl *d, const WholeType *t, uint32_t line) {
  Ids found = {0};
  for (uint32_t i = 0; i < d->in.n; i++)
    if (type_same(&d->in.at[i].type, t)) vec_push(v->p->arena, &found, d->in.at[i].name);
  for (uint32_t i = 0; i < line; i++) {
    const WholeLine *l = &d->line.at[i];
    if (!l->let || !type_same(&l->line->piece.at[2].node->type, t)) continue;
    vec_push(v->p->arena, &found, l->makes.at[0]);
  }
  return found.n ? whole_node(v->p, t, "%n", found.at[below(&v->m, found.n)]) : NULL;
}

static bool vary_wire(Varying *v, WholeDecl *d) {
  if (!gathered(v, d)) return false;
  uint32_t k = below(&v->m, v->part.n);
  WholeNode *other = other_wire(v, d, &v->part.at[k]->node->type, v->line.at[k]);
  if (!other || !is_ref(v->part.at[k]->node)) return false;
  v->part.at[k]->node = other;
  return true;
}

static bool vary_around(Varying *v, WholeDecl *d) {
  static const char *const f[] = {
      "tanh(%E)",         "0 - %e",           "relu(%E - 0.5)", "abs(%E)",
      "square(%E)",       "exp(0 - abs(%E))", "sigmoid(%E)",    "%e / 3",
      "log(1 + abs(%E))", "sqrt(abs(%E))",    "floor(%E)",      "sign(%E)",
      "clamp[-1, 1](%E)", "stop(%E)",         "min(%E, 0.2)",   "softplus(%E)"};
  if (!gathered(v, d)) return false;
  WholePiece *at = v->part.at[below(&v->m, v->part.n)];
  if (at->node->type.labels) return false;
  const char *how = PICK(&v->m, f);
  d->stops |= !strncmp(how, "stop", 4);
  at->node = whole_node(v->p, &at->node->type, how, at->node);
  return true;
}

static bool vary_two(Varying *v, WholeDecl *d) {
  static const char *const f[] = {"%e + %e", "%e * %e", "%e - %e", "max(%E, %E)",
                                  "%e / (2 + square(%E))"};
  if (!gathered(v, d)) return false;
  uint32_t k = below(&v->m, v->part.n);
  WholeNode *old = v->part.at[k]->node, *other = other_wire(v, d, &old->type, v->line.at[k]);
  if (!other || old->type.labels) return false;
  v->part.at[k]->node = whole_node(v->p, &old->type, PICK(&v->m, f), old, other);
  return true;
}

// A number inside a piece of text that is no part of a name.
static char *number_in(char *text) {
  for (char *at = text; *at; at++)
    if (*at >= '0' && *at <= '9' &&
        (at == text || !(char_is_word(at[-1]) || strchr("._:{", at[-1]))))
      return at;
  return NULL;
}

static bool vary_number(Varying *v, WholeDecl *d) {
  static const char *const numbers[] = {"0", "1", "2", "3", "0.25", "1.5"};
  if (!gathered(v, d)) return false;
  WholeNode *n = v->part.at[below(&v->m, v->part.n)]->node;
  for (uint32_t i = 0; i < n->piece.n; i++) {
    char *text = n->piece.at[i].text ? arena_format(v->p->arena, "%s", n->piece.at[i].text) : NULL;
    char *at = text ? number_in(text) : NULL;
    if (!at) continue;
    size_t length = strspn(at, "0123456789.");
    n->piece.at[i].text = arena_format(v->p->arena, "%.*s%s%s", (int)(at - text), text,
                                       PICK(&v->m, numbers), at + length);
    return true;
  }
  return false;
}

// Other functions for those of the text.
static bool vary_word(Varying *v, WholeDecl *d) {
  static const char *const word[][2] = {{"sum", "mean"},
                                        {"mean", "max"},
                                        {"max", "min"},
                                        {"min", "sum"},
                                        {"prod", "sum"},
                                        {" + ", " - "},
                                        {" - ", " * "},
                                        {" * ", " + "},
                                        {"tanh", "sqrt"},
                                        {"sin", "floor"},
                                        {"relu", "exp"},
                                        {"argmax", "argmin"},
                                        {"softmax", "log_softmax"},
                                        {"0.5", "-1"},
                                        {" when ", " + 1 when "}};
  if (!gathered(v, d)) return false;
  WholeNode *n = v->part.at[below(&v->m, v->part.n)]->node;
  for (uint32_t i = 0; i < n->piece.n; i++)
    for (uint32_t k = 0; n->piece.at[i].text && k < COUNT(word); k++) {
      const char *text = n->piece.at[i].text, *at = strstr(text, word[k][0]);
      if (!at || !one_in(&v->m, 2)) continue;
      n->piece.at[i].text = arena_format(v->p->arena, "%.*s%s%s", (int)(at - text), text,
                                         word[k][1], at + strlen(word[k][0]));
      return true;
    }
  return false;
}

static void set_length(WholeType *t, Id axis, uint32_t n) {
  if (t->range.axis == axis) t->range.n = n;
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->axis[i].axis == axis) t->axis[i].n = n;
}

// A declared axis has another length, wherever it is.
static bool vary_length(Varying *v, WholeDecl *unused) {
  (void)unused;
  WholeDecl *a = v->p->decl.at[below(&v->m, v->p->decl.n)];
  if (a->kind != DECL_OTHER || !a->family || v->p->name.at[a->name].kind != NAME_AXIS) return false;
  a->family = 1 + below(&v->m, 6);
  a->text = whole_node(v->p, NULL, "axis %n = %d", a->name, (int)a->family);
  for (uint32_t i = 0; i < v->p->decl.n; i++) {
    WholeDecl *d = v->p->decl.at[i];
    for (uint32_t k = 0; k < d->in.n; k++) set_length(&d->in.at[k].type, a->name, a->family);
    for (uint32_t k = 0; k < d->out.n; k++) set_length(&d->out.at[k], a->name, a->family);
  }
  return true;
}

// The sizes that a box leaves open are others, when values are asked for.
static bool vary_open(Varying *v, WholeDecl *d) {
  Id open = 0;
  uint32_t n = 1 + below(&v->m, 6);
  for (uint32_t i = 0; i < d->in.n; i++)
    for (uint32_t k = 0; k < d->in.at[i].type.rank; k++) {
      WholeAxis *a = &d->in.at[i].type.axis[k];
      if (!open) open = a->variable;
      if (open && a->variable == open) a->n = n;
    }
  return open != 0;
}

void whole_vary(Whole *p, uint64_t seed) {
  static Vary *const ways[] = {vary_wire,   vary_wire, vary_around, vary_around, vary_two,
                               vary_number, vary_word, vary_length, vary_open};
  Varying v = {.p = p, .m = {.p = p, .state = seed * 0xD1342543DE82EF95u + 7}};
  for (uint32_t i = 1 + below(&v.m, 3), turn = 0; i && p->decl.n && turn < 100; turn++)
    i -= PICK(&v.m, ways)(&v, p->decl.at[below(&v.m, p->decl.n)]);
}
