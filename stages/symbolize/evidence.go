package symbolize

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// The strongest available evidence decides which file a mapping was (S2):
//
//	evidence                           recorded                          contradicted by
//	the mapping's build-id, checksum   with the mapping                  nothing
//	inode, generation, device          with the mapping; compared with   nothing
//	                                   the file at the path here, if
//	                                   this is the recording's machine
//	the build-id table                 by path, at the end               the inode; another file or another
//	                                                                     build-id of the same path
//	the path                           with the mapping                  all of these; segments that do not
//	                                                                     fit; a later file of the same path
//
// stackmill takes no names from a file that is contradicted.

// proof is the strongest evidence that a file is the one that was mapped.
type proof uint8

const (
	proofNone   proof = iota // only the path, or a file that the user gave
	proofListed              // its build-id is in the recording's table of paths
	proofInode               // it has the mapped inode
	proofKernel              // it is a kernel, and the recording lacks the kernel's address
	proofOwn                 // it has the build-id or checksum recorded with the mapping
)

// contradictedBuildID is the Reason of the problem that a recorded build-id is not used.
const contradictedBuildID = "contradicted-build-id"

// contradiction returns why the recorded build-id of a load object is not used, nil if it is. perf
// read the build-id by path when the recording ended. If the file at the path existed by then and
// has this build-id, perf read it; but another file, or other contents, may have been mapped.
func (r *Resolver) contradiction(k objectKey) *remark {
	if k.buildID == "" || !k.byPath {
		return nil
	}
	f, ended := r.localFile(k), r.endTime()
	what := ""
	switch _, last := r.whenMapped(k); {
	case ended.IsZero():
	case f.identity == identityOther && f.existed(ended):
		what = "but by then the path named another file than the mapped one: " + f.describe(k.file)
	case f.identity == identityMapped && f.modified.After(last) && !f.modified.After(ended):
		what = fmt.Sprintf("but the file was modified at %s, after it was mapped", formatTime(f.modified))
	}
	if what == "" {
		return nil
	}
	if t, err := r.tables.Load(k.path); err != nil || t.BuildID != k.buildID {
		return nil
	}
	return &remark{contradictedBuildID, fmt.Sprintf("the recording lists build-id %s for the path, read when the recording ended, %s. Neither the build-id nor names from this file are used", k.buildID, what)}
}

// isMapped reports whether a candidate is the very file that was mapped, and was not modified
// afterwards.
func (r *Resolver) isMapped(k objectKey, c decode.Candidate) bool {
	f := r.localFile(k)
	first, _ := r.whenMapped(k)
	return c.Path == k.path && f.identity == identityMapped && !r.rec.Began.IsZero() && !f.modified.After(first)
}

// remarkOnBuildID returns the remark that the mapped file, which is used, has another build-id than
// the recording lists for its path.
func (r *Resolver) remarkOnBuildID(k objectKey, t *symtab.Table) *remark {
	return &remark{contradictedBuildID, fmt.Sprintf("the recording lists build-id %s for the path, read when the recording ended, but the file with the recorded inode, not modified since it was mapped, has build-id %q. This file is used", k.buildID, t.BuildID)}
}

// findListedDoubt returns why a file may not be the one that ran, although its build-id is the one
// that the recording lists for its path: perf read the build-id only when the recording ended.
func (r *Resolver) findListedDoubt(k objectKey, c decode.Candidate) *remark {
	if c.Path != k.path || r.rec.Began.IsZero() {
		return nil
	}
	f, ended := r.localFile(k), r.endTime()
	what := ""
	switch first, _ := r.whenMapped(k); {
	case f.identity == identityMapped && f.modified.After(first) && !f.modified.After(ended):
		what = fmt.Sprintf("was modified at %s, after it was mapped", formatTime(f.modified))
	case f.differs && !f.born.IsZero() && f.born.After(ended): // put there later: perf read another file
	case f.identity == identityOther, f.differs && r.machine.compared < 2:
		what = "may not be the one that was mapped: " + f.describe(k.file)
	}
	if what == "" {
		return nil
	}
	return &remark{"modified-load-object", "the file " + what + "; its build-id was recorded only at the end, so its names may be wrong for what ran before"}
}

// describe says how file f differs from the file that was mapped.
func (f *localFile) describe(mapped decode.FileID) string {
	if f.inode != mapped.Inode {
		return fmt.Sprintf("its inode is %d, the recorded one %d", f.inode, mapped.Inode)
	}
	if f.generation != 0 && mapped.Generation != 0 {
		return fmt.Sprintf("inode %d was used again: its generation is %d, the recorded one %d", f.inode, f.generation, mapped.Generation)
	}
	return fmt.Sprintf("it was created at %s, after the recorded file was mapped", formatTime(f.born))
}

// copyingTime is the longest time by which a load object may be younger than its recording if both were
// copied together.
const copyingTime = time.Minute

