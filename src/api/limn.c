// Handles: creating and freeing, loading a program, messages.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/source.h"
#include "base/stop.h"

#include <stdlib.h>

const char *limn_version(void) { return LIMN_VERSION; }

static bool limn_start(Limn *l) {
  Guard g;
  if (!GUARDED(l->own, &g)) return false;
  l->diags = NEW(l->own, Diags);
  l->weights = arena_child(l->own);
  forget_messages(l);
  guard_leave(&g);
  return true;
}

Limn *limn_new(void) {
  Limn *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->own = arena_new();
  if (l->own && limn_start(l)) return l;
  limn_free(l);
  return NULL;
}

void limn_free(Limn *l) {
  if (!l || l->call) return; // a callback cannot free a handle during a call
  while (l->trainer) limn_trainer_close(l->trainer);
  arena_copy_free(l->copy);
  arena_free(l->own);
  free(l);
}

// -- loading --------------------------------------------------------------------------------------
static void setting_add(Arena *a, ApiSettings *all, const char *name, const char *value) {
  ApiSetting own = {arena_text(a, name, strlen(name)), NULL};
  if (value) own.value = arena_text(a, value, strlen(value));
  if (value) vec_push(a, all, own);
}

// Copies all settings into a new arena, so that repeated calls need no more memory.
LimnStatus limn_set(Limn *l, const char *name, const char *value) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!name) return call_end(c, call_misuse(c, "limn_set wants a name"));
  Arena *a = arena_child(l->own), *old = l->settings;
  ApiSettings all = {0};
  bool known = false;
  for (uint32_t i = 0; i < l->setting.n; i++) {
    bool same = strcmp(l->setting.at[i].name, name) == 0;
    known |= same;
    setting_add(a, &all, l->setting.at[i].name, same ? value : l->setting.at[i].value);
  }
  if (!known) setting_add(a, &all, name, value);
  l->settings = a, l->setting = all;
  arena_free(old);
  return call_end(c, LIMN_GOOD);
}

LimnStatus limn_allow(Limn *l, const char *folder) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  bool known = false;
  for (uint32_t i = 0; folder && i < l->allowed.n; i++)
    known |= strcmp(l->allowed.at[i], folder) == 0;
  if (folder && !known) vec_push(l->own, &l->allowed, arena_text(l->own, folder, strlen(folder)));
  if (!folder) l->allowed.n = 0;
  return call_end(c, LIMN_GOOD);
}

// The program's own folder, the data folders, and folders that the user allowed.
const ReadRights *read_rights_of(const Limn *l, Arena *a, const char *path) {
  ReadRights *r = NEW(a, ReadRights);
  const char *name;
  rights_add(a, r, path_folder(a, path, &name));
  data_rights(a, r);
  rights_add_list(a, r, getenv("LIMN_READ"));
  for (uint32_t i = 0; i < l->allowed.n; i++) rights_add(a, r, l->allowed.at[i]);
  return r;
}

// Frees the loaded program.
void unload(Limn *l) {
  arena_copy_free(l->copy);
  arena_free(l->world);
  arena_free(l->loaded);
  arena_free(l->typed);
  l->typed = NULL, l->index = NULL;
  l->copy = NULL;
  l->world = l->loaded = NULL;
  l->w = NULL, l->in = NULL, l->program = NULL;
  l->path = l->text = NULL;
  l->load_errors = 0;
  for (uint32_t i = 0; i < ANSWERS; i++) arena_free(l->answer[i]), l->answer[i] = NULL;
  arena_free(l->weights);
  l->weights = NULL;
  l->weight.at = NULL;
  l->weight.n = l->weight.cap = 0;
}

static void begin_load(ApiCall *c) {
  Limn *l = c->l;
  unload(l);
  forget_messages(l);
  l->diags->since = l->diags->list.n;
  c->errors = c->begin = 0;
  l->weights = arena_child(l->own);
  l->loaded = arena_child(l->own);
}

// The handle refers to the program only once it is complete.
static LimnStatus read_program(Limn *l, const char *path, const char *text, size_t n) {
  if (n > TEXT_LIMIT) {
    diag_error(l->diags, (Span){0}, "cannot read %s: it is larger than %d bytes", path, TEXT_LIMIT);
    return LIMN_WRONG;
  }
  l->world = arena_child(l->own);
  World *w = world_new(l->world);
  w->diags = l->diags;
  w->sources->rights = read_rights_of(l, l->world, path);
  l->diags->sources = w->sources;
  Elab *in = elab_new(w);
  if (l->noting) elab_note_uses(in, l->stop);
  elab_words(in, l->words);
  for (uint32_t i = 0; i < l->setting.n; i++)
    elab_set(in, l->setting.at[i].name, l->setting.at[i].value);
  l->path = arena_text(l->loaded, path, strlen(path));
  l->text = arena_text(l->loaded, text, n);
  l->length = n;
  Program *p = elab_program(in, l->path, l->text, n); // it keeps both pointers
  diags_settle(l->diags);
  l->load_errors = l->diags->errors;
  if (l->noting) l->index = edit_index(l->world, in, p);
  l->w = w, l->in = in, l->program = p;
  return l->load_errors ? LIMN_WRONG : LIMN_GOOD;
}

