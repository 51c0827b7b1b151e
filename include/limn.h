// limn: the whole public interface, for C and C++. docs/api.md explains it, with examples.
//
//   Limn *l = limn_new();
//   if (limn_load(l, "net.limn") != LIMN_GOOD) fputs(limn_messages(l, false), stderr);
//   else puts(limn_print(l, "classify", "reverse", false));
//   limn_free(l);
//
// Nothing is printed and nothing exits. Numbers are read and written with a point, whatever the
// locale is.
//
// How long things live. What a function returns (a text, a list, arrays) lives until the same
// function is called again with the same handle, or until limn_free, limn_load or limn_load_text.
// Everything else that a call needed is given back when it returns: a handle does not grow.
//
// Order. Everything that asks about a program wants one that was loaded without errors, and gives
// LIMN_USAGE (or NULL) with a message otherwise; the pictures show programs with errors too. A NULL
// handle gives LIMN_USAGE, NULL or 0. Loading again replaces the program and its messages.
//
// Threads. Several handles may be used in several threads at once; one handle, and the trainers
// that were opened with it, in one thread at a time. A callback may ask the handle that is at work
// for its messages, and nothing else.
//
// Options are structs whose first field is their size, so that they can grow; everything that is 0
// or NULL is the default. Where a pointer to options may be NULL, that is all defaults.
//
//   LimnTrain how = {.size = sizeof how};
//   how.epochs = 3;
#ifndef LIMN_H
#define LIMN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The only place where the version stands: the build and the package read it here.
#define LIMN_VERSION_MAJOR 0
#define LIMN_VERSION_MINOR 2
#define LIMN_VERSION_PATCH 0
#define LIMN_VERSION "0.2.0"

// What is declared here is all that the library shows; it is compiled with -fvisibility=hidden.
#ifndef LIMN_API
#ifdef __GNUC__
#define LIMN_API __attribute__((visibility("default")))
#else
#define LIMN_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Limn Limn;

typedef enum {
  LIMN_GOOD = 0,
  LIMN_WRONG = 1,  // the user's text or data is wrong; the messages say how
  LIMN_USAGE = 2,  // the call makes no sense: too early, a NULL, an option that is not one
  LIMN_SYSTEM = 3, // memory is exhausted, a disk failed, or a GPU is not there, full or lost
} LimnStatus;

LIMN_API Limn *limn_new(void); // NULL when memory is exhausted
// NULL is allowed; trainers of it are closed. From a callback of the handle it does nothing.
LIMN_API void limn_free(Limn *);
LIMN_API const char *limn_version(void); // of the library: LIMN_VERSION is the header's

// -- a program ------------------------------------------------------------------------------------
// Replaces the right side of an axis or const, or the body of a learner or edge, in every program
// that is loaded from here on. A value of NULL takes the replacement back.
LIMN_API LimnStatus limn_set(Limn *, const char *name, const char *value);
// What a program may read, in every program that is loaded from here on: files below the folder of
// its own (of `path` or `name`), below the folders for data and those of $LIMN_READ, and below each
// folder that is allowed here. NULL takes these back.
LIMN_API LimnStatus limn_allow(Limn *, const char *folder);
LIMN_API LimnStatus limn_load(Limn *, const char *path);
LIMN_API LimnStatus limn_load_text(Limn *, const char *name, const char *text, size_t n);

// -- messages -------------------------------------------------------------------------------------
// What was found wrong since the program was loaded or limn_forget was called, in the order of the
// text. When there are more than 400, the next call forgets them.
typedef enum { LIMN_ERROR, LIMN_WARNING } LimnSeverity;
typedef struct {
  size_t size;
  LimnSeverity severity;
  const char *file;      // "": it has no place
  uint32_t line, column; // from 1; columns are characters
  uint32_t length;       // bytes
  const char *text;
  const char *note; // a second place and what is there; NULL: none
  const char *note_file;
  uint32_t note_line, note_column, note_length;
  const char *help; // one more line; NULL: none
} LimnMessage;
LIMN_API uint32_t limn_message_count(const Limn *);
// The i-th, from 0. It lives until limn_forget, a load, or limn_free.
LIMN_API LimnStatus limn_message(const Limn *, uint32_t i, LimnMessage *);
// All of them as text with the lines they are about, or as a JSON array.
LIMN_API const char *limn_messages(Limn *, bool json);
LIMN_API uint32_t limn_errors(const Limn *); // how many of them are errors
LIMN_API void limn_forget(Limn *);
// Of what the last call said, nothing is kept: it was about the call, and not about the program.
LIMN_API void limn_forget_last(Limn *);

