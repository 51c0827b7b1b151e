// What is seen of an SVG: its marks, without titles, the description and ids.
#define _POSIX_C_SOURCE 200809L
#include "painted_help.h"

static size_t skip_element(const char *at, const char *open, const char *close) {
  const char *end = strncmp(at, open, strlen(open)) == 0 ? strstr(at, close) : NULL;
  return end ? (size_t)(end - at) + strlen(close) : 0;
}

const char *painted(Arena *a, const char *svg, size_t n, size_t *bytes) {
  Buf b = buf_new(a);
  for (const char *at = svg; at < svg + n;) {
    size_t skip = skip_element(at, "<title>", "</title>") + skip_element(at, "<desc>", "</desc>");
    if (!skip && strncmp(at, " id=\"", 5) == 0) skip = 5 + strcspn(at + 5, "\"");
    if (!skip && strncmp(at, " data-id=\"", 10) == 0) skip = 10 + strcspn(at + 10, "\"");
    if (!skip && strncmp(at, "\"#p", 3) == 0) skip = strcspn(at, "-");
    if (skip)
      at += skip;
    else
      buf_char(&b, *at++);
  }
  *bytes = b.n;
  return b.at;
}
