// The source formatter (`limn fmt`).
//
// Input: a file without syntax errors and its tree. Output: the same tokens and comments in the
// same order with new white space, so the meaning cannot change.
//
// 1. The text is cut into pieces: tokens and comments.
// 2. The spaces before a piece depend on its neighbours (`gap_of`), then on its node in the tree
//    (`lay`): operators are tight in sizes, `:` is wide in declarations.
// 3. Line breaks are kept; a block of several lines gets one after `{` and before `}`. Lines that
//    are too long are broken before `;`.
// 4. Columns that the author aligned on neighbouring lines stay aligned: `=`, `:`, `->` and the
//    like, and comments at the ends of lines.
//
// Formatting is idempotent: breaks and gaps of 3 depend only on the widths of step 2, and step 4
// only moves a column to the position of its rightmost member.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/parse_own.h"

enum { WIDTH = 100, INDENT = 2 };

typedef enum { P_TOKEN, P_COMMENT } PieceKind;

typedef struct {
  Span span;
  uint8_t kind;
  bool starts; // begins a declaration or a statement
  bool free;   // the piece, or for a comment the piece after it, begins a statement or ends a block
  bool opens, closes; // a block
  bool trails;        // a comment after a token on its line
  bool spaced;        // white space precedes it in the source
  uint32_t token;     // for P_TOKEN: the index of the token
  uint32_t breaks;    // line breaks before it: 0, 1, or 2 for an empty line
  uint32_t column;    // its column in the source
  uint32_t space;     // spaces before it on its line in the source
  uint32_t gap;       // spaces before it in the output
  uint32_t indent;    // indentation in the output, if it begins a line
  uint32_t above;     // 1 + the piece that is aligned with it on the previous line, or 0
  bool has_below;     // a piece on the next line is aligned with it
} FormatPiece;

typedef struct {
  const Front *front;
  uint32_t file;
  const char *text;
  Tokens tokens;
  VEC(FormatPiece) piece;
} Format;

// -- pieces

// The position up to which the text was read.
typedef struct {
  uint32_t at, column, breaks, space;
} FormatPlace;

static void push_piece(Format *f, FormatPlace *here, FormatPiece piece) {
  piece.breaks = here->breaks > 2 ? 2 : here->breaks;
  piece.column = here->column;
  piece.space = here->space;
  piece.spaced = here->space || here->breaks;
  vec_push(f->front->arena, &f->piece, piece);
  uint32_t end = piece.span.at + piece.span.n;
  for (uint32_t i = piece.span.at; i < end; i++) {
    if (f->text[i] == '\n')
      here->column = 0;
    else
      here->column += ((unsigned char)f->text[i] & 0xC0) != 0x80;
  }
  here->at = end;
  here->breaks = here->space = 0;
}

static void push_comment(Format *f, FormatPlace *here, uint32_t limit) {
  uint32_t end = here->at;
  while (end < limit && f->text[end] != '\n') end++;
  uint32_t trimmed = end;
  while (strchr(" \t\r", f->text[trimmed - 1])) trimmed--;
  Span span = {f->file, here->at, trimmed - here->at};
  push_piece(f, here,
             (FormatPiece){.kind = P_COMMENT, .span = span, .trails = !here->breaks && f->piece.n});
  here->at = end;
}

// Reads white space and comments up to `limit`.
static void cross_gap(Format *f, FormatPlace *here, uint32_t limit) {
  while (here->at < limit) {
    char c = f->text[here->at];
    if (c == '#') {
      push_comment(f, here, limit);
      continue;
    }
    here->at++;
    if (c == '\n')
      here->breaks++, here->column = here->space = 0;
    else
      here->column++, here->space++;
  }
}

static void cut_pieces(Format *f) {
  FormatPlace here = {0};
  if (strncmp(f->text, "\xEF\xBB\xBF", 3) == 0) here.at = 3;
  for (uint32_t i = 0; i < f->tokens.n; i++) {
    const Token *t = &f->tokens.at[i];
    if (t->kind == TK_LINE) continue;
    cross_gap(f, &here, t->span.at);
    if (t->kind == TK_END) break;
    push_piece(f, &here, (FormatPiece){.kind = P_TOKEN, .span = t->span, .token = i});
  }
}

// -- spaces between neighbours

