// layout: sketches, which are pictures without coordinates.
//
// A picture is read from left to right. Between stages there is a row of bundles, from top to
// bottom. A bundle is a tensor and its strands are its axes. A stage replaces adjacent bundles of
// the row by others.
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
  LINE_BACK,    // with an arrowhead to the left: on the way back, branches add changes
  LINE_UNKNOWN, // of unknown type: dashed
} Line;

typedef struct {
  const char *label; // in the markup of math.c; NULL: none
  const char *size;  // the size, if the label is its name; or NULL
  Line line;
  bool alarm; // marked as faulty
  uint32_t bundle;
  const char *type;       // of a whole tensor: its type as text; or NULL
  Ink ink;                // 0: the default of lines
  bool pair;              // windows slide along it and the one below
  const char *id, *words; // of its wire: an id and a description
  const GroupOf *of;      // its source position; or NULL
} Strand;

typedef struct {
  const char *name;  // written where it enters; or NULL
  uint32_t first, n; // strands
  uint32_t of;       // the value that this is a use of; 0: it is made
  uint32_t block;    // innermost block it runs in; set when the sketch is ordered
  const char *as;    // its name in the formula of the stage that reads it; or NULL
} Bundle;

typedef enum {
  GLYPH_BOX,     // a function: a rectangle
  GLYPH_LEARNED, // a bold letter on a plate with a cut corner
  GLYPH_SOFTMAX,
  GLYPH_NORM,
  GLYPH_MASK,
  GLYPH_INDEX,  // a pentagon on which an axis ends
  GLYPH_WISE,   // elementwise: above its bundle, touching nothing
  GLYPH_BAR,    // a view: axes end on it and others begin
  GLYPH_CONV,   // the tensor of a convolution: an axis in, positions and window out
  GLYPH_STAR,   // a learned convolution, abbreviated
  GLYPH_REDUCE, // an axis ends in a word with an arrow: Max, Σ
  GLYPH_START,  // a triangle from which a wire begins: a constant, noise
  GLYPH_CAP,    // a cup that opens to the right, in which two strands begin: the unit
  GLYPH_SOURCE, // a letter with a double bar: data
  GLYPH_BLOCK,  // a box that can be opened
  GLYPH_INSET,  // a nested picture with a frame
  GLYPH_KEPT,   // a plate on which a wire ends and from which it begins elsewhere
  GLYPH_EFFECT, // a triangle in which wires end
  GLYPH_STOP,   // a bar on a wire: stops the gradient
  GLYPH_LENS,   // a round box with values forward and changes backward
  GLYPH_OPTIC,  // an opened lens: fwd, bwd and the residual
  GLYPH_RATE,   // a cap in which the forward value turns back
  GLYPH_GHOST,  // a placeholder for something unsupported
} GlyphKind;

typedef struct Layout Layout;

typedef struct {
  GlyphKind kind;
  const char *text, *above, *below; // main text, and small texts to its right; or NULL
  Ids in, out;                      // strands, from top to bottom
  Ids touch;                        // GLYPH_NORM: passing strands that take part
  uint32_t over;                    // GLYPH_WISE: the resulting bundle, which it is above
  Ink ink;                          // fill colour; 0: the default
  bool bold;                        // learned
  const Layout *inset;              // GLYPH_INSET
  bool flip;                        // GLYPH_INDEX: an axis begins on it
  bool faint;                       // frozen: a dashed outline
  uint32_t tag;                     // identifies it for the code that made it
  bool upper;                       // GLYPH_MASK: keeps the upper triangle
  bool strict;                      // GLYPH_MASK: masks the diagonal too
  // GLYPH_BLOCK: a second, smaller line; or NULL GLYPH_CONV: offset of the first window; NULL: 0.
  const char *second;
  const char *words, *id; // description; NULL: that of its stage
  bool alarm;             // marked as faulty
  Id unknown;             // GLYPH_GHOST: the box of the diagram
  // GLYPH_WISE: the text with operand names, used if the operands are in another order.
  const char *turned;
  const GroupOf *of; // NULL: as its stage
} Glyph;

