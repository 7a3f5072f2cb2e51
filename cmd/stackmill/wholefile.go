package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/storedir"
)

// writeWhole replaces a file: whoever reads it finds the old content or the new, never a
// part. The temporary file is in the same folder, with a name that begins with a dot.
func writeWhole(path string, write func(io.Writer) error) error {
	temp := temporaryName(path)
	f, err := os.Create(temp) // others may read it, as the umask says
	if err != nil {
		return err
	}
	err = write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = storedir.Place(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the error is told
	}
	return err
}

// temporaryName is the name beside a file where this process writes its next content.
func temporaryName(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
}

// checkWritable returns why a file cannot be replaced, before the work is done that it
// would be about.
func checkWritable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s: it is not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp := temporaryName(path)
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(temp))
}
