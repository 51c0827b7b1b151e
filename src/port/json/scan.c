// Writes scans. The scan of the language iterates over rows, forward, and returns all rows of what
// it carries. So held values are repeated for each row, emitted values are carried too, and a
// reverse scan reverses its rows.
#include "base/table.h"
#include "port/json/json_own.h"

static bool has_open(const Reading *r, const ReadDiagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (param_is_argument(r, d, &d->param.at[i])) return true;
  return false;
}

static bool is_plain(const Reading *r, const ReadDiagram *d) { return d->plain && !has_open(r, d); }

static bool is_back(const ReadBox *scan) {
  const Json *back = json_get(scan->json, "back");
  return back && back->kind == JSON_TRUE;
}

void cell_note(const ReadBox *scan, ReadDiagram *cell) {
  bool plain = scan->slices && scan->in.n == scan->slices + scan->carries &&
               cell->out.n == 2 * scan->carries && !is_back(scan);
  for (uint32_t i = 0; plain && i < scan->carries; i++)
    plain = cell->out.at[i] == cell->out.at[i + scan->carries];
  cell->plain = plain && (cell->plain || !cell->cell);
  cell->cell = true;
  cell->slices = scan->slices, cell->carries = scan->carries;
}

// The carried value that an emitted result equals; the number of carried values: none.
static uint32_t carry_of(const ReadDiagram *d, uint32_t emitted) {
  uint32_t i = 0;
  while (i < d->carries && d->out.at[i] != d->out.at[emitted]) i++;
  return i;
}

// -- the diagram that is repeated -----------------------------------------------------------------
Ids diagram_inputs(const Reading *r, const ReadDiagram *d) {
  Ids in = {0};
  uint32_t held = d->slices + d->carries;
  bool turned = d->cell && !is_plain(r, d);
  for (uint32_t i = 0; i < d->nin; i++)
    if (!turned || i < d->slices) vec_push(r->arena, &in, i);
  for (uint32_t i = held; turned && i < d->nin; i++) vec_push(r->arena, &in, i);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (param_is_argument(r, d, &d->param.at[i])) vec_push(r->arena, &in, d->param.at[i].wire);
  for (uint32_t i = d->slices; turned && i < held && i < d->nin; i++) vec_push(r->arena, &in, i);
  return in;
}

Ids diagram_results(const Reading *r, const ReadDiagram *d) {
  Ids out = {0};
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!d->cell || i < d->carries || (!is_plain(r, d) && carry_of(d, i) == d->carries))
      vec_push(r->arena, &out, d->out.at[i]);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next && param_is_argument(r, d, &d->param.at[i]))
      vec_push(r->arena, &out, d->param.at[i].next - 1);
  return out;
}

// Inputs that the body does not read: a dummy row if there is none, and previous emitted values.
void cell_inputs_write(Writing *w, uint32_t before) {
  const ReadDiagram *d = w->d;
  if (!d->cell || is_plain(w->r, d)) return;
  for (uint32_t i = d->carries; i < d->out.n; i++) {
    if (carry_of(d, i) < d->carries) continue;
    const char *name = reading_name(w->r, w->d->taken, "before");
    buf_printf(w->out, "%s%s: ", before++ ? ", " : "", name);
    type_write(d, &d->wire.at[d->out.at[i]].type, w->out);
  }
}

// -- the scan -------------------------------------------------------------------------------------
typedef struct {
  Writing *w;
  const ReadBox *box;
  ReadDiagram *body;
  const char *axis, *size, *last; // last: the index of the last step
  bool back;
  Ids slices, carries, holds;
} ScanText;

