// Names, sizes and values under construction: the state of elaboration, for the rooms of the
// language only.
//
// A body is elaborated statement by statement. Expressions are values under construction (Val):
// trees of scalar functions over reads of wires, with named axes. A value is lowered to a box only
// when it must be (a name is bound, a box is called, an index is summed), so `a * b + 1` is one
// loop, and a convolution is another.
#ifndef LIMN_LANG_VALUE_VALUE_H
#define LIMN_LANG_VALUE_VALUE_H

#include "base/diag.h"
#include "core/diagram/ops.h"
#include "lang/value/declared.h"

enum {
  DEPTH_LIMIT = 200,
  RANK_LIMIT = 32,
  CHAIN_LIMIT = 300,
  NEST_LIMIT = 400,
  WIRES_LIMIT = 4096,
  OPTIONS_LIMIT = 64,
  X_LIMIT = 2000,
  WORK_LIMIT = 500000,
  INSTANCE_WORK = 20 // the cost of an instance beside that of its boxes
};

typedef struct Env Env;
typedef struct PartialTrace PartialTrace;

struct Scope {
  Elab *in;
  const char *path;
  uint32_t file;
  const Syntax *tree;
  Table *names;      // Name to Def id
  VEC(Scope *) uses; // in textual order
  Scope *library;    // NULL for the library itself
  Env *env;          // its outermost environment, made on demand
  bool lost;         // a file it uses could not be read: do not report unknown names
};

typedef struct {
  Size left, right;
  Span span, other;
  const char *what;
} OpenEquation; // an equation between sizes that is not solved yet

typedef struct {
  Name name;          // of a learner
  const char *member; // ".2": one member of a family; NULL: all
} OwnLearner;
typedef struct { // a machine that is being elaborated
  struct Body *home;
  VEC(OwnLearner) learner; // learners of which it has its own copy, trained during the run
  uint32_t members;        // axes of the arrays of parts that it is a member of: its batch axes
  const Axis *member;      // their numbers follow that of the samples
} MachineText;

struct Elab {
  World *w;
  Front front;
  Scope *library;
  VEC(Def *) def;
  VEC(OpenEquation) open;
  Table *instances; // arguments of an instance to index into made_body
  Table *working;   // instances being elaborated
  VEC(struct Body *) made_body;
  Table *scopes; // real path to index into scope
  VEC(Scope *) scope;
  VEC(const struct BuiltinBox *) builtin;
  Table *lists; // lists in bodies, with their numbers, to the number in their path; NULL: none yet
  Table *sets;  // --set
  VEC(const char *) set_value;
  Program *program;
  bool doubtful; // a goal was reported to train nothing it names: suppress follow-up messages
  uint32_t bodies, depth;
  uint32_t inner; // nesting depth of machines being elaborated
  uint32_t nest;  // nesting depth of expressions, through boxes
  uint32_t turns; // number of loop iterations so far
  uint32_t
      chain; // depth of axes, constants, spaces and boxes without header that refer to one another
  uint32_t closure; // id of the current search for learners
  uint64_t work,
      work_limit;             // statements, boxes and weights written out so far; the limit
  bool stopped;               // the limit was exceeded, and reported
  VEC(Def *) stack;           // the boxes being elaborated, outermost first
  uint32_t freezes;           // id of the set of learners that a learning diagram freezes; 0 = none
  VEC(const Syntax *) extra;  // `set` statements of the command line
  Table *same;                // interned spaces and maps of learning diagrams, as text, to a number
  Size sample;                // the number of samples, a symbol until the program runs
  bool training;              // elaborating in training mode
  const MachineText *machine; // NULL: no machine is being elaborated
  bool owned;    // inside a learner that a machine owns a copy of: each member has its own weights
  Axis clash[2]; // the last two axes that failed to unify, for pictures of errors
  ValueWatch *watch;                 // whose values are printed, or NULL
  const volatile sig_atomic_t *stop; // not 0: cancelled; may be NULL
  NameUses *uses;                    // recorded name resolution; NULL: off
  const char *const *words; // only boxes that mention one of these are elaborated; NULL: all are
};

