# A random learning diagram: awk -v seed=7 -f random.awk. Up to 12 spaces, up to two of which are indices; edges go on to later
# spaces, two may have the same ends, a few go back or round. With parts=2 it is two diagrams and one that is glued of them.
function chance(n) { state = (state * 1103 + 12345) % 65521; return int(state / 7) % n }

function vertex(i) { return (i < indices ? "N" : "S") i }

function diagram(name,    i, k, n, spaces, edges, from, to) {
  spaces = 4 + chance(9)
  indices = 1 + chance(2)
  print "diagram " name " {"
  for (i = 0; i < spaces; i++)
    if (i < indices) print "  space N" i " = normal[3]"
    else print "  space S" i " = R[3]" (chance(4) == 0 && i > 2 || i == spaces - 1 && i > 2 ? " by l2" : "")
  n = 0
  for (i = indices; i < spaces; i++) edge(chance(i), i, n++)
  edge(0, spaces - 1, n++)
  edge(0, spaces - 1, n++)
  edges = chance(spaces)
  for (k = 0; k < edges; k++) {
    to = indices + chance(spaces - indices)
    edge(chance(to), to, n++)
  }
  if (chance(4) == 0) back(indices + chance(spaces - indices), n++)
  if (chance(4) == 0) print "  freeze f"
  print "}"
}

function edge(from, to, n,    k) {
  k = chance(3)
  if (from < indices) print "  box e" n " : " vertex(from) " -> " vertex(to) " = " vertex(from)
  else if (k == 0) print "  box some_map_" n " : " vertex(from) " -> " vertex(to) " = half"
  else if (k == 1) print "  box e" n " : " vertex(from) " -> " vertex(to) " = f"
  else print "  learn h" n " : " vertex(from) " -> " vertex(to) " = dense[3]"
}

# an edge that goes back is on no path more than once
function back(at, n,    to) {
  to = indices + chance(at - indices + 1)
  print "  box back" n " : S" at " -> S" to " = half   at most 1 times"
}

BEGIN {
  state = seed * 7919 % 65521 + 1
  for (k = 0; k < 5; k++) chance(2)
  print "box half(x: R[3]) -> R[3] = 0.5 * x"
  print "learn f : R[3] -> R[3] = dense[3]"
  diagram("one")
  if (parts == 2) {
    diagram("two")
    print "diagram both = one + two along S2"
  }
}
