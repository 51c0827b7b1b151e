// Attention and what stands around it in transformers: norms over the last axes, rotary positions.
#include "port/import/own.h"

#include <math.h>

// -- norms over the last axes --------------------------------------------------------------------
// y = (x - mean) / sqrt(var + eps) * scale + shift; without a mean: of RMSNormalization.
bool op_layernorm(ImpNode *n) {
  Importer *m = n->m;
  bool centred = !strcmp(n->node->op, "LayerNormalization");
  uint32_t axis;
  ImpShape x = op_value(n, 0)->shape, thin = x;
  OnnxType type = op_value(n, 0)->type;
  if (!op_axis(n, attr_int(n, "axis", -1), x.rank, &axis)) return false;
  const char *in[ONNX_RANK_LIMIT], *at[ONNX_RANK_LIMIT],
      *eps = short_term(m, attr_float(n, "epsilon", 1e-5F));
  for (uint32_t i = 0; i < x.rank; i++) {
    in[i] = i < axis ? imp_letter[i] : imp_letter[ONNX_RANK_LIMIT + i];
    at[i] = i < axis ? imp_letter[i] : "0";
    if (i >= axis) thin.dim[i] = dim_of(1);
  }
  const char *all = letters(m, x.rank), *read = words(m, x.rank, in), *kept = words(m, x.rank, at);
  const char *gone = words(m, x.rank - axis, in + axis);
  Id v = n->in[0];
  if (centred) {
    Id mean =
        say(n, type, &thin, (ImpForm){all, arena_format(m->arena, "mean[%s]($0)", gone), NULL},
            READS({v, read}));
    v = say(n, type, &x, (ImpForm){.left = all, .right = "$0 - $1"}, READS({v, all}, {mean, kept}));
    op_give(n, 1, mean);
  }
  ImpForm by = {all, arena_format(m->arena, "1 / sqrt(mean[%s]($0 * $0) + %s)", gone, eps), NULL};
  Id inverse = say(n, type, &thin, by, READS({v, read}));
  bool shift = op_in(n, 2) != 0;
  ImpForm form = {.left = all, .right = shift ? "$0 * $1 * $2 + $3" : "$0 * $1 * $2"};
  ImpRead reads[] = {{v, all}, {inverse, kept}, {n->in[1], letters_of(m, n->in[1], &x)}, {0, NULL}};
  if (shift) reads[3] = (ImpRead){n->in[2], letters_of(m, n->in[2], &x)};
  op_give(n, 0, say(n, op_value(n, 1)->type, &x, form, reads, shift ? 4 : 3));
  if (centred) op_give(n, 2, inverse);
  return true;
}

// -- Attention -----------------------------------------------------------------------------------
typedef struct {
  Id q, k, v, scores; // [b h s d], [b g t d], [b g t e], [b h s t]
  ImpSize b, h, g, s, t, past, d, e;
} Attending;

// [b s (h d)] as [b h s d]. 0 with a message.
static Id say_heads(ImpNode *n, Id v, int64_t heads) {
  Importer *m = n->m;
  ImpShape x = value_at(m, v)->shape;
  ImpSize each;
  if (x.rank == 4) return v;
  if (x.rank != 3 || heads < 1 || !dim_divide(m, x.dim[2], dim_of(heads), &each))
    return op_refuse(n, "its heads do not fit its inputs"), 0;
  ImpShape out = {4, {x.dim[0], dim_of(heads), x.dim[1], each}};
  const char *at = arena_format(m->arena, "i k (j l:%s)", dim_text(m, each));
  return say(n, value_at(m, v)->type, &out, (ImpForm){.left = "i j k l", .right = "$0"},
             READS({v, at}));
}

// What was seen before, and what is new.
static Id say_after(ImpNode *n, Id past, Id v) {
  Importer *m = n->m;
  if (!past) return v;
  ImpShape out = value_at(m, v)->shape;
  out.dim[2] = dim_op(m, '+', value_at(m, past)->shape.dim[2], out.dim[2]);
  return say(n, value_at(m, v)->type, &out, (ImpForm){.right = "concat[k]($0, $1)"},
             READS({past, "i j k l"}, {v, "i j k l"}));
}

static bool attention_read(ImpNode *n, Attending *a) {
  Importer *m = n->m;
  a->q = say_heads(n, n->in[0], attr_int(n, "q_num_heads", 0));
  a->k = a->q ? say_heads(n, n->in[1], attr_int(n, "kv_num_heads", 0)) : 0;
  a->v = a->k ? say_heads(n, n->in[2], attr_int(n, "kv_num_heads", 0)) : 0;
  if (!a->v) return false;
  a->past = op_in(n, 4) ? op_value(n, 4)->shape.dim[2] : dim_of(0);
  a->k = say_after(n, op_in(n, 4), a->k);
  a->v = say_after(n, op_in(n, 5), a->v);
  const ImpShape *q = &value_at(m, a->q)->shape, *k = &value_at(m, a->k)->shape,
                 *v = &value_at(m, a->v)->shape;
  a->b = q->dim[0], a->h = q->dim[1], a->s = q->dim[2], a->d = q->dim[3];
  a->g = k->dim[1], a->t = k->dim[2], a->e = v->dim[3];
  return true;
}

