// elab: what the files about bodies share.
#ifndef LIMN_LANG_ELAB_BODY_H
#define LIMN_LANG_ELAB_BODY_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// weight.c
Init init_from(Body *b, Env *env, const Syntax *n, const Type *t);
Val add_weight(Body *b, Type t, Init init, const char *path, bool rooted, Id home, Role role,
               Name name, Span span);
Value typed_weight(Body *b, Env *env, const Syntax *sig, const Syntax *init, const char *path,
                   bool rooted, Id home, Role role, Name name, Span span);

// const_file.c: a constant with the numbers of a file
Value const_from_file(Body *, Def *, const Syntax *file, const Type *want, Span);

// default_body.c: *words says what the body is
Value fallback(Body *, Value args, Span, const char **words);

// body.c
void sync_sites(Body *b);
void body_statement(Body *, Env *, const Syntax *); // one line, which is no `return`

#endif
