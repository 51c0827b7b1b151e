// graph: pictures of learning diagrams.
#ifndef LIMN_SHOW_WIRING_GRAPH_H
#define LIMN_SHOW_WIRING_GRAPH_H

#include "lang/learning/learning.h"
#include "show/canvas/canvas.h"

// graph.c: spaces, maps and pairs of paths; parts: a glued diagram is shown with its parts
Canvas *learning_draw(Elab *, Arena *, const Program *, const Learning *, bool parts);

#endif
