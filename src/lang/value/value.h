// value: names, sizes and values under construction: what a body is made of while it becomes a
// diagram. For the rooms of the language only.
//
// A body is elaborated statement by statement. Expressions are values under construction (Val): a
// tree of scalar functions over reads of wires, with named axes. They become a box only when they
// must (a name is given, a box is called, an index is summed), so that `a * b + 1` is one loop and
// a convolution is another.
#ifndef LIMN_LANG_VALUE_VALUE_H
#define LIMN_LANG_VALUE_VALUE_H

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
  INSTANCE_WORK = 20 // a box made for its options and inputs, beside what is in it
};

typedef struct Env Env;
typedef struct PartialTrace PartialTrace;

struct Scope {
  Elab *in;
  const char *path;
  uint32_t file;
  const Syntax *tree;
  Table *names;      // Name to Def id
  VEC(Scope *) uses; // in the order written
  Scope *library;    // NULL in the library itself
  Env *env;          // its own level, once it is needed
  bool lost;         // a file it uses could not be read: unknown names are its fault
};

typedef struct {
  Size left, right;
  Span span, other;
  const char *what;
} OpenEquation; // an equation between sizes that could not be solved yet

typedef struct {
  Name name;          // of a learner
  const char *member; // of a family: ".2"; NULL: all of it
} OwnLearner;
typedef struct { // a machine whose text is being elaborated
  struct Body *home;
  VEC(OwnLearner) learner; // those that it has a copy of, which learns while it runs
  uint32_t members;        // axes of the arrays that it is a member of, which pass over it
  const Axis *member;      // their numbers are the first behind that of the samples
} MachineText;

struct Elab {
  World *w;
  Front front;
  Scope *library;
  VEC(Def *) def;
  VEC(OpenEquation) open;
  Table *instances; // what was called with what, to an index into made_body
  Table *working;   // instances that are being elaborated
  VEC(struct Body *) made_body;
  Table *scopes; // path to index into scope
  VEC(Scope *) scope;
  VEC(const struct BuiltinBox *) builtin;
  Table *sets; // --set
  VEC(const char *) set_value;
  Program *program;
  bool doubtful; // a goal was told that it cannot train what it names: nobody else is blamed
  uint32_t bodies, depth;
  uint32_t inner; // machines that are being made, one in the other
  uint32_t nest;  // expressions inside expressions, through boxes
  uint32_t turns; // of loops, so far
  uint32_t
      chain; // axes, constants, spaces and boxes without a header that are being looked through
  uint32_t closure; // which search for learners this is
  uint64_t work,
      work_limit;   // statements, boxes and weights written out so far; how many there may be
  bool stopped;     // there were more, and that was said
  VEC(Def *) stack; // the boxes that are being elaborated, the outermost first
  uint32_t freezes; // which learners a learning diagram has frozen, as a number; 0 = none
  VEC(const Syntax *) extra;  // `set` statements of the command line
  Table *same;                // spaces and maps of learning diagrams, as text, to a number
  Size sample;                // how many samples there are: known only when running
  bool training;              // the mode that is being expanded
  const MachineText *machine; // NULL: what is elaborated has no time
  bool
      owned; // inside of a learner that a machine has a copy of: each member has weights of its own
  Axis clash[2];                     // the last two that could not be equal, for pictures of errors
  ValueWatch *watch;                 // whose values are printed; NULL: none
  const volatile sig_atomic_t *stop; // not 0: whoever asked wants no answer any more; or NULL
  NameUses *uses; // what the names of the text mean, for who asks; NULL: nobody does
  const char *const
      *words; // boxes in which none of these stands are not looked into; NULL: all are
};

// -- values ---------------------------------------------------------------------------------------
typedef enum { X_WIRE, X_FN, X_AT, X_CONST, X_SIZE } XKind;
typedef struct Expr Expr;
struct Expr { // a scalar expression with axes; axis i of an argument is axis map[i] of the whole
  XKind kind;
  uint8_t base;
  uint32_t rank;
  uint32_t weight; // X_FN: functions in it
  Id turn;         // of the loop in which it was said, which may be over when it becomes a box
  Id wire; // X_WIRE: read at `coord`, whose terms are own axes, or (operand) entries of `label`
  Coord *coord;
  uint32_t nlabel;
  Expr **label; // X_WIRE without labels of their own, over the same axes
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
  Type type; // the axes of x, those still to be reduced included
  Span span;
  bool literal; // a number without a type: it fills whatever place it stands in
  bool error;   // already reported; silent from here on
  Id ghost;     // the wire that stands for an error in a picture (partial.c)
  bool indexed; // its own axes are indices of the equation it stands in
  bool access;  // it is a read written with brackets: a factor
  uint32_t nreduce;
  uint32_t *reduce; // axes to be combined away
  Combine combine;
} Val;

