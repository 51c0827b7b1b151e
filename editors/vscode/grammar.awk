# A TextMate grammar (Visual Studio Code and others) from the lines of words.sh.
{ list[$1] = list[$1] (list[$1] == "" ? "" : "|") $2; is[$1, $2] = 1 }
function rule(scope, match_, last) { printf "    {\"name\": \"%s.limn\", \"match\": \"%s\"}%s\n", scope, match_, last ? "" : "," }
END {
  n = split(list["keyword"], word, "|")
  for (i = 1; i <= n; i++) if (!is["declaration", word[i]]) inner = inner (inner == "" ? "" : "|") word[i]
  n = split(list["builtin"], word, "|")
  for (i = 1; i <= n; i++) if (!is["keyword", word[i]]) known = known (known == "" ? "" : "|") word[i]
  print "{"
  print "  \"name\": \"limn\","
  print "  \"scopeName\": \"source.limn\","
  print "  \"fileTypes\": [\"limn\"],"
  print "  \"patterns\": ["
  rule("comment.line.number-sign", "#.*$")
  rule("string.quoted.double", "\\\"[^\\\"]*\\\"")
  print "    {\"match\": \"^(box|learn|machine|wiring|diagram|optimiser|space|axis|const)\\\\s+([\\\\p{L}_][\\\\p{L}\\\\p{N}_]*)\","
  print "     \"captures\": {\"1\": {\"name\": \"keyword.declaration.limn\"}, \"2\": {\"name\": \"entity.name.function.limn\"}}},"
  rule("keyword.declaration", "\\\\b(" list["declaration"] ")\\\\b")
  rule("keyword.control", "\\\\b(" inner ")\\\\b")
  rule("support.type", "\\\\b[RB](?=\\\\[)")
  rule("support.function", "\\\\b(" known ")\\\\b")
  rule("constant.numeric", "\\\\b\\\\d+(\\\\.\\\\d+)?([eE][-+]?\\\\d+)?\\\\b")
  rule("keyword.operator", "->|=>|\\\\.\\\\.\\\\.?|[~;&^*/+<>=-]", 1)
  print "  ]"
  print "}"
}
