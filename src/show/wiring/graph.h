// graph: pictures of learning diagrams.
#ifndef LIMN_SHOW_WIRING_GRAPH_H
#define LIMN_SHOW_WIRING_GRAPH_H

#include "lang/learning/learning.h"
#include "show/canvas/canvas.h"

// graph.c: a learning diagram: spaces, maps, pairs; parts: one that is glued is shown with them
Canvas *learning_draw(Elab *, Arena *, const Program *, const Learning *, bool parts);

#endif
