// The text of a step becomes a shared library: hashed with the flags, the compiler and the CPU,
// looked up in a private folder, otherwise written there, compiled by execve (never a shell), put
// in place by rename, and loaded.
//
// The folder must belong to us and be closed to others, and a library is loaded only if its bytes
// have the hash that was noted when it was made: nobody else's code runs.
#define _DEFAULT_SOURCE
#include "run/engine/c/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

enum { ARGUMENTS = COMPILE_FLAGS + 8 };

// -- hashes ---------------------------------------------------------------------------------------
typedef struct {
  uint64_t a, b;
} Hash;

static void hash_add(Hash *h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  h->a = hash_bytes(h->a, bytes, n);
  for (size_t i = 0; i < n; i++) {
    h->b = (h->b + at[i]) * 0x9E3779B97F4A7C15u;
    h->b ^= h->b >> 29;
  }
}

static const char *hash_text(Arena *a, Hash h) {
  return arena_format(a, "%016llx%016llx", (unsigned long long)h.a, (unsigned long long)h.b);
}

// What the compiler makes of native: the CPU's name and its list of features.
static void hash_cpu(Hash *h) {
  char buffer[8192];
  int f = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  ssize_t n = f < 0 ? 0 : read(f, buffer, sizeof buffer - 1);
  if (f >= 0) close(f);
  if (n <= 0) return;
  buffer[n] = 0;
  static const char *const lines[] = {"\nmodel name", "\nflags", "\nFeatures", "\nCPU part"};
  for (uint32_t i = 0; i < COUNT(lines); i++) {
    const char *at = strstr(buffer, lines[i]);
    if (at) hash_add(h, at, strcspn(at + 1, "\n"));
  }
}

// -- the compiler ---------------------------------------------------------------------------------
static const char *find_program(Arena *a, const char *name) {
  if (strchr(name, '/')) return access(name, X_OK) ? NULL : name;
  const char *path = getenv("PATH");
  for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
    size_t n = strcspn(at, ":");
    const char *full = arena_format(a, "%.*s/%s", (int)n, at, name);
    if (n && !access(full, X_OK)) return full;
    at += n + (at[n] == ':');
  }
  return NULL;
}

const char *compile_compiler(Arena *a, const Target *how) {
  static const char *const names[] = {"cc", "gcc", "clang"};
  const char *set = how->cc ? how->cc : getenv("LIMN_CC");
  if (how->no_compiler) return NULL;
  if (set) return *set ? find_program(a, set) : NULL;
  for (uint32_t i = 0; i < COUNT(names); i++) {
    const char *found = find_program(a, names[i]);
    if (found) return found;
  }
  return NULL;
}

// The instructions that this CPU has, for a compiler that runs on it. On x86-64, compilers ask the
// CPU. On aarch64, clang goes by the CPU's name alone, and would use the SVE of a Neoverse V1 also in
// a virtual machine that hides it: there only the kernel knows what can be run.
static uint32_t machine_flags(const char **flag) {
  uint32_t n = 0;
#if defined __x86_64__
  flag[n++] = "-march=native";
  flag[n++] = "-mprefer-vector-width=512";
#elif defined __aarch64__ && defined __linux__
  bool sve = getauxval(AT_HWCAP) & HWCAP_SVE, sve2 = getauxval(AT_HWCAP2) & HWCAP2_SVE2;
  flag[n++] = sve && sve2 ? "-march=armv8-a+sve2" : sve ? "-march=armv8-a+sve" : "-march=armv8-a";
  flag[n++] = "-mtune=native";
#else
  (void)flag;
#endif
  return n;
}

uint32_t compile_flags(const char **flag) {
  static const char *const all[] = {
      "-O3",
      "-ffp-contract=off",
      "-fno-math-errno",
      "-fno-trapping-math",
      "-fopenmp-simd",
      "-shared",
      "-fPIC",
      "-std=gnu11",
      "-w",
      "-nostdlib",
  };
  for (uint32_t i = 0; i < COUNT(all); i++) flag[i] = all[i];
  return COUNT(all) + machine_flags(flag + COUNT(all));
}

