// diagram: the typed diagram, its meaning and its calculus. Knows no language and no files.
//
//   World *w = world_new(arena);
//   Diagram *d = diagram_new(w, name_from(w->names, "double"));
//   Id x = diagram_input(w, d, type_make(w, BASE_R, 1, &(Axis){.size = size_of(w, 3)}), name, 0);
//   ... box_loop(w, d, loop, &x, 1, type, origin) ...
//   diagram_output(w, d, y);
//   diagram_eval(w, d, &(Eval){...});
//
// A diagram is an open hypergraph: boxes in topological order over wires with one producer each. A
// wire read twice is copied, one read by nothing is discarded. Everything refers by index; index 0
// is none. Passes take a diagram and give a new one; they never change their argument.
#ifndef LIMN_CORE_DIAGRAM_DIAGRAM_H
#define LIMN_CORE_DIAGRAM_DIAGRAM_H

#include "base/base.h"

typedef struct World World;
typedef struct Diagram Diagram;

// -- size.c ---------------------------------------------------------------------------------------
// A size is a polynomial with rational coefficients over atoms (variables, floor quotients, powers),
// in normal form and interned: equal sizes have equal ids. A variable may later be bound to a size.
typedef Id Size; // 0 = absent

// The number of samples, and the length of a point of an open space, are never solved for.
typedef enum { VAR_AXIS, VAR_LOCAL, VAR_INDEX, VAR_SAMPLE, VAR_SPACE } VarKind;
typedef enum { SIZES_EQUAL, SIZES_SOLVED, SIZES_OPEN, SIZES_CLASH } SizeAnswer;

Size size_of(World *, int64_t);
Size size_fraction(World *, int64_t num, int64_t den);
Size size_var(World *, Name, VarKind, Span);
Size size_add(World *, Size, Size);
Size size_sub(World *, Size, Size);
Size size_mul(World *, Size, Size);
Size size_quotient(World *, Size, Size); // exact; 0 when the divisor is 0
Size size_floor(World *, Size, Size);    // rounded down; 0 when the divisor is 0
Size size_power(World *, Size, Size);
Size size_now(World *, Size);              // with every bound variable replaced
bool size_value(World *, Size, int64_t *); // a constant integer?
bool size_number(World *, Size, double *); // a constant, perhaps a fraction?
bool sizes_settle(World *);         // was a variable bound since the last time that was there then?
bool size_too_large(World *, Size); // left the range of 64-bit integers
bool size_is_var(World *, Size, Id *var); // a single unbound variable?
void size_vars(World *, Size, Ids *);     // unbound variables in it, each once
Name size_var_name(const World *, Id var);
VarKind size_var_kind(const World *, Id var);
Span size_var_span(const World *, Id var);
void size_var_bind(World *, Id var, Size);
bool size_open_space(World *, Size, Id *var); // is there the length of an open space in it?
// Makes two sizes equal if it can: binds a variable when exactly one occurs, once, linearly. With
// `free` two lone variables are identified; without it two unknowns stay open.
SizeAnswer size_equate(World *, Size, Size, bool free);
Size size_subst(World *, Size, Id var, Size value); // one variable replaced
// The value under an assignment of variables to numbers (for cost and for run-time lengths).
bool size_at(World *, Size, const double *value_of_var, double *out);
uint32_t size_var_count(const World *);
void size_print(World *, Size, Buf *);
void size_print_as(World *, Size, const char *const *var_name,
                   Buf *);            // under other names, in the order of the text
const char *size_text(World *, Size); // in the world's arena
// Terms of the polynomial, for printing costs: calls back with coefficient and factors in order of
// degree.

// -- type.c ---------------------------------------------------------------------------------------
typedef enum { BASE_NONE, BASE_R, BASE_LABEL, BASE_BIT } Base;
enum { PASS_SAMPLE = 1 }; // the sample axis; other passing axes count from 2

typedef struct {
  Name label; // 0 = no label
  Size size;
  Id decl;       // the `axis` declaration the label comes from, or 0
  uint32_t pass; // 0: the wire's own; k: the k-th axis that passes over the whole diagram
} Axis;

typedef struct {
  uint8_t base;
  Size count; // BASE_LABEL: how many labels
  Id names;   // BASE_LABEL: their names (an entry of World.label_names), or 0
  uint32_t rank;
  Axis *axis;
} Type;

