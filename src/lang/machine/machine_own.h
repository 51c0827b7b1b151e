// The elaboration of one machine, share or wiring to a system.
#ifndef LIMN_LANG_MACHINE_MACHINE_OWN_H
#define LIMN_LANG_MACHINE_MACHINE_OWN_H

#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"
#include "lang/machine/machine.h"

enum { ANY_MODE = -1, MODES_LIMIT = 64, FLAT_LIMIT = 250000, FIRST_PASS = 2 };

typedef enum { CHANGE_PORT, CHANGE_RATE, CHANGE_NEXT, CHANGE_PLACES } ChangeKind;
typedef struct {
  Id named;   // bits: the assigned elements of a state; 0: all
  Id written; // the same as a number, computed by the loop that enumerates them
} LinePlaces; // the elements that a line assigns

typedef struct {
  ChangeKind kind;
  uint32_t at;    // index of an own port or state
  int mode;       // index into ModeLines, or ANY_MODE
  Id value, when; // wires; when: 0 = always; a bit, or one for each element
  LinePlaces places;
  Name jump;      // the target mode of a jump; 0: none
  uint32_t level; // of a jump: the nesting depth of its mode
  Span span;
  uint32_t before; // index + 1 of the previous change of the same thing
} Change;          // the effect of a line on a port or a state

typedef struct {
  uint32_t at; // index into own states; UINT32_MAX: a learner
  Name name;
  const char *member;    // ".2": a member of a family; NULL: all
  VEC(uint32_t) weight;  // trained params: of the lens, then of the whole system
  VEC(uint32_t) counted; // states inside the learner, such as batch statistics
  Ids becomes;           // their values after a tick
  Id loss;               // a scalar
  Id when;               // a condition; 0: always
  const Syntax *optimiser;
  uint32_t unroll; // ticks to backpropagate through
  Span span;
} Learned; // next w by gd(0.1) on … when …

typedef struct {
  Name name;            // as it is declared
  int around;           // the enclosing mode, or ANY_MODE
  uint32_t level;       // nesting depth: 1, 2, …
  uint32_t first, many; // the range of leaf modes (labels) it contains
  bool stops;           // nothing changes in it
  const Syntax *node;   // N_MODE
  Env *env;             // of its lines
} ModeLines;            // a mode as written; it may contain others

typedef struct {
  Name name;                 // p.y, or y
  uint32_t part, port;       // part: index + 1; 0: a port of the wiring itself
  VEC(const Syntax *) route; // N_ROUTE, with ports of parts as names
  Id wire;                   // its value
  bool placed;               // its routes assign shifted elements such as p[i+1].x
} LineTarget;

typedef struct {
  Id wire;        // the state as a value
  uint32_t param; // index in the lens
  Type own;       // without batch axes
  bool flows;
  bool constrained; // determined by an equation 0 = …
} Held;             // parallel to OwnState

typedef struct {
  Val value; // the residual
  Span span;
} Constraint;

typedef struct MachineBuilder {
  Elab *in;
  World *w;
  Body *b; // the lens
  Env *env;
  System *s;
  Def *def;
  Header h;
  uint32_t npass; // axes of the arrays it is a member of, as batch axes
  Axis pass[RANK_LIMIT];
  bool flows;       // its text has a rate
  bool waits;       // only conditions, neither rates nor ticks
  MachineTime time; // of the wiring it is used in
  Id mode;          // the wire of its mode, or 0
  VEC(ModeLines) modes;
  PartLife life;
  Id alive, stopped,
      live; // bits: exists; has stopped; exists and has not stopped. 0: always, never, always
  Ids born; // [own state] its initial value at birth, or 0
  VEC(Held) held;
  VEC(Change) change;
  Table *changed; // (kind, at) to the index of its last change + 1
  VEC(Constraint) constraint;
  VEC(Learned) learned;
  MachineText text;
  uint32_t rows; // states that record history, for `unroll`
  VEC(LineTarget) target;
  Table *parts;     // Name to index + 1
  Table *members;   // names made by a `for`: p[2]
  uint64_t flat;    // wires in its parts, which bounds the size of the flat system
  bool leads;       // reading the target of a route, not a value
  bool open_loops;  // a `for` has an open bound
  bool open_places; // the target element of a route depends on open sizes
  uint32_t spread;  // rank of the array whose port is assigned: the value may be broadcast along it
  bool broken;      // a part has errors: no further messages
  Table *targets;
  uint32_t lags, whites;
} MachineBuilder;

// machine.c
Type full_type(MachineBuilder *, const Type *own); // with batch axes in front
// The value as a wire of that type, broadcast to members if necessary; 0 after an error. `what`:
// for the message.
Id fit_value(MachineBuilder *, Val, const Type *own, Span, const char *what);
int own_state(const MachineBuilder *, Name);                       // its index, or -1
Val filled_value(MachineBuilder *, double, const Type *own, Span); // one number everywhere
// `yes` where the bits are set, otherwise `no`, or 0; `yes` itself if one of the first two is 0.
Id where_set(MachineBuilder *, Id bits, Id yes, Id no, const Type *own, Span, const char *what);
void add_change(MachineBuilder *, Change);
void add_change_always(MachineBuilder *, ChangeKind, uint32_t at, Id value,
                       Span); // in every mode, unconditionally