static uint32_t gap_of(const Token *left, const Token *right) {
  const char *a = left->symbol, *b = right->symbol; // "" for names, words, numbers, strings
  if (is_one(a, "( [ . .. ...") || is_one(b, ", ) ] : . .. '")) return 0;
  bool after_term = left->kind == TK_NAME || left->kind == TK_STR || is_one(a, ") ] } '");
  if (is_one(b, "( [") && after_term) return 0;
  if (is_one(a, "{") && is_one(b, "}")) return 0;
  return 1;
}

static void set_gaps(Format *f) {
  const FormatPiece *last = NULL;
  for (uint32_t i = 0; i < f->piece.n; i++) {
    FormatPiece *piece = &f->piece.at[i];
    if (piece->kind == P_COMMENT) continue;
    piece->gap = last ? gap_of(&f->tokens.at[last->token], &f->tokens.at[piece->token]) : 1;
    last = piece;
  }
}

// -- spaces by the tree

// The first token at or after byte `at` of the text.
static FormatPiece *piece_at(Format *f, uint32_t at) {
  uint32_t low = 0, high = f->piece.n;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (f->piece.at[mid].span.at < at)
      low = mid + 1;
    else
      high = mid;
  }
  while (low < f->piece.n - 1 && f->piece.at[low].kind == P_COMMENT) low++;
  return &f->piece.at[low < f->piece.n ? low : f->piece.n - 1];
}

static uint32_t end_of(Span span) { return span.at + span.n; }

static FormatPiece *piece_behind(Format *f, Span span) { return piece_at(f, end_of(span)); }

// The token before a node, which must exist.
static FormatPiece *piece_before(Format *f, Span span) {
  FormatPiece *piece = piece_at(f, span.at) - 1;
  while (piece > f->piece.at && piece->kind == P_COMMENT) piece--;
  return piece;
}

static void set_operator(Format *f, const Syntax *left, uint32_t gap) {
  FormatPiece *op = piece_behind(f, left->span);
  op->gap = gap;
  piece_behind(f, op->span)->gap = gap;
}

static void lay_node(Format *f, const Syntax *node, bool tight);

static void lay_kids(Format *f, const Syntax *node, bool tight) {
  for (uint32_t i = 0; i < node->nkid; i++)
    if (node->kid[i]) lay_node(f, node->kid[i], tight);
}

// `h:28 w:28` among other axes, `stride: 2` among arguments. A single first item may be either, so
// its spacing is kept.
static void lay_items(Format *f, const Syntax *items, bool arguments) {
  for (uint32_t i = 0; i < items->nkid; i++) {
    const Syntax *item = items->kid[i];
    if (i) piece_at(f, item->span.at)->gap = 1;
    if (item->kind != N_SIZED) continue;
    FormatPiece *value = piece_at(f, item->kid[0]->span.at);
    value->gap = i ? 0 : arguments && items->nkid == 1 ? 1 : value->spaced;
  }
}

static void lay_block(Format *f, const Syntax *block) {
  FormatPiece *open = piece_at(f, block->span.at), *close = piece_at(f, end_of(block->span) - 1);
  open->opens = close->closes = true;
  bool several = memchr(f->text + block->span.at, '\n', block->span.n) != NULL;
  for (uint32_t i = 0; i < block->nkid; i++) {
    FormatPiece *first = piece_at(f, block->kid[i]->span.at);
    first->starts = true;
    if (several && i == 0 && !first->breaks) first->breaks = 1;
  }
  if (several && !close->breaks) close->breaks = 1;
}

static void lay_clauses(Format *f, const Syntax *node) {
  bool claim = node->kid[0]->kind >= N_EQUAL && node->kid[0]->kind <= N_MINIMISE;
  for (uint32_t i = 1; i < node->nkid && claim; i++) piece_at(f, node->kid[i]->span.at)->gap = 3;
}

static void widen_colon(Format *f, const Syntax *type) {
  if (type) piece_before(f, type->span)->gap = 1;
}

static void lay_pad(Format *f, const Syntax *pad) {
  if (pad) piece_before(f, pad->span)->gap = 3;
}

static void lay_given(Format *f, const Syntax *params) {
  for (uint32_t i = 0; i < params->nkid; i++) {
    const Syntax *type = params->kid[i]->kid[0];
    bool shared = i + 1 < params->nkid && type == params->kid[i + 1]->kid[0];
    if (!shared) widen_colon(f, type);
  }
}

