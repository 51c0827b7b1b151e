# A syntax file for Vim from the lines of words.sh.
{ list[$1] = list[$1] " " $2; is[$1, $2] = 1 }
END {
  n = split(list["keyword"], word, " ")
  for (i = 1; i <= n; i++) if (!is["declaration", word[i]]) inner = inner " " word[i]
  n = split(list["builtin"], word, " ")
  for (i = 1; i <= n; i++) if (!is["keyword", word[i]]) known = known " " word[i]
  print "\" Vim syntax file: limn, deep learning written as diagrams. Made by editors/vim/syntax.awk."
  print "if exists(\"b:current_syntax\") | finish | endif"
  print "syn keyword limnDeclaration" list["declaration"]
  print "syn keyword limnKeyword" inner
  print "syn keyword limnFunction" known
  print "syn match limnType /\\<[RB]\\>\\ze\\[/"
  print "syn match limnNumber /\\<\\d\\+\\(\\.\\d\\+\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?\\>/"
  print "syn match limnOperator /[~;&^*\\/+<>=-]\\|->\\|=>\\|\\.\\.\\.\\?/"
  print "syn region limnString start=/\"/ end=/\"/ oneline"
  print "syn match limnTodo /\\<\\(TODO\\|FIXME\\)\\>/ contained"
  print "syn match limnComment /#.*$/ contains=limnTodo,@Spell"
  print "hi def link limnDeclaration Statement"
  print "hi def link limnKeyword Keyword"
  print "hi def link limnFunction Function"
  print "hi def link limnType Type"
  print "hi def link limnNumber Number"
  print "hi def link limnOperator Operator"
  print "hi def link limnString String"
  print "hi def link limnTodo Todo"
  print "hi def link limnComment Comment"
  print "let b:current_syntax = \"limn\""
}
