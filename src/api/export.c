// Export to other formats.
#include "api/api_own.h"

LimnStatus limn_export(Limn *l, const char *name, const LimnExport *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_EXPORT, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnExport own;
  if (!text) return call_end(c, call_misuse(c, "limn_export wants a place for its answer"));
  if (!copy_export_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  Buf b = buf_new(c->answer);
  Arrays set = weights_overridden(c);
  CallFiles files = files_of(c);
  files_read(&files, own.weights);
  files_read_run(&files, own.from);
  Export e = {.in = l->in,
              .w = l->w,
              .p = l->program,
              .arena = l->w->arena,
              .name = name,
              .how = &own,
              .set = &set,
              .reads = &files.in,
              .text = &b};
  LimnStatus status = status_of(export_as(&e));
  *text = status ? NULL : b.at;
  return call_end(c, status);
}
