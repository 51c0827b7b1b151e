// Writes a comparison as text and as JSON.
#include "base/json_write.h"
#include "show/diff/diff.h"

#include <math.h>

enum { WEIGHTS_TOLD = 3 }; // per box

char diff_sign(DiffMark mark) { return "=~+->"[mark]; }

const char *diff_change(Arena *a, const char *x, const char *y, const char *arrow) {
  if (!x || !y) return x ? x : y ? y : "";
  return strcmp(x, y) == 0 ? x : arena_format(a, "%s %s %s", x, arrow, y);
}

static bool is_renamed(const DiffThing *t) {
  return t->name[0] && t->name[1] && strcmp(t->name[0], t->name[1]) != 0;
}

// Bodies of learners are always shown, those of boxes only if there are no learners.
static bool tells_body(const DiffAnswer *d, const DiffThing *t) {
  bool learners = false;
  for (uint32_t i = 0; i < d->thing.n; i++) learners |= d->thing.at[i].kind == N_LEARNER;
  return t->body && t->node[0] && t->node[1] &&
         (t->kind == N_LEARNER || (t->kind == N_BOX && !learners));
}

bool diff_is_same(const DiffAnswer *d) {
  bool same = !d->run.n;
  for (uint32_t i = 0; i < d->thing.n; i++) same &= d->thing.at[i].mark == DIFF_SAME;
  for (uint32_t i = 0; i < d->weight.n; i++) same &= d->weight.at[i].mark == DIFF_SAME;
  for (uint32_t i = 0; i < d->figure.n; i++) {
    const DiffFigure *f = &d->figure.at[i];
    same &= f->known[0] == f->known[1] &&
            (!f->known[0] || f->last[0] == f->last[1] || (isnan(f->last[0]) && isnan(f->last[1])));
  }
  return same;
}

// -- bodies ---------------------------------------------------------------------------------------
static void line_begin(Buf *out, uint32_t level, DiffMark mark) {
  for (uint32_t i = 0; i <= level; i++) buf_text(out, "  ");
  buf_printf(out, "%c ", diff_sign(mark));
}

// The position of an added box: the name of its first operand.
static const char *behind(const Outline *all, const OutlineBox *box) {
  for (uint32_t i = 0; i < box->nin; i++) {
    if (box->in[i] >= 0 && box->in[i] < all->box.n) return all->box.at[box->in[i]].name;
    if (box->in[i] != NO_BOX) return "the input";
  }
  return "nothing";
}

// Weights inside whose shapes differ.
static void weights_changed(const Outline *a, const Outline *b, Buf *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->weight.n && i < b->weight.n; i++) {
    const OutlineWeight *x = &a->weight.at[i], *y = &b->weight.at[i];
    if (strcmp(x->path, y->path) != 0 || strcmp(x->type, y->type) == 0) continue;
    if (n++ < WEIGHTS_TOLD) buf_printf(out, ", %s %s -> %s", x->path, x->type, y->type);
  }
  if (n > WEIGHTS_TOLD) buf_printf(out, " and %u weights more", n - WEIGHTS_TOLD);
}

static void changed_text(Arena *arena, const DiffBox *box, uint32_t level, Buf *out) {
  const OutlineBox *x = box->a, *y = box->b;
  bool other = x->hash != y->hash;
  line_begin(out, level, DIFF_CHANGED);
  buf_text(out, diff_change(arena, x->name, y->name, "->"));
  if (other) buf_printf(out, "  %s", diff_change(arena, x->type, y->type, "->"));
  if (strcmp(x->numbers, y->numbers) != 0)
    buf_printf(out, ", %s", diff_change(arena, x->numbers, y->numbers, "->"));
  if (other && x->inside && y->inside && !strcmp(x->word, y->word))
    weights_changed(x->inside, y->inside, out);
  if (box->reads) buf_printf(out, "%s %s", other ? "," : " ", box->reads);
  buf_char(out, '\n');
}

static void body_text(Arena *arena, const DiffBody *d, uint32_t level, Buf *out) {
  for (uint32_t i = 0; i < d->box.n; i++) {
    const DiffBox *box = &d->box.at[i];
    const OutlineBox *own = box->a ? box->a : box->b;
    if (box->mark == DIFF_SAME) continue;
    if (box->mark == DIFF_CHANGED) {
      changed_text(arena, box, level, out);
      if (box->inside) body_text(arena, box->inside, level + 1, out);
      continue;
    }
    line_begin(out, level, box->mark);
    if (box->mark == DIFF_MOVED)
      buf_printf(out, "%s  moved: was behind %s, is behind %s\n", own->name, behind(d->a, box->a),
                 behind(d->b, box->b));
    else
      buf_printf(out, "%s  %s, %sbehind %s\n", own->name, own->type, box->a ? "was " : "",
                 behind(box->a ? d->a : d->b, own));
  }
  if (d->otherwise) {
    line_begin(out, level, DIFF_CHANGED);
    buf_printf(out, "%s\n", d->otherwise);
  }
}

