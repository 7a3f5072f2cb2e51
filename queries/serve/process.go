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

	"stackmill/queries/sandbox"
)

// errand is a call that another process answers.
type errand struct {
	Method string     `json:"method"`
	Path   string     `json:"path"` // of the endpoint
	Name   string     `json:"name"`
	Values url.Values `json:"values"`
	Body   []byte     `json:"body"`
	Empty  bool       `json:"empty"`
}

// outcome is the head of the answer.
type outcome struct {
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	reply
}

// longestError is how many bytes of an error are passed on.
const longestError = 16 << 10

// Answer is the whole of a process that answers one call.
func Answer(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	return sandbox.Answer(in, out, func(request json.RawMessage, body *os.File) (any, error) {
		var t errand
		if err := json.Unmarshal(request, &t); err != nil {
			return nil, err
		}
		known := append(endpoints[:len(endpoints):len(endpoints)], pprofEndpoint)
		i := slices.IndexFunc(known, func(e endpoint) bool { return e.method == t.Method && e.path == t.Path })
		if i < 0 {
			return nil, fmt.Errorf("no endpoint %s %s", t.Method, t.Path)
		}
		c := &call{endpoint: &known[i], name: t.Name, values: t.Values, body: t.Body, empty: t.Empty}
		a, err := orPanic(func() (*reply, error) { return c.answer(ctx, once{&o}, sandbox.NewBounded(int64(o.Largest), body)) })
		if err != nil {
			text := err.Error() // the engine quotes names, however long
			return outcome{Status: StatusOf(err), Error: strings.ToValidUTF8(text[:min(len(text), longestError)], "")}, nil
		}
		return outcome{http.StatusOK, "", *a}, nil
	})
}

// inState lets a process of its own answer a call, from the state of the store that answers to
// others are from. If the process has found another one, the store has changed: others get the
// new one from now on as well, and if that is another one again, it is tried once more.
func (s *Server) inState(ctx context.Context, c *call, store *lease) (*reply, error) {
	state := store.state()
	for tries := 0; ; tries++ {
		a, err := s.elsewhere(ctx, c)
		if err != nil || a.State == "" || a.State == state {
			return a, err
		}
		now, err := s.shelf.pin(ctx, true)
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
			a.Warnings = append(a.Warnings, "the store changes all the time: other answers may be of another state of it (ask again)")
			return a, nil
		}
		a.body.Release()
	}
}

// errMemory is the failure of what takes too much memory.
var errMemory = &failure{http.StatusRequestEntityTooLarge, sandbox.ErrMemory}

// elsewhere lets a process of its own answer a call.
func (s *Server) elsewhere(ctx context.Context, c *call) (*reply, error) {
	box := &sandbox.Box{Program: s.Program, Memory: s.Memory, Largest: int64(s.Largest)}
	answered, err := box.Run(ctx, errand{c.method, c.path, c.name, c.values, c.body, c.empty})
	switch {
	case errors.Is(err, sandbox.ErrMemory):
		return nil, errMemory
	case errors.Is(err, sandbox.ErrLarge):
		return nil, tooLarge(s.Largest)
	case err != nil:
		return nil, err
	}
	var x outcome
	if err = json.Unmarshal(answered.Head, &x); err != nil {
		err = fmt.Errorf("the process that was to answer said %.100q: %w", answered.Head, err)
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
