// Source positions in pictures (LimnDraw.places), tested on every picture of every example.
//
//   places_test            the tests
//   places_test FILE…      lists every mark of these programs without a position, and counts the others
//
// The position of a mark that names a box has that name in the text, or is in another text. Without
// `places` a picture has no positions, and is otherwise the same.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "base/files.h"
#include "limn.h"

#include <glob.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  uint32_t pictures, box[2], wire[2]; // [1]: those with a place
  uint32_t opens, names;              // boxes that can be opened, and of these those that are named
  bool list, quick;                   // quick: pictures that take long are left out
  const char *file, *text, *picture;
  size_t n;
} Tally;

// -- a picture's groups ---------------------------------------------------------------------------
// The value of an attribute of a tag; NULL: it has none.
static const char *attribute(Arena *a, const char *tag, const char *end, const char *name) {
  const char *key = arena_format(a, " %s=\"", name), *at = strstr(tag, key);
  if (!at || at > end) return NULL;
  at += strlen(key);
  Buf b = buf_new(a);
  for (; *at != '"'; at++) {
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    uint32_t i = 0;
    while (i < COUNT(entity) && strncmp(at, entity[i], strlen(entity[i])) != 0) i++;
    buf_char(&b, i < COUNT(entity) ? "&<>\"'"[i] : *at);
    if (i < COUNT(entity)) at += strlen(entity[i]) - 1;
  }
  return b.n ? b.at : "";
}

// The byte at a line and a character of UTF-16; UINT32_MAX: there is no such place.
static size_t byte_at(const Tally *t, unsigned line, unsigned character) {
  size_t at = 0;
  for (; line; line--) {
    const char *end = memchr(t->text + at, '\n', t->n - at);
    if (!end) return UINT32_MAX;
    at = (size_t)(end - t->text) + 1;
  }
  for (unsigned c = 0; c < character;) {
    size_t length = at < t->n ? character_length(t->text + at, t->n - at) : 0;
    if (!length || t->text[at] == '\n') return UINT32_MAX;
    c += length == 4 ? 2 : 1;
    at += length;
  }
  return at;
}

static const char *text_at(const Tally *t, const char *place) {
  unsigned l0, c0, l1, c1;
  int n = 0;
  if (sscanf(place, "%u:%u-%u:%u%n", &l0, &c0, &l1, &c1, &n) != 4 || place[n]) return NULL;
  size_t from = byte_at(t, l0, c0), to = byte_at(t, l1, c1);
  if (from == UINT32_MAX || to == UINT32_MAX || from >= to) return NULL;
  return arena_text(t->arena, t->text + from, to - from);
}

static const char *title_of(Tally *t, const char *end) {
  if (strncmp(end, "><title>", 8) != 0) return "";
  return arena_text(t->arena, end + 8, strcspn(end + 8, "<"));
}

// What explains the picture, and how limn learns where no `train` says it, is not in the program.
static bool is_key(const char *title) {
  static const char *const keys[] = {"Legend", "a dot", "a ring", "a bar", "adam(0.001)"};
  for (uint32_t i = 0; i < COUNT(keys); i++)
    if (strcmp(title, keys[i]) == 0) return true;
  return false;
}

static void check_group(Tally *t, const char *tag) {
  const char *end = strchr(tag, '>');
  const char *class = attribute(t->arena, tag, end, "class");
  bool glyph = class && !strcmp(class, "glyph"), wire = class && !strcmp(class, "wire");
  const char *title = title_of(t, end), *place = attribute(t->arena, tag, end, "data-at");
  const char *box = attribute(t->arena, tag, end, "data-box");
  const char *in = attribute(t->arena, tag, end, "data-in");
  const char *name = attribute(t->arena, tag, end, "data-wire");
  if (glyph && !is_key(title)) t->box[place != NULL]++;
  if (wire) t->wire[place != NULL]++;
  if (glyph && attribute(t->arena, tag, end, "data-open")) t->opens++, t->names += box != NULL;
  if (t->list && (glyph || wire) && !place && !is_key(title))
    printf("%s: a %s without a place: %s\n", t->picture, class, title);
  if (!place) return;
  const char *text = text_at(t, place);
  if (!text) fail_msg("%s: %s is no place: %s", t->picture, place, title);
  if (in) return;
  const char *dot = box ? strrchr(box, '.') : NULL;
  bool found = !box || strstr(text, dot ? dot + 1 : box),
       named = !name || !*name || strstr(t->text, name);
  if (!found || !named) {
    if (!t->list) fail_msg("%s: `%s` is not in `%s`", t->picture, found ? name : box, text);
    printf("%s: `%s` is not in `%s`\n", t->picture, found ? name : box, text);
  }
}

