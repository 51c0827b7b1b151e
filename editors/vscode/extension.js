// limn in Visual Studio Code: what the editor asks goes to `limn lsp`, what comes back is put into the editor's words. It needs no
// other package.
'use strict';
const vscode = require('vscode');
const { Rpc } = require('./rpc.js');

const only = { language: 'limn' };
let rpc = null;    // the connection; null: there is none
let ready = null;  // a promise: it can be asked
let problems = null;
let panel = null;  // the picture
let drawn = 0;

// -- from the protocol's words to the editor's ---------------------------------------------------------------------------------------
const toPosition = p => new vscode.Position(p.line, p.character);
const toRange = r => new vscode.Range(toPosition(r.start), toPosition(r.end));
const toUri = u => vscode.Uri.parse(u);
const toLocation = l => new vscode.Location(toUri(l.uri), toRange(l.range));
const fromPosition = p => ({ line: p.line, character: p.character });
const fromRange = r => ({ start: fromPosition(r.start), end: fromPosition(r.end) });
const about = document => ({ textDocument: { uri: document.uri.toString() } });
const at = (document, position) => ({ ...about(document), position: fromPosition(position) });

function toEdit(edit) {
  const all = new vscode.WorkspaceEdit();
  for (const [uri, changes] of Object.entries(edit.changes)) {
    for (const c of changes) all.replace(toUri(uri), toRange(c.range), c.newText);
  }
  return all;
}

function toDiagnostic(d) {
  const one = new vscode.Diagnostic(toRange(d.range), d.message, d.severity - 1);
  one.source = d.source;
  one.relatedInformation = (d.relatedInformation || []).map(r => new vscode.DiagnosticRelatedInformation(toLocation(r.location), r.message));
  return one;
}

function toItem(i) {
  const item = new vscode.CompletionItem(i.label, i.kind - 1);
  item.detail = i.detail;
  item.documentation = i.documentation;
  item.sortText = i.sortText;
  item.insertText = i.insertText;
  return item;
}

function toSignature(s) {
  const one = new vscode.SignatureInformation(s.label, s.documentation);
  one.parameters = (s.parameters || []).map(p => new vscode.ParameterInformation(p.label));
  return one;
}

function toAction(a) {
  const kind = a.kind === 'quickfix' ? vscode.CodeActionKind.QuickFix : vscode.CodeActionKind.RefactorRewrite;
  const action = new vscode.CodeAction(a.title, kind);
  action.edit = toEdit(a.edit);
  return action;
}

// -- asking --------------------------------------------------------------------------------------------------------------------------
// What was refused is said where a person has asked for it; otherwise there is no answer.
async function ask(method, params, token, loud) {
  try {
    await ready;
    return await rpc.ask(method, params, token);
  } catch (e) {
    if (loud) throw e;
    return null;
  }
}

const asked = (method, how) => async (document, position, token) => {
  const answer = await ask(`textDocument/${method}`, at(document, position), token);
  return answer ? how(answer) : null;
};

function toHover(h) { return new vscode.Hover(new vscode.MarkdownString(h.contents.value), toRange(h.range)); }

function toSymbol(s) {
  return new vscode.DocumentSymbol(s.name, s.detail, s.kind - 1, toRange(s.range), toRange(s.selectionRange));
}

const renames = {
  async prepareRename(document, position, token) {
    const p = await ask('textDocument/prepareRename', at(document, position), token, true);
    return { range: toRange(p.range), placeholder: p.placeholder };
  },
  async provideRenameEdits(document, position, newName, token) {
    return toEdit(await ask('textDocument/rename', { ...at(document, position), newName }, token, true));
  },
};

const completions = {
  async provideCompletionItems(document, position, token) {
    const list = await ask('textDocument/completion', at(document, position), token);
    return list && new vscode.CompletionList(list.items.map(toItem), list.isIncomplete);
  },
};

const signatures = {
  async provideSignatureHelp(document, position, token) {
    const h = await ask('textDocument/signatureHelp', at(document, position), token);
    if (!h) return null;
    const help = new vscode.SignatureHelp();
    help.signatures = h.signatures.map(toSignature);
    help.activeSignature = h.activeSignature;
    help.activeParameter = h.activeParameter;
    return help;
  },
};

const layout = {
  async provideDocumentFormattingEdits(document, options, token) {
    const edits = await ask('textDocument/formatting', { ...about(document), options }, token);
    return edits && edits.map(e => vscode.TextEdit.replace(toRange(e.range), e.newText));
  },
};

const hints = {
  async provideInlayHints(document, range, token) {
    const list = await ask('textDocument/inlayHint', { ...about(document), range: fromRange(range) }, token);
    return list && list.map(h => new vscode.InlayHint(toPosition(h.position), h.label, h.kind));
  },
};

const actions = {
  async provideCodeActions(document, range, context, token) {
    const list = await ask('textDocument/codeAction', { ...about(document), range: fromRange(range), context: { diagnostics: [] } }, token);
    return list && list.map(toAction);
  },
};

const wholeText = (method, how) => async (document, token) => {
  const answer = await ask(`textDocument/${method}`, about(document), token);
  return answer ? how(answer) : null;
};

