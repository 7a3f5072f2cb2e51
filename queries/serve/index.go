package serve

import (
	"bytes"
	"html/template"
	"net/http"
)

// index answers with a page that says what can be asked.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	db, done, err := s.shelf.session(r.Context(), scope{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	count := db.Count
	done()
	type line struct{ Method, Path, Does string }
	var lines []line
	for i := range endpoints {
		lines = append(lines, line{endpoints[i].method, endpoints[i].path, endpoints[i].does})
	}
	var page bytes.Buffer
	err = indexPage.Execute(&page, struct {
		Store       string
		Experiments int
		Lines       []line
	}{s.Store, count, lines})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // the client may have gone
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>stackmill</title></head>
<body>
<h1>stackmill</h1>
<p>{{.Experiments}} experiments in {{.Store}}.</p>
<table>
<thead><tr><th scope="col">Request</th><th scope="col">Answer</th></tr></thead>
<tbody>
{{range .Lines}}<tr><td>{{.Method}} {{.Path}}</td><td>{{.Does}}</td></tr>
{{end}}</tbody>
</table>
<p><a href="openapi.json">openapi.json</a> describes all parameters.</p>
</body>
</html>
`))
