// Dispatch of questions by name, and the answers that are one location or a list of locations.
#include "base/json_write.h"
#include "base/names.h"
#include "edit/context.h"

#include "io/data/data.h"

static const struct {
  const char *name;
  bool (*answer)(EditQuestion *, JsonOut *);
} questions[] = {{"messages", answer_messages},     {"hover", answer_hover},
                 {"definition", answer_definition}, {"references", answer_references},
                 {"highlight", answer_highlight},   {"prepareRename", answer_prepare},
                 {"rename", answer_rename},         {"completion", answer_completion},
                 {"signature", answer_signature},   {"symbols", answer_symbols},
                 {"tokens", answer_tokens},         {"legend", answer_legend},
                 {"folding", answer_folding},       {"hints", answer_hints},
                 {"actions", answer_actions},       {"box", answer_box},
                 {"palette", answer_palette},       {"numbers", answer_numbers},
                 {"gesture", answer_gesture},       {"renameIn", answer_rename_in}};

const char *edit_answer(EditQuestion *q, const char *question) {
  for (uint32_t i = 0; i < COUNT(questions); i++) {
    if (strcmp(questions[i].name, question)) continue;
    Buf b = buf_new(q->arena);
    JsonOut j = json_out(&b);
    j.tight = true;
    if (questions[i].answer(q, &j)) return b.at;
    return q->refused ? NULL : "null";
  }
  q->refused = "there is no such question";
  return NULL;
}

// -- hover ----------------------------------------------------------------------------------------
// The indexed name at the cursor. NULL: none, or it was typed after the last check.
static const EditUse *use_here(const EditQuestion *q) {
  uint32_t then, now = position_offset(q, q->at);
  if (!offset_when_checked(q, now, &then)) return NULL;
  const EditUse *u = edit_use_at(q->index, q->index->file, then);
  uint32_t at;
  return u && span_offset_now(q, u->at, &at) ? u : NULL;
}

// Describes a data set: its name and fields.
static const char *describe_set(Arena *a, const char *set) {
  Buf b = buf_new(a);
  Field f;
  buf_printf(&b, "```limn\nfrom %s\n```\nA set of data, with\n", set);
  for (uint32_t k = 0; set_known_field(set, k, &f); k++)
    buf_printf(&b, "* `%s : %s`\n", f.name, field_type(a, &f));
  return b.at;
}

// Describes a word that is no symbol of the program: a keyword, a built-in box, a data set.
static const char *describe_word(EditQuestion *q, const char *text, uint32_t n) {
  const KnownWord *w = known_word(text);
  const Def *d = w ? NULL : edit_def_named(q->index, text, n);
  EditSymbol s = {.kind = NAMED_DEF, .def = d};
  if (d) return symbol_text(q, &s, d->span);
  if (!w) w = known_box(q->arena, text);
  if (w) return arena_format(q->arena, "```limn\n%s\n```\n%s\n", w->form, w->doc);
  return set_is_known(text) ? describe_set(q->arena, text) : NULL;
}

static void put_hover(EditQuestion *q, JsonOut *j, const char *text, uint32_t at, uint32_t n) {
  json_object(j, NULL);
  json_object(j, "contents");
  json_text(j, "kind", "markdown");
  json_text(j, "value", text);
  json_end(j);
  json_range_now(q, j, "range", at, n);
  json_end(j);
}

static bool hover_word(EditQuestion *q, JsonOut *j) {
  uint32_t at, n = word_around(q->now, position_offset(q, q->at), &at);
  if (!n || context_at(q->arena, q->now, at).no_code) return false;
  const char *text = describe_word(q, arena_text(q->arena, q->now->text + at, n), n);
  if (text) put_hover(q, j, text, at, n);
  return text;
}

bool answer_hover(EditQuestion *q, JsonOut *j) {
  uint32_t at;
  const EditUse *u = use_here(q);
  if (!u) return hover_word(q, j);
  span_offset_now(q, u->at, &at);
  put_hover(q, j, symbol_text(q, edit_symbol(q->index, u), u->at), at, u->at.n);
  return true;
}

