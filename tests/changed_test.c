// Every change of a program changes its pictures. Programs have places with alternatives: an
// option, a result, a member of a family, a number, a distance, an optimiser, an initial value.
// Each change is made alone, and both programs are drawn in every kind of picture. If a kind of
// picture shows the changed thing, the two pictures must differ, in their marks and as text.
//
//   changed_test               the tests
//   changed_test all           every pair, with the kinds of pictures that are equal
//   changed_test FILE…         changes each thing of these programs in turn (text_changes.h) and lists
//                              changes that pictures do not show
//
// A place is «KINDS:one|another|a third»; the first is what it is while others change. KINDS are
// the pictures that speak of it:
//   g      the goals and claims
//   a b c  the box or learner f at the levels learner, model and layer
//   A B C  the goal fit as lenses at these levels
//   r      the derivative of f
//   w      who trains whom
//   d e    the learning diagram, machine or wiring D; with everything opened
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "base/files.h"
#include "limn.h"
#include "painted_help.h"
#include "picture_changes.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
  char letter;
  const char *name;
  LimnDraw how;
} PictureKind;
static const PictureKind kinds[] = {
    {'g', NULL, {.size = sizeof(LimnDraw)}},
    {'a', "f", {.size = sizeof(LimnDraw), .level = "learner"}},
    {'b', "f", {.size = sizeof(LimnDraw), .level = "model"}},
    {'c', "f", {.size = sizeof(LimnDraw), .level = "layer"}},
    {'A', "fit", {.size = sizeof(LimnDraw), .level = "learner", .lens = true}},
    {'B', "fit", {.size = sizeof(LimnDraw), .level = "model", .lens = true}},
    {'C', "fit", {.size = sizeof(LimnDraw), .level = "layer", .lens = true}},
    {'r', "f", {.size = sizeof(LimnDraw), .grad = true}},
    {'w', NULL, {.size = sizeof(LimnDraw), .who = true}},
    {'d', "D", {.size = sizeof(LimnDraw)}},
    {'e', "D", {.size = sizeof(LimnDraw), .level = "layer"}},
};

