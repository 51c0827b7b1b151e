// Describes a symbol: its header as written, its type, and the comment above its declaration.
#include "base/names.h"
#include "base/source.h"
#include "edit/edit_own.h"

#include "io/data/data.h"

// -- headers --------------------------------------------------------------------------------------
static uint32_t header_end(const Syntax *n) {
  const Syntax *body = n->kind == N_BOX || n->kind == N_LEARNER || n->kind == N_MACHINE
                           ? declared_body(n)
                       : n->kind == N_OPTIMISER ? optimiser_block(n)
                       : n->kind == N_DIAGRAM   ? diagram_block(n)
                                                : NULL;
  return body ? body->span.at : n->span.at + n->span.n;
}

// The header on one line, without the `=` or `{` of its body.
const char *span_header(Arena *a, const EditIndex *x, const Syntax *n) {
  Span s = {n->span.file, n->span.at, header_end(n) - n->span.at};
  if (!s.file) return "";
  const char *text = source_words(a, x->sources, s);
  size_t length = strlen(text);
  while (length && strchr(" ={", text[length - 1])) length--;
  return arena_text(a, text, length);
}

static const char *given_header(Arena *a, const EditIndex *x, const Def *d) {
  const Given *g = d->given < x->program->given.n ? &x->program->given.at[d->given] : NULL;
  const char *name = name_text(x->w->names, d->name), *type = edit_fact(x, d);
  if (!g || !type || !g->node || !g->node->span.file) return arena_format(a, "given %s", name);
  const Syntax *from = g->node->kind == N_GIVEN ? given_source(g->node) : g->node;
  const char *source = source_words(a, x->sources, from->span);
  return arena_format(a, "given %s : %s from %s", name, type, source);
}

const char *def_header(Arena *a, const EditIndex *x, const Def *d) {
  const Syntax *n = edit_def_node(d);
  const char *name = name_text(x->w->names, d->name), *size = edit_fact(x, d);
  switch (d->kind) {
  case DEF_AXIS:
    return size ? arena_format(a, "axis %s = %s", name, size) : arena_format(a, "axis %s", name);
  case DEF_CONST: return arena_format(a, "const %s", source_words(a, x->sources, n->span));
  case DEF_LEARNER: {
    const char *text = span_header(a, x, n);
    return arena_format(a, "learn %s", strncmp(text, "learn ", 6) ? text : text + 6);
  }
  case DEF_GIVEN: return given_header(a, x, d);
  default: return n ? span_header(a, x, n) : name;
  }
}

// -- comments -------------------------------------------------------------------------------------
static uint32_t line_begin(const Source *s, uint32_t at) {
  while (at && s->text[at - 1] != '\n') at--;
  return at;
}

static uint32_t line_end(const Source *s, uint32_t at) {
  while (at < s->n && s->text[at] != '\n') at++;
  return at;
}

// Is this line only a comment? *text: its contents. Rules such as `# -- activations ----` do not
// count.
static bool is_comment(const Source *s, uint32_t begin, const char **text, size_t *n) {
  uint32_t end = line_end(s, begin), at = begin;
  while (at < end && s->text[at] == ' ') at++;
  if (at >= end || s->text[at] != '#') return false;
  while (at < end && (s->text[at] == '#' || s->text[at] == ' ')) at++;
  while (end > at && (s->text[end - 1] == '\r' || s->text[end - 1] == ' ')) end--;
  *text = s->text + at;
  *n = end - at;
  return !(*n > 2 && strncmp(*text, "--", 2) == 0);
}

const char *comment_above(Arena *a, const Source *s, uint32_t at) {
  Buf b = buf_new(a);
  uint32_t begin = line_begin(s, at), first = begin;
  const char *text;
  size_t n;
  while (first) {
    uint32_t before = line_begin(s, first - 1);
    if (!is_comment(s, before, &text, &n)) break;
    first = before;
  }
  for (uint32_t line = first; line < begin; line = line_end(s, line) + 1)
    if (is_comment(s, line, &text, &n)) {
      buf_add(&b, text, n);
      buf_char(&b, '\n');
    }
  uint32_t end = line_end(s, at);
  for (uint32_t i = at; !b.n && i < end; i++) // no comment above: use the one at the end of its
                                              // line
    if (s->text[i] == '#') {
      while (i < end && (s->text[i] == '#' || s->text[i] == ' ')) i++;
      buf_add(&b, s->text + i, end - i);
      break;
    }
  return b.at ? b.at : "";
}

