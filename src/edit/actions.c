// Diagnostics as editors show them, and quick fixes: the name that was meant, a distance for a goal
// that has none, a body for a learner.
#include "base/diag.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "edit/edit_own.h"

// -- messages -------------------------------------------------------------------------------------
static bool is_of_this_file(const EditQuestion *q, const Diag *d) {
  return d->span.file == q->index->file;
}

static bool is_known_place(const EditQuestion *q, Span s) {
  return s.file && s.file < q->index->sources->file.n &&
         s.at + s.n <= q->index->sources->file.at[s.file].n;
}

// The `use` statement that imports this file: the place to show messages about other files.
static Span use_statement_of(const EditQuestion *q, uint32_t file) {
  const EditIndex *x = q->index;
  Nodes all = program_declarations(x->tree);
  Span some = {x->file, 0, 0};
  for (uint32_t i = 0, k = 0; i < all.n; i++) {
    if (all.at[i]->kind != N_USE) continue;
    if (!some.n) some = all.at[i]->span;
    if (k < x->program->scope->uses.n && x->program->scope->uses.at[k]->file == file)
      return all.at[i]->span;
    k++;
  }
  return some;
}

static const char *message_text(const EditQuestion *q, const Diag *d) {
  Buf b = buf_new(q->arena);
  if (!is_of_this_file(q, d) && is_known_place(q, d->span)) {
    uint32_t line, column;
    source_place(q->index->sources, d->span, &line, &column);
    buf_printf(&b, "%s:%u:%u: ", q->index->sources->file.at[d->span.file].path, line, column);
  }
  buf_text(&b, d->text);
  if (d->help) buf_printf(&b, "\n%s", d->help);
  return b.at;
}

static void put_related(const EditQuestion *q, JsonOut *j, Span s, const char *text) {
  uint32_t at;
  if (!is_known_place(q, s) || (s.file == q->index->file && !span_offset_now(q, s, &at))) return;
  json_object(j, NULL);
  json_location(q, j, "location", s);
  json_text(j, "message", text);
  json_end(j);
}

static void put_message(const EditQuestion *q, JsonOut *j, const Diag *d) {
  Span s = is_of_this_file(q, d) && is_known_place(q, d->span) ? d->span
                                                               : use_statement_of(q, d->span.file);
  uint32_t at;
  if (!span_offset_now(q, s, &at)) return; // the user is editing this span
  json_object(j, NULL);
  json_range_now(q, j, "range", at, s.n);
  json_number(j, "severity", d->kind == DIAG_ERROR ? 1 : 2);
  json_text(j, "source", "limn");
  json_text(j, "message", message_text(q, d));
  json_list(j, "relatedInformation");
  if (d->note) put_related(q, j, d->note_span, d->note);
  if (!is_of_this_file(q, d)) put_related(q, j, d->span, d->text);
  json_end(j);
  json_end(j);
}

bool answer_messages(EditQuestion *q, JsonOut *j) {
  json_list(j, NULL);
  for (uint32_t i = 1; i < q->diags->list.n; i++) put_message(q, j, &q->diags->list.at[i]);
  json_end(j);
  return true;
}

// -- quick fixes ----------------------------------------------------------------------------------
typedef struct {
  const char *title;
  uint32_t at, n;   // what is replaced
  const char *text; // the replacement
  const Diag *of;   // the diagnostic that it fixes, or NULL
} Remedy;

static void put_remedy(EditQuestion *q, JsonOut *j, Remedy r) {
  json_object(j, NULL);
  json_text(j, "title", r.title);
  json_text(j, "kind", r.of ? "quickfix" : "refactor.rewrite");
  if (r.of) {
    json_list(j, "diagnostics");
    put_message(q, j, r.of);
    json_end(j);
  }
  json_object(j, "edit");
  json_object(j, "changes");
  json_list(j, edit_uri(q, q->index->file));
  json_edit(q, j, r.at, r.n, r.text);
  json_end(j);
  json_end(j);
  json_end(j);
  json_end(j);
}

// The text between backquotes after `words` in a help message. NULL: the message does not contain
// `words`.
static const char *quoted_after(Arena *a, const char *help, const char *words) {
  const char *at = help ? strstr(help, words) : NULL;
  if (!at) return NULL;
  at += strlen(words);
  const char *end = strchr(at, '`');
  return end ? arena_text(a, at, (size_t)(end - at)) : NULL;
}

static void put_remedies(EditQuestion *q, JsonOut *j, const Diag *d) {
  uint32_t at;
  if (!is_of_this_file(q, d) || !span_offset_now(q, d->span, &at)) return;
  const char *meant = quoted_after(q->arena, d->help, "did you mean `");
  const char *wrong = arena_text(q->arena, q->now->text + at, d->span.n);
  bool plain = meant && *meant;
  for (uint32_t i = 0; plain && wrong[i]; i++) plain = is_word_byte(wrong[i]);
  if (plain)
    put_remedy(
        q, j,
        (Remedy){arena_format(q->arena, "Did you mean `%s`?", meant), at, d->span.n, meant, d});
  const char *by = quoted_after(q->arena, d->help, "give one here, `");
  if (by)
    put_remedy(q, j,
               (Remedy){arena_format(q->arena, "Give a distance: `%s`", by), at + d->span.n, 0,
                        arena_format(q->arena, " %s", by), d});
}

// Offers bodies for a learner that has none.
static void offer_bodies(EditQuestion *q, JsonOut *j, uint32_t from, uint32_t to) {
  const EditIndex *x = q->index;
  for (uint32_t i = 0; i < x->def.n; i++) {
    const Def *d = x->def.at[i];
    uint32_t at;
    if (d->kind != DEF_LEARNER || !d->fallback || d->span.file != x->file) continue;
    if (!d->node || d->node->kind != N_LEARNER || !span_offset_now(q, d->node->span, &at)) continue;
    uint32_t end = at + d->node->span.n;
    if (from > end || to < at || learner_body(d->node) || learner_from(d->node)) continue;
    const char *name = name_text(x->w->names, d->name);
    put_remedy(q, j,
               (Remedy){arena_format(q->arena, "Give `%s` a body", name), end, 0,
                        arena_format(q->arena, " = %s", d->fallback), NULL});
  }
}

bool answer_actions(EditQuestion *q, JsonOut *j) {
  uint32_t from = position_offset(q, q->at), to = position_offset(q, q->end), at;
  json_list(j, NULL);
  for (uint32_t i = 1; i < q->diags->list.n; i++) {
    const Diag *d = &q->diags->list.at[i];
    if (!is_of_this_file(q, d) || !is_known_place(q, d->span) || !span_offset_now(q, d->span, &at))
      continue;
    if (from <= at + d->span.n && to >= at) put_remedies(q, j, d);
  }
  offer_bodies(q, j, from, to);
  json_end(j);
  return true;
}
