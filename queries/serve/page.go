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

// built is the page as `make page` builds it of the sources in web.
//
//go:embed page
var built embed.FS

// page is what the server has of it: its first file, and those that this one loads from a
// path that no other page has. So it never gets parts of another one, from a server of
// another version, and a browser need not ask twice for the same.
type page struct {
	path  string            // of all files but the first, with / at its end
	files map[string][]byte // by name
}

// firstFile is the page's.
const firstFile = "index.html"

// thePage is that of this program.
var thePage = sync.OnceValues(func() (*page, error) {
	const dir = "page"
	p := &page{files: map[string][]byte{}}
	list, err := built.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, f := range list {
		text, err := built.ReadFile(path.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		p.files[f.Name()] = text
		fmt.Fprintf(sum, "%s %d\n%s", f.Name(), len(text), text)
	}
	version := fmt.Sprintf("%.8x", sum.Sum(nil))
	p.path = "/" + dir + "/" + version + "/"
	p.files[firstFile] = bytes.ReplaceAll(p.files[firstFile], []byte("VERSION"), []byte(version))
	return p, nil
})

// style is the path of the style sheet.
func (p *page) style() string { return p.path + "style.css" }

// first answers with the page's first file, which says whether one can log out.
func (s *Server) first(w http.ResponseWriter, r *http.Request) {
	login := "none"
	if s.wantsToken() {
		login = "token"
	}
	tag := `"` + s.page.path + login + `"`
	w.Header().Set("Cache-Control", "private, no-cache") // another program may have another page
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.ReplaceAll(s.page.files[firstFile], []byte("LOGIN"), []byte(login))) // the client may have gone
}

// file answers with another one.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, s.page.path)
	text := s.page.files[name]
	if !ok || text == nil || name == firstFile {
		s.fail(w, r, &failure{http.StatusNotFound, fmt.Errorf("%s is no file of this page (load the page again)", r.URL.Path)})
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	if name == speedscopeFile {
		w.Header().Set("Content-Security-Policy", speedscopePolicy)
	}
	_, _ = w.Write(text) // the client may have gone
}

// failPage answers a request that a person made with what failed.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	var text bytes.Buffer
	_ = errorPage.Execute(&text, struct{ Why, Style string }{Explain(err), s.page.style()}) // a buffer takes all
	w.Header().Set("Content-Security-Policy", headers["Content-Security-Policy"])           // not that of a viewer
	s.respond(w, r, err, "text/html; charset=utf-8", text.Bytes())
}

var errorPage = template.Must(template.New("error").Parse(pageStart("nothing to show") + `<p class="error" role="alert">{{.Why}}</p>
<p class="note">Close this tab, choose another metric, experiments or filters in the page that led here, and open it again.</p>
</main>
</body>
</html>
`))

// pageStart is how pages without scripts begin.
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
