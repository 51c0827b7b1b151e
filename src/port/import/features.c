// Feature extraction: n-gram counts (TfIdfVectorizer) and decision trees (TreeEnsemble).
#include "port/import/own.h"

enum { GRAM_LIMIT = 8, GRAM_LINES = 512, TREE_LIMIT = 1 << 22 };

// -- runs of words --------------------------------------------------------------------------------
typedef struct {
  ImpInts pool, starts,
      places; // words of all n-grams; where each length begins; output index of each n-gram
  uint32_t first[GRAM_LIMIT + 2]; // [length] index of its first n-gram
  int64_t least, most, skips, words;
  bool many; // several rows of words
} Grams;

static bool grams_read(ImpNode *n, Grams *g) {
  g->pool = attr_ints(n, "pool_int64s"), g->starts = attr_ints(n, "ngram_counts");
  g->places = attr_ints(n, "ngram_indexes");
  g->least = attr_int(n, "min_gram_length", 1), g->most = attr_int(n, "max_gram_length", 1);
  g->skips = attr_int(n, "max_skip_count", 0);
  if (!g->pool.there) return op_refuse(n, "only words that are whole numbers are known");
  if (g->least < 1 || g->most < g->least || g->most > GRAM_LIMIT || g->skips < 0 ||
      g->starts.n < g->most)
    return op_refuse(n, "runs of %lld to %lld words are not known", (long long)g->least,
                     (long long)g->most);
  uint32_t runs = 0;
  for (uint32_t i = 0; i < g->starts.n && i <= GRAM_LIMIT; i++) {
    int64_t from = g->starts.at[i], to = i + 1 < g->starts.n ? g->starts.at[i + 1] : g->pool.n;
    if (from < 0 || to < from || to > g->pool.n || (to - from) % (i + 1))
      return op_refuse(n, "ngram_counts does not fit its pool");
    g->first[i] = runs;
    runs += (uint32_t)(to - from) / (i + 1);
    g->first[i + 1] = runs;
  }
  return (runs == g->places.n && g->starts.n <= GRAM_LIMIT) ||
         op_refuse(n, "ngram_indexes does not fit its pool");
}

// Counts the n-grams of a length, with `apart` skipped words between two: [rows n-grams].
static Id add_ngram_counts(ImpNode *n, const Grams *g, uint32_t length, int64_t apart, Id pool) {
  Importer *m = n->m;
  uint32_t rank = op_value(n, 0)->shape.rank;
  const char *run = g->many ? "j" : "i", *row = g->many ? "i " : "";
  Id in[GRAM_LIMIT + 1] = {pool};
  Buf test = buf_new(m->arena);
  int64_t room = g->words - (length - 1) * apart;
  int64_t *place = NEW_ARRAY(m->arena, int64_t, room);
  for (uint32_t t = 0; t < length; t++) {
    for (int64_t i = 0; i < room; i++) place[i] = i + t * apart;
    in[1 + t] = add_gather(n, n->in[0], rank - 1, place, room);
    buf_printf(&test, "%s($%u[%sk] = $0[%s %u])", t ? " and " : "", 1 + t, row, run, t);
  }
  return add_equation(n, ONNX_FLOAT, in, "[%s] = sum[k](number(%s))", index_letters(m, rank),
                      test.at);
}

// The n-grams of a length with all allowed skips.
static Id add_ngrams_of_length(ImpNode *n, const Grams *g, uint32_t length) {
  Importer *m = n->m;
  int64_t count = g->first[length] - g->first[length - 1];
  double *words = NEW_ARRAY(m->arena, double, count *length + 1);
  for (int64_t i = 0; i < count * length; i++)
    words[i] = (double)g->pool.at[g->starts.at[length - 1] + i];
  Id pool = value_const(m, ONNX_INT64, &(ImpShape){2, {dim_of(count), dim_of(length)}}, words),
     all = 0;
  for (int64_t apart = 1; apart - 1 <= (length > 1 ? g->skips : 0); apart++) {
    if ((length - 1) * apart >= g->words) break;
    Id some = add_ngram_counts(n, g, length, apart, pool);
    all = all ? add_equation(n, ONNX_FLOAT, IN(all, some), "[*] = $0 + $1") : some;
  }
  return all;
}

