// elab: what the files about calling a box share.
#ifndef LIMN_LANG_ELAB_CALL_H
#define LIMN_LANG_ELAB_CALL_H

#include "lang/elab/elab.h"

// An input as its header writes it.
typedef struct {
  const Syntax *type; // N_TYPE with its axes as written; NULL: no type was written
  Type known;         // of a space: fixed
  bool fixed;
  const Def *space; // the space that it is a point of, if it is one wire; NULL: none
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
      ntake; // positions of the axes that are consumed, in the parameter's order
  uint32_t rest[RANK_LIMIT], nrest; // positions of own axes that pass over
  Type type;                        // inside the callee, without passing axes
} Match;

typedef struct {
  Body *b;
  Env *env; // of the caller
  Env *to;  // of the callee
  Def *def;
  const Header *h;
  const Syntax *over;
  Span span;
  PartialTrace *trace; // of the callee's body, or NULL
  bool flows;          // labels of results stay as they are: all of them,
  VEC(Name) flow;      // or these, which are the caller's
} Call;

// The axes that pass over the box, for all arguments together.
typedef struct {
  uint32_t n;
  Axis axis[RANK_LIMIT];         // as the caller sees them
  uint32_t (*where)[RANK_LIMIT]; // [argument][its k-th passing axis]: which of them it is
  uint32_t
      number[RANK_LIMIT + 2]; // what passes over the caller already: its number in the callee, or 0
  uint32_t first;             // the callee's number of axis[0]
} Passing;

typedef struct {
  Type *in; // as the callee sees the arguments
  uint32_t n, npass;
  Axis *pass; // what passes over it whether or not an argument has it
} Inputs;

// header.c
Header header_of(const Def *d);
bool header_formals(Body *b, Env *env, const Header *h, Formals *out, bool *good);
// The same of what is called: a learner's refinement may have names and leave the types to it.
bool formals_of(Body *, Env *, const Def *, const Header *, Formals *, bool *good);
bool formal_types(Body *, Env *, const Formal *, Types *); // false: it has none, or they are wrong
const Syntax *result_types(const Header *h);

// option.c
void bind_spread(Env *env, World *w, Name name, Binding s);
const Syntax *cfg_named(const Syntax *cfg, Name name, uint32_t *at);
// generic: the callee is checked for itself, and what is not given stays open.
bool bind_options(const Call *, const Syntax *config, bool generic);

// match.c
Base wanted_base(World *w, const Formal *f); // BASE_NONE: its type is not a type
const char *call_name(const Call *c);
bool inside(Span s, Span whole);
const Syntax *formal_items(const Formal *f, uint32_t *n);
// How many of the axes own[n] are called so, and at which place; two are refused.
uint32_t find_axis(World *, const Val *, Name label, const uint32_t *own, uint32_t n,
                   const char *word, uint32_t *at);
bool match_formal(const Call *c, const Formal *f, const Val *arg, Match *m);
bool merge_passing(const Call *c, const Value *args, const Match *m, Passing *p);

// call.c
void note_over(Body *, const Value *args, const Match *); // for whoever has asked (Body.over)

// instance.c
void keep_options(const Call *, Diagram *); // what it is called with stays with the diagram
Axis outer_axis(Env *inner, const Axis *axis, bool flows);
const Syntax *only_type(const Syntax *types);
bool keeps_places(const Formals *f, const Syntax *result);
Body *instance_body(const Call *c, const Formals *formals, const Inputs *in, bool *good);
Body *instance_renamed(const Call *c, const Body *home, const Inputs *in);
Body *instance(const Call *c, Body *home, const char *family, const Formals *formals,
               const Inputs *in);

#endif
