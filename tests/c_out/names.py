# Every word of an exported file, and every word of C, as the name of a box and of an input: names.py LIMN FOLDER [few]
# What comes out compiles, and two inputs never become one. `few`: only inputs, and some boxes.
import os, re, subprocess, sys
limn, folder = sys.argv[1:3]
few = sys.argv[3:] == ["few"]
WARN = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only".split()
KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short
signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex class new this template typename int32_t uint64_t NULL
main memory state seed step weights exp log sqrt printf malloc Context op_tanh op_wide_add small_product real wide Vector α β γ αx βx x X f_at f_kernels f
limn_m _x __x""".split()

def run(*words):
    return subprocess.run(words, capture_output=True, text=True)

def write(text):
    with open(os.path.join(folder, "names.limn"), "w") as f: f.write(text)
    return os.path.join(folder, "names.limn")

def compiles(name, text):
    source = os.path.join(folder, "names.c")
    made = run(limn, "export", write(text), name, "--as", "c", "-o", source)
    if made.returncode: return "refused " + made.stderr[:200]
    said = run("gcc", *WARN, source)
    return said.stderr[:300]

large = """learn g : R[4] -> R[3] = dense[8] ; tanh ; dense[3] ; softmax
box f(x: R[4]) -> R[4] { o = order(x), y[i] = x[o[i]], return sin(y) + erf(y) + x^y + atan(x) + 0.1 * normal[4] + uniform[4] + log1p(x * x) + g(x)[0] }
"""
source = os.path.join(folder, "large.c")
made = run(limn, "export", write(large), "f", "--as", "c", "-o", source)
if made.returncode: raise SystemExit("not ok names: " + made.stderr)
code = re.sub(r"//.*", "", open(source).read())
words = sorted(set(re.findall(r"[A-Za-z_]\w*", code)) | set(KEYWORDS))
taken = set(re.findall(r"`?(\w+)`?", "axis space box learn given goal train measure show")) | set("""for if else in by as of from to on over when while return true false
    freeze stale diagram along find set optimiser machine share wiring mode jump trains use import const and or not xor with check run next look state every
    step steps times batch""".split())
words = [w for w in words if w not in taken]
args = ", ".join("%s: R[]" % w for w in words)
text = "box f(%s) -> R[] = %s\n" % (args, " + ".join(words))
said = compiles("f", text)
n = len(re.findall(r"^//   \w+ \w+\[1\]  in", open(os.path.join(folder, "names.h")).read(), re.M)) if not said else 0
print("ok" if n == len(words) else "not ok", "%d of %d words as inputs of C" % (n, len(words)), said)
bad = tried = 0
outside = set(re.findall(r"^#define (\w+)", code, re.M)) | set(re.findall(r"^(?:static|INLINE|HELPER|typedef)[^;{]*?(\w+)\(", code, re.M)) | set(re.findall(r"(\w+);$", code, re.M))
for word in ["Context", "op_tanh", "exp", "real", "α", "f"] if few else sorted(set(KEYWORDS) | outside):
    if word in taken: continue
    tried += 1
    said = compiles(word, "box %s(x: R[2], %s_at: R[2]) -> R[2] = tanh(x) + %s_at\n" % (word, word, word))
    if said and "refused" not in said:
        bad += 1
        print("not ok", word, "as a box of C:", said)
print("ok" if not bad else "not ok", "%d names of boxes in C" % (tried - bad))
