// JSON-RPC with a child process: messages with a header that says how long they are. Knows nothing of an editor.
'use strict';
const { spawn } = require('child_process');

class Rpc {
  // on: {notify(method, params), ended(status)}
  constructor(command, args, on) {
    this.on = on;
    this.waiting = new Map();
    this.next = 1;
    this.bytes = Buffer.alloc(0);
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.child.on('error', e => this.end(e.message));
    this.child.on('exit', status => this.end(`limn lsp ended with ${status}`));
    this.child.stdin.on('error', () => {});
    this.child.stdout.on('data', data => this.take(data));
  }

  end(why) {
    if (this.over) return;
    this.over = true;
    for (const { fail } of this.waiting.values()) fail(new Error(why));
    this.waiting.clear();
    this.on.ended(why);
  }

  send(message) {
    if (this.over) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  notify(method, params) { this.send({ method, params }); }

  // token: when it is cancelled, so is the request
  ask(method, params, token) {
    if (this.over) return Promise.reject(new Error('limn lsp is not running'));
    const id = this.next++;
    const answer = new Promise((good, fail) => this.waiting.set(id, { good, fail }));
    this.send({ id, method, params });
    if (token) token.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    return answer;
  }

  take(data) {
    this.bytes = Buffer.concat([this.bytes, data]);
    for (;;) {
      const head = this.bytes.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = /Content-Length: *(\d+)/i.exec(this.bytes.toString('latin1', 0, head));
      const end = head + 4 + Number(length[1]);
      if (this.bytes.length < end) return;
      const message = JSON.parse(this.bytes.toString('utf8', head + 4, end));
      this.bytes = this.bytes.subarray(end);
      this.hear(message);
    }
  }

  hear(message) {
    const waits = this.waiting.get(message.id);
    if (message.method) {
      this.on.notify(message.method, message.params);
    } else if (waits) {
      this.waiting.delete(message.id);
      if (message.error) waits.fail(Object.assign(new Error(message.error.message), { code: message.error.code }));
      else waits.good(message.result);
    }
  }
}
module.exports = { Rpc };
