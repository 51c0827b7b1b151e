// Private to claim: what can be seen of a system while it runs, as `check` and `show` name it.
#ifndef LIMN_LANG_CLAIM_CLAIM_OWN_H
#define LIMN_LANG_CLAIM_CLAIM_OWN_H

#include "lang/claim/claim.h"
#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"

typedef struct {
  Elab *in;
  Program *p;
  System *s; // NULL: only constants are seen
  Sights sights;
  Table *named; // Name to the number of the first sight of that name + 1
  bool runs;    // inputs are given for a whole run, so they may depend on `time`
} Looker;

// look.c
Looker looker_new(Elab *, Program *, System *);
Type without_pass(World *, Type);
// An expression at one moment; those inputs that nothing reads are dropped. False after an error.
bool look_at(Looker *, const Syntax *expr, Seen *, Type *);
bool speaks_of_sights(Looker *, const Syntax *expr); // or of a part, though of none of its ports
Id only_wire(Body *, const Syntax *expr); // the one value of an expression; 0 after an error

// claims.c: one statement, as `node` says it once the loops around it have their values
void read_run(Elab *, Program *, const Syntax *node, const Syntax *said);
void read_check(Elab *, Program *, const Syntax *);

// given.c: what a run gives
bool tell_no_sight(const Looker *, Name, Span); // it is no port or state; false
bool is_given(const Run *, SightKind, uint32_t at);
bool read_start(const Looker *, const Syntax *arg, uint32_t number, RunStart *);
void read_starts(const Looker *, const Syntax *call, Run *);
void check_given(Elab *, const Run *);  // every input has a source
void check_shared(Elab *, const Run *); // and what is shared a start

// place_starts.c: run A(x[0]: 1, p[1].level: 2)
void read_place_starts(const Looker *, Nodes args, Run *);
bool read_run_show(Elab *, Program *, const Syntax *); // false: it is not about a run

// limits.c
void check_run_size(Elab *, const Run *, Span); // moments that are kept, steps and ticks
void check_watch(Elab *, const Run *, const System *, const Watch *); // run NULL: of none

// moved.c: inputs of the run that depend on `time` are a source of their own; the other starts stay
System *system_moved(Elab *, Run *);

// driven.c: its ports wired to what a source shows. NULL with a diagnostic
System *system_on(Elab *, System *, System *source, Span);

// box_claims.c: false: this speaks of a machine
bool do_box_check(Elab *, Program *, const Syntax *, Check *);

// inside.c: ports, states and lines of parts, found by their paths when they are asked for
typedef struct {
  Name name;
  const Syntax *brackets; // of an array of parts; NULL: none
  Span span;              // of the path up to it
} InsideStep;
typedef VEC(InsideStep) InsidePath;
// a.b[2].x; false: it is another expression
bool inside_path(World *, const System *, const Syntax *, InsidePath *);
Id inside_wire(const System *, const InsideStep *, uint32_t n); // 0: there is none
bool inside_is_part(const System *, Name);
// The brackets of all its steps as one; NULL: none. False after an error.
bool inside_brackets(World *, const System *, const InsidePath *, Syntax **brackets);
void inside_unknown(World *, const System *, const InsidePath *); // says what there is instead

// still.c: a warning for states that never change
void note_still(Elab *, const Program *);

// milstein.c: does no noise change how strongly another one works?
bool milstein_fits(World *, const System *);

#endif
