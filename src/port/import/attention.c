// Attention, layer and RMS normalisation, rotary embeddings.
#include "port/import/own.h"

#include <math.h>

// -- norms over the last axes ---------------------------------------------------------------------
// y = (x - mean) / sqrt(var + eps) * scale + shift; RMSNormalization has no mean.
bool op_layernorm(ImpNode *n) {
  Importer *m = n->m;
  bool centred = !strcmp(n->node->op, "LayerNormalization");
  uint32_t axis;
  uint32_t rank = op_value(n, 0)->shape.rank;
  if (!op_axis(n, attr_int(n, "axis", -1), rank, &axis)) return false;
  const char *front = index_letters(m, axis), *thin = letters_of_one(m, axis, rank);
  Id v = n->in[0], mean = 0;
  if (centred) {
    mean = equation(n, IN(v), "[%s %s] = mean[&]($0[%s &])", front, thin, front);
    v = equation(n, IN(v, mean), "[*] = $0 - $1");
  }
  Id inverse = equation(n, IN(v), "[%s %s] = 1 / sqrt(mean[&]($0[%s &] * $0[%s &]) + %s)", front,
                        thin, front, front, short_term(m, attr_float(n, "epsilon", 1e-5F)));
  if (centred) op_set_result(n, 1, mean), op_set_result(n, 2, inverse);
  return op_set_result(
      n, 0,
      add_equation(n, op_value(n, 1)->type, IN(v, inverse, n->in[1], op_in(n, 2)),
                   op_in(n, 2) ? "[*] = $0 * $1 * $2 + $3" : "[*] = $0 * $1 * $2"));
}

// -- Attention ------------------------------------------------------------------------------------
typedef struct {
  Id q, k, v; // [b h s d], [b g t d], [b g t e]
  const char *head,
      *key; // indices of a query head, and of the key head that it uses
} Attending;

// Splits [b s (h d)] to [b h s d]. 0 with a message.
static Id add_head_split(ImpNode *n, Id v, int64_t heads) {
  ImpShape x = value_at(n->m, v)->shape;
  ImpSize each;
  if (x.rank == 4) return v;
  if (x.rank != 3 || heads < 1 || !dim_divide(n->m, x.dim[2], dim_of(heads), &each))
    return op_refuse(n, "its heads do not fit its inputs"), 0;
  return equation(n, IN(v), "[i j k l] = $0[i k (j l:%s)]", dim_text(n->m, each));
}

// Concatenates past keys or values and new ones.
static Id add_past(ImpNode *n, Id past, Id v) {
  return past ? add_equation(n, value_at(n->m, v)->type, IN(past, v),
                             "concat[k]($0[i j k l], $1[i j k l])")
              : v;
}

static bool attention_read(ImpNode *n, Attending *a) {
  Importer *m = n->m;
  ImpSize each;
  a->q = add_head_split(n, n->in[0], attr_int(n, "q_num_heads", 0));
  a->k = a->q ? add_head_split(n, n->in[1], attr_int(n, "kv_num_heads", 0)) : 0;
  a->v = a->k ? add_head_split(n, n->in[2], attr_int(n, "kv_num_heads", 0)) : 0;
  if (!a->v) return false;
  a->k = add_past(n, op_in(n, 4), a->k);
  a->v = add_past(n, op_in(n, 5), a->v);
  ImpSize heads = value_at(m, a->q)->shape.dim[1], keys = value_at(m, a->k)->shape.dim[1];
  a->head = a->key = "j";
  // grouped-query attention: consecutive heads share a key head.
  if (!dim_same(heads, keys) && dim_divide(m, heads, keys, &each)) {
    a->key = imp_letter[16];
    a->head = arena_format(m->arena, "(%s %s:%s)", a->key, imp_letter[17], dim_text(m, each));
  }
  return true;
}

static Id add_scores(ImpNode *n, const Attending *a) {
  Importer *m = n->m;
  ImpSize size = value_at(m, a->q)->shape.dim[3];
  const OnnxAttribute *given = onnx_attribute(n->node, "scale");
  const char *scale = given       ? short_term(m, given->f)
                      : size.text ? arena_format(m->arena, "1 / sqrt(%s)", dim_inside(m, size))
                                  : number_term(m, 1 / sqrt((double)size.n));
  return equation(n, IN(a->q, a->k), "[i %s k l] = %s * $0[i %s k m] $1[i %s l m]", a->head, scale,
                  a->head, a->key);
}

