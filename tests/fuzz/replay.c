// Feeds a harness without libFuzzer, by any compiler.
//
//   fuzz_json FILE…                      each file once, with its name after it
//   fuzz_json --mutate SECONDS SEED NAME FOUND FOLDER…
//
// With --mutate, inputs are made from the files of the folders; those that reach new places (where
// the code was compiled with -fsanitize-coverage=trace-pc) stay and are written into the last
// folder. A child does the work, here and with files: before each input it is laid down in memory that
// both share, so that the parent can write it into FOUND, or name the file, when the child dies, when one
// input takes more than a second of the CPU's time, a minute of anybody's, or a gigabyte (under the
// sanitizers 5 s and 2 GB), when more than ten times the input and 64 MB are asked for at once (where malloc
// and calloc are wrapped: WRAPPED), or when all memory grows by 512 MB. What was found is
// not tried again: a seed that fails is one find, and the others have their turn. The last line
// counts: name, inputs, seconds of the CPU, inputs kept, places reached, finds.
#define _GNU_SOURCE
#include "plain.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  FINDS_MOST = 20,
  CPU_MOST = SANITIZED_BUILD ? 5 : 1,               // seconds of one input
  WALL_MOST = 60,                                   // also when it only waits
  MEMORY_MOST = SANITIZED_BUILD ? 2 << 10 : 1 << 10 // MB of a child
};

// What parent and child share.
typedef struct {
  uint8_t input[INPUT_ROOM];
  size_t n;
  uint64_t inputs, kept, places;
  uint64_t find[FINDS_MOST]; // by input_hash
  uint32_t finds;
  uint8_t seen[PLACES]; // how often a place was passed at once: a bit for each kind of count
} Shared;

typedef struct {
  const char *seconds, *seed, *name, *found;
  char **folder;
  int folders;
} Task;

static Shared *shared;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// -- memory ---------------------------------------------------------------------------------------
#ifdef WRAPPED
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);

static void allow(size_t n) {
  size_t input = shared ? shared->n : 0;
  if (n <= 10 * input + ((size_t)64 << 20) + 4096) return; // a little for the arena's own
  fprintf(stderr, "%zu bytes are asked for at once\n", n);
  abort();
}
void *__wrap_malloc(size_t n) { return allow(n), __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t of) { return allow(n * of), __real_calloc(n, of); }
#endif

// -- places reached -------------------------------------------------------------------------------
static uint8_t passed[PLACES];
static uint32_t touched[PLACES], touches;

// Called at every place, by all that is compiled so: where it returns to is the place.
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  uint32_t place = (uint32_t)((uintptr_t)__builtin_return_address(0) >> 2) % PLACES;
  uint8_t n = passed[place];
  if (!n) touched[touches++ % PLACES] = place;
  passed[place] = (uint8_t)(n + 1 - (n >> 7)); // up to 128
}

static uint8_t kind_of_count(uint8_t n) { // 1, 2, 3, 4–7, 8–15, 16–31, 32–127, more
  uint8_t k = n < 4 ? (uint8_t)(n - 1) : n < 8 ? 3 : n < 16 ? 4 : n < 32 ? 5 : n < 128 ? 6 : 7;
  return (uint8_t)(1 << k);
}

// Was something passed that never was, or never so often?
static bool is_new(void) {
  bool any = false;
  for (uint32_t i = 0; i < touches && i < PLACES; i++) {
    uint8_t kind = kind_of_count(passed[touched[i]]), *seen = &shared->seen[touched[i]];
    passed[touched[i]] = 0;
    if (*seen & kind) continue;
    shared->places += !*seen;
    *seen |= kind;
    any = true;
  }
  touches = 0;
  return any;
}

// -- files ----------------------------------------------------------------------------------------
static bool read_whole(const char *path, uint8_t *out, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  *n = fread(out, 1, INPUT_ROOM, f);
  fclose(f);
  return true;
}

static uint64_t input_hash(const uint8_t *bytes, size_t n) { // FNV-1a: one name for one input
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static void write_whole(const char *folder, const char *name, const uint8_t *bytes, size_t n) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%016llx", folder, name,
           (unsigned long long)input_hash(bytes, n));
  FILE *f = fopen(path, "wb");
  if (!f) return;
  fwrite(bytes, 1, n, f);
  fclose(f);
}

static void read_folder(const char *folder) {
  static uint8_t bytes[INPUT_ROOM];
  char path[4096];
  size_t n;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    struct stat s;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (!stat(path, &s) && S_ISREG(s.st_mode) && read_whole(path, bytes, &n) && n <= INPUT_MOST)
      corpus_add(bytes, n);
  }
  if (d) closedir(d);
}

// -- one input ------------------------------------------------------------------------------------
// A copy of just its size, so that a sanitizer sees a read beyond the end.
static void feed(const uint8_t *bytes, size_t n) {
  uint8_t *exact = malloc(n ? n : 1);
  if (!exact) abort();
  if (n) memcpy(exact, bytes, n);
  LLVMFuzzerTestOneInput(exact, n);
  free(exact);
}

