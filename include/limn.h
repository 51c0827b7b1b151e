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

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The only place where the version stands: the build and the package read it here.
#define LIMN_VERSION_MAJOR 0
#define LIMN_VERSION_MINOR 1
#define LIMN_VERSION_PATCH 0
#define LIMN_VERSION "0.1.0"

// What is declared here is all that the library shows; it is compiled with -fvisibility=hidden.
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

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
              const char *value); // before loading: replaces an axis, a const, a body
LimnStatus limn_load(Limn *, const char *path);
LimnStatus limn_load_text(Limn *, const char *name, const char *text, size_t n);
const char *limn_messages(Limn *, bool json); // errors and warnings so far, in order
uint32_t limn_errors(const Limn *);
void limn_forget(Limn *); // the messages so far have been shown

const char *limn_summary(Limn *, bool json); // what the program declares
const char *limn_who(Limn *, bool json);     // which goal moves which learner
// The pairs of a learning diagram (NULL: of all) with their routes. NULL with a message.
const char *limn_paths(Limn *, const char *name, bool json);
// Where a route of boxes is, as "dense ; relu": in bodies and learning diagrams. NULL with a
// message.
const char *limn_find(Limn *, const char *pattern, bool json);
// One layout for all programs. NULL when the text has syntax errors.
const char *limn_format(Limn *, const char *path, const char *text, size_t n);
// The same for a file, which is replaced unless `check`; *same: it was laid out so already.
LimnStatus limn_format_file(Limn *, const char *path, bool check, bool *same);

// A box, learner, goal or measure (NULL: the whole loss) as text, after a pass: check, inline,
// simplify, reverse, forward, gradient, step. NULL with a message.
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
  const char *from;    // a run folder or a safetensors file, or NULL
  const char *out;     // an npy file for the result, or NULL
  const char *dy;      // a cotangent of the result (npy or numbers), or NULL
  const char *grads;   // a safetensors file for gradients of inputs and weights, or NULL
  const char *save;    // a safetensors file for the weights that were used, or NULL
  uint64_t seed;
  bool training, json, count;
} LimnEval;
// Runs the reference interpreter. *text is what to show.
LimnStatus limn_eval(Limn *, const char *name, const LimnEval *, const char **text);

// Where training speaks: whole lines, and on a terminal one line that is drawn again and again.
typedef struct {
  void *context;
  void (*line)(void *context, const char *text);   // without its end; NULL: nothing is reported
  void (*redraw)(void *context, const char *text); // "" takes it away; NULL: no terminal
  uint32_t (*width)(void *context);                // of the terminal, in columns
} LimnTell;

typedef struct {
  const char *out;       // the run folder; NULL: runs/NAME, or the next free runs/NAME.2 …
  const char *resume;    // a run folder to go on with, or NULL
  double epochs, steps;  // 0: as the program says
  int64_t batch;         // 0: as the program says
  uint64_t seed;         // with has_seed; otherwise as the program says, or 0
  uint64_t pause;        // stop after so many steps as if *stop were set; 0: do not
  uint32_t threads;      // 0: as many as there are cores
  const char *precision; // "32", "64", "bf16"; NULL: 32
  const char *device;    // "cpu", or NULL
  const char *every;     // a checkpoint each "100" steps or "30s"; NULL: each epoch and each 60 s
  bool has_seed, reference, plan, json, quiet;
  bool plain;                        // no report at the end
  const volatile sig_atomic_t *stop; // not 0: finish the step, save, come back; or NULL
  LimnTell tell;
} LimnTrain;
LimnStatus limn_train(Limn *, const LimnTrain *);

// Machines: every run of the program, every check. LIMN_WRONG when one of them fails.
typedef struct {
  const char *out;  // a folder for the page and the numbers; NULL: runs/NAME, as for training
  const char *from; // weights of learners: a run folder or a safetensors file; or NULL
  uint64_t seed;
  uint32_t threads;
  bool reference, json, quiet;
  bool plain; // no folder
  const volatile sig_atomic_t *stop;
  LimnTell tell;
} LimnRun;
LimnStatus limn_run(Limn *, const LimnRun *, const char **text); // *text: the answer as JSON

