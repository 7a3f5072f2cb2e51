package serve

import (
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits on wrong tokens within guessWindow. Tokens are too long to be guessed; the limits keep guesses from filling
// the log and taking the server's time.
const (
	guessWindow    = time.Minute
	maxGuesses     = 100 // from all hosts; this also limits the size of byHost
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

// count counts a wrong token. It reports whether the token is within the limits, and whether it is the last one that
// is.
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

// remoteHost returns the host in host:port. For IPv6 it returns the /64 network, since a machine can use any address
// in its network.
func remoteHost(address string) string {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return address // clients of a Unix socket have no address
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
