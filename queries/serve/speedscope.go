package serve

import (
	"net/http"
	"net/url"
	"strings"
)

// speedscopeFile is the page of speedscope, which gets what it shows from a path of this
// server after the # of its address.
const speedscopeFile = "speedscope.html"

// speedscopePolicy lets it make its styles itself, start its reader of Java's recordings, and
// ask this server.
const speedscopePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// speedscopePath is where speedscope is opened, of the experiments, metric, mode and filters
// that the query says, as that of /api/v1/export.
const speedscopePath = "/speedscope"

// speedscope leads to its page, which is at a path of its own that has the version of the
// page, if there is something to show.
func (s *Server) speedscope(w http.ResponseWriter, r *http.Request) {
	to := s.page.path + speedscopeFile
	if r.URL.RawQuery != "" {
		store, err := s.shelf.pin(r.Context(), false)
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
		if text := strings.Join(store.leftOut(), "; "); text != "" { // which speedscope shows above the profile
			to += "&title=" + url.QueryEscape(text)
		}
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// speedscopeProfile is the address of the profile that is asked for. Speedscope does not say
// why there is none: that is found out before.
func (s *Server) speedscopeProfile(r *http.Request, store *lease) (string, error) {
	asked, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", wrong(err)
	}
	c, err := exportCall(asked, "speedscope")
	if err != nil {
		return "", err
	}
	c.empty = true
	a, err := s.work(r.Context(), c, store)
	if err != nil {
		return "", err
	}
	a.body.Release()
	return exportPath + "?" + asked.Encode(), nil
}
