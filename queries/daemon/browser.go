//go:build cgo

package daemon

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"stackmill/internal/tempdir"
	"stackmill/internal/terminal"
)

// openBrowser opens an address in $BROWSER, or by the system's program for that. All users of a
// machine can read command lines: a secret address is passed in a file that only the user can
// read, until done is called.
func openBrowser(out *terminal.Output, address string, secret bool) (done func(), err error) {
	done = func() {}
	if secret {
		if address, done, err = writeRedirect(address); err != nil {
			return nil, err
		}
	}
	defaults := map[string]string{"darwin": "open"}
	program := cmp.Or(os.Getenv("BROWSER"), defaults[runtime.GOOS], "xdg-open")
	c := exec.Command(program, address)
	if err := c.Start(); err != nil {
		out.Warnf("no browser could be opened: %v (open the address above)", err)
		return done, nil
	}
	go func() {
		if err := c.Wait(); err != nil {
			out.Warnf("%s failed: %v (open the address above)", program, err)
		}
	}()
	return done, nil
}

var redirectPage = template.Must(template.New("redirect").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={{.}}">
<title>stackmill</title>
</head>
<body><a href="{{.}}">stackmill</a></body>
</html>
`))

// writeRedirect writes a page that redirects to an address, into a folder that remove removes.
func writeRedirect(address string) (file string, remove func(), err error) {
	dir, err := tempdir.Make("open") // only the user can read it
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = dir.Remove() } // its token is worth nothing without the server
	var text strings.Builder
	err = redirectPage.Execute(&text, address)
	path := filepath.Join(dir.Path, "open.html")
	if err == nil {
		err = os.WriteFile(path, []byte(text.String()), 0o600)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), remove, nil
}

// PageAddress returns the address of a place on the page, with the token if there is one.
func PageAddress(server, token, place string) (string, error) {
	if place != "/" && (!strings.HasPrefix(place, "?") || strings.ContainsFunc(place, func(c rune) bool { return c <= ' ' || c > '~' })) {
		return "", fmt.Errorf("%q is no place of the page (what its address has from ? on)", place)
	}
	query := strings.TrimPrefix(strings.TrimPrefix(place, "/"), "?")
	if token != "" {
		query = strings.TrimSuffix("token="+url.QueryEscape(token)+"&"+query, "&")
	}
	if query == "" {
		return server, nil
	}
	return server + "/?" + query, nil
}
