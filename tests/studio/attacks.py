"""Attacks, each by a raw socket: strangers, other pages, damaged and endless requests, many and slow clients."""
import concurrent.futures
import json
import os
import socket
import sys
import time

from client import SLOW, Studio, check

folder = sys.argv[1]
open(folder + "/a.limn", "w").write("")
studio = Studio(folder)
host = f"127.0.0.1:{studio.port}"


def raw(text, seconds=10, shut=False):
    """What comes back for these bytes until the connection is closed or silent."""
    got = b""
    with socket.create_connection(("127.0.0.1", studio.port), timeout=seconds) as s:
        try:
            s.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
            if shut:
                s.shutdown(socket.SHUT_WR)
            while True:
                more = s.recv(65536)
                got += more
                if not more or (b"\r\n\r\n" in got and b"Content-Length: 0" in got):
                    return got
                head, _, body = got.partition(b"\r\n\r\n")
                length = [int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")]
                if length and len(body) >= length[0]:
                    return got
        except OSError:
            return got


def status(text, **how):
    line = raw(text, **how).split(b"\r\n")[0].split(b" ")
    return int(line[1]) if len(line) > 1 else 0


def request(method="GET", address="/", heads=(), host=host, token=studio.token):
    lines = [f"{method} {address} HTTP/1.1"] + ([f"Host: {host}"] if host is not None else []) + ([f"X-Limn-Token: {token}"] if token is not None else [])
    return "\r\n".join(lines + list(heads)) + "\r\n\r\n"


def alive():
    return status(request()) == 200


check("who has the token is answered", alive())

# -- strangers
everywhere = [("GET", a) for a in ("/", "/page.js", "/events?session=x", "/file?path=a.limn", "/nothing")] + [("POST", "/session"), ("POST", "/message?session=x")]
check("without the token there is nothing but 403", all(status(request(m, a, ["Content-Length: 0"], token=None)) == 403 for m, a in everywhere))
wrong = ["", "x", studio.token[:-1], studio.token + "0", studio.token[:-1] + ("0" if studio.token[-1] != "0" else "1"), studio.token.upper() if studio.token.upper() != studio.token else "0" * 32, "0" * 32, "%00" * 32]
check("nor with another", all(status(request(token=t)) == 403 for t in wrong) and all(status(request(address="/?token=" + t, token=None)) == 403 for t in wrong))
check("nor with another's cookie", status(request(heads=[f"Cookie: limn-{studio.port}={'0' * 32}"], token=None)) == 403 and status(request(heads=[f"Cookie: limn-1={studio.token}"], token=None)) == 403)
hosts = ["evil.example", f"evil.example:{studio.port}", f"127.0.0.1.evil.example:{studio.port}", "127.0.0.1", "127.0.0.1:1", f"0.0.0.0:{studio.port}", f"{host}.", f"{host}@evil", f"[::1]:{studio.port}", "", None]
got = {h: status(request(host=h)) for h in hosts}
check("a name that was made to point here is not ours", all(s in (400, 403) for s in got.values()), got)
check("nor are two names", status(request(heads=["Host: evil.example"])) in (400, 403))
check("localhost is", status(request(host=f"localhost:{studio.port}")) == 200)
origins = ["http://evil.example", "https://" + host, "null", "http://127.0.0.1:1", "http://127.0.0.1", f"http://{host}.evil.example", f"http://localhost:{studio.port}", "file://", ""]
got = {o: status(request("POST", "/session", [f"Origin: {o}", "Content-Length: 0"])) for o in origins}
check("a page of another site is refused", all(s == 403 for s in got.values()), got)
check("the page's own is not", status(request("POST", "/session", [f"Origin: http://{host}", "Content-Length: 0"])) == 200)
check("a page of another port, which has the cookie, is refused by where it comes from", status(request(heads=["Sec-Fetch-Site: same-site"])) == 403 and status(request(heads=["Sec-Fetch-Site: cross-site"])) == 403)
check("nobody is asked beforehand", status(request("OPTIONS", "/message", ["Origin: http://evil.example", "Access-Control-Request-Method: POST"])) == 403)
check("no answer is for another site", b"Access-Control" not in raw(request()))
listening = [l.split() for l in open("/proc/net/tcp").read().splitlines()[1:]] if os.path.exists("/proc/net/tcp") else []
check("it listens on this machine alone", not [l for l in listening if l[1].endswith(":%04X" % studio.port) and l[3] == "0A" and not l[1].startswith("0100007F")])

# -- requests that are none
garbage = [b"\x00" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\xff\xfe\xfd\r\n\r\n", b"GET " + b"/" * 200000 + b" HTTP/1.1\r\n\r\n", b"G" * 100000, (request().replace("\r\n\r\n", "\r\nContent-Length: -1\r\n\r\n")).encode(), (request("POST", "/session").replace("\r\n\r\n", "\r\nContent-Length: 99999999999999999999999\r\n\r\n")).encode(), (request("POST", "/session", ["Transfer-Encoding: chunked"]) + "zzz\r\n").encode(), (request("POST", "/session", ["Transfer-Encoding: chunked", "Content-Length: 5"]) + "ffffffffffffffff\r\n").encode()]
got = [status(g, seconds=3, shut=True) for g in garbage]
check("what is no request is no matter", alive() and not any(s in (200,) for s in got[:6]), got)


def several(heads):
    """The answers to a request with these heads and another one right behind it, until the connection is closed."""
    with socket.create_connection(("127.0.0.1", studio.port), timeout=3) as s:
        s.sendall((request("POST", "/session", heads) + request()).encode())
        got = b""
        try:
            while more := s.recv(65536):
                got += more
        except OSError:
            return "it stays open"
        return [line.split(b" ")[1] for line in got.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


lengths = [f"{name}: {n}" for name in ("Content-Length", "content-length") for n in (0, 5, 40)] + ["Transfer-Encoding: chunked", "transfer-encoding: identity"]
got = {(a, b): several([a, b]) for a in lengths for b in lengths}
check("a request that says twice how long it is gets 400, and nothing behind it is read", all(s == [b"400"] for s in got.values()) and alive(), {k: v for k, v in got.items() if v != [b"400"]})
check("endless heads are cut", status(request(heads=[f"X-{i}: {'y' * 1000}" for i in range(200)]), seconds=5) in (0, 400, 413, 431) and alive())
check("a method that is none", status(request("DELETE", "/file?path=a.limn")) == 405 and status(request("PUT", "/message")) == 405 and os.path.exists(folder + "/a.limn"))

# -- messages
page = studio.page()


def post(body, **how):
    return status(request("POST", "/message?session=" + page.session, [f"Content-Length: {len(body)}"]).encode() + body, **how)


check("a message that is too large is refused", post(b'{"method":"' + b"x" * (10 << 20) + b'"}', seconds=20) == 413 and alive())
check("and one that only says that it is", status(request("POST", "/message?session=" + page.session, [f"Content-Length: {1 << 40}"]).encode() + b"x" * (11 << 20), seconds=20) in (0, 413) and alive())
check("an unknown session", status(request("POST", "/message?session=" + "0" * 32, ["Content-Length: 2"]) + "{}") == 404 and status(request("POST", "/message", ["Content-Length: 2"]) + "{}") == 404 and status(request("GET", "/events?session=x")) == 404)
deep = [b"[" * 100000, b'{"a":' * 100000, b'{"method":"host/read","params":' + b"[" * 100000 + b"]" * 100000 + b"}", b'{"method":"host/read","id":1', b'{"method":"host/read","id":{"a":1},"params":7}', b'"host/"', b"\xff\xff", b"", b"null", b'{"method":"host/about","params":null,"id":"\\u0000"}', b'{"method":7,"id":1}']
got = [post(d) for d in deep]
check("deep and damaged JSON is answered or passed over", all(s in (200, 204) for s in got) and page.ask("host/about"), got)

# -- a page that is told much, and does not listen
def memory():
    with open(f"/proc/{studio.process.pid}/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmRSS"))


deaf = studio.page()
with socket.create_connection(("127.0.0.1", studio.port)) as ear:
    ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    ear.sendall(request(address="/events?session=" + deaf.session).encode())
    wrong = "".join(f"box b{i}(x : R[2]) -> R[2] = {'nothing' * 60}{i}(x)\n" for i in range(150))
    for k in range(200):
        deaf.open("wrong.limn", wrong, k)
        deaf.about("limn/numbers", "wrong.limn")
        if k == 60:
            before = memory()
check("who does not listen is not kept in memory", memory() - before < 8 * SLOW and alive(), (before, memory()))

# -- many and slow
drip = socket.create_connection(("127.0.0.1", studio.port), timeout=2)
drip.settimeout(0.05)
quiet = []
for _ in range(900):
    try:
        quiet.append(socket.create_connection(("127.0.0.1", studio.port), timeout=0.3))
    except OSError:
        if len(quiet) > 400:
            break
begin = time.time()
good = closed = False
letters = iter(request(heads=["X: " + "y" * 1000]).encode())
while not (good and closed) and time.time() - begin < 25:
    try:
        good = good or status(request(), seconds=0.5) == 200
    except OSError:
        pass
    try:
        drip.sendall(bytes([next(letters)]))
        closed = closed or drip.recv(1) == b""
    except TimeoutError:
        pass
    except OSError:
        closed = True
    time.sleep(0.1)
check(f"{len(quiet)} connections that say nothing are shown out", good and len(quiet) > 400, time.time() - begin)
check("so is one that sends a letter now and then", closed and alive(), time.time() - begin)
for s in quiet:
    s.close()
limits = int(os.environ.get("SESSIONS", "200"))
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    got = list(pool.map(lambda _: status(request("POST", "/session", ["Content-Length: 0"])), range(limits + 20)))
check("sessions are limited", got.count(200) <= limits and 503 in got and alive(), (got.count(200), got.count(503)))
if os.environ.get("LONG"):
    time.sleep(65)
    check("sessions end a minute after their page went", status(request("POST", "/message?session=" + page.session, ["Content-Length: 2"]) + "{}") == 404 and status(request("POST", "/session", ["Content-Length: 0"])) == 200)
status_, said = studio.end()
check("and it ends well", status_ == 0 and not said, (status_, said))
