// A view is a name with options of drawing. The views of the program as it was are drawn once and
// kept; those of a changed one are drawn until one differs.
#define _POSIX_C_SOURCE 200809L
#include "picture_changes.h"
#include "base/files.h"

#include "painted_help.h"

#include <stdlib.h>

typedef VEC(const char *) NameList;
typedef struct {
  const char *name;
  LimnDraw how;
  const char *seen; // NULL: there is no such picture
  size_t bytes;
  bool drawn;
} PictureView;
struct PictureChanges {
  Arena *arena;
  const char *was, *now, *text;
  Limn *l;
  NameList boxes, machines, diagrams;
  VEC(PictureView) view;
};

static Limn *loaded(const char *path, const char *text) {
  Limn *l = limn_new();
  if (limn_load_text(l, path, text, strlen(text)) == LIMN_GOOD && limn_check(l) == LIMN_GOOD)
    return l;
  limn_free(l);
  return NULL;
}

// -- names ----------------------------------------------------------------------------------------
static void take_names(Arena *a, const char *json, const char *key, NameList *out) {
  const char *at = strstr(json, key), *end = at ? strchr(at, ']') : NULL;
  for (at = at ? strchr(at, '[') : NULL; at && at < end;) {
    const char *from = strchr(at, '"');
    if (!from || from > end) return;
    size_t n = strcspn(from + 1, "\"");
    vec_push(a, out, arena_text(a, from + 1, n));
    at = from + n + 2;
  }
}

static bool has_name(const NameList *list, const char *name) {
  for (uint32_t i = 0; i < list->n; i++)
    if (!strcmp(list->at[i], name)) return true;
  return false;
}

static void add_view(PictureChanges *p, const char *name, LimnDraw how) {
  how.size = sizeof how, how.out = "f.svg";
  vec_push(p->arena, &p->view, (PictureView){.name = name, .how = how});
}

PictureChanges *picture_changes(Arena *a, const char *dir, const char *text) {
  PictureChanges *p = NEW(a, PictureChanges);
  *p = (PictureChanges){.arena = a, .text = text};
  p->was = arena_format(a, "%s/was.limn", dir), p->now = arena_format(a, "%s/now.limn", dir);
  p->l = loaded(p->was, text);
  if (!p->l || file_write(a, p->was, text, strlen(text))) return NULL;
  const char *names = limn_names(p->l);
  take_names(a, names, "\"boxes\"", &p->boxes);
  take_names(a, names, "\"learners\"", &p->boxes);
  take_names(a, names, "\"machines\"", &p->machines);
  take_names(a, names, "\"diagrams\"", &p->diagrams);
  add_view(p, NULL, (LimnDraw){0});
  add_view(p, NULL, (LimnDraw){.lens = true, .level = "layer"});
  add_view(p, NULL, (LimnDraw){.who = true});
  const NameList *all[] = {&p->boxes, &p->machines, &p->diagrams};
  for (uint32_t k = 0; k < COUNT(all); k++)
    for (uint32_t i = 0; i < all[k]->n; i++) {
      add_view(p, all[k]->at[i], (LimnDraw){.level = k < 2 ? "layer" : NULL});
      if (!k) add_view(p, all[k]->at[i], (LimnDraw){.level = "model"});
    }
  return p;
}

void picture_changes_free(PictureChanges *p) { limn_free(p ? p->l : NULL); }

// -- statements -----------------------------------------------------------------------------------
// Where the statement begins that these bytes are in: a line at the left border that does not close.
static const char *statement_of(const char *text, size_t at) {
  const char *from = text + at;
  for (;; from--) {
    bool begins = from == text || from[-1] == '\n';
    if (begins && *from != ' ' && *from != '}' && *from != '\n' && *from != '#') return from;
    if (from == text) return from;
  }
}

static bool is_word_part(char c) { return char_is_word(c) || c == '_'; }

// The names that a declaration declares: `learn a, b : …`.
static NameList declared(Arena *a, const char *at) {
  NameList names = {0};
  at += strcspn(at, " \n");
  do {
    at += strspn(at, " ,");
    size_t n = 0;
    while (is_word_part(at[n])) n++;
    if (n) vec_push(a, &names, arena_text(a, at, n));
    at += n;
    if (*at == '[') at += strcspn(at, "]\n") + 1;
    at += strspn(at, " ");
  } while (*at == ',');
  return names;
}

