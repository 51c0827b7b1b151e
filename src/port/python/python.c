// Exports a box or learner, in use, as a Python file for PyTorch or JAX: definitions, initial
// values, and a function that loads weights.
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "base/words.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "port/python/python_own.h"

// -- sections of torch_file.py and jax_file.py ----------------------------------------------------
// The section at or behind a place: its text and the end of its name; NULL: there is none.
static const char *next_section(const char *at, size_t *title, size_t *n) {
  at = strncmp(at, "#: ", 3) ? strstr(at, "\n#: ") : at - 1;
  if (!at) return NULL;
  at += 4;
  *title = strcspn(at, "\n");
  const char *text = at + *title + 1, *end = strstr(text - 1, "\n#: ");
  *n = end ? (size_t)(end + 1 - text) : strlen(text);
  return text;
}

static const char *all_sections(const Python *p) { return p->jax ? jax_file : torch_file; }

// Appends a section with $0, $1 … replaced.
static void put_section(const Python *p, const char *name, const char *const *arg, Buf *b) {
  size_t title, n;
  const char *text = next_section(all_sections(p), &title, &n);
  while (strlen(name) != title || memcmp(text - 1 - title, name, title) != 0)
    text = next_section(text + n, &title, &n);
  for (const char *at = text; at < text + n; at++) {
    if (*at == '$')
      buf_text(b, arg[*++at - '0']);
    else
      buf_char(b, *at);
  }
}

// Helper functions, whose sections are called as they are in the text: root(
static void put_helpers(const Python *p, const char *used, Buf *b) {
  size_t title, n;
  for (const char *text = next_section(all_sections(p), &title, &n); text;
       text = next_section(text + n, &title, &n)) {
    const char *called = arena_text(p->a, text - 1 - title, title);
    if (strchr(called, '(') && strstr(used, called)) buf_printf(b, "\n\n%.*s", (int)n, text);
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
  const char *load = p->jax ? "    p = load(\"weights.safetensors\")    # or init(seed)\n"
                            : "    load(model, \"weights.safetensors\")\n",
             *start = kept_weights(d)        ? load
                      : p->jax && d->param.n ? "    p = init(0)\n"
                                             : "";
  const char *args = arena_format(p->a, "%s%sx", d->param.n ? "p, " : "", d->noisy ? "key, " : "");
  if (p->goals)
    put_section(p, "goals", (const char *const[]){file, noise}, b);
  else if (p->jax)
    put_section(p, "head",
                (const char *const[]){e->name, file, start, results_of(p, d), call, args, noise},
                b);
  else
    put_section(p, "head",
                (const char *const[]){e->name, file, call, start, results_of(p, d), noise}, b);
  put_section(p, "imports", NULL, b);
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
  const char *count = arena_format(p->a, "%u", kept);
  put_section(p, "reader", NULL, b);
  put_section(p, "load", (const char *const[]){cut, count, count}, b);
}

static void put_tree(Python *p, const Diagram *d, Buf *b) {
  buf_text(b, "\n\ndef init(seed):\n    \"\"\"First values of the weights.\"\"\"\n"
              "    rng = np.random.default_rng(seed)\n    p = {\n");
  python_tree(p, d, b);
  buf_text(b, "    }\n");
  python_start_copies(p, b);
  buf_text(b, "    return p\n");
}

// The definitions that the following text uses, in order: variants that were written and not chosen
// are dropped.
static const char *used_definitions(Python *p, const char *root, const char *behind) {
  uint32_t n = p->defined.n;
  bool *used = NEW_ARRAY(p->a, bool, n + 1);
  Buf b = buf_new(p->a);
  for (uint32_t i = n; i-- > 0;) {
    const PythonDefined *d = &p->defined.at[i];
    used[i] = !strcmp(d->name, root) || text_has_word(behind, d->name);
    for (uint32_t k = i + 1; k < n && !used[i]; k++)
      used[i] = used[k] && text_has_word(p->defined.at[k].text, d->name);
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
  return from && path_same(p->a, beside, from) ? NULL : beside;
}

// A weights file without its Python file belongs to something else: do not overwrite it.
static bool weights_are_free(Python *p, const Diagram *d) {
  const char *beside = weights_file(p, d), *file = export_file(p->e);
  if (!export_may_write(p->e, (const char *[]){file, beside}, beside ? 2 : 1)) return false;
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
