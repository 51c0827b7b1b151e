// An open-addressing table from byte strings to numbers, and names interned with it. Entries are
// kept in the order of insertion, so nothing that is printed depends on a hash.
#include "base.h"

typedef struct {
  const char *key;
  size_t n;
  uint64_t hash;
  Id value;
} TableEntry;

struct Table {
  Arena *arena;
  VEC(TableEntry) entry;
  uint32_t *slot; // entry number + 1
  uint32_t mask;
};

static uint64_t hash_key(const void *key, size_t n) { // mixed, since slots look at the high bits
  uint64_t h = hash_bytes(HASH_BEGIN, key, n);
  h ^= h >> 32;
  return h * 0x9E3779B97F4A7C15u;
}

Table *table_new(Arena *a) {
  Table *t = NEW(a, Table);
  t->arena = a;
  t->mask = 15;
  t->slot = NEW_ARRAY(a, uint32_t, 16);
  return t;
}

static uint32_t *table_slot(const Table *t, const void *key, size_t n, uint64_t hash) {
  for (uint32_t i = (uint32_t)(hash >> 32) & t->mask;; i = (i + 1) & t->mask) {
    if (!t->slot[i]) return &t->slot[i];
    const TableEntry *e = &t->entry.at[t->slot[i] - 1];
    if (e->hash == hash && e->n == n && (n == 0 || memcmp(e->key, key, n) == 0)) return &t->slot[i];
  }
}

Id table_get(const Table *t, const void *key, size_t n) {
  uint32_t slot = *table_slot(t, key, n, hash_key(key, n));
  return slot ? t->entry.at[slot - 1].value : 0;
}

static void table_grow(Table *t) {
  uint32_t *old = t->slot, size = t->mask + 1;
  t->mask = size * 2 - 1;
  t->slot = NEW_ARRAY(t->arena, uint32_t, (size_t)size * 2);
  for (uint32_t i = 0; i < size; i++) {
    if (!old[i]) continue;
    const TableEntry *e = &t->entry.at[old[i] - 1];
    *table_slot(t, e->key, e->n, e->hash) = old[i];
  }
}

void table_put(Table *t, const void *key, size_t n, Id value) {
  uint64_t hash = hash_key(key, n);
  uint32_t *slot = table_slot(t, key, n, hash);
  if (*slot) {
    t->entry.at[*slot - 1].value = value;
    return;
  }
  vec_push(t->arena, &t->entry, (TableEntry){arena_text(t->arena, key, n), n, hash, value});
  *slot = t->entry.n;
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
