#include <stdlib.h>
#include "TestOrder.h"

// Swift Testing starts every case of every test at once, and the end of each waits behind the beginning of all: the first test of
// 1,800 passed after minutes. With so many cases at a time, those that were begun end first. The variable wins where it is set.
__attribute__((constructor)) static void endWhatWasBegun(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "4", 0);
}
