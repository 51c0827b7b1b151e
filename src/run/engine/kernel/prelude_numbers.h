// prelude_numbers.h: the constants of prelude_math.h, for double and for float.
//
// Polynomials are weighted minimax approximations: the weight makes the error relative to the value
// of the function. The largest error is given for each, as a power of two.

#define double_width 64
#define double_fraction 52
#define double_bias 1023
#define double_least 0x1p-1022
#define double_lift 54          // scales a denormal to a normal number, as a power of two
#define double_shifter 0x1.8p52 // x + shifter has x, rounded, in its low bits
#define double_sqrt_half ((Bits64)0x3FE6A09E667F3BCDu) // its bits
#define double_log2_e 0x1.71547652b82fep0
#define double_ln2_high 0x1.62e42fefa38p-1 // few bits: its product with an exponent is exact
#define double_ln2_low 0x1.ef35793c7673p-45
#define double_exp_min (-708.39641853226408)
#define double_exp_max 709.78271289338397
#define double_expm1_min (-40.0)
#define double_tanh_max 22.0
#define double_erf_max 6.0
#define double_pi_2_high 0x1.921fb54442d18p0
#define double_pi_2_low 0x1.1a62633145c07p-54
#define double_unit_max 0x1.fffffffffffffp-1
// exp(r) = 1 + r + r²·exp_tail(r), |r| ≤ ln(2)/2: 2^-61
#define double_exp_tail(r)                                                                         \
  POLY11(r, 0x1p-1, 0x1.5555555555559p-3, 0x1.555555555553fp-5, 0x1.111111110f6ccp-7,              \
         0x1.6c16c16c1f0cep-10, 0x1.a01a01afda3d9p-13, 0x1.a01a017bb2e7bp-16,                      \
         0x1.71ddf86cf732fp-19, 0x1.27e536460fc67p-22, 0x1.af5e96c670263p-26,                      \
         0x1.1ee878bf73a6ap-29)
// log(1 + f) = 2s + s³·log_tail(s²), s = f/(2 + f), sqrt(1/2) ≤ 1 + f ≤ sqrt(2): 2^-66
#define double_log_tail(z)                                                                         \
  POLY8(z, 0x1.5555555555555p-1, 0x1.9999999999ccbp-2, 0x1.249249243dd23p-2, 0x1.c71c724730fe7p-3, \
        0x1.745ce2e9285c7p-3, 0x1.3b1ff953f3d19p-3, 0x1.0f6aa8eaaa64p-3, 0x1.0ef1e7ba5278bp-3)
// sin(r) = r + r³·sin_tail(r²), cos(r) = 1 - r²/2 + r⁴·cos_tail(r²), |r| ≤ π/4: 2^-57, 2^-63
#define double_sin_tail(z)                                                                         \
  POLY6(z, -0x1.5555555555548p-3, 0x1.111111110f7cap-7, -0x1.a01a019bfd2b2p-13,                    \
        0x1.71de356721ddap-19, -0x1.ae5e5a00e67b7p-26, 0x1.5d8fa62a921e1p-33)
#define double_cos_tail(z)                                                                         \
  POLY6(z, 0x1.555555555554cp-5, -0x1.6c16c16c1521dp-10, 0x1.a01a019cba095p-16,                    \
        -0x1.27e4f80c8767p-22, 0x1.1ee9ec16fee9fp-29, -0x1.8fae1ff9aed4bp-37)
// atan(t) = t + t³·atan_tail(t²), |t| ≤ tan(π/8): 2^-59
#define double_atan_tail(z)                                                                        \
  POLY11(z, -0x1.5555555555547p-2, 0x1.9999999996886p-3, -0x1.24924922fe7ffp-3,                    \
         0x1.c71c7100ae1ffp-4, -0x1.745cfb741f09fp-4, 0x1.3b1141fd15675p-4, -0x1.10ed5ae76c54cp-4, \
         0x1.df25007754402p-5, -0x1.9d2cd850bc54ep-5, 0x1.38aa397b22788p-5, -0x1.271d88d399a8cp-6)
