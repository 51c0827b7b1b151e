// text: the grammar of the text of diagrams. Inside this folder only; tests read it back.
//
//   file      = { "sizes" { name [ ":" kind ] } | "names" number "=" { name } | diagram
//               | "reverse" name "=" name | "main" name }
//   diagram   = "diagram" name "(" [ name ":" type { "," name ":" type } ] ")" { param } { box }
//               "return" { name } { "next" name "=" name }
//   param     = ( "weight" | "buffer" | "clock" | "const" ) name ":" type string
//               [ "rooted" ] [ "init" init ]
//   init      = "const" number | "normal" | "uniform" | "glorot" size size | "he" size size
//               | "orthogonal" | "diagram" name | "data" "[" { number } "]"
//   box       = result { "," result } "=" operation
//   result    = name [ access ] ":" type
//   operation = ( "map" | "sum" | "prod" | "max" | "min" ) { name [ access ] [ "else" number ] }
//               "over" { name ":" size } ":" { name ":=" scalar ";" } scalar
//               | "join" number { name }
//               | "order" number name
//               | "random" ( "normal" | "uniform" ) number
//               | "call" name "(" { name } [ ";" { name } ] ")" [ "at" number ]
//               | "scan" name "over" name ":" size [ "back" ]
//                 "(" slices ";" carries ";" holds ";" params ")"
//   access    = "[" { coord } "]"
//   coord     = sums of  3  i  2*i  $0  {n+1}*i  {n}   without spaces
//   type      = ( "R" | "B" | "{" size [ "of" number ] "}" ) [ "[" { axis } "]" ]
//   axis      = ( label [ ":" size ] | ":" size | size ) [ "~" pass ]
//
// "map" is a sum in which every index is an axis of the result: nothing is added up.
// A name that is not a plain word, or one of the words above, stands in quotes; no name at all is %.
// Where a name was taken, .2, .3 … follow it; they only tell things apart. From @ to the end of a
// line is comment.
#ifndef LIMN_CORE_DIAGRAM_TEXT_OWN_H
#define LIMN_CORE_DIAGRAM_TEXT_OWN_H

#include "core/diagram/diagram.h"

// Scalars that compute the same get the same number, from 1; loops that share a table can be
// compared.
uint32_t *scalar_numbers(World *, const Cast *, const Loop *, Table *);

#endif
