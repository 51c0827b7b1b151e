// A kernel of pairs (run/plan/flash_attention.c) as CUDA C. A block has some places that stay, sixteen for each warp, and walks
// over the others in tiles of 64:
//
//   left factors of the places that stay, in registers; what is known of each of them
//   for each tile:
//     the next tile's rows are sent into shared memory
//     for each part of it, since registers are few, unless a mask leaves nothing of it:
//     products of left factors and rows: pairs, in registers (units.h says who has which)
//     what is made of pairs, point by point; sums of them
//     products of pairs and rows, added up in registers
//   sums and products, into memory
//
// A row factor that several products read is in shared memory once. What the outer of both loops knows (a row's
// largest number, the inverse of its sum) is made once for a place: of those that stay, in registers in front of
// all tiles; of those that are walked over, in shared memory beside the tile's rows.
//
// A softmax in one walk (run/plan/online_softmax.c) uses the largest number so far, and makes the sums that it has
// smaller when that grows. Of the nest's nodes the first ones, up to the largest number, are worked on for all of a
// row's pairs; then the one that has no column; then those up to the sum; what is left is made of sums in the end.
#include "run/engine/cuda/emit_cuda_own.h"

#include <ctype.h>

enum { TILE = 64, ROWS_OF_WARP = 16, WARPS_MOST = 4, BUFFERS = 2, CHUNK = 8 };

// Rows of a factor in shared memory.
typedef struct {
  const char *from; // text: where the first place's row begins
  int64_t step;     // from one row to the next, in cells
  uint32_t chunks;  // in a row
  uint32_t at;      // its first chunk in a buffer
} RowTile;

// A number that the outer of both loops knows and the inner one reads.
typedef struct {
  const char *type, *name;
  const char *of; // the first one with the same value, by which it is kept
} KnownNumber;

typedef struct {
  Emit *e;
  NodeLevels *w, *inside; // inside: the same for pairs that are known to lie inside of the mask
  const Nest *s;
  bool masked;
  AttentionMask mask;
  uint32_t stays, summed; // the numbers of both loops
  uint32_t part;          // columns that are worked on at a time
  bool together;          // all warps multiply at once
  uint32_t row,
      sum; // of a walk: the nest's nodes that have no column, and whose sum is made smaller; else PLAN_NONE
  RowTile *tile;                // different ones
  uint32_t ntile, *tile_of;     // [node of the kernel]
  uint32_t buffer;              // chunks
  VEC(KnownNumber) known, kept; // kept: those of different values
} PairsText;

static const PlanNode *node_at(const PairsText *t, uint32_t i) {
  return &t->e->p->node.at[t->e->k->node.at[i]];
}

static bool is_product(const PairsText *t, uint32_t i) {
  return node_at(t, i)->kind == NODE_PRODUCT;
}
static bool is_weighing(const PairsText *t, uint32_t i) {
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

// The index of a product that is no loop: of its short sum, or along the rows of its result.
static uint32_t short_index(const PlanNode *x) { return index_of_loop(x, PLAN_NONE); }

// The operand that has this loop, and is no pairs.
static const Operand *factor_with(const Plan *p, const PlanNode *x, uint32_t var) {
  uint32_t index = index_of_loop(x, var), along = short_index(x);
  const Operand *a = &x->in[x->product->a], *b = &x->in[x->product->b];
  return operand_uses_index(p, a, index) && operand_uses_index(p, a, along) ? a : b;
}

// Where an operand begins at this point of the batch, as cells.
static const char *batch_text(const PairsText *t, const PlanNode *x, const Operand *o) {
  const Plan *p = t->e->p;
  Buf b = buf_new(p->arena);
  buf_printf(&b, "%lldL", (long long)operand_start(p, o));
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] < t->e->k->np && operand_step(p, o, i))
      buf_printf(&b, " + %lldL * i%u", (long long)operand_step(p, o, i), x->var[i]);
  return b.at;
}

static const char *factor_text(const PairsText *t, const PlanNode *x, const Operand *o) {
  return arena_format(t->e->p->arena, "(const char *)(w%u + %s)", t->e->slot[o->wire],
                      batch_text(t, x, o));
}

