// Edits in pictures: each gives the expected edit of the text (tests/gesture/pairs.txt), can be
// undone, keeps comments, and gives a program without a new error, or is refused with a message.
//
//   gesture_test                     the tests
//   gesture_test gestures FIRST RUNS   sequences of random edits over the examples and random programs
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "gesture_help.h"
#include "random_program.h"

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

// The same with lines that end as other systems have them.
static const char *with_returns(Arena *a, const char *text, size_t *mark, uint32_t marks) {
  Buf b = buf_new(a);
  size_t to[4] = {0};
  for (size_t i = 0;; i++) {
    for (uint32_t k = 0; k < marks; k++)
      if (mark[k] == i) to[k] = b.n;
    if (!text[i]) break;
    if (text[i] == '\n') buf_char(&b, '\r');
    buf_char(&b, text[i]);
  }
  for (uint32_t k = 0; k < marks; k++) mark[k] = to[k];
  return b.n ? b.at : "";
}

static bool check_returns(Pair p) {
  if (p.refused || !strchr(p.before, '\n')) return true;
  p.before = with_returns(p.arena, p.before, p.mark, 4);
  p.after = with_returns(p.arena, p.after, NULL, 0);
  return check_pair(&p);
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
    bad += !check_pair(&p) || !check_returns(p);
    taken += !p.refused;
  }
  printf("%u pairs, %u of them taken\n", n, taken);
  assert_true(n >= 60);
  assert_int_equal(bad, 0);
  arena_free(a);
}

// -- random edits ---------------------------------------------------------------------------------
typedef struct {
  const char *at, *box;
  bool wire, elsewhere; // elsewhere: another text says it
} Spot;
typedef VEC(Spot) Spots;

typedef struct {
  Arena *arena;
  uint64_t seed;
  uint32_t asked, taken, sequences;
  const char *file;
} Chance;

static uint32_t chance(Chance *c, uint32_t n) {
  c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(c->seed >> 33) % (n ? n : 1);
}

static const char *attribute(Arena *a, const char *tag, const char *end, const char *name) {
  const char *key = arena_format(a, " %s=\"", name), *at = strstr(tag, key);
  if (!at || at > end) return NULL;
  at += strlen(key);
  return arena_text(a, at, strcspn(at, "\""));
}

// The boxes and wires of a picture; deep: with all boxes opened.
static void spots_of(Sheet *s, const char *name, bool deep, Spots *out) {
  LimnDraw how = {.size = sizeof how, .out = "p.svg", .theme = "light", .places = true};
  how.level = deep ? "layer" : NULL;
  const char *svg = NULL;
  size_t n;
  if (limn_draw_bytes(s->l, name, &how, &svg, &n) == LIMN_GOOD)
    for (const char *at = svg; (at = strstr(at, "<g ")); at++) {
      const char *end = strchr(at, '>'), *class = attribute(s->arena, at, end, "class");
      const char *in = attribute(s->arena, at, end, "data-in");
      Spot spot = {.at = in ? in : attribute(s->arena, at, end, "data-at"),
                   .box = attribute(s->arena, at, end, "data-box"),
                   .elsewhere = in != NULL};
      if (!class || !spot.at) continue;
      spot.wire = strcmp(class, "wire") == 0;
      if (spot.wire || strcmp(class, "glyph") == 0) vec_push(s->arena, out, spot);
    }
  limn_forget(s->l);
}

static const char *some_name(Chance *c, Sheet *s) {
  const char *json = limn_names(s->l), *error;
  const Json *all =
      json ? json_read(c->arena, arena_format(c->arena, "%s", json), strlen(json), &error) : NULL;
  VEC(const char *) name = {0};
  vec_push(c->arena, &name, NULL);
  const Json *key = all && all->kind == JSON_OBJECT ? json_first(all) : NULL;
  for (uint32_t i = 0; key && i < all->n; i++, key = json_next(key + 1)) {
    const Json *one = key[1].kind == JSON_LIST ? json_first(key + 1) : NULL;
    for (uint32_t k = 0; one && k < key[1].n; k++, one = json_next(one))
      if (one->kind == JSON_TEXT) vec_push(c->arena, &name, one->text);
  }
  return name.at[chance(c, name.n)];
}

