// Export to Python: a box exported to PyTorch and JAX has the interpreter's results. Files, weights
// and numbers are in the folder `python`; tests/python_out/doors.py runs them with PyTorch and JAX
// if these are installed, and otherwise with NumPy in place of JAX.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "whole_laws.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// -- the process that runs them -------------------------------------------------------------------
// It is asked by a line, the path of a folder, and answers by one, the status of what it did there.
static pid_t python;
static int ask[2], answer[2];

bool python_open(void) {
  const char *script = getenv("WHOLE_PYTHON");
  if (python || !script) return python > 0;
  if (pipe(ask) || pipe(answer)) return false;
  python = fork();
  if (python == 0) {
    dup2(ask[0], 0), dup2(answer[1], 1);
    for (int i = 0; i < 2; i++) close(ask[i]), close(answer[i]);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    execl("/usr/bin/python3", "python3", "-W", "ignore", script, (char *)NULL);
    _exit(2);
  }
  close(ask[0]), close(answer[1]);
  return python > 0;
}

void python_close(void) {
  if (python <= 0) return;
  close(ask[1]), close(answer[0]);
  kill(python, SIGKILL); // what it began ends by itself
  waitpid(python, NULL, 0);
  python = 0;
}

// The status for a folder; -1: there is no answer.
static int python_says(const char *folder) {
  char line[16] = "";
  size_t n = strlen(folder);
  if (write(ask[1], folder, n) != (ssize_t)n || write(ask[1], "\n", 1) != 1) return -1;
  for (size_t i = 0; i + 1 < sizeof line; i++)
    if (read(answer[0], line + i, 1) != 1 || line[i] == '\n')
      return line[0] ? (int)strtol(line, NULL, 10) : -1;
  return -1;
}

static bool is_refused_rightly(const char *said) {
  static const char *const why[] = {"has no form in", "have a form in Python only",
                                    "has no weights"};
  for (uint32_t i = 0; i < COUNT(why); i++)
    if (strstr(said, why[i])) return true;
  return false;
}

static bool exported(Case *c, Limn *l, const char *name, const char *as, const char *file,
                     bool *made) {
  const char *text;
  LimnExport how = {.size = sizeof how, .as = as, .precision = LIMN_PRECISION_64};
  how.out = arena_format(c->arena, "python/%s%s", name, file);
  limn_forget(l);
  *made = limn_export(l, name, &how, &text) == LIMN_GOOD;
  return *made || is_refused_rightly(limn_messages(l, false)) ||
         case_says(c, "%s not written: %s: %s", as, name, limn_messages(l, false));
}

// Every number to the last digit, in one line: its shape, a colon, its numbers.
static void put_value(Buf *b, const Value *v, const WholeType *t) {
  buf_text(b, t && t->labels ? "labels" : "reals");
  for (uint32_t i = 0; i < v->rank; i++) buf_printf(b, " %lld", (long long)v->shape[i]);
  buf_text(b, " :");
  for (int64_t i = 0; i < v->n; i++) buf_printf(b, " %.17g", v->data[i]);
  buf_char(b, '\n');
}

static bool numbers_written(Case *c, Limn *l, const WholeDecl *d, const char *kinds) {
  const char *name = whole_name(c->p, d->name, false);
  Values in = {0}, out = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(c->arena, &in, value_stack(c, d, i));
  if (!case_eval(c, l, name, &in, NULL, &out, NULL)) return false;
  Buf b = buf_new(c->arena);
  buf_printf(&b, "%s\n%u\n", kinds, in.n);
  for (uint32_t i = 0; i < in.n; i++) put_value(&b, &in.at[i], &d->in.at[i].type);
  for (uint32_t i = 0; i < out.n; i++) put_value(&b, &out.at[i], NULL);
  return !file_write(c->arena, arena_format(c->arena, "python/%s.numbers", name), b.at, b.n);
}

static bool put_there(Case *c, const WholeDecl *d, uint32_t *count) {
  const char *name = whole_name(c->p, d->name, false);
  bool other;
  Limn *l = whole_closed(c, d, &other);
  if (!l) return other;
  bool torch = false, jax = false, weights = false;
  bool good = exported(c, l, name, "torch", "_torch.py", &torch) &&
              exported(c, l, name, "jax", "_jax.py", &jax) &&
              exported(c, l, name, "safetensors", ".safetensors", &weights);
  if (good && (torch || jax)) {
    good = numbers_written(c, l, d, torch && jax ? "torch jax" : torch ? "torch" : "jax");
    ++*count;
  }
  limn_free(l);
  return good;
}

bool law_python(Case *c) {
  uint32_t count = 0;
  if (system("rm -rf python && mkdir python")) return false;
  for (uint32_t i = 0; i < c->p->decl.n; i++)
    if (whole_is_quiet(c->p->decl.at[i]) && !put_there(c, c->p->decl.at[i], &count)) return false;
  if (!count || python <= 0) return true;
  if (!python_says(arena_format(c->arena, "%s/python", c->dir))) return true;
  FileText said = file_read(c->arena, "python/said", 100000);
  return case_says(c, "python: %s", said.text ? said.text : "");
}
