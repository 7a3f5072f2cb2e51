package serve

import (
	"context"
	"errors"
	"testing"
	"time"

	"stackmill/queries/sandbox"
)

// A request that waits for the answer of another one is answered although the other's client goes, and gets the
// other's error if the client stays.
func TestSharedAnswers(t *testing.T) {
	for name, leaves := range map[string]bool{"leaves": true, "stays": false} {
		t.Run(name, func(t *testing.T) {
			k := newAnswerCache()
			first, leave := context.WithCancel(t.Context())
			defer leave()
			started, fail, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = k.get(first, "tag", func() (*reply, error) {
					close(started)
					<-fail
					return nil, badRequest(errors.New("canceled"))
				})
			}()
			<-started
			answered := make(chan error)
			go func() {
				a, err := k.get(t.Context(), "tag", func() (*reply, error) { return &reply{body: sandbox.NewBody([]byte("answer"))}, nil })
				if err == nil {
					a.body.Release()
				}
				answered <- err
			}()
			for waits := false; !waits; time.Sleep(time.Millisecond) {
				k.mu.Lock()
				waits = k.inFlight["tag"].users == 1
				k.mu.Unlock()
			}
			if leaves {
				leave()
			}
			close(fail)
			if err := <-answered; (err == nil) != leaves {
				t.Error(err)
			}
			<-ended
		})
	}
}
