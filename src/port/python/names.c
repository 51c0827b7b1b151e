// Python identifiers and literals.
#include "base/names.h"
#include "base/table.h"
#include "base/words.h"
#include "port/python/python_own.h"

#include <math.h>

// Python keywords, names used by the file, and attributes of every module.
static const char reserved[] =
    " and as assert async await break class continue def del elif else except finally for "
    "from global if import in is lambda nonlocal not or pass raise return try while with "
    "yield None True False torch nn F np jax jnp json self range zip float int load glorot "
    "he train eval type half double bool apply forward modules children parameters buffers "
    "print training cpu cuda ipu xpu mtia to to_empty bfloat16 compile add_module "
    "dump_patches extra_repr call_super_init share_memory state_dict load_state_dict "
    "zero_grad requires_grad_ T_destination ";

// Prefixes of attributes of PyTorch modules.
static const char *const reserved_fronts[] = {"register_", "named_", "get_", "set_"};

static bool is_python_word(const char *name) {
  if (text_has_word(reserved, name)) return true;
  for (uint32_t i = 0; i < COUNT(reserved_fronts); i++)
    if (!strncmp(name, reserved_fronts[i], strlen(reserved_fronts[i]))) return true;
  return false;
}

// Non-ASCII letters that Python keeps as they are in identifiers. Others are normalised to NFKC
// (ligatures, combining accents) or are not allowed.
static const struct {
  uint32_t first, last;
} letters[] = {{0xC0, 0xD6},    {0xD8, 0xF6},     {0xF8, 0x131},    {0x134, 0x13E},
               {0x141, 0x148},  {0x14A, 0x17E},   {0x391, 0x3A1},   {0x3A3, 0x3C9},
               {0x400, 0x481},  {0x48A, 0x52F},   {0x5D0, 0x5EA},   {0x620, 0x64A},
               {0x904, 0x939},  {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x4E00, 0x9FEF},
               {0xAC00, 0xD7A3}};

// The length in bytes of the identifier character at `text`; 0: none.
static size_t word_bytes(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (*c < 0x80) return char_is_word(*text) || *text == '_';
  size_t n = character_length(text, strlen(text));
  uint32_t code = n == 2   ? (c[0] & 0x1Fu) << 6 | (c[1] & 0x3Fu)
                  : n == 3 ? (c[0] & 0xFu) << 12 | (c[1] & 0x3Fu) << 6 | (c[2] & 0x3Fu)
                           : 0;
  for (uint32_t i = 0; i < COUNT(letters); i++)
    if (letters[i].first <= code && code <= letters[i].last) return n;
  return 0;
}

// A leading `_` would make the name private and mangled inside classes: `_x` becomes `x_`.
const char *python_name(Arena *a, const char *text) {
  Buf b = buf_new(a);
  size_t private = strspn(text, "_");
  bool moved = private && (char_is_letter(text[private]) || (unsigned char)text[private] >= 0x80);
  if (moved) text += private;
  for (const char *at = text; *at;) {
    size_t n = word_bytes(at); // letters such as θ have several bytes
    if (at == text && *at >= '0' && *at <= '9') buf_char(&b, '_');
    if (n)
      buf_add(&b, at, n);
    else if (b.n && b.at[b.n - 1] != '_')
      buf_char(&b, '_');
    at += n ? n : 1;
  }
  while (b.n > 1 && b.at[b.n - 1] == '_' && text[strlen(text) - 1] != '_') b.at[--b.n] = 0;
  if (!b.n) buf_char(&b, 'x');
  return moved || is_python_word(b.at) ? arena_format(a, "%s_", b.at) : b.at;
}

// The path reduced to what distinguishes it in Python.
static const char *plain_path(Arena *a, const char *path, size_t n) {
  Buf b = buf_new(a);
  for (size_t i = 0, length; i < n; i += length + 1) {
    const char *word = path + i;
    length = strcspn(word, "/");
    if (length > n - i) length = n - i;
    size_t first = 0, last = length;
    while (first < last && word[first] == '_') first++;
    while (last > first && word[last - 1] == '_') last--;
    if (i) buf_char(&b, '.');
    for (size_t k = first; k < last; k++) buf_char(&b, word[k] == '.' ? '_' : word[k]);
  }
  return b.at;
}

