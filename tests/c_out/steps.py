# Training steps as C: exported, compiled, and run beside our own compiled steps, from the same start and on the same numbers:
# steps.py LIMN C-STEPS FOLDER [--precision 64] [--batch N] [--steps N] [--beside] [--time] FILE…
# One line for each: ok, not ok, or refused with the sentence; with --time also how long a round takes.
import os, re, shutil, subprocess, sys

STRICT = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror".split()
# -march=native goes by the CPU's name on aarch64, and a virtual machine may hide what that CPU has
FAST = "-O3 -fno-math-errno -fno-trapping-math -fopenmp-simd".split() + (["-march=native"] if os.uname().machine == "x86_64" else ["-mtune=native"])

def run(words):
    return subprocess.run(words, capture_output=True, text=True)

def shim(header, beside):
    "All steps behind one function, and the members of the state by their paths."
    steps = re.findall(r"^int (net_step\d*)\(net_state \*state(.*?)\);", header, re.M)
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "net.h"', "long steps_bytes = sizeof(net_state);"]
    lines += ["const struct { const char *path; long offset, count; } steps_member[] = {"]
    struct = header[header.index("typedef struct"):]
    for name, count, path in re.findall(r"^  (?:float|double|int32_t|unsigned char) (\w+)\[(\d+)\]; // (\S+) :", struct, re.M):
        lines.append('  {"%s", offsetof(net_state, %s), %s},' % (path, name, count))
    lines.append("  {0, 0, 0}};")
    if beside:
        lines.append('void steps_begin(void *s) { FILE *f = fopen("%s", "rb"); if (!f || fread(s, 1, sizeof(net_state) + 1, f) != sizeof(net_state)) printf("no state\\n"); if (f) fclose(f); }' % beside)
    else:
        lines.append("void steps_begin(void *s) { net_begin(s); }")
    lines.append("int steps_run(int step, void *s, void **in, void **out) {")
    for i, (name, arguments) in enumerate(steps):
        given = [a for a in arguments.split(", ") if a]
        goes_in = [a for a in given if a.startswith("const ")]
        words = ["in[%d]" % k for k in range(len(goes_in))] + ["out[%d]" % k for k in range(len(given) - len(goes_in))]
        lines.append("  if (step == %d) return %s(%s);" % (i, name, ", ".join(["s"] + words)))
    return "\n".join(lines + ["  (void)in, (void)out;", "  return 1;", "}", ""])

def check(limn, steps, folder, file, options, more, compilers):
    source = os.path.join(folder, "net.c")
    for end in "c", "h", "bin":
        if os.path.exists(source[:-1] + end): os.remove(source[:-1] + end)
    made = run([limn, "export", file, "--as", "c", "--train", "-o", source] + options)
    if made.returncode: return "refused", made.stderr.strip().split("\n")[0]
    beside = source[:-1] + "bin" if "--weights-beside" in options else ""
    open(os.path.join(folder, "shim.c"), "w").write(shim(open(source[:-1] + "h").read(), beside))
    said = []
    for compiler in compilers:
        if not shutil.which(compiler): continue
        library = os.path.join(folder, "steps_%s.so" % compiler)
        done = run([compiler] + STRICT + FAST + ["-fPIC", "-shared", "-o", library, source, os.path.join(folder, "shim.c"), "-lm"])
        if done.returncode: return "not ok", "%s: %s" % (compiler, done.stderr[:1500])
        asked = [w for w in options if w != "--weights-beside"]
        told = run([steps, file, os.path.abspath(library)] + asked + more)
        if told.returncode: return "not ok", "%s: %s" % (compiler, told.stderr[:500] + told.stdout)
        value = dict(line.split() for line in told.stdout.strip().split("\n"))
        close = 1e-8 if "64" in options else 1e-3
        if not (float(value["state"]) <= close and float(value["loss"]) <= close): return "not ok", "%s: %s" % (compiler, value)
        said.append("%s %s" % (compiler, " ".join("%s %s" % x for x in value.items())))
    return "ok", "; ".join(said)

def main():
    limn, steps, folder, *rest = sys.argv[1:]
    options, more, compilers = [], [], ["gcc", "clang"]
    while rest[0].startswith("--"):
        word = rest.pop(0)
        if word == "--beside": options.append("--weights-beside")
        elif word == "--time": more.append(word)
        elif word == "--steps": more += [word, rest.pop(0)]
        elif word == "--compiler": compilers = [rest.pop(0)]
        else: options += [word, rest.pop(0)]
    for file in rest:
        how, words = check(limn, steps, folder, file, options, more, compilers)
        print(how, os.path.basename(file), "step", " ".join(options), "(%s)" % words, flush=True)

main()
