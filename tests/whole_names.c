// Laws of names. `misnamed`: in a correct program, a path whose last name does not exist is
// refused. `freeze`: frozen learners do not change, whatever is set, found, replaced or copied
// before or after.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/syntax.h"
#include "whole_laws.h"

#include <stdlib.h>

typedef struct {
  uint64_t state;
} Chance;

static uint32_t chance(Chance *c, uint32_t n) {
  c->state = c->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(c->state >> 33) % n;
}

// -- misnamed -------------------------------------------------------------------------------------
// Every kind of statement that takes names.
static const char statements[] =
    "axis code = 4\n"
    "const rate = 0.01, rows = 3\n"
    "space Point = R[2] by l2\n"
    "box far(a, b: R[n]) -> R[] = sum(abs(a - b))\n"
    "box near[k: 2](a, b: R[n]) -> R[] = k * sum(abs(a - b))   minimise\n"
    "box halving[every_n](rate: R[]) -> R[] = rate * 0.5^floor(step / every_n)\n"
    "given x, y from moons\n"
    "given z : Point from moons.test.x\n"
    "given u from normal[2]\n"
    "learn f : R[2] -> R[code] = dense[3] ; relu ; dense[code]\n"
    "learn g : R[code] -> R[2]\n"
    "learn h[2] : R[2] -> R[2] = dense[2]\n"
    "learn w : R[2] = normal\n"
    "learn q : simplex[3]\n"
    "refine g = dense[5] ; tanh ; dense[2]\n"
    "stale s = f by 0.9\n"
    "stale t = h[1] every 2\n"
    "freeze w\n"
    "goal fit : g(f(x)) ~ y   by cross_entropy   trains f, g   times rows\n"
    "goal own : h[0](x) + w ~ z   by far   trains h[0]\n"
    "goal mine : minimise sum(g(s(z)))   trains g\n"
    "for k in 0..1 {\n"
    "  goal each : h[k](x) ~ t(x)   by near[k: 3]   trains h[k]\n"
    "}\n"
    "measure fit by hits on moons.test\n"
    "measure m : near[2](z, u)   on moons.test\n"
    "measure n : g(f(x)) ~ y   by hits   on spirals.test\n"
    "train 4 steps, batch 8, adam(halving[2](rate)), f: gd(rate: 0.1), h[0]: momentum(0.1), "
    "turns[f: 1, g: 2, h: 1], clip 1, seed rows\n"
    "show g(f(x)), y on moons.test every rows as scatter, table[rows]\n"
    "show f(x * r) for r in [0, 0.5, 1] as table\n"
    "show confusion(g(f(x)), y) on moons.test\n"
    "check far = far\n"
    "optimiser other(rate: 0.01, keep: 0.9) {\n"
    "  state v = 0\n"
    "  look p - keep * v\n"
    "  next v = keep * v + rate * grad\n"
    "  next p = p - next v\n"
    "}\n"
    "learn big, small : R[4] -> R[3] = dense[6] ; relu ; dense[3]\n"
    "diagram teach {\n"
    "  space N = iris\n"
    "  space X = R[4]\n"
    "  space Y = {3} by cross_entropy\n"
    "  box measures : N -> X = iris.x\n"
    "  box kind     : N -> Y = iris.label\n"
    "  box guess    : X -> Y = big\n"
    "  learn go     : X -> Y = dense[3]\n"
    "  freeze small\n"
    "  keep : measures ; guess <= kind   times rows   trains guess\n"
    "  measures ; go <= kind   trains go\n"
    "}\n"
    "diagram again = teach\n"
    "diagram both = teach + again as more along N, X, measures\n"
    "freeze teach.guess\n"
    "freeze small in again\n"
    "set again.guess = small\n"
    "set small = dense[7] ; dense[3]\n"
    "find big in teach => freeze\n"
    "find measures ; more.guess in both => freeze more.guess\n"
    "measure teach.keep by hits on iris.test\n"
    "train teach 4 steps, batch 8, adam(rate), teach.go: gd(0.1)\n";

