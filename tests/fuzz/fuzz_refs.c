// Programs whose declarations refer to each other, in any order, to themselves, in circles, and to
// names of another kind. An input is a row of choices in a grammar: every byte chooses a rule, so
// every input is a program that can be read. It is checked; one without errors goes through all
// passes and is drawn, one with errors is drawn as far as it is known.
#include "base/hash.h"
#include "passes.h"
#include "pictures.h"

// A rule is a text in which `$` and a letter stand for another rule. The first of each letter ends
// soon: it is taken when the text is deep or the input is used up. Names are few, so that they meet.
typedef struct {
  char letter;
  const char *text;
} Rule;
static const Rule rules[] = {
    {'n', "n"},
    {'n', "k"},
    {'n', "m"},
    {'p', "A"},
    {'p', "B"},
    {'p', "C"},
    {'f', "f"},
    {'f', "g"},
    {'f', "h"},
    {'f', "e"},
    {'l', "l"},
    {'l', "o"},
    {'l', "s"},
    {'l', "f"},
    {'l', "n"},
    {'x', "x"},
    {'x', "y"},
    {'x', "c"},
    {'d', "P"},
    {'d', "Q"},
    {'d', "W"},
    {'u', "U"},
    {'u', "V"},
    // sizes and types
    {'S', "2"},
    {'S', "$n"},
    {'S', "$n + $S"},
    {'S', "2 * $n"},
    {'S', "$n // 2"},
    {'T', "R[$n]"},
    {'T', "$p"},
    {'T', "R[$S]"},
    {'T', "R[]"},
    {'T', "{$S}"},
    {'T', "{$S}[$n]"},
    {'T', "B[$n]"},
    {'T', "R[$n $S]"},
    // values
    {'E', "x"},
    {'E', "$x"},
    {'E', "$f(x)"},
    {'E', "$l($E)"},
    {'E', "$E + $E"},
    {'E', "$E * $E"},
    {'E', "$f($E)"},
    {'E', "x[i] $x[i]"},
    {'E', "sum($E)"},
    {'E', "$E when $E > 0 else $E"},
    {'E', "0.5"},
    {'E', "$n"},
    {'E', "($E, $E)"},
    {'E', "stop($E)"},
    // boxes
    {'B', "relu"},
    {'B', "$f"},
    {'B', "$l"},
    {'B', "$B ; $B"},
    {'B', "dense[$S]"},
    {'B', "$B & $B"},
    {'B', "$f ^ 2"},
    {'B', "softmax"},
    {'B', "$f over $n"},
    {'B', "rev($f)"},
    // declarations
    {'D', "axis $n = $S\n"},
    {'D', "const c = $E\n"},
    {'D', "space $p = $T by l2\n"},
    {'D', "space $p = $T\n"},
    {'D', "box $f(x: $T) -> $T = $E\n"},
    {'D', "box $f : $T -> $T = $B\n"},
    {'D', "box $f = $B\n"},
    {'D', "box $f(x: $T, y: $T) -> $T {\n  y = $E\n  return $E\n}\n"},
    {'D', "learn $l : $T -> $T = $B\n"},
    {'D', "learn $l : $T -> $T\n"},
    {'D', "learn $l : simplex[$S]\n"},
    {'D', "stale $l = $l by 0.9\n"},
    {'D', "stale $l = $l every 2\n"},
    {'D', "refine $l(x) = $E\n"},
    {'D', "refine $l = $B\n"},
    {'D', "freeze $l\n"},
    {'D', "given $x : $T from normal[$S]\n"},
    {'D', "given x, y from iris\n"},
    {'D', "goal $E ~ $E by l2\n"},
    {'D', "goal $l(x) ~ $E trains $l\n"},
    {'D', "goal maximise $E trains $l\n"},
    {'D', "measure $f : $E ~ $E by l2\n"},
    {'D', "train 3 steps, adam(0.1)\n"},
    {'D', "train $d 2 epochs, $l: adam(0.1)\n"},
    {'D', "set $d.$f = $B\n"},
    {'D', "set $l = $B\n"},
    {'D', "diagram $d {\n$G$G$G$G}\n"},
    {'D', "diagram $d = $d + $d\n"},
    {'D', "diagram $d = $d + $d along $p\n"},
    {'D', "find $f ; $f in $d => freeze\n"},
    {'D', "find $d in $d => replace $d\n"},
    {'D', "machine $u(x: $T) -> (y: $T) {\n$K$K  y = $E\n}\n"},
    {'D', "wiring $u(x: $T) -> (y: $T) {\n  a : $u\n  b : $u\n  x -> a.x\n$W$W}\n"},
    {'D', "run $u(x: 1) for 3 ticks\n"},
    {'D', "check $u : last(y) < $E\n"},
    {'D', "show $E as curves\n"},
    // lines of learning diagrams, machines, wirings
    {'G', "  space $p = $T by l2\n"},
    {'G', "  space N = iris\n"},
    {'G', "  space $p = $p\n"},
    {'G', "  box $f : $p -> $p = $B\n"},
    {'G', "  box x : N -> $p = iris.x\n"},
    {'G', "  learn $l : $p -> $p = $B\n"},
    {'G', "  $f ; $f = $f\n"},
    {'G', "  x ; $f <= $f\n"},
    {'K', "  state q : R[] = 0\n"},
    {'K', "  state q : $T = $E\n"},
    {'K', "  next q = $E\n"},
    {'K', "  q' = $E\n"},
    {'K', "  next q by gd(0.1) on $E\n"},
    {'W', "  y = b.y\n"},
    {'W', "  a.y -> b.x\n"},
    {'W', "  b.y -> a.x\n"},
    {'W', "  $E -> b.x\n"},
    {'W', "  y = $E\n"},
};
enum { DEPTH = 7, TEXT_MOST = 4000 };

typedef struct {
  const uint8_t *bytes;
  size_t n, at, length;
  char text[TEXT_MOST + 1];
} Made;

static void make(Made *m, char letter, uint32_t depth) {
  uint32_t first = 0, n = 0;
  for (uint32_t i = 0; i < COUNT(rules); i++) {
    if (rules[i].letter != letter) continue;
    if (!n++) first = i;
  }
  bool ends = depth >= DEPTH || m->at >= m->n;
  uint32_t k = ends ? 0 : m->bytes[m->at++] % n;
  for (const char *c = rules[first + k].text; *c && m->length < TEXT_MOST; c++)
    if (*c == '$')
      make(m, *++c, depth + 1);
    else
      m->text[m->length++] = *c;
}

static uint64_t how;

static void work(Program *p, Buf *out) {
  diags_print(world->diags, out);
  if (!world->diags->errors) all_passes(p, out);
  picture(p, how, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static Made m;
  m.bytes = data, m.n = n, m.at = m.length = 0;
  while (m.at < n && m.length < TEXT_MOST - 500) make(&m, 'D', 0);
  m.text[m.length] = 0;
  if (getenv("FUZZ_SHOW")) fputs(m.text, stdout);
  how = hash_bytes(HASH_START, data, n);
  with_program(m.text, m.length, work);
  return 0;
}