// -- definitions and references -------------------------------------------------------------------
// The definition of `use "other.limn"` is the file itself.
static bool used_file_location(EditQuestion *q, JsonOut *j) {
  const EditIndex *x = q->index;
  uint32_t then;
  if (!offset_when_checked(q, position_offset(q, q->at), &then)) return false;
  Nodes all = program_declarations(x->tree);
  for (uint32_t i = 0, k = 0; i < all.n; i++) {
    if (all.at[i]->kind != N_USE) continue;
    Span s = all.at[i]->span;
    if (then < s.at || then > s.at + s.n || k >= x->program->scope->uses.n) {
      k++;
      continue;
    }
    json_location(q, j, NULL, (Span){x->program->scope->uses.at[k]->file, 0, 0});
    return true;
  }
  return false;
}

bool answer_definition(EditQuestion *q, JsonOut *j) {
  const EditUse *u = use_here(q);
  const EditSymbol *s = edit_symbol(q->index, u);
  uint32_t at;
  if (!s) return used_file_location(q, j);
  if (!s->first.file || (s->first.file == q->index->file && !span_offset_now(q, s->first, &at)))
    return false;
  json_location(q, j, NULL, s->first);
  return true;
}

bool answer_references(EditQuestion *q, JsonOut *j) {
  const EditUse *here = use_here(q);
  const EditSymbol *s = edit_symbol(q->index, here);
  uint32_t at;
  json_list(j, NULL);
  for (uint32_t i = 0; here && i < q->index->use.n; i++) {
    const EditUse *u = &q->index->use.at[i];
    bool first = s->first.file == u->at.file && s->first.at == u->at.at;
    if (u->symbol != here->symbol || (first && q->no_declaration)) continue;
    if (u->at.file != q->index->file || span_offset_now(q, u->at, &at))
      json_location(q, j, NULL, u->at);
  }
  json_end(j);
  return true;
}

bool answer_highlight(EditQuestion *q, JsonOut *j) {
  const EditUse *here = use_here(q);
  const EditSymbol *s = edit_symbol(q->index, here);
  uint32_t at;
  json_list(j, NULL);
  for (uint32_t i = 0; here && i < q->index->use.n; i++) {
    const EditUse *u = &q->index->use.at[i];
    if (u->symbol != here->symbol || u->at.file != q->index->file ||
        !span_offset_now(q, u->at, &at))
      continue;
    json_object(j, NULL);
    json_range_now(q, j, "range", at, u->at.n);
    json_number(j, "kind", s->first.file == u->at.file && s->first.at == u->at.at ? 3 : 2);
    json_end(j);
  }
  json_end(j);
  return true;
}

// -- the box at a position ------------------------------------------------------------------------
// NULL: no declaration that a picture can show.
static const char *box_at(EditQuestion *q) {
  const EditIndex *x = q->index;
  const EditSymbol *s = edit_symbol(x, use_here(q));
  if (s && s->def) {
    DefKind k = s->def->kind;
    if (k == DEF_BOX || k == DEF_LEARNER || k == DEF_DIAGRAM || k == DEF_MACHINE || k == DEF_STALE)
      return name_text(x->w->names, s->def->name);
  }
  uint32_t then;
  uint32_t i =
      offset_when_checked(q, position_offset(q, q->at), &then) ? edit_declaration_at(x, then) : 0;
  if (!i) return NULL;
  const Syntax *n = program_declarations(x->tree).at[i - 1];
  if (n->kind == N_LEARN) {
    const Syntax *first = learn_learners(n).n ? learner_names(learn_learners(n).at[0]) : NULL;
    return first && names_in(first).n ? name_text(x->w->names, names_in(first).at[0]->name) : NULL;
  }
  bool drawn = n->kind == N_BOX || n->kind == N_DIAGRAM || n->kind == N_MACHINE ||
               n->kind == N_REFINE || n->kind == N_GOAL;
  return drawn && n->name ? name_text(x->w->names, n->name) : NULL;
}

bool answer_box(EditQuestion *q, JsonOut *j) {
  const char *name = box_at(q);
  json_object(j, NULL);
  json_text_or_null(j, "name", name);
  json_end(j);
  return true;
}
