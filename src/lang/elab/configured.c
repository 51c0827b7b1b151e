// What a box was configured with stays with its diagram, as the program has it, for those who look
// at it: `refit[head, gd, steps: 50]` is refit (head, gd, steps: 50) in a picture.
#include "lang/elab/builtin.h"

// A name that is an option of the box around it says what that is.
static const char *slot_word(Body *b, Env *env, const Syntax *slot) {
  const Syntax *item = slot_item(slot);
  if (item->kind == N_NAME) return box_word(b->w, &(Closure){.node = item, .env = env});
  return span_words(b->w, slot->span);
}

void config_keep(Body *b, Env *env, const Syntax *config, uint32_t from, Diagram *to) {
  for (uint32_t i = from; config && i < brackets_slots(config).n; i++)
    vec_push(b->w->arena, &to->option,
             (Option){.text = slot_word(b, env, brackets_slots(config).at[i])});
}