static void check_svg(Tally *t, const char *svg) {
  for (const char *at = svg; (at = strstr(at, "<g")); at++)
    if (at[2] == ' ' || at[2] == '>') check_group(t, at);
}

// -- pictures -------------------------------------------------------------------------------------
static void check_picture(Tally *t, Limn *l, const char *name, LimnDraw how, const char *view) {
  const char *svg = NULL;
  size_t n;
  how.size = sizeof how, how.out = "p.svg", how.places = true, how.theme = "light";
  t->picture = arena_format(t->arena, "%s %s %s", t->file, name ? name : "goals", view);
  if (limn_draw_bytes(l, name, &how, &svg, &n) == LIMN_GOOD) {
    t->pictures++;
    check_svg(t, svg);
  }
  limn_forget(l);
}

static void check_views(Tally *t, Limn *l, const char *name) {
  check_picture(t, l, name, (LimnDraw){0}, "");
  if (!t->quick) check_picture(t, l, name, (LimnDraw){.level = "layer"}, "layer");
  check_picture(t, l, name, (LimnDraw){.lens = true}, "lens");
  if (!t->quick) check_picture(t, l, name, (LimnDraw){.grad = true}, "grad");
  check_picture(t, l, name, (LimnDraw){.unfold = true}, "unfold");
  if (!name) check_picture(t, l, name, (LimnDraw){.who = true}, "who");
}

// Does this text declare it, or one that it uses? A picture of what another text says has no places.
static bool is_declared(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n) {
    const char *line = at;
    while (line > text && line[-1] != '\n') line--;
    bool word = !char_is_word(at[n]) && at > line && !char_is_word(at[-1]);
    static const char *const declare[] = {"box",     "learn",  "goal",   "diagram",
                                          "machine", "wiring", "refine", "measure",
                                          "given",   "stale",  "share"};
    for (uint32_t i = 0; word && i < COUNT(declare); i++)
      if (strncmp(line, declare[i], strlen(declare[i])) == 0) return true;
  }
  return false;
}

static void check_file(Tally *t, const char *path) {
  FileText text = file_read(t->arena, path, 10000000);
  Limn *l = limn_new();
  assert_non_null(text.text);
  t->file = path, t->text = text.text, t->n = text.n;
  limn_load(l, path);
  Arena *a = arena_new();
  const char *names = limn_names(l);
  names = arena_format(a, "%s", names ? names : "");
  check_views(t, l, NULL);
  for (const char *at = names; (at = strchr(at, '"')); at++) {
    size_t n = strcspn(++at, "\"");
    const char *name = arena_text(a, at, n);
    if (at[n + 1] != ':' && is_declared(text.text, name)) check_views(t, l, name);
    at += n;
  }
  arena_free(a);
  limn_free(l);
}

static void check_all(Tally *t, const char *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) check_file(t, found.gl_pathv[i]);
  globfree(&found);
}

static double share(const uint32_t n[2]) { return 100.0 * n[1] / (n[0] + n[1] ? n[0] + n[1] : 1); }

static void say(const Tally *t) {
  printf(
      "%u pictures: %u boxes, %.1f %% with a place; %u wires, %.1f %%; %u of %u calls are named\n",
      t->pictures, t->box[0] + t->box[1], share(t->box), t->wire[0] + t->wire[1], share(t->wire),
      t->names, t->opens);
}

static void examples(void **state) {
  (void)state;
  Tally t = {.arena = arena_new(), .quick = true};
  check_all(&t, "examples/*.limn");
  t.quick = false;
  check_all(&t, "examples/[in]*.limn");
  say(&t);
  assert_true(t.pictures > 300);
  assert_true(share(t.box) > 95);
  assert_true(share(t.wire) > 90);
  arena_free(t.arena);
}

// -- what a page asks -----------------------------------------------------------------------------
static const char *drawn(Arena *a, const char *text, const char *name, bool places,
                         const char *open) {
  Limn *l = limn_new();
  const char *svg = "", *const opened[] = {open, NULL};
  size_t n = 0;
  LimnDraw how = {.size = sizeof how, .out = "p.svg", .theme = "light", .places = places};
  if (open) how.open = opened;
  limn_load_text(l, "page.limn", text, strlen(text));
  limn_draw_bytes(l, name, &how, &svg, &n);
  svg = arena_text(a, svg, n);
  limn_free(l);
  return svg;
}

