/* Computes as long as its argument says, in two processes. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20;
	int child = !fork();
	for (volatile long i = 0; i < n * 3000000 / (child ? 4 : 1); i++)
		;
	if (!child)
		wait(0);
	return 0;
}