// Would it run? Everything that is refused before a first step of training, and what cannot be
// measured or shown, is said here; nothing is compiled or computed. Sets of data with a name need not
// be there.
LIMN_API LimnStatus limn_check(Limn *);

// -- what is in it --------------------------------------------------------------------------------
LIMN_API const char *limn_summary(Limn *, bool json); // what the program declares
// The names that it declares, as JSON: {"boxes": […], "learners": […], "diagrams": […] (of learning),
// "machines": […], "goals": […], "measures": […], "given": […]}
LIMN_API const char *limn_names(Limn *);
LIMN_API const char *limn_who(Limn *, bool json); // which goal moves which learner
// The pairs of a learning diagram (NULL: of all) with their routes. NULL with a message.
LIMN_API const char *limn_paths(Limn *, const char *name, bool json);
// Where a route of boxes is, as "dense ; relu": in bodies and learning diagrams. NULL with a
// message.
LIMN_API const char *limn_find(Limn *, const char *pattern, bool json);
// A box, learner, goal or measure (NULL: the whole loss) as text, at a stage: tree, value, check
// (NULL), inline, simplify, reverse, forward, gradient, step, plan, c. NULL with a message.
LIMN_API const char *limn_print(Limn *, const char *name, const char *stage, bool origins);
// Time and memory, as polynomials in the axes. NULL with a message.
LIMN_API const char *limn_cost(Limn *, const char *name, bool json);

// One layout for all programs; needs no program. NULL when the text has syntax errors.
LIMN_API const char *limn_format(Limn *, const char *path, const char *text, size_t n);
// The same for a file, which is replaced unless `check`; *same: it was laid out so already.
LIMN_API LimnStatus limn_format_file(Limn *, const char *path, bool check, bool *same);

// Sets *stop to what is not 0, in one piece: from any thread, and from a handler of signals.
LIMN_API void limn_stop(volatile sig_atomic_t *stop, int why);

// -- what an editor asks --------------------------------------------------------------------------
// A program that is being written. It is loaded as by limn_load_text, with errors or without, and what
// its names mean is kept. When *stop (unless NULL) is not 0, the load is given up: LIMN_WRONG.
// A handler of signals sets *stop as any sig_atomic_t, and another thread by limn_stop.
LIMN_API LimnStatus limn_edit_load(Limn *, const char *name, const char *text, size_t n,
                                   const volatile sig_atomic_t *stop);
// The same for questions about a few words (ended by NULL), which is sooner there: boxes in which none of
// them stands are not looked into, and have no errors.
LIMN_API LimnStatus limn_edit_load_words(Limn *, const char *name, const char *text, size_t n,
                                         const char *const *words);
// The text as it is by now, when it has gone on since. Questions are about this one; what is before and
// behind the change is known as it was.
LIMN_API LimnStatus limn_edit_text(Limn *, const char *text, size_t n);
typedef struct {
  size_t size;
  uint32_t line, character;         // the place, from 0, or the beginning of a range
  uint32_t end_line, end_character; // the end of a range
  const char *text;                 // of `rename`: the new name
  const char *library;              // the address of the library's text; NULL: "limn:library.limn"
  bool utf8;                        // characters are bytes; otherwise units of UTF-16
  bool no_declaration;              // of `references`: without the declaration
  const char *root; // the folder that file:/// is, without links and a slash at its end; NULL: that
                    // of the disk
  const char *own;  // the address of the text itself, where it is in no file; NULL: its name
} LimnAsk;
// The answer as JSON, in the shapes of the Language Server Protocol; "null": there is none. The
// questions are messages, hover, definition, references, highlight, prepareRename, rename,
// completion, signature, symbols, tokens, legend, folding, hints, actions, and box (the name that a
// picture would be of). NULL with a message: it is refused, as a name that means something already.
// And those of docs/protocol.md: numbers; palette, whose `text` is the place of a wire in a picture, or
// NULL; and gesture, whose `text` is an edit by picture as JSON. Its answer has the edits, or says why it
// is refused: {"refused", "range"}.
LIMN_API const char *limn_edit_ask(Limn *, const char *question, const LimnAsk *);
// A text that programs can come from without a file: "library.limn". NULL: there is none.
LIMN_API const char *limn_edit_document(Limn *, const char *name);

