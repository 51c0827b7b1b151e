// What the files of the report share: text as HTML.
#ifndef LIMN_REPORT_H
#define LIMN_REPORT_H

#include "view/plot.h"

// report_text.c
extern const char report_style[];
void html_text(Buf *, const char *text, size_t n); // escaped; what is no UTF-8 is replaced
void html_program(Buf *, const char *text, size_t n);
void html_who(Buf *, const char *text); // the table of goals by learners
const char *time_text(Arena *, double seconds);

#endif