// -- values ---------------------------------------------------------------------------------------
typedef enum { X_WIRE, X_FN, X_AT, X_CONST, X_SIZE } XKind;
typedef struct Expr Expr;
struct Expr { // a scalar expression with axes; axis i of argument a is axis map[a][i] of the whole
  XKind kind;
  uint8_t base;
  uint32_t rank;
  uint32_t weight; // X_FN: number of functions in it
  Id turn; // id of the loop iteration it was written in, which may be over when it is lowered
  Id wire; // X_WIRE: read at `coord`; its terms are own axes or (operand) entries of `label`
  Coord *coord;
  uint32_t nlabel;
  Expr **label; // index operands: X_WIRE without labels, over the same axes
  bool padded;
  double pad;
  Fn fn; // X_FN
  Expr *arg[3];
  uint32_t *map[3];
  double k;  // X_CONST
  Size size; // X_SIZE
};

typedef struct {
  Expr *x;
  Type type; // its axes are those of x, including those to be reduced
  Span span;
  bool literal; // an untyped number, which takes any type
  bool error;   // already reported: no further messages
  Id ghost;     // the wire of its placeholder in a partial diagram (partial.c)
  bool indexed; // its own axes are indices of the enclosing equation
  bool access;  // a read with brackets: a factor of a product
  uint32_t nreduce;
  uint32_t *reduce; // axes to be reduced
  Combine combine;
} Val;

typedef struct {
  uint32_t n;
  Val *at;
  const Def *space; // the space it is declared in, which determines its distance
} Value;

// -- environments ---------------------------------------------------------------------------------
typedef struct Body Body;

typedef struct {
  const Syntax *node; // an expression that denotes a box
  Env *env;
} Closure;

typedef enum {
  BIND_OPTION,
  BIND_SIZE,
  BIND_SPREAD,
  BIND_VALUE,
  BIND_LEARNER,
  BIND_LOOP,
  BIND_KEPT,
  BIND_STATE
} BindKind;
typedef struct {
  BindKind kind;
  Span span;
  Span named; // its first binding in this environment; set on binding, `span` if 0
  Size size;  // OPTION (if it is one), SIZE, LOOP
  Name label; // the caller's label of that axis
  Id decl;
  bool has_number;
  double number;    // OPTION
  Closure box;      // OPTION, if node is not NULL
  bool open;        // OPTION of a box that is elaborated without a use
  bool by_default;  // OPTION, SPREAD: not given, from the default
  bool fixed;       // VALUE: a weight, which cannot be rebound
  const char *text; // OPTION: a string
  uint32_t naxis;   // SPREAD
  Axis *axis;
  Value value; // VALUE, STATE (the old value)
  Value next;  // STATE
  bool partly; // assigned under a condition, in a mode or in part: its value is unknown statically
  uint32_t param; // STATE
  const Def *def; // LEARNER
  Body *home;     // LEARNER: the body that owns it
  Table *kept;    // KEPT: iteration number to index into kept_value
  VEC(Value) kept_value;
} Binding;

struct Env {
  Env *outer;
  Scope *scope;
  Body *body;    // the body it belongs to
  uint32_t turn; // id of the iteration that last bound a loop variable here
  Table *names;
  VEC(Binding) binding;
};

typedef struct {
  const Syntax *use; // the node in the text
  Name name;
  const char *suffix; // .2 in a loop
  bool weighty;       // there are weights below it
  uint32_t number;
} Site;

typedef VEC(Type) Types;
typedef struct {
  uint32_t param;
  Id wire;       // its next value
  uint32_t uses; // the mean of so many uses
  Span span;
} Proposal;

