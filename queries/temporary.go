package queries

import (
	"os"
	"path/filepath"

	"stackmill/internal/tempdir"
)

// engineDir is an engine's temporary directory. Without it, queries that need it fail.
type engineDir struct {
	*tempdir.Dir        // nil if it could not be made
	path         string // below it: SQL can read there, and must not see the owner's file
}

func newEngineDir() engineDir {
	dir, err := tempdir.Make("sql")
	if err != nil {
		return engineDir{}
	}
	d := engineDir{dir, filepath.Join(dir.Path, "engine")}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		_ = d.remove() // it is empty
		return engineDir{}
	}
	return d
}

func (d engineDir) remove() error {
	if d.Dir == nil {
		return nil
	}
	return d.Remove()
}
