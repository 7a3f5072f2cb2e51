// Parallel regions, tasks and reductions in functions that compilers put into
// others. The comment behind each says which function holds it: the first of the
// list that the program still has as a function of its own. Each region works
// about as long as the others.
#include <cstdlib>

static volatile long sink;

static inline __attribute__((always_inline)) void spin() {
	for (long i = 0; i < 400000; i++)
		sink += i;
}

#define COUNT 8

__attribute__((noinline)) void plain() {
#pragma omp parallel for
	for (int i = 0; i < COUNT; i++) // held by plain
		spin();
}

static inline __attribute__((always_inline)) void inlined_once(int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by inlined_once, host_of_inlined
		spin();
}

__attribute__((noinline)) void host_of_inlined(int n) {
	inlined_once(n);
}

static inline __attribute__((always_inline)) void deeper(int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by deeper, deep, host_of_two
		spin();
}

static inline __attribute__((always_inline)) void deep(int n) {
	deeper(n);
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by deep, host_of_two
		spin();
}

__attribute__((noinline)) void host_of_two(int n) {
	deep(n);
}

void both(int n) { // exported: it is also a function of its own
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by both
		spin();
}

__attribute__((noinline)) void host_of_both(int n) {
	both(n);
}

static inline __attribute__((always_inline)) void shared(int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by shared, always
		spin();
}

__attribute__((noinline)) void shares_one(int n) {
	shared(n);
}

__attribute__((noinline)) void shares_two(int n) {
	shared(n + 1);
}

__attribute__((noinline)) void serial(int n) {
#pragma omp parallel for if (n > 1000)
	for (int i = 0; i < n; i++) // held by serial
		spin();
}

__attribute__((noinline)) void nested() {
#pragma omp parallel num_threads(2)
	{
		spin(); // held by nested
#pragma omp parallel for num_threads(2)
		for (int i = 0; i < COUNT; i++) // held by nested
			spin();
	}
}

__attribute__((noinline)) long reducing() {
	long sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < COUNT; i++) { // held by reducing
		spin();
		sum += i;
	}
	return sum;
}

__attribute__((noinline)) void tasking() {
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < COUNT; i++)
#pragma omp task
		spin(); // held by tasking
}

__attribute__((noinline)) void tasks_in_region_in_lambda() {
	auto with = [](int n) {
#pragma omp parallel
#pragma omp master
		for (int i = 0; i < n; i++)
#pragma omp task firstprivate(i)
			spin(); // held by tasks_in_region_in_lambda()::{lambda, tasks_in_region_in_lambda
	};
	with(COUNT);
}

template <class F> static inline __attribute__((always_inline)) void each(int n, F f) {
#pragma omp parallel for
	for (int i = 0; i < n; i++) // held by each<, lambda_host
		f(i);
}

__attribute__((noinline)) void lambda_host(long k) {
	each(COUNT, [=](int i) { // a part of the region of each
		spin();
		sink += k;
	});
}

template <class T> struct Grid {
	T value;
	__attribute__((noinline)) void fill() {
#pragma omp parallel for
		for (int i = 0; i < COUNT; i++) { // held by Grid<
			spin();
			value = i;
		}
	}
};

static __attribute__((noinline)) void sections() {
#pragma omp parallel sections
	{
#pragma omp section
		spin(); // held by sections
#pragma omp section
		spin(); // held by sections
	}
}

__attribute__((noinline)) void looping() {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
	for (int i = 0; i < COUNT; i++) // held by looping
		spin();
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	Grid<int> ints;
	Grid<double> doubles;
	for (int i = 0; i < rounds; i++) {
		plain();
		host_of_inlined(COUNT);
		host_of_two(COUNT);
		both(COUNT);
		host_of_both(COUNT);
		shares_one(COUNT);
		shares_two(COUNT);
		serial(COUNT);
		nested();
		sink += reducing();
		tasking();
		tasks_in_region_in_lambda();
		lambda_host(argc);
		ints.fill();
		doubles.fill();
		sections();
		looping();
	}
	return 0;
}