// Applies the mode. Weights are per n-gram here and per output in ONNX: supported only if these
// agree.
static Id add_ngram_weights(ImpNode *n, const Grams *g, Id runs, uint32_t length) {
  Importer *m = n->m;
  const char *mode = attr_text(n, "mode", "TF");
  const OnnxAttribute *weights = onnx_attribute(n->node, "weights");
  bool once = !strcmp(mode, "IDF"), plain = !strcmp(mode, "TF");
  if (plain) return runs;
  if (once) runs = add_equation(n, ONNX_FLOAT, IN(runs), "[*] = min($0, 1)");
  if (!weights) return runs;
  if (weights->floats.n != g->places.n) return op_refuse(n, "its weights do not fit its runs"), 0;
  uint32_t first = g->first[length - 1], count = g->first[length] - first;
  double *data = NEW_ARRAY(m->arena, double, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (g->places.at[first + i] != first + i)
      return op_refuse(n, "with weights, ngram_indexes must be 0, 1, 2 and so on"), 0;
    data[i] = (double)weights->floats.at[first + i];
  }
  Id w = value_const(m, ONNX_FLOAT, &(ImpShape){1, {dim_of(count)}}, data);
  return add_equation(n, ONNX_FLOAT, IN(runs, w), "[*] = $0 * $1");
}

bool op_tfidf(ImpNode *n) {
  Importer *m = n->m;
  Grams g = {0};
  if (!grams_read(n, &g) || !op_fixed(n, 0)) return false;
  ImpShape out = op_value(n, 0)->shape;
  if (out.rank < 1 || out.rank > 2) return op_refuse(n, "it wants a row of words, or rows");
  g.many = out.rank == 2, g.words = out.dim[out.rank - 1].n;
  int64_t lines = (g.most - g.least + 1) * (g.skips < GRAM_LINES ? g.skips + 1 : GRAM_LINES);
  if (g.words > TREE_LIMIT || lines > GRAM_LINES || lines * g.words > TREE_LIMIT)
    return op_refuse(n, "it has too many words, or skips too many");
  int64_t most = 0;
  for (uint32_t i = 0; i < g.places.n; i++) {
    if (g.places.at[i] < 0 || g.places.at[i] > TREE_LIMIT)
      return op_refuse(n, "ngram_indexes does not fit its pool");
    if (g.places.at[i] > most) most = g.places.at[i];
  }
  out.dim[out.rank - 1] = dim_of(most + 1);
  Id in[2 * GRAM_LIMIT];
  uint32_t reads = 0;
  Buf right = buf_new(m->arena);
  for (uint32_t length = (uint32_t)g.least; length <= g.most; length++) {
    uint32_t first = g.first[length - 1], count = g.first[length] - first;
    Id runs = count ? add_ngrams_of_length(n, &g, length) : 0;
    if (!runs) continue;
    if (!(runs = add_ngram_weights(n, &g, runs, length))) return false;
    double *data = NEW_ARRAY(m->arena, double, count + 1);
    for (uint32_t i = 0; i < count; i++) data[i] = (double)g.places.at[first + i];
    const char *run = imp_letter[ONNX_RANK_LIMIT + length];
    in[reads++] = runs;
    in[reads++] = value_const(m, ONNX_INT64, &(ImpShape){1, {dim_of(count)}}, data);
    buf_printf(&right, "%ssum[%s](($%u[%s%s] when (%s = $%u[%s]) else 0))", reads > 2 ? " + " : "",
               run, reads - 2, g.many ? "i " : "", run, g.many ? "j" : "i", reads - 1, run);
  }
  if (!reads) return op_refuse(n, "its pool has no runs");
  return op_set_result(n, 0,
                       add_equation(n, ONNX_FLOAT, in, "[%s] = %s",
                                    letters_sized(m, &out, out.rank - 1, out.rank), right.at));
}

