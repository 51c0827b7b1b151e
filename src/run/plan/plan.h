// plan: from a diagram to kernels: loop nests and matrix products over memory whose offsets are
// known.
//
//   Plan *p = plan_make(world, diagram, &(PlanOptions){.samples = 64, .fuse = true});
//   plan_print(p, &buf);
//
// The diagram must have no calls left, and sizes that are numbers but for the number of samples.
// First it is rewritten as a diagram (views.c, gather.c): accesses are composed, writes become
// reads. Then its boxes become nodes with numbers for sizes (lower.c), products are recognised
// (matrix_products.c), nodes are gathered into kernels (fuse.c), and wires get memory (memory.c). A
// kernel runs its nodes one after the other at each point of its parallel loops; points are
// independent.
#ifndef LIMN_RUN_PLAN_PLAN_H
#define LIMN_RUN_PLAN_PLAN_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"

#define PLAN_NONE UINT32_MAX

// A length: c + per · samples. A part is the rows of a block: the last block may have fewer.
typedef struct {
  int64_t c, per;
  bool part;
} Extent;

typedef struct {
  int64_t coef;
  uint32_t var; // an index of the node, or an operand that is a label
  bool operand;
} PlanTerm;
typedef struct {
  int64_t c;
  uint32_t n;
  PlanTerm *term;
  bool check; // it may lie outside: compare with the axis
} PlanCoord;

typedef struct {
  uint32_t wire;
  PlanCoord *coord;  // one for each axis of the wire
  bool padded, used; // used: the body reads it; otherwise it only guards
  double pad;
} Operand;

typedef enum {
  NODE_NEST,
  NODE_PRODUCT,
  NODE_ORDER,
  NODE_SCAN,
  NODE_SCAN_END,
  NODE_GONE
} PlanNodeKind;

// A product: C[m n] = Σ_k A[m k] B[k n] for each point of the batch indices. Groups of indices,
// slowest first.
typedef struct {
  uint32_t nm, nn, nk, nbatch;
  uint32_t *m, *n, *k, *batch;
  uint32_t a,
      b; // operands; a third one is a row along n, in memory without gaps, that is added to C's
} Product;

typedef struct {
  PlanNodeKind kind;
  Id origin;
  Combine combine;
  uint32_t nindex, nin, nscalar;
  Extent *index;
  bool *reduced; // this index is not in the output
  bool scatter;  // the output's cells may be hit several times or not at all: filled first, then
                 // added to
  bool onto;     // … what is there, instead of being filled
  Operand *in;
  Operand out;
  uint32_t nwinner,
      *winner; // wires of the winners, one for each reduced index; PLAN_NONE when nothing reads it
  Scalar *scalar;
  const Random *noise; // the value is noise; no scalars then
  Product *product;    // NODE_PRODUCT, and nests that could be one
  uint32_t axis;       // NODE_ORDER
  // NODE_SCAN: how often, which way, and its depth. Nodes up to the matching end are its body
  Extent times;
  bool back;
  uint32_t depth;
  bool pinned;    // it overwrites what earlier nodes read: it stays where it is
  bool early;     // its kernel is moved to where all that it needs is there (early.c)
  bool as_floats; // it reads bfloat16 in place of floats (kept.c), and sums in the order of floats
  uint32_t pairs; // the group of nodes that are made tile by tile, in one kernel; 0: none
  // in its kernel
  uint32_t kernel, nest;
  uint32_t walk; // the index that its kernel takes in blocks, if it does
  uint32_t *var; // of each index: the kernel's parallel loops first, then the nest's loops
} PlanNode;

typedef enum { AT_NOWHERE, AT_ARENA, AT_STATE, AT_INPUT, AT_OUTPUT, AT_TILE, AT_REGISTER } Place;

