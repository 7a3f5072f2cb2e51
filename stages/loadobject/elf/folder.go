package elf

import (
	debugelf "debug/elf"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// folder has the ELF files that lie in a folder itself, by build-id.
type folder struct {
	modified time.Time // when the folder was
	files    map[string][]folderFile
}

// folderFile is one of them; code says that it has the code of a load object, which debug
// files have not.
type folderFile struct {
	path string
	code bool
}

// folders are those that were looked through, by path.
var folders struct {
	sync.Mutex
	byPath map[string]*folder
}

// InFolder returns the files with a build-id that lie in a folder itself, sorted: load
// objects, or also debug files.
func InFolder(dir, buildID string, debug bool) (list []string) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || buildID == "" {
		return nil
	}
	folders.Lock()
	defer folders.Unlock()
	f := folders.byPath[dir]
	if f == nil || !f.modified.Equal(info.ModTime()) {
		f = readFolder(dir, info.ModTime())
		if folders.byPath == nil {
			folders.byPath = map[string]*folder{}
		}
		folders.byPath[dir] = f
	}
	for _, file := range f.files[buildID] {
		if debug || file.code {
			list = append(list, file.path)
		}
	}
	return list
}

func readFolder(dir string, modified time.Time) *folder {
	f := &folder{modified: modified, files: map[string][]folderFile{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f // it has no files for us
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		o, err := Open(path)
		if err != nil {
			continue
		}
		if id := o.BuildID(); id != "" {
			f.files[id] = append(f.files[id], folderFile{path, o.hasCode()})
		}
		o.Close()
	}
	return f
}

// hasCode reports whether the file has instructions: separate debug files have only
// headers of the sections that hold them.
func (f *File) hasCode() bool {
	return slices.ContainsFunc(f.Sections, func(s Section) bool {
		return s.Type == debugelf.SHT_PROGBITS && s.Flags&debugelf.SHF_EXECINSTR != 0
	})
}
