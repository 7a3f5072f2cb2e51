package gprofng

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackmill/stages/decode/gprofng/archive"
	"stackmill/stages/infile"
)

// folder is the folder of a recording: its founder's. Nothing is read through links
// that lead out of it.
type folder struct {
	root string // real and absolute
}

var errLeadsOut = errors.New("it is a link that leads out of the recording, which is not followed")

// folderOf returns the folder of the experiment at path: the founder's for a descendant
// that is opened by itself.
func folderOf(path string) (folder, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return folder{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return folder{}, err
	}
	if isDescendant(path) && isExperimentName(filepath.Base(filepath.Dir(real))) {
		real = filepath.Dir(real)
	}
	return folder{real}, nil
}

func isDescendant(path string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Clean(path)), "_")
}

// resolve returns the real path of a file or folder of the recording.
func (f folder) resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	if !f.holds(real) {
		return "", errLeadsOut
	}
	return real, nil
}

// holds reports whether a real path lies in the folder.
func (f folder) holds(real string) bool {
	return strings.HasPrefix(real, strings.TrimSuffix(f.root, "/")+"/") || real == f.root
}

// resolveArchived is resolve for a file of the archives, which may also be a link to
// a common archive (gprofng-experiment 1.4).
func (f folder) resolveArchived(path string) (string, error) {
	real, err := f.resolve(path)
	if !errors.Is(err, errLeadsOut) {
		return real, err
	}
	if real, err = filepath.EvalSymlinks(path); err == nil && !archive.IsCommon(filepath.Base(path), filepath.Base(real)) {
		err = errLeadsOut
	}
	return real, err
}

// size returns the size of a regular file of the recording.
func (f folder) size(path string) (int64, error) {
	real, err := f.resolve(path)
	if err != nil {
		return 0, err
	}
	info, err := infile.Stat(real)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// strays returns the links of a folder of archives that are not followed.
func (f folder) strays(archives string) (names []string, err error) {
	entries, err := os.ReadDir(archives)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := f.resolveArchived(filepath.Join(archives, e.Name())); errors.Is(err, errLeadsOut) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// cause returns an error without the path, which would say where a recording was read.
func cause(err error) error {
	for _, known := range []error{infile.ErrNotRegular, infile.ErrTooLarge} {
		if errors.Is(err, known) {
			return known
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
