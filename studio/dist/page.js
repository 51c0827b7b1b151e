// The least page: the text, its picture, its messages.
const element = (id) => document.getElementById(id);
let session, version = 0, next = 1, stamp = null, path = "untitled.limn";
const uri = () => "file:///" + path;

async function send(method, params, wants) {
  const message = { jsonrpc: "2.0", method, params };
  if (wants) message.id = next++;
  const answer = await fetch("/message?session=" + session, { method: "POST", body: JSON.stringify(message) });
  if (answer.status === 204) return null;
  const json = await answer.json();
  if (json.error) throw json.error;
  return json.result;
}

async function draw() {
  try {
    const answer = await send("limn/picture", { textDocument: { uri: uri() }, name: null, theme: "light" }, true);
    const svg = new DOMParser().parseFromString(answer.picture, "image/svg+xml").documentElement;
    element("picture").replaceChildren(document.importNode(svg, true));
    element("picture").setAttribute("aria-label", answer.text ?? "");
  } catch (error) {
    element("messages").textContent = error.message;
  }
}

async function begin() {
  history.replaceState(null, "", "/");
  session = (await (await fetch("/session", { method: "POST" })).json()).session;
  new EventSource("/events?session=" + session).onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.method === "textDocument/publishDiagnostics")
      element("messages").textContent = message.params.diagnostics.map((d) => d.range.start.line + 1 + ": " + d.message).join("\n");
    if (message.method === "limn/looked") draw();
  };
  await send("initialize", { capabilities: {} }, true);
  const about = await send("host/about", {}, true);
  if (about.open) {
    path = about.open.slice("file:///".length);
    const file = await send("host/read", { path }, true);
    element("text").value = file.text;
    stamp = file.stamp;
  }
  await send("textDocument/didOpen", { textDocument: { uri: uri(), version, text: element("text").value } });
  element("text").oninput = async () => {
    const text = element("text").value;
    await send("textDocument/didChange", { textDocument: { uri: uri(), version: ++version }, contentChanges: [{ text }] });
    stamp = (await send("host/write", { path, text, stamp }, true)).stamp;
  };
}
begin();
