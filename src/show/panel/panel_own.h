// Private to panels: how they are drawn.
#ifndef LIMN_SHOW_PANEL_PANEL_OWN_H
#define LIMN_SHOW_PANEL_PANEL_OWN_H

#include "show/panel/panel.h"

// panel_units.c
const Pin *only_pin(const Unit *port);
double pin_width(const Pin *);
void port_mark(Canvas *, const Pin *, double x, double y);
// Its name and type, right-aligned at x, or left-aligned
void port_label(Canvas *, const Pin *, double x, double y, bool right);
void unit_paint(Canvas *, const Panel *, const Unit *, double x, double y, const char *path);

// panel_lines.c
Paint wire_paint(Ink, bool dashed, bool shared);
void small_arrow(Canvas *, double x, double y, double dx, Ink);
void cable_paint(Canvas *, const Panel *, const Cable *, double x, double y);
double bands_height(const Cable *);
void tag_measure(CableLabel *);
void tag_paint(Canvas *, const Cable *, double x, double y);

#endif