static const char *const programs[] = {
    // options of boxes in goals, the goal's distance, its factor, what it trains, stops
    "given x, y from iris\n"
    "learn net : R[4] -> R[3] = dense[3]\n"
    "learn two : R[4] -> R[3] = dense[3]\n"
    "goal fit : «gABC:scale[2]|scale[3]|divide[2]»(net(«gABC:x|stop(x)|2 * x|3 * x|x + 0.1 * "
    "normal[4]|x + 0.1 * uniform[4]»)) ~ "
    "two(x) by «gABC:huber[1]|huber[2]|l2»   times «gABCw:1|2|0.5»   "
    "«gABCw:trains net|trains two|trains net, two»\n"
    "train 1 epochs, «ABC:adam(0.001)|adam(0.002)|gd(0.001)|adam(0.001, b1: 0.8)|adam(0.001, b1: "
    "0.7)|adam(cosine(0.001))»«ABC:|, clip 1|, clip 2|, decay 0.1|, accumulate 2|, "
    "turns[net: 2]»\n"
    "«ABC:|train 2 epochs, gd(0.1)\n|train 2 epochs, gd(0.2)\n»",
    // a result that is chosen
    "given x, y from iris\n"
    "box both(x: R[4]) -> R[4], R[4] = (x, 2 * x)\n"
    "learn net : R[4] -> R[4] = dense[4]\n"
    "box f(x: R[4]) -> R[4] {\n  a, b = both(x)\n  return «abc:a|b»\n}\n"
    "goal fit : net(x)[«gABC:0|1|2»] ~ x[«gABC:0|1»] by l2\n",
    // members of families
    "given x, y from iris\n"
    "learn net[3] : R[4] -> R[3] = dense[3]\n"
    "goal fit : net[«gABC:0|1|2»](x) ~ y by cross_entropy\n"
    "goal both : net[0](x) ~ net[1](x)   by l2   trains net[«g:0|1»]\n",
    // claims
    "box add_cell(x: R[], h: R[]) -> R[] = x + h\n"
    "box two(x: R[3]) -> R[3] = 2 * x\n"
    "box power[p: 2, by_k: 1](x: R[]) -> R[] = by_k * x^p\n"
    "check «g:scale[2]|scale[3]» ; «g:divide[2]|divide[3]» = id   within «g:1e-9|1e-8»\n"
    "check «g:power[3]|power[4]|power[by_k: 3]|power» = id\n"
    "check two(x)[«g:0|1»] = x[0]\n"
    "check fwd[«g:relu|tanh»](a, b) = b\n"
    "check rev[«g:relu|tanh|scale[2]|scale[3]»](a, b) = b\n",
    // derivatives of boxes that differ
    "box one(x: R[4]) -> R[4] = x^3\n"
    "box other(x: R[4]) -> R[4] = x^2\n"
    "box f(x, d: R[4]) -> R[4] = rev[«abc:one|other»](x, d)\n",
    "box one(x: R[4]) -> R[4] = x^3\n"
    "box other(x: R[4]) -> R[4] = x^2\n"
    "box f(x, d: R[4]) -> R[4] = fwd[«abc:one|other»](x, d)\n",
    // options of a learner's boxes, at the level of learners too
    "learn f : R[4] -> R[3] = dense[«abc:8|9»] ; leaky_relu[«abcr:0.1|0.2»] ; dense[3]\n",
    "learn f : R[6 6 4] -> R[6 6 3] = conv[«abc:8|9», k: «abc:3|5», dilation: «abc:1|2»] ; "
    "conv[3]\n",
    "box same(x: R[n]) -> R[n] = x\n"
    "learn f : R[4] -> R[4] = layer_norm[«abcr:1e-5|1e-4»] ; batch_norm[1e-5, keep: "
    "«abcr:0.9|0.8»] ; "
    "rms_norm[«abcr:1e-5|1e-4»] ; dropout[«abc:0.1|0.2»]«abc:| ; same»\n",
    "learn f : R[6 8] -> R[6 8] = transformer_block[h: «abc:2|4», k: «abc:4|2», f: "
    "«abc:attend|causal»] ; "
    "self_attention[«abc:2|3», 4]\n",
    "learn f : R[6 8] -> R[6 8] = lstm[«abc:8|9»] ; linear[8]\n",
    "learn f : R[6 6 4] -> R[6 6 4] = group_norm[«abc:2|4», «abc:1e-5|1e-4»] ; conv_grouped[4, "
    "«abc:2|4»] ; "
    "conv_depthwise[k: «abc:3|5»]\n",
    // literals
    "box f(x: R[4]) -> R[4] = «abcr:2|3» * x + «abc:1|4» * exp(x «abcr:*|+» «abcr:0.5|0.25»)\n",
    "box f(x: R[4]) -> R[4] = concat(x[«abc:0..1|1..2|2..3»], x[«abc:2..3|0..1»])\n",
    "box f(x: R[4], y: R[4]) -> R[4] = «abc:x - y|y - x|max(x, y)|min(x, y)|through(x, "
    "y)|through(y, x)|stop(x) * y|x * stop(y)»\n",
    "box f(x: R[i:4 j:4]) -> R[i j] = softmax[«abc:i|j»](x)\n",
    "box f(x, y: R[i:4 j:4]) -> R[32] = flatten(concat[«abc:i|j»](x, y))\n",
    "box f(x: R[i:4 j:4]) -> {4}[4 4] = order[«abc:i|j»](x)\n",
    "box f(x: R[4 4]) -> R[4] = «abc:sum|max|mean|prod|min»[j](x[i j])\n",
    "box f(x: R[4 4]) -> R[4] = sum[«abc:i|j»](x[i j])\n",
    "box f(x: R[4 4]) -> R[4 4] {\n  y[i j] = «abc:x[i j]|x[j i]»\n  return y\n}\n",
    "box f(x: R[4], t: {4}) -> R[] = x[«abc:0|1|2|t»]\n",
    "box f(x: R[4]) -> {4}[4] = order(«abc:x|-x»)\n",
    // noise
    "box f(x: R[4]) -> R[4] = x + «abc:normal[4]|uniform[4]»\n",
    "given x, y from iris\n"
    "given n from «g:normal[4]|uniform[4]»\n"
    "learn net : R[4] -> R[3] = dense[3]\n"
    "goal fit : net(x + n) ~ y by cross_entropy\n",
    "given x, y from «g:iris.train|iris.test|iris.valid»\n"
    "learn net : R[4] -> R[3] = dense[3]\n"
    "goal fit : net(x) ~ y by cross_entropy\n",
    // states
    "box centre[keep: 0.9](x: R[c]) -> R[c] {\n"
    "  state m : R[c] = «c:0|1|2»\n"
    "  now = mean[batch](x)\n"
    "  next m = keep * m + (1 - keep) * now\n"
    "  return x - (now when training else m)\n"
    "}\n"
    "learn f : R[2] -> R[2] = centre\n",
    // what weights begin with, and what constants are
    "const U : R[2 2] = [[«abcg:0|5», 1], [1, «abcg:2|3»]]\n"
    "learn k : positive = «abcg:0.5|0.6»\n"
    "learn q : simplex[2] = «abcg:[0.5, 0.5]|[0.25, 0.75]»\n"
    "learn f(x: R[2]) -> R[2] {\n"
    "  learn W : R[2 2] = «abc:0.3|0.4», V : R[2 2] = «bc:normal|uniform|he|orthogonal»\n"
    "  const c : R[2] = [0.1, «abc:0.2|0.3»]\n"
    "  v[i] = V[i j] x[j]\n"
    "  y[i] = W[i j] v[j]\n"
    "  z[i] = U[i j] y[j]\n"
    "  return z * c + k * q\n"
    "}\n"
    "given x : R[2] from moons.x\n"
    "goal fit : U[i j] x[j] + k * q[i] ~ f(x)   by l2\n",
    // scans: the cell, its options, where it starts
    "box add_cell[k: 1](x: R[], h: R[]) -> R[] = x + k * h\n"
    "box mul_cell(x: R[], h: R[]) -> R[] = x * h\n"
    "box f(x: R[5]) -> R[5] = scan[t, «abc:add_cell|mul_cell|add_cell[2]|add_cell[3]»](x, "
    "«abc:10|11»)\n",
    "box one(x: R[], a: R[], b: R[]) -> R[], R[] = (b, a + b)\n"
    "box f(x: R[5]) -> R[5] {\n  a, b = scan[t, one](x, 0, 1)\n  return «abc:a|b»\n}\n",
    // refit and flow
    "given x : R[10 28 28], y : {5}[10], q : R[10 28 28], a : {5}[10] from glyphs[way: 5, shot: 2, "
    "query: 2]\n"
    "learn head, tail : R[28 28] -> R[5] = flatten ; dense[5]\n"
    "goal fit : refit[«gABC:head|tail», «gABC:gd|adam», steps: «gABC:50|60», rate: "
    "«gABC:0.05|0.06»](x, y, q) ~ a   by cross_entropy\n",
    "learn head : R[4] -> R[3] = dense[3]\n"
    "box f(x: R[6 4], y: {3}[6], q: R[2 4]) -> R[2 3] = "
    "refit[head, «abc:gd|adam», steps: «abc:5|6», rate: «abc:0.05|0.06», by: "
    "«abc:cross_entropy|hits»](x, y, q)\n",
    "share Decay(x) { x' = -2 * x }\n"
    "share Grow(x) { x' = 2 * x }\n"
    "learn k : positive = 1\n"
    "given t : R[4] from iris.x\n"
    "box f(x: R[], t: R[5]) -> R[5] = flow[«abc:Decay|Grow», steps: «abc:10|20»](x, t)\n"
    "goal fit : k * flow[«gABC:Decay|Grow», steps: «gABC:10|20»](t[0], t) ~ t by l2\n",
    // stale copies, frozen learners, refinements
    "given x, y from iris\n"
    "learn net : R[4] -> R[3] = dense[3]\n"
    "stale old = net every 100\n"
    "«gABCw:freeze|#» net\n"
    "learn mix : R[3] -> R[3] = dense[3]\n"
    "goal fit : mix(net(x)) ~ old(x) by l2\n",
    "given x, y from iris\n"
    "learn enc : R[4] -> R[2] = dense[2]\n"
    "learn put : R[4] -> R[3]\n"
    "refine put(s) = «g:dense[3]|linear[3]»(enc(«g:s|2 * s»))\n"
    "goal fit : put(x) ~ y by cross_entropy\n",
    // measures of sizes and conditions in a goal
    "given x, y from iris\n"
    "learn net : R[4] -> R[3] = dense[3]\n"
    "goal fit : «gABC:minimise|maximise» «gABC:max|min|sum»(net(x)) * «gABC:1|2»\n",
    // boxes that are handed on, repetition, names of numbers and sizes, axes at a call
    "given x, y from iris\n"
    "box around[f](x: R[...s]) -> R[...s] = x + f(x)\n"
    "learn net : R[4] -> R[4] = dense[4]\n"
    "box f(x: R[4]) -> R[4] = around[«abc:square ; relu|square ; tanh|scale[2]|scale[3]»](x)\n"
    "goal fit : around[«gABC:square ; relu|square ; tanh|scale[2]|scale[3]»](net(x)) ~ x   by l2\n",
    "const k = «abcg:2|3»\naxis m = «bc:8|9»\n"
    "given x, y from iris\n"
    "learn f : R[4] -> R[4] = dense[m] ; scale[k] ; dense[4]\n"
    "goal fit : scale[k](f(x)) ~ x   by l2   times «gABCw:k|1»\n",
    "learn f : R[4] -> R[4] = (dense[4] ; relu) ^ «abc:2|3»\n",
    "box f(x: R[]) -> R[] {\n"
    "  y = x\n"
    "  for k in «abc:1..4|1..5|[1, 3]» {\n    y = y * «abc:k|(k + 1)»\n  }\n"
    "  return y\n}\n",
    "learn f : R[4 4] -> R[4 4] = residual[«abc:dense[4]|linear[4]»]\n",
    "box norm2(x: R[n]) -> R[n] = x / sum(x)\n"
    "box f(x: R[h:4 w:4]) -> R[h w] = norm2(x) over «abc:h|w»\n",
    "given x, y from iris\n"
    "learn a : R[4] -> R[3] = dense[3]\n"
    "learn b : R[3] -> R[3] = dense[3]\n"
    "goal fit : b(«gABCw:a(x)|stop(a(x))») ~ y   by cross_entropy\n"
    "goal more : «g:softmax(a(x))|softmax(stop(a(x)))|stop(softmax(a(x)))» ~ one_hot(y)   by l2   "
    "trains «gw:a|b»\n",
    // learning diagrams
    "learn big, small : R[4] -> R[3] = dense[16] ; relu ; dense[3]\n"
    "diagram D {\n"
    "  space N = «d:iris|iris.train»\n"
    "  space X = R[4]\n"
    "  space G = R[3] by «d:soft_cross_entropy|soft_cross_entropy[2]|soft_cross_entropy[3]»\n"
    "  space Y = {3} by cross_entropy\n"
    "  box measures : N -> X = «d:iris.x|2 * iris.x»\n"
    "  box kind     : N -> Y = iris.label\n"
    "  box teacher  : X -> G = big ; «d:divide[4]|divide[5]»\n"
    "  box student  : X -> G = «d:small|big» ; divide[4]\n"
    "  box guess    : X -> Y = small\n"
    "  freeze «d:big|small»\n"
    "  student <= teacher\n"
    "  measures ; guess <= kind   times «d:0.5|0.25»\n"
    "}\n",
    "learn step : R[2] -> R[2] = dense[2]\n"
    "diagram D {\n"
    "  space N = moons\n"
    "  space P = R[2] by l2\n"
    "  box x  : N -> P = moons.x\n"
    "  box go : P -> P = step   at most «d:2|3» times\n"
    "  x ; go ; go <= x\n"
    "}\n",
    "learn enc[2] : R[2] -> R[4] = dense[4] ; tanh\n"
    "learn dec : R[4] -> R[2] = dense[2]\n"
    "diagram D {\n"
    "  space N = moons\n"
    "  space P = R[2] by l2\n"
    "  space C = R[4]\n"
    "  box x    : N -> P = moons.x\n"
    "  box code : P -> C = enc[«d:0|1»]\n"
    "  box back : C -> P = dec\n"
    "  x ; code ; back <= x   trains «d:back|code»\n"
    "}\n",
    // machines: what they start with, what they do, their modes
    "machine D(up: R[]) -> (n: R[]) {\n"
    "  state n = «de:0|1|2»\n"
    "  next n = n + «de:up|2 * up|3 * up»\n"
    "}\n",
    "machine D -> (x: R[], y: R[]) {\n"
    "  state x = «de:1|2», y = 1\n"
    "  x' = «de:10|11» * (y - x)\n"
    "  y' = x * («de:28|29» - x) - y\n"
    "}\n",
    "machine D(a, b: B[]) -> (y: B[]) = «de:1 + a * b|a * b»\n",
    "machine D(out: R[]) -> (T: R[]) {\n"
    "  state T = «de:19|20»\n"
    "  mode on -> (fire: R[]) {\n"
    "    T'   = -«de:0.1|0.2» * (T - out) + 2.5\n"
    "    fire = 1\n"
    "    jump off when T >= «de:21|22»\n"
    "  }\n"
    "  mode off {\n"
    "    T' = -0.1 * (T - out)\n"
    "    jump on when T <= 19\n"
    "  }\n"
    "}\n",
    // wirings: parts' options, what wires compute, own states and how they learn
    "machine Gain[k](a: R[]) -> (y: R[]) = k * a\n"
    "machine Sum(a, b: R[]) -> (y: R[]) {\n  state y = 0\n  next y = a + b\n}\n"
    "wiring D(a: R[]) -> (y: R[]) {\n"
    "  n : Gain[«de:2|3»]\n"
    "  m : Sum «de:every 10|every 20|»\n"
    "  a -> n.a, «de:n.y|2 * n.y|3 * n.y» -> m.a, «de:delay[1](n.y)|delay[2](n.y)» -> m.b, m.y -> "
    "y\n"
    "}\n",
    "machine Nand(a, b: B[]) -> (y: B[]) = 1 + a * b\n"
    "machine And(a, b: B[]) -> (y: B[]) = a * b\n"
    "wiring Not[gate: Nand](a: B[]) -> (y: B[]) {\n  n : gate\n  a -> n.a, a -> n.b, n.y -> y\n}\n"
    "wiring D(a: B[]) -> (y: B[]) {\n  p : Not[«de:Nand|And»]\n  a -> p.a, p.y -> y\n}\n",
    "machine Worker(see: R[]) -> (guess: R[]) {\n"
    "  state w = «e:0|1»\n"
    "  guess = w * see\n"
    "  next w by «e:gd(0.05)|gd(0.06)|adam(0.05)» on «e:(guess - see)^2|(guess + see)^2»\n"
    "}\n"
    "wiring D[k: 3](see: R[3]) -> (guess: R[]) {\n"
    "  worker[3] : Worker\n"
    "  state g  : R[3 3] = «de:0.1|0.2»\n"
    "  state mu : simplex[3]\n"
    "  g[i j] see[j] -> worker[i].see\n"
    "  guess = mu[i] worker[i].guess\n"
    "  next g  by «de:gd(0.05)|gd(0.06)|adam(0.05)»    on «e:(worker[i].guess - "
    "see[i])^2|(worker[i].guess + see[i])^2»\n"
    "  next mu by «de:trust(0.05)|trust(0.06)» on mu[i] * worker[i].guess^2\n"
    "}\n",
    "const c = «e:3|4», d = «e:5 / 2|5 / 3», U : R[2] = «e:[1, 2]|[1, 3]», c2 = «e:7|8»\n"
    "machine Gain[k: 2](a: R[]) -> (y: R[]) = k * a * c * d * c2\n"
    "wiring D[more: «de:10|11»](a: R[]) -> (y: R[]) {\n"
    "  n : Gain[4]\n"
    "  a + more -> n.a, n.y * U[0] + U[1] -> y\n"
    "}\n",
    "share Growth(r)       { r' = «e:0.3|0.4» * r }\n"
    "share Decline[k](f)   { f' = -k * f }\n"
    "wiring D(rabbits) {\n"
    "  Growth(rabbits)\n"
    "  Decline[«de:2|3»](rabbits)\n"
    "}\n",
};