static void add_tile(PairsText *t, uint32_t i) {
  const Plan *p = t->e->p;
  const PlanNode *x = node_at(t, i);
  const Operand *o = factor_with(p, x, t->summed);
  RowTile r = {.from = factor_text(t, x, o),
               .step = operand_step(p, o, index_of_loop(x, t->summed)),
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

// How many places stay, and over how many others it walks.
static int64_t rows_of(const PairsText *t) { return t->s->dim[t->stays - t->e->k->np].c; }
static int64_t columns_of(const PairsText *t) { return t->s->dim[t->summed - t->e->k->np].c; }

// -- what the outer of both loops knows -----------------------------------------------------------
static bool is_walk(const PairsText *t) { return t->row != PLAN_NONE; }

// Nodes [from, to) of the nest.
static void emit_some(const PairsText *t, const NodeLevels *w, uint32_t from, uint32_t to,
                      uint32_t level) {
  if (from < to) emit_level(t->e, w + from, to - from, level, 2);
}

// All nodes that are worked on for each pair.
static void emit_pair_level(const PairsText *t, const NodeLevels *w, uint32_t level) {
  emit_some(t, w, 0, is_walk(t) ? t->row : t->s->node.n, level);
  if (is_walk(t)) emit_some(t, w, t->row + 1, t->sum + 1, level);
}

static const char *level_text(const PairsText *t, uint32_t level) {
  Emit *e = t->e;
  Buf b = buf_new(e->p->arena), *was = e->b;
  e->b = &b;
  emit_pair_level(t, t->w, level);
  e->b = was;
  return b.at;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool has_name(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if (!is_of_name(at[n]) && (at == text || !is_of_name(at[-1]))) return true;
  return false;
}

// The n-th word of a line, behind its indentation.
static const char *line_word(Arena *a, const char *line, uint32_t n) {
  line += strspn(line, " ");
  while (n--) line += strcspn(line, " "), line += strspn(line, " ");
  return arena_format(a, "%.*s", (int)strcspn(line, " "), line);
}

static const char *line_value(Arena *a, const char *line) {
  const char *value = strchr(line, '=') + 1;
  return arena_format(a, "%.*s", (int)strcspn(value, "\n"), value);
}

// A name wherever it stands in a text, by another one.
static const char *with_name(Arena *a, const char *text, const char *name, const char *by) {
  Buf b = buf_new(a);
  size_t n = strlen(name);
  for (const char *at = text; *at;) {
    bool here = !strncmp(at, name, n) && !is_of_name(at[n]) && (at == text || !is_of_name(at[-1]));
    here ? buf_text(&b, by) : buf_char(&b, *at);
    at += here ? n : 1;
  }
  return b.at;
}

// A level is lines `const type name = value;`. Different nodes may say the same: a number is of the first one whose
// value is the same, once names in it are of theirs.
typedef struct {
  KnownNumber number;
  const char *value;
} KnownLine;
typedef VEC(KnownLine) KnownLines;

static KnownLines known_lines(const PairsText *t) {
  Arena *a = t->e->p->arena;
  KnownLines all = {0};
  for (const char *line = level_text(t, 1); *line; line += strcspn(line, "\n") + 1) {
    KnownLine k = {{line_word(a, line, 1), line_word(a, line, 2), NULL}, line_value(a, line)};
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

static void find_known(PairsText *t) {
  Arena *a = t->e->p->arena;
  const char *inner = level_text(t, 2);
  KnownLines all = known_lines(t);
  for (uint32_t i = 0; i < all.n; i++) {
    KnownNumber k = all.at[i].number;
    uint32_t kept = 0;
    if (!has_name(inner, k.name)) continue;
    vec_push(a, &t->known, k);
    while (kept < t->kept.n && strcmp(t->kept.at[kept].of, k.of)) kept++;
    if (kept == t->kept.n) vec_push(a, &t->kept, k);
  }
}

static bool rows_first(const PairsText *t) { return t->stays < t->summed; }

// In shared memory: of each number, a tile's columns for each buffer.
static int64_t known_bytes(const PairsText *t) {
  enum { NUMBER_BYTES = 4 };
  return rows_first(t) ? 0 : (int64_t)t->kept.n * BUFFERS * TILE * NUMBER_BYTES;
}

// One product leaves registers for a whole tile's pairs.
static uint32_t part_of(const PairsText *t) {
  uint32_t seeds = 0;
  for (uint32_t i = 0; i < t->e->k->node.n; i++) seeds += is_product(t, i) && !is_weighing(t, i);
  return seeds > 1 ? TILE / 2 : TILE;
}

// Four warps multiply together by a tile whose rows have a length that the units know (units.h).
static bool is_together(const PairsText *t) {
  bool known = true;
  for (uint32_t i = 0; i < t->ntile; i++)
    known = known && (t->tile[i].chunks == 4 || t->tile[i].chunks == 8);
  return known && warps_of(rows_of(t)) == WARPS_MOST;
}

static void find_inside(PairsText *t) {
  const Plan *p = t->e->p;
  t->masked = attention_mask(p, t->e->k, &t->mask);
  if (!t->masked) return;
  t->inside = arena_copy(p->arena, t->w, t->s->node.n * sizeof *t->w);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    t->inside[i].x = attention_inside_mask(p, t->w[i].x, t->mask);
}

static PairsText pairs_text(Emit *e) {
  uint32_t n = e->k->node.n;
  PairsText t = {.e = e,
                 .w = nest_levels(e->p, e->k, 0),
                 .s = &e->k->nest.at[0],
                 .summed = attention_summed_loop(e->p, e->k),
                 .tile = NEW_ARRAY(e->p->arena, RowTile, n + 1),
                 .tile_of = NEW_ARRAY(e->p->arena, uint32_t, n + 1)};
  t.stays = 2 * e->k->np + 1 - t.summed;
  for (uint32_t i = 0; i < n; i++)
    if (is_product(&t, i)) add_tile(&t, i);
  t.part = part_of(&t);
  t.together = is_together(&t);
  t.row = t.sum = attention_row_node(e->p, e->k);
  while (is_walk(&t) && !node_has_reduction(t.w[t.sum].x)) t.sum++;
  e->exp_less = rows_first(&t);
  find_inside(&t);
  find_known(&t);
  return t;
}

// -- what a block begins with ---------------------------------------------------------------------
static void emit_lefts(const PairsText *t) {
  const Plan *p = t->e->p;
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!is_product(t, i) || is_weighing(t, i)) continue;
    const PlanNode *x = node_at(t, i);
    const Operand *o = factor_with(p, x, t->stays);
    int64_t steps = x->index[short_index(x)].c / 16;
    emit_line(t->e, "Bits32 left%u[%lld][4];", i, (long long)steps);
    emit_line(t->e, "limn_left(left%u, %s, %lldL, first + mine, %lld, %lld);", i,
              factor_text(t, x, o), (long long)operand_step(p, o, index_of_loop(x, t->stays)),
              (long long)rows_of(t), (long long)steps);
  }
}

static void emit_sums(const PairsText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    const PlanNode *x = node_at(t, i);
    if (is_weighing(t, i)) {
      long long groups = (long long)(x->index[short_index(x)].c / 8);
      emit_line(t->e, "float sum%u[%lld][4]; limn_clear(sum%u, %lld);", i, groups, i, groups);
    } else if (!is_product(t, i) && node_has_reduction(x)) {
      const char *none = emit_identity(t->e, x);
      emit_line(t->e, "%s rows%u[2] = {%s, %s};", emit_sum_type(t->e, x), i, none, none);
      if (x->nwinner) emit_line(t->e, "int bads%u[2] = {0, 0};", i);
    }
  }
}

static void emit_send(const PairsText *t, const char *tile) {
  for (uint32_t i = 0; i < t->ntile; i++)
    emit_line(t->e, "limn_send_rows(all + ((%s) & %d) * %u + %u, %s, %lldL, (%s) * %d, %lld, %u);",
              tile, BUFFERS - 1, t->buffer, t->tile[i].at, t->tile[i].from,
              (long long)t->tile[i].step, tile, TILE, (long long)columns_of(t), t->tile[i].chunks);
  emit_line(t->e, "limn_sent();");
}

// -- a tile ---------------------------------------------------------------------------------------
// Chunks from one row of a tile to the next (units.h).
static uint32_t row_of(const RowTile *r) { return r->chunks < CHUNK ? r->chunks : CHUNK; }

// Products that run on by themselves, whichever they are, have ended.
static void emit_multiplied(const PairsText *t, bool weighings) {
  if (!t->together) return;
  emit_line(t->e, "LIMN_UNITS_SENT(); LIMN_UNITS_MADE(0);");
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_product(t, i) && is_weighing(t, i) == weighings)
      emit_line(t->e, "limn_held(%s%u, %u);", weighings ? "sum" : "got", i,
                weighings ? t->tile[t->tile_of[i]].chunks : t->part / 8);
}

static void emit_seeds(const PairsText *t) {
  if (t->together) emit_line(t->e, "LIMN_UNITS_BEGIN();");
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!is_product(t, i) || is_weighing(t, i)) continue;
    const RowTile *r = &t->tile[t->tile_of[i]];
    emit_line(t->e, "float got%u[%u][4];", i, t->part / 8);
    emit_line(t->e, "limn_pairs(got%u, left%u, here + %u + part * %u, %u, %u, %u, %d);", i, i,
              r->at, row_of(r), t->part, r->chunks / 2, r->chunks, t->together);
  }
  emit_multiplied(t, false);
}

