// The boxes that can be inserted on a wire: those of the program, of the files that it uses, of the
// library by section, and the functions of the language. For a question with a position, boxes that
// accept the type of the wire there come first, those that also return it before the others.
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/ops.h"
#include "edit/gesture.h"

#include <stdlib.h>

typedef enum { FITS_NOT, FITS, FITS_BACK } Fits;

typedef struct {
  const char *name, *header, *doc, *group, *from;
  const Syntax *node; // NULL: it has no declaration
  Fits fits;
  uint32_t number; // position in the list, for a stable sort
} PaletteBox;

typedef struct {
  EditQuestion *q;
  const Type *type; // of the wire; NULL: any box is offered
  VEC(PaletteBox) box;
} Palette;

typedef struct {
  Span lhs;
  const Syntax *found;
} EquationSearch;

static bool is_around(void *context, const Syntax *n) {
  EquationSearch *e = context;
  bool here = n->kind == N_EQUATION && n->span.at <= e->lhs.at &&
              e->lhs.at + e->lhs.n <= n->span.at + n->span.n;
  if (here) e->found = n;
  return here;
}

static const Syntax *equation_around(const Syntax *tree, Span lhs) {
  EquationSearch e = {lhs, NULL};
  syntax_any(tree, is_around, &e);
  return e.found;
}

// -- the type of a wire ---------------------------------------------------------------------------
// The type of the wire whose source is this span, in any diagram of the program.
static const Type *type_at(const EditIndex *x, Span at) {
  const World *w = x->w;
  for (uint32_t i = w->diagram.n; i-- > 1;) {
    const Diagram *d = w->diagram.at[i];
    for (Id k = 1; k < d->wire.n; k++) {
      Span s = w->origin.at[d->wire.at[k].origin].span;
      if (s.file == at.file && s.at == at.at && s.n == at.n && d->wire.at[k].type.base)
        return &d->wire.at[k].type;
    }
  }
  return NULL;
}

// The type of a use of a name: that of the value which its statement defines, or of the input.
static const Type *type_of_name(EditQuestion *q, Span at) {
  const EditIndex *x = q->index;
  const EditSymbol *s = edit_symbol(x, edit_use_at(x, x->file, at.at));
  if (!s || s->first.file != x->file) return NULL;
  const Type *type = type_at(x, s->first);
  for (uint32_t i = 0; !type && i < x->equated.n; i++) {
    if (x->equated.at[i]->name_span.at != s->first.at) continue;
    const Syntax *line = equation_around(x->tree, x->equated.at[i]->span);
    if (line) type = type_at(x, line->span);
    if (line && !type) type = type_at(x, equation_value(line)->span);
  }
  return type;
}

// -- type compatibility ---------------------------------------------------------------------------
static const Syntax *first_type(const EditIndex *x, const Syntax *n) {
  while (n && n->kind == N_TYPES) n = types_in(n).n == 1 ? types_in(n).at[0] : NULL;
  const Syntax *base = n && n->kind == N_TYPE ? type_base(n) : NULL;
  if (!base || base->kind != N_NAME) return n;
  const char *name = name_text(x->w->names, base->name);
  const Def *d = edit_def_named(x, name, strlen(name));
  return d && d->kind == DEF_SPACE && d->node ? first_type(x, space_types(d->node)) : n;
}

static bool size_is(const EditIndex *x, const Syntax *want, Size have) {
  int64_t n;
  if (!size_value(x->w, size_now(x->w, have), &n)) return true;
  const Syntax *own = want->kind == N_SIZED ? sized_value(want) : want;
  if (own->kind == N_NUM) return own->num == (double)n;
  if (own->kind != N_NAME) return true;
  const char *name = name_text(x->w->names, own->name);
  const Def *d = edit_def_named(x, name, strlen(name));
  int64_t axis;
  bool fixed =
      d && d->kind == DEF_AXIS && d->size && size_value(x->w, size_now(x->w, d->size), &axis);
  return !fixed || axis == n;
}

