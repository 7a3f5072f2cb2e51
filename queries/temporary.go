package queries

import (
	"maps"
	"os"
	"slices"
	"sync"
)

// temporary are the temporary directories of the engines that are open.
var temporary struct {
	sync.Mutex
	dirs map[string]bool
}

// newTemporary makes a temporary directory for an engine: private, with a name that
// cannot be guessed. It returns "" on failure; queries that need one then fail.
func newTemporary() string {
	dir, err := os.MkdirTemp("", "stackmill-sql-")
	if err != nil {
		return ""
	}
	temporary.Lock()
	defer temporary.Unlock()
	if temporary.dirs == nil {
		temporary.dirs = map[string]bool{}
	}
	temporary.dirs[dir] = true
	return dir
}

func removeTemporary(dir string) error {
	if dir == "" {
		return nil
	}
	temporary.Lock()
	defer temporary.Unlock()
	delete(temporary.dirs, dir)
	return os.RemoveAll(dir)
}

// RemoveTemporary removes the temporary directories of engines that were not closed
// because a query does not stop.
func RemoveTemporary() {
	temporary.Lock()
	dirs := slices.Collect(maps.Keys(temporary.dirs))
	temporary.Unlock()
	for _, dir := range dirs {
		_ = removeTemporary(dir) // others are harmless
	}
}
