// Private to the files of the public interface: what a Limn has inside, and what every public
// function does before and after its work.
//
// A handle owns one arena; everything else hangs below it:
//
//   own ── messages        texts of messages; goes with limn_forget
//       ── settings        of limn_set
//       ── answer[…]       what a function returned last; goes when it is called again
//       ── weights         those that were set
//       ── loaded          the program's text, for trainers
//       ── world           the program. After a load it is copied, and after every call it is put
//                          back from the copy: what a call made or changed there is gone
//
// So a call costs no memory that lasts, and gives the same answer whatever was asked before. One
// guard in `own` stands around every call.
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

// What each function returned last.
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
  NEEDS_LOOKING, // something was loaded, perhaps with errors, and is only looked at
  NEEDS_READING, // a program that is only looked at: nothing is put back afterwards
  NEEDS_TEXT,    // something was loaded, perhaps with errors
  NEEDS_PROGRAM, // it was loaded without errors
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
  uint32_t errors, begin; // before it, and where counting began
  Arena *answer, *last;   // of what it returns, and of what it returned last
  Arena *scratch;         // goes when it returns
} ApiCall;

// limn.c: a program replaces the one that is loaded
LimnStatus load_text(ApiCall *, const char *name, const char *text, size_t n);
void unload(Limn *);
// limn.c: what a program of this path may read
const ReadRights *rights_of(const Limn *, Arena *, const char *path);
LimnStatus load_again(Limn *to, const Limn *from); // the same program with the same settings

struct Limn {
  Arena *own, *messages, *settings, *weights, *loaded, *world;
  Arena *answer[ANSWERS];
  ArenaCopy *copy; // of the world, once it is needed
  Diags *diags;
  ApiSettings setting;
  VEC(const char *) allowed; // folders
  const char *path, *text;   // as loaded
  size_t length;
  World *w; // NULL: nothing is loaded
  Elab *in;
  Program *program;
  uint32_t load_errors;              // of the program
  const char *const *words;          // … in boxes that have one of them; NULL: in all
  bool noting;                       // what names mean is kept, in the program that is being loaded
  const volatile sig_atomic_t *stop; // of a load; or NULL
  EditIndex *index;                  // of an edited program; or NULL
  const char
      *refusal; // the text of the message that says why the last question had no answer; or NULL
  VEC(const char *) said; // the texts of the messages of the last call
  Arena *typed;           // the text as it is by now
  EditText now;
  VEC(ApiWeight) weight; // those that are or were set
  ApiCall *call;         // at work, or NULL
  ApiCall outer, inner;  // inner: a callback of the call at work asks for messages
  LimnTrainer *trainer;  // all of them
};

// call.c
// Every public function begins with ENTER, which comes back with `refused` when the call makes no
// sense and with `failed` when memory runs out, and ends with call_end.
#define ENTER(c, l, slot, need, refused, failed)                                                   \
  ApiCall *c = call_begin(l, slot);                                                                \
  if (!c) return refused;                                                                          \
  if (setjmp(c->guard.place)) {                                                                    \
    call_failed(c);                                                                                \
    return failed;                                                                                 \
  }                                                                                                \
  if (!call_allowed(c, need)) return refused
ApiCall *call_begin(Limn *, AnswerSlot); // NULL: there is no handle, or it is at work
bool call_allowed(ApiCall *, CallNeed);  // false: it was said why, and the call has ended
void call_failed(ApiCall *);
LimnStatus call_end(ApiCall *, LimnStatus);
const char *call_text(ApiCall *, const char *); // the same with a text
__attribute__((format(printf, 2, 3))) LimnStatus call_misuse(ApiCall *, const char *format, ...);
// NULL with messages. Nothing of the program that is loaded is touched. (questions.c)
const char *format_text(ApiCall *, Arena *to, const char *path, const char *text, size_t n);
void forget_messages(Limn *);
void move_messages(Limn *to, Limn *from);
void lose_places(Diags *); // of messages that were not settled: their sources are gone

// helpers.c
SimHelpers helpers_of(const Limn *, Arena *);

// options.c
LimnStatus status_of(Outcome);
// Options as they are here, out of a struct that may be older or newer. False with a message.
bool options_take(ApiCall *, void *to, size_t room, const void *from);
#define OPTIONS(c, to, from) options_take(c, to, sizeof *(to), from)
// The same, and what they say makes sense; inputs live as long as the call.
bool use_take(ApiCall *, const LimnUse *, LimnUse *to);
// What is written is not what was read; either may be NULL. False with a message.
bool apart_take(ApiCall *, const char *to, const char *from);
// A file to write is none that the program was read from.
bool out_take(ApiCall *, const Limn *of, const char *to);
bool eval_take(ApiCall *, const LimnEval *, LimnEval *to);
bool diff_take(ApiCall *, const LimnDiff *, LimnDiff *to);
bool ask_take(ApiCall *, const LimnAsk *, LimnAsk *to);
bool read_take(ApiCall *, const LimnRead *, LimnRead *to);
bool export_take(ApiCall *, const LimnExport *, LimnExport *to);
bool train_take(ApiCall *, const LimnTrain *, LimnTrain *to);
bool run_take(ApiCall *, const LimnRun *, LimnRun *to);
bool prepare_take(ApiCall *, const LimnPrepare *, LimnPrepare *to);
bool inputs_take(ApiCall *, const LimnInput **, uint32_t n); // in memory of the call

// values.c
void arrays_give(Arena *, const Arrays *, LimnArrays *); // in that arena
Arrays weights_set(ApiCall *);                           // as long as the call

#endif
