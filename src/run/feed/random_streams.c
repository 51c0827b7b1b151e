// Random streams. Samples and noise are drawn from streams. A stream is identified by its source
// and by how it is used, never by a name: names, files with the same rows, and the order of
// declarations may change without changing the draws.
//
// Draws from one split of a set are counted in the order of use: goals, then measures, then shows.
// So are files, whatever their names; limn's own sets are identified by name.
#include "base/diag.h"
#include "base/names.h"
#include "run/feed/feed.h"

#include <stdlib.h>

typedef struct {
  Elab *in;
  const Program *p;
  uint32_t given, at, found; // found: position of the first use; UINT32_MAX: none yet
} FirstUse;

static void note_use(FirstUse *f, const Ids *fields) {
  for (uint32_t i = 0; i < fields->n; i++, f->at++)
    if (f->found == UINT32_MAX && def_of(f->in, fields->at[i])->given == f->given) f->found = f->at;
}

// A number for each given, in the order of first use; unused ones come last.
static uint64_t first_use(Elab *in, const Program *p, uint32_t given) {
  FirstUse f = {in, p, given, 0, UINT32_MAX};
  for (uint32_t i = 0; i < p->goal.n; i++) note_use(&f, &p->goal.at[i].fields);
  for (uint32_t i = 0; i < p->measure.n; i++) note_use(&f, &p->measure.at[i].fields);
  for (uint32_t i = 0; i < p->show.n; i++) note_use(&f, &p->show.at[i].fields);
  return (uint64_t)f.found << 32 | given;
}

typedef struct {
  Elab *in;
  const Program *p;
  const char **source; // [given] given_source_key
} Streams;

static bool same_source(const Streams *s, uint32_t a, uint32_t b) {
  const Given *x = &s->p->given.at[a], *y = &s->p->given.at[b];
  if (x->noise || y->noise) return x->noise && y->noise;
  return !x->path == !y->path && strcmp(s->source[a], s->source[b]) == 0;
}

static const char *split_of(Elab *in, const Given *g) {
  const char *split = name_text(elab_world(in)->names, g->split);
  return *split ? split : "train";
}

// The number of givens of the same source that are used before.
static uint32_t uses_before(const Streams *s, uint32_t given, bool of_split) {
  uint32_t n = 0;
  const Given *g = &s->p->given.at[given];
  uint64_t own = first_use(s->in, s->p, given);
  for (uint32_t k = 0; k < s->p->given.n; k++)
    n += same_source(s, given, k) &&
         (!of_split || strcmp(split_of(s->in, g), split_of(s->in, &s->p->given.at[k])) == 0) &&
         first_use(s->in, s->p, k) < own;
  return n;
}

// The number of other files that are read before this one.
static uint32_t files_before(const Streams *s, uint32_t given) {
  uint32_t n = 0;
  uint64_t own = UINT64_MAX;
  for (uint32_t k = 0; k < s->p->given.n; k++) {
    uint64_t use = first_use(s->in, s->p, k);
    if (same_source(s, given, k) && use < own) own = use;
  }
  for (uint32_t k = 0; k < s->p->given.n; k++)
    n += s->p->given.at[k].path && !uses_before(s, k, false) && first_use(s->in, s->p, k) < own;
  return n;
}

uint64_t given_stream(Elab *in, const Program *p, uint32_t given) {
  World *w = elab_world(in);
  const Given *g = &p->given.at[given];
  Streams s = {in, p, NEW_ARRAY(w->arena, const char *, p->given.n + 1)};
  for (uint32_t k = 0; k < p->given.n; k++) s.source[k] = given_source_key(w, &p->given.at[k]);
  const char *set = name_text(w->names, g->set);
  uint64_t stream = site_hash(0, g->noise ? "noise" : g->path ? "file" : set);
  stream = site_hash(stream, split_of(in, g));
  if (g->path) stream = site_step(stream, files_before(&s, given));
  return site_step(stream, uses_before(&s, given, true));
}

uint64_t program_seed(Elab *in, Program *p) {
  Diags *diags = elab_world(in)->diags;
  uint64_t seed = 0;
  bool found = false;
  diags->muted++;
  for (uint32_t i = 0; i < p->train.n && !found; i++) {
    Training training = {0};
    found = elab_training(in, p, p->train.at[i], &training) && training.has_seed;
    if (found) seed = training.seed;
  }
  diags->muted--;
  return seed;
}

int64_t program_batch(Elab *in, Program *p) {
  Diags *diags = elab_world(in)->diags;
  int64_t batch = 0;
  diags->muted++;
  for (uint32_t i = 0; i < p->train.n && !batch; i++) {
    Training training = {0};
    if (elab_training(in, p, p->train.at[i], &training)) batch = training.batch;
  }
  diags->muted--;
  return batch;
}

uint64_t weights_seed(Elab *in, Program *p, const Arrays *weights) {
  const char *seed = arrays_metadata(weights, "seed");
  return seed ? strtoull(seed, NULL, 10) : program_seed(in, p);
}
