// Elaboration: expressions, calls and bodies become diagrams. For the rooms of the language only.
//
// A body is elaborated statement by statement. Its expressions stay values (lang/value) until they
// must be lowered to boxes: when a name is bound, a box is called or an index is summed.
#ifndef LIMN_LANG_ELAB_ELAB_H
#define LIMN_LANG_ELAB_ELAB_H

#include "core/diagram/ops.h"
#include "lang/value/value.h"

// index_equation.c
Val index_value(Body *, Env *, Val base, const Syntax *brackets, Span, Eq *);
uint32_t eq_index(Body *, Eq *, Name, Span);
Value eval_equation(Body *, Env *, const Syntax *lhs_brackets, const Syntax *expr,
                    const Syntax *pad, const Type *want, Span);
// An argument of a call has its own index scope; indices and `pad` of the enclosing equation are
// visible.
Value eval_argument(Body *, Env *, const Syntax *, const Eq *around);
bool is_access(Env *, const Syntax *); // an indexed read, not a box with options
Val eval_product(Body *, Env *, const Syntax *, Eq *);
// Records which axes of a call's result are indices of the enclosing equation.
void note_called(Body *, Env *, Eq *, const Syntax *call, const Val *);

// expr.c
Value eval(Body *, Env *, const Syntax *, Eq *);
Val eval_one(Body *, Env *, const Syntax *, Eq *);
Val value_single(Body *, Value,
                 Span);                          // its only wire; several are an error
Value eval_alone(Body *, Env *, const Syntax *); // in its own index scope
bool is_box(Body *, Env *, const Syntax *);
Value eval_access(Body *, Env *, const Syntax *,
                  Eq *); // an expression with brackets, before any summation
Value eval_args(Body *, Env *, const Syntax *call, const Eq *around);
// path: NULL if it is the only list of its diagram.
Value list_value(Body *, Env *, const Syntax *, const char *path, bool rooted, const Type *want,
                 Span);
// const_path.c: paths of constants, distinct if their values are
const char *const_path(Elab *, const Def *); // at the top of a file
// `where`: the name of the body; "": the path is that of the whole program.
const char *list_path(Elab *, const char *where, const char *path, const Type *, const double *);
const char *family_member(Body *, Env *, const Def *learner,
                          const Syntax *brackets); // ".2"; NULL after an error

// call.c
Value apply(Body *, Env *, const Syntax *box, Value args, const Syntax *over, Span);
Value refuse_over(Body *, const Syntax *over,
                  const char *what); // error: `over` needs a box with a header
bool fn_takes(Body *, Fn, uint32_t given,
              Span); // checks the number of arguments; false with a diagnostic
Value apply_call(Body *, Env *, const Syntax *callee, const Syntax *call, const Syntax *over,
                 const Eq *around);
bool learner_has_input(const Def *);
// A use of a box or a learner: whose weights, and where.
typedef struct {
  Def *def;
  Body *home;         // the body that declares the learner; NULL: the file
  const char *family; // ".2": a member of a family, or NULL
  const Syntax *node;
  Name name; // path component of the weights of a box used here
  Span span;
} BoxUse;
Value call_def(Body *, Env *, const BoxUse *, const Syntax *config, Value args, const Syntax *over);

// own_learner.c: learners of which a machine owns a copy
bool is_member_axis(const Elab *, uint32_t pass); // an axis of an array of parts, not of samples
const MachineText *machine_seen(const Elab *);    // NULL: bodies do not depend on the machine
void pass_members(Body *);                        // the axes of members become batch axes
bool find_own(Body *, BoxUse *);        // the owner of a learner's weights; false with a diagnostic
Env *home_env(Body *home, const Def *); // where its names are resolved; NULL: its file
typedef struct {
  bool training, owned;
} LearnerMode;
LearnerMode learner_begin(Elab *, const BoxUse *); // enters the body of a learner
void learner_end(Elab *, LearnerMode before);
Type for_each_member(Body *, Type, Init *); // prepends the axes of members to a weight's type
// Prepends the axes of members to a next value, broadcasting if necessary.
Val along_members(Body *, Val, Span);
// The path of a copied weight in the learner itself; NULL: it is no copy.
const char *own_origin(const Elab *, const BoxUse *, const char *path);

int arity_of(Body *, Env *, const Syntax *box); // -1 if unknown
// Does it use a declaration with errors, which are reported already?
bool uses_broken(Env *, const Syntax *);
// The declared inputs of a box, with variables for open sizes. False: it has no types.
typedef struct {
  Type type;
  const Def *space; // its space, or NULL
  Name name;        // 0: unnamed
} BoxInput;
typedef VEC(BoxInput) BoxInputs;
bool box_inputs(Body *, Env *, const Syntax *box, BoxInputs *);
bool box_formals(Body *, Env *, const Syntax *box, Types *); // their types

Body *instance_alone(Elab *, Def *, const char *family,
                     const Instance *); // NULL if it cannot be elaborated without a use

// body.c
Body *body_new(Elab *, Name);
void body_pass(Body *, uint32_t number, Axis); // adds a batch axis to the body
// Counts the steps of unrolled loops, powers and nested boxes; false, reported once, beyond the
// limit.
bool work_on(Body *, uint32_t steps, Span);
void work_stop(Elab *); // after an error that ends elaboration
// Elaborates a body, statements or an expression, against the declared results. False after an
// error.
bool body_work(Body *, Env *, const Def *, const Syntax *params, const Syntax *result,
               const Syntax *body, Value args);
void body_finish(Body *); // names the weights, averages proposed states
// Emits a call box; the callee's weights become weights of this diagram. Returns the first output.
Id body_call(Body *, Body *callee, const Id *args, const BoxUse *);
// Adds the callee's weights and states as inputs of this diagram; `number` gets their param
// indices.
void body_params(Body *, Body *callee, const BoxUse *, Ids *in, Ids *number);
Value learner_weight(Body *, Def *, Body *home, const char *family, Span);
Value const_value(Body *, Def *, Span);
uint64_t noise_site(Body *);

// builtin.c
void core_builtins(Elab *);
Value stack_rows(Body *, Value rows, Span); // stacks values along a new first axis
Body *box_alone(Body *, Env *, const Syntax *box, uint32_t n, const Type *,
                Span); // on inputs of these types, as a diagram of its own

#endif
