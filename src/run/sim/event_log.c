// The log of events: the part, with indices of members of arrays, and the mode it jumps to, the
// state that is set, or birth or death.
#include "base/names.h"
#include "run/sim/rates_own.h"

// A part of the system, or of an original system that was closed or connected to another.
static const Part *part_called(const Sim *m, const System *s, const char *name, size_t n) {
  for (uint32_t i = 0; i < s->part.n; i++) {
    const char *text = name_text(m->w->names, s->part.at[i].name);
    if (strlen(text) == n && !memcmp(text, name, n)) return &s->part.at[i];
  }
  for (uint32_t i = 0; i < s->inner.n; i++) {
    const Part *p = s->inner.at[i].name ? NULL : part_called(m, s->inner.at[i].of, name, n);
    if (p) return p;
  }
  return NULL;
}

// The arrays on the path to a part, from outside to inside.
typedef struct {
  const Part *part[64];
  uint32_t n;
  int64_t members; // product of all lengths
} PartWay;

static int64_t part_length(const Sim *m, const Axis *a) {
  int64_t n = 1;
  return size_value(m->w, a->size, &n) && n > 0 ? n : 1;
}

static bool find_way(const Sim *m, const char *path, PartWay *out) {
  const System *s = m->s;
  *out = (PartWay){.members = 1};
  while (*path) {
    size_t n = strcspn(path, "/");
    const Part *p = out->n < COUNT(out->part) ? part_called(m, s, path, n) : NULL;
    if (!p) return false;
    out->part[out->n++] = p;
    for (uint32_t i = 0; i < p->axes; i++) out->members *= part_length(m, &p->axis[i]);
    s = p->of;
    path += n + (path[n] == '/');
  }
  return true;
}

// row[0].ball[2]
static const char *way_text(const Sim *m, const PartWay *way, int64_t member) {
  Buf b = buf_new(m->arena);
  int64_t below = way->members;
  for (uint32_t i = 0; i < way->n; i++) {
    const Part *p = way->part[i];
    buf_printf(&b, "%s%s", i ? "." : "", name_text(m->w->names, p->name));
    for (uint32_t k = 0; k < p->axes; k++) {
      below /= part_length(m, &p->axis[k]);
      buf_printf(&b, "%s%lld", k ? " " : "[", (long long)(member / below));
      member %= below;
    }
    if (p->axes) buf_char(&b, ']');
  }
  return b.at ? b.at : "";
}

// The state without its part, and one element of it if only one is set.
static const char *state_text(const Sim *m, const SystemEvent *e, const PartWay *way,
                              int64_t place) {
  const SystemState *x = &m->s->state.at[e->state.at[0]];
  const char *cut = strrchr(x->path, '/'), *name = cut ? cut + 1 : x->path;
  const Diagram *d = m->s->d;
  Type t = d->wire.at[d->param.at[x->param].wire].type;
  uint32_t around = 0; // axes of arrays of parts
  for (uint32_t i = 0; i < way->n; i++) around += way->part[i]->axes;
  if (place < 0 || t.rank <= around) return name;
  t.axis += around, t.rank = (uint8_t)(t.rank - around);
  return sim_place_of(m, name, &t, place);
}

static void name_event(const Flow *f, uint32_t event, int64_t cell, EventNames *to) {
  const Sim *m = f->m;
  const SystemEvent *e = &m->s->event.at[event];
  int64_t cells = f->guard_cells.at[event], places = 1, place = (int64_t)to->place - 1;
  PartWay way;
  if (find_way(m, e->path, &way) && cells % way.members == 0) {
    places = cells / way.members;
    to->path = way_text(m, &way, cell / places);
  } else {
    to->path = e->path;
  }
  if (e->each) place = cell % places;
  to->what = e->birth   ? "born"
             : e->death ? "died"
             : e->jump  ? name_text(m->w->names, e->jump)
                        : state_text(m, e, &way, place);
}

LoggedEvent flow_log_entry(Flow *f, double t, uint32_t which, uint32_t place) {
  uint32_t event = 0;
  int64_t cell = which;
  if (!f->event_names) f->event_names = NEW_ARRAY(f->m->arena, EventNames, f->events + 1);
  EventNames *name = &f->event_names[which];
  for (; cell >= f->guard_cells.at[event]; event++) cell -= f->guard_cells.at[event];
  if (!name->what || name->place != place) {
    name->place = place;
    name_event(f, event, cell, name);
  }
  return (LoggedEvent){
      .time = t, .path = name->path, .what = name->what, .which = which, .place = place};
}