typedef struct {
  Id origin;
  Name name;
  Base base;
  Number number;
  int64_t labels; // BASE_LABEL: how many
  uint32_t rank;
  Extent *shape;
  int64_t *stride, count; // in cells, at the largest number of samples
  Place place;
  int64_t at;           // AT_ARENA: bytes; AT_TILE: bytes in the thread's scratch
  uint32_t number_of;   // AT_STATE, AT_INPUT, AT_OUTPUT: which one
  uint32_t of;          // it lies inside this wire, PLAN_NONE if it stands for itself
  int64_t offset;       // … at this cell
  bool moves;           // … and the position of a scan moves it
  uint32_t depth;       // which scan
  int64_t move;         // how far, in cells
  uint32_t first, last; // kernels that write and read it
  bool kept;            // an output, a state, or read by what is not a kernel: needs memory
} PlanWire;

// A loop nest inside a kernel: the same loops for all its nodes.
typedef struct {
  uint32_t ndim;
  Extent *dim;
  VEC(uint32_t) node;
} Nest;

typedef enum {
  KERNEL_LOOPS,
  KERNEL_PRODUCT,
  KERNEL_ORDER,
  KERNEL_PAIRS,
  KERNEL_SCAN,
  KERNEL_SCAN_END,
  KERNEL_COPY
} KernelKind;
typedef struct {
  KernelKind kind;
  uint32_t np;
  Extent *p; // the parallel loops, slowest first
  VEC(uint32_t) node;
  VEC(Nest) nest;
  Extent walk;        // c > 0: this loop of all its nodes is taken in blocks of so many rows;
  int64_t block;      // the last parallel loop counts them
  bool ordered;       // they run one after the other, because some node adds them up
  int64_t work;       // about how many operations, at the largest number of samples
  int64_t tile_bytes; // scratch for each thread
  uint32_t split;     // the first `split` parallel loops are divided into tasks
  bool ranged;        // no parallel loops: the first loop of its one nest is divided
  uint32_t depth;     // scans around it
  Ids to, from;       // KERNEL_COPY: wires, each into the one at the same place
  int64_t grain;      // points of the divided loops for each task
} Kernel;

// What differs between machines, in operations and cells.
typedef struct {
  int64_t tiny_work;     // a step of less is done by one thread, or one team of them
  int64_t small_work;    // a kernel of less needs no points
  int64_t enough_points; // that run at the same time
  int64_t tile_cells;    // what may live between the nodes of a kernel at one point
  int64_t alone_work;    // a product of more is a kernel of its own
  int64_t inner_work;    // one with a batch is a product at all
  int64_t part_cells;    // a part of an optimiser of so many is worth a kernel (apart.c)
  int64_t early_saves;   // and is made early if that saves one byte of so many (early.c); 0: always
  int64_t near_bytes;    // so much memory need not be shared (memory.c)
  int64_t narrow_work;   // multiplications of a product whose factors are worth copies (narrow.c)
  int64_t narrow_cells;  // … of a wire that is worth it, though not products alone read it
  int64_t rounded_bytes; // … and so much may be taken for weights that are kept rounded (rounded.c)
  int64_t far_row;       // cells: of such rows caches hold few
  uint32_t long_kernel; // operands, loops and operations of one kernel, about
  bool lanes; // a point is worked on by a team of lanes: summed loops come last, and every
              // product is a kernel
} PlanTarget;
extern const PlanTarget plan_cpu, plan_gpu;
// The same for tests: no step is so small that one team does it all, optimisers come apart into small parts, and factors of
// small products are bfloat16 in memory; `narrow`: so are small wires that others read, too.
extern const PlanTarget plan_gpu_launches, plan_gpu_narrow;

// A wire that is a part of a param's next value, at this cell of it.
typedef struct {
  uint32_t wire, param;
  int64_t offset;
} PlanPart;

// A param that is kept as bfloat16, too: as another one, behind those of the diagram.
typedef struct {
  uint32_t param, as;
} PlanRounded;

