// Random hybrid systems as programs: rates, events, modes, stops, delays, ticks, shares, arrays, parts
// made by `for`, parts that are born and die, guards, noise, learners, nested wirings. A program is a tree of lines that can be written in several ways that mean the
// same, and made smaller as long as something is wrong with it.
//
//   Hybrid *h = hybrid_random(arena, seed);
//   const char *text = hybrid_text(arena, h, &(HybridPrint){.order = 7});
//
// In a line, a name begins with `@`, and what may be replaced by a number stands between \1 and \2.
#ifndef LIMN_RANDOM_HYBRID_H
#define LIMN_RANDOM_HYBRID_H

#include "random_machine.h"

typedef enum { HYBRID_LINE, HYBRID_MODE, HYBRID_PART, HYBRID_WIRE } HybridKind;
typedef struct HybridLine HybridLine;
struct HybridLine {
  HybridKind kind;
  const char *text; // of a block: up to its `{`
  bool block;
  VEC(HybridLine) inner;
  uint32_t part, of; // PART: its number, and that of its kind; WIRE: whose port it leads to
  uint32_t port;     // WIRE
  uint32_t axes;     // PART: of an array: [3] or [2 3]
  bool asked;        // PART: its mode is asked by a guard
};

enum { HYBRID_PORTS = 4, HYBRID_KINDS = 10 };
typedef struct {
  const char *name;
  uint32_t in, out;
  bool wide_in[HYBRID_PORTS], wide_out[HYBRID_PORTS], at_once[HYBRID_PORTS];
  bool modes, ticks, flows, waits; // waits: for conditions alone
  bool delays;                     // in it, at any depth: it cannot die
  bool slower, dies;               // something in it ticks at times of its own; is born and dies
  bool starts;                     // s0 is one number, which it can be born with
} HybridSort;

typedef struct {
  Arena *arena;
  uint64_t seed;
  uint32_t sorts;
  HybridSort sort[HYBRID_KINDS];
  VEC(HybridLine) decl; // the last is the outermost, `Whole`
  uint32_t inputs;
  double end;
  bool delays, ticks, modes, timed, shares, jumps, noisy, white, dies, learns, copies,
      equations, // such as `0 = …`
      moved;     // what is in it; moved: an input goes with the time; copies: parts made by `for`
  bool by_ticks; // nothing flows
} Hybrid;

// Each third knows nothing of time: no clocks, ticks, delays or modes. Of the others each fifth goes
// by ticks alone.
Hybrid *hybrid_random(Arena *, uint64_t seed);
Hybrid *hybrid_copy(Arena *, const Hybrid *);
// The k-th way to make it smaller; false: there are not so many. A way may make nonsense of it.
bool hybrid_smaller(Hybrid *, uint32_t k);

typedef struct {
  uint64_t order;   // not 0: lines, parts and declarations in another one
  uint64_t grouped; // not 0: some parts of the outermost are parts of a wiring in it, `g`
  bool renamed;
  const char *more; // behind it
} HybridPrint;
const char *hybrid_text(Arena *, const Hybrid *, const HybridPrint *);
// What a name in the first text, p0.s1, is called in the other one.
const char *hybrid_name(Arena *, const Hybrid *, const char *name, const HybridPrint *);
const char *hybrid_run(Arena *, const Hybrid *, const char *more, const HybridPrint *);

#endif
