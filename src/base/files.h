// files.h: files, folders, paths, the machine and the clock.
#ifndef LIMN_BASE_FILES_H
#define LIMN_BASE_FILES_H

#include "base/base.h"

// os.c: reading files, folders, paths and the clock
double os_memory(void);  // bytes of physical memory; infinite if unknown
uint32_t os_cores(void); // that this process may use (taskset, containers); at least 1
const char *os_error(Arena *, int code); // strerror(code), thread-safe
struct FileText {
  const char *text; // terminated by 0; NULL on failure
  size_t n;
  const char *error; // reason of the failure
};
FileText file_read(Arena *, const char *path, size_t limit);
// Reads a whole regular file into the arena. Anything else is refused without blocking.
FileText file_bytes(Arena *, const char *path);
// The cache folder: `set` or $LIMN_CACHE, $XDG_CACHE_HOME/limn, ~/.cache/limn. It is created, and
// must belong to the user and be closed to others; otherwise NULL and *error.
const char *cache_folder(Arena *, const char *set, const char **error);
// Deletes files with this ending that were not used for 90 days, then the least recently used ones,
// until at most `most` bytes are left. The time of last use is the modification time.
void cache_sweep(Arena *, const char *folder, const char *ending, double most);
// Lists a folder, sorted, without names that begin with a dot. Returns NULL, or an error.
typedef VEC(const char *) FolderNames;
const char *folder_names(Arena *, const char *path, FolderNames *);
bool path_exists(const char *path);
bool path_is_file(const char *path); // true for a regular file
bool path_is_folder(const char *path);
// Creates the folder and its parents. Returns NULL, or an error.
const char *folder_make(Arena *, const char *path, unsigned mode);
const char *path_join(Arena *, const char *beside_file, const char *relative);
// "a/" and name "b" for "a/b".
const char *path_folder(Arena *, const char *path, const char **name);
const char *path_real(Arena *, const char *path); // realpath; NULL if it does not exist
// Do both name one regular file, by device and inode, or, if one is missing, by resolved path?
bool path_same(Arena *, const char *a, const char *b);
// NULL; or a sentence, if a file to be written is one of those to be read, or is written twice.
const char *paths_clash(Arena *, const FolderNames *read, const FolderNames *written);
// True for the folder itself too. Both must be real paths.
bool path_is_below(const char *folder, const char *path);
double clock_seconds(void);

// write.c: all writing of files. Every function returns NULL, or an error.
// Writes a file named by the user: atomically, following a link; devices and pipes are written
// into.
const char *file_write(Arena *, const char *path, const void *bytes, size_t n);
// Writes a file below one of limn's own folders, as "shown/1.svg", without following links below
// it.
const char *file_write_in(Arena *, const char *dir, const char *name, const void *bytes, size_t n);
// Opens a file for reading and appending, creating it if needed. It must be regular and have no
// hard link.
const char *file_append_in(Arena *, const char *dir, const char *name, int *fd);
const char *folder_make_in(Arena *, const char *dir, const char *name);
// NULL if it is a regular file that is reached without a link.
const char *file_check_in(Arena *, const char *dir, const char *name);
const char *file_check(Arena *, const char *path); // the same, checking only the last component
// True if a link, a non-regular file or a file with a second hard link is at this name or on the
// way: the folder is wrong, not the disk.
bool file_is_foreign(Arena *, const char *dir, const char *name);

#endif
