// Einsum is an index equation already: letters become indices; an ellipsis becomes several.
#include "port/import/own.h"

typedef struct {
  char letter; // 0: an axis of an ellipsis
  uint32_t which;
} EinsumIndex;

typedef struct {
  EinsumIndex at[ONNX_RANK_LIMIT];
  uint32_t n, dots; // dots: number of ellipsis axes; position of the ellipsis
  bool ellipsis;
} EinsumTerm;

// Parses one term; `rank`: axes of the operand, which determine the ellipsis (-1: as many as
// `dots`).
static bool term_read(ImpNode *n, const char **at, int rank, uint32_t dots, EinsumTerm *t) {
  const char *begin = *at;
  uint32_t count = 0;
  *t = (EinsumTerm){0};
  for (; **at && **at != ',' && **at != '-'; (*at)++) count += char_is_letter(**at);
  if (rank >= 0 && (uint32_t)rank < count)
    return op_refuse(n, "its equation has more indices than axes");
  for (const char *c = begin; c < *at; c++) {
    if (*c == '.') {
      if (t->ellipsis) continue;
      t->ellipsis = true;
      t->dots = rank >= 0 ? (uint32_t)rank - count : dots;
      for (uint32_t i = 0; i < t->dots && t->n < ONNX_RANK_LIMIT; i++)
        t->at[t->n++] = (EinsumIndex){0, t->dots - 1 - i};
    } else if (char_is_letter(*c) && t->n < ONNX_RANK_LIMIT) {
      t->at[t->n++] = (EinsumIndex){*c, 0};
    }
  }
  if (rank >= 0 && t->n != (uint32_t)rank)
    return op_refuse(n, "its equation has other indices than axes");
  return true;
}

// Letters are indexed by first use; ellipsis axes come after all letters.
static const char *index_name(const char *order, EinsumIndex i) {
  const char *found = i.letter ? strchr(order, i.letter) : NULL;
  return imp_letter[found ? (size_t)(found - order) : (ONNX_RANK_LIMIT + i.which) % IMP_LETTERS];
}

static const char *term_text(Importer *m, const char *order, const EinsumTerm *t) {
  const char *list[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < t->n; i++) list[i] = index_name(order, t->at[i]);
  return join_words(m, t->n, list);
}

static bool same_index(EinsumIndex a, EinsumIndex b) {
  return a.letter == b.letter && a.which == b.which;
}

// Without an arrow: the ellipsis, then letters that occur once, alphabetically.
static void implicit_out(const EinsumTerm *term, uint32_t n, uint32_t dots, EinsumTerm *out) {
  *out = (EinsumTerm){0};
  for (uint32_t i = 0; i < dots; i++) out->at[out->n++] = (EinsumIndex){0, dots - 1 - i};
  for (char c = 'A'; c <= 'z'; c++) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++)
      for (uint32_t i = 0; i < term[k].n; i++) count += term[k].at[i].letter == c;
    if (count == 1 && char_is_letter(c) && out->n < ONNX_RANK_LIMIT)
      out->at[out->n++] = (EinsumIndex){c, 0};
  }
}

// Checks that every index of the result occurs in an input.
static bool out_fits(ImpNode *n, const EinsumTerm *term, const EinsumTerm *out) {
  for (uint32_t o = 0; o < out->n; o++) {
    bool found = false;
    for (uint32_t k = 0; k < n->nin; k++)
      for (uint32_t i = 0; i < term[k].n; i++) found |= same_index(term[k].at[i], out->at[o]);
    if (!found) return op_refuse(n, "an index of its result is in none of its inputs");
  }
  return true;
}

bool op_einsum(ImpNode *n) {
  Importer *m = n->m;
  const char *at = attr_text(n, "equation", "");
  char order[64] = "";
  uint32_t dots = 0, letters_seen = 0;
  if (n->nin > ONNX_RANK_LIMIT) return op_refuse(n, "it has more than %d inputs", ONNX_RANK_LIMIT);
  EinsumTerm *term = NEW_ARRAY(m->arena, EinsumTerm, n->nin + 1), out;
  Buf right = buf_new(m->arena);
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!term_read(n, &at, (int)op_value(n, k)->shape.rank, 0, &term[k])) return false;
    if (*at == ',') at++;
    if (term[k].dots > dots) dots = term[k].dots;
    for (uint32_t i = 0; i < term[k].n; i++)
      if (term[k].at[i].letter && !strchr(order, term[k].at[i].letter) &&
          letters_seen < ONNX_RANK_LIMIT)
        order[letters_seen++] = term[k].at[i].letter;
    buf_printf(&right, "%s$%u[%s]", k ? " * " : "", k, term_text(m, order, &term[k]));
  }
  bool arrow = at[0] == '-' && at[1] == '>';
  if (arrow) at += 2;
  if (arrow && !term_read(n, &at, -1, dots, &out)) return false;
  if (!arrow) implicit_out(term, n->nin, dots, &out);
  return out_fits(n, term, &out) && op_gives(n, "[%s] = %s", term_text(m, order, &out), right.at);
}

// -- determinants ---------------------------------------------------------------------------------
// The Leibniz formula: a sum over permutations.
static void det_terms(Buf *b, uint32_t size, uint32_t row, uint32_t used, bool odd,
                      const char *before) {
  if (row == size) {
    buf_printf(b, "%s%s", !b->n ? (odd ? "0 - " : "") : odd ? " - " : " + ", before);
    return;
  }
  for (uint32_t c = 0, skipped = 0; c < size; c++) {
    if (used >> c & 1) continue;
    const char *with =
        arena_format(b->arena, "%s%s$0[& %u %u]", before, *before ? " * " : "", row, c);
    det_terms(b, size, row + 1, used | 1U << c, odd != (skipped % 2 == 1), with);
    skipped++;
  }
}

bool op_det(ImpNode *n) {
  ImpShape x = op_value(n, 0)->shape;
  if (x.rank < 2 || !dim_same(x.dim[x.rank - 1], x.dim[x.rank - 2]))
    return op_refuse(n, "only square matrices have a determinant");
  int64_t size = x.dim[x.rank - 1].n;
  if (x.dim[x.rank - 1].text || size < 1 || size > 5)
    return op_refuse(n, "determinants of up to 5 rows are known");
  Buf right = buf_new(n->m->arena);
  det_terms(&right, (uint32_t)size, 0, 0, false, "");
  return op_gives(n, "[&] = %s", right.at);
}
