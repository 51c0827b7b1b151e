// Writes a program from the diagrams that were read. A diagram becomes a box, or a learner if
// weight paths start with its name; weights stay in the box that owns them, which preserves their
// paths.
#include "base/table.h"
#include "port/json/json_own.h"

#include <math.h>
#include <stdlib.h>

// -- numbers --------------------------------------------------------------------------------------
static const Json *numbers_write(const Json *at, const int64_t *shape, uint32_t rank, Buf *out) {
  if (!rank) {
    double x = json_real(at);
    buf_text(out, signbit(x) ? "-" : "");
    if (isinf(x))
      buf_text(out, "inf");
    else
      buf_number(out, fabs(x));
    return json_next(at);
  }
  buf_char(out, '[');
  for (int64_t i = 0; i < shape[0]; i++) {
    if (i) buf_text(out, ", ");
    at = numbers_write(at, shape + 1, rank - 1, out);
  }
  buf_char(out, ']');
  return at;
}

// Fan-in and fan-out are in the file; a program would derive them from axis names, so they are
// written explicitly.
static bool fans_write(Writing *w, const ReadParam *p, const char *kind) {
  const Json *in = json_get(p->init, "fan_in"), *out = json_get(p->init, "fan_out");
  bool he = strcmp(kind, "he") == 0;
  if ((strcmp(kind, "glorot") != 0 && !he) || !in || (!out && !he)) return true;
  const char *fan_in = reading_size(w->r, in), *fan_out = he ? "" : reading_size(w->r, out);
  if (!fan_in || !fan_out) return false;
  buf_printf(w->out, he ? "[%s%s]" : "[%s, %s]", fan_in, fan_out);
  return true;
}

static ReadDiagram *skip_forwarding(Reading *r, ReadDiagram *d);

// An initial value that is random or too long for a list: the diagram that computes it. NULL: the
// value is written as a list.
static ReadDiagram *start_diagram(Reading *r, const ReadParam *p) {
  const char *key = json_word(p->init, "diagram");
  ReadDiagram *d = reading_diagram(r, key);
  if (!d || strcmp(json_word(p->init, "kind"), "diagram") != 0) return NULL;
  bool drawn = d->random || !json_get(p->init, "data");
  return drawn && !d->nin && d->out.n == 1 && !d->param.n ? skip_forwarding(r, d) : NULL;
}

static bool start_write(Writing *w, const ReadParam *p) {
  static const char *const words[] = {"normal", "uniform", "glorot", "he", "orthogonal"};
  const char *kind = json_word(p->init, "kind");
  const ReadType *t = &w->d->wire.at[p->wire].type;
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (strcmp(kind, words[i]) == 0) {
      buf_printf(w->out, " = %s", kind);
      return fans_write(w, p, kind);
    }
  if (strcmp(kind, "none") == 0 || !*kind) return true;
  if (strcmp(kind, "const") == 0) {
    const Json *value = json_get(p->init, "value");
    if (!value || isnan(json_real(value)))
      return reading_error(w->r, w->d, "`%s` starts as a constant, and has no \"value\"", p->path);
    buf_text(w->out, " = ");
    numbers_write(json_get(p->init, "value"), NULL, 0, w->out);
    return true;
  }
  const ReadDiagram *drawn = start_diagram(w->r, p);
  if (drawn) {
    buf_printf(w->out, " = %s()", drawn->name);
    return true;
  }
  const Json *data = json_get(p->init, "data");
  int64_t *shape = NEW_ARRAY(w->r->arena, int64_t, t->rank + 1), count = 1;
  if (!data || data->kind != JSON_LIST)
    return reading_error(w->r, w->d, "`%s` starts by \"%s\", which cannot be read back", p->path,
                         kind);
  for (uint32_t i = 0; i < t->rank; i++) {
    char *end;
    shape[i] = strtoll(t->size[i], &end, 10);
    if (*end || shape[i] < 1 || shape[i] > data->n) count = -1;
    if (count > 0) count *= shape[i];
  }
  if (count != data->n)
    return reading_error(w->r, w->d,
                         "`%s` starts with %u numbers, and its type has another number of places",
                         p->path, data->n);
  buf_text(w->out, " = ");
  numbers_write(json_first(data), shape, t->rank, w->out);
  return true;
}

// -- params ---------------------------------------------------------------------------------------
bool param_is_own(const ReadParam *p) { return !p->rooted && !strchr(p->path, '/'); }

