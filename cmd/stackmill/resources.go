package main

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/schema"
)

// minFiles is how many files the program must be allowed to have open at a time: views read many
// tables, and each table has a file for each batch.
const minFiles = 256

// checkSpace returns an error if the limit on the address space is too low for --memory.
func checkSpace(memory int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<62 {
		return nil
	}
	if need := minSpace + 2*memory; int64(limit.Cur) < need {
		return fmt.Errorf("the address space is limited to %d MiB, but %d MiB are needed for --memory %dM (ulimit -v unlimited)", limit.Cur>>20, need>>20, memory>>20)
	}
	return nil
}

// filesPerJob is how many files a job that reads an experiment may have open: one for each table,
// and some for load objects.
var filesPerJob = len(schema.Tables) + 24

// openFiles returns the limit on open files. Go raises the soft limit to the hard limit at startup.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int(limit.Cur)
}

// checkFiles returns an error if the limit on open files is so low that opening a file could fail
// in the middle of the work.
func checkFiles() error {
	if n := openFiles(); n < minFiles {
		return fmt.Errorf("%d files may be open at a time, but at least %d are needed (ulimit -n 1024)", n, minFiles)
	}
	return nil
}

// jobsFor returns how many jobs may run at once, at most jobs, if only so many files may be open.
func jobsFor(jobs, files int) int {
	return max(1, min(jobs, (files-minFiles/4)/filesPerJob))
}

// outOfFiles rewords an error about too many open files; it returns other errors unchanged.
func outOfFiles(err error) error {
	if errors.Is(err, unix.EMFILE) || strings.Contains(strings.ToLower(err.Error()), "too many open files") {
		return fmt.Errorf("more than the allowed %d files have to be open at a time (raise the limit with ulimit -n)", openFiles())
	}
	return err
}
