// Threads that wait for each other, and work of their own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long turns, shared_sum;
static __thread long own;

static __attribute__((noinline)) long mix(long x) {
  for (int i = 0; i < 300; i++) x = x * 6364136223846793005 + 1442695040888963407;
  return x;
}

static __attribute__((noinline)) void work(long seed) {
  for (int i = 0; i < 3000; i++) {
    char *p = malloc(100 + i % 50);
    memset(p, i, 100);
    own += mix(seed + p[i % 100]);
    free(p);
    pthread_mutex_lock(&lock);
    shared_sum += own & 7;
    pthread_mutex_unlock(&lock);
  }
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *run(void *arg) {
  long n = (long)arg;
  for (int round = 0; round < 40; round++) {
    work(n + round);
    int list[4000];
    for (int i = 0; i < 4000; i++) list[i] = mix(i) % 10007;
    qsort(list, 4000, sizeof *list, compare);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    while (turns % 4 != n) pthread_cond_wait(&ready, &lock);
    turns++;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
  }
  return (void *)own;
}

int main(void) {
  pthread_t t[4];
  pthread_barrier_init(&barrier, NULL, 4);
  for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, (void *)i);
  long total = 0;
  for (int i = 0; i < 4; i++) {
    void *r;
    pthread_join(t[i], &r);
    total += (long)r;
  }
  printf("%ld %ld\n", total, shared_sum);
}