static const char *some_edit(Chance *c, const Spots *spots) {
  static const char *const boxes[] = {"relu",     "tanh",       "id",         "softmax",
                                      "dense[3]", "sin ; cos",  "sin & cos",  "square",
                                      "nothing",  "layer_norm", "scale[0.5]", "(relu, tanh)",
                                      "dense[",   "l2",         "x"};
  Arena *a = c->arena;
  const Spot *one = &spots->at[chance(c, spots->n)], *other = &spots->at[chance(c, spots->n)];
  const char *box = chance(c, 4) || !other->box ? boxes[chance(c, COUNT(boxes))] : other->box;
  switch (chance(c, 12)) {
  case 0: return arena_format(a, "{\"kind\":\"remove\",\"at\":\"%s\"}", one->at);
  case 1:
    return arena_format(a, "{\"kind\":\"replace\",\"at\":\"%s\",\"box\":\"%s\"}", one->at, box);
  case 2:
  case 3:
    return arena_format(a, "{\"kind\":\"connect\",\"from\":\"%s\",\"to\":\"%s\"%s}", one->at,
                        other->at, other->wire || other->elsewhere ? "" : ",\"port\":null");
  case 4: return arena_format(a, "{\"kind\":\"copy\",\"at\":\"%s\"}", one->at);
  case 5:
    return arena_format(a, "{\"kind\":\"swap\",\"at\":\"%s\",\"with\":\"%s\"}", one->at, other->at);
  case 6:
    return arena_format(a, "{\"kind\":\"name\",\"at\":\"%s\",\"name\":\"w%u\"}", one->at,
                        chance(c, 9));
  case 7:
    return arena_format(a, "{\"kind\":\"goal\",\"from\":\"%s\",\"to\":\"%s\",\"by\":\"l2\"}",
                        one->at, other->at);
  case 8:
    return arena_format(a, "{\"kind\":\"learner\",\"name\":\"new%u\",\"type\":\"R[4] -> R[2]\"}",
                        chance(c, 9));
  case 9:
    return arena_format(a, "{\"kind\":\"number\",\"at\":\"%s\",\"value\":%u}", one->at,
                        chance(c, 9));
  default:
    return arena_format(a, "{\"kind\":\"insert\",\"at\":\"%s\",\"box\":\"%s\"}", one->at, box);
  }
}

// Every comment of one text is in the other.
static void check_comments(const char *before, const char *after, const char *edit) {
  for (const char *at = before; (at = strchr(at, '#')); at++) {
    size_t n = strcspn(at, "\r\n");
    char *comment = strndup(at, n);
    if (!strstr(after, comment)) fail_msg("%s\nloses a comment: %s\n%s", edit, comment, before);
    free(comment);
    at += n - 1;
  }
}

// The text of an edit is read with no error that there was not before.
static void check_reads(const Sheet *s, const SheetAnswer *a, const char *edit) {
  Limn *l = limn_new();
  limn_load_text(l, s->name, a->text, a->n);
  if (limn_errors(l) > limn_errors(s->l))
    fail_msg("%s\n%s\nmakes errors: %s\nof\n%s", s->name, edit, limn_messages(l, false), a->text);
  limn_free(l);
}

// A wire that gets a name carries what it carried: what everything costs is the same.
static void check_same_cost(Chance *c, const Sheet *s, const SheetAnswer *a, const char *edit) {
  bool names = strstr(edit, "\"kind\":\"copy\"") || strstr(edit, "\"kind\":\"name\"");
  Limn *l = names ? limn_new() : NULL;
  if (l && limn_load_text(l, s->name, a->text, a->n) == LIMN_GOOD && !limn_errors(s->l)) {
    const char *names_of = limn_names(s->l), *error;
    const Json *all = json_read(c->arena, arena_format(c->arena, "%s", names_of), strlen(names_of),
                                &error),
               *one = json_first(json_get(all, "boxes"));
    for (uint32_t i = 0; i < json_get(all, "boxes")->n; i++, one = json_next(one)) {
      const char *before = limn_cost(s->l, one->text, true), *after = limn_cost(l, one->text, true);
      if (before && after && strcmp(before, after) != 0)
        fail_msg("%s\nchanges `%s` of\n%s\nfrom %s\nto %s", edit, one->text, s->text, before,
                 after);
    }
    limn_forget(s->l);
  }
  limn_free(l);
}