function provide(legend) {
  const l = vscode.languages;
  return [
    l.registerHoverProvider(only, { provideHover: asked('hover', toHover) }),
    l.registerDefinitionProvider(only, { provideDefinition: asked('definition', toLocation) }),
    l.registerDocumentHighlightProvider(only, {
      provideDocumentHighlights: asked('documentHighlight', list => list.map(h => new vscode.DocumentHighlight(toRange(h.range), h.kind - 1))) }),
    l.registerReferenceProvider(only, {
      provideReferences: async (document, position, context, token) =>
        (await ask('textDocument/references', { ...at(document, position), context }, token) || []).map(toLocation) }),
    l.registerRenameProvider(only, renames),
    l.registerCompletionItemProvider(only, completions, '.', '[', '('),
    l.registerSignatureHelpProvider(only, signatures, '(', '[', ','),
    l.registerDocumentFormattingEditProvider(only, layout),
    l.registerDocumentSymbolProvider(only, { provideDocumentSymbols: wholeText('documentSymbol', list => list.map(toSymbol)) }),
    l.registerFoldingRangeProvider(only, {
      provideFoldingRanges: (document, context, token) => wholeText('foldingRange', list =>
        list.map(f => new vscode.FoldingRange(f.startLine, f.endLine, f.kind === 'comment' ? vscode.FoldingRangeKind.Comment : undefined)))(document, token) }),
    l.registerDocumentSemanticTokensProvider(only, {
      provideDocumentSemanticTokens: wholeText('semanticTokens/full', t => new vscode.SemanticTokens(new Uint32Array(t.data))) },
      new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers)),
    l.registerInlayHintsProvider(only, hints),
    l.registerCodeActionsProvider(only, actions),
    l.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: async (query, token) => (await ask('workspace/symbol', { query }, token) || []).map(s =>
        new vscode.SymbolInformation(s.name, s.kind - 1, '', toLocation(s.location))) }),
    vscode.workspace.registerTextDocumentContentProvider('limn', {
      provideTextDocumentContent: uri => ask('limn/document', { uri: uri.toString() }) }),
  ];
}

// -- texts that are open -------------------------------------------------------------------------------------------------------------
const isOurs = document => document.languageId === 'limn' && document.uri.scheme !== 'limn';

function opened(document) {
  if (!isOurs(document)) return;
  rpc.notify('textDocument/didOpen', {
    textDocument: { uri: document.uri.toString(), languageId: 'limn', version: document.version, text: document.getText() } });
}

function changed(event) {
  if (!isOurs(event.document) || !event.contentChanges.length) return;
  rpc.notify('textDocument/didChange', {
    textDocument: { uri: event.document.uri.toString(), version: event.document.version },
    contentChanges: event.contentChanges.map(c => ({ range: fromRange(c.range), text: c.text })) });
  follow(vscode.window.activeTextEditor);
}

function heard(method, params) {
  if (method === 'textDocument/publishDiagnostics') problems.set(toUri(params.uri), params.diagnostics.map(toDiagnostic));
  if (method === 'window/showMessage') vscode.window.showWarningMessage(`limn: ${params.message}`);
}

// -- the picture beside the text -----------------------------------------------------------------------------------------------------
function page(name, svg) {
  return `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">` +
    `<style>body { margin: 0; padding: 12px; background: #fff } img { max-width: 100% }</style>` +
    `<img alt="the diagram of ${name.replace(/[^\w.]/g, '')}" src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`;
}

async function draw(editor, loud) {
  const turn = ++drawn;
  const where = { uri: editor.document.uri.toString(), position: fromPosition(editor.selection.active) };
  const picture = await ask('workspace/executeCommand', { command: 'limn.openPicture', arguments: [where] }, null, loud);
  if (!picture || !panel || turn !== drawn) return;
  panel.title = picture.name || 'goals';
  panel.webview.html = page(panel.title, picture.svg);
}

let wait = null;
function follow(editor) {
  if (!panel || !editor || !isOurs(editor.document)) return;
  clearTimeout(wait);
  wait = setTimeout(() => draw(editor, false), 200);
}

async function openPicture() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !isOurs(editor.document)) return;
  if (!panel) {
    panel = vscode.window.createWebviewPanel('limn', 'limn', { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {});
    panel.onDidDispose(() => { panel = null; });
  }
  await draw(editor, true);
}

// -- beginning and end ---------------------------------------------------------------------------------------------------------------
async function begin() {
  const settings = vscode.workspace.getConfiguration('limn');
  const args = ['lsp'];
  for (const folder of settings.get('read') || []) args.push('--read', folder);
  rpc = new Rpc(settings.get('path') || 'limn', args, {
    notify: heard, ended: why => { if (ready) vscode.window.showErrorMessage(`limn: the language server does not run (${why}); the setting limn.path says where limn is`); } });
  const begun = await rpc.ask('initialize', { processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: { limnDocuments: true } });
  rpc.notify('initialized', {});
  for (const document of vscode.workspace.textDocuments) opened(document);
  return begun.capabilities.semanticTokensProvider.legend;
}

async function end() {
  const last = rpc;
  ready = null;
  if (!last || last.over) return;
  await last.ask('shutdown', null).catch(() => {});
  last.notify('exit', null);
}

async function restart() {
  await end();
  ready = begin();
  await ready;
}

async function activate(context) {
  problems = vscode.languages.createDiagnosticCollection('limn');
  ready = begin();
  const legend = await ready.catch(() => ({ tokenTypes: [], tokenModifiers: [] }));
  context.subscriptions.push(problems, ...provide(legend),
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeTextDocument(changed),
    vscode.workspace.onDidCloseTextDocument(d => { if (isOurs(d)) rpc.notify('textDocument/didClose', about(d)); }),
    vscode.workspace.onDidSaveTextDocument(d => { if (isOurs(d)) rpc.notify('textDocument/didSave', about(d)); }),
    vscode.window.onDidChangeTextEditorSelection(e => follow(e.textEditor)),
    vscode.commands.registerCommand('limn.picture', openPicture),
    vscode.commands.registerCommand('limn.restart', restart));
}

module.exports = { activate, deactivate: end };
