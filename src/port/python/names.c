// Names and numbers as Python has them.
#include "port/python/python_own.h"

#include <math.h>

// Words of Python, names that the file itself has, and what every module has already.
static const char *const reserved[] = {
    "and",    "as",      "assert",  "async",    "await",      "break",   "class",    "continue",
    "def",    "del",     "elif",    "else",     "except",     "finally", "for",      "from",
    "global", "if",      "import",  "in",       "is",         "lambda",  "nonlocal", "not",
    "or",     "pass",    "raise",   "return",   "try",        "while",   "with",     "yield",
    "None",   "True",    "False",   "torch",    "nn",         "F",       "np",       "jax",
    "jnp",    "json",    "self",    "range",    "zip",        "float",   "int",      "load",
    "glorot", "he",      "train",   "eval",     "type",       "half",    "double",   "bool",
    "apply",  "forward", "modules", "children", "parameters", "buffers", "print"};

const char *python_name(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (const char *at = text; *at; at++) {
    bool word = char_is_word(*at) || *at == '_' || (unsigned char)*at >= 0x80; // or a letter like θ
    if (at == text && *at >= '0' && *at <= '9') buf_char(&b, '_');
    if (word)
      buf_char(&b, *at);
    else if (b.n && b.at[b.n - 1] != '_')
      buf_char(&b, '_');
  }
  while (b.n > 1 && b.at[b.n - 1] == '_' && text[strlen(text) - 1] != '_') b.at[--b.n] = 0;
  if (!b.n) buf_char(&b, 'x');
  for (uint32_t i = 0; i < COUNT(reserved); i++)
    if (!strcmp(b.at, reserved[i])) return arena_format(a, "%s_", b.at);
  return b.at;
}

// What the file itself defines or uses before its training: a box of that name gets another.
static const char *const module_words[] = {
    "root",       "with_slope", "power",   "through", "first_max", "first_min",
    "orthogonal", "normal",     "uniform", "Goals",   "init",      "read_safetensors",
    "REAL",       "GOALS",      "PHASES",  "DRAWN",   "PATHS",     "STATES",
    "list",       "tuple",      "all",     "sorted",  "str",       "super",
    "KeyError",   "__name__"};

// Whether the training defines or calls it: a function of its own, or one of Python's.
static bool training_uses(const Python *p, const char *name) {
  const char *text = p->jax ? jax_training : torch_training;
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if (at[n] == '(' && !char_is_word(at[-1]) && at[-1] != '.') return true;
  return false;
}

const char *python_defined(Python *p, const char *name) {
  bool own = training_uses(p, name);
  for (uint32_t i = 0; i < COUNT(module_words) && !own; i++) own = !strcmp(name, module_words[i]);
  return python_unique(p->a, p->taken, own ? arena_format(p->a, "%s_box", name) : name);
}

const char *python_unique(Arena *a, Table *taken, const char *name) {
  const char *own = name;
  for (uint32_t i = 2; table_get(taken, own, strlen(own)); i++)
    own = arena_format(a, "%s_%u", name, i);
  table_put(taken, own, strlen(own), 1);
  return own;
}

// The helpers that a body may call are not to be hidden.
const char *python_local(Python *p, Table *taken, const char *name) {
  static const char *const helpers[] = {"root",      "with_slope", "power",     "through",
                                        "first_max", "first_min",  "orthogonal"};
  for (uint32_t i = 0; i < COUNT(helpers); i++)
    if (!strcmp(name, helpers[i])) name = arena_format(p->a, "%s_", name);
  while (table_get(p->taken, name, strlen(name))) name = arena_format(p->a, "%s_", name);
  return python_unique(p->a, taken, name);
}

const char *python_class(Arena *a, const char *text) {
  Buf b = buf_new(a);
  bool up = true;
  for (const char *at = python_name(a, text); *at; at++) {
    if (*at != '_') buf_char(&b, up ? char_upper(*at) : *at);
    up = *at == '_';
  }
  return b.at;
}

const char *python_path(Python *p, const char *path) {
  Buf b = buf_new(p->a);
  buf_text(&b, p->jax ? "p" : "self");
  while (*path) {
    const char *end = strchr(path, '/');
    size_t n = end ? (size_t)(end - path) : strlen(path);
    buf_printf(&b, p->jax ? "[\"%s\"]" : ".%s", python_name(p->a, arena_text(p->a, path, n)));
    path += end ? n + 1 : n;
  }
  return b.at;
}

void python_number(Buf *b, double x, OutType type) {
  if (type == OUT_BOOL)
    buf_text(b, x != 0 ? "True" : "False");
  else if (type == OUT_INT64)
    buf_printf(b, "%lld", (long long)x);
  else if (isnan(x))
    buf_text(b, "float(\"nan\")");
  else if (isinf(x))
    buf_text(b, x > 0 ? "float(\"inf\")" : "-float(\"inf\")");
  else {
    size_t from = b->n;
    buf_number(b, x);
    if (!strpbrk(b->at + from, ".eE")) buf_text(b, ".0");
  }
}