// erf(x) = x + x·erf_small(x²), |x| ≤ 1: 2^-62; 1 - exp(erf_large(x)), 1 ≤ x ≤ 6: 2^-58
#define double_erf_small(z)                                                                        \
  POLY13(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b2p-4,                      \
         -0x1.b82ce3128499dp-6, 0x1.565bcd0db02f4p-8, -0x1.c02db3d8ed4cap-11,                      \
         0x1.f9a321a121b27p-14, -0x1.f4d1df39875b2p-17, 0x1.b9def1a040879p-20,                     \
         -0x1.5f1d36d04d768p-23, 0x1.f7a41290e73afp-27, -0x1.386ac16929d4ep-30,                    \
         0x1.0579ab2caaf4cp-34)
#define double_erf_large(x)                                                                        \
  POLY19(x, -0x1.06ba6d5a2c61p-22, -0x1.20dd4b2da9ca2p0, -0x1.45f492cc9cb96p-1,                    \
         -0x1.a4d0e34693f4bp-4, 0x1.3847787beaf24p-6, 0x1.4273904798b39p-12,                       \
         -0x1.d7c9c1cee528fp-10, 0x1.5e7501cf1b8d6p-11, -0x1.0c50010b54324p-14,                    \
         -0x1.f464c1419fc25p-15, 0x1.519fc570c18f6p-15, -0x1.f0e0ea93b426bp-17,                    \
         0x1.0223bc69f27fcp-18, -0x1.8ff9130897c4dp-21, 0x1.cfe5b9bd2f2a8p-24,                     \
         -0x1.892f7c89336bbp-27, 0x1.cd34aa3b5fbbdp-31, -0x1.4eee11d0388d6p-35,                    \
         0x1.c5ce61d3410e9p-41)

#define float_width 32
#define float_fraction 23
#define float_bias 127
#define float_least 0x1p-126f
#define float_lift 24
#define float_shifter 0x1.8p23f
#define float_sqrt_half ((Bits32)0x3F3504F3u)
#define float_log2_e 0x1.715476p0f
#define float_ln2_high 0x1.62e4p-1f
#define float_ln2_low 0x1.7f7d1cp-20f
#define float_exp_min (-87.336540f)
#define float_exp_max 88.722839f
#define float_expm1_min (-20.0f)
#define float_tanh_max 10.0f
#define float_erf_max 4.0f
#define float_pi_2_high 0x1.921fb6p0f
#define float_pi_2_low (-0x1.777a5cp-25f)
#define float_unit_max 0x1.fffffep-1f
// 2^-26
#define float_exp_tail(r)                                                                          \
  POLY5(r, 0x1.fffffep-2f, 0x1.5554bp-3f, 0x1.555674p-5f, 0x1.12279ep-7f, 0x1.6bebeep-10f)
// log(1 + f) = f + f²·log_tail(f): 2^-27
#define float_log_tail(f)                                                                          \
  POLY9(f, -0.5f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a008p-3f, -0x1.547246p-3f, 0x1.22da2p-3f, \
        -0x1.0d853ap-3f, 0x1.055b6ap-3f, -0x1.38b5dp-4f)
// 2^-28, 2^-33
#define float_sin_tail(z) POLY3(z, -0x1.555546p-3f, 0x1.11073ap-7f, -0x1.994376p-13f)
#define float_cos_tail(z) POLY3(z, 0x1.55554ap-5f, -0x1.6c0c32p-10f, 0x1.99eb32p-16f)
// 2^-30
#define float_atan_tail(z)                                                                         \
  POLY5(z, -0x1.55554ap-2f, 0x1.999196p-3f, -0x1.23b514p-3f, 0x1.b1eb3cp-4f, -0x1.f1e856p-5f)
// 2^-29; 1 ≤ x ≤ 4: 2^-29
#define float_erf_small(z)                                                                         \
  POLY7(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf8p-4f, -0x1.b7f90cp-6f, 0x1.5405b2p-8f,       \
        -0x1.a3f7p-11f, 0x1.496a3ep-14f)
#define float_erf_large(x)                                                                         \
  POLY7(x, -0x1.662ab4p-12f, -0x1.2088e8p0f, -0x1.46baf8p-1f, -0x1.a652eap-4f, 0x1.65cac2p-6f,     \
        -0x1.825974p-9f, 0x1.86dadep-13f)

#define double_builtin(name) LIMN_BUILTIN(name)
#define float_builtin(name) LIMN_BUILTIN(name##f)
