-- For Neovim 0.11 and later: vim.lsp.enable('limn')
return { cmd = { 'limn', 'lsp' }, filetypes = { 'limn' }, root_markers = { '.git' } }
