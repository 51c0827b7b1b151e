// elab: the trace of a body that is elaborated only for a picture.
#ifndef LIMN_LANG_ELAB_PARTIAL_H
#define LIMN_LANG_ELAB_PARTIAL_H

#include "lang/elab/elab.h"

// partial.c: a body without a trace is left as it is.
uint32_t trace_begin(Body *);
// A part of the text is done: its value, in which every error has a wire that stands for it. whole:
// it is all of an equation.
Value trace_value(Body *, Env *, const Syntax *, uint32_t mark, Value, bool whole);
// These three want a body with a trace.
Value trace_apply(Body *, const Syntax *box, uint32_t mark, Value args, Value);
Value trace_parts(Body *, Value, uint32_t n, Span); // n values of one that failed
Value trace_nothing(Body *, Value args, Span);      // there is no body

void trace_statement(Body *);
bool trace_result_types(Body *); // those that are declared are wrong; false: there is no trace
void trace_results(Body *, Value, bool fits);
void trace_no_result(Body *); // nothing is returned

// A trace for one body: messages are collected apart from the program's until it ends.
typedef struct {
  Diags *diags;
  uint32_t open;
  uint32_t diagrams; // that there were before
  bool training;
} TraceAside;
PartialTrace *trace_new(Elab *, TraceAside *);
PartialDiagram *trace_end(Elab *, PartialTrace *, Body *, const TraceAside *);
bool has_error_mark(const PartialDiagram *, Span);
bool spans_meet(Span, Span);

#endif
