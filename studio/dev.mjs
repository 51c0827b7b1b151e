// The page while it is being written, on top of a `limn studio` that runs: node dev.mjs http://127.0.0.1:N/?token=… [PORT]
// serves dist/ itself, so that a build shows at once, and passes all else on.

import { readFileSync } from "node:fs";
import http from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const studio = new URL(process.argv[2]);
const port = Number(process.argv[3] ?? 0);
const dist = join(dirname(fileURLToPath(import.meta.url)), "dist");
const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://page");
  const name = pathname === "/" ? "index.html" : pathname.slice(1);
  if (/^(index\.html|page\.js|chunk\.js|play\.js|page\.css|icon\.svg)$/.test(name)) {
    response.writeHead(200, { "Content-Type": types[name.split(".").pop()], "Content-Security-Policy": policy, "Cache-Control": "no-store" });
    response.end(readFileSync(join(dist, name)));
    return;
  }
  const { cookie, origin, referer, ...headers } = request.headers;
  const passed = http.request(
    { host: studio.hostname, port: studio.port, path: request.url, method: request.method, headers: { ...headers, host: studio.host, "x-limn-token": studio.searchParams.get("token") } },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
