// The safetensors format: named arrays in one file.
//
//   length of the header | header, padded with spaces | numbers, little-endian, without gaps
//     8 bytes              {"__metadata__": {"key": "text"},
//                           "w": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, …}
//
// Everything is checked before memory for numbers is allocated: the shape and type of each tensor
// agree with its span, and the sorted spans cover the data exactly, without gaps or overlaps.
//
// A file may contain a checksum over all bytes except its digits. Keys at both ends of the metadata
// announce it, so that no single damage makes the file look like one without a checksum.
//
// Every written file can be read: names are validated by the reader's rules. The order of the
// arrays is kept.
#include "base/files.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/table.h"
#include "io/bytes/bytes.h"

#include <assert.h>
#include <stdlib.h>

#define METADATA_KEY "__metadata__"

// A tensor of the header; begin … end: its span in the data.
typedef struct {
  Array array;
  uint64_t begin, end;
} FileTensor;

typedef struct {
  Arena *arena;
  const char **error;
  uint64_t data_bytes;
  FileTensor *tensor; // in header order
  uint32_t n;
} SafetensorsReader;

static const char *shown(SafetensorsReader *r, const char *name) {
  return text_shown(r->arena, name, strlen(name));
}

static bool has_zero(const Json *text) { return memchr(text->text, 0, text->n) != NULL; }

static bool tensor_error(SafetensorsReader *r, const char *name, const char *what) {
  return file_error(r->arena, r->error, "tensor `%s`: %s", shown(r, name), what);
}

// A natural number below 2^53.
static bool json_natural(const Json *v, uint64_t *out) {
  if (v->kind != JSON_NUMBER || !v->natural || v->number >= 9007199254740992.0) return false;
  *out = (uint64_t)v->number;
  return true;
}

static bool read_dtype(SafetensorsReader *r, Array *x, const Json *v) {
  if (!v || v->kind != JSON_TEXT) return tensor_error(r, x->name, "it has no dtype in quotes");
  for (uint32_t k = 0; k < EL_COUNT; k++) {
    if (strcmp(v->text, element_info[k].safetensors) != 0 || has_zero(v)) continue;
    x->kind = (ElementKind)k;
    return true;
  }
  return file_error(
      r->arena, r->error,
      "tensor `%s`: its dtype is %s, where one of F64 F32 F16 BF16 I64 I32 I16 I8 U64 "
      "U32 U16 U8 BOOL was wanted",
      shown(r, x->name), text_shown(r->arena, v->text, v->n));
}

static bool read_shape(SafetensorsReader *r, Array *x, const Json *v) {
  if (!v || v->kind != JSON_LIST) return tensor_error(r, x->name, "it has no shape in brackets");
  if (v->n > ARRAY_RANK_LIMIT)
    return file_error(r->arena, r->error, "tensor `%s`: its shape has %u axes, more than %d",
                      shown(r, x->name), v->n, ARRAY_RANK_LIMIT);
  x->rank = v->n;
  x->shape = NEW_ARRAY(r->arena, int64_t, v->n);
  uint32_t k = 0;
  for (const Json *item = json_items(v); item; item = json_after(v, item)) {
    uint64_t length;
    if (!json_natural(item, &length))
      return tensor_error(r, x->name, "its shape holds something that is not a length");
    x->shape[k++] = (int64_t)length;
  }
  if (array_count(x->rank, x->shape, &x->count)) return true;
  return file_error(r->arena, r->error, "tensor `%s`: %s is more than any memory holds",
                    shown(r, x->name), array_type(r->arena, x));
}

static bool read_offsets(SafetensorsReader *r, FileTensor *t, const Json *v) {
  const char *name = t->array.name;
  if (!v || v->kind != JSON_LIST || v->n != 2 || !json_natural(v + 1, &t->begin) ||
      !json_natural(v + 2, &t->end))
    return tensor_error(r, name, "it has no data_offsets of two whole numbers");
  if (t->begin > t->end || t->end > r->data_bytes)
    return file_error(
        r->arena, r->error,
        "tensor `%s`: its data_offsets are %llu to %llu, but there are %llu bytes of data",
        shown(r, name), (unsigned long long)t->begin, (unsigned long long)t->end,
        (unsigned long long)r->data_bytes);
  uint64_t bytes = (uint64_t)t->array.count * element_info[t->array.kind].bytes;
  if (bytes == t->end - t->begin) return true;
  return file_error(r->arena, r->error,
                    "tensor `%s`: %s has %llu bytes, but its data_offsets span %llu",
                    shown(r, name), array_type(r->arena, &t->array), (unsigned long long)bytes,
                    (unsigned long long)(t->end - t->begin));
}

