# The manual as a man page: Markdown, as docs/language.md is written, to roff.
#   awk -v version=0.2.0 -f manual.awk docs/language.md >limn-language.7
function escape(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
# `code` and **words** in bold, *words* in italics; links are their words.
# Code is taken out first, so that nothing in it is taken for a mark or a link, and put back last.
function inline(s, out, n, i, code) {
  while (match(s, /`[^`]*`/)) {
    code[++n] = substr(s, RSTART + 1, RLENGTH - 2)
    s = substr(s, 1, RSTART - 1) "\002" n "\003" substr(s, RSTART + RLENGTH)
  }
  while (match(s, /!?\[[^]]*\]\([^)]*\)/)) {
    out = substr(s, RSTART, RLENGTH)
    sub(/^!?\[/, "", out)
    sub(/\]\(.*$/, "", out)
    s = substr(s, 1, RSTART - 1) out substr(s, RSTART + RLENGTH)
  }
  s = marks(escape(s))
  for (i = 1; i <= n; i++)
    if (match(s, "\002" i "\003")) s = substr(s, 1, RSTART - 1) "\\fB" escape(code[i]) "\\fR" substr(s, RSTART + RLENGTH)
  return s
}
function marks(s) {
  while (match(s, /\*\*[^*]+\*\*/)) s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 2, RLENGTH - 4) "\\fR" substr(s, RSTART + RLENGTH)
  while (match(s, /\*[^* ][^*]*\*/)) s = substr(s, 1, RSTART - 1) "\\fI" substr(s, RSTART + 1, RLENGTH - 2) "\\fR" substr(s, RSTART + RLENGTH)
  return s
}
# A line must not begin with what roff takes for a request.
function put(s) { sub(/^ +/, "", s); if (s ~ /^[.']/) s = "\\&" s; print s }
# Rows of a table, as lines: the first cell in front, the others behind.
function row(s, n, cell, i, rest) {
  sub(/^\| */, "", s)
  sub(/ *\|$/, "", s)
  gsub(/\\\|/, "\001", s)
  n = split(s, cell, / *\| */)
  for (i = 1; i <= n; i++) gsub("\001", "|", cell[i])
  print ".TP"
  put(cell[1] == "" ? "\\&" : inline(cell[1]))
  for (i = 2; i <= n; i++) rest = rest (i > 2 ? "; " : "") cell[i]
  put(rest == "" ? "\\&" : inline(rest))
}
BEGIN {
  print ".\\\" Made from docs/language.md."
  print ".TH LIMN-LANGUAGE 7 \"\" \"limn " version "\" \"limn\""
  print ".SH NAME"
  print "limn\\-language \\- the language of limn: deep learning written as diagrams"
  print ".SH DESCRIPTION"
}
# A mark may begin in one line and end in the next, so lines are put together until something else begins.
function flush() { if (held != "") put(inline(held)); held = "" }
function hold(s) { sub(/^ +/, "", s); held = held (held == "" ? "" : " ") s }
/^```/ {
  flush()
  code = !code
  print code ? ".PP\n.RS 4\n.nf" : ".fi\n.RE"
  next
}
code { s = escape($0); if (s ~ /^[.']/) s = "\\&" s; print s; next }
/^[#|!*-]/ || /^[0-9]+\. / || /^$/ { if ($0 !~ /^\*[^ ]/) flush() }
/^# The limn language/ || /^!\[/ || /^\|[-: |]+\|$/ { next }
/^# / { print ".SH " inline(substr($0, 3)); next }
/^##+ / { sub(/^##+ /, ""); print ".SS " inline($0); next }
/^\|/ { row($0); next }
/^[*-] / { print ".IP \\(bu 3"; hold(substr($0, 3)); next }
/^[0-9]+\. / { print ".IP " $1 " 4"; sub(/^[0-9]+\. /, ""); hold($0); next }
/^$/ { print ".PP"; next }
{ hold($0) }
END { flush() }