// The head of keys that a head of queries looks at: as many queries in a row share one.
static const char *head_of_key(Importer *m, const Attending *a, const char **head) {
  ImpSize each;
  bool shared = !dim_same(a->h, a->g) && dim_divide(m, a->h, a->g, &each);
  *head = !shared ? "j"
                  : arena_format(m->arena, "(%s %s:%s)", imp_letter[16], imp_letter[17],
                                 dim_text(m, each));
  return !shared ? "j" : imp_letter[16];
}

static Id say_scores(ImpNode *n, Attending *a) {
  Importer *m = n->m;
  ImpShape out = {4, {a->b, a->h, a->s, a->t}};
  const char *head, *key = head_of_key(m, a, &head);
  const OnnxAttribute *given = onnx_attribute(n->node, "scale");
  const char *scale = given       ? short_term(m, given->f)
                      : a->d.text ? arena_format(m->arena, "1 / sqrt(%s)", dim_inside(m, a->d))
                                  : number_term(m, 1 / sqrt((double)a->d.n));
  ImpForm form = {arena_format(m->arena, "i %s k l", head),
                  arena_format(m->arena, "%s * $0 $1", scale), NULL};
  return say(n, value_at(m, a->q)->type, &out, form,
             READS({a->q, arena_format(m->arena, "i %s k m", head)},
                   {a->k, arena_format(m->arena, "i %s l m", key)}));
}