// " k k_2": an index for each visible axis from `first` on; with sizes if `sized`.
static const char *places(ScanText *s, const ReadType *t, uint32_t first, bool sized) {
  Buf b = buf_new(s->w->r->arena);
  Table *own = table_new(s->w->r->arena);
  table_put(own, s->axis, strlen(s->axis), 1);
  for (uint32_t i = first; i < t->rank; i++) {
    if (!axis_is_visible(s->w->d, t, i)) continue;
    buf_printf(&b, " %s", index_name(s->w, own, "k"));
    if (sized) buf_printf(&b, ":%s", t->size[i]);
  }
  return b.n ? b.at : "";
}

static const char *place_of_step(const ScanText *s) {
  Buf b = buf_new(s->w->r->arena);
  buf_printf(&b, "%s-%s", s->last, s->axis);
  return s->back ? b.at : s->axis;
}

// A wire split into rows, or repeated for each row.
static const char *row_write(ScanText *s, uint32_t wire, bool cut) {
  Writing *w = s->w;
  const ReadWire *x = &w->d->wire.at[wire];
  const char *name = reading_name(w->r, w->d->taken, "along"),
             *rest = places(s, &x->type, cut, false);
  buf_printf(w->out, "  %s[%s:%s%s] = %s", name, s->axis, s->size, places(s, &x->type, cut, true),
             x->name);
  if (cut)
    buf_printf(w->out, "[%s%s]", place_of_step(s), rest);
  else if (*rest)
    buf_printf(w->out, "[%s]", rest + 1);
  buf_char(w->out, '\n');
  return name;
}

// The initial value of an emitted result, which is not read.
static const char *start_before(ScanText *s, uint32_t wire) {
  Writing *w = s->w;
  const ReadType *t = &w->d->wire.at[wire].type;
  const char *rest = places(s, t, 1, true);
  if (t->count) {
    reading_error(w->r, w->d,
                  "a scan emits labels that it does not carry, which cannot be read back");
    return NULL;
  }
  const char *name = reading_name(w->r, w->d->taken, "before");
  buf_printf(w->out, "  %s", name);
  if (*rest) buf_printf(w->out, "[%s]", rest + 1);
  buf_printf(w->out, " = %s\n", strcmp(t->base, "B") == 0 ? "bit(0)" : "0");
  return name;
}

// The last row of a carried value.
static void last_write(ScanText *s, uint32_t carry, const char *rows) {
  const ReadWire *x = &s->w->d->wire.at[s->box->first + carry];
  const char *rest = places(s, &x->type, 0, false);
  if (!x->used) return;
  buf_printf(s->w->out, "  %s", x->name);
  if (*rest) buf_printf(s->w->out, "[%s]", rest + 1);
  buf_printf(s->w->out, " = %s[%s%s]\n", rows, s->last, rest);
}

// An emitted result, with its rows in order.
static void emitted_write(ScanText *s, uint32_t wire, const char *rows) {
  const ReadWire *x = &s->w->d->wire.at[wire];
  if (!x->used) return;
  buf_printf(s->w->out, "  %s[%s:%s%s] = %s[%s%s]\n", x->name, s->axis, s->size,
             places(s, &x->type, 1, true), rows, place_of_step(s), places(s, &x->type, 1, false));
}

static bool handed_write(ScanText *s, Buf *args) {
  Writing *w = s->w;
  for (uint32_t i = 0; i < s->holds.n; i++)
    buf_printf(args, "%s%s", args->n ? ", " : "", row_write(s, s->holds.at[i], false));
  for (uint32_t i = 0; i < s->box->params.n && i < s->body->param.n; i++)
    if (param_is_argument(w->r, s->body, &s->body->param.at[i]))
      buf_printf(args, "%s%s", args->n ? ", " : "", row_write(s, s->box->params.at[i], false));
  return args->n || reading_error(w->r, w->d, "a scan goes along nothing, and cannot be read back");
}

