// Removes unused definitions. Given a text of definitions and the text that uses some of them,
// keeps those that are used directly or through others, in order.
//
// The input is our own text: a definition begins in column 1 after its comment, and ends with a
// line that is `}`, `};` or `} Name;`, or that ends in `;` outside of braces; a macro ends with its
// continuation lines. Conditional directives stay unless they become empty. NAME(f) is f for one
// type: double_f after `#define NAME(name) double_##name`; before any such line, either type.
#include "base/table.h"
#include "port/c/c_own.h"

#include <ctype.h>

typedef struct {
  const char *at;
  size_t n;
  const char *name; // NULL: a conditional directive
  bool any;         // constants: each word before `=` is a name
  const char *of;   // "double_", "float_", or "": either
  uint32_t around;  // index of the enclosing `#if` from 1; 0: none
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

// The next word after *at outside of comments; false: end.
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

static void mark_used(CParts *p, const char *name) { table_put(p->wanted, name, strlen(name), 1); }

static void mark_used_of_type(CParts *p, const char *of, CWord w) {
  static const char *const types[] = {"double_", "float_"};
  for (uint32_t i = 0; i < COUNT(types); i++)
    if (!*of || !strcmp(of, types[i])) mark_used(p, word_joined(p->a, types[i], w));
}

// Marks every word of a text as used; `_f` is f for the type LIMN_REAL.
static void mark_words_used(CParts *p, const char *text, size_t n, const char *of) {
  const char *end = text + n;
  CWord w, inner;
  while (next_word(&text, end, &w)) {
    mark_used(p, word_joined(p->a, "", w));
    if (word_is(w, "NAME") && text < end && *text == '(' && next_word(&text, end, &inner))
      mark_used_of_type(p, of, inner);
    else if (w.n > 1 && w.at[0] == '_' && w.at[1] != '_')
      mark_used_of_type(p, "", (CWord){w.at + 1, w.n - 1});
  }
}

// -- parts ----------------------------------------------------------------------------------------
// A function's name: the word before its parameter list, skipping attributes.
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

// A type or variable: the last word before `;` or `=`.
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

// Does this line, which begins in column 1, end a definition?
static bool ends_definition(const char *at, const char *end) {
  while (end > at && isspace((unsigned char)end[-1])) end--;
  const char *note = strstr(at, " //");
  if (note && note < end) end = note;
  return end > at && (end[-1] == ';' || end[-1] == '}');
}

// The end of a definition.
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
    if ((!choice && depth <= 0 && ends_definition(at, end)) || !*end) return end;
    at = end;
  }
}

static void split_definitions(CParts *p, const char *text) {
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

// -- selecting definitions ------------------------------------------------------------------------
static bool is_choice(const CPart *part, const char *word) {
  return part->at[0] == '#' && strncmp(part->at + 1, word, strlen(word)) == 0;
}

// Assigns each part the `#if` around it; a directive gets itself.
static void find_enclosing(CParts *p) {
  uint32_t around = 0;
  for (uint32_t i = 0; i < p->part.n; i++) {
    CPart *part = &p->part.at[i];
    part->around = around;
    if (is_choice(part, "if")) around = i + 1;
    if (is_choice(part, "endif") && around) around = p->part.at[around - 1].around;
  }
}

// Marks conditionals that enclose something used.
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
    mark_words_used(p, part->at, part->n, part->of);
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
  for (uint32_t i = p->part.n; i-- > 0;) { // definitions precede their uses, so go backwards
    CPart *part = &p->part.at[i];
    if (part->used || !is_wanted(p, part)) continue;
    part->used = more = true;
    mark_words_used(p, part->at, part->n, part->of);
  }
  return more;
}

const char *c_used(Arena *a, const char *text, const char *by) {
  CParts p = {.a = a, .wanted = table_new(a)};
  Buf b = buf_new(a);
  split_definitions(&p, text);
  find_enclosing(&p);
  mark_words_used(&p, by, strlen(by), "");
  while (find_used(&p) || find_choices(&p)) continue;
  for (uint32_t i = 0; i < p.part.n; i++)
    if (p.part.at[i].used) buf_add(&b, p.part.at[i].at, p.part.at[i].n);
  return b.at ? b.at : "";
}
