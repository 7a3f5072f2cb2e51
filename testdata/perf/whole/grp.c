/* Processes of which some fork others: they compute and touch fresh pages. With an
 * argument it waits before, and takes longer. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void compute(int units)
{
	for (volatile long i = 0; i < units * 3000000L; i++)
		;
}

static void touch(int pages)
{
	char *p = mmap(0, pages * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < pages; i++)
		p[i * 4096L] = 1;
	munmap(p, pages * 4096L);
}

static void work(int units)
{
	for (int i = 0; i < 20; i++) {
		compute(units);
		touch(50 * units);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		usleep(500000); /* until it is recorded */
	for (int k = 1; k <= 3; k++)
		if (!fork()) {
			compute(5);
			work(k);
			if (k == 2 && !fork()) {
				work(1);
				_exit(0);
			}
			while (wait(0) > 0)
				;
			_exit(0);
		}
	work(argc > 1 ? 15 : 1);
	while (wait(0) > 0)
		;
	return 0;
}