static void lay_labels(Format *f, const Syntax *labels) {
  piece_at(f, labels->kid[0]->span.at)->gap = 0;
  piece_at(f, end_of(labels->span) - 1)->gap = 0;
}

static void lay_power(Format *f, const Syntax *power, bool tight) {
  set_operator(f, power->kid[0], piece_behind(f, power->kid[0]->span)->spaced);
  lay_node(f, power->kid[0], tight);
  lay_node(f, power->kid[1], true);
}

// A unit comes last and is tight, as in m^3/s.
static void lay_unit(Format *f, const Syntax *node, bool tight) {
  for (uint32_t i = 0; i < node->nkid; i++)
    if (node->kid[i]) lay_node(f, node->kid[i], tight || i + 1 == node->nkid);
}

// Sets the gaps inside a node by its kind, then those of its children. `tight`: no spaces around +
// - * /.
static void lay_node(Format *f, const Syntax *node, bool tight) {
  switch ((SyntaxKind)node->kind) {
  case N_SUM:
  case N_PROD:
    for (uint32_t i = 0; i + 1 < node->nkid; i++) set_operator(f, node->kid[i], !tight);
    break;
  case N_NEG: piece_at(f, node->kid[0]->span.at)->gap = 0; break;
  case N_POW: lay_power(f, node, tight); return;
  case N_CALL:
    piece_behind(f, node->kid[0]->span)->gap = 0;
    lay_node(f, node->kid[0], tight);
    for (uint32_t i = 1; i < node->nkid; i++) lay_node(f, node->kid[i], false);
    return;
  case N_AT: piece_at(f, node->kid[1]->span.at)->gap = 0; break;
  case N_BRACKETS:
  case N_GROUP:
    for (uint32_t i = 0; i < node->nkid; i++) lay_items(f, node->kid[i], node->nkid > 1);
    tight = true;
    break;
  case N_LIST:
  case N_RANGE: tight = true; break;
  case N_LABELS:
    lay_labels(f, node);
    tight = true;
    break;
  case N_BLOCK: lay_block(f, node); break;
  case N_FOR:
    if (node->kid[1]->kind == N_PROGRAM) lay_block(f, node->kid[1]);
    break;
  case N_BOX:
  case N_LEARNER: {
    const Syntax *result = declared_result(node);
    if (result && result->kind == N_SIG) widen_colon(f, result);
    break;
  }
  case N_TYPED:
    widen_colon(f, node->kid[1]);
    lay_unit(f, node, tight);
    return;
  case N_PARAM: lay_unit(f, node, tight); return;
  case N_GIVEN: lay_given(f, node->kid[0]); break;
  case N_GOAL:
  case N_MEASURE:
    if (node->name) piece_behind(f, node->name_span)->gap = 1;
    lay_clauses(f, node);
    break;
  case N_PART:
    widen_colon(f, node->kid[1]);
    if (node->kid[4]) piece_at(f, node->kid[4]->span.at)->gap = 1;
    break;
  case N_SIMULATE:
    if (node->name) piece_behind(f, node->name_span)->gap = 1;
    break;
  case N_CHECK:
    if (node->kid[0]) widen_colon(f, node->kid[1]);
    lay_pad(f, node->kid[3]);
    break;
  case N_ORDER:
    if (node->name) piece_behind(f, node->name_span)->gap = 1;
    lay_pad(f, node->kid[2]);
    if (node->kid[3]) piece_at(f, node->kid[3]->span.at)->gap = 3;
    break;
  case N_PADDED:
  case N_RETURN: lay_pad(f, node->kid[1]); break;
  case N_EQUATION: lay_pad(f, node->kid[2]); break;
  default: break;
  }
  lay_kids(f, node, tight);
}

// -- lines

static bool is_symbol(const Format *f, const FormatPiece *piece, const char *symbol) {
  return piece->kind == P_TOKEN && strcmp(f->tokens.at[piece->token].symbol, symbol) == 0;
}

static uint32_t width_of(const Format *f, const FormatPiece *piece) {
  uint32_t n = 0;
  for (uint32_t i = piece->span.at; i < end_of(piece->span); i++)
    n += ((unsigned char)f->text[i] & 0xC0) != 0x80;
  return n;
}

