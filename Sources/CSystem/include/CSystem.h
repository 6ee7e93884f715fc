// Calls of the system that Swift does not import: with arguments of varying number, or of one system alone.
#ifndef FLEETSIM_CSYSTEM_H
#define FLEETSIM_CSYSTEM_H

/// Two paths change places at once, files or directories. -1: errno says why not, ENOTSUP where there is no such call.
int fleetsim_exchange(const char *a, const char *b);

#endif
