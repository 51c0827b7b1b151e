// A box or learner as a Python file of PyTorch or JAX, as it is in use: what it is made of, first
// values, and a reader of weights.
#include "core/pass/pass.h"
#include "port/export/python_own.h"

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
    "    model = %s\n"
    "    load(model, \"weights.safetensors\")\n"
    "    y = model(x)\n"
    "\n"
    "Samples stand in front of every input. Weights are called as in the program, with points for\n"
    "slashes.%s\n"
    "\"\"\"\n" TORCH_IMPORTS;

static const char *const goals_head =
    "\"\"\"The goals of %s: PyTorch.\n"
    "\n"
    "    model = %s\n"
    "    load(model, \"weights.safetensors\")\n"
    "    train(model, batches, torch.optim.Adam(model.parameters(), 1e-3))\n"
    "\n"
    "Samples stand in front of what is given. Weights are called as in the program, with points "
    "for\n"
    "slashes. The optimiser is for you to choose.%s\n"
    "\"\"\"\n" TORCH_IMPORTS;

static const char *const jax_head = "\"\"\"%s, from %s: JAX.\n"
                                    "\n"
                                    "    p = load(\"weights.safetensors\")    # or init(seed)\n"
                                    "    y = jax.jit(%s)(p, x)\n"
                                    "\n"
                                    "Samples stand in front of every input. Weights are a tree of "
                                    "dicts, called as in the program.%s\n"
                                    "\"\"\"\n"
                                    "import json\n"
                                    "\n"
                                    "import jax\n"
                                    "import jax.numpy as jnp\n"
                                    "import numpy as np\n";

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
    "        return \".\".join(word.rstrip(\"_\") for word in name.split(\".\"))\n"
    "\n"
    "    state = model.state_dict()\n"
    "    keys = {plain(key): key for key in state}\n"
    "    missing = {name for name, _ in model.named_parameters()}\n"
    "    for name, array in read_safetensors(path).items():\n"
    "        if name.startswith(\"%s\"):\n"
    "            name = name[%zu:]\n"
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
    "        if name.startswith(\"%s\"):\n"
    "            name = name[%zu:]\n"
    "        branch = p\n"
    "        for word in name.replace(\".\", \"_\").split(\"/\"):\n"
    "            keys = {key.rstrip(\"_\"): key for key in branch} if isinstance(branch, dict) "
    "else {}\n"
    "            above, last = branch, keys.get(word.rstrip(\"_\"))\n"
    "            branch = branch[last] if last else None\n"
    "        if branch is not None and not isinstance(branch, dict):\n"
    "            above[last] = jnp.array(array, branch.dtype)\n"
    "            found += 1\n"
    "    if found < %u:\n"
    "        raise KeyError(\"%%s has %%d of %u weights\" %% (path, found))\n"
    "    return p\n";

// Functions that the text may need, in both libraries.
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
     "    return nn.init.orthogonal_(torch.empty(shape))\n",
     "def orthogonal(rng, shape):\n"
     "    q, _ = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))\n"
     "    return jnp.array(q if shape[0] >= shape[-1] else q.T, REAL).reshape(shape)\n"},
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
    {"first_max(", "",
     "def first_max(x):\n"
     "    \"\"\"The largest of the last axis; the first of equal ones has the slope.\"\"\"\n"
     "    return jnp.take_along_axis(x, jnp.argmax(x, -1)[..., None], -1)[..., 0]\n"},
    {"first_min(", "",
     "def first_min(x):\n"
     "    \"\"\"The smallest of the last axis; the first of equal ones has the slope.\"\"\"\n"
     "    return jnp.take_along_axis(x, jnp.argmin(x, -1)[..., None], -1)[..., 0]\n"},
    {" rand", "",
     "def randn(shape):\n"
     "    return jnp.array(np.random.normal(size=shape), REAL)\n"
     "\n\ndef rand(shape):\n"
     "    return jnp.array(np.random.uniform(size=shape), REAL)\n"},
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

