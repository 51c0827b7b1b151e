// Prints flash attention kernels (KERNEL_ATTENTION): attention and its gradients, computed tile by tile on tensor
// cores without storing the matrix of scores. A block owns rows, 16 for each warp, and loops over columns in
// tiles of 64:
//
//   load the left factors of the rows (queries) into registers; compute what depends on the row only
//   for each tile, unless a mask excludes it:
//     start copying the next tile's row factors (keys, values) into shared memory
//     for each part of the tile that fits in registers:
//       scores = left factors · tile (units.h gives the layout of fragments)
//       the element-wise nodes and reductions, point by point
//       accumulators += weights · tile
//   store reductions and accumulators
//
// In a kernel, score products (left factors times rows of a tile) give scores, and weighted sums
// multiply element-wise functions of the scores (weights) by rows of a tile. Values of the outer
// loop (a row's maximum, the inverse of its sum) are computed once: for rows, in registers before
// all tiles; for columns, in shared memory beside the tile.
//
// Online softmax: a running maximum, and sums that are rescaled when it grows. The nest's nodes up
// to the maximum run for all scores of a row; then the node that depends on the row only (`row`);
// then those up to the sum (`sum`); the rest runs after the last tile.
#include "run/engine/cuda/emit_cuda_own.h"

#include <ctype.h>

enum { TILE = 64, ROWS_OF_WARP = 16, WARPS_MOST = 4, BUFFERS = 2, CHUNK = 8 };

// A tile of a factor's rows in shared memory, in chunks of 16 bytes.
typedef struct {
  const char *from; // text: the address of the first row
  int64_t step;     // the row stride, in cells
  uint32_t chunks;  // in a row
  uint32_t at;      // the first chunk of the tile in a buffer
} RowTile;

// A scalar that is invariant in the inner loop and used there.
typedef struct {
  const char *type, *name;
  const char *of; // the first scalar with the same value, under whose name it is stored
} OuterScalar;

typedef struct {
  Emit *e;
  NodeLevels *w, *inside; // inside: the nodes without the mask, for scores that it does not exclude
  const Nest *s;
  bool masked;
  AttentionMask mask;
  uint32_t row_loop, column_loop; // the loops over rows and over columns
  uint32_t part;                  // columns that are computed at a time
  bool uses_wgmma;                // four warps multiply together (Hopper's wgmma)
  uint32_t row, sum;        // of an online softmax, nodes of the nest (see above); else PLAN_NONE
  RowTile *tile;            // the different tiles
  uint32_t ntile, *tile_of; // tile_of[node of the kernel]
  uint32_t buffer;          // chunks of all tiles
  VEC(OuterScalar) known, kept; // kept: one of each value
} AttentionText;

static const PlanNode *node_at(const AttentionText *t, uint32_t i) {
  return &t->e->p->node.at[t->e->k->node.at[i]];
}

static bool is_product(const AttentionText *t, uint32_t i) {
  return node_at(t, i)->kind == NODE_PRODUCT;
}
static bool multiplies_scores(const AttentionText *t, uint32_t i) {
  return is_product(t, i) && !node_makes_scores(node_at(t, i));
}

static uint32_t warps_of(int64_t rows) {
  int64_t warps = (rows + ROWS_OF_WARP - 1) / ROWS_OF_WARP;
  return warps < WARPS_MOST ? (uint32_t)warps : WARPS_MOST;
}

// -- factors --------------------------------------------------------------------------------------
static uint32_t index_of_loop(const PlanNode *x, uint32_t var) {
  uint32_t i = 0;
  while (x->var[i] != var) i++;
  return i;
}

// The number of the head dimension among the indices of a product: the one index over which the kernel
// has no loop.
static uint32_t short_index(const PlanNode *x) { return index_of_loop(x, PLAN_NONE); }

// The operand with this loop that is a factor, not scores.
static const Operand *factor_with(const Plan *p, const PlanNode *x, uint32_t var) {
  uint32_t index = index_of_loop(x, var), along = short_index(x);
  const Operand *a = &x->in[x->product->a], *b = &x->in[x->product->b];
  return operand_uses_index(p, a, index) && operand_uses_index(p, a, along) ? a : b;
}

// The offset of an operand at this point of the batch, in cells.
static const char *batch_text(const AttentionText *t, const PlanNode *x, const Operand *o) {
  const Plan *p = t->e->p;
  Buf b = buf_new(p->arena);
  buf_printf(&b, "%lldL", (long long)operand_start(p, o));
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] < t->e->k->np && operand_step(p, o, i))
      buf_printf(&b, " + %lldL * i%u", (long long)operand_step(p, o, i), x->var[i]);
  return b.at;
}

static const char *factor_text(const AttentionText *t, const PlanNode *x, const Operand *o) {
  return arena_format(t->e->p->arena, "(const char *)(w%u + %s)", t->e->slot[o->wire],
                      batch_text(t, x, o));
}