// The type of a box gives the last axes; a value may have more axes in front, over which it is
// mapped.
static bool accepts(const Palette *p, const Syntax *type) {
  const EditIndex *x = p->q->index;
  type = first_type(x, type);
  if (!type || type->kind != N_TYPE) return !type;
  const Syntax *base = type_base(type);
  bool real = base->kind == N_NAME && strcmp(name_text(x->w->names, base->name), "R") == 0;
  bool bits = base->kind == N_NAME && strcmp(name_text(x->w->names, base->name), "B") == 0;
  Base want = real ? BASE_R : bits ? BASE_BIT : BASE_LABEL;
  if (p->type->base != want) return false;
  Nodes axes = type_brackets(type) ? brackets_items(type_brackets(type)) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < axes.n; i++) {
    const Syntax *axis = axes.at[axes.n - 1 - i];
    if (axis->kind == N_SPREAD) return true;
    if (i >= p->type->rank) return false;
    if (!size_is(x, axis, p->type->axis[p->type->rank - 1 - i].size)) return false;
  }
  return true;
}

static bool same_source(const EditIndex *x, const Syntax *a, const Syntax *b, Arena *scratch) {
  return a && b &&
         strcmp(source_words(scratch, x->sources, a->span),
                source_words(scratch, x->sources, b->span)) == 0;
}

// The type of a box's only input, if its header says one.
static bool only_input(const Syntax *n, const Syntax **in) {
  const Syntax *params = declared_params(n), *result = declared_result(n);
  *in = NULL;
  if (params) {
    if (params_in(params).n != 1) return false;
    *in = param_type(params_in(params).at[0]);
    return true;
  }
  if (!result || result->kind != N_SIG || !sig_to(result)) return false;
  *in = sig_from(result);
  return types_in(*in).n == 1;
}

// The options without a default: a use has to give them.
static Nodes options_of(const Syntax *n) {
  const Syntax *cfg = n && n->kind == N_BOX ? box_cfg(n) : NULL;
  return cfg ? cfg_in(cfg) : (Nodes){0, NULL};
}

static bool needs_options(const Syntax *n) {
  Nodes all = options_of(n);
  for (uint32_t i = 0; i < all.n; i++)
    if (!cfgpar_value(all.at[i])) return true;
  return false;
}

static Fits def_fits(const Palette *p, const Def *d) {
  const Syntax *n = d->node, *in;
  if (!n || (n->kind != N_BOX && n->kind != N_LEARNER) || !only_input(n, &in)) return FITS_NOT;
  if (!p->type) return FITS;
  if (!accepts(p, in)) return FITS_NOT;
  const Syntax *result = declared_result(n);
  if (result && result->kind == N_SIG) result = sig_to(result);
  bool back = (!in && !result) || same_source(p->q->index, first_type(p->q->index, in),
                                              first_type(p->q->index, result), p->q->arena);
  return back && !needs_options(n) ? FITS_BACK : FITS;
}

static Fits function_fits(const Palette *p, const char *sig) {
  if (!p->type) return strlen(sig) == 3 ? FITS : FITS_NOT;
  Base want = sig[0] == 'R' ? BASE_R : sig[0] == 'B' ? BASE_BIT : p->type->base;
  if (strlen(sig) != 3 || p->type->base != want) return FITS_NOT;
  return sig[2] == sig[0] ? FITS_BACK : FITS;
}

// -- documentation --------------------------------------------------------------------------------
// The library's section: the rule above the declaration, `# -- norms ----`.
static const char *section_of(Arena *a, const Source *s, uint32_t at) {
  while (at) {
    uint32_t end = at;
    while (at && s->text[at - 1] != '\n') at--;
    if (end - at > 5 && strncmp(s->text + at, "# -- ", 5) == 0) {
      uint32_t from = at + 5;
      while (end > from && strchr("- \r", s->text[end - 1])) end--;
      const char *text = arena_text(a, s->text + from, end - from);
      return arena_text(a, text, strcspn(text, ":("));
    }
    if (at) at--;
  }
  return "";
}