// Weights keep their names, so that files of weights can be loaded: names that Python cannot have
// are refused.
static bool path_is_python(Python *p, const char *path) {
  for (size_t i = 0, n; path[i]; i += n) {
    n = path[i] == '/' || path[i] == '.' ? 1 : word_bytes(path + i);
    if (!n)
      return export_error(p->e, OUTCOME_WRONG,
                          "the weights of `%s` have a sign in their name that no name in Python "
                          "has: call them otherwise",
                          path);
  }
  return true;
}

bool python_paths_differ(Python *p, const Diagram *d) {
  Table *seen = table_new(p->a);
  VEC(const char *) said = {0};
  for (uint32_t i = 0; i < d->param.n; i++) {
    const char *path = d->param.at[i].path;
    if (!path_is_python(p, path)) return false;
    for (size_t n = strcspn(path, "/");; n += 1 + strcspn(path + n + 1, "/")) {
      const char *own = arena_text(p->a, path, n), *plain = plain_path(p->a, path, n);
      Id at = table_get(seen, plain, strlen(plain));
      if (at && strcmp(said.at[at - 1], own) != 0)
        return export_error(p->e, OUTCOME_WRONG,
                            "the weights of `%s` and of `%s` have one name in Python: call one of "
                            "them otherwise",
                            said.at[at - 1], own);
      if (!at) {
        vec_push(p->a, &said, own);
        table_put(seen, plain, strlen(plain), said.n);
      }
      if (!path[n]) break;
    }
  }
  return true;
}

// Names that the file defines or uses before the training part: boxes with these names are renamed.
static const char *const module_words[] = {
    "root",       "with_slope", "power",   "through", "first_max", "first_min",
    "orthogonal", "normal",     "uniform", "Goals",   "init",      "read_safetensors",
    "REAL",       "GOALS",      "PHASES",  "DRAWN",   "PATHS",     "STATES",
    "list",       "tuple",      "all",     "sorted",  "str",       "super",
    "KeyError",   "p",          "key",     "modulo",  "__name__"};

// Does the training part define or call this name, or is it a Python builtin?
static bool training_uses(const Python *p, const char *name) {
  const char *text = p->jax ? jax_training : torch_training;
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if (at[n] == '(' && !char_is_word(at[-1]) && at[-1] != '_' && at[-1] != '.') return true;
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

// Collects the names of all called diagrams; each diagram is visited once.
void python_note_called(Python *p, const Diagram *d) {
  const char *key = arena_format(p->a, "%u", d->id);
  if (table_get(p->walked, key, strlen(key))) return;
  table_put(p->walked, key, strlen(key), 1);
  const char *name = python_name(p->a, name_text(p->w->names, d->name));
  table_put(p->called, name, strlen(name), 1);
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_call) python_note_called(p, b->callee);
    if (b->op == OP_scan) python_note_called(p, b->scan->body);
  }
}

// A local name that shadows no function or helper that the body may call.
const char *python_local(Python *p, Table *taken, const char *name) {
  static const char *const helpers[] = {"root",      "with_slope", "power",      "through",
                                        "first_max", "first_min",  "orthogonal", "modulo"};
  for (uint32_t i = 0; i < COUNT(helpers); i++)
    if (!strcmp(name, helpers[i])) name = arena_format(p->a, "%s_", name);
  while (table_get(p->taken, name, strlen(name)) || table_get(p->called, name, strlen(name)))
    name = arena_format(p->a, "%s_", name);
  return python_unique(p->a, taken, name);
}

const char *python_class(Arena *a, const char *text) {
  Buf b = buf_new(a);
  bool up = true;
  for (const char *at = python_name(a, text); *at; at++) {
    if (*at != '_') buf_char(&b, up ? char_upper(*at) : *at);
    up = *at == '_';
  }
  // `_` and `_2d` have no letter at the beginning.
  bool letter = b.n && !(b.at[0] >= '0' && b.at[0] <= '9');
  return letter ? python_name(a, b.at) : arena_format(a, "Box%s", b.n ? b.at : "");
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

void python_escaped(Buf *b, const char *text) {
  Buf shown = buf_new(b->arena);
  buf_escaped(&shown, text, strlen(text));
  for (size_t i = 0; i < shown.n; i++) {
    if (shown.at[i] == '"' || shown.at[i] == '\\') buf_char(b, '\\');
    buf_char(b, shown.at[i]);
  }
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
