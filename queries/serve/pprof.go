package serve

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// pprof's own pages, of experiments as they are exported for it, are at
// /pprof/SELECTION/PAGE. The selection is the query of /api/v1/export, escaped, since
// pprof's pages have queries of their own.
const (
	pprofPath   = "/pprof/{selection}/{page...}"
	firstPage   = "flamegraph"
	mostMounted = 2         // profiles that are kept
	mostProfile = 128 << 20 // bytes of a profile, not compressed
	mostNodes   = 200       // of a drawn graph: graphviz cannot be stopped
)

// pprofPages are those that only show what the profile has. The others read and write files
// of this machine: sources and binaries by the names that recordings have, and settings.
var pprofPages = []string{firstPage, "graph", "top", "peek", "download"}

// pprofPolicy is the policy of these pages, which have their scripts and styles in them. A
// sandbox makes them strangers to this server: what a name in a profile might do there can
// ask for nothing.
const pprofPolicy = "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// mounts are the profiles whose pages were asked for last.
type mounts struct {
	mu      sync.Mutex
	list    []*mount   // the last used last
	driving sync.Mutex // pprof's options are its package's
}

// mount is a profile's pages.
type mount struct {
	key   string
	ready chan struct{} // closed when pages or err is there
	pages map[string]http.Handler
	err   error
}

// pprof answers with one of pprof's pages.
func (s *Server) pprof(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	if name == "" {
		http.Redirect(w, r, firstPage, http.StatusFound)
		return
	}
	pages, err := s.pprofPages(r, name)
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", pprofPolicy)
	done, err := s.turns.take(r.Context())
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	defer done()
	pages["/"+name].ServeHTTP(w, r)
}

// pprofPages returns the pages of a request's selection.
func (s *Server) pprofPages(r *http.Request, name string) (map[string]http.Handler, error) {
	if !slices.Contains(pprofPages, name) {
		return nil, &failure{http.StatusNotFound, fmt.Errorf("pprof's page %s is not served, since it uses files of the server's machine (there are %s; the panel Source shows code)", name, strings.Join(pprofPages, ", "))}
	}
	if name == "graph" {
		if _, err := exec.LookPath("dot"); err != nil {
			return nil, &failure{http.StatusNotImplemented, errors.New("pprof's graph needs graphviz on the server's machine, which has none (its pages flamegraph, top and peek do without)")}
		}
		if n, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("n"), "0")); err != nil || n > mostNodes {
			return nil, wrong(fmt.Errorf("n: a graph has at most %d nodes here", mostNodes))
		}
	}
	asked, err := url.ParseQuery(r.PathValue("selection"))
	if err != nil {
		return nil, wrong(err)
	}
	c, err := exportCall(asked, "pprof")
	if err != nil {
		return nil, err
	}
	state, err := s.shelf.state()
	if err != nil {
		return nil, err
	}
	m := s.mounts.take(c.tag(state, s.Version), func() (map[string]http.Handler, error) { return s.mountPprof(context.WithoutCancel(r.Context()), c) })
	select {
	case <-m.ready:
		return m.pages, m.err
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// take returns the mount of a key, which open makes if there is none.
func (m *mounts) take(key string, open func() (map[string]http.Handler, error)) *mount {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.list, func(x *mount) bool { return x.key == key })
	if i >= 0 {
		x := m.list[i]
		m.list = append(slices.Delete(m.list, i, i+1), x)
		return x
	}
	x := &mount{key: key, ready: make(chan struct{})}
	m.list = append(m.list, x)
	if len(m.list) > mostMounted {
		m.list = slices.Delete(m.list, 0, 1)
	}
	go func() {
		defer close(x.ready)
		if x.pages, x.err = orPanic(open); x.err != nil { // the next may have more luck
			m.mu.Lock()
			defer m.mu.Unlock()
			m.list = slices.DeleteFunc(m.list, func(other *mount) bool { return other == x })
		}
	}()
	return x
}

// mountPprof exports a selection, and lets pprof make its pages of that.
func (s *Server) mountPprof(ctx context.Context, c *call) (map[string]http.Handler, error) {
	a, err := s.work(ctx, c)
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(text, mostProfile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > mostProfile {
		return nil, tooLarge(mostProfile)
	}
	p, err := profile.ParseUncompressed(raw)
	if err != nil {
		return nil, err
	}
	var pages map[string]http.Handler
	s.mounts.driving.Lock()
	defer s.mounts.driving.Unlock()
	err = driver.PProf(&driver.Options{
		Flagset: pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError)}, Fetch: given{p}, Sym: noFiles{}, Obj: noObjects{}, UI: quiet{}, Writer: noFiles{},
		HTTPTransport: noFiles{},
		HTTPServer:    func(args *driver.HTTPServerArgs) error { pages = maps.Clone(args.Handlers); return nil },
	})
	return pages, err
}

// given is the profile that pprof gets, whatever it asks for.
type given struct{ *profile.Profile }

func (g given) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return g.Profile, "", nil
}

// noFiles is what pprof finds of binaries, symbols and servers, and where it writes files.
type noFiles struct{}

var errNoFiles = errors.New("files are not used here")

func (noFiles) Open(string) (io.WriteCloser, error)                             { return nil, errNoFiles }
func (noFiles) RoundTrip(*http.Request) (*http.Response, error)                 { return nil, errNoFiles }
func (noFiles) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// noObjects is noFiles for binaries.
type noObjects struct{}

func (noObjects) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNoFiles
}

func (noObjects) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errNoFiles
}

// pprofFlags are the options that pprof is called with.
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

// quiet is what pprof says to who called it: nobody.
type quiet struct{}

func (quiet) ReadLine(string) (string, error)     { return "", io.EOF }
func (quiet) Print(...any)                        {}
func (quiet) PrintErr(...any)                     {}
func (quiet) IsTerminal() bool                    { return false }
func (quiet) WantBrowser() bool                   { return false }
func (quiet) SetAutoComplete(func(string) string) {}
