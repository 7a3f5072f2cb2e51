package serve

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// pageFiles is the page, which `make page` builds from the sources in web.
//
//go:embed page
var pageFiles embed.FS

// page holds the built files of the web page. All but index.html are served below a path with a hash of the content,
// so that files of different versions never mix and browsers can cache them forever.
type page struct {
	path  string            // folder of all files but index.html, as /page/HASH/
	files map[string][]byte // name of a file -> its content
}

const indexFile = "index.html"

var loadPage = sync.OnceValues(func() (*page, error) {
	const dir = "page"
	p := &page{files: map[string][]byte{}}
	list, err := pageFiles.ReadDir(dir) // sorted by name, so the hash is always the same
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, f := range list {
		text, err := pageFiles.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		p.files[f.Name()] = text
		fmt.Fprintf(sum, "%s %d\n%s", f.Name(), len(text), text)
	}
	version := fmt.Sprintf("%.8x", sum.Sum(nil))
	p.path = "/" + dir + "/" + version + "/"
	p.files[indexFile] = bytes.ReplaceAll(p.files[indexFile], []byte("VERSION"), []byte(version))
	return p, nil
})

// style returns the path of the style sheet.
func (p *page) style() string { return p.path + "style.css" }

// serveIndex answers with index.html. It tells the page whether there is a login.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) {
	login := "none"
	if s.wantsToken() {
		login = "token"
	}
	tag := `"` + s.page.path + login + `"`
	w.Header().Set("Cache-Control", "private, no-cache") // revalidate: a newer server has another page
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.ReplaceAll(s.page.files[indexFile], []byte("LOGIN"), []byte(login))) // the client may have gone
}

// servePageFile answers with a file of the page other than index.html.
func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, s.page.path)
	text := s.page.files[name]
	if !ok || text == nil || name == indexFile {
		s.fail(w, r, &failure{http.StatusNotFound, fmt.Errorf("the page has no file %s (load the page again)", r.URL.Path)})
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	if name == speedscopeFile {
		w.Header().Set("Content-Security-Policy", speedscopePolicy)
	}
	_, _ = w.Write(text) // the client may have gone
}

// failPage answers a person's request for a page with an error page.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	var text bytes.Buffer
	_ = errorPage.Execute(&text, struct{ Why, Style string }{Explain(err), s.page.style()}) // a buffer has no errors
	w.Header().Set("Content-Security-Policy", headers["Content-Security-Policy"])           // not that of pprof's pages
	s.respond(w, r, err, "text/html; charset=utf-8", text.Bytes())
}

var errorPage = template.Must(template.New("error").Parse(pageStart("nothing to show") + `<p class="error" role="alert">{{.Why}}</p>
<p class="note">Close this tab, choose another metric, experiments or filters in the page that led here, and try again.</p>
</main>
</body>
</html>
`))

// pageStart returns the start of an HTML template for pages without scripts.
func pageStart(title string) string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>stackmill: ` + title + `</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{{.Style}}">
</head>
<body>
<main>
<h1>stackmill</h1>
`
}
