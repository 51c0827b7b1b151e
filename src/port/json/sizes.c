// Sizes: parsing the form in the file, writing the form of the language, and comparing.
#include "base/table.h"
#include "port/json/json_own.h"

#include "lang/syntax/letters.h"

#include <math.h>
#include <stdlib.h>

// -- from the file --------------------------------------------------------------------------------
// Parses numbers, variables, + - * // ^ and parentheses, and copies the text with renamed
// variables.
typedef struct {
  Reading *r;
  const char *text, *at;
  Buf out;
  uint32_t depth;
  bool said; // an error was reported
} SizeText;

static bool text_sum(SizeText *);

static bool text_takes(SizeText *s, const char *word) {
  s->at += strspn(s->at, " ");
  size_t n = strlen(word);
  if (strncmp(s->at, word, n) != 0) return false;
  buf_text(&s->out, word);
  s->at += n;
  s->at += strspn(s->at, " ");
  return true;
}

static size_t variable_length(const char *c) {
  size_t n = 0;
  for (uint32_t more = 1; more; n += more) {
    more = letter_bytes(c + n, strlen(c + n));
    if (!more && n) more = char_is_word(c[n]) || c[n] == '.' || c[n] == '\'';
  }
  return n;
}

// The variable's name in the file without the suffix that distinguishes it between diagrams.
static const char *variable_name(Reading *r, const char *key, size_t n) {
  ReadDiagram *d = r->in;
  Id known = table_get(d->size_table, key, n);
  if (known) return d->size.at[known - 1];
  vec_push(r->arena, &d->size, reading_new_name(r, d->taken, arena_text(r->arena, key, n)));
  table_put(d->size_table, key, n, d->size.n);
  return d->size.at[d->size.n - 1];
}

static bool text_atom(SizeText *s) {
  enum { DEPTH_MOST = 100 };
  if (text_takes(s, "(")) {
    if (s->depth++ == DEPTH_MOST || !text_sum(s)) return false;
    s->depth--;
    return text_takes(s, ")");
  }
  size_t n = variable_length(s->at), digits = strspn(s->at, "0123456789");
  if (n) {
    if (!table_get(s->r->size_table, s->at, n)) {
      reading_error(s->r, NULL, "size `%s`: `%.*s` is not among \"sizes\"", s->text, (int)n, s->at);
      s->said = true;
      return false;
    }
    buf_text(&s->out, variable_name(s->r, s->at, n));
  } else {
    buf_printf(&s->out, "%.*s", (int)digits, s->at);
  }
  s->at += n + digits;
  s->at += strspn(s->at, " ");
  return n + digits > 0;
}

static bool text_power(SizeText *s) {
  return text_atom(s) && (!text_takes(s, "^") || text_atom(s));
}

static bool text_product(SizeText *s) {
  do {
    if (!text_power(s)) return false;
  } while (text_takes(s, "*") || text_takes(s, "//") || text_takes(s, "/"));
  return true;
}

static bool text_sum(SizeText *s) {
  text_takes(s, "-");
  do {
    if (!text_product(s)) return false;
  } while (text_takes(s, "+") || text_takes(s, "-"));
  return true;
}

// Do the first and last parenthesis match?
static bool in_brackets(const char *size) {
  int depth = 0;
  for (const char *c = size; *c; c++) {
    depth += (*c == '(') - (*c == ')');
    if (!depth && c[1]) return false;
  }
  return *size == '(';
}

// Substitutes a variable for a size, if it is the whole text or parenthesised.
static const char *substitute_variable(Reading *r, const char *size, const SizeShort *s) {
  const char *from = in_brackets(s->from) ? s->from : arena_format(r->arena, "(%s)", s->from);
  Buf out = buf_new(r->arena);
  if (strcmp(size, s->from) == 0) return s->to;
  for (const char *at; (at = strstr(size, from)); size = at + strlen(from)) {
    buf_add(&out, size, (size_t)(at - size));
    buf_text(&out, s->to);
  }
  buf_text(&out, size);
  return out.at;
}

static bool is_plain(const char *size) {
  return variable_length(size) == strlen(size) || strspn(size, "0123456789") == strlen(size);
}

static bool is_seen(const ReadDiagram *d, const char *variable, size_t n) {
  for (uint32_t i = 0; i < d->nin; i++)
    for (uint32_t k = 0; k < d->wire.at[i].type.rank; k++) {
      const char *size = d->wire.at[i].type.size[k];
      if (strlen(size) == n && strncmp(size, variable, n) == 0) return true;
    }
  return false;
}

static bool all_seen(const ReadDiagram *d, const char *size) {
  size_t n;
  for (const char *at = size_variable(size, &n); at; at = size_variable(at + n, &n))
    if (!is_seen(d, at, n)) return false;
  return true;
}

static void inputs_shorten(Reading *r, ReadDiagram *d, const SizeShort *s) {
  for (uint32_t i = 0; i < d->nin; i++)
    for (uint32_t k = 0; k < d->wire.at[i].type.rank; k++)
      d->wire.at[i].type.size[k] = substitute_variable(r, d->wire.at[i].type.size[k], s);
}