static bool param_write(Writing *w, const ReadParam *p) {
  const ReadWire *wire = &w->d->wire.at[p->wire];
  // Owned by a callee, or passed as argument.
  if (!param_is_own(p) || param_is_argument(w->r, w->d, p)) return true;
  const char *word = strcmp(p->role, "weight") == 0   ? "learn"
                     : strcmp(p->role, "buffer") == 0 ? "state"
                                                      : "const";
  if (strcmp(word, "const") != 0 && strcmp(wire->name, p->path) != 0)
    return reading_error(w->r, w->d,
                         "the weight `%s` is called `%s`: its own name is wanted, a word", p->path,
                         wire->name);
  buf_printf(w->out, "  %s %s : ", word, wire->name);
  type_write(w->d, &wire->type, w->out);
  if (!start_write(w, p)) return false;
  buf_char(w->out, '\n');
  return true;
}

// -- calls ----------------------------------------------------------------------------------------
const ReadParam *param_of(const ReadDiagram *d, uint32_t wire) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].wire == wire) return &d->param.at[i];
  return NULL;
}

// The first component of a path if the rest is the callee's own path; or NULL.
static const char *segment_of(Writing *w, const ReadParam *p, const ReadParam *own) {
  size_t n = strlen(p->path), rest = strlen(own->path);
  if (n <= rest + 1 || strcmp(p->path + n - rest, own->path) != 0 || p->path[n - rest - 1] != '/')
    return NULL;
  const char *segment = arena_text(w->r->arena, p->path, n - rest - 1);
  return strchr(segment, '/') ? NULL : segment;
}

// The number of calls in this body of this callee with these weights.
static uint32_t sharing(const ReadDiagram *d, const ReadBox *box) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->box.n; i++) {
    const ReadBox *b = &d->box.at[i];
    n += b->callee == box->callee && b->params.n && b->params.at[0] == box->params.at[0];
  }
  return n;
}

// The instance in this body whose weights have this path component.
static const char *thing_name(Writing *w, const char *segment) {
  ReadDiagram *d = w->d;
  Id known = table_get(d->thing_table, segment, strlen(segment));
  if (known) return d->thing.at[known - 1];
  vec_push(w->r->arena, &d->thing, reading_new_name(w->r, d->taken, segment));
  table_put(d->thing_table, segment, strlen(segment), d->thing.n);
  return d->thing.at[d->thing.n - 1];
}

// The diagram to which another one forwards all of its wires, in order; NULL: it does more. A body
// of a scan returns its carried values twice.
static ReadDiagram *forwarded_callee(Reading *r, const ReadDiagram *d) {
  if (r->opened || d->box.n != 1 || d->result.n) return NULL;
  const ReadBox *box = &d->box.at[0];
  ReadDiagram *callee = box->callee;
  if (strcmp(box->op, "call") != 0 || callee->cell) return NULL;
  if (box->in.n != d->nin || callee->nin != d->nin) return NULL;
  for (uint32_t i = 0; i < d->nin; i++) {
    if (box->in.at[i] != i) return NULL;
    // the header has to name the axes that are mapped over
    if (type_rank(d, &d->wire.at[i].type) != type_rank(callee, &callee->wire.at[i].type))
      return NULL;
  }
  uint32_t n = callee->out.n;
  if (!n || d->out.n != (d->cell ? 2 * n : n)) return NULL;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->out.at[i] != box->first + i % n) return NULL;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next || param_is_own(&d->param.at[i])) return NULL;
  return callee;
}

// The name of a forwarding diagram can be reused if all calls pass the same weights: it is inlined
// as an instance and not written.
static void free_name(Writing *w, const ReadBox *box) {
  uint32_t calls = 0;
  const ReadDiagram *callee = box->callee;
  for (uint32_t i = 0; i < w->d->box.n; i++) calls += w->d->box.at[i].callee == callee;
  if (!callee->said && calls == sharing(w->d, box) && forwarded_callee(w->r, callee))
    table_put(w->d->taken, callee->name, strlen(callee->name), 0);
}

