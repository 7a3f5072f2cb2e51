package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// headers are those of all responses: nothing that a page loads, frames or sends leaves
// this server, and a browser takes nothing for what it is not.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// withoutToken are the paths that say nothing of the store, besides the page's style sheet.
var withoutToken = []string{"/healthz", loginPath}

// guarded lets only those requests through that may ask anything: sent to this server by
// its own name, from its own page or a program, with the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := s.admit(r); err != nil {
			s.fail(w, r, err)
			return
		}
		switch open := r.URL.Path == s.page.style() || slices.Contains(withoutToken, r.URL.Path); {
		case open || s.authorized(r):
		case isPage(r.URL.Path) && r.Method == http.MethodGet && r.Header.Get("Authorization") == "":
			s.askToken(w, "")
			return
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="stackmill"`)
			s.fail(w, r, &failure{http.StatusUnauthorized, errors.New("the token is missing or wrong (send it as Authorization: Bearer TOKEN)")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit refuses requests that a page of others makes a browser send: under a name of
// theirs, which they let stand for this machine's address, or across sites.
func (s *Server) admit(r *http.Request) error {
	if !s.isOwn(r.Host) {
		return &failure{http.StatusMisdirectedRequest, fmt.Errorf("%q is not this server (use the address that it printed, or name it with --host)", r.Host)}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !s.isOwn(u.Host) {
			return &failure{http.StatusForbidden, fmt.Errorf("the request comes from a page of %s", origin)}
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none":
	case isPage(r.URL.Path) && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		// A link to a view in a page of others, for which viewers stand, too.
	default:
		return &failure{http.StatusForbidden, errors.New("the request comes from a page of another site")}
	}
	return nil
}

// isPage reports whether a path is that of a page that people open.
func isPage(path string) bool {
	return path == "/" || path == speedscopePath || strings.HasPrefix(path, "/pprof/")
}

// isOwn reports whether a request's host is this server: one of Hosts, with or without the
// port, or an address of this machine or its name for itself, at the port.
func (s *Server) isOwn(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	if slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) || strings.EqualFold(h, name) }) {
		return true
	}
	if port != strconv.Itoa(s.Port) {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && (ip.IsLoopback() || isLocal(ip))
}

// isLocal reports whether an address is one of this machine.
func isLocal(ip net.IP) bool {
	addresses, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// sessionCookie is the name of the cookie that stands for the token.
const sessionCookie = "stackmill"

// authorized reports whether a request presents the token, or the cookie made of it.
func (s *Server) authorized(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return Same(strings.TrimSpace(token), s.Token)
	}
	cookie, err := r.Cookie(sessionCookie)
	return err == nil && Same(cookie.Value, s.cookie())
}

// cookie is what the cookie holds: not the token itself.
func (s *Server) cookie() string {
	m := hmac.New(sha256.New, []byte(s.Token))
	_, _ = m.Write([]byte("session"))
	return hex.EncodeToString(m.Sum(nil))
}

// Same compares secrets in a time that says nothing of them.
func Same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
