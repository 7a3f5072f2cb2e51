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

// A browser exchanges the token for a cookie, which it sends with each request from then on,
// until it is closed or logs out. It gives the token in the address that the program prints, or
// in a form that stands in the place of each page.

const (
	tokenParameter = "token"   // of a page's address
	loginPath      = "/login"  // where the form is sent to
	logoutPath     = "/logout" // where the page's button leads to
)

// cookieName returns the name of the cookie. Browsers send cookies to all ports of a host, so
// that each server there needs its own; and a page without TLS cannot replace one with TLS.
func (s *Server) cookieName(r *http.Request) string {
	sum := sha256.Sum256([]byte(cmp.Or(s.Socket, fmt.Sprint(s.Port))))
	name := "stackmill-" + hex.EncodeToString(sum[:4])
	if isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// isSecure reports whether a request came to a proxy over TLS.
func isSecure(r *http.Request) bool { return r.Header.Get("X-Forwarded-Proto") == "https" }

// cookieValue returns what stands for the token.
func (s *Server) cookieValue() string {
	m := hmac.New(sha256.New, []byte(s.Token))
	_, _ = m.Write([]byte("session"))
	return hex.EncodeToString(m.Sum(nil))
}

func (s *Server) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookieName(r)), func(c *http.Cookie) bool { return equal(c.Value, s.cookieValue()) })
}

// setCookie sets the cookie, or removes it if the value is empty.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: s.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: isSecure(r), SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// enter takes the token out of a page's address: the browser gets the cookie for it, and goes
// to the same place without it, so that it is neither in its history nor in a referrer.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
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

// withoutToken returns the path and query of an address without the token.
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

// login takes the form.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
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

// ownPlace returns a place if it is one of this server's pages, and the first page otherwise,
// so that no link leads through the form to another site.
func (s *Server) ownPlace(place string) string {
	u, err := url.ParseRequestURI(place)
	if err != nil || u.Scheme != "" || u.Host != "" || !s.isPage(u.Path) {
		return "/"
	}
	return u.RequestURI()
}

// logout has the browser forget the cookie.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "")
	redirect(w, "/")
}

// redirect sends a browser to a place of this server. http.Redirect would change the path.
func redirect(w http.ResponseWriter, place string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", place)
	w.WriteHeader(http.StatusSeeOther)
}

// askToken answers with a form for the token, which leads to a place, and what was wrong with
// the token that came, if one came.
func (s *Server) askToken(w http.ResponseWriter, r *http.Request, wrong error, place string) {
	var why string
	err := error(errToken)
	switch {
	case errors.Is(wrong, errGuesses):
		err = wrong
		why = "This is not the token, and too many wrong ones were sent. Wait a minute, or use the right one."
	case wrong != nil:
		why = "This is not the token of this server. Try again."
	case len(r.CookiesNamed(s.cookieName(r))) > 0:
		why = "The server was started with another token since you logged in."
	}
	var text bytes.Buffer
	_ = loginPage.Execute(&text, struct{ Why, Place, Style string }{why, place, s.page.style()}) // a buffer takes all
	s.respond(w, r, err, "text/html; charset=utf-8", text.Bytes())
}

var loginPage = template.Must(template.New("login").Parse(pageStart("log in") + `<form method="post" action="` + loginPath + `" class="bar">
<input type="hidden" name="place" value="{{.Place}}">
<input type="text" name="username" value="stackmill" autocomplete="username" hidden>
<label>Token <input type="password" name="` + tokenParameter + `" required autofocus autocomplete="current-password"></label>
<button type="submit">Log in</button>
</form>
{{with .Why}}<p class="error" role="alert">{{.}}</p>{{end}}
<p class="note">The token is in the address that <code>stackmill serve</code> printed when it started, after <code>token=</code>, or in the file given with <code>--token-file</code>.</p>
</main>
</body>
</html>
`))