// The value that a weighing product has of the pairs at this point.
static const char *weight_text(const PairsText *t, uint32_t i) {
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

// The sum of row h, taken out of the lane's two and put back.
static void emit_take(const PairsText *t, uint32_t i) {
  const PlanNode *x = node_at(t, i);
  emit_line(t->e, "%s s%u = rows%u[h];", emit_sum_type(t->e, x), i, i);
  if (x->nwinner) emit_line(t->e, "int bad%u = bads%u[h];", i, i);
}

static void emit_put(const PairsText *t, uint32_t i) {
  emit_line(t->e, "rows%u[h] = s%u;", i, i);
  if (node_at(t, i)->nwinner) emit_line(t->e, "bads%u[h] = bad%u;", i, i);
}

static bool is_sum(const PairsText *t, uint32_t i) {
  return !is_product(t, i) && node_has_reduction(node_at(t, i));
}

// The place that stays, of row h; beyond the last one, the last one once more.
static void emit_row(const PairsText *t) {
  long long rows = (long long)rows_of(t);
  if (rows % (warps_of(rows) * ROWS_OF_WARP))
    emit_line(t->e, "const int row = first + mine + 8 * h, i%u = row < %lld ? row : %lld;",
              t->stays, rows, rows - 1);
  else
    emit_line(t->e, "const int i%u = first + mine + 8 * h;", t->stays);
}

// Of each warp's pairs a lane has two rows, of which two neighbours in each eight columns. One of both
// loops is the outer one; what is known there is taken out of where it was made.
static void emit_row_loop(const PairsText *t) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_sum(t, i)) emit_take(t, i);
  for (uint32_t i = 0; rows_first(t) && i < t->known.n; i++)
    emit_line(e, "const %s %s = kept_%s[h];", t->known.at[i].type, t->known.at[i].name,
              t->known.at[i].of);
}