static bool was_found(size_t n) {
  uint64_t hash = shared->finds ? input_hash(shared->input, n) : 0;
  for (uint32_t i = 0; i < shared->finds; i++)
    if (shared->find[i] == hash) return true;
  return false;
}

static bool try(size_t n) {
  if (was_found(n)) return false;
  shared->n = n;
  feed(shared->input, n);
  shared->inputs++;
  return is_new();
}

static long memory_kb(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

// Of the children that have ended: other work on the machine does not count.
static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_CHILDREN, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void child(const Task *t, double end, unsigned seed) {
  for (int i = 0; i < t->folders; i++) read_folder(t->folder[i]);
  if (!corpus_count()) corpus_add((const uint8_t *)"\n", 1);
  for (uint32_t i = 0; i < corpus_count() && now() < end; i++) try(corpus_copy(i, shared->input));
  long start = memory_kb();
  for (uint64_t k = 0; k % 64 || now() < end; k++) {
    size_t n = mutate(&seed, shared->input);
    if (try(n) && corpus_add(shared->input, n)) {
      write_whole(t->folder[t->folders - 1], "", shared->input, n);
      shared->kept++;
    }
    if (k == 64) start = memory_kb(); // what every input needs is there by now
    if (!SANITIZED_BUILD && k > 64 && memory_kb() > start + (512 << 10)) {
      fprintf(stderr, "memory grew from %ld to %ld kB\n", start, memory_kb());
      abort();
    }
  }
  _exit(0);
}

// What a child holds, in MB; 0 where nobody knows.
static long memory_of(pid_t pid) {
  char path[64];
  long all, held = 0;
  snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%ld %ld", &all, &held) != 2) held = 0;
  if (f) fclose(f);
  return held * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
}

// The limit of a child's memory in MB: FUZZ_MEMORY in the environment, or MEMORY_MOST.
static long memory_limit(void) {
  const char *set = getenv("FUZZ_MEMORY");
  return set ? atol(set) : MEMORY_MOST;
}

// What its input takes too much of, or NULL.
typedef struct {
  uint64_t inputs;
  double cpu, wall; // when this input began
} Begun;

static const char *exceeds(pid_t pid, Begun *b) {
  clockid_t clock;
  struct timespec t = {0};
  if (clock_getcpuclockid(pid, &clock) == 0) clock_gettime(clock, &t);
  double cpu = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, wall = now();
  if (shared->inputs != b->inputs) *b = (Begun){shared->inputs, cpu, wall};
  if (cpu - b->cpu > CPU_MOST) return "the CPU's time";
  if (wall - b->wall > WALL_MOST) return "time, in which it only waits";
  return memory_of(pid) > memory_limit() ? "memory" : NULL;
}

// Looks after a child; true when it died or took too much: what is in the shared memory is a find.
static bool watch(pid_t pid) {
  Begun begun = {.inputs = UINT64_MAX};
  for (int status;;) {
    if (waitpid(pid, &status, WNOHANG) == pid) return status != 0;
    const char *too_much = exceeds(pid, &begun);
    if (too_much) {
      fprintf(stderr, "one input takes too much: %s\n", too_much);
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return true;
    }
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
  }
}

static int run(const Task *t) {
  double end = now() + atof(t->seconds);
  unsigned seed = (unsigned)atoi(t->seed) * 2654435761u | 1u;
  while (now() < end && shared->finds < FINDS_MOST) {
    pid_t pid = fork();
    if (pid < 0) return 3;
    if (!pid) child(t, end, seed + 2 * shared->finds);
    if (!watch(pid)) continue;
    shared->find[shared->finds++] = input_hash(shared->input, shared->n);
    char name[256];
    snprintf(name, sizeof name, "%s-", t->name);
    write_whole(t->found, name, shared->input, shared->n);
  }
  printf("%s %llu %.1f %llu %llu %u\n", t->name, (unsigned long long)shared->inputs, cpu_seconds(),
         (unsigned long long)shared->kept, (unsigned long long)shared->places, shared->finds);
  return shared->finds ? 1 : 0;
}

// Each file once, with its name after it.
static int replay(char **file, int files) {
  pid_t pid = fork();
  if (pid < 0) return 3;
  if (pid) return watch(pid);
  for (int i = 0; i < files; i++) {
    if (!read_whole(file[i], shared->input, &shared->n)) _exit(3);
    feed(shared->input, shared->n);
    shared->inputs++;
    puts(file[i]);
    fflush(stdout);
  }
  exit(0); // what sanitizers look for at the end is looked for
}

int main(int argc, char **argv) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 3;
  if (argc > 6 && !strcmp(argv[1], "--mutate"))
    return run(&(Task){argv[2], argv[3], argv[4], argv[5], argv + 6, argc - 6});
  return replay(argv + 1, argc - 1);
}
