#define _GNU_SOURCE
#include "CMemory.h"

#include <unistd.h>

#ifdef __linux__

#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

/// Addresses for `length` bytes from a multiple of the large page on: only pages that move between such places stay large.
static void *reserve(size_t length, int protection) {
  size_t slack = fleetsim_large_page;
  char *start = mmap(NULL, length + slack, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return NULL;
  size_t before = -(uintptr_t)start % slack;
  if (before > 0) munmap(start, before);
  if (slack > before) munmap(start + before + length, slack - before);
  return start + before;
}

void *fleetsim_map_large(size_t length) {
  void *block = reserve(length, PROT_READ | PROT_WRITE);
  // Advice: nothing is lost where it isn't taken.
  if (block) madvise(block, length, MADV_HUGEPAGE);
  return block;
}

void *fleetsim_grow_large(void *block, size_t length, size_t longer) {
  void *place = reserve(longer, PROT_NONE);
  if (!place) return NULL;
  // If it fails, the place may be somebody else's by now: addresses that nobody uses cost nothing.
  return mremap(block, length, longer, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED ? NULL : place;
}

void fleetsim_unmap_large(void *block, size_t length) { munmap(block, length); }

#else

void *fleetsim_map_large(size_t length) { return NULL; }
void *fleetsim_grow_large(void *block, size_t length, size_t longer) { return NULL; }
void fleetsim_unmap_large(void *block, size_t length) {}

#endif

int fleetsim_usable_cores(void) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? (int)cores : 1;
}
