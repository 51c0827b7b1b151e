// Reads diagrams from JSON: names become identifiers, sizes become expressions of the language.
// Types and wires are only checked as far as the writer needs; the rest is checked when the program
// is loaded.
#include "base/diag.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "port/json/json_own.h"

#include "lang/syntax/letters.h"
#include "lang/syntax/syntax.h"

#include <math.h>
#include <stdarg.h>

static bool path_write(const Json *j, const Json *part, Buf *b) {
  if (j == part) return true;
  const Json *at = j->kind == JSON_LIST || j->kind == JSON_OBJECT ? json_first(j) : NULL;
  for (uint32_t i = 0; at && i < j->n; i++) {
    const Json *value = j->kind == JSON_OBJECT ? at + 1 : at, *next = json_next(value);
    size_t before = b->n;
    if (j->kind == JSON_OBJECT)
      buf_printf(b, "%s%s", b->n ? "." : "", at->text);
    else
      buf_printf(b, "[%u]", i);
    if (part >= value && part < next) return path_write(value, part, b);
    b->n = before;
    at = next;
  }
  return false;
}

const char *json_path(Arena *a, const Json *below, const Json *part) {
  Buf b = buf_new(a);
  if (!path_write(below, part, &b) || !b.n) return "";
  b.at[b.n] = 0;
  return b.at;
}

bool reading_error(Reading *r, const ReadDiagram *d, const char *format, ...) {
  if (*r->error) return false;
  Buf b = buf_new(r->arena);
  const char *where = r->at ? json_path(r->arena, d ? d->json : r->root, r->at) : "";
  if (d) buf_printf(&b, *where ? "diagram `%s`, " : "diagram `%s`: ", d->key);
  if (*where) buf_printf(&b, "%s: ", where);
  va_list args;
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  *r->error = b.at;
  return false;
}

double json_real(const Json *j) {
  if (!j) return NAN;
  if (j->kind == JSON_NUMBER) return j->number;
  if (j->kind != JSON_TEXT) return NAN;
  return strcmp(j->text, "inf") == 0 ? INFINITY : strcmp(j->text, "-inf") == 0 ? -INFINITY : NAN;
}

const char *json_word(const Json *object, const char *key) {
  const Json *j = object && object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
  return j && j->kind == JSON_TEXT ? j->text : "";
}

// -- names ----------------------------------------------------------------------------------------
static bool reserve_name(Table *taken, const char *name) {
  if (is_reserved(name) || table_get(taken, name, strlen(name))) return false;
  table_put(taken, name, strlen(name), 1);
  return true;
}

const char *reading_name(Reading *r, Table *taken, const char *key) {
  Buf b = buf_new(r->arena);
  key += *key == '"'; // words are quoted in the textual form of diagrams
  key += strspn(key, "_");
  if (!letter_bytes(key, strlen(key))) buf_char(&b, 'w');
  for (const char *c = key; *c && b.n < 60; c++) {
    uint32_t letter = letter_bytes(c, strlen(c));
    if (letter > 1) {
      buf_add(&b, c, letter);
      c += letter - 1;
    } else if (char_is_word(*c) || (b.n && *c == '_')) {
      buf_char(&b, *c);
    } else if (b.n && b.at[b.n - 1] != '_' && c[1]) {
      buf_char(&b, '_');
    }
  }
  size_t n = b.n;
  for (uint32_t i = 2; !reserve_name(taken, b.at); i++) {
    b.n = n, b.at[n] = 0;
    buf_printf(&b, "_%u", i);
  }
  return b.at;
}

const char *reading_new_name(Reading *r, Table *taken, const char *key) {
  size_t n = strlen(key);
  for (size_t digits = n; digits; n = digits - 1) {
    for (digits = n; digits && key[digits - 1] >= '0' && key[digits - 1] <= '9';) digits--;
    bool counted = n - digits && digits > 1 && strchr("._", key[digits - 1]) &&
                   key[digits] != '0' && !(n - digits == 1 && key[digits] == '1');
    if (!counted) break;
  }
  return reading_name(r, taken, arena_text(r->arena, key, n));
}

static Table *taken_copy(Reading *r) {
  Table *t = table_new(r->arena);
  size_t n;
  for (uint32_t i = 0; i < table_count(r->taken); i++) {
    const char *key = table_key(r->taken, i, &n);
    table_put(t, key, n, 1);
  }
  return t;
}

