package page

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"html"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"stackmill/queries/serve"
	"stackmill/queries/storetest"
)

// writeCertificate writes a certificate of this machine and its key.
func writeCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	signed, err := x509.CreateCertificate(rand.Reader, &about, &about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range []struct {
		path *string
		kind string
		text []byte
	}{{&certificate, "CERTIFICATE", signed}, {&key, "EC PRIVATE KEY", secret}} {
		*f.path = filepath.Join(dir, f.kind)
		if err := os.WriteFile(*f.path, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.text}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// forgiveRefusals forgets the browser's errors about refused requests.
func (b *browser) forgiveRefusals() {
	b.forgive(func(w string) bool { return strings.Contains(w, "the server responded with a status of 4") })
}

// asksToken waits for the login form, and returns its error message.
func (b *browser) asksToken() string {
	b.t.Helper()
	b.run(poll(`document.querySelector('form[action="/login"]') !== null && document.readyState === 'complete'`))
	return eval[string](b, `document.querySelector('[role=alert]')?.innerText ?? ''`)
}

// give submits the form with a token.
func (b *browser) give(token string) {
	b.t.Helper()
	b.run(chromedp.SendKeys(`input[name=token]`, token, chromedp.ByQuery), chromedp.Evaluate(`window.left = true`, nil), chromedp.Click(`form button`, chromedp.ByQuery), poll(`window.left === undefined`))
}

// tab opens another tab of the same browser, for the same site.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, stop := chromedp.NewContext(b.Context)
	b.t.Cleanup(stop)
	if err := chromedp.Run(ctx); err != nil { // the tab ends with this context, so that it has no time limit
		b.t.Fatal(err)
	}
	return &browser{Context: ctx, t: b.t, site: b.site, inside: b.site}
}

// loggedOut is what an open page shows if its cookie is no longer valid.
const loggedOut = "You were logged out"

// Logging in and out works in a real browser, with any proxy in front of the server.
func TestLogin(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := served(t, store, func(o *serve.Options) { o.Waiting = 10 })
	fronts := map[string]string{"direct": s.direct}
	if hasNginx() {
		certificate, key := writeCertificate(t)
		socket := filepath.Join(t.TempDir(), "s")
		if len(socket) > 100 {
			t.Fatalf("%s is too long for a socket", socket)
		}
		local := served(t, store, func(o *serve.Options) { o.Socket, o.TokenOnSocket = socket, true })
		fronts["host kept"], fronts["a Unix socket"] = s.address, local.address
		for name, f := range map[string]struct{ options, directives string }{
			"host changed": {"", "location / { proxy_pass " + s.direct + "; }"},
			"TLS": {" ssl", "ssl_certificate \"" + certificate + "\"; ssl_certificate_key \"" + key + "\"; location / { proxy_pass " + s.direct +
				"; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-For $remote_addr; }"},
			"no referrer": {"", "location / { proxy_pass " + s.direct + "; add_header Referrer-Policy no-referrer; }"},
		} {
			address, err := s.behind(f.options, f.directives)
			if err != nil {
				t.Fatal(err)
			}
			fronts[name] = address
		}
	}
	b := open(t, 1280, 850, false)
	const place = "/?view=functions&experiment=monday%2Ftest.1.er&where=thread_id%20%3D%204711"
	for name, address := range fronts {
		b.site, b.inside = address, address
		b.run(navigate(address + place))
		if said := b.asksToken(); said != "" {
			t.Errorf("%s: at first the form says %q", name, said)
		}
		b.give("this-is-a-wrong-token")
		if said := b.asksToken(); !strings.Contains(said, "token is wrong") {
			t.Errorf("%s: of a wrong token the form says %q", name, said)
		}
		b.give(token)
		b.run(settled)
		if at := eval[string](b, `location.pathname + location.search`); at != place || len(b.cells()) == 0 {
			t.Fatalf("%s: after logging in one is at %s, with %q", name, at, b.cells())
		}
		b.visit(sqlPlace("SELECT count(*) AS n FROM experiments"))
		if rows := b.cells(); !slices.Equal(rows, []string{"2"}) {
			t.Errorf("%s: SQL gives %q", name, rows)
		}
		b.run(chromedp.Click(`form[action="/logout"] button`, chromedp.ByQuery))
		b.asksToken()
		b.forgiveRefusals()
	}
	for _, status := range s.statuses("/login") {
		if status != 303 && status != 401 {
			t.Errorf("the form was answered with %d", status)
		}
	}
}

// The tabs of a browser share their login. An open page says that it is logged out; after that,
// going back shows nothing.
func TestTabs(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=functions&experiment=cxx.er")
	other := b.tab()
	other.visit("?view=functions&experiment=cxx.er")
	if got, want := other.cells(), b.cells(); len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("the other tab shows %q, want %q", got, want)
	}
	b.run(chromedp.Click(`form[action="/logout"] button`, chromedp.ByQuery))
	b.asksToken()
	other.run(chromedp.Click(`//nav//a[span='Trend']`, chromedp.BySearch), poll(`document.querySelector('main > [role=alert]')?.innerText.includes("`+loggedOut+`")`))
	if shown := eval[bool](other, `[...document.querySelectorAll('main .panel')].some((p) => p.checkVisibility())`); shown {
		t.Error("a panel is shown after logging out")
	}
	other.run(chromedp.Click(`main > [role=alert] a`, chromedp.ByQuery))
	other.asksToken()
	other.give(token)
	other.run(settled)
	if at := eval[string](other, `location.search`); at != "?experiment=cxx.er&view=trend" {
		t.Errorf("after logging in again one is at %q", at)
	}
	other.run(chromedp.Click(`form[action="/logout"] button`, chromedp.ByQuery))
	other.asksToken()
	b.run(chromedp.NavigateBack())
	b.asksToken()
	b.forgiveRefusals()
}