static bool read_tensor(SafetensorsReader *r, const Json *key, FileTensor *t) {
  const Json *v = key + 1;
  t->array.name = key->text;
  if (has_zero(key)) return tensor_error(r, key->text, "its name holds a zero character");
  if (v->kind != JSON_OBJECT) return tensor_error(r, key->text, "it is not described in `{}`");
  if (!read_dtype(r, &t->array, json_get(v, "dtype"))) return false;
  if (!read_shape(r, &t->array, json_get(v, "shape"))) return false;
  if (!read_offsets(r, t, json_get(v, "data_offsets"))) return false;
  return v->n == 3 ||
         tensor_error(r, key->text, "it has keys other than dtype, shape and data_offsets");
}

static bool read_metadata(SafetensorsReader *r, const Json *v, Arrays *out) {
  if (!v) return true;
  if (v->kind != JSON_OBJECT)
    return file_error(r->arena, r->error, METADATA_KEY " is not an object of texts");
  out->metadata.at = NEW_ARRAY(r->arena, Metadata, v->n);
  out->metadata.n = out->metadata.cap = v->n;
  const Json *key = json_first(v);
  for (uint32_t i = 0; i < v->n; i++, key = json_next(key + 1)) {
    if (key[1].kind != JSON_TEXT || has_zero(key) || has_zero(key + 1))
      return file_error(r->arena, r->error,
                        METADATA_KEY ": `%s` is not a text without zero characters",
                        shown(r, key->text));
    out->metadata.at[i] = (Metadata){key->text, key[1].text};
  }
  return true;
}

static int span_order(const void *left, const void *right) {
  const FileTensor *a = *(const FileTensor *const *)left, *b = *(const FileTensor *const *)right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a > b) - (a < b); // header order
}

// The sorted spans cover the data without gaps or overlaps.
static bool spans_cover(SafetensorsReader *r) {
  const FileTensor **sorted = NEW_ARRAY(r->arena, const FileTensor *, r->n);
  uint64_t at = 0;
  for (uint32_t i = 0; i < r->n; i++) sorted[i] = &r->tensor[i];
  if (r->n) qsort(sorted, r->n, sizeof *sorted, span_order);
  for (uint32_t i = 0; i < r->n; at = sorted[i++]->end) {
    if (sorted[i]->begin < at)
      return file_error(
          r->arena, r->error,
          "tensor `%s` begins at byte %llu of the data, inside tensor `%s`, which ends "
          "at %llu",
          shown(r, sorted[i]->array.name), (unsigned long long)sorted[i]->begin,
          shown(r, sorted[i - 1]->array.name), (unsigned long long)at);
    if (sorted[i]->begin > at)
      return file_error(r->arena, r->error, "bytes %llu to %llu of the data belong to no tensor",
                        (unsigned long long)at, (unsigned long long)sorted[i]->begin);
  }
  return at == r->data_bytes ||
         file_error(r->arena, r->error,
                    "the tensors end at byte %llu of the data, which ends at byte %llu",
                    (unsigned long long)at, (unsigned long long)r->data_bytes);
}

static bool read_tensors(SafetensorsReader *r, const Json *header) {
  r->tensor = NEW_ARRAY(r->arena, FileTensor, header->n);
  const Json *key = json_first(header);
  for (uint32_t i = 0; i < header->n; i++, key = json_next(key + 1)) {
    if (strcmp(key->text, METADATA_KEY) == 0 && !has_zero(key)) continue;
    if (!read_tensor(r, key, &r->tensor[r->n++])) return false;
  }
  return spans_cover(r);
}

static bool load_tensors(SafetensorsReader *r, const uint8_t *data, Arrays *out) {
  out->array.at = NEW_ARRAY(r->arena, Array, r->n);
  out->array.n = out->array.cap = r->n;
  for (uint32_t i = 0; i < r->n; i++) {
    FileTensor *t = &r->tensor[i];
    if (!array_load(r->arena, &t->array, data + t->begin, false, false, r->error))
      return tensor_error(r, t->array.name, *r->error);
    out->array.at[i] = t->array;
  }
  return true;
}

