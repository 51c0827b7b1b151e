// A folder of its own for a group of tests, which is entered and left with everything in it.
#ifndef LIMN_FOLDER_HELP_H
#define LIMN_FOLDER_HELP_H
int folder_enter(void **state), folder_leave(void **state);
#endif