Type type_make(World *, Base, uint32_t rank, const Axis *); // copies the axes
Type type_label(World *, Size count, uint32_t rank, const Axis *);
bool type_equal(World *, const Type *, const Type *); // base and sizes; labels do not matter
void type_print(World *, const Type *, Buf *);        // R[y k], {10}[t], B[8]
const char *type_text(World *, const Type *);
bool type_over_open(World *, const Type *, Span); // of an open space: true with a diagnostic
bool type_count(World *, const Type *,
                int64_t *); // number of elements, if constant and representable

// -- ops.def, ops.c -------------------------------------------------------------------------------
// Scalar functions are rows of ops.def; so are the boxes.
typedef enum {
  FN_CONST, // k
  FN_ARG,   // the value of operand `ref`
  FN_AT,    // the position of index `ref`
  FN_SIZE,  // the size `ref` as a number
#define S(name, ...) FN_##name,
#define P(...)
#include "core/diagram/ops.def"
#undef S
#undef P
  FN_COUNT
} Fn;

typedef enum {
  OP_NONE,
#define S(...)
#define P(name, ...) OP_##name,
#include "core/diagram/ops.def"
#undef S
#undef P
  OP_COUNT
} Op;

typedef enum {
  UNIT_UNKNOWN,
  UNIT_OF_PURE,      // arguments and result are pure numbers
  UNIT_OF_ARGUMENTS, // all of one unit
  UNIT_ROOT          // the square root of the argument's unit
} FnUnit;
typedef struct {
  const char *name;
  const char *sig; // "RR>R"; * is any base, the same everywhere
  uint32_t arity;
  double (*value)(double a, double b, double c); // NULL for leaves
  const char *text;                              // the same as a C expression of a, b, c
  const char *d[3]; // derivative by each argument, as text: a b c arguments, y result, g cotangent;
                    // NULL = none
  uint32_t flops;
  const char *glyph;
  double low, high;  // where to test
  const char *kinks; // "0" or "0,1": not here; NULL if smooth
  const char *doc;
  const char *written;      // in the language, where that is not the name: "+"
  const char *least, *most; // bounds, as text: a A, b B, c C are those of the arguments; NULL: none
  FnUnit unit;
  const char *onnx;        // the same in operators of ONNX: "Sub(Exp(a), 1)"
  const char *torch, *jax; // and in Python: "T.tanh($0)"; jax: NULL: as for PyTorch
} FnRow;
extern const FnRow fn_rows[FN_COUNT];
Fn fn_find(const char *name); // FN_COUNT when there is none
void ops_markdown(Buf *);     // the page docs/ops.md

typedef struct {
  uint8_t fn, base;
  uint32_t arg[3]; // earlier entries
  uint32_t ref;
  double k;
} Scalar;

// -- diagram.c ------------------------------------------------------------------------------------
// loop: the one primitive of arithmetic.
//
//   out[A0(n)] (+)= body(in_1[A1(n)], …, at(n))     over every point n of the range of the indices
//                                                   for which every access is in bounds
//
// A point with an access out of bounds is skipped, unless that operand is padded: then it reads the
// pad. An operand that the body does not mention still guards. The first hit of a cell is stored,
// further ones are combined; untouched cells hold the combine's identity. A coordinate is
// c + Σ coef·index + Σ coef·operand, the operand being a label wire that stands earlier in the list
// of operands. max, min and prod want every output coordinate to be a plain index of its own. max
// and min have one more result for each reduced index, in the order of the indices: its winner, as
// a label (the first in that order; NaN wins).
typedef enum {
  SUM,
  PROD,
  MAX,
  MIN
} Combine; // over B: SUM is xor, PROD is and, MAX is or, MIN is and

typedef struct {
  Name name;
  Size size;
} Index;

typedef struct {
  Size coef;
  uint32_t var; // an index, or an operand
  bool operand;
} Term;

typedef struct {
  Size c;
  uint32_t n;
  Term *term;
} Coord;

typedef struct {
  uint32_t rank; // = rank of the wire
  Coord *coord;
  bool padded;
  double pad;
} Access;

typedef struct {
  Combine combine;
  uint32_t nindex, nin, nscalar;
  Index *index;
  Access *in; // one for each input wire of the box
  Access out;
  Scalar *scalar; // in order; the last is the body's value
} Loop;

typedef enum { NOISE_NORMAL, NOISE_UNIFORM } Noise;
typedef struct {
  Noise noise;
  uint64_t site; // which use this is: a hash of the path of names
} Random;

