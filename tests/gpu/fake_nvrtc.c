// A compiler for a GPU that is not there: the part of NVRTC that limn uses. The text of kernels
// becomes a library by the C compiler ($CC or cc), behind emulated.h, which $FAKE_CUDA_HEADER names; what it
// gives as code is the library's path. $FAKE_CUDA=compiler makes it refuse.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *text, path[64], log[4096];
} Program;
enum { GOOD = 0, REFUSED = 6 };

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, GOOD; }
int nvrtcCreateProgram(Program **p, const char *text, const char *name, int headers,
                       const char *const *a, const char *const *b) {
  *p = calloc(1, sizeof **p);
  (*p)->text = strdup(text);
  return name && !headers && !a && !b ? GOOD : REFUSED;
}

int nvrtcCompileProgram(Program *p, int n, const char *const *options) {
  char file[80], command[1024];
  const char *cc = getenv("CC"), *header = getenv("FAKE_CUDA_HEADER"), *asked = getenv("FAKE_CUDA");
  if (asked && strstr(asked, "compiler")) {
    snprintf(p->log, sizeof p->log, "limn.cu(7): error: expected a `;`\nmore\n");
    return REFUSED;
  }
  strcpy(p->path, "/tmp/limn-fake-XXXXXX");
  if (n < 1 || !options || !mkdtemp(p->path)) return REFUSED;
  snprintf(file, sizeof file, "%s/k.c", p->path);
  FILE *f = fopen(file, "w");
  if (!f) return REFUSED;
  fputs(p->text, f);
  fclose(f);
  snprintf(command, sizeof command,
           "%s -w -O1 -fPIC -shared -ffp-contract=off -include %s -o %s/k.so %s/k.c >%s/log 2>&1",
           cc ? cc : "cc", header ? header : "emulated.h", p->path, p->path, p->path);
  int r = system(command);
  snprintf(file, sizeof file, "%s/log", p->path);
  f = fopen(file, "r");
  if (f) p->log[fread(p->log, 1, sizeof p->log - 1, f)] = 0, fclose(f);
  return r ? REFUSED : GOOD;
}
int nvrtcGetProgramLogSize(Program *p, size_t *n) { return *n = strlen(p->log) + 1, GOOD; }
int nvrtcGetProgramLog(Program *p, char *to) { return strcpy(to, p->log), GOOD; }
int nvrtcGetCUBINSize(Program *p, size_t *n) { return *n = strlen(p->path) + 6, GOOD; }
int nvrtcGetCUBIN(Program *p, char *to) { return sprintf(to, "%s/k.so", p->path), GOOD; }
int nvrtcDestroyProgram(Program **p) { return free((*p)->text), free(*p), GOOD; }