static Table *taken_words(Reading *r) {
  // built-in names, besides the functions of the op table
  static const char *const word[] = {
      "R",      "B",         "sum",    "prod",   "max",      "min",   "mean",      "size",
      "concat", "scan",      "argmax", "argmin", "training", "batch", "normal",    "uniform",
      "inf",    "positions", "time",   "down",   "glorot",   "he",    "orthogonal"};
  Table *t = table_new(r->arena);
  for (uint32_t i = 0; i < COUNT(word); i++) reserve_name(t, word[i]);
  for (uint32_t i = FN_SIZE + 1; i < FN_COUNT; i++) reserve_name(t, fn_rows[i].name);
  return t;
}

static bool is_word(const char *text) {
  for (const char *c = text; *c;) {
    uint32_t letter = letter_bytes(c, strlen(c));
    if (!letter && (c == text || !char_is_word(*c))) return false;
    c += letter ? letter : 1;
  }
  return *text;
}

// -- types ----------------------------------------------------------------------------------------
// The length of an axis: a size of at least 1.
static const char *length_read(Reading *r, const Json *j) {
  if (!j || j->kind != JSON_NUMBER || j->number >= 1) return reading_size(r, j);
  reading_error(r, NULL, "a type has at least one of each: %g is no size of it", j->number);
  return NULL;
}

static bool type_read(Reading *r, const Json *j, ReadType *t) {
  const char *base = json_word(j, "base");
  r->at = j ? j : r->at;
  const Json *axes = j ? json_get(j, "axes") : NULL;
  t->base = base;
  if (strcmp(base, "label") == 0) {
    const char *count = length_read(r, json_get(j, "count"));
    if (!count) return false;
    t->count = count;
    Buf b = buf_new(r->arena);
    buf_text(&b, "{");
    const Json *names = json_get(j, "names");
    EACH_ITEM(name, i, names) {
      if (name->kind != JSON_TEXT || !is_word(name->text) || is_reserved(name->text))
        return reading_error(r, NULL, "the names of labels are words");
      buf_printf(&b, "%s%s", i ? ", " : "", name->text);
    }
    if (b.n == 1) buf_text(&b, count);
    buf_text(&b, "}");
    t->base = b.at;
  } else if (strcmp(base, "R") != 0 && strcmp(base, "B") != 0) {
    return reading_error(r, NULL, "a type has base \"R\", \"B\" or \"label\", not \"%s\"", base);
  }
  t->rank = axes && axes->kind == JSON_LIST ? axes->n : 0;
  t->size = NEW_ARRAY(r->arena, const char *, t->rank + 1);
  t->passes = NEW_ARRAY(r->arena, uint32_t, t->rank + 1);
  EACH_ITEM(axis, i, axes) {
    if (axis->kind != JSON_OBJECT) return reading_error(r, NULL, "an axis is an object");
    const Json *pass = json_get(axis, "pass");
    t->passes[i] =
        pass && pass->kind == JSON_NUMBER && pass->number > 0 && pass->number < PASS_LIMIT
            ? (uint32_t)pass->number
            : pass != NULL;
    if (!(t->size[i] = length_read(r, json_get(axis, "size")))) return false;
  }
  return true;
}

// -- diagrams -------------------------------------------------------------------------------------
// `name`: its name in the program; NULL: derived from the file.
static bool wire_add(Reading *r, ReadDiagram *d, const Json *j, const char *name) {
  ReadWire wire = {0};
  const char *key = json_word(j, "name");
  r->at = j;
  if (!*key) return reading_error(r, d, "a wire has no \"name\"");
  if (table_get(d->wire_table, key, strlen(key)))
    return reading_error(r, d, "there are two wires `%s`", key);
  if (!type_read(r, json_get(j, "type"), &wire.type)) return false;
  wire.name = name ? name : reading_new_name(r, d->taken, key);
  vec_push(r->arena, &d->wire, wire);
  table_put(d->wire_table, key, strlen(key), d->wire.n);
  return true;
}

// An input or param: its name is visible outside and is kept.
static bool outer_wire_add(Reading *r, ReadDiagram *d, const Json *j, const char *name) {
  if (!wire_add(r, d, j, name ? name : "")) return false;
  ReadWire *wire = &d->wire.at[d->wire.n - 1];
  if (!name) wire->name = reading_name(r, d->taken, json_word(j, "name"));
  return true;
}

