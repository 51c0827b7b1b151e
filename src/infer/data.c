// What is known of data sets before any is opened: the names and types of their fields.
#include "data.h"
#include "elab.h"

static const struct {
  const char *set, *field, *type;
} known[] = {
    {"iris", "x", "R[4]"},
    {"iris", "label", "{3}"},
    {"moons", "x", "R[2]"},
    {"moons", "label", "{2}"},
    {"spirals", "x", "R[2]"},
    {"spirals", "label", "{2}"},
    {"blobs", "x", "R[2]"},
    {"blobs", "label", "{3}"},
    {"glyphs", "image", "R[28 28]"},
    {"glyphs", "label", "{10}"},
    {"faces", "face", "R[32 32]"},
    {"faces", "smile", "R[]"},
    {"scenes", "picture", "R[32 32 3]"},
    {"scenes", "caption", "{500}[12]"},
    {"mnist", "image", "R[28 28]"},
    {"mnist", "label", "{10}"},
    {"fashion", "image", "R[28 28]"},
    {"fashion", "label", "{10}"},
    {"cifar10", "image", "R[32 32 3]"},
    {"cifar10", "label", "{10}"},
    {"smiles", "face", "R[32 32]"},
    {"smiles", "smile", "R[]"},
    {"omniglot", "image", "R[28 28]"},
    {"omniglot", "label", "{964}"},
    {"digits", "image", "R[8 8]"},
    {"digits", "label", "{10}"},
    {"shakespeare", "text", "{65}"},
};

bool data_is_set(const char *set) {
  for (uint32_t i = 0; i < COUNT(known); i++)
    if (strcmp(known[i].set, set) == 0) return true;
  return false;
}

const char *data_field(const char *set, uint32_t k, const char **type) {
  for (uint32_t i = 0; i < COUNT(known); i++)
    if (strcmp(known[i].set, set) == 0 && k-- == 0) {
      *type = known[i].type;
      return known[i].field;
    }
  return NULL;
}

const char *data_nearest(const char *set) {
  const char *names[COUNT(known)];
  for (uint32_t i = 0; i < COUNT(known); i++) names[i] = known[i].set;
  return nearest_name(set, names, COUNT(known));
}
