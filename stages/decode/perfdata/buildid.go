package perfdata

import "stackmill/stages/decode"

// pathFiles are the files that had a path during the recording. A rebuilt program replaces the
// one before. If two files have the path at the same time, or on several devices, they are in
// several mount namespaces or chroots: containers.
type pathFiles struct {
	newest  decode.FileID
	older   map[decode.FileID]bool // nil while there is only one file
	several bool                   // files at the same time
}

// noteFile notes which file a path names.
func (t *timeline) noteFile(m *decode.MapEvent) {
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
		// Mappings from before the recording have the time 0.
		f.several = f.several || f.newest.Device != m.File.Device || m.Time == 0
		if f.older == nil {
			f.older = map[decode.FileID]bool{}
		}
		f.older[f.newest] = true
		f.newest = m.File
	}
}

// assignBuildIDs gives mappings the build-ids that perf noted by path. perf read them at the end
// of the recording: if the path had several files, from the last of them. If it had several at
// once, or several build-ids, they cannot be assigned.
func (t *timeline) assignBuildIDs(image []decode.MapEvent) {
	for i := range image {
		m := &image[i]
		f := t.files[m.Path]
		if m.BuildID != "" || m.Code != nil || f == nil {
			continue
		}
		if m.Ambiguous = f.several || t.r.meta.ambiguousIDs[m.Path]; !m.Ambiguous && f.newest.Same(m.File) {
			m.BuildID = t.r.meta.imageIDs[m.Path]
			m.ByPath = m.BuildID != ""
		}
	}
}
