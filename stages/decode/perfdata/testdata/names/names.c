#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
volatile unsigned long s;
static void spin(long n) { for (long i = 0; i < n; i++) s += i; }
static void *worker(void *a) {
	char name[16];
	spin(100000000);
	for (int i = 0; i < 2; i++) {
		snprintf(name, 16, "req %ld/%d;", (long)a, i);
		prctl(PR_SET_NAME, name);
		spin(100000000);
	}
	return 0;
}
int main(int n, char **v) {
	if (n > 1) { spin(100000000); return 0; }
	pthread_t t[2];
	prctl(PR_SET_NAME, "gate keeper");
	for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
	if (fork() == 0) {
		spin(100000000);
		prctl(PR_SET_NAME, "child");
		spin(100000000);
		execl("/proc/self/exe", "names", "again", (char *)0);
	}
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	wait(0);
	spin(100000000);
}
