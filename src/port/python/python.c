// Exports a box or learner, in use, as a Python file for PyTorch or JAX: definitions, initial
// values, and a function that loads weights.
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "port/python/python_own.h"

#define TORCH_IMPORTS                                                                              \
  "import json\n"                                                                                  \
  "\n"                                                                                             \
  "import numpy as np\n"                                                                           \
  "import torch\n"                                                                                 \
  "import torch.nn as nn\n"                                                                        \
  "import torch.nn.functional as F\n"

static const char *const torch_head =
    "\"\"\"%s, from %s: PyTorch.\n"
    "\n"
    "    model = %s\n%s"
    "    %s = model(x)\n"
    "\n"
    "Samples stand in front of every input. Weights are called as in the program, with points for\n"
    "slashes.%s\n"
    "\"\"\"\n" TORCH_IMPORTS;

static const char *const torch_goals_head =
    "\"\"\"%s as PyTorch: its goals, and how it trains.\n"
    "\n"
    "    model = Goals()                          # or load(Goals(), \"weights.safetensors\")\n"
    "    train(model, {\"name\": array, …})       # what is given, samples in front\n"
    "    save(model, \"trained.safetensors\")     # limn reads it: --weights\n"
    "\n"
    "or python FILE.py DATA.npz --out trained.safetensors. For a loop of your own, "
    "`Training(model)`\n"
    "makes a step at a time. Weights are called as in the program, with points for slashes.%s\n"
    "\"\"\"\n" TORCH_IMPORTS;

#define JAX_IMPORTS                                                                                \
  "import json\n"                                                                                  \
  "\n"                                                                                             \
  "import jax\n"                                                                                   \
  "import jax.numpy as jnp\n"                                                                      \
  "import numpy as np\n"

static const char *const jax_head = "\"\"\"%s, from %s: JAX.\n"
                                    "\n"
                                    "%s"
                                    "    %s = jax.jit(%s)(%s)\n"
                                    "\n"
                                    "Samples stand in front of every input. Weights are a tree of "
                                    "dicts, called as in the program.%s\n"
                                    "\"\"\"\n" JAX_IMPORTS;

static const char *const jax_goals_head =
    "\"\"\"%s as JAX: its goals, and how it trains.\n"
    "\n"
    "    p = init(0)                              # or load(\"weights.safetensors\")\n"
    "    p = train(p, {\"name\": array, …})       # what is given, samples in front\n"
    "    save(p, \"trained.safetensors\")         # limn reads it: --weights\n"
    "\n"
    "or python FILE.py DATA.npz --out trained.safetensors. For a loop of your own, `begin` and "
    "`step`\n"
    "are pure functions. Weights are a tree of dicts, called as in the program.%s\n"
    "\"\"\"\n" JAX_IMPORTS;

static const char *const reader =
    "\n\ndef read_safetensors(path):\n"
    "    \"\"\"The arrays of a safetensors file, by name.\"\"\"\n"
    "    kinds = {\"F64\": np.float64, \"F32\": np.float32, \"F16\": np.float16, \"I64\": "
    "np.int64,\n"
    "             \"I32\": np.int32, \"U8\": np.uint8, \"BOOL\": np.bool_}\n"
    "    with open(path, \"rb\") as file:\n"
    "        header = json.loads(file.read(int.from_bytes(file.read(8), \"little\")))\n"
    "        data = file.read()\n"
    "    arrays = {}\n"
    "    for name, entry in header.items():\n"
    "        if name != \"__metadata__\":\n"
    "            begin, end = entry[\"data_offsets\"]\n"
    "            array = np.frombuffer(data[begin:end], kinds[entry[\"dtype\"]])\n"
    "            arrays[name] = array.reshape(entry[\"shape\"])\n"
    "    return arrays\n";

static const char *const torch_load =
    "\n\ndef load(model, path):\n"
    "    \"\"\"Takes the weights of a safetensors file of limn.\"\"\"\n"
    "    def plain(name):\n"
    "        return \".\".join(word.strip(\"_\") for word in name.split(\".\"))\n"
    "\n"
    "    state = model.state_dict()\n"
    "    keys = {plain(key): key for key in state}\n"
    "    missing = {name for name, _ in model.named_parameters()}\n"
    "    for name, array in read_safetensors(path).items():\n"
    "%s"
    "        key = keys.get(plain(name.replace(\".\", \"_\").replace(\"/\", \".\")))\n"
    "        if key:\n"
    "            state[key] = torch.from_numpy(array.copy()).to(state[key].dtype)\n"
    "            missing.discard(key)\n"
    "    if missing:\n"
    "        raise KeyError(\"%%s has no %%s\" %% (path, \", \".join(sorted(missing))))\n"
    "    model.load_state_dict(state)\n"
    "    return model\n";