// -- trees ----------------------------------------------------------------------------------------
// Evaluates every node; a leaf is reached if all answers on its path match.
typedef struct {
  ImpInts feature, yes, no, yes_leaf, no_leaf, root, target;
  double *split, *mode, *weight; // of nodes, nodes, leaves
  int64_t nodes, leaves, targets;
  int8_t *way; // [node] on the path: 1 for yes, -1 for no; 0 elsewhere
  struct {
    VEC(double) yes, no, deep, target, weight;
  } path; // for each leaf: [nodes] twice, and one number each
} Trees;

static bool tree_numbers(ImpNode *n, const char *name, double **data, int64_t *count) {
  const OnnxAttribute *a = onnx_attribute(n->node, name);
  const char *why = NULL;
  if (a->t->rank != 1) return op_refuse(n, "%s is not a row of numbers", name);
  *count = a->t->count;
  return onnx_numbers(n->m->arena, a->t, n->m->model->folder, data, &why) ||
         op_refuse(n, "%s: %s", name, why);
}

static bool trees_read(ImpNode *n, Trees *t) {
  t->feature = attr_ints(n, "nodes_featureids"), t->root = attr_ints(n, "tree_roots");
  t->yes = attr_ints(n, "nodes_truenodeids"), t->no = attr_ints(n, "nodes_falsenodeids");
  t->yes_leaf = attr_ints(n, "nodes_trueleafs"), t->no_leaf = attr_ints(n, "nodes_falseleafs");
  t->target = attr_ints(n, "leaf_targetids"), t->targets = attr_int(n, "n_targets", 1);
  int64_t modes;
  if (!tree_numbers(n, "nodes_splits", &t->split, &t->nodes) ||
      !tree_numbers(n, "nodes_modes", &t->mode, &modes) ||
      !tree_numbers(n, "leaf_weights", &t->weight, &t->leaves))
    return false;
  if (modes != t->nodes || t->feature.n != t->nodes || t->yes.n != t->nodes ||
      t->no.n != t->nodes || t->yes_leaf.n != t->nodes || t->no_leaf.n != t->nodes ||
      t->target.n != t->leaves || t->targets < 1 || t->targets > TREE_LIMIT || t->nodes < 1)
    return op_refuse(n, "its lists are not of one length");
  ImpInts missing = attr_ints(n, "nodes_missing_value_tracks_true");
  for (uint32_t i = 0; i < missing.n; i++)
    if (missing.at[i]) return op_refuse(n, "missing values cannot be imported");
  if (onnx_attribute(n->node, "membership_values"))
    return op_refuse(n, "nodes that look into a set cannot be imported");
  t->way = NEW_ARRAY(n->m->arena, int8_t, t->nodes);
  return true;
}

static bool tree_leaf(ImpNode *n, Trees *t, int64_t leaf) {
  Arena *a = n->m->arena;
  double deep = 0;
  if (leaf < 0 || leaf >= t->leaves || t->target.at[leaf] < 0 || t->target.at[leaf] >= t->targets)
    return op_refuse(n, "a leaf is not there");
  if ((int64_t)t->path.yes.n + t->nodes > TREE_LIMIT)
    return op_refuse(n, "its trees are too large");
  for (int64_t i = 0; i < t->nodes; i++) {
    vec_push(a, &t->path.yes, t->way[i] > 0);
    vec_push(a, &t->path.no, t->way[i] < 0);
    deep += t->way[i] != 0;
  }
  vec_push(a, &t->path.deep, deep);
  vec_push(a, &t->path.target, (double)t->target.at[leaf]);
  vec_push(a, &t->path.weight, t->weight[leaf]);
  return true;
}

// Collects the leaves below a node. Paths visit no node twice, so it terminates.
static bool tree_walk(ImpNode *n, Trees *t, int64_t at, uint32_t deep) {
  if (at < 0 || at >= t->nodes || t->way[at] || deep > 512)
    return op_refuse(n, "its nodes are no trees");
  t->way[at] = 1;
  bool ok = t->yes_leaf.at[at] ? tree_leaf(n, t, t->yes.at[at])
                               : tree_walk(n, t, t->yes.at[at], deep + 1);
  t->way[at] = -1;
  ok = ok && (t->no_leaf.at[at] ? tree_leaf(n, t, t->no.at[at])
                                : tree_walk(n, t, t->no.at[at], deep + 1));
  t->way[at] = 0;
  return ok;
}

