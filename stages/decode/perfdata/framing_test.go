package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// readings opens a recording, and lists its samples' first words and its problems.
func readings(t *testing.T, content []byte) (leaves, problems []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	for _, p := range rec.Processes {
		for _, s := range p.Stacks.Expanded() {
			leaves = append(leaves, fmt.Sprintf("%#x", s.Words[0]))
		}
	}
	for _, p := range rec.Problems.Problems {
		problems = append(problems, fmt.Sprintf("%s %s at %d: %s", p.Severity, p.Reason, p.Offset, p.Message))
	}
	return leaves, problems
}

// The payload of a record is skipped, whether it is inside the record or follows it. If no record
// follows the payload, an error says where reading continued.
func TestPayloads(t *testing.T) {
	text := strings.Repeat("format of events", 16) // 256 bytes
	many := func(b *builder, from int) {
		for i := range plausibleRecords {
			b.sample(1, from+i, user, from+i)
		}
	}
	behind := func(typ uint32, says int, payload string) func(b *builder) {
		return func(b *builder) {
			if typ == recordAuxtrace {
				b.record(typ, 0, says, 0, 0, 0, 0)
			} else {
				b.record(typ, 0, uint32(says), uint32(0))
			}
			b.data = append(b.data, payload...)
		}
	}
	all := []string{"0x1", "0x10", "0x11", "0x12", "0x13"}
	for _, tt := range []struct {
		name   string
		record func(b *builder)
		want   string // the last problem
	}{
		{"tracing data inside", func(b *builder) { b.record(recordTracingData, 0, append([]any{uint32(len(text))}, text, uint32(0))...) }, ""},
		{"tracing data behind", behind(recordTracingData, len(text), text), ""},
		{"tracing data behind, rounded", behind(recordTracingData, len(text)-5, text), ""},
		{"trace behind", behind(recordAuxtrace, len(text), text), ""},
		{"tracing data that is not there", behind(recordTracingData, len(text), ""), "error bad-record"},
		{"a trace that is not there", behind(recordAuxtrace, len(text), ""), "error bad-record"},
		{"a trace that is longer", behind(recordAuxtrace, len(text)/2, text), "error bad-record"},
		{"a trace that is shorter", behind(recordAuxtrace, len(text)+32, text), "error bad-record"},
		{"a trace beyond the end", behind(recordAuxtrace, 1<<40, text), "error bad-record"},
		{"no size at all", behind(recordAuxtrace, -1, ""), "error bad-record"},
		{"a record of simpleperf with 64 KiB and more", func(b *builder) {
			b.data = append(b.data, b.words(uint32(recordSimpleperf+1), uint16(1), uint16(16))...)
			b.data = append(b.data, make([]byte, 1<<16+16-recordHeader)...)
		}, ""},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, order), func(t *testing.T) {
				b := &builder{order: order}
				b.sample(1, 1, user, 1)
				tt.record(b)
				many(b, 0x10)
				leaves, problems := readings(t, b.file())
				if d := cmp.Diff(all, leaves); d != "" {
					t.Error(d)
				}
				got := ""
				for _, p := range problems {
					if !strings.HasPrefix(p, "info") && !strings.Contains(p, "aux-data") {
						got = p
					}
				}
				if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || tt.want != "" && !strings.Contains(got, "reading continues at offset") {
					t.Errorf("%q", got)
				}
			})
		}
	}
}

// A compressed record whose size exceeds the 16 bits of its header is read all the same.
func TestOverflowedRecords(t *testing.T) {
	inner := &builder{order: binary.LittleEndian}
	seed := uint64(1)
	for i := range 20_000 { // chains that do not compress well
		seed = seed*6364136223846793005 + 1442695040888963407
		inner.sample(1, 100+i, user, int(seed>>20|1))
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := e.EncodeAll(inner.data, nil)
	const head = recordHeader + compressed2DataStart
	for _, first := range []int{65519, 65513, 65519 + 40_000, 1000} { // compressed bytes in the first record
		b := &builder{order: binary.LittleEndian}
		rest := packed
		add := func(n int) {
			whole := head + n
			b.data = append(b.data, b.words(uint32(recordCompressed2), uint16(0), uint16((whole+7)&^7))...)
			b.data = append(b.data, b.words(n)...)
			if n <= 65519 {
				b.data = append(b.data, rest[:n]...)
			} else { // a second record is inside
				b.data = append(b.data, rest[:65519]...)
				b.data = append(b.data, b.words(uint32(recordCompressed2), uint16(0), uint16(n-65519), 0xdead)...)
				b.data = append(b.data, rest[65519:n-head]...)
				n -= head
			}
			if rest = rest[n:]; (whole+7)&^7 < 1<<16 {
				b.data = append(b.data, make([]byte, (whole+7)&^7-whole)...)
			}
		}
		for add(first); len(rest) > 0; {
			add(min(len(rest), 60_000))
		}
		leaves, problems := readings(t, b.file())
		if len(leaves) < 19_000 || len(problems) > 0 {
			t.Errorf("%d: %d stacks, %v", first, len(leaves), problems)
		}
	}
}
