// Checks before a run whether its shows can be drawn, from shapes alone: each picture is made from
// a few moments of dummy data by the same code.
#include "base/diag.h"
#include "base/table.h"
#include "show/report/report_own.h"

enum { AHEAD_MOMENTS = 5, AHEAD_CELLS = 1 << 18 };

// Rows sum to 1, so they can be probabilities; labels are 0.
static void fill_channel(World *w, SimChannel *c) {
  int64_t row = c->rank ? c->shape[c->rank - 1] : 1;
  double x = c->base == BASE_R && row > 0 ? 1 / (double)row : 0;
  for (int64_t i = 0; i < AHEAD_MOMENTS * c->cells; i++) vec_push(w->arena, &c->value, x);
}

// False: it is too large to be tried.
static bool fill_record(World *w, const Run *run, SimRecord *r) {
  for (uint32_t i = 0; i < AHEAD_MOMENTS; i++)
    vec_push(w->arena, &r->time, run->end * i / (AHEAD_MOMENTS - 1));
  for (uint32_t i = r->sights; i < r->channel.n; i++) {
    if (r->channel.at[i].cells > AHEAD_CELLS) return false;
    fill_channel(w, &r->channel.at[i]);
  }
  return true;
}

// A `show` in a loop is tried once for each of its shapes.
static bool is_new(World *w, const SimRecord *r, const RunShow *show, uint32_t first,
                   Table *tried) {
  Buf key = buf_new(w->arena);
  Span at = show->node->span;
  buf_printf(&key, "%u %u", at.file, at.at);
  for (uint32_t k = 0; k < show->seen.n; k++) {
    const SimChannel *c = &r->channel.at[first + k];
    buf_printf(&key, ";%d", c->base);
    for (uint32_t i = 0; i < c->rank; i++) buf_printf(&key, " %lld", (long long)c->shape[i]);
  }
  bool known = table_get(tried, key.at, key.n);
  table_put(tried, key.at, key.n, 1);
  return !known;
}

static bool try_show(Results *r, uint32_t run, const RunShow *show, uint32_t first) {
  RanShows all = {0};
  const char *why = NULL;
  ran_show(r, run, show, first, &all);
  for (uint32_t i = 0; i < all.n && !why; i++) {
    why = all.at[i].why;
    if (!why && !all.at[i].strip) report_can_show(r->arena, &all.at[i].shown, &why);
  }
  return !why || diag_refuse(r->w->diags, show->node->span, "this cannot be shown: %s", why);
}

bool machines_can_show(Elab *in, Program *p) {
  Results r;
  bool good = true;
  if (!p->ran || !p->ran->show.n) return true;
  results_begin(&r, in, p);
  Table *tried = table_new(r.arena);
  for (uint32_t i = 0; i < r.run.n; i++) {
    SimRecord *record = &r.run.at[i].record;
    results_channels(&r, i);
    bool filled = false, fits = true;
    uint32_t at = record->sights;
    for (uint32_t k = 0; k < p->ran->show.n && fits; k++) {
      const RunShow *show = &p->ran->show.at[k];
      if (show->run != i) continue;
      if (is_new(r.w, record, show, at, tried)) {
        if (!filled) fits = fill_record(r.w, &p->ran->run.at[i], record), filled = true;
        if (fits) good &= try_show(&r, i, show, at);
      }
      at += show->seen.n;
    }
  }
  return good;
}
