// The front end: accepted programs and their trees, refused programs and their messages, few
// messages for each error and no crash, and that formatting keeps the meaning and is stable.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/syntax.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

typedef struct {
  Front front;
  uint32_t file;
  Syntax *program;
} Read;

static Read read_with(Arena *a, Names *names, const char *text, size_t n) {
  Read r = {.front = {.arena = a, .names = names}};
  r.front.sources = sources_new(a);
  r.front.diags = diags_new(a, r.front.sources);
  r.file = source_add(r.front.sources, "test.limn", text, n);
  r.program = parse(&r.front, r.file);
  diags_sort(r.front.diags);
  return r;
}

static const char *messages_of(const Read *r) {
  Buf out = buf_new(r->front.arena);
  diags_print(r->front.diags, &out);
  return out.at;
}

static const char *tree_of(const Read *r) {
  Buf out = buf_new(r->front.arena);
  tree_print(r->front.names, r->program, &out);
  return out.at;
}

static const char *formatted(const Read *r) {
  Buf out = buf_new(r->front.arena);
  format_program(&r->front, r->file, r->program, &out);
  return out.at;
}

// -- accepted

typedef struct {
  const char *text, *want[3]; // fragments of the tree
} Accepted;

static const Accepted accepted[] = {
    // composition
    {"box f : A -> B = g ; h & k ; m",
     {"(pipe (name g) (fan (name h) (name k)) (name m))",
      "(sig (types (type (name A) _)) (types (type (name B) _)))"}},
    {"box f : A, B2 -> C, D = (f, g) ; swap", {"(pipe (tuple (name f) (name g)) (name swap))"}},
    {"box b = conv3[64] ; relu ^ 2 ; (dense[8] ; tanh) ^ 3",
     {"(pow (name relu) (num 2))", "(pow (paren (pipe (at (name dense)"}},
    {"box b : R[a] -> R[b] = dense[4*m]\n  ; relu\n  ; dense[m]",
     {"(pipe (at (name dense) (brackets (items (prod \"*\" (num 4) (name m))))) (name relu)"}},
    {"box res[f](x: R[...s]) -> R[...s] = x + f(x)",
     {"(box res (cfg (cfgpar f _)) (params (param x", "(spread s)"}},
    {"learn r : R[8] -> R[8] = res[dense[8] ; relu] ^ 3",
     {"(brackets (items (pipe (at (name dense) (brackets (items (num 8)))) (name relu))))"}},
    {"box r = res[(dense[8] & dense[8]) ; add]", {"(items (pipe (paren (fan (at", "(name add))"}},
    {"box r = res[a & b ; c & d]", {"(pipe (fan (name a) (name b)) (fan (name c) (name d)))"}},
    // products by juxtaposition
    {"box f(a: R[i], b: R[i]) -> R[] = a[i] b[i]",
     {"(run (at (name a) (brackets (items (name i)))) (at (name b)"}},
    {"box f(a: R[i]) -> R[] = a[i] b[i] / sqrt(k) + c[i]^2 d[i]",
     {"(sum \"+\" (prod \"/\" (run", "(run (pow (at (name c)"}},
    {"box f = 2 * a[i j] b[j] - -c[i]",
     {"(sum \"-\" (prod \"*\" (num 2) (run", "(neg (at (name c)"}},
    {"box f = mu[i] w[i].out",
     {"(run (at (name mu) (brackets (items (name i)))) (dot out (at (name w)"}},
    {"box f = -x^2 + y^-2", {"(neg (pow (name x) (num 2)))", "(pow (name y) (neg (num 2)))"}},
    {"box f = a - b + c * d / e",
     {"(sum \"-+\" (name a) (name b) (prod \"*/\" (name c) (name d) (name e)))"}},
    {"box f = a ^ b ^ c", {"(pow (name a) (pow (name b) (name c)))"}},
    // brackets
    {"box f = y[(h w) c]", {"(items (group (items (name h) (name w))) (name c))"}},
    {"box f(x: R[...s]) -> R[(...s)] {\n return y[(...s)] = x[...s]\n}",
     {"(group (items (spread s)))"}},
    {"box f(a: R[h w c]) -> R[c h*w] {\n y[c (h w)] = a[h w c]\n return y\n}",
     {"(lhs y (brackets (items (name c) (group"}},
    {"box f(x: R[h w c]) -> R[h/2 w//2 2*c] = g(x)", {"(prod \"%\" (name w) (num 2))"}},
    {"box f = x[i+p-1 2*j+q 0 3..7]",
     {"(sum \"+-\" (name i) (name p) (num 1))", "(range (num 3) (num 7))"}},
    {"box f = E[text[i] m]", {"(at (name E) (brackets (items (at (name text)"}},
    {"box f = clamp[-1, 1] ; leaky[-0.1] ; conv[64, stride: 2, pad: 1]",
     {"(items (neg (num 1))) (items (num 1))", "(items (sized pad (num 1)))"}},
    {"box f = linear[h k](Y)",
     {"(call (at (name linear) (brackets (items (name h) (name k)))) (name Y))"}},
    {"box f = width[2 * (l + 1)^2 3]",
     {"(prod \"*\" (num 2) (pow (paren (sum \"+\" (name l) (num 1))) (num 2)))"}},
    {"const A : R[2 2] = [[1, -2], [3, 4e-3]]",
     {"(list (list (num 1) (neg (num 2))) (list (num 3) (num 4e-3)))"}},
    {"const A : R[2 2] from \"a.npy\", k from \"k.csv\", n = 3",
     {"(type (name R) (brackets (items (num 2) (num 2)))) (str \"a.npy\")",
      "(typed k _ _ (str \"k.csv\") _)"}},
    // types and headers
    {"learn put : Face, R[] -> Face",
     {"(sig (types (type (name Face) _) (type (name R) (brackets)))"}},
    {"learn a, b, c : positive", {"(learner (names (name a) (name b) (name c)) _ _ (sig"}},
    {"learn a : R[3], b, c : R[4]",
     {"(learn (learner (names (name a))", "(learner (names (name b) (name c))"}},
    {"learn steer : R[code] = 0", {"(learner (names (name steer)) _ _ (sig", "(num 0) _)"}},
    {"learn big : A -> B2 from \"runs/x\"", {"_ (str \"runs/x\")"}},
    {"box f(x, y: R[a], n: {10}[t]) -> {a, b, c}[t] {\n return g(x)\n}",
     {"(param x (type (name R) (brackets (items (name a)))) _)",
      "(labels (name a) (name b) (name c))"}},
    {"box f(x: R[a]) -> {10} {\n return g(x)\n}", {"(types (type (labels (num 10)) _)) (block"}},
    {"box f(x: R[h:28 w:28]) -> R[], (R[a], B[8]) = g(x)",
     {"(sized h (num 28))", "(type (types (type (name R)"}},
    {"box f(x: R[a]) -> (u: R[a], v: R[a]) = g(x)", {"(params (param u"}},
    {"space Code = R[z], R[z] by gauss_kl", {"(space Code (types", "(name gauss_kl))"}},
    {"learn f[3] : A -> B2\nfor l in 0..2 {\n  goal f[l](x) ~ y by l2 trains f[l]\n}",
     {"(for l (range (num 0) (num 2)) (program (goal", "(trains (at (name f)"}},
    {"box f : A -> B2 = g reverse h\nbox g(x: R[a]) {\n return x\n} reverse k",
     {"(name g) (name h) _)", "(name k) _)"}},
    {"box f : A -> B2 = g reverse h maximise\nbox g(x: R[a]) {\n return x\n} minimise",
     {"(name g) (name h) (name maximise))", "_ (name minimise))"}},
    {"box same(X: R[h]) -> R[h] = X[i+p-1] w[p:3]   pad 0", {"(padded (run"}},
    // bodies
    {"box f(x: R[a]) -> R[a], R[a] {\n m, v = g(x)\n for l in 1..4 { m = dense[2^l](m), v = m + v "
     "}\n return m, v\n}",
     {"(equation (lhss (lhs m _) (lhs v _))", "(return (tuple (name m) (name v)) _)"}},
    {"box bn(x: R[c]) -> R[c] {\n state m : R[c] = 0, v : R[c] = 1\n b = mean[batch](x)\n next m = "
     "0.9*m + 0.1*b\n return (x - b when training else x - m)\n}",
     {"(states (typed m _", "(when (sum"}},
    {"box drop[p](x: R[...s]) -> R[...s] = x * bernoulli(1-p) / (1-p) when training else x",
     {"(when (prod", "(name training) (name x))"}},
    {"box m(s: R[y x]) -> R[y x] {\n return t[y x] = s[y x] when x <= y else -inf\n}",
     {"(return (equation", "(cmp \"l\" (name x) (name y))"}},
    {"box f(x: R[n]) -> R[n] {\n for l in 1..2 down {\n C[l] = x\n }\n y = C[1] + x\n return y\n}",
     {"(for l \"d\" (range"}},
    {"box f(x: R[h]) -> R[h] {\n return Y[i:h] = x[i+p-1] k[p]   pad 0\n}",
     {"(lhs Y (brackets (items (sized i (name h)))))", "(num 0) _) _)"}},
    {"box f(x: R[h]) -> R[h] {\n y = x when a >= 2\n return y\n}",
     {"(name x) _ (cmp \"g\" (name a) (num 2)))"}},
    {"box f = attend(q, k) over (h k)",
     {"(over (call (name attend) (name q) (name k)) (name h) (name k))"}},
    {"box f = x when not (a = 1) and b or c else y",
     {"(when (name x) (or (and (not (paren (cmp \"=\""}},
    // goals and data
    {"goal fit : (f ; g)(x) ~ y by huber[1] times 0.5 trains f, g.enc",
     {"(goal fit (equal (call (paren (pipe",
      "(times (num 0.5)) (trains (name f) (dot enc (name g)))"}},
    {"goal next : f(x) ~ 1 by xor", {"(goal next (equal"}},
    {"goal maximise p[i] A[i j] q[j] trains p", {"(goal (maximise (run"}},
    {"given s, v from faces\ngiven a from faces.smile\ngiven r : R[t 3] from \"a b.csv\"",
     {"(given (params (param s _ _) (param v _ _)) (name faces))", "(str \"a b.csv\")"}},
    {"measure exploitability\nmeasure loss : f(x)\nmeasure a : f(x) ~ y by hits on mnist.test",
     {"(measure (name exploitability))", "(by (name hits)) (on (dot test (name mnist)))"}},
    {"train 30 epochs, batch 128, gen: adam(2e-4, 0.5), dis: adam(2e-4), turns[dis: 5, gen: 1], "
     "clip 1, seed 7",
     {"(train epochs _ (num 30) (option (name batch) (num 128)) (arg gen (call",
      "(option (name seed) (num 7))"}},
    {"train distill 10 epochs", {"(train epochs (name distill) (num 10))"}},
    {"show put(s, t) for t in [0, 0.5, 1] as strip[8]\nshow f(x), y on mnist.test as curves, phase",
     {"(forin t (list", "(as (name curves) (name phase))"}},
    {"stale target = q every 100\nstale slow = q by 0.99\nfreeze enc, dec in both",
     {"(stale target \"e\" (name q) (num 100))",
      "(freeze (names (name enc) (name dec)) (name both))"}},
    {"optimiser sgd(rate: 0.1) {\n state v = 0\n look p - v\n next p = p - rate * next v when t > "
     "1\n}",
     {"(optimiser sgd (params (arg rate (num 0.1)))", "(step p _ (sum"}},
    // learning diagrams
    {"diagram d {\n space N = mnist\n space A\n box f : N -> A\n f ; g <= h times 2\n}\ndiagram "
     "both = one + two as b along X, F, m",
     {"(diagram d _ _ (block (space N (types (type (name mnist) _)) _) (space A _ _) (box f",
      "(order (pipe (name f) (name g)) (name h) (num 2) _)",
      "(diagram both (names (name one) (arg b (name two))) (names (name X) (name F) (name m)) _)"}},
    {"diagram d { f <= g only }", {"(order \"o\" (name f) (name g) _ _)"}},
    {"diagram d { f ; g <= h only times 2 }", {"(order \"o\" (pipe", "(num 2) _)"}},
    {"diagram d { keep : f ; g <= h }", {"(order keep (pipe (name f) (name g)) (name h) _ _)"}},
    {"diagram d { f <= g trains m, n[1] times 2 }", {"(num 2) (trains (name m) (at (name n)"}},
    {"diagram d { box f : X -> X = g at most 2 times }", {"(most (box f", "(num 2))"}},
    {"set both.one.small = resnet[18]\nfind conv ; _ in both => freeze",
     {"(set (dot small (dot one (name both))) (at (name resnet)",
      "(find (pipe (name conv) (name _)) (name both) (deed \"f\" _ _))"}},
    {"diagram d = a + b along X = a.In, m", {"(names (same (name X) (dot In (name a))) (name m))"}},
    {"find P in D => freeze", {"(find (name P) (name D) (deed \"f\" _ _))"}},
    {"find P in D => freeze m, n, set h.k = f ; g",
     {"(deed \"f\" (name m) _) (deed \"f\" (name n) _)", "(deed \"s\" (dot k (name h)) (pipe"}},
    {"find P in D => set f ; g", {"(deed \"s\" _ (pipe"}},
    {"find P in D => replace Q", {"(find (name P) (name D) (deed \"r\" _ (name Q)))"}},
    // stepped over
    {"wiring Cell(speed: R[]) -> (served: {A, B}) {\n p : Phone, a : Tower(0)\n p.sig -> a.sig "
     "when link = A\n}\ncheck Or : y = a or b",
     {"(part (lhss (lhs p _)) (name Phone) _ _ _)",
      "(route (dot sig (name p)) (dot sig (name a)) (cmp \"=\" (name link) (name A)) _)",
      "(check (name Or) (name y) (or (name a) (name b)) _)"}},
    {"machine H(out: R[]) -> (T: R[]) {\n mode off { T' = -k*(T - out)\n jump on when T <= 19 "
     "}\n}\nrun Team[3] for 6000 ticks on World",
     {"(mode off _ _ (block (equation (lhss (lhs T \"'\" _))", "(jump on (cmp \"l\"",
      "(simulate (at (name Team)"}},
    // layout and letters
    {"goal fit :\n  f(x)\n  ~ y   by l2",
     {"(goal fit (equal (call (name f) (name x)) (name y)) (by (name l2)))"}},
    {"box f = g(a,\n   b,\n   c)", {"(call (name g) (name a) (name b) (name c))"}},
    {"\xEF\xBB\xBF"
     "axis größe = 3, λ\r\n# only this\r\n",
     {"(axes (axis größe (num 3)) (axis λ _))"}},
    {"show f(\"a\\n\\t\\\"b\\\\\")", {"(str \"a\\n\\u0009\\\"b\\\\\")"}},
    {"", {"(program)"}},
};

