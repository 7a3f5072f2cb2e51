package serve

import (
	"net/http"
	"net/url"
	"strings"
)

// speedscopeFile is the page of speedscope. The path of the profile that it shows is in the fragment of its URL.
const speedscopeFile = "speedscope.html"

// speedscopePolicy allows inline styles, the WebAssembly that reads Java's recordings, and requests to this server.
const speedscopePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// speedscopePath opens speedscope. Its query selects experiments, metric, mode and filters as /api/v1/export does.
const speedscopePath = "/speedscope"

// serveSpeedscope redirects to the page of speedscope, whose path has the page's version, or answers why nothing can be
// shown.
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
		if text := strings.Join(store.leftOut(), "; "); text != "" { // shown above the profile
			to += "&title=" + url.QueryEscape(text)
		}
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// speedscopeProfile returns the URL of the requested profile. It first checks that the export is possible, because
// speedscope would not show the error.
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