// The line of the first error; 0: there is none.
static uint32_t refused_at(Limn *l, const char *name, const char *text) {
  if (limn_load_text(l, name, text, strlen(text)) == LIMN_GOOD && limn_check(l) == LIMN_GOOD)
    return 0;
  LimnMessage m = {.size = sizeof m};
  for (uint32_t i = 0; i < limn_message_count(l); i++)
    if (limn_message(l, i, &m) == LIMN_GOOD && m.severity == LIMN_ERROR) return m.line;
  return UINT32_MAX;
}

static uint32_t line_of(const char *text, uint32_t at) {
  uint32_t line = 1;
  for (uint32_t i = 0; i < at; i++) line += text[i] == '\n';
  return line;
}

static Tokens tokens_of(Case *c, const char *text) {
  Sources *sources = sources_new(c->arena);
  Front front = {c->arena, names_new(c->arena), diags_new(c->arena, sources), sources};
  return lex(&front, source_add(sources, "chance.limn", text, strlen(text)));
}

// Some of its names, each with `.nothing` behind it.
static bool names_are_looked_up(Case *c, Limn *l, const char *name, const char *text, Chance *by,
                                uint32_t times) {
  Tokens all = tokens_of(c, text);
  uint32_t line = refused_at(l, name, text);
  if (line) return case_says(c, "refused: %s", limn_messages(l, false));
  for (uint32_t tries = 0; times && tries < 1000; tries++) {
    const Token *t = &all.at[chance(by, all.n)];
    if (t->kind != TK_NAME) continue;
    times--;
    uint32_t end = t->span.at + t->span.n;
    const char *other = arena_format(c->arena, "%.*s.nothing%s", (int)end, text, text + end);
    line = refused_at(l, name, other);
    if (!line)
      return case_says(c, "misnamed: `%.*s.nothing` in line %u passes", (int)t->span.n,
                       text + t->span.at, line_of(text, t->span.at));
  }
  return true;
}

bool law_misnamed(Case *c) {
  Chance by = {c->p->seed * 2 + 1};
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  Limn *l = case_load(c, text); // its files are there now
  if (!l) return false;
  bool good = names_are_looked_up(c, l, "chance.limn", text, &by, 8) &&
              names_are_looked_up(c, l, "statements.limn", statements, &by, 16);
  limn_free(l);
  return good;
}

// -- freeze ---------------------------------------------------------------------------------------
// m ; n ; k ; h from data to labels, each edge one of three learners; those of n, k and h have one
// type, so that an edge may be of the same learner as another.
enum { EDGES = 4, LEARNERS = 3 };
static const char *const edge_name[EDGES] = {"m", "n", "k", "h"};
typedef struct {
  uint32_t map[EDGES];
  bool edge[EDGES], learner[2][LEARNERS]; // frozen
} Freezing;

static uint32_t pool_of(uint32_t edge) { return edge > 0; }

static const char *learner_at(Case *c, uint32_t edge, uint32_t k) {
  return arena_format(c->arena, "%c%u", pool_of(edge) ? 'b' : 'a', k);
}

// A statement about one diagram, and what it means.
static void some_statement(Case *c, Chance *by, const char *d, bool copy, Freezing *f, Buf *b) {
  uint32_t e = chance(by, EDGES), k = chance(by, LEARNERS), was = f->map[e];
  const char *edge = edge_name[e], *to = learner_at(c, e, k), *now = learner_at(c, e, was);
  switch (chance(by, copy ? 6 : 7)) {
  case 0:
    buf_printf(b, "freeze %s.%s\n", d, edge);
    f->edge[e] = true;
    break;
  case 1:
    buf_printf(b, "freeze %s in %s\n", to, d);
    f->learner[pool_of(e)][k] = true;
    break;
  case 2:
    buf_printf(b, "find %s in %s => freeze\n", edge, d);
    f->edge[e] = true;
    break;
  case 3: // everywhere where that learner is now
    buf_printf(b, "find %s in %s => freeze\n", now, d);
    for (uint32_t i = 0; i < EDGES; i++) f->edge[i] |= pool_of(i) == pool_of(e) && f->map[i] == was;
    break;
  case 4:
    buf_printf(b, "find %s in %s => set %s\n", edge, d, to);
    f->map[e] = k;
    break;
  case 5:
    buf_printf(b, "set %s.%s = %s\n", d, edge, to);
    f->map[e] = k;
    break;
  default: buf_printf(b, "find %s in %s => replace %s\n", edge, d, to); f->map[e] = k;
  }
}

