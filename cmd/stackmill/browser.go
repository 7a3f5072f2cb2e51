//go:build cgo

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// openBrowser lets the user's browser open an address: $BROWSER, or what the system has for
// that.
func (a *app) openBrowser(address string) {
	usual := map[string]string{"darwin": "open"}
	program := cmp.Or(os.Getenv("BROWSER"), usual[runtime.GOOS], "xdg-open")
	c := exec.Command(program, address)
	if err := c.Start(); err != nil {
		say(a.stderr, "stackmill: no browser could be opened (%v): open %s\n", err, address)
		return
	}
	go func() {
		if err := c.Wait(); err != nil {
			say(a.stderr, "stackmill: %s ended with %v: open %s\n", program, err, address)
		}
	}()
}

// placeOf returns the address of a place of the page.
func placeOf(server, place string) (string, error) {
	if place == "/" {
		return server, nil
	}
	if !strings.HasPrefix(place, "?") || strings.ContainsFunc(place, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("%q is no place of the page (what its address has from ? on)", place)
	}
	return server + "/" + place, nil
}
