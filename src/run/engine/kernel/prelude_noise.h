// prelude_noise.h: noise and sorting for one type, included by prelude.h after prelude_math.h.
//
// An element of noise has the same bits whether it is generated alone or in a row, and agrees with
// core/diagram/noise.c up to rounding.

// The midpoint of one of 2^32 intervals; never rounded to 1 in floats.
INLINE REAL NAME(noise_unit)(NoiseWord word) {
  REAL u = ((REAL)(Bits32)word + (REAL)0.5) * (REAL)0x1p-32;
  return u < 1 ? u : NAME(unit_max);
}

// The logarithm of that number without rounding it first: near 1, it is log(1 - x) of a small x.
INLINE REAL NAME(noise_log)(Bits32 word) {
  BITS biased;
  Bits32 near = word >> 31 ? ~word : word;
  REAL small = ((REAL)(Int32)near + (REAL)0.5) * (REAL)0x1p-32, f = NAME(log_split)(small, &biased);
  REAL e = NAME(exponent)(biased), half = small > (REAL)0.29289322 ? (REAL)1 : (REAL)0;
  f = word >> 31 ? (half > 0 ? 1 - 2 * small : -small) : f;
  e = word >> 31 ? -half : e;
  return NAME(log_sum)(e, f);
}

// Two normal numbers from two words (Box–Muller). The upper bits of the angle are its quadrant.
INLINE REAL NAME(noise_pair)(NoiseWord a, NoiseWord b, REAL *sine) {
  Bits32 angle = (Bits32)b, quarter = (angle + 0x20000000u) >> 30;
  REAL r = ((REAL)(Int32)(angle << 2) + 2) * (NAME(pi_2_high) * (REAL)0x1p-32);
  REAL radius = NAME(sqrt)(-2 * NAME(noise_log)((Bits32)a)), s = NAME(sin_inside)(r),
       c = NAME(cos_inside)(r);
  *sine = radius * NAME(flip)(quarter & 1 ? c : s, quarter);
  return radius * NAME(flip)(quarter & 1 ? s : c, quarter + 1);
}

INLINE REAL NAME(noise_uniform)(Bits64 seed, Bits64 step, Bits64 site, Bits64 element) {
  NoiseBlock x = noise_block(seed, step, site, element >> 2);
  NoiseWord low = element & 1 ? x.b : x.a, high = element & 1 ? x.d : x.c;
  return NAME(noise_unit)(element & 2 ? high : low);
}

INLINE REAL NAME(noise_normal)(Bits64 seed, Bits64 step, Bits64 site, Bits64 element) {
  NoiseBlock x = noise_block(seed, step, site, element >> 2);
  NoiseWord a = element & 2 ? x.c : x.a, b = element & 2 ? x.d : x.b;
  REAL sine, cosine = NAME(noise_pair)(a, b, &sine);
  return element & 1 ? sine : cosine;
}

// Whole blocks of four elements.
INLINE void NAME(noise_blocks)(int normal, Bits64 seed, Bits64 step, Bits64 site, Bits64 block,
                               long n, REAL *restrict out) {
  for (long i = 0; i < n; i++) {
    NoiseBlock x = noise_block(seed, step, site, block + (Bits64)i);
    REAL s, t, c = NAME(noise_pair)(x.a, x.b, &s), d = NAME(noise_pair)(x.c, x.d, &t);
    out[4 * i] = normal ? c : NAME(noise_unit)(x.a);
    out[4 * i + 1] = normal ? s : NAME(noise_unit)(x.b);
    out[4 * i + 2] = normal ? d : NAME(noise_unit)(x.c);
    out[4 * i + 3] = normal ? t : NAME(noise_unit)(x.d);
  }
}

// Elements [first, first + n): part of a block, whole blocks, part of a block.
INLINE void NAME(noise_row)(int normal, Bits64 seed, Bits64 step, Bits64 site, Bits64 first, long n,
                            REAL *out) {
  REAL part[4];
  for (long done = 0, taken; done < n; done += taken) {
    Bits64 at = first + (Bits64)done;
    long skip = (long)(at & 3), blocks = skip ? 0 : (n - done) / 4;
    REAL *to = blocks ? out + done : part;
    NAME(noise_blocks)(normal, seed, step, site, at / 4, blocks ? blocks : 1, to);
    taken = blocks ? 4 * blocks : n - done < 4 - skip ? n - done : 4 - skip;
    for (long i = 0; i < 4; i++) // unrolled: compilers replace a simple copy loop by a call of
                                 // memcpy
      if (!blocks && i >= skip && i < skip + taken) out[done + i - skip] = part[i];
  }
}

HELPER void NAME(noise_uniforms)(Bits64 seed, Bits64 step, Bits64 site, Bits64 first, long n,
                                 REAL *out) {
  NAME(noise_row)(0, seed, step, site, first, n, out);
}

HELPER void NAME(noise_normals)(Bits64 seed, Bits64 step, Bits64 site, Bits64 first, long n,
                                REAL *out) {
  NAME(noise_row)(1, seed, step, site, first, n, out);
}

// -- sorting --------------------------------------------------------------------------------------
INLINE int NAME(sorts_before)(REAL a, REAL b) { return (a < b) | ((b != b) & (a == a)); }

// Merges two neighbouring sorted runs of positions. Stable.
HELPER void NAME(merge)(const REAL *x, long stride, const int *from, long low, long middle,
                        long high, int *to) {
  long i = low, j = middle;
  for (long k = low; k < high; k++) {
    int right =
        i == middle || (j < high && NAME(sorts_before)(x[from[j] * stride], x[from[i] * stride]));
    to[k] = right ? from[j++] : from[i++];
  }
}

// Argsort of x[0], x[stride], …: ascending, NaN last, stable (merge sort). `work` has n elements.
// Both buffers alternate, and the first is chosen so that the result is in `out`.
HELPER void NAME(order_row)(const REAL *x, long stride, long n, int *out, int *work) {
  int turns = 0;
  for (long run = 1; run < n; run *= 2) turns++;
  int *from = turns & 1 ? work : out, *to = turns & 1 ? out : work;
  for (long i = 0; i < n; i++) from[i] = (int)i;
  for (long run = 1; run < n; run *= 2) {
    for (long low = 0; low < n; low += 2 * run) {
      long middle = low + run < n ? low + run : n, high = middle + run < n ? middle + run : n;
      NAME(merge)(x, stride, from, low, middle, high, to);
    }
    int *other = from;
    from = to;
    to = other;
  }
}