static void test_accepted(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT(accepted); i++) {
    Arena *a = arena_new();
    Read r = read_with(a, names_new(a), accepted[i].text, strlen(accepted[i].text));
    if (r.front.diags->errors) fail_msg("refused: %s\n%s", accepted[i].text, messages_of(&r));
    for (uint32_t k = 0; k < 3 && accepted[i].want[k]; k++)
      if (!strstr(tree_of(&r), accepted[i].want[k]))
        fail_msg("%s\nwanted %s\nin     %s", accepted[i].text, accepted[i].want[k], tree_of(&r));
    arena_free(a);
  }
}

// -- refused

typedef struct {
  const char *text;
  uint32_t errors;     // how many messages
  const char *want[3]; // fragments of them, with place or help where it matters
} Refused;

static const Refused refused[] = {
    {"box f = a[i] / b[i] c[i]",
     1,
     {"1:16: error: a product of terms side by side is ambiguous after `/`",
      "`a / (b[i] c[i])`, or `a / b[i] * c[i]`"}},
    {"box f = a[i] b",
     1,
     {"found `b`, wanted an operator",
      "only indexed terms multiply side by side: write `*`, or `;` between boxes"}},
    {"box f = dense[3] relu",
     1,
     {"found `relu`, wanted an operator", "      |                  ^^^^\n"}},
    {"box f = softmax[x](s) v[x d]", 1, {"found `v`, wanted an operator"}},
    {"box f = a[i] b.c", 1, {"1:14: error: this term has no index", "only indexed terms"}},
    {"box f = g(x y)", 1, {"found `y`, wanted an operator, `,` or `)`"}},
    {"box f = x[i+ j]]", 1, {"1:16: error: `]` closes nothing"}},
    {"const A = [0 -1 1]", 1, {"found `1`, wanted `,` between the entries"}},
    {"box f = x[]y", 1, {"wanted an operator"}},
    {"learn conv3[o](X: R[h w c]) -> R[h w o] = g",
     1,
     {"1:12: error: a learner is one thing with one set of weights: write `box` for a pattern with "
      "sizes"}},
    {"goal fit : f(x) by l2", 1, {"found `by`, wanted `~` (a goal is an equation"}},
    {"goal fit : f(x) = y", 1, {"found `=`, wanted `~`"}},
    {"goal fit : f(x) ~ y by l2 by l1", 1, {"1:27: error: `by` is given twice"}},
    {"goal fit : f(x) ~ y on mnist.test",
     1,
     {"found `on`, but a goal takes `by`, `trains`, `times`"}},
    {"box f = g(a,\n b\ngoal fit : f(x) ~ y by l2\nlearn f : A -> B2",
     1,
     {"1:10: error: `(` is never closed"}},
    {"box f(x: R[a] -> R[a] {\n y = g(x)\n return y\n}\nbox g = h",
     1,
     {"1:6: error: `(` is never closed"}},
    {"box f(x: R[a]) -> R[a] {\n y = \n return y\n}\nbox g = h +\nleran q : A",
     3,
     {"found `return`, wanted an expression", "5:12: error: found the end of the line",
      "found `leran`, wanted a declaration (did you mean `learn`?)"}},
    {"box f(x: R[a]) -> R[a] {\n y = x $ 2\n z = x ) 3\n return y\n}",
     2,
     {"unknown character `$`", "`)` closes nothing"}},
    {"box f(x: R[a]) -> R[a] {\ny = x\nreturn y\n}\nbox g = h",
     1,
     {"2:1: error: a word in column 1 begins a declaration"}},
    {"box f = x[(i j] + 3", 1, {"1:11: error: `(` is never closed"}},
    {"learn by : R[3]", 1, {"`by` is a word of the language; wanted a name"}},
    {"box R(x: R[a]) = g", 1, {"`R` names the real numbers"}},
    {"def f(x):\n  return x\nlet y = 3",
     2,
     {"found `def`, wanted a declaration (limn says `box`)", "limn says `const`"}},
    {"import \"x\"\nfn f = g", 2, {"limn says `use`", "limn says `box`"}},
    {"box f(x) {\n let y = x\n if x > 3\n relu(x)\n a, b\n return x\n}",
     4,
     {"which needs no word", "`y = a when c else b`", "wanted `=` (a name alone"}},
    {"box f = x == 3",
     1,
     {"found `==`: a comparison is written `=`, and equality of diagrams `~`", "^^"}},
    {"box f(x) {\n x += 1\n y /= 2\n z <- 3\n return x\n}",
     3,
     {"found `+=`", "found `/=`: unequal is written `!=`", "found `<-`"}},
    {"box f = x ** 2 && y || !z",
     4,
     {"a power is written `^`", "found `&&`, wanted `and`", "found `!`, wanted `not`"}},
    {"box f = x % 2", 1, {"found `%`"}},
    {"box f = x => y", 1, {"found `=>`", "a result is written `->`"}},
    {"box f = 2x", 1, {"1:9: error: a number and a name need something between them"}},
    {"box f = .5", 1, {"write a 0 before the point"}},
    {"box f(x) -> R[a]", 1, {"found the end of the line, wanted `=` or `{`, the body of the box"}},
    {"box f(x): R[a] = g", 1, {"wanted `->` before the result of a box"}},
    {"box f x = g", 1, {"found `x`, wanted `=` or `{`"}},
    {"box f(x) {\n y = x;\n return y\n}", 1, {"`;` means \"then\""}},
    {"train batch 64", 1, {"as in `train 5 epochs, batch 64`"}},
    {"stale a = b", 1, {"wanted `every` or `by`"}},
    {"for l in 1 { goal a ~ b }", 1, {"a range is written `1..4`"}},
    {"use attention", 1, {"wanted a file name in quotes"}},
    {"box f = \"abc", 1, {"this string is never closed"}},
    {"box f = \"a\\q\"", 1, {"unknown escape"}},
    {"box f = 'abc'", 1, {"text goes in double quotes"}},
    {"box f = x \xE2\x88\x92 3", 1, {"unknown character `\xE2\x88\x92`", "write `-`"}},
    {"box f = x \xFF\xFE", 1, {"is not text: a file is UTF-8"}},
    {"box f = a < b < c", 1, {"one comparison (join two with `and`)"}},
    {"box f(x) {\n x' = 3\n return x\n}", 1, {"it is for machines"}},
    {"optimiser o { foo }", 1, {"wanted `state`, `look` or `next`"}},
    {"wiring W() {\n a -> (b\n}\nbox f = g", 1, {"2:7: error: `(` is never closed"}},
};

