// circuit: diagrams as neural circuit diagrams, with a line for each axis.
#ifndef LIMN_SHOW_CIRCUIT_CIRCUIT_H
#define LIMN_SHOW_CIRCUIT_CIRCUIT_H

#include "core/diagram/diagram.h"
#include "lang/value/declared.h"
#include "show/layout/sketch.h"

// -- circuit.c: a diagram as a circuit of its axes ------------------------------------------------
typedef enum {
  LEVEL_MODEL,   // axes, with glyphs for library boxes
  LEVEL_LAYER,   // axes, with all boxes opened
  LEVEL_LEARNER, // a wire for each tensor, with all boxes closed
} Level;
typedef struct {
  Level level;
  const char *const *open, *const *close; // names of boxes, terminated by NULL; or NULL
  double width; // of a row, in units; 0: the default; negative: a single row
  bool no_legend;
  bool notes;   // show comments at ends of lines as notes
  bool grad;    // it is a derivative: cotangents have another colour
  Elab *places; // for source positions of uses of wires; NULL: not wanted
} CircuitOptions;
Canvas *circuit_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// partial_picture.c: a box with errors, as far as known, with messages; NULL: too large
Canvas *broken_draw(World *, Arena *, const PartialDiagram *, const CircuitOptions *);

// -- gradient.c: the reverse derivative of a box as a circuit -------------------------------------
Canvas *grad_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// -- said.c: where the program says it ------------------------------------------------------------
// around: the call in which this origin is opened; NULL: none
const SaidAt *text_place(World *, Arena *, Id origin, const SaidAt *around);
const GroupOf *group_at(Arena *, Span, const char *box); // NULL: no position
const GroupOf *place_group(Arena *, const GroupOf *);    // the position only
const GroupOf *wire_group(World *, Arena *, const Diagram *, Id wire, const SaidAt *around);
const GroupOf *box_group(World *, Arena *, const Diagram *, const Box *, const SaidAt *around,
                         bool opens);

// The k-th use of a wire by a box, as a source position; or the position of the wire.
const GroupOf *use_group(Elab *, Arena *, const GroupOf *box, const GroupOf *wire, uint32_t k);

// -- circuit.c: what is drawn of a diagram --------------------------------------------------------
const Diagram *circuit_unwrapped(const Diagram *);

// circuit.c: sources: for each input, the data set it comes from; NULL: inputs enter from the left.
typedef struct {
  const char *name;  // of the set; inputs with the same number share a bar
  const char *field; // the name in the program
  uint32_t number;
  Span said;
} Supply;
Sketch *circuit_of(World *, Arena *, const Diagram *, const CircuitOptions *, const Supply *);
Sketch *circuit_broken(World *, Arena *, const PartialDiagram *, const CircuitOptions *,
                       const Supply *);

// -- partial_picture.c ----------------------------------------------------------------------------
bool broken_is_small(const PartialDiagram *); // small enough to be readable
Message message_plate(World *, Arena *, Span, const char *text);
// Adds its messages.
void broken_plates(World *, Arena *, const PartialDiagram *, const Layout *, Messages *);
const char *plates_about(Arena *, const Messages *); // all messages as one sentence

// -- legend.c: what names stand for ---------------------------------------------------------------
typedef VEC(Row) RowList;
void legend_paint(Canvas *, Arena *, const SketchPage *); // the sizes of labels in the picture
// A name may have several meanings at several positions.
void legend_add(Arena *, RowList *, const char *label, const char *value);
// plain: the text is not math; below: always below the picture
void legend_plate(Canvas *, const RowList *, bool plain, bool below);

// -- notes.c: the picture with the comments of a file, where they refer to what is in it ----------
Canvas *notes_paint(World *, Arena *, const SketchPage *, uint32_t file);

// -- circuit.c ------------------------------------------------------------------------------------
uint32_t wire_reads(const Diagram *, Id wire);           // number of reads
const char *string_type(World *, Arena *, const Type *); // of a whole tensor, as text

// -- circuit_call.c -------------------------------------------------------------------------------
const char *box_title(World *, Arena *, const Diagram *); // "multihead (8, 64)"
// The same for a call, including the member of a family: "gate[1]".
const char *call_title(World *, Arena *, const Diagram *, const Box *call);
// Is it the learner, or a member of it?
bool title_names(const char *title, const char *learner);
Ink ink_of(const char *name);                                  // by the name of the box
bool call_is_open(const CircuitOptions *, const char *name);   // by its name or the level
bool call_is_closed(const CircuitOptions *, const char *name); // by its name

// -- circuit_scan.c -------------------------------------------------------------------------------
const char *scan_title(World *, Arena *, const Box *); // "scan (t, cell)"

// -- circuit.c ------------------------------------------------------------------------------------
const char *noise_letter(const Box *); // N, U
// The axis on which a box works, in string diagrams: "order [1]"
const char *along_title(Arena *, const Diagram *, const Box *, const char *name);

// -- formula.c: what a loop does to numbers; NULL: the wires say it all ---------------------------
typedef struct {
  World *w;
  const Diagram *d; // whose wires give the names; NULL: operands are x, y, z
  const Loop *l;
  const Id *in;
} FormulaOf;
const char *formula_text(const FormulaOf *, Arena *);
bool formula_is_endless(const Loop *, Arena *); // too long to be written: the text is …
// The formula with operand names, where formula_text is only an operator; NULL: the order of
// operands is irrelevant, or the text has names.
const char *formula_named(const FormulaOf *, Arena *);
// The operand's name in that formula; NULL: not needed.
const char *formula_operand(const FormulaOf *, uint32_t operand);
uint32_t formula_letters(const char *);
const char *formula_number(Arena *, double);
bool is_product(const Loop *, uint32_t scalar); // a product of operands

// -- places.c: a loop where a wire is a whole tensor ----------------------------------------------
// It only moves data.
bool loop_is_wire(World *, Arena *, const Diagram *, const Box *);
const char *loop_words(World *, Arena *, const Diagram *, const Box *); // Σ exp(x), Max [j i]

// -- circuit_stop.c -------------------------------------------------------------------------------
bool loop_is_stop(const Loop *);                 // it only stops the gradient
bool loop_stops(const Loop *, uint32_t operand); // and the operand is read in no other way
void loop_skip_stops(Loop *, uint32_t operand);  // removes the stop

#endif
