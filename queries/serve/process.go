package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"stackmill/queries"
)

// A process that answers one call reads an errand from its standard input, and writes an
// outcome, a line of JSON, and the answer's body to its standard output.
type errand struct {
	Method string     `json:"method"`
	Path   string     `json:"path"` // of the endpoint
	Name   string     `json:"name"`
	Values url.Values `json:"values"`
	Body   []byte     `json:"body"`
	Empty  bool       `json:"empty"`
}

type outcome struct {
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	reply
}

const (
	largestHead = 64 << 10              // bytes of an outcome besides the body
	memoryLook  = 50 * time.Millisecond // between looks at a process's size
	memorySlack = 512 << 20             // bytes beyond the engine's memory, for what it does not count
	endGrace    = time.Second           // how long a process may take to end before it is killed
)

// Answer is the whole of a process that answers one call.
func Answer(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	var t errand
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	known := append(endpoints[:len(endpoints):len(endpoints)], pprofEndpoint)
	i := slices.IndexFunc(known, func(e endpoint) bool { return e.method == t.Method && e.path == t.Path })
	if i < 0 {
		return fmt.Errorf("no endpoint %s %s", t.Method, t.Path)
	}
	c := &call{endpoint: &known[i], name: t.Name, values: t.Values, body: t.Body, empty: t.Empty}
	a, err := orPanic(func() (*reply, error) { return c.answer(ctx, once{&o}, o.Largest) })
	x := outcome{Status: http.StatusOK}
	if err != nil {
		x.Status, x.Error, a = StatusOf(err), err.Error(), &reply{}
	}
	x.reply = *a
	head, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = out.Write(slices.Concat(head, []byte{'\n'}, a.body))
	return err
}

// elsewhere lets a process of its own answer a call. It is killed if it takes too long or
// too much memory.
func (s *Server) elsewhere(ctx context.Context, c *call) (*reply, error) {
	ask, err := json.Marshal(errand{c.method, c.path, c.name, c.values, c.body, c.empty})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dir, err := os.MkdirTemp("", "stackmill-answer-") // a process that is killed leaves its files
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Log.Warn("removing temporary files", "error", err)
		}
	}()
	p := exec.CommandContext(ctx, s.Program[0], s.Program[1:]...)
	p.Env = append(os.Environ(), "TMPDIR="+dir)
	p.Args[0] = os.Args[0] // lists of processes have it under the server's name
	p.Stdin = bytes.NewReader(ask)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGTERM) }
	p.WaitDelay = endGrace
	said, answered := &tail{}, &bounded{most: s.Largest + largestHead}
	p.Stderr, p.Stdout = said, answered
	if err := p.Start(); err != nil {
		return nil, err
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, p.Process.Pid, cancel)
	}()
	ended := p.Wait()
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) // there may be nothing left
	cause := context.Cause(ctx)
	cancel(nil)
	<-watched
	switch {
	case cause != nil:
		return nil, cause
	case answered.full:
		return nil, tooLarge(s.Largest)
	case ended != nil:
		return nil, fmt.Errorf("the process that was to answer failed: %w: %s", ended, said)
	}
	return outcomeOf(answered.Bytes())
}

// inState lets a process of its own answer a call, from the state of the store that answers to
// others are from. If the process has found another one, the store has changed: others get the
// new one from now on as well, and if that is another one again, it is tried once more.
func (s *Server) inState(ctx context.Context, c *call, store *pinned) (*reply, error) {
	state := store.state()
	for tries := 0; ; tries++ {
		a, err := s.elsewhere(ctx, c)
		if err != nil || a.State == "" || a.State == state {
			return a, err
		}
		now, err := s.shelf.pin(ctx, true)
		if err != nil {
			return nil, err
		}
		state = now.state()
		now.release()
		switch {
		case a.State == state:
			return a, nil
		case tries > 0:
			a.Warnings = append(a.Warnings, "the store changes all the time: other answers may be of another state of it (ask again)")
			return a, nil
		}
	}
}

// errMemory is the failure of what takes too much memory.
var errMemory = &failure{http.StatusRequestEntityTooLarge, errors.New("it takes more memory than it may (ask for less)")}

// watch ends a process that grows too large.
func (s *Server) watch(ctx context.Context, pid int, end context.CancelCauseFunc) {
	look := time.NewTicker(memoryLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if queries.ResidentMemory(pid) > s.Memory+memorySlack {
				end(errMemory)
				return
			}
		}
	}
}

// outcomeOf reads what a process answers.
func outcomeOf(text []byte) (*reply, error) {
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	var x outcome
	if err := json.Unmarshal(head, &x); err != nil {
		return nil, fmt.Errorf("the process that was to answer said %.100q: %w", head, err)
	}
	if x.Status != http.StatusOK {
		return nil, &failure{x.Status, errors.New(x.Error)}
	}
	return &reply{x.Type, x.Warnings, x.State, body}, nil
}

// tail keeps the end of what a process says.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.text)) }
