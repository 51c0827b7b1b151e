// plan: a diagram is lowered to kernels: loop nests and matrix products over memory whose offsets
// are known.
//
//   Plan *p = plan_make(world, diagram, &(PlanOptions){.samples = 64, .fuse = true});
//   plan_print(p, &buf);
//
// The diagram must have no calls left. Its sizes must be numbers, the number of samples excepted.
// The passes: rewrites of the diagram (views.c, scatter_to_gather.c), lowering of boxes to nodes
// (lower.c), recognition of matrix products (matrix_products.c), rewrites of nodes, fusion of nodes
// into kernels (fuse.c), memory (memory.c). A kernel runs its nodes one after the other at each
// point of its parallel loops; points are independent of each other.
#ifndef LIMN_RUN_PLAN_PLAN_H
#define LIMN_RUN_PLAN_PLAN_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"

#define PLAN_NONE UINT32_MAX

// A length: c + per · samples. `part`: the rows of a block, of which the last may have fewer.
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
  bool check; // the coordinate may be out of bounds: it is compared with the axis
} PlanCoord;

typedef struct {
  uint32_t wire;
  PlanCoord *coord;  // one for each axis of the wire
  bool padded, used; // used: the body reads the operand; otherwise the operand is a guard only
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

// A matrix product: C[m n] = Σ_k A[m k] B[k n] for each point of the batch indices. m, n, k and
// batch are groups of indices, slowest first.
typedef struct {
  uint32_t nm, nn, nk, nbatch;
  uint32_t *m, *n, *k, *batch;
  // Operands. A third operand is a bias: a contiguous row along n that is added to C.
  uint32_t a, b;
} Product;

typedef struct {
  PlanNodeKind kind;
  Id origin;
  Combine combine;
  uint32_t nindex, nin, nscalar;
  Extent *index;
  bool *reduced; // the index is not in the output
  // A cell of the output may be written several times or never. The output is filled first, and
  // values are added to its cells.
  bool scatter;
  bool accumulate; // scatter: the output holds values already and is not filled
  Operand *in;
  Operand out;
  // The argmax of each reduced index; PLAN_NONE: nothing reads that wire.
  uint32_t nwinner, *winner;
  Scalar *scalar;
  bool *exact;         // [scalar] a quotient that must be rounded correctly; NULL: there is none
  const Random *noise; // the value is noise; no scalars then
  Product *product;    // of NODE_PRODUCT, and of nests that could be one
  uint32_t axis;       // of NODE_ORDER
  // NODE_SCAN: number of iterations, direction, nesting depth. The nodes up to the matching end are
  // the body.
  Extent times;
  bool back;
  uint32_t depth;
  bool pinned;        // overwrites what earlier nodes read: must not be moved
  bool hoist;         // the node's kernel may be hoisted (hoist_kernels.c)
  bool as_floats;     // reads bfloat16 in place of floats, and must sum in the order of floats
  uint32_t attention; // group of nodes that form one attention kernel; 0: none
  // Set by fusion:
  uint32_t kernel, nest;
  uint32_t blocked_index; // the index that is the kernel's blocked loop
  uint32_t *var;          // loop of each index: the kernel's parallel loops, then the nest's
} PlanNode;

typedef enum { AT_NOWHERE, AT_ARENA, AT_STATE, AT_INPUT, AT_OUTPUT, AT_TILE, AT_REGISTER } Place;

typedef struct {
  Id origin;
  Name name;
  Base base;
  Number number;
  int64_t labels; // BASE_LABEL: number of labels
  uint32_t rank;
  Extent *shape;
  int64_t *stride, count; // in cells, at the largest number of samples
  Place place;
  int64_t at;           // AT_ARENA: bytes; AT_TILE: bytes in the thread's scratch
  uint32_t number_of;   // AT_STATE, AT_INPUT, AT_OUTPUT: its position among these
  uint32_t alias_of;    // the wire is an alias into this one; PLAN_NONE: has memory of its own
  int64_t offset;       // alias: first cell in `alias_of`
  bool scan_moves;      // alias: the cell also depends on the position of a scan
  uint32_t depth;       // depth of that scan
  int64_t scan_stride;  // stride for that position, in cells
  uint32_t first, last; // live range: first and last kernel that accesses the wire
  bool needs_memory;    // an output, a state, or aliased
} PlanWire;

// A loop nest inside a kernel: all its nodes have the same loops.
typedef struct {
  uint32_t ndim;
  Extent *dim;
  VEC(uint32_t) node;
} Nest;

typedef enum {
  KERNEL_LOOPS,
  KERNEL_PRODUCT,
  KERNEL_ORDER,
  KERNEL_ATTENTION,
  KERNEL_SCAN,
  KERNEL_SCAN_END,
  KERNEL_COPY
} KernelKind;
typedef struct {
  KernelKind kind;
  uint32_t np;
  Extent *p; // parallel loops, slowest first
  VEC(uint32_t) node;
  VEC(Nest) nest;
  Extent blocked_loop; // c > 0: this loop of all nodes is split into blocks of `block` rows, which
  int64_t block;       // the last parallel loop counts
  bool ordered;        // blocks run one after the other: some node accumulates over them
  int64_t work;        // operations, estimated at the largest number of samples
  int64_t tile_bytes;  // scratch for each thread
  uint32_t split;      // the first `split` parallel loops are divided into tasks
  bool ranged;         // no parallel loops: the first loop of the only nest is divided
  uint32_t depth;      // scans around the kernel
  Ids to, from;        // KERNEL_COPY: from[i] is copied to to[i]
  int64_t grain;       // points of the divided loops for each task
} Kernel;

// Constants of a machine, in operations and cells.
typedef struct {
  int64_t tiny_work;       // a step with less work is run by one thread or one thread block
  int64_t small_work;      // a kernel with less work needs no parallel points
  int64_t enough_points;   // parallel points that fill the machine
  int64_t tile_cells;      // cells that may live between the nodes of a kernel at one point
  int64_t alone_work;      // least work of a matrix product that is a kernel of its own
  int64_t inner_work;      // least work of a batched matrix product
  int64_t partition_cells; // least cells of a part of an optimiser (optimiser_partition.c)
  int64_t hoist_saves;    // kernels are hoisted if that saves 1/hoist_saves of the arena; 0: always
  int64_t unshared_bytes; // tensors of at most so many bytes together share no memory (memory.c)
  int64_t bf16_work;      // least multiplications of a product with bfloat16 factors
  int64_t bf16_cells;     // least cells of a bfloat16 wire that other nodes than products read
  int64_t bf16_weight_bytes; // memory that bfloat16 copies of weights may always take
  int64_t far_row;           // cells: caches hold few rows of this length
  uint32_t long_kernel;      // operands, loops and operations of a kernel that is full, about
  // A team of lanes works on one point: a GPU. Reduced loops are the innermost, and every product
  // is a kernel.
  bool lanes;
} PlanTarget;
extern const PlanTarget plan_cpu, plan_gpu;
// GPUs for tests. No step is small enough for one thread block, optimisers are partitioned into
// small parts, and factors of small products are bfloat16 in memory. plan_gpu_bf16: small wires
// that other nodes than products read are bfloat16, too.
extern const PlanTarget plan_gpu_launches, plan_gpu_bf16;

// A wire that is a part of a param's next value, from cell `offset` on.
typedef struct {
  uint32_t wire, param;
  int64_t offset;
} PlanPart;

// A param with a copy in bfloat16. The copy is a param of the plan, numbered after the diagram's.
typedef struct {
  uint32_t param, copy;
} PlanBf16Copy;

typedef struct {
  World *w;
  const Diagram *d; // after rewriting
  const PlanTarget *target;
  Arena *arena;
  int64_t samples;
  bool full_batch_only; // some size is not linear in the number of samples
  bool fuse, wide;      // wide: reals are doubles
  bool bf16;            // factors of large products are bfloat16 in memory
  bool epilogues;       // small products have epilogues (product_epilogue.c)
  bool ticks; // noise in the outermost scan depends on the step and the position as one number
  bool tiny;  // the work is so little that one thread does all of it
  const char *error;
  Span error_at;
  VEC(PlanWire) wire;
  VEC(PlanNode) node;
  VEC(Kernel) kernel;
  // Wires of inputs, outputs, params, and of each param's next value (PLAN_NONE: none).
  Ids in, out, param, next;
  VEC(PlanPart) part;          // of next values that are made in parts (optimiser_partition.c)
  VEC(PlanBf16Copy) bf16_copy; // (bf16_weights.c)
  int64_t arena_bytes, scratch_bytes;
  // [param] its memory does not begin at a multiple of four cells; NULL: unknown, so all may.
  const bool *misaligned;
} Plan;

typedef struct {
  int64_t samples; // the largest number
  bool fuse, wide, bf16, epilogues;
  bool ticks;               // as in Plan
  const PlanTarget *target; // NULL: plan_cpu
} PlanOptions;

// -- plan.c ---------------------------------------------------------------------------------------
// .error is set when there is no plan.
Plan *plan_make(World *, const Diagram *, const PlanOptions *);
// seconds: of each kernel over all runs, or NULL
void plan_print(const Plan *, const double *seconds, uint64_t runs, Buf *);
int64_t extent_at(Extent, int64_t samples);
static inline bool kernel_has_text(const Kernel *k) {
  return k->kind == KERNEL_LOOPS || k->kind == KERNEL_ORDER || k->kind == KERNEL_ATTENTION;
}
bool extent_same(Extent, Extent);
Extent plan_extent(Plan *, Size); // of a size in a body
static inline int64_t extent_most(const Plan *p, Extent e) { return e.c + e.per * p->samples; }

// -- diagram to diagram: rematerialise.c, views.c, scatter_to_gather.c ----------------------------
Diagram *plan_rematerialise(World *, const Diagram *);
Diagram *plan_views(World *, const Diagram *);
Diagram *plan_scatter_to_gather(World *, const Diagram *);
uint32_t loop_push_index(World *, Loop *, Index); // gives the index's number
void loop_drop_index(Loop *, uint32_t index);     // the index must be unused
// Substitutes a coordinate for an index in an access.
void access_replace(World *, Access *, uint32_t index, const Coord *by);
bool loop_sums(World *, const Loop *); // some index is reduced
// Is a body a sum of products of two operands?
bool is_product_body(Combine, const Scalar *, uint32_t nscalar, uint32_t nin);

// -- lower.c --------------------------------------------------------------------------------------
void plan_nodes(Plan *, const Diagram *);
uint32_t *plan_nones(const Plan *, uint32_t n); // an array of n times PLAN_NONE
// The wires of a node: output, operands, winners (PLAN_NONE: nothing reads the winner).
static inline uint32_t node_wires(const PlanNode *x) { return 1 + x->nin + x->nwinner; }
uint32_t node_wire(const PlanNode *, uint32_t i);
PlanNode node_for_copy(Plan *, uint32_t from, uint32_t to, Id origin); // copies all cells of a wire
// A clone that shares nothing with the node that fusion changes.
PlanNode node_clone(Plan *, const PlanNode *);
// Removes an unused operand. The node must own its scalars.
void node_drop(Plan *, PlanNode *, uint32_t operand);
// The access is affine: no bounds check, and no label in its coordinates.
bool operand_is_affine(const Plan *, const Operand *);
int64_t operand_step(const Plan *, const Operand *, uint32_t index); // stride of an index in memory
int64_t operand_start(const Plan *, const Operand *);                // cell where all indices are 0
bool operand_uses_index(const Plan *, const Operand *, uint32_t index);
// Cells of a packed copy of the operand, contiguous along `index`; 0: packing does not pay. Packing
// pays for a small operand that is strided along `index`, if some loop that the operand does not
// depend on reads it again and again.
int64_t operand_packed_cells(const Plan *, const PlanNode *, const Operand *, uint32_t index);
// The coordinate of this axis is one index, unscaled and unshifted.
bool operand_axis_is_index(const Plan *, const Operand *, uint32_t axis, uint32_t *index);

// -- alias.c --------------------------------------------------------------------------------------
void plan_aliases(Plan *);
// The wire has no place yet and is no alias.
static inline bool wire_is_unplaced(const Plan *p, uint32_t wire) {
  return p->wire.at[wire].place == AT_NOWHERE && p->wire.at[wire].alias_of == PLAN_NONE;
}
uint32_t wire_root(const Plan *, uint32_t wire); // the wire that owns the memory
// First cell of the wire in its root, for these positions of scans.
int64_t wire_offset(const Plan *, uint32_t wire, const int64_t *at, uint32_t *root);
// Does the wire begin at a multiple of so many cells, for all positions of scans?
bool wire_is_aligned(const Plan *, uint32_t wire, int64_t cells);

// -- matrix_products.c ----------------------------------------------------------------------------
void plan_products(Plan *);
// Number of points of a group of indices.
int64_t product_length(const PlanNode *, const uint32_t *group, uint32_t n, int64_t samples);
static inline bool product_has_single_indices(const Product *q) { // no batch is required
  return q->nm == 1 && q->nn == 1 && q->nk == 1;
}
// Does an operand access the points of a group with one stride?
bool product_group_is_strided(const Plan *, const PlanNode *, const Operand *,
                              const uint32_t *group, uint32_t n);
// Offsets of the points of a group in an operand: a table, or NULL and a stride.
int32_t *product_offsets(const Plan *, const PlanNode *, const Operand *, const uint32_t *group,
                         uint32_t n, int64_t *step);

// -- def_use.c ------------------------------------------------------------------------------------
#define PLAN_SEVERAL (PLAN_NONE - 1)
enum { PLAN_AXES = 8 };
typedef struct {
  uint32_t *maker; // [wire] the node that makes it; PLAN_NONE: none; PLAN_SEVERAL: several
  bool *escapes;   // [wire] visible from outside, or an alias
  Ids *reader;     // [wire] nodes, in their order
} PlanUses;
PlanUses plan_uses(const Plan *);
// The wire is in memory however its readers are fused: it comes from outside, or the kernel that
// makes it fuses with no other.
bool wire_is_materialised(const Plan *, const PlanUses *, uint32_t wire);
bool node_reads_position(const PlanNode *); // some scalar is an index
// The output is a function of the operands, and each cell is written once.
static inline bool node_is_plain(const PlanNode *x) {
  return !x->scatter && !x->noise && !x->nwinner;
}
// The node is in no scan and in no attention kernel, and overwrites nothing.
static inline bool node_may_move(const PlanNode *x) {
  return !x->depth && !x->pinned && !x->attention;
}
// A map: no reduction, scatter, noise or winner, and free to be moved.
bool node_is_elementwise(const PlanNode *);
bool node_is_sum_of_two(const PlanNode *); // an element-wise sum of its two operands
bool node_is_copy(const PlanNode *);       // the body is one operand, copied or reduced
uint32_t wire_clone(Plan *, uint32_t of);  // shares neither shape nor strides
bool wire_is_row_major(const Plan *, uint32_t wire);
void wire_set_row_major(Plan *, uint32_t wire);
uint32_t wire_new_like(Plan *, uint32_t of); // same shape, row-major, no alias
uint32_t wire_new_bf16(Plan *, uint32_t of); // the same, of bfloat16
// The coordinates are a permutation of indices: each is one index, and none is there twice. They
// are written into `index`, of PLAN_AXES.
bool operand_is_permutation(const Plan *, const Operand *, uint32_t *index);
// Both accesses are the same permutation.
bool operands_same_access(const Plan *, const Operand *, const Operand *);
bool nodes_movable(const Plan *, uint32_t from, uint32_t to); // no scan, no pinned node among them

// -- rewrites of nodes ----------------------------------------------------------------------------
void plan_bf16_values(Plan *);
void plan_bf16_weights(Plan *);
void plan_merge_sums(Plan *);
void plan_concat_in_place(Plan *);
void plan_pad_in_place(Plan *);
void plan_bias_epilogue(Plan *);
void plan_scatter_add(Plan *);
void plan_rematerialise_sums(Plan *);
void plan_partition_optimisers(Plan *);
void plan_hoist_kernels(Plan *);
void plan_exact_quotients(Plan *);
void plan_transpose_short_rows(Plan *);
// sink_producers.c
void plan_sink_producers(Plan *);
// Prepends scalars to a node's own. The last of them replaces operand k.
void node_inline_scalars(Plan *, PlanNode *, uint32_t k, const Scalar *front, uint32_t nfront);

// -- flash_attention.c ----------------------------------------------------------------------------
void plan_flash_attention(Plan *);
// Sets the loops of an attention kernel: parallel loops of the batch, and one nest of two loops, the
// position that stays and the position that is summed over. Either may be the outer one.
void attention_kernel(Plan *, Kernel *);
uint32_t attention_summed_loop(const Plan *, const Kernel *);
bool node_makes_scores(const PlanNode *); // of a product in such a kernel: QKᵀ, not a weighted sum
// The node of the kernel's nest that makes m of an online softmax from the largest score so far. It
// has no loop over the summed position. The nest's nodes after the sum that follows are applied to
// the final sums. PLAN_NONE: the kernel is no online softmax.
uint32_t attention_row_node(const Plan *, const Kernel *);
// attention_mask.c: only scores with position `less` <= position `more` count (strict: <). Both are
// loops of the kernel.
typedef struct {
  uint32_t less, more;
  bool strict;
} AttentionMask;
bool attention_mask(const Plan *, const Kernel *, AttentionMask *);
// The node for tiles that are wholly inside of the mask: without the comparison.
const PlanNode *attention_inside_mask(const Plan *, const PlanNode *, AttentionMask);
// attention_row_sum.c: replaces a row sum over scores by two nodes that need no scores. maker[wire]:
// the node that makes these scores, else PLAN_NONE. False: there is no such replacement.
bool attention_short_row_sum(Plan *, const uint32_t *maker, uint32_t node, PlanNode to[2]);
// online_softmax.c: a softmax that one pass over the scores can make. over[node]: of results, the
// axis that is summed over, else PLAN_NONE.
typedef struct {
  uint32_t max, row, sum, weighted_sum; // nodes: M, m, L, and R, which may be PLAN_NONE
} OnlineSoftmax;
bool online_softmax_match(const Plan *, const uint32_t *maker, const uint32_t *over, uint32_t node,
                          OnlineSoftmax *);

// -- footprints.c ---------------------------------------------------------------------------------
// A range of cells of a wire that is no alias.
typedef struct {
  uint32_t root;
  int64_t from, to;
  bool written;
} FootprintRange;
typedef VEC(FootprintRange) Footprint;
// The cells of a wire in its root; all cells if a scan moves the wire.
void wire_cells(const Plan *, uint32_t wire, int64_t *from, int64_t *to);
Footprint *plan_footprints(const Plan *); // [kernel]
// Neither kernel writes what the other one accesses, and neither is in a scan.
bool kernels_commute(const Plan *, const Footprint *, uint32_t a, uint32_t b);
bool kernel_in_scan(const Kernel *); // or begins or ends a scan
// These update the kernels' footprints, too, unless NULL is given.
void kernel_move(Plan *, Footprint *, uint32_t from, uint32_t to);
void kernel_drop(Plan *, Footprint *, uint32_t kernel);
// The first kernel after all that make a scalar output. Losses are among these.
uint32_t plan_after_losses(const Plan *);

// -- row_blocks.c ---------------------------------------------------------------------------------
// Each value of the index has a slice of the output of its own.
bool node_owns_slices(const Plan *, const PlanNode *, uint32_t index);
// Splits an index into blocks. Gives the new index, which counts the blocks.
uint32_t node_split_index(Plan *, PlanNode *, uint32_t index, int64_t block);
// Finds one loop that all nodes of a kernel, and a node that would join under these parallel loops,
// can run in blocks. Sets Kernel.blocked_loop and PlanNode.blocked_index. False: there is none.
bool kernel_find_blocked_loop(Plan *, const uint32_t *maker, Kernel *, uint32_t node,
                              const uint32_t *loop_of);
void kernel_block_loop(Plan *, Kernel *); // splits that loop
// The term of an output's coordinate that counts blocks of so many rows, or NULL.
const PlanTerm *operand_block(const Plan *, const Kernel *, const PlanNode *, const Operand *,
                              uint32_t axis, Extent *rows);

// -- fuse.c ---------------------------------------------------------------------------------------
void plan_kernels(Plan *);
// So little work that all is one kernel of one thread, with every loop along memory.
bool plan_is_tiny(const Plan *);
int64_t node_work(const Plan *, const PlanNode *);   // operations, estimated
int64_t node_points(const Plan *, const PlanNode *); // iterations of its loops, at most
bool node_has_reduction(const PlanNode *);           // some loop is reduced
bool node_wants_winner(const PlanNode *);            // some winner is read

// -- product_epilogue.c ---------------------------------------------------------------------------
void plan_product_epilogues(Plan *);
// May a product have an epilogue, as far as nodes tell?
bool epilogue_allowed(const Plan *, const PlanNode *);
// Of a product with an epilogue: the loop that is this axis of the product's result.
uint32_t epilogue_loop(const Plan *, const Kernel *, uint32_t axis);

// -- memory.c -------------------------------------------------------------------------------------
void plan_memory(Plan *);
// Peak of the bytes that are live at once, in the present order of kernels, or of nodes while there
// are no kernels. An estimate while no wire has its place.
int64_t plan_peak_bytes(Plan *);
bool kernel_writes_state(const Plan *, const Kernel *);
// The first kernel that overwrites a state; the number of kernels if none does. All losses are known
// before it.
uint32_t plan_first_state_write(const Plan *);

#endif
