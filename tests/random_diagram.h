// random_diagram: well-typed random diagrams, for laws that must hold of every diagram.
//
//   Diagram *d = random_diagram(w, seed, &(Chance){.boxes = 5, .smooth = true});
//   Tensor *in = random_tensors(w, arena, d, seed);
//   diagram_eval(w, d, &(Eval){.arena = arena, .in = in, .param = in + d->in.n, .out = …});
//
// Sizes are small constants. The same seed gives the same diagram.
#ifndef LIMN_RANDOM_DIAGRAM_H
#define LIMN_RANDOM_DIAGRAM_H

#include "core/diagram/diagram.h"

typedef struct {
  uint32_t boxes; // about so many; 0 = 5
  bool smooth;    // real wires only through functions without kinks, of moderate size; no max, min,
                  // order
  bool flat;      // no call, no scan
  bool quiet;     // no random
  bool real;      // no bits and no labels
  bool linear_out; // sums only write to plain coordinates
  bool odd;        // strange names, several of the same, passing axes
} Chance;

Diagram *random_diagram(World *, uint64_t seed, const Chance *);
// One tensor for each input, then one for each param.
Tensor *random_tensors(World *, Arena *, const Diagram *, uint64_t seed);
// May compiled code be compared on it? Labels out of nothing (the largest of no label) have no
// value that a label could hold; clocks are the engine's.
bool is_testable(const Diagram *);

#endif