// The answer of each node, [rows nodes]: 0 or 1.
static Id add_tree_answers(ImpNode *n, const Trees *t) {
  static const char *const compare[] = {"<=", "<", ">=", ">", "=", "!="};
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, row = {1, {dim_of(t->nodes)}};
  for (uint32_t i = 0; i < t->nodes; i++) {
    if (t->feature.at[i] < 0 || t->feature.at[i] >= x.dim[1].n)
      return op_refuse(n, "a feature is not there"), 0;
    if (!(t->mode[i] >= 0 && t->mode[i] < COUNT(compare)))
      return op_refuse(n, "a mode of its nodes is not known"), 0;
  }
  Id taken = add_gather(n, n->in[0], 1, t->feature.at, t->nodes);
  Id split = value_const(m, op_value(n, 0)->type, &row, t->split);
  Id in[2 + COUNT(compare)] = {taken, split};
  uint32_t reads = 2;
  Buf right = buf_new(m->arena);
  for (uint32_t k = 0; k < COUNT(compare); k++) {
    double *is = NEW_ARRAY(m->arena, double, t->nodes + 1);
    bool some = false;
    for (int64_t i = 0; i < t->nodes; i++) some |= (is[i] = t->mode[i] == k) != 0;
    if (!some) continue;
    buf_printf(&right, "%s$%u * number($0 %s $1)", reads > 2 ? " + " : "", reads, compare[k]);
    in[reads++] = value_const(m, ONNX_FLOAT, &row, is);
  }
  return add_equation(n, ONNX_FLOAT, in, "[*] = %s", right.at);
}

bool op_treeensemble(ImpNode *n) {
  Importer *m = n->m;
  Trees t = {0};
  int64_t how = attr_int(n, "aggregate_function", 1);
  if (!trees_read(n, &t)) return false;
  ImpShape x = op_value(n, 0)->shape;
  OnnxType type = op_value(n, 0)->type;
  if (x.rank != 2 || x.dim[1].text) return op_refuse(n, "it wants rows of features");
  if (how != 0 && how != 1) return op_refuse(n, "its trees are neither summed nor averaged");
  if (attr_int(n, "post_transform", 0) != 0)
    return op_refuse(n, "a transform behind its trees is not known");
  for (uint32_t i = 0; i < t.root.n; i++)
    if (!tree_walk(n, &t, t.root.at[i], 0)) return false;
  if (!t.root.n) return op_refuse(n, "it has no trees");
  Id answers = add_tree_answers(n, &t);
  if (!answers) return false;
  ImpSize paths = dim_of(t.path.deep.n);
  ImpShape ways = {2, {paths, dim_of(t.nodes)}}, list = {1, {paths}};
  Id yes = value_const(m, ONNX_FLOAT, &ways, t.path.yes.at),
     no = value_const(m, ONNX_FLOAT, &ways, t.path.no.at),
     deep = value_const(m, ONNX_FLOAT, &list, t.path.deep.at),
     target = value_const(m, ONNX_FLOAT, &list, t.path.target.at),
     weight = value_const(m, type, &list, t.path.weight.at);
  Id right = add_equation(n, ONNX_FLOAT, IN(answers, yes, no),
                          "[i j] = sum[k]($0[i k] * $1[j k] + (1 - $0[i k]) * $2[j k])");
  const char *mean = how ? "" : arena_format(m->arena, " / %u", t.root.n);
  return op_set_result(
      n, 0,
      equation(n, IN(weight, right, deep, target),
               "[i j:%lld] = sum[k](($0[k] when ($1[i k] = $2[k]) and (j = $3[k]) else "
               "0))%s",
               (long long)t.targets, mean));
}
