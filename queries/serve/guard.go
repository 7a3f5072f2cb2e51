package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// headers are those of all responses: nothing that a page loads, frames or sends leaves
// this server, and a browser takes nothing for what it is not.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin", // without a referrer, browsers send "Origin: null" with a form
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// isPublic reports whether a path says nothing about the store, so that it needs no token: the
// page's own files are the same in every server of this version.
func (s *Server) isPublic(path string) bool {
	return path == "/healthz" || path == loginPath || path == logoutPath || strings.HasPrefix(path, s.page.path)
}

// guarded passes on the requests that may be answered: sent to this server by its own name,
// from its own page or a program, with the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := s.admit(r); err != nil {
			s.fail(w, r, err)
			return
		}
		page := s.isPage(r.URL.Path) && r.Method == http.MethodGet
		if page && r.URL.Query().Has(tokenParameter) {
			s.enter(w, r)
			return
		}
		if !s.isPublic(r.URL.Path) {
			if err := s.authorize(r); err != nil {
				if _, sent := bearer(r); page && !sent {
					s.askToken(w, r, nil, r.URL.RequestURI())
				} else {
					s.fail(w, r, err)
				}
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// admit refuses requests that another site makes a browser send: to a name of its own that it
// lets stand for this machine's address, or from one of its pages.
func (s *Server) admit(r *http.Request) error {
	if !s.isOwn(r.Host) {
		return &failure{http.StatusMisdirectedRequest, fmt.Errorf("%q is not this server (use the address that it printed, or name it with --host)", r.Host)}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if origin := r.Header.Get("Origin"); origin != "" && !s.isOwnOrigin(origin, site) {
		return &failure{http.StatusForbidden, fmt.Errorf("the request comes from a page of %s (if that is this server behind a proxy, name it with --host)", origin)}
	}
	switch {
	case site == "" || site == "same-origin" || site == "none":
	case s.isPage(r.URL.Path) && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		// A link in another site's page.
	default:
		return &failure{http.StatusForbidden, errors.New("the request comes from a page of another site")}
	}
	return nil
}

// isOwnOrigin reports whether a page of this server sent a request. "null" is the origin of
// sandboxed frames and data: pages, for which browsers say cross-site, and of a form whose
// page has no referrer, as when a proxy sets that policy; for the last they say same-origin.
func (s *Server) isOwnOrigin(origin, site string) bool {
	if origin == "null" {
		return site == "same-origin"
	}
	u, err := url.Parse(origin)
	return err == nil && s.isOwn(u.Host)
}

// isPage reports whether a path is that of a page that people open.
func (s *Server) isPage(path string) bool {
	return path == "/" || path == speedscopePath || strings.HasPrefix(path, "/pprof/") || path == s.page.path+speedscopeFile
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

// errToken is the failure of a request without the token.
var errToken = &failure{http.StatusUnauthorized, errors.New("the token is missing or wrong (send it as Authorization: Bearer TOKEN)")}

// wantsToken reports whether requests over HTTP must present the token.
func (s *Server) wantsToken() bool { return s.Token != "" && (s.Socket == "" || s.TokenOnSocket) }

// authorize checks that a request has the token, or the cookie that stands for it.
func (s *Server) authorize(r *http.Request) error {
	if !s.wantsToken() || s.hasCookie(r) {
		return nil
	}
	token, ok := bearer(r)
	if !ok {
		return errToken
	}
	return s.CheckToken(token, r.RemoteAddr)
}

// bearer returns the token in a request's header, if it has one.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// CheckToken compares a token that came from an address, host:port, with the server's. The
// right one is always accepted, however many wrong ones came before.
func (s *Server) CheckToken(token, from string) error {
	if equal(token, s.Token) {
		return nil
	}
	host := remoteHost(from)
	allowed, last := s.guesses.count(host, time.Now())
	if last {
		s.Log.Warn("many wrong tokens within a minute: more are answered with status 429", "from", host)
	}
	if !allowed {
		return errGuesses
	}
	return errToken
}

// equal compares secrets in constant time.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
