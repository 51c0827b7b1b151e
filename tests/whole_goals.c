// What is learned in random programs: sets of data, learners, goals, measures, training; and small
// machines.
#include "whole_program.h"

void maker_training(Maker *m) { (void)m; }
void maker_machine(Maker *m) { (void)m; }
