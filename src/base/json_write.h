// json_write.h: a JSON writer, which inserts the commas. In a list, key is NULL.
//
//   JsonOut j = json_out(&buf);
//   json_object(&j, NULL);
//   json_text(&j, "name", "iris");
//   json_number(&j, "rows", 150);
//   json_end(&j);                  {"name": "iris", "rows": 150}
#ifndef LIMN_BASE_JSON_WRITE_H
#define LIMN_BASE_JSON_WRITE_H

#include "base/base.h"

enum { JSON_OUT_DEPTH = 16 };
typedef struct {
  char end;
  bool lines, any; // one item per line; the level is not empty
} JsonLevel;
struct JsonOut {
  Buf *out;
  bool tight; // without spaces
  uint32_t depth;
  JsonLevel level[JSON_OUT_DEPTH];
};
JsonOut json_out(Buf *);
void json_object(JsonOut *, const char *key);
void json_list(JsonOut *, const char *key);
void json_object_lines(JsonOut *, const char *key);
void json_list_lines(JsonOut *, const char *key);
void json_end(JsonOut *); // closes the innermost object or list
void json_text(JsonOut *, const char *key, const char *text);
void json_text_or_null(JsonOut *, const char *key, const char *text); // writes null if text is NULL
void json_number(JsonOut *, const char *key, double);                 // writes null if not finite
void json_bool(JsonOut *, const char *key, bool);
// The caller appends the value to `out`.
void json_key(JsonOut *, const char *key);
// The formatted text must be valid JSON.
void json_print(JsonOut *, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
