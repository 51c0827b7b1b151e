// What a file does not use is not in it. In: a text of definitions, and the text that uses some of
// them. Out: those definitions that are used, one by another or by that text, in their order.
//
// The text is our own: a definition begins in the first column, with its comment above it, and ends
// with a line that is `}`, `};` or `} Name;`, or that ends in `;` outside of braces; a macro ends where
// its lines do. Lines of the preprocessor that only choose stay, unless nothing is left between them.
// NAME(f) is f of one type: double_f behind `#define NAME(name) double_##name`, either before it.
#include "port/c/c_own.h"

#include <ctype.h>

typedef struct {
  const char *at;
  size_t n;
  const char *name; // NULL: a line that chooses
  bool any;         // constants: each word before `=` is a name
  const char *of;   // "double_", "float_", or "" where either may be meant
  uint32_t around;  // the number of an `#if`, from 1 on; 0: none
  bool used;
} CPart;

typedef struct {
  Arena *a;
  VEC(CPart) part;
  Table *wanted;
} CParts;

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

// -- words ----------------------------------------------------------------------------------------
typedef struct {
  const char *at;
  size_t n;
} CWord;

// The next word from *at on that is in no comment; false: there is none.
static bool next_word(const char **at, const char *end, CWord *word) {
  while (*at < end && !is_letter(**at))
    if ((*at)[0] == '/' && (*at)[1] == '/')
      while (*at < end && **at != '\n') (*at)++;
    else
      (*at)++;
  word->at = *at;
  while (*at < end && is_letter(**at)) (*at)++;
  word->n = (size_t)(*at - word->at);
  return word->n > 0;
}

static bool word_is(CWord w, const char *text) {
  return w.n == strlen(text) && strncmp(w.at, text, w.n) == 0;
}

static const char *word_joined(Arena *a, const char *front, CWord w) {
  return arena_format(a, "%s%.*s", front, (int)w.n, w.at);
}

static void want(CParts *p, const char *name) { table_put(p->wanted, name, strlen(name), 1); }

static void want_of_type(CParts *p, const char *of, CWord w) {
  static const char *const types[] = {"double_", "float_"};
  for (uint32_t i = 0; i < COUNT(types); i++)
    if (!*of || !strcmp(of, types[i])) want(p, word_joined(p->a, types[i], w));
}

// Every word of a text is wanted; `_f` is f of the type that LIMN_REAL is.
static void want_words(CParts *p, const char *text, size_t n, const char *of) {
  const char *end = text + n;
  CWord w, inner;
  while (next_word(&text, end, &w)) {
    want(p, word_joined(p->a, "", w));
    if (word_is(w, "NAME") && text < end && *text == '(' && next_word(&text, end, &inner))
      want_of_type(p, of, inner);
    else if (w.n > 1 && w.at[0] == '_' && w.at[1] != '_')
      want_of_type(p, "", (CWord){w.at + 1, w.n - 1});
  }
}

// -- parts ----------------------------------------------------------------------------------------
// A function: the word in front of its arguments, of which attributes have none.
static const char *function_word(CParts *p, const CPart *part, const char *code) {
  const char *end = part->at + part->n;
  CWord w, inner;
  while (next_word(&code, end, &w)) {
    if (word_is(w, "__attribute__")) {
      int depth = 0;
      do depth += *code == '(', depth -= *code++ == ')';
      while (depth && code < end);
    } else if (word_is(w, "NAME") && next_word(&code, end, &inner)) {
      return word_joined(p->a, part->of, inner);
    } else if (code < end && *code == '(') {
      return word_joined(p->a, "", w);
    }
  }
  return NULL;
}

// A type, or a variable: its last word before `;` or `=`.
static const char *last_word(CParts *p, const CPart *part, const char *code, bool type) {
  const char *end = part->at + part->n, *at = code;
  const char *brace = type ? strrchr(arena_text(p->a, code, (size_t)(end - code)), '}') : NULL;
  CWord w, last = {0};
  if (brace) at = end - strlen(brace);
  while (next_word(&at, end, &w)) {
    if (word_is(w, "__attribute__")) break;
    last = w;
    if (at < end && (*at == '[' || (at[0] == ' ' && at[1] == '='))) break;
  }
  return last.n ? word_joined(p->a, "", last) : NULL;
}

static void name_part(CParts *p, CPart *part, const char *code) {
  CWord w;
  const char *at = code, *end = part->at + part->n;
  if (*code == '#') {
    next_word(&at, end, &w);
    bool names = word_is(w, "define") || word_is(w, "undef");
    part->name = names && next_word(&at, end, &w) ? word_joined(p->a, "", w) : NULL;
  } else if (next_word(&at, end, &w)) {
    const char *open = memchr(code, '(', (size_t)(end - code)),
               *set = memchr(code, '=', (size_t)(end - code));
    part->any = word_is(w, "enum");
    part->name = word_is(w, "typedef")          ? last_word(p, part, code, true)
                 : open && (!set || open < set) ? function_word(p, part, code)
                                                : last_word(p, part, code, false);
  }
}

