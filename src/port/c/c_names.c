// C identifiers. Names of a program are arbitrary; identifiers have letters, digits and `_`, are no
// keywords, and public ones do not collide with the C library or the text of the export.
#include "base/words.h"
#include "port/c/c_own.h"
#include "run/engine/kernel/prelude_text.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Keywords of C and C++, and library functions that compilers know.
static const char reserved[] =
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline "
    "int long register restrict return short signed sizeof static struct switch typedef union "
    "unsigned void volatile while asm bool catch class complex concept constexpr decltype delete "
    "explicit export false friend imaginary mutable namespace new noexcept nullptr operator "
    "private "
    "protected public requires template this throw true try typeid typename typeof using virtual "
    "and bitand bitor compl not or xor alignas alignof main memory state seed step weights Context "
    "small_product "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t NULL "
    "abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi bsearch calloc cbrt ceil "
    "clock copysign cos cosh div erf erfc exit exp exp2 expm1 fabs fdim floor fma fmax fmin fmod "
    "fopen fprintf fputs fread free frexp fscanf fwrite gamma getc getenv gets hypot index isalnum "
    "isalpha isdigit isfinite isinf isnan isspace j0 j1 jn labs ldexp lgamma log log10 log1p log2 "
    "logb lrint lround malloc memchr memcmp memcpy memmove memset modf nan nearbyint pow printf "
    "putc "
    "puts qsort raise rand realloc remainder remove rename rewind rindex rint round scalb scanf "
    "signal significand sin sinh sprintf sqrt srand strcat strchr strcmp strcpy strlen strncat "
    "strncmp strncpy strstr strtod strtok strtol system tan tanh tgamma time trunc ungetc y0 y1 yn";

const char *c_identifier(Arena *a, const char *name) {
  Buf b = buf_new(a);
  if (!*name || isdigit((unsigned char)*name)) buf_char(&b, 'n');
  for (const char *c = name; *c; c++)
    if (is_word(*c))
      buf_char(&b, *c);
    else if (b.n && b.at[b.n - 1] != '_')
      buf_char(&b, '_');
  if (!b.n || text_has_word(reserved, b.at) || strncmp(b.at, "limn_", 5) == 0 ||
      strncmp(b.at, "op_", 3) == 0 || b.at[0] == '_')
    return arena_format(a, "v_%s", b.n ? b.at : "");
  const char *define = arena_format(a, "#define %s", b.at);
  if (text_has_word(prelude_text, define) || text_has_word(product_text, define)) buf_char(&b, '_');
  return b.at;
}

// Types, macros and constants of our own text are in capitals, except two; functions are followed
// by `(`.
static bool is_ours(Arena *a, const char *text, const char *name) {
  bool capital = false;
  for (const char *c = name; *c; c++) capital |= isupper((unsigned char)*c) != 0;
  const char *call = arena_format(a, "%s(", name);
  for (const char *at = text; (at = strstr(at, call)); at++)
    if (at == text || !is_word(at[-1])) return true;
  return capital && text_has_word(text, name);
}

const char *c_public_name(Arena *a, const char *name) {
  const char *made = c_identifier(a, name);
  bool typed = strncmp(made, "float_", 6) == 0 || strncmp(made, "double_", 7) == 0;
  if (typed || strcmp(made, "real") == 0 || strcmp(made, "wide") == 0 ||
      is_ours(a, prelude_text, made) || is_ours(a, product_text, made))
    made = arena_format(a, "%s_net", made);
  return made;
}

const char *c_upper(Arena *a, const char *name) {
  Buf b = buf_new(a);
  for (; *name; name++) buf_char(&b, (char)toupper((unsigned char)*name));
  return b.at;
}

const char *c_distinct(Arena *a, const char *name, const char *const *taken, uint32_t n) {
  const char *made = name;
  for (uint32_t number = 2, i = 0; i < n; i++)
    if (taken[i] && strcmp(taken[i], made) == 0) {
      made = arena_format(a, "%s_%u", name, number++);
      i = UINT32_MAX; // start again
    }
  return made;
}
