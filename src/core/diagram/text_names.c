// Unique names for the text of a diagram.
//
// Starting at a root, the search reaches the diagrams that it calls, scans, initialises weights
// with and uses as reverse derivatives. Callees come before callers; reverse derivatives come last,
// because they may call the diagram that they differentiate. The first diagram or size variable of
// a name keeps the name, later ones get a numeric suffix. Size variables are listed in order of
// creation.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/diagram/text_own.h"

typedef struct {
  World *w;
  PrintNames *names;
  bool *seen;       // [diagram]
  bool *var_seen;   // [variable]
  bool *names_seen; // [list of names]
} NameSearch;

// -- names ----------------------------------------------------------------------------------------
bool is_plain_name(const char *text) {
  static const char *const word[] = {"diagram", "sizes", "names", "reverse", "main", "weight",
                                     "buffer",  "clock", "const", "return",  "next", "over",
                                     "else",    "back",  "init",  "rooted",  "of",   "huge"};
  if (!*text) return false;
  for (uint32_t i = 0; i < COUNT(word); i++)
    if (strcmp(text, word[i]) == 0) return false;
  for (const char *c = text; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                  (unsigned char)*c >= 0x80;
    bool later = (*c >= '0' && *c <= '9') || *c == '\'';
    if (!letter && (c == text || !later)) return false;
  }
  return true;
}

const char *name_unique(World *w, Table *taken, Name name) {
  const char *text = name_text(w->names, name);
  Id before = table_get(taken, &name, sizeof name);
  Buf b = buf_new(w->arena);
  if (!name)
    buf_char(&b, '%');
  else if (is_plain_name(text))
    buf_text(&b, text);
  else
    buf_json(&b, text, strlen(text));
  if (before) buf_printf(&b, ".%u", before + 1);
  table_put(taken, &name, sizeof name, before + 1);
  return b.at;
}

Ids wires_in_order(World *w, const Diagram *d) {
  Ids wire = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(w->arena, &wire, d->in.at[i]);
  for (uint32_t i = 0; i < d->param.n; i++) vec_push(w->arena, &wire, d->param.at[i].wire);
  for (uint32_t i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nout; k++) vec_push(w->arena, &wire, d->box.at[i].out[k]);
  return wire;
}

const char **wire_names(World *w, const Diagram *d) {
  Table *taken = table_new(w->arena);
  Ids wire = wires_in_order(w, d);
  const char **name = NEW_ARRAY(w->arena, const char *, d->wire.n);
  for (uint32_t i = 0; i < wire.n; i++)
    name[wire.at[i]] = name_unique(w, taken, d->wire.at[wire.at[i]].name);
  return name;
}

// -- traversal ------------------------------------------------------------------------------------
static void see_size(NameSearch *s, Size size) {
  Ids vars = {0};
  int64_t n;
  if (!size || size_value(s->w, size, &n)) return;
  size_vars(s->w, size, &vars);
  for (uint32_t i = 0; i < vars.n; i++) s->var_seen[vars.at[i]] = true;
}

static void see_access(NameSearch *s, const Access *a) {
  for (uint32_t i = 0; i < a->rank; i++) {
    see_size(s, a->coord[i].c);
    for (uint32_t k = 0; k < a->coord[i].n; k++) see_size(s, a->coord[i].term[k].coef);
  }
}

static void see_loop(NameSearch *s, const Loop *loop) {
  for (uint32_t i = 0; i < loop->nindex; i++) see_size(s, loop->index[i].size);
  for (uint32_t i = 0; i < loop->nin; i++) see_access(s, &loop->in[i]);
  see_access(s, &loop->out);
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_SIZE) see_size(s, loop->scalar[i].ref);
}

static void see_type(NameSearch *s, const Type *t) {
  if (t->base == BASE_LABEL) see_size(s, t->count);
  for (uint32_t i = 0; i < t->rank; i++) see_size(s, t->axis[i].size);
  if (t->base != BASE_LABEL || !t->names || s->names_seen[t->names]) return;
  s->names_seen[t->names] = true;
  vec_push(s->w->arena, &s->names->label_names, t->names);
}

static void see_diagram(NameSearch *s, const Diagram *d);