typedef enum {
  LINK_PASS,  // a continues as `to`
  LINK_COPY,  // `to` branches off a, which continues by another link
  LINK_MERGE, // a ends on `to`
  LINK_CUP,   // a and `to`, both inputs, meet in a cup
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
  uint32_t block;  // innermost block
  uint32_t beside; // of a source: the bundle next to its results; 0: none
  bool below;      // its results are below that bundle
  bool early;      // of a source: as far left as possible
  bool free;       // the order of its inputs is arbitrary
  const char *words;
  Id origin; // source position; 0: none
  const GroupOf *of;
} Stage;

typedef struct {
  const char *title;
  uint32_t parent; // 0 is the whole picture
  Ink ink;
  const char *times;  // of a repeat: the last iteration, "6"; or NULL
  const char *from;   // and the first one, "l=1"; or NULL
  bool before, after; // continued from, or into, another row
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
  VEC(Block) block;       // block.at[0] is the whole picture
  Ids in, out;            // bundles; before settling, `out` are uses
  VEC(Row) row;           // sizes that differ between iterations
  Id origin;              // of the stages being added
  const GroupOf *of;      // likewise
  const GroupOf *wire;    // and of their results
  bool strings;           // strands are whole tensors: no dividers needed
  VEC(const char *) ends; // names of results; may be empty
  bool apart;             // no glyph is above another
  double room;            // minimal space for horizontal lines; 0: the default
  bool settled;           // each bundle is made once and read once
  bool inset;             // names and labels of inputs and results are outside
  bool before, after; // it is a row: inputs come from the row above, results continue in the next
} Sketch;

// -- sketch.c: putting it together ----------------------------------------------------------------
uint32_t ids_find(const Ids *, Id); // position in the list; its length: not found
bool same_ids(const Ids *, const Ids *);
typedef struct {
  double key;
  uint32_t at;
} KeyedItem;
void sort_keyed(KeyedItem *, uint32_t n); // by key, stable
Sketch *sketch_new(Arena *, const char *title);
uint32_t sketch_block(Sketch *, uint32_t parent, const char *title, Ink);
uint32_t sketch_stage(Sketch *, uint32_t block, const char *words);
uint32_t sketch_input(Sketch *, const char *name, uint32_t n); // an input bundle with n strands
// A bundle that a stage makes.
uint32_t sketch_make(Sketch *, uint32_t stage, const char *name, uint32_t n);
uint32_t sketch_use(Sketch *, uint32_t stage, uint32_t made); // a stage reads it; can be repeated
void sketch_output(Sketch *, uint32_t made);
Strand *strand_of(Sketch *, uint32_t bundle, uint32_t i);
uint32_t strand_at(const Sketch *, uint32_t bundle, uint32_t i);
void add_ports(Sketch *, Ids *to, uint32_t bundle); // all its strands
void stage_link(Sketch *, uint32_t stage, LinkKind, uint32_t a, uint32_t to);
bool stage_has(const Stage *, uint32_t kinds); // has it links of these kinds? Sums of LINKS(kind).
// The cup with which a stage's results begin: *begin is its first axis; NULL: none.
const Link *stage_cup(const Stage *, const Link **begin);
bool same_label(const Sketch *, uint32_t a, uint32_t b); // strands
Glyph *stage_glyph(Sketch *, uint32_t stage, GlyphKind, const char *text);
void sketch_settle(Sketch *);

// -- glyph.c: how large glyphs are ----------------------------------------------------------------
double glyph_width(const Glyph *);
double glyph_height(const Glyph *);  // minimal; it grows with its ports
bool glyph_is_passed(const Glyph *); // lines pass through it at constant height
double lens_stub(const Glyph *); // length of its weight lines above it, if these stay; otherwise 0
enum { OPERAND = 15 };           // letter size of operand names
double label_width(const char *label), name_width(const char *name),
    operand_width(const char *name);

