// Whole programs: each text is elaborated in a world that has the library and nothing else. The
// library is read once: every input begins with the memory as it was then.
#ifndef LIMN_FUZZ_WHOLE_H
#define LIMN_FUZZ_WHOLE_H

#include "base/diag.h"
#include "base/names.h"
#include "lang/program/program.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static Arena *arena;
static World *world;
static Elab *infer;
static const char *setting, *setting_value; // as by --set, where a name is given

// A text that is elaborated, and what is done with it. All that it leaves behind goes.
static void with_program(const char *text, size_t n, void (*work)(Program *, Buf *)) {
  static ArenaCopy *begin;
  if (!begin) {
    arena = arena_new();
    world = world_new(arena);
    infer = elab_new(world);
    begin = arena_save(arena);
  }
  Guard g;
  if (GUARDED(arena, &g)) {
    if (setting) elab_set(infer, setting, setting_value);
    Program *p = elab_program(infer, "fuzz.limn", text, n);
    Buf out = buf_new(arena);
    diags_sort(world->diags);
    work(p, &out);
    guard_leave(&g);
  }
  arena_restore(arena, begin);
}

// The k-th box, learner or machine of the program, from 0, and all over again after the last; NULL:
// there is none.
static inline const char *some_name(const Program *p, uint32_t k) {
  uint32_t n = p->box.n + p->learner.n;
  if (!n) return NULL;
  k %= n;
  return name_text(world->names,
                   k < p->box.n ? p->box.at[k]->name : p->learner.at[k - p->box.n]->name);
}

#endif