uint32_t reading_wire(Reading *r, const ReadDiagram *d, const Json *key) {
  const char *text = key && key->kind == JSON_TEXT ? key->text : "";
  Id wire = table_get(d->wire_table, text, strlen(text));
  if (!wire) reading_error(r, d, "there is no wire `%s` (or not yet)", text);
  return wire;
}

ReadDiagram *reading_diagram(const Reading *r, const char *key) {
  Id found = table_get(r->diagram_table, key, strlen(key));
  return found ? &r->diagram.at[found - 1] : NULL;
}

// A weight of the program itself keeps its name if possible; a member of a family becomes `p_2`.
static const char *root_name(Reading *r, const char *path) {
  if (is_word(path)) return path;
  Id known = table_get(r->root_table, path, strlen(path));
  if (known) return r->root_name.at[known - 1];
  vec_push(r->arena, &r->root_name, reading_name(r, r->taken, path));
  table_put(r->root_table, path, strlen(path), r->root_name.n);
  return r->root_name.at[r->root_name.n - 1];
}

// The step counter is a keyword.
static bool is_clock(const ReadParam *p) {
  return strcmp(p->role, "clock") == 0 && p->rooted &&
         (strcmp(p->path, "step") == 0 || strcmp(p->path, "steps") == 0);
}

static bool params_read(Reading *r, ReadDiagram *d) {
  EACH_ITEM(j, i, json_get(d->json, "params")) {
    ReadParam p = {.role = json_word(j, "role"), .path = json_word(j, "path")};
    r->at = j;
    const Json *rooted = json_get(j, "rooted");
    p.rooted = rooted && rooted->kind == JSON_TRUE;
    p.was = p.path;
    if (!*p.path) return reading_error(r, d, "a param has no \"path\"");
    bool whole = p.rooted && !strchr(p.path, '/');
    if (whole && !is_clock(&p)) p.path = root_name(r, p.path);
    if (!outer_wire_add(r, d, j, whole ? p.path : NULL)) return false;
    p.wire = d->wire.n - 1;
    p.init = json_get(j, "init");
    if (strcmp(p.role, "clock") == 0 && !is_clock(&p))
      return reading_error(r, d, "`%s` counts steps: only `step` and `steps` can be read back",
                           p.path);
    vec_push(r->arena, &d->param, p);
  }
  return true;
}

static bool is_call(const ReadBox *box) {
  return strcmp(box->op, "call") == 0 || strcmp(box->op, "scan") == 0;
}

// Reads the wires that a box lists under a key.
static bool wires_read(Reading *r, const ReadDiagram *d, const ReadBox *box, const char *key,
                       Ids *out) {
  EACH_ITEM(item, i, json_get(box->json, key)) {
    uint32_t wire = reading_wire(r, d, item);
    if (!wire) return false;
    if (wire > box->first)
      return reading_error(r, d, "a box reads `%s`, which is made later", item->text);
    vec_push(r->arena, out, wire - 1);
  }
  return true;
}

// What a box refers to, once all wires are known.
static bool box_read(Reading *r, const ReadDiagram *d, ReadBox *box) {
  r->at = box->json;
  const char *callee = json_word(box->json, strcmp(box->op, "scan") == 0 ? "body" : "callee");
  if (is_call(box) && !(box->callee = reading_diagram(r, callee)))
    return reading_error(r, d, "there is no diagram `%s` before it", callee);
  if (!is_call(box) && strcmp(box->op, "join") != 0 && strcmp(box->op, "order") != 0) return true;
  if (!wires_read(r, d, box, "slices", &box->in)) return false;
  box->slices = box->in.n;
  if (!wires_read(r, d, box, "carries", &box->in)) return false;
  box->carries = box->in.n - box->slices;
  return wires_read(r, d, box, "holds", &box->in) && wires_read(r, d, box, "in", &box->in) &&
         wires_read(r, d, box, "params", &box->params);
}

static bool boxes_read(Reading *r, ReadDiagram *d) {
  EACH_ITEM(j, i, json_get(d->json, "boxes")) {
    ReadBox box = {.json = j, .op = json_word(j, "op"), .first = d->wire.n};
    r->at = j;
    if (j->kind != JSON_OBJECT) return reading_error(r, d, "a box is an object");
    EACH_ITEM(out, k, json_get(j, "out")) {
      if (!wire_add(r, d, out, NULL)) return false;
      box.n++;
    }
    if (!box.n) return reading_error(r, d, "box %u has no \"out\"", i + 1);
    vec_push(r->arena, &d->box, box);
  }
  return true;
}

