// Package cachetag marks folders as caches, for backups and for this program: what is in them can
// be made again.
package cachetag

import (
	"bytes"
	"os"
	"path/filepath"
)

// file is the tag's name. Backup programs read its first line (https://bford.info/cachedir/).
const file = "CACHEDIR.TAG"

const text = `Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of stackmill, which makes again what is missing.
`

// Put marks a folder, unless it has a tag. It drops errors: a cache works without one.
func Put(folder string) {
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	_, _ = f.WriteString(text)
	_ = f.Close()
}

// Is reports whether a folder is a cache of this program.
func Is(folder string) bool {
	path := filepath.Join(folder, file)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false
	}
	found, err := os.ReadFile(path)
	return err == nil && bytes.Equal(found, []byte(text))
}
