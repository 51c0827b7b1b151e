// code_cache: the folder that keeps compiled code, and code from its bytes to memory. Private to
// the engine.
//
//   CodeFolder f;
//   if (code_folder_open(&f, arena, NULL, &word, &error)) …
//   void *library = code_find(&f, arena, key, &fd);       // NULL: it is not there, or not whole
//   const char *work = code_work(&f, arena, &error);      // a folder to compile in
//   library = code_take(&f, arena, work, "0.so", key, &fd, &error);
//   code_folder_close(&f, arena);                         // with what was made to compile in
#ifndef LIMN_RUN_ENGINE_C_CODE_CACHE_H
#define LIMN_RUN_ENGINE_C_CODE_CACHE_H

#include "base/base.h"

typedef struct {
  uint64_t a, b;
} CodeHash;
void code_hash(CodeHash *, const void *bytes, size_t n);
const char *code_key(Arena *, CodeHash);

typedef struct {
  const char *path, *work;
  int fd;
  bool passing; // made for this once, gone when it is closed
  bool full;    // something was added
} CodeFolder;

// False with an error. A word: the cache cannot be used, a folder that passes is in its place.
bool code_folder_open(CodeFolder *, Arena *, const char *set, const char **word,
                      const char **error);
void code_folder_close(CodeFolder *, Arena *);
const char *code_work(CodeFolder *, Arena *, const char **error);
// Code of any kind, by its bytes: .text is NULL when it is not there, or not whole.
FileText code_bytes(const CodeFolder *, Arena *, const char *key);
void code_keep(CodeFolder *, Arena *, const char *key, const char *bytes, size_t n);
// … unless somebody else has kept some by that key: gives what is kept then, as code_bytes does.
FileText code_keep_first(CodeFolder *, Arena *, const char *key, const char *bytes, size_t n);
// Gives what dlopen gives. The descriptor stays open as long as the library: by its number it is
// told from others.
void *code_find(const CodeFolder *, Arena *, const char *key, int *fd);
void *code_take(CodeFolder *, Arena *, const char *file, const char *key, int *fd,
                const char **error);

#endif