static void test_refused(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT(refused); i++) {
    Arena *a = arena_new();
    Read r = read_with(a, names_new(a), refused[i].text, strlen(refused[i].text));
    const char *messages = messages_of(&r);
    if (r.front.diags->errors != refused[i].errors)
      fail_msg("%s\n%u messages, wanted %u\n%s", refused[i].text, r.front.diags->errors,
               refused[i].errors, messages);
    for (uint32_t k = 0; k < 3 && refused[i].want[k]; k++)
      if (!strstr(messages, refused[i].want[k]))
        fail_msg("%s\nwanted %s\nin %s", refused[i].text, refused[i].want[k], messages);
    arena_free(a);
  }
}

static void test_warning(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text = "box f = x[h -4]";
  Read r = read_with(a, names_new(a), text, strlen(text));
  assert_int_equal(r.front.diags->errors, 0);
  assert_non_null(strstr(messages_of(&r), "1:13: warning: `-` here is an operator; put a comma"));
  arena_free(a);
}

// What is broken still tells what it would have declared, and the rest is whole.
static void test_recovery(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text =
      "learn a, b : R[3] = =\nbox f(x) {\n y = )\n z = x\n return z\n}\nbox g = (x y) + h";
  Read r = read_with(a, names_new(a), text, strlen(text));
  const char *tree = tree_of(&r);
  assert_non_null(strstr(tree, "(error (name a) (name b))"));
  assert_non_null(strstr(
      tree,
      "(block (error (name y)) (equation (lhss (lhs z _)) (name x) _ _) (return (name z) _))"));
  assert_non_null(strstr(tree, "(error (name g))"));
  assert_int_equal(r.front.diags->errors, 3);
  arena_free(a);
}

