package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"stackmill/storedir"
)

// writeWhole replaces a file: whoever reads it finds the old content or the new, never a
// part. The temporary file is in the same folder, with a name that begins with a dot.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = storedir.Place(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error is told
	}
	return err
}

// createBeside makes the file for the next content of another. Nobody can know its name
// before, and make it a link to a third. Others may read it, as the umask says.
func createBeside(path string) (*os.File, error) {
	name := fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64())
	return os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// writeInto is like writeWhole, but writes into what is there if that is no regular file: a
// pipe, a device.
func writeInto(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return writeWhole(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
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
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