static void add_tile(AttentionText *t, uint32_t i) {
  const Plan *p = t->e->p;
  const PlanNode *x = node_at(t, i);
  const Operand *o = factor_with(p, x, t->column_loop);
  RowTile r = {.from = factor_text(t, x, o),
               .step = operand_step(p, o, index_of_loop(x, t->column_loop)),
               .chunks = (uint32_t)(x->index[short_index(x)].c / CHUNK)};
  uint32_t k = 0;
  while (k < t->ntile && (strcmp(t->tile[k].from, r.from) || t->tile[k].step != r.step ||
                          t->tile[k].chunks != r.chunks))
    k++;
  t->tile_of[i] = k;
  if (k < t->ntile) return;
  r.at = t->buffer;
  t->buffer += r.chunks * TILE;
  t->tile[t->ntile++] = r;
}

// The numbers of rows and of columns.
static int64_t rows_of(const AttentionText *t) { return t->s->dim[t->row_loop - t->e->k->np].c; }
static int64_t columns_of(const AttentionText *t) {
  return t->s->dim[t->column_loop - t->e->k->np].c;
}

// -- scalars of the outer loop --------------------------------------------------------------------
static bool is_online(const AttentionText *t) { return t->row != PLAN_NONE; }

// Nodes [from, to) of the nest.
static void emit_nodes(const AttentionText *t, const NodeLevels *w, uint32_t from, uint32_t to,
                       uint32_t level) {
  if (from < to) emit_level(t->e, w + from, to - from, level, 2);
}

// All nodes that run for each score.
static void emit_score_level(const AttentionText *t, const NodeLevels *w, uint32_t level) {
  emit_nodes(t, w, 0, is_online(t) ? t->row : t->s->node.n, level);
  if (is_online(t)) emit_nodes(t, w, t->row + 1, t->sum + 1, level);
}

static const char *level_text(const AttentionText *t, uint32_t level) {
  Emit *e = t->e;
  Buf b = buf_new(e->p->arena), *was = e->b;
  e->b = &b;
  emit_score_level(t, t->w, level);
  e->b = was;
  return b.at;
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has_name(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if (!is_name_char(at[n]) && (at == text || !is_name_char(at[-1]))) return true;
  return false;
}

// The n-th word of a line, after its indentation.
static const char *line_word(Arena *a, const char *line, uint32_t n) {
  line += strspn(line, " ");
  while (n--) line += strcspn(line, " "), line += strspn(line, " ");
  return arena_format(a, "%.*s", (int)strcspn(line, " "), line);
}

static const char *line_value(Arena *a, const char *line) {
  const char *value = strchr(line, '=') + 1;
  return arena_format(a, "%.*s", (int)strcspn(value, "\n"), value);
}

// Replaces a name by another one.
static const char *with_name(Arena *a, const char *text, const char *name, const char *by) {
  Buf b = buf_new(a);
  size_t n = strlen(name);
  for (const char *at = text; *at;) {
    bool here =
        !strncmp(at, name, n) && !is_name_char(at[n]) && (at == text || !is_name_char(at[-1]));
    here ? buf_text(&b, by) : buf_char(&b, *at);
    at += here ? n : 1;
  }
  return b.at;
}

// Value numbering on the printed text. A level is lines `const type name = value;`. Different nodes may
// compute equal values: each scalar gets the name of the first one with the same value, after the names in
// the value have been replaced in the same way.
typedef struct {
  OuterScalar number;
  const char *value;
} ScalarLine;
typedef VEC(ScalarLine) ScalarLines;

static ScalarLines scalar_lines(const AttentionText *t) {
  Arena *a = t->e->p->arena;
  ScalarLines all = {0};
  for (const char *line = level_text(t, 1); *line; line += strcspn(line, "\n") + 1) {
    ScalarLine k = {{line_word(a, line, 1), line_word(a, line, 2), NULL}, line_value(a, line)};
    uint32_t same = 0;
    for (uint32_t i = 0; i < all.n; i++)
      k.value = with_name(a, k.value, all.at[i].number.name, all.at[i].number.of);
    while (same < all.n &&
           (strcmp(all.at[same].value, k.value) || strcmp(all.at[same].number.type, k.number.type)))
      same++;
    k.number.of = same < all.n ? all.at[same].number.of : k.number.name;
    vec_push(a, &all, k);
  }
  return all;
}

static void find_outer_scalars(AttentionText *t) {
  Arena *a = t->e->p->arena;
  const char *inner = level_text(t, 2);
  ScalarLines all = scalar_lines(t);
  for (uint32_t i = 0; i < all.n; i++) {
    OuterScalar k = all.at[i].number;
    uint32_t kept = 0;
    if (!has_name(inner, k.name)) continue;
    vec_push(a, &t->known, k);
    while (kept < t->kept.n && strcmp(t->kept.at[kept].of, k.of)) kept++;
    if (kept == t->kept.n) vec_push(a, &t->kept, k);
  }
}

static bool rows_first(const AttentionText *t) { return t->row_loop < t->column_loop; }

// The bytes of column scalars in shared memory, for all buffers.
static int64_t known_bytes(const AttentionText *t) {
  enum { NUMBER_BYTES = 4 };
  return rows_first(t) ? 0 : (int64_t)t->kept.n * BUFFERS * TILE * NUMBER_BYTES;
}

// With one score product, the scores of a whole tile fit in registers.
static uint32_t choose_part(const AttentionText *t) {
  uint32_t score_products = 0;
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    score_products += is_product(t, i) && !multiplies_scores(t, i);
  return score_products > 1 ? TILE / 2 : TILE;
}

// Four warps can multiply together if all rows have a length that wgmma supports (units.h).
static bool can_use_wgmma(const AttentionText *t) {
  bool known = true;
  for (uint32_t i = 0; i < t->ntile; i++)
    known = known && (t->tile[i].chunks == 4 || t->tile[i].chunks == 8);
  return known && warps_of(rows_of(t)) == WARPS_MOST;
}

static void find_inside(AttentionText *t) {
  const Plan *p = t->e->p;
  t->masked = attention_mask(p, t->e->k, &t->mask);
  if (!t->masked) return;
  t->inside = arena_copy(p->arena, t->w, t->s->node.n * sizeof *t->w);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    t->inside[i].x = attention_inside_mask(p, t->w[i].x, t->mask);
}

static AttentionText attention_text(Emit *e) {
  uint32_t n = e->k->node.n;
  AttentionText t = {.e = e,
                     .w = nest_levels(e->p, e->k, 0),
                     .s = &e->k->nest.at[0],
                     .column_loop = attention_summed_loop(e->p, e->k),
                     .tile = NEW_ARRAY(e->p->arena, RowTile, n + 1),
                     .tile_of = NEW_ARRAY(e->p->arena, uint32_t, n + 1)};
  t.row_loop = 2 * e->k->np + 1 - t.column_loop;
  for (uint32_t i = 0; i < n; i++)
    if (is_product(&t, i)) add_tile(&t, i);
  t.part = choose_part(&t);
  t.uses_wgmma = can_use_wgmma(&t);
  t.row = t.sum = attention_row_node(e->p, e->k);
  while (is_online(&t) && !node_has_reduction(t.w[t.sum].x)) t.sum++;
  e->exp_less = rows_first(&t);
  find_inside(&t);
  find_outer_scalars(&t);
  return t;
}

// -- the beginning of a block ---------------------------------------------------------------------
static void emit_left_factors(const AttentionText *t) {
  const Plan *p = t->e->p;
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!is_product(t, i) || multiplies_scores(t, i)) continue;
    const PlanNode *x = node_at(t, i);
    const Operand *o = factor_with(p, x, t->row_loop);
    int64_t steps = x->index[short_index(x)].c / 16;
    emit_line(t->e, "Bits32 left%u[%lld][4];", i, (long long)steps);
    emit_line(t->e, "limn_left(left%u, %s, %lldL, first + mine, %lld, %lld);", i,
              factor_text(t, x, o), (long long)operand_step(p, o, index_of_loop(x, t->row_loop)),
              (long long)rows_of(t), (long long)steps);
  }
}

