// Checks a node against signatures.def: number and types of inputs, outputs and attributes. Values
// and sizes are not checked here.
#include "base/number.h"
#include "port/onnx/onnx.h"

typedef struct {
  const char *ops, *domain;
  const char *in, *out, *attribute; // in = NULL: the operator was removed in this version
} Signature;

static const Signature signatures[] = {
#define SIGNATURE_OF(ops, domain, in, out, attributes) {ops, domain, in, out, attributes},
#define GONE(ops) {ops, "", NULL, NULL, NULL},
#include "port/onnx/signatures.def"
#undef SIGNATURE_OF
#undef GONE
};

// The state of checking one node, and the fault found.
typedef struct {
  Arena *arena;
  const OnnxNode *node;
  int64_t version;
  const char *why;
} NodeCheck;

__attribute__((format(printf, 2, 3))) static bool node_misfit(NodeCheck *c, const char *format,
                                                              ...) {
  va_list list;
  va_start(list, format);
  c->why = arena_vformat(c->arena, format, list);
  va_end(list);
  return false;
}

static const char *next_word(const char *at, size_t *n) {
  while (*at == ' ') at++;
  *n = strcspn(at, " ");
  return *n ? at : NULL;
}

// -- inputs and outputs ---------------------------------------------------------------------------
// A word of a signature: `T:fi?`.
typedef struct {
  const char *name, *kinds; // pointers into the text
  size_t named, kinded;     // their lengths
  char how;                 // ? * ~, or 0
} Place;

static Place place_of(const char *word, size_t n) {
  Place p = {.name = word};
  if (n && strchr("?*~", word[n - 1])) p.how = word[--n];
  while (p.named < n && word[p.named] != ':') p.named++;
  p.kinds = word + p.named + (p.named < n);
  p.kinded = n - (size_t)(p.kinds - word);
  return p;
}

// The minimal and maximal count.
static void count_places(const char *words, uint32_t *least, uint32_t *most) {
  size_t n;
  uint32_t k = 0;
  *least = 0, *most = 0;
  for (const char *at = words; (at = next_word(at, &n)); at += n) {
    Place p = place_of(at, n);
    k++;
    if (!p.how || p.how == '*') *least = k;
    *most = p.how == '*' || p.how == '~' ? UINT32_MAX : k;
  }
}

static bool count_fits(NodeCheck *c, const char *what, const char *words, uint32_t there) {
  uint32_t least, most;
  count_places(words, &least, &most);
  if (there >= least && there <= most) return true;
  const char *to = most == least        ? ""
                   : most == UINT32_MAX ? " or more"
                                        : arena_format(c->arena, " to %u", most);
  return node_misfit(c, "it has %u %s, but %u%s are wanted", there, what, least, to);
}

static bool type_is_of(OnnxType t, const Place *p) {
  return !p->kinded || memchr(p->kinds, onnx_type_info[t].kind, p->kinded);
}

enum { TYPE_NAMES = 8 };
typedef struct {
  struct {
    const char *name;
    size_t n;
    OnnxType type;
    uint32_t at;
  } seen[TYPE_NAMES];
  uint32_t n;
} TypesSeen;

// All inputs with the same type variable must have the same type.
static bool type_agrees(NodeCheck *c, TypesSeen *seen, const Place *p, uint32_t at, OnnxType type) {
  if (!p->named || p->how == '~') return true;
  for (uint32_t i = 0; i < seen->n; i++) {
    if (seen->seen[i].n != p->named || memcmp(seen->seen[i].name, p->name, p->named) != 0) continue;
    if (seen->seen[i].type == type) return true;
    return node_misfit(c, "inputs %u and %u are of types %s and %s, but one type is wanted",
                       seen->seen[i].at + 1, at + 1, onnx_type_info[seen->seen[i].type].name,
                       onnx_type_info[type].name);
  }
  if (seen->n == TYPE_NAMES) return true;
  seen->seen[seen->n].name = p->name, seen->seen[seen->n].n = p->named;
  seen->seen[seen->n].type = type, seen->seen[seen->n++].at = at;
  return true;
}

