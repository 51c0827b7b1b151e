// Read permissions of a program: folders and everything below, compared after resolving links. A
// program from elsewhere may show what it reads, so it reads only what the user allowed.
#include "base/base.h"
#include "base/files.h"
#include "base/source.h"

void rights_add(Arena *a, ReadRights *r, const char *folder) {
  const char *real = path_real(a, *folder ? folder : ".");
  if (real) vec_push(a, &r->folder, real);
}

void rights_add_list(Arena *a, ReadRights *r, const char *list) {
  for (size_t n; list && *list; list += n + (list[n] == ':')) {
    n = strcspn(list, ":");
    if (n) rights_add(a, r, arena_text(a, list, n));
  }
}

bool path_is_below(const char *folder, const char *path) {
  size_t n = strlen(folder);
  if (strncmp(path, folder, n) != 0) return false;
  return !path[n] || path[n] == '/' || (n && folder[n - 1] == '/');
}

const char *rights_refuse(Arena *a, const ReadRights *r, const char *path) {
  const char *real = r ? path_real(a, path) : NULL, *name;
  if (!real) return NULL; // a missing file is reported by its reader
  for (uint32_t i = 0; i < r->folder.n; i++)
    if (path_is_below(r->folder.at[i], real)) return NULL;
  const char *folder = path_is_folder(real) ? real : path_folder(a, real, &name);
  return arena_format(a, "it is not below the folder of the program; --read %s allows it", folder);
}
