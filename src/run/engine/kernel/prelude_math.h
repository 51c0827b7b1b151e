// prelude_math.h: the functions of one type, included by prelude.h once for each type. REAL is the
// type, BITS the unsigned integer of its width, NAME(f) adds its prefix to f.
//
// Each function reduces its argument to a short interval, evaluates a polynomial there, and
// combines the parts; special cases (0, infinity, NaN, overflow) are selected at the end. A
// function with the suffix _inside is valid only for arguments without special cases. Denormal
// results may be 0, and the sign of a zero is not preserved.

// -- bits of a number -----------------------------------------------------------------------------
INLINE BITS NAME(bits)(REAL x) {
  union {
    REAL x;
    BITS bits;
  } u;
  u.x = x;
  return u.bits;
}

INLINE REAL NAME(from_bits)(BITS bits) {
  union {
    BITS bits;
    REAL x;
  } u;
  u.bits = bits;
  return u.x;
}

// 2^n from n + bias, for a normal result.
INLINE REAL NAME(power)(BITS biased) { return NAME(from_bits)(biased << NAME(fraction)); }

INLINE REAL NAME(fabs)(REAL x) { return NAME(builtin)(fabs)(x); }
INLINE REAL NAME(sqrt)(REAL x) { return NAME(builtin)(sqrt)(x); }
// Correctly rounded, also if the compiler may use approximate division.
INLINE REAL NAME(quotient)(REAL x, REAL y) { return NAME(divided)(x, y); }
INLINE REAL NAME(fma)(REAL x, REAL y, REAL z) { return FMA(x, y, z); }

INLINE REAL NAME(floor)(REAL x) {
#if LIMN_ROUNDS
  return NAME(builtin)(floor)(x);
#else
  REAL limit = NAME(power)(NAME(fraction) + NAME(bias)),
       a = NAME(fabs)(x); // larger numbers are whole
  REAL near = NAME(builtin)(copysign)(a < limit ? a + limit - limit : a, x);
  return near - (near > x ? (REAL)1 : (REAL)0);
#endif
}

// -- exp and derived functions --------------------------------------------------------------------
// x = n·ln(2) + r with |r| ≤ ln(2)/2. Gives r; n is in the low bits of *n.
INLINE REAL NAME(exp_split)(REAL x, BITS *n) {
  REAL shifted = FMA(x, NAME(log2_e), NAME(shifter)), whole = shifted - NAME(shifter);
  *n = NAME(bits)(shifted);
  return FMA(whole, -NAME(ln2_low), FMA(whole, -NAME(ln2_high), x));
}

// exp, if neither the result nor a power of two near it overflows or is denormal.
INLINE REAL NAME(exp_inside)(REAL x) {
  BITS n;
  REAL r = NAME(exp_split)(x, &n);
  return (FMA(r * NAME(exp_tail)(r), r, r) + 1) * NAME(power)(n + NAME(bias));
}

// The power of two is applied in two factors, since 2^128 is not a float. Bits above n are lost in
// `power`.
INLINE REAL NAME(exp)(REAL x) {
  BITS n;
  REAL r = NAME(exp_split)(x < NAME(exp_min) ? NAME(exp_min) : x, &n);
  BITS half = n >> 1;
  REAL y = (FMA(r * NAME(exp_tail)(r), r, r) + 1) * NAME(power)(half + NAME(bias)) *
           NAME(power)(n - half + NAME(bias));
  y = x < NAME(exp_min) ? 0 : y;
  return x > NAME(exp_max) ? LIMN_INF : y;
}

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), computed at half the scale.
INLINE REAL NAME(expm1_inside)(REAL x) {
  BITS n;
  REAL r = NAME(exp_split)(x, &n), scale = NAME(power)(n + NAME(bias) - 1);
  REAL y = FMA(scale, FMA(r * NAME(exp_tail)(r), r, r), scale - (REAL)0.5);
  return y + y;
}

INLINE REAL NAME(expm1)(REAL x) {
  REAL y = NAME(expm1_inside)(x < NAME(expm1_min) ? NAME(expm1_min) : x);
  return x > NAME(exp_max) ? LIMN_INF : y;
}

