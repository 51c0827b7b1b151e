// Public functions that need no program: data sets, devices, runs, the table of operations,
// quoting.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/json_write.h"
#include "core/diagram/ops.h"

#include <math.h>

// -- data -----------------------------------------------------------------------------------------
static LimnStatus describe_data(ApiCall *c, const char *name, const char *out, bool json, Buf *b) {
  Arena *a = c->scratch;
  const char *why = NULL;
  Picture p;
  Arrays all = {0};
  bool rows = out && text_ends(out, ".safetensors"), good = true, disk = false;
  CallFiles files = {.arena = a};
  files_read(&files, name);
  files_write(&files, out);
  if (!files_apart(c, &files)) return LIMN_USAGE;
  if (!data_look(a, name, &why))
    good = false, disk = true;
  else if (name)
    good = data_show(a, b, name, json, out && !rows ? &p : NULL, &why) &&
           (!rows || data_arrays(a, name, &all, &why));
  else if (out)
    good = file_error(a, &why, "%s wants the name of one set", rows ? "a file" : "a picture");
  else
    data_list(a, b, json);
  if (good && out) {
    good = rows ? safetensors_write(a, out, &all, &why) : png_write(a, out, &p, &why);
    disk = !good;
  }
  if (good) return LIMN_GOOD;
  return call_fail(c, disk ? LIMN_SYSTEM : LIMN_WRONG, "%s", why);
}

LimnStatus limn_data(Limn *l, const char *name, const char *out, bool json, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DATA, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!text) return call_end(c, call_misuse(c, "limn_data wants a place for its text"));
  Buf b = buf_new(c->answer);
  LimnStatus status = describe_data(c, name, out, json, &b);
  *text = status ? NULL : b.at;
  return call_end(c, status);
}

// -- devices --------------------------------------------------------------------------------------
static void devices_json(Buf *b, const DeviceInfo *at, uint32_t n, const char *worth,
                         const char *why) {
  JsonOut j = json_out(b);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < n; i++) {
    json_object(&j, NULL);
    json_text(&j, "device", at[i].name);
    json_text(&j, "is", at[i].is);
    json_text(&j, "precision_auto", precision_text(at[i].precision));
    json_end(&j);
  }
  if (worth) {
    json_object(&j, NULL);
    json_text(&j, "device", "auto");
    json_text(&j, "is", worth);
    json_end(&j);
  }
  if (why) {
    json_object(&j, NULL);
    json_text(&j, "device", "cuda");
    json_text(&j, "why_not", why);
    json_end(&j);
  }
  json_end(&j);
}

static void devices_text(Buf *b, const DeviceInfo *at, uint32_t n, const char *worth,
                         const char *why) {
  for (uint32_t i = 0; i < n; i++)
    buf_printf(b, "%-8s %s; --precision auto is %s\n", at[i].name, at[i].is,
               precision_text(at[i].precision));
  if (worth) buf_printf(b, "%-8s %s\n", "auto", worth);
  if (why) buf_printf(b, "no GPU   %s\n", why);
}

LimnStatus limn_devices(Limn *l, bool json, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DATA, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!text) return call_end(c, call_misuse(c, "limn_devices wants a place for its text"));
  Buf b = buf_new(c->answer);
  const char *why = NULL;
  uint32_t n;
  const DeviceInfo *at = engine_devices(c->scratch, &n, &why);
  const char *worth = n > 1 ? device_worth(c->scratch) : NULL;
  (json ? devices_json : devices_text)(&b, at, n, worth, why);
  *text = b.at;
  return call_end(c, LIMN_GOOD);
}

// -- runs -----------------------------------------------------------------------------------------
// Does the program of a run contain the pattern? 0 for a program with errors or one that cannot be
// read; -1: out of memory.
static int run_matches(Arena *a, RunInfo *r, const char *pattern) {
  const char *path = arena_format(a, "%s/program.limn", r->dir), *found = NULL;
  FileText text = file_read(a, path, TEXT_LIMIT);
  if (!text.text) return r->wrong = arena_format(a, "cannot read %s: %s", path, text.error), 1;
  Limn *l = limn_new();
  LimnStatus status = l ? limn_load(l, path) : LIMN_SYSTEM;
  if (status == LIMN_GOOD) found = limn_find(l, pattern, true);
  if (status == LIMN_GOOD && !found && !limn_errors(l))
    status = LIMN_SYSTEM; // it failed without a message
  int any = status == LIMN_SYSTEM ? -1 : found && strcmp(found, "[]") != 0;
  limn_free(l);
  return any;
}

// Parses the pattern alone, without a program.
static LimnStatus read_pattern(ApiCall *c, const char *pattern) {
  Limn *l = limn_new();
  LimnStatus status = l ? limn_load_text(l, "", "", 0) : LIMN_SYSTEM;
  if (status == LIMN_GOOD && !limn_find(l, pattern, true))
    status = limn_errors(l) ? LIMN_WRONG : LIMN_SYSTEM;
  for (uint32_t i = 1; status == LIMN_WRONG && i < l->diags->list.n; i++)
    diag_error(c->l->diags, (Span){0}, "%s", l->diags->list.at[i].text);
  limn_free(l);
  return status;
}

