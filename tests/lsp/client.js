// A real client: Microsoft's protocol library speaks with `limn lsp`, and asks everything that it can answer.
'use strict';
const { spawn } = require('child_process');
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');
const p = require('vscode-languageserver-protocol');
const fs = require('fs');
const [limn, folder] = process.argv.slice(2);
const text = `use "other.limn"
# How long a row is.
box length(x: R[n]) -> R[] = sqrt(sum[n](x * x))
box unit(x: R[n]) -> R[n] {
  s = length(x)
  return x / s
}
given v, y from iris
learn enc : R[4] -> R[4]
goal same : twice(enc(unit(v))) ~ v by l2
`;
const uri = `file://${folder}/net.limn`;
const where = { textDocument: { uri } };
const at = (line, character, more) => ({ ...where, position: { line, character }, ...more });
let failed = 0;
function check(name, good, got) {
  console.log(`${good ? 'ok' : 'not ok'} lsp client ${name}`);
  if (!good) { failed++; console.log(JSON.stringify(got).slice(0, 500)); }
}

async function main() {
  fs.writeFileSync(`${folder}/other.limn`, 'box twice(x: R[n]) -> R[n] = 2 * x\n');
  const child = spawn(limn, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise(done => child.on('exit', done));
  const c = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const published = [];
  let heard = () => {};
  c.onNotification(p.PublishDiagnosticsNotification.type, d => { published.push(d); heard(); });
  const diagnostics = async n => { while (published.length < n) await new Promise(done => { heard = done; }); return published[n - 1]; };
  c.listen();
  const begun = await c.sendRequest(p.InitializeRequest.type, {
    processId: process.pid, rootUri: `file://${folder}`, capabilities: {}, workspaceFolders: [{ uri: `file://${folder}`, name: 'x' }],
    initializationOptions: { limnDocuments: true } });
  check('initialize', begun.capabilities.renameProvider.prepareProvider && begun.capabilities.semanticTokensProvider.full, begun);
  await c.sendNotification(p.InitializedNotification.type, {});
  await c.sendNotification(p.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: 'limn', version: 1, text } });
  const first = await diagnostics(1);
  check('no diagnostics', first.diagnostics.length === 0 && first.version === 1, first);
  const hover = await c.sendRequest(p.HoverRequest.type, at(4, 8));
  check('hover', /box length\(x: R\[n\]\) -> R\[\]/.test(hover.contents.value) && /How long/.test(hover.contents.value), hover);
  const definition = await c.sendRequest(p.DefinitionRequest.type, at(9, 14));
  check('definition in another file', definition.uri === `file://${folder}/other.limn` && definition.range.start.character === 4, definition);
  const file = await c.sendRequest(p.DefinitionRequest.type, at(0, 7));
  check('definition of a used file', file.uri === `file://${folder}/other.limn`, file);
  const library = await c.sendRequest(p.DefinitionRequest.type, at(9, 40));
  check('definition in the library', library.uri === 'limn:library.limn', library);
  const document = await c.sendRequest('limn/document', { uri: library.uri });
  check('the library', document.split('\n')[library.range.start.line].includes('box l2('), library);
  const references = await c.sendRequest(p.ReferencesRequest.type, at(4, 8, { context: { includeDeclaration: true } }));
  check('references', references.length === 2, references);
  const highlights = await c.sendRequest(p.DocumentHighlightRequest.type, at(4, 2));
  check('documentHighlight', highlights.length === 2, highlights);
  const prepared = await c.sendRequest(p.PrepareRenameRequest.type, at(4, 8));
  check('prepareRename', prepared.placeholder === 'length', prepared);
  const renamed = await c.sendRequest(p.RenameRequest.type, at(4, 8, { newName: 'size_of' }));
  check('rename', renamed.changes[uri].length === 2, renamed);
  const both = await c.sendRequest(p.RenameRequest.type, at(9, 14, { newName: 'thrice' }));
  check('rename in two files, one of them new', both.changes[`file://${folder}/other.limn`].length === 1 && both.changes[uri].length === 1, both);
  const refused = await c.sendRequest(p.RenameRequest.type, at(4, 8, { newName: 'tanh' })).catch(e => e);
  check('rename refused', /`tanh` means something in the language already/.test(refused.message), refused);
  const completion = await c.sendRequest(p.CompletionRequest.type, at(4, 9));
  check('completion', completion.items.some(i => i.label === 'length'), completion);
  const signature = await c.sendRequest(p.SignatureHelpRequest.type, at(4, 13));
  check('signatureHelp', signature.signatures[0].parameters[0].label === 'x: R[n]', signature);
  const learner = await c.sendRequest(p.SignatureHelpRequest.type, at(9, 22));
  check('signatureHelp of a learner', learner.signatures[0].parameters.map(x => x.label).join('|') === 'R[4]', learner);
  const symbols = await c.sendRequest(p.DocumentSymbolRequest.type, where);
  check('documentSymbol', symbols.map(s => s.name).join() === 'length,unit,v,y,enc,same', symbols);
  const tokens = await c.sendRequest(p.SemanticTokensRequest.type, where);
  check('semanticTokens/full', tokens.data.length % 5 === 0 && tokens.data.length > 50, tokens);
  const folding = await c.sendRequest(p.FoldingRangeRequest.type, where);
  check('foldingRange', folding.some(f => f.startLine === 3 && f.endLine === 5), folding);
  const range = { start: { line: 0, character: 0 }, end: { line: 10, character: 0 } };
  const hints = await c.sendRequest(p.InlayHintRequest.type, { ...where, range });
  check('inlayHint', hints.some(h => h.label === ' : R[]'), hints);
  const actions = await c.sendRequest(p.CodeActionRequest.type, { ...where, range, context: { diagnostics: [] } });
  check('codeAction', actions.some(a => a.title === 'Give `enc` a body'), actions);
  const workspace = await c.sendRequest(p.WorkspaceSymbolRequest.type, { query: 'uni' });
  check('workspace/symbol', workspace.length === 1 && workspace[0].name === 'unit', workspace);
  const picture = await c.sendRequest(p.ExecuteCommandRequest.type, { command: 'limn.openPicture', arguments: [{ uri, position: { line: 4, character: 8 } }] });
  check('limn.openPicture', picture.name === 'length' && picture.svg.startsWith('<svg'), picture);
  await c.sendNotification(p.DidChangeTextDocumentNotification.type, { textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 4, character: 6 }, end: { line: 4, character: 12 } }, text: 'lenght  ' }] });
  const second = await diagnostics(2);
  check('diagnostics', second.diagnostics.length === 1 && second.diagnostics[0].range.start.line === 4 && second.version === 2, second);
  const fixes = await c.sendRequest(p.CodeActionRequest.type, { ...where, range: second.diagnostics[0].range, context: { diagnostics: [] } });
  check('did you mean', fixes[0].edit.changes[uri][0].newText === 'length', fixes);
  const layout = await c.sendRequest(p.DocumentFormattingRequest.type, { ...where, options: { tabSize: 2, insertSpaces: true } });
  check('formatting', layout.length === 1 && layout[0].newText.includes('s = lenght(x)'), layout);
  const unknown = await c.sendRequest('textDocument/moniker', at(0, 0)).catch(e => e);
  check('an unknown request', unknown.code === -32601, unknown);
  await c.sendRequest(p.ShutdownRequest.type);
  await c.sendNotification(p.ExitNotification.type);
  check('exit', await ended === 0, 'status');
  process.exit(failed ? 1 : 0);
}
main().catch(e => { console.log(`not ok lsp client: ${e.message}`); process.exit(1); });
