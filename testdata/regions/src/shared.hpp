#include "parallel.h"
#define REGION _Pragma("omp parallel") _Pragma("omp single")
struct Shared {
	int n;
	inline void member() {
		REGION TOUCHES(n);
	}
};