static void emit_sums(const AttentionText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    const PlanNode *x = node_at(t, i);
    if (multiplies_scores(t, i)) {
      long long groups = (long long)(x->index[short_index(x)].c / 8);
      emit_line(t->e, "float sum%u[%lld][4]; limn_clear(sum%u, %lld);", i, groups, i, groups);
    } else if (!is_product(t, i) && node_has_reduction(x)) {
      const char *none = emit_identity(t->e, x);
      emit_line(t->e, "%s rows%u[2] = {%s, %s};", emit_sum_type(t->e, x), i, none, none);
      if (x->nwinner) emit_line(t->e, "int bads%u[2] = {0, 0};", i);
    }
  }
}

static void emit_tile_copy(const AttentionText *t, const char *tile) {
  for (uint32_t i = 0; i < t->ntile; i++)
    emit_line(t->e, "limn_send_rows(all + ((%s) & %d) * %u + %u, %s, %lldL, (%s) * %d, %lld, %u);",
              tile, BUFFERS - 1, t->buffer, t->tile[i].at, t->tile[i].from,
              (long long)t->tile[i].step, tile, TILE, (long long)columns_of(t), t->tile[i].chunks);
  emit_line(t->e, "limn_sent();");
}

// -- a tile ---------------------------------------------------------------------------------------
// The row stride of a tile, in chunks (units.h).
static uint32_t row_of(const RowTile *r) { return r->chunks < CHUNK ? r->chunks : CHUNK; }

// Waits for the asynchronous products.
static void emit_product_wait(const AttentionText *t, bool weighted) {
  if (!t->uses_wgmma) return;
  emit_line(t->e, "LIMN_UNITS_SENT(); LIMN_UNITS_MADE(0);");
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_product(t, i) && multiplies_scores(t, i) == weighted)
      emit_line(t->e, "limn_held(%s%u, %u);", weighted ? "sum" : "got", i,
                weighted ? t->tile[t->tile_of[i]].chunks : t->part / 8);
}

