package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// made returns a path, at which it makes what is not there.
func made(path string, makeAt func(part string) error) (string, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	fmt.Println("making", path)
	return path, whole(path, makeAt)
}

// whole makes a file or folder, which appears at its path when it is complete. Other files may
// be left in the folder of part, which is removed.
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