static const char *trimmed(Arena *a, const char *text) {
  size_t n = strcspn(text, "\n");
  while (n && text[n - 1] == ' ') n--;
  return arena_text(a, text, n);
}

// Library sections whose boxes are not inserted on wires: learner bodies, learning-rate schedules.
static bool is_hidden_section(const char *section) {
  static const char *const apart[] = {"what a learner without a body becomes", "optimisers",
                                      "schedules"};
  for (uint32_t i = 0; i < COUNT(apart); i++)
    if (strcmp(section, apart[i]) == 0) return true;
  return false;
}

static void add_def(Palette *p, const Def *d) {
  const EditIndex *x = p->q->index;
  Arena *a = p->q->arena;
  const Scope *library = x->program->scope->library;
  bool box = d->kind == DEF_BOX || d->kind == DEF_LEARNER || d->kind == DEF_STALE;
  if (!box || !d->span.file) return;
  const Source *s = &x->sources->file.at[d->span.file];
  PaletteBox b = {.name = name_text(x->w->names, d->name), .header = def_header(a, x, d)};
  b.doc = trimmed(a, comment_above(a, s, d->span.at));
  b.from = d->scope == library ? "library" : d->span.file == x->file ? "program" : s->path;
  b.group = d->scope == library  ? trimmed(a, section_of(a, s, d->span.at))
            : d->kind == DEF_BOX ? "boxes of this program"
                                 : "learners of this program";
  b.fits = def_fits(p, d);
  b.number = p->box.n;
  b.node = d->node;
  if (d->scope != library || !is_hidden_section(b.group)) vec_push(a, &p->box, b);
}

static void add_functions(Palette *p) {
  for (uint32_t fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const char *name = fn_rows[fn].name;
    if (edit_def_named(p->q->index, name, strlen(name))) continue; // a box shadows the function
    const KnownWord *w = known_box(p->q->arena, name);
    PaletteBox b = {.name = w->name, .header = w->form, .doc = w->doc, .from = "language"};
    b.group = "functions";
    b.fits = function_fits(p, fn_rows[fn].sig);
    b.number = p->box.n;
    vec_push(p->q->arena, &p->box, b);
  }
}

static int by_fit(const void *a, const void *b) {
  const PaletteBox *x = a, *y = b;
  if (x->fits != y->fits) return x->fits > y->fits ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static void put_box(const Palette *p, JsonOut *j, const PaletteBox *b) {
  Nodes options = options_of(b->node);
  json_object(j, NULL);
  json_text(j, "name", b->name);
  json_text(j, "header", b->header);
  json_text(j, "doc", b->doc);
  json_text(j, "group", b->group);
  json_text(j, "from", b->from);
  json_bool(j, "fits", b->fits != FITS_NOT);
  json_list(j, "wants");
  for (uint32_t i = 0; i < options.n; i++)
    if (!cfgpar_value(options.at[i]))
      json_text(j, NULL, name_text(p->q->index->w->names, options.at[i]->name));
  json_end(j);
  json_end(j);
}

bool answer_palette(EditQuestion *q, JsonOut *j) {
  Palette p = {.q = q};
  Span at;
  Gesture g = {.q = q, .arena = q->arena};
  bool place = q->text && read_place(&g, q->text, &at);
  if (place) p.type = type_at(q->index, at);
  if (place && !p.type) p.type = type_of_name(q, at);
  for (uint32_t i = 0; i < q->index->def.n; i++) add_def(&p, q->index->def.at[i]);
  add_functions(&p);
  qsort(p.box.at, p.box.n, sizeof *p.box.at, by_fit);
  json_list(j, NULL);
  for (uint32_t i = 0; i < p.box.n; i++) put_box(&p, j, &p.box.at[i]);
  json_end(j);
  return true;
}
