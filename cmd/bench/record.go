package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
)

// errUnrecorded is the error when a program cannot be recorded on this machine.
var errUnrecorded = errors.New("not recorded")

// unrecorded reports whether to skip the work, because there is no recording. If the reason is a
// missing program or permission, it adds a skipped figure; any other err is returned.
func (b *bench) unrecorded(work string, err error) (skip bool, _ error) {
	if errors.Is(err, errUnrecorded) {
		b.figures.skip(work, err)
		return true, nil
	}
	return err != nil, err
}

// record records CPU time of a command with perf, in the command's working directory and
// environment.
func record(data string, options []string, command *exec.Cmd) error {
	return recordEvent("cpu-clock", data, options, command)
}

// recordEvent is record for another event.
func recordEvent(event, data string, options []string, command *exec.Cmd) error {
	perf, err := exec.LookPath("perf")
	if err != nil {
		return fmt.Errorf("%w: there is no perf", errUnrecorded)
	}
	args := append([]string{perf, "record", "-q", "-e", event, "-o", data}, options...)
	command.Args = append(append(args, "--", command.Path), command.Args[1:]...)
	command.Path = perf
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: perf: %w: %s", errUnrecorded, err, bytes.TrimSpace(out))
	}
	return nil
}

// countSamples counts the samples of a recording.
func countSamples(path string) (n int, err error) {
	f, _, data, err := openRecording(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for r := range perfRecords(data) {
		if r.isSample() {
			n++
		}
	}
	return n, nil
}