// Marks all wires that a box refers to.
static void mark_used(ReadDiagram *d, const Json *j) {
  if (j->kind == JSON_TEXT) {
    Id wire = table_get(d->wire_table, j->text, j->n);
    if (wire) d->wire.at[wire - 1].used = true;
  }
  if (j->kind == JSON_LIST) {
    EACH_ITEM(item, i, j) mark_used(d, item);
  }
  if (j->kind != JSON_OBJECT) return;
  const Json *key = json_first(j);
  for (uint32_t i = 0; i < j->n; i++, key = json_next(key + 1))
    if (strcmp(key->text, "out") != 0) mark_used(d, key + 1);
}

// Names of the results, if all have one.
static bool results_read(Reading *r, ReadDiagram *d) {
  const Json *list = json_get(d->json, "results");
  if (!list) return true;
  r->at = list;
  if (list->kind != JSON_LIST || list->n != d->out.n)
    return reading_error(r, d, "\"results\" are names, one for each of its %u outputs", d->out.n);
  Table *own = table_new(r->arena);
  EACH_ITEM(name, i, list) {
    if (name->kind != JSON_TEXT || !name->n) {
      return reading_error(r, d, "\"results\" are names, one for each of its %u outputs", d->out.n);
    }
    vec_push(r->arena, &d->result, reading_name(r, own, name->text));
  }
  r->at = NULL;
  return true;
}

static bool diagram_read(Reading *r, ReadDiagram *d) {
  EACH_ITEM(in, i, json_get(d->json, "inputs")) {
    if (!outer_wire_add(r, d, in, NULL)) return false;
    d->nin++;
  }
  sizes_shorten(r, d);
  if (!params_read(r, d) || !boxes_read(r, d)) return false;
  EACH_ITEM(out, k, json_get(d->json, "outputs")) {
    r->at = out;
    uint32_t wire = reading_wire(r, d, out);
    if (!wire) return false;
    vec_push(r->arena, &d->out, wire - 1);
    d->wire.at[wire - 1].used = true;
  }
  for (uint32_t i = 0; i < d->box.n; i++) {
    mark_used(d, d->box.at[i].json);
    if (!box_read(r, d, &d->box.at[i])) return false;
  }
  uint32_t at = 0;
  EACH_ITEM(p, n, json_get(d->json, "params")) {
    const Json *next = json_get(p, "next");
    r->at = next ? next : r->at;
    if (next && !(d->param.at[at].next = reading_wire(r, d, next))) return false;
    at++;
  }
  r->at = NULL;
  if (!d->out.n) return reading_error(r, d, "it has no \"outputs\"");
  return results_read(r, d);
}

static bool sizes_read(Reading *r, const Json *root) {
  EACH_ITEM(j, i, json_get(root, "sizes")) {
    const char *key = json_word(j, "name");
    r->at = j;
    if (!*key) return reading_error(r, NULL, "a size has no \"name\"");
    table_put(r->size_table, key, strlen(key), 1);
  }
  return true;
}

// Reserves the names of the program's own weights.
static void reserve_root_names(Reading *r, const Json *diagrams) {
  EACH_ITEM(d, i, diagrams) {
    EACH_ITEM(p, k, d->kind == JSON_OBJECT ? json_get(d, "params") : NULL) {
      const Json *rooted = p->kind == JSON_OBJECT ? json_get(p, "rooted") : NULL;
      if (rooted && rooted->kind == JSON_TRUE && is_word(json_word(p, "path")))
        reserve_name(r->taken, json_word(p, "path"));
    }
  }
}

static const Json *diagram_by_key(const Json *diagrams, const char *key) {
  EACH_ITEM(d, i, diagrams)
  if (strcmp(json_word(d, "name"), key) == 0) return d;
  return NULL;
}

// The diagram that gets its name first: the main one. In the file it is `f.2` if callees named `f`
// come first. If it has weights and a single call, it only forwards to the learner `f`.
static const char *first_to_name(const Json *diagrams, const char *key) {
  const Json *d = diagram_by_key(diagrams, key), *params = d ? json_get(d, "params") : NULL,
             *boxes = d ? json_get(d, "boxes") : NULL;
  if (!params || !params->n || !boxes || boxes->kind != JSON_LIST || boxes->n != 1) return key;
  const char *callee = json_word(json_first(boxes), "callee");
  return diagram_by_key(diagrams, callee) ? callee : key;
}