bool call_path_component(Writing *w, const ReadBox *box, const char **segment) {
  const ReadDiagram *callee = box->callee;
  *segment = NULL;
  if (box->params.n != callee->param.n)
    return reading_error(w->r, w->d, "`%s` is called with another number of params than it has",
                         callee->key);
  for (uint32_t i = 0; i < box->params.n; i++) {
    const ReadParam *own = &callee->param.at[i], *p = param_of(w->d, box->params.at[i]);
    if (!p)
      return reading_error(w->r, w->d, "`%s` is called with a param that is none here",
                           callee->key);
    if (own->rooted && p->rooted && strcmp(own->path, p->path) == 0) continue;
    const char *here = segment_of(w, p, own);
    if (!here || (*segment && strcmp(*segment, here) != 0))
      return reading_error(w->r, w->d,
                           "`%s` cannot be the `%s` of a call: its path begins with one name for "
                           "the call, then has the callee's own path",
                           p->path, own->path);
    *segment = here;
  }
  return true;
}

// The name of a callee in this body: its own, or that of an instance used more than once.
bool callee_name(Writing *w, const ReadBox *box, const char **name) {
  const ReadDiagram *callee = box->callee;
  const char *segment;
  *name = callee->name;
  if (w->r->opened) return true;
  if (!call_path_component(w, box, &segment)) return false;
  size_t n = strlen(callee->key);
  bool counted =
      segment && strncmp(segment, callee->key, n) == 0 && (!segment[n] || segment[n] == '.');
  const char *dot = strrchr(callee->key, '.');
  if (segment && !counted && dot)
    counted = strncmp(segment, callee->key, (size_t)(dot - callee->key)) == 0;
  if (!segment || callee->learner) return true;
  if (counted && sharing(w->d, box) <= 1) return true;
  if (!table_get(w->d->thing_table, segment, strlen(segment))) free_name(w, box);
  *name = thing_name(w, segment);
  return true;
}

static ReadDiagram *skip_forwarding(Reading *r, ReadDiagram *d) {
  for (ReadDiagram *next; (next = forwarded_callee(r, d));) d = next;
  return d;
}

// Does a param get its path from a call inside?
static bool has_paths(const ReadDiagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!d->param.at[i].rooted) return true;
  return false;
}

// The diagram to write for a call or scan: instances and scan bodies skip forwarding diagrams.
ReadDiagram *written_diagram(Reading *r, ReadDiagram *callee, bool thing) {
  return thing || (callee->cell && callee->plain && !has_paths(callee)) ? skip_forwarding(r, callee)
                                                                        : callee;
}

static void list_write(Writing *w, const uint32_t *wire, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    buf_printf(w->out, "%s%s", i ? ", " : "", w->d->wire.at[wire[i]].name);
}

static void results_write(Writing *w, const ReadBox *box, uint32_t n) {
  buf_text(w->out, "  ");
  for (uint32_t i = 0; i < n; i++)
    buf_printf(w->out, "%s%s", i ? ", " : "", w->d->wire.at[box->first + i].name);
  buf_text(w->out, " = ");
}

// Are axes over which the callee is mapped on several of its inputs? Then they have to be written,
// to be matched by name.
static bool passes_meet(const ReadDiagram *d, const ReadDiagram *callee, const Ids *in) {
  uint32_t wires = 0;
  for (uint32_t i = 0; i < in->n; i++) {
    const ReadType *t = &callee->wire.at[i].type, *x = &d->wire.at[in->at[i]].type;
    bool over = false;
    for (uint32_t k = 0; k < t->rank && k < x->rank; k++)
      over |= axis_is_visible(d, x, k) && !axis_is_visible(callee, t, k);
    wires += over;
  }
  return wires > 1;
}

// An index name that is no wire here.
const char *index_name(Writing *w, Table *own, const char *word) {
  const char *name = reading_name(w->r, own, word);
  while (table_get(w->d->taken, name, strlen(name))) name = reading_name(w->r, own, word);
  return name;
}

// The axes over which a call is mapped, in the order of its arguments.
typedef struct {
  Table *own; // names in use
  const char *name[PASS_LIMIT], *size[PASS_LIMIT];
  uint32_t n, pass[PASS_LIMIT];
} Passes;

static void passes_add(Writing *w, Passes *p, const ReadType *x, const ReadType *t) {
  for (uint32_t k = 0; k < x->rank; k++) {
    uint32_t pass = t->passes[k];
    if (!pass || !axis_is_visible(w->d, x, k) || p->name[pass]) continue;
    p->name[pass] = index_name(w, p->own, "over");
    p->size[pass] = x->size[k];
    p->pass[p->n++] = pass;
  }
}

