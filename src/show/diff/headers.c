// What statements say beside the function that they compute: the words of labels, whose order is
// their number; the order of named results; the direction that is better in a measure.
#include "base/names.h"
#include "show/diff/trees.h"

typedef struct {
  const Names *names;
  Buf *out;
} LabelWalk;

// A set of labels has several words; `{n}` is a size.
static bool put_labels(void *context, const Syntax *n) {
  const LabelWalk *w = context;
  Nodes word = n->kind == N_LABELS ? syntax_parts(n) : (Nodes){0};
  for (uint32_t i = 0; word.n > 1 && i < word.n; i++) {
    const Syntax *at = word.at[i];
    buf_printf(w->out, "%s%s", i ? " " : "{", at->text ? at->text : name_text(w->names, at->name));
  }
  if (word.n > 1) buf_char(w->out, '}');
  return false;
}

static const char *label_words(TreeWalk *w, int side, const Syntax *n) {
  Buf out = buf_new(w->arena);
  syntax_any(n, put_labels, &(LabelWalk){w->side[side].source->names, &out});
  return out.at;
}

// Named results of a box, learner or machine.
static Nodes results_of(const Syntax *n) {
  const Syntax *result = n->kind == N_BOX       ? box_result(n)
                         : n->kind == N_LEARNER ? learner_result(n)
                         : n->kind == N_MACHINE ? machine_result(n)
                                                : NULL;
  return result && result->kind == N_PARAMS ? syntax_parts(result) : (Nodes){0};
}

static const char *result_words(TreeWalk *w, int side, const Syntax *n) {
  Buf out = buf_new(w->arena);
  Nodes all = results_of(n);
  for (uint32_t i = 0; i < all.n; i++)
    buf_printf(&out, "%s%s", i ? ", " : "",
               name_text(w->side[side].source->names, all.at[i]->name));
  return out.at;
}

const char *results_moved(TreeWalk *w, const Syntax *a, const Syntax *b) {
  Nodes x = results_of(a), y = results_of(b);
  bool moved = false;
  for (uint32_t i = 0; i < x.n; i++)
    for (uint32_t k = 0; k < y.n; k++)
      moved |= i != k && !strcmp(name_text(w->side[0].source->names, x.at[i]->name),
                                 name_text(w->side[1].source->names, y.at[k]->name));
  if (!moved) return NULL;
  return arena_format(w->arena, "results %s → %s", result_words(w, 0, a), result_words(w, 1, b));
}

// Which direction is better: maximise, minimise or neither.
static const char *better_word(TreeWalk *w, int side, const Syntax *n) {
  const Syntax *word = n->kind == N_BOX ? box_better(n) : NULL;
  return word ? name_text(w->side[side].source->names, word->name) : "";
}

bool headers_differ(TreeWalk *w, const Syntax *a, const Syntax *b) {
  return results_moved(w, a, b) || strcmp(better_word(w, 0, a), better_word(w, 1, b)) != 0 ||
         strcmp(label_words(w, 0, a), label_words(w, 1, b)) != 0;
}
