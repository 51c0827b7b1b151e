// Conversion between numbers and text, independent of the locale. A host may have set a decimal
// comma: strtod then reads 0 from "0.5", and printf writes "0,5".
//
// Reading is correctly rounded (ties to even). Up to 19 digits and powers of ten up to 27, nearly
// every number, take one product or quotient of 128 bits; other numbers take a long division of big
// integers. Writing uses printf and replaces the locale's decimal point.
#include "base/number.h"
#include "base/base.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 Wide;

enum {
  DIGITS = 800, // a tie between two doubles has at most 767 digits; further ones only mean "above"
  LIMBS = 160,  // of 32 bits; 10^(DIGITS + 345) needs 119
  FIVES = 27,   // 5^27 is below 2^63
  EXPONENT_LIMIT = 2000 // beyond this power of ten the result is 0 or infinite
};

// -- rounding -------------------------------------------------------------------------------------
// Rounds (top + a fraction, if `more`) * 2^power; bit 63 of top is set.
static double round_top(uint64_t top, bool more, int power) {
  int drop = 64 - DBL_MANT_DIG;               // bits beyond the precision of a double
  int low = DBL_MIN_EXP - DBL_MANT_DIG;       // the power of the smallest double
  if (power + drop < low) drop = low - power; // subnormal numbers have fewer bits
  if (drop > 64) return 0;
  uint64_t kept = drop == 64 ? 0 : top >> drop, half = (uint64_t)1 << (drop - 1);
  uint64_t rest = drop == 64 ? top : top & ((half << 1) - 1);
  if (rest > half || (rest == half && (more || (kept & 1)))) kept++;
  return ldexp((double)kept, power + drop); // kept is at most 2^53: exact, or infinite
}

static int leading_zeros(uint64_t x) { return __builtin_clzll(x); }

static double round_wide(Wide x, bool more, int power) {
  uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
  if (!high) {
    int up = leading_zeros(low);
    return round_top(low << up, more, power - up);
  }
  int up = leading_zeros(high);
  x <<= up;
  return round_top((uint64_t)(x >> 64), more || (uint64_t)x, power + 64 - up);
}

// -- short decimals -------------------------------------------------------------------------------
static uint64_t power_of_5(int n) {
  uint64_t p = 1;
  while (n-- > 0) p *= 5;
  return p;
}

// digits * 10^ten with |ten| <= FIVES; digits is not 0.
static double value_by_product(uint64_t digits, int ten) {
  if (ten >= 0) return round_wide((Wide)digits * power_of_5(ten), false, ten);
  int up = leading_zeros(digits);
  Wide x = (Wide)(digits << up) << 63; // the quotient then has at least 64 bits
  uint64_t five = power_of_5(-ten);
  return round_wide(x / five, x % five != 0, ten - up - 63);
}

// -- long decimals: big integers ------------------------------------------------------------------
typedef struct {
  uint32_t limb[LIMBS]; // least significant first
  int n;
} Long;

static void long_times_plus(Long *x, uint32_t by, uint32_t plus) {
  uint64_t carry = plus;
  for (int i = 0; i < x->n; i++) {
    carry += (uint64_t)x->limb[i] * by;
    x->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) x->limb[x->n++] = (uint32_t)carry;
}

static void long_times_ten(Long *x, int power) {
  for (; power >= 9; power -= 9) long_times_plus(x, 1000000000, 0);
  for (; power > 0; power--) long_times_plus(x, 10, 0);
}

static void long_shift(Long *x, int bits) {
  int whole = bits / 32, part = bits % 32;
  if (!x->n || !bits) return;
  long_times_plus(x, (uint32_t)1 << part, 0);
  memmove(x->limb + whole, x->limb, (size_t)x->n * sizeof x->limb[0]);
  memset(x->limb, 0, (size_t)whole * sizeof x->limb[0]);
  x->n += whole;
}

static int long_bits(const Long *x) {
  return x->n ? 32 * x->n - __builtin_clz(x->limb[x->n - 1]) : 0;
}

static int long_compare(const Long *x, const Long *y) {
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  for (int i = x->n; i-- > 0;)
    if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
  return 0;
}

