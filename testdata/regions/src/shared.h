#include "parallel.h"
static INLINED void header(void) {
#pragma omp parallel
#pragma omp single
	TOUCHES(40);
}
