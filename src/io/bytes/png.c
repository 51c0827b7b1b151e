// Reading and writing of png pictures by libpng.
//
// Any png is converted to 8-bit grey or RGB: palettes and small depths are expanded, 16 bits are
// rounded to 8, transparent pixels are composed over white. The size is checked before memory is
// allocated: at most 10 times the file plus 64 MB.
//
// libpng reports errors by longjmp. Its memory is in an arena of its own, and all state that is
// needed after a jump is in PngJob, which is allocated before.
#include "io/bytes/bytes.h"

#include <png.h>

typedef struct {
  Arena *arena, *scratch;
  const char **error;
  const uint8_t *at;
  size_t n, limit; // bytes left; limit for the pixels
  Buf out;
  png_structp png;
  png_infop info;
} PngJob;

static void *libpng_alloc(png_structp png, png_alloc_size_t n) {
  return arena_alloc(png_get_mem_ptr(png), n);
}
static void libpng_free(png_structp png, void *at) { (void)png, (void)at; }

static void on_error(png_structp png, const char *why) {
  PngJob *j = png_get_error_ptr(png);
  file_error(j->arena, j->error, "the png is damaged: %s", why);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *why) { (void)png, (void)why; }

static void read_some(png_structp png, uint8_t *to, size_t n) {
  PngJob *j = png_get_io_ptr(png);
  if (n > j->n) png_error(png, "it ends in the middle");
  memcpy(to, j->at, n);
  j->at += n;
  j->n -= n;
}

static void write_some(png_structp png, uint8_t *from, size_t n) {
  PngJob *j = png_get_io_ptr(png);
  buf_add(&j->out, (const char *)from, n);
}

static void write_end(png_structp png) { (void)png; }

