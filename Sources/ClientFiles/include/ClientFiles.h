// The files under clients, carried in the binary by the compiler's #embed (C23).
#ifndef FLEETSIM_CLIENT_FILES_H
#define FLEETSIM_CLIENT_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct fleetsim_client_file {
  /// The client's, without the file's extension.
  const char *name;
  /// Whether a source document or a recording judges it; else it is of the catalogue.
  bool is_documented;
  /// JSON5 in UTF-8, with a zero behind it.
  const char *text;
};

size_t fleetsim_client_count(void);

/// The file at an index below the count, in the order of the tables.
struct fleetsim_client_file fleetsim_client(size_t index);

#endif