// With e = exp(2x) - 1: e/(e + 2).
INLINE REAL NAME(tanh)(REAL x) {
  REAL a = NAME(fabs)(x), e = NAME(expm1_inside)(2 * (a > NAME(tanh_max) ? NAME(tanh_max) : a));
  return NAME(builtin)(copysign)(e / (e + 2), x);
}

INLINE REAL NAME(sigmoid)(REAL x) {
  REAL a = x < NAME(exp_min) ? NAME(exp_min) : x;
  REAL y = 1 / (1 + NAME(exp_inside)(a > -NAME(exp_min) ? NAME(exp_min) : -a));
  return x < NAME(exp_min) ? 0 : y;
}

INLINE REAL NAME(erf)(REAL x) {
  REAL a = NAME(fabs)(x);
  a = a > NAME(erf_max) ? NAME(erf_max) : a;
  REAL small = FMA(a, NAME(erf_small)(a * a), a), large = 1 - NAME(exp_inside)(NAME(erf_large)(a));
  return NAME(builtin)(copysign)(a < 1 ? small : large, x);
}

// -- log and derived functions --------------------------------------------------------------------
// x = 2^e (1 + f) with sqrt(1/2) ≤ 1 + f < sqrt(2), for normal x. Gives f and e + bias.
INLINE REAL NAME(log_split)(REAL x, BITS *biased) {
  BITS one = (BITS)NAME(bias) << NAME(fraction), bits = NAME(bits)(x) + (one - NAME(sqrt_half));
  *biased = bits >> NAME(fraction);
  return NAME(from_bits)((bits & (((BITS)1 << NAME(fraction)) - 1)) + NAME(sqrt_half)) - 1;
}

// e as a REAL, by integer addition: not every CPU has a conversion instruction.
INLINE REAL NAME(exponent)(BITS biased) {
  return NAME(from_bits)(NAME(bits)(NAME(shifter)) + biased) - (NAME(shifter) + NAME(bias));
}

// The same split for every positive x.
INLINE REAL NAME(log_split_any)(REAL x, REAL *e) {
  BITS biased;
  REAL lifted = x < NAME(least) ? x * NAME(power)(NAME(lift) + NAME(bias)) : x,
       f = NAME(log_split)(lifted, &biased);
  *e = NAME(exponent)(biased) - (x < NAME(least) ? (REAL)NAME(lift) : (REAL)0);
  return f;
}

// log(2^e (1 + f)). For floats, f² is computed inside an fma: alone it may be denormal, which is
// slow.
INLINE REAL NAME(log_sum)(REAL e, REAL f) {
#if IS_DOUBLE
  REAL s = f / (2 + f), z = s * s, half = (REAL)0.5 * f * f;
  REAL tail = s * FMA(z, NAME(log_tail)(z), half) - half; // since 2s = f - half + s·half
  return FMA(e, NAME(ln2_high), f + FMA(e, NAME(ln2_low), tail));
#else
  REAL y = FMA(f * NAME(log_tail)(f), f, f);
  return FMA(e, NAME(ln2_high), FMA(e, NAME(ln2_low), y));
#endif
}

INLINE REAL NAME(log)(REAL x) {
  REAL e, f = NAME(log_split_any)(x, &e), y = NAME(log_sum)(e, f);
  y = x < LIMN_INF ? y : x;
  REAL edge = x == 0 ? -LIMN_INF : LIMN_NAN;
  return x > 0 ? y : edge;
}

// The rounding error of 1 + x is added to f.
INLINE REAL NAME(log1p)(REAL x) {
  BITS biased;
  REAL u = 1 + x, lost = x < 1 ? x - (u - 1) : 1 - (u - x), f = NAME(log_split)(u, &biased);
  REAL scale = x < NAME(shifter) ? NAME(power)(2 * NAME(bias) - biased) : 0;
  REAL y = NAME(log_sum)(NAME(exponent)(biased), FMA(lost, scale, f));
  y = x < LIMN_INF ? y : x;
  REAL edge = u == 0 ? -LIMN_INF : LIMN_NAN;
  return u > 0 ? y : edge;
}

