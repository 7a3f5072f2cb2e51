package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// made returns the path, after calling makeAt if nothing is there yet.
func made(path string, makeAt func(part string) error) (string, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	fmt.Println("making", path)
	return path, whole(path, makeAt)
}

// whole makes a file or folder, which appears at its path when it is complete. makeAt may leave
// other files in the folder of part: it is removed.
func whole(path string, makeAt func(part string) error) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, "unfinished.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	part := filepath.Join(temp, filepath.Base(path))
	if err := makeAt(part); err != nil {
		return err
	}
	return os.Rename(part, path)
}
