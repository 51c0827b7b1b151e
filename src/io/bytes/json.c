// A strict JSON parser, and a parser of arrays as typed on the command line.
//
// JSON becomes one array of nodes in pre-order, 16 bytes per value. The same functions run twice:
// the first pass counts nodes and bytes of strings, the second fills arrays of exact size. Memory
// is allocated only when the whole text is known to be valid, except for duplicate keys, which are
// found at the end by sorting the keys of each object.
//
// Strict: no comments, trailing commas, NaN or leading zeros; valid UTF-8 without lone surrogates;
// at most 64 levels; one value.
//
// An array consists of numbers in nested brackets. The first row to end at each level determines
// the length there, and the first number or empty row determines the rank.
#include "base/json_write.h"
#include "base/number.h"
#include "io/bytes/bytes.h"

#include <math.h>
#include <stdlib.h>

enum { NUMBER_LIMIT = 1100 }; // characters; the longest exact decimal of a double has 1077

typedef struct {
  Arena *arena;
  const char *text;
  size_t n, at;
  uint32_t depth;
  Json *node; // NULL in the first pass
  Json spare; // written to in the first pass
  uint32_t count;
  char *pool; // NULL in the first pass
  size_t used;
  const char **error;
} JsonReader;

// Skips ASCII eight bytes at a time.
size_t text_utf8(const char *text, size_t n) {
  size_t at = 0, length;
  uint64_t some;
  for (; at < n; at += length) {
    for (; n - at >= sizeof some; at += sizeof some) {
      memcpy(&some, text + at, sizeof some);
      if (some & 0x8080808080808080u) break;
    }
    if (at == n || !(length = character_length(text + at, n - at))) return at;
  }
  return at;
}

bool text_is_utf8(const char *text, size_t n) { return text_utf8(text, n) == n; }

const char *text_shown(Arena *a, const char *text, size_t n) {
  enum { LONG = 40 };
  Buf b = buf_new(a);
  for (size_t at = 0, length; at < n; at += length) {
    if (at >= LONG) {
      buf_text(&b, "…");
      break;
    }
    length = printable_length(text + at, n - at);
    if (!length) length = 1;
    buf_escaped(&b, text + at, length);
  }
  return b.at;
}

static int peek(const JsonReader *r) { return r->at < r->n ? (unsigned char)r->text[r->at] : -1; }

static bool expected(JsonReader *r, const char *what) {
  if (r->at >= r->n)
    return file_error(r->arena, r->error, "the text ends after %zu bytes, where %s was wanted",
                      r->n, what);
  size_t length = character_length(r->text + r->at, r->n - r->at);
  const char *found = text_shown(r->arena, r->text + r->at, length ? length : 1);
  return file_error(r->arena, r->error, "at byte %zu: found `%s`, where %s was wanted", r->at,
                    found, what);
}