// Sets indentation and drops superfluous empty lines. A comment belongs to the piece after it.
static void set_lines(Format *f) {
  bool free = true;
  for (uint32_t i = f->piece.n; i-- > 0;) {
    FormatPiece *piece = &f->piece.at[i];
    if (piece->kind != P_COMMENT) free = piece->starts || piece->closes;
    piece->free = free;
  }
  uint32_t depth = 0;
  bool block_begins = true;
  for (uint32_t i = 0; i < f->piece.n; i++) {
    FormatPiece *piece = &f->piece.at[i];
    if (piece->closes) depth--;
    piece->indent = INDENT * (depth + !piece->free);
    if (piece->breaks > 1 && (!piece->free || piece->closes || block_begins)) piece->breaks = 1;
    if (i == 0) piece->breaks = 0;
    if (piece->opens) depth++;
    if (piece->kind != P_COMMENT || !piece->trails) block_begins = piece->opens;
  }
}

static uint32_t line_end(const Format *f, uint32_t from) { // the first piece of the next line
  uint32_t to = from + 1;
  while (to < f->piece.n && !f->piece.at[to].breaks) to++;
  return to;
}

// The end of a pipe segment: the next `;` outside brackets, or the end of the line.
static uint32_t pipe_segment(const Format *f, uint32_t from, uint32_t to, uint32_t *width) {
  uint32_t i = from, open = 0;
  for (*width = 0; i < to && f->piece.at[i].kind != P_COMMENT; i++) {
    const FormatPiece *piece = &f->piece.at[i];
    if (piece->kind == P_TOKEN) {
      char c = f->tokens.at[piece->token].symbol[0];
      if (i > from && c == ';' && !open) break;
      if (c == '(' || c == '[' || c == '{') open++;
      if ((c == ')' || c == ']' || c == '}') && open) open--;
    }
    *width += (i > from ? piece->gap : 0) + width_of(f, piece);
  }
  return i;
}

static void break_pipes(Format *f) {
  for (uint32_t from = 0, to; from < f->piece.n; from = to) {
    to = line_end(f, from);
    uint32_t column = f->piece.at[from].indent, width, indent = column;
    if (f->piece.at[from].starts) indent += INDENT;
    for (uint32_t i = from, next; i < to && f->piece.at[i].kind != P_COMMENT; i = next) {
      FormatPiece *piece = &f->piece.at[i];
      next = pipe_segment(f, i, to, &width);
      if (next == i) break;
      if (i > from && column + piece->gap + width > WIDTH && is_symbol(f, piece, ";")) {
        piece->breaks = 1;
        piece->indent = column = indent;
      } else if (i > from) {
        column += piece->gap;
      }
      column += width;
    }
  }
}

// -- columns

static bool may_align(const Format *f, const FormatPiece *piece) {
  if (piece->kind != P_TOKEN || piece->column > 2 * WIDTH || !piece->gap) return false;
  const Token *t = &f->tokens.at[piece->token];
  if (t->kind == TK_SYMBOL) return is_one(t->symbol, "= : ~ ->");
  return t->kind == TK_WORD && is_one(name_text(f->front->names, t->name),
                                      "when else by from on trains times as pad every for");
}

static bool same_text(const Format *f, const FormatPiece *a, const FormatPiece *b) {
  return a->span.n == b->span.n &&
         memcmp(f->text + a->span.at, f->text + b->span.at, a->span.n) == 0;
}

static bool aligns(const Format *f, uint32_t from) { // a line that takes part in alignment
  const FormatPiece *first = &f->piece.at[from];
  return first->kind == P_TOKEN && first->starts;
}

// Links the pieces of a line to equal pieces of the previous line in the same source column.
static void tie_lines(Format *f, uint32_t before, uint32_t from, uint32_t to) {
  uint32_t j = before + 1;
  for (uint32_t i = from + 1; i < to; i++) {
    FormatPiece *piece = &f->piece.at[i];
    if (!may_align(f, piece)) continue;
    while (j < from && f->piece.at[j].column < piece->column) j++;
    FormatPiece *other = &f->piece.at[j];
    if (j >= from || other->column != piece->column || !may_align(f, other)) continue;
    if (!same_text(f, other, piece)) continue;
    piece->above = j + 1;
    other->has_below = true;
  }
}

static uint32_t column_now(const Format *f,
                           uint32_t i) { // the column of a piece in the output so far
  uint32_t from = i, column;
  while (from && !f->piece.at[from].breaks) from--;
  column = f->piece.at[from].indent + width_of(f, &f->piece.at[from]);
  for (uint32_t k = from + 1; k < i; k++)
    column += f->piece.at[k].gap + width_of(f, &f->piece.at[k]);
  return i == from ? f->piece.at[i].indent : column + f->piece.at[i].gap;
}