// -- a language server ----------------------------------------------------------------------------
// The Language Server Protocol without its wires: a message is one JSON text. Everything happens in
// the thread that calls; `send` is called while a function is at work, and may not call back.
typedef struct LimnServer LimnServer;
typedef struct {
  size_t size;
  void (*send)(void *context, const char *message, size_t n);
  void *context;
  const char *const
      *read;        // folders that programs may read besides their own; ended by NULL, or NULL
  const char *root; // the folder that file:/// is, as in LimnAsk: no text outside of it is opened
  bool editor;      // it is told nothing but what the Language Server Protocol has
} LimnServe;
LIMN_API LimnServer *limn_server_open(const LimnServe *); // NULL: no memory, or no options
LIMN_API LimnStatus limn_server_take(LimnServer *, const char *message, size_t n);
// What is due: texts that have changed are looked at, and messages about them sent. It is given up when
// *stop (or NULL) is not 0. In how many milliseconds there is more to do; -1: nothing.
LIMN_API int limn_server_work(LimnServer *, const volatile sig_atomic_t *stop);
LIMN_API int limn_server_ended(const LimnServer *); // the exit status; -1: it runs
LIMN_API void limn_server_close(LimnServer *);      // NULL is allowed

// -- arrays ---------------------------------------------------------------------------------------
typedef enum { LIMN_F64, LIMN_F32, LIMN_I64, LIMN_I32, LIMN_U8 } LimnType;
typedef struct {
  LimnType type;
  uint32_t rank;
  const int64_t *shape;   // [rank]
  const int64_t *strides; // [rank] in bytes; NULL: row by row without gaps
  void *data;             // of an input, never written to
} LimnArray;
typedef struct {
  const char *name;
  LimnArray array;
} LimnNamedArray;
typedef struct {
  uint32_t n;
  const LimnNamedArray *at;
} LimnArrays;
LIMN_API const LimnArray *limn_array(const LimnArrays *, const char *name); // NULL: not there

typedef struct {
  const char *name;       // of an input, as "x"; "": by order
  const char *value;      // x.npy, or numbers as '[1, 2, 3]'
  const LimnArray *array; // in the place of `value`, if not NULL
} LimnInput;

// -- weights --------------------------------------------------------------------------------------
// Weights that are set here stand in for those of files and for first values, in every call until
// the next load: limn_eval, limn_predict, limn_sample, limn_measure, and where training begins.
LIMN_API LimnStatus limn_weights_read(Limn *, const char *from); // a run folder, or safetensors
// All of a box, learner or goal (NULL: of all goals), by name, as they are set, or else are in the
// run of `learn … from`, or else begin (with the seed of the program).
LIMN_API LimnStatus limn_weights(Limn *, const char *name, LimnArrays *);
LIMN_API LimnStatus limn_weight_get(Limn *, const char *weight, LimnArray *);
LIMN_API LimnStatus limn_weight_set(Limn *, const char *weight,
                                    const LimnArray *); // NULL: not set any more

