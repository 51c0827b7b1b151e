autocmd BufNewFile,BufRead *.limn setfiletype limn
