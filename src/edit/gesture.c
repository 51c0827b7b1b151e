// Gestures by name. The request holds the edit as JSON; the answer is {"edits", "select", "note"}
// or {"refused", "range"}, where `refused` is the reason and `range` its position. The resulting
// text is stored in the question: the caller elaborates it before it offers the edit.
#include "edit/gesture.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"

static const struct {
  const char *kind;
  bool (*apply)(Gesture *);
} kinds[] = {{"insert", gesture_insert},   {"remove", gesture_remove}, {"replace", gesture_replace},
             {"connect", gesture_connect}, {"copy", gesture_copy},     {"swap", gesture_swap},
             {"name", gesture_name_wire},  {"goal", gesture_goal},     {"learner", gesture_learner},
             {"given", gesture_given},     {"box", gesture_box},       {"glue", gesture_glue},
             {"number", gesture_number},   {"train", gesture_train}};

// -- requests of gestures -------------------------------------------------------------------------
// Joins lines and removes comments: messages quote source text in one line.
static const char *one_line(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (bool quoted = strchr(text, '\n') != NULL; *text; text++) {
    if (quoted && *text == '#') text += strcspn(text, "\n");
    if (!*text) break;
    bool space = strchr(" \t\r\n", *text);
    if (!space || !quoted)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != ' ')
      buf_char(&b, ' ');
  }
  return b.at;
}

bool refuse_gesture(Gesture *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Buf b = buf_new(g->arena);
  buf_vprintf(&b, format, args);
  va_end(args);
  if (!g->refused) g->refused = one_line(g->arena, b.at);
  return false;
}

void replace_text(Gesture *g, uint32_t at, uint32_t n, const char *text) {
  TextChange c = {at, n, text};
  vec_push(g->arena, &g->change, c);
}

void select_text(Gesture *g, const char *part) {
  const TextChange *c = &g->change.at[g->change.n - 1];
  const char *at = strstr(c->text, part);
  g->selects = at != NULL;
  g->select = g->change.n - 1;
  g->skip = at ? (uint32_t)(at - c->text) : 0;
  g->length = (uint32_t)strlen(part);
}

const char *gesture_text(Gesture *g, const char *key) {
  const Json *j = json_get(g->edit, key);
  return j && j->kind == JSON_TEXT && strlen(j->text) == j->n && j->n ? j->text : NULL;
}

const char *gesture_wants(Gesture *g, const char *key) {
  const char *text = gesture_text(g, key);
  if (!text) refuse_gesture(g, "an edit of this kind wants `%s`", key);
  if (text && strchr(text, '\n')) refuse_gesture(g, "`%s` is one line of text", key);
  return g->refused ? NULL : text;
}

const char *gesture_name(Gesture *g, const char *key) {
  const char *name = gesture_wants(g, key);
  if (name && !is_new_name(g->arena, name))
    refuse_gesture(g,
                   "`%s` cannot be a name: one has letters, digits and `_`, and is no word of "
                   "the language",
                   name);
  return g->refused ? NULL : name;
}

const char *source_text(const Gesture *g, Span s) {
  return arena_text(g->arena, g->text + s.at, s.n);
}

const char *name_of_node(const Gesture *g, const Syntax *n) { return name_text(g->names, n->name); }

// -- the resulting text ---------------------------------------------------------------------------
static int by_offset(const void *a, const void *b) {
  const TextChange *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

// Sorts changes by offset; changes at one offset keep the order in which they were made.
static void sort_changes(Gesture *g) {
  for (uint32_t i = 1; i < g->change.n; i++)
    for (uint32_t k = i; k && by_offset(&g->change.at[k - 1], &g->change.at[k]) > 0; k--) {
      TextChange c = g->change.at[k];
      g->change.at[k] = g->change.at[k - 1], g->change.at[k - 1] = c;
      if (g->select == k)
        g->select = k - 1;
      else if (g->select == k - 1)
        g->select = k;
    }
}

// Where the selected change begins in the resulting text.
static uint32_t selected_place(const Gesture *g) {
  int64_t at = g->change.at[g->select].at + g->skip;
  for (uint32_t i = 0; i < g->select; i++)
    at += (int64_t)strlen(g->change.at[i].text) - g->change.at[i].n;
  return (uint32_t)at;
}

static bool changes_are_apart(const Gesture *g) {
  for (uint32_t i = 1; i < g->change.n; i++)
    if (g->change.at[i - 1].at + g->change.at[i - 1].n > g->change.at[i].at) return false;
  return true;
}

// -- the answer -----------------------------------------------------------------------------------
static void put_refusal(const EditQuestion *q, JsonOut *j, const char *why, Span where) {
  json_object(j, NULL);
  json_text(j, "refused", why);
  if (where.file) json_range_now(q, j, "range", where.at, where.n);
  json_end(j);
}

static void put_answer(Gesture *g, JsonOut *j) {
  size_t n;
  const char *text = text_with_changes(g->q, &g->change, &n);
  if (!g->selects) g->length = (uint32_t)strlen(g->change.at[g->select].text);
  json_object(j, NULL);
  json_list(j, "edits");
  for (uint32_t i = 0; i < g->change.n; i++)
    json_edit(g->q, j, g->change.at[i].at, g->change.at[i].n, g->change.at[i].text);
  json_end(j);
  json_range_in(g->q, j, "select", text, n, (Span){0, selected_place(g), g->length});
  json_text_or_null(j, "note", g->note);
  json_end(j);
  g->q->result = text, g->q->result_n = n, g->q->result_at = g->where;
}

static bool apply_gesture(Gesture *g) {
  const char *kind = gesture_wants(g, "kind");
  uint32_t i = 0;
  while (kind && i < COUNT(kinds) && strcmp(kinds[i].kind, kind) != 0) i++;
  if (!kind) return false;
  if (i == COUNT(kinds)) return refuse_gesture(g, "there is no edit of the kind `%s`", kind);
  if (!kinds[i].apply(g) || g->refused) return false;
  if (!g->change.n) return refuse_gesture(g, "that is so already");
  keep_comments(g);
  sort_changes(g);
  return changes_are_apart(g) || refuse_gesture(g, "one of them is inside of the other");
}

Gesture gesture_read(EditQuestion *q) {
  Gesture g = {.q = q, .arena = q->arena, .text = q->now->text, .n = q->now->n};
  Sources *sources = sources_new(g.arena);
  Front front = {g.arena, names_new(g.arena), diags_new(g.arena, sources), sources};
  g.names = front.names;
  g.tree = parse(&front, source_add(sources, "", g.text, g.n));
  return g;
}

bool answer_gesture(EditQuestion *q, JsonOut *j) {
  const char *error = NULL, *text = q->text ? q->text : "";
  Gesture g = gesture_read(q);
  g.edit = json_read(q->arena, text, strlen(text), &error);
  if (!g.edit || g.edit->kind != JSON_OBJECT) {
    q->refused = "an edit is a JSON object with a `kind`";
    return false;
  }
  if (apply_gesture(&g))
    put_answer(&g, j);
  else
    put_refusal(q, j, g.refused, g.where);
  return true;
}

const char *edit_refusal(EditQuestion *q, const char *why) {
  Buf b = buf_new(q->arena);
  JsonOut j = json_out(&b);
  j.tight = true;
  put_refusal(q, &j, why, q->result_at);
  return b.at;
}
