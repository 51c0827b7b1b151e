# Man pages from the texts of --help: limn.1, and limn-COMMAND.1 for each command, into the folder `out`.
function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); gsub(/^[.']/, "\\\\\\&&", s); return s }
# A name in bold, and what stands for something else in italics.
function shown(o, v, s) {
  s = "\\fB" roff(o) "\\fR"
  if (v != "") s = s " " (v ~ /^[a-z0-9|]+$/ ? roff(v) : "\\fI" roff(v) "\\fR")
  return s
}
# Words of a synopsis: capitals stand for something else.
function synopsis(s, n, part, i, out) {
  n = split(s, part, " ")
  for (i = 1; i <= n; i++) out = out " " (part[i] ~ /^-/ ? "\\fB" roff(part[i]) "\\fR" : "\\fI" roff(part[i]) "\\fR")
  return out
}
function head(file, page, about) {
  print ".\\\" Made from src/cli/commands.txt." >file
  print ".TH " toupper(page) " 1 \"\" \"limn " version "\" \"limn\"" >file
  print ".SH NAME" >file
  print roff(page) " \\- " roff(about) >file
  print ".SH SYNOPSIS" >file
}
function status(file) {
  print ".SH EXIT STATUS" >file
  print "0 good, 1 the text or data is wrong, 2 wrong usage, 3 the machine failed." >file
}
function command_page(c, file, i) {
  file = out "/limn-" name[c] ".1"
  head(file, "limn-" name[c], line[c])
  print "\\fBlimn " name[c] "\\fR" synopsis(words[c]) (options[c] ? " [\\fIOPTIONS\\fR]" : "") >file
  if (texts[c]) print ".SH DESCRIPTION" >file
  for (i = 1; i <= texts[c]; i++) print roff(text[c, i]) >file
  if (options[c]) print ".SH OPTIONS" >file
  for (i = 1; i <= options[c]; i++) {
    print ".TP" >file
    print shown(option[c, i], value[c, i]) >file
    print roff(about[c, i]) >file
  }
  status(file)
  print ".SH SEE ALSO" >file
  print ".BR limn (1)," >file
  print ".BR limn\\-language (7)" >file
  close(file)
}
function write(c, file, i) {
  file = out "/limn.1"
  head(file, "limn", title)
  print "\\fBlimn\\fR \\fICOMMAND\\fR [\\fIWORDS\\fR] [\\fIOPTIONS\\fR]" >file
  print ".SH DESCRIPTION" >file
  print "A program says what data there is, which boxes there are, which of them are to be learned, and which diagrams should come out equal." >file
  print "limn checks it, draws it, differentiates it, compiles a step of training, and trains." >file
  print "The language is described in" >file
  print ".BR limn\\-language (7)." >file
  print ".SH COMMANDS" >file
  for (c = 1; c <= commands; c++) {
    print ".TP" >file
    print "\\fBlimn " name[c] "\\fR" synopsis(words[c]) >file
    print roff(line[c]) "." >file
    if (name[c] != "help") print "See" >file
    if (name[c] != "help") print ".BR limn\\-" name[c] " (1)." >file
  }
  print ".SH NOTES" >file
  for (i = 1; i <= notes; i++) if (note[i] !~ /^Exit status/) print roff(note[i]) >file
  status(file)
  print ".SH ENVIRONMENT" >file
  for (i = 1; i <= variables; i++) {
    print ".TP" >file
    print "\\fB" variable[i] "\\fR" >file
    print roff(meaning[i]) >file
  }
  print ".SH SEE ALSO" >file
  print ".BR limn\\-language (7)" >file
  close(file)
  for (c = 1; c <= commands; c++) if (name[c] != "help") command_page(c)
}