// -- large and deep

static void check_size(const char *open, const char *middle, const char *close, uint32_t n,
                       uint32_t errors) {
  Arena *a = arena_new();
  Buf text = buf_new(a);
  buf_text(&text, "box f = ");
  for (uint32_t i = 0; i < n; i++) buf_text(&text, open);
  buf_text(&text, middle);
  for (uint32_t i = 0; i < n; i++) buf_text(&text, close);
  Read r = read_with(a, names_new(a), text.at, text.n);
  assert_int_equal(r.front.diags->errors, errors);
  if (errors)
    assert_non_null(strstr(r.front.diags->list.at[1].text, "nested too deeply"));
  else
    assert_true(strlen(formatted(&r)) > n);
  arena_free(a);
}

static void test_size(void **state) {
  (void)state;
  const uint32_t many = 100000;
  check_size("x + ", "x", "", many, 0);
  check_size("x * ", "x", "", many, 0);
  check_size("f ; ", "f", "", many, 0);
  check_size("f & ", "f", "", many, 0);
  check_size("a[i] ", "a[i]", "", many, 0);
  check_size("(", "x", ")", 150, 0);
  check_size("(", "x", ")", many, 1);
  check_size("x[", "i", "]", many, 1);
  check_size("[", "1", "]", many, 1);
  check_size("-", "x", "", many, 1);
  check_size("not ", "x", "", many, 1);
  check_size("x^", "x", "", many, 1);
  check_size("a when b else ", "c", "", many, 1);
  check_size("", "x", "(x)", many, 1);
  check_size("", "x", ".x", many, 1);
}