// The address that the program prints logs a browser in; the browser does not keep the token.
func TestPrintedAddress(t *testing.T) {
	s := served(t, storetest.New(t, storetest.Two), nil)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=functions&experiment=monday%2Ftest.1.er")
	if at := eval[string](b, `location.search + document.referrer`); at != "?view=functions&experiment=monday%2Ftest.1.er" {
		t.Errorf("one is at %s", at)
	}
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, entries, err := page.GetNavigationHistory().Do(ctx)
		for _, e := range entries {
			if strings.Contains(e.URL, token) {
				t.Errorf("the browser's history has %s", e.URL)
			}
		}
		if err != nil {
			return err
		}
		cookies, err := storage.GetCookies().Do(ctx)
		if len(cookies) != 1 || !cookies[0].HTTPOnly || !cookies[0].Session || strings.Contains(cookies[0].Value, token) {
			t.Errorf("it has the cookies %+v", cookies)
		}
		return err
	}))
	b.run(navigate(s.address + "/?token=of-an-older-run-of-it&view=trend"))
	if at := eval[string](b, `location.search`); at != "?view=trend" {
		t.Errorf("an old address leads to %s", at)
	}
	fresh := open(t, 1280, 850, false)
	fresh.site = s.address
	fresh.run(navigate(s.address + "/?token=of-an-older-run-of-it&view=trend"))
	if said := fresh.asksToken(); !strings.Contains(said, "token is wrong") {
		t.Errorf("of an old address the form says %q", said)
	}
	fresh.forgiveRefusals()
}

