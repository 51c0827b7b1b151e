// layout: a picture before it has places.
//
// A picture is read from left to right. Between its stages lies a row of bundles, from top to
// bottom. A bundle is a tensor; its strands are its axes. A stage takes some bundles that stand
// side by side in the row and puts others there.
//
//   circuit.c  a diagram ─► a sketch        lay.c  ─► places        paint.c  ─► marks on a canvas
#ifndef LIMN_SHOW_LAYOUT_SKETCH_H
#define LIMN_SHOW_LAYOUT_SKETCH_H

#include "core/diagram/diagram.h"
#include "show/layout/plate.h"

typedef enum {
  LINE_PLAIN,
  LINE_TANDEM,
  LINE_THICK,
  LINE_FORTH,   // with an arrowhead to the right
  LINE_BACK,    // to the left: where a value is copied, what comes back is added
  LINE_UNKNOWN, // of unknown type: dashed
} Line;

typedef struct {
  const char *label; // in the little language of math.c; NULL: none
  const char *size;  // if the label is a name whose size is known; or NULL
  Line line;
  bool alarm; // it is at fault
  uint32_t bundle;
  const char *type;       // of a whole tensor, in words; or NULL
  Ink ink;                // 0: that of lines
  bool pair;              // windows move along it and the one below it
  const char *id, *words; // of the wire it belongs to, and what a reader is told
  const GroupOf *of;      // where the program says it; or NULL
} Strand;

typedef struct {
  const char *name;  // written where it comes in; or NULL
  uint32_t first, n; // strands
  uint32_t of;       // what this is a use of; 0: it is made
  uint32_t block;    // the innermost that it runs inside of; known once the sketch is in order
  const char *as;    // what the formula of the stage that takes it calls it; NULL: nothing
} Bundle;

typedef enum {
  GLYPH_BOX,     // a function: a rectangle
  GLYPH_LEARNED, // a letter in bold on a plate with a chipped corner
  GLYPH_SOFTMAX,
  GLYPH_NORM,
  GLYPH_MASK,
  GLYPH_INDEX,  // a pentagon on which an axis ends
  GLYPH_WISE,   // element by element: it stands above its bundle and touches nothing
  GLYPH_BAR,    // a view: axes end on it and others begin
  GLYPH_CONV,   // the tensor of a convolution: an axis in, positions and window out
  GLYPH_STAR,   // a learned convolution, in short
  GLYPH_REDUCE, // an axis ends in a word with an arrow: Max, Σ
  GLYPH_START,  // a triangle from which a wire begins: a constant, noise
  GLYPH_CAP,    // two strands begin as one: the unit, a cup that opens to the right
  GLYPH_SOURCE, // a letter with a double bar: data
  GLYPH_BLOCK,  // a box that can be opened
  GLYPH_INSET,  // a picture of its own, as it is, with its frame
  GLYPH_KEPT,   // a plate on which a wire ends that is read elsewhere, or from which it begins
  GLYPH_EFFECT, // a triangle in which wires end
  GLYPH_STOP,   // a bar on a wire: no gradient goes back here
  GLYPH_LENS,   // a round box with values forward and changes backward
  GLYPH_OPTIC,  // the same opened: fwd, bwd and what is kept between them
  GLYPH_RATE,   // a cap where what goes forward turns back
  GLYPH_GHOST,  // what could not be done
} GlyphKind;

typedef struct Layout Layout;

typedef struct {
  GlyphKind kind;
  const char *text, *above, *below; // its letter, and small ones to the right of it; or NULL
  Ids in, out;                      // strands, from top to bottom
  Ids touch;                        // GLYPH_NORM: strands that pass and count nevertheless
  uint32_t over;                    // GLYPH_WISE: the bundle it stands above, which comes out
  Ink ink;                          // of what it is filled with; 0: the default
  bool bold;                        // it is learned
  const Layout *inset;              // GLYPH_INSET
  bool flip;                        // GLYPH_INDEX: an axis begins there
  bool faint;                       // it is frozen: a dashed outline
  uint32_t tag;                     // for what made it
  bool upper;                       // GLYPH_MASK: what stays is above the diagonal
  bool strict;                      // GLYPH_MASK: the diagonal itself does not stay
  const char *second;               // GLYPH_BLOCK: a smaller line below its text; or NULL
                                    // GLYPH_CONV: where its first window begins; NULL: at 0
  const char *words, *id;           // for readers; NULL: those of its stage
  bool alarm;                       // something is wrong with it
  Id unknown;                       // GLYPH_GHOST: the box of the diagram
  const char *turned; // GLYPH_WISE: a text with the names of what is taken, if text has none and
                      // that stands in another order than text says
  const GroupOf *of;  // NULL: that of its stage
} Glyph;