// The indices of an argument as it is; *first: how many mapped axes it has, from the first on.
// UINT32_MAX: others, or permuted.
static const char *own_indices(Writing *w, Passes *p, const ReadType *x, const ReadType *t,
                               const char **plain, uint32_t *first) {
  Buf b = buf_new(w->r->arena), rest = buf_new(w->r->arena);
  *first = 0;
  for (uint32_t k = 0, any = 0; k < x->rank; k++) {
    uint32_t pass = t->passes[k];
    if (!axis_is_visible(w->d, x, k)) continue;
    const char *name = pass ? p->name[pass] : index_name(w, p->own, "k");
    buf_printf(&b, "%s%s", any++ ? " " : "[", name);
    if (!pass)
      buf_printf(&rest, " %s", name);
    else if (*first < p->n && p->pass[*first] == pass)
      ++*first;
    else
      *first = UINT32_MAX;
  }
  buf_char(&b, ']');
  *plain = rest.at ? rest.at : "";
  return b.at;
}

// An argument with its indices. All arguments with mapped axes need the same ones in the same
// order; otherwise an extra equation expands it.
static const char *argument_text(Writing *w, Passes *p, const ReadWire *x, const ReadType *t) {
  const char *plain;
  uint32_t first;
  const char *own = own_indices(w, p, &x->type, t, &plain, &first);
  if (!first || first == p->n) return arena_format(w->r->arena, "%s%s", x->name, own);
  const char *name = reading_name(w->r, w->d->taken, "along");
  Buf left = buf_new(w->r->arena), all = buf_new(w->r->arena);
  for (uint32_t i = 0; i < p->n; i++) {
    bool has = false;
    for (uint32_t k = 0; k < t->rank; k++) has |= t->passes[k] == p->pass[i];
    const char *index = p->name[p->pass[i]], *space = i ? " " : "";
    buf_printf(&all, "%s%s", space, index);
    buf_printf(&left, "%s%s%s%s", space, index, has ? "" : ":", has ? "" : p->size[p->pass[i]]);
  }
  buf_printf(w->out, "  %s[%s%s] = %s%s\n", name, left.at, plain, x->name, own);
  return arena_format(w->r->arena, "%s[%s%s]", name, all.at, plain);
}

static const char *arguments_text(Writing *w, const ReadDiagram *callee, const Ids *in) {
  Passes p = {.own = table_new(w->r->arena)};
  Buf out = buf_new(w->r->arena);
  bool meet = passes_meet(w->d, callee, in);
  for (uint32_t turn = 0; turn < 2; turn++)
    for (uint32_t i = 0; i < in->n; i++) {
      const ReadWire *x = &w->d->wire.at[in->at[i]];
      const ReadType *t = &callee->wire.at[i].type;
      bool indexed = meet && x->type.rank == t->rank && type_rank(w->d, &x->type);
      if (!turn && indexed) passes_add(w, &p, &x->type, t);
      if (!turn) continue;
      buf_printf(&out, "%s%s", i ? ", " : "", indexed ? argument_text(w, &p, x, t) : x->name);
    }
  return out.at ? out.at : "";
}

static bool call_write(Writing *w, const ReadBox *box) {
  const ReadDiagram *callee = box->callee;
  const char *name;
  if (!callee_name(w, box, &name)) return false;
  if (callee->out.n > box->n || box->in.n != callee->nin)
    return reading_error(w->r, w->d, "`%s` is called with other wires than it has", callee->key);
  const char *arguments = arguments_text(w, callee, &box->in);
  results_write(w, box, w->r->opened ? box->n : callee->out.n);
  buf_printf(w->out, "%s(%s", name, arguments);
  for (uint32_t i = 0, any = box->in.n; i < box->params.n && i < callee->param.n; i++)
    if (param_is_argument(w->r, callee, &callee->param.at[i]))
      buf_printf(w->out, "%s%s", any++ ? ", " : "", w->d->wire.at[box->params.at[i]].name);
  buf_text(w->out, ")\n");
  return true;
}

// -- other boxes ----------------------------------------------------------------------------------
// Labels every axis of a wire, so that one can be named.
static const char *labelled(Writing *w, uint32_t wire, const char *const *label) {
  const ReadWire *x = &w->d->wire.at[wire];
  const char *name = reading_name(w->r, w->d->taken, "along");
  Buf places = buf_new(w->r->arena);
  for (uint32_t i = 0, any = 0; i < x->type.rank; i++)
    if (axis_is_visible(w->d, &x->type, i)) buf_printf(&places, "%s%s", any++ ? " " : "", label[i]);
  buf_printf(w->out, "  %s[%s] = %s[%s]\n", name, places.at, x->name, places.at);
  return name;
}