// The same picture without what `places` adds.
static const char *stripped(Arena *a, const char *svg) {
  static const char *const added[] = {" data-at=\"",   " data-in=\"",   " data-box=\"",
                                      " data-wire=\"", " data-open=\"", " data-type=\""};
  Buf b = buf_new(a);
  for (const char *at = svg; *at;) {
    uint32_t i = 0;
    while (i < COUNT(added) && strncmp(at, added[i], strlen(added[i])) != 0) i++;
    if (i < COUNT(added))
      at = strchr(at + strlen(added[i]), '"') + 1;
    else
      buf_char(&b, *at++);
  }
  return b.at;
}

// Ids begin with a hash of the whole.
static void check_same(const char *a, const char *b) {
  assert_int_equal(strlen(a), strlen(b));
  for (size_t i = 0; a[i]; i++) {
    bool hash = a[i] == 'p' && i && (a[i - 1] == '"' || a[i - 1] == '#');
    assert_int_equal(a[i], b[i]);
    if (hash) i += 8;
  }
}

static void only_when_asked(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text = "box f(x: R[n]) -> R[n] = softmax(relu(x))\n";
  const char *plain = drawn(a, text, "f", false, NULL), *with = drawn(a, text, "f", true, NULL);
  assert_null(strstr(plain, "data-at"));
  assert_non_null(strstr(with, "data-at=\"0:33-0:40\" data-box=\"relu\""));
  check_same(plain, stripped(a, with));
  arena_free(a);
}

// Lines and characters are counted as editors do: 𝒩 is two units of UTF-16, ü is one.
static void units(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *svg = drawn(a,
                          "# 𝒩ü\nbox f(x: R[n]) -> R[n] { # 𝒩\n  y = relu(x) # ü\n  return "
                          "sin(y) }\n",
                          "f", true, NULL);
  assert_non_null(strstr(svg, "data-at=\"2:6-2:13\" data-box=\"relu\""));
  assert_non_null(strstr(svg, "data-at=\"2:6-2:13\" data-wire=\"y\" data-type=\"R[n]\""));
  assert_non_null(strstr(svg, "data-at=\"3:9-3:15\" data-box=\"sin\""));
  arena_free(a);
}

// A wire that is read twice is where it is made, and its branches are where they are read.
static void branches(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *svg = drawn(
      a, "box f(x: R[n]) -> R[n] {\n  y = relu(x)\n  return softmax(y) + y\n}\n", "f", true, NULL);
  assert_non_null(strstr(svg, "data-at=\"1:6-1:13\" data-wire=\"y\""));
  assert_non_null(strstr(svg, "data-at=\"2:17-2:18\" data-wire=\"y\""));
  assert_non_null(strstr(svg, "data-at=\"2:22-2:23\" data-wire=\"y\""));
  arena_free(a);
}

// What an opened box of the library does is where the program calls it.
static void in_the_library(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text = "box f(x: R[n]) -> R[n] = softmax(x)\n";
  const char *closed = drawn(a, text, "f", true, NULL),
             *open = drawn(a, text, "f", true, "softmax");
  assert_non_null(
      strstr(closed, "data-at=\"0:25-0:35\" data-box=\"softmax\" data-open=\"softmax\""));
  assert_non_null(strstr(open, "data-at=\"0:25-0:35\" data-in=\"library.limn:"));
  arena_free(a);
}

// A program with errors has places too.
static void with_errors(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text = "box f(x: R[4], y: R[3]) -> R[4] {\n  a = x + y\n  return rleu(a)\n}\n";
  const char *svg = drawn(a, text, "f", true, NULL);
  assert_non_null(strstr(svg, "data-at=\"1:6-1:11\""));
  assert_non_null(strstr(svg, "data-box=\"rleu\""));
  arena_free(a);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    Tally t = {.arena = arena_new(), .list = true};
    for (int i = 1; i < argc; i++) check_file(&t, argv[i]);
    say(&t);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples),    cmocka_unit_test(only_when_asked),
      cmocka_unit_test(units),       cmocka_unit_test(in_the_library),
      cmocka_unit_test(with_errors), cmocka_unit_test(branches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
