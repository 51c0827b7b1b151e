// Reduction of failing programs: removes a declaration, a line or an unused input, or replaces an
// expression by a wire. The caller checks that the result is still a valid program that fails.
#include "whole_program.h"

static bool drop_decl(Whole *p, uint32_t *k) {
  if (*k >= p->decl.n) return *k -= p->decl.n, false;
  for (uint32_t i = *k; i + 1 < p->decl.n; i++) p->decl.at[i] = p->decl.at[i + 1];
  p->decl.n--;
  return true;
}

static bool drop_line(WholeDecl *d, uint32_t *k) {
  if (*k >= d->line.n) return *k -= d->line.n, false;
  for (uint32_t i = *k; i + 1 < d->line.n; i++) d->line.at[i] = d->line.at[i + 1];
  d->line.n--;
  return true;
}

static bool drop_input(WholeDecl *d, uint32_t *k) {
  if (*k >= d->in.n) return *k -= d->in.n, false;
  for (uint32_t i = *k; i + 1 < d->in.n; i++) d->in.at[i] = d->in.at[i + 1];
  d->in.n--;
  return true;
}

static bool drop_option(WholeDecl *d, uint32_t *k) {
  if (*k >= d->option.n) return *k -= d->option.n, false;
  for (uint32_t i = *k; i + 1 < d->option.n; i++) d->option.at[i] = d->option.at[i + 1];
  d->option.n--;
  return true;
}

// A node becomes one of those inside it.
static bool lift(WholeNode *n, uint32_t *k) {
  for (uint32_t i = 0; i < n->piece.n; i++) {
    WholeNode *in = n->piece.at[i].node;
    for (uint32_t j = 0; in && j < in->piece.n; j++)
      if (in->piece.at[j].node && (*k)-- == 0) {
        n->piece.at[i].node = in->piece.at[j].node;
        return true;
      }
    if (in && lift(in, k)) return true;
  }
  return false;
}

// The body returns another wire: of an earlier line, or an input.
static bool return_other(Whole *p, WholeDecl *d, uint32_t *k) {
  if (!d->line.n || !d->line.at[d->line.n - 1].last || d->out.n != 1) return false;
  for (uint32_t i = 0; i + 1 < d->line.n; i++) {
    const WholeNode *line = d->line.at[i].line;
    if (!d->line.at[i].let || (*k)-- != 0) continue;
    const WholeNode *value = line->piece.at[2].node;
    d->out.at[0] = value->type;
    d->line.at[d->line.n - 1].line = whole_node(
        p, NULL, "return %E", whole_node(p, &value->type, "%n", d->line.at[i].makes.at[0]));
    return true;
  }
  return false;
}

bool whole_smaller(Whole *p, uint32_t k) {
  if (drop_decl(p, &k)) return true;
  for (uint32_t i = 0; i < p->decl.n; i++) {
    WholeDecl *d = p->decl.at[i];
    if (drop_line(d, &k) || return_other(p, d, &k) || drop_input(d, &k) || drop_option(d, &k))
      return true;
    for (uint32_t j = 0; j < d->line.n; j++)
      if (lift(d->line.at[j].line, &k)) return true;
    if (d->text && lift(d->text, &k)) return true;
  }
  return false;
}