static void close_row_loop(const PairsText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_sum(t, i)) emit_put(t, i);
  emit_close(t->e);
}

// Two neighbours at a time, whose numbers are read at once.
static void emit_known_neighbours(const PairsText *t) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "const LimnTwo_%s two_%s = ((const LimnTwo_%s *)(kept_%s + even))[two / 2 * 4];",
              t->kept.at[i].type, t->kept.at[i].of, t->kept.at[i].type, t->kept.at[i].of);
}

static void emit_column_loop(const PairsText *t) {
  Emit *e = t->e;
  long long columns = (long long)columns_of(t);
  emit_line(e, "UNROLL for (int two = 0; two < %u; two += 2) {", t->part / 4);
  e->indent++;
  if (!rows_first(t)) emit_known_neighbours(t);
  emit_line(e, "UNROLL for (int f = two; f < two + 2; f++) {");
  e->indent++;
  emit_line(e, "const int i%u = tile * %d + part + lane %% 4 * 2 + (f / 2 * 8 + f %% 2);",
            t->summed, TILE);
  if (columns % TILE) emit_line(e, "if (i%u >= %lld) continue;", t->summed, columns);
  for (uint32_t i = 0; !rows_first(t) && i < t->known.n; i++)
    emit_line(e, "const %s %s = two_%s.at[f %% 2];", t->known.at[i].type, t->known.at[i].name,
              t->known.at[i].of);
}

static void close_column_loop(const PairsText *t) { emit_close_all(t->e, 2); }

// What is known of both rows of a lane, in front of all tiles.
static void emit_known_rows(const PairsText *t) {
  Emit *e = t->e;
  if (!rows_first(t) || !t->kept.n) return;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "%s kept_%s[2];", t->kept.at[i].type, t->kept.at[i].of);
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  emit_pair_level(t, t->w, 1);
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "kept_%s[h] = %s;", t->kept.at[i].of, t->kept.at[i].of);
  emit_close(e);
}

// Where the columns' numbers lie: behind the tiles.
static void emit_known_places(const PairsText *t) {
  for (uint32_t i = 0; !rows_first(t) && i < t->kept.n; i++)
    emit_line(t->e, "%s *kept_%s = (%s *)(all + %u) + %u;", t->kept.at[i].type, t->kept.at[i].of,
              t->kept.at[i].type, t->buffer * BUFFERS, i * BUFFERS * TILE);
}

