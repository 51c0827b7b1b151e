// Observable values of a running system, as `check` and `show` name them.
#ifndef LIMN_LANG_PROGRAM_CLAIM_OWN_H
#define LIMN_LANG_PROGRAM_CLAIM_OWN_H

#include "lang/declare/statements.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"
#include "lang/program/claim.h"

typedef struct {
  Elab *in;
  Program *p;
  System *s; // NULL: only constants
  Sights sights;
  Table *named; // Name to the index of its first entry in `sights` + 1
  bool runs;    // for inputs of a whole run, which may depend on `time`
} Looker;

// look.c
Looker looker_new(Elab *, Program *, System *);
Type without_pass(World *, Type);
// An expression at one moment, without unused inputs. False after an error.
bool look_at(Looker *, const Syntax *expr, Seen *, Type *);
bool speaks_of_sights(Looker *,
                      const Syntax *expr); // does it name observable values, or at least a part?
Id only_wire(Body *, const Syntax *expr);  // the only value of an expression; 0 after an error

// claims.c: one statement; `node`: after substitution of loop variables
void read_run(Elab *, Program *, const Syntax *node, const Syntax *said);
void read_check(Elab *, Program *, const Syntax *);

// given.c: inputs and initial values of a run
bool report_no_sight(const Looker *, Name, Span); // reports that it is no port or state; false
bool read_start(const Looker *, const Syntax *arg, uint32_t number, RunStart *);
void read_starts(const Looker *, const Syntax *call, Run *);
void check_given(Elab *, const Run *);  // every input has a source
void check_shared(Elab *, const Run *); // shared variables have an initial value
void check_starts_finite(Elab *, const Run *);

// place_starts.c: run A(x[0]: 1, p[1].level: 2)
void read_place_starts(const Looker *, Nodes args, Run *);
bool read_run_show(Elab *, Program *, const Syntax *); // false: not about a run

// limits.c
void check_run_size(Elab *, const Run *, Span); // numbers of recorded moments, steps and ticks
void check_watch(Elab *, const Run *, const System *, const Watch *); // run may be NULL

// moved.c: makes inputs that depend on `time` a source system; other starts are unchanged
System *system_moved(Elab *, Run *);

// driven.c: connects its ports to those of a source. NULL with a diagnostic
System *system_on(Elab *, System *, System *source, Span);

// box_claims.c: false: the claim is about a machine
bool do_box_check(Elab *, Program *, const Syntax *, Check *);

// inside.c: ports, states and lines of parts, by path, on demand
typedef struct {
  Name name;
  const Syntax *brackets; // into an array of parts, or NULL
  Span span;              // of the path so far
} InsideStep;
typedef VEC(InsideStep) InsidePath;
// a.b[2].x; false: another expression
bool inside_path(World *, const System *, const Syntax *, InsidePath *);
Id inside_wire(const System *, const InsideStep *, uint32_t n); // 0: none
bool inside_is_part(const System *, Name);
// Joins the brackets of all steps; NULL: none. False after an error.
bool inside_brackets(World *, const System *, const InsidePath *, Syntax **brackets);
void inside_unknown(World *, const System *, const InsidePath *); // reports the names that exist

// still.c: warns about states that never change
void note_still(Elab *, const Program *);

// milstein.c: is the noise commutative enough for Milstein steps?
bool milstein_fits(World *, const System *);

#endif