// Only the declarations are changed that the edit is about, and lines are added behind others.
static void check_business(const Sheet *s, const SheetAnswer *a, const char *edit) {
  if (strstr(edit, "\"name\"")) return; // a new name may be read anywhere
  uint32_t touched = 0, last = UINT32_MAX;
  for (uint32_t i = 0; i < a->edit.n; i++) {
    uint32_t declaration = 0;
    for (size_t k = 0; k < a->edit.at[i].at; k++)
      declaration +=
          s->text[k] == '\n' && (s->text[k + 1] | 32) >= 'a' && (s->text[k + 1] | 32) <= 'z';
    touched += declaration != last;
    last = declaration;
  }
  if (touched > 2) fail_msg("%s\nchanges %u declarations of\n%s", edit, touched, s->text);
}

static size_t closing(const char *text, size_t at) {
  uint32_t open = 0;
  for (; text[at]; at++) {
    open += text[at] == '(';
    if (text[at] == ')' && open && !--open) return at + 1;
  }
  return 0;
}

// What was put onto a wire can be taken away, by its call or by its stage, and all is as it was.
static void check_back(Chance *c, const Sheet *before, const SheetAnswer *a, const char *edit) {
  const char *key = strstr(edit, "\"box\":\"");
  if (!strstr(edit, "\"insert\"") || !key) return;
  const char *box = arena_text(c->arena, key + 7, strcspn(key + 7, "\""));
  bool moved = strstr(a->edit.at[a->edit.n - 1].text, "return ") != NULL; // return y[i] = …
  if (strpbrk(box, ";&,(") || moved) return;
  Sheet s = sheet_open(c->arena, before->name, a->text, a->n);
  bool same = false;
  const char *at = a->text + a->edit.at[0].at;
  for (uint32_t i = 0; i < 4 && !same && (at = strstr(at, box)); i++, at++) {
    size_t from = (size_t)(at - a->text), name = from + strlen(box), call = closing(a->text, name);
    for (uint32_t k = 0; k < 2 && !same; k++) {
      const char *place = sheet_place(&s, from, k && call ? call : name);
      SheetAnswer back =
          sheet_ask(&s, arena_format(c->arena, "{\"kind\":\"remove\",\"at\":\"%s\"}", place));
      same = !back.refused && strcmp(back.text, before->text) == 0;
    }
  }
  if (!same) fail_msg("%s\ncannot be taken back in\n%s", edit, a->text);
  sheet_close(&s);
}

static void check_edit(Chance *c, Sheet *s, const char *edit) {
  SheetAnswer a = sheet_ask(s, edit);
  size_t n;
  c->asked++;
  if (a.refused) {
    if (strlen(a.refused) < 8) fail_msg("%s\nis refused without a sentence: %s", edit, a.refused);
    return;
  }
  c->taken++;
  if (strstr(edit, ".limn:")) fail_msg("%s\nis about another text, and taken", edit);
  assert_string_equal(sheet_undo(c->arena, &a, s->text, &n), s->text);
  check_comments(s->text, a.text, edit);
  check_reads(s, &a, edit);
  check_business(s, &a, edit);
  check_same_cost(c, s, &a, edit);
  check_back(c, s, &a, edit);
  sheet_close(s);
  *s = sheet_open(c->arena, s->name, a.text, a.n);
}

// Places that no picture has: from one letter to another.
static void add_wild_spots(Chance *c, const Sheet *s, Spots *out) {
  for (uint32_t i = 0; i < 3 && s->n; i++) {
    size_t from = chance(c, (uint32_t)s->n), to = from + 1 + chance(c, 12);
    if (to > s->n) to = s->n;
    vec_push(c->arena, out, ((Spot){.at = sheet_place(s, from, to)}));
  }
}