// Positions beyond the end of a short mask are masked.
static Id add_mask(ImpNode *n, Id mask, const Attending *a) {
  Importer *m = n->m;
  ImpShape x = value_at(m, mask)->shape;
  ImpSize t = value_at(m, a->k)->shape.dim[2];
  int64_t zero[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  if (value_at(m, mask)->type == ONNX_BOOL)
    mask = add_equation(n, ONNX_FLOAT, IN(mask), "[*] = 0 when $0 else -inf");
  if (!x.rank || x.dim[x.rank - 1].text || t.text || dim_is(x.dim[x.rank - 1], 1) ||
      x.dim[x.rank - 1].n >= t.n)
    return mask;
  after[x.rank - 1] = t.n - x.dim[x.rank - 1].n;
  return add_pad(n, mask, zero, after, value_number(m, ONNX_FLOAT, -(double)INFINITY));
}

static Id add_masked_scores(ImpNode *n, const Attending *a, Id scores) {
  ImpSize past = op_in(n, 4) ? op_value(n, 4)->shape.dim[2] : dim_of(0);
  if (op_in(n, 3)) scores = equation(n, IN(scores, add_mask(n, n->in[3], a)), "[*] = $0 + $1");
  if (attr_int(n, "is_causal", 0))
    scores =
        equation(n, IN(scores), "[*] = $0 when (l <= k + %s) else -inf", dim_inside(n->m, past));
  if (op_in(n, 6))
    scores = equation(n, IN(scores, n->in[6]), "[*] = $0 when (l < $1[i]) else -inf");
  return scores;
}

bool op_attention(ImpNode *n) {
  Attending a = {0};
  int64_t mode = attr_int(n, "qk_matmul_output_mode", 0);
  float cap = attr_float(n, "softcap", 0);
  if (!attention_read(n, &a)) return false;
  Id stage[4]; // numbered as in qk_matmul_output_mode: the softcap comes before the mask
  stage[0] = stage[1] = add_scores(n, &a);
  const char *most = short_term(n->m, cap);
  if (cap != 0) stage[1] = equation(n, IN(stage[0]), "[*] = %s * tanh($0 / %s)", most, most);
  stage[2] = add_masked_scores(n, &a, stage[1]);
  stage[3] = equation(n, IN(stage[2]), "softmax[l]($0)");
  Id y = equation(n, IN(stage[3], a.v), "[i %s k m] = $0[i %s k l] $1[i %s l m]", a.head, a.head,
                  a.key);
  if (op_value(n, 0)->shape.rank == 3) y = equation(n, IN(y), "[i k (j l)] = $0[i j k l]");
  if (mode < 0 || mode > 3) return op_refuse(n, "qk_matmul_output_mode is 0 to 3");
  op_set_result(n, 1, a.k);
  op_set_result(n, 2, a.v);
  op_set_result(n, 3, stage[mode]);
  return op_set_result(n, 0, y);
}

// -- rotary positions -----------------------------------------------------------------------------
// Cosine or sine of each position, [b s r]: gathered by position ids, or given.
static Id add_rotary_angle(ImpNode *n, uint32_t k) {
  if (!op_in(n, 3)) return n->in[k];
  Id p = label_index(n, n->in[3], op_value(n, k)->shape.dim[0], true);
  if (p) return equation(n, IN(n->in[k], p), "[i j k] = $0[$1[i j] k]");
  return equation(n, IN(n->in[k], n->in[3]),
                  "[i j k] = sum[l](($0[l k] when (l = $1[i j]) else 0))");
}

// Rotates pairs of elements, interleaved or split in halves; elements after rotary_embedding_dim
// are copied.
bool op_rotary(ImpNode *n) {
  Importer *m = n->m;
  bool beside = attr_int(n, "interleaved", 0);
  int64_t dim = attr_int(n, "rotary_embedding_dim", 0);
  ImpShape was = op_value(n, 0)->shape;
  Id v = add_head_split(n, n->in[0], attr_int(n, "num_heads", 0));
  if (!v) return false;
  ImpShape x = value_at(m, v)->shape;
  if (x.dim[3].text) return op_refuse(n, "its heads have no size");
  if (!dim) dim = x.dim[3].n;
  if (dim < 2 || dim > x.dim[3].n || dim % 2)
    return op_refuse(n, "it turns %lld of %lld numbers", (long long)dim, (long long)x.dim[3].n);
  int64_t *place = NEW_ARRAY(m->arena, int64_t, x.dim[3].n);
  for (int64_t i = 0; i < x.dim[3].n; i++) place[i] = i;
  Id turned = add_gather(n, v, 3, place, dim),
     rest = dim < x.dim[3].n ? add_gather(n, v, 3, place + dim, x.dim[3].n - dim) : 0;
  Id cos = add_rotary_angle(n, 1), sin = add_rotary_angle(n, 2);
  ImpShape part = x, pairs = {5, {x.dim[0], x.dim[1], x.dim[2]}};
  part.dim[3] = dim_of(dim);
  pairs.dim[3] = dim_of(beside ? dim / 2 : 2), pairs.dim[4] = dim_of(beside ? 2 : dim / 2);
  const char *half = beside ? "i j k l m" : "i j k m l",
             *other = beside ? "i j k l 1-m" : "i j k 1-m l";
  Id p = add_reshape(n, turned, &pairs);
  p = equation(n, IN(p, cos, sin), "[%s] = $0[%s] * $1[i k l] + (2 * m - 1) * $0[%s] * $2[i k l]",
               half, half, other);
  if (!p || !(turned = add_reshape(n, p, &part))) return false;
  if (rest) turned = equation(n, IN(turned, rest), "concat[l]($0[i j k l], $1[i j k l])");
  if (was.rank == 3) turned = equation(n, IN(turned), "[i k (j l)] = $0[i j k l]");
  return op_set_result(n, 0, turned);
}
