// Private to machine: one machine, share or wiring while it becomes a system.
#ifndef LIMN_LANG_MACHINE_MACHINE_OWN_H
#define LIMN_LANG_MACHINE_MACHINE_OWN_H

#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"
#include "lang/machine/machine.h"

enum { ANY_MODE = -1, MODES_LIMIT = 64, FLAT_LIMIT = 250000, FIRST_PASS = 2 };

typedef enum { CHANGE_PORT, CHANGE_RATE, CHANGE_NEXT, CHANGE_PLACES } ChangeKind;
typedef struct {
  Id named;   // a bit for each place of the state; 0: all of them
  Id written; // the same as a number, as the loop writes it that knows which they are
} LinePlaces; // that a line says something of

typedef struct {
  ChangeKind kind;
  uint32_t at;    // of its ports, or of its own states
  int mode;       // of ModeLines; ANY_MODE: in every one
  Id value, when; // wires; when: 0 = always; a bit, or one for each place
  LinePlaces places;
  Name jump;      // the mode that it jumps to; 0: none
  uint32_t level; // of a jump: how deep its mode is in others
  Span span;
  uint32_t before; // the one before it that refers to the same; its number + 1
} Change;          // what a line of the text says of a port or a state

typedef struct {
  uint32_t at; // of its own states; UINT32_MAX: a learner
  Name name;
  const char *member;    // of a family: ".2"; NULL: all of it
  VEC(uint32_t) weight;  // params that learn: of the lens, then of the whole
  VEC(uint32_t) counted; // states in the learner's body, batch statistics say
  Ids becomes;           // what they are after a tick
  Id loss;               // a number
  Id when;               // a condition; 0: always
  const Syntax *optimiser;
  uint32_t unroll; // ticks that credit flows through
  Span span;
} Learned; // next w by gd(0.1) on … when …

typedef struct {
  Name name;            // as it is declared
  int around;           // the mode that it is in; ANY_MODE: none
  uint32_t level;       // how deep it is: 1, 2, …
  uint32_t first, many; // the modes without others in them that it stands for: a run of the labels
  bool stops;           // nothing changes in it any more
  const Syntax *node;   // N_MODE
  Env *env;             // of its lines
} ModeLines;            // a mode as it is written; others may be in it

typedef struct {
  Name name;                 // p.y, or y
  uint32_t part, port;       // part: its number + 1; 0: a port of the wiring itself
  VEC(const Syntax *) route; // N_ROUTE, with parts' ports as names
  Id wire;                   // what it gets
  bool placed;               // its wires lead to places like p[i+1].x, each for itself
} LineTarget;

typedef struct {
  Id wire;        // of the state, as a value
  uint32_t param; // of the lens
  Type own;       // without the axes that pass
  bool flows;
  bool constrained; // found from an equation 0 = …
} Held;             // beside each OwnState

typedef struct {
  Val value; // what is 0
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
  uint32_t npass; // axes of the arrays that it is a member of
  Axis pass[RANK_LIMIT];
  bool flows;       // x' stands in its text
  bool waits;       // no rates and no ticks: only what happens on a condition
  MachineTime time; // of what it is a part of
  Id mode;          // the wire of its mode; 0: it has only one
  VEC(ModeLines) modes;
  PartLife life;
  Id alive, stopped, live; // bits: it is there; it has stopped; both well. 0: always, never, always
  Ids born;                // beside each own state: what it begins with when it is born, or 0
  VEC(Held) held;
  VEC(Change) change;
  Table *changed; // (kind, at) to the last change of it, its number + 1
  VEC(Constraint) constraint;
  VEC(Learned) learned;
  MachineText text;
  uint32_t rows; // states that keep what was, for `unroll`
  VEC(LineTarget) target;
  Table *parts;     // Name to its number + 1
  Table *members;   // names that a `for` makes: p[2]
  uint64_t flat;    // the wires in its parts: flat, a wiring is as large as all that it is made of
  bool leads;       // the target of a wire is read, not a value
  bool open_loops;  // a `for` runs over sizes that are open
  bool open_places; // which place a wire leads to depends on sizes that are open
  uint32_t spread;  // axes of the array whose port gets a value: it may be the same along them
  bool broken;      // something that it is made of has errors of its own: no more is reported
  Table *targets;
  uint32_t lags, whites;
} MachineBuilder;

// machine.c
Type full_type(MachineBuilder *, const Type *own); // with the axes that pass in front
// The value as a wire of that type, the same for all members of arrays if need be; 0 after an
// error. `what`: for the message.
Id fit_value(MachineBuilder *, Val, const Type *own, Span, const char *what);
int own_state(const MachineBuilder *, Name); // its number; -1: none
void add_change(MachineBuilder *, Change);
void always(MachineBuilder *, ChangeKind, uint32_t at, Id value, Span); // in every mode
uint32_t last_change(const MachineBuilder *, ChangeKind, uint32_t at);  // its number + 1; 0: none
Value eval_typed(MachineBuilder *, Env *, const Syntax *brackets, const Syntax *expr,
                 const Syntax *pad, const Type *own,
                 Span);                                // like eval_equation; labels by their names
