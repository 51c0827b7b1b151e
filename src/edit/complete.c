// Completion: the names that may stand at the cursor. Candidates are filtered by the prefix already
// typed, so that answers stay small in files of any length.
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "edit/context.h"

#include "io/data/data.h"

enum { ITEM_LIMIT = 300 };
typedef enum { // CompletionItemKind of the protocol
  ITEM_FUNCTION = 3,
  ITEM_FIELD = 5,
  ITEM_VARIABLE = 6,
  ITEM_CLASS = 7,
  ITEM_MODULE = 9,
  ITEM_PROPERTY = 10,
  ITEM_KEYWORD = 14,
  ITEM_CONSTANT = 21,
  ITEM_STRUCT = 22,
  ITEM_TYPE = 25
} ItemKind;

typedef struct {
  EditQuestion *q;
  const EditIndex *x;
  TypingContext c;
  JsonOut *j;
  uint32_t n;
  bool more;
  Table *said;
} Completer;

typedef struct {
  const char *name;
  ItemKind kind;
  const char *detail, *doc; // or NULL
  char order;               // first letter of the sort key: names of the text sort before the
                            // library's
  const char *suffix;       // inserted after it: ": "
} CompletionItem;

static void offer(Completer *m, CompletionItem i) {
  size_t typed = strlen(m->c.prefix);
  if (!i.name[0] || strncmp(i.name, m->c.prefix, typed) ||
      table_get(m->said, i.name, strlen(i.name)))
    return;
  if (m->n == ITEM_LIMIT) {
    m->more = true;
    return;
  }
  m->n++;
  table_put(m->said, i.name, strlen(i.name), 1);
  json_object(m->j, NULL);
  json_text(m->j, "label", i.name);
  json_number(m->j, "kind", i.kind);
  if (i.detail) json_text(m->j, "detail", i.detail);
  if (i.doc && *i.doc) json_text(m->j, "documentation", i.doc);
  json_print(m->j, "sortText", "\"%c\"", i.order);
  if (i.suffix) json_text(m->j, "insertText", arena_format(m->q->arena, "%s%s", i.name, i.suffix));
  json_end(m->j);
}

// -- declarations ---------------------------------------------------------------------------------
static ItemKind def_item(DefKind k) {
  switch (k) {
  case DEF_AXIS: return ITEM_TYPE;
  case DEF_CONST: return ITEM_CONSTANT;
  case DEF_SPACE: return ITEM_STRUCT;
  case DEF_BOX: return ITEM_FUNCTION;
  case DEF_LEARNER:
  case DEF_STALE: return ITEM_CLASS;
  case DEF_OPTIMISER: return ITEM_FUNCTION;
  case DEF_GIVEN: return ITEM_VARIABLE;
  case DEF_DIAGRAM:
  case DEF_MACHINE: return ITEM_MODULE;
  }
  return ITEM_VARIABLE;
}

static bool is_from_library(const Completer *m, const Def *d) {
  return d->scope == m->x->program->scope->library;
}

static void offer_def(Completer *m, const Def *d) {
  const char *name = name_text(m->x->w->names, d->name);
  if (strncmp(name, m->c.prefix, strlen(m->c.prefix)) || strchr(name, '.')) return;
  const char *doc =
      d->span.file ? comment_above(m->q->arena, &m->x->sources->file.at[d->span.file], d->span.at)
                   : NULL;
  offer(m, (CompletionItem){name, def_item(d->kind), def_header(m->q->arena, m->x, d), doc,
                            is_from_library(m, d) ? 'c' : 'b', NULL});
}

static void offer_defs(Completer *m, uint32_t kinds) {
  for (uint32_t i = 0; i < m->x->def.n; i++)
    if (kinds & 1u << m->x->def.at[i]->kind) offer_def(m, m->x->def.at[i]);
}

// A distance takes two values and returns a number, or declares which direction is better.
static bool is_distance(const Def *d) {
  const Syntax *n = d->kind == DEF_BOX ? d->node : NULL;
  if (!n || n->kind != N_BOX) return false;
  if (box_better(n)) return true;
  const Syntax *params = box_params(n), *result = box_result(n);
  if (!params || params_in(params).n != 2 || !result || result->kind != N_TYPES) return false;
  const Syntax *only = nodes_only(types_in(result));
  return only && only->kind == N_TYPE && type_brackets(only) &&
         !brackets_slots(type_brackets(only)).n;
}

static void offer_distances(Completer *m) {
  for (uint32_t i = 0; i < m->x->def.n; i++)
    if (is_distance(m->x->def.at[i])) offer_def(m, m->x->def.at[i]);
}