static void emit_score_products(const AttentionText *t) {
  if (t->uses_wgmma) emit_line(t->e, "LIMN_UNITS_BEGIN();");
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!is_product(t, i) || multiplies_scores(t, i)) continue;
    const RowTile *r = &t->tile[t->tile_of[i]];
    emit_line(t->e, "float got%u[%u][4];", i, t->part / 8);
    emit_line(t->e, "limn_pairs(got%u, left%u, here + %u + part * %u, %u, %u, %u, %d);", i, i,
              r->at, row_of(r), t->part, r->chunks / 2, r->chunks, t->uses_wgmma);
  }
  emit_product_wait(t, false);
}

// The weight at this score: the value of the scores' factor of a weighted sum.
static const char *weight_text(const AttentionText *t, uint32_t i) {
  const Emit *e = t->e;
  const PlanNode *x = node_at(t, i);
  for (uint32_t k = 0; k < e->k->node.n; k++) {
    uint32_t made = node_at(t, k)->out.wire;
    if (made == x->in[x->product->a].wire || made == x->in[x->product->b].wire)
      return is_product(t, k) ? arena_format(e->p->arena, "w%u[0]", e->slot[made])
                              : arena_format(e->p->arena, "(float)v%u", k);
  }
  return "0";
}

// Loads the accumulator of row h from the lane's two; store_accumulator stores it.
static void load_accumulator(const AttentionText *t, uint32_t i) {
  const PlanNode *x = node_at(t, i);
  emit_line(t->e, "%s s%u = rows%u[h];", emit_sum_type(t->e, x), i, i);
  if (x->nwinner) emit_line(t->e, "int bad%u = bads%u[h];", i, i);
}

static void store_accumulator(const AttentionText *t, uint32_t i) {
  emit_line(t->e, "rows%u[h] = s%u;", i, i);
  if (node_at(t, i)->nwinner) emit_line(t->e, "bads%u[h] = bad%u;", i, i);
}

static bool is_sum(const AttentionText *t, uint32_t i) {
  return !is_product(t, i) && node_has_reduction(node_at(t, i));
}

// Declares the index of row h; after the last row, the last one again.
static void emit_row(const AttentionText *t) {
  long long rows = (long long)rows_of(t);
  if (rows % (warps_of(rows) * ROWS_OF_WARP))
    emit_line(t->e, "const int row = first + mine + 8 * h, i%u = row < %lld ? row : %lld;",
              t->row_loop, rows, rows - 1);
  else
    emit_line(t->e, "const int i%u = first + mine + 8 * h;", t->row_loop);
}

// A lane has two rows of its warp's scores, with two neighbours in every eight columns (the layout of tensor
// core accumulators). Scalars of the outer loop are read from where they were stored.
static void emit_row_loop(const AttentionText *t) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_sum(t, i)) load_accumulator(t, i);
  for (uint32_t i = 0; rows_first(t) && i < t->known.n; i++)
    emit_line(e, "const %s %s = kept_%s[h];", t->known.at[i].type, t->known.at[i].name,
              t->known.at[i].of);
}

static void close_row_loop(const AttentionText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_sum(t, i)) store_accumulator(t, i);
  emit_close(t->e);
}

// Loads the column scalars of two neighbours at once.
static void emit_known_neighbours(const AttentionText *t) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "const LimnTwo_%s two_%s = ((const LimnTwo_%s *)(kept_%s + even))[two / 2 * 4];",
              t->kept.at[i].type, t->kept.at[i].of, t->kept.at[i].type, t->kept.at[i].of);
}

static void emit_column_loop(const AttentionText *t) {
  Emit *e = t->e;
  long long columns = (long long)columns_of(t);
  emit_line(e, "UNROLL for (int two = 0; two < %u; two += 2) {", t->part / 4);
  e->indent++;
  if (!rows_first(t)) emit_known_neighbours(t);
  emit_line(e, "UNROLL for (int f = two; f < two + 2; f++) {");
  e->indent++;
  emit_line(e, "const int i%u = tile * %d + part + lane %% 4 * 2 + (f / 2 * 8 + f %% 2);",
            t->column_loop, TILE);
  if (columns % TILE) emit_line(e, "if (i%u >= %lld) continue;", t->column_loop, columns);
  for (uint32_t i = 0; !rows_first(t) && i < t->known.n; i++)
    emit_line(e, "const %s %s = two_%s.at[f %% 2];", t->known.at[i].type, t->known.at[i].name,
              t->known.at[i].of);
}

static void close_column_loop(const AttentionText *t) { emit_close_all(t->e, 2); }

// Computes the row scalars of a lane's two rows, before all tiles.
static void emit_known_rows(const AttentionText *t) {
  Emit *e = t->e;
  if (!rows_first(t) || !t->kept.n) return;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "%s kept_%s[2];", t->kept.at[i].type, t->kept.at[i].of);
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  emit_score_level(t, t->w, 1);
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "kept_%s[h] = %s;", t->kept.at[i].of, t->kept.at[i].of);
  emit_close(e);
}

