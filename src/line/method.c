// Which method a message names, without reading the rest of it: that tells whose it is.
#include "line/line.h"

#include <string.h>

// Behind a text that begins here; NULL: it does not end.
static const char *text_end(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && !*++at) return NULL;
  return *at ? at + 1 : NULL;
}

static const char *blank_end(const char *at) { return at + strspn(at, " \t\r\n"); }

// Only the object itself is asked: what it holds may have a "method" too.
bool message_is(const char *message, const char *method) {
  unsigned depth = 0;
  size_t n = strlen(method);
  for (const char *at = message; *at;) {
    const char *end = *at == '"' ? text_end(at) : at + 1;
    if (!end) return false;
    const char *value = blank_end(end);
    bool key = *at == '"' && depth == 1 && *value == ':';
    if (key && strncmp(at, "\"method\"", 8) == 0) {
      value = blank_end(value + 1);
      return *value == '"' && strncmp(value + 1, method, n) == 0 &&
             (value[n + 1] == '"' || method[n - 1] == '/');
    }
    depth += *at == '{' || *at == '[';
    depth -= depth && (*at == '}' || *at == ']');
    at = end;
  }
  return false;
}
