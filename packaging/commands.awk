# Reads src/cli/commands.txt, whose form src/cli/text.c describes, into arrays, then calls write() of the file that comes after this one:
#   awk -v version=0.2.0 -f commands.awk -f man.awk src/cli/commands.txt
#
#   commands, name[i], words[i]   "FILE [NAME]", line[i]  what it is for
#   options[i], option[i, k], value[i, k]  what follows it, about[i, k]  what it means
#   texts[i], text[i, k]          lines that stand below
#   title, notes, note[k]         what stands before the first command
#   variables, variable[k], meaning[k]  of the environment
function trim(s) { gsub(/^ +| +$/, "", s); return s }
# The first part of a sentence, unless that says too little.
function short(s, part) {
  part = s
  sub(/[;:,(].*/, "", part)
  if (length(part) < 16) { part = s; sub(/;.*/, "", part) }
  if (length(part) > 72) { part = substr(part, 1, 70); sub(/ [^ ]*$/, " …", part) }
  return trim(part)
}

/^# / {
  c = ++commands
  k = 0
  name[c] = $2
  words[c] = trim(substr($0, 3 + length($2)))
  getline line[c]
  next
}
!c && NR == 1 { title = $0; sub(/^limn: /, "", title); next }
!c && /^  [A-Z_]+   / { variable[++variables] = $1; meaning[variables] = trim(substr($0, 3 + length($1))); next }
!c { if ($0 != "") note[++notes] = trim($0); next }
/^  -/ {
  k = ++options[c]
  option[c, k] = $1
  rest = substr($0, 3 + length($1))
  if (match(rest, /^ [^ ]+/)) {
    value[c, k] = substr(rest, 2, RLENGTH - 1)
    rest = substr(rest, RLENGTH + 1)
  }
  about[c, k] = trim(rest)
  next
}
/^      / && k { about[c, k] = trim(about[c, k] " " trim($0)); next }
/^$/ { k = 0; next }
{ text[c, ++texts[c]] = trim($0) }
END { write() }

# What may follow an option or stand as a word: a list of words, or one of the names "dir", "file", "program", "command", "".
function kind(v) {
  if (v ~ /^[a-z0-9|]+$/) { gsub(/\|/, " ", v); return v }
  gsub(/[][]/, "", v)
  if (v == "FILE" || v == "F" || v == "V" || v == "x=V" || v == "SET") return "FILE"
  if (v == "DIR" || v == "COMMAND") return v
  return ""
}
