#include "parallel.h"
#include <sys/prctl.h>
__attribute__((constructor)) static void prepare(void) { PREPARE(); }
// page returns an address that nothing has touched.
long page_(void) { return __atomic_fetch_add((unsigned long *)CURSOR, 4096, __ATOMIC_RELAXED); }
