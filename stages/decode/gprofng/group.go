package gprofng

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stackmill/internal/safefile"
)

// groupHeader starts a group file (gprofng-experiment 1.3).
const groupHeader = "#analyzer experiment group"

// maxGroup is the maximum size of a group file.
const maxGroup = 16 << 20

// Members returns path, or the experiments that a group file names: relative to the current
// directory or, if nothing is there, to the group file's.
func (d *Decoder) Members(path string) ([]string, error) {
	if !isGroup(path) {
		return []string{path}, nil
	}
	text, err := safefile.Read(path, maxGroup)
	if err != nil {
		return nil, fmt.Errorf("experiment group: %w", err)
	}
	var members []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		members = append(members, member(filepath.Clean(words[0]), filepath.Dir(path)))
	}
	return members, nil
}

func member(name, groupDir string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name
	}
	if beside := filepath.Join(groupDir, name); exists(beside) {
		return beside
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
