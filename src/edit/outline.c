// Document symbols, folding ranges, semantic tokens and inlay hints.
#include "base/json_write.h"
#include "base/source.h"
#include "edit/edit_own.h"

// -- symbols --------------------------------------------------------------------------------------
typedef enum { // SymbolKind of the protocol
  SYMBOL_MODULE = 2,
  SYMBOL_CLASS = 5,
  SYMBOL_FUNCTION = 12,
  SYMBOL_VARIABLE = 13,
  SYMBOL_CONSTANT = 14,
  SYMBOL_EVENT = 24,
  SYMBOL_STRUCT = 23,
  SYMBOL_OPERATOR = 25,
  SYMBOL_TYPE = 26
} OutlineKind;

static OutlineKind outline_kind(SyntaxKind k) {
  switch (k) {
  case N_AXIS: return SYMBOL_TYPE;
  case N_TYPED: return SYMBOL_CONSTANT;
  case N_SPACE: return SYMBOL_STRUCT;
  case N_BOX: return SYMBOL_FUNCTION;
  case N_LEARNER:
  case N_REFINE:
  case N_STALE: return SYMBOL_CLASS;
  case N_OPTIMISER: return SYMBOL_OPERATOR;
  case N_DIAGRAM:
  case N_MACHINE: return SYMBOL_MODULE;
  case N_GOAL:
  case N_MEASURE:
  case N_SIMULATE: return SYMBOL_EVENT;
  default: return SYMBOL_VARIABLE;
  }
}

static void put_symbol(EditQuestion *q, JsonOut *j, const Syntax *n, Span name, Span whole) {
  uint32_t at, name_at;
  if (!name.file || !name.n || !span_offset_now(q, whole, &at) ||
      !span_offset_now(q, name, &name_at))
    return;
  if (name_at < at || name_at + name.n > at + whole.n) at = name_at, whole.n = name.n;
  json_object(j, NULL);
  json_text(j, "name", arena_text(q->arena, q->now->text + name_at, name.n));
  json_number(j, "kind", outline_kind((SyntaxKind)n->kind));
  json_text(j, "detail",
            n->kind == N_BOX || n->kind == N_MACHINE ? span_header(q->arena, q->index, n) : "");
  json_range_now(q, j, "range", at, whole.n);
  json_range_now(q, j, "selectionRange", name_at, name.n);
  json_end(j);
}

static void put_symbols(EditQuestion *q, JsonOut *j, const Syntax *n) {
  Nodes parts = n->kind == N_AXES     ? axes_in(n)
                : n->kind == N_CONSTS ? consts_in(n)
                : n->kind == N_GIVEN  ? params_in(given_params(n))
                                      : (Nodes){0, NULL};
  for (uint32_t i = 0; i < parts.n; i++)
    put_symbol(q, j, parts.at[i], parts.at[i]->name_span, n->span);
  for (uint32_t i = 0; n->kind == N_LEARN && i < learn_learners(n).n; i++) {
    const Syntax *learner = learn_learners(n).at[i];
    for (uint32_t k = 0; k < names_in(learner_names(learner)).n; k++)
      put_symbol(q, j, learner, names_in(learner_names(learner)).at[k]->span, n->span);
  }
  bool named = n->kind == N_BOX || n->kind == N_SPACE || n->kind == N_REFINE ||
               n->kind == N_STALE || n->kind == N_OPTIMISER || n->kind == N_DIAGRAM ||
               n->kind == N_MACHINE || n->kind == N_GOAL || n->kind == N_MEASURE ||
               n->kind == N_SIMULATE;
  if (named && n->name) put_symbol(q, j, n, n->name_span, n->span);
}

bool answer_symbols(EditQuestion *q, JsonOut *j) {
  Nodes all = program_declarations(q->index->tree);
  json_list(j, NULL);
  for (uint32_t i = 0; i < all.n; i++) put_symbols(q, j, all.at[i]);
  json_end(j);
  return true;
}

