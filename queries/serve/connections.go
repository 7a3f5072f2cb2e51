package serve

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// mostOpen is how many connections a server has: browsers open six each.
const mostOpen = 1024

// Connections bounds the connections of a web server. In place of a new one that is too many,
// the connection is closed that has been without a request for longest.
type Connections struct {
	mu      sync.Mutex
	open    int
	waiting map[net.Conn]time.Time // since when they are without a request
}

// Note takes what becomes of a connection; it is a field of http.Server.
func (c *Connections) Note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[net.Conn]time.Time{}
	}
	delete(c.waiting, conn)
	switch state {
	case http.StateNew:
		if c.open++; c.open > mostOpen {
			defer c.longest(conn).Close()
		}
		c.waiting[conn] = time.Now()
	case http.StateIdle:
		c.waiting[conn] = time.Now()
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
}

// longest returns the connection that waits for longest, or the given one.
func (c *Connections) longest(found net.Conn) net.Conn {
	first := time.Now()
	for conn, since := range c.waiting {
		if since.Before(first) {
			found, first = conn, since
		}
	}
	return found
}
