// A run folder of any files: it is listed, and its rows are read, or there is a message.
#define _XOPEN_SOURCE 700
#include "folder.h"
#include "run/runs/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void numbers(Arena *a, const char *path) {
  const char *error = NULL;
  MetricRows rows = {0};
  uint32_t column;
  if (!rows_read(a, path, &rows, &error)) {
    must(error != NULL);
    return;
  }
  must(rows.value.n == rows.known.n && rows.value.n == rows.rows * rows.name.n);
  for (uint32_t i = 0; i < rows.name.n; i++) must(rows_find(&rows, rows.name.at[i], &column));
}

static void note(Arena *a, const char *folder) {
  const char *error = NULL;
  RunNote read = {0};
  Buf out = buf_new(a);
  double x;
  if (!note_read(a, folder, &read, &error)) {
    must(error != NULL);
    return;
  }
  note_text(&read, "date");
  note_number(&read, "steps", &x);
  note_print(&read, &out);
  must(json_read(a, out.at, out.n, &error) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static const char *const names[] = {"run.json", "metrics.csv", "model.safetensors"};
  Arena *a = arena_new();
  const char *error = NULL, *folder = own_folder();
  RunInfos runs = {0};
  must(a);
  put_parts(folder, (const char *)bytes, n, names, COUNT(names));
  must(runs_read(a, folder, &runs, &error) || error);
  for (uint32_t i = 0; i < 2; i++) {
    Buf out = buf_new(a);
    runs_print(&runs, i, &out);
    must(!i || json_read(a, out.at, out.n, &error));
  }
  for (uint32_t i = 0; i < runs.n; i++) run_has(&runs.at[i], "net");
  note(a, folder);
  numbers(a, arena_format(a, "%s/metrics.csv", folder));
  must(arena_used(a) <= 100 * n + (4 << 20)); // a megabyte for each file of no size
  arena_free(a);
  return 0;
}