typedef enum {
  LINK_PASS,  // a goes on as `to`
  LINK_COPY,  // `to` begins at a dot on a, which goes on by a pass of its own
  LINK_MERGE, // a ends at a dot on `to`
  LINK_CUP,   // a and `to`, both coming in, meet
  LINK_END,   // a ends at a dot
  LINK_BEGIN, // `to` begins at a dot
} LinkKind;

#define LINKS(kind) (1u << LINK_##kind)

typedef struct {
  LinkKind kind;
  uint32_t a, to;
} Link;

typedef struct {
  Ids in, out; // bundles; before settling, `in` are uses
  VEC(Link) link;
  VEC(Glyph) glyph;
  uint32_t block;  // the innermost that it belongs to
  uint32_t beside; // of one that takes nothing: the bundle next to what it makes; 0: none
  bool below;      // what it makes stands below that one
  bool early;      // of one that takes nothing: it stands as far left as it can
  bool free;       // it does not matter in which order it takes what it takes
  const char *words;
  Id origin; // where the program says it; 0: nowhere
  const GroupOf *of;
} Stage;

typedef struct {
  const char *title;
  uint32_t parent; // 0 is the whole picture
  Ink ink;
  const char *times;  // of what is repeated: the last turn, "6"; or NULL
  const char *from;   // and the first one, "l=1"; or NULL
  bool before, after; // it began in an earlier row, goes on in a later one
  const char *id;
  const GroupOf *of; // or NULL
} Block;

typedef struct { // of the legend
  const char *label, *value;
} Row;

typedef struct {
  Arena *arena;
  const char *title, *about;
  VEC(Strand) strand;
  VEC(Bundle) bundle;
  VEC(Stage) stage;
  VEC(Block) block;       // block.at[0] is the whole
  Ids in, out;            // bundles; before settling, `out` are uses
  VEC(Row) row;           // sizes that differ from turn to turn
  Id origin;              // of the stages that are being added
  const GroupOf *of;      // as well
  const GroupOf *wire;    // and of what they make
  bool strings;           // a strand is a whole tensor: nothing needs to be divided
  VEC(const char *) ends; // names of what comes out; may be empty
  bool apart;             // no glyph stands above another
  double room;            // for lines that are level; 0: the default
  bool settled;           // each bundle is made once and taken once
  bool inset;             // names and labels of what comes in and goes out stand outside
  bool before, after; // it is a row: what comes in comes from the one above, goes on in the next
} Sketch;

// -- sketch.c: putting it together ----------------------------------------------------------------
uint32_t ids_find(const Ids *, Id); // where it is; their number: nowhere
typedef struct {
  double key;
  uint32_t at;
} KeyedItem;
void sort_keyed(KeyedItem *, uint32_t n); // by key, then by number
Sketch *sketch_new(Arena *, const char *title);
uint32_t sketch_block(Sketch *, uint32_t parent, const char *title, Ink);
uint32_t sketch_stage(Sketch *, uint32_t block, const char *words);
uint32_t sketch_input(Sketch *, const char *name, uint32_t n); // a bundle that comes in, n strands
uint32_t sketch_make(Sketch *, uint32_t stage, const char *name,
                     uint32_t n);                             // one that a stage makes
uint32_t sketch_use(Sketch *, uint32_t stage, uint32_t made); // a stage takes it; may be done often
void sketch_output(Sketch *, uint32_t made);
Strand *strand_of(Sketch *, uint32_t bundle, uint32_t i);
uint32_t strand_at(const Sketch *, uint32_t bundle, uint32_t i);
void stage_link(Sketch *, uint32_t stage, LinkKind, uint32_t a, uint32_t to);
bool stage_has(const Stage *, uint32_t kinds); // links of these kinds, as sums of LINKS(kind)
// The cup on which what a stage makes begins: *begin is its first axis; NULL: it does not.
const Link *stage_cup(const Stage *, const Link **begin);
bool same_label(const Sketch *, uint32_t a, uint32_t b); // strands
Glyph *stage_glyph(Sketch *, uint32_t stage, GlyphKind, const char *text);
void sketch_settle(Sketch *);

// -- glyph.c: how large glyphs are ----------------------------------------------------------------
double glyph_width(const Glyph *);
double glyph_height(const Glyph *);  // at least; it grows with its ports
bool glyph_is_passed(const Glyph *); // a line goes through it: where it comes in, it goes out
double lens_stub(const Glyph *); // how far its weights reach above it, if they stay; otherwise 0
enum { OPERAND = 15 };           // the size of letters for what a formula calls a tensor
double label_width(const char *label), name_width(const char *name),
    operand_width(const char *name);