// Moves the pieces linked above this one to the rightmost column among them, if the author had
// aligned any of them.
static void align_column(Format *f, uint32_t bottom) {
  bool wanted = false;
  uint32_t furthest = 0;
  for (uint32_t i = bottom + 1; i; i = f->piece.at[i - 1].above) {
    uint32_t column = column_now(f, i - 1);
    if (column > furthest) furthest = column;
    wanted = wanted || f->piece.at[i - 1].space > f->piece.at[i - 1].gap;
  }
  for (uint32_t i = bottom + 1; i && wanted; i = f->piece.at[i - 1].above)
    f->piece.at[i - 1].gap += furthest - column_now(f, i - 1);
}

// Columns are aligned from left to right, since moving a piece moves the rest of its line.
static void align_lines(Format *f, uint32_t from, uint32_t to) {
  Ids bottoms = {0};
  for (uint32_t i = from; i < to; i++)
    if (f->piece.at[i].above && !f->piece.at[i].has_below) vec_push(f->front->arena, &bottoms, i);
  for (uint32_t column = 0; bottoms.n && column <= 2 * WIDTH; column++)
    for (uint32_t i = 0; i < bottoms.n; i++)
      if (f->piece.at[bottoms.at[i]].column == column) align_column(f, bottoms.at[i]);
}

static void align_tokens(Format *f) {
  uint32_t before = 0, start = 0;
  for (uint32_t from = 0, to; from < f->piece.n; from = to) {
    to = line_end(f, from);
    bool goes_on = from && aligns(f, before) && aligns(f, from) && f->piece.at[from].breaks == 1 &&
                   f->piece.at[from].indent == f->piece.at[before].indent;
    if (goes_on) {
      tie_lines(f, before, from, to);
    } else {
      align_lines(f, start, from);
      start = from;
    }
    before = from;
  }
  align_lines(f, start, f->piece.n);
}

// Aligns comments at the ends of neighbouring lines that began in one column of the source.
static void align_comments(Format *f) {
  for (uint32_t from = 0, to; from < f->piece.n; from = to) {
    Ids group = {0};
    uint32_t column = 0, furthest = 0;
    for (to = from; to < f->piece.n;) {
      uint32_t end = line_end(f, to);
      FormatPiece *last = &f->piece.at[end - 1];
      if (last->kind != P_COMMENT || !last->trails) break;
      if (group.n && (last->column != column || f->piece.at[to].breaks > 1)) break;
      last->gap = 2;
      uint32_t now = column_now(f, end - 1);
      column = last->column;
      if (now > furthest) furthest = now;
      vec_push(f->front->arena, &group, end - 1);
      to = end;
    }
    if (column > furthest && column <= WIDTH) furthest = column;
    for (uint32_t i = 0; i < group.n; i++)
      f->piece.at[group.at[i]].gap += furthest - column_now(f, group.at[i]);
    if (to == from) to = line_end(f, from);
  }
}

// -- output

static void write_pieces(const Format *f, Buf *out) {
  for (uint32_t i = 0; i < f->piece.n; i++) {
    const FormatPiece *piece = &f->piece.at[i];
    for (uint32_t k = 0; k < piece->breaks; k++) buf_char(out, '\n');
    bool first = i == 0 || piece->breaks;
    for (uint32_t k = first ? piece->indent : piece->gap; k; k--) buf_char(out, ' ');
    buf_add(out, f->text + piece->span.at, piece->span.n);
  }
  if (f->piece.n) buf_char(out, '\n');
}

void format_program(const Front *front, uint32_t file, const Syntax *program, Buf *out) {
  Format f = {.front = front, .file = file, .text = front->sources->file.at[file].text};
  front->diags->muted++;
  f.tokens = lex(front, file);
  front->diags->muted--;
  cut_pieces(&f);
  if (!f.piece.n) return;
  set_gaps(&f);
  for (uint32_t i = 0; i < program->nkid; i++)
    piece_at(&f, program->kid[i]->span.at)->starts = true;
  lay_kids(&f, program, false);
  set_lines(&f);
  break_pipes(&f);
  align_tokens(&f);
  align_comments(&f);
  write_pieces(&f, out);
}
