// The two files of an export: the .c with all code, and the .h with the interface.
#include "base/files.h"
#include "port/c/c_own.h"
#include "run/engine/kernel/prelude_text.h"

// "dir/net" for "dir/net.c"
static const char *without_ending(Export *e, const char *path) {
  size_t n = strlen(path);
  return text_ends(path, ".c") ? arena_text(e->arena, path, n - 2) : path;
}

// Can the name be written in `#include "net.h"`? That syntax has no escapes, so quotes, backslashes
// (and trigraphs for them) and line breaks are excluded.
static bool can_be_included(const char *name) {
  for (size_t i = 0, length; name[i]; i += length) {
    length = printable_length(name + i, strlen(name + i));
    if (!length || name[i] == '"' || name[i] == '\\' || strncmp(name + i, "??", 2) == 0)
      return false;
  }
  return true;
}

bool c_file_open(Export *e, CFile *f) {
  *f = (CFile){.e = e,
               .wide = e->how->precision == LIMN_PRECISION_64,
               .beside = e->how->weights_beside,
               .batch = e->how->batch ? e->how->batch : 1,
               .c = buf_new(e->arena),
               .h = buf_new(e->arena),
               .kernels = buf_new(e->arena),
               .body = buf_new(e->arena)};
  f->path = without_ending(e, export_file(e));
  const char *base;
  path_folder(e->arena, f->path, &base);
  f->header = arena_format(e->arena, "%s.h", base);
  f->name = c_public_name(e->arena, e->name ? e->name : base);
  if (can_be_included(base)) return true;
  Buf shown = buf_new(e->arena);
  buf_escaped(&shown, f->header, strlen(f->header));
  return export_error(e, OUTCOME_WRONG,
                      "the C file would include %s, and C has no way to write that name: -o FILE.c "
                      "says another one",
                      shown.at);
}

void c_file_join(CFile *f, uint32_t axes, bool products) {
  Buf *c = &f->c, all = buf_new(f->e->arena);
  buf_printf(c,
             "// %s, for one thread. Fast: -O3 -march=native -fno-math-errno -fno-trapping-math "
             "-fopenmp-simd.\n",
             f->name);
  buf_printf(c, "#include \"%s\"\n\n", f->header);
  buf_text(
      c,
      "#if defined __GNUC__\n"
      "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\" // omp simd, without its flag\n"
      "#pragma GCC diagnostic ignored \"-Wunused-variable\" // what is read for its place alone\n"
      "#endif\n"
      "#if defined __clang__\n"
      "#pragma clang diagnostic ignored \"-Wpass-failed\" // and loops that stay as they are\n"
      "#endif\n");
  if (products) buf_printf(c, "#define LIMN_AXES %u\n", axes);
  prelude_write(&all, f->wide ? PRECISION_64 : PRECISION_32);
  buf_text(&all, product_text);
  emit_export_header(f->e->arena, &all);
  buf_text(&all, f->kernels.at);
  buf_text(c, c_used(f->e->arena, all.at, f->body.at));
  buf_char(c, '\n');
  buf_text(c, f->body.at);
}

// Files beside the one that the user names are written over only if they belong to an export.
static bool may_close(CFile *f, const char *c, const char *h, const char *bin) {
  static const char mark[] = "written by limn ";
  Export *e = f->e;
  if (!export_may_write(e, (const char *[]){c, h, bin}, bin ? 3 : 2)) return false;
  FileText old = {0};
  if (path_exists(h)) old = file_read(e->arena, h, TEXT_LIMIT);
  const char *made = old.text ? strstr(old.text, mark) : NULL;
  bool own = made && made < old.text + strcspn(old.text, "\n");
  if (path_exists(h) && !own)
    return export_error(e, OUTCOME_WRONG,
                        "%s is there already, and limn has not written it: -o FILE.c says another "
                        "name",
                        h);
  if (!bin || own || !path_exists(bin)) return true;
  return export_error(
      e, OUTCOME_WRONG,
      "%s is there already, and no %s that it belongs to: weights would be written over", bin, h);
}

bool c_file_close(CFile *f, const CRecord *beside) {
  Export *e = f->e;
  const char *c = arena_format(e->arena, "%s.c", f->path),
             *h = arena_format(e->arena, "%s.h", f->path),
             *bin = arena_format(e->arena, "%s.bin", f->path);
  if (!may_close(f, c, h, beside ? bin : NULL)) return false;
  if (!export_write_file(e, c, f->c.at, f->c.n) || !export_write_file(e, h, f->h.at, f->h.n))
    return false;
  if (!beside) return true;
  Buf bytes = buf_new(e->arena);
  c_record_bytes(e->arena, beside, &bytes);
  return export_write_file(e, bin, bytes.at, bytes.n);
}
