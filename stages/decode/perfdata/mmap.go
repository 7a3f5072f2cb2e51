package perfdata

import (
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// add adds a mapping of code or data, or the end of one.
func (p *process) add(m decode.MapEvent) {
	if p.exec != nil {
		p.exec.mapped(p, m)
		return
	}
	if n := p.put(m); !m.Unmap {
		p.live = append(p.live, n)
	}
}

// put appends a mapping and returns its number for addressSpace.live.
func (p *process) put(m decode.MapEvent) int32 {
	if m.Modes&4 != 0 {
		p.Mappings = append(p.Mappings, m)
		return int32(len(p.Mappings) - 1)
	}
	p.DataMappings = append(p.DataMappings, m)
	return ^int32(len(p.DataMappings) - 1)
}

// mapped returns the current program's mappings that are not in base.
func (p *process) mapped() []decode.MapEvent {
	list := make([]decode.MapEvent, len(p.live))
	for i, n := range p.live {
		if n >= 0 {
			list[i] = p.Mappings[n]
		} else {
			list[i] = p.DataMappings[^n]
		}
	}
	return list
}

// mmap adds a mapping to a process, or to the kernel.
func (t *timeline) mmap(s *sideband, c *cursor) {
	pid, _ := c.s32(), c.s32()
	m, huge := t.readMapping(s, c)
	if c.Short || m.Size == 0 {
		return
	}
	mode := s.misc & miscMode
	if most, ok := bounds.MappingFits(t.r.rec.Arch, t.r.rec.WordBits, m.Address, m.Size); !ok && mode != miscKernel {
		t.r.outliers(s.at).Add("the size of a mapping", " bytes", s.at.offset(), m.Size, 1, most)
		return
	}
	switch mode {
	case miscKernel:
		t.kernelMap(m)
	case miscUser, miscUnknown:
		t.noteFile(&m)
		t.userMap(t.process(pid, s.time), m, huge)
	}
}

// readMapping reads a MMAP or MMAP2 record from after its pid and tid. huge reports anonymous
// memory in huge pages.
func (t *timeline) readMapping(s *sideband, c *cursor) (m decode.MapEvent, huge bool) {
	m = decode.MapEvent{Time: t.ns(s.time), Address: c.U64(), Size: c.U64(), FileOffset: c.U64(), Modes: 5}
	if s.typ == recordMmap2 {
		id := c.Bytes(24)
		prot, flags := c.U32(), c.U32()
		if m.Modes, huge = int(prot&7), flags&mapHugeTLB != 0; m.Modes == 0 && s.misc&miscData == 0 {
			m.Modes = 5 // kernels before 5.0 omit the protection of anonymous memory, simpleperf that of generated code
		}
		if s.misc&miscBuildID != 0 && id != nil {
			m.BuildID = buildIDText(id[4:], id[0])
		} else if id != nil {
			m.File = fileID(cursorOf(id, t.r.big))
		}
	} else if s.misc&miscData != 0 {
		m.Modes = 3
	}
	m.Path = fileName(c.Rest[:max(len(c.Rest)-t.r.trailerSize(), 0)])
	return m, huge
}

// userMap adds a mapping to a process.
func (t *timeline) userMap(p *process, m decode.MapEvent, huge bool) {
	if m.Modes&4 == 0 {
		p.add(m)
		return
	}
	if m.Path == "[vdso]" {
		m.FileOffset = 0
	}
	if decode.IsJITDump(m.Path) {
		p.JITDumps = append(p.JITDumps, decode.JITDump{Path: m.Path, Mapped: m.Time, From: m.Time, Until: decode.Never})
		return
	}
	switch generated := huge || decode.IsGenerated(m.Path, m.BuildID != "" || t.r.meta.imageIDs[m.Path] != ""); {
	case !generated:
		p.noteText(m)
	case p.copiesText(&m):
		t.copied[m.Path]++
	default:
		m.SetGenerated(p.PID)
	}
	p.add(m)
}

// fileID reads the identity of a file in MMAP2 records: device numbers, inode, generation.
func fileID(c cursor) decode.FileID {
	return decode.FileID{Device: uint64(c.U32())<<32 | uint64(c.U32()), Inode: c.U64(), Generation: c.U64()}
}

// mapHugeTLB is the flag of memory in huge pages, which has no file.
const mapHugeTLB = 0x40000

// pathFiles are the files that had a path during the recording. A rebuilt program replaces the
// previous file. If two files have the path at the same time, or on several devices, they are in
// different mount namespaces or chroots: containers.
type pathFiles struct {
	newest  decode.FileID
	older   map[decode.FileID]bool // nil while there is only one file
	several bool                   // several files had the path at the same time
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
		// A mapping of time 0 is older than the recording: both files may have had the path at once.
		f.several = f.several || f.newest.Device != m.File.Device || m.Time == 0
		if f.older == nil {
			f.older = map[decode.FileID]bool{}
		}
		f.older[f.newest] = true
		f.newest = m.File
	}
}

// assignBuildIDs gives mappings the build-ids that perf noted by path. perf read them at the end of
// the recording, so only the last file that had the path gets the build-id. If the path had several
// files at once, or several build-ids, its mappings are ambiguous and get none.
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

// noteText notes a mapping of the program's own code. The first file whose code is mapped is the
// program.
func (p *process) noteText(m decode.MapEvent) {
	if len(p.text) > 0 && (p.text[0].Path != m.Path || p.text[0].File != m.File) {
		return
	}
	for i := range p.text { // programs change the protection of their text part by part
		if x := &p.text[i]; x.Address+x.Size == m.Address && x.FileOffset+x.Size == m.FileOffset {
			x.Size += m.Size
			return
		}
	}
	p.text = append(p.text, m)
}

// copiesText reports whether an anonymous mapping replaces text of the program, and makes it a
// mapping of the program's file. Programs copy their text into huge pages. A JIT compiler cannot
// put code there while the program runs.
func (p *process) copiesText(m *decode.MapEvent) bool {
	for _, x := range p.text {
		if x.Address <= m.Address && m.Size <= x.Size && m.Address-x.Address <= x.Size-m.Size {
			m.Path, m.File, m.BuildID, m.FileOffset = x.Path, x.File, x.BuildID, x.FileOffset+(m.Address-x.Address)
			return true
		}
	}
	return false
}

// judgeCopies reports the programs whose copied text got the names of the original.
func (t *timeline) judgeCopies() {
	for _, path := range slices.Sorted(maps.Keys(t.copied)) {
		t.r.rec.Problems.Add(diagnostic.Problem{Severity: diagnostic.Info, File: path, Offset: diagnostic.NoOffset, Count: t.copied[path], Reason: "copied-text",
			Message: "memory without a file replaced the program's text: it is assumed to be a copy, with the same names"})
	}
}