static bool begins_with(const char *at, const char *word) {
  size_t n = strlen(word);
  return !strncmp(at, word, n) && !is_word_part(at[n]);
}

// -- views ----------------------------------------------------------------------------------------
static void look(Arena *a, Limn *l, PictureView *v) {
  const char *bytes = NULL;
  size_t n = 0;
  v->drawn = true, v->seen = NULL;
  if (limn_draw_bytes(l, v->name, &v->how, &bytes, &n) == LIMN_GOOD)
    v->seen = painted(a, bytes, n, &v->bytes);
}

typedef enum { VIEW_NONE, VIEW_SAME, VIEW_OTHER } ViewAnswer;
static ViewAnswer view_changes(PictureChanges *p, Arena *scratch, Limn *other, PictureView *v) {
  if (!v->drawn) look(p->arena, p->l, v);
  if (!v->seen) return VIEW_NONE;
  PictureView now = *v;
  look(scratch, other, &now);
  bool same = now.seen && now.bytes == v->bytes && !memcmp(now.seen, v->seen, v->bytes);
  return same ? VIEW_SAME : VIEW_OTHER;
}

// All views of these names (of all, if NULL) at this level (at any, if NULL).
static ViewAnswer views_change(PictureChanges *p, Arena *scratch, Limn *other,
                               const NameList *names, const char *level) {
  ViewAnswer all = VIEW_NONE;
  for (uint32_t i = 0; i < p->view.n; i++) {
    PictureView *v = &p->view.at[i];
    if (names && (!v->name || !has_name(names, v->name))) continue;
    if (names && level && (!v->how.level || strcmp(v->how.level, level))) continue;
    ViewAnswer one = view_changes(p, scratch, other, v);
    if (one == VIEW_OTHER) return one;
    if (one == VIEW_SAME) all = one;
  }
  return all;
}

static PictureChangeAnswer judged(PictureChanges *p, Arena *scratch, Limn *other, const char *at,
                                  const char **level) {
  static const char *const unseen[] = {"measure", "show", "run", "find", "use"};
  static const char *const levels[] = {"layer", "model"};
  for (uint32_t i = 0; i < COUNT(unseen); i++)
    if (begins_with(at, unseen[i])) return NOTHING;
  NameList names = declared(scratch, at);
  bool box = begins_with(at, "box") || begins_with(at, "learn");
  bool graph = begins_with(at, "machine") || begins_with(at, "wiring") ||
               begins_with(at, "diagram") || begins_with(at, "share");
  *level = "all pictures";
  if (!box && !graph)
    return views_change(p, scratch, other, NULL, NULL) == VIEW_SAME ? HIDDEN : SHOWN;
  for (uint32_t k = 0; k < (box ? 2 : 1); k++) {
    *level = levels[k];
    ViewAnswer one = views_change(p, scratch, other, &names, box ? levels[k] : NULL);
    if (one != VIEW_OTHER) return one == VIEW_NONE ? NOTHING : HIDDEN;
  }
  return SHOWN;
}

// A pair of a learning diagram that all routes between the same spaces make may be left out.
static bool same_pairs(PictureChanges *p, Arena *scratch, Limn *other) {
  const char *a = p->diagrams.n ? limn_paths(p->l, NULL, false) : NULL;
  if (a) a = arena_text(scratch, a, strlen(a));
  const char *b = a ? limn_paths(other, NULL, false) : NULL;
  return a && b && !strcmp(a, b);
}

// What computes nothing that comes out is in no picture: the diagrams are the same after it is gone. Of
// what training alone does, they say nothing.
static bool same_diagrams(PictureChanges *p, Arena *scratch, Limn *other, const char *statement) {
  const char *end = strstr(statement, "\n}");
  const char *whole =
      arena_text(scratch, statement, end ? (size_t)(end - statement) : strcspn(statement, "\n"));
  bool box = begins_with(whole, "box") || begins_with(whole, "learn");
  bool more = begins_with(whole, "axis") || begins_with(whole, "goal") || begins_with(whole, "for");
  bool same =
      (box || (more && !p->machines.n)) && !strstr(whole, "dropout") && !strstr(whole, "training");
  for (uint32_t i = 0; same && i <= p->boxes.n; i++) {
    const char *name = i < p->boxes.n ? p->boxes.at[i] : NULL;
    const char *a = limn_print(p->l, name, "simplify", false);
    if (a) a = arena_text(scratch, a, strlen(a));
    const char *b = limn_print(other, name, "simplify", false);
    same = a && b ? !strcmp(a, b) : !a && !b;
  }
  return same;
}