static bool along_write(Writing *w, const ReadBox *box, const char *function) {
  Ids in = box->in;
  const Json *axis = json_get(box->json, "axis");
  if (!in.n) return reading_error(w->r, w->d, "`%s` has no \"in\"", function);
  const ReadType *t = &w->d->wire.at[in.at[0]].type;
  double along = axis && axis->kind == JSON_NUMBER ? axis->number : -1;
  if (!(along >= 0 && along < t->rank) || !axis_is_visible(w->d, t, (uint32_t)along))
    return reading_error(w->r, w->d, "`%s` has an \"axis\" that its wires do not have", function);
  const char **label = NEW_ARRAY(w->r->arena, const char *, t->rank + 1);
  Table *own = table_new(w->r->arena);
  for (uint32_t i = 0; i < t->rank; i++) do
      label[i] = reading_name(w->r, own, "k");
    while (table_get(w->d->taken, label[i], strlen(label[i])));
  const char **name = NEW_ARRAY(w->r->arena, const char *, in.n);
  for (uint32_t i = 0; i < in.n; i++) {
    if (w->d->wire.at[in.at[i]].type.rank != t->rank)
      return reading_error(w->r, w->d, "`%s` joins wires of several ranks", function);
    name[i] = labelled(w, in.at[i], label);
  }
  results_write(w, box, 1);
  buf_printf(w->out, "%s[%s](", function, label[(uint32_t)along]);
  for (uint32_t i = 0; i < in.n; i++) buf_printf(w->out, "%s%s", i ? ", " : "", name[i]);
  buf_text(w->out, ")\n");
  return true;
}

static bool random_write(Writing *w, const ReadBox *box) {
  const char *noise = json_word(box->json, "noise");
  const ReadType *t = &w->d->wire.at[box->first].type;
  if (strcmp(noise, "normal") != 0 && strcmp(noise, "uniform") != 0)
    return reading_error(w->r, w->d, "\"noise\" is \"normal\" or \"uniform\"");
  results_write(w, box, 1);
  buf_printf(w->out, "%s[", noise);
  for (uint32_t i = 0, any = 0; i < t->rank; i++)
    if (axis_is_visible(w->d, t, i)) buf_printf(w->out, "%s%s", any++ ? " " : "", t->size[i]);
  buf_text(w->out, "]\n");
  return true;
}

static bool box_write(Writing *w, const ReadBox *box) {
  const char *op = box->op;
  if (strcmp(op, "loop") == 0) return loop_equation(w, box);
  if (strcmp(op, "call") == 0) return call_write(w, box);
  if (strcmp(op, "join") == 0) return along_write(w, box, "concat");
  if (strcmp(op, "order") == 0) return along_write(w, box, "order");
  if (strcmp(op, "random") == 0) return random_write(w, box);
  if (strcmp(op, "scan") == 0) return scan_write(w, box);
  return reading_error(
      w->r, w->d, "there is no box \"%s\": a box is a loop, join, order, random, scan or call", op);
}

// -- diagrams -------------------------------------------------------------------------------------
static void things_declare(Writing *w) {
  Table *seen = table_new(w->r->arena);
  for (uint32_t i = 0; i < w->d->box.n; i++) {
    const ReadBox *box = &w->d->box.at[i];
    const char *name;
    if (!box->callee) continue;
    if (!callee_name(w, box, &name)) return;
    if (name == box->callee->name || table_get(seen, name, strlen(name))) continue;
    table_put(seen, name, strlen(name), 1);
    buf_printf(w->out, "  learn %s = %s\n", name, written_diagram(w->r, box->callee, true)->name);
  }
}

static void input_write(Writing *w, uint32_t wire, bool next) {
  buf_printf(w->out, "%s%s: ", next ? ", " : "", w->d->wire.at[wire].name);
  type_write(w->d, &w->d->wire.at[wire].type, w->out);
}

