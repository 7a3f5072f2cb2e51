//go:build cgo

package daemon

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strings"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
)

// ChooseToken sets the token that requests need: the one in the file, or a new one if others than
// the user can reach the server.
func (s *Server) ChooseToken() (err error) {
	switch {
	case s.TokenFile != "":
		s.Token, err = readToken(s.TokenFile, s.Out)
		s.TokenOnSocket = true
	case s.Unix != "" && s.Flight == "": // only the user can open the socket
	case s.NoToken:
		s.Out.Warnf("serve: --no-token: all users of this machine can read the store (--unix PATH needs no token and is yours alone)")
	default:
		s.Token, s.madeToken = rand.Text(), true
	}
	return err
}

// minToken is the minimum length of a token, so that nobody guesses it.
const minToken = 16

// readToken reads a token from a file.
func readToken(file string, warn *terminal.Output) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("serve: --token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", exit.Usagef("serve: --token-file: %s must have one word of at least %d letters, digits and signs (openssl rand -hex 24 > FILE writes one)", file, minToken)
	}
	if about, err := os.Stat(file); err == nil && about.Mode().IsRegular() && about.Mode()&0o004 != 0 {
		warn.Warnf("serve: --token-file: all users of this machine can read %s (chmod o-r keeps it from them)", file)
	}
	return token, nil
}

// IsLoopback reports whether only this machine reaches an address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
