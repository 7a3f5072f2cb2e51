package gprofng

import (
	"os"
	"path/filepath"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
)

// locator returns the function that finds the files of load objects: in the
// archives by hashed name, then at the recorded path (gprofng-experiment 1.4).
func locator(path string) func(string) []decode.Candidate {
	archives := archivesOf(path)
	return func(object string) []decode.Candidate {
		if object == "" || object[0] == '<' || object[0] == '[' {
			return nil
		}
		var found []decode.Candidate
		for _, c := range []decode.Candidate{
			{Path: filepath.Join(archives, archive.Name(object)), Origin: "archive"},
			{Path: object, Origin: "path"},
		} {
			if info, err := os.Stat(c.Path); err == nil && info.Mode().IsRegular() {
				found = append(found, c)
			}
		}
		return found
	}
}

// archivesOf returns where the archives of an experiment are. Of a descendant
// opened by itself, the founder has them.
func archivesOf(path string) string {
	archives := filepath.Join(path, archive.Dir)
	if !exists(archives) && strings.HasPrefix(filepath.Base(filepath.Clean(path)), "_") {
		return filepath.Join(path, "..", archive.Dir)
	}
	return archives
}
