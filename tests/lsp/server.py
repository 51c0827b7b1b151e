"""A language server, and messages to it and from it."""
import json
import os
import re
import selectors
import subprocess
import time

SOON = 120  # seconds for an answer, on a machine that has other work


class Lost(Exception):
    """It ended, or does not answer."""


class Server:
    def __init__(self, limn):
        self.p = subprocess.Popen([limn, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.p.stdout.fileno(), False)
        self.come = selectors.DefaultSelector()
        self.come.register(self.p.stdout, selectors.EVENT_READ)
        self.bytes, self.id = b"", 0
        self.ask("initialize", {"capabilities": {}})
        self.send(method="initialized", params={})

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self.p.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.p.stdin.flush()
        except BrokenPipeError:
            raise Lost(self.why())

    def why(self):
        return f"ended with {self.p.wait()}: {self.p.stderr.read()[-3000:].decode(errors='replace')}"

    def message(self, end):
        while True:
            head = re.match(rb"Content-Length: (\d+)\r\n\r\n", self.bytes)
            if head and len(self.bytes) >= head.end() + int(head[1]):
                body = self.bytes[head.end() : head.end() + int(head[1])]
                self.bytes = self.bytes[head.end() + int(head[1]) :]
                return json.loads(body)
            if not self.come.select(max(0, end - time.time())):
                raise Lost("no answer")
            more = self.p.stdout.read(1 << 20)
            if not more:
                raise Lost(self.why())
            self.bytes += more

    def ask(self, method, params, end=None):
        """The answer; until `end`, as clocks say it."""
        self.id += 1
        self.send(id=self.id, method=method, params=params)
        while True:
            m = self.message(end or time.time() + SOON)
            if m.get("id") == self.id and "method" not in m:
                assert ("result" in m) != ("error" in m), m
                return m