static void header_write(Writing *w, const char *word) {
  const ReadDiagram *d = w->d;
  Ids in = diagram_inputs(w->r, d), out = diagram_results(w->r, d);
  buf_printf(w->out, "%s %s(", word, d->name);
  for (uint32_t i = 0; i < in.n; i++) input_write(w, in.at[i], i);
  cell_inputs_write(w, in.n);
  bool named = d->result.n == out.n;
  buf_text(w->out, named ? ") -> (" : ") -> ");
  for (uint32_t i = 0; i < out.n; i++) {
    if (i) buf_text(w->out, ", ");
    if (named) buf_printf(w->out, "%s: ", d->result.at[i]);
    type_write(w->d, &d->wire.at[out.at[i]].type, w->out);
  }
  buf_text(w->out, named ? ") {\n" : " {\n");
}

static bool has_weights(const ReadDiagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (strcmp(d->param.at[i].role, "const") != 0 && !d->param.at[i].rooted) return true;
  return false;
}

static bool inputs_say(const ReadDiagram *d, const char *name, size_t n) {
  size_t length;
  for (uint32_t i = 0; i < d->nin; i++)
    for (uint32_t k = 0; k < d->wire.at[i].type.rank; k++)
      for (const char *at = size_variable(d->wire.at[i].type.size[k], &length); at;
           at = size_variable(at + length, &length))
        if (length == n && strncmp(at, name, n) == 0) return true;
  return false;
}

// Are the sizes of all weights constant or sizes of inputs? Otherwise they depend on the use, and
// the diagram stays a box.
static bool sizes_follow(const ReadDiagram *d) {
  size_t n;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const ReadType *t = &d->wire.at[d->param.at[i].wire].type;
    for (uint32_t k = 0; k < t->rank; k++)
      for (const char *at = size_variable(t->size[k], &n); at; at = size_variable(at + n, &n))
        if (t->size[k][n] || !inputs_say(d, at, n)) return false;
  }
  return true;
}

// Does the body of a scan have open sizes? They are settled at its use, so its user stays a box.
static bool cells_are_open(const Reading *r) {
  size_t n;
  for (uint32_t i = 0; i < r->main; i++)
    for (uint32_t k = 0; r->diagram.at[i].cell && k < r->diagram.at[i].nin; k++) {
      const ReadType *t = &r->diagram.at[i].wire.at[k].type;
      for (uint32_t a = 0; a < t->rank; a++)
        if (size_variable(t->size[a], &n)) return true;
    }
  return false;
}

// Weights of the program itself, each once.
static bool roots_write(Writing *w, Table *done, Buf *out) {
  for (uint32_t i = 0; i < w->d->param.n; i++) {
    const ReadParam *p = &w->d->param.at[i];
    size_t n = strlen(p->path);
    bool clock = strcmp(p->role, "clock") == 0; // a keyword
    if (!p->rooted || clock || strchr(p->path, '/') || table_get(done, p->path, n)) continue;
    table_put(done, p->path, n, 1);
    Buf line = buf_new(w->r->arena), *before = w->out;
    w->out = &line;
    buf_printf(&line, "%s %s : ", strcmp(p->role, "const") == 0 ? "const" : "learn", p->path);
    type_write(w->d, &w->d->wire.at[p->wire].type, &line);
    if (!start_write(w, p)) return false;
    w->out = before;
    buf_printf(out, "%s\n", line.at);
  }
  return true;
}

enum { MARK = 2 }; // a control character, which no program contains

// Marks the end of lines that come from a part of the file; json_program removes the marks.
static void mark_lines(Writing *w, const Json *part) {
  vec_push(w->r->arena, &w->r->made, part);
  buf_printf(w->out, "%c%u\n", MARK, w->r->made.n);
  if (w->boxes->n) buf_printf(w->boxes, "%c%u\n", MARK, w->r->made.n);
}

// Removes the marks; with `places`, replaces them by comments that name the part.
static const char *without_marks(Reading *r, const char *text, bool places) {
  Buf b = buf_new(r->arena), lines = buf_new(r->arena);
  for (const char *end; *text; text = end) {
    const char *stop = strchr(text, '\n');
    end = stop ? stop + 1 : text + strlen(text);
    if (*text != MARK) {
      buf_add(&lines, text, (size_t)(end - text));
      continue;
    }
    const char *path = json_path(r->arena, r->root, r->made.at[strtoul(text + 1, NULL, 10) - 1]);
    for (const char *c = lines.at; c && c < lines.at + lines.n; c++) {
      bool code = *c == '\n' && c > lines.at && !strchr("{}\n", c[-1]);
      if (code && places) buf_printf(&b, "   # %s", path);
      buf_char(&b, *c);
    }
    lines.n = 0;
  }
  buf_add(&b, lines.at, lines.n);
  return b.at ? b.at : "";
}

