// Export to C: an exported box, compiled and called, has the interpreter's results. All boxes of a
// program are compiled by one call of the compiler, each with a wrapper of the same signature.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "whole_laws.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { BOXES = 24, ARRAYS = 12 };

typedef enum { C_DOUBLE, C_INT, C_BYTE } CKind;
static const struct {
  const char *word;
  size_t size;
} c_kinds[] = {{"double", 8}, {"int32_t", 4}, {"unsigned char", 1}};

typedef struct {
  CKind kind;
  int64_t n;
  bool in;
} CArray;
typedef struct {
  const WholeDecl *d;
  const char *stem; // of its files
  CArray array[ARRAYS];
  uint32_t n;
} CBox;

// -- what the header says -------------------------------------------------------------------------
// A line "//   double x[3][4]  in : R[3 4]"; false: it is none of these.
static bool array_read(const char *line, CArray *out) {
  if (strncmp(line, "//   ", 5)) return false;
  for (uint32_t k = 0; k < COUNT(c_kinds); k++) {
    size_t n = strlen(c_kinds[k].word);
    if (strncmp(line + 5, c_kinds[k].word, n) || line[5 + n] != ' ') continue;
    const char *at = line + 5 + n;
    *out = (CArray){.kind = (CKind)k, .n = 1};
    for (at += strcspn(at, "[\n"); *at == '['; at += strcspn(at, "]") + 1)
      out->n *= strtoll(at + 1, NULL, 10);
    out->in = !strncmp(at, "  in :", 6);
    return out->in || !strncmp(at, "  out :", 7);
  }
  return false;
}

// False: it cannot be called by rows of numbers alone.
static bool header_read(Case *c, CBox *b) {
  FileText t = file_read(c->arena, arena_format(c->arena, "%s.h", b->stem), 1000000);
  if (!t.text || strstr(t.text, "uint64_t seed")) return false;
  for (const char *at = t.text; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (b->n < ARRAYS && array_read(at, &b->array[b->n])) b->n++;
  }
  return b->n > 0;
}

// -- exporting ------------------------------------------------------------------------------------
static bool is_refused_rightly(const char *said) {
  static const char *const why[] = {"is not known when this is compiled",
                                    "has a derivative of its own", "there is no `train`",
                                    "there is nothing to train"};
  for (uint32_t i = 0; i < COUNT(why); i++)
    if (strstr(said, why[i])) return true;
  return false;
}

static const char *c_text(Case *c, const CBox *b) {
  Buf t = buf_new(c->arena);
  const char *name = whole_name(c->p, b->d->name, false);
  buf_printf(&t, "#include \"%s.c\"\n#include <stdlib.h>\nvoid call_%s(void **at);\n", b->stem,
             b->stem);
  buf_printf(&t, "void call_%s(void **at) { if (%s(", b->stem, name);
  for (uint32_t i = 0; i < b->n; i++) buf_printf(&t, "%sat[%u]", i ? ", " : "", i);
  buf_text(&t, ")) abort(); }\n");
  return t.at;
}

// *made: it is there as C.
static bool written(Case *c, const WholeDecl *d, CBox *b, bool *made) {
  const char *text, *name = whole_name(c->p, d->name, false);
  bool other;
  Limn *l = whole_closed(c, d, &other);
  if (!l) return other;
  *b = (CBox){.d = d, .stem = arena_format(c->arena, "as_c_%s", name)};
  LimnExport how = {.size = sizeof how, .as = "c", .precision = LIMN_PRECISION_64};
  how.out = arena_format(c->arena, "%s.c", b->stem);
  bool good = limn_export(l, name, &how, &text) == LIMN_GOOD;
  *made = good && header_read(c, b);
  if (!good && !is_refused_rightly(limn_messages(l, false)))
    case_says(c, "c not written: %s: %s", name, limn_messages(l, false));
  else
    good = true;
  limn_free(l);
  if (!*made) return good;
  text = c_text(c, b);
  return !file_write(c->arena, arena_format(c->arena, "%s_call.c", b->stem), text, strlen(text));
}

// -- calling --------------------------------------------------------------------------------------
static void *array_new(Case *c, const CArray *a, const Value *v) {
  char *at = NEW_ARRAY(c->arena, char, (size_t)a->n * 8 + 8);
  for (int64_t i = 0; v && i < a->n && i < v->n; i++) {
    if (a->kind == C_DOUBLE) ((double *)(void *)at)[i] = v->data[i];
    if (a->kind == C_INT) ((int32_t *)(void *)at)[i] = (int32_t)v->data[i];
    if (a->kind == C_BYTE) at[i] = (char)v->data[i];
  }
  return at;
}

