package plan

import (
	"path/filepath"

	"stackmill/schema/storedir"
)

// Absolute returns a path, or the name of a store on S3, that does not depend on the working
// directory.
func Absolute(path string) string {
	if storedir.IsCache(path) {
		return storedir.DisplayName(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
