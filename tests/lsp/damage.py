"""Recorded sessions, damaged as a bad line or a bad editor would: bytes lost, doubled and turned, messages cut, doubled, dropped and put
elsewhere, lengths that are wrong, numbers and texts of messages that are others. The server ends with a status, says nothing but messages of
the protocol, and never lives on when its input has ended.

Before, messages that are none in frames that are right: where a message ends is known, so the server answers what comes behind it.

    tests/lsp/damage.py build/limn SECONDS [SEED]
"""
import glob
import json
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = [-1, 0, 1, 7, 2**31, 2**53, 1e300, 0.5, None, True, [], {}, "7"]
TEXTS = ["", "\u00e9\U0001f600\u0000", "x" * 5000, "file:///none/b.limn", "..", "limn:library.limn", "[" * 300, "box f(x: R[n]) -> R[n] = f(f(x))\n"]


def framed(body):
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def other(value, dice):
    """A part of a message as something else."""
    if isinstance(value, dict) and value:
        key = dice.choice(list(value))
        out = {**value, key: other(value[key], dice)}
        if dice.random() < 0.1:
            del out[key]
        return out
    if isinstance(value, list) and value:
        i = dice.randrange(len(value))
        return value[:i] + dice.choice([[], [other(value[i], dice)], [value[i]] * 3]) + value[i + 1 :]
    return dice.choice(NUMBERS if isinstance(value, (int, float)) or dice.random() < 0.3 else TEXTS)


def damaged(messages, dice):
    """The bytes of a session in which a few things are wrong."""
    all_ = list(messages)
    for _ in range(dice.randrange(6)):
        i = dice.randrange(len(all_))
        how = dice.randrange(5)
        if how == 0:
            del all_[i]
        elif how == 1:
            all_.insert(dice.randrange(len(all_) + 1), all_[i])
        elif how == 2:
            all_[i], all_[-1] = all_[-1], all_[i]
        else:
            all_[i] = json.dumps(other(json.loads(all_[i]), dice), allow_nan=False).encode()
        if not all_:
            break
    parts = [framed(m) for m in all_]
    for _ in range(dice.choice([0, 0, 1, 3])):
        i = dice.randrange(len(parts) or 1)
        if parts and parts[i]:
            part, at = bytearray(parts[i]), dice.randrange(len(parts[i]))
            how = dice.randrange(4)
            if how == 0:
                part[at] ^= 1 << dice.randrange(8)
            elif how == 1:
                del part[at : at + dice.randrange(1, 9)]
            elif how == 2:
                part[at:at] = part[at : at + dice.randrange(1, 9)]
            else:
                part = part[:at]
            parts[i] = bytes(part)
    return b"".join(parts)


def odd_frame(dice):
    """A message that may be none, in a frame that says rightly how long it is."""
    body = dice.choice([b"", b" ", b"[]", b"{}", b"7", b"null", b'{"method":"exit"', b"\xff\xfe", b"\0", b'{"id":[],"method":"x"}', bytes(dice.randrange(256) for _ in range(dice.randrange(40)))])
    heads = [dice.choice([b"Content-Length:%d", b"Content-Length: %d", b"content-length: %d ", b"CONTENT-LENGTH:\t%d\t", b"Content-Length: 000%d"]) % len(body)]
    for _ in range(dice.choice([0, 0, 1, 2])):
        heads.insert(dice.randrange(len(heads) + 1), dice.choice([heads[0], b"Content-Type: x; charset=utf-8", b"X", b": ", b"Content-Lengt: 7", b"\xff: \xff"]))
    end = dice.choice([b"\r\n", b"\n"])
    return dice.choice([b"", b"", end]) + end.join(heads) + end + end + body


def odd_frames(limn, count, seed):
    """Sessions of such messages: the `initialize` and the `shutdown` among them are answered, and `exit` ends the server with 0."""
    ask = lambda method, **more: framed(json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode())
    for k in range(count):
        dice = random.Random(seed + k)
        odd = lambda: b"".join(odd_frame(dice) for _ in range(dice.randrange(4)))
        text = odd() + ask("initialize", id=1, params={"capabilities": {}}) + odd() + ask("shutdown", id=2) + odd() + ask("exit")
        p = subprocess.run([limn, "lsp"], input=text, capture_output=True, timeout=120)
        answered = [m.get("id") for m in said(p.stdout) if "result" in m]
        assert (p.returncode, p.stderr, answered) == (0, b"", [1, 2]), f"frames {seed + k}: status {p.returncode}, answers to {answered}, {p.stderr!r}\n{text!r}"
    return count


def said(out):
    """The messages that came; an assertion where there is anything else."""
    found = []
    while out:
        head = re.match(rb"Content-Length: (\d+)\r\n\r\n", out)
        assert head, out[:200]
        n = int(head[1])
        body = out[head.end() : head.end() + n]
        assert len(body) == n, "a message that ends early"
        found.append(json.loads(body))
        out = out[head.end() + n :]
    return found


def main():
    limn, seconds = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sessions = [[line.rstrip(b"\n") for line in open(f, "rb") if line.strip() and not line.startswith(b"#")] for f in sorted(glob.glob(HERE + "/*.session"))]
    try:
        print(f"{odd_frames(limn, int(20 * seconds) + 1, seed)} sessions of messages in right frames")
    except AssertionError as e:
        print(e)
        return 1
    end, count, answers = time.time() + seconds, 0, 0
    while time.time() < end:
        dice = random.Random(seed + count)
        text = damaged(dice.choice(sessions), dice)
        try:
            p = subprocess.run([limn, "lsp"], input=text, capture_output=True, timeout=120)
            assert p.returncode in (0, 1), f"status {p.returncode}"
            assert re.fullmatch(rb"(limn lsp?: [^\n]*\n)*", p.stderr), p.stderr[:2000].decode(errors="replace")
            answers += len(said(p.stdout))
        except (AssertionError, subprocess.TimeoutExpired) as e:
            print(f"{e}\nonce more: {sys.argv[0]} {limn} 0.001 {seed + count}")
            return 1
        count += 1
    print(f"{count} sessions, {answers} messages came back")
    return 0 if answers > count else 1


sys.exit(main())
