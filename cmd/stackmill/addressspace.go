//go:build cgo

package main

/*
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// minSpace is the address space that the program and the SQL engine need; they only reserve most of
// it. If it is missing, Go does not start, or the engine ends the process: this code checks it
// before.
#define minSpace (4ULL << 30)

__attribute__((constructor)) static void checkAddressSpace(void) {
	struct rlimit limit;
	char text[200];
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= minSpace)
		return;
	int n = snprintf(text, sizeof text, "stackmill: the address space is limited to %llu MiB, but at least %llu MiB are needed (ulimit -v unlimited)\n",
		(unsigned long long)limit.rlim_cur >> 20, minSpace >> 20);
	if (write(2, text, n) < 0)
		n = 0; // nothing more can be done
	_exit(1);
}
*/
import "C"

// minSpace is the address space that the program needs besides its memory:
// C.minSpace.
const minSpace = 4 << 30
