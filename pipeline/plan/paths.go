package plan

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackmill/internal/objstore"
)

// ExpandPatterns returns the paths, with the matches in place of patterns.
func ExpandPatterns(given []string) (paths []string, err error) {
	for _, path := range given {
		if _, err := os.Lstat(path); objstore.Is(path) || !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?[") {
			paths = append(paths, path)
			continue
		}
		found, err := filepath.Glob(path)
		if err == nil && len(found) == 0 {
			err = errors.New("nothing matches")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// ReadPaths reads a file of paths, one a line; - is stdin.
func ReadPaths(file string, stdin io.Reader) (paths []string, err error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			paths = append(paths, line)
		}
		if errors.Is(err, io.EOF) {
			return paths, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
