// Names of the program: letters, digits and _, distinct, no keyword, no box that lines use, and no
// index letter.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "port/lines/lines.h"

#include "core/diagram/diagram.h"
#include "lang/syntax/syntax.h"

// Built-in names, and names that every program has.
static const char *const built_in[] = {
    "R",      "B",          "batch", "training",  "size", "inf",    "pi",      "model",
    "max",    "min",        "sum",   "mean",      "prod", "concat", "order",   "argmax",
    "argmin", "scan",       "refit", "positions", "down", "normal", "uniform", "glorot",
    "he",     "orthogonal", "units", "steps",     "fwd",  "rev",    "pow",     "flow",
};

// Names of the library: hiding one is legal but confusing, and lines may use it.
static const char *const library[] = {
    "clamp",        "leaky_relu",    "elu",         "selu",       "gelu",
    "gelu_tanh",    "silu",          "mish",        "softsign",   "hard_sigmoid",
    "hard_tanh",    "softmax",       "log_softmax", "logsumexp",  "cumulative_sum",
    "dense",        "flatten",       "embed",       "conv",       "max_pool",
    "mean_pool",    "layer_norm",    "rms_norm",    "group_norm", "batch_norm",
    "dropout",      "attend_masked", "attend",      "causal",     "multihead",
    "rotary",       "lstm",          "gru",         "lut",        "roll",
    "conv2d",       "depthwise2d",   "bias2d",      "max_pool2d", "global_mean2d",
    "batch_norm2d", "linear",
};

static void reserve_names(Importer *m, const char *const *word, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) table_put(m->taken, word[i], strlen(word[i]), 1);
}

static void begin(Importer *m) {
  if (m->taken) return;
  m->taken = table_new(m->arena);
  reserve_names(m, built_in, COUNT(built_in));
  reserve_names(m, library, COUNT(library));
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++)
    if (!fn_rows[fn].written) reserve_names(m, &fn_rows[fn].name, 1);
  reserve_names(m, imp_letter, IMP_LETTERS);
#define BOX(name, text) table_put(m->taken, name, strlen(name), 1);
#include "port/lines/boxes.def"
#undef BOX
}

// The table counts the uses of each base name.
static const char *free_name(Importer *m, const char *base) {
  const char *name = base;
  size_t n = strlen(base);
  if (is_reserved(base) && !table_get(m->taken, base, n)) table_put(m->taken, base, n, 1);
  for (Id k = table_get(m->taken, base, n); k && table_get(m->taken, name, strlen(name));) {
    table_put(m->taken, base, n, ++k);
    name = arena_format(m->arena, "%s_%u", base, k);
  }
  table_put(m->taken, name, strlen(name), 1);
  return name;
}

// Replaces each run of other characters by _. Long names are cut at the front: their end says most.
static const char *cleaned(Importer *m, const char *text) {
  Buf b = buf_new(m->arena);
  size_t n = strlen(text);
  if (n > 48) text += n - 48;
  for (; *text; text++) {
    bool word = char_is_word(*text);
    if (word && !b.n && !char_is_letter(*text)) buf_char(&b, 'v');
    if (word)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != '_')
      buf_char(&b, '_');
  }
  while (b.n && b.at[b.n - 1] == '_') b.at[--b.n] = 0;
  return b.n ? b.at : "";
}

// "/layer1/layer1.0/conv1/Conv" becomes "layer1.0/conv1": removes scopes repeated by the next one,
// and the operator.
static const char *shorten_scopes(Importer *m, const char *path) {
  Buf b = buf_new(m->arena);
  if (*path != '/') return path;
  for (const char *at = path + 1, *end; *at; at = *end ? end + 1 : end) {
    end = at + strcspn(at, "/");
    size_t n = (size_t)(end - at);
    bool again = *end && !strncmp(at, end + 1, n) && !char_is_letter(end[1 + n]);
    bool op = !*end && b.n && *at >= 'A' && *at <= 'Z';
    if (!again && !op) buf_printf(&b, "%s%.*s", b.n ? "/" : "", (int)n, at);
  }
  return b.n ? b.at : path;
}

const char *name_make(Importer *m, const char *onnx, const char *otherwise) {
  begin(m);
  size_t n = strlen(onnx);
  if (text_ends(onnx, "_output_0")) onnx = arena_text(m->arena, onnx, n - 9);
  const char *base = cleaned(m, m->how->flat ? onnx : shorten_scopes(m, onnx));
  return free_name(m, *base ? base : otherwise);
}

const char *symbol_make(Importer *m, const char *symbol) {
  begin(m);
  if (!m->symbols) m->symbols = table_new(m->arena);
  size_t n = strlen(symbol);
  Id known = table_get(m->symbols, symbol, n);
  if (known) return value_at(m, known)->name;
  const char *base = cleaned(m, symbol);
  bool letter = strlen(base) == 1;
  const char *name = letter ? arena_format(m->arena, "%c", char_upper(*base)) : base;
  Id v = value_new(m, ONNX_INT64, &(ImpShape){0}, IMP_CONST, "");
  value_at(m, v)->name = free_name(m, *name ? name : "N");
  value_at(m, v)->symbol = symbol;
  value_at(m, v)->known = NEW(m->arena, ImpSize);
  *value_at(m, v)->known = (ImpSize){-1, value_at(m, v)->name};
  table_put(m->symbols, symbol, n, v);
  return value_at(m, v)->name;
}