struct Body {
  Elab *in;
  World *w;
  Diagram *d;
  Env *env;
  uint32_t id;
  uint32_t npass;
  Axis *pass;         // the batch axes of the body, by number - 1; size 0 = absent
  bool generic;       // elaborated without a use, with symbolic sizes
  bool distance;      // comparing the two sides of a goal
  const char *suffix; // of the enclosing loops
  VEC(Site) site;
  VEC(uint32_t) param_site; // [param] its site + 1, or 0
  const Syntax *header_result;
  const Def *def;
  const struct Eq *eq; // the equation being elaborated, or NULL
  Table *labels;       // names that label an axis in this body's text
  uint32_t noises;     // random draws so far
  const char *inside;  // distinguishes several bodies of one name
  const char *edge;    // the edge of a learning diagram that shares its draws, or NULL
  Table *fields;       // in a goal: given field to input wire
  Types out_type;      // the types of the results
  Types want;          // the declared result types
  VEC(Name) want_name; // their names; fewer, or 0, if unnamed
  uint64_t *
      over; // [input] bit set of axes that are batch axes of every box it goes into; NULL: not tracked
  VEC(Proposal) proposal;
  const Def *space;             // the declared space of its results, or NULL
  struct MachineBuilder *maker; // the lens of a machine, or NULL
  bool timed;                   // `time` is a value
  PartialTrace *trace;          // elaborated for a picture only (elab/partial.c), or NULL
};

// -- index equations ------------------------------------------------------------------------------
typedef struct {
  Name name;
  Size size; // a variable until solved
  Span span;
  bool left, bound;  // on the left side; reduced by name (sum[p](…)) or `outer`
  bool outer;        // an index of an enclosing equation, in an argument of a call: it is kept
  bool ranged;       // made for a range
  Name label;        // label of the axis that the range is taken from, or 0
  bool plain;        // stands alone in some position
  bool gone;         // its reduction is complete: out of scope
  Span summed, free; // where it was summed, and where it stayed free; file 0 = never
  bool told;         // an error about it was reported
} EqIndex;

typedef struct {
  Size size;   // of the axis
  Coord coord; // in indices of the equation
  Span span;
  bool padded, write;
  bool group; // an axis group (h w): the size is the product
  bool range; // 2..5
} IndexReach;

typedef struct Eq {
  bool left;               // it has a left side
  const struct Eq *around; // the equation whose call has this one as argument, or NULL
  VEC(EqIndex) index;
  VEC(IndexReach) reach;
  VEC(uint32_t) summed;  // log of summed indices
  VEC(uint32_t) mention; // log of indices in the order they occur in factors
  Ids called;            // names of indices that results of calls keep, as in softmax[j](S[i j])
  Ids held;              // names of indices that an enclosing product sums as a whole
  bool padded;
  double pad;
  uint32_t inside; // depth inside function arguments, where no index is summed implicitly
  uint32_t
      whole; // depth inside values read at an index or reduced as a whole: draws there are not repeated
} Eq;

// scope.c
Def *scope_find(Scope *, Name);
bool scope_refuse_ambiguous(Scope *, Name, Span use); // true: two used files declare it, reported
Def *scope_add(Scope *, DefKind, Name key, Name name, Span, const Syntax *);
Def *def_new(Elab *, DefKind, Name, Span, Scope *, const Syntax *);
void scope_alias(Scope *, Name key, const Def *); // unless `key` is bound already
void scope_put(Scope *, Name key, const Def *);   // replaces an earlier binding
Scope *scope_load(Elab *, const char *path, const char *text, size_t n, Scope *library);
Env *env_new(Elab *, Env *outer, Scope *, Body *);
Env *scope_env(Scope *);
Binding *env_find(Env *, Name);
Binding *env_bind(Env *, Name, Binding);
// Lookup of a name in the text, recorded for editors.
Def *scope_meaning(Scope *, const Syntax *);
Binding *env_meaning(Env *, const Syntax *);
void bind_value(Env *, Name, Value, Span);
void unknown_name(Body *, Env *, const Syntax *, const char *wanted);
void unknown_in(Elab *, Scope *, const Syntax *,
                const char *wanted);                       // the same, in the scope of a file
