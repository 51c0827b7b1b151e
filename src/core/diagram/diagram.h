// diagram: the typed intermediate representation. Depends on neither the language nor the file formats.
// Headers beside it: ops.h (scalar functions), interpret.h, print.h, each.h and subst.h.
//
//   World *w = world_new(arena);
//   Diagram *d = diagram_new(w, name_from(w->names, "double"));
//   Id x = diagram_input(w, d, type_make(w, BASE_R, 1, &(Axis){.size = size_of(w, 3)}), name, 0);
//   ... box_loop(w, d, loop, &x, 1, type, origin) ...
//   diagram_output(w, d, y);
//   diagram_eval(w, d, &(Eval){...});
//
// A diagram is an open hypergraph (a string diagram): boxes in topological order over wires in SSA
// form, each wire with one producer. A wire that is read twice is copied; a wire that nothing reads
// is discarded. References are indices into the diagram's tables; index 0 means none. A pass takes
// a diagram and returns a new one; it never changes its argument.
#ifndef LIMN_CORE_DIAGRAM_DIAGRAM_H
#define LIMN_CORE_DIAGRAM_DIAGRAM_H

#include "base/base.h"

typedef struct World World;
typedef struct Diagram Diagram;
typedef struct Tensor Tensor; // interpret.h
typedef struct Eval Eval;     // interpret.h

// -- size.c ---------------------------------------------------------------------------------------
// A size is a polynomial with rational coefficients over atoms (variables, floor quotients,
// powers). Sizes are kept in normal form and interned, so equal sizes have equal ids. A size
// variable may be bound to a size later.
typedef Id Size; // 0 = absent

// size_equate never solves for VAR_SAMPLE (the number of samples) or VAR_SPACE (the dimension of an
// open space).
typedef enum { VAR_AXIS, VAR_LOCAL, VAR_INDEX, VAR_SAMPLE, VAR_SPACE } VarKind;
typedef enum { SIZES_EQUAL, SIZES_SOLVED, SIZES_OPEN, SIZES_CLASH } SizeAnswer;

Size size_of(World *, int64_t);
Size size_fraction(World *, int64_t num, int64_t den);
Size size_var(World *, Name, VarKind, Span);
Size size_add(World *, Size, Size);
Size size_sub(World *, Size, Size);
Size size_mul(World *, Size, Size);
Size size_quotient(World *, Size, Size); // exact division; 0 if the divisor is 0
Size size_floor(World *, Size, Size);    // floor division; 0 if the divisor is 0
Size size_power(World *, Size, Size);
Size size_now(World *, Size);              // the size with bound variables substituted
bool size_value(World *, Size, int64_t *); // true if the size is a constant integer
bool size_number(World *, Size, double *); // true if the size is a constant, possibly a fraction
// True if a variable that existed at the previous call has been bound since then.
bool sizes_settle(World *);
bool size_too_large(World *, Size);       // a coefficient overflowed, or a limit was exceeded
bool size_is_var(World *, Size, Id *var); // true if the size is one unbound variable
void size_vars(World *, Size, Ids *);     // appends the unbound variables, each once
Name size_var_name(const World *, Id var);
VarKind size_var_kind(const World *, Id var);
Span size_var_span(const World *, Id var);
void size_var_bind(World *, Id var, Size);
// Finds a VAR_SPACE variable in the size.
bool size_open_space(World *, Size, Id *var);
// Unifies two sizes: binds a variable if exactly one unknown occurs, once and linearly. If `free`,
// two lone variables are unified too; otherwise an equation with two unknowns stays SIZES_OPEN.
SizeAnswer size_equate(World *, Size, Size, bool free);
Size size_subst(World *, Size, Id var, Size value); // substitutes one variable
// Evaluates the size; value_of_var[variable] is NAN if unknown. Used by the cost model and for
// lengths at run time. False if a needed variable is unknown.
bool size_at(World *, Size, const double *value_of_var, double *out);
uint32_t size_var_count(const World *);
void size_print(World *, Size, Buf *);
// With other names for the variables; terms are sorted by their text.
void size_print_as(World *, Size, const char *const *var_name, Buf *);
const char *size_text(World *, Size); // in the world's arena

// -- type.c ---------------------------------------------------------------------------------------
typedef enum { BASE_NONE, BASE_R, BASE_LABEL, BASE_BIT } Base;
enum { PASS_SAMPLE = 1 }; // the sample axis; other batch axes are numbered from 2

