# A page with the outputs of its console blocks taken from the files that blocks.awk named and test.sh filled:
#   awk -v out=FOLDER -f bless.awk PAGE.md

/^```/ && !inside { inside = 1; n++; console = $0 == "```console"; command = 0; print; next }
/^```/ { inside = 0; print; next }
!inside || !console { print; next }
substr($0, 1, 2) == "$ " {
  print
  command++
  says = out "/" n "." command ".says"
  while ((getline line < says) > 0) print line
  close(says)
}