// The general form: everything becomes rows and carried values.
static bool general_write(ScanText *s, const char *name) {
  Writing *w = s->w;
  const ReadDiagram *body = s->body;
  Buf args = buf_new(w->r->arena), out = buf_new(w->r->arena);
  const char **rows = NEW_ARRAY(w->r->arena, const char *, body->out.n + 1);
  for (uint32_t i = 0; i < s->slices.n; i++)
    buf_printf(&args, "%s%s", i ? ", " : "", row_write(s, s->slices.at[i], true));
  if (!handed_write(s, &args)) return false;
  for (uint32_t i = 0; i < s->carries.n; i++)
    buf_printf(&args, ", %s", w->d->wire.at[s->carries.at[i]].name);
  for (uint32_t i = 0; i < body->out.n; i++) {
    bool carried = i < body->carries;
    if (!carried && carry_of(body, i) < body->carries) {
      rows[i] = rows[carry_of(body, i)];
      continue;
    }
    const char *start = carried ? "" : start_before(s, s->box->first + i);
    if (!start) return false;
    if (!carried) buf_printf(&args, ", %s", start);
    rows[i] = reading_name(w->r, w->d->taken, "rows");
    buf_printf(&out, "%s%s", out.n ? ", " : "", rows[i]);
  }
  buf_printf(w->out, "  %s = scan[%s, %s](%s)\n", out.at, s->axis, name, args.at);
  for (uint32_t i = 0; i < s->carries.n; i++) last_write(s, i, rows[i]);
  for (uint32_t i = s->carries.n; i < body->out.n; i++)
    emitted_write(s, s->box->first + i, rows[i]);
  return true;
}

// A row with a label on each axis.
static const char *labelled_row(ScanText *s, uint32_t wire) {
  Writing *w = s->w;
  const ReadWire *x = &w->d->wire.at[wire];
  const char *name = reading_name(w->r, w->d->taken, "along"),
             *rest = places(s, &x->type, 1, false);
  buf_printf(w->out, "  %s[%s%s] = %s[%s%s]\n", name, s->axis, rest, x->name, s->axis, rest);
  return name;
}

static bool plain_write(ScanText *s, const char *name) {
  Writing *w = s->w;
  uint32_t n = s->carries.n;
  Buf args = buf_new(w->r->arena);
  for (uint32_t i = 0; i < s->slices.n; i++)
    buf_printf(&args, "%s%s", i ? ", " : "", labelled_row(s, s->slices.at[i]));
  for (uint32_t i = 0; i < n; i++) buf_printf(&args, ", %s", w->d->wire.at[s->carries.at[i]].name);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(w->out, "%s%s", i ? ", " : "  ", w->d->wire.at[s->box->first + n + i].name);
  buf_printf(w->out, " = scan[%s, %s](%s)\n", s->axis, name, args.at);
  for (uint32_t i = 0; i < n; i++) last_write(s, i, w->d->wire.at[s->box->first + n + i].name);
  return true;
}

bool scan_write(Writing *w, const ReadBox *box) {
  uint32_t rows = box->slices + box->carries;
  ScanText s = {.w = w,
                .box = box,
                .body = box->callee,
                .slices = {.at = box->in.at, .n = box->slices},
                .carries = {.at = box->in.at + box->slices, .n = box->carries},
                .holds = {.at = box->in.at + rows, .n = box->in.n - rows}};
  const char *name;
  if (!callee_name(w, box, &name)) return false;
  if (s.body->nin != box->in.n || s.body->out.n != box->n || box->carries > box->n ||
      box->carries != s.body->carries)
    return reading_error(w->r, w->d, "a scan gives `%s` other wires than it has", s.body->key);
  if (!(s.size = reading_size(w->r, json_get(box->json, "size")))) return false;
  Buf last = buf_new(w->r->arena);
  buf_printf(&last, "%s-1", place_size(w->r, s.size));
  s.last = last.at;
  s.back = is_back(box);
  s.axis = reading_name(w->r, w->d->taken, "step");
  if (!is_plain(w->r, s.body)) return general_write(&s, name);
  if (name == s.body->name) name = written_diagram(w->r, s.body, false)->name;
  return plain_write(&s, name);
}