typedef struct {
  World *w;
  const Diagram *d; // as rewritten
  const PlanTarget *target;
  Arena *arena;
  int64_t samples;
  bool whole;      // some size is not linear in the number of samples: only full batches
  bool fuse, wide; // wide: reals are doubles
  bool narrow;     // factors of large products are bfloat16 in memory
  bool finish;     // small products finish what is made of their cells (finish.c)
  bool ticks;      // noise in the outermost scan depends on the step and the position as one number
  bool tiny;       // so little work that one thread does it all
  const char *error;
  Span error_at;
  VEC(PlanWire) wire;
  VEC(PlanNode) node;
  VEC(Kernel) kernel;
  Ids in, out, param,
      next; // wires: inputs, outputs, each param's, and each param's next value (PLAN_NONE: none)
  VEC(PlanPart) part;       // of next values that are made in parts (apart.c)
  VEC(PlanRounded) rounded; // (rounded.c)
  int64_t arena_bytes, scratch_bytes;
  const bool *odd; // [param] its memory begins at no multiple of four cells; NULL: unknown, all may
} Plan;

typedef struct {
  int64_t samples; // the largest number
  bool fuse, wide, narrow, finish;
  bool ticks;               // as in Target
  const PlanTarget *target; // NULL: plan_cpu
} PlanOptions;

// -- plan.c ---------------------------------------------------------------------------------------
Plan *plan_make(World *, const Diagram *, const PlanOptions *); // .error is set when it cannot be
void plan_print(const Plan *, const double *seconds, uint64_t runs,
                Buf *); // seconds of each kernel over all runs, or NULL
int64_t extent_at(Extent, int64_t samples);
static inline bool kernel_has_text(const Kernel *k) {
  return k->kind == KERNEL_LOOPS || k->kind == KERNEL_ORDER || k->kind == KERNEL_PAIRS;
}
bool extent_same(Extent, Extent);
Extent plan_extent(Plan *, Size); // of a size in a body
static inline int64_t extent_most(const Plan *p, Extent e) { return e.c + e.per * p->samples; }

// -- recompute.c, views.c, gather.c: diagram to diagram, private to this room ---------------------
Diagram *plan_recompute(World *, const Diagram *);
Diagram *plan_views(World *, const Diagram *);
Diagram *plan_solve(World *, const Diagram *);
uint32_t loop_push_index(World *, Loop *, Index); // its number
void loop_drop_index(Loop *, uint32_t index);     // nothing reads it any more
// The index becomes this coordinate, wherever the access has it.
void access_replace(World *, Access *, uint32_t index, const Coord *by);
bool loop_sums(World *, const Loop *); // some index is reduced
// A sum of products of two operands, as far as the body says.
bool is_product_body(Combine, const Scalar *, uint32_t nscalar, uint32_t nin);

// -- lower.c --------------------------------------------------------------------------------------
void plan_nodes(Plan *, const Diagram *);
uint32_t *plan_nones(const Plan *, uint32_t n); // PLAN_NONE, so often
// The wires of a node: what it makes, what it reads, its winners (PLAN_NONE: nothing reads it).
static inline uint32_t node_wires(const PlanNode *x) { return 1 + x->nin + x->nwinner; }
uint32_t node_wire(const PlanNode *, uint32_t i);
PlanNode plan_copy(Plan *, uint32_t from, uint32_t to, Id origin); // of all cells
PlanNode
plan_again(Plan *,
           const PlanNode *); // the same once more, nothing of it shared that kernels change
void node_drop(Plan *, PlanNode *,
               uint32_t operand); // which nothing in it needs; its scalars are its own
bool operand_free(const Plan *, const Operand *); // no test, and no label in its coordinates
int64_t operand_step(const Plan *, const Operand *,
                     uint32_t index); // how far one step of an index moves in memory
int64_t operand_start(const Plan *, const Operand *); // where it is when all indices are 0
bool operand_has(const Plan *, const Operand *, uint32_t index);
// Small, not along memory when `index` is the innermost loop, and read again and again by a loop
// that it does not depend on: worth a copy that is along it. How many cells; 0 if not.
int64_t operand_packs(const Plan *, const PlanNode *, const Operand *, uint32_t index);
bool operand_plain(const Plan *, const Operand *, uint32_t axis,
                   uint32_t *index); // this coordinate is an index itself
