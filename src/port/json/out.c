// --as json: the diagram of a box, learner or goal, in use.
#include "port/json/json.h"

bool export_json(Export *e) {
  Diagram *d = export_diagram(e, false);
  if (!d) return false;
  Buf b = buf_new(e->arena);
  diagram_json(e->w, d, &b);
  return export_write_file(e, export_file(e), b.at, b.n);
}
