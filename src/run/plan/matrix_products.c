// Recognition of matrix products: sums of products of two affine operands. An index of both
// operands and the output is a batch index; one of A and the output belongs to m, one of B and the
// output to n, one of both operands only to k. Accesses are affine, so an address is a sum of one
// term for each group, and tables of offsets express every such loop: einsum, convolution, its
// gradients.
//
// A product without batch indices and with enough work becomes a kernel of its own. One with batch
// indices is fused like other nodes, and multiplies small matrices at each point of the kernel.
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

bool is_product_body(Combine combine, const Scalar *s, uint32_t nscalar, uint32_t nin) {
  return combine == SUM && nin == 2 && nscalar == 3 && s[2].fn == FN_mul && s[2].base == BASE_R &&
         s[0].fn == FN_ARG && s[1].fn == FN_ARG && s[0].ref != s[1].ref;
}

// An affine operand of the result's number type.
static bool is_factor(const Plan *p, const PlanNode *x, const Operand *o) {
  return !o->padded && operand_is_affine(p, o) &&
         p->wire.at[o->wire].number == p->wire.at[x->out.wire].number;
}

static int64_t distance(const Plan *p, const Operand *o, uint32_t index) {
  int64_t step = operand_step(p, o, index);
  return step < 0 ? -step : step;
}

// Slowest first: indices that grow with the samples, then by the absolute stride in `by`.
static void sort_group(const Plan *p, const PlanNode *x, const Operand *by, uint32_t *at,
                       uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t k = i; k > 0; k--) {
      bool grows = x->index[at[k]].per && !x->index[at[k - 1]].per;
      bool stays = x->index[at[k - 1]].per && !x->index[at[k]].per;
      if (!grows && (stays || distance(p, by, at[k]) <= distance(p, by, at[k - 1]))) break;
      uint32_t t = at[k];
      at[k] = at[k - 1];
      at[k - 1] = t;
    }
}

static int64_t group_size(const Plan *p, const PlanNode *x, const uint32_t *at, uint32_t n) {
  int64_t size = 1;
  for (uint32_t i = 0; i < n; i++) size *= extent_most(p, x->index[at[i]]);
  return size;
}

// At most one index of a group grows with the samples, so that a smaller batch is a prefix of the
// table.
static bool grows_once(const PlanNode *x, const uint32_t *at, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) count += x->index[at[i]].per != 0;
  return count <= 1;
}

static Product *match(Plan *p, const PlanNode *x) {
  if (x->kind != NODE_NEST || x->noise || x->scatter ||
      !is_product_body(x->combine, x->scalar, x->nscalar, x->nin) || !is_factor(p, x, &x->in[0]) ||
      !is_factor(p, x, &x->in[1]) || !is_factor(p, x, &x->out))
    return NULL;
  Product *q = NEW(p->arena, Product);
  q->m = NEW_ARRAY(p->arena, uint32_t, x->nindex);
  q->n = NEW_ARRAY(p->arena, uint32_t, x->nindex);
  q->k = NEW_ARRAY(p->arena, uint32_t, x->nindex);
  q->batch = NEW_ARRAY(p->arena, uint32_t, x->nindex);
  q->a = x->scalar[0].ref;
  q->b = x->scalar[1].ref;
  for (uint32_t i = 0; i < x->nindex; i++) { // the operand with the output's fastest index is B
    if (extent_most(p, x->index[i]) > 1 && operand_step(p, &x->out, i) == 1 &&
        operand_uses_index(p, &x->in[q->a], i) && !operand_uses_index(p, &x->in[q->b], i)) {
      uint32_t t = q->a;
      q->a = q->b;
      q->b = t;
      break;
    }
  }
  for (uint32_t i = 0; i < x->nindex; i++) {
    bool a = operand_uses_index(p, &x->in[q->a], i), b = operand_uses_index(p, &x->in[q->b], i),
         c = !x->reduced[i];
    if (extent_most(p, x->index[i]) == 1 && !x->index[i].per && c) {
      q->m[q->nm++] = i; // of length 1: any group will do
      continue;
    }
    if (a && b && c)
      q->batch[q->nbatch++] = i;
    else if (a && c)
      q->m[q->nm++] = i;
    else if (b && c)
      q->n[q->nn++] = i;
    else if (a && b)
      q->k[q->nk++] = i;
    else if (extent_most(p, x->index[i]) == 1)
      q->k[q->nk++] = i;
    else
      return NULL;
  }
  sort_group(p, x, &x->out, q->m, q->nm);
  sort_group(p, x, &x->out, q->n, q->nn);
  sort_group(p, x, &x->in[q->a], q->k, q->nk);
  sort_group(p, x, &x->out, q->batch, q->nbatch);
  if (!grows_once(x, q->m, q->nm) || !grows_once(x, q->n, q->nn) || !grows_once(x, q->k, q->nk))
    return NULL;
  return q;
}

void plan_products(Plan *p) {
  for (uint32_t i = 0; i < p->node.n; i++) {
    PlanNode *x = &p->node.at[i];
    Product *q = match(p, x);
    if (!q) continue;
    int64_t m = group_size(p, x, q->m, q->nm), n = group_size(p, x, q->n, q->nn),
            k = group_size(p, x, q->k, q->nk);
    double work = (double)m * (double)n * (double)k;
    if (m < 4 || n < 4 || k < 2 || m > INT32_MAX || n > INT32_MAX || k > INT32_MAX) continue;
    if (work < (double)(q->nbatch ? p->target->inner_work : p->target->alone_work)) continue;
    x->product = q;
    x->kind = NODE_PRODUCT;
  }
}

int64_t product_length(const PlanNode *x, const uint32_t *group, uint32_t n, int64_t samples) {
  int64_t size = 1;
  for (uint32_t i = 0; i < n; i++) size *= extent_at(x->index[group[i]], samples);
  return size;
}

bool product_group_is_strided(const Plan *p, const PlanNode *x, const Operand *at,
                              const uint32_t *group, uint32_t n) {
  for (uint32_t i = 0; i + 1 < n; i++)
    if (operand_step(p, at, group[i]) !=
        operand_step(p, at, group[i + 1]) * extent_most(p, x->index[group[i + 1]]))
      return false;
  return true;
}

// One digit of a mixed-radix counter: its value, its size, and its stride in memory.
typedef struct {
  int64_t at, size, step;
} Digit;

// Increments the counter. Gives the change of the offset.
static int64_t advance(Digit *digit, uint32_t n) {
  int64_t moved = 0;
  for (uint32_t i = n; i-- > 0;) {
    moved += digit[i].step;
    if (++digit[i].at < digit[i].size) break;
    moved -= digit[i].step * digit[i].size;
    digit[i].at = 0;
  }
  return moved;
}

int32_t *product_offsets(const Plan *p, const PlanNode *x, const Operand *at, const uint32_t *group,
                         uint32_t n, int64_t *step) {
  int64_t count = 1;
  *step = n ? operand_step(p, at, group[n - 1]) : 0;
  if (product_group_is_strided(p, x, at, group, n)) return NULL;
  for (uint32_t i = 0; i < n; i++) count *= extent_most(p, x->index[group[i]]);
  int32_t *table = NEW_ARRAY(p->arena, int32_t, count);
  Digit *digit = NEW_ARRAY(p->arena, Digit, n);
  for (uint32_t i = 0; i < n; i++)
    digit[i] = (Digit){0, extent_most(p, x->index[group[i]]), operand_step(p, at, group[i])};
  int64_t offset = 0;
  for (int64_t c = 0; c < count; c++) {
    table[c] = (int32_t)offset;
    offset += advance(digit, n);
  }
  return table;
}
