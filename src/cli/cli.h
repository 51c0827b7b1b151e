// The command line. It uses the public interface only. commands.txt specifies the commands and
// their options; it is embedded in the program: `--help` prints it, options are parsed by it, and
// man pages and completions are generated from it.
#ifndef LIMN_CLI_CLI_H
#define LIMN_CLI_CLI_H

#include "limn.h"

#include <stdio.h>

// All options; a command reads the fields that its options set.
typedef struct {
  const char *file, *name;
  bool json, who, paths, check, origins, sandbox, no_sandbox;
  bool understood; // the command line was valid, whatever the exit status is
  const char *after, *with, *has, *precision, *of;
  LimnEval eval;
  LimnTrain train;
  LimnUse use;
  LimnDraw draw;
  LimnExport export;
  LimnImport import;
  char *open, *close; // names separated by commas
  const char *opened[64], *closed[64];
  LimnInput in[64];
  char folder[4096]; // of the run, if it is created before the run starts
  bool made;         // this command created the folder
  const char *set_name[64], *set_value[64];
  uint32_t nset;
  const char *read[64];
  uint32_t nread, port;
  bool no_browser;
} Options;

// commands.txt
extern const char command_text[];
extern const size_t command_text_size;

// text.c: parses commands.txt
typedef struct {
  const char *at; // after "# " of its heading
  size_t n;
} CommandText;
CommandText command_named(const char *name); // at is NULL: no such command
void command_help(CommandText, FILE *);
// Escapes control characters, which could drive the terminal.
void put_printable(FILE *, const char *text);
// Prints several texts: SAY(stderr, "no run in ", dir, "\n")
void put_all(FILE *, const char *const *texts);
#define SAY(to, ...) put_all(to, (const char *const[]){__VA_ARGS__, NULL})
void command_usage(CommandText, FILE *); // one line
int help_all(FILE *);
// The least and the largest number of positional arguments.
void command_words(CommandText, int *least, int *most);
// Does the command have this option? *values: "a|b|c" if only these values are allowed, otherwise
// "".
bool command_option(CommandText, const char *name, char *values, size_t room);
// May the option be given with (or without) a NAME?
bool command_option_fits(CommandText, const char *name, bool named);
// Does the description of one say "(not with --a, --b)" and name the other?
bool command_options_exclude(CommandText, const char *a, const char *b);
// Does the description begin with "with --other:"?
bool command_option_needs(CommandText, const char *name, char *other, size_t room);
// Does --out accept "-" for standard output?
bool command_writes_out(CommandText);
// The closest option, for "did you mean"; or NULL.
const char *near_option(CommandText, const char *name);
const char *near_command(const char *name);

// options.c: returns 0; the exit status after a message; or -1 if help was printed
int read_options(CommandText, const char *name, int argc, char **argv, Options *);

// commands.c
typedef int RunCommand(Limn *, Options *); // returns the exit status
RunCommand *command_run(const char *name); // NULL: there is no such command

// lsp.c
int run_lsp(Limn *, Options *);

// studio.c
int run_studio(Limn *, Options *);

#endif