static bool diagram_write(Reading *r, ReadDiagram *d, Buf *out) {
  Buf body = buf_new(r->arena), boxes = buf_new(r->arena);
  Writing w = {.r = r, .d = d, .out = &body, .boxes = &boxes};
  r->in = d;
  if (!roots_write(&w, r->roots, out)) return false;
  if (!d->said) return true;
  if (!d->nin && !d->box.n) return true; // a single weight
  header_write(&w, d->learner ? "learn" : "box");
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!param_write(&w, &d->param.at[i])) return false;
  things_declare(&w);
  w.returns = d->box.n == 1 && d->out.n == 1 && d->out.at[0] == d->box.at[0].first && !d->cell;
  for (uint32_t i = 0; i < d->param.n; i++) w.returns &= !d->param.at[i].next;
  Ids results = diagram_results(r, d);
  for (uint32_t i = 0; i < d->box.n; i++) {
    r->at = d->box.at[i].json;
    if (!box_write(&w, &d->box.at[i])) return false;
    mark_lines(&w, d->box.at[i].json);
  }
  r->at = NULL;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next && param_is_own(&d->param.at[i]) &&
        !param_is_argument(r, d, &d->param.at[i]))
      buf_printf(&body, "  next %s = %s\n", d->wire.at[d->param.at[i].wire].name,
                 d->wire.at[d->param.at[i].next - 1].name);
  if (!w.returned) {
    buf_text(&body, "  return ");
    list_write(&w, results.at, results.n);
    buf_char(&body, '\n');
  }
  buf_text(&body, "}\n");
  buf_add(out, boxes.at, boxes.n);
  buf_add(out, body.at, body.n);
  return !*r->error;
}

// Is the callee `f` of `f.2`? The suffix marks a second diagram of the same box.
static bool is_of_one_name(const ReadDiagram *d, const ReadDiagram *callee) {
  size_t n = strlen(callee->key);
  if (strncmp(d->key, callee->key, n) != 0) return false;
  return !d->key[n] || (d->key[n] == '.' && !d->key[n + 1 + strspn(d->key + n + 1, "0123456789")]);
}

// A main diagram that only forwards to the learner of its name is that learner.
static void skip_wrapper(Reading *r) {
  const ReadDiagram *d = &r->diagram.at[r->main];
  if (d->box.n != 1 || !d->param.n) return;
  const ReadBox *box = &d->box.at[0];
  if (strcmp(box->op, "call") != 0 || box->in.n != d->nin || d->out.n > box->n) return;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->out.at[i] != box->first + i) return;
  for (uint32_t i = 0; i < box->in.n; i++)
    if (box->in.at[i] != i) return;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!d->param.at[i].rooted || r->opened) return;
  if (is_of_one_name(d, box->callee)) r->main = (uint32_t)(box->callee - r->diagram.at);
}

// Determines which diagrams are learners, are scan bodies, or draw noise.
static void kinds_find(Reading *r) {
  for (uint32_t i = 0; i < r->diagram.n; i++)
    for (uint32_t k = 0; k < r->diagram.at[i].box.n; k++) {
      ReadDiagram *d = &r->diagram.at[i], *callee = d->box.at[k].callee;
      const ReadBox *box = &d->box.at[k];
      d->random |= strcmp(box->op, "random") == 0;
      if (!callee) continue;
      d->random |= callee->random;
      if (strcmp(box->op, "scan") == 0) {
        cell_note(box, callee);
        continue;
      }
      const ReadParam *p = box->params.n ? param_of(d, box->params.at[0]) : NULL;
      if (p && p->rooted && callee->param.n && !callee->param.at[0].rooted) callee->learner = true;
    }
}

