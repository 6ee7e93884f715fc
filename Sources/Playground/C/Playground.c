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

// Shifts and the quotient of such numbers, by halves.
typedef unsigned long long Half;
typedef union { __int128 all; struct { Half low, high; } half; } Wide;

__int128 __ashlti3(__int128 a, int n) {
  Wide w = {a};
  if (n == 0) return a;
  Half low = w.half.low;
  w.half.high = n & 64 ? low << (n & 63) : w.half.high << n | low >> (64 - n);
  w.half.low = n & 64 ? 0 : low << n;
  return w.all;
}

__int128 __lshrti3(__int128 a, int n) {
  Wide w = {a};
  if (n == 0) return a;
  Half high = w.half.high;
  w.half.low = n & 64 ? high >> (n & 63) : w.half.low >> n | high << (64 - n);
  w.half.high = n & 64 ? 0 : high >> n;
  return w.all;
}

// Bit by bit, as on paper.
__int128 __divti3(__int128 a, __int128 b) {
  Wide n = {a < 0 ? -a : a}, d = {b < 0 ? -b : b}, quotient = {0}, rest = {0};
  for (int bit = 127; bit >= 0; bit--) {
    Half next = (bit & 64 ? n.half.high : n.half.low) >> (bit & 63) & 1;
    rest.half.high = rest.half.high << 1 | rest.half.low >> 63;
    rest.half.low = rest.half.low << 1 | next;
    Half borrow = rest.half.low < d.half.low;
    if (rest.half.high < d.half.high || (rest.half.high == d.half.high && borrow)) continue;
    rest.half.low -= d.half.low;
    rest.half.high -= d.half.high + borrow;
    *(bit & 64 ? &quotient.half.high : &quotient.half.low) |= (Half)1 << (bit & 63);
  }
  return (a < 0) != (b < 0) ? -quotient.all : quotient.all;
}