// -- local names ----------------------------------------------------------------------------------
// The number of the enclosing declaration in the checked text, + 1; 0: the declaration is new.
static uint32_t declaration_here(const Completer *m) {
  uint32_t then;
  return offset_when_checked(m->q, m->c.begin, &then) ? edit_declaration_at(m->x, then) : 0;
}

static void offer_inner(Completer *m, bool axes_only) {
  uint32_t here = declaration_here(m);
  for (uint32_t i = 0; here && i < m->x->symbol.n; i++) {
    const EditSymbol *s = &m->x->symbol.at[i];
    bool axis = s->kind == NAMED_SIZE || s->kind == NAMED_OPTION || s->kind == NAMED_INDEX ||
                s->kind == NAMED_LOOP || s->kind == NAMED_SPREAD;
    if (s->inside != here || s->first.file != m->x->file || (axes_only && !axis)) continue;
    const char *name = arena_text(
        m->q->arena, m->x->sources->file.at[s->first.file].text + s->first.at, s->first.n);
    const char *detail = s->types[0] ? s->types[0] : symbol_word(s);
    offer(m, (CompletionItem){name, axis ? ITEM_TYPE : ITEM_VARIABLE, detail, NULL, 'a', NULL});
  }
}

// -- brackets -------------------------------------------------------------------------------------
static const Def *owner_def(const Completer *m) {
  return m->c.owner ? edit_def_named(m->x, m->c.owner, strlen(m->c.owner)) : NULL;
}

// An option with its default and its domain: "= 0.1, 0 <= p < 1".
static void offer_option(Completer *m, const Syntax *par, const Syntax *value, Nodes domains) {
  Buf detail = buf_new(m->q->arena);
  if (value) buf_printf(&detail, "= %s", source_words(m->q->arena, m->x->sources, value->span));
  for (uint32_t i = 0; i < domains.n; i++)
    buf_printf(&detail, "%s%s", detail.n ? ", " : "",
               source_words(m->q->arena, m->x->sources, domains.at[i]->span));
  offer(m, (CompletionItem){name_text(m->x->w->names, par->name), ITEM_PROPERTY,
                            detail.n ? detail.at : "option", NULL, '0', ": "});
}

static void offer_options(Completer *m, const Def *d) {
  const Syntax *cfg = d ? declared_options(d->node) : NULL;
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++) {
    const Syntax *par = cfg_in(cfg).at[i];
    if (!cfgpar_is_spread(par)) offer_option(m, par, cfgpar_value(par), cfgpar_domains(par));
  }
}

static void offer_settings(Completer *m, const Def *d) {
  const Syntax *settings = d && d->kind == DEF_OPTIMISER ? optimiser_settings(d->node) : NULL;
  for (uint32_t i = 0; settings && i < params_in(settings).n; i++) {
    const Syntax *s = params_in(settings).at[i];
    if (s->kind == N_ARG)
      offer_option(m, s, arg_value(s), arg_domains(s));
    else
      offer_option(m, s, NULL, (Nodes){0});
  }
}

// -- data -----------------------------------------------------------------------------------------
static void offer_sets(Completer *m) {
  const char *set;
  for (uint32_t k = 0; (set = set_known(k)); k++)
    offer(m, (CompletionItem){set, ITEM_MODULE, "set of data", NULL, 'a', NULL});
  static const char *const noise[] = {"normal", "uniform"};
  for (uint32_t k = 0; k < COUNT(noise); k++)
    offer(m, (CompletionItem){noise[k], ITEM_FUNCTION, "noise", NULL, 'b', NULL});
}

static void offer_fields(Completer *m, const char *set) {
  static const char *const split[] = {"train", "valid", "test"};
  Field f;
  for (uint32_t k = 0; set_known_field(set, k, &f); k++)
    offer(m, (CompletionItem){f.name, ITEM_FIELD, field_type(m->q->arena, &f), NULL, 'a', NULL});
  for (uint32_t k = 0; set_is_known(set) && k < COUNT(split); k++)
    offer(m, (CompletionItem){split[k], ITEM_FIELD, "split", NULL, 'b', NULL});
  size_t n = strlen(set); // data files name the parts of a learning diagram `task.f`
  for (uint32_t i = 0; i < m->x->def.n; i++) {
    const char *name = name_text(m->x->w->names, m->x->def.at[i]->name);
    if (strncmp(name, set, n) == 0 && name[n] == '.')
      offer(m,
            (CompletionItem){name + n + 1, def_item(m->x->def.at[i]->kind), NULL, NULL, 'a', NULL});
  }
}