// -- symbols --------------------------------------------------------------------------------------
const char *symbol_word(const EditSymbol *s) {
  static const char *const def[] = {
      "axis",  "constant",         "space",  "box", "learner", "stale copy", "optimiser",
      "given", "learning diagram", "machine"};
  static const char *const other[] = {
      [NAMED_OPTION] = "option",   [NAMED_SIZE] = "axis",       [NAMED_SPREAD] = "row of axes",
      [NAMED_WIRE] = "wire",       [NAMED_LEARNER] = "learner", [NAMED_LOOP] = "loop variable",
      [NAMED_KEPT] = "kept wires", [NAMED_STATE] = "state",     [NAMED_GOAL] = "goal",
      [NAMED_PART] = "part",       [NAMED_MODE] = "mode",       [NAMED_INDEX] = "index",
      [NAMED_MAP] = "map",         [NAMED_SPACE] = "space"};
  return s->def ? def[s->def->kind] : other[s->kind];
}

static void add_def(const EditQuestion *q, Buf *b, const Def *d) {
  const EditIndex *x = q->index;
  buf_printf(b, "```limn\n%s\n```\n", def_header(q->arena, x, d));
  if (d->span.file) {
    const char *comment = comment_above(q->arena, &x->sources->file.at[d->span.file], d->span.at);
    if (*comment) buf_printf(b, "\n%s", comment);
  }
  if (d->kind == DEF_LEARNER && d->fallback)
    buf_printf(b, "\nIt has no body; in its place: `%s`\n", d->fallback);
  if (d->kind == DEF_LEARNER && d->refined)
    buf_printf(b, "\nIts body: `%s`\n",
               source_words(q->arena, x->sources, refine_body(d->refined)->span));
  const char *cost =
      q->cost && (d->kind == DEF_BOX || d->kind == DEF_LEARNER) ? q->cost(q->cost_of, d) : NULL;
  if (cost) buf_printf(b, "\n%s\n", cost);
  if (d->kind == DEF_SPACE && d->size) buf_text(b, "\nThis space is open.\n");
  if (x->program->scope->library && d->scope == x->program->scope->library)
    buf_text(b, "\n*of the library*\n");
}

const Syntax *declared_options(const Syntax *n) {
  return !n ? NULL : n->kind == N_BOX ? box_cfg(n) : n->kind == N_MACHINE ? machine_cfg(n) : NULL;
}

// The declaration of an option, or NULL.
static const Syntax *option_declared(const EditIndex *x, Span name) {
  for (uint32_t i = 0; i < x->def.n; i++)
    for (const Def *d = x->def.at[i]; d; d = d->overload) {
      const Syntax *cfg = declared_options(d->node);
      for (uint32_t k = 0; cfg && k < cfg_in(cfg).n; k++) {
        Span here = cfg_in(cfg).at[k]->name_span;
        if (here.file == name.file && here.at == name.at) return cfg_in(cfg).at[k];
      }
    }
  return NULL;
}

// The default of an option and its domain: ": 0.1, 0 <= p < 1".
static void add_option(const EditQuestion *q, Buf *b, const EditSymbol *s) {
  const EditIndex *x = q->index;
  const Syntax *par = option_declared(x, s->first);
  if (!par) return;
  if (cfgpar_value(par))
    buf_printf(b, ": %s", source_words(q->arena, x->sources, cfgpar_value(par)->span));
  for (uint32_t i = 0; i < cfgpar_domains(par).n; i++)
    buf_printf(b, ", %s", source_words(q->arena, x->sources, cfgpar_domains(par).at[i]->span));
}

const char *symbol_text(const EditQuestion *q, const EditSymbol *s, Span name) {
  Buf b = buf_new(q->arena);
  const Source *f = &q->index->sources->file.at[name.file];
  if (s->def) {
    add_def(q, &b, s->def);
    return b.at;
  }
  buf_printf(&b, "```limn\n%.*s", (int)name.n, f->text + name.at);
  if (s->types[0]) buf_printf(&b, " : %s", s->types[0]);
  if (s->kind == NAMED_OPTION) add_option(q, &b, s);
  buf_printf(&b, "\n```\n%s", symbol_word(s));
  if (s->types[1]) buf_printf(&b, "; in its last use `%s`", s->types[1]);
  buf_char(&b, '\n');
  const char *comment = "";
  if (s->first.file)
    comment = comment_above(q->arena, &q->index->sources->file.at[s->first.file], s->first.at);
  if (*comment && s->kind == NAMED_WIRE) buf_printf(&b, "\n%s", comment);
  return b.at;
}
