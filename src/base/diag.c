// Diagnostics: collected while a program is parsed and checked, then sorted and printed with source
// lines.
//
//   net.limn:3:14: error: `attend` wants its key axis to be k = 64, but `y` has d = 32 there
//      3 |   attend(x, y, v)
//        |             ^
//      1 | space Y = R[t d]
//        |             - d = 32 comes from here
#include "base/diag.h"
#include "base/base.h"
#include "base/json_write.h"
#include "base/source.h"

#include <stdlib.h>

// Separate limits, so that warnings never displace errors.
enum { DIAG_LIMIT = 200, WARNING_LIMIT = 100 };

Diags *diags_new(Arena *a, Sources *sources) {
  Diags *d = NEW(a, Diags);
  d->arena = a;
  d->sources = sources;
  vec_push(a, &d->list, (Diag){0}); // index 0 means no message
  return d;
}

// Formats a message and escapes control characters, because it may contain untrusted text.
static const char *escaped_format(const Diags *d, const char *format, va_list args) {
  const char *text = arena_vformat(d->arena, format, args);
  Buf b = buf_new(d->arena);
  buf_escaped(&b, text, strlen(text));
  return b.at;
}

static Id diag_add(Diags *d, DiagKind kind, Span span, const char *format, va_list args) {
  if (d->muted) return 0;
  d->met += kind == DIAG_ERROR;
  uint32_t since = d->since ? d->since : 1;
  // One message per span: the first is the cause. Warnings without a span are independent of each
  // other.
  bool placed = span.file || kind == DIAG_ERROR;
  for (uint32_t i = d->list.n; placed && i-- > since;) {
    Diag *old = &d->list.at[i];
    if (old->kind == kind && old->span.file == span.file && old->span.at == span.at &&
        old->span.n == span.n)
      return 0;
    if (d->list.n - i > 64) break;
  }
  uint32_t most = kind == DIAG_ERROR ? DIAG_LIMIT : WARNING_LIMIT;
  if (d->list.n - (since - 1) > most) { // beyond the limit: only counted
    d->errors += kind == DIAG_ERROR;
    d->omitted++;
    return 0;
  }
  const char *text = escaped_format(d, format, args);
  vec_push(d->arena, &d->list, (Diag){.kind = kind, .span = span, .text = text});
  if (kind == DIAG_ERROR) d->errors++;
  return d->list.n - 1;
}

Id diag_verror(Diags *d, Span span, const char *format, va_list args) {
  return diag_add(d, DIAG_ERROR, span, format, args);
}

Id diag_error(Diags *d, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Id id = diag_verror(d, span, format, args);
  va_end(args);
  return id;
}

bool diag_machine(Diags *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(d, (Span){0}, format, args);
  va_end(args);
  if (!d->muted) d->machine_failed = true;
  return false;
}

Id diag_warning(Diags *d, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Id id = diag_add(d, DIAG_WARNING, span, format, args);
  va_end(args);
  return id;
}

bool diag_note(Diags *d, Id id, Span span, const char *format, ...) {
  if (!id || !span.file) return false;
  va_list args;
  va_start(args, format);
  d->list.at[id].note = escaped_format(d, format, args);
  va_end(args);
  d->list.at[id].note_span = span;
  return false;
}

bool diag_help(Diags *d, Id id, const char *format, ...) {
  if (!id) return false;
  va_list args;
  va_start(args, format);
  d->list.at[id].help = escaped_format(d, format, args);
  va_end(args);
  return false;
}

DiagMark diags_mark(const Diags *d) { return (DiagMark){d->list.n, d->errors, d->met, d->omitted}; }

void diags_rewind(Diags *d, DiagMark to) {
  d->list.n = to.said;
  d->errors = to.errors, d->met = to.met, d->omitted = to.omitted;
}

static const char *copy_text(const Diags *d, const char *text) {
  return text ? arena_text(d->arena, text, strlen(text)) : NULL;
}

