// Byte-pair encoding (Sennrich, Haddow, Birch 2016) over characters: `shakespeare[pieces: 300]`.
//
// The initial pieces are the characters of the text, sorted. MergeLearner repeatedly merges the most
// frequent pair of neighbouring pieces into a new piece, until the vocabulary is full or no pair
// occurs twice; ties go to the lowest numbers. Pairs do not cross words: a word is a run of
// letters, digits or other signs with the preceding space, or a run of white space.
//
// Encoding depends on the vocabulary only: among all pairs of neighbours in a word that form a
// piece, the one with the lowest number is merged first. So another text, or a prompt, is encoded
// by a run's vocabulary just as the run's text was.
#include "base/table.h"
#include "io/data/set_own.h"

enum { WORD_LIMIT = 64 }; // in characters; longer words (rows of dashes) are divided

// -- words ----------------------------------------------------------------------------------------
typedef enum { SIGN_SPACE, SIGN_LETTER, SIGN_DIGIT, SIGN_OTHER } Sign;

static Sign sign_of(uint8_t c) {
  if (c == ' ' || (c >= '\t' && c <= '\r')) return SIGN_SPACE;
  if (c >= '0' && c <= '9') return SIGN_DIGIT;
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
  return letter ? SIGN_LETTER : SIGN_OTHER;
}

// The length in bytes of the first word of a text; the text is UTF-8.
static size_t word_length(const char *text, size_t n) {
  const uint8_t *u = (const uint8_t *)text;
  size_t at = u[0] == ' ' && n > 1 && sign_of(u[1]) != SIGN_SPACE;
  Sign sign = sign_of(u[at]);
  for (uint32_t k = 0; at < n && sign_of(u[at]) == sign && k < WORD_LIMIT; k++) {
    bool leads = sign == SIGN_SPACE && k && u[at] == ' ' && at + 1 < n;
    if (leads && sign_of(u[at + 1]) != SIGN_SPACE) break; // the space belongs to the next word
    at += character_length(text + at, n - at);
  }
  return at;
}

// A distinct word and its pieces.
typedef struct {
  const char *text;
  size_t bytes;
  int64_t count;
  uint32_t n; // number of pieces
  int32_t *piece;
} PieceWord;
typedef VEC(PieceWord) PieceWords;

// Collects the distinct words of a text in order of occurrence, and the word at each place.
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

// -- the vocabulary -------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  VEC(const char *) word;
  Table *number; // piece to its number + 1
} Pieces;

static int32_t piece_add(Pieces *p, const char *word) {
  vec_push(p->arena, &p->word, word);
  if (*word) table_put(p->number, word, strlen(word), p->word.n);
  return (int32_t)p->word.n - 1;
}

static int32_t piece_number(const Pieces *p, const char *text, size_t n) {
  return (int32_t)table_get(p->number, text, n) - 1; // -1 if it is no piece
}

// Splits a word into characters. False: *wrong is a character that is no piece.
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

static void merge_at(PieceWord *w, uint32_t at, int32_t piece) {
  w->piece[at] = piece;
  memmove(w->piece + at + 1, w->piece + at + 2, (w->n - at - 2) * sizeof *w->piece);
  w->n--;
}

// Merges neighbours, the lowest piece first, until no pair is a piece.
static void merge_word(const Pieces *p, PieceWord *w) {
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
    if (best >= 0) merge_at(w, where, best);
  }
}

// -- learning -------------------------------------------------------------------------------------
typedef struct {
  int32_t left, right;
  int64_t count, queued; // current count; the count in its latest queue entry (never less)
  Ids word;              // words that may contain it
} PiecePair;

typedef struct {
  Pieces *pieces;
  PieceWords *words;
  Arena *arena;
  Table *number; // pair to its index in `pair` + 1
  VEC(PiecePair) pair;
  Ids changed; // pairs whose count increased
  VEC(struct QueueEntry {
    int64_t count;
    uint32_t pair;
  })
  queue; // a binary heap, the most frequent pair on top
} MergeLearner;

static bool is_more_frequent(const MergeLearner *l, struct QueueEntry a, struct QueueEntry b) {
  const PiecePair *x = &l->pair.at[a.pair], *y = &l->pair.at[b.pair];
  if (a.count != b.count) return a.count > b.count;
  return x->left != y->left ? x->left < y->left : x->right < y->right;
}

