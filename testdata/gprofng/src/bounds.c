// Calls whose sizes and times are as large as they can be, and calls that fail
// because they want more: none of them is damage. With an argument the program is
// killed before its recording is closed.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static void *volatile block;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_long(void *unused) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 2;
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&condition, &mutex, &t);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(int argc, char **argv) {
  char buffer[16];
  block = malloc((size_t)1 << 62);  // fails
  block = malloc((size_t)-5);       // fails
  block = realloc(NULL, (size_t)-100);  // fails
  block = malloc((size_t)64 << 20);
  char *large = mmap(NULL, (size_t)1 << 45, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  munmap(large, (size_t)1 << 45);
  mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // fails
  if (read(-1, buffer, 16) >= 0 || read(0, buffer, (size_t)-1) > 0 || write(1, (void *)8, 1000) >= 0)
    return 1;
  int null = open("/dev/null", O_WRONLY);
  char *empty = mmap(NULL, (size_t)3 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  FILE *file = fdopen(null, "w");
  printf("%zu\n", fwrite(empty, 1, (size_t)3 << 30, file));
  pthread_t thread;
  pthread_create(&thread, NULL, wait_long, NULL);
  pthread_join(thread, NULL);
  if (argc > 1)
    kill(getpid(), SIGKILL);
  return 0;
}
