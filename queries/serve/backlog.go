package serve

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"stackmill/queries/sandbox"
)

// DefaultPatience is how long a client may take to read a part of an answer.
const DefaultPatience = 30 * time.Second

const (
	sendBytes = 64 << 10 // bytes written to a client at once
	maxUnread = 16       // answers of the largest size that may wait for their clients
)

// backlog limits the bytes of answers that wait for their clients to read them.
type backlog struct {
	bytes atomic.Int64
	max   int64
}

var errBacklog = &failure{http.StatusServiceUnavailable, errors.New("too many large answers wait for slow clients (try again in a moment)")}

// add counts a large answer until it is released and reports whether it fits.
func (u *backlog) add(b *sandbox.Body) bool {
	if b.Size <= sandbox.InMemory {
		return true
	}
	b.OnRelease(func() { u.bytes.Add(-b.Size) })
	return u.bytes.Add(b.Size) <= u.max
}

// send writes an answer. It aborts the connection of a client that is too slow, and when reading the answer fails:
// the client must not take a part for the whole.
func (s *Server) send(w http.ResponseWriter, b *sandbox.Body) {
	connection, from := http.NewResponseController(w), b.Reader()
	for {
		_ = connection.SetWriteDeadline(time.Now().Add(s.Patience)) // writers of tests have no deadline
		switch _, err := io.CopyN(w, from, sendBytes); {
		case err == io.EOF:
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}
