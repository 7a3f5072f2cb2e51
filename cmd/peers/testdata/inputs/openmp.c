// Parallel regions: loops, reductions, critical sections, sections, tasks.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) double row(int i, int n) {
  double s = 0;
  for (int j = 1; j < n; j++) s += sin(i * 1e-3) / j;
  return s;
}

static long fib(int n) {
  if (n < 18) return n < 2 ? n : fib(n - 1) + fib(n - 2);
  long a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  double total = 0, worst = 0;
  long f = 0;
  for (int round = 0; round < 30; round++) {
#pragma omp parallel for reduction(+ : total) schedule(dynamic, 4)
    for (int i = 0; i < 2000; i++) total += row(i, 300);
#pragma omp parallel
    {
#pragma omp for nowait
      for (int i = 0; i < 300; i++) {
        double v = row(i, 200);
#pragma omp critical
        if (v > worst) worst = v;
      }
#pragma omp barrier
#pragma omp single
      f += fib(23);
    }
#pragma omp parallel sections
    {
#pragma omp section
      total += row(1, 20000);
#pragma omp section
      worst += row(2, 5000) * 1e-9;
    }
  }
  printf("%f %f %ld\n", total, worst, f);
}
