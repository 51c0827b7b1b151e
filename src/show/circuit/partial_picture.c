// Draws a program with errors: known parts as usual; what could not be elaborated is a dashed box,
// faulty wires are red and thicker, a wire of unknown type is one dashed line, and messages are on
// plates beside the picture, connected to their positions.
#include "base/names.h"
#include "base/source.h"
#include "show/circuit/circuit_own.h"

#include <math.h>

static uint32_t first_slip(const PartialDiagram *k, Id box) {
  uint32_t i = 0;
  while (i < k->slip.n && k->slip.at[i].box != box) i++;
  return i;
}

// Marks the faulty strands of a use.
static void mark_faulty(Sketch *s, uint32_t bundle, const ErrorMark *slip, Id wire) {
  uint32_t n = s->bundle.at[bundle].n;
  for (uint32_t i = 0; slip->end && !slip->wire.n && i < n; i++)
    strand_of(s, bundle, i)->alarm = true;
  for (uint32_t k = 0; k < slip->wire.n; k++) {
    uint32_t axis = slip->wire.at[k].axis;
    for (uint32_t i = 0; slip->wire.at[k].wire == wire && i < n; i++)
      if (!axis || axis > n || s->strings || axis == i + 1) strand_of(s, bundle, i)->alarm = true;
  }
}

// Makes an unused wire without producer visible.
static void end_here(CircuitPart *p, uint32_t bundle) {
  Sketch *s = p->c->s;
  uint32_t stage = sketch_stage(s, p->block, "not used"), use = sketch_use(s, stage, bundle);
  for (uint32_t i = 0; i < s->bundle.at[use].n; i++)
    stage_link(s, stage, LINK_END, strand_at(s, use, i), 0);
}

// The box may be a copy: it is identified by its result.
static Id unknown_at(const PartialDiagram *k, const Box *box) {
  for (uint32_t i = 0; i < k->unknown.n && box->nout; i++)
    if (k->diagram->box.at[k->unknown.at[i]].out[0] == box->out[0]) return k->unknown.at[i];
  return 0;
}

bool draw_unknown(CircuitPart *p, const Box *box) {
  const PartialDiagram *k = p->c->broken;
  Sketch *s = p->c->s;
  Id id = p->d->id == k->diagram->id ? unknown_at(k, box) : 0;
  if (!id) return false;
  const char *word = name_text(p->c->w->names, box->callee->name);
  uint32_t nin = box->callee->in.n, nout = box->nout; // arguments, without weights
  if (nout > box->callee->out.n && box->callee->param.n) nout = box->callee->out.n;
  bool wrong = first_slip(k, id) < k->slip.n;
  Glyph *g = all_ports(p, box, nin, nout, GLYPH_GHOST, *word ? word : "?");
  g->alarm = wrong, g->unknown = id;
  if (*word && wrong) g->above = "?";
  Stage *stage = &s->stage.at[s->stage.n - 1];
  stage->words = arena_format(s->arena, "unknown: %s", g->text);
  for (uint32_t i = 0; i < nin; i++)
    for (uint32_t j = 0; j < k->slip.n; j++)
      if (k->slip.at[j].box == id) mark_faulty(s, stage->in.at[i], &k->slip.at[j], box->in[i]);
  for (uint32_t i = 0; i < nout && !nin; i++)
    if (!part_reads(p, box->out[i])) end_here(p, p->made[box->out[i]]);
  return true;
}

void mark_inputs(CircuitPart *p) {
  const PartialDiagram *k = p->c->broken;
  for (uint32_t i = 0; i < k->slip.n; i++)
    for (uint32_t n = 0; !k->slip.at[i].box && !k->slip.at[i].end && n < p->d->in.n; n++)
      mark_faulty(p->c->s, p->made[p->d->in.at[n]], &k->slip.at[i], p->d->in.at[n]);
}

// In string diagrams, an end that does not fit shows its type.
static void mark_type(Sketch *s, uint32_t bundle, const char *type) {
  Strand *x = strand_of(s, bundle, 0);
  x->alarm = true;
  x->label = x->label && *x->label && x->line != LINE_UNKNOWN
                 ? arena_format(s->arena, "%s : %s", x->label, type)
                 : type;
}

