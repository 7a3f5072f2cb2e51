package serve

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"stackmill/queries/sandbox"
)

// DefaultPatience is how long a client may take to read sendBytes of an answer.
const DefaultPatience = 30 * time.Second

const (
	sendBytes = 64 << 10 // bytes written to a client at once
	maxUnread = 16       // backlog.max, in answers of the largest allowed size
)

// backlog limits the total size of answers that clients have not finished reading.
type backlog struct {
	bytes atomic.Int64
	max   int64
}

var errBacklog = &failure{http.StatusServiceUnavailable, errors.New("too many large answers wait for slow clients (try again in a moment)")}

// add counts an answer until it is released, unless it is small enough for memory. It reports whether the total is within
// the limit.
func (u *backlog) add(b *sandbox.Body) bool {
	if b.Size <= sandbox.InMemory {
		return true
	}
	b.OnRelease(func() { u.bytes.Add(-b.Size) })
	return u.bytes.Add(b.Size) <= u.max
}

// send writes an answer. If the client is too slow, or the answer cannot be read to its end, it aborts the
// connection, so that the client does not take a part for the whole.
func (s *Server) send(w http.ResponseWriter, b *sandbox.Body) {
	connection, from := http.NewResponseController(w), b.Reader()
	for {
		_ = connection.SetWriteDeadline(time.Now().Add(s.Patience)) // fails only for the writers of tests
		switch _, err := io.CopyN(w, from, sendBytes); {
		case err == io.EOF:
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}
