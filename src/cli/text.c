// Parses commands.txt. A command begins with "# NAME ARGUMENTS" and a line that describes it. A
// line that begins with two spaces and a dash is an option: its name, its value, and after two
// spaces its description.
//
//   # print FILE [NAME]
//   the diagram of a box …
//
//     --after check|inline      the diagram after a pass
//     --threads N               without NAME: is refused where there is a NAME; with NAME: the other way round
//     --origins                 with the line and column
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 32, NAMES = 64 };

static size_t line_length(const char *at) { return strcspn(at, "\n"); }

static const char *line_after(const char *at) {
  size_t n = line_length(at);
  return at[n] ? at + n + 1 : at + n;
}

// The first command whose heading is at or after this position.
static CommandText command_from(const char *at) {
  while (*at && strncmp(at, "# ", 2)) at = line_after(at);
  if (!*at) return (CommandText){0};
  const char *end = line_after(at);
  while (*end && strncmp(end, "# ", 2)) end = line_after(end);
  while (end[-1] == '\n' && end[-2] == '\n') end--;
  return (CommandText){at + 2, (size_t)(end - at - 2)};
}

static CommandText command_first(void) { return command_from(command_text); }
static CommandText command_next(CommandText c) { return command_from(c.at + c.n); }

static bool is_called(CommandText c, const char *name) {
  size_t n = strlen(name);
  return !strncmp(c.at, name, n) && (c.at[n] == ' ' || c.at[n] == '\n');
}

CommandText command_named(const char *name) {
  CommandText c = command_first();
  while (c.at && !is_called(c, name)) c = command_next(c);
  return c;
}

// -- messages -------------------------------------------------------------------------------------
// Writes byte by byte, so that it needs no memory: there may be none left.
void put_printable(FILE *to, const char *text) {
  char one[5], shown[24];
  for (size_t n, plain; *text; text += n) {
    for (plain = 0; text[plain] >= ' ' && text[plain] <= '~';) plain++;
    if (plain) fwrite(text, 1, plain, to);
    text += plain;
    for (n = 0; text[n] && n < 4 && (!n || ((unsigned char)text[n] & 0xC0) == 0x80); n++)
      one[n] = text[n];
    one[n] = 0;
    limn_shown(one, shown, sizeof shown);
    fputs(shown, to);
  }
}

void put_all(FILE *to, const char *const *texts) {
  while (*texts) put_printable(to, *texts++);
}

// -- help -----------------------------------------------------------------------------------------
static bool option_line(const char *at) { return !strncmp(at, "  -", 3); }

static const char *option_first(CommandText c) {
  const char *at = c.at;
  while (at < c.at + c.n && !option_line(at)) at = line_after(at);
  return at < c.at + c.n ? at : NULL;
}

static const char *option_next(CommandText c, const char *at) {
  do at = line_after(at);
  while (at < c.at + c.n && !option_line(at));
  return at < c.at + c.n ? at : NULL;
}

void command_usage(CommandText c, FILE *to) {
  fprintf(to, "usage: limn %.*s%s\n", (int)line_length(c.at), c.at,
          option_first(c) ? " [OPTIONS]" : "");
}

void command_help(CommandText c, FILE *to) {
  const char *rest = line_after(c.at);
  command_usage(c, to);
  fprintf(to, "\n%.*s", (int)(c.at + c.n - rest), rest);
}

int help_all(FILE *to) {
  const char *notes = line_after(line_after(command_text));
  fprintf(to, "%.*s\n\n", (int)line_length(command_text), command_text);
  for (CommandText c = command_first(); c.at; c = command_next(c)) {
    const char *line = line_after(c.at);
    fprintf(to, "  limn %.*s\n        %.*s\n", (int)line_length(c.at), c.at, (int)line_length(line),
            line);
  }
  fprintf(to, "\n%.*s", (int)(strstr(notes, "\n# ") - notes), notes);
  return to == stderr ? 2 : 0;
}

// -- parameters of commands -----------------------------------------------------------------------
void command_words(CommandText c, int *least, int *most) {
  const char *end = c.at + line_length(c.at), *at = c.at + strcspn(c.at, " \n");
  *least = *most = 0;
  while (at < end && at[1] != '-') { // a required option ends the positional arguments
    *least += at[1] != '[';
    ++*most;
    at += 1 + strcspn(at + 1, " \n");
  }
}

