// A temporary folder for a group of tests: created and entered before them, left and removed after
// them.
#ifndef LIMN_FOLDER_HELP_H
#define LIMN_FOLDER_HELP_H
int folder_enter(void **state), folder_leave(void **state);
#endif