static bool is_space(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static void skip_space(JsonReader *r) {
  while (is_space(peek(r))) r->at++;
}

static bool accept(JsonReader *r, char c) {
  if (peek(r) != (unsigned char)c) return false;
  r->at++;
  return true;
}

static Json *node_new(JsonReader *r, JsonKind kind) {
  Json *node = r->node ? &r->node[r->count] : &r->spare;
  r->count++;
  *node = (Json){.kind = (uint8_t)kind};
  return node;
}

// The value of a scanned number; false if a double overflows.
bool number_value(const char *text, size_t n, double *out) {
  char copy[NUMBER_LIMIT + 1];
  const char *end;
  if (n > NUMBER_LIMIT) return false;
  memcpy(copy, text, n);
  copy[n] = 0;
  *out = number_read(copy, &end);
  return n && end == copy + n && !isinf(*out);
}

static bool skip_digits(JsonReader *r) {
  if (!is_digit(peek(r))) return expected(r, "a digit");
  while (is_digit(peek(r))) r->at++;
  return true;
}

// number = "-"? ("0" | [1-9] digits) ("." digits)? ([eE] [+-]? digits)?
static bool read_number(JsonReader *r) {
  size_t from = r->at;
  Json *node = node_new(r, JSON_NUMBER);
  node->natural = peek(r) != '-';
  accept(r, '-');
  if (!accept(r, '0') && !skip_digits(r)) return false;
  if (accept(r, '.')) {
    node->natural = false;
    if (!skip_digits(r)) return false;
  }
  if (accept(r, 'e') || accept(r, 'E')) {
    node->natural = false;
    if (!accept(r, '+')) accept(r, '-');
    if (!skip_digits(r)) return false;
  }
  if (number_value(r->text + from, r->at - from, &node->number)) return true;
  return file_error(r->arena, r->error, "at byte %zu: the number %s does not fit a double", from,
                    text_shown(r->arena, r->text + from, r->at - from));
}

static void put_byte(JsonReader *r, uint32_t byte) {
  if (r->pool) r->pool[r->used] = (char)(unsigned char)byte;
  r->used++;
}

static void put_character(JsonReader *r, uint32_t c) {
  char text[4];
  size_t n = character_write(c, text);
  for (size_t i = 0; i < n; i++) put_byte(r, (unsigned char)text[i]);
}

static bool read_hex4(JsonReader *r, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    int c = peek(r), low = c | 0x20;
    if (is_digit(c))
      *out = *out * 16 + (uint32_t)(c - '0');
    else if (c > 0 && low >= 'a' && low <= 'f')
      *out = *out * 16 + (uint32_t)(low - 'a' + 10);
    else
      return expected(r, "a hexadecimal digit");
  }
  return true;
}

// After "\u": a code unit or a surrogate pair.
static bool read_unicode(JsonReader *r) {
  uint32_t high, low;
  size_t from = r->at - 2;
  if (!read_hex4(r, &high)) return false;
  bool pair = high >= 0xD800 && high < 0xDC00;
  if (pair) {
    if (!accept(r, '\\') || !accept(r, 'u'))
      return expected(r, "the second half of a surrogate pair");
    if (!read_hex4(r, &low)) return false;
    pair = low >= 0xDC00 && low < 0xE000;
    if (pair) high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  if (!pair && high >= 0xD800 && high < 0xE000)
    return file_error(r->arena, r->error, "at byte %zu: half of a surrogate pair", from);
  put_character(r, high);
  return true;
}

static bool read_escape(JsonReader *r) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (accept(r, 'u')) return read_unicode(r);
  int c = peek(r);
  const char *place = c > 0 ? strchr(from, c) : NULL;
  if (!place) return expected(r, "an escape: one of \" \\ / b f n r t u");
  put_byte(r, (unsigned char)to[place - from]);
  r->at++;
  return true;
}

static bool read_text(JsonReader *r) {
  Json *node = node_new(r, JSON_TEXT);
  size_t from = r->used;
  if (!accept(r, '"')) return expected(r, "a key in quotes");
  while (!accept(r, '"')) {
    if (accept(r, '\\')) {
      if (!read_escape(r)) return false;
      continue;
    }
    size_t length = character_length(r->text + r->at, r->n - r->at);
    if (!length) return expected(r, peek(r) < 0 ? "a closing quote" : "a UTF-8 character");
    if (peek(r) < 0x20) return expected(r, "an escaped control character");
    while (length--) put_byte(r, (unsigned char)r->text[r->at++]);
  }
  node->n = (uint32_t)(r->used - from);
  node->text = r->pool ? r->pool + from : "";
  put_byte(r, 0);
  return true;
}

static bool read_value(JsonReader *r);

static bool read_pair(JsonReader *r) {
  skip_space(r);
  if (!read_text(r)) return false;
  skip_space(r);
  if (!accept(r, ':')) return expected(r, "`:`");
  return read_value(r);
}

