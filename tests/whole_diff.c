// `limn diff` on random whole programs: a program equals itself in every layout; a renamed program
// is equal, and only names are reported; a program with one changed number or word differs; what
// was removed in one direction was added in the other.
#include "base/files.h"
#include "whole_laws.h"

#include <stdlib.h>

typedef struct {
  bool same;
  const char *text, *json;
} Told;

static bool tell(Case *c, const char *a, const char *b, Told *out) {
  LimnDiff how = {.size = sizeof how, .same = &out->same};
  const char *text = NULL;
  Limn *l = limn_new();
  bool good = limn_diff(l, a, b, &how, &text) == LIMN_GOOD;
  if (!good) case_says(c, "no diff: of %s and %s\n%s", a, b, limn_messages(l, false));
  if (good) out->text = arena_format(c->arena, "%s", text);
  how.json = true;
  good = good && limn_diff(l, a, b, &how, &text) == LIMN_GOOD;
  if (good) out->json = arena_format(c->arena, "%s", text);
  limn_free(l);
  return good;
}

// A picture of it has no faults.
static bool no_faults(Case *c, const char *a, const char *b) {
  LimnDiff how = {.size = sizeof how, .check = true};
  const char *text = NULL;
  Limn *l = limn_new();
  bool good = limn_diff(l, a, b, &how, &text) == LIMN_GOOD && !*text;
  if (!good) case_says(c, "faults:\n%s%s", text ? text : "", limn_messages(l, false));
  limn_free(l);
  return good;
}

static void put_file(Case *c, const char *path, const char *text) {
  file_write(c->arena, path, text, strlen(text));
}

// Comments and empty lines wherever a line ends, spaces where there is one at the end of a word.
static const char *laid_out(Case *c, const char *text) {
  Buf b = buf_new(c->arena);
  buf_text(&b, "# laid out otherwise\n\n");
  for (; *text; text++) {
    if (*text == '\n') buf_text(&b, "   # a comment\n");
    buf_char(&b, *text);
  }
  return b.at;
}

static uint32_t count_of(const char *text, const char *word) {
  uint32_t n = 0;
  for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
  return n;
}

// -- one change -----------------------------------------------------------------------------------
static const char *const swaps[][2] = {{"relu", "tanh"}, {"tanh", "sin"}, {" + ", " - "},
                                       {" - ", " + "},   {" * ", " + "},  {"sum", "max"},
                                       {"sin", "cos"},   {"adam", "gd"},  {"l2", "l1"}};

static bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }

// A number that is no part of a name, or 0.
static size_t number_here(const char *text, const char *at) {
  if (!is_digit(*at) || (at > text && (char_is_word(at[-1]) || at[-1] == '_' || at[-1] == '.')))
    return 0;
  size_t n = strspn(at, "0123456789");
  return char_is_word(at[n]) || at[n] == '_' ? 0 : n;
}

static bool is_word_part(char ch) { return char_is_word(ch) || ch == '_'; }

// The length of a word that stands here, and is no part of a longer one; or 0.
static size_t word_here(const char *text, const char *at, const char *word) {
  size_t n = strlen(word);
  if (strncmp(at, word, n) != 0) return 0;
  bool before = at > text && is_word_part(at[-1]), after = is_word_part(at[n]);
  return is_word_part(*word) && (before || after) ? 0 : n;
}

// The k-th change; NULL: there are not so many.
static const char *changed(Case *c, const char *text, uint32_t k) {
  for (const char *at = text; *at; at++) {
    size_t n = number_here(text, at);
    if (n && k-- == 0)
      return arena_format(c->arena, "%.*s%ld%s", (int)(at - text), text, strtol(at, NULL, 10) + 1,
                          at + n);
    for (uint32_t i = 0; i < COUNT(swaps); i++) {
      n = word_here(text, at, swaps[i][0]);
      if (n && k-- == 0)
        return arena_format(c->arena, "%.*s%s%s", (int)(at - text), text, swaps[i][1], at + n);
    }
  }
  return NULL;
}