void bind_port(MachineBuilder *, Name, Id wire, Span); // its value, which cannot be given anew
void add_in_ports(MachineBuilder *, Env *, const Syntax *params, uint64_t modes);
void add_out_ports(MachineBuilder *, Env *, const Syntax *result, uint64_t modes);
bool is_simplex_type(MachineBuilder *, const Syntax *type);
Val new_state(MachineBuilder *, Name, Type own, Init, Span); // the last one of `own` and `held`
void add_states(MachineBuilder *, Env *, const Syntax *states);
typedef struct {
  const Syntax *cond, *brackets;
  const Type *own; // of what the brackets belong to
  int mode;
  const Syntax *value;                                 // of the line
} Condition;                                           // without brackets: one for all places
Id condition_wire(MachineBuilder *, Env *, Condition); // a bit, or bits; 0 after an error
Id guard_wire(MachineBuilder *, Env *, Condition);     // as_root, only in the mode
void add_event(MachineBuilder *, SystemEvent, uint32_t state, Id value, Id named);
void make_block(MachineBuilder *, Env *, const Syntax *block, int mode);

// starts.c
Init state_start(MachineBuilder *, Env *, const Syntax *typed, const Type *own);
Init start_for_all(MachineBuilder *, Init, const Type *own); // the same for every member of arrays
bool says_places(MachineBuilder *, const Syntax *typed);    // of a state that another line declares
bool start_is_clear(MachineBuilder *, const Syntax *typed); // false with a diagnostic

// places.c
typedef enum { MEET_NEVER, MEET_PERHAPS, MEET_SURELY } Meeting;
LinePlaces line_places(MachineBuilder *, Env *, const Syntax *brackets, const Syntax *value,
                       const Syntax *pad, const Type *own);
// The same as `what`, and as far as the value goes: at the places of a[i+1] = value, each has one.
Syntax *over_places(MachineBuilder *, const Syntax *brackets, const Syntax *value, const Type *own,
                    const Syntax *what);
// The places that a line names as bits that need none of its values, where its indices, which are
// `brackets` now, stand alone.
Id named_between(MachineBuilder *, const Syntax *brackets, const LinePlaces *, const Type *own);
// Do two lines name one place? `where`: the first such, "[0 1]"; "": not known, or all of them.
Meeting places_meet(MachineBuilder *, const LinePlaces *, const LinePlaces *, const Type *own,
                    const char **where);
// What n lines leave out, "place [2]"; "": that depends on what is not known; NULL: nothing.
const char *places_left(MachineBuilder *, const LinePlaces *, uint32_t n, const Type *own);
bool binds_index(const Syntax *call, Name); // sum[i](…): is it one that reduces this index?
// Does the condition ask for each place, by indices of the left side?
bool condition_for_each(MachineBuilder *, const Syntax *brackets, const Syntax *cond,
                        const Type *own);

// writers.c
// What a thing becomes, from all that is said of it: what holds; else `base`, else 0.
Id fold_changes(MachineBuilder *, ChangeKind, uint32_t at, Id base, const Type *own,
                const char *what);
typedef struct {
  PlaceLines line;
  Id base; // what the other places have; 0: there are none
  const Type *own;
  uint32_t number; // that no other has
  const char *what;
  Span span;
} PlacesSaid;
Id said_by_places(MachineBuilder *, const PlacesSaid *); // the whole; 0 after an error
void note_writers(MachineBuilder *, uint32_t state);     // lines that may set one place at one tick
void note_sharers(MachineBuilder *, uint32_t port);      // the same of a variable that is shared

// modes.c
bool add_modes(MachineBuilder *, const Syntax *block); // false: there are too many
void make_modes(MachineBuilder *);                     // their lines
Val in_mode(MachineBuilder *, int mode, Span);         // a bit
uint64_t mode_bits(const MachineBuilder *, int mode);  // the labels that it stands for
const char *mode_words(MachineBuilder *, int mode);    // " in mode `on.hot`"
void do_jump(MachineBuilder *, Env *, const Syntax *, int mode);

// mode_places.c
bool mode_says_places(MachineBuilder *, const Syntax *block, const Syntax *line); // of a port
void mode_places(MachineBuilder *, Env *, const Syntax *block, int mode);

// periods.c: how often parts tick
void read_period(MachineBuilder *, const Syntax *part, Part *out); // N_PART
bool period_fits(MachineBuilder *, const Part *);                  // with what is in the part

// lives.c: what has stopped, and parts that are born and die
void add_life(MachineBuilder *);                       // the ports that say it, behind the others
Id live_rate(MachineBuilder *, uint32_t own, Id rate); // what a state becomes; 0: it stays
Id live_next(MachineBuilder *, uint32_t own, Id next);
Id live_guard(MachineBuilder *, Id guard, const Type *own);
Id live_shown(MachineBuilder *, const Type *, Id wire);
void live_learned(MachineBuilder *, Learned *);
void live_learnt(MachineBuilder *); // once they are woven: states that learn, and their optimisers'
void halt_with_parts(MachineBuilder *, Id *const *map);   // [part + 1] where its wires went
void add_birth(MachineBuilder *);                         // the event, once all states are known
PartLife part_life(MachineBuilder *, const Syntax *part); // N_PART, or NULL
void add_life_routes(MachineBuilder *, const Syntax *block,
                     void (*add)(MachineBuilder *, const Syntax *));
