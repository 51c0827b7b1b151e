// The law of claims: a claim has the value of a box with the same text, with implicit or explicit
// sums, and with or without names for its factors. The texts are sums and quotients of products of
// reads, functions, boxes and sums in parentheses.
#include "whole_laws.h"

typedef struct {
  const char *plain, *spelled; // as the rule of indices has it, and with every sum written out
  const char *named, *names;   // with names for some factors, and the lines that give them
} ClaimText;

typedef struct {
  Maker m;
  Arena *arena;
  uint32_t indices, wires;
} ClaimMaker;

// In a form, % is a place of p and q, @ one of r, $ an index of its own, and what is between braces
// stands there only where sums are written out. Axes come in the order of the indices.
typedef struct {
  const char *form, *axes;
} ClaimForm;

static const ClaimForm columns[] = {{"p[%]", "%"},
                                    {"q[%]", "%"},
                                    {"exp(p[%])", "%"},
                                    {"tanh(p[%] + q[%])", "%"},
                                    {"bent(q[%])", "%"},
                                    {"(p[%] + q[%])", "%"},
                                    {"(p[%] + 1)^2", "%"},
                                    {"softmax(q[%])", "%"},
                                    {"turned(q)[%]", "%"},
                                    {"log(p[%] / q[%])", "%"},
                                    {"max(p[%], q[%])", "%"},
                                    {"tanh({sum[$](}U[$ %] * r[$]{)})", "%"},
                                    {"bent({sum[$](}U[$ %] * exp(r[$]){)})", "%"},
                                    {"sum[$](tanh(U[$ %]))", "%"}};
static const ClaimForm rows[] = {{"r[@]", "@"},
                                 {"tanh(r[@])", "@"},
                                 {"softmax(r[@])", "@"},
                                 {"bent(r[@])", "@"},
                                 {"(r[@] + 0.5)", "@"},
                                 {"tanh({sum[$](}U[@ $] * q[$]{)})", "@"},
                                 {"exp({sum[$](}softmax[$](U[@ $]) * q[$]{)})", "@"}};
static const ClaimForm tables[] = {{"U[@ %]", "@ %"},
                                   {"exp(U[@ %])", "@ %"},
                                   {"softmax[%](U[@ %])", "@ %"},
                                   {"softmax[@](U[@ %])", "@ %"},
                                   {"(U[@ %] + p[%])", "@ %"},
                                   {"(softmax[%](U[@ %]) + r[@])", "@ %"},
                                   {"bent(U[@ %])", "@ %"},
                                   {"tanh(p[%] * r[@])", "% @"},
                                   {"log(1 + U[@ %] / q[%])", "@ %"}};

static const char *filled(ClaimMaker *k, const char *form, const char *const index[3], bool sums) {
  Buf text = buf_new(k->arena);
  bool inside = false;
  for (const char *c = form; *c; c++) {
    const char *at = strchr("%@$", *c);
    if (*c == '{' || *c == '}')
      inside = *c == '{';
    else if (at && (sums || !inside))
      buf_text(&text, index[at - "%@$"]);
    else if (sums || !inside)
      buf_char(&text, *c);
  }
  return arena_format(k->arena, "%s", text.at);
}

static ClaimText factor_by(ClaimMaker *k, const ClaimForm *f, const char *column, const char *row) {
  const char *const index[3] = {column, row, arena_format(k->arena, "j%u", k->indices++)};
  ClaimText t = {.plain = filled(k, f->form, index, false),
                 .spelled = filled(k, f->form, index, true),
                 .names = ""};
  t.named = t.plain;
  if (one_in(&k->m, 2)) return t;
  t.named = arena_format(k->arena, "w%u[%s]", k->wires, filled(k, f->axes, index, false));
  t.names = arena_format(k->arena, "  w%u = %s\n", k->wires++, t.plain);
  return t;
}

static ClaimText both(ClaimMaker *k, ClaimText a, const char *between, ClaimText b) {
  return (ClaimText){arena_format(k->arena, "%s%s%s", a.plain, between, b.plain),
                     arena_format(k->arena, "%s%s%s", a.spelled, between, b.spelled),
                     arena_format(k->arena, "%s%s%s", a.named, between, b.named),
                     arena_format(k->arena, "%s%s", a.names, b.names)};
}

static ClaimText around(ClaimMaker *k, const char *before, ClaimText t, const char *behind) {
  ClaimText open = {before, before, before, ""}, close = {behind, behind, behind, ""};
  return both(k, both(k, open, "", t), "", close);
}