// What is known of a tile's columns, one for each lane. It is asked for here, as variables that are put into their
// places when the tile before has been worked on.
static void emit_known_columns(const PairsText *t, const char *tile) {
  Emit *e = t->e;
  long long columns = (long long)columns_of(t);
  if (rows_first(t) || !t->kept.n) return;
  emit_open(e);
  emit_line(e, "const int column = (%s) * %d + (int)threadIdx.x %% %d;", tile, TILE, TILE);
  emit_line(e, "const int i%u = column < %lld ? column : %lld;", t->summed, columns, columns - 1);
  emit_pair_level(t, t->w, 1);
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "next_%s = %s;", t->kept.at[i].of, t->kept.at[i].of);
  emit_close(e);
}

static void emit_known_next(const PairsText *t) {
  for (uint32_t i = 0; !rows_first(t) && i < t->kept.n; i++)
    emit_line(t->e, "%s next_%s = 0;", t->kept.at[i].type, t->kept.at[i].of);
}

static void emit_put_columns(const PairsText *t, const char *tile) {
  Emit *e = t->e;
  if (rows_first(t) || !t->kept.n) return;
  emit_line(e, "if (threadIdx.x < %d) {", TILE);
  e->indent++;
  for (uint32_t i = 0; i < t->kept.n; i++)
    emit_line(e, "kept_%s[((%s) & %d) * %d + threadIdx.x] = next_%s;", t->kept.at[i].of, tile,
              BUFFERS - 1, TILE, t->kept.at[i].of);
  emit_close(e);
}

static void emit_got(const PairsText *t) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_product(t, i) && !is_weighing(t, i))
      emit_line(e, "const float w%u[1] = {got%u[f / 2][2 * h + f %% 2]};",
                e->slot[node_at(t, i)->out.wire], i);
}

static void emit_point(const PairsText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_got(t);
  emit_some(t, w, 0, t->s->node.n, 2);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_weighing(t, i))
      emit_line(e, "weight%u[f / 2][2 * h + f %% 2] = %s;", i, weight_text(t, i));
}

// -- a walk ---------------------------------------------------------------------------------------
static const NodeLevels *max_of(const PairsText *t) { return &t->w[t->row - 1]; }
// The exponential: what the sum is of, by its name.
static const char *exponential_text(const PairsText *t) {
  return arena_format(t->e->p->arena, "v%u", t->w[t->sum - 1].id);
}

// A wire of one cell, which is at hand.
static void emit_at_hand(const PairsText *t, uint32_t wire, const char *value) {
  emit_line(t->e, "const float w%u[1] = {%s};", t->e->slot[wire], value);
}

// What is made of the largest number so far, as a variable.
static void emit_row_node(const PairsText *t) {
  Emit *e = t->e;
  const NodeLevels *w = &t->w[t->row];
  uint32_t last = w->x->nscalar - 1;
  emit_at_hand(t, w->x->in[0].wire, arena_format(e->p->arena, "s%u", max_of(t)->id));
  for (uint32_t i = 0; i <= last; i++)
    if (w->scalar_level[i] == 1) emit_scalar(e, w, i);
  emit_line(e, "const real v%u = %s;", w->id, emit_argument(e, w, last, last));
}

// … and of the largest one, in memory.
static void emit_row_out(const PairsText *t) {
  const NodeLevels *w = &t->w[t->row];
  emit_row_node(t);
  emit_line(t->e, "%s = v%u;", emit_cell_at(t->e, w, &w->x->out), w->id);
}

static void emit_walk_begin(const PairsText *t) {
  Emit *e = t->e;
  if (!is_walk(t)) return;
  emit_line(e, "real was[2];");
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  emit_take(t, max_of(t)->id);
  emit_row_node(t);
  emit_line(e, "was[h] = v%u;", t->w[t->row].id);
  emit_close(e);
}

// All four lanes of a row have the same largest number: they add to the same products.
static void emit_grow(const PairsText *t) {
  Emit *e = t->e;
  uint32_t max = max_of(t)->id, row = t->w[t->row].id, sum = t->w[t->sum].id;
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
    if (is_weighing(t, i)) {
      const PlanNode *x = node_at(t, i);
      emit_line(e, "limn_shrink(sum%u, %lld, h, by);", i,
                (long long)(x->index[short_index(x)].c / 8));
    }
}

static void emit_walk_points(const PairsText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_row_loop(t);
  emit_column_loop(t);
  emit_got(t);
  emit_some(t, w, 0, t->row - 1, 2);
  emit_line(e, "s%u = limn_larger(%s, s%u);", max_of(t)->id, emit_load(e, max_of(t), 0),
            max_of(t)->id);
  close_column_loop(t);
  emit_grow(t);
  emit_column_loop(t);
  emit_got(t);
  emit_some(t, w, 0, t->row - 1, 2);
  emit_some(t, w, t->row + 1, t->sum + 1, 2);
  for (uint32_t i = 0; i < e->k->node.n; i++)
    if (is_weighing(t, i))
      emit_line(e, "weight%u[f / 2][2 * h + f %% 2] = %s;", i, exponential_text(t));
  close_column_loop(t);
  close_row_loop(t);
}

