// Questions of editors: about the program as it was checked and the text as it is now.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/stop.h"

#include "core/pass/pipeline.h"
#include "lang/program/library.h"
#include "lang/value/value.h"

#include <stdlib.h>

enum { COST_ROOM = 32 << 20 }; // size limit of a program whose cost is counted on hover

LimnStatus limn_edit_load(Limn *l, const char *name, const char *text, size_t n,
                          const volatile sig_atomic_t *stop) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, (l->noting = false, unload(l), LIMN_SYSTEM));
  l->noting = true;
  l->stop = stop;
  LimnStatus status = load_text(c, name, text, n);
  l->noting = false;
  l->stop = NULL;
  if (stop_asked(stop) && !status) status = LIMN_WRONG;
  if (l->index) l->now = edit_text(l->world, l->index, l->text, l->length);
  return call_end(c, status);
}

LimnStatus limn_edit_load_words(Limn *l, const char *name, const char *text, size_t n,
                                const char *const *words) {
  if (l && !l->call) l->words = words;
  LimnStatus status = limn_edit_load(l, name, text, n, NULL);
  if (l && !l->call) l->words = NULL;
  return status;
}

LimnStatus limn_edit_text(Limn *l, const char *text, size_t n) {
  ENTER(c, l, ANSWER_NONE, NEEDS_LOOKING, LIMN_USAGE, LIMN_SYSTEM);
  if (!l->index || (!text && n) || n > TEXT_LIMIT)
    return call_end(c, call_misuse(c, "limn_edit_text wants a text, after limn_edit_load"));
  Arena *a = arena_child(l->own), *old = l->typed;
  l->now = edit_text(a, l->index, arena_text(a, text, n), n);
  l->typed = a;
  arena_free(old);
  return call_end(c, LIMN_GOOD);
}

// -- cost -----------------------------------------------------------------------------------------
static const char *counted(World *w, const Diagram *d) {
  Cost cost = diagram_cost(w, passes_view(w, d));
  uint64_t weights = 0;
  for (uint32_t i = 0; i < d->param.n; i++) {
    int64_t n;
    if (d->param.at[i].role == ROLE_WEIGHT &&
        type_count(w, &d->wire.at[d->param.at[i].wire].type, &n))
      weights += (uint64_t)n;
  }
  Buf b = buf_new(w->arena);
  buf_printf(&b, "Costs %s multiplications, %s additions, %s functions",
             size_text(w, cost.multiplications), size_text(w, cost.additions),
             size_text(w, cost.functions));
  if (weights) buf_printf(&b, "; has %llu weights", (unsigned long long)weights);
  buf_char(&b, '.');
  return b.at;
}

static const char *cost_text(void *context, const Def *d) {
  Limn *l = context;
  if (l->load_errors || d->overload) return NULL;
  l->diags->muted++;
  const Diagram *made = elab_diagram(l->in, l->program, name_text(l->w->names, d->name), NULL);
  const char *text = made && diagram_is_small(l->w, made) ? counted(l->w, made) : NULL;
  l->diags->muted--;
  return text;
}

// -- checking the resulting text ------------------------------------------------------------------
// Checks another text in a new handle; NULL: out of memory.
static Limn *load_other_text(const Limn *l, const char *text, size_t n) {
  Limn *other = limn_new();
  if (!other) return NULL;
  set_alike(other, l);
  limn_edit_load(other, l->path, text, n, NULL);
  return other;
}

static uint32_t count_message(const Diags *d, const char *text) {
  uint32_t n = 0;
  for (uint32_t i = 1; i < d->list.n; i++)
    n += d->list.at[i].kind == DIAG_ERROR && strcmp(d->list.at[i].text, text) == 0;
  return n;
}

// An error of `now` that `before` has less often or not at all; NULL: none.
static const char *new_error(const Diags *before, const Diags *now) {
  for (uint32_t i = 1; i < now->list.n; i++) {
    const Diag *d = &now->list.at[i];
    if (d->kind == DIAG_ERROR && count_message(now, d->text) > count_message(before, d->text))
      return d->text;
  }
  return NULL;
}

