// Private to program: what its files share.
#ifndef LIMN_LANG_PROGRAM_PROGRAM_OWN_H
#define LIMN_LANG_PROGRAM_PROGRAM_OWN_H

#include "lang/declare/statements.h"
#include "lang/program/program.h"

// measure.c
void do_measure(Elab *in, Program *p, const Syntax *n);
void check_columns(Elab *in, const Program *p); // goals and measures are columns of metrics.csv

// unsettled.c
void unsolved_sizes(Elab *in, const Program *p); // what is asked for and cannot be made is said

#endif