static void emit_points(const PairsText *t, const NodeLevels *w) {
  if (is_walk(t)) {
    emit_walk_points(t, w);
    return;
  }
  rows_first(t) ? emit_row_loop(t) : emit_column_loop(t);
  rows_first(t) ? emit_column_loop(t) : emit_row_loop(t);
  emit_point(t, w);
  rows_first(t) ? close_column_loop(t) : close_row_loop(t);
  rows_first(t) ? close_row_loop(t) : close_column_loop(t);
}

static void emit_weights(const PairsText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_weighing(t, i)) {
      emit_line(t->e, "float weight%u[%u][4];", i, t->part / 8);
      if (columns_of(t) % TILE) emit_line(t->e, "limn_clear(weight%u, %u);", i, t->part / 8);
    }
}

// The corners of this warp's pairs that are nearest to the mask's border, seen from outside and from inside. Warps
// that multiply together go on together.
static void emit_corners(const PairsText *t) {
  bool less = t->mask.less == t->summed;
  const char *row = t->together ? "first" : "row";
  uint32_t rows = t->together ? ROWS_OF_WARP * WARPS_MOST : ROWS_OF_WARP;
  emit_line(t->e, "const int column = tile * %d + part, row = first + mine - lane / 4;", TILE);
  emit_line(t->e, "if (%s >%s %s) continue;", less ? "column" : row, t->mask.strict ? "=" : "",
            less ? arena_format(t->e->p->arena, "%s + %u", row, rows - 1)
                 : arena_format(t->e->p->arena, "column + %u", t->part - 1));
}

static const char *inside_text(const PairsText *t) {
  const char *is = t->mask.strict ? "<" : "<=";
  return t->mask.less == t->summed
             ? arena_format(t->e->p->arena, "column + %u %s row", t->part - 1, is)
             : arena_format(t->e->p->arena, "row + %d %s column", ROWS_OF_WARP - 1, is);
}

// Most pairs lie inside of a mask: those that a border crosses have a text of their own.
static void emit_either(const PairsText *t) {
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

static void emit_weighings(const PairsText *t) {
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_weighing(t, i))
      emit_line(t->e, "Bits32 lefts%u[%u][4]; limn_weights(lefts%u, weight%u, %u);", i,
                t->part / 16, i, i, t->part);
  if (t->together) emit_line(t->e, "LIMN_UNITS_BEGIN();");
  for (uint32_t i = 0; i < t->e->k->node.n; i++) {
    if (!is_weighing(t, i)) continue;
    const RowTile *r = &t->tile[t->tile_of[i]];
    emit_line(t->e, "limn_weigh(sum%u, lefts%u, here + %u + part * %u, %u, %u, %d);", i, i, r->at,
              row_of(r), t->part, r->chunks, t->together);
  }
  emit_multiplied(t, true);
}

// The first of the places that stay. Where a mask makes ways of different lengths, the longest begin first.
static void emit_first(const PairsText *t, const char *batch, long long blocks, int64_t rows) {
  if (t->masked && t->mask.less == t->summed)
    emit_line(t->e, "const int first = (int)(%lldL - q / (%s)) * %lld;", blocks - 1, batch,
              (long long)rows);
  else
    emit_line(t->e, "const int first = (int)(q / (%s)) * %lld;", batch, (long long)rows);
}

// The tiles that this block walks over: all of them, but for those that lie outside of a mask.
static void emit_range(const PairsText *t, int64_t rows) {
  Emit *e = t->e;
  emit_line(e, "int begin = 0, end = %lld;", (long long)((columns_of(t) + TILE - 1) / TILE));
  if (!t->masked) return;
  const char *or_same = t->mask.strict ? "=" : "";
  if (t->mask.less == t->summed) // no column of the tile comes before, or at, the last row
    emit_line(e, "while (end > begin && (end - 1) * %d >%s first + %lld) end--;", TILE, or_same,
              (long long)rows - 1);
  else // no column comes behind, or at, the first row
    emit_line(e, "while (begin < end && begin * %d + %d <%s first) begin++;", TILE, TILE - 1,
              or_same);
}

