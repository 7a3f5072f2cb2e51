/* Stacks that are hard to unwind: variable frames, callbacks from the library,
   threads, a signal on the thread's stack and one on a stack of its own, a fork
   and a program that executes itself. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NI __attribute__((noinline, noclone))

static volatile unsigned long sink;

NI void work(int units)
{
	for (long i = 0; i < units * 4000000L; i++)
		sink = sink * 5 + 1;
}

NI void exec_work(void) { work(12); sink++; }
NI void fork_work(void) { work(8); sink++; }
NI void thread_work(void) { work(10); sink++; }
NI void variable(int n)
{
	char *p = alloca(64 + n % 7 * 48);
	memset(p, n, 64);
	if (n > 0)
		variable(n - 1);
	else
		work(6);
	sink += p[n];
}

static int compare(const void *a, const void *b)
{
	sink = sink * 3 + 1;
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

NI void sorted(void)
{
	enum { N = 120000 };
	int *x = malloc(N * sizeof *x);
	for (int i = 0; i < N; i++)
		x[i] = i * 7919 % N;
	qsort(x, N, sizeof *x, compare);
	sink += x[5];
	free(x);
}

static void on_usr1(int sig) { work(6); sink += sig; }
static void on_usr2(int sig) { work(6); sink += sig; }
NI void self_signal(int sig) { raise(sig); sink++; }

static void *thread(void *arg)
{
	thread_work();
	return arg;
}

static void handle(int sig, void (*f)(int), int flags)
{
	struct sigaction sa = {0};
	sa.sa_handler = f;
	sa.sa_flags = flags;
	sigaction(sig, &sa, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		exec_work();
		return 0;
	}
	stack_t own = {0};
	own.ss_sp = malloc(own.ss_size = 65536);
	sigaltstack(&own, 0);
	handle(SIGUSR1, on_usr1, 0);
	handle(SIGUSR2, on_usr2, SA_ONSTACK);
	work(6);
	variable(12);
	for (int i = 0; i < 4; i++)
		sorted();
	self_signal(SIGUSR1);
	self_signal(SIGUSR2);
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, thread, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	if (fork() == 0) {
		fork_work();
		execl(argv[0], argv[0], "again", (char *)0);
	}
	wait(0);
	return 0;
}
