// What the engine takes from a C library: a browser's build links wasi-libc, which is musl.
#ifndef PLAYGROUND_MUSL_H
#define PLAYGROUND_MUSL_H

#include <stddef.h>

void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);

#endif