void diags_append(Diags *d, const Diags *from) {
  if (d->muted) return;
  for (uint32_t i = 1; i < from->list.n; i++) {
    Diag one = from->list.at[i];
    one.text = copy_text(d, one.text);
    one.note = copy_text(d, one.note);
    one.help = copy_text(d, one.help);
    one.place.path = copy_text(d, one.place.path);
    one.place.lines = copy_text(d, one.place.lines);
    one.note_place.path = copy_text(d, one.note_place.path);
    one.note_place.lines = copy_text(d, one.note_place.lines);
    vec_push(d->arena, &d->list, one);
    d->errors += one.kind == DIAG_ERROR;
    d->met += one.kind == DIAG_ERROR;
  }
}

static int diag_order(const void *left, const void *right) {
  const Diag *a = left, *b = right;
  if (a->span.file != b->span.file) return a->span.file < b->span.file ? -1 : 1;
  if (a->span.at != b->span.at) return a->span.at < b->span.at ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return strcmp(a->text, b->text);
}

void diags_sort(Diags *d) {
  if (d->list.n > 2) qsort(d->list.at + 1, d->list.n - 1, sizeof(Diag), diag_order);
}

// Escapes a part of a source line; tabs are kept.
static void put_escaped(Buf *b, const char *text, size_t n) {
  for (size_t tab; n; text += tab, n -= tab) {
    for (tab = 0; tab < n && text[tab] != '\t';) tab++;
    buf_escaped(b, text, tab);
    if (tab < n) buf_char(b, '\t'), tab++;
  }
}

// Appends one mark for each displayed character of the text; a tab counts as one. Returns their
// number.
static uint32_t put_marks(Buf *out, const char *text, size_t n, char mark) {
  Buf escaped = buf_new(out->arena);
  uint32_t marks = 0;
  put_escaped(&escaped, text, n);
  for (size_t i = 0; i < escaped.n; i++) {
    if (((unsigned char)escaped.at[i] & 0xC0) == 0x80) continue;
    buf_char(out, mark == ' ' && escaped.at[i] == '\t' ? '\t' : mark);
    marks++;
  }
  return marks;
}

// Prints the source line of a span with carets below; a long line is cut around the span. A line
// ends with \n or \r\n: any other \r is part of it.
static void print_line(const Sources *s, Span span, char mark, const char *text, Buf *out) {
  if (!span.file) return;
  const Source *f = &s->file.at[span.file];
  uint32_t line, column, from, to;
  source_place(s, span, &line, &column);
  from = f->line[line - 1];
  const char *dots = "";
  if (span.at > from + 100) {
    from = span.at - 40;
    while (from < span.at && ((unsigned char)f->text[from] & 0xC0) == 0x80) from++;
    dots = "…";
  }
  for (to = from; to < f->n && f->text[to] != '\n';) to++;
  if (to > from && f->text[to - 1] == '\r') to--;
  if (to > from + 160) {
    to = from + 160;
    while (to > from && ((unsigned char)f->text[to] & 0xC0) == 0x80) to--;
  }
  buf_printf(out, "%5u | %s", line, dots);
  put_escaped(out, f->text + from, to - from);
  buf_printf(out, "\n      | %s", *dots ? " " : "");
  uint32_t at = span.at < from ? from : span.at < to ? span.at : to;
  uint32_t end = span.at + span.n < to ? span.at + span.n : to;
  put_marks(out, f->text + from, at - from, ' ');
  if (end <= at || !put_marks(out, f->text + at, end - at, mark)) buf_char(out, mark);
  if (*text) buf_printf(out, " %s", text);
  buf_char(out, '\n');
}

static DiagPlace place_of(const Diags *d, Span span, char mark, const char *text) {
  DiagPlace p = {.path = "", .line = 1, .column = 1, .lines = ""};
  if (!span.file) return p;
  Buf lines = buf_new(d->arena);
  const char *path = d->sources->file.at[span.file].path;
  source_place(d->sources, span, &p.line, &p.column);
  const Source *f = &d->sources->file.at[span.file];
  for (uint32_t i = span.at; i < span.at + span.n && i < f->n; i++)
    p.length += ((unsigned char)f->text[i] & 0xC0) != 0x80; // counts characters, not bytes
  print_line(d->sources, span, mark, text, &lines);
  Buf escaped = buf_new(d->arena);
  buf_escaped(&escaped, path, strlen(path));
  p.path = escaped.at;
  p.lines = lines.at;
  return p;
}