bool live_share(MachineBuilder *, const System *, Span); // may it be called in this wiring?

// line_order.c: the statements of a block, what is read behind what makes it
typedef VEC(const Syntax *) LineNodes;
bool order_statements(MachineBuilder *, const LineNodes *,
                      LineNodes *out); // false: they need each other

// kept_lines.c: those lines that a check or show asks for become wires
void keep_lines(MachineBuilder *, Env *, const LineNodes *, int mode);

// for_lines.c
// Every `for` as the lines that it copies. False: after an error, or sizes are open.
bool write_out_loops(MachineBuilder *);
Syntax *with_loop_number(World *, const Syntax *, Name, double);
Name member_name(MachineBuilder *, Name, const Syntax *brackets); // p[2]; 0: not by numbers

// parts.c
typedef struct {
  Def *def;
  const Syntax *config; // its brackets
  Env *env;             // in which they are read
} Called;
Called machine_called(MachineBuilder *, const Syntax *use);
System *part_system(MachineBuilder *, const Called *, const Part *array, PartLife, Span);
Type seen_type(MachineBuilder *, const Part *, const Type *own); // what the lens sees of a port
Name dotted_name(World *, Name part, Name port);
void add_part(MachineBuilder *, Part);
bool make_parts(MachineBuilder *, const Syntax *block); // N_PART, and shares that are called
bool flat_fits(MachineBuilder *, uint64_t wires);       // false: too many, which is said

// shares.c
void sharing_part(MachineBuilder *, const Syntax *call);
Id joined(MachineBuilder *, uint32_t junction); // the sum of what its members add; 0: none

// routes.c
Syntax *with_ports(MachineBuilder *, const Syntax *);  // p.y and p[i].y as names
const Syntax *route_brackets(const Syntax *route);     // of its target
Syntax *place_route(MachineBuilder *, const Syntax *); // y[0] = …; NULL: it is another line
void gather_routes(MachineBuilder *, const Syntax *block,
                   LineNodes *out);                    // equations in their place, to `out`
Id placed_value(MachineBuilder *, const LineTarget *); // of a port whose places are said by lines
void take_routes(MachineBuilder *, Env *);             // what the parts' ports get

// route_places.c
typedef enum { PLACE_NUMBER, PLACE_INDEX, PLACE_OPEN, PLACE_OTHER } PlaceKind; // 2, i, n-1, i+1
PlaceKind place_kind(MachineBuilder *, const Type *of_target, const Syntax *item);
Type target_type(MachineBuilder *, const LineTarget *);
void settle_places(MachineBuilder *, LineTarget *);
// y[i+1] = x[i] as y[i] = x[i-1], which says the same at the places that the line names; so what needs
// what is seen place by place. Another line stays as it is.
PlaceLine line_moved(MachineBuilder *, const PlaceLine *, const Type *own);
bool counts_at(const LineTarget *, uint32_t axis); // some wire leads there by number
Name counting_index(World *, uint32_t axis);       // that wires have there then

// sources.c
bool port_of_part(MachineBuilder *, Name, PortEnd *); // p.y as the port; false: it is another name
void check_targets(MachineBuilder *);                 // every port has one source

// delays.c: the box `delay`
Value delay_value(const BuiltinUse *);

// constraints.c: equations 0 = …
void add_constraint(MachineBuilder *, Env *, const Syntax *, int mode);
void settle_constraints(MachineBuilder *);

// chance.c: the box `white`
Value white_value(const BuiltinUse *);

// learned.c: learners and states that learn
void free_indices(MachineBuilder *, Env *, const Syntax *, Ids *out); // names in brackets, unknown
void find_learners(MachineBuilder *);                                 // those that it has a copy of
bool declares_learner(MachineBuilder *, const Syntax *); // one of these, in its own text
void do_learn(MachineBuilder *, Env *, const Syntax *);  // next w by gd(0.1) on e
bool find_weights(MachineBuilder *);                     // what of the lens they are
bool learn_states(MachineBuilder *, Program *);          // once everything is woven together
void no_state(MachineBuilder *, Name, Span);

// learn.c: a choice between wires of the woven system, by a bit that has the axes of arrays only
Id woven_choice(World *, Diagram *, Id cond, Id yes, Id no);

// unroll.c: the loss over the last ticks, with the weights as they are. Inputs: the ports, then what
// `more` holds. NULL with a diagnostic.
Diagram *unrolled_loss(MachineBuilder *, const Learned *, Ids *more);

// describe.c
void describe_routes(MachineBuilder *);

// system.c
bool weave_system(MachineBuilder *); // lens and parts into one

#endif
