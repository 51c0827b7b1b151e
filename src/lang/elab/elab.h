// elab: expressions, calls and bodies become diagrams. For the rooms of the language only.
//
// A body is elaborated statement by statement. Its expressions stay values (lang/value) until they
// must become boxes: when a name is given, a box is called, an index is summed.
#ifndef LIMN_LANG_ELAB_ELAB_H
#define LIMN_LANG_ELAB_ELAB_H

#include "lang/value/value.h"

// index_equation.c
Val index_value(Body *, Env *, Val base, const Syntax *brackets, Span, Eq *);
uint32_t eq_index(Body *, Eq *, Name, Span);
bool eq_finish(Body *, Env *, Eq *, bool quiet); // false: a size is guessed
Value eval_equation(Body *, Env *, const Syntax *lhs_brackets, const Syntax *expr,
                    const Syntax *pad, const Type *want, Span);
// An argument of a call has indices of its own; those of the left side around it are known in it, as
// numbers and by their sizes, and so is what `pad` says.
Value eval_argument(Body *, Env *, const Syntax *, const Eq *around);
bool is_access(Env *, const Syntax *); // an indexed read, not a box with options
Val eval_product(Body *, Env *, const Syntax *, Eq *);
// Notes which axes of what a call gave are indices of the equation around it.
void note_called(Body *, Env *, Eq *, const Syntax *call, const Val *);

// expr.c
Value eval(Body *, Env *, const Syntax *, Eq *);
Val eval_one(Body *, Env *, const Syntax *, Eq *);
Val value_single(Body *, Value,
                 Span); // the only one; an error where there are several, which is said
Value eval_alone(Body *, Env *, const Syntax *); // its own index scope
bool is_box(Body *, Env *, const Syntax *);
Value eval_access(Body *, Env *, const Syntax *, Eq *); // something with brackets, nothing summed
Value eval_args(Body *, Env *, const Syntax *call, const Eq *around);
Value list_value(Body *, Env *, const Syntax *, const char *path, bool rooted, const Type *want,
                 Span);
const char *family_member(Body *, Env *, const Def *learner,
                          const Syntax *brackets); // ".2"; NULL after an error

// call.c
Value apply(Body *, Env *, const Syntax *box, Value args, const Syntax *over, Span);
Value refuse_over(Body *, const Syntax *over, const char *what); // … for what has no header
bool fn_takes(Body *, Fn, uint32_t given, Span); // as many values; false with a diagnostic
Value apply_call(Body *, Env *, const Syntax *callee, const Syntax *call, const Syntax *over,
                 const Eq *around);
bool learner_has_input(const Def *);
// One use of a box or a learner: whose weights it takes, and where it stands.
typedef struct {
  Def *def;
  Body *home;         // of a learner that a body declares: that body; NULL: it is the file's
  const char *family; // ".2": this member; NULL: it has none
  const Syntax *node;
  Name name; // of the weights of a box that stand here, if they need one
  Span span;
} BoxUse;
Value call_def(Body *, Env *, const BoxUse *, const Syntax *config, Value args, const Syntax *over);

// own_learner.c: learners that a machine has a copy of
bool is_member_axis(const Elab *, uint32_t pass); // of an array of parts, not of samples
const MachineText *machine_seen(const Elab *);    // NULL: a body is the same inside of the machine
void pass_members(Body *);                        // axes of members pass over it
bool find_own(Body *, BoxUse *);        // whose weights a learner takes; false with a diagnostic
Env *home_env(Body *home, const Def *); // in which its words are found; NULL: those of its file
typedef struct {
  bool training, owned;
} LearnerMode;
LearnerMode learner_begin(Elab *, const BoxUse *); // its body is elaborated
void learner_end(Elab *, LearnerMode before);
Type for_each_member(Body *, Type, Init *); // a weight with the axes of members in front
// A next value with them in front: each has its own, even if it is the same for all.
Val along_members(Body *, Val, Span);
// The path that a weight of a machine's copy has in the learner itself; NULL: it is no copy.
const char *own_origin(const Elab *, const BoxUse *, const char *path);

int arity_of(Body *, Env *, const Syntax *box); // -1 when unknown
// Does the text use something whose declaration went wrong? Then what it lacks is said already.
bool uses_broken(Env *, const Syntax *);
// What a box takes: declared types, with variables for sizes that are open. False: it does not say.
typedef struct {
  Type type;
  const Def *space; // that it is a point of; NULL: only a type is written
  Name name;        // 0: it has none
} BoxInput;
typedef VEC(BoxInput) BoxInputs;
bool box_inputs(Body *, Env *, const Syntax *box, BoxInputs *);
bool box_formals(Body *, Env *, const Syntax *box, Types *); // their types

Body *instance_alone(Elab *, Def *, const char *family, const Syntax *config,
                     const Instance *); // NULL when it cannot be checked for itself

// body.c
Body *body_new(Elab *, Name);
void body_pass(Body *, uint32_t number, Axis); // an axis passes over it
// Loops, powers and boxes in boxes are written out, which may be far more than the text: false,
// said once, beyond any reason.
bool work_on(Body *, uint32_t steps, Span);
void work_stop(Elab *); // an error was said after which there is no going on
// Works a body off: statements or an expression, against the declared results. False after an
// error.
bool body_work(Body *, Env *, const Def *, const Syntax *params, const Syntax *result,
               const Syntax *body, Value args);
void body_finish(Body *); // names of weights, mean of proposed states
// The callee's diagram as a box of this one; its weights become weights of this one. The first
// output wire.
Id body_call(Body *, Body *callee, const Id *args, const BoxUse *);
// The callee's weights and states as inputs of this diagram, in order; number gets their positions
// among our params.
void body_params(Body *, Body *callee, const BoxUse *, Ids *in, Ids *number);
Value learner_weight(Body *, Def *, Body *home, const char *family, Span);
Value const_value(Body *, Def *, Span);
uint64_t noise_site(Body *);

// builtin.c
void core_builtins(Elab *);
Value stack_rows(Body *, Value rows, Span); // along a new axis, in front
Body *box_alone(Body *, Env *, const Syntax *box, uint32_t n, const Type *,
                Span); // applied to wires of these types, as a diagram of its own

#endif
