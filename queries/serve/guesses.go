package serve

import (
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Wrong tokens that are answered within guessWindow. What makes guessing hopeless is the
// token's length: these limits keep guesses from filling the log and the server's time.
const (
	guessWindow       = time.Minute
	mostGuesses       = 100 // from all addresses: so the table has no more addresses
	mostGuessesOfHost = 10
)

// errGuesses is the failure of a wrong token after too many others.
var errGuesses = &failure{http.StatusTooManyRequests, errors.New("the token is wrong, and too many wrong ones were sent (wait a minute, or use the right one)")}

// guesses counts wrong tokens.
type guesses struct {
	mu     sync.Mutex
	since  time.Time
	total  int
	byHost map[string]int
}

// count counts a wrong token. It reports whether that is within the limits, and whether it is
// the last one that is.
func (g *guesses) count(host string, now time.Time) (allowed, last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.since) > guessWindow {
		g.since, g.total, g.byHost = now, 0, map[string]int{}
	}
	if g.total >= mostGuesses || g.byHost[host] >= mostGuessesOfHost {
		return false, false
	}
	g.total++
	g.byHost[host]++
	return true, g.total == mostGuesses || g.byHost[host] == mostGuessesOfHost
}

// remoteHost returns the host of an address, host:port; for IPv6 its network, since a machine
// can have all addresses of one.
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
