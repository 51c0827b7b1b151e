// Private to python: diagrams on their way to Python. Each diagram that is called becomes a function,
// or a class where it has weights; what is in it is lowered as for ONNX (port/arrays), and the nodes
// are then written as expressions.
#ifndef LIMN_PORT_PYTHON_PYTHON_OWN_H
#define LIMN_PORT_PYTHON_PYTHON_OWN_H

#include "port/arrays/arrays.h"
#include "port/python/python.h"
#include "run/step/step.h"
#include "run/train/train.h"

// A size that a class is given: `Dense(4, 16)`.
typedef struct {
  const char *name, *label;
  int64_t value;
} PythonSize;
typedef VEC(PythonSize) PythonSizes;

// A diagram that was written.
typedef struct {
  const char *name;
  PythonSizes size; // what makes one of the class
} PythonMade;

typedef struct {
  const char *name, *text;
} PythonDefined;

typedef struct {
  Export *e;
  World *w;
  Arena *a;
  bool jax;
  OutType real;
  const Diagram *whole; // what was asked for, with the values of its params
  const Tensor *value;
  VEC(PythonDefined) defined; // the definitions, in their order
  Buf text;                   // what stands behind them
  Table *taken;               // names of functions and classes
  Table *called, *walked; // those that there will be, and the diagrams that were looked at for them
  Table *by_text, *of;    // definitions by their text, and by their diagram: numbers in `made`
  VEC(PythonMade *) made; // made.at[0] is unused
  Table *constant;        // long ones, by their text: numbers from 1
  uint32_t constants;
  bool noise;         // some is drawn
  bool goals;         // of the whole program: as in training
  Loss loss;          // of these
  uint32_t masked;    // params of it that the masks know; behind them are copies that no goal reads
  const char **goal;  // [goal] their functions
  Table *methods;     // names of those of the module
  VEC(Regime) regime; // how they train, one phase after the other
  uint64_t *rounds;   // [phase] as many as the plan has; 0: the data that say so are not here
} Python;

// Weights that are made by a module inside: `self.dense_1 = Dense(4, 16)`.
typedef struct {
  const char *path; // dense.1
  const Diagram *d;
  const PythonMade *made;
} PythonMember;

// A diagram that is being written.
typedef struct PythonWork {
  Python *p;
  const Diagram *d;
  const Diagram *now;  // whose boxes are: its weights are called as those of d
  bool moves;          // its states are read where it stands, so those of what it calls are too
  bool flat;           // weights are arguments
  bool root;           // sizes are numbers
  bool goals;          // it is a goal
  const char **states; // of a goal: a name for each state that moves, "" for those that stay
  uint32_t draws;      // of JAX: how many keys were made
  VEC(PythonMember) member;
  PythonSizes size;
} PythonWork;

static inline PythonWork *python_work(const ArrayGraph *o) { return o->calls->work; }

// -- names.c --------------------------------------------------------------------------------------
const char *python_name(Arena *, const char *text); // dense.1 → dense_1
void python_note_called(Python *, const Diagram *);
bool python_paths_differ(Python *, const Diagram *); // false with a diagnostic: two have one name
const char *python_unique(Arena *, Table *taken, const char *); // and takes it
const char *python_defined(Python *, const char *);             // of a function or class
const char *python_local(Python *, Table *taken, const char *); // nor is it a function
const char *python_class(Arena *, const char *text);            // layer_norm → LayerNorm
const char *python_path(Python *, const char *path);            // self.dense_1.b, p["dense_1"]["b"]
void python_number(Buf *, double, OutType);
void python_said(Buf *, const char *text); // any text, inside of quotes, one or three

// -- module.c -------------------------------------------------------------------------------------
const PythonMade *python_define(Python *, const Diagram *, bool flat, const char *root);
// The arguments and the body of work->d; what it calls is defined in front.
bool python_lowered(PythonWork *, const char **arguments, const char **body);
// In training, the next values of states are results too.
bool python_gives_next(const Python *, const Param *);
const char *python_key(PythonWork *); // of JAX: a key of its own for each draw

// -- goals.c --------------------------------------------------------------------------------------
const Diagram *python_program(Python *); // all goals with their weights; NULL with a diagnostic
const PythonMade *python_goals(Python *);
const char *python_goal_word(const Python *, uint32_t number); // as the program calls it: rest.0

// -- training.c -----------------------------------------------------------------------------------
bool python_training(Python *, Buf *);
void python_start_copies(Python *, Buf *);             // as lines of what makes first values
const char *python_dotted(Python *, const char *path); // dense.1/b → dense_1.b
extern const char torch_training[], jax_training[];    // *_training.py, embedded
extern const size_t torch_training_size, jax_training_size;

// -- init.c ---------------------------------------------------------------------------------------
void python_members(PythonWork *, Buf *);           // the lines of __init__
void python_tree(Python *, const Diagram *, Buf *); // first values, as a tree of dicts

// -- text.c ---------------------------------------------------------------------------------------
// The statements of a graph, with what it returns.
void python_body(ArrayGraph *, Python *, Table *taken, const char **name, Buf *);

// -- row.c ----------------------------------------------------------------------------------------
enum {
  PREC_ANY,
  PREC_COMPARE = 40,
  PREC_OR = 50,
  PREC_XOR = 55,
  PREC_AND = 60,
  PREC_ADD = 70,
  PREC_MUL = 80,
  PREC_NEG = 90,
  PREC_POW = 95,
  PREC_ATOM = 100
};
typedef struct {
  const char *torch, *jax; // jax: NULL: as for torch
  int prec;
  bool arrays; // numbers are wrapped
} PythonRow;
bool python_row(const char *op, PythonRow *out); // false: it has none

// -- node.c ---------------------------------------------------------------------------------------
typedef struct {
  ArrayGraph *o;
  Python *p;
  bool *alive;       // [node]
  uint32_t *uses;    // [value]
  const char **text; // [value]
  int *prec;         // [value]
  bool *host;        // [value]: a number of Python, or several with commas between
  Table *taken;
  Buf *out;
  int indent;
} PythonText;
// The expression of a node; its precedence.
const char *python_node(PythonText *, const GraphNode *, int *prec, bool *host);
const char *python_array(PythonText *, Id value, int prec); // where a number will not do
const char *python_operand(PythonText *, Id value, int prec);
const char *python_constant(PythonText *, Id value, bool array);
const OutAttribute *python_attribute(const GraphNode *, const char *name);

// -- window.c -------------------------------------------------------------------------------------
const char *python_window(PythonText *, const GraphNode *); // NULL: none of them

#endif
