// The legend of a wiring: constants and options named in its lines. A constant computed from others
// includes these.
#include "base/names.h"
#include "base/table.h"
#include "lang/value/value.h"
#include "show/circuit/circuit.h"
#include "show/wiring/wiring_own.h"

typedef struct {
  World *w;
  Arena *arena;
  const System *s; // the system whose lines are scanned
  Scope *scope;    // the scope of its names
  bool whole;      // scanning a constant: local names of the system do not hide global ones
  Table *seen;     // constants seen
  RowList *rows;
} LegendNames;

enum { VALUE_SIZE = 14, LONGEST_VALUE = 600 };

static bool is_port_of(const System *s, Name name) {
  bool own = false;
  for (uint32_t i = 0; i < s->in.n; i++) own |= s->in.at[i].name == name;
  for (uint32_t i = 0; i < s->out.n; i++) own |= s->out.at[i].name == name;
  for (uint32_t i = 0; i < s->own.n; i++) own |= s->own.at[i].name == name;
  for (uint32_t i = 0; i < s->line.n; i++) own |= s->line.at[i].name == name;
  for (uint32_t i = 0; i < s->part.n; i++) own |= s->part.at[i].name == name;
  return own;
}

// An option that is a box is shown in the title and where it is used.
static bool is_in_title(const Option *o) {
  return !o->by_default && o->text && char_is_letter(o->text[0]);
}

static const Option *option_named(const System *s, Name name) {
  for (uint32_t i = 0; s->d && i < s->d->option.n; i++)
    if (s->d->option.at[i].name == name) return &s->d->option.at[i];
  return NULL;
}

static void add_option(const LegendNames *k, const Option *o) {
  Buf b = buf_new(k->arena);
  if (o->text) buf_text(&b, o->text);
  for (uint32_t i = 0; i < o->nsize; i++)
    buf_printf(&b, "%s%s", i ? " " : "", size_text(k->w, o->size[i]));
  const char *value = short_numbers(k->arena, b.at ? b.at : "");
  value = text_cut(k->arena, FACE_ITALIC, VALUE_SIZE, value, LONGEST_VALUE);
  if (b.n) legend_add(k->arena, k->rows, name_text(k->w->names, o->name), value);
}

static bool add_name(void *context, const Syntax *n);

static void add_constant(const LegendNames *k, const Def *d) {
  const Syntax *value = typed_value(d->node);
  if (!value || table_get(k->seen, &d->id, sizeof d->id)) return;
  table_put(k->seen, &d->id, sizeof d->id, 1);
  const char *text = node_text(k->w, k->arena, k->s, value);
  text = text_cut(k->arena, FACE_ITALIC, VALUE_SIZE, text, LONGEST_VALUE);
  legend_add(k->arena, k->rows, name_text(k->w->names, d->name), text);
  LegendNames inner = *k;
  inner.whole = true, inner.scope = d->scope;
  syntax_any(value, add_name, &inner);
}

static bool add_name(void *context, const Syntax *n) {
  const LegendNames *k = context;
  if (n->kind != N_NAME || (!k->whole && is_port_of(k->s, n->name))) return false;
  const Option *o = k->whole ? NULL : option_named(k->s, n->name);
  const Def *d = o ? NULL : scope_meaning(k->scope, n);
  if (o && !is_in_title(o)) add_option(k, o);
  if (d && d->kind == DEF_CONST) add_constant(k, d);
  return false;
}

// Opened parts show their lines; machines do if `lines`.
static void add_system(LegendNames *k, const System *s, uint32_t levels, bool lines) {
  const Syntax *body =
      s->def && s->def->node && s->def->node->kind == N_MACHINE ? machine_body(s->def->node) : NULL;
  k->s = s, k->scope = s->def ? s->def->scope : NULL;
  for (uint32_t i = 0; s->d && i < s->d->option.n; i++)
    if (s->d->option.at[i].by_default) add_option(k, &s->d->option.at[i]);
  if (body && k->scope) syntax_any(body, add_name, k);
  for (uint32_t i = 0; i < s->part.n; i++) {
    const System *of = s->part.at[i].of;
    if (of->wiring ? levels > 1 : lines) add_system(k, of, levels - 1, lines);
  }
}

void wiring_legend(Canvas *c, World *w, Arena *a, const System *s, uint32_t levels, bool lines) {
  RowList rows = {0};
  LegendNames k = {.w = w, .arena = a, .seen = table_new(a), .rows = &rows};
  add_system(&k, s, levels, lines);
  legend_plate(c, &rows, true, false);
}