// -- folding --------------------------------------------------------------------------------------
static uint32_t line_of(const EditText *t, uint32_t at) {
  return source_line(t->line, t->nline, at);
}

static void put_fold(JsonOut *j, uint32_t from, uint32_t to, bool comment) {
  if (to <= from) return;
  json_object(j, NULL);
  json_number(j, "startLine", from);
  json_number(j, "endLine", to);
  if (comment) json_text(j, "kind", "comment");
  json_end(j);
}

// Folds runs of comment lines.
static void put_comment_folds(const EditText *t, JsonOut *j) {
  uint32_t first = 0, lines = 0;
  for (uint32_t i = 0; i <= t->nline; i++) {
    uint32_t at = i < t->nline ? t->line[i] : t->n;
    while (at < t->n && t->text[at] == ' ') at++;
    bool comment = i < t->nline && at < t->n && t->text[at] == '#';
    if (comment && !lines++) first = i;
    if (comment) continue;
    if (lines) put_fold(j, first, first + lines - 1, true);
    lines = 0;
  }
}

bool answer_folding(EditQuestion *q, JsonOut *j) {
  json_list(j, NULL);
  for (uint32_t i = 0; i < q->index->block.n; i++) {
    Span s = q->index->block.at[i]->span;
    uint32_t at;
    if (s.file != q->index->file || !s.n || !span_offset_now(q, s, &at)) continue;
    uint32_t last = line_of(q->now, at + s.n - 1);
    put_fold(j, line_of(q->now, at), last ? last - 1 : 0, false);
  }
  put_comment_folds(q->now, j);
  json_end(j);
  return true;
}

// -- colours --------------------------------------------------------------------------------------
static const char *const token_types[] = {"variable",      "parameter", "property",
                                          "function",      "class",     "struct",
                                          "typeParameter", "namespace", "macro"};
static const char *const token_modifiers[] = {"declaration", "readonly", "defaultLibrary"};

static void json_texts(JsonOut *j, const char *key, const char *const *text, uint32_t n) {
  json_list(j, key);
  for (uint32_t i = 0; i < n; i++) json_text(j, NULL, text[i]);
  json_end(j);
}

bool answer_legend(EditQuestion *q, JsonOut *j) {
  (void)q;
  json_object(j, NULL);
  json_texts(j, "tokenTypes", token_types, COUNT(token_types));
  json_texts(j, "tokenModifiers", token_modifiers, COUNT(token_modifiers));
  json_end(j);
  return true;
}

static uint32_t token_type(const EditSymbol *s) {
  static const uint8_t def[] = {
      [DEF_AXIS] = 6,  [DEF_CONST] = 0,     [DEF_SPACE] = 5, [DEF_BOX] = 3,     [DEF_LEARNER] = 4,
      [DEF_STALE] = 4, [DEF_OPTIMISER] = 8, [DEF_GIVEN] = 1, [DEF_DIAGRAM] = 7, [DEF_MACHINE] = 5};
  static const uint8_t other[] = {
      [NAMED_OPTION] = 2,  [NAMED_SIZE] = 6, [NAMED_SPREAD] = 6, [NAMED_WIRE] = 0,
      [NAMED_LEARNER] = 4, [NAMED_LOOP] = 1, [NAMED_KEPT] = 0,   [NAMED_STATE] = 2,
      [NAMED_GOAL] = 7,    [NAMED_PART] = 5, [NAMED_MODE] = 2,   [NAMED_INDEX] = 1,
      [NAMED_MAP] = 3,     [NAMED_SPACE] = 5};
  return s->def ? def[s->def->kind] : other[s->kind];
}

static uint32_t token_modifier(const EditIndex *x, const EditSymbol *s, const EditUse *u) {
  uint32_t m = s->first.file == u->at.file && s->first.at == u->at.at ? 1 : 0;
  if (s->def && s->def->kind == DEF_CONST) m |= 2;
  if (s->def && x->program->scope->library == s->def->scope) m |= 4;
  return m;
}

