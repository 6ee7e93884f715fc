// The one thing that Swift has no word for: asking for a cache line ahead of time.
#ifndef FLEETSIM_CPREFETCH_H
#define FLEETSIM_CPREFETCH_H

static inline __attribute__((always_inline)) void fleetsim_prefetch(const void *address) {
  __builtin_prefetch(address, 1);
}

#endif