// Arguments may point into this handle's previous result: copy them before it is freed.
LimnStatus load_text(ApiCall *c, const char *name, const char *text, size_t n) {
  const char *own = name ? arena_text(c->scratch, name, strlen(name)) : NULL;
  const char *copy = text && n <= TEXT_LIMIT ? arena_text(c->scratch, text, n) : text;
  begin_load(c);
  if (!name || (!text && n)) return call_misuse(c, "a name and a text are wanted");
  return read_program(c->l, own, copy, n);
}

LimnStatus limn_load_text(Limn *l, const char *name, const char *text, size_t n) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, (unload(l), LIMN_SYSTEM));
  return call_end(c, load_text(c, name, text, n));
}

// Reports, in one sentence, a file that is clearly no program; false: it may be one.
static bool is_no_program(Limn *l, const char *path, const FileText *f) {
  if (!memchr(f->text, 0, f->n)) return false; // source text has no zero bytes, binary files do
  Id e = diag_error(l->diags, (Span){0}, "%s is no text, which a program is", path);
  if (text_ends(path, ".onnx"))
    diag_help(l->diags, e, "`limn import %s` makes a program of an ONNX model", path);
  if (text_ends(path, ".safetensors"))
    diag_help(l->diags, e, "weights go with a program: `limn … FILE.limn --from %s`", path);
  return true;
}

void limn_stop(volatile sig_atomic_t *stop, int why) {
  if (stop) stop_ask(stop, why ? why : 1);
}

LimnStatus limn_load(Limn *l, const char *path) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, (unload(l), LIMN_SYSTEM));
  const char *own = path ? arena_text(c->scratch, path, strlen(path)) : NULL;
  begin_load(c);
  if (!path) return call_end(c, call_misuse(c, "a path is wanted"));
  path = own;
  FileText f = file_read(c->scratch, path, TEXT_LIMIT);
  if (f.text && is_no_program(l, path, &f)) return call_end(c, LIMN_WRONG);
  if (f.text) return call_end(c, read_program(l, path, f.text, f.n));
  return call_end(c, call_fail(c, LIMN_WRONG, "cannot read %s: %s", path, f.error));
}

LimnStatus set_alike(Limn *to, const Limn *from) {
  LimnStatus status = LIMN_GOOD;
  for (uint32_t i = 0; !status && i < from->setting.n; i++)
    status = limn_set(to, from->setting.at[i].name, from->setting.at[i].value);
  for (uint32_t i = 0; !status && i < from->allowed.n; i++)
    status = limn_allow(to, from->allowed.at[i]);
  return status;
}

LimnStatus load_again(Limn *to, const Limn *from) {
  LimnStatus status = set_alike(to, from);
  return status ? status : limn_load_text(to, from->path, from->text, from->length);
}

// -- messages -------------------------------------------------------------------------------------
uint32_t limn_errors(const Limn *l) { return l ? l->diags->errors : 0; }

void limn_forget(Limn *l) {
  Guard g;
  if (!l || l->call) return;
  guard_enter(l->own, &g);
  if (setjmp(g.place)) return;
  forget_messages(l);
  guard_leave(&g);
}

static bool was_said_last(const Limn *l, const Diag *d) {
  for (uint32_t i = 0; i < l->last_messages.n; i++)
    if (l->last_messages.at[i] == d->text) return true;
  return false;
}

void limn_forget_last(Limn *l) {
  if (!l || l->call || !l->last_messages.n) return;
  Diags *d = l->diags;
  uint32_t to = 1;
  for (uint32_t i = 1; i < d->list.n; i++) {
    bool gone = was_said_last(l, &d->list.at[i]);
    if (gone && d->list.at[i].kind == DIAG_ERROR && d->errors) d->errors--;
    if (!gone) d->list.at[to++] = d->list.at[i];
  }
  d->list.n = d->since = to;
  l->last_messages.n = 0;
  l->refusal = NULL;
}

uint32_t limn_message_count(const Limn *l) {
  return l && l->diags->list.n ? l->diags->list.n - 1 : 0;
}

LimnStatus limn_message(const Limn *l, uint32_t i, LimnMessage *out) {
  if (!out || out->size < sizeof out->size || i >= limn_message_count(l)) return LIMN_USAGE;
  const Diag *d = &l->diags->list.at[i + 1];
  LimnMessage m = {.size = out->size,
                   .severity = d->kind == DIAG_ERROR ? LIMN_ERROR : LIMN_WARNING,
                   .file = d->settled ? d->place.path : "",
                   .line = d->place.line,
                   .column = d->place.column,
                   .length = d->place.length,
                   .text = d->text,
                   .note = d->note,
                   .help = d->help};
  if (d->note) {
    m.note_file = d->settled ? d->note_place.path : "";
    m.note_line = d->note_place.line;
    m.note_column = d->note_place.column;
    m.note_length = d->note_place.length;
  }
  memcpy(out, &m, m.size < sizeof m ? m.size : sizeof m);
  return LIMN_GOOD;
}

const char *limn_messages(Limn *l, bool json) {
  const char *none = json ? "[]" : "";
  ENTER(c, l, ANSWER_MESSAGES, NEEDS_NOTHING, none, none);
  Buf b = buf_new(c->answer);
  if (json)
    diags_json(l->diags, &b);
  else
    diags_print(l->diags, &b);
  return call_text(c, b.at);
}
