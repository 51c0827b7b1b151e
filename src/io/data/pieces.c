// A text in pieces, by pairs of bytes as Sennrich, Haddow and Birch (2016) have it, with characters
// instead of bytes: `shakespeare[pieces: 300]`.
//
// The first pieces are the characters of the text, in order. Then, again and again, the two
// neighbours that occur together most often become one piece, as long as there is room and they
// occur twice; of several as frequent, those with the lowest numbers. Neighbours are inside one
// word: a run of letters, of digits or of other signs, with the space before it, or a run of white
// space.
//
// What a text is in pieces depends on the vocabulary alone: of all neighbours in a word that are a
// piece together, those with the lowest number are joined first. So another text, or a prompt, is
// cut by the pieces of a run as its own text was.
#include "io/data/set_own.h"

enum { WORD_LIMIT = 64 }; // characters: what is longer, a row of dashes, is cut

// -- words ----------------------------------------------------------------------------------------
typedef enum { SIGN_SPACE, SIGN_LETTER, SIGN_DIGIT, SIGN_OTHER } Sign;

static Sign sign_of(uint8_t c) {
  if (c == ' ' || (c >= '\t' && c <= '\r')) return SIGN_SPACE;
  if (c >= '0' && c <= '9') return SIGN_DIGIT;
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
  return letter ? SIGN_LETTER : SIGN_OTHER;
}

// Bytes of the word that a text begins with; the text is UTF-8.
static size_t word_length(const char *text, size_t n) {
  const uint8_t *u = (const uint8_t *)text;
  size_t at = u[0] == ' ' && n > 1 && sign_of(u[1]) != SIGN_SPACE;
  Sign sign = sign_of(u[at]);
  for (uint32_t k = 0; at < n && sign_of(u[at]) == sign && k < WORD_LIMIT; k++) {
    bool leads = sign == SIGN_SPACE && k && u[at] == ' ' && at + 1 < n;
    if (leads && sign_of(u[at + 1]) != SIGN_SPACE) break; // it belongs to the next word
    at += character_length(text + at, n - at);
  }
  return at;
}

// A word that occurs, and what it is made of.
typedef struct {
  const char *text;
  size_t bytes;
  int64_t count;
  uint32_t n; // pieces
  int32_t *piece;
} PieceWord;
typedef VEC(PieceWord) PieceWords;

// The words of a text in the order in which they first occur, and which word each place has.
static void find_words(Arena *a, View v, PieceWords *out, Ids *places) {
  Table *known = table_new(a);
  const char *text = (const char *)v.at;
  for (size_t at = 0, n; at < v.n; at += n) {
    n = word_length(text + at, v.n - at);
    Id word = table_get(known, text + at, n);
    if (!word) {
      vec_push(a, out, (PieceWord){.text = text + at, .bytes = n});
      table_put(known, text + at, n, word = out->n);
    }
    out->at[word - 1].count++;
    vec_push(a, places, word - 1);
  }
}

// -- a vocabulary ---------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  VEC(const char *) word;
  Table *number; // of each piece one more than its number
} Pieces;

static int32_t piece_add(Pieces *p, const char *word) {
  vec_push(p->arena, &p->word, word);
  if (*word) table_put(p->number, word, strlen(word), p->word.n);
  return (int32_t)p->word.n - 1;
}

static int32_t piece_number(const Pieces *p, const char *text, size_t n) {
  return (int32_t)table_get(p->number, text, n) - 1; // -1: it is none
}

// The characters of a word as pieces. False: one of them is none, *wrong.
static bool spell_word(const Pieces *p, PieceWord *w, const char **wrong) {
  w->piece = NEW_ARRAY(p->arena, int32_t, w->bytes);
  w->n = 0;
  for (size_t at = 0, n; at < w->bytes; at += n) {
    n = character_length(w->text + at, w->bytes - at);
    *wrong = w->text + at;
    if (!n || (w->piece[w->n++] = piece_number(p, w->text + at, n)) < 0) return false;
  }
  return true;
}

static void join_at(PieceWord *w, uint32_t at, int32_t piece) {
  w->piece[at] = piece;
  memmove(w->piece + at + 1, w->piece + at + 2, (w->n - at - 2) * sizeof *w->piece);
  w->n--;
}

