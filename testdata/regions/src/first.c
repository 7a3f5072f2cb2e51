#include "shared.h"
#define REGION _Pragma("omp parallel") _Pragma("omp single")
static INLINED void region(void) {
	REGION TOUCHES(10);
}
static INLINED void loop(void) {
#pragma omp parallel for
	for (int i = 0; i < 11; i++)
		TOUCHES(1);
}
static INLINED void task(void) {
	REGION {
#pragma omp task
		TOUCHES(12);
	}
}
static INLINED void nest(void) {
#pragma omp parallel num_threads(2)
	{
#pragma omp single
		TOUCHES(13);
#pragma omp single
		REGION TOUCHES(14);
	}
}
static INLINED void sections(void) {
#pragma omp parallel sections
	{
#pragma omp section
		TOUCHES(15);
#pragma omp section
		TOUCHES(16);
	}
}
static INLINED void inner(void) {
	REGION TOUCHES(17);
}
static INLINED void middle(void) {
	inner();
	REGION TOUCHES(18);
}
static INLINED void around(void) {
	REGION {
		TOUCHES(19);
		inner();
	}
}
void both(void) {
	REGION TOUCHES(20);
}
static inline void small(void) {
	REGION TOUCHES(21);
}
static INLINED void once(void) {
	REGION TOUCHES(22);
}
static KEPT void kept(int n) {
	REGION TOUCHES(n);
}
static INLINED void conditional(int n) {
#pragma omp parallel if (n > 5)
#pragma omp single
	TOUCHES(24);
}
static INLINED long reduce(int n) {
	long sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < 25; i++) {
		TOUCHES(1);
		sum += n;
	}
	return sum;
}
static INLINED void taskloop(void) {
	REGION {
#pragma omp taskloop
		for (int i = 0; i < 26; i++)
			TOUCHES(1);
	}
}
void second(void);
volatile long sink;
KEPT void one(void) {
	region(); loop(); task(); nest(); sections(); middle(); around(); both(); small(); header(); conditional(9); sink += reduce(3); taskloop();
}
KEPT void two(void) {
	region(); loop(); task(); nest(); sections(); middle(); around(); both(); small(); header(); conditional(2); sink += reduce(4); taskloop();
}
int main(void) {
	PREPARE();
	one();
	two();
	once();
	kept(23);
	second();
	return 0;
}