bool bytes_are_png(const void *bytes, size_t n) {
  return n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static uint32_t word(const uint8_t *p) { return (uint32_t)bytes_load(p, 4, true); }

// signature | length of the header chunk | "IHDR" | width | height | depth | colour type
//     8                 4                     4        4       4        1         1
bool png_size(const void *bytes, size_t n, Picture *out) {
  const uint8_t *p = bytes;
  if (!bytes_are_png(bytes, n) || n < 33 || memcmp(p + 12, "IHDR", 4) != 0) return false;
  *out = (Picture){.width = word(p + 16), .height = word(p + 20), .channels = p[25] & 2 ? 3 : 1};
  return true;
}

static bool has_palette(const PngJob *j) {
  return png_get_color_type(j->png, j->info) == PNG_COLOR_TYPE_PALETTE;
}

// Configures libpng: 8 bits, alpha (if present) as a channel; indices if there is a palette.
static void choose_form(PngJob *j) {
  if (has_palette(j))
    png_set_packing(j->png);
  else
    png_set_expand(j->png), png_set_scale_16(j->png);
  png_set_interlace_handling(j->png);
  png_read_update_info(j->png, j->info);
}

static void compose_over_white(const uint8_t *from, uint8_t *to, size_t pixels, uint32_t channels) {
  for (size_t i = 0; i < pixels; i++) {
    uint32_t alpha = from[channels];
    for (uint32_t c = 0; c < channels; c++)
      *to++ = (uint8_t)((alpha * from[c] + (255 - alpha) * 255 + 127) / 255);
    from += channels + 1;
  }
}

// libpng would take a colour beyond the palette for black.
static bool put_colours(PngJob *j, const uint8_t *pixels, Picture *p) {
  png_colorp palette = NULL;
  png_bytep alpha = NULL;
  int n = 0, clear = 0;
  png_get_PLTE(j->png, j->info, &palette, &n);
  png_get_tRNS(j->png, j->info, &alpha, &clear, NULL);
  uint8_t *to = p->at = arena_alloc(j->arena, (size_t)p->width * p->height * 3);
  p->channels = 3;
  for (size_t i = 0; i < (size_t)p->width * p->height; i++, to += 3) {
    uint8_t k = pixels[i];
    if (k >= n)
      return file_error(j->arena, j->error,
                        "in row %zu and column %zu, counted from 0, is colour %u of a palette that "
                        "has %d",
                        i / p->width, i % p->width, k, n);
    const png_color *c = &palette[k];
    compose_over_white((uint8_t[]){c->red, c->green, c->blue, k < clear ? alpha[k] : 255}, to, 1,
                       3);
  }
  return true;
}

static bool read_pixels(PngJob *j, Picture *out) {
  png_read_info(j->png, j->info);
  choose_form(j);
  uint32_t channels = png_get_channels(j->png, j->info);
  size_t row = png_get_rowbytes(j->png, j->info);
  bool alpha = channels == 2 || channels == 4;
  Picture p = {.width = png_get_image_width(j->png, j->info),
               .height = png_get_image_height(j->png, j->info),
               .channels = alpha ? channels - 1 : channels};
  bool palette = has_palette(j);
  size_t pixel = channels + (palette ? 3 : alpha ? p.channels : 0);
  if (pixel * p.width + sizeof(uint8_t *) > j->limit / p.height)
    return file_error(j->arena, j->error, "its %u×%u pixels are too many for its bytes", p.width,
                      p.height);
  Arena *memory = alpha || palette ? j->scratch : j->arena;
  uint8_t *pixels = arena_alloc(memory, row * p.height);
  uint8_t **rows = NEW_ARRAY(j->scratch, uint8_t *, p.height);
  for (uint32_t i = 0; i < p.height; i++) rows[i] = pixels + i * row;
  png_read_image(j->png, rows);
  png_read_end(j->png, NULL);
  p.at = pixels;
  if (palette && !put_colours(j, pixels, &p)) return false;
  if (alpha) {
    p.at = arena_alloc(j->arena, (size_t)p.width * p.height * p.channels);
    compose_over_white(pixels, p.at, (size_t)p.width * p.height, p.channels);
  }
  *out = p;
  return true;
}

static bool job_read(PngJob *j, Picture *out) {
  j->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, j, on_error, on_warning, j->scratch,
                                    libpng_alloc, libpng_free);
  j->info = j->png ? png_create_info_struct(j->png) : NULL;
  if (!j->info) return file_error(j->arena, j->error, "libpng cannot be started");
  if (setjmp(png_jmpbuf(j->png))) return false;
  png_set_read_fn(j->png, j, read_some);
  png_set_user_limits(j->png, 1 << 20, 1 << 24);
  png_set_chunk_malloc_max(j->png, 1 << 20);
  png_set_chunk_cache_max(j->png, 16);
  png_set_keep_unknown_chunks(j->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  return read_pixels(j, out);
}

bool png_read_bytes(Arena *a, const void *bytes, size_t n, Picture *out, const char **error) {
  Picture says;
  if (!png_size(bytes, n, &says))
    return file_error(a, error,
                      "it begins with `%s`, where a png begins with \\x89PNG and its size",
                      text_shown(a, bytes, n < 8 ? n : 8));
  PngJob *j = NEW(a, PngJob);
  *j = (PngJob){.arena = a, .scratch = arena_child(a), .error = error, .at = bytes, .n = n};
  j->limit = unpack_limit(n);
  bool good = job_read(j, out);
  arena_free(j->scratch);
  return good;
}

static bool job_write(PngJob *j, const Picture *p) {
  j->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, j, on_error, on_warning, j->scratch,
                                     libpng_alloc, libpng_free);
  j->info = j->png ? png_create_info_struct(j->png) : NULL;
  if (!j->info) return file_error(j->arena, j->error, "libpng cannot be started");
  if (setjmp(png_jmpbuf(j->png))) return false;
  png_set_write_fn(j->png, j, write_some, write_end);
  png_set_IHDR(j->png, j->info, p->width, p->height, 8,
               p->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(j->png, 4);
  png_set_filter(j->png, 0, PNG_FILTER_NONE); // best for plain areas and lines, where rows repeat
  png_write_info(j->png, j->info);
  for (uint32_t i = 0; i < p->height; i++)
    png_write_row(j->png, p->at + (size_t)i * p->width * p->channels);
  png_write_end(j->png, NULL);
  return true;
}

bool png_bytes(Arena *a, const Picture *p, Bytes *out, const char **error) {
  PngJob *j = NEW(a, PngJob);
  *j = (PngJob){.arena = a, .scratch = arena_child(a), .error = error, .out = buf_new(a)};
  bool good = job_write(j, p);
  arena_free(j->scratch);
  *out = (Bytes){(uint8_t *)j->out.at, j->out.n};
  return good;
}

bool png_write(Arena *a, const char *path, const Picture *p, const char **error) {
  Bytes bytes;
  if (!png_bytes(a, p, &bytes, error)) return file_error(a, error, "%s: %s", path, *error);
  return file_put(a, path, bytes.at, bytes.n, error);
}