// Joins neighbours, the lowest piece first, until no two are one.
static void join_word(const Pieces *p, PieceWord *w) {
  for (int32_t best = 0; best >= 0;) {
    uint32_t where = 0;
    const char *text = w->text;
    best = -1;
    for (uint32_t k = 0; k + 1 < w->n; k++) {
      size_t left = strlen(p->word.at[w->piece[k]]), both = left;
      both += strlen(p->word.at[w->piece[k + 1]]);
      int32_t piece = piece_number(p, text, both);
      if (piece >= 0 && (best < 0 || piece < best)) best = piece, where = k;
      text += left;
    }
    if (best >= 0) join_at(w, where, best);
  }
}

// -- learning one ---------------------------------------------------------------------------------
typedef struct {
  int32_t left, right;
  int64_t count, told; // how often; and as the queue knows it, never less
  Ids word;            // in which it may be
} PiecePair;

typedef struct {
  Pieces *pieces;
  PieceWords *words;
  Arena *arena;
  Table *number; // of each pair one more than its place in `pair`
  VEC(PiecePair) pair;
  Ids changed; // pairs that have become more
  VEC(struct Told {
    int64_t count;
    uint32_t pair;
  })
  queue; // a heap, the most frequent on top
} Learning;

static bool comes_first(const Learning *l, struct Told a, struct Told b) {
  const PiecePair *x = &l->pair.at[a.pair], *y = &l->pair.at[b.pair];
  if (a.count != b.count) return a.count > b.count;
  return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static void queue_push(Learning *l, uint32_t pair) {
  struct Told new = {l->pair.at[pair].count, pair}, *q;
  l->pair.at[pair].told = new.count;
  vec_push(l->arena, &l->queue, new);
  q = l->queue.at;
  uint32_t at = l->queue.n - 1;
  for (; at && comes_first(l, new, q[(at - 1) / 2]); at = (at - 1) / 2) q[at] = q[(at - 1) / 2];
  q[at] = new;
}

static struct Told queue_pop(Learning *l) {
  struct Told *q = l->queue.at, top = q[0], last = q[--l->queue.n];
  uint32_t at = 0, n = l->queue.n;
  for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
    child += child + 1 < n && comes_first(l, q[child + 1], q[child]);
    if (!comes_first(l, q[child], last)) break;
    q[at] = q[child];
  }
  q[at] = last;
  return top;
}

static uint32_t pair_of(Learning *l, int32_t left, int32_t right) {
  int32_t key[2] = {left, right};
  Id known = table_get(l->number, key, sizeof key);
  if (known) return known - 1;
  vec_push(l->arena, &l->pair, (PiecePair){.left = left, .right = right});
  table_put(l->number, key, sizeof key, l->pair.n);
  return l->pair.n - 1;
}

// The pairs of a word count (or, with -1, no longer count) as often as it occurs.
static void count_word(Learning *l, uint32_t word, int64_t sign) {
  const PieceWord *w = &l->words->at[word];
  for (uint32_t k = 0; k + 1 < w->n; k++) {
    uint32_t at = pair_of(l, w->piece[k], w->piece[k + 1]);
    PiecePair *p = &l->pair.at[at];
    p->count += sign * w->count;
    if (sign < 0) continue;
    if (!p->word.n || p->word.at[p->word.n - 1] != word) vec_push(l->arena, &p->word, word);
    vec_push(l->arena, &l->changed, at);
  }
}

static void tell_queue(Learning *l) {
  for (uint32_t i = 0; i < l->changed.n; i++) {
    uint32_t at = l->changed.at[i];
    if (l->pair.at[at].count > l->pair.at[at].told) queue_push(l, at);
  }
  l->changed.n = 0;
}

// The most frequent pair; false when none is left that occurs twice.
static bool best_pair(Learning *l, PiecePair *out) {
  while (l->queue.n) {
    struct Told top = queue_pop(l);
    PiecePair *p = &l->pair.at[top.pair];
    if (top.count != p->told) continue; // told anew since
    *out = *p;
    if (p->count == top.count) return p->told = 0, p->count > 1;
    p->told = 0;
    if (p->count > 1) queue_push(l, top.pair);
  }
  return false;
}