static void name_of(const char *line, char *out) {
  size_t n = strcspn(line + 2, " \n");
  if (n >= NAME_ROOM) n = NAME_ROOM - 1;
  memcpy(out, line + 2, n);
  out[n] = 0;
}

// The value of an option is a choice if it is in lower case: 32|64|bf16.
static void read_choice(const char *line, char *values, size_t room) {
  const char *at = line + 2 + strcspn(line + 2, " \n");
  size_t n = *at == ' ' ? strcspn(at + 1, " \n") : 0;
  *values = 0;
  if (!n || n >= room || strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789|") < n) return;
  memcpy(values, at + 1, n);
  values[n] = 0;
}

bool command_option(CommandText c, const char *name, char *values, size_t room) {
  char own[NAME_ROOM];
  for (const char *at = option_first(c); at; at = option_next(c, at)) {
    name_of(at, own);
    if (strcmp(own, name)) continue;
    read_choice(at, values, room);
    return true;
  }
  return false;
}

// The description starts after two spaces, or on the next line if the value is long.
static const char *meaning_of(const char *line) {
  size_t n = line_length(line);
  for (size_t i = 2; i + 2 < n; i++)
    if (!strncmp(line + i, "  ", 2)) return line + i + strspn(line + i, " ");
  line = line_after(line);
  return line + strspn(line, " ");
}

bool command_option_fits(CommandText c, const char *name, bool named) {
  char own[NAME_ROOM];
  const char *other = named ? "without NAME:" : "with NAME:";
  for (const char *at = option_first(c); at; at = option_next(c, at)) {
    name_of(at, own);
    if (!strcmp(own, name)) return strncmp(meaning_of(at), other, strlen(other)) != 0;
  }
  return true;
}

// The lines of an option, up to the next option or the end of the list.
static size_t option_lines(CommandText c, const char *name, const char **at) {
  char own[NAME_ROOM];
  for (*at = option_first(c); *at; *at = option_next(c, *at)) {
    name_of(*at, own);
    if (strcmp(own, name)) continue;
    const char *end = line_after(*at);
    while (end < c.at + c.n && !strncmp(end, "   ", 3)) end = line_after(end);
    return (size_t)(end - *at);
  }
  return 0;
}

static bool option_says(CommandText c, const char *name, const char *words, const char *other) {
  const char *at;
  size_t n = option_lines(c, name, &at), k = strlen(words), m = strlen(other);
  for (size_t i = 0; i + k <= n; i++) {
    if (strncmp(at + i, words, k)) continue;
    if (!m) return true;
    for (size_t j = i + k; j + m < n && at[j] != ')'; j++)
      if (!strncmp(at + j, other, m) && strchr(",) \n", at[j + m])) return true;
  }
  return false;
}

bool command_options_exclude(CommandText c, const char *a, const char *b) {
  return option_says(c, a, "(not with ", b) || option_says(c, b, "(not with ", a);
}

bool command_option_needs(CommandText c, const char *name, char *other, size_t room) {
  const char *at, *meaning = option_lines(c, name, &at) ? meaning_of(at) : "";
  size_t n = strncmp(meaning, "with --", 7) ? 0 : strcspn(meaning + 5, ": ");
  snprintf(other, room, "%.*s", (int)n, meaning + 5);
  return n && meaning[5 + n] == ':';
}

bool command_writes_out(CommandText c) { return option_says(c, "--out", "-o - ", ""); }

static const char *nearest(const char *name, char (*all)[NAME_ROOM], uint32_t n) {
  const char *list[NAMES];
  for (uint32_t i = 0; i < n; i++) list[i] = all[i];
  return limn_nearest(name, list, n);
}

const char *near_option(CommandText c, const char *name) {
  static char all[NAMES][NAME_ROOM];
  uint32_t n = 0;
  for (const char *at = option_first(c); at && n < NAMES; at = option_next(c, at))
    name_of(at, all[n++]);
  return nearest(name, all, n);
}

const char *near_command(const char *name) {
  static char all[NAMES][NAME_ROOM];
  uint32_t n = 0;
  for (CommandText c = command_first(); c.at && n < NAMES; c = command_next(c))
    name_of(c.at - 2, all[n++]);
  return nearest(name, all, n);
}
