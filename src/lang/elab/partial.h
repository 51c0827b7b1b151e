// The trace of a body that is elaborated only for a picture.
#ifndef LIMN_LANG_ELAB_PARTIAL_H
#define LIMN_LANG_ELAB_PARTIAL_H

#include "lang/elab/elab.h"

// partial.c: without a trace these do nothing.
uint32_t trace_begin(Body *);
// Ends an expression: returns its value with a ghost wire for every error. whole: it is a complete
// equation.
Value trace_value(Body *, Env *, const Syntax *, uint32_t mark, Value, bool whole);
// These require a trace.
Value trace_apply(Body *, const Syntax *box, uint32_t mark, Value args, Value);
Value trace_parts(Body *, Value, uint32_t n, Span); // n values in place of one that failed
Value trace_nothing(Body *, Value args, Span);      // there is no body

void trace_statement(Body *);
bool trace_result_types(Body *); // the declared result types have errors; false: there is no trace
void trace_results(Body *, Value, bool fits);
void trace_no_result(Body *); // nothing is returned

// A trace for one body; its messages are collected apart from the program's.
typedef struct {
  Diags *diags;
  uint32_t open;
  uint32_t diagrams; // number of diagrams before
  bool training;
} TraceAside;
PartialTrace *trace_new(Elab *, TraceAside *);
PartialDiagram *trace_end(Elab *, PartialTrace *, Body *, const TraceAside *);
bool has_error_mark(const PartialDiagram *, Span);
bool spans_meet(Span, Span);

#endif
