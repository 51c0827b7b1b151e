// The prologue and epilogue of every public function: is the call valid, where is its memory
// allocated, what happens when memory runs out, and what remains when it returns.
#include "api/api_own.h"
#include "base/diag.h"

enum { MESSAGES_LIMIT = 400 };

// Frees the messages once there is memory for a new list.
void forget_messages(Limn *l) {
  Arena *a = arena_child(l->own), *old = l->messages;
  Diags none = {.arena = a, .sources = l->diags->sources, .muted = l->diags->muted};
  vec_push(a, &none.list, (Diag){0}); // index 0 means none
  *l->diags = none;
  l->messages = a;
  l->refusal = NULL;
  l->last_messages.at = NULL;
  l->last_messages.n = l->last_messages.cap = 0;
  arena_free(old);
}

void drop_spans(Diags *diags) {
  for (uint32_t i = 1; i < diags->list.n; i++) {
    Diag *d = &diags->list.at[i];
    if (d->settled) continue;
    d->settled = true;
    d->span = d->note_span = (Span){0};
    d->place = d->note_place = (DiagPlace){.path = "", .line = 1, .column = 1, .lines = ""};
  }
}

// A callback may ask for messages while another call is running: it uses `inner`, so that the state
// of the running call stays.
ApiCall *call_begin(Limn *l, AnswerSlot slot) {
  if (!l || (l->call && slot != ANSWER_MESSAGES)) return NULL;
  ApiCall *c = l->call ? &l->inner : &l->outer;
  *c = (ApiCall){.l = l, .slot = slot};
  guard_enter(l->own, &c->guard);
  return c;
}

static bool is_inner(const ApiCall *c) { return c == &c->l->inner; }

static bool begin_work(ApiCall *c) {
  Limn *l = c->l;
  if (c->slot) {
    c->answer = arena_child(l->own);
    c->last = l->answer[c->slot]; // arguments may point into it: freed at the end
    l->answer[c->slot] = c->answer;
  }
  if (is_inner(c)) return false;
  l->call = c;
  if (c->slot != ANSWER_MESSAGES && l->diags->list.n > MESSAGES_LIMIT) forget_messages(l);
  l->diags->since = l->diags->list.n;
  l->diags->machine_failed = false;
  c->errors = l->diags->errors;
  l->diags->errors = c->begin = l->load_errors; // the work below counts errors of the program only
  return true;
}

bool call_allowed(ApiCall *c, CallNeed need) {
  Limn *l = c->l;
  if (!begin_work(c)) return true;
  bool wrong = l->load_errors || !l->program;
  bool works = need > NEEDS_READING;
  bool whole = need == NEEDS_READING || need == NEEDS_PROGRAM;
  if ((need && !l->w) || (whole && wrong)) {
    if (!c->errors) // otherwise the errors of the load are the answer
      call_misuse(c, l->w ? "the program that is loaded has errors" : "no program is loaded");
    call_end(c, LIMN_USAGE);
    return false;
  }
  if (works && !l->copy) l->copy = arena_save(l->world);
  if (works && !l->copy) guard_fail(&c->guard);
  c->scratch = works ? l->world : arena_child(l->own);
  return true;
}

static void end_work(ApiCall *c) {
  Limn *l = c->l;
  l->call = NULL;
  if (c->scratch && c->scratch == l->world)
    arena_restore(l->world, l->copy);
  else
    arena_free(c->scratch);
  l->diags->errors = c->errors + l->diags->errors - c->begin;
  l->diags->muted = 0;
}

static void free_last_answer(ApiCall *c) {
  arena_free(c->last);
  c->last = NULL;
}

// The target of longjmp when memory runs out. Messages that were not finished lose their spans: the
// sources may be gone.
void call_failed(ApiCall *c) {
  Limn *l = c->l;
  free_last_answer(c);
  if (is_inner(c)) return;
  drop_spans(l->diags);
  end_work(c);
}

// Records the texts of this call's messages before they are sorted among the others.
static void note_last_messages(Limn *l) {
  l->last_messages.n = 0;
  for (uint32_t i = l->diags->since; i < l->diags->list.n; i++)
    vec_push(l->messages, &l->last_messages, l->diags->list.at[i].text);
}

LimnStatus call_end(ApiCall *c, LimnStatus status) {
  Limn *l = c->l;
  if (!is_inner(c)) {
    note_last_messages(l);
    if (status == LIMN_WRONG && l->diags->machine_failed) status = LIMN_SYSTEM;
    diags_settle(l->diags);
    diags_sort(l->diags);
    end_work(c);
  }
  free_last_answer(c);
  guard_leave(&c->guard);
  return status;
}

const char *call_text(ApiCall *c, const char *text) {
  call_end(c, LIMN_GOOD);
  return text;
}

LimnStatus call_fail(ApiCall *c, LimnStatus status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(c->l->diags, (Span){0}, format, args);
  va_end(args);
  return status;
}