typedef struct {
  uint32_t n;
  Val *at;
  const Def *space; // the space it is declared to live in, for its distance
} Value;

// -- environments ---------------------------------------------------------------------------------
typedef struct Body Body;

typedef struct {
  const Syntax *node; // an expression that is a box
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
  Span named; // where its name was first given in this environment; as it is bound: `span` if 0
  Size size;  // OPTION (if it is one), SIZE, LOOP
  Name label; // the caller's label of that axis
  Id decl;
  bool has_number;
  double number;    // OPTION
  Closure box;      // OPTION, if node is not NULL
  bool open;        // OPTION of a box that is checked without being called
  bool by_default;  // OPTION, SPREAD: nothing was written, the header says it
  bool fixed;       // VALUE: a weight, which cannot be given anew
  const char *text; // OPTION: a string
  uint32_t naxis;   // SPREAD
  Axis *axis;
  Value value;    // VALUE, STATE (the old value)
  Value next;     // STATE
  bool partly;    // under a condition, in a mode or for some places: what it becomes is not known
  uint32_t param; // STATE
  const Def *def; // LEARNER
  Body *home;     // LEARNER: the body it belongs to
  Table *kept;    // KEPT: loop number to index into kept_value
  VEC(Value) kept_value;
} Binding;

struct Env {
  Env *outer;
  Scope *scope;
  Body *body;    // the body that this environment belongs to
  uint32_t turn; // when a loop variable of it was last given
  Table *names;
  VEC(Binding) binding;
};

typedef struct {
  const Syntax *use; // the place in the text
  Name name;
  const char *suffix; // .2 in a loop
  bool weighty;       // something learned is behind it
  uint32_t number;
} Site;

typedef VEC(Type) Types;
typedef struct {
  uint32_t param;
  Id wire; // a next value for it
} Proposal;

struct Body {
  Elab *in;
  World *w;
  Diagram *d;
  Env *env;
  uint32_t id;
  uint32_t npass;
  Axis *pass;         // axes that pass over the whole body, by number - 1; size 0 = absent
  bool generic;       // checked for itself, with symbols for sizes
  bool distance;      // the two sides of a goal are being compared
  const char *suffix; // of the loops we are in
  VEC(Site) site;
  VEC(uint32_t) param_site; // for each param: its site + 1, or 0
  const Syntax *header_result;
  const Def *def;
  const struct Eq *eq; // of the expression that is being evaluated; NULL: none
  Table *labels;       // names that label an axis somewhere in this body's text
  uint32_t noises;     // uses of noise so far
  const char *inside;  // which of several bodies of one name this is
  const char *edge;    // of a learning diagram, whose noise is one draw wherever it stands; or NULL
  Table *fields;       // in a goal: given field to input wire
  Types out_type;      // results, in the words of this body
  Types want;          // results as declared
  VEC(Name) want_name; // and what they are called; fewer, or 0: they are not
  uint64_t *over;      // [input] axes that have passed over all boxes it went into; NULL: unasked
  VEC(Proposal) proposal;
  const Def *space;             // the space of its results, if they were declared so
  struct MachineBuilder *maker; // the lens of a machine; NULL: of anything else
  bool timed;                   // it is looked at while time goes on: `time` is a value
  PartialTrace *trace; // it is elaborated for a picture only (elab/partial.c); otherwise NULL
};

// -- index equations ------------------------------------------------------------------------------
typedef struct {
  Name name;
  Size size; // a variable, until it is solved
  Span span;
  bool left, bound;  // stands on the left; is reduced by name (sum[p](…)), or is `outer`
  bool outer;        // of the equation whose call this is an argument of: it stays
  bool ranged;       // made for a range
  Name label;        // of the axis that the range is taken from; 0: none
  bool plain;        // stands alone in some place
  bool gone;         // its reduction is over: out of sight
  Span summed, free; // where it was used so, for messages; file 0 = never
  bool told;         // something is wrong with it, and said
} EqIndex;

typedef struct {
  Size size;   // of the axis
  Coord coord; // terms are indices of the equation
  Span span;
  bool padded, write;
  bool group; // (h w): the size is the product
  bool range; // 2..5
} IndexReach;