static void see_init(NameSearch *s, const Init *init) {
  if (init->kind == INIT_DIAGRAM) see_diagram(s, init->diagram);
  if (init->kind != INIT_GLOROT && init->kind != INIT_HE) return;
  see_size(s, init->fan_in);
  see_size(s, init->fan_out);
}

static void see_diagram(NameSearch *s, const Diagram *d) {
  if (s->seen[d->id]) return;
  s->seen[d->id] = true;
  for (uint32_t i = 0; i < d->param.n; i++) see_init(s, &d->param.at[i].init);
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_call) see_diagram(s, b->callee);
    if (b->op == OP_scan) see_diagram(s, b->scan->body);
    if (b->op == OP_scan) see_size(s, b->scan->axis.size);
    if (b->op == OP_loop) see_loop(s, b->loop);
  }
  Ids wire = wires_in_order(s->w, d);
  for (uint32_t i = 0; i < wire.n; i++) see_type(s, &d->wire.at[wire.at[i]].type);
  vec_push(s->w->arena, &s->names->diagrams, d);
}

static NameSearch search_new(World *w) {
  return (NameSearch){.w = w,
                      .names = NEW(w->arena, PrintNames),
                      .seen = NEW_ARRAY(w->arena, bool, w->diagram.n),
                      .var_seen = NEW_ARRAY(w->arena, bool, size_var_count(w)),
                      .names_seen = NEW_ARRAY(w->arena, bool, w->label_names.n)};
}

Ids diagrams_sizes(World *w, uint32_t n, const Diagram *const *root) {
  NameSearch s = search_new(w);
  Ids vars = {0};
  for (uint32_t i = 0; i < n; i++) see_diagram(&s, root[i]);
  for (Id i = 1; i < size_var_count(w); i++)
    if (s.var_seen[i]) vec_push(w->arena, &vars, i);
  return vars;
}

PrintNames *print_names(World *w, const Diagram *root) {
  NameSearch s = search_new(w);
  PrintNames *names = s.names;
  see_diagram(&s, root);
  for (uint32_t i = 0; i < names->diagrams.n; i++)
    if (names->diagrams.at[i]->reverse) see_diagram(&s, names->diagrams.at[i]->reverse);
  Table *taken = table_new(w->arena);
  names->diagram = NEW_ARRAY(w->arena, const char *, w->diagram.n);
  for (uint32_t i = 0; i < names->diagrams.n; i++)
    names->diagram[names->diagrams.at[i]->id] = name_unique(w, taken, names->diagrams.at[i]->name);
  taken = table_new(w->arena);
  names->var = NEW_ARRAY(w->arena, const char *, size_var_count(w));
  for (Id i = 1; i < size_var_count(w); i++) {
    if (!s.var_seen[i]) continue;
    vec_push(w->arena, &names->vars, i);
    names->var[i] = name_unique(w, taken, size_var_name(w, i));
  }
  return names;
}

const char *size_by_names(World *w, const PrintNames *names, Size size) {
  Buf b = buf_new(w->arena);
  if (!size)
    buf_char(&b, '?');
  else if (size_too_large(w, size))
    buf_text(&b, "huge");
  else
    size_print_as(w, size, names->var, &b);
  return b.at;
}

uint32_t *scalar_numbers(World *w, const PrintNames *names, const Loop *loop, Table *table) {
  uint32_t *number = NEW_ARRAY(w->arena, uint32_t, loop->nscalar);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    uint32_t arity = s->fn <= FN_SIZE ? 0 : fn_rows[s->fn].arity;
    Buf key = buf_new(w->arena);
    buf_printf(&key, "%u %u", s->fn, s->base);
    for (uint32_t k = 0; k < arity; k++) buf_printf(&key, " %u", number[s->arg[k]]);
    if (s->fn == FN_CONST) buf_char(&key, ' '), buf_number(&key, s->k);
    if (s->fn == FN_ARG || s->fn == FN_AT) buf_printf(&key, " %u", s->ref);
    if (s->fn == FN_SIZE) buf_printf(&key, " %s", size_by_names(w, names, s->ref));
    if (!table_get(table, key.at, key.n)) table_put(table, key.at, key.n, table_count(table) + 1);
    number[i] = table_get(table, key.at, key.n);
  }
  return number;
}
