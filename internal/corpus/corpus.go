// Package corpus unpacks the recordings of testdata for tests.
package corpus

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// The archives of gprofng's experiments, relative to the module's root.
const (
	experiments = "testdata/gprofng/experiments.tar.gz"
	loading     = "testdata/gprofng/loading.tar.gz" // has links into experiments
)

// perf are the archives of perf's recordings.
var perf = []string{
	"testdata/perf/recordings.tar.gz", "testdata/perf/symfs.tar.gz", "testdata/perf/jitdump.tar.gz", "testdata/perf/unwind.tar.gz",
	"testdata/perf/callers.tar.gz", "testdata/perf/linkage.tar.gz", "testdata/perf/returns.tar.gz",
}

// data are the archives of recordings with known data objects.
var data = []string{"testdata/data/recordings.tar.gz", "testdata/data/symfs.tar.gz", "testdata/members/recordings.tar.gz", "testdata/members/symfs.tar.gz",
	"testdata/guarded/recordings.tar.gz", "testdata/guarded/symfs.tar.gz"}

// symbols is the archive of recordings of programs whose functions are hard to name.
const symbols = "testdata/symbols/recordings.tar.gz"

// inlined are the archives of recordings of programs whose inlined functions have equal names, and
// of a program whose inlined functions allocate memory and write files.
var inlined = []string{"testdata/inlined/recordings.tar.gz", "testdata/inlined/traced.tar.gz"}

// regions is the archive of recordings of programs whose parallel regions were inlined into
// several functions.
const regions = "testdata/regions/recordings.tar.gz"

// objects are the archives of recordings of unusual load objects.
var objects = []string{"testdata/objects/recordings.tar.gz"}

var (
	once     = sync.OnceValues(unpackAll)
	unpacked string // the folder, once it exists
)

// Dir returns a folder with the recordings (exp/NAME.er, damaged/d_NAME.er) and links to the
// repository's goldens (golden/NAME/, golden/damaged/). They are unpacked once per process; a test
// must not change them. Remove deletes the folder.
func Dir() (string, error) { return once() }

// Remove deletes the folder that Dir unpacked, if any; TestMain calls it after the tests.
func Remove() error {
	if unpacked == "" {
		return nil
	}
	return os.RemoveAll(unpacked)
}

func unpackAll() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "stackmill-corpus-"); err != nil {
		return "", err
	}
	if err := errors.Join(unpackBelow(dir, []string{experiments, loading}), linkGoldens(dir, "testdata/gprofng/golden")); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	unpacked = dir
	return dir, nil
}

// Perf unpacks perf's recordings below dir: perf/NAME.data, damaged/d_NAME.data,
// callers/NAME.MODE.data, linkage/NAME.MODE.data, returns/MODE.data, jitdump/NAME.data with the
// compilers' dumps. The load objects are in symfs/, the kernel's symbols in kallsyms; golden/ is a
// link.
func Perf(dir string) error {
	if err := errors.Join(unpackBelow(dir, perf), linkGoldens(dir, "testdata/perf/golden")); err != nil {
		return err
	}
	root, err := Root()
	if err != nil {
		return err
	}
	z, err := os.Open(filepath.Join(root, "testdata/perf/kallsyms.gz"))
	if err != nil {
		return err
	}
	defer z.Close()
	r, err := gzip.NewReader(z)
	if err != nil {
		return err
	}
	w, err := os.Create(filepath.Join(dir, "kallsyms"))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// Data unpacks recordings of memory accesses below dir: data/NAME.data, members/NAME.data (of
// members of structures), guarded/NAME.data (of generated programs). NAME.truth has the data
// objects that the program accessed. The programs are in symfs/.
func Data(dir string) error { return unpackBelow(dir, data) }

// Symbols unpacks below dir recordings of programs whose functions are hard to name: exp/NAME.er,
// perf/NAME.data, maps/perf-PID.map (a Java program's list of generated code), the programs as
// symfs/, and debug/NAME (a separate debug file).
func Symbols(dir string) error { return unpackBelow(dir, []string{symbols}) }

// Inlined unpacks below dir the recordings of programs whose inlined functions have equal names:
// perf/NAME.data, and the programs as symfs/; exp/calls.er has heap and I/O calls of inlined
// functions.
func Inlined(dir string) error { return unpackBelow(dir, inlined) }

// Regions unpacks below dir the recordings of programs whose parallel regions were inlined into
// several functions: perf/NAME.data, and the programs as symfs/.
func Regions(dir string) error { return unpackBelow(dir, []string{regions}) }

// Objects unpacks below dir the recordings of programs whose mappings or files are unusual (NAME.er
// and NAME.data), and the programs' files.
func Objects(dir string) error { return unpackBelow(dir, objects) }

// linkGoldens makes dir/golden a link to a folder of the repository.
func linkGoldens(dir, goldens string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return os.Symlink(filepath.Join(root, goldens), filepath.Join(dir, "golden"))
}

func unpackBelow(dir string, archives []string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	for _, a := range archives {
		if err := Unpack(filepath.Join(root, a), dir); err != nil {
			return err
		}
	}
	return nil
}

// Root returns the folder above the working directory that has go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "go.mod")); serr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("corpus: no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Unpack writes the files, folders and hard links of a gzipped tar file below dir.
func Unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = entry(r, h, dir)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
	}
}

func entry(r io.Reader, h *tar.Header, dir string) error {
	if !filepath.IsLocal(h.Name) {
		return fmt.Errorf("entry %q leaves the folder", h.Name)
	}
	name := filepath.Join(dir, h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(name, 0o755)
	case tar.TypeReg:
		w, err := os.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, w.Close())
	case tar.TypeLink:
		return os.Link(filepath.Join(dir, h.Linkname), name)
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, name)
	}
	return fmt.Errorf("entry %q has the unexpected type %q", h.Name, h.Typeflag)
}