// -- sections.c: from left to right, and from top to bottom ---------------------------------------
typedef struct {
  uint32_t sections;
  uint32_t *at;            // [stage] its section
  uint32_t *rank;          // [bundle] from top to bottom; 0: it is not in the picture
  uint32_t *maker, *taker; // [bundle] stage + 1; 0: the picture's ends
} Order;
Order *sketch_order(Arena *, Sketch *);                            // of one that is settled
Order *order_new(Arena *, const Sketch *);                         // with maker and taker
uint32_t block_of_both(const Sketch *, uint32_t a, uint32_t b);    // the innermost with both inside
bool block_is_inside(const Sketch *, uint32_t block, uint32_t of); // or the same
uint32_t bundle_born(const Order *, uint32_t bundle); // it is level in the data of these sections
uint32_t bundle_dies(const Order *, uint32_t bundle); // and between
Ids bundles_by_rank(Arena *, const Sketch *, const Order *);
typedef struct {
  uint32_t first, last; // sections that it has something in; none: first > last
} BlockReach;
BlockReach *block_reach(Arena *, const Sketch *, const Order *); // [block]

// -- lay.c: places --------------------------------------------------------------------------------
typedef struct { // a part of the picture from left to right: labels, curves, glyphs, curves
  double data, gather, glyph, spread, end; // where each begins, and the last one ends
} Section;

typedef struct { // a dashed line between two bundles
  double x0, x1, y;
  bool follows; // it goes on from the one before it, with a bend
  bool product; // of the last piece: two tensors become one there, and nothing else is seen
} Divider;

typedef struct {
  const Glyph *glyph;
  uint32_t stage;
  double x, y; // y: of one that floats
} Placed;

typedef struct { // how far from the glyphs a curve begins and ends
  double from, to;
} Bend;

struct Layout {
  const Sketch *s;
  double width, height;
  uint64_t steps;           // that finding heights took
  VEC(Section) section;     // the last one is only data
  uint32_t *at;             // [stage] its section
  double *gather, *spread;  // [stage] how long its curves are
  Bend *bend_in, *bend_out; // [strand] before the glyphs that take it, behind those that make it
  bool *there;              // [bundle] it is in the picture
  double *y;                // [strand] where it is level
  double *in,
      *out; // [strand] at the glyphs of the stage that takes it, and of the one that makes it
  uint32_t *born, *dies; // [strand] sections: it is level in the data of these and between
  uint32_t *label;       // [strand] the section in whose data its label stands + 1; 0: nowhere
  VEC(Divider) divider;
  VEC(Placed) placed;
  double *top, *bottom, *left, *right; // [block]
};
Layout *lay_out(Arena *, Sketch *); // settles the sketch; NULL: it cannot be
Layout *lay_ordered(Arena *, const Sketch *, const Order *);               // of one that is settled
void glyph_extent(const Layout *, const Placed *, double *y0, double *y1); // glyph.c
void glyph_paint(Canvas *, const Layout *, const Placed *);
double inset_width(const Layout *); // lay_frames.c: from where its strands begin to where they end
double inset_shift(const Layout *, const Placed *); // how far down it is moved
void inset_extent(const Layout *, double *y0, double *y1);
// glyph_lens.c: a lens that is opened, and the box of any
enum { OPTIC_WIDTH = 182, OPTIC_HEIGHT = 134 }; // at least
void optic_paint(Canvas *, const Layout *, const Placed *, double y0, double y1);
void lens_box(Canvas *, double x0, double y0, double x1, double y1, Ink fill, bool faint);
void glyph_touch(Canvas *, const Layout *, const Placed *); // what passes and counts nevertheless
double glyph_port(const Glyph *); // how far from its middle strands meet it

void layout_shift(Layout *, double x, double y);

// -- rows.c: a picture that is too wide is broken into rows ---------------------------------------
enum { ROW_WIDTH = 2400 };            // the default
enum { ROW_BEND = 28, ROW_DROP = 9 }; // how strands leave a row: so far right, so far down
typedef struct {
  VEC(Layout *) row;
  double width, height;
  uint64_t steps;
} SketchPage;
SketchPage *lay_page(Arena *, Sketch *,
                     double width); // settles the sketch; 0: the default; negative: one row
enum { ROW_GAP = 6 };
void page_row_paint(Canvas *, Arena *, const SketchPage *,
                    uint32_t row); // with its number, if there are many
Canvas *page_paint(Arena *, const SketchPage *, const Sketch *);

// -- paint.c --------------------------------------------------------------------------------------
void paint(Canvas *, Arena *, const Layout *);

#endif
