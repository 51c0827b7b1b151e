// A file of events that is there: it is continued after its last whole record, whatever is in it,
// or there is a message; what was written is there when it is opened again.
#define _XOPEN_SOURCE 700
#include "folder.h"
#include "io/bytes/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static long size_of_file(const char *path) {
  struct stat s;
  return stat(path, &s) ? -1 : (long)s.st_size;
}

static long add_one(const char *path) {
  Arena *a = arena_new();
  const char *error = NULL;
  must(a);
  Events *e = events_open(a, path, 1, &error);
  must(e || error);
  if (e) {
    events_scalar(e, 7, 2, "loss", 0.5);
    must(events_flush(e, &error) || error);
  }
  arena_free(a);
  return e ? size_of_file(path) : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  char path[1200];
  snprintf(path, sizeof path, "%s/events", own_folder());
  put_file(path, bytes, n);
  long once = add_one(path), twice = once < 0 ? -1 : add_one(path),
       thrice = twice < 0 ? -1 : add_one(path);
  must(once < 0 || (thrice - twice == twice - once && twice > once));
  return 0;
}