// -- values ---------------------------------------------------------------------------------------
typedef struct {
  size_t size;
  const LimnInput *in;
  uint32_t nin;
  const char *weights; // a safetensors file, or NULL: weights start as the program says
  const char *from;    // a run folder or a safetensors file, or NULL
  const char *out;     // an npy file for the result, or NULL; of several y.0.npy, y.1.npy, …
  const char *dy;      // a cotangent of the first result (npy or numbers), or NULL
  const LimnArray *dy_array; // the same in memory, or NULL
  const char *grads;         // a safetensors file for gradients of inputs and weights, or NULL
  const char *save;          // a safetensors file for the weights that were used, or NULL
  uint64_t seed;
  bool training; // batch statistics, dropout
  bool json;
  bool count;        // multiplications are counted and told
  bool has_seed;     // otherwise weights start by the program's own, and noise by `seed`
  const char *watch; // a name: the wires inside that are called so are results too; or NULL
} LimnEval;
// Runs the reference interpreter. *text is what to show.
LIMN_API LimnStatus limn_eval(Limn *, const char *name, const LimnEval *, const char **text);
// The same in memory: its results, and with `grads` (may be NULL) the gradients of inputs and
// weights by name, for the cotangent dy of the first result, or 1 for each.
LIMN_API LimnStatus limn_eval_arrays(Limn *, const char *name, const LimnEval *, LimnArrays *out,
                                     LimnArrays *grads);

typedef enum {
  LIMN_PRECISION_DEFAULT,
  LIMN_PRECISION_32,
  LIMN_PRECISION_64,
  LIMN_PRECISION_BF16,
  LIMN_PRECISION_TF32, // the same as 32 but on a GPU
  LIMN_PRECISION_AUTO  // bf16 on a GPU that has matrix units for it, otherwise 32
} LimnPrecision;

// What was trained, used.
typedef struct {
  size_t size;
  const char *from;    // a run folder (its model.safetensors), or a safetensors file
  const LimnInput *in; // predict: x.npy, x.csv, x.csv:a..d, x.png, numbers, or arrays
  uint32_t nin;
  const char *out; // a file: npy, csv, json, png (pictures side by side), txt; NULL: *text
  uint64_t seed;   // of noise, with has_seed; otherwise the run's, or the program's
  uint32_t threads;
  LimnPrecision precision; // the default is the run's
  bool has_seed, reference, json;
  int64_t n, length;  // sample: how many; of text, how long. 0: 64 (one of text), 500
  double temperature; // of text; 0: 1
  const char *prompt; // of text; NULL: as the program says, or a line's end, or a letter
  void (*say)(void *context, const char *text); // what takes long, while it does; or NULL
  void *say_to;                                 // its context
  const volatile sig_atomic_t *stop;            // not 0: no C compiler is waited for; or NULL
  const char
      *device; // "cpu" (NULL; "auto" is the same here), "cuda", or "cuda:1" for the second GPU
} LimnUse;
LIMN_API LimnStatus limn_measure(Limn *, const LimnUse *,
                                 const char **text); // every measure, on its data
LIMN_API LimnStatus limn_predict(Limn *, const char *name, const LimnUse *, const char **text);
// name: a learner or box that is fed with noise, or a model of text; NULL: the first `show`
LIMN_API LimnStatus limn_sample(Limn *, const char *name, const LimnUse *, const char **text);
// The same in memory; `out` of the options is not looked at. A measure is one number.
LIMN_API LimnStatus limn_measure_arrays(Limn *, const LimnUse *, LimnArrays *);
LIMN_API LimnStatus limn_predict_arrays(Limn *, const char *name, const LimnUse *, LimnArrays *);
LIMN_API LimnStatus limn_sample_arrays(Limn *, const char *name, const LimnUse *, LimnArrays *);
// One batch of the program's data through a goal (NULL: all of them), in training: what is inside of it,
// and the gradient of its loss. name: a weight; or a wire that has a name, `h.2` being the second that is
// called h, and `h` all; NULL: all weights. A weight's gradient is of the goals that may move it, a
// wire's of all that are asked for; samples stand in front. The batch is the first that a run of this
// seed draws, `n` samples of it (0: as many as the run, or the program, has in a batch). With a run
// folder as `from`, goals weigh what they weigh there by now, and the program must be that of the run.
LIMN_API LimnStatus limn_gradients(Limn *, const char *goal, const char *name, const LimnUse *,
                                   LimnArrays *values, LimnArrays *grads); // each may be NULL
