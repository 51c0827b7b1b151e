// The fields of a data source.
#ifndef LIMN_LANG_DECLARE_FIELDS_H
#define LIMN_LANG_DECLARE_FIELDS_H

#include "io/data/data.h"
#include "lang/elab/elab.h"

typedef struct {
  VEC(Field) field;
  int64_t rows;       // of a file, all splits together; 0 = unknown
  bool table;         // its fields are columns
  const char *absent; // why a file could not be read, or NULL
} DataFields;

// Of a named set or a file. False with a diagnostic: the file exists and cannot be read.
bool data_fields(Elab *, const Given *, DataFields *);
const Field *data_find(const DataFields *, const char *name); // ignores case; NULL = none
Type data_type(World *, const Field *);
const char *data_title(World *, const Given *); // "set mnist", "table.csv"

#endif
