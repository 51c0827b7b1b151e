// A compiler for a GPU that is not there: the part of NVRTC that limn uses. The text of kernels
// becomes a library by the C compiler ($CC or cc), behind emulated.h, which $FAKE_CUDA_HEADER names. Its
// code is the library's length and bytes. $FAKE_CUDA_LEVEL says how much trouble the compiler takes: -Og, or -O0, which is half the time for
// kernels that run for a moment. $FAKE_CUDA=compiler makes it refuse. In the folder $FAKE_CUDA_KEPT, what was
// compiled stays for who asks for the same again.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *text, *code, log[4096];
  size_t n; // of the code: its length, then the library
} Program;
enum { GOOD = 0, REFUSED = 6 };

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, GOOD; }
int nvrtcCreateProgram(Program **p, const char *text, const char *name, int headers,
                       const char *const *a, const char *const *b) {
  *p = calloc(1, sizeof **p);
  (*p)->text = strdup(text);
  return name && !headers && !a && !b ? GOOD : REFUSED;
}

// All of a file, behind its length; NULL: it cannot be read.
static char *bytes_of(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  size_t size = (size_t)ftell(f);
  char *all = calloc(1, size + sizeof size + 1);
  rewind(f);
  memcpy(all, &size, sizeof size);
  *n = sizeof size + fread(all + sizeof size, 1, size, f);
  fclose(f);
  return all;
}

static char *path_to(char *to, size_t n, const char *folder, const char *file) {
  return snprintf(to, n, "%s/%s", folder, file), to;
}

// Nothing of the C library is linked: who loads this has it, and looking for it takes a while.
static int compile(Program *p, const char *folder, const char *library) {
  char file[512], command[4096];
  const char *cc = getenv("CC"), *header = getenv("FAKE_CUDA_HEADER"),
             *level = getenv("FAKE_CUDA_LEVEL");
  FILE *f = fopen(path_to(file, sizeof file, folder, "k.c"), "w");
  if (!f) return REFUSED;
  fputs(p->text, f);
  fclose(f);
  snprintf(command, sizeof command,
           "%s -w %s -pipe -fPIC -shared -nostdlib -ffp-contract=off -include %s -o %s/k.so "
           "%s/k.c >%s/log 2>&1",
           cc ? cc : "cc", level ? level : "-Og", header ? header : "emulated.h", folder, folder,
           folder);
  int r = system(command);
  size_t said;
  unlink(file);
  char *log = bytes_of(path_to(file, sizeof file, folder, "log"), &said);
  if (log) snprintf(p->log, sizeof p->log, "%s", log + sizeof said);
  free(log);
  unlink(file);
  return r || rename(path_to(file, sizeof file, folder, "k.so"), library) ? REFUSED : GOOD;
}

static unsigned long long hash_of(const char *text) {
  unsigned long long h = 0xcbf29ce484222325u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
  return h;
}

int nvrtcCompileProgram(Program *p, int n, const char *const *options) {
  char folder[256], library[512];
  const char *asked = getenv("FAKE_CUDA"), *kept = getenv("FAKE_CUDA_KEPT"),
             *tmp = getenv("TMPDIR");
  if (asked && strstr(asked, "compiler")) {
    snprintf(p->log, sizeof p->log, "limn.cu(7): error: expected a `;`\nmore\n");
    return REFUSED;
  }
  if (n < 1 || !options) return REFUSED;
  if (kept) {
    snprintf(library, sizeof library, "%s/%016llx.so", kept, hash_of(p->text));
    if ((p->code = bytes_of(library, &p->n))) return GOOD;
  }
  snprintf(folder, sizeof folder, "%s/limn-fake-XXXXXX", kept ? kept : tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return REFUSED;
  if (!kept) path_to(library, sizeof library, folder, "library");
  if (!compile(p, folder, library)) p->code = bytes_of(library, &p->n);
  if (!kept) unlink(library);
  return rmdir(folder) || !p->code ? REFUSED : GOOD;
}
int nvrtcGetProgramLogSize(Program *p, size_t *n) { return *n = strlen(p->log) + 1, GOOD; }
int nvrtcGetProgramLog(Program *p, char *to) { return strcpy(to, p->log), GOOD; }
int nvrtcGetCUBINSize(Program *p, size_t *n) { return *n = p->n, GOOD; }
int nvrtcGetCUBIN(Program *p, char *to) { return memcpy(to, p->code, p->n), GOOD; }
int nvrtcDestroyProgram(Program **p) { return free((*p)->text), free((*p)->code), free(*p), GOOD; }
