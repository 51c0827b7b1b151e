// What the files about bodies share.
#ifndef LIMN_LANG_ELAB_BODY_H
#define LIMN_LANG_ELAB_BODY_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// start_point.c: checks that a start value is the point that the box makes of `start`; false with a
// diagnostic
bool start_is_point(Body *, Env *, const BoxUse *, const Syntax *said, const Type *,
                    const Init *start);

// weight.c
Init init_from(Body *b, Env *env, const Syntax *n, const Type *t);
bool start_is_known(Body *, Env *, const Syntax *); // it reads no wire; false with a diagnostic
typedef struct {
  const char *path;
  bool rooted; // declared in the file, not in a body
  Id home;     // the id of another body that declares it, or 0
  Role role;
  Name name;
  Span span;
  const char *as; // of a stale copy: the weight whose start it shares
  const char *of; // of a machine's copy: the weight of the learner
} WeightDecl;
Val add_weight(Body *, Type, Init, const WeightDecl *);
Value typed_weight(Body *, Env *, const Syntax *sig, const Syntax *init, const WeightDecl *);

// default_body.c: *words describes the body
Value default_body_value(Body *, Value args, Span, const char **words);

// body.c
void sync_sites(Body *b);
typedef VEC(int64_t) LoopNumbers;
// The iterations of a `for`; false after an error or while they are unknown.
bool loop_numbers(Body *, Env *, const Syntax *range, LoopNumbers *out);
// No other declaration in this environment has this name; false with a diagnostic.
bool name_is_new(const Body *, const Env *, Name, Span);
void body_statement(Body *, Env *, const Syntax *); // one statement other than `return`

#endif