// alias.c
uint32_t wire_root(const Plan *, uint32_t wire); // the wire whose memory it lies in
// … and at which of its cells, when scans are at these positions.
int64_t wire_offset(const Plan *, uint32_t wire, const int64_t *at, uint32_t *root);
// Does its memory begin at a multiple of so many cells, wherever scans are?
bool wire_begins_by(const Plan *, uint32_t wire, int64_t cells);
void plan_aliases(Plan *);
// matrix_products.c
void plan_products(Plan *);
// The points of a group of indices.
int64_t product_length(const PlanNode *, const uint32_t *group, uint32_t n, int64_t samples);
// Do the points of a group lie in an operand at one step from each other?
bool product_straight(const Plan *, const PlanNode *, const Operand *, const uint32_t *group,
                      uint32_t n);
// Where the points of a group lie in an operand: a table of offsets, or NULL and a step.
int32_t *product_line(const Plan *, const PlanNode *, const Operand *, const uint32_t *group,
                      uint32_t n, int64_t *step);
// narrow.c
void plan_narrow(Plan *);
// uses.c
#define PLAN_SEVERAL (PLAN_NONE - 1)
enum { PLAN_AXES = 8 };
typedef struct {
  uint32_t *maker; // [wire] the one node that makes it; PLAN_NONE: none; or PLAN_SEVERAL
  bool *seen;      // [wire] from outside, or as a part of another
  Ids *reader;     // [wire] nodes, in their order
} PlanUses;
PlanUses plan_uses(const Plan *);
// In memory, whoever reads it: from outside, or made by a kernel that nothing joins.
bool uses_memory(const Plan *, const PlanUses *, uint32_t wire);
bool node_reads_position(const PlanNode *); // some scalar is an index
bool node_plain(const PlanNode *);    // points one by one, of nothing else, and free to be moved
bool node_adds_two(const PlanNode *); // … the sum of its two operands
bool node_copies(const PlanNode *);   // cells of one operand, as they are or summed
// The same wire once more, nothing of it shared that laying memory out changes.
uint32_t plan_wire_again(Plan *, uint32_t of);
bool wire_lies_plain(const Plan *, uint32_t wire); // its axes in order, without gaps
void plan_lay_plain(Plan *, uint32_t wire);
uint32_t plan_wire_like(Plan *, uint32_t of);   // another one of its shape, that stands for itself
uint32_t plan_wire_narrow(Plan *, uint32_t of); // … of bfloat16
// Every axis is one index by itself, none twice: into `index`, of PLAN_AXES.
bool operand_whole(const Plan *, const Operand *, uint32_t *index);
bool operands_alike(const Plan *, const Operand *, const Operand *); // whole, axis by axis
bool nodes_movable(const Plan *, uint32_t from,
                   uint32_t to); // none is bound to its place among others
// pairs.c
void plan_pairs(Plan *);
// A kernel of pairs: loops of the batch, and one nest of two: the place that stays, and the one that is summed
// over; which comes first may be either.
void pairs_kernel(Plan *, Kernel *);
uint32_t pairs_summed(const Plan *, const Kernel *); // the number of that loop
// Only pairs where one place is at most (strict: less than) the other count, by the numbers of their loops.
typedef struct {
  uint32_t less, more;
  bool strict;
} PairMask;
bool pairs_masked(const Plan *, const Kernel *, PairMask *); // pairs_mask.c
// The same nest where all pairs lie inside of the mask: nothing is compared.
const PlanNode *pairs_inside(const Plan *, const PlanNode *, PairMask);
// pairs_weighed.c: two nodes that take the place of a sum of pairs, which need none; false: they do. maker[wire]: the node
// that makes these pairs, else PLAN_NONE.
bool pairs_weighed(Plan *, const uint32_t *maker, uint32_t node, PlanNode to[2]);
// pairs_walk.c: a softmax whose nodes may be made in one walk. over[node]: of results, the axis that is summed over, else
// PLAN_NONE.
typedef struct {
  uint32_t max, row, sum, weighing; // nodes: M, m, L, and R, which may be PLAN_NONE
} PairWalk;
bool pairs_walk(const Plan *, const uint32_t *maker, const uint32_t *over, uint32_t node,
                PairWalk *);
