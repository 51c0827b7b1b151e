// code_cache: the cache of compiled code on disk, and loading code from it. Private to the engine.
//
//   CodeFolder f;
//   if (code_folder_open(&f, arena, NULL, &word, &error)) …
//   void *library = code_load(&f, arena, key, &fd);         // NULL: missing or damaged
//   const char *work = code_work_folder(&f, arena, &error); // a temporary folder to compile in
//   library = code_load_new(&f, arena, "0.so", key, &fd, &error);
//   code_folder_close(&f, arena);                           // removes the temporary folder
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
  bool temporary; // replaces a cache that cannot be used; removed when closed
  bool changed;   // code was added
} CodeFolder;

// False with an error. *word: why the cache cannot be used and a temporary folder replaces it.
bool code_folder_open(CodeFolder *, Arena *, const char *set, const char **word,
                      const char **error);
void code_folder_close(CodeFolder *, Arena *);
const char *code_work_folder(CodeFolder *, Arena *, const char **error);
// The bytes stored under a key; .text is NULL when they are missing or damaged.
FileText code_read(const CodeFolder *, Arena *, const char *key);
void code_store(CodeFolder *, Arena *, const char *key, const char *bytes, size_t n);
// Stores the bytes unless another process has stored some under this key. Gives the stored bytes, as
// code_read does.
FileText code_store_first(CodeFolder *, Arena *, const char *key, const char *bytes, size_t n);
// Both give a handle of dlopen. *fd must stay open as long as the library: the loader tells libraries
// apart by path, which holds the descriptor's number. code_load_new loads a file of the work folder and
// stores it under the key.
void *code_load(const CodeFolder *, Arena *, const char *key, int *fd);
void *code_load_new(CodeFolder *, Arena *, const char *file, const char *key, int *fd,
                    const char **error);

#endif
