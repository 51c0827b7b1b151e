"""Runs the Python of a page, block by block in one namespace, in an empty folder: what a block prints is what the text
block behind it says. A block of limn with a name in its first line, `# net.limn`, is a file there."""

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback

page = sys.argv[1]
with open(page, encoding="utf-8") as f:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", f.read(), re.M | re.S)
have_torch = "--torch" in sys.argv
space: dict = {}
failed = done = 0
os.chdir(tempfile.mkdtemp(prefix="limn."))
for i, (kind, text) in enumerate(blocks):
    if kind == "limn":
        with open(re.match(r"# (\S+)", text)[1], "w") as f:
            f.write(text)
    if kind != "python" or ("torch" in text and not have_torch):
        continue
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(text, f"{page}, block {i + 1}", "exec"), space)
        want = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else ""
        assert said.getvalue() == want, f"it prints\n{said.getvalue()}and the page says\n{want}"
        done += 1
    except BaseException:
        failed += 1
        print(f"not ok python {page}, block {i + 1}")
        print("".join("    " + line + "\n" for line in traceback.format_exc().splitlines()), end="")
if not failed:
    print(f"ok python {page}: {done} blocks")
sys.exit(failed > 0)