static const char *const jax_load =
    "\n\ndef load(path):\n"
    "    \"\"\"The weights of a safetensors file of limn, as a tree.\"\"\"\n"
    "    p, found = init(0), 0\n"
    "    for name, array in read_safetensors(path).items():\n"
    "%s"
    "        branch = p\n"
    "        for word in name.replace(\".\", \"_\").split(\"/\"):\n"
    "            keys = {key.strip(\"_\"): key for key in branch} if isinstance(branch, dict) "
    "else {}\n"
    "            above, last = branch, keys.get(word.strip(\"_\"))\n"
    "            branch = branch[last] if last else None\n"
    "        if branch is not None and not isinstance(branch, dict):\n"
    "            above[last] = jnp.array(array, branch.dtype)\n"
    "            found += 1\n"
    "    if found < %u:\n"
    "        raise KeyError(\"%%s has %%d of %u weights\" %% (path, found))\n"
    "    return p\n";

// Helper functions that the text may use, for both libraries.
static const struct {
  const char *called, *torch, *jax;
} helpers[] = {
    {"glorot(",
     "def glorot(shape, fan_in, fan_out):\n"
     "    limit = (6 / (fan_in + fan_out)) ** 0.5\n"
     "    return torch.empty(shape).uniform_(-limit, limit)\n",
     "def glorot(rng, shape, fan_in, fan_out):\n"
     "    limit = (6 / (fan_in + fan_out)) ** 0.5\n"
     "    return jnp.array(rng.uniform(-limit, limit, shape), REAL)\n"},
    {"he(",
     "def he(shape, fan_in):\n"
     "    return torch.randn(shape) * (2 / fan_in) ** 0.5\n",
     "def he(rng, shape, fan_in):\n"
     "    return jnp.array(rng.normal(0, (2 / fan_in) ** 0.5, shape), REAL)\n"},
    {"orthogonal(",
     "def orthogonal(shape):\n"
     "    \"\"\"All axes but the last are one.\"\"\"\n"
     "    return nn.init.orthogonal_(torch.empty(shape).reshape(-1, shape[-1])).reshape(shape)\n",
     "def orthogonal(rng, shape):\n"
     "    \"\"\"All axes but the last are one.\"\"\"\n"
     "    n, m = int(np.prod(shape[:-1])), shape[-1]\n"
     "    q, _ = np.linalg.qr(rng.normal(size=(max(n, m), min(n, m))))\n"
     "    return jnp.array(q if n >= m else q.T, REAL).reshape(shape)\n"},
    {" normal(rng", "",
     "def normal(rng, shape):\n"
     "    return jnp.array(rng.normal(size=shape), REAL)\n"},
    {" uniform(rng", "",
     "def uniform(rng, shape):\n"
     "    return jnp.array(rng.uniform(size=shape), REAL)\n"},
    {"root(",
     "def root(x):\n"
     "    \"\"\"The square root; its slope at 0 is 0.\"\"\"\n"
     "    return torch.where(x == 0, x.detach(), torch.sqrt(torch.where(x == 0, 1.0, x)))\n",
     "def root(x):\n"
     "    \"\"\"The square root; its slope at 0 is 0.\"\"\"\n"
     "    return jnp.where(x == 0, 0.0, jnp.sqrt(jnp.where(x == 0, 1.0, x)))\n"},
    {"modulo(",
     "def modulo(x, n):\n"
     "    \"\"\"What is left of x, divided by n and rounded down; Python has another answer where "
     "n is "
     "infinite.\"\"\"\n"
     "    return x - n * torch.floor(x / n)\n",
     "def modulo(x, n):\n"
     "    \"\"\"What is left of x, divided by n and rounded down; Python has another answer where "
     "n is "
     "infinite.\"\"\"\n"
     "    return x - n * jnp.floor(x / n)\n"},
    {"power(",
     "def power(x, n):\n"
     "    \"\"\"x to the n; no slope by x at 0 where n < 1, nor by n where x is not "
     "positive.\"\"\"\n"
     "    still = (x <= 0) & n.isfinite()\n"
     "    base = torch.where((x == 0) & (n < 1), x.detach(), x)\n"
     "    return torch.pow(base, torch.where(still, n.detach(), n))\n",
     "def power(x, n):\n"
     "    \"\"\"x to the n; no slope by x at 0 where n < 1, nor by n where x is not "
     "positive.\"\"\"\n"
     "    base = jnp.where((x == 0) & (n < 1), jax.lax.stop_gradient(x), x)\n"
     "    return jnp.power(base, jnp.where(x <= 0, jax.lax.stop_gradient(n), n))\n"},
    {"through(",
     "def through(value, slope):\n"
     "    \"\"\"The value of one, the slope of the other.\"\"\"\n"
     "    return value.detach() + (slope - slope.detach())\n",
     "def through(value, slope):\n"
     "    \"\"\"The value of one, the slope of the other.\"\"\"\n"
     "    return jax.lax.stop_gradient(value) + (slope - jax.lax.stop_gradient(slope))\n"},
    {"with_slope(",
     "def with_slope(value, slope):\n"
     "    \"\"\"A function with a derivative of its own: of what went in, and the slopes of what "
     "came out.\"\"\"\n"
     "    class Own(torch.autograd.Function):\n"
     "        @staticmethod\n"
     "        def forward(ctx, *x):\n"
     "            ctx.save_for_backward(*x)\n"
     "            return value(*x)\n"
     "\n"
     "        @staticmethod\n"
     "        def backward(ctx, *d):\n"
     "            return slope(*ctx.saved_tensors, *d)\n"
     "\n"
     "    return Own.apply\n",
     "def with_slope(value, slope):\n"
     "    \"\"\"A function with a derivative of its own: of what went in, and the slopes of what "
     "came out.\"\"\"\n"
     "    def several(x):\n"
     "        return x if isinstance(x, tuple) else (x,)\n"
     "\n"
     "    own = jax.custom_vjp(value)\n"
     "    own.defvjp(lambda *x: (value(*x), x), lambda x, d: several(slope(*x, *several(d))))\n"
     "    return own\n"},
    {"first_max(", "",
     "def first_max(x):\n"
     "    \"\"\"The largest of the last axis; the first of equal ones has the slope.\"\"\"\n"
     "    return jnp.take_along_axis(x, jnp.argmax(x, -1)[..., None], -1)[..., 0]\n"},
    {"first_min(", "",
     "def first_min(x):\n"
     "    \"\"\"The smallest of the last axis; the first of equal ones has the slope.\"\"\"\n"
     "    return jnp.take_along_axis(x, jnp.argmin(x, -1)[..., None], -1)[..., 0]\n"},
};

