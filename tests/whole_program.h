// Random whole programs: well typed, as a tree that can be printed in several ways that must mean
// the same, and made smaller as long as something is wrong with it.
//
//   Whole *p = whole_random(arena, seed);
//   const char *text = whole_text(arena, p, &(Printed){0});
//
// A program is declarations; a box or learner with names has a body of statements. Every text is a
// row of pieces: letters, names, and nodes inside it, so that names can be printed otherwise and a
// part can be taken out wherever it stands.
#ifndef LIMN_WHOLE_PROGRAM_H
#define LIMN_WHOLE_PROGRAM_H

#include "base/base.h"

enum { WHOLE_AXES = 4 };

// -- the tree -------------------------------------------------------------------------------------
typedef enum {
  NAME_WIRE,
  NAME_INDEX,
  NAME_AXIS,
  NAME_BOX,
  NAME_OPTION,
  NAME_WEIGHT,
  NAME_LEARNER,
  NAME_GOAL,
  NAME_FIELD, // of a set of data: its name is the set's
} WholeNameKind;
typedef struct {
  const char *text, *other; // as it was made, and what it is renamed to
  WholeNameKind kind;
  uint32_t scope; // of which declaration, counted from 1; 0: of the program
} WholeName;

typedef struct {
  Id label;    // 0: none is known
  Id variable; // its size is open, and called so
  Id axis;     // it is a declared axis
  uint32_t n;  // how long it is, or will be
} WholeAxis;
typedef struct {
  bool labels;     // {range}[…] and not R[…]
  WholeAxis range; // of labels
  uint32_t rank;
  WholeAxis axis[WHOLE_AXES];
} WholeType;

typedef struct WholeNode WholeNode;
typedef struct {
  const char *text;
  Id name;
  WholeNode *node;
  bool bare; // the node stands between brackets or commas
} WholePiece;
struct WholeNode {
  VEC(WholePiece) piece;
  WholeType type;
  bool value; // it may get a line and a name of its own
  bool atom;  // it needs no parentheses
};

typedef struct {
  WholeNode *line;
  Ids makes;
  bool let;      // "name = value", of one name
  bool weighted; // it makes weights, whose numbers go by the order of lines
  bool last;     // the return
} WholeLine;

typedef struct {
  Id name;
  WholeType type;
} WholeWire;
typedef struct {
  Id name;
  const char *start; // NULL: it must be given
} WholeOption;
typedef enum { DECL_BOX, DECL_LEARNER, DECL_OTHER, DECL_LAST } WholeKind;
typedef struct {
  WholeKind kind;
  Id name;
  uint32_t scope;
  VEC(WholeOption) option;
  VEC(WholeWire) in;
  VEC(WholeType) out;
  VEC(WholeLine) line;
  WholeNode *text; // of what is not a body
  uint32_t family; // so many members
  bool weighted, noisy, slopes, batched, remembers, stops;
  bool learns;    // it uses learners
  bool bodiless;  // a learner whose type alone says what it is
  bool flows;     // a system
  bool elsewhere; // in another file
  bool asked;     // it can be evaluated for itself
} WholeDecl;

typedef struct {
  const char *path, *bytes;
  size_t n;
} WholeFile;
typedef struct {
  Arena *arena;
  VEC(WholeName) name;
  VEC(WholeDecl *) decl;
  VEC(WholeFile) file; // beside the program
  VEC(Id) goal;
  uint32_t scopes;
  uint64_t seed;
  bool trains, measures, shows, runs, noisy;
  bool diagram; // a learning diagram is what trains
} Whole;

// whole_tree.c
typedef struct {
  uint64_t order;  // not 0: declarations, and lines that commute, in another one
  uint64_t naming; // not 0: parts get names, or wires lose theirs
  bool renamed;
  const char *more; // at the end
} Printed;
const char *whole_text(Arena *, const Whole *, const Printed *);
const char *whole_name(const Whole *, Id, bool renamed);
// The path of a weight, after renaming.
const char *whole_weight(Arena *, const Whole *, const char *path);
void whole_type(Buf *, const Whole *, const WholeType *, bool renamed);
Whole *whole_copy(Arena *, const Whole *);
uint32_t whole_uses(const WholeNode *, Id);
// %n: an Id, %e: a node, %E: the same between brackets, %t: a WholeType *, %d, %s.
WholeNode *whole_node(Whole *, const WholeType *, const char *format, ...);
Id whole_name_add(Whole *, WholeNameKind, uint32_t scope, const char *text);
const WholeDecl *whole_decl(const Whole *, Id name);

// whole_smaller.c: the k-th way to make a program smaller; false: there are not so many. A way may
// make nonsense of it.
bool whole_smaller(Whole *, uint32_t k);

// whole_random.c
Whole *whole_random(Arena *, uint64_t seed);
// whole_vary.c: one to three things about it are others. It may not be accepted any more.
void whole_vary(Whole *, uint64_t seed);

// -- inside the generator -------------------------------------------------------------------------
typedef struct {
  Whole *p;
  uint64_t state;
  WholeDecl *d; // under construction
  VEC(WholeWire) wire;
  uint32_t depth;
} Maker;
uint64_t maker_draw(Maker *);
static inline uint32_t below(Maker *m, uint32_t n) { return (uint32_t)(maker_draw(m) % n); }
static inline bool one_in(Maker *m, uint32_t n) { return below(m, n) == 0; }
#define PICK(m, list) (list)[below(m, COUNT(list))]
Id maker_name(Maker *, WholeNameKind);   // a new one, of the declaration
Id maker_global(Maker *, WholeNameKind); // of the program
bool axis_meets(const WholeAxis *, const WholeAxis *);
bool type_same(const WholeType *, const WholeType *);
const WholeWire *maker_wire(Maker *, uint32_t least, uint32_t most); // real; NULL: none
WholeNode *maker_ref(Maker *, const WholeWire *);
WholeNode *maker_operand(Maker *, const WholeWire *); // the wire, or something made of it
// A line that gives a value a name.
const WholeWire *maker_let(Maker *, WholeNode *value);
WholeLine *maker_line(Maker *, WholeNode *line);
WholeDecl *maker_decl(Maker *, WholeKind, WholeNameKind);
void maker_body(Maker *, uint32_t lines);
void maker_return(Maker *, WholeNode *value);

// whole_equations.c, whole_calls.c: each adds a line, or finds nothing that fits.
typedef bool Turn(Maker *);
Turn turn_product, turn_turned, turn_summed, turn_masked, turn_window, turn_pooled, turn_group,
    turn_split, turn_diagonal, turn_copies, turn_slice, turn_gather, turn_sorted, turn_scatter;
Turn turn_call, turn_over, turn_slope, turn_scan, turn_layers, turn_compose, turn_repeat,
    turn_state, turn_learner, turn_embed, turn_several;
// whole_more.c
Turn turn_weight, turn_refit, turn_flow, turn_family, turn_bits;
void maker_things(Maker *);
void maker_use(Maker *);
void maker_sees_weights(Maker *);
// whole_goals.c: data, learners, goals and what is around them
void maker_training(Maker *);
// whole_diagrams.c
void maker_diagram(Maker *);
void maker_machine(Maker *);
// whole_files.c
Buf whole_gzip(Arena *, const Buf *);
Buf whole_npy(Arena *, const double *, uint32_t rows, uint32_t width);
Buf whole_npz(Arena *, const Buf *npy);
Buf whole_idx(Arena *, const double *, uint32_t rows, uint32_t width);

#endif