// If `((h-1)//2)+1` is h_2, its parenthesised part is h_2-1. False: not of this form.
static bool part_of_sum(Reading *r, const SizeShort *whole, SizeShort *out) {
  size_t n = strlen(whole->from), digits = 0;
  while (digits < n && whole->from[n - 1 - digits] >= '0' && whole->from[n - 1 - digits] <= '9')
    digits++;
  if (!digits || n < digits + 3 || !strchr("+-", whole->from[n - digits - 1])) return false;
  const char *part = arena_text(r->arena, whole->from, n - digits - 1),
             *number = whole->from + n - digits;
  *out = (SizeShort){
      part, arena_format(r->arena, "(%s%c%s)", whole->to, number[-1] == '+' ? '-' : '+', number)};
  return in_brackets(part);
}

void sizes_shorten(Reading *r, ReadDiagram *d) {
  size_t n = 0;
  for (uint32_t i = 0; i < d->nin; i++)
    for (uint32_t k = 0; k < d->wire.at[i].type.rank; k++) {
      const char *size = d->wire.at[i].type.size[k];
      if (is_plain(size) || all_seen(d, size)) continue;
      const char *variable = size_variable(size, &n);
      SizeShort s = {size, reading_new_name(r, d->taken, arena_text(r->arena, variable, n))}, part;
      vec_push(r->arena, &d->brief, s);
      inputs_shorten(r, d, &s);
      if (!part_of_sum(r, &s, &part)) continue;
      vec_push(r->arena, &d->brief, part);
      inputs_shorten(r, d, &part);
    }
}

static const char *size_words(Reading *r, const char *text) {
  SizeText s = {.r = r, .text = text, .at = text, .out = buf_new(r->arena)};
  if (text_sum(&s) && !*s.at) {
    const char *size = s.out.at;
    for (uint32_t i = 0; i < r->in->brief.n; i++)
      size = substitute_variable(r, size, &r->in->brief.at[i]);
    return size;
  }
  if (!s.said) reading_error(r, NULL, "`%s` is not a size", text);
  return NULL;
}

const char *reading_size(Reading *r, const Json *j) {
  if (j && j->kind == JSON_TEXT) return size_words(r, j->text);
  if (j && j->kind == JSON_NUMBER && j->number == floor(j->number) && fabs(j->number) < 1e15) {
    Buf b = buf_new(r->arena);
    buf_printf(&b, "%lld", (long long)j->number);
    return b.at;
  }
  reading_error(r, NULL, "a size is a whole number or a text");
  return NULL;
}

// As a coordinate, a bare name would be an index, so it is written `size[n]`; quotients likewise in
// values.
const char *place_size(Reading *r, const char *size) {
  Buf b = buf_new(r->arena);
  if (strspn(size, "-0123456789") == strlen(size)) return size;
  buf_printf(&b, "size[%s]", size);
  return b.at;
}

const char *size_variable(const char *size, size_t *n) {
  for (; *size; size++)
    if ((*n = variable_length(size))) return size;
  return NULL;
}

// -- compared -------------------------------------------------------------------------------------
// Evaluates a size for sample values of its variables. Those of the first round are divisible by
// small numbers, others are not.
typedef struct {
  const char *at;
  uint32_t round;
} SizeSample;

static double sample_sum(SizeSample *);

static double sample_atom(SizeSample *s) {
  size_t n = variable_length(s->at);
  double x = 0;
  if (*s->at == '(') {
    s->at++;
    x = sample_sum(s);
    s->at += *s->at == ')';
    return x;
  }
  if (!n) {
    char *end;
    x = (double)strtoll(s->at, &end, 10);
    s->at = end;
    return x;
  }
  uint32_t hash = 2166136261U;
  for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)s->at[i]) * 16777619U;
  s->at += n;
  return s->round ? 40 + hash % 499 + s->round : 5040.0 * (1 + hash % 499);
}

static double sample_power(SizeSample *s) {
  double x = sample_atom(s);
  if (*s->at != '^') return x;
  s->at++;
  return pow(x, sample_atom(s));
}

static double sample_product(SizeSample *s) {
  double x = sample_power(s);
  while (*s->at == '*' || *s->at == '/') {
    bool down = s->at[0] == '/' && s->at[1] == '/', by = *s->at == '/';
    s->at += 1 + down;
    double y = sample_power(s);
    x = down ? floor(x / y) : by ? x / y : x * y;
  }
  return x;
}

static double sample_sum(SizeSample *s) {
  bool minus = *s->at == '-';
  s->at += minus;
  double x = sample_product(s);
  if (minus) x = -x;
  while (*s->at == '+' || *s->at == '-') {
    minus = *s->at++ == '-';
    double y = sample_product(s);
    x += minus ? -y : y;
  }
  return x;
}

void size_samples(const char *size, double to[SIZE_ROUNDS]) {
  for (uint32_t round = 0; round < SIZE_ROUNDS; round++)
    to[round] = sample_sum(&(SizeSample){size, round});
}

bool samples_equal(const double a[SIZE_ROUNDS], const double b[SIZE_ROUNDS]) {
  for (uint32_t i = 0; i < SIZE_ROUNDS; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-9 * fabs(a[i]))) return false;
  return true;
}
