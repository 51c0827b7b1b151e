// Programs with machines, read and followed in a test.
#include "machine_help.h"
#include "base/diag.h"

#include <string.h>

Ran ran_read(const char *text) {
  Ran r = {.text = text, .arena = arena_new()};
  r.w = world_new(r.arena);
  r.in = elab_new(r.w);
  r.p = elab_program(r.in, "test.limn", text, strlen(text));
  return r;
}

const char *ran_messages(const Ran *r) {
  Buf b = buf_new(r->arena);
  diags_print(r->w->diags, &b);
  return b.n ? b.at : "";
}

static void no_errors(const Ran *r, const char *text) {
  if (r->w->diags->errors) fail_msg("%s\n%s", ran_messages(r), text);
}

Ran ran_text(const char *text, bool compiled) {
  Ran r = ran_read(text);
  SimOptions how = {.threads = 1, .reference = !compiled};
  no_errors(&r, text);
  r.f = NEW_ARRAY(r.arena, Followed, r.p->ran->run.n + 1);
  for (uint32_t i = 0; i < r.p->ran->run.n; i++) {
    bool good = follow_run(r.in, r.p, i, &how, &r.f[i]);
    no_errors(&r, text);
    assert_true(good);
  }
  return r;
}

void ran_free(Ran *r) { arena_free(r->arena); }

const SimChannel *ran_channel(const Ran *r, uint32_t run, const char *name) {
  const SimRecord *record = &r->f[run].record;
  for (uint32_t i = 0; i < record->channel.n; i++)
    if (!strcmp(record->channel.at[i].name, name)) return &record->channel.at[i];
  fail_msg("nothing called %s is seen", name);
  return NULL;
}

Verdict ran_verdict(Ran *r, uint32_t check) {
  Verdict v = {0};
  SimOptions how = {.threads = 1, .reference = true};
  if (!verify_check(r->in, r->p, check, r->f, &how, &v)) fail_msg("%s", ran_messages(r));
  return v;
}

bool same_bits(double a, double b) { return !memcmp(&a, &b, sizeof a); }

uint64_t same_channel(const SimChannel *a, const SimChannel *b) {
  assert_int_equal(a->value.n, b->value.n);
  for (uint32_t i = 0; i < a->value.n; i++)
    if (!same_bits(a->value.at[i], b->value.at[i]))
      fail_msg("%s and %s differ in number %u of %u: %.17g, %.17g", a->name, b->name, i, a->value.n,
               a->value.at[i], b->value.at[i]);
  return a->value.n;
}

uint64_t same_runs(const Ran *a, uint32_t run, const Ran *b, uint32_t other) {
  const SimRecord *x = &a->f[run].record;
  uint64_t n = 0;
  assert_int_equal(x->sights, b->f[other].record.sights);
  for (uint32_t i = 0; i < x->sights; i++)
    n += same_channel(&x->channel.at[i], ran_channel(b, other, x->channel.at[i].name));
  return n;
}