// scan: the body repeated along the first axis of the slices.
//   box in:    slices [t …], carries, holds, then the body's params
//   body in:   slices […], carries, holds
//   body out:  carries, then emitted […]
//   box out:   last carries, then emitted [t …]
typedef struct {
  Diagram *body;
  uint32_t slice, carry, hold;
  Index axis;
  bool back; // from the last to the first
} Scan;

// One time round a loop that was written out. Boxes remember it, so that a picture can draw once
// what the program says once; it means nothing else.
typedef struct {
  Id first;  // the first turn of the same loop
  Id parent; // the turn that the loop itself stands in; 0: none
  Name name; // the loop's variable; 0: it has none
  int64_t value;
} LoopTurn;

typedef struct {
  uint8_t op;
  uint32_t nin, nout;
  Id *in, *out;
  Id origin;
  Id turn; // World.turn
  uint64_t
      site; // OP_call of a noisy diagram: which use this is; it stands in front of the sites inside
  union {
    Loop *loop;      // OP_loop
    Random *random;  // OP_random: no inputs
    Scan *scan;      // OP_scan
    Diagram *callee; // OP_call: in = arguments, then params; out = results, then next values
    uint32_t axis;   // OP_join: joined along this axis;  OP_order: sorted along this axis (stable,
                     // ascending)
  };
} Box;

typedef struct {
  Type type;
  Name name;
  Id origin;
  Id box;        // its producer; 0 = boundary
  uint32_t port; // which output of it
  Name kept;     // the name under which a turn of a loop keeps it for others; 0: it does not
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
  Size fan_in, fan_out; // INIT_GLOROT, INIT_HE
  Diagram *diagram;     // INIT_DIAGRAM: no inputs, one output
  const double *data;   // INIT_DATA: the numbers themselves, row-major
  const char *as;       // a stale copy: it begins as the param of this path does; otherwise NULL
  const char *of;       // a machine's copy: the learner's own path, for trained weights; or NULL
  uint32_t members;     // that many axes in front count members, each of which begins for itself
} Init;

typedef enum {
  ROLE_WEIGHT,
  ROLE_BUFFER,
  ROLE_CLOCK,
  ROLE_CONST
} Role; // learned; state; step counters; written in the program
typedef struct {
  const char *path; // dense.1/linear/W
  bool rooted;      // the path starts at a learner of the program, not at this diagram
  Id home;          // while a program is checked: the body whose learner owns it; 0 = this one
  Role role;
  Id wire;
  Id next; // the wire that holds its next value, or 0
  Init init;
} Param;

typedef struct { // what a box was configured with, as in `conv[16, stride: 2]`
  Name name;
  uint32_t nsize;
  Size *size;       // a size, or a row of them
  Name *label;      // of each, where it is an axis; or NULL
  const char *text; // a number, a word or the name of a box; NULL: sizes
  bool by_default;  // nothing was written: it is the header's own
} Option;

struct Diagram {
  Id id; // position in World.diagram
  Name name;
  Id origin;
  VEC(Wire) wire;     // wire.at[0] is unused
  VEC(Box) box;       // box.at[0] is unused; producers before readers
  Ids in, out;        // the boundary, in order
  VEC(Name) out_name; // as the header calls results, in their order; fewer, or 0: it does not
  VEC(Param) param;
  Table *param_table; // path to number + 1
  VEC(Option) option; // for people: nothing depends on it
  bool noisy;         // there is a random box in it, or in what it calls
  Id turn;            // of the boxes that are being added
  Diagram *reverse; // the user's own reverse derivative: in, cotangents of out -> cotangents of in;
                    // or NULL
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
  VEC(Origin) origin;        // origin.at[0] is nowhere
  VEC(LoopTurn) turn;        // turn.at[0] is outside of every loop
  VEC(Diagram *) diagram;    // diagram.at[0] is unused
  Id resolved;               // those below it had no bound size variable when last looked at
  VEC(Ids) label_names;      // lists of names of labels; [0] is unused
  bool cc_failed, cc_warned; // the C compiler is not asked again; there was a word about its folder
  bool threads_warned;       // it was said that fewer could be started than were wanted
  bool no_room;              // a device had no room for what was opened last
};

World *world_new(Arena *);
Id origin_new(World *, Span, Id parent, Why);
Span origin_span(const World *, Id);       // the nearest place in a source
bool origin_is_reverse(const World *, Id); // made by a reverse derivative

Id turn_new(World *, Id first, Id parent, Name, int64_t value); // first: 0 for the first itself
Id turn_common(const World *, Id, Id); // the innermost turn that both stand in

