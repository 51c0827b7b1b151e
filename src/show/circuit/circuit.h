// circuit: diagrams as neural circuit diagrams: a line for each axis.
#ifndef LIMN_SHOW_CIRCUIT_CIRCUIT_H
#define LIMN_SHOW_CIRCUIT_CIRCUIT_H

#include "core/diagram/diagram.h"
#include "lang/value/declared.h"
#include "show/layout/sketch.h"

// -- circuit.c: a diagram as a circuit of its axes ------------------------------------------------
typedef enum {
  LEVEL_MODEL,   // axes, with the library's glyphs
  LEVEL_LAYER,   // axes, everything opened
  LEVEL_LEARNER, // a wire for each tensor, every box closed
} Level;
typedef struct {
  Level level;
  const char *const *open, *const *close; // names of boxes, ended by NULL; or NULL
  double width; // of a row, in units; 0: the default; negative: everything is one row
  bool no_legend;
  bool notes;   // comments at the ends of lines, beside what the lines make
  bool grad;    // it is a derivative: cotangents have an ink of their own
  Elab *places; // where the program reads each wire is looked for in its texts; NULL: it is not
} CircuitOptions;
Canvas *circuit_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// partial_picture.c: a box with errors, as far as it is known, with the messages; NULL: it is too large
Canvas *broken_draw(World *, Arena *, const PartialDiagram *, const CircuitOptions *);

// -- gradient.c: the reverse derivative of a box as a circuit -------------------------------------
Canvas *grad_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// -- said.c: where the program says it ------------------------------------------------------------
// around: the call that the text of this origin is drawn inside of; NULL: none
const SaidAt *text_place(World *, Arena *, Id origin, const SaidAt *around);
const GroupOf *group_at(Arena *, Span, const char *box); // NULL: it is nowhere
const GroupOf *place_group(Arena *, const GroupOf *);    // its place alone
const GroupOf *wire_group(World *, Arena *, const Diagram *, Id wire, const SaidAt *around);
const GroupOf *box_group(World *, Arena *, const Diagram *, const Box *, const SaidAt *around,
                         bool opens);

// A wire as the box that is said there reads it, the k-th time; the wire itself where that is not known.
const GroupOf *use_group(Elab *, Arena *, const GroupOf *box, const GroupOf *wire, uint32_t k);

// -- circuit.c: what is drawn of a diagram --------------------------------------------------------
const Diagram *circuit_unwrapped(const Diagram *);

// circuit.c: sources: for each input of the diagram the one it comes from, by name; NULL: inputs
// come in from the left.
typedef struct {
  const char *name;  // of the set; inputs with the same number come from one bar
  const char *field; // what the program calls it
  uint32_t number;
  Span said;
} Supply;
Sketch *circuit_of(World *, Arena *, const Diagram *, const CircuitOptions *, const Supply *);
Sketch *circuit_broken(World *, Arena *, const PartialDiagram *, const CircuitOptions *,
                       const Supply *);

// -- partial_picture.c ----------------------------------------------------------------------------
bool broken_is_small(const PartialDiagram *); // enough for a picture that can be read
Message message_plate(World *, Arena *, Span, const char *text);
void broken_plates(World *, Arena *, const PartialDiagram *, const Layout *,
                   Messages *);                      // adds its messages
const char *plates_about(Arena *, const Messages *); // all of them as a sentence

// -- legend.c: what names stand for ---------------------------------------------------------------
typedef VEC(Row) RowList;
void legend_paint(Canvas *, Arena *, const SketchPage *); // the sizes that its labels have
// A name may stand for several things, in several places.
void legend_add(Arena *, RowList *, const char *label, const char *value);
// plain: the words are as they are, and no mathematics; below: it does not look for a free corner
void legend_plate(Canvas *, const RowList *, bool plain, bool below);

// -- notes.c: the picture with the comments of a file, where they refer to what is in it ----------
Canvas *notes_paint(World *, Arena *, const SketchPage *, uint32_t file);

// -- circuit.c ------------------------------------------------------------------------------------
uint32_t reads(const Diagram *, Id wire);                // how often it is read
const char *string_type(World *, Arena *, const Type *); // of a whole tensor, in words

// -- circuit_call.c -------------------------------------------------------------------------------
const char *box_title(World *, Arena *, const Diagram *); // "multihead (8, 64)"
// The same of a call in a diagram, which says which member of a family it is: "gate[1]".
const char *call_title(World *, Arena *, const Diagram *, const Box *call);
bool title_names(const char *title, const char *learner);    // it is the learner, or a member of it
Ink ink_of(const char *name);                                // of a box, by its name
bool call_is_open(const CircuitOptions *, const char *name); // by its name, or by the level
bool call_is_closed(const CircuitOptions *, const char *name); // by its name

// -- circuit_scan.c -------------------------------------------------------------------------------
const char *scan_title(World *, Arena *, const Box *); // "scan (t, cell)"

// -- circuit.c ------------------------------------------------------------------------------------
const char *noise_letter(const Box *); // N, U
// Which axis it works along, where a wire is a whole tensor: "order [1]"
const char *along_title(Arena *, const Diagram *, const Box *, const char *name);

// -- formula.c: what a loop does to numbers; NULL: the wires say it all ---------------------------
typedef struct {
  World *w;
  const Diagram *d; // whose wires are named; NULL: operands are x, y, z
  const Loop *l;
  const Id *in;
} FormulaOf;
const char *formula_text(const FormulaOf *, Arena *);
bool formula_is_endless(const Loop *, Arena *); // too long to be written: its text is …
// With names for operands, where formula_text says only a sign; NULL: their order does not matter,
// or the text has names.
const char *formula_named(const FormulaOf *, Arena *);
// What an operand is called there; NULL: no need to.
const char *formula_operand(const FormulaOf *, uint32_t operand);
uint32_t formula_letters(const char *);
const char *formula_number(Arena *, double);
bool is_product(const Loop *, uint32_t scalar); // of operands

// -- places.c: a loop where a wire is a whole tensor ----------------------------------------------
bool loop_is_wire(World *, Arena *, const Diagram *,
                  const Box *); // it changes nothing that is seen
const char *loop_words(World *, Arena *, const Diagram *, const Box *); // Σ exp(x), Max [j i]

// -- circuit_stop.c -------------------------------------------------------------------------------
bool loop_is_stop(const Loop *);                 // does nothing else
bool loop_stops(const Loop *, uint32_t operand); // which is read in no other way
void loop_skip_stops(Loop *, uint32_t operand);  // as if it were not

#endif