bool space_is_index(Elab *, Scope *, const Syntax *types); // does it name a data set?
const char *path_text(Elab *, const Syntax *);             // one.h; NULL if it is not a path
// Built-in boxes, registered by the rooms that elaborate them.
typedef struct BuiltinUse BuiltinUse;
typedef struct BuiltinBox {
  const char *name;
  Value (*make)(const BuiltinUse *);
  bool nodes;      // elaborates its argument itself, inside the enclosing index equation
  uint8_t kind;    // selects among those with one `make`
  bool takes_over; // accepts `over`
} BuiltinBox;
struct BuiltinUse {
  const BuiltinBox *box;
  Body *b;
  Env *env;
  const Syntax *use, *config; // the whole use, and its brackets or NULL
  Value args;
  Span span;
  Eq *eq;
  const Syntax *over; // … over h, or NULL
};
void builtins_add(Elab *, const BuiltinBox *, uint32_t n);
const BuiltinBox *builtin_find(Elab *, Name); // NULL if there is none

// uses.c: records name resolution if it is on
void use_of_def(Elab *, Span use, const Def *);
void use_of_binding(Elab *, Name, Span use, const Binding *);
void use_of_index(Elab *, Name, Span use, Span first); // in an index equation
void use_of_name(Elab *, const Syntax *use, Span first, NamedKind);
void use_label_as_axis(Env *, const Syntax *); // a label: refers to the axis of that name, if any
void use_index_as_axis(Elab *, Name, Span index, const Binding *, const Def *); // of the same name
void use_of_value(Elab *, Span name, const Value *);

bool is_learner(const Def *);
// The learner that a stale copy follows in the end, or NULL; of a learner itself.
const Def *learner_of(const Def *);
// The weight path prefix of what a stale copy follows: f, f.2. learner_path resolves copies of
// copies.
const char *followed_path(World *, const Def *stale);
const char *learner_path(World *, const Def *);
// The rest of a weight path after a prefix: "", "/w" or ".1/w"; NULL if it has another prefix.
const char *path_after(const char *path, const char *begin);
const Syntax *family_of(const Def *); // the brackets of `learn f[3]`, also of its copies, or NULL
Env *family_env(Body *, Env *use, const Def *learner); // where the size of the family is evaluated

// size_expr.c
Size size_eval(Body *, Env *, const Syntax *, bool declare); // 0 after an error
uint32_t axes_eval(Body *, Env *, const Syntax *brackets, bool declare,
                   Axis *out); // RANK_LIMIT entries
bool types_eval(Body *, Env *, const Syntax *, bool declare, Types *, const Def **space);
bool static_number(Body *, Env *, const Syntax *,
                   double *); // evaluates a constant expression; false if it is not constant
bool scope_number(Elab *, Scope *, const Syntax *, double *); // the same, in the scope of a file
bool space_points(Elab *, Def *, Types *); // the types of a point of a space, open or not
typedef enum { IS_FALSE, IS_TRUE, IS_OPEN, IS_DYNAMIC } Truth;
Truth static_truth(Body *, Env *, const Syntax *);
bool sizes_agree(Body *, Size, Size, Span, Span other,
                 const char *what); // false: contradiction, not reported
Size axis_size(Elab *, Def *);

// value.c
Val val_error(Span);
Val val_ghost(Id wire, Span); // an error with a placeholder wire
Val val_literal(Body *, double, Span);
Val val_size(Body *, Size, Span);
Val val_wire(Body *, Id wire, Span);
Val val_fn(Body *, Fn, const Val *arg, uint32_t n, Span, const Eq *);
// Is the number a label or a bit of the type, if that is not real? False with a diagnostic.
bool number_fits(Body *, double, const Type *, Span);
Val val_fill(Body *, Val literal, Type);
void val_settle(Body *, Val *);
Id val_to_wire(Body *, Val *, Name);
Val val_permute(Body *, Val, const uint32_t *order,
                uint32_t n); // axis i of the result is axis order[i]; may make a new wire
