// What Swift has no word for: asking for a cache line ahead of time, tables that stay in large pages while they grow,
// and the cores that a process may use.
#ifndef FLEETSIM_CMEMORY_H
#define FLEETSIM_CMEMORY_H

#include <stddef.h>

static inline __attribute__((always_inline)) void fleetsim_prefetch(const void *address) {
  __builtin_prefetch(address, 1);
}

/// The size and alignment of a large page: lengths below are multiples of it.
enum { fleetsim_large_page = 2 << 20 };

/// Zeroed memory that takes pages as they are written, large ones where the system gives any; NULL where it can't be had.
void *fleetsim_map_large(size_t length);

/// The same contents in a longer block, by moving pages; NULL, and nothing changed, where that can't be done.
void *fleetsim_grow_large(void *block, size_t length, size_t longer);

void fleetsim_unmap_large(void *block, size_t length);

/// Fewer than there are where a container or taskset says so; at least 1.
int fleetsim_usable_cores(void);

#endif
