// What the files of this room share.
#ifndef LIMN_LANG_PROGRAM_PROGRAM_OWN_H
#define LIMN_LANG_PROGRAM_PROGRAM_OWN_H

#include "lang/declare/statements.h"
#include "lang/program/program.h"

// measure.c
void do_measure(Elab *in, Program *p, const Syntax *n);
void check_columns(
    Elab *in,
    const Program *p); // checks that goals and measures have distinct columns in metrics.csv

// learner_names.c: refuses learners with one name in several files; `first`: the program's own file
void check_learner_names(Elab *in, uint32_t first);

// unsettled.c
void unsolved_sizes(Elab *in,
                    const Program *p); // reports sizes that nothing determines, in all that is run

#endif