// -- paths ----------------------------------------------------------------------------------------
// Paths of a diagram's weights in the written program. A box used once in a body is called by its
// name; otherwise its uses are numbered.
static const char **paths_of(Reading *r, uint32_t number) {
  ReadDiagram *d = &r->diagram.at[number];
  if (d->path) return d->path;
  const char **path = d->path = NEW_ARRAY(r->arena, const char *, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) path[i] = d->param.at[i].path;
  if (r->opened) return path;
  uint32_t *uses = NEW_ARRAY(r->arena, uint32_t, r->diagram.n),
           *seen = NEW_ARRAY(r->arena, uint32_t, r->diagram.n);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < d->box.n; i++) {
      Writing w = {.r = r, .d = d};
      const ReadBox *box = &d->box.at[i];
      const char *name;
      ReadDiagram *callee = box->callee;
      if (!box->params.n || !callee || !callee_name(&w, box, &name)) continue;
      uint32_t at = (uint32_t)(callee - r->diagram.at);
      if (round == 0) {
        uses[at]++;
        continue;
      }
      Buf segment = buf_new(r->arena);
      buf_text(&segment, name);
      if (name != callee->name) { // the body of an instance
        buf_printf(&segment, "/%s", written_diagram(r, callee, true)->name);
        callee = written_diagram(r, callee, true);
        at = (uint32_t)(callee - r->diagram.at);
      }
      if (name == callee->name && uses[at] > 1 && !callee->learner)
        buf_printf(&segment, ".%u", ++seen[at]);
      const char **below = paths_of(r, at);
      for (uint32_t k = 0; k < box->params.n; k++) {
        for (uint32_t q = 0; q < d->param.n; q++) {
          if (d->param.at[q].wire != box->params.at[k]) continue;
          // Known at the use, unless the callee has no such weight.
          if (callee->param.at[k].rooted) {
            if (below[k] != callee->param.at[k].path) path[q] = below[k];
            continue;
          }
          Buf b = buf_new(r->arena);
          buf_printf(&b, "%s/%s", segment.at, below[k]);
          path[q] = b.at;
        }
      }
    }
  return path;
}

static void renames_find(Reading *r, const ReadDiagram *asked, JsonProgram *out) {
  const ReadDiagram *main = &r->diagram.at[r->main];
  const char **path = paths_of(r, r->main);
  for (uint32_t i = 0; i < main->param.n; i++) {
    JsonRename name = {.from = main->param.at[i].was, .to = path[i]};
    if (!main->param.at[i].rooted && main->learner) {
      Buf from = buf_new(r->arena), to = buf_new(r->arena);
      buf_printf(&from, "%s/%s", main->key, main->param.at[i].was);
      buf_printf(&to, "%s/%s", main->name, path[i]);
      if (asked == main) { // a box that becomes a learner had no prefix in its paths
        name.to = to.at;
        vec_push(r->arena, &out->rename, name);
      }
      name = (JsonRename){from.at, to.at};
      if (asked != main && i < asked->param.n) name.from = asked->param.at[i].was;
    }
    vec_push(r->arena, &out->rename, name);
  }
}

// Marks the diagrams to be written: all that main reaches. Callees come before callers.
static void mark_written(Reading *r) {
  r->diagram.at[r->main].said = true;
  for (uint32_t i = r->main + 1; i-- > 0;) {
    ReadDiagram *d = &r->diagram.at[i];
    for (uint32_t k = 0; k < d->param.n; k++) {
      ReadDiagram *start = start_diagram(r, &d->param.at[k]);
      bool here = d->param.at[k].rooted || (d->said && param_is_own(&d->param.at[k]));
      if (start && here && start < d) start->said = true;
    }
    for (uint32_t k = 0; d->said && k < d->box.n; k++) {
      Writing w = {.r = r, .d = d};
      ReadDiagram *callee = d->box.at[k].callee;
      const char *name;
      if (!callee || !callee_name(&w, &d->box.at[k], &name)) continue;
      written_diagram(r, callee, name != callee->name)->said = true;
    }
  }
}

bool json_program(Arena *arena, const char *text, size_t n, bool places, JsonProgram *out,
                  const char **error) {
  Reading r = {.arena = arena, .error = error};
  Buf b = buf_new(arena);
  *error = NULL;
  const Json *root = json_read(arena, text, n, error);
  if (!root || !json_reading(&r, root)) return false;
  const ReadDiagram *asked = &r.diagram.at[r.main];
  r.roots = table_new(arena);
  kinds_find(&r);
  weights_to_wires(&r);
  skip_wrapper(&r);
  find_visible_axes(&r);
  ReadDiagram *main = &r.diagram.at[r.main];
  main->learner = has_weights(main) && sizes_follow(main) && !cells_are_open(&r);
  mark_written(&r);
  for (uint32_t i = 0; i <= r.main; i++)
    if (!diagram_write(&r, &r.diagram.at[i], &b)) return false;
  out->text = without_marks(&r, b.at ? b.at : "", places);
  renames_find(&r, asked, out);
  return !*error;
}
