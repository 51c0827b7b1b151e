// Hides axes over which a whole diagram is mapped: callers map over them, and every result has
// them. If a diagram uses such an axis otherwise, it is written explicitly, and so it is in its
// callers.
#include "base/table.h"
#include "port/json/json_own.h"

bool axis_is_visible(const ReadDiagram *d, const ReadType *t, uint32_t axis) {
  return d->shown || !t->passes[axis];
}

uint32_t type_rank(const ReadDiagram *d, const ReadType *t) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++) n += axis_is_visible(d, t, i);
  return n;
}

void type_write(const ReadDiagram *d, const ReadType *t, Buf *out) {
  bool any = false;
  buf_printf(out, "%s[", t->base);
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!axis_is_visible(d, t, i)) continue;
    buf_printf(out, "%s%s", any ? " " : "", t->size[i]);
    any = true;
  }
  buf_char(out, ']');
}

// -- visible axes ---------------------------------------------------------------------------------
static const ReadType *type_of(const ReadDiagram *d, const Json *key) {
  Id wire = key && key->kind == JSON_TEXT ? table_get(d->wire_table, key->text, key->n) : 0;
  return wire ? &d->wire.at[wire - 1].type : NULL;
}

static bool has_pass(const ReadType *t, uint32_t pass) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->passes[i] == pass) return true;
  return false;
}

static bool make_visible(ReadDiagram *d) {
  bool more = !d->shown;
  d->shown = true;
  return more;
}

// The index that a coordinate is; NULL: it is something else.
static const char *index_alone(const Json *place) {
  const Json *term =
      place->kind == JSON_LIST && place->n == 2 ? json_next(json_first(place)) : NULL;
  if (!term || term->kind != JSON_LIST || term->n != 2) return NULL;
  const Json *index = json_next(json_first(term));
  return index->kind == JSON_TEXT ? index->text : NULL;
}

// Does the index run along a mapped axis, or (`passing` = false) along another axis?
static bool index_runs(const ReadType *t, const Json *at, const char *index, bool passing) {
  EACH_ITEM(place, i, at) {
    const char *own = i < t->rank ? index_alone(place) : NULL;
    if (own && strcmp(own, index) == 0 && (t->passes[i] != 0) == passing) return true;
  }
  return false;
}

// A reduction over a mapped axis, or an index that runs along a mapped axis and along another one,
// needs it visible.
static bool loop_needs_axes(ReadDiagram *d, const ReadBox *box) {
  const ReadType *out = &d->wire.at[box->first].type;
  const Json *left = json_get(box->json, "at");
  uint32_t kept = 0;
  for (uint32_t a = 0; a < out->rank; a++) kept += out->passes[a] != 0;
  EACH_ITEM(in, n, json_get(box->json, "in")) {
    const ReadType *t = in->kind == JSON_OBJECT ? type_of(d, json_get(in, "wire")) : NULL;
    uint32_t passing = 0;
    for (uint32_t a = 0; t && a < t->rank; a++) passing += t->passes[a] != 0;
    if (passing > kept) return make_visible(d);
    EACH_ITEM(place, i, left) {
      const char *index = t && i < out->rank ? index_alone(place) : NULL;
      if (index && index_runs(t, json_get(in, "at"), index, !out->passes[i]))
        return make_visible(d);
    }
  }
  return false;
}

// Concatenation or sorting along it needs it visible.
static bool along_needs_axes(ReadDiagram *d, const ReadBox *box) {
  const Json *axis = json_get(box->json, "axis");
  const ReadType *t = &d->wire.at[box->first].type;
  if (!axis || axis->kind != JSON_NUMBER || !(axis->number >= 0 && axis->number < t->rank))
    return false;
  return t->passes[(uint32_t)axis->number] && make_visible(d);
}

// Handles an argument `i` of a callee, without the leading axes that a scan splits. over: [pass] it
// is an axis of the caller over which the callee is mapped.
static bool argument_needs_axes(ReadDiagram *d, ReadDiagram *callee, const ReadType *t, uint32_t i,
                                uint32_t first, bool over[PASS_LIMIT]) {
  bool more = false;
  if (i >= callee->nin) return false;
  const ReadType *in = &callee->wire.at[i].type;
  for (uint32_t k = first; t && k < t->rank && k - first < in->rank; k++) {
    bool here = axis_is_visible(d, t, k), there = axis_is_visible(callee, in, k - first);
    if (!here && there) more |= make_visible(d);
    if (here && !there) over[in->passes[k - first]] = true;
  }
  for (uint32_t k = 0; t && k < first && k < t->rank; k++)
    if (!axis_is_visible(d, t, k)) more |= make_visible(d);
  return more;
}

// The results of a call have the axes over which it is mapped, and no others.
static bool call_needs_axes(ReadDiagram *d, const ReadBox *box) {
  ReadDiagram *callee = box->callee;
  bool over[PASS_LIMIT] = {0}, more = false;
  for (uint32_t i = 0; i < box->in.n; i++)
    more |= argument_needs_axes(d, callee, &d->wire.at[box->in.at[i]].type, i, 0, over);
  for (uint32_t o = 0; o < callee->out.n && o < box->n && !callee->shown; o++) {
    const ReadType *t = &callee->wire.at[callee->out.at[o]].type,
                   *here = &d->wire.at[box->first + o].type;
    bool lacks = false;
    for (uint32_t pass = 1; pass < PASS_LIMIT; pass++) lacks |= over[pass] && !has_pass(t, pass);
    for (uint32_t a = 0; a < t->rank && a < here->rank; a++)
      lacks |= t->passes[a] && axis_is_visible(d, here, a) && !over[t->passes[a]];
    if (lacks) more |= make_visible(callee);
  }
  return more;
}

static bool scan_needs_axes(ReadDiagram *d, const ReadBox *box) {
  ReadDiagram *body = box->callee;
  bool over[PASS_LIMIT] = {0}, more = false;
  for (uint32_t i = 0; i < box->slices + box->carries; i++) {
    const ReadType *t = &d->wire.at[box->in.at[i]].type;
    more |= argument_needs_axes(d, body, t, i, i < box->slices, over);
  }
  for (uint32_t pass = 1; pass < PASS_LIMIT; pass++)
    if (over[pass]) more |= make_visible(body);
  return more;
}

static bool box_needs_axes(ReadDiagram *d, const ReadBox *box) {
  const char *op = box->op;
  if (strcmp(op, "call") == 0) return call_needs_axes(d, box);
  if (strcmp(op, "scan") == 0) return scan_needs_axes(d, box);
  if (strcmp(op, "loop") == 0) return loop_needs_axes(d, box);
  return (strcmp(op, "join") == 0 || strcmp(op, "order") == 0) && along_needs_axes(d, box);
}

void find_visible_axes(Reading *r) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < r->diagram.n; i++)
      for (uint32_t k = 0; k < r->diagram.at[i].box.n; k++)
        more |= box_needs_axes(&r->diagram.at[i], &r->diagram.at[i].box.at[k]);
  }
}
