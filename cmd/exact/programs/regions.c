// Parallel regions of OpenMP: their bodies are functions that the compiler makes.
#include "truth.h"
#include <omp.h>

static volatile int threads = 3;

KEPT static void row(int n) { IN("row"); TOUCH(n); OUT(); }

KEPT void region(void)
{
	IN("region");
	truth_line(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		int depth = truth_depth();
		if (omp_get_thread_num() == 0)
			truth_enter('*', "", "");
		truth_enter('b', "region", __FILE__);
		TOUCH(1);
		CALL(row(2));
		truth_return(depth);
	}
	TOUCH(1);
	OUT();
}

KEPT void loop(int n)
{
	IN("loop");
	truth_line(__LINE__ + 1);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
	for (int i = 0; i < n; i++) {
		int depth = truth_depth();
		if (omp_get_thread_num() == 0)
			truth_enter('*', "", "");
		truth_enter('b', "loop", __FILE__);
		CALL(row(1));
		truth_return(depth);
	}
	OUT();
}

int main(void)
{
	truth_begin(0x20000000);
	IN("main");
	CALL(region());
	CALL(loop(6));
	TOUCH(1);
	truth_end();
	return 0;
}
