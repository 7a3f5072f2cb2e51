package symbolize

import (
	"slices"

	"golang.org/x/sys/unix"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// fileID identifies a load object by its build-id, else by the file on this machine.
type fileID struct {
	buildID       string
	device, inode uint64
	name          string // the load object's
	found         bool   // its file
	content       string // symtab.Table.Key if the build-id is doubtful, else empty
}

// findSameFile returns the load object of the same name and file as a draft, and the draft's id.
// The same file may have several paths, such as /lib and /usr/lib or one in a container's layer,
// or be recorded once with a build-id and once without: it is one load object, so that each
// function is one (S2). Paths identify the kernel and its modules, whose table may be a list of
// symbols. A file with the build-id of another one, but other content, is a load object of its own.
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
	if !ok && !id.found { // the file may have been found by another path
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

// contentDiffers reports whether an object's file differs from the n-th's in content, and the
// build-id of one of them is doubtful: its functions differ from other files' with it.
func (r *Resolver) contentDiffers(o *objectDraft, n program.ObjectNo) bool {
	other := r.loadObjects[n].table
	return other != nil && other.Key != o.table.Key &&
		(slices.ContainsFunc(o.table.Notes, symtab.Note.Doubtful) || slices.ContainsFunc(other.Notes, symtab.Note.Doubtful))
}
