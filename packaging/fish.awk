# Completion for fish, from the table of commands and options.
function quote(s) { gsub(/\\/, "\\\\", s); gsub(/'/, "\\'", s); return s }
function write(c, k, all, on, v) {
  for (c = 1; c <= commands; c++) all = all " " name[c]
  print "# Made from src/cli/commands.txt."
  print "complete -c limn -f"
  print "complete -c limn -n __fish_use_subcommand -l help -d 'the commands'"
  print "complete -c limn -n __fish_use_subcommand -l version -d 'which version this is'"
  for (c = 1; c <= commands; c++) print "complete -c limn -n __fish_use_subcommand -a " name[c] " -d '" quote(line[c]) "'"
  for (c = 1; c <= commands; c++) {
    on = "complete -c limn -n '__fish_seen_subcommand_from " name[c] "'"
    if (words[c] ~ /FILE/) print on " -k -a '(__fish_complete_suffix .limn)'"
    else if (words[c] ~ /DIR|SET/) print on " -F"
    else if (words[c] ~ /COMMAND/) print on " -a '" substr(all, 2) "'"
    for (k = 1; k <= options[c]; k++) {
      v = kind(value[c, k])
      print on " -l " substr(option[c, k], 3) (option[c, k] == "--out" ? " -s o" : "") \
        (value[c, k] == "" ? "" : v == "FILE" || v == "DIR" ? " -r -F" : v == "" ? " -x" : " -x -a '" v "'") " -d '" quote(short(about[c, k])) "'"
    }
  }
}
