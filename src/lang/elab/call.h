// What the files about calls share.
#ifndef LIMN_LANG_ELAB_CALL_H
#define LIMN_LANG_ELAB_CALL_H

#include "lang/elab/elab.h"

// A parameter of a box.
typedef struct {
  const Syntax *type; // N_TYPE with its axes as written; NULL: untyped
  Type known;         // the type, if it comes from a space
  bool fixed;
  const Def *space; // the space of which it is a point, if that is one wire, or NULL
  Name name;
  Span span;
} Formal;

typedef VEC(Formal) Formals;

typedef struct {
  const Syntax *cfg, *params, *result, *body, *reverse;
  Scope *scope;
} Header;

// How the axes of one argument are used.
typedef struct {
  uint32_t take[RANK_LIMIT],
      ntake;                        // positions of the consumed axes, in the parameter's order
  uint32_t rest[RANK_LIMIT], nrest; // positions of own axes that become batch axes
  Type type;                        // inside the callee, without batch axes
} Match;

typedef struct {
  Body *b;
  Env *env; // of the caller
  Env *to;  // of the callee
  Def *def;
  const Header *h;
  const Syntax *over;
  Span span;
  PartialTrace *trace; // the trace of the callee's body, or NULL
  bool flows;          // labels of results are not renamed: all,
  VEC(Name) flow;      // or these, which are the caller's
} Call;

// The batch axes that a call adds, merged over all arguments.
typedef struct {
  uint32_t n;
  Axis axis[RANK_LIMIT];         // as the caller sees them
  uint32_t (*where)[RANK_LIMIT]; // [argument][its k-th batch axis]: index into `axis`
  uint32_t
      number[RANK_LIMIT + 2]; // the number inside the callee of each batch axis of the caller, or 0
  uint32_t first;             // the number inside the callee of axis[0]
} Passing;

typedef struct {
  Type *in; // argument types inside the callee
  uint32_t n, npass;
  Axis *pass; // batch axes that the instance always has
} Inputs;

// header.c
Header header_of(const Def *d);
bool header_formals(Body *b, Env *env, const Header *h, Formals *out, bool *good);
// For a learner, with the names of its refinement and the types of its declaration.
bool formals_of(Body *, Env *, const Def *, const Header *, Formals *, bool *good);
bool formal_types(Body *, Env *, const Formal *, Types *); // false: untyped, or its type has errors
const Syntax *result_types(const Header *h);

// option.c
void bind_spread(Env *env, World *w, Name name, Binding s);
const Syntax *cfg_named(const Syntax *cfg, Name name, uint32_t *at);
// generic: elaborated without a use; options not given stay open
bool bind_options(const Call *, const Syntax *config, bool generic);

// match.c
Base wanted_base(World *w, const Formal *f); // BASE_NONE: its type has errors
const char *call_name(const Call *c);
bool inside(Span s, Span whole);
const Syntax *formal_items(const Formal *f, uint32_t *n);
// The number of axes own[n] with this label, and the position of the last; two are an error.
uint32_t find_axis(World *, const Val *, Name label, const uint32_t *own, uint32_t n,
                   const char *word, uint32_t *at);
bool match_formal(const Call *c, const Formal *f, const Val *arg, Match *m);
bool merge_passing(const Call *c, const Value *args, const Match *m, Passing *p);

// instance.c
void keep_options(const Call *, Diagram *); // stores the options with the diagram, for display
Axis outer_axis(Env *inner, const Axis *axis, bool flows);
const Syntax *only_type(const Syntax *types);
bool keeps_places(const Formals *f, const Syntax *result);
Body *elaborate_instance(const Call *c, const Formals *formals, const Inputs *in, bool *good);
Body *instance_by_substitution(const Call *c, const Body *home, const Inputs *in);
Body *find_instance(const Call *c, Body *home, const char *family, const Formals *formals,
                    const Inputs *in);

#endif
