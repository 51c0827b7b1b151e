// Which method a message names, found by a scan: a reader sorts messages by it before they are parsed.
#include "rpc/rpc.h"

// After the string that begins here; NULL: it does not end.
static const char *string_end(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && !*++at) return NULL;
  return *at ? at + 1 : NULL;
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

// Only members of the outermost object count: its params may have a "method" too.
bool rpc_names_method(const char *message, const char *method) {
  unsigned depth = 0;
  size_t n = strlen(method);
  for (const char *at = message; *at;) {
    const char *end = *at == '"' ? string_end(at) : at + 1;
    if (!end) return false;
    const char *value = skip_blanks(end);
    bool key = *at == '"' && depth == 1 && *value == ':';
    if (key && strncmp(at, "\"method\"", 8) == 0) {
      value = skip_blanks(value + 1);
      return *value == '"' && strncmp(value + 1, method, n) == 0 &&
             (value[n + 1] == '"' || method[n - 1] == '/');
    }
    depth += *at == '{' || *at == '[';
    depth -= depth && (*at == '}' || *at == ']');
    at = end;
  }
  return false;
}