static void emit_tiles(const PairsText *t) {
  Emit *e = t->e;
  emit_line(e, "if (begin < end) {");
  e->indent++;
  emit_send(t, "begin");
  emit_known_next(t);
  emit_known_columns(t, "begin");
  emit_put_columns(t, "begin");
  emit_close(e);
  emit_line(e, "for (int tile = begin; tile < end; tile++) {");
  e->indent++;
  emit_line(e, "const LimnEight *here = all + (tile & %d) * %u;", BUFFERS - 1, t->buffer);
  emit_line(e, "LIMN_ARRIVED(0);");
  if (t->together) emit_line(e, "LIMN_TILE_READY();");
  emit_line(e, "__syncthreads();");
  emit_known_next(t);
  emit_line(e, "if (tile + 1 < end) {");
  e->indent++;
  emit_send(t, "tile + 1");
  emit_known_columns(t, "tile + 1");
  emit_close(e);
  emit_line(e, "for (int part = 0; part < %d; part += %u) {", TILE, t->part);
  e->indent++;
  if (!rows_first(t) && t->known.n)
    emit_line(e, "const int even = (tile & %d) * %d + part + lane %% 4 * 2;", BUFFERS - 1, TILE);
  if (t->masked) emit_corners(t);
  emit_seeds(t);
  emit_weights(t);
  emit_either(t);
  emit_weighings(t);
  emit_close(e);
  emit_put_columns(t, "tile + 1");
  emit_close(e);
  emit_line(e, "__syncthreads();");
}

// -- what a block ends with -----------------------------------------------------------------------
static void emit_sum_out(const PairsText *t, const NodeLevels *w) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_line(e, "const int i%u = first + mine + 8 * h;", t->stays);
  emit_take(t, w->id);
  emit_line(e, "for (int far = 1; far < 4; far *= 2) {");
  e->indent++;
  emit_line(e, "const int other = LANE ^ far;");
  cuda_join(e, w, "near");
  emit_close(e);
  if (is_walk(t)) emit_put(t, w->id);
  emit_line(e, "if ((lane %% 4 == 0) & (i%u < %lld)) {", t->stays, (long long)rows_of(t));
  e->indent++;
  emit_close_sum(e, w);
  if (is_walk(t) && w == max_of(t)) emit_row_out(t);
  emit_close(e);
  emit_close(e);
}

// Where something was no number, the sum of exponentials is none, and so is the largest.
static void emit_bads(const PairsText *t) {
  if (!is_walk(t) || !max_of(t)->x->nwinner) return;
  emit_line(t->e, "UNROLL for (int h = 0; h < 2; h++) bads%u[h] = rows%u[h] != rows%u[h];",
            max_of(t)->id, t->w[t->sum].id, t->w[t->sum].id);
}

// In a walk, what is left to make of the sums of a row: first what the row knows.
static void emit_last_row(const PairsText *t) {
  const char *sum = arena_format(t->e->p->arena, "rows%u[h]", t->w[t->sum].id);
  bool at_hand = false;
  for (uint32_t i = t->sum + 1; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      uint32_t wire = t->w[i].x->in[k].wire;
      if (t->e->p->wire.at[wire].place != AT_TILE || at_hand) continue;
      emit_at_hand(t, wire, sum);
      at_hand = true;
    }
  emit_some(t, t->w, t->sum + 1, t->s->node.n, 1);
}

// Do two neighbours along the rows of a result lie side by side, from an even cell on?
static bool is_even_result(const PairsText *t, const PlanNode *x) {
  const Plan *p = t->e->p;
  const Operand *o = &x->out;
  if (!wire_is_aligned(p, o->wire, 2) || operand_start(p, o) % 2 ||
      operand_step(p, o, short_index(x)) != 1)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != short_index(x) && operand_step(p, o, i) % 2) return false;
  return true;
}

static void emit_neighbours_out(const PairsText *t, uint32_t i) {
  Emit *e = t->e;
  const PlanNode *x = node_at(t, i);
  const Operand *o = &x->out;
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16;
  long long along = (long long)operand_step(e->p, o, short_index(x));
  const char *cell =
      arena_format(e->p->arena, "w%u[%s + %lldL * i%u + %lldL * (two * 4 + lane %% 4 * 2",
                   e->slot[o->wire], batch_text(t, x, o),
                   (long long)operand_step(e->p, o, index_of_loop(x, t->stays)), t->stays, along);
  if (is_even_result(t, x))
    emit_line(e, "limn_put_two%s(&%s)], made[0], made[1]);", narrow ? "_narrow" : "", cell);
  else
    emit_line(e, "UNROLL for (int u = 0; u < 2; u++) %s + u)] = %s(made[u]);", cell,
              narrow ? "limn_narrow" : "");
}

