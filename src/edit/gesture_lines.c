// Inserting and deleting statements. A new statement is placed beside others of its kind, with
// their indentation; a deleted one takes its line with it if nothing else is on that line. Comments
// stay.
#include "edit/gesture.h"

// -- lines ----------------------------------------------------------------------------------------
static uint32_t line_begin(const Gesture *g, uint32_t at) {
  while (at && g->text[at - 1] != '\n') at--;
  return at;
}

static uint32_t line_end(const Gesture *g, uint32_t at) {
  while (at < g->n && g->text[at] != '\n') at++;
  return at > line_begin(g, at) && g->text[at - 1] == '\r' ? at - 1 : at;
}

static bool is_blank(const Gesture *g, uint32_t from, uint32_t to) {
  while (from < to && strchr(" \t\r", g->text[from])) from++;
  return from >= to;
}

const char *line_break(const Gesture *g) {
  const char *first = memchr(g->text, '\n', g->n);
  return first && first > g->text && first[-1] == '\r' ? "\r\n" : "\n";
}

// Is the statement first on its line, with only a comment after it?
static bool begins_line(const Gesture *g, const Syntax *s) {
  return is_blank(g, line_begin(g, s->span.at), s->span.at);
}

static bool ends_line(const Gesture *g, const Syntax *s) {
  uint32_t at = span_end(s), end = line_end(g, at);
  while (at < end && strchr(" \t", g->text[at])) at++;
  return at >= end || g->text[at] == '#';
}

static const char *indent_of(const Gesture *g, const Syntax *s) {
  uint32_t from = line_begin(g, s->span.at), to = from;
  while (to < s->span.at && strchr(" \t", g->text[to])) to++;
  return arena_text(g->arena, g->text + from, to - from);
}

void insert_line_before(Gesture *g, const Syntax *s, const char *text) {
  const char *more = begins_line(g, s)
                         ? arena_format(g->arena, "%s%s%s", text, line_break(g), indent_of(g, s))
                         : arena_format(g->arena, "%s, ", text);
  replace_text(g, s->span.at, 0, more);
  select_text(g, text);
}

void insert_line_after(Gesture *g, const Syntax *s, const char *text) {
  if (begins_line(g, s) && ends_line(g, s))
    replace_text(g, line_end(g, span_end(s)), 0,
                 arena_format(g->arena, "%s%s%s", line_break(g), indent_of(g, s), text));
  else
    replace_text(g, span_end(s), 0, arena_format(g->arena, ", %s", text));
  select_text(g, text);
}

// -- deletion -------------------------------------------------------------------------------------
static uint32_t comment_in(const Gesture *g, uint32_t from, uint32_t to) {
  bool quoted = false;
  for (; from < to; from++) {
    if (g->text[from] == '"') quoted = !quoted;
    if (g->text[from] == '\n') quoted = false;
    if (g->text[from] == '#' && !quoted) return from;
  }
  return to;
}

// The end of a deletion that begins after a comment: the comment's line break is deleted too,
// unless another comment follows on that line.
static uint32_t end_after_comment(const Gesture *g, uint32_t comment, uint32_t to) {
  uint32_t end = line_end(g, comment);
  if (is_blank(g, to, line_end(g, to))) return end;
  while (end < to && strchr(" \t\r\n", g->text[end])) end++;
  return end;
}

void delete_text(Gesture *g, uint32_t from, uint32_t to) {
  while (from < to) {
    uint32_t comment = comment_in(g, from, to);
    uint32_t end = comment;
    bool first = is_blank(g, line_begin(g, from), from); // then the comment will begin the line
    while (comment < to && !first && end > from && strchr(" \t", g->text[end - 1])) end--;
    if (end > from) replace_text(g, from, end - from, "");
    from = comment < to ? end_after_comment(g, comment, to) : to;
  }
}

// Does the replacement of some change contain this text?
static bool is_in_replacements(const Gesture *g, const char *text) {
  for (uint32_t i = 0; i < g->change.n; i++)
    if (strstr(g->change.at[i].text, text)) return true;
  return false;
}