static Value value_of(Case *c, const CArray *a, const void *at) {
  Value v = {.name = "", .n = a->n, .data = NEW_ARRAY(c->arena, double, a->n + 1)};
  for (int64_t i = 0; i < a->n; i++)
    v.data[i] = a->kind == C_DOUBLE ? ((const double *)at)[i]
                : a->kind == C_INT  ? (double)((const int32_t *)at)[i]
                                    : (double)((const unsigned char *)at)[i];
  return v;
}

static bool called(Case *c, void *library, CBox *b) {
  const char *name = whole_name(c->p, b->d->name, false);
  Values in = {0}, should = {0};
  bool other;
  Limn *l = whole_closed(c, b->d, &other);
  for (uint32_t i = 0; l && i < b->d->in.n; i++)
    vec_push(c->arena, &in, value_input(c, b->d, i, 1));
  bool good = l && case_eval(c, l, name, &in, NULL, &should, NULL);
  limn_free(l);
  if (!good) return false;
  void *at[ARRAYS], *call = dlsym(library, arena_format(c->arena, "call_%s", b->stem));
  uint32_t nin = 0, nout = 0;
  for (uint32_t i = 0; i < b->n; i++) {
    const Value *v = b->array[i].in && nin < in.n ? &in.at[nin++] : NULL;
    if (v && v->n != b->array[i].n) return case_says(c, "c has another input: of %s", name);
    at[i] = array_new(c, &b->array[i], v);
  }
  if (!call || nin != in.n) return case_says(c, "c has other inputs: of %s", name);
  ((void (*)(void **))(uintptr_t)call)(at);
  for (uint32_t i = 0; i < b->n; i++) {
    if (b->array[i].in) continue;
    if (nout == should.n) return case_says(c, "c has other results: of %s", name);
    Value v = value_of(c, &b->array[i], at[i]);
    if (!values_near(c, arena_format(c->arena, "by c: of %s", name), &v, &should.at[nout++], 1e-9))
      return false;
  }
  return nout == should.n || case_says(c, "c has other results: of %s", name);
}

static bool compiled(Case *c, const CBox *box, uint32_t n) {
  Buf b = buf_new(c->arena);
  buf_text(&b,
           "cc -std=c99 -O0 -pipe -Wall -Wextra -Wconversion -pedantic -Werror -fPIC -shared -o "
           "as_c.so");
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, " %s_call.c", box[i].stem);
  buf_text(&b, " -lm >as_c.said 2>&1");
  if (!system(b.at)) return true;
  FileText said = file_read(c->arena, "as_c.said", 100000);
  return case_says(c, "c not compiled: %s", said.text ? said.text : "");
}

bool law_c(Case *c) {
  CBox box[BOXES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->p->decl.n && n < BOXES; i++) {
    bool made = false;
    if (!whole_is_quiet(c->p->decl.at[i])) continue;
    if (!written(c, c->p->decl.at[i], &box[n], &made)) return false;
    n += made;
  }
  if (!n) return true;
  if (!compiled(c, box, n)) return false;
  void *library = dlopen("./as_c.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) return case_says(c, "c not loaded: %s", dlerror());
  bool good = true;
  for (uint32_t i = 0; good && i < n; i++) good = called(c, library, &box[i]);
  dlclose(library);
  return good;
}

// -- training -------------------------------------------------------------------------------------
// Thirty rounds of training as C against as many of our own compiled steps, from the same start and on the same numbers: losses and
// the whole state, which is all that evaluation reads. tests/c_out/steps.py does it, in a folder beside.
bool law_steps(Case *c) {
  const char *command = getenv("WHOLE_STEPS");
  Limn *l =
      c->p->trains && command ? case_load(c, whole_text(c->arena, c->p, &(Printed){0})) : NULL;
  if (!l) return !c->p->trains || !command;
  limn_free(l);
  // A slope that is 0 but for rounding, as before a norm, has any sign and direction, and these two step by nothing else.
  const char *program = whole_text(c->arena, c->p, &(Printed){0});
  if (strstr(program, "_norm") && (strstr(program, "lion(") || strstr(program, "muon(")))
    return true;
  const char *quick = getenv("WHOLE_CC");
  if (quick) setenv("LIMN_CC", quick, 1);
  if (system(arena_format(c->arena,
                          "mkdir -p steps && %s steps --precision 64 --steps 30 --compiler cc "
                          "chance.limn >said.steps 2>&1",
                          command)))
    return case_says(c, "steps: not looked at");
  FileText said = file_read(c->arena, "said.steps", 100000);
  if (!said.text) return case_says(c, "steps: nothing is said");
  return !strncmp(said.text, "ok ", 3) ||
         (!strncmp(said.text, "refused ", 8) && is_refused_rightly(said.text)) ||
         case_says(c, "steps as c: %s", said.text);
}
