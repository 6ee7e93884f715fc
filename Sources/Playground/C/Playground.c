// What the engine and Swift's runtime take from a system, where there is none.
#include "../../CMemory/include/CMemory.h"

// CMemory: nobody maps pages, and there is one core.
void *fleetsim_map_large(size_t length) { return NULL; }
void *fleetsim_grow_large(void *block, size_t length, size_t longer) { return NULL; }
void fleetsim_unmap_large(void *block, size_t length) {}
int fleetsim_usable_cores(void) { return 1; }

// Words that Swift says before a trap go nowhere.
int putchar(int c) { return c; }

// The seed of Hasher: nothing may depend on it.
void arc4random_buf(void *buffer, size_t length) {
  for (size_t i = 0; i < length; i++) ((unsigned char *)buffer)[i] = (unsigned char)(i * 151 + 7);
}

// Numbers in texts: a question has whole ones, which Swift reads itself.
const char *_swift_stdlib_strtod_clocale(const char *text, double *number) { __builtin_trap(); }

unsigned long __stack_chk_guard = 0x5bd1e995;
void __stack_chk_fail(void) { __builtin_trap(); }

// What a compiler's library has: the product of two numbers of 128 bits, by parts of 32.
__int128 __multi3(__int128 a, __int128 b) {
  unsigned long long low = (unsigned long long)a, other = (unsigned long long)b;
  unsigned long long l = (low & 0xffffffff) * (other & 0xffffffff), m = (low >> 32) * (other & 0xffffffff) + (l >> 32);
  unsigned long long n = (low & 0xffffffff) * (other >> 32) + (m & 0xffffffff);
  unsigned long long high = (low >> 32) * (other >> 32) + (m >> 32) + (n >> 32);
  high += low * (unsigned long long)(b >> 64) + (unsigned long long)(a >> 64) * other;
  return (__int128)((unsigned __int128)high << 64 | (n << 32 | (l & 0xffffffff)));
}