// After the server restarted with another token, the page says so, and the login leads back to the
// same place.
func TestRestart(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	first, err := serving(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = first.direct
	b.visit("?view=functions")
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	const another = "another-token-of-tests"
	served(t, store, func(o *serve.Options) { o.Port, o.Token = first.Port, another })
	b.run(chromedp.Click(`//nav//a[span='Heat map']`, chromedp.BySearch), poll(`document.querySelector('main > [role=alert]')?.innerText.includes("`+loggedOut+`")`))
	b.run(chromedp.Click(`main > [role=alert] a`, chromedp.ByQuery))
	if said := b.asksToken(); !strings.Contains(said, "another token") {
		t.Errorf("the form says %q", said)
	}
	b.give(another)
	b.run(settled)
	if at := eval[string](b, `location.search`); at != "?view=heatmap" {
		t.Errorf("after logging in again one is at %q", at)
	}
	b.forgiveRefusals()
	b.forgive(func(w string) bool { return strings.Contains(w, "net::ERR_CONNECTION_REFUSED") }) // between the two servers
}

// Requests from other sites' pages are refused, whether they have an origin or none (data: pages,
// sandboxed frames). Links from there work.
func TestOtherSites(t *testing.T) {
	s := served(t, storetest.New(t, storetest.Two), nil)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, r.URL.Query().Get("text"))
	}))
	defer other.Close()
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=trend")
	here := func(text string) string {
		return strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/?text=" + url.QueryEscape(text)
	}
	sends := func(path, page string) {
		t.Helper()
		before := len(s.statuses(path))
		b.run(navigate(page), waitFor(func() bool { return len(s.statuses(path)) > before }))
		if got := s.statuses(path)[before:]; !slices.Equal(got, []int{403}) {
			t.Errorf("%s asked for by %s is answered with %v", path, page, got)
		}
	}
	for _, path := range []string{"/login", "/logout"} {
		form := `<form method="post" action="` + s.address + path + `"><input name="token" value="` + token + `"></form><script>document.forms[0].submit()</script>`
		sends(path, "data:text/html,"+url.PathEscape(form))
		sends(path, here(form))
		sends(path, here(`<iframe sandbox="allow-forms allow-scripts" srcdoc="`+html.EscapeString(form)+`"></iframe>`))
	}
	sends("/api/v1/query", here(`<script>fetch('`+s.address+`/api/v1/query', {method: 'POST', mode: 'no-cors', body: '{}', credentials: 'include'})</script>`))
	sends("/api/v1/experiments", here(`<img src="`+s.address+`/api/v1/experiments">`))
	for _, place := range []string{"/?view=trend", "/speedscope?mode=user&experiment=monday%2Ftest.1.er&metric=totalcpu", "/pprof/mode=user&experiment=monday%252Ftest.1.er&metric=totalcpu/top"} {
		b.run(navigate(here(`<a href="`+s.address+place+`">there</a>`)), chromedp.Click(`a`, chromedp.ByQuery),
			poll(`!location.href.includes('?text=') && document.readyState === 'complete' && document.querySelector('#app main, canvas, #toptable, .error, form, pre') !== null`))
		if shown := eval[bool](b, `document.querySelector('#app main, canvas, #toptable') !== null`); !shown {
			t.Errorf("a link to %s shows %s", place, eval[string](b, `document.body.innerText`))
		}
	}
	b.forgiveRefusals()
	b.forgive(func(w string) bool {
		return strings.Contains(w, "GL Driver Message") || strings.Contains(w, "http://localhost:") || strings.Contains(w, "frame-ancestors 'none'") || strings.Contains(w, "ERR_BLOCKED_BY_RESPONSE")
	})
}

// waitFor waits until a condition holds.
func waitFor(is func() bool) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for !is() {
			if err := chromedp.Sleep(20 * time.Millisecond).Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// A request that takes too long or is too large is sent once, and the page says what to do.
func TestLimits(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	b := open(t, 1280, 850, false)
	for _, of := range []struct {
		limit     func(*serve.Options)
		sql, says string
		status    int
	}{
		{func(o *serve.Options) { o.Timeout = 2 * time.Second }, "SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)", "The request took longer than 2s.\n\nAsk about fewer experiments or a shorter time, or start the server with a longer --timeout. It was sent once, and is not sent again by itself.", 422},
		{func(o *serve.Options) { o.Largest = 1 << 16 }, "SELECT i, repeat('x', 1000) AS x FROM range(1000) t(i)", "The answer has more than 65536 bytes.\n\nAsk for less, with limit or in SQL.", 413},
	} {
		s := served(t, store, of.limit)
		b.site = s.address
		b.visit("")
		b.visit(sqlPlace(of.sql))
		if said := eval[string](b, `document.querySelector('[role=alert]')?.innerText ?? ''`); said != of.says {
			t.Errorf("%s: the page says %q", of.sql, said)
		}
		if got := s.statuses("/api/v1/query"); !slices.Equal(got, []int{of.status}) {
			t.Errorf("%s: answered %v", of.sql, got)
		}
	}
	b.forgiveRefusals()
}