static bool is_still(const Freezing *f, uint32_t pool, uint32_t learner) {
  bool used = false, still = f->learner[pool][learner];
  for (uint32_t e = 0; e < EDGES; e++) {
    if (pool_of(e) != pool || f->map[e] != learner) continue;
    used = true;
    still |= f->edge[e];
  }
  return still || !used;
}

static const char *freezing_program(Case *c, Chance *by, Freezing *f) {
  Buf b = buf_new(c->arena);
  bool copy = chance(by, 3) == 0;
  *f = (Freezing){0};
  for (uint32_t e = 1; e < EDGES; e++) f->map[e] = chance(by, LEARNERS);
  buf_text(&b, "learn a0, a1, a2 : R[4] -> R[3] = dense[3] ; tanh\n"
               "learn b0, b1, b2 : R[3] -> R[3] = dense[3] ; tanh\n"
               "diagram d {\n  space N = iris\n  space X = R[4]\n  space F = R[3]\n"
               "  space G = R[3]\n  space H = R[3]\n  space Y = {3} by cross_entropy\n"
               "  box x : N -> X = iris.x\n  box y : N -> Y = iris.label\n");
  static const char *const ends[EDGES] = {"X -> F", "F -> G", "G -> H", "H -> Y"};
  for (uint32_t e = 0; e < EDGES; e++)
    buf_printf(&b, "  box %s : %s = %s\n", edge_name[e], ends[e], learner_at(c, e, f->map[e]));
  uint32_t inside = chance(by, EDGES * 2);
  if (inside < EDGES) buf_printf(&b, "  freeze %s\n", edge_name[inside]), f->edge[inside] = true;
  if (chance(by, 2)) buf_text(&b, "  x ; m ; n ; k ; h <= y\n");
  buf_text(&b, "}\n");
  for (uint32_t i = chance(by, 5); i; i--) some_statement(c, by, "d", false, f, &b);
  if (copy) buf_text(&b, "diagram c = d\n");
  for (uint32_t i = copy ? 1 + chance(by, 4) : 0; i; i--) some_statement(c, by, "c", true, f, &b);
  buf_printf(&b, "train %s 1 steps, batch 16, gd(0.5)\n", copy ? "c" : "d");
  return b.at;
}

bool law_freeze(Case *c) {
  Chance by = {c->p->seed};
  Freezing f;
  const char *text = freezing_program(c, &by, &f), *table;
  bool any = false;
  for (uint32_t i = 0; i < 2 * LEARNERS; i++) any |= !is_still(&f, i / LEARNERS, i % LEARNERS);
  if (!any) return true; // nothing is left to train
  Limn *l = limn_new();
  if (limn_load_text(l, "chance.limn", text, strlen(text)) != LIMN_GOOD ||
      !(table = limn_who(l, true)))
    return case_says(c, "refused: %s\n%s", limn_messages(l, false), text);
  table = arena_format(c->arena, "%s", table);
  Values changed = {0};
  bool good = case_step_moves(c, l, 1, &changed);
  for (uint32_t i = 0; good && i < 2 * LEARNERS; i++) {
    const char *name = arena_format(c->arena, "%c%u", i < LEARNERS ? 'a' : 'b', i % LEARNERS);
    bool still = is_still(&f, i / LEARNERS, i % LEARNERS), moved = false;
    for (uint32_t k = 0; k < changed.n; k++) moved |= !strncmp(changed.at[k].name, name, 2);
    bool said = strstr(table, arena_format(c->arena, "\"%s\": \"moves\"", name)) != NULL;
    if (moved == still || said == still)
      good = case_says(c, "freeze: `%s` %s, is %s and is said to %s\n%s", name,
                       still ? "is frozen" : "is free", moved ? "moved" : "not moved",
                       said ? "move" : "stay", text);
  }
  limn_free(l);
  return good;
}