// Comments where a line may go on: behind ( and ;
static const char *commented(Chance *c, const char *text, size_t *n) {
  Buf b = buf_new(c->arena);
  bool note = false;
  for (size_t i = 0; i < *n; i++) {
    note = (note && text[i] != '\n') || text[i] == '#';
    buf_char(&b, text[i]);
    if (!note && strchr("(;", text[i]) && !chance(c, 5))
      buf_printf(&b, "   # note %u\n    ", chance(c, 1000));
  }
  *n = b.n;
  return b.n ? b.at : "";
}

// A few bytes are missing.
static const char *damaged(Chance *c, const char *text, size_t *n) {
  size_t at = chance(c, (uint32_t)*n), gone = 1 + chance(c, 9);
  if (at + gone > *n) gone = *n - at;
  Buf b = buf_new(c->arena);
  buf_add(&b, text, at);
  buf_add(&b, text + at + gone, *n - at - gone);
  *n = b.n;
  return b.n ? b.at : "";
}

static void check_sequence(Chance *c, const char *name, const char *text, size_t n,
                           uint32_t edits) {
  if (!chance(c, 3)) text = commented(c, text, &n);
  if (!chance(c, 5) && n) text = damaged(c, text, &n);
  Sheet s = sheet_open(c->arena, name, text, n);
  for (uint32_t i = 0; i < edits; i++) {
    Spots spots = {0};
    spots_of(&s, some_name(c, &s), !chance(c, 4), &spots);
    if (!chance(c, 4)) add_wild_spots(c, &s, &spots);
    if (spots.n) check_edit(c, &s, some_edit(c, &spots));
  }
  c->sequences++;
  sheet_close(&s);
}

static void sequences(uint64_t first, uint32_t runs, uint32_t edits, size_t longest) {
  glob_t found;
  Chance c = {0};
  uint32_t asked = 0, taken = 0;
  assert_int_equal(glob("examples/*.limn", 0, NULL, &found), 0);
  for (uint32_t i = 0; i < runs; i++) {
    c = (Chance){.arena = arena_new(), .seed = (first + i) * 7919 + 1};
    chance(&c, 2);
    const char *path = found.gl_pathv[chance(&c, (uint32_t)found.gl_pathc)];
    FileText file = file_read(c.arena, path, 1 << 20);
    if (i % 2 || file.n > longest) {
      const char *text = random_program_text(c.arena, random_program(c.arena, first + i, 4), 0);
      check_sequence(&c, "chance.limn", text, strlen(text), edits);
    } else {
      check_sequence(&c, path, file.text, file.n, edits);
    }
    asked += c.asked, taken += c.taken;
    arena_free(c.arena);
  }
  globfree(&found);
  printf("%u sequences, %u edits asked for, %u taken\n", runs, asked, taken);
  assert_true(taken * 10 >= asked);
}

static void random_edits(void **state) {
  (void)state;
  sequences(1, 60, 5, 1500);
}

// -- from a blank sheet ---------------------------------------------------------------------------
static void blank_sheet(void **state) {
  (void)state;
  static const char *const edits[] = {
      "{\"kind\":\"given\",\"name\":\"x\",\"from\":\"iris.x\"}",
      "{\"kind\":\"learner\",\"name\":\"enc\",\"type\":\"R[4] -> R[2]\",\"body\":\"dense[2]\"}",
      "{\"kind\":\"learner\",\"name\":\"dec\",\"type\":\"R[2] -> R[4]\",\"body\":\"dense[4]\"}",
      "{\"kind\":\"insert\",\"at\":\"2:12-2:16\",\"box\":\"dense[8]\"}",
      "{\"kind\":\"insert\",\"at\":\"2:27-2:35\",\"box\":\"tanh\"}",
      "{\"kind\":\"goal\",\"from\":\"dec(enc(x))\",\"to\":\"x\",\"by\":\"l2\",\"name\":\"back\"}",
      "{\"kind\":\"train\",\"epochs\":3,\"batch\":25,\"optimiser\":\"adam(0.01)\"}"};
  Arena *a = arena_new();
  Sheet s = sheet_open(a, "blank.limn", "", 0);
  for (uint32_t i = 0; i < COUNT(edits); i++) {
    SheetAnswer answer = sheet_ask(&s, edits[i]);
    if (answer.refused) fail_msg("%s: %s\n%s", edits[i], answer.refused, s.text);
    sheet_close(&s);
    s = sheet_open(a, "blank.limn", answer.text, answer.n);
  }
  assert_string_equal(s.text, "given x from iris.x\n"
                              "\n"
                              "learn enc : R[4] -> R[2] = dense[8] ; tanh ; dense[2]\n"
                              "learn dec : R[2] -> R[4] = dense[4]\n"
                              "\n"
                              "goal back : dec(enc(x)) ~ x by l2\n"
                              "\n"
                              "train 3 epochs, batch 25, adam(0.01)\n");
  LimnTrain how = {.size = sizeof how, .plain = true, .in_memory = true};
  Limn *l = limn_new();
  assert_int_equal(limn_load_text(l, "blank.limn", s.text, s.n), LIMN_GOOD);
  if (limn_train(l, &how) != LIMN_GOOD) fail_msg("%s", limn_messages(l, false));
  limn_free(l);
  sheet_close(&s);
  arena_free(a);
}

