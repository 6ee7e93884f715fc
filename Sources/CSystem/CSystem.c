#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

int fleetsim_exchange(const char *a, const char *b) {
#if defined(__linux__)
  // RENAME_EXCHANGE of linux/fs.h. Not every C library has the function.
  return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 1u << 1);
#elif defined(RENAME_SWAP)
  return renamex_np(a, b, RENAME_SWAP);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

bool fleetsim_ignores(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
