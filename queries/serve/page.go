package serve

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"path"
)

// page is the page as `make page` builds it of the sources in web.
//
//go:embed page
var page embed.FS

// file returns what answers with a file of the page.
func file(name string) http.HandlerFunc {
	text, err := page.ReadFile("page/" + name)
	tag := fmt.Sprintf(`"%.16x"`, sha256.Sum256(text))
	return func(w http.ResponseWriter, r *http.Request) {
		if err != nil { // it was built without
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		header := w.Header()
		header.Set("Cache-Control", "private, no-cache") // another program may have another page
		header.Set("ETag", tag)
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		header.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(text) // the client may have gone
	}
}

// loginPath is where the form of loginPage is sent to.
const loginPath = "/login"

// login exchanges the token for a cookie, which a browser sends with each request of the
// page from then on, until it is closed.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	if token := r.PostFormValue("token"); s.Token != "" && !same(token, s.Token) {
		s.askToken(w, "This is not the token.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: s.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// askToken answers with a form for the token.
func (s *Server) askToken(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	_ = loginPage.Execute(w, why) // the client may have gone
}

var loginPage = template.Must(template.New("login").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>stackmill: log in</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>stackmill</h1>
<form method="post" action="` + loginPath + `" class="bar">
<label>Token <input type="password" name="token" required autofocus autocomplete="current-password"></label>
<button type="submit">Log in</button>
</form>
{{with .}}<p class="error" role="alert">{{.}}</p>{{end}}
<p class="note">The token is the content of the file that the server was started with.</p>
</main>
</body>
</html>
`))
