// Initial values of weights: as lines of __init__, or as a nested dict.
#include "base/names.h"
#include "base/table.h"
#include "port/python/python_own.h"

// -- sizes ----------------------------------------------------------------------------------------
// o_0 becomes o.
static const char *label_text(Python *p, Name label) {
  const char *text = python_name(p->a, label ? name_text(p->w->names, label) : "n");
  size_t n = strlen(text);
  while (n > 1 && text[n - 1] >= '0' && text[n - 1] <= '9') n--;
  return n > 1 && text[n - 1] == '_' ? arena_text(p->a, text, n - 1) : text;
}

// The name of a size in the class: one of its constructor arguments.
static const char *size_name(PythonWork *k, const char *label, int64_t value) {
  Arena *a = k->p->a;
  if (k->root || k->p->jax) return arena_format(a, "%lld", (long long)value);
  uint32_t others = 0;
  for (uint32_t i = 0; i < k->size.n; i++) {
    const PythonSize *s = &k->size.at[i];
    if (strcmp(s->label, label) != 0) continue;
    if (s->value == value) return s->name;
    others++;
  }
  const char *name = others ? arena_format(a, "%s_%u", label, others + 1) : label;
  vec_push(a, &k->size, (PythonSize){name, label, value});
  return name;
}

// Sizes are known here: weights with open sizes were refused before.
static void sizes_here(PythonWork *k, const Type *t, const char **name, int64_t *n) {
  for (uint32_t i = 0; i < t->rank; i++) {
    size_value(k->p->w, t->axis[i].size, &n[i]);
    name[i] = size_name(k, label_text(k->p, t->axis[i].label), n[i]);
  }
}

// A fan as a product of some of the sizes, trailing ones first for fan-out; if none matches, a
// number.
static const char *fan_text(PythonWork *k, const Type *t, const char **name, const int64_t *n,
                            Size fan, bool out) {
  double want = 0;
  size_number(k->p->w, fan, &want);
  for (uint32_t turn = 1; t->rank < 8 && turn < 1u << t->rank; turn++) {
    uint32_t some = out ? (1u << t->rank) - turn : turn;
    double all = 1;
    Buf b = buf_new(k->p->a);
    for (uint32_t i = 0; i < t->rank; i++) {
      if (!(some >> i & 1)) continue;
      all *= (double)n[i];
      buf_printf(&b, "%s%s", b.n ? " * " : "", name[i]);
    }
    if (all == want) return k->root || k->p->jax ? arena_format(k->p->a, "%.0f", want) : b.at;
  }
  Buf b = buf_new(k->p->a);
  buf_number(&b, want);
  return b.at;
}

// -- first values ---------------------------------------------------------------------------------
static OutType base_type(const PythonWork *k, const Type *t) {
  return t->base == BASE_R ? k->p->real : t->base == BASE_LABEL ? OUT_INT64 : OUT_BOOL;
}

static const char *data_text(PythonWork *k, const double *data, const Type *t, const char *shape) {
  int64_t count;
  Buf b = buf_new(k->p->a);
  OutType type = base_type(k, t);
  if (!type_count(k->p->w, t, &count)) count = 0;
  buf_text(&b, k->p->jax ? "jnp.array([" : "torch.tensor([");
  for (int64_t i = 0; i < count; i++) {
    buf_text(&b, i ? ", " : "");
    python_number(&b, data[i], type);
  }
  buf_printf(&b, "]).reshape(%s)", shape);
  return b.at;
}

// The data of a program constant, which has no initialiser.
static const double *constant_of(const Python *p, const Param *param) {
  InitKind kind = param->init.kind;
  if (param->role != ROLE_CONST || kind == INIT_CONST || kind == INIT_DATA) return NULL;
  for (uint32_t i = 0; i < p->whole->param.n; i++)
    if (p->whole->param.at[i].role == ROLE_CONST &&
        !strcmp(p->whole->param.at[i].path, param->path))
      return p->value[i].data;
  return NULL;
}

static const char *first_value(PythonWork *k, const Param *param, const Type *t);