// max(x, 0) + log(1 + e), e = exp(-|x|), where 1 + e is itself near 1, or is 2 (1 + (e - 1)/2).
INLINE REAL NAME(softplus)(REAL x) {
  REAL a = NAME(fabs)(x), e = NAME(exp_inside)(a > -NAME(exp_min) ? NAME(exp_min) : -a);
  e = a > -NAME(exp_min) ? 0 : e;
  REAL near = (REAL)0.41421356, f = e > near ? (REAL)0.5 * e - (REAL)0.5 : e;
  REAL twos = e > near ? (REAL)1 : (REAL)0;
  return (x < 0 ? 0 : x) + NAME(log_sum)(twos, f);
}

// -- angles ---------------------------------------------------------------------------------------
INLINE REAL NAME(sin_inside)(REAL r) {
  REAL z = r * r;
  return FMA(r * z, NAME(sin_tail)(z), r);
}

INLINE REAL NAME(cos_inside)(REAL r) {
  REAL z = r * r;
  return FMA(z, FMA(z, NAME(cos_tail)(z), (REAL)-0.5), 1);
}

// x, or -x if the second lowest bit of n is set.
INLINE REAL NAME(flip)(REAL x, BITS n) {
  return NAME(from_bits)(NAME(bits)(x) ^ (n & 2) << (NAME(width) - 2));
}

// sin(r + quarter·π/2), |r| ≤ π/4.
INLINE REAL NAME(wave)(REAL r, BITS quarter) {
  REAL s = NAME(sin_inside)(r), c = NAME(cos_inside)(r);
  return NAME(flip)(quarter & 1 ? c : s, quarter);
}

#if IS_DOUBLE
// x = quarter·π/2 + r. π/2 is split into three parts, so that products with integers up to 2^20 are
// exact even without fma; with fma, r is accurate up to 2^31. For larger x, r is only bounded.
INLINE double double_quarter_split(double x, Bits64 *quarter) {
  double shifted = FMA(x, 0x1.45f306dc9c883p-1, NAME(shifter)), whole = shifted - NAME(shifter);
  double r = FMA(whole, -0x1.921fb544p0, x);
  r = FMA(whole, -0x1.0b4611a6p-34, r);
  r = FMA(whole, -0x1.3198a2e037073p-69, r);
  *quarter = double_bits(shifted);
  r = r > 0.8 ? 0.8 : r;
  return r < -0.8 ? -0.8 : r;
}
#endif

INLINE REAL NAME(sin)(REAL x) {
  Bits64 quarter;
  REAL r = (REAL)double_quarter_split(x, &quarter);
  return NAME(wave)(r, (BITS)quarter);
}

INLINE REAL NAME(cos)(REAL x) {
  Bits64 quarter;
  REAL r = (REAL)double_quarter_split(x, &quarter);
  return NAME(wave)(r, (BITS)quarter + 1);
}

INLINE REAL NAME(tan)(REAL x) {
  Bits64 quarter;
  REAL r = (REAL)double_quarter_split(x, &quarter);
  REAL s = NAME(sin_inside)(r), c = NAME(cos_inside)(r);
  REAL above = quarter & 1 ? c : s, below = quarter & 1 ? -s : c;
  return above / below;
}

// From the nearest of 0, π/4 and π/2: atan(a) = π/4 + atan((a - 1)/(a + 1)) = π/2 - atan(1/a).
INLINE REAL NAME(atan)(REAL x) {
  REAL a = NAME(fabs)(x), low = (REAL)0.41421356, high = (REAL)2.41421356;
  REAL above = a > low ? a - 1 : a, below = a > low ? a + 1 : 1, steps = a > low ? (REAL)0.5 : 0;
  above = a > high ? -1 : above;
  below = a > high ? a : below;
  steps = a > high ? 1 : steps;
  REAL t = above / below, z = t * t;
  REAL y = FMA(steps, NAME(pi_2_high), t + FMA(steps, NAME(pi_2_low), t * z * NAME(atan_tail)(z)));
  return NAME(builtin)(copysign)(y, x);
}

