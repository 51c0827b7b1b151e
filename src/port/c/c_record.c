// A struct of arrays: weights, or the state of training. Given its members, writes its type, its
// initialiser, and its bytes, which equal the struct in memory on a machine of the same byte order:
// decreasing element widths leave no padding.
#include "port/c/c_own.h"

#include <math.h>
#include <stdlib.h>

const char *c_number_text(Number n) {
  static const char *const text[] = {[NUMBER_F32] = "float",
                                     [NUMBER_F64] = "double",
                                     [NUMBER_I32] = "int32_t",
                                     [NUMBER_U8] = "unsigned char"};
  return text[n];
}

uint32_t c_record_add(Arena *a, CRecord *r, CMember m) {
  const char **taken = NEW_ARRAY(a, const char *, r->n + 1);
  for (uint32_t i = 0; i < r->n; i++) taken[i] = r->at[i].name;
  m.name = c_distinct(a, c_identifier(a, m.path), taken, r->n);
  vec_push(a, r, m);
  return r->n - 1;
}

// The members in order of decreasing element width.
static const CMember **in_order(Arena *a, const CRecord *r) {
  const CMember **to = NEW_ARRAY(a, const CMember *, r->n + 1);
  uint32_t n = 0;
  for (size_t wide = 8; wide; wide /= 2)
    for (uint32_t i = 0; i < r->n; i++)
      if (number_bytes(r->at[i].number) == wide) to[n++] = &r->at[i];
  return to;
}

void c_record_type(Arena *a, const CRecord *r, Buf *h) {
  const CMember **member = in_order(a, r);
  buf_printf(h, "typedef struct {\n%s", r->head ? r->head : "");
  for (uint32_t i = 0; i < r->n; i++)
    buf_printf(h, "  %s %s[%lld]; // %s : %s\n", c_number_text(member[i]->number), member[i]->name,
               (long long)member[i]->count, member[i]->path, member[i]->says);
  buf_printf(h, "} %s;\n", r->name);
}

// The shortest decimal that reads back as the same value.
static void write_real(Buf *b, Number number, double x) {
  char text[40];
  int digits = number == NUMBER_F32 ? 6 : 15;
  do snprintf(text, sizeof text, "%.*g", digits++, x);
  while (number == NUMBER_F32 ? strtof(text, NULL) != (float)x : strtod(text, NULL) != x);
  buf_text(b, text);
  if (!strpbrk(text, ".e")) buf_text(b, ".0");
  if (number == NUMBER_F32) buf_char(b, 'f');
}

static void write_number(Buf *b, const CMember *m, int64_t i) {
  switch (m->number) {
  case NUMBER_F32: write_real(b, m->number, (double)((const float *)m->data)[i]); break;
  case NUMBER_F64: write_real(b, m->number, ((const double *)m->data)[i]); break;
  case NUMBER_I32: buf_printf(b, "%d", (int)((const int32_t *)m->data)[i]); break;
  case NUMBER_U8: buf_printf(b, "%d", (int)((const uint8_t *)m->data)[i]); break;
  case NUMBER_BF16: break;
  }
}

void c_record_value(Arena *a, const CRecord *r, Buf *c) {
  enum { WIDE = 100 };
  const CMember **member = in_order(a, r);
  buf_text(c, "{\n");
  for (uint32_t i = 0; i < r->n; i++) {
    size_t line = c->n;
    buf_text(c, "  {");
    for (int64_t k = 0; k < member[i]->count; k++) {
      if (c->n - line > WIDE) {
        buf_text(c, "\n  ");
        line = c->n;
      }
      write_number(c, member[i], k);
      buf_char(c, ',');
    }
    buf_text(c, "},\n");
  }
  buf_char(c, '}');
}

void c_record_bytes(Arena *a, const CRecord *r, Buf *bytes) {
  const CMember **member = in_order(a, r);
  for (int64_t i = 0; i < r->head_bytes; i++)
    buf_char(bytes, (char)(i < 8 ? r->seed >> (8 * i) & 255 : 0));
  for (uint32_t i = 0; i < r->n; i++)
    buf_add(bytes, member[i]->data, (size_t)member[i]->count * number_bytes(member[i]->number));
  while ((int64_t)bytes->n < c_record_size(r)) buf_char(bytes, 0);
}

// sizeof the struct: rounded up to its widest element.
int64_t c_record_size(const CRecord *r) {
  int64_t bytes = r->head_bytes, widest = r->head_bytes ? 8 : 1;
  for (uint32_t i = 0; i < r->n; i++) {
    int64_t each = (int64_t)number_bytes(r->at[i].number);
    bytes += r->at[i].count * each;
    if (each > widest) widest = each;
  }
  return (bytes + widest - 1) / widest * widest;
}
