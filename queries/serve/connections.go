package serve

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConnections is the maximum of connections to a server. A browser opens six.
const maxConnections = 1024

// Connections limits the connections of a web server: for each one above maxConnections, it closes the connection
// that has been idle for longest.
type Connections struct {
	mu      sync.Mutex
	open    int
	waiting map[net.Conn]time.Time // idle connections and when they became idle
}

// Note implements the callback http.Server.ConnState.
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

// idleLongest returns the connection that has been idle for longest, or found if none is idle.
func (c *Connections) idleLongest(found net.Conn) net.Conn {
	first := time.Now()
	for conn, since := range c.waiting {
		if since.Before(first) {
			found, first = conn, since
		}
	}
	return found
}
