package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/internal/corpus"
)

// nightSize is how many experiments are in one folder.
const nightSize = 100

// nightFolder is the folder of a night's experiments.
func nightFolder(night int) string { return fmt.Sprintf("night-%03d", night) }

// many makes n small experiments in root, numbered from `from`, with one folder for each `night` of
// them; existing ones stay. They differ in samples, stacks and threads, and share three load
// objects.
func many(dir, root string, from, n, night int) error {
	shared, err := sharedObjects(filepath.Join(dir, "scale-objects"))
	if err != nil {
		return err
	}
	for i := from; i < from+n; i++ {
		path := filepath.Join(root, nightFolder(i/night), fmt.Sprintf("job-%05d.er", i))
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		like := small(i)
		like.objects = shared
		if err := composeWhole(path, like); err != nil {
			return err
		}
	}
	return nil
}

// small returns the shape of small experiment n.
func small(n int) shape {
	return shape{seed: uint64(n) + 100, records: 200 + 37*(n%41), threads: 1 + n%4, stacks: 20 + n%60, of: 200}
}

// composeWhole composes a recording, and moves it to its path when it is complete.
func composeWhole(path string, like shape) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return whole(path, func(part string) error { return compose(part, like) })
}

// sharedObjects returns a folder with the load objects of composed recordings, and makes it if it
// is missing.
func sharedObjects(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	for _, object := range objects {
		path := filepath.Join(dir, filepath.Base(object))
		if _, e := os.Stat(path); err == nil && errors.Is(e, fs.ErrNotExist) {
			err = sharedObject(object, path)
		}
	}
	return dir, err
}

// sharedObject writes the content of a load object.
func sharedObject(object, path string) error {
	files, err := corpus.Dir()
	if err != nil {
		return err
	}
	file, err := archived(files, object)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o777)
}
