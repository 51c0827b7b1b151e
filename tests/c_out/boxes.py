# Boxes and learners of random programs as C, as values.py has them: boxes.py LIMN WHOLE_TEST FOLDER FIRST COUNT
# Programs are those of whole_test, from seed FIRST on, until COUNT boxes were compared. What limn refuses is not counted. A line for each fault, and one at
# the end.
import os, re, sys
import values

limn, whole, folder, first, count = sys.argv[1:3] + sys.argv[3:4] + [int(x) for x in sys.argv[4:]]
os.makedirs(folder, exist_ok=True)
good = bad = refused = 0
seed = first
while good + bad < count and seed < first + 10 * count:
    text = values.run([whole, "program", str(seed)]).stdout.replace('use "other.limn"\n', "")
    open_sizes = sorted(set(re.findall(r"[\[ ](n\d+)(?=[ \]])", text)) - set(re.findall(r"^axis (n\d+)", text, re.M)))
    text = "".join("axis %s = 3\n" % n for n in open_sizes) + text
    at = os.path.join(folder, str(seed)) # a loader knows files by their names
    os.makedirs(at, exist_ok=True)
    file = os.path.join(at, "program.limn")
    with open(file, "w") as f: f.write(text)
    options = [[], ["--precision", "64"], ["--precision", "64", "--batch", "3"], ["--batch", "2"]][seed % 4]
    for name in re.findall(r"^(?:box|learn) (\w+)", text, re.M):
        try: how, more = values.check(limn, at, file, name, options)
        except (SystemExit, Exception) as e: how, more = "not ok", "%s %s" % (type(e).__name__, e)
        if how == "refused":
            refused += 1
            if more.startswith("eval"): print("not ok seed", seed, name, options, more)
            continue
        good, bad = good + (how == "ok"), bad + (how != "ok")
        if how != "ok": print("not ok seed", seed, name, " ".join(options), more[:600], flush=True)
    seed += 1
print("ok" if good >= count - bad and not bad else "not ok", "%d boxes of random programs, %d refused" % (good, refused))
