package serve

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConnections bounds a server's connections. A browser opens six.
const maxConnections = 1024

// Connections bounds the connections of a web server: when there is one too many, it closes the connection that has
// been idle for longest.
type Connections struct {
	mu      sync.Mutex
	open    int
	waiting map[net.Conn]time.Time // idle connections, since when
}

// Note implements http.Server.ConnState.
func (c *Connections) Note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[net.Conn]time.Time{}
	}
	delete(c.waiting, conn)
	switch state {
	case http.StateNew:
		if c.open++; c.open > maxConnections {
			defer c.idleLongest(conn).Close()
		}
		c.waiting[conn] = time.Now()
	case http.StateIdle:
		c.waiting[conn] = time.Now()
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
}

// idleLongest returns the connection that has been idle for longest, or the given one.
func (c *Connections) idleLongest(found net.Conn) net.Conn {
	first := time.Now()
	for conn, since := range c.waiting {
		if since.Before(first) {
			found, first = conn, since
		}
	}
	return found
}