// -- powers ---------------------------------------------------------------------------------------
#if IS_DOUBLE
// a·b, and its rounding error.
INLINE double double_product(double a, double b, double *lost) {
  double p = a * b;
#if LIMN_FUSED
  *lost = FMA(a, b, -p);
#else
  // Splits each factor into halves (Veltkamp).
  double s = a * 0x1.0000002p27, t = b * 0x1.0000002p27;
  double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
  *lost = al * bl - (p - ah * bh - al * bh - ah * bl);
#endif
  return p;
}

// log(2^e (1 + f)) to about 60 bits, as the sum of the result and *low.
INLINE double double_log_pair(double e, double f, double *low) {
  double d = 2 + f, inverse = 1 / d, s = f * inverse, z = s * s, lost;
  double sd = double_product(s, d, &lost), rest = f - sd - lost - s * (f - (d - 2));
  double small = FMA(s * z, NAME(log_tail)(z), 2 * rest * inverse);
  double big = e * NAME(ln2_high), high = big + 2 * s, part = high - big;
  double tail = (big - (high - part)) + (2 * s - part) + FMA(e, NAME(ln2_low), small),
         sum = high + tail;
  *low = tail - (sum - high);
  return sum;
}

// (2^e (1 + f))^y
INLINE double double_pow_inside(double e, double f, double y) {
  Bits64 n;
  double low, lost, high = double_log_pair(e, f, &low), v = double_product(high, y, &lost);
  lost = double_fabs(v) < 800 ? FMA(low, y, lost) : 0;
  v = v > 800 ? 800 : v;
  v = v < -800 ? -800 : v;
  double r = double_exp_split(v, &n) + lost;
  Bits64 half = n >> 1;
  return (FMA(r * NAME(exp_tail)(r), r, r) + 1) * double_power(half + NAME(bias)) *
         double_power(n - half + NAME(bias));
}

// The same for floats, in doubles: 2^(y log2(…)), 2^-45 and 2^-34.
INLINE double double_pow_short(double e, double f, double y) {
  double s = f / (2 + f), z = s * s;
  double log2 = POLY6(z, 0x1.71547652b8251p1, 0x1.ec709dc53c311p-1, 0x1.2776c293812fbp-1,
                      0x1.a61a2e9155e91p-2, 0x1.47955fd26979p-2, 0x1.21b0597d18dafp-2);
  double v = y * FMA(s, log2, e);
  v = v > 200 ? 200 : v;
  v = v < -200 ? -200 : v;
  double shifted = v + NAME(shifter), r = v - (shifted - NAME(shifter));
  double exp2 = POLY8(r, 0x1.ffffffffab179p-1, 0x1.62e42ff118ecep-1, 0x1.ebfbe0a5c4567p-3,
                      0x1.c6b08aab419e9p-5, 0x1.3b29db62dfe58p-7, 0x1.5d8a72ca4f0adp-10,
                      0x1.446ad367b0169p-13, 0x1.fe16e272470dcp-17);
  return exp2 * double_power(double_bits(shifted) + NAME(bias));
}
#else
INLINE float float_pow_inside(float e, float f, float y) {
  return (float)double_pow_short(e, f, y);
}
#endif

INLINE REAL NAME(pow)(REAL x, REAL y) {
  REAL a = NAME(fabs)(x), half = (REAL)0.5 * y, e, f = NAME(log_split_any)(a, &e);
  REAL p = NAME(pow_inside)(e, f, y), edge = (a == 0) == (y < 0) ? LIMN_INF : 0;
  p = a == 1 ? 1 : p;
  p = ((a == 0) | (a == LIMN_INF)) ? edge : p;
  int whole = NAME(floor)(y) == y, odd = whole & (NAME(floor)(half) != half);
  p = (odd & (NAME(builtin)(copysign)((REAL)1, x) < 0)) ? -p : p;
  p = ((x < 0) & (a < LIMN_INF) & !whole) ? LIMN_NAN : p;
  p = ((x == x) & (y == y)) ? p : LIMN_NAN;
  return ((y == 0) | (x == 1)) ? 1 : p;
}