Val val_reduce(Body *, Val, Combine, const bool *axes);
Id val_emit(Body *, const Val *, const Access *out, Type,
            Span); // its indices are the axes of the value
Val val_select(Body *, Val cond, Val yes, Val no, Span, const Eq *);
Value value_one(Body *, Val);
Value value_error(Body *, Span);
Value value_concat(Body *, Value, Value);
typedef struct { // a value that grows
  Value value;
  uint32_t room;
} WideValue;
bool value_join(Body *, WideValue *, Value more,
                Span); // false: too many wires, reported, and .value is an error
Value value_copy(Body *, Value);
bool value_failed(const Value *); // does it contain an error?
// Refuses a state of bits or labels that several uses move.
void no_mean_of_states(World *, Span, const Type *);
// Reports an error and returns one at `span`.
#define value_refuse(b, span, ...) (diag_error((b)->w->diags, __VA_ARGS__), value_error(b, span))
#define val_refuse(b, span, ...) (diag_error((b)->w->diags, __VA_ARGS__), val_error(span))
bool rank_fits(World *, uint64_t rank,
               Span); // at most RANK_LIMIT; otherwise false with a diagnostic
Type type_like(World *, const Type *, uint32_t rank,
               const Axis *);         // the same base, with these axes
Type own_type(World *, const Type *); // without batch axes
Type type_without(World *, const Type *, uint32_t axis);
bool shapes_agree(Body *, const Type *, const Type *, Span,
                  const char *what);          // also compares bases and numbers of labels
bool val_reduces(const Val *, uint32_t axis); // is the axis reduced?
// The number of a label, or for `on` of `on.warm`, `on.hot` the first of them; -1: none.
int label_named(World *, const Type *, Name);
bool label_is_in(World *, Name label, Name group); // `on.hot` is in `on` and in itself
bool val_is_plain(Body *, const Val *);            // is it a read of a whole wire, axis for axis?
uint32_t own_axes(const Type *,
                  uint32_t *position);       // positions of the axes that are not batch axes
const char *own_text(World *, const Type *); // for messages: without batch axes
bool two_unknowns(Body *, const Axis *, const Axis *);        // axes whose sizes are unconstrained
const char *nearest_label(World *, const Type *, Name label); // among its axes, or NULL
Id origin_at(Body *, Span);
bool names_have(const Ids *names, Name);
bool eq_has(const Eq *, Name, uint32_t *);
const EqIndex *index_around(const Eq *, Name); // of an enclosing equation; NULL: none

// shared_draw.c: draw_axes gives the axes of a draw, its own and one for each index of the
// enclosing equations. warn_shared_draws warns about draws shared over an index, in a value of an
// index equation (`whole`: of the whole equation), given the first box made for it.
uint32_t draw_axes(const Body *, const Axis *own, uint32_t n,
                   Axis *out); // RANK_LIMIT entries
void warn_shared_draws(Body *, const Val *, const Eq *, uint32_t first, bool whole);

// index_sizes.c: solves index sizes from axis groups and offsets
bool index_unsolved(World *, const EqIndex *);
void index_solve_groups(Body *, Eq *);
void index_solve_by_reach(Body *, Eq *, bool writes); // writes: also from left sides
void index_check_reach(Body *, const Eq *, const IndexReach *);
void index_check_groups(Body *, Eq *);

// const_file.c: reads a constant from a file into d->file, with its type
bool const_file_read(Body *, Def *, const Syntax *file, const Type *want, Type *out);

// value_print.c: prints a value that was lowered to a box, in a watched body
void value_watch(Body *, const Val *, const Index *, Id made);
void clash_note(Body *, Axis left, Axis right); // records two axes that failed to unify

// value_print.c: source text on one line, without comments; and the text of a box passed as an
// option.
const char *span_words(World *, Span);
const char *box_word(World *, const Closure *);

#endif