static LimnStatus list_runs(ApiCall *c, const char *dir, const char *learner, const char *pattern,
                            bool json, Buf *b) {
  const char *why = "";
  RunInfos all = {0}, some = {0};
  uint32_t wrong = 0;
  if (!runs_read(c->scratch, dir, &all, &why)) return call_fail(c, LIMN_WRONG, "%s", why);
  LimnStatus status = pattern ? read_pattern(c, pattern) : LIMN_GOOD;
  if (status) return status;
  for (uint32_t i = 0; i < all.n; i++) {
    RunInfo *r = &all.at[i];
    if (learner && !run_has(r, learner)) continue;
    int matches = pattern && !r->wrong ? run_matches(c->scratch, r, pattern) : 1;
    if (matches < 0) return LIMN_SYSTEM;
    if (matches) vec_push(c->scratch, &some, *r);
    wrong += matches && r->wrong;
  }
  runs_print(&some, json, b);
  if (!wrong) return LIMN_GOOD;
  return call_fail(c, LIMN_WRONG, "%u of the runs in %s cannot be read, or not all of %s", wrong,
                   dir, wrong == 1 ? "it" : "them");
}

LimnStatus limn_runs(Limn *l, const char *dir, const char *learner, const char *pattern, bool json,
                     const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_RUNS, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!dir || !text)
    return call_end(c, call_misuse(c, "limn_runs wants a folder and a place for its text"));
  Buf b = buf_new(c->answer);
  LimnStatus status = list_runs(c, dir, learner, pattern, json, &b);
  *text = status && !b.n ? NULL : b.at;
  return call_end(c, status);
}

// -- changes of a run -----------------------------------------------------------------------------
static LimnStatus request_change(ApiCall *c, const char *run, const char *what, double value) {
  Arena *a = c->scratch;
  RunNote note;
  Settings all = {0};
  const char *why;
  if (!note_read(a, run, &note, &why)) return call_fail(c, LIMN_WRONG, "%s", why);
  const Json *has = json_get(note.json, "settings");
  const Json *key = has && has->kind == JSON_OBJECT && has->n ? json_first(has) : NULL;
  for (uint32_t i = 0; key && i < has->n; i++, key = json_next(key + 1))
    vec_push(a, &all, (Setting){.name = key->text});
  why = change_unknown(a, &all, what);
  if (!why && !isfinite(value)) why = "a change is a finite number";
  if (!why && strcmp(note.state, "finished") == 0)
    why = arena_format(a, "%s is finished: there are no more steps", run);
  if (why) return call_fail(c, LIMN_WRONG, "%s", why);
  why = change_request(a, run, what, value);
  return why ? call_fail(c, LIMN_SYSTEM, "%s", why) : LIMN_GOOD;
}

LimnStatus limn_change(Limn *l, const char *run, const char *what, double value) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!run || !what)
    return call_end(c, call_misuse(c, "limn_change wants a run and what is to be changed"));
  return call_end(c, request_change(c, run, what, value));
}

// -- texts ----------------------------------------------------------------------------------------
const char *limn_ops(Limn *l) {
  ENTER(c, l, ANSWER_OPS, NEEDS_NOTHING, NULL, NULL);
  Buf b = buf_new(c->answer);
  ops_markdown(&b);
  return call_text(c, b.at);
}

const char *limn_quote(Limn *l, const char *text) {
  ENTER(c, l, ANSWER_QUOTE, NEEDS_NOTHING, NULL, NULL);
  Buf b = buf_new(c->answer);
  if (text)
    buf_json(&b, text, strlen(text));
  else
    call_misuse(c, "limn_quote wants a text");
  return call_text(c, text ? b.at : NULL);
}

const char *limn_nearest(const char *name, const char *const *list, uint32_t n) {
  return name && (list || !n) ? nearest_name(name, list, n) : NULL;
}

static void shown_add(char *out, size_t room, size_t at, const char *text, size_t n) {
  for (size_t i = 0; i < n && at + i + 1 < room; i++) out[at + i] = text[i], out[at + i + 1] = 0;
}

size_t limn_shown(const char *text, char *out, size_t room) {
  size_t n = text ? strlen(text) : 0, length = 0;
  if (room) *out = 0;
  for (size_t at = 0, m; at < n; at += m) {
    char written[8];
    bool stays = text[at] == '\n' || text[at] == '\t';
    m = stays ? 1 : printable_length(text + at, n - at);
    snprintf(written, sizeof written, "\\x%02x", (unsigned char)text[at]);
    shown_add(out, room, length, m ? text + at : written, m ? m : 4);
    length += m ? m : 4;
    if (!m) m = 1;
  }
  return length;
}
