/* Functions within functions, as GNU C has them: two outer ones have an inner of
 * the same name, and one of them another one in it. Units of work are 10, 20, 30,
 * 40 for one::inner, two::inner, two::inner::innermost and two::spread. */
#include <stdlib.h>

static volatile long sink;

#define SPIN(units) \
	for (long i_ = 0; i_ < (units) * 100000L; i_++) \
		sink += i_

__attribute__((noinline)) int one(int n) {
	__attribute__((noinline)) int inner(int k) {
		SPIN(10);
		return k + n;
	}
	return inner(n + 1);
}

__attribute__((noinline)) int two(int n) {
	__attribute__((noinline)) int inner(int k) {
		__attribute__((noinline)) int innermost(int m) {
			SPIN(30);
			return m * n;
		}
		SPIN(20);
		return innermost(k);
	}
	__attribute__((noinline)) int spread(int k) {
		SPIN(40);
		return k - n;
	}
	return inner(n) + spread(n);
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < rounds; i++)
		sink += one(i) + two(i);
	return 0;
}
