package symbolize

import "golang.org/x/sys/unix"

// fileID tells a load object by what it was found to be: by the build-id, else by
// the file on this machine.
type fileID struct {
	buildID       string
	device, inode uint64
	name          string // the load object's
	found         bool   // its file
}

// sameFile returns the load object that is the same as another one of its name: by
// another path, such as /lib for /usr/lib or that of a container's layer, or
// recorded once with a build-id and once without. They are one, so that each
// function is (S2). The kernel and its modules, which lists of symbols may stand
// for, are told by their paths.
func (r *Resolver) sameFile(o *Object) (id fileID, n int32, ok bool) {
	id = fileID{buildID: o.BuildID, name: o.Name, found: o.table != nil}
	if o.place != nil || !id.found && id.buildID == "" {
		return fileID{}, 0, false
	}
	if id.buildID == "" {
		var st unix.Stat_t
		if unix.Stat(o.file, &st) != nil {
			return fileID{}, 0, false
		}
		id.device, id.inode = uint64(st.Dev), st.Ino
	}
	n, ok = r.files[id]
	if !ok && !id.found { // the file of another path tells its names, too
		id.found = true
		if n, ok = r.files[id]; !ok {
			id.found = false
		}
	}
	return id, n, ok
}