typedef struct Eq {
  bool left;               // there is a left side
  const struct Eq *around; // the equation whose call this is an argument of; NULL: none
  VEC(EqIndex) index;
  VEC(IndexReach) reach;
  VEC(uint32_t) summed;  // log of summed indices
  VEC(uint32_t) mention; // log of indices as they are written in factors
  Ids called;            // names of indices that results of calls keep, as in softmax[j](S[i j])
  Ids held;              // names of indices that a product around here sums as a whole
  bool padded;
  double pad;
  uint32_t inside; // inside a function, where nothing is summed silently
  uint32_t whole;  // inside what is read at an index or reduced as a whole: it is drawn once
} Eq;

// scope.c
Def *scope_find(Scope *, Name);
Def *scope_add(Scope *, DefKind, Name key, Name name, Span, const Syntax *);
Def *def_new(Elab *, DefKind, Name, Span, Scope *, const Syntax *);
void scope_alias(Scope *, Name key, const Def *); // unless the key means something there already
void scope_put(Scope *, Name key, const Def *);   // whatever it meant
void scope_fill(Scope *, const Syntax *tree);
Scope *scope_load(Elab *, const char *path, const char *text, size_t n, Scope *library);
Env *env_new(Elab *, Env *outer, Scope *, Body *);
Env *scope_env(Scope *);
Binding *env_find(Env *, Name);
Binding *env_bind(Env *, Name, Binding);
// The same for a name that stands in the text: what it means there is noted, if anybody asks.
Def *scope_meaning(Scope *, const Syntax *);
Binding *env_meaning(Env *, const Syntax *);
void bind_value(Env *, Name, Value, Span);
void unknown_name(Body *, Env *, const Syntax *, const char *wanted);
void unknown_in(Elab *, Scope *, const Syntax *, const char *wanted); // the same, of a file
bool space_is_index(Elab *, Scope *, const Syntax *types);            // does it name data?
const char *path_text(Elab *, const Syntax *); // one.h; NULL: it is not a path
// Built-in boxes: each room adds those that it makes.
typedef struct BuiltinUse BuiltinUse;
typedef struct BuiltinBox {
  const char *name;
  Value (*make)(const BuiltinUse *);
  bool nodes;      // looks at the text of its argument, inside the index equation it stands in
  uint8_t kind;    // which of those that are made alike
  bool takes_over; // axes that pass over can be named
} BuiltinBox;
struct BuiltinUse {
  const BuiltinBox *box;
  Body *b;
  Env *env;
  const Syntax *use, *config; // the whole, and its brackets; NULL: it has none
  Value args;
  Span span;
  Eq *eq;
  const Syntax *over; // … over h; or NULL
};
void builtins_add(Elab *, const BuiltinBox *, uint32_t n);
const BuiltinBox *builtin_find(Elab *, Name); // NULL: there is none of this name

// uses.c: notes of what names mean; nothing where nobody asks
void use_of_def(Elab *, Span use, const Def *);
void use_of_binding(Elab *, Name, Span use, const Binding *);
void use_of_index(Elab *, Name, Span use, Span first); // of an index equation
void name_means(Elab *, const Syntax *use, Span first, NamedKind);
void name_is_axis(Env *, const Syntax *); // a label: an axis of that name is meant, if there is one
void index_is_axis(Elab *, Name, Span index, const Binding *, const Def *); // of the same name
void value_is_named(Elab *, Span name, const Value *);

bool is_learner(const Def *);
// Of a stale copy, the learner that it follows in the end, or NULL; otherwise itself.
const Def *learner_of(const Def *);
// Where the weights begin of what a stale copy follows: f, f.2. The second: at the end of copies of
// copies, a learner.
const char *followed_path(World *, const Def *stale);
const char *learner_path(World *, const Def *);
// What is left of a weight's path behind this beginning, "" or "/w" or ".1/w"; NULL: it is
// another's.
const char *path_after(const char *path, const char *begin);
const Syntax *
family_of(const Def *); // the brackets of `learn f[3]`, also of its copies; NULL: none
Env *family_env(Body *, Env *use, const Def *learner); // where it is said how many there are

// size_expr.c
Size size_eval(Body *, Env *, const Syntax *, bool declare); // 0 after an error
uint32_t axes_eval(Body *, Env *, const Syntax *brackets, bool declare,
                   Axis *out); // RANK_LIMIT entries of room
bool types_eval(Body *, Env *, const Syntax *, bool declare, Types *, const Def **space);
bool static_number(Body *, Env *, const Syntax *, double *);  // decided before anything runs?
bool scope_number(Elab *, Scope *, const Syntax *, double *); // the same, in a file
bool scope_types(Elab *, Scope *, const Syntax *, Types *);   // types as a file declares them
bool space_points(Elab *, Def *, Types *); // what a point of a space is, open or not
typedef enum { IS_FALSE, IS_TRUE, IS_OPEN, IS_DYNAMIC } Truth;
Truth static_truth(Body *, Env *, const Syntax *);
bool sizes_agree(Body *, Size, Size, Span, Span other,
                 const char *what); // false = a definite contradiction (not reported)