static void put_helpers(const Python *p, const char *used, Buf *b) {
  for (uint32_t i = 0; i < COUNT(helpers); i++) {
    const char *text = p->jax ? helpers[i].jax : helpers[i].torch;
    if (*text && strstr(used, helpers[i].called)) buf_printf(b, "\n\n%s", text);
  }
}

static void put_tables(const Python *p, Buf *b) {
  size_t n;
  for (uint32_t i = 0; i < table_count(p->constant); i++)
    buf_printf(b, "%sTABLE_%u = %s\n", i ? "" : "\n", table_value(p->constant, i),
               table_key(p->constant, i, &n));
}

// The prefix of a learner's weights: "guess/"; otherwise empty.
static const char *front_of(Export *e, const Diagram *d) {
  const char *front = arena_format(e->arena, "%s/", e->name);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!d->param.at[i].rooted || strncmp(d->param.at[i].path, front, strlen(front)) != 0)
      return "";
  return d->param.n ? front : "";
}

// The learner's own diagram, in which weights have no learner prefix, instead of one that only
// calls it; otherwise the whole.
static const Diagram *own_diagram(Export *e, const Diagram *d) {
  const char *front = front_of(e, d);
  if (d->reverse || d->box.n != 2 || d->box.at[1].op != OP_call) return d;
  if (d->param.n && !*front) return d;
  const Diagram *own = d->box.at[1].callee;
  if (own->in.n != d->in.n || own->out.n != d->out.n || own->param.n != d->param.n) return d;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (d->box.at[1].in[i] != d->in.at[i]) return d;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].wire != d->box.at[1].in[d->in.n + i] ||
        strcmp(d->param.at[i].path + strlen(front), own->param.at[i].path) != 0)
      return d;
  return own;
}

