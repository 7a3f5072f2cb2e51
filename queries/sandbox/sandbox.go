// Package sandbox answers each request in a process of its own. SQL can take any time and memory,
// and need not stop when its context ends, but a process can be killed.
//
// The parent calls Run, which starts the program again with a hidden flag. The new process calls
// Answer. It has a temporary directory, writes its answer to a file, and ends if its parent ends.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"stackmill/internal/tempdir"
	"stackmill/queries"
)

// Box starts processes and limits what each may use.
type Box struct {
	Program []string  // command of a process that calls Answer
	Memory  int64     // bytes of a process, in addition to memorySlack
	Largest int64     // bytes of an answer's body
	Errors  io.Writer // standard error of the processes; may be nil
}

// Result is the answer of a process.
type Result struct {
	Head json.RawMessage // what the handler returned
	Body *Body           // the caller releases it
}

const (
	memoryLook  = 50 * time.Millisecond // how often a process's size is checked
	memorySlack = 512 << 20             // bytes that the engine does not count
	exitDelay   = time.Second           // how long the pipes of a killed process may take to close
	bodyFile    = 3                     // the answer's file descriptor in the process
)

// The errors of answers that exceed a limit.
var (
	ErrMemory = errors.New("it exceeds its memory limit (ask for less)")
	ErrLarge  = errors.New("the answer is too large")
)

// Run answers a request in a process. It kills the process, and all that it has started, if the
// context ends or the process uses too much memory.
func (b *Box) Run(ctx context.Context, request any) (_ *Result, err error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	dir, err := tempdir.Make("answer") // a killed process leaves its files
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	body, err := tempdir.File()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			body.Close()
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := b.command(ctx, dir.Path, body)
	stderr, head := &tail{also: b.Errors}, NewBounded(InMemory, nil)
	p.Stderr, p.Stdout = stderr, head
	in, err := p.StdinPipe()
	if err != nil {
		return nil, err
	}
	// The kernel sends the child Pdeathsig when the thread that started it ends, so this thread
	// must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.Start(); err != nil {
		return nil, err
	}
	text = append(text, '\n')             // marks the end of a text or number
	go func() { _, _ = in.Write(text) }() // the pipe stays open until this process ends
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		queries.Poll(ctx, memoryLook, cancel, ErrMemory, func() bool { return queries.ResidentMemory(p.Process.Pid) > b.Memory+memorySlack })
	}()
	exit := p.Wait()
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) // whatever it has started
	cause := context.Cause(ctx)
	cancel(nil)
	<-watched
	switch {
	case cause != nil:
		return nil, cause
	case wasKilled(exit): // the system ran out of memory
		return nil, ErrMemory
	case exit != nil:
		return nil, fmt.Errorf("the child process that computes the answer failed: %w: %s", exit, stderr)
	}
	info, err := body.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > b.Largest {
		return nil, ErrLarge
	}
	return &Result{head.text, &Body{Size: info.Size(), file: body}}, nil
}

// command returns the command that starts the process, in a process group of its own.
func (b *Box) command(ctx context.Context, dir string, body *os.File) *exec.Cmd {
	p := exec.CommandContext(ctx, b.Program[0], b.Program[1:]...)
	p.Args[0] = "stackmill" // in process lists
	p.Env = append(os.Environ(), "TMPDIR="+dir)
	p.ExtraFiles = []*os.File{body}
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // ends it with its parent even before it reads its input
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = exitDelay
	return p
}

func wasKilled(exit error) bool {
	var failed *exec.ExitError
	return errors.As(exit, &failed) && failed.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// Answer is what a process that Run has started does. handle gets the request, writes the body of
// the answer, and returns its head, which is sent as JSON.
func Answer(in io.Reader, out io.Writer, handle func(request json.RawMessage, body *os.File) (head any, err error)) error {
	// If the machine runs out of memory, the system kills this process first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	var request json.RawMessage
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	go func() { // when the parent has ended, so does this process, and everything that it has started
		_, _ = io.Copy(io.Discard, in)
		if syscall.Getpgrp() == os.Getpid() {
			_ = syscall.Kill(0, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
	head, err := handle(request, os.NewFile(bodyFile, "answer"))
	if err != nil {
		return err
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// tail passes on what a process prints to standard error, and keeps the end of it.
type tail struct {
	text []byte
	also io.Writer
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-most):]
	if t.also != nil {
		_, _ = t.also.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.text)) }
