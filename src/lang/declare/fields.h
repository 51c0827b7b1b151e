// declare: the fields of a source of data.
#ifndef LIMN_LANG_DECLARE_FIELDS_H
#define LIMN_LANG_DECLARE_FIELDS_H

#include "io/data/data.h"
#include "lang/elab/elab.h"

typedef struct {
  VEC(Field) field;
  int64_t rows;       // of a file, all splits together; 0 = not known
  bool table;         // its fields are columns
  const char *absent; // a file that is not there: why it could not be read
} DataFields;

// Of a set with a name, or of a file. False with a diagnostic: the file is there and cannot be
// read.
bool data_fields(Elab *, const Given *, DataFields *);
const Field *data_find(const DataFields *, const char *name); // or but for capitals; NULL = none
Type data_type(World *, const Field *);
const char *data_title(World *, const Given *); // "set mnist", "table.csv"

#endif