static void counts_text(const DiffBody *d, bool written, Buf *out) {
  const uint32_t *n = d->count.of;
  bool same = n[DIFF_SAME] == d->box.n;
  if (same && d->otherwise)
    buf_printf(out, ": %u the same, and still another thing\n", n[DIFF_SAME]);
  else if (same)
    buf_printf(out, ": the same, %u box%s%s\n", n[DIFF_SAME], n[DIFF_SAME] == 1 ? "" : "es",
               written ? ", written otherwise" : "");
  else
    buf_printf(out, ": %u the same, %u changed, %u added, %u gone, %u moved\n", n[DIFF_SAME],
               n[DIFF_CHANGED], n[DIFF_ADDED], n[DIFF_GONE], n[DIFF_MOVED]);
}

static void values_text(const DiffThing *t, Buf *out) {
  buf_printf(out, ": gives the same on random inputs, to %.1g; %u box%s, %u box%s\n",
             t->apart > 0 ? t->apart : 0.0, t->boxes[0], t->boxes[0] == 1 ? "" : "es", t->boxes[1],
             t->boxes[1] == 1 ? "" : "es");
}

// -- statements -----------------------------------------------------------------------------------
// The arrow → in ASCII, for terminals; pictures keep it.
static void put_plain(const char *text, Buf *out) {
  static const char arrow[] = "→";
  for (const char *at; (at = strstr(text, arrow)) != NULL; text = at + strlen(arrow)) {
    buf_add(out, text, (size_t)(at - text));
    buf_text(out, "->");
  }
  buf_text(out, text);
}

static void lines_text(const DiffThing *t, uint32_t level, Buf *out) {
  for (uint32_t i = 0; i < t->line.n; i++) {
    const DiffLine *line = &t->line.at[i];
    for (uint32_t k = 0; k < line->level + level; k++) buf_text(out, "  ");
    buf_printf(out, "%c ", diff_sign(line->mark));
    put_plain(line->text, out);
    buf_char(out, '\n');
  }
}

static void things_text(Arena *arena, const DiffAnswer *d, Buf *out) {
  for (uint32_t i = 0; i < d->thing.n; i++) {
    const DiffThing *t = &d->thing.at[i];
    if (tells_body(d, t)) {
      buf_text(out, diff_change(arena, t->name[0], t->name[1], "->"));
      if (t->by_values)
        values_text(t, out);
      else
        counts_text(t->body, t->otherwise, out), body_text(arena, t->body, 0, out);
      if (t->mark != DIFF_SAME && t->beside) lines_text(t, 1, out);
    } else if (t->mark == DIFF_GONE && t->kind == N_LEARNER)
      buf_printf(out, "%s: gone\n", t->name[0]);
    else if (t->mark == DIFF_ADDED && t->kind == N_LEARNER)
      buf_printf(out, "%s: added\n", t->name[1]);
    else if (t->otherwise)
      buf_printf(out, "%s: the same, written otherwise\n",
                 t->name[0] ? diff_change(arena, t->name[0], t->name[1], "->") : t->word);
    else if (t->mark != DIFF_SAME)
      lines_text(t, 0, out);
  }
}

static void names_text(const DiffAnswer *d, Buf *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->thing.n; i++) {
    const DiffThing *t = &d->thing.at[i];
    if (!is_renamed(t) || tells_body(d, t)) continue;
    buf_printf(out, "%s%s -> %s", n++ ? ", " : "names: ", t->name[0], t->name[1]);
  }
  if (n) buf_char(out, '\n');
}

// -- weights and figures --------------------------------------------------------------------------
static const char *shape_words(Arena *arena, const Array *a) {
  Buf out = buf_new(arena);
  buf_text(&out, "R[");
  for (uint32_t i = 0; i < a->rank; i++)
    buf_printf(&out, "%s%lld", i ? " " : "", (long long)a->shape[i]);
  buf_char(&out, ']');
  return out.at;
}

static void weight_text(Arena *arena, const DiffWeight *w, Buf *out) {
  const char *shape[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++)
    if (w->array[i]) shape[i] = shape_words(arena, w->array[i]);
  line_begin(out, 0, w->mark);
  buf_printf(out, "%s  %s", diff_change(arena, w->name[0], w->name[1], "->"),
             diff_change(arena, shape[0], shape[1], "->"));
  if (weight_fits(w))
    buf_printf(out, "  largest %.3g, mean %.3g, relative %.3g", w->largest, w->mean, w->relative);
  buf_char(out, '\n');
}

static void weights_text(Arena *arena, const DiffAnswer *d, Buf *out) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < d->weight.n; i++) same += d->weight.at[i].mark == DIFF_SAME;
  if (!d->weights[0] != !d->weights[1])
    buf_printf(out, "weights: only %s has any\n", d->weights[0] ? d->a : d->b);
  if (!d->weights[0] || !d->weights[1]) return;
  buf_printf(out, "weights: %u the same, %u not\n", same, d->weight.n - same);
  for (uint32_t i = 0; i < d->weight.n; i++)
    if (d->weight.at[i].mark != DIFF_SAME) weight_text(arena, &d->weight.at[i], out);
}

