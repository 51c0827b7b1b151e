" The files for Vim in Vim itself, and `limn lsp` through its channels: vim -es -u NONE -i NONE -S vim.vim, with $SHARE, $LIMN, $FILE and $SAID.
set nocompatible
let &runtimepath = $SHARE . '/vim,' . &runtimepath
filetype plugin on
syntax on
execute 'edit' $FILE
let said = []
call add(said, 'filetype ' . &filetype . ', indent ' . &shiftwidth . ', comment ' . &commentstring)
for word in ['box', 'relu', '# why']
  call cursor(1, 1)
  call search('\V' . word)
  call add(said, word . ' is ' . synIDattr(synID(line('.'), col('.'), 1), 'name'))
endfor
if has('channel') && has('patch-8.2.4684')
  let g:told = []
  let job = job_start([$LIMN, 'lsp'], {'mode': 'lsp', 'callback': {_, m -> add(g:told, m)}})
  let about = {'textDocument': {'uri': 'file://' . $FILE}}
  let at = extend({'position': {'line': 1, 'character': 11}}, about)
  let begun = ch_evalexpr(job, {'method': 'initialize', 'params': {'capabilities': {}}})
  call add(said, 'renames ' . has_key(begun.result.capabilities, 'renameProvider'))
  call ch_sendexpr(job, {'method': 'initialized', 'params': {}})
  call ch_sendexpr(job, {'method': 'textDocument/didOpen', 'params': {'textDocument': {'uri': 'file://' . $FILE, 'languageId': 'limn', 'version': 1, 'text': join(getline(1, '$'), "\n") . "\n"}}})
  let hover = ch_evalexpr(job, {'method': 'textDocument/hover', 'params': at})
  call add(said, 'hover ' . split(hover.result.contents.value, "\n")[1])
  let tries = 0
  while empty(filter(copy(g:told), {_, m -> get(m, 'method', '') ==# 'textDocument/publishDiagnostics'})) && tries < 200
    sleep 50m
    let tries += 1
  endwhile
  let found = filter(copy(g:told), {_, m -> get(m, 'method', '') ==# 'textDocument/publishDiagnostics'})
  call add(said, 'messages ' . len(found[0].params.diagnostics))
  call ch_evalexpr(job, {'method': 'shutdown', 'params': v:null})
  call ch_sendexpr(job, {'method': 'exit', 'params': v:null})
  let tries = 0
  while job_status(job) ==# 'run' && tries < 200
    sleep 50m
    let tries += 1
  endwhile
  call add(said, 'ended ' . job_info(job).exitval)
else
  call add(said, 'skipped: this Vim has no channels for a language server')
endif
call writefile(said, $SAID)
quitall!