// -- programs with one thing changed --------------------------------------------------------------
enum { MOST_PLACES = 16, MOST_WAYS = 12 };

typedef struct {
  const char *kinds, *way[MOST_WAYS]; // not ended by 0
  uint32_t n, kinds_n, length[MOST_WAYS];
} ChangePlace;

static const char *const OPEN = "«", *const CLOSE = "»";

// Reads a place; at: behind its first sign. Returns what is behind its last one.
static const char *place_read(const char *at, ChangePlace *out) {
  const char *end = strstr(at, CLOSE), *colon = strchr(at, ':');
  assert_true(end && colon && colon < end);
  *out = (ChangePlace){.kinds = at, .kinds_n = (uint32_t)(colon - at)};
  for (at = colon + 1; at <= end; at++) {
    uint32_t n = 0;
    while (at + n < end && at[n] != '|') n++;
    assert_true(out->n < MOST_WAYS);
    out->way[out->n] = at, out->length[out->n++] = n;
    at += n;
  }
  return end + strlen(CLOSE);
}

static uint32_t places_of(const char *program, ChangePlace *out) {
  uint32_t n = 0;
  for (const char *at = program; (at = strstr(at, OPEN));) {
    assert_true(n < MOST_PLACES);
    at = place_read(at + strlen(OPEN), &out[n++]);
  }
  return n;
}