static bool inputs_fit(NodeCheck *c, const char *words, const OnnxType *in, uint32_t count) {
  TypesSeen seen = {.n = 0};
  Place p = {0};
  const char *at = words;
  size_t n = 0;
  if (!count_fits(c, "inputs", words, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (p.how != '*' && p.how != '~') {
      at = next_word(at, &n);
      p = place_of(at, n), at += n;
    }
    if (!in[i] && p.how != '?' && p.how != '~') return node_misfit(c, "input %u is missing", i + 1);
    if (!in[i]) continue;
    if (!type_is_of(in[i], &p))
      return node_misfit(c, "input %u is of type %s, which it does not take", i + 1,
                         onnx_type_info[in[i]].name);
    if (!type_agrees(c, &seen, &p, i, in[i])) return false;
  }
  return true;
}

// -- attributes -----------------------------------------------------------------------------------
static const char *const attribute_words[] = {
    [ONNX_ATTR_UNDEFINED] = "nothing",       [ONNX_ATTR_FLOAT] = "a float",
    [ONNX_ATTR_INT] = "a whole number",      [ONNX_ATTR_STRING] = "a text",
    [ONNX_ATTR_TENSOR] = "a tensor",         [ONNX_ATTR_GRAPH] = "a graph",
    [ONNX_ATTR_FLOATS] = "a list of floats", [ONNX_ATTR_INTS] = "a list of whole numbers",
    [ONNX_ATTR_STRINGS] = "a list of texts", [ONNX_ATTR_TENSORS] = "a list of tensors",
    [ONNX_ATTR_GRAPHS] = "a list of graphs", [ONNX_ATTR_OTHER] = "something else",
};

static OnnxAttributeType attribute_type(char letter) {
  static const char letters[] = "?fistgFISTGx";
  const char *at = strchr(letters, letter == 'b' ? 'i' : letter);
  static const OnnxAttributeType types[] = {
      ONNX_ATTR_UNDEFINED, ONNX_ATTR_FLOAT,   ONNX_ATTR_INT,    ONNX_ATTR_STRING,
      ONNX_ATTR_TENSOR,    ONNX_ATTR_GRAPH,   ONNX_ATTR_FLOATS, ONNX_ATTR_INTS,
      ONNX_ATTR_STRINGS,   ONNX_ATTR_TENSORS, ONNX_ATTR_GRAPHS, ONNX_ATTR_OTHER};
  return at ? types[at - letters] : ONNX_ATTR_OTHER;
}

// An attribute word: `mode@13:s!=a|b`.
typedef struct {
  size_t named;
  int64_t since;
  char letter;
  bool needed;
  const char *choice; // the text after =, up to the end of the word; NULL: any value
  size_t chosen;
} AttributeWord;

static AttributeWord attribute_word(const char *at, size_t n) {
  AttributeWord w = {0};
  w.named = strcspn(at, ":@");
  const char *type = at + w.named;
  if (*type == '@') w.since = (int64_t)number_read(type + 1, &type);
  size_t k = (size_t)(type - at) + 1;
  if (k < n) w.letter = at[k++];
  if (k < n && at[k] == '!') w.needed = true, k++;
  if (k < n && at[k] == '=') w.choice = at + k + 1, w.chosen = n - k - 1;
  return w;
}

static bool attribute_find(const NodeCheck *c, const char *words, const char *name,
                           AttributeWord *w) {
  size_t n;
  for (const char *at = words; (at = next_word(at, &n)); at += n) {
    *w = attribute_word(at, n);
    if (w->named == strlen(name) && !memcmp(at, name, w->named)) return w->since <= c->version;
  }
  return false;
}

static bool is_choice(const AttributeWord *w, const char *text) {
  for (const char *at = w->choice, *end = at + w->chosen; at < end;) {
    size_t n = strcspn(at, "| ");
    if (at + n > end) n = (size_t)(end - at);
    if (n == strlen(text) && !memcmp(at, text, n)) return true;
    at += n + 1;
  }
  return false;
}

static bool attribute_fits(NodeCheck *c, const OnnxAttribute *a, const char *words) {
  AttributeWord w;
  const char *name = text_shown(c->arena, a->name, strlen(a->name));
  if (!attribute_find(c, words, a->name, &w))
    return node_misfit(c, "it has no attribute `%s`", name);
  OnnxAttributeType want = attribute_type(w.letter);
  if (a->type != want)
    return node_misfit(c, "attribute `%s` is %s, but %s is wanted", name, attribute_words[a->type],
                       attribute_words[want]);
  if (w.letter == 'b' && a->i != 0 && a->i != 1)
    return node_misfit(c, "attribute `%s` is %lld, but 0 or 1 is wanted", name, (long long)a->i);
  if (w.choice && !is_choice(&w, a->s))
    return node_misfit(c, "attribute `%s` is `%s`, but one of %.*s is wanted", name,
                       text_shown(c->arena, a->s, strlen(a->s)), (int)w.chosen, w.choice);
  return true;
}

static bool attributes_fit(NodeCheck *c, const char *words) {
  size_t n;
  for (const char *at = words; (at = next_word(at, &n)); at += n) {
    AttributeWord w = attribute_word(at, n);
    const char *name = arena_text(c->arena, at, w.named);
    if (w.needed && w.since <= c->version && !onnx_attribute(c->node, name))
      return node_misfit(c, "attribute `%s` is missing", name);
  }
  for (uint32_t i = 0; i < c->node->attribute.n; i++)
    if (!attribute_fits(c, &c->node->attribute.at[i], words)) return false;
  return true;
}

// -- a node ---------------------------------------------------------------------------------------
static bool attributes_differ(NodeCheck *c) {
  const OnnxNode *node = c->node;
  for (uint32_t i = 0; i < node->attribute.n; i++) {
    const char *name = node->attribute.at[i].name;
    if (onnx_attribute(node, name) != &node->attribute.at[i])
      return node_misfit(c, "attribute `%s` is there twice",
                         text_shown(c->arena, name, strlen(name)));
  }
  return true;
}

static uint32_t outputs_of(const OnnxNode *node) {
  uint32_t n = node->out.n;
  while (n && !*node->out.at[n - 1]) n--;
  return n;
}

// The version from which on the operator has this signature; 0: it is of others.
static int64_t signature_since(const Signature *s, const OnnxNode *node) {
  size_t n = strlen(node->op);
  if (strcmp(s->domain, node->domain) != 0) return 0;
  for (const char *at = s->ops; at; at = strchr(at, ',') ? strchr(at, ',') + 2 : NULL)
    if (!strncmp(at, node->op, n) && at[n] == ' ') return (int64_t)number_read(at + n + 1, NULL);
  return 0;
}

const char *onnx_node_fault(Arena *a, const OnnxNode *node, int64_t version, const OnnxType *in,
                            uint32_t count) {
  NodeCheck c = {a, node, version, NULL};
  const Signature *best = NULL;
  int64_t first = 0, last = 0;
  if (!attributes_differ(&c)) return c.why;
  for (uint32_t i = 0; i < COUNT(signatures); i++) {
    int64_t since = signature_since(&signatures[i], node);
    if (since && (!first || since < first)) first = since;
    if (since > last && since <= version) best = &signatures[i], last = since;
  }
  if (!first) return "this operator is not known";
  if (!best)
    node_misfit(&c, "operator set %lld does not have it: it is there from %lld on",
                (long long)version, (long long)first);
  else if (!best->in)
    node_misfit(&c, "operator set %lld does not have it: it is there up to %lld",
                (long long)version, (long long)last - 1);
  else if (attributes_fit(&c, best->attribute) && inputs_fit(&c, best->in, in, count))
    count_fits(&c, "outputs", best->out, outputs_of(node));
  return c.why;
}