static void long_subtract(Long *x, const Long *y) { // x >= y
  int64_t carry = 0;
  for (int i = 0; i < x->n; i++) {
    carry += (int64_t)x->limb[i] - (i < y->n ? y->limb[i] : 0);
    x->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  while (x->n && !x->limb[x->n - 1]) x->n--;
}

// above / below: computes 64 bits of the quotient by long division.
static double long_quotient(Long *above, Long *below) {
  int power = long_bits(above) - long_bits(below);
  long_shift(power < 0 ? above : below, abs(power));
  if (long_compare(above, below) < 0) long_shift(above, 1), power--;
  uint64_t top = 0;
  for (int i = 0; i < 64; i++) { // above < 2 * below
    bool one = long_compare(above, below) >= 0;
    if (one) long_subtract(above, below);
    long_shift(above, 1);
    top = top << 1 | one;
  }
  return round_top(top, above->n > 0, power - 63);
}

static double value_by_division(const char *digit, int n, int ten) {
  Long above = {.n = 0}, below = {.limb = {1}, .n = 1};
  for (int i = 0; i < n; i++) long_times_plus(&above, 10, (uint32_t)(digit[i] - '0'));
  if (ten > 0)
    long_times_ten(&above, ten);
  else
    long_times_ten(&below, -ten);
  return long_quotient(&above, &below);
}

// -- reading --------------------------------------------------------------------------------------
typedef struct {
  char digit[DIGITS + 1]; // without leading zeros
  int n;
  int64_t ten; // exponent: the value is digits * 10^ten
} Decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits beyond the buffer only decide ties.
static void decimal_add(Decimal *d, char c, bool fraction) {
  d->ten -= fraction;
  if (!d->n && c == '0') return;
  if (d->n < DIGITS) {
    d->digit[d->n++] = c;
    return;
  }
  d->ten++;
  if (c != '0') d->digit[DIGITS - 1] |= 1; // makes the last digit odd, which breaks a tie
}

static double decimal_value(Decimal *d) {
  while (d->n && d->digit[d->n - 1] == '0') d->n--, d->ten++;
  if (!d->n || d->ten + d->n < -EXPONENT_LIMIT) return 0;
  if (d->ten + d->n > EXPONENT_LIMIT) return INFINITY;
  int ten = (int)d->ten;
  if (ten + d->n > 310) return INFINITY;
  if (ten + d->n < -330) return 0;
  if (d->n > 19 || ten < -FIVES || ten > FIVES) return value_by_division(d->digit, d->n, ten);
  uint64_t digits = 0;
  for (int i = 0; i < d->n; i++) digits = digits * 10 + (uint64_t)(d->digit[i] - '0');
  return value_by_product(digits, ten);
}

static const char *read_power(const char *at, Decimal *d) {
  if (*at != 'e' && *at != 'E') return at;
  const char *p = at + 1;
  bool minus = *p == '-';
  if (*p == '-' || *p == '+') p++;
  if (!is_digit(*p)) return at;
  int64_t power = 0;
  for (; is_digit(*p); p++)
    if (power < INT32_MAX) power = power * 10 + (*p - '0');
  d->ten += minus ? -power : power;
  return p;
}

static const char *read_decimal(const char *at, double *out) {
  Decimal d; // its digits are written before they are read
  d.n = 0;
  d.ten = 0;
  const char *first = at;
  for (; is_digit(*at); at++) decimal_add(&d, *at, false);
  bool any = at > first;
  if (*at == '.' && (any || is_digit(at[1])))
    for (at++; is_digit(*at); at++) decimal_add(&d, *at, true), any = true;
  if (!any) return NULL;
  at = read_power(at, &d);
  *out = decimal_value(&d);
  return at;
}

// Matches a word, ignoring case.
static const char *read_word(const char *at, const char *word) {
  for (; *word; at++, word++)
    if ((*at | 0x20) != *word) return NULL;
  return at;
}

double number_read(const char *text, const char **end) {
  const char *at = text, *past;
  double x = 0;
  while (*at == ' ' || (*at >= '\t' && *at <= '\r')) at++;
  bool minus = *at == '-';
  if (*at == '-' || *at == '+') at++;
  if ((past = read_decimal(at, &x)))
    at = past;
  else if ((past = read_word(at, "infinity")) || (past = read_word(at, "inf")))
    at = past, x = INFINITY;
  else if ((past = read_word(at, "nan")))
    at = past, x = NAN;
  else
    at = text, minus = false;
  if (end) *end = at;
  return minus ? -x : x;
}

// -- writing --------------------------------------------------------------------------------------
// Replaces the locale's decimal separator, any run of other characters, by '.'.
static void replace_point(char *text) {
  char *to = text;
  bool inside = false;
  for (const char *from = text; *from; from++) {
    char c = *from;
    bool own = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
               c == '+' || c == ' ';
    if (own) *to++ = c;
    if (!own && !inside) *to++ = '.';
    inside = !own;
  }
  *to = 0;
}

size_t number_format(char *out, size_t room, const char *flags, int precision, char as, double x) {
  char format[16];
  snprintf(format, sizeof format, precision < 0 ? "%%%s%c" : "%%%s.*%c", flags, as);
  int n =
      precision < 0 ? snprintf(out, room, format, x) : snprintf(out, room, format, precision, x);
  if (n < 0 || (size_t)n >= room) return 0;
  replace_point(out);
  return strlen(out);
}

// 15 digits suffice for any number that was written with at most 15 digits. Subnormal numbers have
// fewer significant digits, so the search starts at 1.
size_t number_print(char out[NUMBER_ROOM], double x) {
  if (isnan(x)) return strlen(strcpy(out, "nan"));
  if (isinf(x)) return strlen(strcpy(out, x > 0 ? "inf" : "-inf"));
  if (fabs(x) < 1e15 && x == floor(x)) return number_format(out, NUMBER_ROOM, "", 0, 'f', x);
  size_t n = 0;
  for (int digits = fabs(x) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
    n = number_format(out, NUMBER_ROOM, "", digits, 'g', x);
    if (number_read(out, NULL) == x) break;
  }
  return n;
}