void diags_settle(Diags *d) {
  for (uint32_t i = 1; i < d->list.n; i++) {
    Diag *e = &d->list.at[i];
    if (e->settled) continue;
    e->place = place_of(d, e->span, '^', "");
    if (e->note) e->note_place = place_of(d, e->note_span, '-', e->note);
    e->settled = true;
  }
}

void diags_print(Diags *d, Buf *out) {
  diags_settle(d);
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Diag *e = &d->list.at[i];
    if (*e->place.path)
      buf_printf(out, "%s:%u:%u: ", e->place.path, e->place.line, e->place.column);
    else
      buf_text(out, "limn: ");
    buf_printf(out, "%s: %s\n", e->kind == DIAG_ERROR ? "error" : "warning", e->text);
    buf_text(out, e->place.lines);
    if (e->note && strcmp(e->note_place.path, e->place.path) != 0)
      buf_printf(out, "   in %s\n", e->note_place.path);
    if (e->note) buf_text(out, e->note_place.lines);
    if (e->help) buf_printf(out, "      = %s\n", e->help);
  }
  if (d->omitted) buf_printf(out, "limn: and %u more\n", d->omitted);
}

static void json_place(const DiagPlace *p, JsonOut *j) {
  json_text(j, "file", p->path);
  json_print(j, "line", "%u", p->line);
  json_print(j, "column", "%u", p->column);
  json_print(j, "length", "%u", p->length);
}

void diags_json(Diags *d, Buf *out) {
  JsonOut j = json_out(out);
  diags_settle(d);
  json_list_lines(&j, NULL);
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Diag *e = &d->list.at[i];
    json_object(&j, NULL);
    json_text(&j, "kind", e->kind == DIAG_ERROR ? "error" : "warning");
    json_place(&e->place, &j);
    json_text(&j, "message", e->text);
    if (e->note) {
      json_object(&j, "note");
      json_place(&e->note_place, &j);
      json_text(&j, "message", e->note);
      json_end(&j);
    }
    if (e->help) json_text(&j, "help", e->help);
    json_end(&j);
  }
  json_end(&j);
}

// Damerau–Levenshtein distance (with transpositions); 99 if the lengths differ by more than 3.
static uint32_t edit_distance(const char *a, const char *b) {
  enum { LONG = 40 };
  size_t n = strlen(a), m = strlen(b);
  if (n > LONG || m > LONG || n > m + 3 || m > n + 3) return 99;
  uint32_t row[LONG + 1][LONG + 1];
  for (size_t i = 0; i <= n; i++) {
    for (size_t j = 0; j <= m; j++) {
      if (!i || !j) {
        row[i][j] = (uint32_t)(i + j);
        continue;
      }
      uint32_t best = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (row[i - 1][j] + 1 < best) best = row[i - 1][j] + 1;
      if (row[i][j - 1] + 1 < best) best = row[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          row[i - 2][j - 2] + 1 < best)
        best = row[i - 2][j - 2] + 1;
      row[i][j] = best;
    }
  }
  return row[n][m];
}

Nearest nearest_to(const char *text) {
  size_t n = strlen(text);
  return (Nearest){.text = text, .least = n <= 3 ? 2 : n <= 6 ? 3 : 4};
}

// Ties: the candidate with the longer common prefix wins.
static size_t common_start(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n]) n++;
  return n;
}

void nearest_try(Nearest *s, const char *name) {
  size_t n = strlen(s->text);
  uint32_t d = edit_distance(s->text, name);
  bool tie = s->best && d == s->least &&
             (common_start(s->text, name) > common_start(s->text, s->best) ||
              (common_start(s->text, name) == common_start(s->text, s->best) &&
               strlen(s->best) != n && strlen(name) == n)); // a transposition
  if ((d < s->least || tie) && d < n) s->least = d, s->best = name;
}

const char *nearest_name(const char *text, const char *const *candidate, uint32_t count) {
  Nearest s = nearest_to(text);
  for (uint32_t i = 0; i < count; i++) nearest_try(&s, candidate[i]);
  return s.best;
}

bool diag_suggest(Diags *d, Id e, const char *name) {
  if (name) diag_help(d, e, "did you mean `%s`?", name);
  return name != NULL;
}