Diagram *diagram_new(World *, Name);
Id diagram_input(World *, Diagram *, Type, Name, Id origin);
void diagram_output(World *, Diagram *, Id wire);
void diagram_output_as(World *, Diagram *, Id wire, Name); // as its header calls it; 0: it does not
// The results of another diagram, whose wires are these here, with their names.
void diagram_outputs(World *, Diagram *, const Diagram *from, const Id *map);
Name diagram_output_name(const Diagram *, uint32_t i); // of the header, or 0
// What a result is called outside, as no other one is: as the header says, or else its wire; 0 where
// neither does, and then its text is `out` or `out.2`.
Name diagram_result(const Diagram *, uint32_t i);
const char *diagram_result_text(const World *, Arena *, const Diagram *, uint32_t i);
// A weight or state as an extra input. The same path twice is the same wire.
uint32_t diagram_param(World *, Diagram *, Param, Type, Name,
                       Id origin); // its number; .wire is filled in
Id diagram_wire(World *, Diagram *, Type, Name, Id origin);
// Boxes. Outputs are made by these; the first one is returned, the others follow it in number.
Id box_loop(World *, Diagram *, const Loop *, const Id *in, uint32_t nin, Type out, Id origin);
Id box_call(World *, Diagram *, Diagram *callee, const Id *in, uint32_t nin, Id origin);
Type type_along(World *, Type, const Index *); // with one more axis, in front
Id box_scan(World *, Diagram *, const Scan *, const Id *in, uint32_t nin, Id origin);
Id box_join(World *, Diagram *, uint32_t axis, const Id *in, uint32_t nin, Id origin);
Id box_order(World *, Diagram *, uint32_t axis, Id in, Id origin);
Id box_random(World *, Diagram *, Noise, uint64_t site, Type, Id origin);

// Loops are put together with these; all arrays live in the world's arena.
Coord coord_index(World *, uint32_t index); // the index itself
Coord coord_const(World *, Size);
Coord coord_add(World *, Coord, Size coef, uint32_t var, bool operand);
Access access_plain(World *, uint32_t rank, const uint32_t *index); // one plain index for each axis
bool coord_is_plain(World *, const Coord *, uint32_t *index);
Loop *loop_copy(World *, const Loop *);
uint32_t loop_winners(World *, const Loop *);                // how many winner results it has
bool loop_is_reduced(World *, const Loop *, uint32_t index); // not a plain output coordinate
uint32_t scalar_push(World *, Loop *, Scalar);               // its number. Grows loop->scalar
uint32_t scalar_fn(World *, Loop *, Fn, uint32_t a, uint32_t b,
                   uint32_t c); // base by the row's signature

// box_loop without a copy of the loop; loops are not changed once they are in a box
Id box_loop_shared(World *, Diagram *, Loop *, const Id *in, uint32_t nin, Type out, Id origin);
uint32_t call_outputs(const Diagram *callee); // results and next values
void diagram_resolve(World *, Diagram *);     // every bound size variable replaced, in place
void diagrams_resolve(World *);               // in all that there are; they are whole

// -- text_names.c ---------------------------------------------------------------------------------
// What everything is called where a diagram is written down with all that it calls: each name once.
typedef VEC(const Diagram *) Diagrams;
typedef struct {
  Diagrams diagrams;    // callees first; those that are only reverses come last
  const char **diagram; // [Diagram.id] its unique text
  Ids vars;             // size variables in use, by number
  const char **var;     // [variable] its unique text; NULL when not in use
  Ids label_names;      // lists of names in use, in order of use
} Cast;
Cast *cast_of(World *, const Diagram *root);
const char *cast_size(World *, const Cast *, Size);
bool is_plain_name(const char *text); // needs no quotes
const char *name_unique(World *, Table *taken, Name);
Ids wires_in_order(World *, const Diagram *);      // inputs, params, then the outputs of the boxes
const char **wire_names(World *, const Diagram *); // [wire] its unique text
// The size variables that these mention, and what they call; in the order in which they were made.
Ids diagrams_sizes(World *, uint32_t n, const Diagram *const *root);

// -- text_print.c, scalar_text.c ------------------------------------------------------------------
void diagram_print(World *, const Diagram *, Buf *,
                   bool origins); // with all diagrams it calls, callees first