// findDoubt returns why the file at an object's path may have been replaced since the recording,
// nil if nothing suggests that. No build-id or checksum confirms the file, but its names are used
// nevertheless.
//
// Writing a file sets its modification time (mtime), but package managers, tar and rsync set it
// back. Then only the inode's change time (ctime) shows the writing, and only on the machine of the
// recording, since copying sets it, too. The ctime is ignored if the inode is the one that was
// mapped: something other than the content changed.
//
// If the start is known only from the time of the recording's file, a copy of the load object below
// --symfs may be slightly newer: copying both sets both times, one after the other.
func (r *Resolver) findDoubt(k objectKey, c decode.Candidate) *remark {
	var st unix.Stat_t
	if c.Origin != "path" || decode.IsJITted(k.path) || unix.Stat(c.Path, &st) != nil {
		return nil
	}
	modified, changed := time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	if decode.IsPerfMap(k.path) {
		return r.findPerfMapDoubt(k.path, c.Path, modified)
	}
	began := r.rec.Began
	local := r.isLocal(k.path, c.Path)
	// A file that was not modified after it was mapped is the one that ran.
	loaded, _ := r.whenMapped(k)
	if !r.rec.Started.IsZero() {
		began = r.rec.Started
	}
	if r.rec.Started.IsZero() && c.Path != k.path {
		loaded = loaded.Add(copyingTime)
	}
	same := k.file.Inode != 0 && k.file.Inode == st.Ino && !r.localFile(k).differs
	what := ""
	switch {
	case !began.IsZero() && modified.After(loaded):
		what = fmt.Sprintf("was modified at %s, but the recording began at %s", formatTime(modified), formatTime(began))
	case !began.IsZero() && local && !same && changed.After(loaded):
		what = fmt.Sprintf("was put there at %s (it was modified at %s), but the recording began at %s", formatTime(changed), formatTime(modified), formatTime(began))
	case local && !same && k.file.Inode != 0:
		f := localFile{inode: st.Ino}
		what = "has the recorded name but not the recorded inode: " + f.describe(k.file)
	case c.Path == k.path && r.rec.Host != "" && !local:
		what = fmt.Sprintf("is this machine's, %s, but the recording was made on %s, and has no build-id for it", hostname(), r.rec.Host)
	default:
		return nil
	}
	return &remark{"modified-load-object", "the file " + what + "; nothing in the recording proves that this file ran: its names may be wrong"}
}

// findPerfMapDoubt returns why a list of generated code, which a process writes while it runs, may
// have been replaced since the recording; nil if nothing suggests that.
func (r *Resolver) findPerfMapDoubt(path, file string, modified time.Time) *remark {
	ended := r.rec.Began.Add(r.rec.Length())
	if !r.isLocal(path, file) || r.rec.Began.IsZero() || !modified.After(ended) {
		return nil
	}
	return &remark{"modified-load-object", fmt.Sprintf("the list was written at %s, but the recording ended at %s: another process with that number may have written it", formatTime(modified), formatTime(ended))}
}

// isLocal reports whether the recording was made on a machine with this one's name, and the file is
// at its recorded path.
func (r *Resolver) isLocal(path, file string) bool {
	return file == path && r.rec.Host != "" && r.rec.Host == hostname()
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func hostname() string {
	name, _ := os.Hostname() // "" if unknown: then no file counts as local
	return name
}

// mappingTimes holds when the files of a recording were mapped.
type mappingTimes struct {
	times map[objectKey]firstAndLast // by key without build-id (objectKey.unidentified)
	last  map[string]decode.MapEvent // by path: the last mapping
}

// firstAndLast holds the times of a file's first and last mapping, in ns from the founder's start.
type firstAndLast struct{ first, last int64 }

// allMappings returns when the files of all processes were mapped. It collects the times when first
// called.
func (r *Resolver) allMappings() *mappingTimes {
	if r.mappings != nil {
		return r.mappings
	}
	all := &mappingTimes{map[objectKey]firstAndLast{}, map[string]decode.MapEvent{}}
	for _, p := range r.rec.Processes {
		for i := range p.Mappings {
			m := &p.Mappings[i]
			if m.Unmap || m.Code != nil {
				continue
			}
			k := keyOf(m).unidentified()
			x, ok := all.times[k]
			if !ok {
				x = firstAndLast{m.Time, m.Time}
			}
			all.times[k] = firstAndLast{min(x.first, m.Time), max(x.last, m.Time)}
			if last, ok := all.last[m.Path]; !ok || m.Time >= last.Time {
				all.last[m.Path] = *m
			}
		}
	}
	r.mappings = all
	return all
}

// whyDisplaced returns why the file at an object's path cannot be the one that was mapped, "" if it
// can be. It cannot if its inode differs, or if the path named another file later in the recording.
func (r *Resolver) whyDisplaced(k objectKey, c decode.Candidate) string {
	if c.Path == k.path {
		switch f := r.localFile(k); f.identity {
		case identityMapped:
			return ""
		case identityOther:
			return f.describe(k.file)
		}
	}
	if k.ambiguous {
		return "processes had different files at this path, as in containers, and nothing recorded says that this one was mapped here (perf record --buildid-mmap records the build-id of each mapping)"
	}
	if last, ok := r.allMappings().last[k.path]; ok && k.file != (decode.FileID{}) && !last.File.Same(k.file) {
		return "another file took its place during the recording"
	}
	return ""
}
