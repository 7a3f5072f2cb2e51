package perfdata

import "stackmill/stages/decode"

// pathFiles are the files that a path named while it was recorded. A program that is
// rebuilt takes the place of the one before. Files that a path names at the same time,
// or on several devices, are in several namespaces or chroots: containers.
type pathFiles struct {
	newest  decode.FileID
	older   map[decode.FileID]bool // nil while there is one
	several bool                   // at the same time
}

// named notes which file a path names.
func (t *timeline) named(m *decode.MapEvent) {
	f := t.files[m.Path]
	switch {
	case m.BuildID != "":
	case f == nil:
		t.files[m.Path] = &pathFiles{newest: m.File}
	case f.newest.Same(m.File):
		if m.File.Generation != 0 {
			f.newest = m.File
		}
	case f.older[m.File], f.older[decode.FileID{Device: m.File.Device, Inode: m.File.Inode}]:
		f.several = true
	default:
		// What was mapped when the recording began has no time.
		f.several = f.several || f.newest.Device != m.File.Device || m.Time == 0
		if f.older == nil {
			f.older = map[decode.FileID]bool{}
		}
		f.older[f.newest] = true
		f.newest = m.File
	}
}

// identify gives mappings the build-ids that perf noted by path. It read them at the end of
// the recording: if a path named one file after the other, from the last of them. If it
// named several at once, or has several build-ids, nothing says which is whose.
func (t *timeline) identify(image []decode.MapEvent) {
	for i := range image {
		m := &image[i]
		f := t.files[m.Path]
		if m.BuildID != "" || m.Code != nil || f == nil {
			continue
		}
		if m.Ambiguous = f.several || t.r.ambiguousIDs[m.Path]; !m.Ambiguous && f.newest.Same(m.File) {
			m.BuildID = t.r.imageIDs[m.Path]
			m.ByPath = m.BuildID != ""
		}
	}
}