// The program with this way at this place, and the first one at all others.
static const char *program_with(Arena *a, const char *program, uint32_t place, uint32_t way) {
  Buf b = buf_new(a);
  ChangePlace here;
  for (uint32_t k = 0; *program; k++) {
    const char *next = strstr(program, OPEN);
    if (!next) break;
    buf_add(&b, program, (size_t)(next - program));
    program = place_read(next + strlen(OPEN), &here);
    uint32_t i = k == place ? way : 0;
    buf_add(&b, here.way[i], here.length[i]);
  }
  buf_text(&b, program);
  return b.at;
}

// -- pictures -------------------------------------------------------------------------------------
typedef struct {
  const char *painted, *text; // NULL: there is no such picture
  size_t bytes;
} PictureSeen;

static PictureSeen seen_of(Arena *a, Limn *l, const char *name, const LimnDraw *how) {
  PictureSeen p = {0};
  LimnDraw svg = *how;
  const char *bytes = NULL, *text = NULL;
  size_t n = 0;
  svg.out = "f.svg";
  if (limn_draw_bytes(l, name, &svg, &bytes, &n) != LIMN_GOOD) return p;
  p.painted = painted(a, bytes, n, &p.bytes);
  if (limn_draw_text(l, name, how, &text) == LIMN_GOOD) p.text = arena_format(a, "%s", text);
  return p;
}

