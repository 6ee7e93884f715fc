// The files under Tests/ConformanceTests/Vectors, carried in the binary by the compiler's #embed (C23).
#ifndef FLEETSIM_CONFORMANCE_VECTORS_H
#define FLEETSIM_CONFORMANCE_VECTORS_H

#include <stddef.h>

struct fleetsim_vector_file {
  const char *name;
  /// UTF-8, with a zero behind it.
  const char *text;
};

size_t fleetsim_vector_count(void);

/// The file at an index below the count.
struct fleetsim_vector_file fleetsim_vector(size_t index);

#endif
