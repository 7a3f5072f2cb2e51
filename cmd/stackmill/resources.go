package main

/*
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// leastSpace is the address space that the program and the SQL engine need; they only
// reserve most of it. Without it Go does not even start, and the engine ends the
// process: it is checked before both start.
#define leastSpace (4ULL << 30)

__attribute__((constructor)) static void checkAddressSpace(void) {
	struct rlimit limit;
	char text[200];
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= leastSpace)
		return;
	int n = snprintf(text, sizeof text, "stackmill: the address space is limited to %llu MiB, %llu MiB are needed at least (ulimit -v unlimited)\n",
		(unsigned long long)limit.rlim_cur >> 20, leastSpace >> 20);
	if (write(2, text, n) < 0)
		n = 0; // nothing more can be done
	_exit(1);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/schema"
)

// leastFiles is how many files the program must be able to open at a time: views read
// many tables, and each table has a file for each experiment.
const leastFiles = 256

// leastSpace is the address space that the program needs besides its memory:
// C.leastSpace.
const leastSpace = 4 << 30

// checkSpace refuses a --memory for which the address space is too small.
func checkSpace(memory int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<62 {
		return nil
	}
	if need := leastSpace + 2*memory; int64(limit.Cur) < need {
		return fmt.Errorf("the address space is limited to %d MiB, %d MiB are needed for --memory %dM (ulimit -v unlimited)", limit.Cur>>20, need>>20, memory>>20)
	}
	return nil
}

// filesPerJob is how many open files reading an experiment may need: one for each
// table, and load objects.
var filesPerJob = len(schema.Tables) + 24

// openFiles is how many files may be open at a time. Go has raised the limit as far as
// allowed.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int(limit.Cur)
}

// checkFiles refuses to run if opening files could fail in the middle of the work.
func checkFiles() error {
	if n := openFiles(); n < leastFiles {
		return fmt.Errorf("%d files may be open at a time, %d are needed at least (ulimit -n 1024)", n, leastFiles)
	}
	return nil
}

// jobsFor is how many of the jobs may run side by side with that many open files.
func jobsFor(jobs, files int) int {
	return max(1, min(jobs, (files-leastFiles/4)/filesPerJob))
}

// outOfFiles rewords errors due to a lack of file descriptors.
func outOfFiles(err error) error {
	if errors.Is(err, unix.EMFILE) || strings.Contains(strings.ToLower(err.Error()), "too many open files") {
		return fmt.Errorf("more files are needed than the %d that may be open at a time (raise that with ulimit -n)", openFiles())
	}
	return err
}
