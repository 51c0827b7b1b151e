// Descriptors of matrix products for product_text.h: each product of a plan becomes a constant with
// six lines, each a list of axes with sizes and strides, and a size of scratch memory.
//
// Either operand can supply the vectors. Preferred is the one that makes columns of C contiguous,
// then the one that needs no packing, then the longer one.
#include "port/c/c_own.h"

enum { PACK_PLACES = 256, PACK_COLUMNS = 256, WIDEST_PANEL = 32, SCRATCH_ALIGN = 64 };

typedef struct {
  uint32_t axes;
  int64_t size[64], step[64], length; // a loop nest has at most 64 indices
} ProductLine;
typedef struct {
  ProductLine am, ak, bk, bn, cm, cn;
  bool turned, pack;
} ProductLines;

// Merges axes that are adjacent in memory.
static ProductLine line_of(const Plan *p, const PlanNode *x, const Operand *o,
                           const uint32_t *group, uint32_t n) {
  ProductLine l = {.length = 1};
  for (uint32_t i = 0; i < n; i++) {
    int64_t size = extent_most(p, x->index[group[i]]), step = operand_step(p, o, group[i]);
    l.length *= size;
    if (size == 1) continue;
    if (l.axes && l.step[l.axes - 1] == step * size) {
      l.size[l.axes - 1] *= size;
      l.step[l.axes - 1] = step;
    } else if (l.axes < COUNT(l.size)) {
      l.size[l.axes] = size;
      l.step[l.axes++] = step;
    }
  }
  return l;
}

static bool side_by_side(const ProductLine *l) {
  return l->length == 1 || (l->axes == 1 && l->step[0] == 1);
}

static bool is_packed(const ProductLines *l) { return !side_by_side(&l->bn) || l->bk.axes > 1; }

static ProductLines swap_operands(const ProductLines *l) {
  return (ProductLines){l->bn, l->bk, l->ak, l->am, l->cn, l->cm, !l->turned, false};
}

// An estimate of the time.
static double cost_of(const ProductLines *l) {
  enum { LANES = 8 };
  double m = (double)l->am.length, n = (double)l->bn.length, k = (double)l->ak.length;
  double vectors = (double)((l->bn.length + LANES - 1) / LANES);
  double cost = m * vectors * k / 2 + m * n * (side_by_side(&l->cn) ? 0.2 : 1.0);
  return is_packed(l) ? cost + k * n : cost;
}

static ProductLines lines_of(const Plan *p, const PlanNode *x) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  ProductLines l = {.am = line_of(p, x, a, q->m, q->nm),
                    .ak = line_of(p, x, a, q->k, q->nk),
                    .bk = line_of(p, x, b, q->k, q->nk),
                    .bn = line_of(p, x, b, q->n, q->nn),
                    .cm = line_of(p, x, &x->out, q->m, q->nm),
                    .cn = line_of(p, x, &x->out, q->n, q->nn)};
  ProductLines other = swap_operands(&l);
  if (cost_of(&other) < cost_of(&l)) l = other;
  l.pack = is_packed(&l);
  return l;
}

uint32_t c_product_axes(const Plan *p, const PlanNode *x) {
  ProductLines l = lines_of(p, x);
  const ProductLine *all[] = {&l.am, &l.ak, &l.bk, &l.bn, &l.cm, &l.cn};
  uint32_t most = 1;
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i]->axes > most) most = all[i]->axes;
  return most;
}

int64_t c_product_bytes(const Plan *p, const PlanNode *x) {
  ProductLines l = lines_of(p, x);
  const ProductLine *all[] = {&l.am, &l.ak, &l.bk, &l.bn, &l.cm, &l.cn};
  int64_t bytes = SCRATCH_ALIGN, n = l.bn.length, k = l.ak.length;
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i]->axes > 1 || all[i] == &l.ak) bytes += 4 * all[i]->length + SCRATCH_ALIGN;
  if (k > PACK_PLACES) k = PACK_PLACES;
  if (n > PACK_COLUMNS) n = PACK_COLUMNS;
  n = l.pack ? (n + WIDEST_PANEL - 1) / WIDEST_PANEL * WIDEST_PANEL : WIDEST_PANEL;
  return bytes + n * k * (p->wide ? 8 : 4);
}

static void write_line(const char *name, const ProductLine *l, Buf *c) {
  buf_printf(c, ".%s = {%u, {", name, l->axes);
  for (uint32_t i = 0; i < l->axes || !i; i++)
    buf_printf(c, "%s%lld", i ? ", " : "", l->axes ? (long long)l->size[i] : 0);
  buf_text(c, "}, {");
  for (uint32_t i = 0; i < l->axes || !i; i++)
    buf_printf(c, "%s%lld", i ? ", " : "", l->axes ? (long long)l->step[i] : 0);
  buf_text(c, "}},\n  ");
}

void c_product_write(const Plan *p, const PlanNode *x, const char *name, Buf *c) {
  ProductLines l = lines_of(p, x);
  buf_printf(c, "static const Product %s = {\n  ", name);
  write_line("am", &l.am, c);
  write_line("ak", &l.ak, c);
  write_line("bk", &l.bk, c);
  write_line("bn", &l.bn, c);
  write_line("cm", &l.cm, c);
  write_line("cn", &l.cn, c);
  buf_printf(c, ".turned = %d, .pack = %d};\n", l.turned, l.pack);
}