typedef struct {
  const char *program;
  PictureSeen seen[COUNT(kinds)];
} ChangedProgram;

static ChangedProgram drawn(Arena *a, const char *program) {
  ChangedProgram c = {.program = program};
  Limn *l = limn_new();
  if (limn_load_text(l, "f.limn", program, strlen(program)) != LIMN_GOOD)
    fail_msg("%s\n%s", program, limn_messages(l, false));
  for (uint32_t k = 0; k < COUNT(kinds); k++)
    c.seen[k] = seen_of(a, l, kinds[k].name, &kinds[k].how);
  limn_free(l);
  return c;
}

// -- the law --------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  uint32_t pairs, wrong;
  bool list;
} Changes;

static bool speaks(const ChangePlace *p, char kind) {
  return memchr(p->kinds, kind, p->kinds_n) != NULL;
}

static bool alike(const PictureSeen *x, const PictureSeen *y) {
  if (!x->painted || !y->painted) return true;
  return (x->bytes == y->bytes && memcmp(x->painted, y->painted, x->bytes) == 0) ||
         (x->text && y->text && strcmp(x->text, y->text) == 0);
}

static void compare(Changes *c, const ChangePlace *p, uint32_t i, uint32_t k,
                    const ChangedProgram *each) {
  char said[COUNT(kinds) + 1] = {0};
  uint32_t n = 0;
  for (uint32_t s = 0; s < COUNT(kinds); s++) {
    if (!speaks(p, kinds[s].letter)) continue;
    c->pairs++;
    if (alike(&each[i].seen[s], &each[k].seen[s])) said[n++] = kinds[s].letter;
  }
  if (!n) return;
  c->wrong += n;
  if (c->list || c->wrong < 8)
    printf("alike in %s: %.*s and %.*s in\n%s\n", said, (int)p->length[i], p->way[i],
           (int)p->length[k], p->way[k], each[0].program);
}

