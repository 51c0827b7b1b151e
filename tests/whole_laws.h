// The laws of whole programs: each is true of a program, or says why not.
#ifndef LIMN_WHOLE_LAWS_H
#define LIMN_WHOLE_LAWS_H

#include "limn.h"
#include "whole_program.h"

typedef struct {
  const Whole *p;
  Arena *arena;
  const char *dir, *weights; // weights: a file for case_eval, or NULL
  Buf said;                  // "KIND: …"
  bool sparing;              // one of very many programs: it is changed in fewer ways
} Case;
typedef bool Law(Case *);

Law law_batch, law_names, law_naming, law_order, law_runs, law_engines, law_who, law_claims,
    law_diff, law_gpu, law_finite, law_onnx, law_json, law_check, law_draw, law_compiled, law_c,
    law_steps, law_python, law_misnamed, law_freeze, law_pictures, law_draws;

// whole_python.c: the process that runs exported Python files, one for many programs; asked by law_python. Is it there?
bool python_open(void);
void python_close(void);

// whole_values.c
typedef struct {
  const char *name;
  uint32_t rank;
  int64_t shape[WHOLE_AXES + 2];
  double *data;
  int64_t n;
} Value;
typedef VEC(Value) Values;
// A program that was loaded, or NULL: c->said says why.
Limn *case_load(Case *, const char *text);
// What goes into a declaration: sample s of input i; stacked where the mask says so, 3 samples.
Value value_input(Case *, const WholeDecl *, uint32_t input, uint32_t sample);
Value value_stack(Case *, const WholeDecl *, uint32_t input);
bool case_eval(Case *, Limn *, const char *name, const Values *in, const Value *dy, Values *out,
               Values *grads);
// Goals and measures after each of two steps, in doubles.
bool case_losses(Case *, Limn *, Values *);
// Which weights change in one step of this seed (whole_runs.c).
bool case_step_moves(Case *, Limn *, uint64_t seed, Values *changed);
extern const LimnTrain in_doubles;
// Says which verb was refused, unless it was good.
bool asked(Case *, Limn *, const char *verb, const char *name, bool good);
void case_take(Case *, const LimnArrays *, Values *);
bool case_says(Case *, const char *format, ...) __attribute__((format(printf, 2, 3))); // false
// Are they equal, as many as `a` has? `what` is said if not.
bool values_near(Case *, const char *what, const Value *a, const Value *b, double within);
const Value *value_named(const Values *, const char *name);
void value_add(Value *to, const Value *more);
void value_show(Buf *, const Value *);

// Which engine does what is asked next: how it is asked for, and the environment (whole_engines.c).
enum { BY_INTERPRETER, BY_PREBUILT, BY_COMPILED, BY_GPU };
void by_engine(int way, bool *reference, const char **device);

// A box or learner that can be asked for values, and gives the same twice.
bool whole_is_quiet(const WholeDecl *);
bool whole_is_real(const WholeDecl *); // its one result is real
// The program with numbers for the open sizes of this box. *other: it is refused so, since a box is used
// with other sizes too.
Limn *whole_closed(Case *, const WholeDecl *, bool *other);

// On every box with inputs and without noise.
bool each_quiet_box(Case *, Limn *, bool (*law)(Case *, Limn *, const WholeDecl *));

#endif
