// Package cachetag marks folders as caches for backup programs and for this program: their content
// can be rebuilt.
package cachetag

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// file is the tag's name. Backup programs read its first line (https://bford.info/cachedir/).
const file = "CACHEDIR.TAG"

const (
	signature = "Signature: 8a477f597d28d172789f06886806bc55\n"
	text      = signature + "# This folder is a cache of stackmill, which makes again what is missing.\n"
)

// Put marks a folder unless it is marked. It ignores errors: a cache works without a tag.
func Put(folder string) {
	path := filepath.Join(folder, file)
	found, err := os.ReadFile(path)
	if err == nil && len(found) < len(text) && strings.HasPrefix(text, string(found)) && string(found) != signature {
		_ = os.Remove(path) // a truncated tag
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	_, _ = f.WriteString(text)
	_ = f.Close()
}

// Is reports whether a folder is marked as a cache by this program.
func Is(folder string) bool {
	path := filepath.Join(folder, file)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false
	}
	found, err := os.ReadFile(path)
	return err == nil && bytes.Equal(found, []byte(text))
}
