// Private to the public interface: the struct behind a handle, and the prologue and epilogue of
// every public function.
//
// A handle owns one arena, with these children:
//
//   own ── messages        texts of messages, until limn_forget
//       ── settings        of limn_set
//       ── answer[…]       the latest result of each function, until it is called again
//       ── weights         weights that were set
//       ── loaded          the program's text, from which trainers load it again
//       ── world           the program. It is copied after a load and restored from the copy after
//                          every call, which discards what the call allocated or changed
//
// So repeated calls need no more memory than one, and results do not depend on earlier calls. A
// guard on `own` catches exhausted memory in every call.
#ifndef LIMN_API_API_OWN_H
#define LIMN_API_API_OWN_H

#include "edit/edit.h"
#include "lang/program/program.h"
#include "limn.h"
#include "port/export/export.h"
#include "run/train/train.h"
#include "run/use/use.h"
#include "show/canvas/lint.h"
#include "show/circuit/circuit.h"
#include "show/circuit/goals.h"
#include "show/report/report.h"
#include "show/wiring/graph.h"
#include "show/wiring/wiring.h"

// One slot for the latest result of each public function.
typedef enum {
  ANSWER_NONE,
  ANSWER_MESSAGES,
  ANSWER_SUMMARY,
  ANSWER_NAMES,
  ANSWER_WHO,
  ANSWER_PATHS,
  ANSWER_FIND,
  ANSWER_PRINT,
  ANSWER_COST,
  ANSWER_FORMAT,
  ANSWER_EVAL,
  ANSWER_EVAL_ARRAYS,
  ANSWER_MEASURE,
  ANSWER_MEASURE_ARRAYS,
  ANSWER_PREDICT,
  ANSWER_PREDICT_ARRAYS,
  ANSWER_SAMPLE,
  ANSWER_SAMPLE_ARRAYS,
  ANSWER_GRADIENTS,
  ANSWER_WIRES,
  ANSWER_WEIGHTS,
  ANSWER_WEIGHT,
  ANSWER_REPORT,
  ANSWER_EXPORT,
  ANSWER_READ,
  ANSWER_DIFF,
  ANSWER_RUN,
  ANSWER_DRAW_TEXT,
  ANSWER_DRAW_BYTES,
  ANSWER_DRAW_CHECK,
  ANSWER_DATA,
  ANSWER_RUNS,
  ANSWER_SAMPLE_OF,
  ANSWER_IMPORT,
  ANSWER_OPS,
  ANSWER_QUOTE,
  ANSWER_FOREIGN,
  ANSWER_FOLDER,
  ANSWER_EDIT,
  ANSWER_DOCUMENT,
  ANSWERS
} AnswerSlot;

typedef enum {
  NEEDS_NOTHING,
  NEEDS_LOOKING, // a program was loaded, perhaps with errors, and the call does not change it
  NEEDS_READING, // a program without errors, and the call does not change it: no restore afterwards
  NEEDS_TEXT,    // a program was loaded, perhaps with errors
  NEEDS_PROGRAM, // a program was loaded without errors
} CallNeed;

typedef struct {
  const char *name, *value;
} ApiSetting;
typedef VEC(ApiSetting) ApiSettings;

typedef struct {
  Array array;
  bool set;
} ApiWeight;

typedef struct {
  Guard guard;
  Limn *l;
  AnswerSlot slot;
  uint32_t errors, begin; // the number of errors before the call; and where counting began
  Arena *answer, *last;   // memory of the result, and of the previous result of the same function
  Arena *scratch;         // freed when the call returns
} ApiCall;

// limn.c: replaces the loaded program
LimnStatus load_text(ApiCall *, const char *name, const char *text, size_t n);
void unload(Limn *);
// limn.c: the files that a program at this path may read
const ReadRights *read_rights_of(const Limn *, Arena *, const char *path);
LimnStatus set_alike(Limn *to, const Limn *from);  // the same settings and folders
LimnStatus load_again(Limn *to, const Limn *from); // loads the same program with the same settings

