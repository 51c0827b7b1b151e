#!/usr/bin/env python3
"""How long the language server takes for each request, in files of 30, 300, 3000 and 10000 lines, while
somebody types: before each request a letter is typed, in a place that moves through the file; "after a pause": and
the messages about it have come.

    bench/lsp.py [build/limn] [ROUNDS]

Median and 95 % in milliseconds: of the time that the server computes, which other work on the machine does not
change, and of the time that an editor waits.
"""
import glob
import json
import subprocess
import sys
import tempfile
import time


def program(lines):
    out = ["# a long program", "axis pixel = 784, z = 20", "given x : R[pixel] from mnist.image"]
    i = 0
    while len(out) < lines - 8:
        out += [
            [f"# Box number {i}.", f"box layer{i}(x: R[n], w: R[n]) -> R[n] {{", "  a = relu(x * w) + 1",
             "  s = sum[n](a * a)", f"  return a / sqrt(s + {i})", "}", ""],
            [f"box mlp{i} : R[pixel] -> R[{10 + i % 7}] = dense[{20 + i % 5}] ; relu ; dense[{10 + i % 7}]", ""],
            [f"box conv{i}(x: R[n], w: R[3]) -> R[n-2] {{", "  y[i] = x[i+p] w[p]", "  return tanh(y)", "}", ""],
            [f"box use{i}(x: R[n]) -> R[n] {{", f"  y = layer{i - 3}(x, x)", "  z[i] = y[i] * y[i]",
             "  return y + z", "}", ""],
        ][i % 4]
        i += 1
    return out + ["learn enc : R[pixel] -> R[z] = dense[40] ; relu ; dense[z]", "learn dec : R[z] -> R[pixel]",
                  "goal rebuild : dec(enc(x)) ~ x by l2", "train 10 epochs, adam(0.001), batch 64"]


class Server:
    def __init__(self, limn):
        self.p = subprocess.Popen([limn, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def send(self, **m):
        b = json.dumps({"jsonrpc": "2.0", **m}).encode()
        self.p.stdin.write(b"Content-Length: %d\r\n\r\n" % len(b) + b)
        self.p.stdin.flush()

    def read(self):
        n = 0
        while (line := self.p.stdout.readline()) != b"\r\n":
            n = int(line.split(b":")[1])
        return json.loads(self.p.stdout.read(n))

    def computed(self):
        tasks = glob.glob(f"/proc/{self.p.pid}/task/*/schedstat")
        return sum(int(open(t).read().split()[0]) for t in tasks) / 1e6

    def ask(self, method, params):
        self.id += 1
        begin, before = time.perf_counter(), self.computed()
        self.send(id=self.id, method=method, params=params)
        while (m := self.read()).get("id") != self.id:
            pass
        return (self.computed() - before, (time.perf_counter() - begin) * 1000)


REQUESTS = ["hover", "definition", "references", "documentHighlight", "completion", "signatureHelp", "documentSymbol",
            "semanticTokens/full", "foldingRange", "inlayHint", "codeAction", "formatting", "prepareRename", "rename",
            "rename, after a pause"]


def measure(limn, lines, rounds):
    text = program(lines)
    uri = "file://" + tempfile.gettempdir() + f"/bench{lines}.limn"
    s = Server(limn)
    s.ask("initialize", {"capabilities": {}})
    s.send(method="initialized", params={})
    s.send(method="textDocument/didOpen",
           params={"textDocument": {"uri": uri, "version": 0, "languageId": "limn", "text": "\n".join(text) + "\n"}})
    while s.read().get("method") != "textDocument/publishDiagnostics":
        pass
    uses = [i for i, line in enumerate(text) if "= layer" in line or "learn enc" in line]
    took = {r: [] for r in REQUESTS}
    version = 0
    for k in range(rounds):
        for r in REQUESTS:
            line = uses[(k * 7919) % len(uses)]
            column = text[line].index("layer" if "layer" in text[line] else "enc") + 1
            version += 1
            last = {"line": line, "character": len(text[line])}
            s.send(method="textDocument/didChange", params={"textDocument": {"uri": uri, "version": version}, "contentChanges": [
                {"range": {"start": last, "end": last}, "text": " "}]})
            text[line] += " "
            while r.endswith("pause") and s.read().get("method") != "textDocument/publishDiagnostics":
                pass
            method = r.split(",")[0]
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
            whole = {"start": {"line": max(0, line - 30), "character": 0}, "end": {"line": line + 30, "character": 0}}
            where.update({"inlayHint": {"range": whole}, "codeAction": {"range": whole, "context": {"diagnostics": []}},
                          "rename": {"newName": "another_name"}}.get(method, {}))
            took[r].append(s.ask("textDocument/" + method, where))
            if k % 4 == 0:
                time.sleep(0.02 * (k % 3))
    s.ask("shutdown", None)
    s.send(method="exit", params=None)
    s.p.wait(10)
    return took


def main():
    limn = sys.argv[1] if len(sys.argv) > 1 else "build/limn"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    sizes = [30, 300, 3000, 10000]
    table = {n: measure(limn, n, rounds) for n in sizes}
    for k, what in enumerate(["computed", "waited"]):
        print("%-22s" % (what + ", ms") + "".join("%14d lines" % n for n in sizes))
        for r in REQUESTS:
            row = ""
            for n in sizes:
                t = sorted(x[k] for x in table[n][r])
                row += "%12.1f /%6.1f" % (t[len(t) // 2], t[min(len(t) - 1, len(t) * 95 // 100)])
            print("%-22s" % r + row)


main()