// The wires inside of a goal (NULL: of all) that can be asked for there, as JSON: ["h.1", …]. NULL with
// a message.
LIMN_API const char *limn_wires(Limn *, const char *goal);
// DIR/report.html: what the program shows, curves, the program itself; pictures in DIR/shown.
// *text: where it is.
LIMN_API LimnStatus limn_report(Limn *, const LimnUse *, const char **text);

// -- out of limn ----------------------------------------------------------------------------------
typedef struct {
  size_t size;
  const char *as;          // the format: "safetensors"
  const char *out;         // the file; NULL: the name with the format's ending: x.onnx, x_torch.py
  const char *from;        // weights: a run folder or a safetensors file, or NULL
  const char *weights;     // weights: a safetensors file, or NULL: they start as the program says
  LimnPrecision precision; // of the numbers: 64, or otherwise 32
  uint64_t seed;           // of first values, and of noise;
  bool has_seed;           // otherwise as the program says
  bool train;              // with what is needed to train, where the format has such a thing
  bool weights_beside;     // C: weights in a file beside it, not inside
  int64_t batch;           // C: samples in one call; 0: one, or what `train` says
} LimnExport;
// A box, learner or goal, or (NULL, where the format can) the whole program, as a file that others
// read. *text: the files that were written, one a line.
LIMN_API LimnStatus limn_export(Limn *, const char *name, const LimnExport *, const char **text);
typedef struct {
  size_t size;
  const char *out;     // the program is written here too; NULL: nowhere
  const char *weights; // a safetensors file with the weights of the diagram, or NULL: they are
                       // written beside the program, under the names they have there
  bool places; // comments say of which part of the file each line was made: for messages about it
} LimnRead;
// A diagram as `--as json` writes it, as a program, in which it stands last.
LIMN_API LimnStatus limn_read(Limn *, const char *path, const LimnRead *, const char **program);

// -- functions ------------------------------------------------------------------------------------
// A box, learner, goal or measure that is called again and again. It reads the program of its handle
// anew, is compiled when it first meets arrays of some sizes, and has weights of its own, which are
// those of the handle when it is opened; no call changes them. It lives by itself: it does not need
// the handle any more, has to be closed, and may be used in any thread, by one at a time. What its
// functions return lives until the next call with it.
typedef struct LimnFunction LimnFunction;
typedef struct {
  size_t size;
  const char *from; // a run folder or a safetensors file; NULL: weights as limn_weights gives them
  LimnPrecision precision; // the default is the run's, or 32
  uint32_t threads;        // 0: as many as there are cores
  uint64_t seed; // with has_seed, of first values and noise; otherwise the run's, or the program's
  bool has_seed;
  bool training;                                // batch statistics, dropout
  bool reference;                               // by the interpreter
  void (*say)(void *context, const char *text); // what takes long, while it does; or NULL
  void *say_to;                                 // its context
  const volatile sig_atomic_t *stop;            // not 0: no C compiler is waited for; or NULL
} LimnPrepare;
LIMN_API LimnStatus limn_function_open(Limn *, const char *name, const LimnPrepare *,
                                       LimnFunction **);
// What goes in and what comes out, as it is declared. LIMN_USAGE: there is no i-th, from 0.
typedef struct {
  size_t size;
  const char *name; // "": it has none
  const char *type; // "R[n 28 28]"
  LimnType number;  // F32 or F64, of labels I32, of bits U8
  int64_t labels;   // how many there are; 0: these are none, or it is open
  uint32_t rank;
  const int64_t *shape; // [rank] -1: open
} LimnPort;
LIMN_API LimnStatus limn_function_in(LimnFunction *, uint32_t i, LimnPort *);
LIMN_API LimnStatus limn_function_out(LimnFunction *, uint32_t i, LimnPort *);
typedef struct {
  size_t size;
  const LimnInput *in; // arrays, by name or in order; one more axis in front of some: samples
  uint32_t nin;
  uint64_t step;       // noise is that of this number
  const LimnArray *dy; // [ndy] a cotangent of each result; without any, 1 for each number
  uint32_t ndy;
  uint32_t order; // 0: the box. 1: its reverse derivative, which takes a cotangent of each result
      // that is no label after the inputs, and whose results are the gradients of inputs
      // and weights. 2: that one's, and so on
} LimnCall;
// Its results, in the numbers of its precision; and with `grads` (may be NULL) the gradients of inputs
// and weights by name. Labels have none, and take none: what stands in their place is not looked at.
LIMN_API LimnStatus limn_function_call(LimnFunction *, const LimnCall *, LimnArrays *out,
                                       LimnArrays *grads);
