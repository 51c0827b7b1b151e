// Conditions with a flag that is always true, compared with the same conditions without it.
//
// The guard of `flag <= 0 and y <= 1` is never far above 0, and has rounding errors where it passes
// 0. The event must happen as often as that of `y <= 1` alone, and no message may say that it is
// uncertain.
#include "base/diag.h"
#include "hybrid_laws.h"

#include <string.h>

static double between(Chance *d, double low, double high) {
  return low + (high - low) * (chance_number(d) + chance_number(d) / 100);
}

static const char *flags_text(Arena *a, uint64_t seed) {
  static const char *const flag[] = {"flag <= 0 and ", "flag >= 0 and ", "not (flag > 0) and "},
                           *const order[] = {"<=", ">="};
  Chance d = {seed};
  double damping = between(&d, 0.5, 5), fast = between(&d, 0.5, 5), slow = between(&d, 0.5, 5),
         level = between(&d, -0.4, 0.4);
  const char *condition = arena_format(a, "y %s %g", order[chance_below(&d, COUNT(order))], level);
  Buf b = buf_new(a);
  buf_text(&b, "machine Flag -> (n, m: R[]) {\n  state y = 0, n = 0, m = 0, flag = 0\n");
  buf_printf(&b, "  y' = sin(%g * time) + 0.3 * cos(%g * time) - %g * y\n", fast, slow, damping);
  buf_printf(&b, "  next n = n + 1 when %s%s\n", flag[chance_below(&d, COUNT(flag))], condition);
  buf_printf(&b, "  next m = m + 1 when %s\n  next flag = 1 when time > 100\n}\n", condition);
  buf_printf(&b, "run Flag to 20\n");
  return b.at;
}

bool hybrid_flags(HybridCase *c) {
  const char *text = flags_text(c->arena, c->h->seed);
  SimOptions how = {.threads = 1, .reference = c->h->seed % 8 == 3};
  Followed f;
  Ran r = ran_read(text);
  if (r.w->diags->errors) return hybrid_differs(c, text, "refused: %s", ran_messages(&r));
  if (!follow_run(r.in, r.p, 0, &how, &f))
    return hybrid_differs(c, text, "stopped: %s", ran_messages(&r));
  if (strstr(ran_messages(&r), "varies by rounding errors"))
    return hybrid_differs(c, text, "flags: %s", ran_messages(&r));
  const SimChannel *n = &f.record.channel.at[0], *m = &f.record.channel.at[1];
  double with = n->value.at[n->value.n - 1], without = m->value.at[m->value.n - 1];
  return with == without ||
         hybrid_differs(c, text, "flags: %g times, and %g without the flag", with, without);
}