static bool loads(const char *path) {
  Limn *l = limn_new();
  bool good = limn_load(l, path) == LIMN_GOOD;
  limn_free(l);
  return good;
}

enum { CHANGES = 6, FEW_CHANGES = 2 };

static const char *line_changed(Case *c, const char *text, const char *other) {
  size_t at = 0;
  while (text[at] && text[at] == other[at]) at++;
  size_t first = at;
  while (first && text[first - 1] != '\n') first--;
  return arena_text(c->arena, other + first, strcspn(other + first, "\n"));
}

// What is said to compute the same does.
static bool same_values(Case *c, const char *other) {
  Limn *a = case_load(c, whole_text(c->arena, c->p, &(Printed){0})), *b = case_load(c, other);
  bool good = a && b;
  for (uint32_t i = 0; good && i < c->p->decl.n; i++) {
    const WholeDecl *d = c->p->decl.at[i];
    const char *name = whole_name(c->p, d->name, false);
    Values in = {0}, one = {0}, two = {0};
    if (!d->asked || d->noisy) continue;
    for (uint32_t k = 0; k < d->in.n; k++) vec_push(c->arena, &in, value_input(c, d, k, 1));
    if (!case_eval(c, a, name, &in, NULL, &one, NULL) ||
        !case_eval(c, b, name, &in, NULL, &two, NULL)) {
      c->said.n = 0; // a label may be none of those that there are
      continue;
    }
    good = one.n == two.n || case_says(c, "called equal: other results");
    for (uint32_t k = 0; good && k < one.n; k++)
      good = values_near(c, "called equal", &one.at[k], &two.at[k], 1e-9);
  }
  limn_free(a), limn_free(b);
  return good;
}

static bool changes_are_told(Case *c, const char *text) {
  uint32_t all = 0;
  while (changed(c, text, all)) all++;
  for (uint32_t i = 0; all && i < (c->sparing ? FEW_CHANGES : CHANGES); i++) {
    const char *other = changed(c, text, (uint32_t)((c->p->seed * 7 + i * 31) % all));
    Told there, back;
    put_file(c, "right.limn", other);
    if (!loads("right.limn")) continue;
    if (!tell(c, "left.limn", "right.limn", &there) || !tell(c, "right.limn", "left.limn", &back))
      return false;
    if (there.same != back.same)
      return case_says(c, "equal on one side: in `%s`", line_changed(c, text, other));
    if (there.same && strstr(there.text, "written otherwise")) {
      if (!same_values(c, other)) return false;
    } else if (there.same)
      return case_says(c, "a change is not told: in `%s`\n%s", line_changed(c, text, other), other);
    if (!i && !no_faults(c, "left.limn", "right.limn"))
      return case_says(c, "== changed\n%s", other);
    if (count_of(there.json, "\"mark\": \"added\"") != count_of(back.json, "\"mark\": \"gone\""))
      return case_says(c, "there and back:\n%s\n%s\n== changed\n%s", there.text, back.text, other);
  }
  return true;
}

bool law_diff(Case *c) {
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  Told told;
  Limn *l = case_load(c, text); // writes the files beside it
  if (!l) return false;
  limn_free(l);
  put_file(c, "left.limn", text);
  put_file(c, "right.limn", laid_out(c, text));
  if (!tell(c, "left.limn", "right.limn", &told)) return false;
  if (!told.same || count_of(told.json, "\"mark\": \"same\"") != count_of(told.json, "\"mark\": "))
    return case_says(c, "not equal to itself:\n%s", told.text);
  const char *renamed = whole_text(c->arena, c->p, &(Printed){.renamed = true});
  put_file(c, "right.limn", renamed);
  if (!tell(c, "left.limn", "right.limn", &told)) return false;
  if (!told.same) return case_says(c, "not equal by other names:\n%s\n%s", told.text, renamed);
  return changes_are_told(c, text);
}
