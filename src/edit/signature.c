// Signature help: the callee of the innermost open bracket, and the parameter at the cursor.
#include "base/json_write.h"
#include "edit/context.h"

// The end of the part from `at`: a comma outside of brackets, or `end`.
static const char *part_end(const char *at, const char *end) {
  for (uint32_t depth = 0; at < end && (depth || *at != ','); at++) {
    depth += strchr("([{", *at) != NULL;
    depth -= strchr(")]}", *at) != NULL;
  }
  return at;
}

// Is this part the domain of the option before it, `0 <= p < 1`?
static bool is_domain(const char *at, const char *end) {
  size_t plain = strcspn(at, ":<>=");
  return at + plain < end && at[plain] != ':';
}

// Splits a header between two positions at its top-level commas; the domain of an option belongs to it.
static void put_parts_between(const EditQuestion *q, const char *at, const char *end, JsonOut *j) {
  while (at < end) {
    const char *last = part_end(at, end), *next = last;
    while (next < end && is_domain(next + 1, part_end(next + 1, end)))
      last = next = part_end(next + 1, end);
    while (at < last && *at == ' ') at++;
    while (at < last && last[-1] == ' ') last--;
    json_object(j, NULL);
    json_text(j, "label", arena_text(q->arena, at, (size_t)(last - at)));
    json_end(j);
    at = next + 1;
  }
}

// The bracket that closes the one before `at`; NULL: none.
static const char *closing(const char *at) {
  uint32_t depth = 0;
  for (; *at && (depth || !strchr(")]}", *at)); at++) {
    depth += strchr("([{", *at) != NULL;
    depth -= strchr(")]}", *at) != NULL;
  }
  return *at ? at : NULL;
}

// The parameters in these brackets of a header. Unnamed inputs, as in `learn f : R[4] -> R[2]`, are
// before the arrow.
static void put_parameters(const EditQuestion *q, const char *label, char open, JsonOut *j) {
  const char *round = strchr(label, '('), *colon = strchr(label, ':'), *arrow = strstr(label, "->");
  const char *at = open == '(' ? round : strchr(label, '[');
  bool unnamed = colon && arrow && colon < arrow && (!round || colon < round);
  json_list(j, "parameters");
  if (open == '(' && unnamed)
    put_parts_between(q, colon + 1, arrow, j);
  else if (at && (open == '(' || !round || at < round) && closing(at + 1))
    put_parts_between(q, at + 1, closing(at + 1), j);
  json_end(j);
}

static void put_signature(EditQuestion *q, JsonOut *j, const char *label, const char *doc,
                          char open) {
  json_object(j, NULL);
  json_text(j, "label", label);
  if (doc && *doc) json_text(j, "documentation", doc);
  put_parameters(q, label, open, j);
  json_end(j);
}

bool answer_signature(EditQuestion *q, JsonOut *j) {
  const EditIndex *x = q->index;
  TypingContext c = context_at(q->arena, q->now, position_offset(q, q->at));
  if (c.no_code || !c.owner || (c.open != '(' && c.open != '[')) return false;
  const Def *d = edit_def_named(x, c.owner, strlen(c.owner));
  const KnownWord *w = d ? NULL : known_box(q->arena, c.owner);
  if (!d && !w) return false;
  json_object(j, NULL);
  json_list(j, "signatures");
  if (w) put_signature(q, j, w->form, w->doc, c.open);
  for (const Def *o = d; o; o = o->overload) {
    const char *doc =
        o->span.file ? comment_above(q->arena, &x->sources->file.at[o->span.file], o->span.at) : "";
    put_signature(q, j, def_header(q->arena, x, o), doc, c.open);
  }
  json_end(j);
  json_number(j, "activeSignature", 0);
  json_number(j, "activeParameter", c.commas);
  json_end(j);
  return true;
}
