// Edits by picture: each is the edit of the text that a person would make (tests/gesture/pairs.txt), can be
// undone, keeps comments, and gives a program that is read without a new error, or is refused in words.
//
//   gesture_test                     the tests
//   gesture_test random FIRST RUNS   sequences of random edits over the examples
#define _POSIX_C_SOURCE 200809L
#include "gesture_help.h"

#include <glob.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

// -- pairs ----------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  const char *kind, *more; // more: JSON
  const char *before, *after, *refused;
  size_t mark[4]; // where «, », ‹ and › stood
  bool has[2];
  uint32_t line;
} Pair;

// A text without the four marks, and where they stood.
static const char *unmarked(Pair *p, const char *text, size_t n) {
  static const char *const marks[] = {"«", "»", "‹", "›"};
  Buf b = buf_new(p->arena);
  for (size_t i = 0; i < n;) {
    uint32_t k = 0;
    while (k < 4 && strncmp(text + i, marks[k], strlen(marks[k])) != 0) k++;
    if (k < 4)
      p->mark[k] = b.n, p->has[k / 2] = true, i += strlen(marks[k]);
    else
      buf_char(&b, text[i++]);
  }
  return b.n ? b.at : "";
}

static const char *edit_of(const Pair *p, const Sheet *page) {
  Buf b = buf_new(p->arena);
  bool two = strcmp(p->kind, "connect") == 0 || strcmp(p->kind, "goal") == 0;
  const char *second = strcmp(p->kind, "swap") == 0 ? "with" : "to";
  buf_printf(&b, "{\"kind\": \"%s\"", p->kind);
  if (p->has[0])
    buf_printf(&b, ", \"%s\": \"%s\"", two ? "from" : "at",
               sheet_place(page, p->mark[0], p->mark[1]));
  if (p->has[1])
    buf_printf(&b, ", \"%s\": \"%s\"", second, sheet_place(page, p->mark[2], p->mark[3]));
  buf_printf(&b, "%s%s", p->more[1] == '}' ? "" : ", ", p->more + 1);
  return b.at;
}

// What an insert put there goes again, and the text is what it was.
static bool is_taken_back(const Pair *p, const SheetAnswer *a) {
  Sheet page = sheet_open(p->arena, "page.limn", a->text, a->n);
  const SheetEdit *last = &a->edit.at[a->edit.n - 1];
  int64_t moved = 0;
  for (uint32_t i = 0; i + 1 < a->edit.n; i++)
    moved += (int64_t)strlen(a->edit.at[i].text) - (int64_t)a->edit.at[i].n;
  size_t end = (size_t)((int64_t)last->at + moved) + strlen(last->text);
  const char *close = strchr(a->text + a->select_end, ')');
  const char *place[] = {
      sheet_place(&page, a->select, a->select_end), sheet_place(&page, a->edit.at[0].at, end),
      sheet_place(&page, a->select, close ? (size_t)(close - a->text) + 1 : a->select_end)};
  bool same = strstr(p->more, " ; ") != NULL; // that would be several boxes
  for (uint32_t i = 0; i < 3 && !same; i++) {
    SheetAnswer back = sheet_ask(
        &page, arena_format(p->arena, "{\"kind\": \"remove\", \"at\": \"%s\"}", place[i]));
    same = !back.refused && strcmp(back.text, p->before) == 0;
  }
  bool line = strchr(last->text, '\n') || strchr(a->edit.at[0].text, '\n');
  sheet_close(&page);
  return same || line;
}

static bool complain(const Pair *p, const char *what, const char *text) {
  printf("pairs.txt:%u: %s\n%s\n", p->line, what, text);
  return false;
}

static bool check_pair(const Pair *p) {
  Sheet page = sheet_open(p->arena, "page.limn", p->before, strlen(p->before));
  SheetAnswer a = sheet_ask(&page, edit_of(p, &page));
  size_t n;
  bool good = true;
  if (p->refused && !a.refused)
    good = complain(p, "it is taken, and should be refused:", a.text);
  else if (p->refused && strcmp(a.refused, p->refused) != 0)
    good = complain(p, "it is refused for another reason:", a.refused);
  else if (!p->refused && a.refused)
    good = complain(p, "it is refused:", a.refused);
  else if (!p->refused && strcmp(a.text, p->after) != 0)
    good = complain(p, "another text comes out:", a.text);
  else if (!p->refused && strcmp(sheet_undo(p->arena, &a, p->before, &n), p->before) != 0)
    good = complain(p, "what was changed does not come back:", a.text);
  else if (!p->refused && strcmp(p->kind, "insert") == 0)
    good = is_taken_back(p, &a) || complain(p, "removing it gives another text:", a.text);
  else if (p->refused && p->has[0] && !a.has_range)
    good = complain(p, "the refusal has no place:", a.refused);
  sheet_close(&page);
  return good;
}

static const char *line_after(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

// One pair from its == on; what comes behind it.
static const char *read_pair(Pair *p, const char *at) {
  const char *end = line_after(at), *brace = strchr(at, '{');
  p->kind = arena_text(p->arena, at + 3, (size_t)(brace - at) - 4);
  p->more = arena_text(p->arena, brace, (size_t)(end - brace) - 1);
  const char *text = end;
  for (at = text; strncmp(at, "--", 2) != 0; at = line_after(at)) assert_true(*at);
  p->before = unmarked(p, text, (size_t)(at - text));
  end = line_after(at);
  if (strncmp(at, "-- refused: ", 12) == 0)
    p->refused = arena_text(p->arena, at + 12, (size_t)(end - at) - 13);
  for (at = text = end; *at && strncmp(at, "== ", 3) != 0;) at = line_after(at);
  size_t n = (size_t)(at - text);
  if (n && text[n - 1] == '\n' && (n < 2 || text[n - 2] == '\n')) n--; // the line between two
  p->after = arena_text(p->arena, text, n);
  return at;
}

static void pairs(void **state) {
  (void)state;
  Arena *a = arena_new();
  FileText file = file_read(a, "tests/gesture/pairs.txt", 1 << 20);
  uint32_t n = 0, taken = 0, bad = 0;
  assert_non_null(file.text);
  for (const char *at = strstr(file.text, "\n== ") + 1; *at; n++) {
    Pair p = {.arena = a, .line = 1};
    for (const char *c = file.text; c < at; c++) p.line += *c == '\n';
    at = read_pair(&p, at);
    bad += !check_pair(&p);
    taken += !p.refused;
  }
  printf("%u pairs, %u of them taken\n", n, taken);
  assert_true(n >= 60);
  assert_int_equal(bad, 0);
  arena_free(a);
}

int main(int argc, char **argv) {
  (void)argc, (void)argv;
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