// A computed initial value becomes a function of the constants that it reads.
static const char *computed_text(PythonWork *k, const Init *init) {
  Python *p = k->p;
  const Diagram *d = init->diagram;
  bool noise = p->noise; // noise in initial values does not count
  const PythonMade *made = python_define(p, d, true, NULL);
  p->noise = noise;
  if (!made) return "";
  Buf b = buf_new(p->a);
  bool key = p->jax && d->noisy;
  buf_printf(&b, "%s(%s", made->name, key ? "jax.random.PRNGKey(rng.integers(2**31))" : "");
  for (uint32_t i = 0; i < d->param.n; i++)
    buf_printf(&b, "%s%s", i || key ? ", " : "",
               first_value(k, &d->param.at[i], &d->wire.at[d->param.at[i].wire].type));
  buf_text(&b, ")");
  return b.at;
}

// Stacked members are initialised one by one.
static const char *members_text(PythonWork *k, const Param *param, const Type *t,
                                const char *shape) {
  Param one = *param;
  Type inner = *t;
  int64_t members = 1, n;
  for (uint32_t i = 0; i < param->init.members; i++)
    if (size_value(k->p->w, t->axis[i].size, &n)) members *= n;
  inner.rank -= one.init.members;
  inner.axis += one.init.members;
  one.init.members = 0;
  return arena_format(k->p->a, "%s.stack([%s for _ in range(%lld)]).reshape(%s)",
                      k->p->jax ? "jnp" : "torch", first_value(k, &one, &inner), (long long)members,
                      shape);
}

static const char *first_value(PythonWork *k, const Param *param, const Type *t) {
  Arena *a = k->p->a;
  const Init *init = &param->init;
  const char **name = NEW_ARRAY(a, const char *, t->rank + 1);
  int64_t *n = NEW_ARRAY(a, int64_t, t->rank + 1);
  Buf shape = buf_new(a);
  bool jax = k->p->jax;
  sizes_here(k, t, name, n);
  buf_text(&shape, "(");
  for (uint32_t i = 0; i < t->rank; i++) buf_printf(&shape, "%s%s", i ? ", " : "", name[i]);
  buf_text(&shape, t->rank == 1 ? ",)" : ")");
  const char *s = shape.at, *lib = jax ? "jnp" : "torch", *rng = jax ? "rng, " : "";
  const char *kind =
      t->base == BASE_BIT     ? arena_format(a, ", dtype=%s", jax ? "bool" : "torch.bool")
      : t->base == BASE_LABEL ? arena_format(a, ", dtype=%s", jax ? "int" : "torch.long")
                              : "";
  if (constant_of(k->p, param)) return data_text(k, constant_of(k->p, param), t, shape.at);
  if (init->members && (init->kind == INIT_DIAGRAM || init->kind == INIT_ORTHOGONAL))
    return members_text(k, param, t, shape.at);
  if (!jax && t->rank) s = t->rank == 1 ? name[0] : arena_text(a, s + 1, shape.n - 2);
  switch (init->kind) {
  case INIT_CONST:
    if (init->k == 0 || init->k == 1)
      return arena_format(a, "%s.%s(%s%s)", lib, init->k == 0 ? "zeros" : "ones", s, kind);
    Buf number = buf_new(a);
    python_number(&number, init->k, base_type(k, t));
    return arena_format(a, "%s.full(%s, %s%s)", lib, shape.at, number.at, kind);
  case INIT_NORMAL: return arena_format(a, jax ? "normal(rng, %s)" : "torch.randn(%s)", s);
  case INIT_UNIFORM: return arena_format(a, jax ? "uniform(rng, %s)" : "torch.rand(%s)", s);
  case INIT_GLOROT:
    return arena_format(a, "glorot(%s%s, %s, %s)", rng, shape.at,
                        fan_text(k, t, name, n, init->fan_in, false),
                        fan_text(k, t, name, n, init->fan_out, true));
  case INIT_HE:
    return arena_format(a, "he(%s%s, %s)", rng, shape.at,
                        fan_text(k, t, name, n, init->fan_in, false));
  case INIT_ORTHOGONAL: return arena_format(a, "orthogonal(%s%s)", rng, shape.at);
  case INIT_DATA: return data_text(k, init->data, t, shape.at);
  case INIT_DIAGRAM: return computed_text(k, init);
  default: return arena_format(a, "%s.full(%s, float(\"nan\"))", lib, shape.at);
  }
}

