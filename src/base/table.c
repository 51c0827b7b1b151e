// A hash table with open addressing from byte strings to ids, and interned names. Entries are
// stored in insertion order, so no output depends on a hash.
#include "base/table.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/names.h"

typedef struct {
  const char *key;
  size_t n;
  uint64_t hash;
  Id value;
} TableEntry;

typedef struct {
  uint32_t number; // entry index + 1; 0: empty
  uint32_t half;   // 32 bits of the hash, compared before the entry
} TableSlot;

struct Table {
  Arena *arena;
  VEC(TableEntry) entry;
  TableSlot *slot;
  uint32_t mask;
};

static uint64_t key_hash(const void *key, size_t n) { return hash_sum(HASH_START, key, n); }

Table *table_new(Arena *a) {
  Table *t = NEW(a, Table);
  t->arena = a;
  t->mask = 15;
  t->slot = NEW_ARRAY(a, TableSlot, 16);
  return t;
}

static TableSlot *table_slot(const Table *t, const void *key, size_t n, uint64_t hash) {
  for (uint32_t i = (uint32_t)(hash >> 32) & t->mask;; i = (i + 1) & t->mask) {
    TableSlot *s = &t->slot[i];
    if (!s->number) return s;
    if (s->half != (uint32_t)hash) continue;
    const TableEntry *e = &t->entry.at[s->number - 1];
    if (e->hash == hash && e->n == n && (n == 0 || memcmp(e->key, key, n) == 0)) return s;
  }
}

Id table_get(const Table *t, const void *key, size_t n) {
  const TableSlot *s = table_slot(t, key, n, key_hash(key, n));
  return s->number ? t->entry.at[s->number - 1].value : 0;
}

static void table_grow(Table *t) {
  t->mask = t->mask * 2 + 1;
  t->slot = NEW_ARRAY(t->arena, TableSlot, (size_t)t->mask + 1);
  for (uint32_t i = 0; i < t->entry.n; i++) { // keys are distinct
    uint64_t hash = t->entry.at[i].hash;
    uint32_t at = (uint32_t)(hash >> 32) & t->mask;
    while (t->slot[at].number) at = (at + 1) & t->mask;
    t->slot[at] = (TableSlot){i + 1, (uint32_t)hash};
  }
}

void table_put(Table *t, const void *key, size_t n, Id value) {
  uint64_t hash = key_hash(key, n);
  TableSlot *slot = table_slot(t, key, n, hash);
  if (slot->number) {
    t->entry.at[slot->number - 1].value = value;
    return;
  }
  vec_push(t->arena, &t->entry, (TableEntry){arena_text(t->arena, key, n), n, hash, value});
  *slot = (TableSlot){t->entry.n, (uint32_t)hash};
  if (t->entry.n * 2 > t->mask) table_grow(t);
}

uint32_t table_count(const Table *t) { return t->entry.n; }
Id table_value(const Table *t, uint32_t i) { return t->entry.at[i].value; }
const char *table_key(const Table *t, uint32_t i, size_t *n) {
  if (n) *n = t->entry.at[i].n;
  return t->entry.at[i].key;
}

struct Names {
  Table *table;
};

Names *names_new(Arena *a) {
  Names *names = NEW(a, Names);
  names->table = table_new(a);
  return names;
}

Name name_of(Names *names, const char *text, size_t n) {
  if (!n) return 0;
  Id id = table_get(names->table, text, n);
  if (id) return id;
  id = table_count(names->table) + 1;
  table_put(names->table, text, n, id);
  return id;
}

Name name_from(Names *names, const char *text) { return name_of(names, text, strlen(text)); }
const char *name_text(const Names *names, Name name) {
  return name ? table_key(names->table, name - 1, NULL) : "";
}
