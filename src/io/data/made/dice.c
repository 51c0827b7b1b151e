// Random numbers for generated data.
//
// A counter-based generator per row, seeded by a hash of seed, set, split and row, so any row can
// be generated alone. Only operations with the same rounding on every machine are used (no libm
// except square roots), so a row has the same bytes everywhere.
#include "io/data/set_own.h"

Dice dice_for(uint64_t seed, const char *what, Split split, int64_t row) {
  uint64_t h = mix_bits(seed + 1);
  for (; *what; what++) h = mix_bits(h + (uint8_t)*what);
  return (Dice){mix_bits(mix_bits(h + (uint64_t)split) + (uint64_t)row)};
}

uint64_t dice_next(Dice *d) { return mix_bits(d->state += 0x9e3779b97f4a7c15u); }
double dice_unit(Dice *d) { return (double)(dice_next(d) >> 11) * 0x1p-53; }
double dice_between(Dice *d, double low, double high) { return low + (high - low) * dice_unit(d); }
uint32_t dice_below(Dice *d, uint32_t n) { return (uint32_t)((dice_next(d) >> 32) * n >> 32); }
bool dice_chance(Dice *d, double p) { return dice_unit(d) < p; }

// The sum of eight uniform 16-bit numbers (Irwin–Hall), which approximates a normal distribution.
double dice_normal(Dice *d) {
  double sum = 0;
  for (int i = 0; i < 2; i++)
    for (uint64_t bits = dice_next(d), k = 0; k < 4; k++, bits >>= 16)
      sum += (double)(bits & 0xffff);
  return (sum * 0x1p-16 - 4) * 1.2247448713915890; // the sum has deviation √(8/12)
}

// The Taylor series in a quarter turn, extended by symmetry.
double turn_sin(double turns) {
  turns -= (double)(int64_t)turns;
  if (turns < 0) turns += 1;
  double sign = turns < 0.5 ? 1 : -1;
  if (turns >= 0.5) turns -= 0.5;
  if (turns > 0.25) turns = 0.5 - turns;
  double x = turns * 6.283185307179586, y = x * x, term = x, sum = x;
  for (int k = 2; k < 20; k += 2) sum += term *= -y / (double)(k * (k + 1));
  return sign * sum;
}

double turn_cos(double turns) { return turn_sin(turns + 0.25); }
