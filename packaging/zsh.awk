# Completion for zsh, from the table of commands and options.
function quote(s) { gsub(/'/, "'\\''", s); return s }
function colons(s) { gsub(/[][\\:]/, "\\\\&", s); return quote(s) }
function action(k) {
  if (k == "FILE") return "_files"
  if (k == "DIR") return "_files -/"
  if (k == "PROGRAM") return "_files -g \"*.limn\""
  if (k == "COMMAND") return "_limn_commands"
  return k == "" ? " " : "(" k ")"
}
function write(c, k, n, part, i, p) {
  print "#compdef limn"
  print "# Made from src/cli/commands.txt."
  print "_limn_commands() {"
  print "  local -a commands=("
  for (c = 1; c <= commands; c++) print "    '" name[c] ":" quote(line[c]) "'"
  print "  )"
  print "  _describe command commands"
  print "}"
  print "_limn() {"
  print "  if (( CURRENT == 2 )); then _limn_commands; return; fi"
  print "  local command=$words[2]"
  print "  shift words"
  print "  (( CURRENT-- ))"
  print "  case $command in"
  for (c = 1; c <= commands; c++) {
    print "    " name[c] ")"
    print "      _arguments '--help[what it takes]' \\"
    for (k = 1; k <= options[c]; k++) print "        '" entry(c, k) "' \\"
    n = split(words[c], part, " ")
    p = 0
    for (i = 1; i <= n && part[i] !~ /^-/; i++) {
      p++
      print "        '" p (part[i] ~ /^\[/ ? "::" : ":") bare(part[i]) ":" action(part[i] == "FILE" ? "PROGRAM" : kind(part[i])) "' \\"
    }
    print "        ;;"
  }
  print "  esac"
  print "}"
  print "_limn \"$@\""
}
function bare(s) { gsub(/[][]/, "", s); return s }
function entry(c, k, s) {
  s = (option[c, k] == "--in" || option[c, k] == "--set" ? "*" : "") option[c, k] "[" colons(short(about[c, k])) "]"
  return value[c, k] == "" ? s : s ":" colons(value[c, k]) ":" action(kind(value[c, k]))
}
