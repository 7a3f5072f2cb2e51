package elf

import (
	debugelf "debug/elf"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// buildIDIndex lists the ELF files directly in a folder by build-id.
type buildIDIndex struct {
	modified time.Time // modification time of the folder
	files    map[string][]indexedFile
}

type indexedFile struct {
	path string
	code bool // the file is a load object, not a separate debug file
}

// indexes caches the index of each folder by its path.
var indexes = struct {
	sync.Mutex
	byFolder map[string]*buildIDIndex
}{byFolder: map[string]*buildIDIndex{}}

// FilesByBuildID returns the paths of the files with a build-id that lie directly in a folder,
// sorted. They are load objects or, if debug is set, also separate debug files.
func FilesByBuildID(dir, buildID string, debug bool) (list []string) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || buildID == "" {
		return nil
	}
	indexes.Lock()
	defer indexes.Unlock()
	index := indexes.byFolder[dir]
	if index == nil || !index.modified.Equal(info.ModTime()) {
		index = indexFolder(dir, info.ModTime())
		indexes.byFolder[dir] = index
	}
	for _, file := range index.files[buildID] {
		if debug || file.code {
			list = append(list, file.path)
		}
	}
	return list
}

func indexFolder(dir string, modified time.Time) *buildIDIndex {
	index := &buildIDIndex{modified: modified, files: map[string][]indexedFile{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return index // an unreadable folder counts as empty
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
			index.files[id] = append(index.files[id], indexedFile{path, o.hasCode()})
		}
		o.Close()
	}
	return index
}

// hasCode reports whether the file has instructions. A separate debug file has only the headers of
// the sections with code.
func (f *File) hasCode() bool {
	return slices.ContainsFunc(f.Sections, func(s Section) bool {
		return s.Type == debugelf.SHT_PROGBITS && s.Flags&debugelf.SHF_EXECINSTR != 0
	})
}