typedef struct {
  Name label; // 0 = no label
  Size size;
  Id decl;       // the `axis` declaration of the label, or 0
  uint32_t pass; // 0: an axis of the wire itself; k > 0: batch axis k of the whole diagram
} Axis;

typedef struct {
  uint8_t base;
  Size count; // BASE_LABEL: the number of labels (classes)
  Id names;   // BASE_LABEL: the entry of World.label_names, or 0
  uint32_t rank;
  Axis *axis;
} Type;

Type type_make(World *, Base, uint32_t rank, const Axis *); // copies the axes
Type type_label(World *, Size count, uint32_t rank, const Axis *);
// Compares bases and sizes, ignores axis labels.
bool type_equal(World *, const Type *, const Type *);
void type_print(World *, const Type *, Buf *); // R[y k], {10}[t], B[8]
const char *type_text(World *, const Type *);
// True, with a diagnostic, if the type has the dimension of an open space.
bool type_over_open(World *, const Type *, Span);
// The number of elements; false if not constant or not representable.
bool type_count(World *, const Type *, int64_t *);

// boxes.def: a row for each operation of a box
typedef enum {
  OP_NONE,
#define BOX(name, doc) OP_##name,
#include "core/diagram/boxes.def"
#undef BOX
  OP_COUNT
} Op;

typedef struct {
  uint8_t fn, base;
  uint32_t arg[3]; // indices of earlier scalars of the same loop
  uint32_t ref;
  double k;
} Scalar;

// -- diagram.c ------------------------------------------------------------------------------------
// loop: the only arithmetic primitive, a loop nest with affine accesses.
//
//   out[A0(n)] (+)= body(in_1[A1(n)], …, at(n))     over every point n of the iteration domain
//                                                   for which every access is in bounds
//
// The iteration domain is the box 0 <= index < size for each index. A point with an out-of-bounds
// access is skipped, unless the access is padded: a padded operand reads `pad` there. An operand
// that the body does not mention still guards: its bounds restrict the live points. The first value
// stored into a cell replaces its content; later values are combined with it. A cell that no point
// writes holds the identity of the combine. A coordinate is c + Σ coef·index + Σ coef·operand (a
// gather or scatter); such an operand is a label wire that stands earlier in the list of operands.
// MAX, MIN and PROD require each output coordinate to be an index of its own. MAX and MIN have one
// more result for each reduced index, in the order of the indices: the argmax or argmin, as a label
// (ties: the first; NaN wins).
typedef enum {
  SUM,  // over bits: xor
  PROD, // over bits: and
  MAX,  // over bits: or
  MIN   // over bits: and
} Combine;

typedef struct {
  Name name;
  Size size;
} Index;

typedef struct {
  Size coef;
  uint32_t var; // an index, or an operand if `operand`
  bool operand;
} Term;

typedef struct {
  Size c;
  uint32_t n;
  Term *term;
} Coord;

typedef struct {
  uint32_t rank; // equals the rank of the wire
  Coord *coord;
  bool padded;
  double pad;
} Access;

typedef struct {
  Combine combine;
  uint32_t nindex, nin, nscalar;
  Index *index;
  Access *in; // one access per input wire of the box
  Access out;
  Scalar *scalar; // in SSA form; the last is the body's value
} Loop;

typedef enum { NOISE_NORMAL, NOISE_UNIFORM } Noise;
typedef struct {
  Noise noise;
  uint64_t site; // identifies the use: a hash of the path of names
} Random;

// scan: repeats the body along the first axis of the slices (as jax.lax.scan).
//   box in:    slices [t …], carries, holds, then the body's params
//   body in:   slices […], carries, holds
//   body out:  carries, then emitted […]
//   box out:   last carries, then emitted [t …]
// Holds are loop-invariant inputs: every step reads the same value.
typedef struct {
  Diagram *body;
  uint32_t slice, carry, hold;
  Index axis;
  bool back; // runs from the last position to the first
} Scan;

// One iteration of a `for` loop of the program that elaboration unrolled. Boxes record it, so that
// a picture can draw the loop once; no pass depends on it.
typedef struct {
  Id first;  // the first iteration of the same loop
  Id parent; // the iteration of the enclosing loop; 0: none
  Name name; // the loop variable; 0: none
  int64_t value;
} LoopTurn;

