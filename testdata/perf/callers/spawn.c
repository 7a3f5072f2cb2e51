/* Leaves below main and below a thread's start. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
volatile long sink;
static char buf[4096];
NI int shared(int x) { return x * 7 + (int)sink; }
NI void *routine(void *p) {
	long s = 0;
	for (int i = 0; i < *(int *)p; i++) { s += shared(i); s += strlen(buf + (i & 15)); }
	sink = s;
	return 0;
}
int main(int argc, char **argv) {
	int n = atoi(argv[1]);
	pthread_t t;
	memset(buf, 'x', 200);
	pthread_create(&t, 0, routine, &n);
	long s = 0;
	for (int i = 0; i < n; i++) { s += shared(i); s += strlen(buf + (i & 15)); }
	pthread_join(t, 0);
	sink += s;
	return 0;
}