// -- words ----------------------------------------------------------------------------------------
static void offer_words(Completer *m, bool declarations) {
  const char *name;
  for (uint32_t k = 0; (name = known_word_name(k)); k++) {
    const KnownWord *w = known_word(name);
    if (is_declaration_word(name) == declarations || strcmp(name, "for") == 0)
      offer(m,
            (CompletionItem){name, ITEM_KEYWORD, w->form, w->doc, declarations ? 'a' : 'd', NULL});
  }
}

static void offer_known(Completer *m) {
  const char *name;
  for (uint32_t k = 0; (name = known_box_name(k)); k++) {
    const KnownWord *w = known_box(m->q->arena, name);
    offer(m, (CompletionItem){name, ITEM_FUNCTION, w->form, w->doc, 'c', NULL});
  }
}

static void offer_list(Completer *m, const char *const *name, uint32_t n, ItemKind kind) {
  for (uint32_t i = 0; i < n; i++) offer(m, (CompletionItem){name[i], kind, NULL, NULL, 'a', NULL});
}

static void offer_types(Completer *m) {
  static const char *const base[] = {"R", "B"};
  offer_defs(m, 1u << DEF_SPACE);
  offer_list(m, base, COUNT(base), ITEM_STRUCT);
}

static const uint32_t boxes = 1u << DEF_BOX | 1u << DEF_LEARNER | 1u << DEF_STALE;
static const uint32_t values = 1u << DEF_CONST | 1u << DEF_AXIS | 1u << DEF_GIVEN;

static void offer_expression(Completer *m) {
  offer_inner(m, false);
  offer_defs(m, boxes | values | 1u << DEF_DIAGRAM | 1u << DEF_MACHINE);
  offer_known(m);
  offer_words(m, false);
}

static void offer_training(Completer *m) {
  static const char *const word[] = {"epochs", "steps",      "batch",    "clip", "decay",
                                     "seed",   "accumulate", "patience", "turns"};
  offer_list(m, word, COUNT(word), ITEM_PROPERTY);
  offer_defs(m, 1u << DEF_OPTIMISER | 1u << DEF_LEARNER);
}

static void offer_views(Completer *m) {
  static const char *const view[] = {"images", "strip", "scatter", "curves", "paths",
                                     "matrix", "text",  "table",   "heatmap"};
  offer_list(m, view, COUNT(view), ITEM_PROPERTY);
}

// -- selecting candidates -------------------------------------------------------------------------
static bool is_header_place(const TypingContext *c) {
  const char *last = context_before(c, 0);
  if (strcmp(last, "->") == 0) return true;
  bool typed = c->first && (!strcmp(c->first, "box") || !strcmp(c->first, "learn") ||
                            !strcmp(c->first, "given") || !strcmp(c->first, "space"));
  return strcmp(last, ":") == 0 && typed && c->open != '[';
}

static void offer_for_place(Completer *m) {
  const TypingContext *c = &m->c;
  const char *last = context_before(c, 0);
  if (c->begin == c->word)
    offer_words(m, true);
  else if (strcmp(last, ".") == 0)
    offer_fields(m, context_before(c, 1));
  else if (strcmp(last, "from") == 0)
    offer_sets(m);
  else if (strcmp(last, "by") == 0)
    offer_distances(m);
  else if (strcmp(last, "as") == 0)
    offer_views(m);
  else if (!strcmp(last, "trains") || !strcmp(last, "freeze") || !strcmp(last, "refine"))
    offer_defs(m, 1u << DEF_LEARNER);
  else if (is_header_place(c))
    offer_types(m);
  else if (c->open == '[') {
    offer_options(m, owner_def(m));
    offer_inner(m, true);
    offer_defs(m, boxes | values);
    if (c->owner) offer_known(m);
  } else if (c->open == '(' && owner_def(m) && owner_def(m)->kind == DEF_OPTIMISER)
    offer_settings(m, owner_def(m));
  else if (c->first && strcmp(c->first, "train") == 0)
    offer_training(m);
  else
    offer_expression(m);
}

bool answer_completion(EditQuestion *q, JsonOut *j) {
  Completer m = {.q = q, .x = q->index, .j = j, .said = table_new(q->arena)};
  m.c = context_at(q->arena, q->now, position_offset(q, q->at));
  json_object(j, NULL);
  json_list(j, "items");
  if (!m.c.no_code) offer_for_place(&m);
  json_end(j);
  json_bool(j, "isIncomplete", m.more || !m.c.prefix[0]);
  json_end(j);
  return true;
}