// A mask that is shorter than what is looked at hides the rest.
static Id say_mask(ImpNode *n, Id mask, const Attending *a) {
  Importer *m = n->m;
  ImpShape x = value_at(m, mask)->shape;
  int64_t zero[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  bool bits = value_at(m, mask)->type == ONNX_BOOL;
  if (bits) {
    const char *all = letters(m, x.rank);
    mask = say(n, ONNX_FLOAT, &x, (ImpForm){.left = all, .right = "0 when $0 else -inf"},
               READS({mask, all}));
  }
  if (!x.rank || x.dim[x.rank - 1].text || a->t.text || dim_is(x.dim[x.rank - 1], 1) ||
      x.dim[x.rank - 1].n >= a->t.n)
    return mask;
  after[x.rank - 1] = a->t.n - x.dim[x.rank - 1].n;
  return say_padded(n, mask, zero, after, value_number(m, ONNX_FLOAT, -(double)INFINITY));
}

static Id say_masked(ImpNode *n, Attending *a, Id scores) {
  Importer *m = n->m;
  ImpShape x = value_at(m, scores)->shape;
  OnnxType type = value_at(m, scores)->type;
  const char *all = letters(m, 4);
  if (op_in(n, 3)) {
    Id mask = say_mask(n, n->in[3], a);
    scores = say(n, type, &x, (ImpForm){.left = all, .right = "$0 + $1"},
                 READS({scores, all}, {mask, letters_of(m, mask, &x)}));
  }
  if (attr_int(n, "is_causal", 0)) {
    const char *right =
        arena_format(m->arena, "$0 when (l <= k + %s) else -inf", dim_inside(m, a->past));
    scores = say(n, type, &x, (ImpForm){.left = all, .right = right}, READS({scores, all}));
  }
  if (op_in(n, 6))
    scores = say(n, type, &x, (ImpForm){.left = all, .right = "$0 when (l < $1) else -inf"},
                 READS({scores, all}, {n->in[6], "i"}));
  return scores;
}

static void give_attended(ImpNode *n, const Attending *a, Id weights) {
  Importer *m = n->m;
  const char *head, *key = head_of_key(m, a, &head);
  bool flat = op_value(n, 0)->shape.rank == 3;
  ImpShape out = {4, {a->b, a->h, a->s, a->e}};
  ImpForm form = {.left = arena_format(m->arena, "i %s k m", head), .right = "$0 $1"};
  OnnxType type = value_at(m, a->q)->type;
  Id y = say(n, type, &out, form,
             READS({weights, arena_format(m->arena, "i %s k l", head)},
                   {a->v, arena_format(m->arena, "i %s l m", key)}));
  if (flat) {
    ImpShape rows = {3, {a->b, a->s, dim_op(m, '*', a->h, a->e)}};
    y = say(n, type, &rows, (ImpForm){.left = "i k (j l)", .right = "$0"}, READS({y, "i j k l"}));
  }
  op_give(n, 0, y);
}

bool op_attention(ImpNode *n) {
  Importer *m = n->m;
  Attending a = {0};
  int64_t mode = attr_int(n, "qk_matmul_output_mode", 0);
  float cap = attr_float(n, "softcap", 0);
  if (!attention_read(n, &a)) return false;
  Id stage[4]; // as qk_matmul_output_mode counts them: the cap comes before the mask
  stage[0] = stage[1] = say_scores(n, &a);
  ImpShape x = value_at(m, stage[0])->shape;
  OnnxType type = value_at(m, stage[0])->type;
  if (cap != 0) {
    const char *text = short_term(m, cap);
    ImpForm form = {.left = "i j k l",
                    .right = arena_format(m->arena, "%s * tanh($0 / %s)", text, text)};
    stage[1] = say(n, type, &x, form, READS({stage[0], "i j k l"}));
  }
  stage[2] = say_masked(n, &a, stage[1]);
  stage[3] = say(n, type, &x, (ImpForm){.right = "softmax[l]($0)"}, READS({stage[2], "i j k l"}));
  give_attended(n, &a, stage[3]);
  op_give(n, 1, a.k);
  op_give(n, 2, a.v);
  if (mode < 0 || mode > 3) return op_refuse(n, "qk_matmul_output_mode is 0 to 3");
  op_give(n, 3, stage[mode]);
  return true;
}

// -- rotary positions ----------------------------------------------------------------------------
// cos and sin of each position, [b s r]: looked up by position ids, or there already.
static Id say_angle(ImpNode *n, uint32_t k, const ImpShape *x) {
  Importer *m = n->m;
  ImpShape t = op_value(n, k)->shape, out = {3, {x->dim[0], x->dim[2], t.dim[t.rank - 1]}};
  if (!op_in(n, 3)) return n->in[k];
  Id p = pointer(n, n->in[3], t.dim[0], true);
  if (!p && m->diags->errors) return 0;
  if (p)
    return say(n, op_value(n, k)->type, &out, (ImpForm){.left = "i j k", .right = "$0"},
               READS({n->in[k], "$1 k"}, {p, "@i j"}));
  return say(n, op_value(n, k)->type, &out,
             (ImpForm){.left = "i j k", .right = "sum[l](($0 when (l = $1) else 0))"},
             READS({n->in[k], "l k"}, {n->in[3], "i j"}));
}

// Pairs of a head's numbers, side by side or half and half, are turned; those behind rotary_embedding_dim stay.
bool op_rotary(ImpNode *n) {
  Importer *m = n->m;
  bool beside = attr_int(n, "interleaved", 0);
  int64_t dim = attr_int(n, "rotary_embedding_dim", 0);
  ImpShape was = op_value(n, 0)->shape;
  Id v = say_heads(n, n->in[0], attr_int(n, "num_heads", 0));
  if (!v) return false;
  ImpShape x = value_at(m, v)->shape;
  OnnxType type = value_at(m, v)->type;
  if (x.dim[3].text) return op_refuse(n, "its heads have no size");
  if (!dim) dim = x.dim[3].n;
  if (dim < 2 || dim > x.dim[3].n || dim % 2)
    return op_refuse(n, "it turns %lld of %lld numbers", (long long)dim, (long long)x.dim[3].n);
  int64_t *place = NEW_ARRAY(m->arena, int64_t, x.dim[3].n);
  for (int64_t i = 0; i < x.dim[3].n; i++) place[i] = i;
  Id turned = say_taken(n, v, 3, place, dim),
     rest = dim < x.dim[3].n ? say_taken(n, v, 3, place + dim, x.dim[3].n - dim) : 0;
  Id cos = say_angle(n, 1, &x), sin = cos ? say_angle(n, 2, &x) : 0;
  if (!sin) return false;
  ImpShape part = x, pairs = {5, {x.dim[0], x.dim[1], x.dim[2]}};
  part.dim[3] = dim_of(dim);
  pairs.dim[3] = dim_of(beside ? dim / 2 : 2), pairs.dim[4] = dim_of(beside ? 2 : dim / 2);
  const char *half = beside ? "i j k l m" : "i j k m l",
             *other = beside ? "i j k l 1-m" : "i j k 1-m l";
  Id p = say_reshaped(n, turned, &pairs);
  ImpForm form = {.left = half, .right = "$0 * $2 + (2 * m - 1) * $1 * $3"};
  p = say(n, type, &pairs, form, READS({p, half}, {p, other}, {cos, "i k l"}, {sin, "i k l"}));
  turned = say_reshaped(n, p, &part);
  if (rest)
    turned = say(n, type, &x, (ImpForm){.right = "concat[l]($0, $1)"},
                 READS({turned, "i j k l"}, {rest, "i j k l"}));
  if (was.rank == 3)
    turned = say(n, type, &was, (ImpForm){.left = "i k (j l)", .right = "$0"},
                 READS({turned, "i j k l"}));
  op_give(n, 0, turned);
  return true;
}