static void queue_push(MergeLearner *l, uint32_t pair) {
  struct QueueEntry new = {l->pair.at[pair].count, pair}, *q;
  l->pair.at[pair].queued = new.count;
  vec_push(l->arena, &l->queue, new);
  q = l->queue.at;
  uint32_t at = l->queue.n - 1;
  for (; at && is_more_frequent(l, new, q[(at - 1) / 2]); at = (at - 1) / 2)
    q[at] = q[(at - 1) / 2];
  q[at] = new;
}

static struct QueueEntry queue_pop(MergeLearner *l) {
  struct QueueEntry *q = l->queue.at, top = q[0], last = q[--l->queue.n];
  uint32_t at = 0, n = l->queue.n;
  for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
    child += child + 1 < n && is_more_frequent(l, q[child + 1], q[child]);
    if (!is_more_frequent(l, q[child], last)) break;
    q[at] = q[child];
  }
  q[at] = last;
  return top;
}

static uint32_t pair_of(MergeLearner *l, int32_t left, int32_t right) {
  int32_t key[2] = {left, right};
  Id known = table_get(l->number, key, sizeof key);
  if (known) return known - 1;
  vec_push(l->arena, &l->pair, (PiecePair){.left = left, .right = right});
  table_put(l->number, key, sizeof key, l->pair.n);
  return l->pair.n - 1;
}

// Adds (sign 1) or removes (sign -1) the pairs of a word, weighted by the word's count.
static void count_word(MergeLearner *l, uint32_t word, int64_t sign) {
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

static void update_queue(MergeLearner *l) {
  for (uint32_t i = 0; i < l->changed.n; i++) {
    uint32_t at = l->changed.at[i];
    if (l->pair.at[at].count > l->pair.at[at].queued) queue_push(l, at);
  }
  l->changed.n = 0;
}

// Pops the most frequent pair; false if no pair occurs twice. Entries may be stale: the count of a
// pair may have decreased since.
static bool best_pair(MergeLearner *l, PiecePair *out) {
  while (l->queue.n) {
    struct QueueEntry top = queue_pop(l);
    PiecePair *p = &l->pair.at[top.pair];
    if (top.count != p->queued) continue; // superseded by a later entry
    *out = *p;
    if (p->count == top.count) return p->queued = 0, p->count > 1;
    p->queued = 0;
    if (p->count > 1) queue_push(l, top.pair);
  }
  return false;
}

static void merge_pair(MergeLearner *l, const PiecePair *p, int32_t piece) {
  for (uint32_t i = 0; i < p->word.n; i++) {
    uint32_t word = p->word.at[i], k = 0;
    PieceWord *w = &l->words->at[word];
    while (k + 1 < w->n && (w->piece[k] != p->left || w->piece[k + 1] != p->right)) k++;
    if (k + 1 >= w->n) continue; // the pair was merged away
    count_word(l, word, -1);
    for (; k + 1 < w->n; k++)
      if (w->piece[k] == p->left && w->piece[k + 1] == p->right) merge_at(w, k, piece);
    count_word(l, word, 1);
  }
  update_queue(l);
}

static void learn_pieces(Pieces *pieces, PieceWords *words, int64_t wanted) {
  MergeLearner l = {.pieces = pieces, .words = words, .arena = arena_child(pieces->arena)};
  PiecePair best;
  l.number = table_new(l.arena);
  for (uint32_t i = 0; i < words->n; i++) count_word(&l, i, 1);
  update_queue(&l);
  while (pieces->word.n < wanted && best_pair(&l, &best)) {
    const char *text = arena_format(pieces->arena, "%s%s", pieces->word.at[best.left],
                                    pieces->word.at[best.right]);
    int32_t piece = piece_number(pieces, text, strlen(text));
    merge_pair(&l, &best, piece < 0 ? piece_add(pieces, text) : piece);
  }
  arena_free(l.arena);
}

// -- encoding a text ------------------------------------------------------------------------------
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

static int32_t *encode_text(Arena *a, const Pieces *p, PieceWords *words, const Ids *places,
                            int64_t *n) {
  const char *wrong;
  *n = 0;
  for (uint32_t i = 0; i < words->n; i++) {
    PieceWord *w = &words->at[i];
    if (spell_word(p, w, &wrong)) merge_word(p, w);
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
  if (good) out->label = encode_text(a, &p, &words, &places, &out->n);
  while (wanted->learn && p.word.n < wanted->n) piece_add(&p, ""); // unused labels
  const char **word = NEW_ARRAY(a, const char *, p.word.n + 1);
  for (uint32_t i = 0; i < p.word.n; i++) word[i] = arena_format(a, "%s", p.word.at[i]);
  out->words = (Words){"text", p.word.n, word};
  arena_free(scratch);
  return good;
}

// True if each character of every piece is a piece.
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