// What it learns, and what else lasts (the means of a batch_norm); each may be NULL. In its own memory:
// to be read. Those of open sizes come with a first call.
LIMN_API LimnStatus limn_function_weights(LimnFunction *, LimnArrays *weights, LimnArrays *buffers);
LIMN_API LimnStatus limn_function_weight_set(LimnFunction *, const char *weight, const LimnArray *);
// What the last call found wrong, as limn_messages.
LIMN_API const char *limn_function_messages(LimnFunction *, bool json);
LIMN_API void limn_function_close(LimnFunction *); // NULL is allowed

// -- training -------------------------------------------------------------------------------------
// Where a run is. Losses are means since the last row of metrics, each under its goal's name;
// measures come with reports.
typedef struct {
  size_t size;
  uint64_t step, steps; // made, and in all; of all `train` statements up to this one
  double epoch;         // 0 without data that end
  double seconds;
  bool reported; // measures are new
  uint32_t n;
  const char *const *name; // [n] of goals and measures
  const double *value;     // [n]
} LimnMetrics;

// Where training speaks: whole lines, and on a terminal one line that is drawn again and again.
typedef struct {
  void *context;
  void (*line)(void *context, const char *text);       // without its end; NULL: nothing is said
  void (*redraw)(void *context, const char *text);     // "" takes it away; NULL: no terminal
  uint32_t (*width)(void *context);                    // of the terminal, in columns
  void (*metrics)(void *context, const LimnMetrics *); // a row; or NULL
} LimnTell;

typedef struct {
  size_t size;
  const char *out;         // the run folder; NULL: runs/NAME, or the next free runs/NAME.2 …
  const char *resume;      // a run folder to go on with, or NULL
  double epochs, steps;    // 0: as the program says
  int64_t batch;           // 0: as the program says
  uint64_t seed;           // with has_seed; otherwise as the program says, or 0
  uint64_t pause;          // stop after so many steps as if *stop were set; 0: do not
  uint32_t threads;        // 0: as many as there are cores
  LimnPrecision precision; // the default is 32
  const char *device;      // "auto" (NULL), "cpu", "cuda", "cuda:1": the second GPU
  const char *every;       // a checkpoint each "100" steps or "30s"; NULL: each epoch and each 60 s
  bool has_seed, reference, plan, json, quiet;
  bool plain;                        // no report at the end
  bool in_memory;                    // no run folder: nothing is written
  const volatile sig_atomic_t *stop; // not 0: finish the step, save, come back; or NULL
  LimnTell tell;
  const char *changes; // changes.csv of another run: the same are made, in the same steps; or NULL
  bool beyond; // of a trainer: steps go on after the last planned one, and schedules hold there
} LimnTrain;
LIMN_API LimnStatus limn_train(Limn *, const LimnTrain *);
// Asks a run for another value of something: `rate`, `f.rate`, `goal.weight`. What there is stands in
// its run.json, as `settings`. A run that goes on makes the change between two of its next steps, one
// that does not, when it goes on; changes.csv says in which step.
LIMN_API LimnStatus limn_change(Limn *, const char *run, const char *what, double value);