// list = "[" (value ("," value)*)? "]"    object = "{" (text ":" value ("," …)*)? "}"
static bool read_items(JsonReader *r, JsonKind kind) {
  char close = kind == JSON_LIST ? ']' : '}';
  uint32_t from = r->count;
  Json *node = node_new(r, kind);
  if (r->depth == JSON_DEPTH_LIMIT)
    return file_error(r->arena, r->error, "at byte %zu: nested deeper than %d levels", r->at,
                      JSON_DEPTH_LIMIT);
  r->depth++;
  r->at++;
  skip_space(r);
  uint32_t n = 0;
  for (; !accept(r, close); n++) {
    if (n && !accept(r, ',')) return expected(r, kind == JSON_LIST ? "`,` or `]`" : "`,` or `}`");
    if (!(kind == JSON_LIST ? read_value(r) : read_pair(r))) return false;
    skip_space(r);
  }
  r->depth--;
  node->n = n;
  node->nodes = r->count - from;
  return true;
}

static bool read_word(JsonReader *r) {
  static const struct {
    const char *text;
    JsonKind kind;
  } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
  for (uint32_t i = 0; i < COUNT(words); i++) {
    size_t n = strlen(words[i].text);
    if (r->n - r->at < n || memcmp(r->text + r->at, words[i].text, n) != 0) continue;
    node_new(r, words[i].kind);
    r->at += n;
    return true;
  }
  return expected(r, "a value");
}

static bool read_value(JsonReader *r) {
  skip_space(r);
  int c = peek(r);
  if (c == '{') return read_items(r, JSON_OBJECT);
  if (c == '[') return read_items(r, JSON_LIST);
  if (c == '"') return read_text(r);
  if (c == '-' || is_digit(c)) return read_number(r);
  return read_word(r);
}

static bool read_all(JsonReader *r) {
  r->at = r->used = r->count = r->depth = 0;
  if (!read_value(r)) return false;
  skip_space(r);
  return r->at == r->n || expected(r, "the end");
}

static int key_order(const void *left, const void *right) {
  const Json *a = *(const Json *const *)left, *b = *(const Json *const *)right;
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  return memcmp(a->text, b->text, a->n);
}

static bool check_keys(JsonReader *r, const Json *object, const Json **keys) {
  uint32_t n = 0;
  for (const Json *key = json_keys(object); key; key = json_after(object, key)) keys[n++] = key;
  qsort(keys, n, sizeof *keys, key_order);
  for (uint32_t i = 1; i < object->n; i++)
    if (key_order(&keys[i - 1], &keys[i]) == 0)
      return file_error(r->arena, r->error, "the key `%s` is twice in one object",
                        text_shown(r->arena, keys[i]->text, keys[i]->n));
  return true;
}

static bool check_all_keys(JsonReader *r) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < r->count; i++)
    if (r->node[i].kind == JSON_OBJECT && r->node[i].n > most) most = r->node[i].n;
  if (most < 2) return true;
  const Json **keys = NEW_ARRAY(r->arena, const Json *, most);
  for (uint32_t i = 0; i < r->count; i++)
    if (r->node[i].kind == JSON_OBJECT && !check_keys(r, &r->node[i], keys)) return false;
  return true;
}

const Json *json_read(Arena *a, const char *text, size_t n, const char **error) {
  JsonReader r = {.arena = a, .text = text, .n = n, .error = error};
  if (n > UINT32_MAX) {
    file_error(a, error, "the text has %zu bytes, more than JSON of 4 GB", n);
    return NULL;
  }
  if (!read_all(&r)) return NULL;
  r.pool = arena_alloc(a, r.used + 1);
  r.node = NEW_ARRAY(a, Json, r.count);
  if (!read_all(&r) || !check_all_keys(&r)) return NULL;
  return r.node;
}

const Json *json_first(const Json *v) { return v + 1; }

const Json *json_next(const Json *v) {
  return v + (v->kind == JSON_LIST || v->kind == JSON_OBJECT ? v->nodes : 1);
}

const Json *json_items(const Json *v) {
  return v && v->kind == JSON_LIST && v->n ? json_first(v) : NULL;
}

const Json *json_keys(const Json *v) {
  return v && v->kind == JSON_OBJECT && v->n ? json_first(v) : NULL;
}

const Json *json_after(const Json *in, const Json *one) {
  const Json *next = json_next(in->kind == JSON_OBJECT ? one + 1 : one);
  return next < in + in->nodes ? next : NULL;
}