// Column scalars are stored after the tiles.
static void emit_column_pointers(const AttentionText *t) {
  for (uint32_t i = 0; !rows_first(t) && i < t->kept.n; i++)
    emit_line(t->e, "%s *kept_%s = (%s *)(all + %u) + %u;", t->kept.at[i].type, t->kept.at[i].of,
              t->kept.at[i].type, t->buffer * BUFFERS, i * BUFFERS * TILE);
}

// Computes the scalars of a tile's columns, one column for each lane, in variables; emit_put_columns stores
// them after the previous tile has been processed.
static void emit_known_columns(const AttentionText *t, const char *tile) {
  Emit *e = t->e;
  long long columns = (long long)columns_of(t);
  if (rows_first(t) || !t->kept.n) return;
  emit_open(e);
  emit_line(e, "const int column = (%s) * %d + (int)threadIdx.x %% %d;", tile, TILE, TILE);
  emit_line(e, "const int i%u = column < %lld ? column : %lld;", t->column_loop, columns,
            columns - 1);
  emit_score_level(t, t->w, 1);
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "next_%s = %s;", t->kept.at[i].of, t->kept.at[i].of);
  emit_close(e);
}

static void emit_known_next(const AttentionText *t) {
  for (uint32_t i = 0; !rows_first(t) && i < t->kept.n; i++)
    emit_line(t->e, "%s next_%s = 0;", t->kept.at[i].type, t->kept.at[i].of);
}

static void emit_put_columns(const AttentionText *t, const char *tile) {
  Emit *e = t->e;
  if (rows_first(t) || !t->kept.n) return;
  emit_line(e, "if (threadIdx.x < %d) {", TILE);
  e->indent++;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "kept_%s[((%s) & %d) * %d + threadIdx.x] = next_%s;", t->kept.at[i].of, tile,
              BUFFERS - 1, TILE, t->kept.at[i].of);
  emit_close(e);
}

static void emit_scores(const AttentionText *t) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_product(t, i) && !multiplies_scores(t, i))
      emit_line(e, "const float w%u[1] = {got%u[f / 2][2 * h + f %% 2]};",
                e->slot[node_at(t, i)->out.wire], i);
}

static void emit_point(const AttentionText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_scores(t);
  emit_nodes(t, w, 0, t->s->node.n, 2);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (multiplies_scores(t, i))
      emit_line(e, "weight%u[f / 2][2 * h + f %% 2] = %s;", i, weight_text(t, i));
}

// -- online softmax -------------------------------------------------------------------------------
static const NodeLevels *maximum_node(const AttentionText *t) { return &t->w[t->row - 1]; }
// The name of the exponential, the term of the sum.
static const char *exponential_text(const AttentionText *t) {
  return arena_format(t->e->p->arena, "v%u", t->w[t->sum - 1].id);
}

// Declares a wire of one cell with a value in a register.
static void emit_register_wire(const AttentionText *t, uint32_t wire, const char *value) {
  emit_line(t->e, "const float w%u[1] = {%s};", t->e->slot[wire], value);
}

// Computes the row's node from the running maximum.
static void emit_row_node(const AttentionText *t) {
  Emit *e = t->e;
  const NodeLevels *w = &t->w[t->row];
  uint32_t last = w->x->nscalar - 1;
  emit_register_wire(t, w->x->in[0].wire, arena_format(e->p->arena, "s%u", maximum_node(t)->id));
  for (uint32_t i = 0; i <= last; i++)
    if (w->scalar_level[i] == 1) emit_scalar(e, w, i);
  emit_line(e, "const real v%u = %s;", w->id, emit_argument(e, w, last, last));
}

// … from the final maximum, and stores it.
static void emit_row_out(const AttentionText *t) {
  const NodeLevels *w = &t->w[t->row];
  emit_row_node(t);
  emit_line(t->e, "%s = v%u;", emit_cell_at(t->e, w, &w->x->out), w->id);
}

static void emit_online_begin(const AttentionText *t) {
  Emit *e = t->e;
  if (!is_online(t)) return;
  emit_line(e, "real was[2];");
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  load_accumulator(t, maximum_node(t)->id);
  emit_row_node(t);
  emit_line(e, "was[h] = v%u;", t->w[t->row].id);
  emit_close(e);
}

// Rescales the sums when the running maximum grows. The four lanes of a row first agree on the maximum,
// because they share the accumulators of products.
static void emit_rescale(const AttentionText *t) {
  Emit *e = t->e;
  uint32_t max = maximum_node(t)->id, row = t->w[t->row].id, sum = t->w[t->sum].id;
  emit_line(e, "UNROLL for (int far = 1; far < 4; far *= 2) {");
  e->indent++;
  emit_line(e, "const real v = near_real(s%u, LANE ^ far);", max);
  emit_line(e, "s%u = limn_larger(v, s%u);", max, max);
  emit_close(e);
  emit_row_node(t);
  emit_line(e, "const float by = float_exp(was[h] - v%u);", row);
  emit_line(e, "was[h] = v%u;", row);
  emit_line(e, "s%u *= by;", sum);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (multiplies_scores(t, i)) {
      const PlanNode *x = node_at(t, i);
      emit_line(e, "limn_shrink(sum%u, %lld, h, by);", i,
                (long long)(x->index[short_index(x)].c / 8));
    }
}

