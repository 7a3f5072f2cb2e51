package serve

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"stackmill/queries"
)

// The pages of the program pprof about exported experiments are at /pprof/SELECTION/PAGE. SELECTION is the query of
// /api/v1/export, escaped: the query of the URL belongs to pprof's page.
const (
	pprofPath       = "/pprof/{selection}/{page...}"
	defaultPage     = "flamegraph"
	maxProfileBytes = 128 << 20 // bytes of an uncompressed profile
	maxGraphNodes   = 200       // in pprof's graph
)

// pprofPages are the pages of pprof that only show the profile. Its other pages read and write files of this machine:
// sources and binaries that recordings name, and settings.
var pprofPages = []string{defaultPage, "graph", "top", "peek", "download"}

// pprofPolicy is the content security policy of these pages, which have inline scripts and styles. As sandboxed pages
// they do not have this server's origin: if a name in a profile injects a script, it cannot send requests to the
// server.
const pprofPolicy = "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// servePprof answers with one of pprof's pages.
func (s *Server) servePprof(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	if name == "" {
		http.Redirect(w, r, defaultPage, http.StatusFound)
		return
	}
	store, err := s.store.pin(r.Context(), false)
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	defer store.release()
	setWarnings(w, store.leftOut())
	a, err := s.pprofPage(r, name, store)
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", pprofPolicy)
	header.Set("Content-Type", a.Type)
	if name == "download" {
		header.Set("Content-Disposition", `attachment; filename="profile.pb.gz"`)
	}
	s.send(w, a.body)
}

// pprofPage returns a page of pprof about the selection in a request's path. Another process renders it, because
// pprof and graphviz may take any time and memory and cannot be stopped in this process.
func (s *Server) pprofPage(r *http.Request, name string, store *lease) (*reply, error) {
	if !slices.Contains(pprofPages, name) {
		return nil, &failure{http.StatusNotFound, fmt.Errorf("pprof's page %s is not available, since it reads files of the server's machine (available are %s; the panel Source shows code)", name, strings.Join(pprofPages, ", "))}
	}
	if name == "graph" {
		if _, err := exec.LookPath("dot"); err != nil {
			return nil, &failure{http.StatusNotImplemented, errors.New("pprof's graph needs graphviz, which is not installed on the server's machine (the pages flamegraph, top and peek work without it)")}
		}
		if n, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("n"), "0")); err != nil || n > maxGraphNodes {
			return nil, badRequest(fmt.Errorf("n: a graph has at most %d nodes here", maxGraphNodes))
		}
	}
	asked, err := url.ParseQuery(r.PathValue("selection"))
	if err != nil {
		return nil, badRequest(err)
	}
	c, err := exportCall(asked, "pprof")
	if err != nil {
		return nil, err
	}
	exported, err := s.cache.get(r.Context(), c.tag(store.state(), s.Version), func() (*reply, error) { return s.run(r.Context(), c, store) })
	if err != nil {
		return nil, err
	}
	defer exported.body.Release()
	profile, err := exported.body.Bytes()
	if err != nil {
		return nil, err
	}
	return s.run(r.Context(), &call{endpoint: &pprofEndpoint, name: name, values: r.URL.Query(), body: profile}, store)
}

// pprofEndpoint is for calls in another process, which renders a page of pprof. A call has the page's name and query,
// and the profile in its body.
var pprofEndpoint = endpoint{method: http.MethodGet, path: pprofPath, handle: renderPprof}

// renderPprof renders a page of pprof.
func renderPprof(w *job) error {
	text, err := gzip.NewReader(bytes.NewReader(w.body))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(text, maxProfileBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > maxProfileBytes {
		return tooLarge(maxProfileBytes)
	}
	p, err := profile.ParseUncompressed(raw)
	if err != nil {
		return err
	}
	var pages map[string]http.Handler
	err = driver.PProf(&driver.Options{
		Flagset: pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError)}, Fetch: fixedFetcher{p}, Sym: noFileAccess{}, Obj: noBinaries{}, UI: discardUI{}, Writer: noFileAccess{},
		HTTPTransport: noFileAccess{},
		HTTPServer:    func(args *driver.HTTPServerArgs) error { pages = args.Handlers; return nil },
	})
	if err != nil {
		return err
	}
	made := &pageWriter{header: http.Header{}, status: http.StatusOK}
	pages["/"+w.name].ServeHTTP(made, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/" + w.name, RawQuery: w.values.Encode()}})
	if made.status != http.StatusOK {
		return &failure{made.status, errors.New(strings.TrimSpace(made.String()))}
	}
	w.kind = cmp.Or(made.header.Get("Content-Type"), http.DetectContentType(made.Bytes()))
	const body = "<body>"
	_, err = w.out.Write(bytes.Replace(made.Bytes(), []byte(body), []byte(body+leftOutNote(p)), 1))
	return err
}

// leftOutNote returns HTML about experiments that the profile lacks. The profile's comments name them.
func leftOutNote(p *profile.Profile) (note string) {
	for _, text := range p.Comments {
		if strings.HasPrefix(text, queries.LeftOutPrefix) {
			note += `<p role="alert">` + html.EscapeString(text) + "</p>"
		}
	}
	return note
}

// pageWriter is an http.ResponseWriter that keeps a page in memory.
type pageWriter struct {
	header http.Header
	status int
	bytes.Buffer
}

func (p *pageWriter) Header() http.Header { return p.header }

func (p *pageWriter) WriteHeader(status int) { p.status = status }

// fixedFetcher is a driver.Fetcher that returns the profile, whatever is requested.
type fixedFetcher struct{ *profile.Profile }

func (g fixedFetcher) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return g.Profile, "", nil
}

// noFileAccess keeps pprof from reading symbols, requesting URLs and writing files.
type noFileAccess struct{}

var errNoFiles = errors.New("files are not used here")

func (noFileAccess) Open(string) (io.WriteCloser, error)                             { return nil, errNoFiles }
func (noFileAccess) RoundTrip(*http.Request) (*http.Response, error)                 { return nil, errNoFiles }
func (noFileAccess) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// noBinaries keeps pprof from reading binaries.
type noBinaries struct{}

func (noBinaries) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNoFiles
}

func (noBinaries) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errNoFiles
}

// pprofFlags is a plugin.FlagSet that parses fixed flags, which start pprof's web server without a listener.
type pprofFlags struct{ *flag.FlagSet }

func (f pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}

func (pprofFlags) ExtraUsage() string   { return "" }
func (pprofFlags) AddExtraUsage(string) {}

func (f pprofFlags) Parse(func()) []string {
	if f.FlagSet.Parse([]string{"-http=localhost:0", "-no_browser", "-symbolize=none", "given"}) != nil {
		return nil
	}
	return f.Args()
}

// discardUI is a plugin.UI that discards output.
type discardUI struct{}

func (discardUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (discardUI) Print(...any)                        {}
func (discardUI) PrintErr(...any)                     {}
func (discardUI) IsTerminal() bool                    { return false }
func (discardUI) WantBrowser() bool                   { return false }
func (discardUI) SetAutoComplete(func(string) string) {}