// What the weights of a learner begin with: "guess/"; otherwise nothing.
static const char *front_of(Export *e, const Diagram *d) {
  const char *front = arena_format(e->arena, "%s/", e->name);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!d->param.at[i].rooted || strncmp(d->param.at[i].path, front, strlen(front)) != 0)
      return "";
  return d->param.n ? front : "";
}

// The learner's own diagram, whose weights have no learner in front; otherwise the whole.
static const Diagram *own_diagram(Export *e, const Diagram *d) {
  const char *front = front_of(e, d);
  if (d->reverse || d->box.n != 2 || d->box.at[1].op != OP_call || !*front) return d;
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

static bool put_file(Python *p, const Diagram *whole, const Diagram *d, const PythonMade *made,
                     const Loss *loss) {
  Export *e = p->e;
  Buf b = buf_new(p->a), tree = buf_new(p->a);
  const char *front = d == whole ? "" : front_of(e, whole), *file;
  path_folder(p->a, p->w->sources->file.at[e->p->tree->span.file].path, &file);
  const char *noise =
      p->noise ? "\nNoise is drawn here, so its numbers are others than limn's." : "";
  bool module = d->param.n;
  const char *call = p->jax || !module ? made->name : arena_format(p->a, "%s()", made->name);
  if (p->goals)
    buf_printf(&b, goals_head, file, call, noise);
  else
    buf_printf(&b, p->jax ? jax_head : torch_head, e->name, file, call, noise);
  if (p->real == OUT_DOUBLE)
    buf_text(&b, p->jax ? "\njax.config.update(\"jax_enable_x64\", True)\n"
                        : "\ntorch.set_default_dtype(torch.float64)\n");
  if (p->jax) buf_printf(&b, "\nREAL = jnp.float%s\n", p->real == OUT_DOUBLE ? "64" : "32");
  if (p->jax && module) {
    buf_text(&tree, "\n\ndef init(seed):\n    \"\"\"First values of the weights.\"\"\"\n"
                    "    rng = np.random.default_rng(seed)\n    return {\n");
    python_tree(p, d, &tree);
    buf_text(&tree, "    }\n");
  }
  put_tables(p, &b);
  Buf used = buf_new(p->a);
  buf_printf(&used, "%s%s", p->text.at, tree.at);
  put_helpers(p, used.at, &b);
  buf_text(&b, p->text.at);
  buf_text(&b, tree.at);
  if (p->goals) python_training(p, loss, &b);
  if (module) {
    buf_text(&b, reader);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->param.n; i++)
      kept += d->param.at[i].role == ROLE_WEIGHT || d->param.at[i].role == ROLE_BUFFER;
    if (p->jax)
      buf_printf(&b, jax_load, front, strlen(front), kept, kept);
    else
      buf_printf(&b, torch_load, front, strlen(front));
  }
  return e->status == OUTCOME_GOOD && export_put(e, export_file(e), b.at, b.n);
}

static bool export_python(Export *e, bool jax) {
  if (e->how->weights || e->how->from)
    return export_wrong(e, OUTCOME_USAGE, "`%s` takes no weights: `load` in the file reads them",
                        e->how->as);
  Loss loss = {0};
  Python p = {.e = e, .w = e->w, .a = e->arena, .jax = jax, .taken = table_new(e->arena)};
  p.goals = !e->name && !jax;
  p.real = e->how->precision == LIMN_PRECISION_64 ? OUT_DOUBLE : OUT_FLOAT;
  p.text = buf_new(p.a);
  p.by_text = table_new(p.a);
  p.of = table_new(p.a);
  p.constant = table_new(p.a);
  vec_push(p.a, &p.made, NULL);
  const Diagram *whole = p.goals ? python_goals(&p, &loss) : export_diagram(e, true);
  Tensor *param;
  if (!whole || !diagram_is_small(e->w, whole) || !export_params(e, whole, &param)) return false;
  const Diagram *d = p.goals ? whole : own_diagram(e, whole);
  const PythonMade *made = python_define(&p, d, false, p.goals ? "goals" : e->name);
  return made && put_file(&p, whole, d, made, &loss);
}

bool export_torch(Export *e) { return export_python(e, false); }
bool export_jax(Export *e) { return export_python(e, true); }