static uint32_t kept_weights(const Diagram *d) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < d->param.n; i++)
    kept += d->param.at[i].role == ROLE_WEIGHT || d->param.at[i].role == ROLE_BUFFER;
  return kept;
}

// -- the file -------------------------------------------------------------------------------------
// "mean, spread" if the header names the results; otherwise y.
static const char *results_of(Python *p, const Diagram *d) {
  Buf b = buf_new(p->a);
  for (uint32_t i = 0; i < d->out.n; i++) {
    Name name = diagram_output_name(d, i);
    if (!name) return "y";
    buf_printf(&b, "%s%s", i ? ", " : "", python_name(p->a, name_text(p->w->names, name)));
  }
  return b.at;
}

static void put_head(Python *p, const Diagram *d, const char *name, Buf *b) {
  Export *e = p->e;
  const char *file, *call = p->jax || !d->param.n ? name : arena_format(p->a, "%s()", name);
  const char *noise = !p->noise ? ""
                      : p->jax ? "\nNoise is drawn by `key`, so its numbers are others than limn's."
                               : "\nNoise is drawn here, so its numbers are others than limn's.";
  Buf said = buf_new(p->a);
  path_folder(p->a, p->w->sources->file.at[e->p->tree->span.file].path, &file);
  python_escaped(&said, file);
  file = said.at;
  if (p->goals)
    buf_printf(b, p->jax ? jax_goals_head : torch_goals_head, file, noise);
  else if (p->jax)
    buf_printf(b, jax_head, e->name, file,
               kept_weights(d) ? "    p = load(\"weights.safetensors\")    # or init(seed)\n"
               : d->param.n    ? "    p = init(0)\n"
                               : "",
               results_of(p, d), call,
               arena_format(p->a, "%s%sx", d->param.n ? "p, " : "", d->noisy ? "key, " : ""),
               noise);
  else
    buf_printf(b, torch_head, e->name, file, call,
               kept_weights(d) ? "    load(model, \"weights.safetensors\")\n" : "",
               results_of(p, d), noise);
  if (p->real == OUT_DOUBLE)
    buf_text(b, p->jax ? "\njax.config.update(\"jax_enable_x64\", True)\n"
                       : "\ntorch.set_default_dtype(torch.float64)\n");
  if (p->jax) buf_printf(b, "\nREAL = jnp.float%s\n", p->real == OUT_DOUBLE ? "64" : "32");
}

static void put_load(Python *p, const Diagram *whole, const Diagram *d, Buf *b) {
  const char *front = d == whole ? "" : front_of(p->e, whole);
  uint32_t kept = kept_weights(d);
  const char *cut =
      !*front ? ""
              : arena_format(p->a,
                             "        if name.startswith(\"%s\"):\n            name = name[%zu:]\n",
                             front, strlen(front));
  buf_text(b, reader);
  if (p->jax)
    buf_printf(b, jax_load, cut, kept, kept);
  else
    buf_printf(b, torch_load, cut);
}

static void put_tree(Python *p, const Diagram *d, Buf *b) {
  buf_text(b, "\n\ndef init(seed):\n    \"\"\"First values of the weights.\"\"\"\n"
              "    rng = np.random.default_rng(seed)\n    p = {\n");
  python_tree(p, d, b);
  buf_text(b, "    }\n");
  python_start_copies(p, b);
  buf_text(b, "    return p\n");
}

static bool is_part(char c) { return char_is_word(c) || c == '_' || (unsigned char)c >= 0x80; }

static bool contains_name(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at++)
    if ((at == text || !is_part(at[-1])) && !is_part(at[n])) return true;
  return false;
}

// The definitions that the following text uses, in order: variants that were written and not chosen
// are dropped.
static const char *used_definitions(Python *p, const char *root, const char *behind) {
  uint32_t n = p->defined.n;
  bool *used = NEW_ARRAY(p->a, bool, n + 1);
  Buf b = buf_new(p->a);
  for (uint32_t i = n; i-- > 0;) {
    const PythonDefined *d = &p->defined.at[i];
    used[i] = !strcmp(d->name, root) || contains_name(behind, d->name);
    for (uint32_t k = i + 1; k < n && !used[i]; k++)
      used[i] = used[k] && contains_name(p->defined.at[k].text, d->name);
  }
  for (uint32_t i = 0; i < n; i++)
    if (used[i]) buf_text(&b, p->defined.at[i].text);
  return b.at ? b.at : "";
}

