package symbolize

import "golang.org/x/sys/unix"

// fileID tells a file on this machine.
type fileID struct {
	device, inode uint64
	name          string // the load object's
}

// sameFile returns the load object that was found in the same file as another one
// of its name: by another path, such as /lib for /usr/lib, or recorded once with a
// build-id and once without. They are one, so that each function is (S2). The kernel
// and its modules, which lists of symbols may stand for, are told by their paths.
func (r *Resolver) sameFile(o *Object) (id fileID, n int32, ok bool) {
	var st unix.Stat_t
	if o.file == "" || o.place != nil || unix.Stat(o.file, &st) != nil {
		return id, 0, false
	}
	id = fileID{uint64(st.Dev), st.Ino, o.Name}
	n, ok = r.files[id]
	return id, n, ok
}