static uint32_t units_between(const EditQuestion *q, uint32_t at, uint32_t end) {
  uint32_t units = 0;
  while (at < end) {
    size_t n = character_length(q->now->text + at, end - at);
    units += q->utf8 ? (uint32_t)(n ? n : 1) : n == 4 ? 2 : 1;
    at += n ? (uint32_t)n : 1;
  }
  return units;
}

bool answer_tokens(EditQuestion *q, JsonOut *j) {
  const EditIndex *x = q->index;
  uint32_t line = 0, column = 0, at;
  bool any = false;
  json_object(j, NULL);
  json_key(j, "data");
  buf_char(j->out, '[');
  for (uint32_t i = 0; i < x->use.n; i++) {
    const EditUse *u = &x->use.at[i];
    if (u->at.file != x->file || !span_offset_now(q, u->at, &at)) continue;
    const EditSymbol *s = &x->symbol.at[u->symbol];
    uint32_t l = line_of(q->now, at), c = units_between(q, q->now->line[l], at);
    buf_printf(j->out, "%s%u,%u,%u,%u,%u", any ? "," : "", l - line, l == line ? c - column : c,
               units_between(q, at, at + u->at.n), token_type(s), token_modifier(x, s, u));
    line = l, column = c;
    any = true;
  }
  buf_char(j->out, ']');
  json_end(j);
  return true;
}

// -- hints ----------------------------------------------------------------------------------------
static void put_hint(EditQuestion *q, JsonOut *j, uint32_t at, const char *label) {
  uint32_t line = line_of(q->now, at);
  json_object(j, NULL);
  json_object(j, "position");
  json_number(j, "line", line);
  json_number(j, "character", units_between(q, q->now->line[line], at));
  json_end(j);
  json_text(j, "label", label);
  json_number(j, "kind", 1);
  json_end(j);
}

static bool in_range(const EditQuestion *q, uint32_t at) {
  uint32_t line = line_of(q->now, at);
  return line >= q->at.line && line <= q->end.line;
}

// Hints the type of y after y[i] = …, at its first definition.
static void put_wire_hints(EditQuestion *q, JsonOut *j) {
  const EditIndex *x = q->index;
  for (uint32_t i = 0; i < x->equated.n; i++) {
    const Syntax *n = x->equated.at[i];
    uint32_t at;
    if (n->span.file != x->file || !n->name_span.n || !span_offset_now(q, n->span, &at) ||
        !in_range(q, at))
      continue;
    const EditUse *u = edit_use_at(x, x->file, n->name_span.at);
    const EditSymbol *s = edit_symbol(x, u);
    bool first = s && s->first.file == x->file && s->first.at == n->name_span.at;
    if (first && s->types[0])
      put_hint(q, j, at + n->span.n, arena_format(q->arena, " : %s", s->types[0]));
  }
}

// Hints axis sizes that were solved for, and the body that replaces a learner.
static void put_def_hints(EditQuestion *q, JsonOut *j) {
  const EditIndex *x = q->index;
  for (uint32_t i = 0; i < x->def.n; i++) {
    const Def *d = x->def.at[i];
    uint32_t at;
    if (d->span.file != x->file || !d->node || !span_offset_now(q, d->node->span, &at) ||
        !in_range(q, at))
      continue;
    if (d->kind == DEF_AXIS && d->node->kind == N_AXIS && !axis_length(d->node) && edit_fact(x, d))
      put_hint(q, j, at + d->node->span.n, arena_format(q->arena, " = %s", edit_fact(x, d)));
    if (d->kind == DEF_LEARNER && d->fallback)
      put_hint(q, j, at + d->node->span.n, arena_format(q->arena, " = %s", d->fallback));
  }
}

bool answer_hints(EditQuestion *q, JsonOut *j) {
  json_list(j, NULL);
  put_wire_hints(q, j);
  put_def_hints(q, j);
  json_end(j);
  return true;
}
