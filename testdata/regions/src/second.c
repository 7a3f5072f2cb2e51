#include "shared.h"
#define REGION _Pragma("omp parallel") _Pragma("omp single")
static INLINED void region(void) {
	REGION TOUCHES(110);
}
static INLINED void task(void) {
	REGION {
#pragma omp task
		TOUCHES(112);
	}
}
static KEPT void a(void) {
	region();
	task();
	header();
}
static KEPT void b(void) {
	header();
	region();
	task();
}
void second(void) {
	a();
	b();
}