static void test_long_name(void **state) {
  (void)state;
  Arena *a = arena_new();
  Buf text = buf_new(a);
  buf_text(&text, "axis ");
  for (uint32_t i = 0; i < 1001; i++) buf_char(&text, 'a');
  Read r = read_with(a, names_new(a), text.at, text.n);
  assert_int_equal(r.front.diags->errors, 1);
  assert_non_null(strstr(messages_of(&r), "this name has 1001 bytes"));
  arena_free(a);
}

static void test_many_errors(void **state) {
  (void)state;
  Arena *a = arena_new();
  Buf text = buf_new(a);
  for (uint32_t i = 0; i < 10000; i++) buf_text(&text, "box f = )\nqqq = 3\n");
  Read r = read_with(a, names_new(a), text.at, text.n);
  assert_in_range(r.front.diags->errors, 1, 300);
  assert_int_equal(r.front.diags->muted, 0);
  arena_free(a);
}

// -- the programs of the design

typedef void Visit(const char *path, const char *text, size_t n);

static uint32_t visit_folder(const char *folder, Visit *visit) {
  DIR *dir = opendir(folder);
  uint32_t count = 0;
  for (struct dirent *e; dir && (e = readdir(dir));) {
    size_t n = strlen(e->d_name);
    if (n < 6 || strcmp(e->d_name + n - 5, ".limn") != 0) continue;
    Arena *a = arena_new();
    const char *path = arena_format(a, "%s/%s", folder, e->d_name);
    FileText file = file_read(a, path, 1 << 20);
    assert_non_null(file.text);
    visit(path, file.text, file.n);
    arena_free(a);
    count++;
  }
  if (dir) closedir(dir);
  return count;
}

