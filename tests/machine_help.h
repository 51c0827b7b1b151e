// Reads and simulates programs with machines in tests.
#ifndef LIMN_MACHINE_HELP_H
#define LIMN_MACHINE_HELP_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/pass/rewrite.h"
#include "lang/program/program.h"
#include "random_machine.h"
#include "run/sim/sim.h"

typedef struct {
  const char *text;
  Arena *arena;
  World *w;
  Elab *in;
  Program *p;
  Followed *f; // [run]
} Ran;

// The text is read; errors are left in the diagnostics.
Ran ran_read(const char *text);
// And every run of it is followed, by the interpreter or compiled; the test fails on any error.
Ran ran_text(const char *text, bool compiled);
void ran_free(Ran *);
const char *ran_messages(const Ran *);
// What was seen in a run, by its name; the test fails where there is none.
const SimChannel *ran_channel(const Ran *, uint32_t run, const char *name);
Verdict ran_verdict(Ran *, uint32_t check);

bool same_bits(double, double);
// Are all channels of these runs the same, bit by bit? How many numbers were compared.
uint64_t same_runs(const Ran *, uint32_t run, const Ran *, uint32_t other);
uint64_t same_channel(const SimChannel *, const SimChannel *);

#endif