// Runs it and waits; what it says goes to a file. 0 is good.
static int run_program(const char *const *argument, const char *says) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    int out = open(says, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out >= 0) {
      dup2(out, 1);
      dup2(out, 2);
    }
    execv(argument[0], (char *const *)argument);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool load(Compiled *c, Arena *a, const char *library, const char *noted) {
  FileText bytes = file_read(a, library, (size_t)1 << 30), note = file_read(a, noted, 256);
  Hash h = {HASH_START, 0};
  if (!bytes.text || !note.text) return false;
  hash_add(&h, bytes.text, bytes.n);
  if (strcmp(hash_text(a, h), note.text)) return false;
  c->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!c->library) c->error = arena_format(a, "cannot load compiled code: %s", dlerror());
  return c->library != NULL;
}

static bool compile_into(Compiled *c, Arena *a, const char *base, const char *text, size_t n,
                         const char **flag, uint32_t flags) {
  const char *argument[ARGUMENTS], *source = arena_format(a, "%s.%d.c", base, (int)getpid());
  const char *made = arena_format(a, "%s.%d.so", base, (int)getpid()),
             *says = arena_format(a, "%s.%d.txt", base, (int)getpid());
  const char *error = file_write(a, source, text, n);
  uint32_t k = 0;
  double start = clock_seconds();
  argument[k++] = c->compiler;
  for (uint32_t i = 0; i < flags; i++) argument[k++] = flag[i];
  argument[k++] = "-o";
  argument[k++] = made;
  argument[k++] = source;
  argument[k] = NULL;
  int status = error ? 0 : run_program(argument, says);
  c->seconds = clock_seconds() - start;
  FileText library = error || status ? (FileText){0} : file_read(a, made, (size_t)1 << 30);
  if (error) {
    c->error = arena_format(a, "cannot write %s: %s", source, error);
  } else if (status || !library.text) {
    FileText said = file_read(a, says, 4096);
    c->error = arena_format(a, "%s failed on generated code (%s): %.400s", c->compiler, source,
                            said.text ? said.text : "");
  } else {
    Hash h = {HASH_START, 0};
    hash_add(&h, library.text, library.n);
    const char *note = hash_text(a, h);
    const char *noted = arena_format(a, "%s.sum", base), *final = arena_format(a, "%s.so", base);
    if (file_write(a, noted, note, strlen(note)) || rename(made, final))
      c->error = arena_format(a, "cannot keep %s", final);
  }
  unlink(says);
  if (!status) unlink(source);
  unlink(made);
  return !c->error;
}

bool compile_c(Arena *a, const char *text, size_t n, const Target *how, Compiled *c) {
  const char *flag[ARGUMENTS];
  *c = (Compiled){.compiler = compile_compiler(a, how)};
  if (!c->compiler) {
    c->error = "there is no C compiler on this machine";
    return false;
  }
  uint32_t flags = compile_flags(flag);
  Hash h = {HASH_START, 0};
  struct stat tool;
  hash_add(&h, text, n);
  for (uint32_t i = 0; i < flags; i++) hash_add(&h, flag[i], strlen(flag[i]) + 1);
  hash_add(&h, c->compiler, strlen(c->compiler));
  if (!stat(c->compiler, &tool))
    hash_add(&h, &tool.st_mtime, sizeof tool.st_mtime),
        hash_add(&h, &tool.st_size, sizeof tool.st_size);
  hash_cpu(&h);
  const char *folder = cache_folder(a, how->cache, &c->error);
  if (!folder) return false;
  const char *base = arena_format(a, "%s/%s", folder, hash_text(a, h));
  const char *library = arena_format(a, "%s.so", base), *noted = arena_format(a, "%s.sum", base);
  c->cached = load(c, a, library, noted);
  if (c->cached || c->error) return c->cached;
  return compile_into(c, a, base, text, n, flag, flags) && load(c, a, library, noted);
}

void compile_close(Compiled *c) {
  if (c->library) dlclose(c->library);
  c->library = NULL;
}

void *compile_find(const Compiled *c, const char *name) { return dlsym(c->library, name); }
