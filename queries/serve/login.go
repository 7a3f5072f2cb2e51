package serve

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A browser sends the token once and gets a cookie, which it sends with each request until it is closed or logs out.
// The token is in the URL that the program prints; without it, a form asks for the token before any page is shown.

const (
	tokenParameter = "token"   // query parameter in a page's URL, and field of the form
	loginPath      = "/login"  // the form's target
	logoutPath     = "/logout" // the target of the page's button Log out
)

// cookieName returns the name of the cookie. Browsers send cookies to all ports of a host, so each server needs its
// own name. With the prefix __Host-, pages without TLS cannot replace a cookie that was set with TLS.
func (s *Server) cookieName(r *http.Request) string {
	sum := sha256.Sum256([]byte(cmp.Or(s.Socket, fmt.Sprint(s.Port))))
	name := "stackmill-" + hex.EncodeToString(sum[:4])
	if isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// isSecure reports whether a proxy received the request over TLS.
func isSecure(r *http.Request) bool { return r.Header.Get("X-Forwarded-Proto") == "https" }

// cookieValue returns the cookie's value, derived from the token.
func (s *Server) cookieValue() string {
	m := hmac.New(sha256.New, []byte(s.Token))
	_, _ = m.Write([]byte("session"))
	return hex.EncodeToString(m.Sum(nil))
}

func (s *Server) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookieName(r)), func(c *http.Cookie) bool { return equal(c.Value, s.cookieValue()) })
}

// setCookie sets the cookie, or removes it if value is empty.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: s.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: isSecure(r), SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// exchangeToken answers a URL with a token: it sets the cookie and redirects to the same URL without the token, so
// that the token appears neither in the browser's history nor as a referrer.
func (s *Server) exchangeToken(w http.ResponseWriter, r *http.Request) {
	place := withoutToken(r.URL)
	if s.authorize(r) != nil {
		if err := s.CheckToken(r.URL.Query().Get(tokenParameter), r.RemoteAddr); err != nil {
			s.askToken(w, r, err, place)
			return
		}
		s.setCookie(w, r, s.cookieValue())
	}
	redirect(w, place)
}

// withoutToken returns the path and query of a URL, without the token.
func withoutToken(u *url.URL) string {
	var kept []string
	for _, parameter := range strings.Split(u.RawQuery, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if name, err := url.QueryUnescape(name); err == nil && name != tokenParameter {
			kept = append(kept, parameter)
		}
	}
	place := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: strings.Join(kept, "&")}
	return place.RequestURI()
}

// serveLogin answers when the form is sent.
func (s *Server) serveLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	place := s.ownPlace(r.PostFormValue("place"))
	if s.wantsToken() {
		if err := s.CheckToken(strings.TrimSpace(r.PostFormValue(tokenParameter)), r.RemoteAddr); err != nil {
			s.askToken(w, r, err, place)
			return
		}
		s.setCookie(w, r, s.cookieValue())
	}
	redirect(w, place)
}

// ownPlace returns place, a path with a query, if it is one of this server's pages, otherwise "/": the form must not
// redirect to another site.
func (s *Server) ownPlace(place string) string {
	u, err := url.ParseRequestURI(place)
	if err != nil || u.Scheme != "" || u.Host != "" || !s.isPage(u.Path) {
		return "/"
	}
	return u.RequestURI()
}

// serveLogout removes the cookie.
func (s *Server) serveLogout(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "")
	redirect(w, "/")
}

// redirect redirects to a path of this server. http.Redirect would clean the path.
func redirect(w http.ResponseWriter, place string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", place)
	w.WriteHeader(http.StatusSeeOther)
}

// askToken answers with the form that asks for the token, and then leads to place. wrong is the error of the token
// that was sent, nil if none was.
func (s *Server) askToken(w http.ResponseWriter, r *http.Request, wrong error, place string) {
	var why string
	err := error(errToken)
	switch {
	case errors.Is(wrong, errGuesses):
		err = wrong
		why = "The token is wrong, after too many other wrong tokens. Wait a minute, or use the right one."
	case wrong != nil:
		why = "The token is wrong. Try again."
	case len(r.CookiesNamed(s.cookieName(r))) > 0:
		why = "The server was restarted with another token after you logged in."
	}
	var text bytes.Buffer
	_ = loginPage.Execute(&text, struct{ Why, Place, Style string }{why, place, s.page.style()}) // a buffer has no errors
	s.respond(w, r, err, "text/html; charset=utf-8", text.Bytes())
}

var loginPage = template.Must(template.New("login").Parse(pageStart("log in") + `<form method="post" action="` + loginPath + `" class="bar">
<input type="hidden" name="place" value="{{.Place}}">
<input type="text" name="username" value="stackmill" autocomplete="username" hidden>
<label>Token <input type="password" name="` + tokenParameter + `" required autofocus autocomplete="current-password"></label>
<button type="submit">Log in</button>
</form>
{{with .Why}}<p class="error" role="alert">{{.}}</p>{{end}}
<p class="note">The token is in the URL that <code>stackmill serve</code> printed when it started, after <code>token=</code>, or in the file given with <code>--token-file</code>.</p>
</main>
</body>
</html>
`))
