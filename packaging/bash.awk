# Completion for bash, from the table of commands and options.
function write(c, k, v, list) {
  for (c = 1; c <= commands; c++) list = list " " name[c]
  print "# bash completion for limn; made from src/cli/commands.txt"
  print "_limn() {"
  print "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}"
  print "  COMPREPLY=()"
  print "  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W '" substr(list, 2) " --help --version' -- \"$word\")); return; fi"
  print "  case $command:$before in"
  for (c = 1; c <= commands; c++)
    for (k = 1; k <= options[c]; k++) {
      if (value[c, k] == "") continue
      v = option[c, k]
      if (v == "--out") v = v "|" name[c] ":-o"
      print "    " name[c] ":" v ") " answer(kind(value[c, k])) "; return ;;"
    }
  print "  esac"
  print "  case $command in"
  for (c = 1; c <= commands; c++) {
    list = "--help"
    for (k = 1; k <= options[c]; k++) list = list " " option[c, k]
    print "    " name[c] ") case $word in -*) COMPREPLY=($(compgen -W '" list "' -- \"$word\")) ;; *) " answer(word_kind(words[c])) " ;; esac ;;"
  }
  print "  esac"
  print "}"
  print "complete -o filenames -F _limn limn"
}
# Files end in .limn where a program is wanted.
function word_kind(w) { return w ~ /FILE/ ? "PROGRAM" : kind(w) }
function answer(k) {
  if (k == "") return ":"
  if (k == "FILE") return "COMPREPLY=($(compgen -f -- \"$word\"))"
  if (k == "DIR") return "COMPREPLY=($(compgen -d -- \"$word\"))"
  if (k == "PROGRAM") return "COMPREPLY=($(compgen -d -- \"$word\"; compgen -f -X '!*.limn' -- \"$word\"))"
  if (k == "COMMAND") return "COMPREPLY=($(compgen -W '" all() "' -- \"$word\"))"
  return "COMPREPLY=($(compgen -W '" k "' -- \"$word\"))"
}
function all(c, s) { for (c = 1; c <= commands; c++) s = s (c > 1 ? " " : "") name[c]; return s }
