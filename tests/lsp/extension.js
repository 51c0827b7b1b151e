// The extension for Visual Studio Code with a stand-in for the editor: what it registers answers as the editor would be answered.
'use strict';
const Module = require('module');
const path = require('path');
const assert = require('assert');
const [limn, folder, work] = process.argv.slice(2);

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
const record = names => class { constructor(...args) { names.forEach((n, i) => { this[n] = args[i]; }); } };
const on = {};
const provided = {};
const diagnostics = new Map();
let panel = null;
const uri = `file://${work}/net.limn`;
const text = 'box length(x: R[n]) -> R[] = sqrt(sum[n](x * x))\nbox f(x: R[n]) -> R[] = length(x)\n';
const document = { uri: { toString: () => uri, scheme: 'file' }, languageId: 'limn', version: 1, getText: () => text };
const listen = name => f => { on[name] = f; return {}; };
const vscode = {
  Position, Range, Location: record(['uri', 'range']), Hover: record(['contents', 'range']), MarkdownString: record(['value']),
  Diagnostic: record(['range', 'message', 'severity']), DiagnosticRelatedInformation: record(['location', 'message']),
  CompletionItem: record(['label', 'kind']), CompletionList: record(['items', 'isIncomplete']), SignatureHelp: record([]),
  SignatureInformation: record(['label', 'documentation']), ParameterInformation: record(['label']),
  CodeAction: record(['title', 'kind']), CodeActionKind: { QuickFix: 'fix', RefactorRewrite: 'rewrite' },
  DocumentSymbol: record(['name', 'detail', 'kind', 'range', 'selectionRange']), DocumentHighlight: record(['range', 'kind']),
  SymbolInformation: record(['name', 'kind', 'container', 'location']), InlayHint: record(['position', 'label', 'kind']),
  FoldingRange: record(['start', 'end', 'kind']), FoldingRangeKind: { Comment: 1 }, SemanticTokens: record(['data']),
  SemanticTokensLegend: record(['types', 'modifiers']), ViewColumn: { Beside: -2 }, TextEdit: { replace: (range, newText) => ({ range, newText }) },
  WorkspaceEdit: class { constructor() { this.all = []; } replace(u, range, newText) { this.all.push({ u, range, newText }); } },
  Uri: { parse: u => ({ toString: () => u, scheme: u.split(':')[0] }) },
  languages: new Proxy({ createDiagnosticCollection: () => ({ set: (u, list) => { diagnostics.set(u.toString(), list); (on.problems || (() => {}))(); } }) }, {
    get: (own, name) => own[name] || ((...args) => { provided[name] = args.find(a => a && Object.values(a).some(v => typeof v === 'function')); return {}; }) }),
  workspace: {
    textDocuments: [document], getConfiguration: () => ({ get: key => (key === 'path' ? limn : []) }),
    registerTextDocumentContentProvider: (scheme, p) => { provided.content = p; return {}; },
    onDidOpenTextDocument: listen('open'), onDidChangeTextDocument: listen('change'),
    onDidCloseTextDocument: listen('close'), onDidSaveTextDocument: listen('save') },
  window: {
    activeTextEditor: { document, selection: { active: new Position(0, 5) } }, onDidChangeTextEditorSelection: listen('selection'),
    createWebviewPanel: () => (panel = { webview: {}, onDidDispose: () => {} }), showErrorMessage: m => { throw new Error(m); }, showWarningMessage: () => {} },
  commands: { registerCommand: (name, f) => { on[name] = f; return {}; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function main() {
  const extension = require(path.resolve(folder, 'extension.js'));
  await extension.activate({ subscriptions: [] });
  const here = new Position(1, 26);
  const hover = await provided.registerHoverProvider.provideHover(document, here);
  assert(hover.contents.value.includes('box length(x: R[n]) -> R[]') && hover.range.start.character === 24);
  const definition = await provided.registerDefinitionProvider.provideDefinition(document, here);
  assert(definition.uri.toString() === uri && definition.range.start.line === 0);
  assert((await provided.registerReferenceProvider.provideReferences(document, here, { includeDeclaration: true })).length === 2);
  assert((await provided.registerDocumentHighlightProvider.provideDocumentHighlights(document, here)).length === 2);
  assert((await provided.registerRenameProvider.prepareRename(document, here)).placeholder === 'length');
  assert((await provided.registerRenameProvider.provideRenameEdits(document, here, 'size_of')).all.length === 2);
  await assert.rejects(provided.registerRenameProvider.provideRenameEdits(document, here, 'box'), /word of the language/);
  const list = await provided.registerCompletionItemProvider.provideCompletionItems(document, here);
  assert(list.items.some(i => i.label === 'length' && i.kind === 2));
  const help = await provided.registerSignatureHelpProvider.provideSignatureHelp(document, new Position(1, 31));
  assert(help.signatures[0].parameters[0].label === 'x: R[n]');
  assert((await provided.registerDocumentSymbolProvider.provideDocumentSymbols(document)).length === 2);
  assert((await provided.registerDocumentSemanticTokensProvider.provideDocumentSemanticTokens(document)).data.length % 5 === 0);
  assert((await provided.registerFoldingRangeProvider.provideFoldingRanges(document, {})).length === 0);
  assert((await provided.registerInlayHintsProvider.provideInlayHints(document, new Range(new Position(0, 0), here))).length === 0);
  assert((await provided.registerDocumentFormattingEditProvider.provideDocumentFormattingEdits(document, {})).length === 0);
  assert((await provided.registerWorkspaceSymbolProvider.provideWorkspaceSymbols('len')).length === 1);
  assert((await provided.content.provideTextDocumentContent(vscode.Uri.parse('limn:library.limn'))).includes('box softmax'));
  const problem = new Promise(done => { on.problems = done; });
  document.version = 2;
  on.change({ document, contentChanges: [{ range: new Range(new Position(1, 24), new Position(1, 30)), text: 'lenght' }] });
  await problem;
  assert(diagnostics.get(uri)[0].message.includes('there is no box `lenght` here'));
  const fixes = await provided.registerCodeActionsProvider.provideCodeActions(document, new Range(new Position(1, 25), new Position(1, 25)), {});
  assert(fixes[0].title === 'Did you mean `length`?' && fixes[0].edit.all[0].newText === 'length');
  await on['limn.picture']();
  assert(panel.title === 'length' && panel.webview.html.includes('data:image/svg+xml;base64,'));
  await extension.deactivate();
  process.exit(0);
}
main().catch(e => { console.log(e.stack); process.exit(1); });
