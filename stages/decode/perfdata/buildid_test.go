package perfdata

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mmap2 maps 0x1000 bytes of code of a file, known by device, inode and generation; the
// trailer has TID and TIME.
func (b *builder) mmap2(pid uint32, time, addr int, path string, device uint32, inode, generation int) {
	b.record(recordMmap2, miscUser, pid, pid, addr, 0x1000, 0, device, uint32(0), inode, generation, uint32(5), uint32(0), path, pid, pid, time)
}

// listBuildIDs adds a table of build-ids, each of 20 equal bytes.
func (b *builder) listBuildIDs(misc uint16, ids ...any) {
	var out []byte
	for i := 0; i < len(ids); i += 2 {
		body := append(b.words(^uint32(0)), slices.Repeat([]byte{byte(ids[i+1].(int))}, 20)...)
		body = append(body, make([]byte, 4)...)
		body = append(body, b.words(ids[i])...)
		out = append(append(out, b.words(uint32(recordBuildID), misc, uint16(8+len(body)))...), body...)
	}
	b.features = append(b.features, testFeature{featureBuildID, out})
}

// perf reads the build-ids that it lists by path at the end of the recording. Such a build-id
// belongs to the last file that had the path, and to no file if several had it at once.
func TestListedBuildIDs(t *testing.T) {
	p := func(time int, device uint32, inode, generation int) func(*builder) {
		return func(b *builder) { b.mmap2(1, time, 0x10000+0x1000*len(b.data), "/bin/p", device, inode, generation) }
	}
	for _, c := range []struct {
		name  string
		files []func(*builder)
		ids   []any
		want  string
	}{
		{"one file", []func(*builder){p(5, 8, 3, 1)}, []any{"/bin/p", 0xaa}, "aa"},
		{"one file, first listed by /proc", []func(*builder){p(0, 8, 3, 0), p(5, 8, 3, 1), p(6, 8, 3, 1)}, []any{"/bin/p", 0xaa}, "aa aa aa"},
		{"rebuilt", []func(*builder){p(5, 8, 3, 1), p(6, 8, 4, 1)}, []any{"/bin/p", 0xaa}, "- aa"},
		{"rebuilt in the place of its inode", []func(*builder){p(5, 8, 3, 1), p(6, 8, 3, 2)}, []any{"/bin/p", 0xaa}, "- aa"},
		{"at once", []func(*builder){p(5, 8, 3, 1), p(6, 8, 4, 1), p(7, 8, 3, 1)}, []any{"/bin/p", 0xaa}, "? ? ?"},
		{"at once, first listed by /proc", []func(*builder){p(0, 8, 3, 0), p(6, 8, 4, 1), p(7, 8, 3, 1)}, []any{"/bin/p", 0xaa}, "? ? ?"},
		{"both from the beginning", []func(*builder){p(0, 8, 3, 0), p(0, 8, 4, 0)}, []any{"/bin/p", 0xaa}, "? ?"},
		{"on two devices", []func(*builder){p(5, 8, 3, 1), p(6, 9, 4, 1)}, []any{"/bin/p", 0xaa}, "? ?"},
		{"two build-ids", []func(*builder){p(5, 8, 3, 1)}, []any{"/bin/p", 0xaa, "/bin/p", 0xbb}, "?"},
		{"twice one build-id", []func(*builder){p(5, 8, 3, 1)}, []any{"/bin/p", 0xaa, "/bin/p", 0xaa}, "aa"},
		{"none", []func(*builder){p(5, 8, 3, 1), p(6, 8, 4, 1)}, nil, "- -"},
	} {
		b := &builder{order: binary.LittleEndian}
		b.mmap2(1, 0, 0x4000, "/bin/sh", 8, 1, 0) // the first time of all
		for _, add := range c.files {
			add(b)
		}
		b.sample(1, 10, user, 0x4010)
		b.listBuildIDs(miscUser, c.ids...)
		var got []string
		for _, m := range open(t, b).Processes[0].Mappings {
			switch id := m.BuildID; {
			case m.Path != "/bin/p":
			case m.Ambiguous:
				got = append(got, "?"+id)
			case id == "":
				got = append(got, "-")
			default:
				got = append(got, id[:2])
				if !m.ByPath {
					t.Errorf("%s: not by path", c.name)
				}
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Error(c.name, d)
		}
	}
}

// Build-ids of a virtual machine do not apply to the host's paths.
func TestGuestBuildIDs(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.mmap2(1, 1, 0x4000, "/bin/p", 8, 3, 1)
	b.sample(1, 10, user, 0x4010)
	b.listBuildIDs(miscGuestUser, "/bin/p", 0xaa)
	if m := open(t, b).Processes[0].Mappings[0]; m.BuildID != "" {
		t.Error(m.BuildID)
	}
}

// Kernels before 5.0 recorded no protection of memory without a file: what is not marked
// as data is code. simpleperf records a number of its own for generated code.
func TestUnprotectedMappings(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	for i, c := range []struct {
		misc uint16
		prot uint32
	}{{0, 0}, {miscData, 0}, {0, 5}, {miscData, 3}, {0, 3}, {0, 0x4000}} {
		b.record(recordMmap2, miscUser|c.misc, uint32(1), uint32(1), 0x10000*(i+1), 0x1000, 0, 0, 0, 0, c.prot, uint32(0), "//anon", uint32(1), uint32(1), 0)
	}
	b.sample(1, 1000, user, 0x10010)
	var code []string
	for _, m := range open(t, b).Processes[0].Mappings {
		code = append(code, fmt.Sprintf("%#x", m.Address))
	}
	if d := cmp.Diff([]string{"0x10000", "0x30000", "0x60000"}, code); d != "" {
		t.Error(d)
	}
}
