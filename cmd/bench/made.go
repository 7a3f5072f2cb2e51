package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// made returns path. If nothing is there, it first calls makeAt to make it.
func made(path string, makeAt func(part string) error) (string, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	fmt.Println("making", path)
	return path, whole(path, makeAt)
}

// whole calls makeAt to make a file or folder, in a new folder, and moves it to path when it is
// complete. Other files that makeAt leaves in the new folder are removed.
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