static bool header_length(Arena *a, const uint8_t *file, size_t n, uint64_t *length,
                          const char **error) {
  *length = 0;
  if (n < 8)
    return file_error(a, error, "it has %zu bytes, where a safetensors file has at least 10", n);
  *length = bytes_load(file, 8, false);
  if (*length > n - 8)
    return file_error(a, error, "it says its header has %llu bytes, but only %zu follow",
                      (unsigned long long)*length, n - 8);
  if (*length && file[8] == '{') return true;
  return file_error(a, error, "its header begins with `%s`, where `{` was wanted",
                    text_shown(a, (const char *)file + 8, *length ? 1 : 0));
}

// -- the checksum ---------------------------------------------------------------------------------
#define SUM_KEY "limn_sum"
#define SUM_END_KEY "limn_summed"
enum { SUM_DIGITS = 16 };
static const char sum_place[] = "{\"" METADATA_KEY "\":{\"" SUM_KEY "\":\""; // after the length

void sum_begin(Arena *a, Arrays *all) {
  vec_push(a, &all->metadata, (Metadata){SUM_KEY, "0000000000000000"});
}

void sum_end(Arena *a, Arrays *all) {
  vec_push(a, &all->metadata, (Metadata){SUM_END_KEY, "all bytes but the digits of " SUM_KEY});
}

static bool has_sum(const uint8_t *file, size_t n) {
  size_t at = 8 + sizeof sum_place - 1;
  return n > at + SUM_DIGITS && memcmp(file + 8, sum_place, sizeof sum_place - 1) == 0 &&
         file[at + SUM_DIGITS] == '"';
}

static void sum_digits(const uint8_t *file, size_t n, char digits[SUM_DIGITS + 1]) {
  size_t before = 8 + sizeof sum_place - 1, after = before + SUM_DIGITS;
  uint64_t sum = hash_sum(hash_sum(HASH_START, file, before), file + after, n - after);
  snprintf(digits, SUM_DIGITS + 1, "%016llx", (unsigned long long)sum);
}

void sum_put(Bytes *b) {
  char digits[SUM_DIGITS + 1];
  if (!has_sum(b->at, b->n)) return;
  sum_digits(b->at, b->n, digits);
  memcpy(b->at + 8 + sizeof sum_place - 1, digits, SUM_DIGITS);
}

static bool check_sum(Arena *a, const uint8_t *file, size_t n, const Arrays *found,
                      const char **error) {
  char digits[SUM_DIGITS + 1];
  bool begins = has_sum(file, n), ends = arrays_metadata(found, SUM_END_KEY) != NULL;
  if (!begins && !ends) return true;
  if (begins) sum_digits(file, n, digits);
  if (begins && ends && memcmp(file + 8 + sizeof sum_place - 1, digits, SUM_DIGITS) == 0)
    return true;
  return file_error(a, error, "its check sum is not that of its bytes: it is damaged");
}

bool safetensors_read_bytes(Arena *a, const void *bytes, size_t n, Arrays *out,
                            const char **error) {
  const uint8_t *file = bytes;
  uint64_t length;
  Arrays found = {0};
  if (!header_length(a, file, n, &length, error)) return false;
  const Json *header = json_read(a, (const char *)file + 8, (size_t)length, error);
  if (!header) return file_error(a, error, "its header is not valid JSON: %s", *error);
  SafetensorsReader r = {.arena = a, .error = error, .data_bytes = n - 8 - length};
  if (!read_metadata(&r, json_get(header, METADATA_KEY), &found)) return false;
  if (!check_sum(a, file, n, &found, error)) return false;
  if (!read_tensors(&r, header)) return false;
  if (!load_tensors(&r, file + 8 + length, &found)) return false;
  *out = found;
  return true;
}

bool safetensors_read(Arena *a, const char *path, Arrays *out, const char **error) {
  if (path_exists(path) && !path_is_file(path) &&
      !path_is_folder(path)) // opening a pipe would block
    return file_error(a, error, "cannot read %s: it is not a regular file", path);
  FileText file = array_file(a, path, error);
  if (!file.text) return false;
  if (safetensors_read_bytes(a, file.text, file.n, out, error)) return true;
  return file_error(a, error, "%s: %s", path, *error);
}

const Array *arrays_find(const Arrays *arrays, const char *name) {
  for (uint32_t i = 0; i < arrays->array.n; i++)
    if (strcmp(arrays->array.at[i].name, name) == 0) return &arrays->array.at[i];
  return NULL;
}