const Json *json_get(const Json *object, const char *name) {
  size_t n = strlen(name);
  for (const Json *key = json_keys(object); key; key = json_after(object, key))
    if (key->n == n && memcmp(key->text, name, n) == 0) return key + 1;
  return NULL;
}

const char *json_get_text(const Json *object, const char *key) {
  const Json *text = json_get(object, key);
  return text && text->kind == JSON_TEXT && strlen(text->text) == text->n ? text->text : NULL;
}

double json_get_number(const Json *object, const char *key, double none) {
  const Json *x = json_get(object, key);
  return x && x->kind == JSON_NUMBER ? x->number : none;
}

bool json_get_true(const Json *object, const char *key) {
  const Json *flag = json_get(object, key);
  return flag && flag->kind == JSON_TRUE;
}

// Arrays on the command line.

typedef struct {
  Arena *arena;
  const char *text;
  size_t at;
  bool ranked; // the rank is known
  uint32_t rank;
  int64_t shape[ARRAY_RANK_LIMIT]; // -1 = unknown
  int64_t index[ARRAY_RANK_LIMIT]; // current position
  double *data;
  int64_t count;
  const char **error;
} JsonRows;

static void rows_space(JsonRows *r) {
  while (is_space(r->text[r->at])) r->at++;
}

static bool rows_expected(JsonRows *r, const char *what) {
  const char *rest = r->text + r->at;
  if (!*rest) return file_error(r->arena, r->error, "the array ends where %s was wanted", what);
  size_t n = strcspn(rest, " \t\r\n,[]");
  return file_error(r->arena, r->error,
                    "at character %zu of the array: found `%s`, where %s was wanted", r->at + 1,
                    text_shown(r->arena, rest, n ? n : 1), what);
}

// "2.1": the first row of the second row, counted from 1
static const char *row_name(JsonRows *r, uint32_t depth, bool first) {
  Buf b = buf_new(r->arena);
  for (uint32_t i = 0; i < depth; i++)
    buf_printf(&b, "%s%lld", i ? "." : "", first ? 1LL : (long long)r->index[i] + 1);
  return b.at;
}

static bool row_end(JsonRows *r, uint32_t depth, int64_t n) {
  if (r->shape[depth] < 0) r->shape[depth] = n;
  if (r->shape[depth] == n) return true;
  return file_error(r->arena, r->error, "row %s has length %lld, but row %s has length %lld",
                    row_name(r, depth, false), (long long)n, row_name(r, depth, true),
                    (long long)r->shape[depth]);
}

static bool rank_is(JsonRows *r, uint32_t rank) {
  if (!r->ranked) r->rank = rank;
  r->ranked = true;
  return r->rank == rank;
}

// entry = "nan" | [+-]? ("inf" | decimal)
static bool read_entry(JsonRows *r, uint32_t depth) {
  const char *text = r->text + r->at;
  size_t sign = *text == '-' || *text == '+';
  size_t n = strcspn(text, " \t\r\n,[]");
  double *to = &r->data[r->count];
  if (n == 3 && memcmp(text, "nan", 3) == 0)
    *to = NAN;
  else if (n == sign + 3 && memcmp(text + sign, "inf", 3) == 0)
    *to = *text == '-' ? -INFINITY : INFINITY;
  else if (strspn(text, "0123456789.eE+-") != n || !number_value(text, n, to))
    return rows_expected(r, r->ranked && depth < r->rank ? "`[`" : "a number");
  if (!rank_is(r, depth)) return rows_expected(r, "`[`");
  r->at += n;
  r->count++;
  return true;
}

