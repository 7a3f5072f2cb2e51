package gprofng

import (
	"bytes"
	"strings"
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

func testExperiment(big bool, wordBytes int) *experiment {
	return &experiment{
		process:   &decode.Process{Number: 1},
		problems:  &diagnostic.Log{},
		opener:    &opener{},
		log:       recordedLog{labels: map[int64]string{}, layouts: map[uint16]*layout{}},
		order:     byteOrder{big: big},
		wordBytes: wordBytes,
	}
}

// Offsets of tags and problems are inside the file and grow.
func FuzzXML(f *testing.F) {
	f.Add([]byte("<event kind=\"map\" object=\"segment\" tstamp=\"0.1\" vaddr=\"0x1\" size=\"1\" name=\"&lt;a&#65;\"/>\n\x00<a>text</a><!-- b -->"))
	f.Add([]byte("<profile name=\"heaptrace\"><profpckt kind=\"5\"><field name=\"HSIZE\" offset=\"8\" type=\"INT64\"/></profpckt></profile>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		last := int64(0)
		at := func(offset int64) {
			if offset < last || offset > int64(len(data)) {
				t.Fatalf("offset %d behind %d in %d bytes", offset, last, len(data))
			}
		}
		x := newXMLReader(bytes.NewReader(data), func(offset int64, _ string) { at(offset) })
		for tag, ok := x.next(); ok; tag, ok = x.next() {
			at(tag.offset)
			last = tag.offset
		}
		e := testExperiment(false, 8)
		e.readLog(logFile, bytes.NewReader(data), int64(len(data)), &mapReader{e: e})
		e.readMap(bytes.NewReader(data), int64(len(data)), &mapReader{e: e})
	})
}

// Packets do not overlap and are in the order of the file, whatever is in it.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{8, 0, 5, 0, 0, 0, 0, 0, 12, 0, 19, 0, 1, 1, 1, 1, 0, 0, 0, 0, 8, 0, 5, 0, 0, 0, 0, 0, 4, 0, 99, 0, 4, 0, 255, 255}, false)
	f.Add([]byte{0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, big bool) {
		problems := int64(-1)
		r := newPacketReader(data, byteOrder{big: big}, blockLayout{blockSize, 3}, func(_ diagnostic.Severity, offset int64, _, _ string, _ int64) {
			if offset < problems || offset > int64(len(data)) {
				t.Fatalf("problem at %d after %d in %d bytes", offset, problems, len(data))
			}
			problems = offset
		})
		r.types[5] = packetType{described: true, need: 8, thread: field{offset: 4, width: 4}}
		r.types[19] = packetType{described: true, variable: true, need: 8, why: func(p []byte) string {
			if p[4] > 9 {
				return "content"
			}
			return ""
		}}
		end := 0
		for {
			offset, size, typ, ok := r.next()
			if !ok {
				r.finish(0)
				break
			}
			if offset < end || offset+size > len(data) || size < 8 || typ != 5 && typ != 19 || (offset != end) != r.gap {
				t.Fatalf("packet of %d bytes at %d behind %d, gap %v", size, offset, end, r.gap)
			}
			end = offset + size
		}
	})
}

// The file's size bounds the size of all stacks, whatever their links are.
func FuzzFragments(f *testing.F) {
	f.Add([]byte{40, 0, 11, 0, 16, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 128, 9, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
		32, 0, 17, 0, 0, 0, 0, 128, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}, false, false)
	f.Fuzz(func(t *testing.T, data []byte, big, narrow bool) {
		wordBytes := 8
		if narrow {
			wordBytes = 4
		}
		report := func(diagnostic.Severity, int64, string, string, int64) {}
		table := readFrames(data, byteOrder{big: big}, wordBytes, blockLayout{size: blockSize}, func() {}, report).resolve(len(data), report)
		words := 0
		for _, s := range table.stacks.Expanded() {
			words += len(s.Words) + 2*len(s.Java) + len(s.OMP)
		}
		if words > minWords+wordsPerByte*len(data)+table.stacks.Len() {
			t.Fatalf("%d words from %d bytes", words, len(data))
		}
	})
}

// The readers of small binary files end, whatever is in the files.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, false)
	f.Add([]byte{32, 0, 3, 10, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'L', 'a', ';', 0, 'a', 0, 0, 0}, false)
	f.Fuzz(func(t *testing.T, data []byte, big bool) {
		for _, wordBytes := range []int{4, 8} {
			e := testExperiment(big, wordBytes)
			m := &mapReader{e: e}
			e.readMap(strings.NewReader(`<event kind="map" object="function" vaddr="0x0" size="1" name="f"/>`), 0, m)
			e.readDyntext(data, m.events)
			e.readClasses(data, func() {})
			e.readOverview(data, 0, func() {})
		}
	})
}
