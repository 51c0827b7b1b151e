// Each box of the library: it passes the check with symbolic sizes, its diagram is valid and can be
// read back from its text, and its reverse derivative is valid too.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "diagram_help.h"
#include "lang/elab/elab.h"
#include "lang/program/program.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
  World *w;
  uint32_t boxes, diagrams;
} Count;

static void check_box(Count *c, const Def *def, Diagram *d) {
  World *w = c->w;
  const char *name = name_text(w->names, def->name);
  c->boxes++;
  if (w->diags->errors) {
    Buf b = buf_new(w->arena);
    diags_print(w->diags, &b);
    fail_msg("%s: %s", name, b.at);
  }
  if (!d) return; // it takes boxes as options: only a use says what it is
  c->diagrams++;
  Buf why = buf_new(w->arena), text = buf_new(w->arena), again = buf_new(w->arena);
  if (!diagram_valid(w, d, &why)) fail_msg("%s", why.at);
  diagram_print(w, d, &text, false);
  Diagram *read = diagram_read(w, source_add(w->sources, name, text.at, text.n));
  if (!read) fail_msg("%s does not read back:\n%s", name, text.at);
  diagram_print(w, read, &again, false);
  assert_string_equal(text.at, again.at);
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base == BASE_LABEL) return;
  Diagram *back = diagram_reverse(w, d, &(Wanted){0});
  if (!diagram_valid(w, back, &why)) fail_msg("reverse of %s: %s", name, why.at);
}

static void every_box(void **state) {
  (void)state;
  Arena *a = arena_new();
  Count c = {.w = world_new(a)};
  Elab *in = elab_new(c.w);
  for (uint32_t i = 1; i < in->def.n; i++) {
    Def *d = in->def.at[i];
    if (d->kind != DEF_BOX || d->scope != in->library) continue;
    Body *b = instance_alone(in, d, NULL, NULL); // with symbols for sizes
    if (b) diagram_resolve(c.w, b->d);
    check_box(&c, d, b ? b->d : NULL);
  }
  assert_true(c.boxes > 60);
  assert_true(c.diagrams + 6 >=
              c.boxes); // id, swap, copy, add, residual and the like have no types of their own
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_box)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