static void emit_online_points(const AttentionText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_row_loop(t);
  emit_column_loop(t);
  emit_scores(t);
  emit_nodes(t, w, 0, t->row - 1, 2);
  emit_line(e, "s%u = limn_larger(%s, s%u);", maximum_node(t)->id, emit_load(e, maximum_node(t), 0),
            maximum_node(t)->id);
  close_column_loop(t);
  emit_rescale(t);
  emit_column_loop(t);
  emit_scores(t);
  emit_nodes(t, w, 0, t->row - 1, 2);
  emit_nodes(t, w, t->row + 1, t->sum + 1, 2);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (multiplies_scores(t, i))
      emit_line(e, "weight%u[f / 2][2 * h + f %% 2] = %s;", i, exponential_text(t));
  close_column_loop(t);
  close_row_loop(t);
}

static void emit_points(const AttentionText *t, const NodeLevels *w) {
  if (is_online(t)) {
    emit_online_points(t, w);
    return;
  }
  rows_first(t) ? emit_row_loop(t) : emit_column_loop(t);
  rows_first(t) ? emit_column_loop(t) : emit_row_loop(t);
  emit_point(t, w);
  rows_first(t) ? close_column_loop(t) : close_row_loop(t);
  rows_first(t) ? close_row_loop(t) : close_column_loop(t);
}

static void emit_weights(const AttentionText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (multiplies_scores(t, i)) {
      emit_line(t->e, "float weight%u[%u][4];", i, t->part / 8);
      if (columns_of(t) % TILE) emit_line(t->e, "limn_clear(weight%u, %u);", i, t->part / 8);
    }
}

// Skips this part if the mask excludes all of the warp's scores; warps that multiply together decide together.
static void emit_mask_skip(const AttentionText *t) {
  bool less = t->mask.less == t->column_loop;
  const char *row = t->uses_wgmma ? "first" : "row";
  uint32_t rows = t->uses_wgmma ? ROWS_OF_WARP * WARPS_MOST : ROWS_OF_WARP;
  emit_line(t->e, "const int column = tile * %d + part, row = first + mine - lane / 4;", TILE);
  emit_line(t->e, "if (%s >%s %s) continue;", less ? "column" : row, t->mask.strict ? "=" : "",
            less ? arena_format(t->e->p->arena, "%s + %u", row, rows - 1)
                 : arena_format(t->e->p->arena, "column + %u", t->part - 1));
}

static const char *inside_text(const AttentionText *t) {
  const char *is = t->mask.strict ? "<" : "<=";
  return t->mask.less == t->column_loop
             ? arena_format(t->e->p->arena, "column + %u %s row", t->part - 1, is)
             : arena_format(t->e->p->arena, "row + %d %s column", ROWS_OF_WARP - 1, is);
}

// Most parts are not cut by the mask: they get a copy of the code without the mask.
static void emit_masked_points(const AttentionText *t) {
  Emit *e = t->e;
  if (!t->masked) {
    emit_points(t, t->w);
    return;
  }
  emit_line(e, "if (%s) {", inside_text(t));
  e->indent++;
  emit_points(t, t->inside);
  e->indent--;
  emit_line(e, "} else {");
  e->indent++;
  emit_points(t, t->w);
  emit_close(e);
}

static void emit_weighted_sums(const AttentionText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (multiplies_scores(t, i))
      emit_line(t->e, "Bits32 lefts%u[%u][4]; limn_weights(lefts%u, weight%u, %u);", i,
                t->part / 16, i, i, t->part);
  if (t->uses_wgmma) emit_line(t->e, "LIMN_UNITS_BEGIN();");
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!multiplies_scores(t, i)) continue;
    const RowTile *r = &t->tile[t->tile_of[i]];
    emit_line(t->e, "limn_weigh(sum%u, lefts%u, here + %u + part * %u, %u, %u, %d);", i, i, r->at,
              row_of(r), t->part, r->chunks, t->uses_wgmma);
  }
  emit_product_wait(t, true);
}

// Declares the block's first row. With a mask, blocks with the most tiles start first (load balancing).
static void emit_first_row(const AttentionText *t, const char *batch, long long blocks,
                           int64_t rows) {
  if (t->masked && t->mask.less == t->column_loop)
    emit_line(t->e, "const int first = (int)(%lldL - q / (%s)) * %lld;", blocks - 1, batch,
              (long long)rows);
  else
    emit_line(t->e, "const int first = (int)(q / (%s)) * %lld;", batch, (long long)rows);
}