typedef struct {
  uint8_t op;
  uint32_t nin, nout;
  Id *in, *out;
  Id origin;
  Id turn; // index into World.turn
  // OP_call of a noisy diagram: the path prefix that site_join puts before the sites inside.
  uint64_t site;
  union {
    Loop *loop;      // OP_loop
    Random *random;  // OP_random; has no inputs
    Scan *scan;      // OP_scan
    Diagram *callee; // OP_call; in: arguments, then params; out: results, then next values
    // OP_join: the axis of concatenation. OP_order: the axis of the (stable, ascending) argsort.
    uint32_t axis;
  };
} Box;

typedef struct {
  Type type;
  Name name;
  Id origin;
  Id box;        // the producer; 0 = an input or param
  uint32_t port; // which output of `box`
  Name kept;     // the name under which an unrolled iteration exposes the wire (`name[i]`); 0: none
} Wire;

typedef enum {
  INIT_NONE,
  INIT_CONST,
  INIT_NORMAL,
  INIT_UNIFORM,
  INIT_GLOROT,
  INIT_HE,
  INIT_ORTHOGONAL,
  INIT_DIAGRAM,
  INIT_DATA
} InitKind;
typedef struct {
  InitKind kind;
  double k;             // INIT_CONST: the value
  Size fan_in, fan_out; // used by INIT_GLOROT and INIT_HE
  Diagram *diagram;     // INIT_DIAGRAM: has no inputs and one output
  const double *data;   // INIT_DATA: the values, row-major
  // A stale copy: the path of the param whose initial value it shares; or NULL.
  const char *as;
  // A copy in a machine: the learner's own path, where trained weights are found; or NULL.
  const char *of;
  // The first `members` axes enumerate members, each initialised independently.
  uint32_t members;
} Init;

typedef enum {
  ROLE_WEIGHT, // learned
  ROLE_BUFFER, // state
  ROLE_CLOCK,  // a step counter
  ROLE_CONST   // written in the program
} Role;
typedef struct {
  const char *path; // as in "dense.1/linear/W"
  bool rooted;      // the path starts at a learner of the program, not at this diagram
  Id home;          // during elaboration: the body whose learner owns the param; 0 = this one
  Role role;
  Id wire;
  Id next;       // the wire with the value for the next step, or 0
  uint32_t uses; // `next` is the mean of the values that so many uses propose
  Init init;
} Param;

typedef struct { // an option in brackets, as in `conv[16, stride: 2]`
  Name name;
  uint32_t nsize;
  Size *size;       // one size or several
  Name *label;      // the axis label of each size, or NULL
  const char *text; // a number, a word or the name of a box; NULL: see `size`
  bool by_default;  // true: the default of the header was used
} Option;

struct Diagram {
  Id id; // index into World.diagram
  Name name;
  Id origin;
  VEC(Wire) wire;     // wire.at[0] is unused
  VEC(Box) box;       // in topological order
  Ids in, out;        // the boundary
  VEC(Name) out_name; // the header's names for results; may be shorter than `out`; 0: no name
  VEC(Param) param;
  Table *param_table; // path to index + 1
  VEC(Option) option; // for display only
  bool noisy;         // contains a random box, directly or in a callee or scan body
  Id turn;            // the iteration recorded in boxes that are added
  // A custom reverse derivative (VJP) of the user: (in, cotangents of out) -> cotangents of in.
  // NULL: none.
  Diagram *reverse;
};

typedef enum { WHY_SOURCE, WHY_EXPANDED, WHY_REVERSE, WHY_FORWARD, WHY_SIMPLIFIED } Why;
typedef struct {
  Span span;
  Id parent;
  Why why;
} Origin;

typedef struct Sizes Sizes;
struct World {
  Arena *arena;
  Names *names;
  Sources *sources;
  Diags *diags;
  Sizes *sizes;
  VEC(Origin) origin;     // origin.at[0]: unknown
  VEC(LoopTurn) turn;     // turn.at[0]: outside every loop
  VEC(Diagram *) diagram; // diagram.at[0] is unused
  // Diagrams with smaller ids need no substitution (see diagrams_resolve).
  Id resolved;
  VEC(Ids) label_names; // lists of label names; [0] is unused
  // Compilation failed: do not retry; the warning about the cache folder was given.
  bool cc_failed, cc_warned;
  bool threads_warned; // the warning about missing threads was given
  bool device_full;    // the engine opened last did not fit into device memory
};