static const char *name_without_number(Reading *r, const char *key) {
  const char *dot = strrchr(key, '.');
  bool counted = dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1);
  return reading_name(r, r->taken,
                      arena_text(r->arena, key, counted ? (size_t)(dot - key) : strlen(key)));
}

// Refuses unknown keys: a misspelt key would be ignored.
static bool keys_known(Reading *r, const Json *j) {
  static const char *const known[] = {
      "additions", "at",       "axes",
      "axis",      "back",     "base",
      "body",      "boxes",    "callee",
      "carries",   "column",   "combine",
      "cost",      "count",    "data",
      "diagram",   "diagrams", "fan_in",
      "fan_out",   "file",     "format",
      "functions", "holds",    "in",
      "indices",   "init",     "inputs",
      "kind",      "label",    "line",
      "main",      "memory",   "multiplications",
      "name",      "names",    "next",
      "noise",     "op",       "origin",
      "out",       "outputs",  "pad",
      "params",    "pass",     "path",
      "results",   "reverse",  "role",
      "rooted",    "site",     "size",
      "sizes",     "slices",   "type",
      "value",     "version",  "wire",
  };
  const Json *at = j->kind == JSON_LIST || j->kind == JSON_OBJECT ? json_first(j) : NULL;
  for (uint32_t i = 0; at && i < j->n; i++) {
    const Json *value = j->kind == JSON_OBJECT ? at + 1 : at;
    bool is = j->kind == JSON_LIST;
    for (uint32_t k = 0; !is && k < COUNT(known); k++) is = strcmp(at->text, known[k]) == 0;
    if (!is) {
      const char *near = nearest_name(at->text, known, COUNT(known));
      r->at = j;
      return reading_error(
          r, NULL, near ? "there is no key \"%s\": is it \"%s\"?" : "there is no key \"%s\"",
          at->text, near);
    }
    if (!keys_known(r, value)) return false;
    at = json_next(value);
  }
  return true;
}

bool json_reading(Reading *r, const Json *root) {
  r->root = root;
  const Json *version = root->kind == JSON_OBJECT ? json_get(root, "version") : NULL;
  if (!version || strcmp(json_word(root, "format"), "limn diagram") != 0)
    return reading_error(r, NULL, "it is not a diagram: \"format\": \"limn diagram\" is wanted");
  if (json_real(version) != DIAGRAM_JSON_VERSION)
    return reading_error(r, NULL, "its version is %g, and %d is wanted", json_real(version),
                         DIAGRAM_JSON_VERSION);
  if (!keys_known(r, root)) return false;
  r->size_table = table_new(r->arena);
  r->diagram_table = table_new(r->arena);
  r->root_table = table_new(r->arena);
  r->taken = taken_words(r);
  if (!sizes_read(r, root)) return false;
  const Json *list = json_get(root, "diagrams");
  r->at = NULL;
  reserve_root_names(r, list);
  const char *first = first_to_name(list, json_word(root, "main")),
             *name_of_first = name_without_number(r, first);
  EACH_ITEM(name, k, list) {
    ReadDiagram d = {.json = name, .key = json_word(name, "name")};
    bool is_first = strcmp(d.key, first) == 0;
    d.name = is_first ? name_of_first : reading_name(r, r->taken, d.key);
    vec_push(r->arena, &r->diagram, d);
  }
  for (uint32_t i = 0; i < r->diagram.n; i++) {
    ReadDiagram *d = r->in = &r->diagram.at[i];
    d->wire_table = table_new(r->arena);
    d->size_table = table_new(r->arena);
    d->thing_table = table_new(r->arena);
    d->taken = taken_copy(r);
    if (!diagram_read(r, d)) return false;
    table_put(r->diagram_table, d->key, strlen(d->key), i + 1);
  }
  const Json *main = json_get(root, "main");
  const char *key = main && main->kind == JSON_TEXT ? main->text : "";
  ReadDiagram *d = reading_diagram(r, key);
  if (!d) return reading_error(r, NULL, "there is no diagram `%s` before it", key);
  r->main = (uint32_t)(d - r->diagram.at);
  return true;
}
