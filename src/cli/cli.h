// The command line: nothing but the public interface is used. What a command is called, which options it has and what they mean
// stands in commands.txt, which is part of the program: `--help` prints it, the reading of options asks it, and man pages and
// completions are made from it.
#ifndef LIMN_CLI_CLI_H
#define LIMN_CLI_CLI_H

#include "limn.h"

#include <stdio.h>

// Everything that can be said on the command line; a command looks at what its options fill.
typedef struct {
  const char *file, *name;
  bool json, who, paths, check, origins, sandbox, no_sandbox;
  bool understood; // whatever the exit status says, the command line was right
  const char *after, *with, *has, *precision, *of;
  LimnEval eval;
  LimnTrain train;
  LimnUse use;
  LimnDraw draw;
  LimnExport export;
  LimnImport import;
  char *open, *close; // names with commas between
  const char *opened[64], *closed[64];
  LimnInput in[64];
  char folder[4096]; // of a run, when it is made before the run
  bool made;         // it was not there
  const char *set_name[64], *set_value[64];
  uint32_t nset;
  const char *read[64];
  uint32_t nread, port;
  bool no_browser;
} Options;

// commands.txt
extern const char command_text[];
extern const size_t command_text_size;

// text.c: commands.txt, read
typedef struct {
  const char *at; // behind "# " of its heading
  size_t n;
} CommandText;
CommandText command_named(const char *name); // at is NULL: there is none
void command_help(CommandText, FILE *);
void put_shown(FILE *, const char *text); // as a terminal may have it
// Several, one after the other: SAY(stderr, "no run in ", dir, "\n")
void put_all(FILE *, const char *const *texts);
#define SAY(to, ...) put_all(to, (const char *const[]){__VA_ARGS__, NULL})
void command_usage(CommandText, FILE *); // one line
int help_all(FILE *);
// How many words without an option's dashes it takes: at least, at most.
void command_words(CommandText, int *least, int *most);
// Whether it has the option; *values: "a|b|c" if only these may follow, otherwise "".
bool command_option(CommandText, const char *name, char *values, size_t room);
// Whether it may be given where there is a NAME, or none.
bool command_option_fits(CommandText, const char *name, bool named);
// Whether the text of one says that it is "(not with --a, --b)", and names the other.
bool command_options_exclude(CommandText, const char *a, const char *b);
// Whether its text begins "with --other:".
bool command_option_needs(CommandText, const char *name, char *other, size_t room);
bool command_writes_out(CommandText);                   // "-o -" is standard output
const char *near_option(CommandText, const char *name); // "did you mean", or NULL
const char *near_command(const char *name);

// options.c: 0, or the exit status after a message; -1: help was asked for and given
int read_options(CommandText, const char *name, int argc, char **argv, Options *);

// commands.c: they answer with the exit status
int run_check(Limn *, Options *);
int run_find(Limn *, Options *);
int run_fmt(Limn *, Options *);
int run_print(Limn *, Options *);
int run_grad(Limn *, Options *);
int run_draw(Limn *, Options *);
int run_cost(Limn *, Options *);
int run_eval(Limn *, Options *);
int run_train(Limn *, Options *);
int run_predict(Limn *, Options *);
int run_sample(Limn *, Options *);
int run_export(Limn *, Options *);
int run_read(Limn *, Options *);
int run_diff(Limn *, Options *);
int run_report(Limn *, Options *);
int run_machines(Limn *, Options *);
int run_import(Limn *, Options *);
int run_runs(Limn *, Options *);
int run_change(Limn *, Options *);
int run_data(Limn *, Options *);
int run_ops(Limn *, Options *);
int run_devices(Limn *, Options *);

// lsp.c
int run_lsp(Limn *, Options *);

// studio.c
int run_studio(Limn *, Options *);

#endif