void mark_ends(CircuitPart *p) {
  const PartialDiagram *k = p->c->broken;
  for (uint32_t o = 0; k->ends && o < p->d->out.n && o < k->end.n; o++)
    mark_type(p->c->s, p->c->s->out.at[o], k->end.at[o]);
  for (uint32_t i = 0; i < k->slip.n; i++)
    for (uint32_t o = 0; k->slip.at[i].end && o < p->d->out.n; o++)
      mark_faulty(p->c->s, p->c->s->out.at[o], &k->slip.at[i], p->d->out.at[o]);
}

// -- messages -------------------------------------------------------------------------------------
static bool find_glyph(const Layout *l, Id box, Message *out) {
  for (uint32_t i = 0; box && i < l->placed.n; i++) {
    if (l->placed.at[i].glyph->unknown != box) continue;
    out->x = l->placed.at[i].x;
    glyph_extent(l, &l->placed.at[i], &out->y0, &out->y1);
    return true;
  }
  return false;
}

// The input that a message refers to.
static bool find_input(const Layout *l, const PartialDiagram *k, const ErrorMark *slip,
                       Message *out) {
  for (uint32_t i = 0; i < k->diagram->in.n && slip->wire.n && !slip->box && !slip->end; i++) {
    if (k->diagram->in.at[i] != slip->wire.at[0].wire) continue;
    double y = l->y[l->s->bundle.at[l->s->in.at[i]].first];
    out->x = l->section.at[0].data + 4, out->y0 = y - 2, out->y1 = y + 2;
    return true;
  }
  return false;
}

static bool find_end(const Layout *l, Message *out) {
  const Sketch *s = l->s;
  out->x = l->section.at[l->section.n - 1].gather - 2;
  out->y0 = INFINITY, out->y1 = -INFINITY;
  for (uint32_t i = 0; i < s->out.n; i++) {
    const Bundle *b = &s->bundle.at[s->out.at[i]];
    for (uint32_t k = b->first; k < b->first + b->n; k++)
      if (s->strand.at[k].alarm)
        out->y0 = fmin(out->y0, l->y[k] - 3), out->y1 = fmax(out->y1, l->y[k] + 3);
  }
  return out->y0 <= out->y1;
}

Message message_plate(World *w, Arena *a, Span span, const char *text) {
  Message p = {.head = "", .text = text};
  uint32_t line = 0, column;
  if (span.file) source_place(w->sources, span, &line, &column);
  if (line) p.head = arena_format(a, "line %u", line);
  return p;
}

void broken_plates(World *w, Arena *a, const PartialDiagram *k, const Layout *l, Messages *out) {
  for (uint32_t i = 0; i < k->slip.n; i++) {
    const ErrorMark *s = &k->slip.at[i];
    Message p = message_plate(w, a, s->span, s->text);
    p.tied = find_glyph(l, s->box, &p) || (s->end && find_end(l, &p)) || find_input(l, k, s, &p);
    vec_push(a, out, p);
  }
}

const char *plates_about(Arena *a, const Messages *p) {
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < p->n; i++)
    buf_printf(&b, "%s%s%s%s", i ? "; " : "", p->at[i].head, *p->at[i].head ? ": " : "",
               p->at[i].text);
  return b.at;
}

bool broken_is_small(const PartialDiagram *k) {
  enum { BOXES = 200 };
  return k->diagram->box.n <= BOXES;
}

Canvas *broken_draw(World *w, Arena *a, const PartialDiagram *k, const CircuitOptions *how) {
  if (!broken_is_small(k)) return NULL;
  Sketch *s = circuit_broken(w, a, k, how, NULL);
  Layout *l = lay_out(a, s);
  if (!l) return NULL;
  Canvas *c = canvas_new(a, l->width, l->height, s->title, "");
  paint(c, a, l);
  Messages plates = {0};
  broken_plates(w, a, k, l, &plates);
  for (uint32_t i = 0; i < plates.n && plates.n > 1; i++) plates.at[i].number = i + 1;
  return plates_around(a, c, &plates, plates_about(a, &plates));
}