// A step at a time. A trainer reads the program of its handle anew, and is closed with it at the
// latest; messages go to the handle. What its functions return lives until the next call with it.
typedef struct LimnTrainer LimnTrainer;
LIMN_API LimnStatus limn_trainer_open(Limn *, const LimnTrain *, LimnTrainer **);
// Makes up to so many steps. *done (may be NULL): there are no more.
LIMN_API LimnStatus limn_trainer_step(LimnTrainer *, uint64_t steps, bool *done);
// One step on a batch of yours: an array for each field of `given` that a goal reads, by its name, with
// samples in front, as many as its `batch` is or fewer. Its data stay where they are.
LIMN_API LimnStatus limn_trainer_step_on(LimnTrainer *, const LimnInput *, uint32_t n, bool *done);
// Where it is. Losses are those of the last step.
LIMN_API LimnStatus limn_trainer_metrics(LimnTrainer *, LimnMetrics *);
// Every weight and buffer by name, in the trainer's own memory: to be read between two steps. None, and
// LIMN_SYSTEM, where they were on a GPU that is lost.
LIMN_API LimnStatus limn_trainer_weights(LimnTrainer *, LimnArrays *);
LIMN_API LimnStatus limn_trainer_weight_set(LimnTrainer *, const char *weight, const LimnArray *);
// A run that is not at its end is saved, to be resumed. The trainer is gone whatever it returns; a step
// that failed was answered by limn_trainer_step.
LIMN_API LimnStatus limn_trainer_close(LimnTrainer *);

// -- machines -------------------------------------------------------------------------------------
// Every run of the program, every check. LIMN_WRONG when one of them fails.
typedef struct {
  size_t size;
  const char *out;  // a folder for the page and the numbers; NULL: runs/NAME, as for training
  const char *from; // weights of learners: a run folder or a safetensors file; or the folder of a
                    // run of machines, whose runs by ticks go on; or NULL
  uint64_t seed;
  uint32_t threads;
  bool reference, json, quiet;
  bool plain; // no folder
  const volatile sig_atomic_t *stop;
  LimnTell tell;
  const char *resume; // a run folder to go on with, or NULL
  bool numbers;  // with json, *text is {"run": …, "series": […]}: the numbers of each run, as
                 // {"name", "names", "rows"}; of very long ones every k-th moment
  uint32_t only; // this run alone, counted from 1 as in the text, and no check; 0: all
  const char *device; // what follows runs by ticks: "cpu" (NULL), "cuda", "cuda:1"
  double seconds; // after so many it stops as if *stop were set, with what there is; 0: it does not
} LimnRun;
LIMN_API LimnStatus limn_run(Limn *, const LimnRun *, const char **text); // *text: as JSON

// -- pictures -------------------------------------------------------------------------------------
// A box or learner as a circuit of its axes.
typedef struct {
  size_t size;
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
  bool places;       // svg: groups say where the program says what they are (docs/protocol.md)
} LimnDraw;
// LIMN_GOOD: there is a picture. A program with errors is drawn as far as it is known, with its
// messages.
LIMN_API LimnStatus limn_draw(Limn *, const char *name, const LimnDraw *); // NULL: the goals
// The same as lines of text for a terminal; `out` is not looked at.
LIMN_API LimnStatus limn_draw_text(Limn *, const char *name, const LimnDraw *, const char **text);
// The same as the bytes of the file `out`, which is not written: svg, pdf, tex or txt by its
// ending.
LIMN_API LimnStatus limn_draw_bytes(Limn *, const char *name, const LimnDraw *, const char **bytes,
                                    size_t *n);
// The same, but the picture is looked at: *text lists its faults, "" if there are none.
LIMN_API LimnStatus limn_draw_check(Limn *, const char *name, const LimnDraw *, const char **text);

