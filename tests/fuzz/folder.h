// A folder for harnesses that read files: in FUZZ_TMP, which whoever runs them makes and removes.
// An input is several files:
//
//   == run.json
//   {"state": "running"}
//   == metrics.csv
//   step,epoch,time
//
// Only names that the harness knows are written; what an input does not have is not there.
#ifndef LIMN_FUZZ_FOLDER_H
#define LIMN_FUZZ_FOLDER_H

#include "base/base.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(bool condition) {
  if (!condition) abort();
}

// Of this process; it is made anew after a fork.
static const char *own_folder(void) {
  static char path[1000];
  static pid_t owner;
  if (owner == getpid()) return path;
  const char *tmp = getenv("FUZZ_TMP");
  owner = getpid();
  snprintf(path, sizeof path, "%s/limn-fuzz-%ld", tmp ? tmp : "/tmp", (long)owner);
  mkdir(path, 0700);
  return path;
}

static inline void put_file(const char *path, const void *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  must(f != NULL);
  must(fwrite(bytes, 1, n, f) == n);
  fclose(f);
}

// The end of the part that begins here: the next line with ==, or the end.
static inline size_t part_end(const char *text, size_t n, size_t at) {
  while (at + 3 < n && (memcmp(text + at, "== ", 3) || (at && text[at - 1] != '\n'))) at++;
  return at + 3 < n ? at : n;
}

static inline void put_parts(const char *folder, const char *text, size_t n,
                             const char *const *name, uint32_t names) {
  char path[1200];
  for (uint32_t i = 0; i < names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, name[i]);
    unlink(path);
  }
  for (size_t at = part_end(text, n, 0); at < n;) {
    const char *line = memchr(text + at, '\n', n - at);
    size_t begin = line ? (size_t)(line - text) + 1 : n, end = part_end(text, n, begin);
    for (uint32_t i = 0; i < names; i++) {
      size_t length = strlen(name[i]);
      if (n - at < 3 + length + 1 || memcmp(text + at + 3, name[i], length)) continue;
      snprintf(path, sizeof path, "%s/%s", folder, name[i]);
      put_file(path, text + begin, end - begin);
    }
    at = end;
  }
}

#endif