// A kernel that is such a walk has a node without the loop that is summed over, which makes m of the largest number so
// far: the nest's node of this number. Behind the sum that follows it stand points that are made of
// the sums in the end. PLAN_NONE: it is none.
uint32_t pairs_row_node(const Plan *, const Kernel *);
bool node_seeds(
    const PlanNode *); // of a product in such a kernel: it makes pairs, and does not weigh by them
// sums.c
void plan_sums(Plan *);
// pieces.c
void plan_pieces(Plan *);
// borders.c
void plan_borders(Plan *);
// rows.c
void plan_rows(Plan *);
// onto.c
void plan_onto(Plan *);
// late.c
void plan_late(Plan *);
// Scalars stand in front of a nest's own, and the last of them takes the place of operand k.
void node_put_scalars(Plan *, PlanNode *, uint32_t k, const Scalar *front, uint32_t nfront);
// kept.c
void plan_kept(Plan *);
// rounded.c
void plan_rounded(Plan *);
// apart.c
void plan_apart(Plan *);
// touched.c
// Cells of a wire that is a part of no other.
typedef struct {
  uint32_t root;
  int64_t from, to;
  bool written;
} PlanStretch;
typedef VEC(PlanStretch) PlanTouched;
// Where the cells of a wire lie in its root: anywhere in it, if scans move it.
void wire_cells(const Plan *, uint32_t wire, int64_t *from, int64_t *to);
PlanTouched *plan_touched(const Plan *); // [kernel]
// May these kernels change their order?
bool kernels_exchange(const Plan *, const PlanTouched *, uint32_t a, uint32_t b);
bool kernel_scans(const Kernel *); // it is in a scan, or a bracket of one
// Nodes know their kernels' new places, and so does what is touched, if that is known (NULL: not).
void kernel_move(Plan *, PlanTouched *, uint32_t from, uint32_t to);
void kernel_drop(Plan *, PlanTouched *, uint32_t kernel);
// The first kernel behind all that make a number which is given: losses are among them.
uint32_t plan_behind_losses(const Plan *);
// early.c
void plan_early(Plan *);
// transpose.c
void plan_turn(Plan *);
// block.c
bool node_owns(const Plan *, const PlanNode *,
               uint32_t index); // each value of the index stands for a
                                // slice of the output of its own
uint32_t node_cut(Plan *, PlanNode *, uint32_t index,
                  int64_t block); // into blocks: gives the index that counts them
// Can all nodes of a kernel, and one that would join it under these parallel loops, walk along one
// loop? Then they will.
bool kernel_walks(Plan *, const uint32_t *maker, Kernel *, uint32_t node, const uint32_t *loop_of);
void kernel_cut(Plan *, Kernel *); // along that loop
// The term of an output's coordinate that counts blocks of so many rows, or NULL.
const PlanTerm *operand_block(const Plan *, const Kernel *, const PlanNode *, const Operand *,
                              uint32_t axis, Extent *rows);
// fuse.c
void plan_kernels(Plan *);
// Little work in all: one kernel, one thread, every loop along memory.
bool plan_is_tiny(const Plan *);
int64_t node_work(const Plan *, const PlanNode *);   // operations, about
int64_t node_points(const Plan *, const PlanNode *); // of its loops, at most
bool node_sums(const PlanNode *);                    // some loop is reduced
bool node_wants_winner(const PlanNode *);            // and where the best was is asked for
// finish.c
void plan_finish(Plan *);
bool finish_suits(const Plan *,
                  const PlanNode *); // a product that may be finished, as far as nodes tell
// Of a product with a nest: the loop that is this axis of its result.
uint32_t finish_loop(const Plan *, const Kernel *, uint32_t axis);
// memory.c
void plan_memory(Plan *);
// Bytes that are there at once, at most, in this order of kernels, or of nodes while there are no kernels; about, while no wire
// has its place.
int64_t plan_most_at_once(Plan *);
bool kernel_writes_state(const Plan *, const Kernel *);
// The first kernel that overwrites a state; as many as there are, if none does. Losses are known before it.
uint32_t plan_first_write(const Plan *);

#endif