static void visit_programs(Visit *visit) {
  static const char *const folders[] = {"examples", "lib", "tests/programs"};
  uint32_t count = 0;
  for (uint32_t i = 0; i < COUNT(folders); i++) count += visit_folder(folders[i], visit);
  assert_int_not_equal(count, 0);
}

static void check_stable(const char *path, const char *text, size_t n) {
  Arena *a = arena_new();
  Names *names = names_new(a);
  Read first = read_with(a, names, text, n);
  if (first.front.diags->errors) fail_msg("%s", messages_of(&first));
  const char *once = formatted(&first);
  Read second = read_with(a, names, once, strlen(once));
  if (second.front.diags->errors) fail_msg("%s formatted:\n%s", path, messages_of(&second));
  if (!tree_equal(first.program, second.program))
    fail_msg("%s means something else formatted:\n%s", path, once);
  const char *twice = formatted(&second);
  if (strcmp(once, twice) != 0) fail_msg("%s formatted:\n%s\nand again:\n%s", path, once, twice);
  arena_free(a);
}

static void test_programs(void **state) {
  (void)state;
  visit_programs(check_stable);
}

static void test_format_accepted(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT(accepted); i++)
    check_stable(accepted[i].text, accepted[i].text, strlen(accepted[i].text));
}

// -- formatting