static bool means_the_same(PictureChanges *p, Arena *scratch, const char *text) {
  LimnDiff how = {.size = sizeof how, .same = &(bool){false}};
  const char *said = NULL;
  Limn *l = limn_new();
  bool told = !file_write(scratch, p->now, text, strlen(text)) &&
              limn_diff(l, p->was, p->now, &how, &said) == LIMN_GOOD;
  limn_free(l);
  return told && *how.same;
}

// Of claims, those about boxes are drawn: they name no machine.
static bool is_of_run(const char *statement) {
  size_t line = strcspn(statement, "\n");
  const char *colon = strstr(statement, " : ");
  return begins_with(statement, "check") && colon && colon < statement + line;
}

// What a state is next is not drawn, and a line of labels does not say how many there are.
static bool is_left_out(const char *text, const TextChange *x) {
  const char *statement = statement_of(text, x->at), *line = text + x->at;
  while (line > text && line[-1] != '\n') line--;
  line += strspn(line, " ");
  if (!begins_with(statement, "box") && !begins_with(statement, "learn")) return false;
  return begins_with(line, "next") || begins_with(line, "state") ||
         (x->at && text[x->at - 1] == '{');
}

// What a program does not miss when it is gone is read by nothing, and drawn nowhere.
static bool is_unread(PictureChanges *p, Arena *scratch, size_t at) {
  const char *statement = statement_of(p->text, at);
  if (!begins_with(statement, "axis") && !begins_with(statement, "const") &&
      !begins_with(statement, "space"))
    return false;
  TextChange gone = {CHANGE_LINE, (size_t)(statement - p->text), strcspn(statement, "\n"), ""};
  Limn *l = loaded(p->now, text_changed(scratch, p->text, &gone));
  limn_free(l);
  return l != NULL;
}

// Does a legend have the whole `train`? It does where there are several, or one does more with gradients.
static bool is_train_told(const char *text) {
  static const char *const words[] = {", clip ", ", decay ", ", accumulate ", ", turns["};
  const char *first = strstr(text, "\ntrain "), *end = first ? strchr(first + 1, '\n') : NULL;
  bool told = end && strstr(end, "\ntrain ");
  for (uint32_t i = 0; end && i < COUNT(words); i++) {
    const char *at = strstr(first, words[i]);
    told |= at && at < end;
  }
  return told;
}

// How long it learns, how much at a time and by which dice, is in no other picture.
static bool is_of_plan(const char *text, const TextChange *x) {
  static const char *const words[] = {"train ", "batch ", "seed ", "epochs ", "steps "};
  const char *after = text + x->at + x->n;
  if (!begins_with(statement_of(text, x->at), "train") || is_train_told(text)) return false;
  if (x->kind == CHANGE_LINE || begins_with(after, " epochs") || begins_with(after, " steps"))
    return true;
  for (uint32_t i = 0; i < COUNT(words); i++) {
    size_t n = strlen(words[i]);
    if (x->at >= n && !strncmp(text + x->at - n, words[i], n)) return true;
  }
  return !strncmp(text + x->at, " batch", 6);
}

PictureChangeAnswer picture_change_try(PictureChanges *p, const TextChange *x, const char **level) {
  if (is_left_out(p->text, x) || is_of_plan(p->text, x) || is_of_run(statement_of(p->text, x->at)))
    return NOTHING;
  Arena *scratch = arena_child(p->arena);
  const char *text = text_changed(scratch, p->text, x);
  Limn *other = loaded(p->now, text);
  PictureChangeAnswer answer = NOTHING;
  if (other) answer = judged(p, scratch, other, statement_of(p->text, x->at), level);
  if (answer == HIDDEN && means_the_same(p, scratch, text)) answer = NOTHING;
  if (answer == HIDDEN && is_unread(p, scratch, x->at)) answer = NOTHING;
  if (answer == HIDDEN && x->kind == CHANGE_LINE && same_pairs(p, scratch, other)) answer = NOTHING;
  if (answer == HIDDEN && same_diagrams(p, scratch, other, statement_of(p->text, x->at)))
    answer = NOTHING;
  limn_free(other);
  arena_free(scratch);
  return answer;
}
