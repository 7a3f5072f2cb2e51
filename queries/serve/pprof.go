package serve

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
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
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"stackmill/queries"
)

// pprof's own pages, of experiments as they are exported for it, are at
// /pprof/SELECTION/PAGE. The selection is the query of /api/v1/export, escaped, since
// pprof's pages have queries of their own.
const (
	pprofPath   = "/pprof/{selection}/{page...}"
	firstPage   = "flamegraph"
	mostMounted = 2         // profiles that are kept
	mostProfile = 128 << 20 // bytes of a profile, not compressed
	mostNodes   = 200       // of a drawn graph
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
	mu   sync.Mutex
	list []*mount // the last used last
}

// mount is a profile as it was exported.
type mount struct {
	key     string
	ready   chan struct{} // closed when profile or err is there
	profile []byte
	err     error
}

// pprof answers with one of pprof's pages.
func (s *Server) pprof(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	if name == "" {
		http.Redirect(w, r, firstPage, http.StatusFound)
		return
	}
	store, err := s.shelf.pin(r.Context(), false)
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

// pprofPage returns one of the pages of a request's selection. Another process makes it: what
// pprof and graphviz do with a profile takes any time and memory, and cannot be stopped here.
func (s *Server) pprofPage(r *http.Request, name string, store *lease) (*reply, error) {
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
	ctx := context.WithoutCancel(r.Context())
	m := s.mounts.take(c.tag(store.state(), s.Version), func() func() (*reply, error) {
		store := store.retain() // the request may end before
		return func() (*reply, error) {
			defer store.release()
			return s.work(ctx, c, store)
		}
	})
	select {
	case <-m.ready:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	if m.err != nil {
		return nil, m.err
	}
	return s.work(r.Context(), &call{endpoint: &pprofEndpoint, name: name, values: r.URL.Query(), body: m.profile}, store)
}

// take returns the mount of a key, which the export that begin returns makes if there is none.
func (m *mounts) take(key string, begin func() (export func() (*reply, error))) *mount {
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
	export := begin()
	go func() {
		defer close(x.ready)
		var a *reply
		if a, x.err = orPanic(export); x.err == nil {
			defer a.body.Release()
			x.profile, x.err = a.body.Bytes()
		}
		if x.err == nil { // otherwise the next may have more luck
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.list = slices.DeleteFunc(m.list, func(other *mount) bool { return other == x })
	}()
	return x
}

// pprofEndpoint is what a process of its own does for a page: its call has the page's name and
// query, and the profile.
var pprofEndpoint = endpoint{method: http.MethodGet, path: pprofPath, run: drivePprof}

// drivePprof lets pprof make one of its pages.
func drivePprof(w *work) error {
	text, err := gzip.NewReader(bytes.NewReader(w.body))
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(text, mostProfile+1))
	if err != nil {
		return err
	}
	if len(raw) > mostProfile {
		return tooLarge(mostProfile)
	}
	p, err := profile.ParseUncompressed(raw)
	if err != nil {
		return err
	}
	var pages map[string]http.Handler
	err = driver.PProf(&driver.Options{
		Flagset: pprofFlags{flag.NewFlagSet("pprof", flag.ContinueOnError)}, Fetch: given{p}, Sym: noFiles{}, Obj: noObjects{}, UI: quiet{}, Writer: noFiles{},
		HTTPTransport: noFiles{},
		HTTPServer:    func(args *driver.HTTPServerArgs) error { pages = args.Handlers; return nil },
	})
	if err != nil {
		return err
	}
	made := &pageWriter{header: http.Header{}, status: http.StatusOK, out: w.out, note: noteOf(p)}
	pages["/"+w.name].ServeHTTP(made, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/" + w.name, RawQuery: w.values.Encode()}})
	if w.kind = made.header.Get("Content-Type"); w.kind == "" {
		w.kind = http.DetectContentType(made.begin)
	}
	switch {
	case w.out.Full:
		return errors.New("the page is too large")
	case made.status != http.StatusOK:
		return &failure{made.status, errors.New(strings.TrimSpace(string(made.begin)))}
	}
	return nil
}

// noteOf is HTML of what the store lacks that a profile is of, as its comments say.
func noteOf(p *profile.Profile) (note string) {
	for _, text := range p.Comments {
		if strings.HasPrefix(text, queries.LeftOutPrefix) {
			note += `<p role="alert">` + html.EscapeString(text) + "</p>"
		}
	}
	return note
}

// pageWriter takes a page, into which it puts a note.
type pageWriter struct {
	header http.Header
	status int
	begin  []byte // of the page, or what failed
	out    io.Writer
	note   string
}

func (p *pageWriter) Header() http.Header { return p.header }

func (p *pageWriter) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter. pprof writes the start of the body of a page at once.
func (p *pageWriter) Write(text []byte) (int, error) {
	const most = 512 // bytes that say what the page is
	p.begin = append(p.begin, text[:min(len(text), most-len(p.begin))]...)
	const body = "<body>"
	if i := bytes.Index(text, []byte(body)); i >= 0 && p.note != "" {
		with := slices.Concat(text[:i+len(body)], []byte(p.note), text[i+len(body):])
		p.note = ""
		if _, err := p.out.Write(with); err != nil {
			return 0, err
		}
		return len(text), nil
	}
	return p.out.Write(text)
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
