package main

/*
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// leastSpace is the address space that the program and the SQL engine need, most
// of which they only reserve. Without it Go does not even start, and the engine
// ends the process: it is looked at before both.
#define leastSpace (4ULL << 30)

__attribute__((constructor)) static void checkAddressSpace(void) {
	struct rlimit limit;
	char text[200];
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= leastSpace)
		return;
	int n = snprintf(text, sizeof text, "stackmill: the address space is limited to %llu MiB, %llu MiB are needed at least (ulimit -v unlimited)\n",
		(unsigned long long)limit.rlim_cur >> 20, leastSpace >> 20);
	if (write(2, text, n) < 0)
		n = 0; // nobody can be told
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

// leastFiles is how many files the program must be able to have open: views read
// many tables at a time, and each table has a file for each experiment.
const leastFiles = 256

// leastSpace is the address space that the program needs beside what it keeps in
// memory: C.leastSpace.
const leastSpace = 4 << 30

// checkSpace refuses to keep so much in memory where that would end the process.
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

// filesPerJob is how many of them reading an experiment may take: one for each
// table, and the load objects that are looked into.
var filesPerJob = len(schema.Tables) + 24

// openFiles is how many files may be open at a time. Go has raised it as far as it
// may be.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int(limit.Cur)
}

// checkFiles refuses to run where files could not be opened in the middle of the
// work.
func checkFiles() error {
	if n := openFiles(); n < leastFiles {
		return fmt.Errorf("%d files may be open at a time, %d are needed at least (ulimit -n 1024)", n, leastFiles)
	}
	return nil
}

// jobsFor is how many of the jobs may run side by side with the files that may be
// open.
func jobsFor(jobs, files int) int {
	return max(1, min(jobs, (files-leastFiles/4)/filesPerJob))
}

// outOfFiles is said of what failed for want of file descriptors, in whatever
// words.
func outOfFiles(err error) error {
	if errors.Is(err, unix.EMFILE) || strings.Contains(strings.ToLower(err.Error()), "too many open files") {
		return fmt.Errorf("more files are needed than the %d that may be open at a time (ulimit -n, with a larger number)", openFiles())
	}
	return err
}
