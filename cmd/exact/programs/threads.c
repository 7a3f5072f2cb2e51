// Threads with names, processes, and programs that others execute.
#define _GNU_SOURCE
#include "truth.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

KEPT static void work(int n)
{
	IN("work");
	TOUCH(n);
	OUT();
}

static void *first(void *name)
{
	pthread_setname_np(pthread_self(), name);
	truth_enter('*', "", "");
	IN("first");
	TOUCH(3);
	CALL(work(2));
	OUT();
	OUT();
	return 0;
}

static void *second(void *name)
{
	pthread_setname_np(pthread_self(), name);
	IN("second");
	CALL(work(4));
	OUT();
	return 0;
}

KEPT static void child(void)
{
	IN("child");
	TOUCH(2);
	CALL(work(1));
	OUT();
}

KEPT static void starts(void)
{
	pthread_t t[4];
	IN("starts");
	for (int i = 0; i < 4; i++) {
		static char *names[] = {"ping", "pong", "ping", "reader 1"};
		pthread_create(&t[i], 0, i % 2 ? second : first, names[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	TOUCH(1);
	OUT();
}

KEPT static void forks(void)
{
	IN("forks");
	int pid = fork();
	if (pid == 0) {
		CALL(child());
		_exit(0);
	}
	waitpid(pid, 0, 0);
	TOUCH(1);
	OUT();
}

KEPT static void executes(void)
{
	IN("executes");
	int pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "again", "executed", (char *)0);
		_exit(1);
	}
	waitpid(pid, 0, 0);
	TOUCH(1);
	OUT();
}

int main(int argc, char **argv)
{
	truth_begin(argc > 1 ? 0x30000000 : 0x20000000);
	IN("main");
	if (argc > 1) {
		CALL(work(5));
	} else {
		CALL(work(3));
		CALL(starts());
		CALL(forks());
		CALL(executes());
	}
	TOUCH(1);
	truth_end();
	return 0;
}
