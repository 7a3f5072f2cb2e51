#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
void *volatile kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rank;

__attribute__((noinline, noclone)) void spin(int ms) {
	struct timespec a, b;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 2000; i++) sink += i * sink;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < ms);
}
__attribute__((noinline, noclone)) void keep(int i) { void *p = malloc(64 + rank); kept = p; if (i % 2) free(p); }
__attribute__((noinline, noclone)) void drop(void) { free(calloc(3, 100)); }
__attribute__((noinline, noclone)) void recurse(int n) { if (n) recurse(n - 1); else keep(0); sink++; }
__attribute__((noinline, noclone)) void odd(void) { for (int i = 0; i < 5; i++) drop(); spin(5); }
__attribute__((noinline, noclone)) void even(void) { recurse(rank); spin(3); }
__attribute__((noinline, noclone)) void output(int n) {
	char name[64], text[512] = "x";
	snprintf(name, sizeof name, "/tmp/ranks-%d-%d", (int)getpid(), rank);
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < n; i++) write(fd, text, 100 + rank);
	lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < n; i++) read(fd, text, 512);
	close(fd);
	unlink(name);
}
static void *wait_for(void *arg) {
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	spin(2 + rank);
	return arg;
}
int main(int argc, char **argv) {
	rank = atoi(argv[1]);
	for (int i = 0; i < 20 * (rank + 1); i++) keep(i);
	if (rank % 2) odd(); else even();
	output(3 + rank);
	pthread_t t;
	pthread_mutex_lock(&lock);
	pthread_create(&t, NULL, wait_for, NULL);
	usleep(5000);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	spin(10 * (1 + rank % 3));
	return 0;
}
