package symbolize

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/stages/decode"
)

// doubts says why the file at an object's path, for which no build-id and no
// checksum speaks, may have been replaced since; nil without a reason. Its
// names are used all the same.
//
// Whoever writes a file sets its modification time, but package managers, tar
// and rsync set it back. Then only the time of the last change of its inode
// shows it, if the file is still in its place on the machine of the recording:
// copying sets that time. It does not count for the very inode that was mapped,
// of which something other than the content was changed.
func (r *Resolver) doubts(k objectKey, c decode.Candidate) *remark {
	var st unix.Stat_t
	if c.Origin != "path" || decode.IsJITted(k.path) || unix.Stat(c.Path, &st) != nil {
		return nil
	}
	modified, changed := time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	if decode.IsPerfMap(k.path) {
		return r.listDoubt(k.path, c.Path, modified)
	}
	began := r.rec.Began
	local := r.isLocal(k.path, c.Path)
	// What was built before it was mapped is what ran.
	loaded := began.Add(time.Duration(r.mapped().first[k]))
	if !r.rec.Started.IsZero() {
		began = r.rec.Started
	}
	same := k.file.Inode != 0 && k.file.Inode == st.Ino
	what := ""
	switch {
	case !began.IsZero() && modified.After(loaded):
		what = fmt.Sprintf("was modified at %s, but the recording began at %s", stamp(modified), stamp(began))
	case !began.IsZero() && local && !same && changed.After(loaded):
		what = fmt.Sprintf("was put there at %s (it was modified at %s), but the recording began at %s", stamp(changed), stamp(modified), stamp(began))
	case local && !same && k.file.Inode != 0:
		what = fmt.Sprintf("has the recorded name but not the recorded inode: %d instead of %d", st.Ino, k.file.Inode)
	default:
		return nil
	}
	return &remark{"modified-load-object", "the file " + what + "; nothing in the recording proves that this file ran: its names may be wrong"}
}

// listDoubt is the same for the list of a process's generated code, which is
// written while it runs.
func (r *Resolver) listDoubt(path, file string, modified time.Time) *remark {
	ended := r.rec.Began.Add(r.rec.Length())
	if !r.isLocal(path, file) || r.rec.Began.IsZero() || !modified.After(ended) {
		return nil
	}
	return &remark{"modified-load-object", fmt.Sprintf("the list was written at %s, but the recording ended at %s: another process with that number may have written it", stamp(modified), stamp(ended))}
}

// isLocal reports whether a file is at its recorded path on the machine of the
// recording.
func (r *Resolver) isLocal(path, file string) bool {
	return file == path && r.rec.Host != "" && r.rec.Host == hostname()
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func hostname() string {
	name, _ := os.Hostname() // without one, no file is known to be of the recording's machine
	return name
}

// mappings says when the files of a recording were mapped.
type mappings struct {
	first map[objectKey]int64        // ns from the founder's start
	last  map[string]decode.MapEvent // by path: of the file that it named last
}

// mapped returns the mappings of all processes. They are found once something is
// not proved.
func (r *Resolver) mapped() *mappings {
	if r.mappings != nil {
		return r.mappings
	}
	all := &mappings{map[objectKey]int64{}, map[string]decode.MapEvent{}}
	for _, p := range r.rec.Processes {
		for i := range p.Image {
			m := &p.Image[i]
			if m.Unmap || m.Code != nil {
				continue
			}
			k := keyOf(m)
			if first, ok := all.first[k]; !ok || m.Time < first {
				all.first[k] = m.Time
			}
			if last, ok := all.last[m.Path]; !ok || m.Time >= last.Time {
				all.last[m.Path] = *m
			}
		}
	}
	r.mappings = all
	return all
}

// replaced reports whether a path named another file later in the recording than
// this one: the file that it names now is that one, or newer.
func (r *Resolver) replaced(k objectKey, file string) bool {
	var st unix.Stat_t
	if k.file == (decode.FileID{}) || unix.Stat(file, &st) == nil && st.Ino == k.file.Inode {
		return false
	}
	last, ok := r.mapped().last[k.path]
	return ok && last.File != k.file
}
