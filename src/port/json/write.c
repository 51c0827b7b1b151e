// Writes a typed diagram as JSON, with all callees: docs/json.md specifies the keys.
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "port/json/json.h"

#include "core/pass/pass.h"

#include <math.h>

enum { MADE_LIMIT = 65536 }; // maximal count of computed initial values that are written out

typedef struct {
  World *w;
  const PrintNames *cast;
  JsonOut *j;
  const Diagram *d;
  const char **wire; // [wire] its unique name
} JsonPrint;

// -- sizes and types ------------------------------------------------------------------------------
// A number, or the text of a symbolic size.
static void size_put(JsonPrint *p, const char *key, Size size) {
  int64_t n;
  if (size_value(p->w, size, &n))
    json_print(p->j, key, "%lld", (long long)n);
  else
    json_text(p->j, key, size_by_names(p->w, p->cast, size));
}

static void number_put(JsonPrint *p, const char *key, double x) {
  if (isfinite(x)) {
    json_key(p->j, key);
    buf_number(p->j->out, x);
  } else {
    json_text(p->j, key, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
  }
}

static void axis_put(JsonPrint *p, const Axis *a) {
  json_object(p->j, NULL);
  size_put(p, "size", a->size);
  if (a->label) json_text(p->j, "label", name_text(p->w->names, a->label));
  if (a->pass) json_print(p->j, "pass", "%u", a->pass);
  json_end(p->j);
}

static void type_put(JsonPrint *p, const Type *t) {
  static const char *const base[] = {"", "R", "label", "B"};
  json_object(p->j, "type");
  json_text(p->j, "base", base[t->base]);
  if (t->base == BASE_LABEL) size_put(p, "count", t->count);
  if (t->names) {
    const Ids *list = &p->w->label_names.at[t->names];
    json_list(p->j, "names");
    for (uint32_t i = 0; i < list->n; i++)
      json_text(p->j, NULL, name_text(p->w->names, list->at[i]));
    json_end(p->j);
  }
  json_list(p->j, "axes");
  for (uint32_t i = 0; i < t->rank; i++) axis_put(p, &t->axis[i]);
  json_end(p->j);
  json_end(p->j);
}

static void wire_keys(JsonPrint *p, Id wire) {
  json_text(p->j, "name", p->wire[wire]);
  type_put(p, &p->d->wire.at[wire].type);
}

static void wires_put(JsonPrint *p, const char *key, const Id *wire, uint32_t n) {
  json_list(p->j, key);
  for (uint32_t i = 0; i < n; i++) json_text(p->j, NULL, p->wire[wire[i]]);
  json_end(p->j);
}

// -- loops ----------------------------------------------------------------------------------------
// [constant, [coefficient, "index"], [coefficient, operand], …]
static void coord_put(JsonPrint *p, const Coord *c, const char *const *index) {
  json_list(p->j, NULL);
  if (c->c)
    size_put(p, NULL, c->c);
  else
    json_print(p->j, NULL, "0");
  for (uint32_t i = 0; i < c->n; i++) {
    json_list(p->j, NULL);
    size_put(p, NULL, c->term[i].coef);
    if (c->term[i].operand)
      json_print(p->j, NULL, "%u", c->term[i].var);
    else
      json_text(p->j, NULL, index[c->term[i].var]);
    json_end(p->j);
  }
  json_end(p->j);
}

static void access_put(JsonPrint *p, const Access *a, const char *const *index) {
  json_list(p->j, "at");
  for (uint32_t i = 0; i < a->rank; i++) coord_put(p, &a->coord[i], index);
  json_end(p->j);
}

static void scalar_put(JsonPrint *p, const Scalar *s, const char *const *index) {
  JsonOut *j = p->j;
  json_list(j, NULL);
  switch (s->fn) {
  case FN_CONST: json_text(j, NULL, "const"), number_put(p, NULL, s->k); break;
  case FN_ARG: json_text(j, NULL, "arg"), json_print(j, NULL, "%u", s->ref); break;
  case FN_AT: json_text(j, NULL, "at"), json_text(j, NULL, index[s->ref]); break;
  case FN_SIZE: json_text(j, NULL, "size"), size_put(p, NULL, s->ref); break;
  default:
    json_text(j, NULL, fn_rows[s->fn].name);
    for (uint32_t i = 0; i < fn_rows[s->fn].arity; i++) json_print(j, NULL, "%u", s->arg[i]);
  }
  if (s->fn == FN_CONST && s->base != BASE_R)
    json_text(j, NULL, s->base == BASE_BIT ? "B" : "label");
  json_end(j);
}

static void loop_put(JsonPrint *p, const Box *b) {
  static const char *const combine[] = {"sum", "prod", "max", "min"};
  const Loop *loop = b->loop;
  Table *taken = table_new(p->w->arena);
  const char **index = NEW_ARRAY(p->w->arena, const char *, loop->nindex + 1);
  for (uint32_t i = 0; i < loop->nindex; i++)
    index[i] = name_unique(p->w, taken, loop->index[i].name);
  json_text(p->j, "combine", combine[loop->combine]);
  json_list(p->j, "indices");
  for (uint32_t i = 0; i < loop->nindex; i++) {
    json_object(p->j, NULL);
    json_text(p->j, "name", index[i]);
    size_put(p, "size", loop->index[i].size);
    json_end(p->j);
  }
  json_end(p->j);
  json_list(p->j, "in");
  for (uint32_t i = 0; i < loop->nin; i++) {
    json_object(p->j, NULL);
    json_text(p->j, "wire", p->wire[b->in[i]]);
    access_put(p, &loop->in[i], index);
    if (loop->in[i].padded) number_put(p, "pad", loop->in[i].pad);
    json_end(p->j);
  }
  json_end(p->j);
  access_put(p, &loop->out, index);
  json_list(p->j, "body");
  for (uint32_t i = 0; i < loop->nscalar; i++) scalar_put(p, &loop->scalar[i], index);
  json_end(p->j);
}

// -- other boxes ----------------------------------------------------------------------------------
static void scan_put(JsonPrint *p, const Box *b) {
  const Scan *s = b->scan;
  uint32_t carry = s->slice, hold = carry + s->carry, param = hold + s->hold;
  json_text(p->j, "body", p->cast->diagram[s->body->id]);
  json_text(p->j, "axis", name_text(p->w->names, s->axis.name));
  size_put(p, "size", s->axis.size);
  if (s->back) json_bool(p->j, "back", true);
  wires_put(p, "slices", b->in, s->slice);
  wires_put(p, "carries", b->in + carry, s->carry);
  wires_put(p, "holds", b->in + hold, s->hold);
  wires_put(p, "params", b->in + param, b->nin - param);
}

static void site_put(JsonPrint *p, uint64_t site) {
  json_print(p->j, "site", "\"0x%016llx\"", (unsigned long long)site);
}

static void operation_put(JsonPrint *p, const Box *b) {
  static const char *const op[] = {
      "",
#define BOX(name, doc) #name,
#include "core/diagram/boxes.def"
#undef BOX
  };
  json_text(p->j, "op", op[b->op]);
  switch (b->op) {
  case OP_loop: loop_put(p, b); break;
  case OP_scan: scan_put(p, b); break;
  case OP_call:
    json_text(p->j, "callee", p->cast->diagram[b->callee->id]);
    wires_put(p, "in", b->in, b->callee->in.n);
    wires_put(p, "params", b->in + b->callee->in.n, b->nin - b->callee->in.n);
    if (b->site) site_put(p, b->site);
    break;
  case OP_random:
    json_text(p->j, "noise", b->random->noise == NOISE_NORMAL ? "normal" : "uniform");
    site_put(p, b->random->site);
    break;
  default: json_print(p->j, "axis", "%u", b->axis), wires_put(p, "in", b->in, b->nin);
  }
}

static void origin_put(JsonPrint *p, Id origin) {
  Span span = origin_span(p->w, origin);
  uint32_t line, column;
  if (!span.file) return;
  source_place(p->w->sources, span, &line, &column);
  json_object(p->j, "origin");
  json_text(p->j, "file", p->w->sources->file.at[span.file].path);
  json_print(p->j, "line", "%u", line);
  json_print(p->j, "column", "%u", column);
  json_end(p->j);
}

static void box_put(JsonPrint *p, const Box *b) {
  json_object(p->j, NULL);
  json_list(p->j, "out");
  for (uint32_t i = 0; i < b->nout; i++) {
    json_object(p->j, NULL);
    wire_keys(p, b->out[i]);
    json_end(p->j);
  }
  json_end(p->j);
  operation_put(p, b);
  origin_put(p, b->origin);
  json_end(p->j);
}

// -- params and diagrams --------------------------------------------------------------------------
static void init_put(JsonPrint *p, const Init *init, const Type *t) {
  static const char *const word[] = {"none", "const",      "normal",  "uniform", "glorot",
                                     "he",   "orthogonal", "diagram", "data"};
  int64_t count;
  json_object(p->j, "init");
  json_text(p->j, "kind", word[init->kind]);
  if (init->kind == INIT_CONST) number_put(p, "value", init->k);
  if (init->kind == INIT_GLOROT || init->kind == INIT_HE) {
    size_put(p, "fan_in", init->fan_in);
    size_put(p, "fan_out", init->fan_out);
  }
  if (init->kind == INIT_DIAGRAM) json_text(p->j, "diagram", p->cast->diagram[init->diagram->id]);
  Tensor made = {.data = NULL};
  if (!type_count(p->w, t, &count)) count = 0;
  if (init->kind == INIT_DIAGRAM && count <= MADE_LIMIT)
    if (!init_eval(p->w, p->w->arena, init, t, 0, 0, &made)) made.data = NULL;
  const double *data = init->kind == INIT_DATA ? init->data : made.data;
  if (data) {
    json_list(p->j, "data");
    for (int64_t i = 0; i < count; i++) number_put(p, NULL, data[i]);
    json_end(p->j);
  }
  json_end(p->j);
}

static void param_put(JsonPrint *p, const Param *param) {
  static const char *const role[] = {"weight", "buffer", "clock", "const"};
  json_object(p->j, NULL);
  wire_keys(p, param->wire);
  json_text(p->j, "role", role[param->role]);
  json_text(p->j, "path", param->path);
  if (param->rooted) json_bool(p->j, "rooted", true);
  init_put(p, &param->init, &p->d->wire.at[param->wire].type);
  if (param->next) json_text(p->j, "next", p->wire[param->next]);
  json_end(p->j);
}

static void cost_put(JsonPrint *p, const Diagram *d) {
  Cost cost = diagram_cost(p->w, d);
  json_object(p->j, "cost");
  size_put(p, "multiplications", cost.multiplications);
  size_put(p, "additions", cost.additions);
  size_put(p, "functions", cost.functions);
  size_put(p, "memory", cost.memory_peak);
  json_end(p->j);
}

// What the header calls the results.
static void results_put(JsonPrint *p, const Diagram *d) {
  json_list(p->j, "results");
  for (uint32_t i = 0; i < d->out.n; i++)
    json_text(p->j, NULL, name_text(p->w->names, diagram_output_name(d, i)));
  json_end(p->j);
}

static void diagram_put(JsonPrint *p, const Diagram *d) {
  p->d = d;
  p->wire = wire_names(p->w, d);
  json_object_lines(p->j, NULL);
  json_text(p->j, "name", p->cast->diagram[d->id]);
  json_list_lines(p->j, "inputs");
  for (uint32_t i = 0; i < d->in.n; i++) {
    json_object(p->j, NULL);
    wire_keys(p, d->in.at[i]);
    json_end(p->j);
  }
  json_end(p->j);
  json_list_lines(p->j, "params");
  for (uint32_t i = 0; i < d->param.n; i++) param_put(p, &d->param.at[i]);
  json_end(p->j);
  json_list_lines(p->j, "boxes");
  for (uint32_t i = 1; i < d->box.n; i++) box_put(p, &d->box.at[i]);
  json_end(p->j);
  wires_put(p, "outputs", d->out.at, d->out.n);
  if (d->out_name.n) results_put(p, d);
  if (d->reverse) json_text(p->j, "reverse", p->cast->diagram[d->reverse->id]);
  cost_put(p, d);
  origin_put(p, d->origin);
  json_end(p->j);
}

static void sizes_put(JsonPrint *p) {
  static const char *const kind[] = {"axis", "local", "index", "sample", "space"};
  _Static_assert(COUNT(kind) == VAR_SPACE + 1, "each kind has its word");
  json_list(p->j, "sizes");
  for (uint32_t i = 0; i < p->cast->vars.n; i++) {
    Id var = p->cast->vars.at[i];
    json_object(p->j, NULL);
    json_text(p->j, "name", p->cast->var[var]);
    json_text(p->j, "kind", kind[size_var_kind(p->w, var)]);
    json_end(p->j);
  }
  json_end(p->j);
}

void diagram_json(World *w, const Diagram *d, Buf *out) {
  JsonOut j = json_out(out);
  JsonPrint p = {.w = w, .cast = print_names(w, d), .j = &j};
  json_object_lines(&j, NULL);
  json_text(&j, "format", "limn diagram");
  json_print(&j, "version", "%d", DIAGRAM_JSON_VERSION);
  json_text(&j, "main", p.cast->diagram[d->id]);
  sizes_put(&p);
  json_list_lines(&j, "diagrams");
  for (uint32_t i = 0; i < p.cast->diagrams.n; i++) diagram_put(&p, p.cast->diagrams.at[i]);
  json_end(&j);
  json_end(&j);
  buf_char(out, '\n');
}
