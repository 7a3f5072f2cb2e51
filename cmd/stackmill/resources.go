package main

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/schema"
)

// minFiles is the minimum of files that may be open at a time: views read many tables, and each
// table has a file for each batch.
const minFiles = 256

// checkSpace refuses a --memory for which the address space is too small.
func checkSpace(memory int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<62 {
		return nil
	}
	if need := minSpace + 2*memory; int64(limit.Cur) < need {
		return fmt.Errorf("the address space is limited to %d MiB, %d MiB are needed for --memory %dM (ulimit -v unlimited)", limit.Cur>>20, need>>20, memory>>20)
	}
	return nil
}

// filesPerJob is the number of files that reading an experiment may hold open: one for each table,
// and load objects.
var filesPerJob = len(schema.Tables) + 24

// openFiles returns the limit of open files, which Go has raised to its maximum.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int(limit.Cur)
}

// checkFiles refuses to run if opening files could fail in the middle of the work.
func checkFiles() error {
	if n := openFiles(); n < minFiles {
		return fmt.Errorf("%d files may be open at a time, %d are needed at least (ulimit -n 1024)", n, minFiles)
	}
	return nil
}

// jobsFor returns how many of the jobs may run at once with a limit of open files.
func jobsFor(jobs, files int) int {
	return max(1, min(jobs, (files-minFiles/4)/filesPerJob))
}

// outOfFiles rewords errors due to a lack of file descriptors.
func outOfFiles(err error) error {
	if errors.Is(err, unix.EMFILE) || strings.Contains(strings.ToLower(err.Error()), "too many open files") {
		return fmt.Errorf("more than the allowed %d files have to be open at a time (raise the limit with ulimit -n)", openFiles())
	}
	return err
}
