package symbolize

import (
	"cmp"
	"fmt"
	"slices"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize/image"
)

// loadedFile is the executable memory of a file that was loaded once: the range of its mappings
// with the same bias. Programs change the protection of parts of it, and replace parts by other
// memory.
type loadedFile struct {
	bias       uint64 // address minus offset
	start, end uint64 // range of offsets in the file
}

// loadingsOf returns a loadedFile for each time that a process loaded a file, oldest first.
func (r *Resolver) loadingsOf(im *image.Image, of objectKey) []loadedFile {
	if r.loadings.image != im {
		r.loadings = imageLoadings{im, findLoadings(im)}
	}
	return r.loadings.files[of]
}

// imageLoadings holds, for each file of an image, its loadings.
type imageLoadings struct {
	image *image.Image
	files map[objectKey][]loadedFile
}

func findLoadings(im *image.Image) map[objectKey][]loadedFile {
	type loadingKey struct {
		file objectKey
		bias uint64
	}
	files, numbers := map[objectKey][]loadedFile{}, map[loadingKey]int{}
	for _, m := range im.Mappings {
		if m.Code != nil || m.Modes&4 == 0 {
			continue
		}
		k := keyOf(m.MapEvent)
		next := loadedFile{m.Address - m.FileOffset, m.FileOffset, m.FileOffset + m.Size}
		i, ok := numbers[loadingKey{k, next.bias}]
		if !ok {
			numbers[loadingKey{k, next.bias}] = len(files[k])
			files[k] = append(files[k], next)
			continue
		}
		x := &files[k][i]
		x.start, x.end = min(x.start, next.start), max(x.end, next.end)
	}
	return files
}

func (r *Resolver) pageSize() uint64 {
	if r.rec.PageSize > 0 {
		return uint64(r.rec.PageSize)
	}
	return 4096
}

// largestPage is the size of the largest pages in which files are mapped.
const largestPage = 64 << 10

// pageSizeOf returns the largest power of two, up to largestPage, of which all bounds of the
// loadings are multiples. It is at least the page size, unless memory was not mapped by a loader:
// then it may be 1.
func pageSizeOf(runs []loadedFile) uint64 {
	all := uint64(largestPage)
	for _, x := range runs {
		all |= x.bias | x.start | x.end
	}
	return all & -all
}

// misfit returns why a file cannot be the one that was mapped, "" if it can be. Its checksum must
// be the recorded one, if any (gprofng-experiment 1.5). At least one loading must look as if a
// loader made it; the program itself may have mapped any part of the file, even beyond its end
// (S2).
func (r *Resolver) misfit(t *symtab.Table, im *image.Image, of objectKey) string {
	if of.checksum != 0 && t.Checksum != of.checksum {
		return fmt.Sprintf("its checksum is %#x, the recorded one %#x: it may have been rebuilt", t.Checksum, of.checksum)
	}
	runs := r.loadingsOf(im, of)
	if len(t.Segments) == 0 || len(runs) == 0 { // a kernel symbol list has no segments
		return ""
	}
	if len(r.plausibleLoadings(runs, t)) > 0 {
		return ""
	}
	return fmt.Sprintf("no executable segment of it fits the mapping of %#x bytes at file offset %#x", runs[0].end-runs[0].start, runs[0].start)
}

// plausibleLoadings returns the loadings of a file that a loader may have made.
func (r *Resolver) plausibleLoadings(runs []loadedFile, t *symtab.Table) []loadedFile {
	l := newLoaderLayout(t, max(pageSizeOf(runs), r.pageSize()))
	return slices.DeleteFunc(slices.Clone(runs), func(x loadedFile) bool { return !l.allows(x) })
}

// loaderLayout describes how a loader maps a file.
type loaderLayout struct {
	text []symtab.Segment // executable, extended to whole pages, sorted by offset
	// If the first mapping reserves the addresses of all segments: its first and last offset.
	first, end uint64
	page       uint64
}

func newLoaderLayout(t *symtab.Table, page uint64) loaderLayout {
	l := loaderLayout{page: page}
	low, high := ^uint64(0), uint64(0)
	for _, s := range t.Segments {
		if s.Address < low {
			low, l.first = s.Address, s.Offset/page*page
		}
		high = max(high, s.Address+s.MemSize)
		if s.Flags&1 != 0 {
			start := s.Offset / page * page
			s.Address, s.FileSize, s.Offset = s.Address-(s.Offset-start), (s.Offset+s.FileSize+page-1)/page*page-start, start
			l.text = append(l.text, s)
		}
	}
	l.end = l.first + (high-low/page*page+page-1)/page*page
	slices.SortFunc(l.text, func(a, b symtab.Segment) int { return cmp.Compare(a.Offset, b.Offset) })
	return l
}

// hugePage is the alignment of text that a program copies into huge pages.
const hugePage = 2 << 20

// allows reports whether a loader may have made a loading: from the start of an executable segment
// to its end, to the end of another segment with the same bias (the kernel joins such mappings), or
// to the end of the reserved addresses. If huge pages replaced a part of the text, the rest may
// begin or end at the bounds of huge pages. A loading that does not consist of whole pages may have
// any bounds within a segment.
func (l *loaderLayout) allows(x loadedFile) bool {
	whole := (x.bias|x.start|x.end)%l.page == 0
	cut := func(offset uint64, s symtab.Segment) bool {
		inside := s.Offset <= offset && offset <= s.Offset+s.FileSize
		return inside && (!whole || (x.bias+offset)%hugePage == 0)
	}
	for i, s := range l.text {
		if s.Offset == l.first && x.start == l.first && x.end == l.end {
			return true
		}
		for _, next := range l.text[i:] {
			if next.Address-next.Offset != s.Address-s.Offset {
				continue
			}
			s.FileSize = max(s.FileSize, next.Offset+next.FileSize-s.Offset)
			end := s.Offset + s.FileSize
			if (x.start == s.Offset || cut(x.start, s)) && (x.end == end || cut(x.end, s)) {
				return true
			}
		}
	}
	return false
}