static const struct {
  const char *text, *want;
} layouts[] = {
    {"box  f( x:R[ a ] )->R[a]=g( x )+ 2*y", "box f(x: R[a]) -> R[a] = g(x) + 2 * y\n"},
    {"box f = x[2 * i + p 2*j+q c] / sqrt( k )", "box f = x[2*i+p 2*j+q c] / sqrt(k)\n"},
    {"\n\n# one\n\n\n\n#two   \naxis a=3 #three\n\n\n", "# one\n\n#two\naxis a = 3  #three\n"},
    {"box f(x) { y = x\n return y }", "box f(x) {\n  y = x\n  return y\n}\n"},
    {"box f(x) {\n\n\t# here\n\ty = x # there\n\n\n return y,\n z\n # last\n\n}",
     "box f(x) {\n  # here\n  y = x  # there\n\n  return y,\n    z\n  # last\n}\n"},
    {"for l in 0 .. n - 1 { goal f[l] (x)~y by l2 }",
     "for l in 0..n-1 { goal f[l](x) ~ y   by l2 }\n"},
    {"goal fit:f(x)~{y}", NULL},
    {"goal fit:f(x)~y by l2 trains f", "goal fit : f(x) ~ y   by l2   trains f\n"},
    {"measure fit by hits on mnist.test", "measure fit by hits on mnist.test\n"},
    {"learn a:R[3]=0\nlearn bb:{10}->R[p:3 q:3 c]",
     "learn a : R[3] = 0\nlearn bb : {10} -> R[p:3 q:3 c]\n"},
    {"learn a  : R[3]   = 0 # x\nlearn bb : R[300] = 1 # y",
     "learn a  : R[3]   = 0  # x\nlearn bb : R[300] = 1  # y\n"},
    {"axis a = 1     # x\naxis bbb = 22  # y", "axis a = 1     # x\naxis bbb = 22  # y\n"},
    {"box f = a ; b^3 ; c ^ 2 & d", "box f = a ; b^3 ; c ^ 2 & d\n"},
    {"box f = conv[64,stride:2,pad: 1](x)", "box f = conv[64, stride: 2, pad: 1](x)\n"},
    {"box f = x[c(h w)] over(h k)", "box f = x[c (h w)] over (h k)\n"},
    {"box f = - x - - y", "box f = -x - -y\n"},
    {"goal fit :\nf(x)\n", NULL},
    {"goal fit :\n      f(x)\n ~ y", "goal fit :\n  f(x)\n  ~ y\n"},
    {"wiring  W( a ) {\n a   -> b\n}   # c", "wiring W(a) {\n  a -> b\n}   # c\n"},
    {"# nothing", "# nothing\n"},
    {"", ""},
};

