// The grammar of printed diagrams. Private to this folder; tests parse the text.
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
// "map" is a sum in which every index is an axis of the result, so nothing is reduced. A name that
// is not a plain word, or is a keyword above, is quoted; % means no name. Repeated names get the
// suffixes .2, .3 …, which only disambiguate. A comment starts at @ and ends at the end of the
// line.
#ifndef LIMN_CORE_DIAGRAM_TEXT_OWN_H
#define LIMN_CORE_DIAGRAM_TEXT_OWN_H

#include "core/diagram/diagram.h"
#include "core/diagram/print.h"

// Value numbering of a loop's scalars, from 1: scalars that compute the same value get the same
// number. Loops that share a table can be compared.
uint32_t *scalar_numbers(World *, const PrintNames *, const Loop *, Table *);

#endif
