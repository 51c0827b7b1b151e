// Compiles the text of a step, in pieces, into shared libraries. The cache key of a piece is a hash of
// its text, the flags, the compiler, the CPU and limn's version. Pieces that are not in the cache
// (code_cache.c) are compiled in parallel (compiler.c) and stored.
#define _DEFAULT_SOURCE
#include "run/engine/c/compile.h"
#include "base/files.h"
#include "base/hash.h"
#include "run/engine/c/code_cache.h"
#include "run/engine/c/compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

enum { ARGUMENTS = COMPILE_FLAGS + 8, SECONDS = 30, SAY_AFTER = 2 };

// -- hashes ---------------------------------------------------------------------------------------
// What -march=native depends on: the CPU's name and its list of features.
static void hash_cpu(CodeHash *h) {
  char buffer[8192];
  int f = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  ssize_t n = f < 0 ? 0 : read(f, buffer, sizeof buffer - 1);
  if (f >= 0) close(f);
  if (n <= 0) return;
  buffer[n] = 0;
  static const char *const lines[] = {"\nmodel name", "\nflags", "\nFeatures", "\nCPU part"};
  for (uint32_t i = 0; i < COUNT(lines); i++) {
    const char *at = strstr(buffer, lines[i]);
    if (at) code_hash(h, at, strcspn(at + 1, "\n"));
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

// Flags for the instruction set of this CPU. On x86-64, the compiler queries the CPU. On aarch64, clang
// knows the CPU by its name alone and would use the SVE of a Neoverse V1 also in a virtual machine that
// hides SVE; the operating system's kernel knows which instructions work.
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

// A linker aligns segments to the largest page size of the architecture. On aarch64 that is 64 KB, and
// the padding is twelve times the code of a kernel. This machine's page size is known.
static uint32_t page_flags(const char **flag) {
#ifdef __linux__
  static const char *const sizes[] = {"-Wl,-z,max-page-size=4096", "-Wl,-z,max-page-size=16384",
                                      "-Wl,-z,max-page-size=65536"};
  long page = sysconf(_SC_PAGESIZE);
  for (uint32_t i = 0; i < COUNT(sizes); i++)
    if (page == 4096L << 2 * i) {
      *flag = sizes[i];
      return 1;
    }
#else
  (void)flag;
#endif
  return 0;
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
  uint32_t n = COUNT(all);
  n += machine_flags(flag + n);
  return n + page_flags(flag + n);
}

// -- pieces ---------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  Compiled *c;
  const Target *how;
  CodeFolder folder;
  const char *flag[ARGUMENTS];
  uint32_t flags, kernels;
  const char **key; // [piece]
} Compiling;

static void hash_file(CodeHash *h, const char *path) {
  struct stat s;
  if (stat(path, &s)) return;
  int64_t is[] = {s.st_size, s.st_mtime, s.st_ctime, (int64_t)s.st_ino};
  code_hash(h, is, sizeof is);
}

// The compiler and every program of its name in PATH, because a wrapper (ccache) calls a later one.
static void hash_programs(CodeHash *h, Arena *a, const char *program) {
  const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
  const char *path = getenv("PATH");
  code_hash(h, program, strlen(program) + 1);
  hash_file(h, program);
  for (const char *at = path ? path : ""; *at;) {
    size_t n = strcspn(at, ":");
    hash_file(h, arena_format(a, "%.*s/%s", (int)n, at, name));
    at += n + (at[n] == ':');
  }
}

// The part of the key that is the same for all pieces.
static CodeHash hash_environment(const Compiling *x) {
  CodeHash h = {HASH_START, 0};
  code_hash(&h, LIMN_VERSION, sizeof LIMN_VERSION);
  for (uint32_t i = 0; i < x->flags; i++) code_hash(&h, x->flag[i], strlen(x->flag[i]) + 1);
  hash_programs(&h, x->arena, x->c->compiler);
  hash_cpu(&h);
  return h;
}

static bool find_cached(Compiling *x, const CText *text) {
  CodeHash around = hash_environment(x);
  bool all = true;
  x->key = NEW_ARRAY(x->arena, const char *, text->n + 1);
  for (uint32_t i = 0; i < text->n; i++) {
    CodeHash h = around;
    code_hash(&h, text->front, text->front_n);
    code_hash(&h, text->piece[i].text, text->piece[i].n);
    x->key[i] = code_key(x->arena, h);
    x->c->part[i].library = code_load(&x->folder, x->arena, x->key[i], &x->c->part[i].fd);
    all &= x->c->part[i].library != NULL;
  }
  return all;
}

// -- compiling ------------------------------------------------------------------------------------
static double seconds_allowed(void) {
  const char *set = getenv("LIMN_CC_SECONDS");
  char *end;
  double x = set ? strtod(set, &end) : SECONDS;
  return set && (end == set || *end || !(x >= 0)) ? SECONDS : x;
}

static void report_compiling(void *context) {
  Compiling *x = context;
  x->how->say(x->how->say_to, arena_format(x->arena, "compiling %u kernel%s with %s …", x->kernels,
                                           x->kernels == 1 ? "" : "s", x->c->compiler));
}

static bool write_source(Compiling *x, const CText *text, uint32_t i, const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  bool good = f && fwrite(text->front, 1, text->front_n, f) == text->front_n &&
              fwrite(text->piece[i].text, 1, text->piece[i].n, f) == text->piece[i].n;
  if (f && fclose(f)) good = false;
  if (!good) x->c->error = arena_format(x->arena, "cannot write %s", path);
  return good;
}

static CompilerRun prepare_run(Compiling *x, const CText *text, uint32_t i) {
  const char **argument = NEW_ARRAY(x->arena, const char *, ARGUMENTS);
  uint32_t k = 0;
  const char *source = arena_format(x->arena, "%s/%u.c", x->folder.work, i);
  argument[k++] = x->c->compiler;
  for (uint32_t f = 0; f < x->flags; f++) argument[k++] = x->flag[f];
  argument[k++] = "-o";
  argument[k++] = arena_format(x->arena, "%s/%u.so", x->folder.work, i);
  argument[k++] = source;
  write_source(x, text, i, source);
  return (CompilerRun){.argument = argument};
}

// The compiler's output as one line of printable characters.
static const char *output_text(Arena *a, const CompilerRun *r) {
  char *text = arena_text(a, r->output, strlen(r->output));
  for (char *at = text; *at; at++)
    if ((unsigned char)*at < ' ' || (unsigned char)*at > '~') *at = ' ';
  return *text ? arena_format(a, ": %.300s", text) : "";
}

// Loads and stores the pieces that were compiled, even if others failed, so that the next attempt has
// less to compile. The error is that of the first compiler that ended by itself; compilers that were
// killed still have a process.
static void load_compiled(Compiling *x, const CompilerRun *run, const uint32_t *which, uint32_t n) {
  Compiled *c = x->c;
  for (uint32_t i = 0; i < n; i++) {
    CompiledPart *part = &c->part[which[i]];
    const char *file = arena_format(x->arena, "%u.so", which[i]), *why = "failed";
    if (run[i].succeeded)
      part->library = code_load_new(&x->folder, x->arena, file, x->key[which[i]], &part->fd, &why);
    if (!part->library && !run[i].process && !c->error)
      c->error =
          arena_format(x->arena, "%s %s%s", c->compiler, why, output_text(x->arena, &run[i]));
  }
}

static bool compile_missing(Compiling *x, const CText *text) {
  Compiled *c = x->c;
  uint32_t n = 0, *which = NEW_ARRAY(x->arena, uint32_t, text->n + 1);
  CompilerRun *run = NEW_ARRAY(x->arena, CompilerRun, text->n + 1);
  if (!code_work_folder(&x->folder, x->arena, &c->error)) return false;
  for (uint32_t i = 0; i < text->n && !c->error; i++)
    if (!c->part[i].library) which[n] = i, run[n++] = prepare_run(x, text, i);
  if (c->error) return false;
  CompilerLimits limits = {.folder = x->folder.work,
                           .seconds = seconds_allowed(),
                           .parallel = os_cores(),
                           .say_after = SAY_AFTER,
                           .say = x->how->say ? report_compiling : NULL,
                           .say_to = x,
                           .stop = x->how->stop};
  CompilerEnd end = compiler_run(x->arena, run, n, &limits);
  if (end == COMPILER_SLOW)
    c->error = arena_format(x->arena, "%s took longer than %g s", c->compiler, limits.seconds);
  c->stopped = end == COMPILER_STOPPED;
  if (c->stopped) c->error = "stopped while compiling: nothing was computed";
  if (end == COMPILER_NOT_STARTED)
    c->error = arena_format(x->arena, "%s could not be started", c->compiler);
  load_compiled(x, run, which, n);
  return !c->error;
}

bool compile_c(Arena *a, const CText *text, const Target *how, Compiled *c) {
  *c = (Compiled){.compiler = compile_compiler(a, how), .n = text->n};
  c->part = NEW_ARRAY(a, CompiledPart, text->n + 1);
  for (uint32_t i = 0; i < text->n; i++) c->part[i].fd = -1;
  if (!c->compiler) {
    c->error = "there is no C compiler on this machine";
    return false;
  }
  Compiling x = {.arena = a, .c = c, .how = how, .kernels = text->kernels};
  x.flags = compile_flags(x.flag);
  double start = clock_seconds();
  if (!code_folder_open(&x.folder, a, how->cache, &c->warning, &c->error)) return false;
  c->cached = find_cached(&x, text);
  bool good = c->cached || compile_missing(&x, text);
  code_folder_close(&x.folder, a);
  c->seconds = clock_seconds() - start;
  return good;
}

void compile_close(Compiled *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->part[i].library) dlclose(c->part[i].library);
    if (c->part[i].fd >= 0) close(c->part[i].fd);
    c->part[i] = (CompiledPart){.fd = -1};
  }
}

void *compile_find(const Compiled *c, const char *name) {
  void *found = NULL;
  for (uint32_t i = 0; i < c->n && !found; i++)
    found = c->part[i].library ? dlsym(c->part[i].library, name) : NULL;
  return found;
}