void keep_comments(Gesture *g) {
  uint32_t n = g->change.n;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t to = g->change.at[i].at + g->change.at[i].n;
    for (uint32_t at = comment_in(g, g->change.at[i].at, to); at < to;) {
      uint32_t end = line_end(g, at);
      const char *comment = arena_text(g->arena, g->text + at, end - at);
      if (!is_in_replacements(g, comment))
        replace_text(g, line_end(g, to), 0, arena_format(g->arena, "   %s", comment));
      at = comment_in(g, end, to);
    }
  }
}

// Deletes the statement with its line if it is alone there; otherwise with a comma beside it.
void delete_line(Gesture *g, const Syntax *s) {
  uint32_t from = s->span.at, to = span_end(s), end = line_end(g, to);
  if (begins_line(g, s) && is_blank(g, to, end)) {
    from = line_begin(g, from);
    to = end < g->n ? end + (g->text[end] == '\r') + 1 : end;
  } else if (begins_line(g, s) && ends_line(g, s)) {
    while (to < end && strchr(" \t", g->text[to])) to++;
  } else {
    uint32_t before = from, behind = to;
    while (before && strchr(" \t", g->text[before - 1])) before--;
    while (behind < end && strchr(" \t", g->text[behind])) behind++;
    if (before && g->text[before - 1] == ',')
      from = before - 1;
    else if (behind < end && g->text[behind] == ',')
      for (to = behind + 1; to < end && g->text[to] == ' ';) to++;
  }
  delete_text(g, from, to);
}

// -- declarations ---------------------------------------------------------------------------------
// The usual order of declarations: a new one is placed after the last one of its rank or lower.
static uint32_t rank_of(SyntaxKind kind) {
  static const SyntaxKind order[] = {N_USE,  N_AXES,    N_CONSTS,  N_SPACE,  N_GIVEN, N_OPTIMISER,
                                     N_BOX,  N_LEARN,   N_REFINE,  N_FREEZE, N_STALE, N_DIAGRAM,
                                     N_GOAL, N_MACHINE, N_MEASURE, N_TRAIN,  N_SHOW};
  for (uint32_t i = 0; i < COUNT(order); i++)
    if (order[i] == kind) return i;
  return COUNT(order);
}

// The end of the heading: the first comment of a program, up to a blank line.
static uint32_t heading_end(const Gesture *g) {
  uint32_t at = 0;
  while (at < g->n && g->text[at] == '#') {
    at = line_end(g, at);
    at += at < g->n ? (g->text[at] == '\r') + 1u : 0;
  }
  bool blank = at < g->n && is_blank(g, at, line_end(g, at));
  if (at && (at >= g->n || blank)) return at;
  return 0;
}

bool add_declaration(Gesture *g, SyntaxKind kind, const char *text) {
  Nodes all = program_declarations(g->tree);
  const Syntax *last = NULL;
  const char *nl = line_break(g);
  for (uint32_t i = 0; i < all.n; i++)
    if (rank_of((SyntaxKind)all.at[i]->kind) <= rank_of(kind)) last = all.at[i];
  if (last) {
    uint32_t at = line_end(g, span_end(last));
    const char *gap = last->kind == kind ? nl : arena_format(g->arena, "%s%s", nl, nl);
    bool close = at + strlen(nl) < g->n &&
                 !is_blank(g, at + (uint32_t)strlen(nl), line_end(g, at + (uint32_t)strlen(nl)));
    replace_text(g, at, 0,
                 arena_format(g->arena, "%s%s%s", gap, text,
                              at >= g->n                    ? nl
                              : close && last->kind != kind ? nl
                                                            : ""));
  } else {
    uint32_t at = heading_end(g);
    const char *before = at ? nl : "", *behind = at >= g->n ? "" : at ? "" : nl;
    replace_text(g, at, 0, arena_format(g->arena, "%s%s%s%s", before, text, nl, behind));
  }
  select_text(g, text);
  return true;
}

// -- names ----------------------------------------------------------------------------------------
static bool is_taken(const Gesture *g, const char *name) {
  size_t n = strlen(name);
  for (const char *at = g->text; (at = strstr(at, name)); at++)
    if (!(at > g->text && is_word_byte(at[-1])) && !is_word_byte(at[n])) return true;
  return edit_def_named(g->q->index, name, n) || known_word(name) || known_box(g->arena, name);
}

const char *fresh_name(Gesture *g, const char *like) {
  const char *name = like;
  for (uint32_t i = 2; is_taken(g, name); i++) name = arena_format(g->arena, "%s%u", like, i);
  return name;
}