static void test_layout(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT(layouts); i++) {
    Arena *a = arena_new();
    Read r = read_with(a, names_new(a), layouts[i].text, strlen(layouts[i].text));
    if (!layouts[i].want)
      assert_true(r.front.diags->errors > 0);
    else
      assert_string_equal(formatted(&r), layouts[i].want);
    arena_free(a);
  }
}

static void test_long_pipe(void **state) {
  (void)state;
  const char *text = "learn vit : R[28 28 1] -> R[10] = patches ; with_class ; add_positions ; "
                     "block[h: 4, k: 16] ^ 6 "
                     "; layer_norm ; first ; dense[10]  # the end";
  const char *want = "learn vit : R[28 28 1] -> R[10] = patches ; with_class ; add_positions ; "
                     "block[h: 4, k: 16] ^ 6\n"
                     "  ; layer_norm ; first ; dense[10]  # the end\n";
  Arena *a = arena_new();
  Read r = read_with(a, names_new(a), text, strlen(text));
  assert_string_equal(formatted(&r), want);
  arena_free(a);
}

// -- random faults

static uint32_t next_random(uint64_t *seed) { // xorshift
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (uint32_t)(*seed >> 32);
}

static uint32_t faults, reported, few; // of one run of test_faults

// One token is left out, doubled, or replaced by another one of the file.
static void check_faults(const char *path, const char *text, size_t n) {
  uint64_t seed = 88172645463325252u + n;
  for (uint32_t round = 0; round < 60; round++) {
    Arena *a = arena_new();
    Read r = read_with(a, names_new(a), text, n);
    Tokens tokens = lex(&r.front, r.file);
    Span spot = tokens.at[next_random(&seed) % tokens.n].span;
    Span other = tokens.at[next_random(&seed) % tokens.n].span;
    Buf broken = buf_new(a);
    buf_add(&broken, text, spot.at);
    if (round % 3)
      buf_add(&broken, text + (round % 3 == 1 ? spot : other).at,
              (round % 3 == 1 ? spot : other).n);
    buf_char(&broken, ' ');
    size_t rest = spot.at + (round % 3 == 1 ? 0 : spot.n);
    buf_add(&broken, text + rest, n - rest);
    Read wrong = read_with(a, names_new(a), broken.at, broken.n);
    faults++;
    reported += wrong.front.diags->errors > 0;
    few += wrong.front.diags->errors > 0 && wrong.front.diags->errors <= 2;
    if (wrong.front.diags->errors > 12)
      fail_msg("%s\n%s\n%s", path, broken.at, messages_of(&wrong));
    if (!wrong.front.diags->errors) check_stable(path, broken.at, broken.n);
    arena_free(a);
  }
}

static void test_faults(void **state) {
  (void)state;
  faults = reported = few = 0;
  visit_programs(check_faults);
  print_message("%u faults, %u reported, %u of them in one or two messages\n", faults, reported,
                few);
  assert_true(few * 10 >= reported * 9);
}

// White space is set at random where it means nothing.
static void check_spaces(const char *path, const char *text, size_t n) {
  uint64_t seed = 1234567 + n;
  for (uint32_t round = 0; round < 20; round++) {
    Arena *a = arena_new();
    Buf out = buf_new(a);
    for (size_t i = 0; i < n; i++) {
      if (text[i] == ' ' && i && text[i - 1] != '\n')
        for (uint32_t k = next_random(&seed) % 4; k; k--) buf_char(&out, ' ');
      buf_char(&out, text[i]);
    }
    check_stable(path, out.at, out.n);
    arena_free(a);
  }
}

static void test_spaces(void **state) {
  (void)state;
  visit_programs(check_spaces);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_warning),
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_size),
      cmocka_unit_test(test_long_name),
      cmocka_unit_test(test_many_errors),
      cmocka_unit_test(test_programs),
      cmocka_unit_test(test_format_accepted),
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_long_pipe),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_spaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
