// elab: what the files about bodies share.
#ifndef LIMN_LANG_ELAB_BODY_H
#define LIMN_LANG_ELAB_BODY_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// start_point.c: what is said to be the start is the point that the box makes of `start`; an error
// otherwise
bool start_is_point(Body *, Env *, const BoxUse *, const Syntax *said, const Type *,
                    const Init *start);

// weight.c
Init init_from(Body *b, Env *env, const Syntax *n, const Type *t);
bool start_is_known(Body *, Env *, const Syntax *); // it reads no wire; false with a diagnostic
typedef struct {
  const char *path;
  bool rooted; // in the file, not in a body
  Id home;     // the body that declares it, where that is another one
  Role role;
  Name name;
  Span span;
  const char *as; // of a stale copy: the weight that it begins as
  const char *of; // of a machine's copy: the weight of the learner
} WeightDecl;
Val add_weight(Body *, Type, Init, const WeightDecl *);
Value typed_weight(Body *, Env *, const Syntax *sig, const Syntax *init, const WeightDecl *);

// default_body.c: *words says what the body is
Value fallback(Body *, Value args, Span, const char **words);

// body.c
void sync_sites(Body *b);
typedef VEC(int64_t) LoopNumbers;
// The numbers a `for` runs over; false after an error or when they are not known yet.
bool loop_numbers(Body *, Env *, const Syntax *range, LoopNumbers *out);
// Nothing that is declared beside it has this name; false with a diagnostic.
bool name_is_new(const Body *, const Env *, Name, Span);
void body_statement(Body *, Env *, const Syntax *); // one line, which is no `return`

#endif