// rows = entry | "[" (rows ("," rows)*)? "]"
static bool read_rows(JsonRows *r, uint32_t depth) {
  rows_space(r);
  if (r->text[r->at] != '[') return read_entry(r, depth);
  if (r->ranked && depth == r->rank) return rows_expected(r, "a number");
  if (depth == ARRAY_RANK_LIMIT)
    return file_error(r->arena, r->error, "an array of more than %d axes", ARRAY_RANK_LIMIT);
  r->at++;
  rows_space(r);
  if (r->text[r->at] == ']') {
    r->at++;
    rank_is(r, depth + 1);
    return row_end(r, depth, 0);
  }
  for (int64_t n = 0;;) {
    r->index[depth] = n++;
    if (!read_rows(r, depth + 1)) return false;
    rows_space(r);
    char c = r->text[r->at];
    if (c != ',' && c != ']') return rows_expected(r, "`,` or `]`");
    r->at++;
    if (c == ']') return row_end(r, depth, n);
  }
}

bool array_parse(Arena *a, const char *text, Array *out, const char **error) {
  JsonRows r = {.arena = a, .text = text, .error = error};
  size_t most = 1;
  for (const char *p = text; *p; p++) most += *p == ',';
  for (uint32_t i = 0; i < ARRAY_RANK_LIMIT; i++) r.shape[i] = -1;
  r.data = NEW_ARRAY(a, double, most);
  if (!read_rows(&r, 0)) return false;
  rows_space(&r);
  if (r.text[r.at])
    return rows_expected(&r, r.rank ? "the end" : "the end (several numbers are written [1, 2])");
  *out = (Array){.name = "", .rank = r.rank, .count = r.count, .data = r.data, .kind = EL_F64};
  out->shape = arena_copy(a, r.shape, r.rank * sizeof *r.shape);
  return true;
}

// Prints one innermost row per line.
static void print_rows(Buf *b, const Array *x, uint32_t depth, int64_t *at, bool json) {
  if (depth == x->rank) {
    double number = x->data[(*at)++];
    bool quoted = json && !isfinite(number); // not representable in JSON
    if (quoted) buf_char(b, '"');
    buf_number(b, number);
    if (quoted) buf_char(b, '"');
    return;
  }
  buf_char(b, '[');
  for (int64_t i = 0; i < x->shape[depth]; i++) {
    if (i) buf_text(b, depth + 1 < x->rank ? ",\n" : ", ");
    if (i && depth + 1 < x->rank)
      for (uint32_t k = 0; k <= depth; k++) buf_char(b, ' ');
    print_rows(b, x, depth + 1, at, json);
  }
  buf_char(b, ']');
}

void array_print(Buf *b, const Array *x, bool json) {
  int64_t at = 0;
  print_rows(b, x, 0, &at, json);
}

bool json_as_array(Buf *b, const Json *j) {
  if (!j || (j->kind != JSON_NUMBER && j->kind != JSON_LIST)) return false;
  if (j->kind == JSON_NUMBER) return buf_number(b, j->number), true;
  buf_char(b, '[');
  for (const Json *first = json_items(j), *one = first; one; one = json_after(j, one)) {
    if (one != first) buf_text(b, ", ");
    if (!json_as_array(b, one)) return false;
  }
  buf_char(b, ']');
  return true;
}

void json_array(JsonOut *j, const char *key, const Array *x) {
  json_key(j, key);
  array_print(j->out, x, true);
}

void json_value(JsonOut *j, const char *key, double x) {
  json_array(j, key, &(Array){.count = 1, .data = &x});
}

// -- writing --------------------------------------------------------------------------------------
void json_copy(JsonOut *j, const char *key, const Json *from) {
  switch ((JsonKind)from->kind) {
  case JSON_NULL: json_text_or_null(j, key, NULL); return;
  case JSON_FALSE: json_bool(j, key, false); return;
  case JSON_TRUE: json_bool(j, key, true); return;
  case JSON_NUMBER: json_number(j, key, from->number); return;
  case JSON_TEXT:
    json_key(j, key);
    buf_json(j->out, from->text, from->n);
    return;
  case JSON_LIST: json_list(j, key); break;
  case JSON_OBJECT: json_object(j, key); break;
  }
  for (const Json *x = json_items(from); x; x = json_after(from, x)) json_copy(j, NULL, x);
  for (const Json *x = json_keys(from); x; x = json_after(from, x)) json_copy(j, x->text, x + 1);
  json_end(j);
}
