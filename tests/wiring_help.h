// Handmade systems in the form that elab_system returns.
#ifndef LIMN_WIRING_HELP_H
#define LIMN_WIRING_HELP_H

#include "lang/machine/machine.h"
#include "lang/program/program.h"
#include "show/canvas/lint.h"
#include "show/wiring/wiring.h"

typedef struct {
  World *w;
  Arena *arena;
} Kit;

Type kit_type(Kit *, Base, const char *axes); // axes by one letter each: "kk"
// in, out: names between spaces; a capital letter B in front of a name, as in B:a, makes it a bit.
System *kit_machine(Kit *, const char *name, const char *in, const char *out, bool state);
System *kit_wiring(Kit *, const char *name, const char *in, const char *out);
void kit_part(Kit *, System *, const char *name, System *of);
// "p.y -> r.a", "a -> y": a wire
void kit_wire(Kit *, System *, const char *text);
void kit_wires(Kit *, System *, const char *text); // several, with commas
// to gets the value of an expression, of ports and states that are named in it
WireRoute *kit_route(Kit *, System *, const char *expression, const char *to);
const Syntax *kit_expression(Kit *, const char *text);
const Syntax *kit_guard(Kit *, const char *text);
void kit_state(Kit *, System *, const char *name, const char *axes, bool learns);
System *kit_share(Kit *, const char *name, const char *ports);
void kit_junction(Kit *, System *, const char *name, const char *members, bool outer);

// The systems of the manual
System *kit_nand(Kit *), *kit_or(Kit *), *kit_full_adder(Kit *), *kit_adder(Kit *, uint32_t bits);
System *kit_lotka(Kit *), *kit_house(Kit *), *kit_team(Kit *), *kit_fibonacci(Kit *);
System *kit_handover(Kit *),
    *kit_network(Kit *, uint32_t inputs, const uint32_t *layer, uint32_t n, bool peers);

#endif