// The range of tiles of this block: all that the mask does not exclude.
static void emit_range(const AttentionText *t, int64_t rows) {
  Emit *e = t->e;
  emit_line(e, "int begin = 0, end = %lld;", (long long)((columns_of(t) + TILE - 1) / TILE));
  if (!t->masked) return;
  const char *or_same = t->mask.strict ? "=" : "";
  if (t->mask.less == t->column_loop) // the tile's first column is after the last row
    emit_line(e, "while (end > begin && (end - 1) * %d >%s first + %lld) end--;", TILE, or_same,
              (long long)rows - 1);
  else // the tile's last column is before the first row
    emit_line(e, "while (begin < end && begin * %d + %d <%s first) begin++;", TILE, TILE - 1,
              or_same);
}

static void emit_tiles(const AttentionText *t) {
  Emit *e = t->e;
  emit_line(e, "if (begin < end) {");
  e->indent++;
  emit_tile_copy(t, "begin");
  emit_known_next(t);
  emit_known_columns(t, "begin");
  emit_put_columns(t, "begin");
  emit_close(e);
  emit_line(e, "for (int tile = begin; tile < end; tile++) {");
  e->indent++;
  emit_line(e, "const LimnEight *here = all + (tile & %d) * %u;", BUFFERS - 1, t->buffer);
  emit_line(e, "LIMN_ARRIVED(0);");
  if (t->uses_wgmma) emit_line(e, "LIMN_TILE_READY();");
  emit_line(e, "__syncthreads();");
  emit_known_next(t);
  emit_line(e, "if (tile + 1 < end) {");
  e->indent++;
  emit_tile_copy(t, "tile + 1");
  emit_known_columns(t, "tile + 1");
  emit_close(e);
  emit_line(e, "for (int part = 0; part < %d; part += %u) {", TILE, t->part);
  e->indent++;
  if (!rows_first(t) && t->known.n)
    emit_line(e, "const int even = (tile & %d) * %d + part + lane %% 4 * 2;", BUFFERS - 1, TILE);
  if (t->masked) emit_mask_skip(t);
  emit_score_products(t);
  emit_weights(t);
  emit_masked_points(t);
  emit_weighted_sums(t);
  emit_close(e);
  emit_put_columns(t, "tile + 1");
  emit_close(e);
  emit_line(e, "__syncthreads();");
}

// -- the end of a block ---------------------------------------------------------------------------
static void emit_sum_out(const AttentionText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_line(e, "const int i%u = first + mine + 8 * h;", t->row_loop);
  load_accumulator(t, w->id);
  emit_line(e, "for (int far = 1; far < 4; far *= 2) {");
  e->indent++;
  emit_line(e, "const int other = LANE ^ far;");
  cuda_join(e, w, "near");
  emit_close(e);
  if (is_online(t)) store_accumulator(t, w->id);
  emit_line(e, "if ((lane %% 4 == 0) & (i%u < %lld)) {", t->row_loop, (long long)rows_of(t));
  e->indent++;
  emit_close_sum(e, w);
  if (is_online(t) && w == maximum_node(t)) emit_row_out(t);
  emit_close(e);
  emit_close(e);
}

// If the sum of exponentials is NaN, the maximum becomes NaN, too.
static void emit_nan_flags(const AttentionText *t) {
  if (!is_online(t) || !maximum_node(t)->x->nwinner) return;
  emit_line(t->e, "UNROLL for (int h = 0; h < 2; h++) bads%u[h] = rows%u[h] != rows%u[h];",
            maximum_node(t)->id, t->w[t->sum].id, t->w[t->sum].id);
}

// Online softmax: prints the row level of the nodes after the sum.
static void emit_last_row(const AttentionText *t) {
  const char *sum = arena_format(t->e->p->arena, "rows%u[h]", t->w[t->sum].id);
  bool at_hand = false;
  for (uint32_t i = t->sum + 1; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      uint32_t wire = t->w[i].x->in[k].wire;
      if (t->e->p->wire.at[wire].place != AT_TILE || at_hand) continue;
      emit_register_wire(t, wire, sum);
      at_hand = true;
    }
  emit_nodes(t, t->w, t->sum + 1, t->s->node.n, 1);
}

// Two neighbours in a row of the result are contiguous and aligned, so they can be stored together.
static bool is_even_result(const AttentionText *t, const PlanNode *x) {
  const Plan *p = t->e->p;
  const Operand *o = &x->out;
  if (!wire_is_aligned(p, o->wire, 2) || operand_start(p, o) % 2 ||
      operand_step(p, o, short_index(x)) != 1)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != short_index(x) && operand_step(p, o, i) % 2) return false;
  return true;
}

