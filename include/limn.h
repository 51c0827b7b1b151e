// limn: the whole public C interface.
//
//   Limn *l = limn_new();
//   if (limn_load(l, "net.limn") != LIMN_GOOD) fputs(limn_messages(l, false), stderr);
//   else puts(limn_print(l, "classify", "reverse"));
//   limn_free(l);
//
// Nothing is printed and nothing exits. Texts that are returned live as long as the Limn they come
// from.
#ifndef LIMN_H
#define LIMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Limn Limn;

typedef enum {
  LIMN_GOOD = 0,
  LIMN_WRONG = 1,   // the user's text or data is wrong; limn_messages says how
  LIMN_USAGE = 2,   // the call makes no sense
  LIMN_MACHINE = 3, // the machine failed: disk, memory
} LimnStatus;

Limn *limn_new(void); // NULL when memory is exhausted
void limn_free(Limn *);
const char *limn_version(void);

void limn_set(Limn *, const char *name,
              const char *value); // before loading: replaces an axis or const
LimnStatus limn_load(Limn *, const char *path);
LimnStatus limn_load_text(Limn *, const char *name, const char *text, size_t n);
const char *limn_messages(Limn *, bool json); // errors and warnings so far, in order
uint32_t limn_errors(const Limn *);

const char *limn_summary(Limn *, bool json); // what the program declares
const char *limn_who(Limn *, bool json);     // which goal moves which learner
// One layout for everybody. NULL when the text has syntax errors.
const char *limn_format(Limn *, const char *path, const char *text, size_t n);
// The same for a file, which is replaced unless `check`; *same: it was laid out so already.
LimnStatus limn_format_file(Limn *, const char *path, bool check, bool *same);

// A box, learner, goal or measure (NULL: the whole loss) as text, after a pass: check, inline,
// simplify, reverse, forward, gradient. NULL with a message.
const char *limn_print(Limn *, const char *name, const char *pass, bool origins);
const char *limn_cost(Limn *, const char *name, bool json);

typedef struct {
  const char *name;  // of an input, as "x"
  const char *value; // x.npy, or numbers as '[1, 2, 3]'
} LimnInput;

typedef struct {
  const LimnInput *in;
  uint32_t nin;
  const char *weights; // a safetensors file, or NULL: weights start as the program says
  const char *out;     // an npy file for the result, or NULL
  const char *dy;      // a cotangent of the result (npy or numbers), or NULL
  const char *grads;   // a safetensors file for gradients of inputs and weights, or NULL
  const char *save;    // a safetensors file for the weights that were used, or NULL
  uint64_t seed;
  bool training, json, count;
} LimnEval;
// Runs the reference interpreter. *text is what to show.
LimnStatus limn_eval(Limn *, const char *name, const LimnEval *, const char **text);
// Sets of data: all that are known (NULL), or what is in one, by name or path. With `picture`, its
// first images, or its points, are written there as png.
LimnStatus limn_data(Limn *, const char *name, const char *picture, bool json, const char **text);
const char *limn_ops(Limn *);                     // docs/ops.md
const char *limn_quote(Limn *, const char *text); // as a JSON string

#endif