Size axis_size(Elab *, Def *);

// value.c
Val val_error(Span);
Val val_ghost(Id wire, Span); // an error that a wire stands for
Val val_literal(Body *, double, Span);
Val val_number(Body *, double, Span); // a typed R[]
Val val_size(Body *, Size, Span);
Val val_wire(Body *, Id wire, Span);
Val val_fn(Body *, Fn, const Val *arg, uint32_t n, Span, const Eq *);
Val val_fill(Body *, Val literal, Type);
void val_settle(Body *, Val *);
Id val_to_wire(Body *, Val *, Name);
Val val_permute(Body *, Val, const uint32_t *order,
                uint32_t n); // axis i of the result is axis order[i]; a new wire if needed
Val val_reduce(Body *, Val, Combine, const bool *axes);
Id val_emit(Body *, const Val *, const Access *out, Type,
            Span); // with indices = the axes of the value
Val val_select(Body *, Val cond, Val yes, Val no, Span, const Eq *);
Value value_one(Body *, Val);
Value value_error(Body *, Span);
Value value_concat(Body *, Value, Value);
typedef struct { // one that grows
  Value value;
  uint32_t room;
} WideValue;
bool value_join(Body *, WideValue *, Value more,
                Span); // false: there are too many wires, which is said, and .value is an error
Value value_copy(Body *, Value);
bool value_failed(const Value *); // there is an error among them
// For who gives up: the message, and an error at `span`.
#define value_refuse(b, span, ...) (diag_error((b)->w->diags, __VA_ARGS__), value_error(b, span))
#define val_refuse(b, span, ...) (diag_error((b)->w->diags, __VA_ARGS__), val_error(span))
bool rank_fits(World *, uint64_t rank, Span); // at most RANK_LIMIT; false with a diagnostic
Type type_like(World *, const Type *, uint32_t rank, const Axis *); // its stuff, with these axes
Type own_type(World *, const Type *);                               // without what passes over
Type type_without(World *, const Type *, uint32_t axis);
bool shapes_agree(Body *, const Type *, const Type *, Span, const char *what); // and their bases
bool val_reduces(const Val *, uint32_t axis); // is it combined away?
// Which of its labels this is, or of `on.warm`, `on.hot` the first of `on`; -1: none.
int label_named(World *, const Type *, Name);
bool label_is_in(World *, Name label, Name group);     // on.hot is in on, and in itself
bool val_is_plain(Body *, const Val *);                // a read of a whole wire, axis for axis
uint32_t own_axes(const Type *, uint32_t *position);   // axes that do not pass; their positions
const char *own_text(World *, const Type *);           // for messages: without what passes over
bool two_unknowns(Body *, const Axis *, const Axis *); // axes that nothing makes equally long
const char *nearest_label(World *, const Type *, Name label); // among its axes, or NULL
Id origin_at(Body *, Span);
bool names_have(const Ids *names, Name);
bool eq_has(const Eq *, Name, uint32_t *);
const EqIndex *index_around(const Eq *, Name); // of an equation around this one; NULL: none is

// shared_draw.c: the axes along which a draw at this place is made anew, beside its own: one for each
// index of the equations around it. And warnings of noise that is one draw for all of an index nevertheless: of a
// value in an index equation, or of the whole of it, with the first box that was made for it.
uint32_t draw_axes(const Body *, const Axis *own, uint32_t n,
                   Axis *out); // RANK_LIMIT entries of room
void tell_shared_draws(Body *, const Val *, const Eq *, uint32_t first, bool whole);

// index_sizes.c: sizes of the indices of an equation, from groups and from places with offsets
bool index_unsolved(World *, const EqIndex *);
void index_solve_groups(Body *, Eq *);
void index_solve_by_reach(Body *, Eq *, bool writes); // writes: also from what is written
void index_check_reach(Body *, const Eq *, const IndexReach *);
void index_check_groups(Body *, Eq *);

// const_file.c: the numbers of a constant from a file, in d->file, and their type
bool const_file_read(Body *, Def *, const Syntax *file, const Type *want, Type *out);

// value_print.c: a value has become a box of a body that is watched
void value_watch(Body *, const Val *, const Index *, Id made);
void clash_note(Body *, Axis left, Axis right); // these should be equal, and are not

// value_print.c: text of the program, on one line, without comments; and a box that was passed in, as it
// was written.
const char *span_words(World *, Span);
const char *box_word(World *, const Closure *);

#endif
