package gprofng

import (
	"path/filepath"

	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
	"stackmill/stages/infile"
)

// Locator returns the Recording.Locate of an experiment, which need not be there any more.
func Locator(path string) func(string) []decode.Candidate {
	if f, err := folderOf(path); err == nil {
		return locator(path, f)
	}
	return decode.AtPath
}

// locator returns the function that finds the files of load objects: in the
// archives by hashed name, then at the recorded path (gprofng-experiment 1.4).
func locator(path string, f folder) func(string) []decode.Candidate {
	archives := archivesOf(path)
	return func(object string) []decode.Candidate {
		if object == "" || object[0] == '<' || object[0] == '[' {
			return nil
		}
		var found []decode.Candidate
		if archived, err := f.resolveArchived(filepath.Join(archives, archive.Name(object))); err == nil && isFile(archived) {
			found = append(found, decode.Candidate{Path: archived, Origin: "archive"})
		}
		// A relative path belongs to an unknown directory.
		if filepath.IsAbs(object) && isFile(object) {
			found = append(found, decode.Candidate{Path: object, Origin: "path"})
		}
		return found
	}
}

func isFile(path string) bool {
	_, err := infile.Stat(path)
	return err == nil
}

// archivesOf returns the folder of an experiment's archives. A descendant that is opened
// by itself uses the founder's.
func archivesOf(path string) string {
	archives := filepath.Join(path, archive.Dir)
	if !exists(archives) && isDescendant(path) {
		return filepath.Join(path, "..", archive.Dir)
	}
	return archives
}
