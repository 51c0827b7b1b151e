# Generates the page of the gallery from its list (gallery.sh describes the format), the sizes of the pictures and the programs.
function link(file) { return "[" file "](" (sub(/^docs\//, "", file) ? file : "../" file) ")" }
function show(file, pattern,   line) {
  print "\n```limn"
  while ((getline line < file) > 0)
    if (pattern == "full" || line ~ pattern) print line
  close(file)
  print "```"
}
function points(score,   i, sum, of, sign) {
  if (score == "") return "no"
  for (i = 1; i <= 15; i++)
    if ((sign = substr(score, i, 1)) != "-") { sum += sign; of += 2 }
  return sum " of " of
}
# Letters of so many units in a picture that is as wide as it may be: a unit is half a point, or less where it does not fit.
function letters(name, room,   unit) {
  unit = room / 25.4 * 72 / wide[name]
  return sprintf("%.1f", small[name] * (unit < 0.5 ? unit : 0.5))
}
function row(name, score,   i, cells) {
  for (i = 1; i <= 15; i++) cells = cells " | " substr(score, i, 1)
  return sprintf("| [%s](#%s) %s | %s | %.0f × %.0f | %s | %s |", name, anchor(name), cells, points(score),
    wide[name], high[name], letters(name, 86), letters(name, 170))
}
function anchor(name,   t) {
  t = tolower(titles[name])
  gsub(/[^a-z0-9 _-]/, "", t)
  gsub(/ /, "-", t)
  return t
}
# Small pictures that follow each other are rows of a table: the picture, the line of the program, what is missing.
function small_row() {
  if (!table) print "| | | |\n|---|---|---|"
  table = 1
  printf "| ![%s](pictures/gallery/%s.svg) | %s | %s%s |\n", title, name, text, points(score), lacks == "" ? "" : ": " lacks
}
function end_table() {
  if (table) print ""
  table = 0
}
function close_picture(   words) {
  if (name == "") return
  split(draw, words, " ")
  if (program == "row") {
    small_row()
    titles[name] = section
    rows = rows row(name, score) "\n"
    name = ""
    return
  }
  end_table()
  titles[name] = title
  print "### " title "\n\n![" title "](pictures/gallery/" name ".svg)"
  if (text != "") print "\n" text
  if (program != "") show(words[1], program)
  print "\n`limn draw " draw "`" (program == "full" ? "" : ", program " link(words[1])) "  "
  printf "%.0f × %.0f units, %s points%s\n\n", wide[name], high[name], points(score), lacks == "" ? "." : ": " lacks "."
  rows = rows row(name, score) "\n"
  name = ""
}
BEGIN {
  print "# Gallery\n"
  while ((getline line < sizes) > 0) {
    split(line, f, " ")
    wide[f[1]] = f[2]; high[f[1]] = f[3]; small[f[1]] = f[4]
  }
}
/^@ / { close_picture(); name = $2; title = draw = program = score = lacks = text = ""; next }
/^# / { close_picture(); end_table(); section = substr($0, 3); print "#" $0 "\n"; blank = 1; next }
name != "" && /^(title|draw|program|score|lacks): / {
  key = $1; value = $0; sub(/^[a-z]*: /, "", value)
  if (key == "title:") title = value
  if (key == "draw:") draw = value
  if (key == "program:") program = value
  if (key == "score:") { score = value; gsub(/ /, "", score) }
  if (key == "lacks:") lacks = value
  next
}
name != "" && /^$/ { next }
name != "" { blank = 1; text = text (text == "" ? "" : "\n") $0; next }
/^TABLE$/ {
  line = "| picture"
  rule = "|---"
  for (i = 1; i <= 15; i++) { line = line " | " i; rule = rule "|---" }
  print line " | points | units | pt at 86 mm | pt at 170 mm |\n" rule "|---|---|---|---|"
  printf "%s", rows
  next
}
/^$/ && blank++ { next }
!/^$/ { blank = 0 }
{ print }
END { close_picture(); end_table() }
