package serve

import (
	"net/http"
	"net/url"
	"strings"
)

// speedscopeFile is the HTML file of the viewer speedscope. The fragment of its URL has the URL of the profile to
// show.
const speedscopeFile = "speedscope.html"

// speedscopePolicy is speedscope's content security policy. It allows inline styles, WebAssembly (which reads Java's
// recordings), and requests to this server.
const speedscopePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// speedscopePath is the path that opens speedscope. Its query selects experiments, metric, mode and filters like the
// query of /api/v1/export.
const speedscopePath = "/speedscope"

// serveSpeedscope redirects to speedscopeFile in the folder of the page's version, or answers with the reason why
// nothing can be shown.
func (s *Server) serveSpeedscope(w http.ResponseWriter, r *http.Request) {
	to := s.page.path + speedscopeFile
	if r.URL.RawQuery != "" {
		store, err := s.store.pin(r.Context(), false)
		if err != nil {
			s.failPage(w, r, err)
			return
		}
		defer store.release()
		setWarnings(w, store.leftOut())
		profile, err := s.speedscopeProfile(r, store)
		if err != nil {
			s.failPage(w, r, err)
			return
		}
		to += "#profileURL=" + url.QueryEscape(profile)
		if text := strings.Join(store.leftOut(), "; "); text != "" { // as a title above the profile
			to += "&title=" + url.QueryEscape(text)
		}
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// speedscopeProfile returns the URL of the requested profile. It first checks that the profile can be exported,
// because speedscope would not show the error.
func (s *Server) speedscopeProfile(r *http.Request, store *lease) (string, error) {
	asked, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", badRequest(err)
	}
	c, err := exportCall(asked, "speedscope")
	if err != nil {
		return "", err
	}
	c.columnsOnly = true
	a, err := s.run(r.Context(), c, store)
	if err != nil {
		return "", err
	}
	a.body.Release()
	return exportPath + "?" + asked.Encode(), nil
}