// Checks the text that a gesture results in. An error that the present text does not have becomes a
// refusal, also one of the dry run if the program could be run before.
static const char *check_gesture(Limn *l, EditQuestion *q, const char *answer) {
  Limn *other = load_other_text(l, q->result, q->result_n);
  if (!other) return NULL;
  const char *error = new_error(l->diags, other->diags);
  if (!error && !other->load_errors && limn_check(other) != LIMN_GOOD) {
    Limn *again = load_other_text(l, l->now.text, l->now.n);
    if (again && !again->load_errors) limn_check(again);
    if (again) error = new_error(again->diags, other->diags);
    if (error) error = arena_format(q->arena, "%s", error);
    limn_free(again);
  }
  if (error) answer = edit_refusal(q, error);
  limn_free(other);
  return answer;
}

// Does the renamed text have as many errors, and do its names resolve alike?
static bool rename_keeps_meaning(Limn *l, EditQuestion *q) {
  size_t n;
  const char *text = edit_renamed(q, &n);
  Limn *other = text ? load_other_text(l, text, n) : NULL;
  if (!other) return false;
  bool same = other->index && other->load_errors == l->load_errors &&
              edit_same_names(l->index, other->index, q->arena);
  limn_free(other);
  if (!same && !q->refused) q->refused = "names would mean something else then";
  return same;
}

// Removes the message that explained the previous refusal: it is not about the program.
static void drop_refusal(ApiCall *c) {
  Limn *l = c->l;
  Diags *d = l->diags;
  uint32_t to = 1;
  for (uint32_t i = 1; l->refusal && i < d->list.n; i++)
    if (d->list.at[i].text != l->refusal) d->list.at[to++] = d->list.at[i];
  if (l->refusal && to < d->list.n) {
    d->list.n = to;
    d->since = to;
    if (c->errors) c->errors--;
  }
  l->refusal = NULL;
}

static void refuse_question(Limn *l, const char *why) {
  Id e = diag_error(l->diags, (Span){0}, "%s", why);
  if (e) l->refusal = l->diags->list.at[e].text;
}

// -- questions ------------------------------------------------------------------------------------
static const char *answer_question(ApiCall *c, const char *question, const LimnAsk *how,
                                   bool cost) {
  Limn *l = c->l;
  EditQuestion q = {.index = l->index,
                    .now = &l->now,
                    .arena = c->answer,
                    .diags = l->diags,
                    .at = {how->line, how->character},
                    .end = {how->end_line, how->end_character},
                    .text = how->text,
                    .library = how->library,
                    .root = how->root,
                    .own = how->own,
                    .utf8 = how->utf8,
                    .no_declaration = how->no_declaration,
                    .cost = cost ? cost_text : NULL,
                    .cost_of = l};
  const char *answer = edit_answer(&q, question);
  bool rename = answer && strcmp(question, "rename") == 0;
  if (rename && !edit_is_plain(&q) && !rename_keeps_meaning(l, &q)) answer = NULL;
  if (answer && q.result) answer = check_gesture(l, &q, answer);
  if (!answer) refuse_question(l, q.refused ? q.refused : "there is no answer");
  return answer;
}

const char *limn_edit_ask(Limn *l, const char *question, const LimnAsk *how) {
  bool cost = l && l->index && question && strcmp(question, "hover") == 0 && !l->load_errors &&
              arena_used(l->world) < COST_ROOM;
  ENTER(c, l, ANSWER_EDIT, cost ? NEEDS_PROGRAM : NEEDS_LOOKING, NULL, NULL);
  LimnAsk own = {0};
  if (!question || !l->index) {
    call_misuse(c, "limn_edit_ask wants a question, after limn_edit_load");
    return call_text(c, NULL);
  }
  if (!OPTIONS(c, &own, how)) return call_text(c, NULL);
  drop_refusal(c);
  return call_text(c, answer_question(c, question, &own, cost));
}

const char *limn_edit_document(Limn *l, const char *name) {
  ENTER(c, l, ANSWER_DOCUMENT, NEEDS_NOTHING, NULL, NULL);
  bool known = name && strcmp(name, "library.limn") == 0;
  return call_text(c, known ? arena_text(c->answer, limn_library, limn_library_size) : NULL);
}
