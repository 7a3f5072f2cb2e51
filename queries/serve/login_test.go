package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackmill/queries/storetest"
)

// browsing makes the client not follow redirects, so that tests can see them.
func (s *served) browsing() {
	s.web.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
}

// logIn sends the login form.
func (s *served) logIn(token, place string) (*http.Response, []byte) {
	s.t.Helper()
	form := url.Values{"token": {token}, "place": {place}}
	return s.ask("POST", loginPath, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", s.web.URL)
}

// The login form and the address that the server prints lead to the requested place, but never to another site.
func TestLoginPlaces(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), func(o *Options) { o.Token = "secret" })
	s.browsing()
	for place, want := range map[string]string{
		"/": "/", "/?view=flame&experiment=a%20b&where=x%3D%27%26%27": "", "/speedscope?mode=user": "", "/pprof/mode=user&where=a%2Fb/flamegraph?f=x": "", "/pprof/a//b": "", "/?a=//evil.example": "",
		"": "/", "//evil.example": "/", "///evil.example": "/", "https://evil.example/": "/", "https:/evil.example": "/", "/\\evil.example": "/", "\\\\evil.example": "/", "/%2fevil.example": "/", "/\t/evil.example": "/",
		"javascript:alert(1)": "/", "/api/v1/experiments": "/", "/logout": "/", "evil.example": "/", "/x/../../evil.example": "/", "/?a\r\nX-Evil: 1": "/", "@evil.example": "/", " //evil.example": "/",
	} {
		if want == "" {
			want = place
		}
		response, text := s.logIn("secret", place)
		if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != want {
			t.Errorf("%q: the form leads to %s %q, want %q: %.100s", place, response.Status, response.Header.Get("Location"), want, text)
		}
		if response, text := s.logIn("wrong", place); response.StatusCode != 401 && response.StatusCode != 429 || bytes.Contains(text, []byte(`value="//`)) || bytes.Contains(text, []byte(`value="http`)) {
			t.Errorf("%q: with a wrong token: %s: %s", place, response.Status, text)
		}
	}
	for query, want := range map[string]string{
		"?token=secret": "/", "?token=secret&view=flame&experiment=b&experiment=a%20b": "/?view=flame&experiment=b&experiment=a%20b", "?view=flame&token=secret": "/?view=flame",
		"?view=flame&%74oken=secret": "/?view=flame", "?token=secret&token=secret&a=//evil.example": "/?a=//evil.example",
	} {
		response, _ := s.ask("GET", "/"+query, "")
		if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != want || len(response.Cookies()) != 1 {
			t.Errorf("%s leads to %s %q with %v, want %q", query, response.Status, response.Header.Get("Location"), response.Cookies(), want)
		}
	}
	if response, _ := s.ask("GET", loginPath, ""); response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "/" {
		t.Errorf("GET %s: %s", loginPath, response.Status)
	}
}

// Browsers send the cookie only to this server and, if a proxy uses TLS, only with TLS.
func TestCookie(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	secret := func(o *Options) { o.Token = "secret" }
	s, other := start(t, store, secret), start(t, store, secret)
	s.browsing()
	response, _ := s.logIn("secret", "/")
	if cookies := response.Cookies(); len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].Secure || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Name == other.cookieName(&http.Request{}) {
		t.Errorf("the cookies are %v", cookies)
	}
	response, _ = s.ask("GET", "/?token=secret", "", "X-Forwarded-Proto", "https")
	if cookies := response.Cookies(); len(cookies) != 1 || !cookies[0].Secure || !strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("by TLS, the cookies are %v", cookies)
	}
}

// The number of wrong tokens is limited, per host and in total. After that, the right token, sent in any way, and the
// cookie are still accepted.
func TestGuesses(t *testing.T) {
	var log bytes.Buffer
	s := start(t, storetest.New(t, storetest.Two), func(o *Options) {
		o.Token, o.Log = "the secret of this test", slog.New(slog.NewTextHandler(&log, nil))
	})
	s.browsing()
	for i := range maxHostGuesses + 5 {
		want := http.StatusUnauthorized
		if i >= maxHostGuesses {
			want = http.StatusTooManyRequests
		}
		wrong := fmt.Sprint("wrong", i)
		var response *http.Response
		switch i % 3 {
		case 0:
			response, _ = s.ask("GET", "/api/v1/views", "", "Authorization", "Bearer "+wrong)
		case 1:
			response, _ = s.logIn(wrong, "/")
		case 2:
			response, _ = s.ask("GET", "/?token="+wrong, "")
		}
		if response.StatusCode != want || want == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
			t.Errorf("guess %d: %s %v", i, response.Status, response.Header)
		}
	}
	if response, _ := s.ask("GET", "/api/v1/views", "", "Authorization", "Bearer "+s.Token); response.StatusCode != 200 {
		t.Errorf("the right token in a header: %s", response.Status)
	}
	if response, _ := s.logIn(s.Token, "/"); response.StatusCode != http.StatusSeeOther {
		t.Errorf("the right token in the form: %s", response.Status)
	}
	if response, _ := s.ask("GET", "/api/v1/views", "", "Cookie", s.cookieName(&http.Request{})+"="+s.cookieValue()); response.StatusCode != 200 {
		t.Errorf("the cookie: %s", response.Status)
	}
	if n := strings.Count(log.String(), "many wrong tokens"); n != 1 || strings.Contains(log.String(), s.Token) || strings.Contains(log.String(), "wrong1") {
		t.Errorf("the log says %d times: %s", n, log.String())
	}
	if response, _ := s.ask("GET", "/api/v1/views", ""); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("no token: %s", response.Status)
	}

	var g guessLimiter
	now := time.Now()
	for i := range 100_000 {
		g.count(fmt.Sprint("host", i), now)
	}
	if len(g.byHost) != maxGuesses {
		t.Errorf("the table has %d hosts", len(g.byHost))
	}
	if allowed, _ := g.count("host", now.Add(guessWindow+time.Second)); !allowed || len(g.byHost) != 1 {
		t.Errorf("after a minute: %v, %d hosts", allowed, len(g.byHost))
	}
	for address, want := range map[string]string{"192.0.2.1:5": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1", "[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::/64", "[fe80::1%eth0]:5": "fe80::/64", "@": "@", "": ""} {
		if got := remoteHost(address); got != want {
			t.Errorf("%s is of %s, not %s", address, got, want)
		}
	}
}

// If a request is interrupted, at any point, the answer says that it took too long, not that it failed.
func TestDeadlines(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	for limit := time.Millisecond; limit < 100*time.Millisecond; limit += limit / 4 {
		s.Timeout = limit
		path := fmt.Sprintf("/api/v1/functions?metric=totalcpu&search=%d", limit) // a new request, so its answer is not cached
		if response, text := s.ask("GET", path, ""); response.StatusCode != 200 && response.StatusCode != StatusLate {
			t.Errorf("within %v: %s: %s", limit, response.Status, text)
		}
	}
}

// After some statuses, clients, proxies and browsers repeat a request by themselves. Requests that would fail again
// are answered with other statuses.
func TestStatuses(t *testing.T) {
	for _, err := range []error{timedOut(time.Second), tooLarge(1), errMemory} {
		switch status := StatusOf(err); status {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			t.Errorf("%v: %d is asked again", err, status)
		}
	}
}
