// Private to python: the state of an export. Each called diagram becomes a function, or a class if
// it has weights. Its body is lowered to array operations as for ONNX (port/arrays), and the nodes
// are written as expressions.
#ifndef LIMN_PORT_PYTHON_PYTHON_OWN_H
#define LIMN_PORT_PYTHON_PYTHON_OWN_H

#include "port/arrays/arrays.h"
#include "port/python/python.h"
#include "run/step/step.h"
#include "run/train/train.h"

// A constructor argument of a class that is a size: `Dense(4, 16)`.
typedef struct {
  const char *name, *label;
  int64_t value;
} PythonSize;
typedef VEC(PythonSize) PythonSizes;

// A diagram that was written as a definition.
typedef struct {
  const char *name;
  PythonSizes size; // the constructor arguments
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
  const Diagram *whole; // the exported diagram, and the values of its params
  const Tensor *value;
  VEC(PythonDefined) defined; // the definitions, in order
  Buf text;                   // the text after the definitions
  Table *taken;               // names of functions and classes in use
  Table *called, *walked; // names of definitions to come, and the diagrams visited to collect them
  Table *by_text, *of;    // indices in `made`, by the text of the definition and by diagram
  VEC(PythonMade *) made; // made.at[0] is unused
  Table *constant;        // index of a long constant by its text, from 1
  uint32_t constants;
  bool noise; // some noise is drawn
  bool goals; // exporting a whole program, in training
  Loss loss;  // of the whole program
  // Number of params that training can select; after them come copies that no goal reads.
  uint32_t masked;
  const char **goal;  // [goal] the name of its function
  Table *methods;     // names of the module's methods
  VEC(Regime) regime; // training phases, in order
  uint64_t *rounds;   // [phase] rounds of the plan; 0: unknown, since its data are not available
} Python;

// A submodule with weights: `self.dense_1 = Dense(4, 16)`.
typedef struct {
  const char *path; // dense.1
  const Diagram *d;
  const PythonMade *made;
} PythonMember;

// The state of writing one diagram.
typedef struct PythonWork {
  Python *p;
  const Diagram *d;
  const Diagram *now;  // the diagram whose boxes are being written; its weights have the names of d
  bool moves;          // next values of its states are read, so calls return theirs too
  bool flat;           // weights are arguments
  bool root;           // sizes are written as numbers
  bool goals;          // the diagram is a goal
  const char **states; // of a goal: a name for each state that it updates, "" for others
  uint32_t draws;      // in JAX: number of keys split so far
  VEC(PythonMember) member;
  PythonSizes size;
} PythonWork;

static inline PythonWork *python_work(const ArrayGraph *o) { return o->calls->work; }

// -- names.c --------------------------------------------------------------------------------------
const char *python_name(Arena *, const char *text); // dense.1 → dense_1
void python_note_called(Python *, const Diagram *);
// False with a diagnostic: two paths have the same name in Python.
bool python_paths_differ(Python *, const Diagram *);
// A name not in `taken`, which is added to it.
const char *python_unique(Arena *, Table *taken, const char *);
const char *python_defined(Python *, const char *); // a name for a function or class
// A local name that hides no function.
const char *python_local(Python *, Table *taken, const char *);
const char *python_class(Arena *, const char *text); // layer_norm → LayerNorm
const char *python_path(Python *, const char *path); // self.dense_1.b, p["dense_1"]["b"]
void python_number(Buf *, double, OutType);
void python_escaped(Buf *, const char *text); // escaped for a string in one or three quotes

// -- module.c -------------------------------------------------------------------------------------
const PythonMade *python_define(Python *, const Diagram *, bool flat, const char *root);
// Arguments and body for work->d; called diagrams are defined before.
bool python_lowered(PythonWork *, const char **arguments, const char **body);
// Are the next values of states results? (In training.)
bool python_gives_next(const Python *, const Param *);
const char *python_key(PythonWork *); // JAX: a fresh key for each draw

// -- goals.c --------------------------------------------------------------------------------------
const Diagram *python_program(Python *); // all goals with their weights; NULL with a diagnostic
const PythonMade *python_goals(Python *);
// The goal's name in the program: rest.0.
const char *python_goal_word(const Python *, uint32_t number);

// -- training.c -----------------------------------------------------------------------------------
bool python_training(Python *, Buf *);
void python_start_copies(Python *, Buf *);             // lines that initialise copies
const char *python_dotted(Python *, const char *path); // dense.1/b → dense_1.b
extern const char torch_training[], jax_training[];    // *_training.py, embedded
extern const size_t torch_training_size, jax_training_size;
extern const char torch_file[], jax_file[]; // *_file.py, embedded: sections of the file
extern const size_t torch_file_size, jax_file_size;

// -- init.c ---------------------------------------------------------------------------------------
void python_members(PythonWork *, Buf *);           // the lines of __init__
void python_tree(Python *, const Diagram *, Buf *); // initial values, as a nested dict

// -- text.c ---------------------------------------------------------------------------------------
// The statements of a graph, and its return statement.
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
  const char *torch, *jax; // jax = NULL: the same as torch
  int prec;
  bool arrays; // scalar operands have to be converted to arrays
} PythonRow;
bool python_row(const char *op, PythonRow *out); // false: the operation is not in the table

// -- node.c ---------------------------------------------------------------------------------------
typedef struct {
  ArrayGraph *o;
  Python *p;
  bool *alive;       // [node]
  uint32_t *uses;    // [value]
  const char **text; // [value]
  int *prec;         // [value]
  bool *host;        // [value]: a Python number, or several separated by commas
  Table *taken;
  Buf *out;
  int indent;
} PythonText;
// The expression of a node, and its precedence.
const char *python_node(PythonText *, const GraphNode *, int *prec, bool *host);
const char *python_array(PythonText *, Id value, int prec); // as an array, not a Python number
const char *python_operand(PythonText *, Id value, int prec);
const char *python_constant(PythonText *, Id value, bool array);
const OutAttribute *python_attribute(const GraphNode *, const char *name);

// -- window.c -------------------------------------------------------------------------------------
const char *python_window(PythonText *, const GraphNode *); // NULL: no convolution or pool

#endif