// What was trained, used.
typedef struct {
  const char *from;    // a run folder (its model.safetensors), or a safetensors file
  const LimnInput *in; // predict: x.npy, x.csv, x.csv:a..d, x.png, or numbers
  uint32_t nin;
  const char *out; // a file: npy, csv, json, png (pictures side by side), txt; NULL: *text
  uint64_t seed;   // of noise, with has_seed; otherwise the run's
  uint32_t threads;
  const char *precision; // NULL: the run's
  bool has_seed, reference, json;
  int64_t n, length;  // sample: how many; of text, how long. 0: 64 (one of text), 500
  double temperature; // of text; 0: 1
  const char *prompt; // of text; NULL: as the program says, or a line's end
} LimnUse;
LimnStatus limn_measure(Limn *, const LimnUse *, const char **text); // every measure, on its data
LimnStatus limn_predict(Limn *, const char *name, const LimnUse *, const char **text);
// name: a learner or box that is fed with noise, or a model of text; NULL: the first `show`
LimnStatus limn_sample(Limn *, const char *name, const LimnUse *, const char **text);
// DIR/report.html: what the program shows, curves, the program itself; pictures in DIR/shown.
// *text: where it is.
LimnStatus limn_report(Limn *, const LimnUse *, const char **text);

// Pictures. A box or learner as a circuit of its axes.
typedef struct {
  const char *out;          // a file: svg, pdf, png, tex, txt
  const char *level;        // "learner", "model", "layer", or NULL
  const char *theme;        // "light", "dark", "auto", "mono", or NULL
  const char *const *open;  // boxes to be opened; ended by NULL, or NULL
  const char *const *close; // and to be kept closed
  bool ascii;               // limn_draw_text: without letters and lines of Unicode
  const char *width; // of a row: units, or millimetres ("86mm"); "0": one row; NULL: the default
  bool no_legend;    // without the plate of sizes
  bool notes;        // with the comments at the ends of lines
  bool lens;         // a goal, a learner or (NULL) all goals as parametric lenses
  bool grad;         // the reverse derivative of a box or learner
  bool who;          // which goals move which learners
  bool unfold;       // a wiring as a network from left to right, and from inside to outside
} LimnDraw;
// A program with errors is drawn as far as it is known, with its messages; that is LIMN_WRONG all
// the same.
LimnStatus limn_draw(Limn *, const char *name, const LimnDraw *); // NULL: the goals
bool limn_drawn(const Limn *); // the last of these three made a picture
// The same as lines of text for a terminal; `out` is not looked at.
LimnStatus limn_draw_text(Limn *, const char *name, const LimnDraw *, const char **text);
// The same as the bytes of the file `out`, which is not written: svg, pdf, tex or txt by its
// ending.
LimnStatus limn_draw_bytes(Limn *, const char *name, const LimnDraw *, const char **bytes,
                           size_t *n);
// The same, but the picture is looked at: *text lists its faults, "" if there are none.
LimnStatus limn_draw_check(Limn *, const char *name, const LimnDraw *, const char **text);

// Sets of data: all that are known (NULL), or what is in one, by name or path. With `out`, its
// first images, or its points, are written there as png; or, by the ending .safetensors, all rows.
LimnStatus limn_data(Limn *, const char *name, const char *out, bool json, const char **text);
// The runs in a folder; only those that hold this learner, or whose program has this pattern in it
// (as for limn_find), unless NULL.
LimnStatus limn_runs(Limn *, const char *dir, const char *learner, const char *pattern, bool json,
                     const char **text);
const char *limn_ops(Limn *);                     // docs/ops.md
const char *limn_quote(Limn *, const char *text); // as a JSON string
// "did you mean": the name of the list that is nearest, or NULL when none is near.
const char *limn_nearest(const char *name, const char *const *list, uint32_t n);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
