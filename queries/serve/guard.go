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

// headers are sent with all responses. They keep the page from loading from or sending to other servers and from
// being framed, and browsers from guessing content types.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin", // without a referrer, browsers send "Origin: null" with a form
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// isPublic reports whether a path needs no token, because it reveals nothing about the store: the page's files are the
// same in every server of this version.
func (s *Server) isPublic(path string) bool {
	return path == "/healthz" || path == loginPath || path == logoutPath || strings.HasPrefix(path, s.page.path)
}

// guard passes on requests that are addressed to this server, come from its own page or a program, and present the
// token.
func (s *Server) guard(next http.Handler) http.Handler {
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
			s.exchangeToken(w, r)
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

// admit refuses requests that another site makes a browser send, through DNS rebinding or from one of its pages.
func (s *Server) admit(r *http.Request) error {
	if !s.isOwn(r.Host) {
		return &failure{http.StatusMisdirectedRequest, fmt.Errorf("%q is not a name of this server (use the address that it printed, or allow the name with --host)", r.Host)}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if origin := r.Header.Get("Origin"); origin != "" && !s.isOwnOrigin(origin, site) {
		return &failure{http.StatusForbidden, fmt.Errorf("the request comes from a page of %s (if that is this server behind a proxy, allow its name with --host)", origin)}
	}
	switch {
	case site == "" || site == "same-origin" || site == "none":
	case s.isPage(r.URL.Path) && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		// a person followed a link on another site's page
	default:
		return &failure{http.StatusForbidden, errors.New("the request comes from a page of another site")}
	}
	return nil
}

// isOwnOrigin reports whether a page of this server sent a request. "null" is the origin of sandboxed frames and
// data: pages; then site is "cross-site". It is also the origin of forms on pages that send no referrer, as a proxy
// may demand; then site is "same-origin".
func (s *Server) isOwnOrigin(origin, site string) bool {
	if origin == "null" {
		return site == "same-origin"
	}
	u, err := url.Parse(origin)
	return err == nil && s.isOwn(u.Host)
}

// isPage reports whether a path is a page that people open in a browser, not data.
func (s *Server) isPage(path string) bool {
	return path == "/" || path == speedscopePath || strings.HasPrefix(path, "/pprof/") || path == s.page.path+speedscopeFile
}

// isOwn reports whether a Host header names this server. That is one of Hosts, with or without a port; or localhost
// or an address of this machine, with the server's port.
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

// isLocal reports whether an address belongs to this machine.
func isLocal(ip net.IP) bool {
	addresses, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

var errToken = &failure{http.StatusUnauthorized, errors.New("the token is missing or wrong (send it as Authorization: Bearer TOKEN)")}

// wantsToken reports whether requests over HTTP must present the token.
func (s *Server) wantsToken() bool { return s.Token != "" && (s.Socket == "" || s.TokenOnSocket) }

// authorize checks that a request has the token, or the cookie issued for it.
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

// bearer returns the token in a request's Authorization header.
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// CheckToken checks a token that was sent from an address, host:port. Wrong tokens are limited, but never keep the
// right one from being accepted.
func (s *Server) CheckToken(token, from string) error {
	if equal(token, s.Token) {
		return nil
	}
	host := remoteHost(from)
	allowed, last := s.guesses.count(host, time.Now())
	if last {
		s.Log.Warn("many wrong tokens within a minute: further ones get status 429", "from", host)
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