// One scalar expression, over the names given: also the syntax of the derivatives in ops.def.
bool scalar_read(World *, Loop *, const char *text, const char *const *name, const uint32_t *value,
                 uint32_t n, uint32_t *out);

// -- interpret.c: the meaning, in double precision ------------------------------------------------
typedef struct {
  uint32_t rank;
  int64_t *shape;
  int64_t count;
  double *data; // row-major; labels and bits are small integers
} Tensor;
typedef struct {
  Arena *arena; // results live here
  uint64_t seed, step;
  bool ticks;          // the step is the first tick of a row: noise in a scan counts from there
  const Tensor *in;    // one for each d->in
  const Tensor *param; // one for each d->param
  Tensor *out;         // filled: one for each d->out
  Tensor *next; // filled if not NULL: one for each param (those without a next are left alone)
  uint64_t multiplications; // counted: mul in loop bodies, at every point of the box
  const char *error;        // why it failed
} Eval;
Tensor tensor_new(Arena *, uint32_t rank, const int64_t *shape);
// Lengths of size variables are found from the shapes of the inputs. False with .error set; when memory
// is exhausted it goes to the last guard of the world.
bool diagram_eval(World *, const Diagram *, Eval *);
double noise_uniform(uint64_t seed, uint64_t step, uint64_t site,
                     uint64_t element); // Philox 4x32-10; in (0, 1)
double noise_normal(uint64_t seed, uint64_t step, uint64_t site, uint64_t element);
typedef struct {
  uint64_t seed, step, site;
} NoisePlace;
// The same numbers, those of n elements from `first` on: several times faster.
void noise_stretch(Noise, const NoisePlace *, int64_t first, int64_t n, double *to);
const char *init_fault(World *, const Type *); // why a weight of this type cannot begin
InitKind init_word(const char *); // what a word says of how a weight begins; INIT_NONE: nothing
bool init_eval(World *, Arena *, const Init *, const Type *, uint64_t seed, uint64_t site,
               Tensor *out);

// -- cells.c: first values whose cells do not need each other -------------------------------------
typedef struct InitCells InitCells;
// NULL: they do, or it cannot begin. The init outlives it.
const InitCells *init_cells(World *, Arena *, const Init *, const Type *, uint64_t seed,
                            uint64_t site);
int64_t init_cells_count(const InitCells *);
bool init_cells_zero(const InitCells *); // all of them, without a sign
// The cells from `first` on, as init_eval makes them; allocates nothing, in any thread.
void init_draw(const InitCells *, int64_t first, int64_t n, double *to);

uint64_t site_hash(uint64_t parent, const char *name);
uint64_t site_join(uint64_t outer,
                   uint64_t inner); // a path of two; associative, and 0 is the empty path
uint64_t site_step(uint64_t site,
                   uint64_t position); // the site of a box at one position of a scan around it

// -- subst.c: size variables replaced, one after the other ----------------------------------------
typedef struct {
  Id var;
  Size value;
} Replaced;
typedef VEC(Replaced) Subst;

// What the callee's variables are, given the wires it is called on; holds what is known from around
// before. The first `slices` inputs lose their first axis on the way in.
void subst_call(World *, Subst *, const Diagram *callee, const Diagram *d, const Id *in,
                uint32_t slices);
Size subst_size(World *, const Subst *, Size);
Type subst_type(World *, const Subst *, Type);

// -- each.c: a loop over every element of tensors of one type -------------------------------------: an index for each axis, a plain output,
// no operand, no body
Loop *loop_over(World *, const Type *);
Access access_from(World *, uint32_t first, uint32_t rank); // at the indices first, first + 1, …
Id wire_filled(World *, Diagram *, const Type *, double, Name, Id origin); // with one number
enum { EACH_LIMIT = 4 };                                                   // wires that one reads
typedef struct {
  Loop loop;
  Access in[EACH_LIMIT];
  Id wire[EACH_LIMIT];
  Type t;
  Id origin;
} Each;
Each each_of(World *, Type);
uint32_t each_read(World *, Each *, Id wire, Base, uint32_t rank); // of its first `rank` axes
uint32_t each_number(World *, Each *, double);
Id each_make(World *, Diagram *, Each *); // the last scalar is its value

bool loop_reads_index(const Loop *, uint32_t index);    // as a number
bool loop_writes_index(const Loop *, uint32_t index);   // it is a place in the output
void access_mark_labels(const Access *, bool *operand); // those whose labels are places in it
Id diagram_source(const Diagram *, uint32_t i); // the wire of an input, or after them of a param

#endif
