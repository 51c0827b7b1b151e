// Private to use: a weights file and a diagram make an engine; arrays in and out.
#ifndef LIMN_RUN_USE_USE_OWN_H
#define LIMN_RUN_USE_USE_OWN_H

#include "run/use/use.h"

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  Arena *arena; // memory in which the use works
  Arena *own;   // freed by use_close
  const UseCall *call;
  const LimnUse *how; // call->how
  const char *file;   // weights file; NULL: the program names the sources
  bool begins;        // weights without a value are initialised
  bool one_batch;     // shows are computed for one batch only
  bool dry_run;       // shows are not computed
  Arrays weight;
  uint64_t seed;
  Precision precision;
  struct Device *device; // NULL: the CPU
  Store *store;
  Callable *callable; // the box that is called
  Probe *probe;       // the probe of the present show
  Gauges *gauges;     // the measures that run
  bool many;          // results have samples as the first axis
  bool training;      // boxes as in training: batch statistics, dropout
  Outcome status;
  Guard guard;
} Use;

// -- use.c ----------------------------------------------------------------------------------------
void use_tell_settings(Elab *, Arena *, const char *run); // where they differ from the run's
bool use_open(Use *);  // reads the weights, seed, device and precision
Data *use_data(Use *); // the program's data, with the words of the run. NULL with a diagnostic
// Loads states that the file has; those in `model` must be there.
bool use_load_states(Use *, Store *, const Table *model);
// The same, for states from `first` on.
bool use_load_states_from(Use *, Store *, uint32_t first, const Table *model);
Target use_target(const Use *);
bool use_new_store(Use *); // sets u->store
void use_close(Use *);
bool use_wrong(Use *, Outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
Outcome use_guarded(Elab *, Program *, const UseCall *, bool (*work)(Use *, void *), void *context);

// weights.c: [params of the diagram]. False with a diagnostic.
bool use_weights(Use *, const Diagram *, const WeightsAsked *, Tensor *param);

// inputs.c: every axis must have a positive length, since kernels would read out of bounds.
bool input_is_nonempty(Use *, const Diagram *, uint32_t input, const Array *);
// Reports that the k-th number of an input is not one of its labels; always false. file: or NULL.
bool label_refuse(Use *, const Diagram *, uint32_t input, const char *file, const Array *,
                  int64_t k, double value);

// -- gradient_names.c -----------------------------------------------------------------------------
// The results of the reverse derivative, by the inputs and weights that they are gradients of.
typedef VEC(const char *) GradientNames;
GradientNames gradient_names(World *, Arena *, const Diagram *);

// -- callable.c -----------------------------------------------------------------------------------
Callable *callable_of(Use *, const char *name); // sets u->callable, which is closed with the use
bool callable_takes(Callable *,
                    Array *in); // can it be elaborated for such arrays? A diagnostic if not
typedef struct {
  const Array *in; // [inputs]
  uint64_t step;   // of the noise
  Arena *keep;     // results, and what the call needs
} ArraysCall;
// The results may be in memory of an engine: the next call overwrites them. False with a diagnostic.
bool callable_arrays(Callable *, const ArraysCall *, Arrays *out);

// -- inputs.c -------------------------------------------------------------------------------------
// Writes [inputs of the diagram]. False with a diagnostic.
bool inputs_match(World *, const Diagram *, const LimnInput *given, uint32_t n,
                  const LimnInput **to);
bool input_read(Use *, const LimnInput *, const Type *, Array *); // from a file, text or memory
// Matches and reads all inputs. Writes [inputs of the diagram].
bool inputs_read(Use *, const Diagram *, const LimnInput *given, uint32_t n, const LimnInput **in,
                 Array *);

// -- predict.c ------------------------------------------------------------------------------------
// The type with the sizes of the array. samples: its first axis is the sample axis; other additional
// axes in front are batch axes.
Type type_for_array(Use *, const Type *, const Array *, bool samples);
// The diagram for such arrays. An array with one axis more than its input has samples as the first
// axis.
const Diagram *use_instance(Use *, const char *name, const Diagram *formal, Array *, int64_t *n);

// -- show.c: the values of a show; n: number of samples, 0: as many as the view takes -------------
bool show_values(Use *, Data *, const Show *, int64_t n, Shown *);

// -- sample.c: generate[f, length: 500]("to") -----------------------------------------------------
bool sample_text(Use *, const Syntax *expr, Shown *);
// Rows with as many numbers as the type get its shape, unless the array has it, or axes in front.
void input_reshape(Use *, const Type *, Array *);
// A text as an input of labels. Of a longer text the last labels are used; a shorter one is padded
// with label 0.
bool labels_of_text(Use *, const Diagram *, uint32_t input, const char *text, Array *out);

// -- array_files.c --------------------------------------------------------------------------------
// An input from a file or typed numbers.
bool array_from(Use *, const char *value, const Type *, Array *);
bool arrays_put(Use *, const Arrays *out); // writes results to a file, as text, or into memory

#endif
