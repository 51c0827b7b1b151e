// Whose parentheses or brackets these are, and which of its inputs or options stands here.
#include "edit/context.h"

// The parts of a header between these brackets, by commas.
static void parts_of(const EditAsk *q, const char *label, char open, JsonOut *j) {
  const char *at = strchr(label, open);
  char close = open == '(' ? ')' : ']';
  uint32_t depth = 0;
  json_list(j, "parameters");
  if (at && open == '[' && strchr(label, '(') && at > strchr(label, '(')) at = NULL;
  for (const char *from = at ? ++at : NULL; at && *at; at++) {
    bool end = !depth && *at == close;
    if (end || (!depth && *at == ',')) {
      while (*from == ' ') from++;
      json_object(j, NULL);
      json_text(j, "label", arena_text(q->arena, from, (size_t)(at - from)));
      json_end(j);
      from = at + 1;
    }
    if (end) break;
    if (strchr("([{", *at)) depth++;
    if (strchr(")]}", *at)) depth--;
  }
  json_end(j);
}

static void one_signature(EditAsk *q, JsonOut *j, const char *label, const char *doc, char open) {
  json_object(j, NULL);
  json_text(j, "label", label);
  if (doc && *doc) json_text(j, "documentation", doc);
  parts_of(q, label, open, j);
  json_end(j);
}

bool answer_signature(EditAsk *q, JsonOut *j) {
  const EditIndex *x = q->index;
  TypingContext c = context_at(q->arena, q->now, place_offset(q, q->at));
  if (c.no_code || !c.owner || (c.open != '(' && c.open != '[')) return false;
  const Def *d = edit_def_named(x, c.owner, strlen(c.owner));
  const KnownWord *w = d ? NULL : known_box(q->arena, c.owner);
  if (!d && !w) return false;
  json_object(j, NULL);
  json_list(j, "signatures");
  if (w) one_signature(q, j, w->form, w->doc, c.open);
  for (const Def *o = d; o; o = o->overload) {
    const char *doc =
        o->span.file ? comment_above(q->arena, &x->sources->file.at[o->span.file], o->span.at) : "";
    one_signature(q, j, def_header(q->arena, x, o), doc, c.open);
  }
  json_end(j);
  json_number(j, "activeSignature", 0);
  json_number(j, "activeParameter", c.commas);
  json_end(j);
  return true;
}