// -- sections.c: from left to right, and from top to bottom ---------------------------------------
typedef struct {
  uint32_t sections;
  uint32_t *at;            // [stage] its section
  uint32_t *rank;          // [bundle] top to bottom; 0: not in the picture
  uint32_t *maker, *taker; // [bundle] stage + 1; 0: the ends of the picture
} Order;
Order *sketch_order(Arena *, Sketch *);    // of a settled sketch
Order *order_new(Arena *, const Sketch *); // with maker and taker only
// The innermost block that contains both.
uint32_t block_of_both(const Sketch *, uint32_t a, uint32_t b);
bool block_is_inside(const Sketch *, uint32_t block, uint32_t of); // or equal
uint32_t bundle_born(const Order *, uint32_t bundle); // first section in which it is horizontal
uint32_t bundle_dies(const Order *, uint32_t bundle); // and last
Ids bundles_by_rank(Arena *, const Sketch *, const Order *);
typedef struct {
  uint32_t first, last; // sections with parts of it; none: first > last
} BlockReach;
BlockReach *block_reach(Arena *, const Sketch *, const Order *); // [block]

// -- lay.c: places --------------------------------------------------------------------------------
typedef struct { // a vertical strip of the picture: labels, curves, glyphs, curves
  double data, gather, glyph, spread, end; // where each part begins, and the last one ends
} Section;

typedef struct { // a dashed line between two bundles
  double x0, x1, y;
  bool follows; // continues the previous one, with a bend
  bool product; // of the last piece: two tensors become one there, without a glyph
} Divider;

typedef struct {
  const Glyph *glyph;
  uint32_t stage;
  double x, y; // y: of a floating glyph
} Placed;

typedef struct { // how far from the glyphs a curve begins and ends
  double from, to;
} Bend;

struct Layout {
  const Sketch *s;
  double width, height;
  uint64_t steps;           // steps of the height optimisation
  VEC(Section) section;     // the last one has labels only
  uint32_t *at;             // [stage] its section
  double *gather, *spread;  // [stage] lengths of its curves
  Bend *bend_in, *bend_out; // [strand] before the glyphs that read it, after those that make it
  bool *there;              // [bundle] it is in the picture
  double *y;                // [strand] height of the horizontal part
  // [strand] heights at the glyphs that read and make it.
  double *in, *out;
  uint32_t *born, *dies; // [strand] first and last section in which it is horizontal
  uint32_t *label;       // [strand] the section with its label + 1; 0: none
  VEC(Divider) divider;
  VEC(Placed) placed;
  double *top, *bottom, *left, *right; // [block]
};
Layout *lay_out(Arena *, Sketch *); // settles the sketch; NULL: it cannot be drawn
Layout *lay_ordered(Arena *, const Sketch *, const Order *);               // of a settled sketch
void glyph_extent(const Layout *, const Placed *, double *y0, double *y1); // glyph.c
void glyph_paint(Canvas *, const Layout *, const Placed *);
double inset_width(const Layout *);                 // lay_frames.c: between the ends of its strands
double inset_shift(const Layout *, const Placed *); // its vertical offset
void inset_extent(const Layout *, double *y0, double *y1);
// glyph_lens.c: opened lenses, and boxes of all lenses
enum { OPTIC_WIDTH = 182, OPTIC_HEIGHT = 134 }; // minimal
void optic_paint(Canvas *, const Layout *, const Placed *, double y0, double y1);
void lens_box(Canvas *, double x0, double y0, double x1, double y1, Ink fill, bool faint);
void glyph_touch(Canvas *, const Layout *, const Placed *); // passing strands that take part
double glyph_port(const Glyph *); // distance from its centre at which strands meet it

void layout_shift(Layout *, double x, double y);

// -- rows.c: a picture that is too wide is broken into rows ---------------------------------------
enum { ROW_WIDTH = 2400 };            // the default
enum { ROW_BEND = 28, ROW_DROP = 9 }; // offsets at which strands leave a row
typedef struct {
  VEC(Layout *) row;
  double width, height;
  uint64_t steps;
} SketchPage;
// Settles the sketch; 0: the default; negative: one row.
SketchPage *lay_page(Arena *, Sketch *, double width);
enum { ROW_GAP = 6 };
// With its number, if there are many rows.
void page_row_paint(Canvas *, Arena *, const SketchPage *, uint32_t row);
Canvas *page_paint(Arena *, const SketchPage *, const Sketch *);

// -- paint.c --------------------------------------------------------------------------------------
void paint(Canvas *, Arena *, const Layout *);

#endif