// Every index stands in two factors or more.
static ClaimText product(ClaimMaker *k) {
  const char *i = arena_format(k->arena, "i%u", k->indices++),
             *row = arena_format(k->arena, "k%u", k->indices++), *sum;
  bool wide = one_in(&k->m, 2), twice = one_in(&k->m, 2);
  ClaimText t = factor_by(k, wide ? &PICK(&k->m, tables) : &PICK(&k->m, columns), i, row);
  ClaimText u = factor_by(k, wide && twice ? &PICK(&k->m, tables) : &PICK(&k->m, columns), i, row);
  t = one_in(&k->m, 2) ? both(k, t, " * ", u) : both(k, u, " * ", t);
  if (wide && !twice) t = both(k, t, " * ", factor_by(k, &PICK(&k->m, rows), i, row));
  if (one_in(&k->m, 3)) t = both(k, t, " * ", factor_by(k, &PICK(&k->m, columns), i, row));
  sum = arena_format(k->arena, wide ? "sum[%s %s](" : "sum[%s](", i, row);
  t.spelled = arena_format(k->arena, "%s%s)", sum, t.spelled);
  return t;
}

static ClaimText some_text(ClaimMaker *k, uint32_t depth) {
  ClaimText t = product(k);
  if (depth && one_in(&k->m, 3)) t = around(k, "tanh(", some_text(k, depth - 1), ")");
  if (depth && one_in(&k->m, 3))
    t = both(k, t, " / ", around(k, "(3 + tanh(", some_text(k, depth - 1), "))"));
  if (depth && one_in(&k->m, 2))
    t = both(k, t, one_in(&k->m, 2) ? " + " : " - ", some_text(k, depth - 1));
  return t;
}

// -- the law --------------------------------------------------------------------------------------
static const char *claims_program(Arena *arena, const ClaimText *t) {
  static const char head[] = "axis n = 3, m = 2\n"
                             "learn p : R[n] = [0.5, 1.25, 0.25]\n"
                             "learn q : R[n] = [0.2, 0.3, 1.5]\n"
                             "learn r : R[m] = [0.7, -0.4]\n"
                             "learn U : R[m n] = [[0.1, 0.2, 0.3], [0.4, 1.5, 0.6]]\n"
                             "box bent(x: R[]) -> R[] = x * x + x\n"
                             "box turned(x: R[n]) -> R[n] {\n  return y[n] = x[2-n]\n}\n";
  const char *in = "(p, q: R[n], r: R[m], U: R[m n]) -> R[]";
  return arena_format(arena,
                      "%sbox plain%s = %s\nbox spelled%s = %s\nbox named%s {\n%s  return %s\n}\n"
                      "goal claimed : minimise %s\nmeasure measured : %s\n",
                      head, in, t->plain, in, t->spelled, in, t->names, t->named, t->plain,
                      t->plain);
}

bool law_claims(Case *c) {
  static double p[] = {0.5, 1.25, 0.25}, q[] = {0.2, 0.3, 1.5}, r[] = {0.7, -0.4},
                U[] = {0.1, 0.2, 0.3, 0.4, 1.5, 0.6};
  Value given[] = {{.name = "", .rank = 1, .shape = {3}, .data = p, .n = 3},
                   {.name = "", .rank = 1, .shape = {3}, .data = q, .n = 3},
                   {.name = "", .rank = 1, .shape = {2}, .data = r, .n = 2},
                   {.name = "", .rank = 2, .shape = {2, 3}, .data = U, .n = 6}};
  static const char *const same[] = {"plain", "named", "claimed", "measured"};
  ClaimMaker k = {.m = {.state = c->p->seed * 2654435761u + 1}, .arena = c->arena};
  ClaimText t = some_text(&k, 2);
  const char *text = claims_program(c->arena, &t);
  Limn *l = case_load(c, text);
  Values in = {0}, none = {0}, want = {0};
  for (uint32_t i = 0; i < COUNT(given); i++) vec_push(c->arena, &in, given[i]);
  bool good = l && case_eval(c, l, "spelled", &in, NULL, &want, NULL);
  for (uint32_t i = 0; good && i < COUNT(same); i++) {
    Values have = {0};
    good = case_eval(c, l, same[i], i < 2 ? &in : &none, NULL, &have, NULL) &&
           values_near(c, arena_format(c->arena, "claims: %s", same[i]), &have.at[0], &want.at[0],
                       1e-6);
    if (!good) case_says(c, "%s", text);
  }
  limn_free(l);
  return good;
}
