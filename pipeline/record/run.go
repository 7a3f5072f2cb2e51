package record

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"stackmill/internal/ordered"
)

// signaled is what shells add to the number of the signal that ended a program, for its exit status.
const signaled = 128

// Run runs the profiler with this process's input and outputs. It passes signals on, and returns the
// exit status, which is that of the recorded program.
func (c *Command) Run() (status int, err error) {
	before, _ := os.Stat(c.Output)
	p := exec.Command(c.Args[0], c.Args[1:]...)
	p.Stdin, p.Stdout, p.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(signals)
	signal.Reset(unix.SIGXFSZ) // children inherit that main ignores it
	err = p.Start()
	signal.Ignore(unix.SIGXFSZ)
	if err != nil {
		return 0, err
	}
	ended := ordered.Start(func() (struct{}, error) { return struct{}{}, p.Wait() })
	for running := true; running; {
		select {
		case s := <-signals:
			if !fromTerminal(s) {
				_ = p.Process.Signal(s) // it fails if the program has ended
			}
		case <-ended.Done():
			running = false
		}
	}
	state := p.ProcessState.Sys().(syscall.WaitStatus)
	status = state.ExitStatus()
	if state.Signaled() {
		status = signaled + int(state.Signal())
	}
	if after, err := os.Stat(c.Output); err != nil || os.SameFile(before, after) {
		return status, fmt.Errorf("%s made no recording", c.Args[0])
	}
	return status, nil
}

// fromTerminal reports whether a terminal sent a signal that this process received. It then sent the
// signal to the profiler and the program as well.
func fromTerminal(s os.Signal) bool {
	if s != unix.SIGINT && s != unix.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