uint32_t last_change(const MachineBuilder *, ChangeKind, uint32_t at); // its index + 1; 0: none
Value eval_typed(MachineBuilder *, Env *, const Syntax *brackets, const Syntax *expr,
                 const Syntax *pad, const Type *own,
                 Span); // like eval_equation, with label names resolved by type
void bind_port(MachineBuilder *, Name, Id wire, Span); // binds a value that cannot be rebound
void add_in_ports(MachineBuilder *, Env *, const Syntax *params, uint64_t modes);
void add_out_ports(MachineBuilder *, Env *, const Syntax *result, uint64_t modes);
bool is_simplex_type(MachineBuilder *, const Syntax *type);
Val new_state(MachineBuilder *, Name, Type own, Init, Span); // the last of `own` and `held`
void add_states(MachineBuilder *, Env *, const Syntax *states);
typedef struct {
  const Syntax *cond, *brackets;
  const Type *own; // of what the brackets index
  int mode;
  const Syntax *value;                                 // of the line
} Condition;                                           // without brackets: one for all elements
Id condition_wire(MachineBuilder *, Env *, Condition); // a bit, or bits; 0 after an error
Id guard_wire(MachineBuilder *, Env *, Condition);     // as_root, restricted to the mode
void add_event(MachineBuilder *, SystemEvent, uint32_t state, Id value, Id named);
void make_block(MachineBuilder *, Env *, const Syntax *block, int mode);

// starts.c
Init state_start(MachineBuilder *, Env *, const Syntax *typed, const Type *own);
Init start_for_all(MachineBuilder *, Init,
                   const Type *own); // replicates it for all members of arrays
bool says_places(MachineBuilder *,
                 const Syntax *typed); // further elements of a state that another line declares
bool start_is_clear(MachineBuilder *, const Syntax *typed); // false with a diagnostic

// places.c
typedef enum { MEET_NEVER, MEET_PERHAPS, MEET_SURELY } Meeting;
LinePlaces line_places(MachineBuilder *, Env *, const Syntax *brackets, const Syntax *value,
                       const Syntax *pad, const Type *own);
// Evaluates `what` at the elements assigned by a[i+1] = value.
Syntax *over_places(MachineBuilder *, const Syntax *brackets, const Syntax *value, const Type *own,
                    const Syntax *what);
// The elements assigned by a line, as bits over its free indices, which `brackets` now are.
Id named_between(MachineBuilder *, const Syntax *brackets, const LinePlaces *, const Type *own);
// Can two lines assign the same element? `where`: the first such, "[0 1]"; "": unknown, or all.
Meeting places_meet(MachineBuilder *, const LinePlaces *, const LinePlaces *, const Type *own,
                    const char **where);
// The elements that n lines leave unassigned, "place [2]"; "": unknown; NULL: none.
const char *places_left(MachineBuilder *, const LinePlaces *, uint32_t n, const Type *own);
bool binds_index(const Syntax *call, Name); // is it a reduction over this index, sum[i](…)?
// Does the condition depend on indices of the left side?
bool condition_for_each(MachineBuilder *, const Syntax *brackets, const Syntax *cond,
                        const Type *own);

// writers.c
// Folds all changes of a thing into one value: the first that holds, else `base`, else 0.
Id fold_changes(MachineBuilder *, ChangeKind, uint32_t at, Id base, const Type *own,
                const char *what);
typedef struct {
  PlaceLines line;
  Id base; // the value of the other elements; 0: there are none
  const Type *own;
  uint32_t number; // a unique number
  const char *what;
  Span span;
} PlacesSaid;
Id said_by_places(MachineBuilder *, const PlacesSaid *); // the whole value; 0 after an error
void note_writers(MachineBuilder *,
                  uint32_t state); // records lines that may set one element at the same tick
void note_sharers(MachineBuilder *, uint32_t port); // the same for a shared variable

// modes.c
bool add_modes(MachineBuilder *, const Syntax *block); // false: too many
void make_modes(MachineBuilder *);                     // elaborates their lines
Val in_mode(MachineBuilder *, int mode, Span);         // a bit
uint64_t mode_bits(const MachineBuilder *, int mode);  // bit set of its leaf modes
const char *mode_words(MachineBuilder *, int mode);    // " in mode `on.hot`"
void do_jump(MachineBuilder *, Env *, const Syntax *, int mode);

// mode_places.c
bool mode_says_places(MachineBuilder *, const Syntax *block,
                      const Syntax *line); // does it assign elements of a port?
void mode_places(MachineBuilder *, Env *, const Syntax *block, int mode);

// periods.c: the periods of parts
void read_period(MachineBuilder *, const Syntax *part, Part *out); // N_PART
bool period_fits(MachineBuilder *, const Part *); // checks it against the states of the part