static const char *figure_words(Arena *arena, const DiffFigure *f, int side) {
  return f->known[side] ? arena_format(arena, "%.5g", f->last[side]) : "none";
}

static void figures_text(Arena *arena, const DiffAnswer *d, Buf *out) {
  if (d->figure.n) buf_text(out, "at the end:\n");
  for (uint32_t i = 0; i < d->figure.n; i++) {
    const DiffFigure *f = &d->figure.at[i];
    buf_printf(out, "  %s  %s\n", diff_change(arena, f->name[0], f->name[1], "->"),
               diff_change(arena, figure_words(arena, f, 0), figure_words(arena, f, 1), "->"));
  }
}

void diff_text(Arena *arena, const DiffAnswer *d, Buf *out) {
  buf_printf(out, "--- %s\n+++ %s\n", d->a, d->b);
  things_text(arena, d, out);
  names_text(d, out);
  for (uint32_t i = 0; i < d->run.n; i++) {
    buf_text(out, "~ ");
    put_plain(d->run.at[i].text, out);
    buf_char(out, '\n');
  }
  weights_text(arena, d, out);
  figures_text(arena, d, out);
}

// -- JSON -----------------------------------------------------------------------------------------
static const char *const mark_names[] = {"same", "changed", "added", "gone", "moved"};

static void counts_json(JsonOut *j, const uint32_t *n) {
  for (uint32_t i = 0; i < DIFF_MARKS; i++) json_number(j, mark_names[i], n[i]);
}

static void thing_json(JsonOut *j, const DiffThing *t) {
  json_object(j, NULL);
  json_text(j, "kind", t->word);
  json_text_or_null(j, "name", t->name[0]);
  json_text_or_null(j, "other", t->name[1]);
  json_text(j, "mark", mark_names[t->mark]);
  if (t->by_values) json_number(j, "apart", t->apart);
  if (t->body) {
    json_object(j, "boxes");
    counts_json(j, t->body->count.of);
    json_end(j);
  }
  json_list(j, "lines");
  for (uint32_t i = 0; i < t->line.n && t->mark != DIFF_SAME; i++)
    json_text(j, NULL, t->line.at[i].text);
  json_end(j);
  json_end(j);
}

static void shape_json(JsonOut *j, const char *key, const Array *a) {
  if (!a) return;
  json_list(j, key);
  for (uint32_t i = 0; i < a->rank; i++) json_number(j, NULL, (double)a->shape[i]);
  json_end(j);
}

static void weight_json(JsonOut *j, const DiffWeight *w) {
  json_object(j, NULL);
  json_text_or_null(j, "name", w->name[0]);
  json_text_or_null(j, "other", w->name[1]);
  json_text(j, "mark", mark_names[w->mark]);
  shape_json(j, "shape", w->array[0]);
  shape_json(j, "other_shape", w->array[1]);
  if (weight_fits(w)) {
    json_number(j, "largest", w->largest);
    json_number(j, "mean", w->mean);
    json_number(j, "relative", w->relative);
  }
  json_end(j);
}

static void figures_json(JsonOut *j, const DiffAnswer *d) {
  json_list(j, "figures");
  for (uint32_t i = 0; i < d->figure.n; i++) {
    const DiffFigure *f = &d->figure.at[i];
    json_object(j, NULL);
    json_text(j, "name", f->name[0]);
    json_text(j, "other", f->name[1]);
    if (f->known[0]) json_number(j, "last", f->last[0]);
    if (f->known[1]) json_number(j, "other_last", f->last[1]);
    json_end(j);
  }
  json_end(j);
}

void diff_json(Arena *arena, const DiffAnswer *d, Buf *out) {
  Buf text = buf_new(arena);
  DiffCount all = {{0}};
  uint32_t weights = 0, renamed = 0;
  for (uint32_t i = 0; i < d->thing.n; i++) {
    const DiffThing *t = &d->thing.at[i];
    renamed += is_renamed(t);
    for (uint32_t k = 0; tells_body(d, t) && k < DIFF_MARKS; k++) all.of[k] += t->body->count.of[k];
  }
  for (uint32_t i = 0; i < d->weight.n; i++) weights += d->weight.at[i].mark != DIFF_SAME;
  diff_text(arena, d, &text);
  JsonOut j = json_out(out);
  json_object(&j, NULL);
  json_bool(&j, "equal", diff_is_same(d));
  counts_json(&j, all.of);
  json_number(&j, "renamed", renamed);
  json_number(&j, "weights", weights);
  json_list(&j, "things");
  for (uint32_t i = 0; i < d->thing.n; i++) thing_json(&j, &d->thing.at[i]);
  json_end(&j);
  json_list(&j, "weight");
  for (uint32_t i = 0; i < d->weight.n; i++) weight_json(&j, &d->weight.at[i]);
  json_end(&j);
  figures_json(&j, d);
  json_text(&j, "text", text.at);
  json_end(&j);
}