World *world_new(Arena *);
Id origin_new(World *, Span, Id parent, Why);
Span origin_span(const World *, Id);       // the nearest enclosing span in a source
bool origin_is_reverse(const World *, Id); // made by reverse differentiation

Id turn_new(World *, Id first, Id parent, Name, int64_t value); // first: 0 for the first iteration
Id turn_common(const World *, Id, Id);                          // the innermost common iteration

Diagram *diagram_new(World *, Name);
Id diagram_input(World *, Diagram *, Type, Name, Id origin);
void diagram_output(World *, Diagram *, Id wire);
void diagram_output_as(World *, Diagram *, Id wire, Name); // with the header's name, or 0
// Adds the outputs of `from`, with their names; map[wire of from] is the wire of this diagram.
void diagram_outputs(World *, Diagram *, const Diagram *from, const Id *map);
Name diagram_output_name(const Diagram *, uint32_t i); // the header's name, or 0
// The unique external name of a result: the header's name, otherwise the name of the wire. 0 if
// neither exists or the name is taken; diagram_result_text then gives `out` or `out.2`.
Name diagram_result(const Diagram *, uint32_t i);
const char *diagram_result_text(const World *, Arena *, const Diagram *, uint32_t i);
// Adds a param (weight, state, clock or constant); a param with the same path is shared. Returns
// the index of the param, whose .wire is filled in.
uint32_t diagram_param(World *, Diagram *, Param, Type, Name, Id origin);
Id diagram_wire(World *, Diagram *, Type, Name, Id origin);
// Each box_… function adds a box and its output wires, and returns the first output wire; the
// others have the following ids.
Id box_loop(World *, Diagram *, const Loop *, const Id *in, uint32_t nin, Type out, Id origin);
Id box_call(World *, Diagram *, Diagram *callee, const Id *in, uint32_t nin, Id origin);
Type type_along(World *, Type, const Index *); // the type with one more axis in front
Id box_scan(World *, Diagram *, const Scan *, const Id *in, uint32_t nin, Id origin);
Id box_join(World *, Diagram *, uint32_t axis, const Id *in, uint32_t nin, Id origin);
Id box_order(World *, Diagram *, uint32_t axis, Id in, Id origin);
Id box_random(World *, Diagram *, Noise, uint64_t site, Type, Id origin);

// Builders for loops. All arrays are allocated in the world's arena.
Coord coord_index(World *, uint32_t index); // the coordinate `index`
Coord coord_const(World *, Size);
Coord coord_add(World *, Coord, Size coef, uint32_t var, bool operand);
Access access_plain(World *, uint32_t rank, const uint32_t *index); // coordinate i is index[i]
bool coord_is_plain(World *, const Coord *, uint32_t *index);
Loop *loop_copy(World *, const Loop *);
// The number of argmax or argmin results.
uint32_t loop_winners(World *, const Loop *);
// True if the index is no output coordinate.
bool loop_is_reduced(World *, const Loop *, uint32_t index);
uint32_t scalar_push(World *, Loop *, Scalar); // appends a scalar, returns its index

// box_loop without copying the loop. A loop must not be changed once a box holds it.
Id box_loop_shared(World *, Diagram *, Loop *, const Id *in, uint32_t nin, Type out, Id origin);
uint32_t call_outputs(const Diagram *callee); // the number of results and next values
void diagram_resolve(World *, Diagram *);     // substitutes bound size variables, in place
void diagrams_resolve(World *);               // the same in all diagrams, which must be complete

uint64_t site_hash(uint64_t parent, const char *name);
// Concatenates two paths; associative, and 0 is the empty path.
uint64_t site_join(uint64_t outer, uint64_t inner);
// The site of a box at one position of the enclosing scan.
uint64_t site_step(uint64_t site, uint64_t position);

bool loop_reads_index(const Loop *, uint32_t index); // true if the body uses at(index)
// True if an output coordinate uses the index.
bool loop_writes_index(const Loop *, uint32_t index);
// Marks the operands whose labels are coordinates.
void access_mark_labels(const Access *, bool *operand);
Id diagram_source(const Diagram *, uint32_t i); // the wire of input i, or of param i - in.n

#endif