static void join_pair(Learning *l, const PiecePair *p, int32_t piece) {
  for (uint32_t i = 0; i < p->word.n; i++) {
    uint32_t word = p->word.at[i], k = 0;
    PieceWord *w = &l->words->at[word];
    while (k + 1 < w->n && (w->piece[k] != p->left || w->piece[k + 1] != p->right)) k++;
    if (k + 1 >= w->n) continue; // no longer there
    count_word(l, word, -1);
    for (; k + 1 < w->n; k++)
      if (w->piece[k] == p->left && w->piece[k + 1] == p->right) join_at(w, k, piece);
    count_word(l, word, 1);
  }
  tell_queue(l);
}

static void learn_pieces(Pieces *pieces, PieceWords *words, int64_t wanted) {
  Learning l = {.pieces = pieces, .words = words, .arena = arena_child(pieces->arena)};
  PiecePair best;
  l.number = table_new(l.arena);
  for (uint32_t i = 0; i < words->n; i++) count_word(&l, i, 1);
  tell_queue(&l);
  while (pieces->word.n < wanted && best_pair(&l, &best)) {
    const char *text = arena_format(pieces->arena, "%s%s", pieces->word.at[best.left],
                                    pieces->word.at[best.right]);
    int32_t piece = piece_number(pieces, text, strlen(text));
    join_pair(&l, &best, piece < 0 ? piece_add(pieces, text) : piece);
  }
  arena_free(l.arena);
}

// -- a text ---------------------------------------------------------------------------------------
static Pieces pieces_new(Arena *a, const char *const *word, int64_t n) {
  Pieces p = {.arena = a, .number = table_new(a)};
  for (int64_t i = 0; i < n; i++) piece_add(&p, word[i]);
  return p;
}

static bool spell_words(const Pieces *p, PieceWords *words, const char **wrong) {
  for (uint32_t i = 0; i < words->n; i++)
    if (!spell_word(p, &words->at[i], wrong)) return false;
  return true;
}

static int32_t *put_together(Arena *a, const Pieces *p, PieceWords *words, const Ids *places,
                             int64_t *n) {
  const char *wrong;
  *n = 0;
  for (uint32_t i = 0; i < words->n; i++) {
    PieceWord *w = &words->at[i];
    if (spell_word(p, w, &wrong)) join_word(p, w);
    *n += w->count * w->n;
  }
  int32_t *label = NEW_ARRAY(a, int32_t, *n + 1), *to = label;
  for (uint32_t i = 0; i < places->n; i++) {
    const PieceWord *w = &words->at[places->at[i]];
    memcpy(to, w->piece, w->n * sizeof *to);
    to += w->n;
  }
  return label;
}

bool text_in_pieces(Arena *a, View text, const PiecesWanted *wanted, TextPieces *out) {
  Arena *scratch = arena_child(a);
  PieceWords words = {0};
  Ids places = {0};
  Pieces p = pieces_new(scratch, wanted->first, wanted->nfirst);
  find_words(scratch, text, &words, &places);
  bool good = spell_words(&p, &words, &out->wrong);
  if (good && wanted->learn) learn_pieces(&p, &words, wanted->n);
  out->different = p.word.n;
  if (good) out->label = put_together(a, &p, &words, &places, &out->n);
  while (wanted->learn && p.word.n < wanted->n) piece_add(&p, ""); // labels that never occur
  const char **word = NEW_ARRAY(a, const char *, p.word.n + 1);
  for (uint32_t i = 0; i < p.word.n; i++) word[i] = arena_format(a, "%s", p.word.at[i]);
  out->words = (Words){"text", p.word.n, word};
  arena_free(scratch);
  return good;
}

// Each character of every word is a word too.
bool words_are_pieces(Arena *a, const Words *w) {
  Arena *scratch = arena_child(a);
  Pieces p = pieces_new(scratch, w->word, w->n);
  bool good = true;
  const char *wrong;
  for (int64_t i = 0; good && i < w->n; i++)
    good = spell_word(&p, &(PieceWord){.text = w->word[i], .bytes = strlen(w->word[i])}, &wrong);
  arena_free(scratch);
  return good;
}