// lives.c: stopping, and parts that are born and die
void add_life(MachineBuilder *); // adds the ports for life bits, after the others
Id live_rate(MachineBuilder *, uint32_t own, Id rate); // the update of a state; 0: constant
Id live_next(MachineBuilder *, uint32_t own, Id next);
Id live_guard(MachineBuilder *, Id guard, const Type *own);
Id live_shown(MachineBuilder *, const Type *, Id wire);
void live_learned(MachineBuilder *, Learned *);
void live_learnt(
    MachineBuilder *); // after flattening: states that are trained, and those of their optimisers
void halt_with_parts(MachineBuilder *, Id *const *map); // [part + 1] maps its wires
void add_birth(MachineBuilder *); // adds the event, after all states are known
PartLife part_life(MachineBuilder *, const Syntax *part); // N_PART, or NULL
void add_life_routes(MachineBuilder *, const Syntax *block,
                     void (*add)(MachineBuilder *, const Syntax *));
bool live_share(MachineBuilder *, const System *, Span); // may a share be called in this wiring?

// line_order.c: topological order of the statements of a block
typedef VEC(const Syntax *) LineNodes;
bool order_statements(MachineBuilder *, const LineNodes *,
                      LineNodes *out); // false: a cycle

// kept_lines.c: makes wires of the lines that a check or show names
void keep_lines(MachineBuilder *, Env *, const LineNodes *, int mode);

// for_lines.c
// Unrolls every `for`. False: after an error, or if bounds are open.
bool write_out_loops(MachineBuilder *);
Syntax *with_loop_number(World *, const Syntax *, Name, double);
Name member_name(MachineBuilder *, Name,
                 const Syntax *brackets); // p[2]; 0: an index is not a literal

// parts.c
typedef struct {
  Def *def;
  const Syntax *config; // its options
  Env *env;             // where they are resolved
} Called;
Called machine_called(MachineBuilder *, const Syntax *use);
System *part_system(MachineBuilder *, const Called *, const Part *array, PartLife, Span);
Type seen_type(MachineBuilder *, const Part *,
               const Type *own); // the type of a port as seen by the lens
Name dotted_name(World *, Name part, Name port);
void add_part(MachineBuilder *, Part);
bool make_parts(MachineBuilder *, const Syntax *block); // N_PART, and calls of shares
bool flat_fits(MachineBuilder *, uint64_t wires);       // false with a diagnostic: too many

// shares.c
void sharing_part(MachineBuilder *, const Syntax *call);
Id sum_of_members(MachineBuilder *, uint32_t junction); // the sum over its members; 0: none

// routes.c
Syntax *with_ports(MachineBuilder *, const Syntax *);  // replaces p.y and p[i].y by names
const Syntax *route_brackets(const Syntax *route);     // of its target
Syntax *place_route(MachineBuilder *, const Syntax *); // y[0] = …; NULL: another kind of line
void gather_routes(MachineBuilder *, const Syntax *block,
                   LineNodes *out); // equations for the wiring's own ports are added to `out`
Id placed_value(MachineBuilder *, const LineTarget *); // of a port that is assigned by elements
void set_targets(MachineBuilder *, Env *);             // the values of the parts' input ports

// route_places.c
typedef enum { PLACE_NUMBER, PLACE_INDEX, PLACE_OPEN, PLACE_OTHER } PlaceKind; // 2, i, n-1, i+1
PlaceKind place_kind(MachineBuilder *, const Type *of_target, const Syntax *item);
Type target_type(MachineBuilder *, const LineTarget *);
void settle_places(MachineBuilder *, LineTarget *);
// Shifts y[i+1] = x[i] to y[i] = x[i-1], so that dependencies can be traced element by element.
// Other lines are returned unchanged.
PlaceLine line_moved(MachineBuilder *, const PlaceLine *, const Type *own);
bool counts_at(const LineTarget *, uint32_t axis); // some route assigns it by number
Name counting_index(World *, uint32_t axis);       // the index name of such routes

// sources.c
bool port_of_part(MachineBuilder *, Name,
                  PortEnd *);         // resolves p.y to the port; false: another name
void check_targets(MachineBuilder *); // checks that every input port has one source

// constraints.c: equations 0 = …
void add_constraint(MachineBuilder *, Env *, const Syntax *, int mode);
void settle_constraints(MachineBuilder *);

// chance.c: the box `white`
Value white_value(const BuiltinUse *);
bool draws_noise(const Box *); // the box, or one inside

// learned.c: learners and states that learn
void free_indices(MachineBuilder *, Env *, const Syntax *, Ids *out); // unbound names in brackets
void find_learners(MachineBuilder *); // learners of which it owns a copy
bool declares_learner(MachineBuilder *,
                      const Syntax *);                  // is one of these declared in its own text?
void do_learn(MachineBuilder *, Env *, const Syntax *); // next w by gd(0.1) on e
bool find_weights(MachineBuilder *);                    // finds their params in the lens
bool learn_states(MachineBuilder *, Program *);         // after flattening
void no_state(MachineBuilder *, Name, Span);

// unroll.c: the loss over the last ticks with the present weights. Inputs: the ports, then `more`.
// NULL with a diagnostic.
Diagram *unrolled_loss(MachineBuilder *, const Learned *, Ids *more);

// describe.c
void describe_routes(MachineBuilder *);

#endif
