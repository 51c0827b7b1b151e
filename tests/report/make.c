// Writes a run folder with a report of every view into the folder that is named.
#include "show/report/report.h"

#include "shown_help.h"

int main(int argc, char **argv) {
  Arena *a = arena_new();
  Shows shows = {0};
  const char *error = "the folder could not be written";
  if (argc != 2 || !a) return 2;
  shown_gallery(a, &shows);
  Canvas *c = canvas_new(a, 300, 80, "Goals", "classify(image) is the label");
  path_rect(c, 10, 20, 120, 40, 4);
  canvas_paint(c, &(Paint){.stroke = INK_LINE});
  canvas_text(c, 70, 44, &(Text){.anchor = ANCHOR_MIDDLE, .face = FACE_SERIF}, "classify");
  Report r = {.dir = argv[1], .shown = &shows, .goals = c};
  r.who = "        classify  teacher\nfit     moves     through\nsmooth  moves     ·\n";
  bool good = shown_folder(a, argv[1]) && report_write(a, &r, &error);
  if (!good) fprintf(stderr, "%s\n", error);
  arena_free(a);
  return good ? 0 : 1;
}