// -- lines of a class -----------------------------------------------------------------------------
static const PythonMember *member_of(const PythonWork *k, const char *path) {
  for (uint32_t i = 0; i < k->member.n; i++) {
    const PythonMember *m = &k->member.at[i];
    size_t n = strlen(m->path);
    if (strncmp(path, m->path, n) != 0 || path[n] != '/') continue;
    for (uint32_t j = 0; j < m->d->param.n; j++)
      if (!strcmp(m->d->param.at[j].path, path + n + 1)) return m;
  }
  return NULL;
}

// Modules that only contain other modules.
static void containers(PythonWork *k, Table *there, const char *path, Buf *b) {
  for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
    const char *own = arena_text(k->p->a, path, (size_t)(at - path));
    bool member = table_get(there, own, strlen(own));
    for (uint32_t i = 0; i < k->member.n; i++) member |= !strcmp(k->member.at[i].path, own);
    if (member) continue;
    table_put(there, own, strlen(own), 1);
    buf_printf(b, "        %s = nn.Module()\n", python_path(k->p, own));
  }
}

static void member_line(PythonWork *k, const PythonMember *m, Buf *b) {
  buf_printf(b, "        %s = %s(", python_path(k->p, m->path), m->made->name);
  for (uint32_t i = 0; i < m->made->size.n; i++)
    buf_printf(b, "%s%s", i ? ", " : "",
               size_name(k, m->made->size.at[i].label, m->made->size.at[i].value));
  buf_text(b, ")\n");
}

static void param_line(PythonWork *k, const Param *param, Buf *b) {
  const Type *t = &k->d->wire.at[param->wire].type;
  const char *value = first_value(k, param, t), *path = python_path(k->p, param->path);
  const char *dot = strrchr(path, '.');
  const char *why = param->init.kind == INIT_NONE ? "  # it has no first value: load weights" : "";
  if (param->role != ROLE_WEIGHT)
    buf_printf(b, "        %.*s.register_buffer(\"%s\", %s)%s\n", (int)(dot - path), path, dot + 1,
               value, why);
  else
    buf_printf(b, "        %s = nn.Parameter(%s%s)%s\n", path, value,
               t->base == BASE_R ? "" : ", requires_grad=False", why);
}

void python_members(PythonWork *k, Buf *b) {
  Table *there = table_new(k->p->a);
  for (uint32_t i = 0; i < k->d->param.n; i++) {
    const Param *param = &k->d->param.at[i];
    const PythonMember *m = member_of(k, param->path);
    const char *path = m ? m->path : param->path;
    if (table_get(there, path, strlen(path))) continue;
    containers(k, there, path, b);
    table_put(there, path, strlen(path), 1);
    if (m)
      member_line(k, m, b);
    else
      param_line(k, param, b);
  }
}

// -- a tree of dicts ------------------------------------------------------------------------------
static bool has_prefix(const char *path, const char *with, size_t n) {
  return strncmp(path, with, n) == 0;
}

static void put_branch(PythonWork *k, const char *front, int indent, Buf *b) {
  Arena *a = k->p->a;
  Table *there = table_new(a);
  size_t n = strlen(front);
  for (uint32_t i = 0; i < k->d->param.n; i++) {
    const Param *param = &k->d->param.at[i];
    if (!has_prefix(param->path, front, n)) continue;
    const char *rest = param->path + n, *end = strchr(rest, '/');
    size_t m = end ? (size_t)(end - rest) : strlen(rest);
    const char *own = arena_text(a, rest, m);
    if (table_get(there, own, m)) continue;
    table_put(there, own, m, 1);
    buf_printf(b, "%*s\"%s\": ", indent, "", python_name(a, own));
    if (end) {
      buf_text(b, "{\n");
      put_branch(k, arena_text(a, param->path, n + m + 1), indent + 4, b);
      buf_printf(b, "%*s},\n", indent, "");
    } else {
      const char *value = first_value(k, param, &k->d->wire.at[param->wire].type);
      buf_printf(b, "%s,\n", value);
    }
  }
}

void python_tree(Python *p, const Diagram *d, Buf *b) {
  PythonWork k = {.p = p, .d = d, .root = true};
  put_branch(&k, "", 8, b);
}
