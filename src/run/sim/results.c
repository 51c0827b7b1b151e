// Results of runs and checks: initialised from a program, written as run.json, read back from a
// folder.
#include "base/names.h"
#include "base/source.h"
#include "run/sim/simulate_own.h"

// -- from a program -------------------------------------------------------------------------------
static const char *run_words(Arena *a, const Run *run) {
  return run->system->flows ? arena_format(a, "to %g", run->end)
                            : arena_format(a, "for %.0f ticks", run->end);
}

// Machine[3](x: 1): its system before closing. It was elaborated before, so there are no errors.
static const System *system_named(Results *r, const Syntax *use) {
  const Syntax *name = use_base(use);
  return elab_system(r->in, r->p, name_text(r->w->names, name->name), use);
}

static void find_systems(Results *r, const Run *run, SimResult *to) {
  to->system = system_named(r, use_callee(simulate_what(run->node)));
  Nodes clauses = simulate_clauses(run->node);
  for (uint32_t i = 0; i < clauses.n; i++)
    if (clauses.at[i]->kind == N_ON && on_source(clauses.at[i])->kind != N_STR && !run->set)
      to->on = system_named(r, on_source(clauses.at[i]));
}

void results_begin(Results *r, Elab *in, Program *p) {
  World *w = elab_world(in);
  Buf settings = buf_new(w->arena);
  elab_settings(in, &settings);
  *r = (Results){.in = in, .p = p, .w = w, .arena = w->arena};
  r->note = (RunNote){.machine = true,
                      .program = w->sources->file.at[p->tree->span.file].path,
                      .set = settings.at,
                      .state = "running"};
  for (uint32_t i = 0; i < p->ran->run.n; i++) {
    const Run *run = &p->ran->run.at[i];
    const char *name = name_text(w->names, run->name);
    SimResult one = {.name = name, .words = run_words(r->arena, run)};
    find_systems(r, run, &one);
    one.base = name_text(w->names, run->base);
    if (run->turn) one.turn = turn_text(r->arena, w, run->turn);
    while (one.family < i && !(run->turn && p->ran->run.at[one.family].said == run->said))
      one.family++;
    vec_push(r->arena, &r->run, one);
  }
  results_name_files(r);
  for (uint32_t i = 0; i < p->ran->check.n; i++) {
    const Check *c = &p->ran->check.at[i];
    RunCheck one = {.of = c->of, .text = one_line(r->arena, c->text), .figure = ""};
    bool usual = c->kind == CHECK_BOXES && !check_within(c->node);
    one.within = usual ? 0 : c->within;
    vec_push(r->arena, &r->note.check, one);
  }
}

void results_channels(Results *r, uint32_t run) {
  record_channels(r->w, r->p, run, &r->run.at[run].record);
}

uint32_t results_count(const Results *r, bool holds) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->note.check.n; i++)
    n += r->note.check.at[i].done && r->note.check.at[i].holds == holds;
  return n;
}

const RunNote *results_note(Results *r) {
  r->note.dir = r->dir;
  r->note.run.n = 0;
  r->note.steps = 0;
  for (uint32_t i = 0; i < r->run.n; i++) {
    const SimResult *run = &r->run.at[i];
    NoteRun one = {.name = run->name,
                   .words = run->words,
                   .file = run->file,
                   .steps = (double)run->record.steps,
                   .moments = run->record.time.n,
                   .happened = run->record.events_logged.n,
                   .seconds = run->seconds,
                   .reached = run->stopped ? run->record.reached : 0,
                   .state = run->failed    ? "failed"
                            : run->stopped ? "stopped"
                            : run->done    ? "finished"
                                           : "not begun"};
    r->note.steps += one.steps;
    vec_push(r->arena, &r->note.run, one);
  }
  return &r->note;
}

// -- from a folder --------------------------------------------------------------------------------
static void read_run_note(const NoteRun *from, SimResult *run) {
  run->done = strcmp(from->state, "not begun") != 0;
  run->stopped = strcmp(from->state, "stopped") == 0;
  run->failed = strcmp(from->state, "failed") == 0;
  if (run->failed) run->done = from->moments > 0;
  run->seconds = from->seconds;
  run->record.reached = from->reached;
  run->record.steps = from->steps > 0 && from->steps < 1e18 ? (uint64_t)from->steps : 0;
}

// Checks are matched by their text, since they may have moved in the program.
static void read_check_note(Results *r, const RunCheck *from) {
  for (uint32_t i = 0; i < r->note.check.n; i++) {
    RunCheck *c = &r->note.check.at[i];
    if (c->done || strcmp(c->text, from->text) != 0 || strcmp(c->of, from->of) != 0) continue;
    double within = c->within;
    *c = *from;
    c->within = within;
    return;
  }
}

bool results_read(Elab *in, Program *p, const char *dir, Results *r, const char **error) {
  RunNote note;
  results_begin(r, in, p);
  r->dir = dir;
  if (!note_read(r->arena, dir, &note, error)) return false;
  r->note.state = note.state;
  r->note.message = note.message;
  r->note.device = note.device, r->note.device_is = note.device_is;
  r->note.seed = note.seed, r->note.threads = note.threads, r->note.seconds = note.seconds;
  for (uint32_t i = 0; i < note.check.n; i++) read_check_note(r, &note.check.at[i]);
  for (uint32_t i = 0; i < r->run.n; i++) {
    if (i == note.run.n || strcmp(note.run.at[i].name, r->run.at[i].name) != 0)
      return file_error(r->arena, error,
                        "%s was made by another program: it has no run %u called `%s`", dir, i + 1,
                        r->run.at[i].name);
    read_run_note(&note.run.at[i], &r->run.at[i]);
  }
  for (uint32_t i = 0; i < r->run.n; i++)
    if (!numbers_read(r, i, error)) return false;
  return true;
}