struct Limn {
  Arena *own, *messages, *settings, *weights, *loaded, *world;
  Arena *answer[ANSWERS];
  ArenaCopy *copy; // a copy of the world; NULL until one is needed
  Diags *diags;
  ApiSettings setting;
  VEC(const char *) allowed; // folders
  const char *path, *text;   // as loaded
  size_t length;
  World *w; // NULL: nothing is loaded
  Elab *in;
  Program *program;
  uint32_t load_errors; // errors of the load
  // elaborate only boxes that contain one of these words; NULL: all
  const char *const *words;
  bool noting;                       // record name uses while loading
  const volatile sig_atomic_t *stop; // stops a load; or NULL
  EditIndex *index;                  // of a program loaded for an editor; or NULL
  // The text of the message that explains the last refused question; or NULL.
  const char *refusal;
  VEC(const char *) last_messages; // texts of the messages of the last call
  Arena *typed;                    // memory of the current text of the editor
  EditText now;
  VEC(ApiWeight) weight; // weights set by the caller, now or before
  ApiCall *call;         // the running call, or NULL
  ApiCall outer, inner;  // inner: a callback of the running call asks for messages
  LimnTrainer *trainer;  // a list of all open trainers
};

// call.c
// Every public function begins with ENTER, which returns `refused` for an invalid call and `failed`
// when memory runs out, and ends with call_end.
#define ENTER(c, l, slot, need, refused, failed)                                                   \
  ApiCall *c = call_begin(l, slot);                                                                \
  if (!c) return refused;                                                                          \
  if (setjmp(c->guard.place)) {                                                                    \
    call_failed(c);                                                                                \
    return failed;                                                                                 \
  }                                                                                                \
  if (!call_allowed(c, need)) return refused
ApiCall *call_begin(Limn *, AnswerSlot); // NULL: there is no handle, or another call is running
bool call_allowed(ApiCall *, CallNeed);  // false: the reason was reported and the call has ended
void call_failed(ApiCall *);
LimnStatus call_end(ApiCall *, LimnStatus);
const char *call_text(ApiCall *, const char *); // the same for functions that return a text
// Reports an error and returns the status.
__attribute__((format(printf, 3, 4))) LimnStatus call_fail(ApiCall *, LimnStatus,
                                                           const char *format, ...);
#define call_misuse(c, ...) call_fail(c, LIMN_USAGE, __VA_ARGS__)
// NULL with messages. Leaves the loaded program as it is. (questions.c)
const char *format_text(ApiCall *, Arena *to, const char *path, const char *text, size_t n);
bool has_open_space(const Program *); // it is to be refined before it can run (questions.c)
void forget_messages(Limn *);
void move_messages(Limn *to, Limn *from);
void drop_spans(Diags *); // drops spans whose sources were freed

// helpers.c
SimHelpers helpers_of(const Limn *, Arena *);

// options.c
LimnStatus status_of(Outcome);
// Copies an options struct whose caller was compiled against an older or newer header. False with a
// message.
bool copy_option_struct(ApiCall *, void *to, size_t room, const void *from);
#define OPTIONS(c, to, from) copy_option_struct(c, to, sizeof *(to), from)
// Copies of option structs whose values are valid together; inputs live as long as the call.
bool copy_use_options(ApiCall *, const LimnUse *, LimnUse *to);
bool copy_eval_options(ApiCall *, const LimnEval *, LimnEval *to);
bool copy_export_options(ApiCall *, const LimnExport *, LimnExport *to);
bool copy_train_options(ApiCall *, const LimnTrain *, LimnTrain *to);
bool copy_run_options(ApiCall *, const LimnRun *, LimnRun *to);
bool copy_prepare_options(ApiCall *, const LimnPrepare *, LimnPrepare *to);
bool copy_call_inputs(ApiCall *, const LimnInput **, uint32_t n); // in memory of the call

// files.c: the files of a call. Paths may be NULL; what is read counts only if it exists.
typedef struct {
  Arena *arena;
  FolderNames in, out;
} CallFiles;
CallFiles files_of(ApiCall *); // reads the loaded program
void files_read(CallFiles *, const char *path);
void files_read_value(CallFiles *, const char *value);
void files_read_inputs(CallFiles *, const LimnInput *, uint32_t n);
void files_read_run(CallFiles *, const char *from);
void files_read_program(CallFiles *, const Limn *);
void files_write(CallFiles *, const char *path);
void files_write_numbered(CallFiles *, const char *path);
// False, with a message: an output is an input, or another output.
bool files_apart(ApiCall *, const CallFiles *);

// values.c
void copy_arrays_out(Arena *, const Arrays *, LimnArrays *); // into that arena
Arrays weights_overridden(ApiCall *);                        // valid during the call

#endif