// -- a program that others wrote ------------------------------------------------------------------
// A file that the program uses and that lies outside of its folder; NULL: there is none.
LIMN_API const char *limn_foreign(Limn *);
// From here on this process, the threads that it makes and the compiler that it starts have no
// network, and can open only: the program's folder, the files that it uses and the folders of data,
// to read; the cache, which holds temporary files too; what is added here; and what a C compiler
// needs. For good, and for the thread that asks: there should be no other yet. LIMN_SYSTEM with a
// message where the system has no such thing; Linux has. Before a program is loaded, so that its
// files and data are held to it too, or after, when it is known what it uses.
typedef struct {
  size_t size;
  const char *program;      // that will be loaded; NULL: the one that is
  const char *const *read;  // further files and folders to read; ended by NULL, or NULL
  const char *const *write; // folders to write in, which must be there
  const char *const *files; // files to write: their folders are meant
} LimnSandbox;
LIMN_API LimnStatus limn_sandbox(Limn *, const LimnSandbox *);
// Makes the folder that a run of the program (NULL: of the one that is loaded) would be in, so that
// it can be named above: `out`, or (NULL) the next free one.
LIMN_API LimnStatus limn_run_folder(Limn *, const char *program, const char *out, const char **dir);

// -- models of others: none has to be loaded ------------------------------------------------------
typedef struct {
  size_t size;
  const char *out; // the program; weights go beside it: model.safetensors for model.limn
  bool flat;       // a line for each node
  const LimnInput
      *in; // inputs of the model that are to be constants, by name: those that decide about sizes
  uint32_t nin;
  // Initializers that are learned, and that are constants, where ONNX does not say it: names with
  // commas between, the end of one may be * for all that begin so. NULL: as limn takes them
  const char *learned, *fixed;
} LimnImport;
// An ONNX file becomes a program, whose main learner or box is `model`. What it cannot say is refused, with the node that wants it.
// limn_set before it makes a number of a size that has a name in the model.
LIMN_API LimnStatus limn_import(Limn *, const char *path, const LimnImport *);

typedef struct {
  size_t size;
  const char *name;  // what is called so alone; NULL: all
  bool json;         // all of it as one object
  bool *same;        // out, unless NULL: nothing but names is other
  const char *out;   // a picture of it: svg, png, pdf, tex, txt, or a page: html; NULL: none
  const char *theme; // of the picture: auto, light, dark, mono; NULL: auto
  bool check;        // the faults of the picture are the answer; nothing is written
} LimnDiff;
// Two programs or models side by side, each a program, a folder of a run, an ONNX file or a file of
// weights (safetensors): which boxes are the same, changed, added, gone or moved, which statements
// say something else, and where both have weights, how far these are apart.
LIMN_API LimnStatus limn_diff(Limn *, const char *a, const char *b, const LimnDiff *,
                              const char **text);

// -- around programs: none has to be loaded -------------------------------------------------------
// Sets of data: all that are known (NULL), or what is in one, by name or path. With `out`, its
// first images, or its points, are written there as png; or, by the ending .safetensors, all rows.
LIMN_API LimnStatus limn_data(Limn *, const char *name, const char *out, bool json,
                              const char **text);
// One sample of a set that limn knows by name: an array for each of its fields. `at` goes round.
LIMN_API LimnStatus limn_data_sample(Limn *, const char *set, uint64_t at, LimnArrays *out);
// The runs in a folder; only those that hold this learner, or whose program has this pattern in it
// (as for limn_find), unless NULL. LIMN_WRONG where one cannot be read; it is in the text with the
// reason, and so are the others.
LIMN_API LimnStatus limn_runs(Limn *, const char *dir, const char *learner, const char *pattern,
                              bool json, const char **text);
// What can compute here: the CPU, and each GPU, or why there is none.
LIMN_API LimnStatus limn_devices(Limn *, bool json, const char **text);
LIMN_API const char *limn_ops(Limn *);                     // docs/ops.md
LIMN_API const char *limn_quote(Limn *, const char *text); // as a JSON string
// "did you mean": the name of the list that is nearest, or NULL when none is near.
LIMN_API const char *limn_nearest(const char *name, const char *const *list, uint32_t n);

// A text as a terminal may have it: what it would obey, marks that turn the direction of writing and
// bytes that are not UTF-8 are written out, as \x1b; ends of lines and tabs stay. As snprintf: it is
// cut where there is no room, and how long it would be is the answer.
LIMN_API size_t limn_shown(const char *text, char *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
