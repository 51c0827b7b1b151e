// The text is cut into words, numbers and signs, with the depth of brackets at each. Each change is
// found from these alone, so it holds of every program; whether what comes of it is a program, the
// caller asks.
#include "text_changes.h"

#include <stdlib.h>

const char *const text_change_names[CHANGE_KINDS] = {"number", "word",   "stage", "call",
                                                     "option", "phrase", "line"};

// -- tokens ---------------------------------------------------------------------------------------
typedef struct {
  size_t at, n;
  uint32_t line, depth; // depth: how many brackets are open before it
  char kind;            // a word, a number 0, or the sign itself
} TextToken;
typedef struct {
  Arena *arena;
  const char *text;
  VEC(TextToken) token;
  uint32_t kinds;
  TextChanges out;
} TextCut;

static bool is_part(char c) { return char_is_word(c) || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t number_length(const char *at) {
  size_t n = strspn(at, "0123456789");
  if (at[n] == '.' && is_digit(at[n + 1])) n += 1 + strspn(at + n + 1, "0123456789");
  size_t sign = at[n] == 'e' && (at[n + 1] == '-' || at[n + 1] == '+');
  if (at[n] == 'e' && is_digit(at[n + 1 + sign]))
    n += 1 + sign + strspn(at + n + 1 + sign, "0123456789");
  return n;
}

static void cut_text(TextCut *c) {
  uint32_t line = 1, depth = 0;
  for (const char *at = c->text; *at;) {
    TextToken t = {.at = (size_t)(at - c->text), .n = 1, .line = line, .depth = depth, .kind = *at};
    if (*at == '#') {
      at += strcspn(at, "\n");
      continue;
    }
    if (is_digit(*at))
      t.n = number_length(at), t.kind = '0';
    else if (is_part(*at))
      for (t.kind = 'a'; is_part(at[t.n]);) t.n++;
    else if (*at == '"')
      t.n = 1 + strcspn(at + 1, "\"\n"), t.n += at[t.n] == '"';
    line += *at == '\n';
    depth += strchr("([{", *at) != NULL;
    depth -= strchr(")]}", *at) != NULL && depth;
    if (*at != ' ') vec_push(c->arena, &c->token, t);
    at += t.n;
  }
}

static bool token_is(const TextCut *c, uint32_t i, const char *word) {
  return i < c->token.n && c->token.at[i].n == strlen(word) &&
         !strncmp(c->text + c->token.at[i].at, word, c->token.at[i].n);
}
static char kind_at(const TextCut *c, uint32_t i) {
  return i < c->token.n ? c->token.at[i].kind : '\n';
}
static size_t end_of(const TextCut *c, uint32_t i) { return c->token.at[i].at + c->token.at[i].n; }
static bool touches(const TextCut *c, uint32_t i) { // the one before it, without a space
  return i && i < c->token.n && end_of(c, i - 1) == c->token.at[i].at;
}
static bool is_one_of(const TextCut *c, uint32_t i, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (token_is(c, i, words[k])) return true;
  return false;
}

// The token that closes what the i-th opens, or the last one.
static uint32_t closing(const TextCut *c, uint32_t i) {
  uint32_t depth = c->token.at[i].depth;
  while (++i < c->token.n && c->token.at[i].depth > depth + 1) {
  }
  while (i < c->token.n && !(c->token.at[i].depth == depth + 1 && strchr(")]}", kind_at(c, i))))
    i++;
  return i;
}

static void add(TextCut *c, TextChangeKind kind, size_t from, size_t to, const char *with) {
  if (c->kinds >> kind & 1 && to >= from)
    vec_push(c->arena, &c->out, (TextChange){kind, from, to - from, with});
}

// -- changes --------------------------------------------------------------------------------------
static void change_number(TextCut *c, uint32_t i) {
  const TextToken *t = &c->token.at[i];
  const char *old = c->text + t->at;
  size_t n = strspn(old, "0123456789.");
  bool whole = !memchr(old, '.', n);
  char *with = arena_text(c->arena, old, t->n), *last = with + n - 1;
  if (whole && n < 10)
    with = arena_format(c->arena, "%ld%.*s", strtol(old, NULL, 10) + 1, (int)(t->n - n), old + n);
  else
    *last = *last == '9' ? '8' : (char)(*last + 1);
  add(c, CHANGE_NUMBER, t->at, t->at + t->n, with);
}

static void change_word(TextCut *c, uint32_t i) {
  static const char *const swaps[][2] = {
      {"relu", "tanh"},
      {"tanh", "sin"},
      {"+", "-"},
      {"-", "+"},
      {"*", "+"},
      {"/", "*"},
      {"sum", "max"},
      {"max", "min"},
      {"mean", "sum"},
      {"sin", "cos"},
      {"cos", "sin"},
      {"exp", "sin"},
      {"adam", "gd"},
      {"gd", "adam"},
      {"l2", "l1"},
      {"l1", "l2"},
      {"huber", "l2"},
      {"cross_entropy", "hits"},
      {"normal", "uniform"},
      {"uniform", "normal"},
      {"minimise", "maximise"},
      {"maximise", "minimise"},
      {"test", "valid"},
      {"<", ">"},
      {">", "<"},
      {"argmax", "argmin"},
      {"sigmoid", "tanh"},
      {"gelu", "relu"},
      {"sqrt", "exp"},
      {"softmax", "log_softmax"},
      {"and", "or"},
      {"or", "and"},
      {"linear", "dense"},
      {"dense", "linear"},
      {"prod", "sum"},
      {"min", "max"},
  };
  const TextToken *t = &c->token.at[i];
  for (uint32_t k = 0; k < COUNT(swaps); k++)
    if (token_is(c, i, swaps[k][0]) &&
        !(t->n == 1 && (kind_at(c, i + 1) == '>' || kind_at(c, i + 1) == '=')))
      add(c, CHANGE_WORD, t->at, t->at + t->n, swaps[k][1]);
}

// Where a stage ends: the token after it.
static uint32_t stage_end(const TextCut *c, uint32_t i) {
  uint32_t depth = c->token.at[i].depth, k = i + 1;
  for (; k < c->token.n; k++) {
    char kind = kind_at(c, k);
    if (c->token.at[k].depth == depth && (strchr(";\n,~", kind) || kind == '}')) break;
    if (c->token.at[k].depth == depth && strchr(")]", kind)) break;
    if (c->token.at[k].at >= end_of(c, k - 1) + 2) break;
  }
  return k;
}

static void change_stage(TextCut *c, uint32_t i) {
  if (kind_at(c, i) != ';') return;
  add(c, CHANGE_STAGE, end_of(c, i - (i > 0)), end_of(c, stage_end(c, i) - 1), "");
}

// A name with options and an argument, where it is used: only the argument stays.
static void change_call(TextCut *c, uint32_t i) {
  static const char *const declares[] = {"box",   "learn",  "machine", "wiring", "mode",
                                         "share", "refine", "set",     "diagram"};
  if (kind_at(c, i) != 'a' || (i && is_one_of(c, i - 1, declares, COUNT(declares)))) return;
  uint32_t k = i + 1;
  if (kind_at(c, k) == '[' && touches(c, k)) k = closing(c, k) + 1;
  if (kind_at(c, k) != '(' || !touches(c, k)) return;
  add(c, CHANGE_CALL, c->token.at[i].at, c->token.at[k].at, "");
}

// Indices are letters: which of them may be left out is no matter of pictures.
static bool are_indices(const TextCut *c, uint32_t from, uint32_t to) {
  bool all = true;
  for (uint32_t k = from + 1; k < to && k < c->token.n; k++)
    all &= kind_at(c, k) != 'a' || c->token.at[k].n == 1;
  return all && kind_at(c, from + 1) == 'a';
}

static void change_options(TextCut *c, uint32_t i) {
  if (kind_at(c, i) != '[' || !touches(c, i) || kind_at(c, i - 1) != 'a') return;
  uint32_t end = closing(c, i), from = i;
  if (are_indices(c, i, end)) return;
  for (uint32_t k = i + 1; k <= end && k < c->token.n; k++) {
    if (k < end && !(kind_at(c, k) == ',' && c->token.at[k].depth == c->token.at[i].depth + 1))
      continue;
    bool alone = from == i && k == end, first = from == i;
    if (alone)
      add(c, CHANGE_OPTION, c->token.at[i].at, end_of(c, k), "");
    else if (first)
      add(c, CHANGE_OPTION, end_of(c, i), end_of(c, k), "");
    else
      add(c, CHANGE_OPTION, c->token.at[from].at, c->token.at[k].at, "");
    from = k;
  }
}

// A keyword with what belongs to it.
static void change_phrase(TextCut *c, uint32_t i) {
  static const char *const words[] = {"times",  "trains", "every", "unroll",  "pad",   "by",
                                      "within", "over",   "at",    "when",    "until", "on",
                                      "stop",   "clip",   "decay", "reverse", "keep",  "batch",
                                      "while",  "from",   "starts"};
  if (kind_at(c, i) != 'a' || !i || !is_one_of(c, i, words, COUNT(words)) || touches(c, i)) return;
  uint32_t depth = c->token.at[i].depth, k = i + 1;
  add(c, CHANGE_PHRASE, end_of(c, i - 1), end_of(c, i), ""); // the word alone
  for (; k < c->token.n; k++) {
    if (kind_at(c, k) == '\n' || c->token.at[k].depth < depth ||
        c->token.at[k].at >= end_of(c, k - 1) + 2)
      break;
    if (c->token.at[k].depth == depth &&
        (strchr(",;)]}", kind_at(c, k)) || is_one_of(c, k, words, COUNT(words))))
      break;
  }
  add(c, CHANGE_PHRASE, end_of(c, i - 1), end_of(c, k - 1), "");
}

static void change_line(TextCut *c, uint32_t i) {
  if (i && kind_at(c, i - 1) != '\n') return;
  if (kind_at(c, i) == '\n') return;
  size_t at = c->token.at[i].at, n = strcspn(c->text + at, "\n");
  add(c, CHANGE_LINE, at, at + n, "");
}

TextChanges text_changes(Arena *a, const char *text, uint32_t kinds) {
  TextCut c = {.arena = a, .text = text, .kinds = kinds};
  cut_text(&c);
  for (uint32_t i = 0; i < c.token.n; i++) {
    if (kind_at(&c, i) == '0') change_number(&c, i);
    change_word(&c, i);
    change_stage(&c, i);
    change_call(&c, i);
    change_options(&c, i);
    change_phrase(&c, i);
    change_line(&c, i);
  }
  return c.out;
}

const char *text_changed(Arena *a, const char *text, const TextChange *x) {
  return arena_format(a, "%.*s%s%s", (int)x->at, text, x->with, text + x->at + x->n);
}

const char *text_change_said(Arena *a, const char *text, const TextChange *x) {
  size_t from = x->at, line = 1;
  while (from && text[from - 1] != '\n') from--;
  for (size_t i = 0; i < from; i++) line += text[i] == '\n';
  const char *other = text_changed(a, text, x);
  return arena_format(a, "%zu: %s: %.*s\n      is: %.*s", line, text_change_names[x->kind],
                      (int)strcspn(text + from, "\n"), text + from,
                      (int)strcspn(other + from, "\n"), other + from);
}