const char *arrays_metadata(const Arrays *arrays, const char *key) {
  for (uint32_t i = 0; i < arrays->metadata.n; i++)
    if (strcmp(arrays->metadata.at[i].key, key) == 0) return arrays->metadata.at[i].value;
  return NULL;
}

// Writing.

static bool name_add(Arena *a, Table *names, const char *name, const char **error) {
  size_t n = strlen(name);
  if (!text_is_utf8(name, n))
    return file_error(a, error, "the name `%s` is not UTF-8", text_shown(a, name, n));
  if (table_get(names, name, n))
    return file_error(a, error, "the name `%s` stands for two things", text_shown(a, name, n));
  table_put(names, name, n, 1);
  return true;
}

static bool write_metadata(Arena *a, JsonOut *j, const Arrays *arrays, const char **error) {
  if (!arrays->metadata.n) return true;
  Table *names = table_new(a);
  json_object(j, METADATA_KEY);
  for (uint32_t i = 0; i < arrays->metadata.n; i++) {
    const Metadata *m = &arrays->metadata.at[i];
    if (!name_add(a, names, m->key, error)) return false;
    if (!text_is_utf8(m->value, strlen(m->value)))
      return file_error(a, error, "the text of `%s` is not UTF-8",
                        text_shown(a, m->key, strlen(m->key)));
    json_text(j, m->key, m->value);
  }
  json_end(j);
  return true;
}

static size_t array_bytes(const Array *x) { return (size_t)x->count * element_info[x->kind].bytes; }

static void write_tensor(JsonOut *j, const Array *x, size_t begin) {
  json_object(j, x->name);
  json_text(j, "dtype", element_info[x->kind].safetensors);
  json_list(j, "shape");
  for (uint32_t i = 0; i < x->rank; i++) json_print(j, NULL, "%lld", (long long)x->shape[i]);
  json_end(j);
  json_print(j, "data_offsets", "[%zu,%zu]", begin, begin + array_bytes(x));
  json_end(j);
}

static bool write_header(Arena *a, Buf *b, const Arrays *arrays, size_t *data, const char **error) {
  Table *names = table_new(a);
  JsonOut j = json_out(b);
  j.tight = true;
  if (!name_add(a, names, METADATA_KEY, error)) return false;
  json_object(&j, NULL);
  if (!write_metadata(a, &j, arrays, error)) return false;
  *data = 0;
  for (uint32_t i = 0; i < arrays->array.n; i++) {
    const Array *x = &arrays->array.at[i];
    int64_t count;
    bool good =
        x->rank <= ARRAY_RANK_LIMIT && array_count(x->rank, x->shape, &count) && count == x->count;
    assert(good), (void)good;
    if (!name_add(a, names, x->name, error)) return false;
    write_tensor(&j, x, *data);
    *data += array_bytes(x);
  }
  json_end(&j);
  while (b->n % 8) buf_char(b, ' ');
  return true;
}

bool safetensors_frame(Arena *a, const Arrays *arrays, Bytes *out, uint8_t **data,
                       const char **error) {
  Buf header = buf_new(a);
  size_t bytes;
  if (!write_header(a, &header, arrays, &bytes, error)) return false;
  out->n = 8 + header.n + bytes;
  out->at = arena_alloc(a, out->n);
  bytes_store(header.n, out->at, 8);
  memcpy(out->at + 8, header.at, header.n);
  *data = out->at + 8 + header.n;
  return true;
}

bool safetensors_bytes(Arena *a, const Arrays *arrays, Bytes *out, const char **error) {
  uint8_t *to;
  if (!safetensors_frame(a, arrays, out, &to, error)) return false;
  for (uint32_t i = 0; i < arrays->array.n; i++) {
    const Array *x = &arrays->array.at[i];
    if (!array_store(a, x, to, error))
      return file_error(a, error, "tensor `%s`: %s", text_shown(a, x->name, strlen(x->name)),
                        *error);
    to += array_bytes(x);
  }
  return true;
}

bool safetensors_write(Arena *a, const char *path, const Arrays *arrays, const char **error) {
  Bytes bytes;
  if (!safetensors_bytes(a, arrays, &bytes, error))
    return file_error(a, error, "%s: %s", path, *error);
  return file_put(a, path, bytes.at, bytes.n, error);
}
