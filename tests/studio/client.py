"""A page without a browser: starts `limn studio`, and speaks to it as docs/protocol.md says."""
import atexit
import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time

LIMN = os.environ["LIMN"]
SLOW = 5 if "/san/" in LIMN else 1  # under the sanitizers


class Studio:
    """A server of its own. `ask` is a request, `tell` a notification; what comes by itself is in `events`."""

    def __init__(self, path, *options, **more):
        more.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([LIMN, "studio", str(path), "--no-browser", *options], stdout=subprocess.PIPE, **more)
        atexit.register(self.process.kill)  # also when a test ends by an error
        line = self.process.stdout.readline().decode()
        self.line = line
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", line)
        if not found:
            raise RuntimeError(line + self.process.stderr.read().decode())
        self.port, self.token = int(found[1]), found[2]
        self.heads = {"X-Limn-Token": self.token}

    def http(self, method, address, body=None, heads=None, timeout=30):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        c.request(method, address, body, self.heads if heads is None else heads)
        r = c.getresponse()
        answer = r.status, r.read(), {k.lower(): v for k, v in r.getheaders()}
        c.close()
        return answer

    def page(self):
        return Page(self)

    def computed(self):
        """Seconds that the server has computed: what other work there is on the machine does not count. None where there is no /proc."""
        try:
            fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return None

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(20 * SLOW)
        said = self.process.stderr.read().decode() if self.process.stderr else ""
        self.process.stdout.close()
        if self.process.stderr:
            self.process.stderr.close()
        return status, said


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.data = error.get("data")


class Page:
    def __init__(self, studio, begin=True):
        self.studio = studio
        self.session = json.loads(studio.http("POST", "/session", "")[1])["session"]
        self.events, self.count, self.lock = [], 0, threading.Condition()
        self.stream = None
        self.line = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
        if begin:
            self.ask("initialize", {"capabilities": {}})

    def send(self, message):
        try:
            self.line.request("POST", "/message?session=" + self.session, json.dumps(message), self.studio.heads)
            r = self.line.getresponse()
        except (BrokenPipeError, http.client.RemoteDisconnected):  # it was not used for a while
            self.line.close()
            self.line.request("POST", "/message?session=" + self.session, json.dumps(message), self.studio.heads)
            r = self.line.getresponse()
        body = r.read()
        if r.status not in (200, 204):
            raise RuntimeError(f"{r.status} {body!r}")
        return json.loads(body) if body else None

    def ask(self, method, params=None):
        self.count += 1
        answer = self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params or {}})
        if answer is None or answer.get("id") not in (self.count, None):
            raise RuntimeError(f"{method}: {answer}")
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def refused(self, method, params=None):
        """The sentence and the data of a refusal."""
        try:
            return f"not refused: {str(self.ask(method, params))[:200]}", None
        except Refused as e:
            return str(e), e.data

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def open(self, name, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": "file:///" + name, "version": version, "text": text}})

    def about(self, method, of, **more):
        return self.ask(method, {"textDocument": {"uri": "file:///" + of}, **more})

    def listen(self):
        self.stream = http.client.HTTPConnection("127.0.0.1", self.studio.port, timeout=120)
        self.stream.request("GET", "/events?session=" + self.session, None, self.studio.heads)
        r = self.stream.getresponse()
        assert r.status == 200, r.status

        def read():
            try:
                while True:
                    line = r.readline()
                    if not line:
                        return
                    if line.startswith(b"data: "):
                        with self.lock:
                            self.events.append(json.loads(line[6:]))
                            self.lock.notify_all()
            except (OSError, ValueError, AttributeError):
                pass

        threading.Thread(target=read, daemon=True).start()

    def told(self, method, good=lambda params: True, seconds=10):
        """The first event of this method that is good, waited for; None: none came."""
        until = time.time() + seconds * SLOW
        with self.lock:
            while True:
                for e in self.events:
                    if e["method"] == method and good(e["params"]):
                        return e["params"]
                if time.time() > until:
                    return None
                self.lock.wait(max(0.01, until - time.time()))


failed = 0


def check(name, good, why=""):
    global failed
    print(f"ok studio {name}" if good else f"not ok studio {name}\n    {str(why)[:1500]}", flush=True)
    failed |= not good
    return good
