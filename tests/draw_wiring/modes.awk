# A machine with random modes, up to three levels deep, and random jumps between any of them: awk -v seed=7 -f modes.awk
# The same numbers by every awk.
function number(n) {
  state = state * 16807 % 2147483647
  return int(state / 2147483647 * n)
}

# The modes in one: their numbers become known before anything is printed.
function grow(around, depth,   n, i, k) {
  n = 1 + number(depth ? 3 : 6)
  for (i = 0; i < n && modes < 14; i++) {
    k = ++modes
    parent[k] = around
    called[k] = substr("abcdefghijklmn", k, 1) (number(4) ? "" : "_longer_name")
    path[k] = (around ? path[around] "." : "") called[k]
    kids[around]++
    if (depth < 2 && !number(3)) grow(k, depth + 1)
  }
}

function cond() {
  return substr("xyu", 1 + number(3), 1) (number(2) ? " >= " : " <= ") number(90) (number(3) ? "" : " and y != 4 * u - 1")
}

# A jump may name what is beside it or around it, and modes in these.
function jumps(k, indent,   i, n) {
  n = number(k && kids[k] ? 2 : 4)
  for (i = 0; i < n; i++) print indent "jump " path[1 + number(modes)] " when " cond()
}

function show(around, indent,   k, i) {
  for (k = 1; k <= modes; k++) {
    if (parent[k] != around) continue
    if (!kids[k] && !number(8)) { print indent "mode " called[k] " stop"; continue }
    print indent "mode " called[k] " {"
    if (!kids[k]) for (i = number(3); i > 0; i--) print indent "  " substr("xy", i, 1) "' = " number(9) " * u - x"
    jumps(k, indent "  ")
    show(k, indent "  ")
    print indent "}"
  }
}

BEGIN {
  state = seed * 7919 + 1
  number(1)
  grow(0, 0)
  print "machine Random(u: R[]) -> (x: R[]) {\n  state x = 0, y = 0"
  show(0, "  ")
  print "}"
}
