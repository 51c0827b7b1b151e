// Weights normally belong to the boxes that own them, if each call passes its callee weights of its
// own. Exceptions are the derivative of a learner, which reads another box's weights, `refit`,
// whose weights are computed, and a family, which is one box with many sets of weights: then all
// weights become wires, owned by the main diagram and passed as arguments.
#include "base/table.h"
#include "port/json/json_own.h"

// Constants that other boxes own too, and clocks, which are keywords, are no weights.
static bool is_weight(const ReadParam *p) {
  bool constant = strcmp(p->role, "const") == 0;
  return strcmp(p->role, "clock") != 0 && (!constant || strchr(p->was, '/'));
}

bool param_is_argument(const Reading *r, const ReadDiagram *d, const ReadParam *p) {
  return r->opened && d != &r->diagram.at[r->main] && is_weight(p);
}

typedef struct {
  const char **name; // [diagram] its name in paths of weights; NULL: unknown
  Table *owner;      // name to diagram
} LearnerNames;

// Is this a weight owned by another box?
static bool is_foreign(const ReadDiagram *d, uint32_t wire) {
  const ReadParam *p = param_of(d, wire);
  return p && is_weight(p) && strchr(p->was, '/');
}

// Does the box read such a weight directly?
static bool reads_foreign(const ReadDiagram *d, const ReadBox *box) {
  for (uint32_t i = 0; i < box->in.n; i++)
    if (is_foreign(d, box->in.at[i])) return true;
  EACH_ITEM(read, i, strcmp(box->op, "loop") == 0 ? json_get(box->json, "in") : NULL) {
    const Json *wire = read->kind == JSON_OBJECT ? json_get(read, "wire") : NULL;
    Id found = wire && wire->kind == JSON_TEXT ? table_get(d->wire_table, wire->text, wire->n) : 0;
    if (found && is_foreign(d, found - 1)) return true;
  }
  return false;
}

// Does a call pass weights that the callee does not own under one name? Two diagrams of one
// learner, for arguments with other axes, would become two learners.
static bool calls_foreign(Reading *r, ReadDiagram *d, const ReadBox *box, LearnerNames *known) {
  const char *segment, *before = *r->error;
  Writing w = {.r = r, .d = d};
  if (!box->callee) return false;
  if (!call_path_component(&w, box, &segment)) {
    *r->error = before;
    return true;
  }
  if (!segment || !box->callee->learner) return false;
  Id found = (Id)(box->callee - r->diagram.at) + 1;
  Id owner = table_get(known->owner, segment, strlen(segment));
  const char *other = known->name[found - 1];
  table_put(known->owner, segment, strlen(segment), found);
  known->name[found - 1] = segment;
  return (owner && owner != found) || (other && strcmp(other, segment) != 0);
}

// The main diagram is a separate box then, so it takes back the name reserved for the diagram that
// it calls.
static void name_main(Reading *r) {
  ReadDiagram *main = &r->diagram.at[r->main];
  const char *dot = strrchr(main->key, '.');
  size_t n = dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")] ? (size_t)(dot - main->key)
                                                                      : strlen(main->key);
  for (uint32_t i = 0; i < r->diagram.n; i++) {
    ReadDiagram *d = &r->diagram.at[i];
    if (strlen(d->name) != n || strncmp(d->name, main->key, n) != 0) continue;
    const char *name = d->name;
    d->name = main->name, main->name = name;
    return;
  }
}

void weights_to_wires(Reading *r) {
  LearnerNames known = {NEW_ARRAY(r->arena, const char *, r->diagram.n + 1), table_new(r->arena)};
  for (uint32_t i = 0; i < r->diagram.n && !r->opened; i++)
    for (uint32_t k = 0; k < r->diagram.at[i].box.n && !r->opened; k++) {
      ReadDiagram *d = &r->diagram.at[i];
      r->opened = reads_foreign(d, &d->box.at[k]) || calls_foreign(r, d, &d->box.at[k], &known);
    }
  if (r->opened) name_main(r);
  for (uint32_t i = 0; r->opened && i < r->diagram.n; i++) {
    ReadDiagram *d = &r->diagram.at[i];
    d->learner = false;
    for (uint32_t k = 0; k < d->param.n; k++) {
      ReadParam *p = &d->param.at[k];
      if (is_weight(p)) p->rooted = false, p->path = d->wire.at[p->wire].name;
    }
  }
}