static void emit_product_out(const PairsText *t, uint32_t i) {
  Emit *e = t->e;
  const PlanNode *x = node_at(t, i);
  emit_line(e, "UNROLL for (int h = 0; h < 2; h++) {");
  e->indent++;
  emit_row(t);
  if (is_walk(t)) emit_last_row(t);
  emit_line(e, "UNROLL for (int two = 0; two < %lld; two += 2) {",
            (long long)(x->index[short_index(x)].c / 4));
  e->indent++;
  emit_line(e, "float made[2];");
  emit_line(e, "UNROLL for (int u = 0; u < 2; u++) {");
  e->indent++;
  emit_line(e, "const real %s = sum%u[two / 2][2 * h + u];",
            is_walk(t) ? exponential_text(t) : "whole", i);
  if (is_walk(t)) emit_some(t, t->w, t->sum + 1, t->s->node.n, 2);
  emit_line(e, "made[u] = %s;", is_walk(t) ? weight_text(t, i) : "whole");
  emit_close(e);
  emit_line(e, "if (first + mine + 8 * h < %lld) {", (long long)rows_of(t));
  e->indent++;
  emit_neighbours_out(t, i);
  emit_close_all(e, 3);
}

static void emit_results(const PairsText *t) {
  emit_bads(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (node_has_reduction(t->w[i].x)) emit_sum_out(t, &t->w[i]);
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_weighing(t, i)) emit_product_out(t, i);
}

// -- the kernel -----------------------------------------------------------------------------------
// Numbers that a lane has all the time: factors and pairs of products, sums and weights of weighings.
static int64_t held_numbers(const PairsText *t) {
  int64_t held = 0, of_part = t->part / 2;
  for (uint32_t i = 0; i < t->e->k->node.n; i++)
    if (is_product(t, i)) {
      int64_t along = node_at(t, i)->index[short_index(node_at(t, i))].c;
      held += (is_weighing(t, i) ? along / 2 : along / 4) + of_part;
    }
  return held;
}

// Several blocks at a time hide each other's waiting, as long as what they hold has room in registers.
static uint32_t room_of(const PairsText *t) {
  int64_t held = held_numbers(t);
  return held <= 112 ? 4 : held <= 160 ? 3 : 0;
}

void pairs_choose(Emit *e, CudaKernel *c) {
  const Kernel *k = e->k;
  for (uint32_t i = 0; i < e->entry->slot.n; i++) e->slot[e->entry->slot.at[i]] = i;
  PairsText t = pairs_text(e);
  uint32_t warps = warps_of(rows_of(&t));
  int64_t rows = warps * ROWS_OF_WARP, blocks = (rows_of(&t) + rows - 1) / rows;
  c->team = warps * WARP;
  c->teams = 1;
  c->points = cuda_length_most(e->p, k->p, 0, k->np) * blocks;
  c->tile_bytes = (int64_t)t.buffer * BUFFERS * 16 + known_bytes(&t);
  c->shared = true;
  c->room = room_of(&t);
  e->exp_less = false;
}

void pairs_emit(Emit *e, const CudaKernel *c) {
  const Kernel *k = e->k;
  PairsText t = pairs_text(e);
  int64_t rows = c->team / WARP * ROWS_OF_WARP;
  long long blocks = (long long)((rows_of(&t) + rows - 1) / rows);
  emit_line(e, "LimnEight *all = (LimnEight *)tiles;");
  emit_known_places(&t);
  emit_line(
      e,
      "const int lane = (int)(threadIdx.x %% 32), mine = (int)(threadIdx.x / 32 * %d) + lane / 4;",
      ROWS_OF_WARP);
  cuda_same(e, t.w, t.s->node.n);
  const char *batch = cuda_length(e, k->p, 0, k->np);
  emit_line(e, "const long points = %s * %lldL;", batch, blocks);
  emit_line(e, "for (long q = blockIdx.x; q < points; q += gridDim.x) {");
  e->indent++;
  emit_first(&t, batch, blocks, rows);
  emit_range(&t, rows);
  cuda_digits(e, arena_format(e->p->arena, "q %% (%s)", batch), 0, k->p, 0, k->np);
  emit_level(e, t.w, t.s->node.n, 0, 2);
  emit_lefts(&t);
  emit_known_rows(&t);
  emit_sums(&t);
  emit_walk_begin(&t);
  emit_tiles(&t);
  emit_results(&t);
  emit_close(e);
  e->exp_less = false;
}
