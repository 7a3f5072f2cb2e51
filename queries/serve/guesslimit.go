package serve

import (
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits of wrong tokens within guessWindow. The token's length makes guessing hopeless; the limits protect the log
// and the server's time.
const (
	guessWindow    = time.Minute
	maxGuesses     = 100 // from all addresses, which bounds the table
	maxHostGuesses = 10
)

var errGuesses = &failure{http.StatusTooManyRequests, errors.New("the token is wrong, after too many other wrong tokens (wait a minute, or use the right one)")}

// guessLimiter counts wrong tokens.
type guessLimiter struct {
	mu     sync.Mutex
	since  time.Time
	total  int
	byHost map[string]int
}

// count counts a wrong token. It reports whether it is within the limits, and whether it is the last one within
// them.
func (g *guessLimiter) count(host string, now time.Time) (allowed, last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.since) > guessWindow {
		g.since, g.total, g.byHost = now, 0, map[string]int{}
	}
	if g.total >= maxGuesses || g.byHost[host] >= maxHostGuesses {
		return false, false
	}
	g.total++
	g.byHost[host]++
	return true, g.total == maxGuesses || g.byHost[host] == maxHostGuesses
}

// remoteHost returns the host of host:port; for IPv6 its /64 network, since one machine can use all addresses of a
// network.
func remoteHost(address string) string {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return address // a Unix socket has no addresses
	}
	if host := a.Addr().Unmap(); !host.Is6() {
		return host.String()
	}
	network, err := a.Addr().WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return network.String()
}