static void emit_neighbours_out(const AttentionText *t, uint32_t i) {
  Emit *e = t->e;
  const PlanNode *x = node_at(t, i);
  const Operand *o = &x->out;
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16;
  long long along = (long long)operand_step(e->p, o, short_index(x));
  const char *cell = arena_format(
      e->p->arena, "w%u[%s + %lldL * i%u + %lldL * (two * 4 + lane %% 4 * 2", e->slot[o->wire],
      batch_text(t, x, o), (long long)operand_step(e->p, o, index_of_loop(x, t->row_loop)),
      t->row_loop, along);
  if (is_even_result(t, x))
    emit_line(e, "limn_put_two%s(&%s)], made[0], made[1]);", narrow ? "_narrow" : "", cell);
  else
    emit_line(e, "UNROLL for (int u = 0; u < 2; u++) %s + u)] = %s(made[u]);", cell,
              narrow ? "limn_narrow" : "");
}

static void emit_product_out(const AttentionText *t, uint32_t i) {
  Emit *e = t->e;
  const PlanNode *x = node_at(t, i);
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  if (is_online(t)) emit_last_row(t);
  emit_line(e, "UNROLL for (int two = 0; two < %lld; two += 2) {",
            (long long)(x->index[short_index(x)].c / 4));
  e->indent++;
  emit_line(e, "float made[2];");
  emit_line(e, "UNROLL for (int u = 0; u < 2; u++) {");
  e->indent++;
  emit_line(e, "const real %s = sum%u[two / 2][2 * h + u];",
            is_online(t) ? exponential_text(t) : "whole", i);
  if (is_online(t)) emit_nodes(t, t->w, t->sum + 1, t->s->node.n, 2);
  emit_line(e, "made[u] = %s;", is_online(t) ? weight_text(t, i) : "whole");
  emit_close(e);
  emit_line(e, "if (first + mine + 8 * h < %lld) {", (long long)rows_of(t));
  e->indent++;
  emit_neighbours_out(t, i);
  emit_close_all(e, 3);
}

static void emit_results(const AttentionText *t) {
  emit_nan_flags(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (node_has_reduction(t->w[i].x)) emit_sum_out(t, &t->w[i]);
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (multiplies_scores(t, i)) emit_product_out(t, i);
}

// -- the kernel -----------------------------------------------------------------------------------
// The registers that a lane needs throughout: factors and scores of score products, accumulators
// and weights of weighted sums.
static int64_t registers_needed(const AttentionText *t) {
  int64_t held = 0, of_part = t->part / 2;
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_product(t, i)) {
      int64_t along = node_at(t, i)->index[short_index(node_at(t, i))].c;
      held += (multiplies_scores(t, i) ? along / 2 : along / 4) + of_part;
    }
  return held;
}

// Occupancy: several blocks on a multiprocessor hide each other's latency, as far as registers allow.
static uint32_t occupancy_of(const AttentionText *t) {
  int64_t held = registers_needed(t);
  return held <= 112 ? 4 : held <= 160 ? 3 : 0;
}

void attention_choose(Emit *e, CudaKernel *c) {
  const Kernel *k = e->k;
  for (uint32_t i = 0; i < e->entry->slot.n; i++) e->slot[e->entry->slot.at[i]] = i;
  AttentionText t = attention_text(e);
  uint32_t warps = warps_of(rows_of(&t));
  int64_t rows = warps * ROWS_OF_WARP, blocks = (rows_of(&t) + rows - 1) / rows;
  c->team = warps * WARP;
  c->teams = 1;
  c->points = cuda_length_most(e->p, k->p, 0, k->np) * blocks;
  c->tile_bytes = (int64_t)t.buffer * BUFFERS * 16 + known_bytes(&t);
  c->shared = true;
  c->min_blocks = occupancy_of(&t);
  e->exp_less = false;
}

void attention_emit(Emit *e, const CudaKernel *c) {
  const Kernel *k = e->k;
  AttentionText t = attention_text(e);
  int64_t rows = c->team / WARP * ROWS_OF_WARP;
  long long blocks = (long long)((rows_of(&t) + rows - 1) / rows);
  emit_line(e, "LimnEight *all = (LimnEight *)tiles;");
  emit_column_pointers(&t);
  emit_line(
      e,
      "const int lane = (int)(threadIdx.x %% 32), mine = (int)(threadIdx.x / 32 * %d) + lane / 4;",
      ROWS_OF_WARP);
  cuda_uniforms(e, t.w, t.s->node.n);
  const char *batch = cuda_length(e, k->p, 0, k->np);
  emit_line(e, "const long points = %s * %lldL;", batch, blocks);
  emit_line(e, "for (long q = blockIdx.x; q < points; q += gridDim.x) {");
  e->indent++;
  emit_first_row(&t, batch, blocks, rows);
  emit_range(&t, rows);
  cuda_digits(e, arena_format(e->p->arena, "q %% (%s)", batch), 0, k->p, 0, k->np);
  emit_level(e, t.w, t.s->node.n, 0, 2);
  emit_left_factors(&t);
  emit_known_rows(&t);
  emit_sums(&t);
  emit_online_begin(&t);
  emit_tiles(&t);
  emit_results(&t);
  emit_close(e);
  e->exp_less = false;
}