static void try_program(Changes *c, const char *program) {
  ChangePlace place[MOST_PLACES];
  uint32_t n = places_of(program, place);
  ChangedProgram first = drawn(c->arena, program_with(c->arena, program, n, 0));
  for (uint32_t p = 0; p < n; p++) {
    ChangedProgram each[MOST_WAYS] = {first};
    for (uint32_t i = 1; i < place[p].n; i++)
      each[i] = drawn(c->arena, program_with(c->arena, program, p, i));
    for (uint32_t i = 0; i < place[p].n; i++)
      for (uint32_t k = i + 1; k < place[p].n; k++) compare(c, &place[p], i, k, each);
  }
}

// -- files ----------------------------------------------------------------------------------------
// A folder with the programs beside it, which it may use.
static const char *folder_like(Arena *a, const char *path) {
  char *dir = arena_text(a, "/tmp/limn.XXXXXX", 16);
  const char *slash = strrchr(path, '/');
  const char *from = slash ? arena_text(a, path, (size_t)(slash - path)) : ".";
  if (!mkdtemp(dir)) return NULL;
  const char *copy = arena_format(a, "cp %s/*.limn %s", from, dir);
  return system(copy) ? NULL : dir;
}

static int try_file(const char *path) {
  Arena *a = arena_new();
  FileText file = file_read(a, path, 1000000);
  const char *dir = folder_like(a, path);
  PictureChanges *p = file.text && dir ? picture_changes(a, dir, file.text) : NULL;
  uint32_t tried = 0, hidden = 0;
  if (!p) printf("%s is no program\n", path);
  TextChanges all = {0};
  if (p) all = text_changes(a, file.text, ~0u);
  for (uint32_t i = 0; i < all.n; i++) {
    const char *level = "";
    PictureChangeAnswer answer = picture_change_try(p, &all.at[i], &level);
    tried += answer != NOTHING, hidden += answer == HIDDEN;
    if (answer == HIDDEN)
      printf("%s: %s: %s\n", path, level, text_change_said(a, file.text, &all.at[i]));
  }
  fprintf(stderr, "%s: %u changed, %u not seen\n", path, tried, hidden);
  picture_changes_free(p);
  if (dir && system(arena_format(a, "rm -rf %s", dir))) perror(dir);
  arena_free(a);
  return !p || hidden > 0;
}

static void one_thing_changed(void **state) {
  (void)state;
  Changes c = {.arena = arena_new()};
  for (uint32_t i = 0; i < COUNT(programs); i++) try_program(&c, programs[i]);
  uint32_t wrong = c.wrong;
  arena_free(c.arena);
  assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    Changes c = {.arena = arena_new(), .list = true};
    for (uint32_t i = 0; i < COUNT(programs); i++)
      if (argc < 3 || strtoul(argv[2], NULL, 10) == i) try_program(&c, programs[i]);
    fprintf(stderr, "%u pairs of pictures, %u alike\n", c.pairs, c.wrong);
    return c.wrong > 0;
  }
  int status = 0;
  for (int i = 1; i < argc; i++) status |= try_file(argv[i]);
  if (argc > 1) return status;
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_thing_changed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
