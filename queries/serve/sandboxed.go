package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// sandboxCall is a call that is sent to another process.
type sandboxCall struct {
	Method string     `json:"method"`
	Path   string     `json:"path"` // path of the endpoint
	Name   string     `json:"name"`
	Values url.Values `json:"values"`
	Body   []byte     `json:"body"`
	Empty  bool       `json:"empty"`

	// Commits are the batches of the older state of the store that the client names; nil: the newest state.
	Commits []string `json:"commits,omitempty"`
}

// sandboxReply is the answer of that process, without the body.
type sandboxReply struct {
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	reply
}

const maxErrorBytes = 16 << 10

// Answer is the main function of a process that answers one call from another process.
func Answer(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	return sandbox.Answer(in, out, func(request json.RawMessage, body *os.File) (any, error) {
		var t sandboxCall
		if err := json.Unmarshal(request, &t); err != nil {
			return nil, err
		}
		known := append(endpoints[:len(endpoints):len(endpoints)], pprofEndpoint)
		i := slices.IndexFunc(known, func(e endpoint) bool { return e.method == t.Method && e.path == t.Path })
		if i < 0 {
			return nil, fmt.Errorf("no endpoint %s %s", t.Method, t.Path)
		}
		c := &call{endpoint: &known[i], name: t.Name, values: t.Values, body: t.Body, columnsOnly: t.Empty}
		a, err := recoverPanic(func() (*reply, error) {
			return c.answer(ctx, directSource{&o, t.Commits}, sandbox.NewBounded(int64(o.Largest), body))
		})
		if err != nil {
			text := terminal.Wording(err) // may be long: the engine quotes names in full
			if errors.As(err, new(*queries.FilterError)) {
				text = badRequest(err).Error()
			}
			return sandboxReply{Status: StatusOf(err), Error: strings.ToValidUTF8(text[:min(len(text), maxErrorBytes)], "")}, nil
		}
		return sandboxReply{http.StatusOK, "", *a}, nil
	})
}

// runInState runs a call in another process, which opens the store itself. Its answer must be from the same state of
// the store as the lease. If that process saw another state, the server looks for new commits; if the states still
// differ, it retries once.
func (s *Server) runInState(ctx context.Context, c *call, store *lease) (*reply, error) {
	state := store.state()
	if !store.isCurrent() {
		a, err := s.runSandboxed(ctx, c, store.whole.db.Commits)
		if err == nil && a.State != "" && a.State != state {
			a.body.Release()
			err = errGone
		}
		return a, err
	}
	for tries := 0; ; tries++ {
		a, err := s.runSandboxed(ctx, c, nil)
		if err != nil || a.State == "" || a.State == state {
			return a, err
		}
		now, err := s.store.pin(ctx, true)
		if err != nil {
			a.body.Release()
			return nil, err
		}
		state = now.state()
		now.release()
		switch {
		case a.State == state:
			return a, nil
		case tries > 0:
			a.Warnings = append(a.Warnings, "the store keeps changing: other answers may be from another state of it (try again)")
			return a, nil
		}
		a.body.Release()
	}
}

var errMemory = &failure{http.StatusRequestEntityTooLarge, sandbox.ErrMemory}

// errGone is the error of a call about an older state of the store whose commits have been removed.
var errGone = errors.New("the older state of the store is gone")

// runSandboxed runs a call in another process, about the state of the store with these commits, or the newest if nil.
func (s *Server) runSandboxed(ctx context.Context, c *call, commits []string) (*reply, error) {
	box := &sandbox.Box{Program: s.Program, Memory: s.Memory, Largest: int64(s.Largest)}
	answered, err := box.Run(ctx, sandboxCall{c.method, c.path, c.name, c.values, c.body, c.columnsOnly, commits})
	switch {
	case errors.Is(err, sandbox.ErrMemory):
		return nil, errMemory
	case errors.Is(err, sandbox.ErrLarge):
		return nil, tooLarge(s.Largest)
	case err != nil:
		return nil, err
	}
	var x sandboxReply
	if err = json.Unmarshal(answered.Head, &x); err != nil {
		err = fmt.Errorf("the process for SQL answered %.100q: %w", answered.Head, err)
	} else if x.Status != http.StatusOK {
		err = &failure{x.Status, errors.New(x.Error)}
	}
	if err != nil {
		answered.Body.Release()
		return nil, err
	}
	x.body = answered.Body
	return &x.reply, nil
}
