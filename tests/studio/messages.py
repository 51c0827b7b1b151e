"""The page, the session, and every question about a text, each with its answer."""
import base64
import json
import shutil
import sys

from client import SLOW, Studio, check

folder = sys.argv[1]
for name in ("iris", "nash", "lotka", "transformer"):
    shutil.copy(f"examples/{name}.limn", folder)
studio = Studio(folder + "/iris.limn")

# -- the page and its session
status, body, heads = studio.http("GET", "/?token=" + studio.token, heads={})
check("the page comes from the binary", status == 200 and b"<!doctype html>" in body.lower() and heads["content-type"].startswith("text/html"), heads)
cookie = heads.get("set-cookie", "")
check("the token becomes a cookie of this site", f"limn-{studio.port}={studio.token}" in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
again = studio.http("GET", "/page.js", heads={"Cookie": cookie.split(";")[0]})
check("the cookie is enough", again[0] == 200 and again[2]["content-type"].startswith("text/javascript"), again)
policy = heads.get("content-security-policy", "")
check("a page runs only what is its own", "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy and heads.get("x-content-type-options") == "nosniff" and heads.get("cache-control") == "no-store", heads)
check("an address that is none", studio.http("GET", "/nothing.js")[0] == 404)
page = studio.page()
page.listen()

# -- texts
iris = open("examples/iris.limn").read()
page.open("iris.limn", iris)
looked = page.told("limn/looked", lambda p: p["uri"] == "file:///iris.limn")
check("a look is told", looked and looked["errors"] == 0 and looked["pictures"][0] == {"name": None, "kind": "goals"} and {"name": "guess", "kind": "learner"} in looked["pictures"], looked)
check("so are its messages", page.told("textDocument/publishDiagnostics", lambda p: p["diagnostics"] == []))
page.open("wrong.limn", "box f(x : R[2]) -> R[2] = x\nbox g(x : R[2]) -> R[2] = nothing(x)\n")
looked = page.told("limn/looked", lambda p: p["uri"] == "file:///wrong.limn")
check("a wrong text has pictures too", looked and looked["errors"] == 1 and {"name": "f", "kind": "box"} in looked["pictures"], looked)
check("of what is known of it", "<svg" in page.about("limn/picture", "wrong.limn", name="f")["picture"])
page.open("../../etc/out.limn", "")
check("a text outside of the folder is not opened", page.told("window/showMessage", lambda p: "not below the folder" in p["message"]))
where = page.ask("textDocument/definition", {"textDocument": {"uri": "file:///iris.limn"}, "position": {"line": 7, "character": 11}})
check("addresses begin at the folder", json.dumps(where).count("file:///iris.limn") == 1, where)

# -- pictures
answer = page.about("limn/picture", "iris.limn", name=None)
check("a picture, and it in words", answer["picture"].startswith("<svg") and answer["version"] == 1 and "guess" in answer["text"], answer)
for width in (200, 400, 900):
    told = page.about("limn/picture", "iris.limn", name=None, width=width)["text"]
    check(f"in the same words in a pane of {width}", told and "cross_entropy" in told and told == page.about("limn/picture", "iris.limn", name=None)["text"], told)
check("as a pdf", base64.b64decode(page.about("limn/picture", "iris.limn", name="guess", **{"as": "pdf"})["picture"]).startswith(b"%PDF"))
check("as tex", "\\begin{tikzpicture}" in page.about("limn/picture", "iris.limn", name="guess", **{"as": "tex"})["picture"])
check("with its cost", isinstance(page.about("limn/picture", "iris.limn", name="guess", cost=True).get("cost"), dict))
views = {v: page.about("limn/picture", "iris.limn", name=None, view=v)["picture"] for v in ("plain", "lens", "who")}
check("each view is another picture", len(set(views.values())) == 3)
check("a picture of nothing is refused", "`nothing`" in page.refused("limn/picture", {"textDocument": {"uri": "file:///iris.limn"}, "name": "nothing"})[0])
check("so is a view that is none", "`view` is plain, lens, grad, who or unfold, not sideways" == page.refused("limn/picture", {"textDocument": {"uri": "file:///iris.limn"}, "view": "sideways"})[0])
check("and a format", "`as` is svg, pdf, tex or txt, not doc" == page.refused("limn/picture", {"textDocument": {"uri": "file:///iris.limn"}, "as": "doc"})[0])
check("and what is no name", "`open` and `close` are lists of names" == page.refused("limn/picture", {"textDocument": {"uri": "file:///iris.limn"}, "open": [1]})[0])
check("and a text that is not open", "this text is not open" in page.refused("limn/picture", {"textDocument": {"uri": "file:///other.limn"}})[0])
# -- what was refused is not about the text
page.open("late.limn", 'given x : R[2], y : {2} from "none.csv"\nlearn f : R[2] -> R[2] = dense[2]\ngoal fit : f(x) ~ y by cross_entropy\ntrain 3 epochs\n')
page.about("limn/picture", "late.limn")
for _ in range(450):
    page.refused("limn/picture", {"textDocument": {"uri": "file:///late.limn"}, "name": "nothing"})
late = page.told("textDocument/publishDiagnostics", lambda p: p["uri"] == "file:///late.limn" and p["diagnostics"])
check("a refusal is no message about the text", late and len(late["diagnostics"]) == 1 and "none.csv" in late["diagnostics"][0]["message"], late)
check("nor an error of it", "cost" in page.about("limn/picture", "iris.limn", name="guess", cost=True))
for name in ("nash", "lotka", "transformer"):
    page.open(name + ".limn", open(f"examples/{name}.limn").read())
    page.about("limn/picture", name + ".limn")
    begin = studio.computed()
    for _ in range(12):
        page.about("limn/picture", name + ".limn")
    each = 0 if begin is None else (studio.computed() - begin) / 12
    check(f"{name} is drawn in less than 100 ms of computing", each < 0.1 * SLOW, each)
# -- several in one POST, as a page sends a change of the text and what it asks of it
place = {"line": 0, "character": 0}
both = [{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": "file:///iris.limn", "version": 77}, "contentChanges": [{"range": {"start": place, "end": place}, "text": "# new\n"}]}}, {"jsonrpc": "2.0", "id": 5, "method": "limn/picture", "params": {"textDocument": {"uri": "file:///iris.limn"}, "name": "guess"}}]
status, body, _ = studio.http("POST", f"/message?session={page.session}", json.dumps(both))
found = json.loads(body)
check("a list of messages is taken in order", status == 200 and found["id"] == 5 and found["result"]["version"] == 77, body[:200])
for body, words in (("[]", "a message has a method"), ("[[]]", "a message has a method"), ("[1]", "a message has a method"), ("[", "this is not JSON")):
    said = studio.http("POST", f"/message?session={page.session}", body)[1]
    check(f"no list of messages: {body}", words.encode() in said, said)
check("a method that is none", "there is no request `limn/nothing`" == page.refused("limn/nothing")[0])
check("nor among those of the home", "there is no method `host/nothing`" == page.refused("host/nothing")[0])

status, said = studio.end()
check("it ends when it is asked to", status == 0 and said == "", (status, said))