static bool put_file(Python *p, const Diagram *whole, const Diagram *d, const char *name) {
  Buf b = buf_new(p->a), tree = buf_new(p->a), training = buf_new(p->a), used = buf_new(p->a);
  bool module = d->param.n;
  if (p->jax && module) put_tree(p, d, &tree);
  if (p->goals && !python_training(p, &training)) return false;
  put_head(p, d, name, &b);
  put_tables(p, &b);
  Buf behind = buf_new(p->a);
  const char *text = p->text.at ? p->text.at : "";
  buf_printf(&behind, "%s%s%s", text, tree.at ? tree.at : "", training.at ? training.at : "");
  const char *definitions = used_definitions(p, name, behind.at);
  buf_printf(&used, "%s%s%s", definitions, text, tree.at ? tree.at : "");
  put_helpers(p, used.at, &b);
  buf_text(&b, definitions);
  buf_text(&b, text);
  buf_text(&b, tree.at ? tree.at : "");
  if (kept_weights(d)) put_load(p, whole, d, &b);
  buf_text(&b, training.at);
  return p->e->status == OUTCOME_GOOD && export_write_file(p->e, export_file(p->e), b.at, b.n);
}

// The weights file to write next to the Python file; NULL: none was requested or set, or it would
// be the input itself.
static const char *weights_file(Python *p, const Diagram *d) {
  Export *e = p->e;
  const char *file = export_file(e), *from = e->how->weights;
  bool set = e->set && e->set->array.n;
  if (!kept_weights(d) || (!from && !e->how->from && !set)) return NULL;
  size_t n = strlen(file) - (text_ends(file, e->ending) ? strlen(e->ending) : 0);
  const char *beside = arena_format(p->a, "%.*s.safetensors", (int)n, file);
  const char *there = from ? path_real(p->a, beside) : NULL;
  const char *read = there ? path_real(p->a, from) : NULL;
  return read && !strcmp(there, read) ? NULL : beside;
}

// A weights file without its Python file belongs to something else: do not overwrite it.
static bool weights_are_free(Python *p, const Diagram *d) {
  const char *beside = weights_file(p, d), *file = export_file(p->e);
  if (!beside || !path_exists(beside) || path_exists(file)) return true;
  return export_error(
      p->e, OUTCOME_WRONG,
      "%s is there already, and no %s that it belongs to: weights would be written over", beside,
      file);
}

static bool put_weights(Python *p, const Diagram *d) {
  Export *e = p->e;
  Arrays all = {0};
  Bytes bytes;
  const char *error, *file = weights_file(p, d);
  if (!file) return true;
  if (!export_weights(e, d, &all)) return false;
  if (!safetensors_bytes(p->a, &all, &bytes, &error))
    return export_error(e, OUTCOME_WRONG, "%s", error);
  return export_write_file(e, file, bytes.at, bytes.n);
}

static bool export_python(Export *e, bool jax) {
  Python p = {.e = e, .w = e->w, .a = e->arena, .jax = jax, .taken = table_new(e->arena)};
  p.goals = !e->name;
  if (e->name && e->how->train)
    return export_error(e, OUTCOME_USAGE, "`%s` trains whole programs: --train goes without a name",
                        e->how->as);
  p.real = e->how->precision == LIMN_PRECISION_64 ? OUT_DOUBLE : OUT_FLOAT;
  p.text = buf_new(p.a);
  p.by_text = table_new(p.a);
  p.of = table_new(p.a);
  p.constant = table_new(p.a);
  p.called = table_new(p.a);
  p.walked = table_new(p.a);
  vec_push(p.a, &p.made, NULL);
  const Diagram *whole = p.goals ? python_program(&p) : export_diagram(e, true);
  Tensor *param;
  if (whole && !whole->param.n && (e->how->weights || e->how->from))
    return export_error(e, OUTCOME_USAGE, "`%s` has no weights that could be written", e->name);
  if (!whole || !diagram_is_small(e->w, whole) || !python_paths_differ(&p, whole) ||
      !export_params(e, whole, &param))
    return false;
  p.whole = whole;
  python_note_called(&p, whole);
  p.value = param;
  const Diagram *d = p.goals ? whole : own_diagram(e, whole);
  const PythonMade *made = p.goals ? python_goals(&p) : python_define(&p, d, false, e->name);
  return made && weights_are_free(&p, whole) && put_file(&p, whole, d, made->name) &&
         put_weights(&p, whole);
}

bool export_torch(Export *e) { return export_python(e, false); }
bool export_jax(Export *e) { return export_python(e, true); }
