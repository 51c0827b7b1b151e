# Cuts a page into its fenced blocks: awk -v out=FOLDER -f blocks.awk PAGE.md
#
#   N.limn      a program; N.kind says which: limn, part or error       N.line      where it stands in the page
#   N.wants     what the message of an `error` block must contain
#   N.C.run     command C of a console block, N.C.says its output       N.section   the number of its section
# and `blocks`: the number of blocks. Blocks of other kinds have no N.kind.

function begin(info) {
  inside = 1
  n++
  kind = ""
  if (info == "limn") kind = "limn"
  if (info == "limn part") kind = "part"
  if (info == "limn error") kind = "error"
  if (info == "console") kind = "console"
  at = out "/" n
  command = 0
  if (kind == "") return
  save("kind", kind)
  save("line", FNR)
  save("section", section)
  if (kind != "console") printf "" > (at ".limn")
}

function save(name, text) {
  print text > (at "." name)
  close(at "." name)
}

function console() {
  if (substr($0, 1, 2) == "$ ") {
    if (command) close(says)
    command++
    says = at "." command ".says"
    save(command ".run", substr($0, 3))
    printf "" > says
  } else if (command) {
    print > says
  }
}

BEGIN { section = 0 }
/^```/ && !inside { begin(substr($0, 4)); next }
/^```/ { inside = 0; close(at ".limn"); if (kind == "console") close(says); next }
inside && kind == "console" { console(); next }
inside && kind != "" { print > (at ".limn"); next }
!inside && /^#/ { section++ }
!inside && /^<!-- wants: .* -->$/ { wants = substr($0, 13); save("wants", substr(wants, 1, length(wants) - 4)) }
END { at = out "/blocks"; print n + 0 > at }
