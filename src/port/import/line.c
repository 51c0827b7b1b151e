// Adds lines and checks their consistency. An inconsistent line is refused, naming its node.
#include "base/diag.h"
#include "port/import/own.h"

#include <math.h>

// A nested list for the axes from `axis` on, with sizes from offset `at` on. Returns the next
// offset.
static int64_t nested_list(Importer *m, const ImpValue *x, uint32_t axis, int64_t at, Buf *b) {
  if (axis == x->shape.rank) return buf_text(b, dim_inside(m, x->known[at])), at + 1;
  buf_char(b, '[');
  for (int64_t i = 0; i < x->shape.dim[axis].n; i++) {
    if (i) buf_printf(b, ", ");
    at = nested_list(m, x, axis + 1, at, b);
  }
  buf_char(b, ']');
  return at;
}

// Turns known sizes into a constant: a folded value is read at run time after all.
static void materialise_sizes(ImpNode *n, Id v) {
  Importer *m = n->m;
  ImpValue *x = value_at(m, v);
  if (!x->known || x->data || x->kind == IMP_MADE) return;
  Buf b = buf_new(m->arena);
  nested_list(m, x, 0, 0, &b);
  ImpLine line = {.form = {.right = b.at}, .node = n->node, .scope = n->scope->path};
  x->kind = IMP_MADE;
  vec_push(m->arena, &line.out, v);
  vec_push(m->arena, &m->line, line);
}

// -- whether it holds together --------------------------------------------------------------------
typedef struct {
  const char *at;
  size_t n;
  ImpSize size;
} IndexSize;
typedef struct {
  VEC(IndexSize) list;
  const char *joined; // "k]…" of concat[k]: the joined axis
} IndexSizes;

// A plain index must have the same size everywhere.
static bool index_agrees(ImpNode *n, IndexSizes *seen, const char *at, size_t length,
                         ImpSize size) {
  for (uint32_t i = 0; i < length; i++)
    if (!char_is_word(at[i])) return true;
  if (!char_is_letter(*at) ||
      (seen->joined && !strncmp(seen->joined, at, length) && seen->joined[length] == ']'))
    return true;
  for (uint32_t i = 0; i < seen->list.n; i++) {
    const IndexSize *s = &seen->list.at[i];
    if (s->n != length || memcmp(s->at, at, length) != 0) continue;
    if (dim_same(s->size, size)) return true;
    return op_misfit(n, s->size, size);
  }
  vec_push(n->m->arena, &seen->list, (IndexSize){at, length, size});
  return true;
}

static bool read_fits(ImpNode *n, IndexSizes *seen, const ImpRead *r) {
  const ImpShape *x = &value_at(n->m, r->value)->shape;
  const char *at = r->index;
  size_t length;
  uint32_t k = 0;
  if (!at) return true;
  if (*at == '@') at++;
  for (; (at = next_index(at, &length)); at += length, k++)
    if (k < x->rank && !index_agrees(n, seen, at, length, x->dim[k])) return false;
  return k == x->rank || op_refuse(n, "an input has %u axes, where %u are wanted", x->rank, k);
}

// Reports mismatched sizes and missing axes, which the checker of programs would find later.
static bool reads_agree(ImpNode *n, IndexSizes *seen, const char *right, const ImpRead *read,
                        uint32_t nread) {
  if (!strncmp(right, "concat[", 7)) seen->joined = right + 7;
  for (uint32_t i = 0; i < nread; i++)
    if (!read_fits(n, seen, &read[i])) return false;
  return true;
}

bool reads_fit(ImpNode *n, const char *right, const ImpRead *read, uint32_t nread) {
  return reads_agree(n, &(IndexSizes){0}, right, read, nread);
}

static bool line_fits(ImpNode *n, const ImpShape *shape, const ImpLine *line) {
  IndexSizes seen = {0};
  size_t length;
  uint32_t k = 0;
  if (!reads_agree(n, &seen, line->form.right, line->read.at, line->read.n)) return false;
  for (const char *at = line->form.left; at && (at = next_index(at, &length)); at += length, k++)
    if (k < shape->rank && !index_agrees(n, &seen, at, length, shape->dim[k])) return false;
  return true;
}

// -- integers -------------------------------------------------------------------------------------
// Single precision represents all integers up to here.
static const double SINGLE_EXACT = 0x1p24;

static bool reads_large_integers(Importer *m, const ImpRead *read, uint32_t nread) {
  for (uint32_t i = 0; i < nread; i++) {
    const ImpValue *x = value_at(m, read[i].value);
    int64_t count = x->data && is_whole(x->type) ? shape_count(&x->shape) : 0;
    for (int64_t k = 0; k < count; k++)
      if (fabs(x->data[k]) > SINGLE_EXACT) return true;
  }
  return false;
}

// Warns once of products of integers and of large integer constants.
static void warn_large_integers(ImpNode *n, OnnxType type, const ImpRead *read, uint32_t nread) {
  static const char *const grows[] = {"Mul",         "Pow",  "MatMul",     "MatMulInteger",
                                      "ConvInteger", "Gemm", "ReduceProd", "ReduceSumSquare",
                                      "BitShift"};
  bool wide = reads_large_integers(n->m, read, nread);
  for (uint32_t i = 0; i < COUNT(grows); i++)
    wide |= is_whole(type) && onnx_type_info[type].bits >= 32 && !strcmp(grows[i], n->node->op);
  if (!wide || n->m->wide_told) return;
  n->m->wide_told = true;
  diag_warning(n->m->diags, (Span){0},
               "%s: whole numbers may be beyond 2^24 here, where single precision has not all of "
               "them; with `--precision 64` they are exact up to 2^53",
               node_shown(n->m->arena, n->node));
}

Id add_line(ImpNode *n, OnnxType type, const ImpShape *shape, ImpForm form, const ImpRead *read,
            uint32_t nread) {
  Importer *m = n->m;
  ImpLine line = {.form = form, .node = n->node, .scope = n->scope->path};
  Id v = value_new(m, type, shape, IMP_MADE, n->node->out.n ? n->node->out.at[0] : "");
  for (uint32_t i = 0; i < nread; i++) {
    materialise_sizes(n, read[i].value);
    const ImpValue *x = value_at(m, read[i].value);
    const char *from = x->kind == IMP_INPUT ? x->onnx : x->from;
    if (from) value_at(m, v)->from = from;
    vec_push(m->arena, &line.read, read[i]);
  }
  if (!m->diags->errors && line_fits(n, shape, &line)) warn_large_integers(n, type, read, nread);
  vec_push(m->arena, &line.out, v);
  vec_push(m->arena, &m->line, line);
  return v;
}

Id bits_to_number(ImpNode *n, Id v) {
  ImpShape shape = value_at(n->m, v)->shape;
  const char *at = index_letters(n->m, shape.rank);
  if (value_at(n->m, v)->type != ONNX_BOOL) return v;
  return add_line(n, ONNX_INT64, &shape, (ImpForm){.left = at, .right = "number($0)"},
                  READS({v, at}));
}

Id number_to_bits(ImpNode *n, Id v) {
  ImpShape shape = value_at(n->m, v)->shape;
  const char *at = index_letters(n->m, shape.rank);
  if (value_at(n->m, v)->type == ONNX_BOOL) return v;
  return add_line(n, ONNX_BOOL, &shape, (ImpForm){.left = at, .right = "($0 != 0)"},
                  READS({v, at}));
}
