// Calls of the system that Swift does not import: with arguments of varying number, of one system alone, or fork.
#ifndef FLEETSIM_CSYSTEM_H
#define FLEETSIM_CSYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

/// Two paths change places at once, files or directories. -1: errno says why not, ENOTSUP where there is no such call.
int fleetsim_exchange(const char *a, const char *b);

/// Whether a signal is ignored, as a parent may have asked for.
bool fleetsim_ignores(int number);

/// A program that is run with nothing to read.
struct fleetsim_program {
  const char *path;
  char *const *arguments;
  char *const *environment;
  /// Where it begins; NULL: where we are.
  const char *directory;
  /// Its standard output and error.
  int output, errors;
  /// Whether processes that it leaves behind may go on.
  bool leaves_others;
};

/// Starts a guardian, which runs the program and owns the tree of processes below it. The tree ends when the program does, when the
/// guardian gets SIGTERM, or when `owner` has no writer any more: then we are gone. The guardian ends last, and as the program did;
/// on `complaints` it names what it can't end.
/// - Returns: the guardian; -1: errno says why the program was not started.
pid_t fleetsim_start(const struct fleetsim_program *program, int owner, int complaints);

#endif