// -- what can be put on a wire --------------------------------------------------------------------
static const Json *palette_at(Sheet *s, const char *at) {
  LimnAsk ask = {.size = sizeof ask, .text = at};
  const char *json = limn_edit_ask(s->l, "palette", &ask), *error;
  assert_non_null(json);
  json = arena_format(s->arena, "%s", json);
  return json_read(s->arena, json, strlen(json), &error);
}

static int64_t number_in(const Json *list, const char *name) {
  const Json *one = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, one = json_next(one))
    if (strcmp(json_get(one, "name")->text, name) == 0) return i;
  return -1;
}

static void palette(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *text = "# doubles it\nbox twice(x: R[n]) -> R[n] = x + x\n"
                     "learn see : R[3] -> R[2]\nlearn other : R[5] -> R[2]\n"
                     "box f(x: R[3], y: {4}) -> R[2] = see(relu(x))\n";
  Sheet s = sheet_open(a, "p.limn", text, strlen(text));
  const Json *all = palette_at(&s, NULL), *fit = palette_at(&s, "4:37-4:44");
  assert_true(all->n > 100 && all->n == fit->n);
  const Json *first = json_first(all);
  for (uint32_t i = 0; i < all->n; i++, first = json_next(first))
    if (strcmp(json_get(first, "name")->text, "twice") == 0) break;
  assert_string_equal(json_get(first, "header")->text, "box twice(x: R[n]) -> R[n]");
  assert_string_equal(json_get(first, "doc")->text, "doubles it");
  assert_string_equal(json_get(first, "from")->text, "program");
  first = json_first(all);
  for (uint32_t i = 0; i < all->n; i++, first = json_next(first))
    if (strcmp(json_get(first, "name")->text, "linear") == 0) break;
  assert_string_equal(json_get(first, "group")->text, "dense");
  assert_string_equal(json_first(json_get(first, "wants"))->text, "o");
  // what gives the same back, then what takes it, then the rest
  assert_true(number_in(fit, "twice") < number_in(fit, "see"));
  assert_true(number_in(fit, "see") < number_in(fit, "other"));
  assert_true(number_in(fit, "tanh") < number_in(fit, "see"));
  assert_true(number_in(fit, "see") < number_in(fit, "attend"));
  assert_true(number_in(fit, "layer_norm") < number_in(fit, "see"));
  sheet_close(&s);
  text = "learn see : R[3] -> R[2]\nlearn other : R[5] -> R[2]\n"
         "box g(x: R[3]) -> R[3] {\n  a = relu(x)\n  b[i] = 2 * x[i]\n  return a + b + x\n}\n";
  s = sheet_open(a, "p.limn", text, strlen(text));
  static const char *const read[] = {"5:9-5:10", "5:13-5:14", "5:17-5:18"}; // a, b and x
  for (uint32_t i = 0; i < COUNT(read); i++) {
    fit = palette_at(&s, read[i]);
    assert_true(number_in(fit, "see") < number_in(fit, "other"));
    assert_true(number_in(fit, "tanh") < number_in(fit, "see"));
  }
  sheet_close(&s);
  arena_free(a);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "gestures") == 0) {
    sequences(argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
              argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000, 6, SIZE_MAX);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(blank_sheet),
                                     cmocka_unit_test(palette), cmocka_unit_test(random_edits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
