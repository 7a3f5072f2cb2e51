package serve

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"stackmill/queries/sandbox"
)

// DefaultPatience is how long a client may take for a part of an answer.
const DefaultPatience = 30 * time.Second

const (
	sendPart      = 64 << 10 // bytes of an answer that are sent at once
	unreadAnswers = 16       // of the largest size may wait for their clients
)

// unread bounds the answers that wait for their clients to read them.
type unread struct {
	bytes atomic.Int64
	most  int64
}

// errUnread is the failure of an answer that has to wait for those of others.
var errUnread = &failure{http.StatusServiceUnavailable, errors.New("too many large answers are not read by their clients (ask again in a moment)")}

// add counts a large answer until it is released, and reports whether there is room for it.
func (u *unread) add(b *sandbox.Body) bool {
	if b.Size <= sandbox.InMemory {
		return true
	}
	b.OnRelease(func() { u.bytes.Add(-b.Size) })
	return u.bytes.Add(b.Size) <= u.most
}

// send writes an answer. A client that does not take it is cut, and so is one whose answer
// cannot be read to its end: it must not take a part for all.
func (s *Server) send(w http.ResponseWriter, b *sandbox.Body) {
	connection, from := http.NewResponseController(w), b.Reader()
	for {
		_ = connection.SetWriteDeadline(time.Now().Add(s.Patience)) // tests have writers without
		switch _, err := io.CopyN(w, from, sendPart); {
		case err == io.EOF:
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}