static const char *line_end(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

// Does a definition end with this line, which begins in the first column?
static bool line_closes(const char *at, const char *end) {
  while (end > at && isspace((unsigned char)end[-1])) end--;
  const char *note = strstr(at, " //");
  if (note && note < end) end = note;
  return end > at && (end[-1] == ';' || end[-1] == '}');
}

// From the code of a definition to its end.
static const char *part_end(const char *code) {
  const char *at = code;
  if (*code == '#') {
    const char *end = line_end(at);
    while (end - at > 1 && end[-2] == '\\') at = end, end = line_end(at);
    return end;
  }
  int depth = 0;
  for (;;) {
    const char *end = line_end(at);
    bool choice = *at == '#';
    for (const char *c = at; c < end && !choice && !(c[0] == '/' && c[1] == '/'); c++)
      depth += *c == '{', depth -= *c == '}';
    if ((!choice && depth <= 0 && line_closes(at, end)) || !*end) return end;
    at = end;
  }
}

static void cut(CParts *p, const char *text) {
  const char *of = "";
  while (*text) {
    const char *code = text;
    while (*code && (*code == '\n' || strncmp(code, "//", 2) == 0)) code = line_end(code);
    if (!*code) return;
    CPart part = {.at = text, .of = of};
    const char *end = part_end(code);
    part.n = (size_t)(end - text);
    name_part(p, &part, code);
    if (strncmp(code, "#define NAME(", 13) == 0)
      of = strstr(code, "double_##") && strstr(code, "double_##") < end ? "double_" : "float_";
    if (strncmp(code, "#undef NAME", 11) == 0) of = "";
    if (*code == '#' && !part.name) part.at = code, part.n = (size_t)(end - code);
    vec_push(p->a, &p->part, part);
    text = end;
  }
}

// -- what is left ---------------------------------------------------------------------------------
static bool is_choice(const CPart *part, const char *word) {
  return part->at[0] == '#' && strncmp(part->at + 1, word, strlen(word)) == 0;
}

// Each part gets the `#if` that it stands in: a line that chooses, its own.
static void find_around(CParts *p) {
  uint32_t around = 0;
  for (uint32_t i = 0; i < p->part.n; i++) {
    CPart *part = &p->part.at[i];
    part->around = around;
    if (is_choice(part, "if")) around = i + 1;
    if (is_choice(part, "endif") && around) around = p->part.at[around - 1].around;
  }
}

// Choices between which something is left are used.
static bool find_choices(CParts *p) {
  bool *full = NEW_ARRAY(p->a, bool, p->part.n + 1), more = false;
  for (uint32_t i = 0; i < p->part.n; i++)
    for (uint32_t k = p->part.at[i].around; k && p->part.at[i].used && p->part.at[i].name;
         k = p->part.at[k - 1].around)
      full[k] = true;
  for (uint32_t i = 0; i < p->part.n; i++) {
    CPart *part = &p->part.at[i];
    uint32_t own = is_choice(part, "if") ? i + 1 : part->around;
    if (part->name || part->used || !full[own]) continue;
    part->used = more = true;
    want_words(p, part->at, part->n, part->of);
  }
  return more;
}

static bool is_wanted(CParts *p, const CPart *part) {
  const char *at = part->at, *end = part->at + part->n;
  CWord w;
  while (part->any && next_word(&at, end, &w))
    if (at + 2 < end && at[1] == '=' && table_get(p->wanted, w.at, w.n)) return true;
  return part->name && table_get(p->wanted, part->name, strlen(part->name));
}

static bool find_used(CParts *p) {
  bool more = false;
  for (uint32_t i = p->part.n; i-- > 0;) { // what is used stands in front
    CPart *part = &p->part.at[i];
    if (part->used || !is_wanted(p, part)) continue;
    part->used = more = true;
    want_words(p, part->at, part->n, part->of);
  }
  return more;
}

const char *c_used(Arena *a, const char *text, const char *by) {
  CParts p = {.a = a, .wanted = table_new(a)};
  Buf b = buf_new(a);
  cut(&p, text);
  find_around(&p);
  want_words(&p, by, strlen(by), "");
  while (find_used(&p) || find_choices(&p)) continue;
  for (uint32_t i = 0; i < p.part.n; i++)
    if (p.part.at[i].used) buf_add(&b, p.part.at[i].at, p.part.at[i].n);
  return b.at ? b.at : "";
}
