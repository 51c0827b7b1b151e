// Axes that pass over a diagram are left out where they only go along: whoever calls it has them, and
// they are in every result. A diagram in which more happens to them has them written as any other,
// and then who calls it has them too.
#include "port/json/json_own.h"

bool axis_shown(const ReadDiagram *d, const ReadType *t, uint32_t axis) {
  return d->shown || !t->passes[axis];
}

uint32_t type_rank(const ReadDiagram *d, const ReadType *t) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++) n += axis_shown(d, t, i);
  return n;
}

void type_write(const ReadDiagram *d, const ReadType *t, Buf *out) {
  bool any = false;
  buf_printf(out, "%s[", t->base);
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!axis_shown(d, t, i)) continue;
    buf_printf(out, "%s%s", any ? " " : "", t->size[i]);
    any = true;
  }
  buf_char(out, ']');
}

// -- which are written ----------------------------------------------------------------------------
static const ReadType *type_of(const ReadDiagram *d, const Json *key) {
  Id wire = key && key->kind == JSON_TEXT ? table_get(d->wire_table, key->text, key->n) : 0;
  return wire ? &d->wire.at[wire - 1].type : NULL;
}

static bool has_pass(const ReadType *t, uint32_t pass) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->passes[i] == pass) return true;
  return false;
}

static bool show(ReadDiagram *d) {
  bool more = !d->shown;
  d->shown = true;
  return more;
}

// The index that a place is, and nothing else; NULL: it is something else.
static const char *index_alone(const Json *place) {
  const Json *term =
      place->kind == JSON_LIST && place->n == 2 ? json_next(json_first(place)) : NULL;
  if (!term || term->kind != JSON_LIST || term->n != 2) return NULL;
  const Json *index = json_next(json_first(term));
  return index->kind == JSON_TEXT ? index->text : NULL;
}

// Does the index run along an axis that passes, or (`passing` is false) along another one?
static bool index_runs(const ReadType *t, const Json *at, const char *index, bool passing) {
  EACH_ITEM(place, i, at) {
    const char *own = i < t->rank ? index_alone(place) : NULL;
    if (own && strcmp(own, index) == 0 && (t->passes[i] != 0) == passing) return true;
  }
  return false;
}

// Something is summed along one, or an index runs along one here and along another axis there.
static bool loop_shows(ReadDiagram *d, const ReadBox *box) {
  const ReadType *out = &d->wire.at[box->first].type;
  const Json *left = json_get(box->json, "at");
  uint32_t kept = 0;
  for (uint32_t a = 0; a < out->rank; a++) kept += out->passes[a] != 0;
  EACH_ITEM(in, n, json_get(box->json, "in")) {
    const ReadType *t = in->kind == JSON_OBJECT ? type_of(d, json_get(in, "wire")) : NULL;
    uint32_t passing = 0;
    for (uint32_t a = 0; t && a < t->rank; a++) passing += t->passes[a] != 0;
    if (passing > kept) return show(d);
    EACH_ITEM(place, i, left) {
      const char *index = t && i < out->rank ? index_alone(place) : NULL;
      if (index && index_runs(t, json_get(in, "at"), index, !out->passes[i])) return show(d);
    }
  }
  return false;
}

// Wires are joined or put into an order along one.
static bool along_shows(ReadDiagram *d, const ReadBox *box) {
  const Json *axis = json_get(box->json, "axis");
  const ReadType *t = &d->wire.at[box->first].type;
  if (!axis || axis->kind != JSON_NUMBER || !(axis->number >= 0 && axis->number < t->rank))
    return false;
  return t->passes[(uint32_t)axis->number] && show(d);
}

// A wire of `d` goes into input `i` of what it calls, without its first axes where a scan cuts it up.
// over: [pass] it is an axis here that passes over the callee.
static bool wire_shows(ReadDiagram *d, ReadDiagram *callee, const ReadType *t, uint32_t i,
                       uint32_t first, bool over[PASS_LIMIT]) {
  bool more = false;
  if (i >= callee->nin) return false;
  const ReadType *in = &callee->wire.at[i].type;
  for (uint32_t k = first; t && k < t->rank && k - first < in->rank; k++) {
    bool here = axis_shown(d, t, k), there = axis_shown(callee, in, k - first);
    if (!here && there) more |= show(d);
    if (here && !there) over[in->passes[k - first]] = true;
  }
  for (uint32_t k = 0; t && k < first && k < t->rank; k++)
    if (!axis_shown(d, t, k)) more |= show(d);
  return more;
}

static ReadDiagram *callee_of(Reading *r, const Json *box, const char *key) {
  const char *name = json_word(box, key);
  Id found = table_get(r->diagram_table, name, strlen(name));
  return found ? &r->diagram.at[found - 1] : NULL;
}

// A call gives every result once for each place of what passes over it, and for nothing else.
static bool call_shows(Reading *r, ReadDiagram *d, const ReadBox *box) {
  ReadDiagram *callee = callee_of(r, box->json, "callee");
  bool over[PASS_LIMIT] = {0}, more = false;
  if (!callee || callee == d) return false;
  EACH_ITEM(key, i, json_get(box->json, "in")) {
    more |= wire_shows(d, callee, type_of(d, key), i, 0, over);
  }
  for (uint32_t o = 0; o < callee->out.n && o < box->n && !callee->shown; o++) {
    const ReadType *t = &callee->wire.at[callee->out.at[o]].type,
                   *here = &d->wire.at[box->first + o].type;
    bool lacks = false;
    for (uint32_t pass = 1; pass < PASS_LIMIT; pass++) lacks |= over[pass] && !has_pass(t, pass);
    for (uint32_t a = 0; a < t->rank && a < here->rank; a++)
      lacks |= t->passes[a] && axis_shown(d, here, a) && !over[t->passes[a]];
    if (lacks) more |= show(callee);
  }
  return more;
}

static bool scan_shows(Reading *r, ReadDiagram *d, const ReadBox *box) {
  ReadDiagram *body = callee_of(r, box->json, "body");
  const Json *slices = json_get(box->json, "slices");
  bool over[PASS_LIMIT] = {0}, more = false;
  uint32_t cut = slices && slices->kind == JSON_LIST ? slices->n : 0;
  if (!body || body == d) return false;
  EACH_ITEM(slice, i, slices) more |= wire_shows(d, body, type_of(d, slice), i, 1, over);
  EACH_ITEM(carry, k, json_get(box->json, "carries")) {
    more |= wire_shows(d, body, type_of(d, carry), cut + k, 0, over);
  }
  for (uint32_t pass = 1; pass < PASS_LIMIT; pass++)
    if (over[pass]) more |= show(body);
  return more;
}

static bool box_shows(Reading *r, ReadDiagram *d, const ReadBox *box) {
  const char *op = json_word(box->json, "op");
  if (strcmp(op, "call") == 0) return call_shows(r, d, box);
  if (strcmp(op, "scan") == 0) return scan_shows(r, d, box);
  if (strcmp(op, "loop") == 0) return loop_shows(d, box);
  return (strcmp(op, "join") == 0 || strcmp(op, "order") == 0) && along_shows(d, box);
}

void shown_find(Reading *r) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < r->diagram.n; i++)
      for (uint32_t k = 0; k < r->diagram.at[i].box.n; k++)
        more |= box_shows(r, &r->diagram.at[i], &r->diagram.at[i].box.at[k]);
  }
}
