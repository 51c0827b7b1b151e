// Reading a diagram in JSON that another program has written.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"

#include "port/json/json.h"

// The program's path with another suffix.
static const char *weights_path(Arena *a, const char *program) {
  Buf b = buf_new(a);
  size_t n = strlen(program);
  buf_add(&b, program, text_ends(program, ".limn") ? n - 5 : n);
  buf_text(&b, ".safetensors");
  return b.at;
}

// Copies the weights of the diagram, under the names of the program.
static LimnStatus weights_move(ApiCall *c, const LimnRead *how, const JsonProgram *p) {
  Arrays all = {0}, out = {0};
  const char *error = NULL, *path = weights_path(c->scratch, how->out);
  if (!safetensors_read(c->scratch, how->weights, &all, &error))
    return call_fail(c, LIMN_WRONG, "cannot read %s: %s", how->weights, error);
  for (uint32_t i = 0; i < p->rename.n; i++)
    for (uint32_t k = 0; k < all.array.n; k++) {
      if (strcmp(all.array.at[k].name, p->rename.at[i].from) != 0) continue;
      Array named = all.array.at[k];
      named.name = p->rename.at[i].to;
      vec_push(c->scratch, &out.array, named);
    }
  if (safetensors_write(c->scratch, path, &out, &error)) return LIMN_GOOD;
  return call_fail(c, LIMN_SYSTEM, "cannot write %s: %s", path, error);
}

static LimnStatus read_program(ApiCall *c, const char *path, const LimnRead *how,
                               const char **program) {
  FileText f = file_read(c->scratch, path, TEXT_LIMIT);
  JsonProgram p = {0};
  const char *error = f.error;
  if (!f.text || !json_program(c->scratch, f.text, f.n, how->places, &p, &error))
    return call_fail(c, LIMN_WRONG, "cannot read %s: %s", path, error);
  *program = format_text(c, c->answer, path, p.text, strlen(p.text));
  if (!*program || !how->out) return *program ? LIMN_GOOD : LIMN_WRONG;
  LimnStatus status = how->weights ? weights_move(c, how, &p) : LIMN_GOOD;
  if (status) return status;
  error = file_write(c->scratch, how->out, *program, strlen(*program));
  if (error) diag_error(c->l->diags, (Span){0}, "cannot write %s: %s", how->out, error);
  return error ? LIMN_SYSTEM : LIMN_GOOD;
}

LimnStatus limn_read(Limn *l, const char *path, const LimnRead *how, const char **program) {
  if (program) *program = NULL;
  ENTER(c, l, ANSWER_READ, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnRead own;
  if (!path || !program)
    return call_end(c, call_misuse(c, "limn_read wants a path, and where to put the program"));
  if (!OPTIONS(c, &own, how)) return call_end(c, LIMN_USAGE);
  CallFiles files = {.arena = c->scratch};
  files_read(&files, path);
  files_read(&files, own.weights);
  files_write(&files, own.out);
  if (own.out && own.weights) files_write(&files, weights_path(c->scratch, own.out));
  if (!files_apart(c, &files)) return call_end(c, LIMN_USAGE);
  LimnStatus status = read_program(c, path, &own, program);
  if (status) *program = NULL;
  return call_end(c, status);
}
