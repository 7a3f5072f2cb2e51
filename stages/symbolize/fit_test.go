package symbolize

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// A file fits if a loader could have made one of its loadings; loadings that the program makes or
// changes itself prove nothing (S2).
func TestFit(t *testing.T) {
	const page, base = 0x1000, 0x7f0000001000 // of the page at offset 0x1000
	segment := func(offset, size uint64, flags uint32) symtab.Segment {
		return symtab.Segment{Offset: offset, Address: offset, FileSize: size, MemSize: size, Flags: flags}
	}
	separate := []symtab.Segment{segment(0, 0x800, 4), segment(0x1000, 0x3210, 5), segment(0x5000, 0x400, 4), segment(0x5d00, 0x600, 6)}
	together := []symtab.Segment{segment(0, 0x3210, 5), segment(0x3d00, 0x600, 6)}
	parted := []symtab.Segment{segment(0, 0x800, 4), segment(0x1000, 0x2000, 5), segment(0x3000, 0x1210, 5), segment(0x5000, 0x400, 4)}
	apart := []symtab.Segment{segment(0x1000, 0x2000, 5), {Offset: 0x3000, Address: 0x9000, FileSize: 0x1210, MemSize: 0x1210, Flags: 5}}
	gap := []symtab.Segment{segment(0x1000, 0x2000, 5), segment(0x4000, 0x1210, 5)}
	large := []symtab.Segment{segment(0x1000, 0x900000, 5)}
	wide := []symtab.Segment{segment(0, 0x8000, 4), segment(0x10000, 0x13210, 5)}
	type piece struct {
		address, size, offset uint64
		modes                 int
	}
	for _, c := range []struct {
		name     string
		segments []symtab.Segment
		pieces   []piece
		fits     bool
	}{
		{"as loaded", separate, []piece{{base, 0x4000, 0x1000, 5}}, true},
		{"larger program", separate, []piece{{base, 0x5000, 0x1000, 5}}, false},
		{"smaller program", separate, []piece{{base, 0x3000, 0x1000, 5}}, false},
		{"text elsewhere in the file", separate, []piece{{base, 0x4000, 0x2000, 5}}, false},
		{"protected in pieces", separate, []piece{{base, 0x1000, 0x1000, 5}, {base + 0x1000, 0x1000, 0x2000, 7}, {base + 0x2000, 0x2000, 0x3000, 5}}, true},
		{"a part is not executable", separate, []piece{{base, 0x1000, 0x1000, 5}, {base + 0x1000, 0x1000, 0x2000, 3}, {base + 0x2000, 0x2000, 0x3000, 5}}, true},
		{"pieces of a larger program", separate, []piece{{base, 0x1000, 0x1000, 5}, {base + 0x1000, 0x4000, 0x2000, 5}}, false},
		{"mapped again, longer", separate, []piece{{base, 0x4000, 0x1000, 5}, {2 * base, 0x9000, 0x1000, 5}}, true},
		{"mapped again, whole", separate, []piece{{base, 0x4000, 0x1000, 5}, {2 * base, 0x9000, 0, 5}}, true},
		{"mapped again, in part", separate, []piece{{2 * base, 0x1000, 0x2000, 5}, {base, 0x4000, 0x1000, 5}}, true},
		{"only the program's own", separate, []piece{{base, 0x9000, 0, 5}}, false},
		{"text first", together, []piece{{base, 0x4000, 0, 5}}, true},
		{"text first, with all addresses", together, []piece{{base, 0x5000, 0, 5}}, true},
		{"text first, longer than all", together, []piece{{base, 0x6000, 0, 5}}, false},
		{"text first, of a smaller program", together, []piece{{base, 0x3000, 0, 5}}, false},
		{"two segments", parted, []piece{{base, 0x2000, 0x1000, 5}, {base + 0x2000, 0x2000, 0x3000, 5}}, true},
		{"two segments, joined", parted, []piece{{base, 0x4000, 0x1000, 5}}, true},
		{"two segments, one gone", parted, []piece{{base, 0x2000, 0x1000, 5}}, true},
		{"two segments, of another program", parted, []piece{{base, 0x3000, 0x1000, 5}}, false},
		{"a gap between segments", gap, []piece{{base, 0x2000, 0x1000, 5}, {base + 0x3000, 0x2000, 0x4000, 5}}, true},
		{"a gap, and a piece mapped again", gap, []piece{{base, 0x2000, 0x1000, 5}, {base + 0x3000, 0x2000, 0x4000, 5}, {2 * base, 0x1000, 0x4000, 5}}, true},
		{"a gap, of a larger program", gap, []piece{{base, 0x2000, 0x1000, 5}, {base + 0x3000, 0x3000, 0x4000, 5}}, false},
		{"segments apart", apart, []piece{{base, 0x2000, 0x1000, 5}, {base + 0x8000, 0x2000, 0x3000, 5}}, true},
		{"segments apart are not joined", apart, []piece{{base, 0x4000, 0x1000, 5}}, false},
		{"huge pages in the middle", large, []piece{{0x7f0000001000, 0x1ff000, 0x1000, 5}, {0x7f0000800000, 0x101000, 0x800000, 5}}, true},
		{"huge pages from the start", large, []piece{{0x7f0000800000, 0x101000, 0x800000, 5}}, true},
		{"huge pages to the end", large, []piece{{0x7f0000001000, 0x1ff000, 0x1000, 5}}, true},
		{"cut elsewhere", large, []piece{{0x7f0000001000, 0x1fe000, 0x1000, 5}}, false},
		{"larger pages", wide, []piece{{0x7f0000010000, 0x20000, 0x10000, 5}}, true},
		{"larger pages, larger program", wide, []piece{{0x7f0000010000, 0x30000, 0x10000, 5}}, false},
		{"no whole pages", separate, []piece{{base + 0x10, 0x110, 0x1010, 5}}, true},
		{"no whole pages, outside", separate, []piece{{base + 0x10, 0x110, 0x5010, 5}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := tableOf("", symtab.Function{Name: "f"})
			table.Segments = c.segments
			r, _ := recording(tableMap{"/bin/p": table})
			r.rec.PageSize = page
			var events []decode.MapEvent
			for _, p := range c.pieces {
				events = append(events, decode.MapEvent{Path: "/bin/p", Address: p.address, Size: p.size, FileOffset: p.offset, Modes: p.modes})
			}
			pr := process(r, events...)
			if fits := r.Program.Objects[r.fileObject(pr.Image, pr.Image.Mappings[0])].Symbols == "path"; fits != c.fits {
				t.Errorf("fits: %v", fits)
			}
		})
	}
}

// If a program maps its text again, its data is not there again.
func TestPlacedOnce(t *testing.T) {
	r, _ := recording(tableMap{"/bin/p": tableOf("aa", symtab.Function{Name: "f"})})
	again := text("/bin/p", 0x7f0000000000)
	again.Size += 0x3000
	pr := process(r, text("/bin/p", 0x401000), again)
	if placed := pr.PlacedObjects(); len(placed) != 1 || placed[0].Bias != 0x400000 {
		t.Errorf("%+v", placed)
	}
	if got := at(pr, 0x7f0000000010, 0); got != "p f" {
		t.Errorf("code in the other mapping is %q", got)
	}
}
