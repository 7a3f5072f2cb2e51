package symbolize

import (
	"slices"

	"golang.org/x/sys/unix"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// fileID identifies a load object by what was found: by its build-id, else by the
// file on this machine.
type fileID struct {
	buildID       string
	device, inode uint64
	name          string // the load object's
	found         bool   // its file
	content       string // symtab.Table.Key, of one that only claims its build-id; else empty
}

// findSameFile returns the load object that is the same as another one of its name: by
// another path, such as /lib for /usr/lib or one in a container's layer, or
// recorded once with a build-id and once without. They are one, so that each
// function is (S2). The kernel and its modules, for which lists of symbols may stand,
// are identified by their paths; and a file that only claims the build-id of another
// one is itself.
func (r *Resolver) findSameFile(o *objectDraft) (id fileID, n program.ObjectNo, ok bool) {
	id = fileID{buildID: o.BuildID, name: o.Name, found: o.table != nil}
	if o.placer != nil || !id.found && id.buildID == "" {
		return fileID{}, 0, false
	}
	if id.buildID == "" {
		var st unix.Stat_t
		if unix.Stat(o.file, &st) != nil {
			return fileID{}, 0, false
		}
		id.device, id.inode = uint64(st.Dev), st.Ino
	}
	n, ok = r.objectsByFile[id]
	if !ok && !id.found { // the file found by another path has its names
		id.found = true
		if n, ok = r.objectsByFile[id]; !ok {
			id.found = false
		}
	}
	if ok && o.table != nil && r.contentDiffers(o, n) {
		id.content = o.table.Key
		n, ok = r.objectsByFile[id]
	}
	return id, n, ok
}

// contentDiffers reports whether an object's file differs from the n-th's in content, and
// one of them has other functions than a file of its build-id.
func (r *Resolver) contentDiffers(o *objectDraft, n program.ObjectNo) bool {
	other := r.loadObjects[n].table
	return other != nil && other.Key != o.table.Key &&
		(slices.ContainsFunc(o.table.Notes, symtab.Note.Doubtful) || slices.ContainsFunc(other.Notes, symtab.Note.Doubtful))
}
