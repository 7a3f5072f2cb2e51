package image

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

type wantOwnership struct {
	From, Until int64
	Path        string
}

func spansOf(im *Image, addr uint64) []wantOwnership {
	var got []wantOwnership
	for _, s := range im.Ownerships(addr) {
		o := wantOwnership{s.From, s.Until, ""}
		if s.Mapping != nil {
			o.Path = s.Mapping.Path
		}
		got = append(got, o)
	}
	return got
}

func TestSpans(t *testing.T) {
	const start = math.MinInt64
	load := func(time int64, addr, size uint64, path string) decode.MapEvent {
		return decode.MapEvent{Time: time, Address: addr, Size: size, Path: path, Modes: 5}
	}
	unload := func(time int64, addr uint64) decode.MapEvent {
		return decode.MapEvent{Time: time, Address: addr, Unmap: true}
	}
	code := func(time int64, addr, size uint64, name string) decode.MapEvent {
		return decode.MapEvent{Time: time, Address: addr, Size: size, Path: name, Code: &decode.Code{Function: name}}
	}
	tests := []struct {
		name   string
		events []decode.MapEvent
		addr   uint64
		want   []wantOwnership
	}{
		{"nothing there", []decode.MapEvent{load(1, 0x1000, 0x100, "a")}, 0x1100, []wantOwnership{{start, Never, ""}}},
		{"a late map event reaches back", []decode.MapEvent{load(5, 0x1000, 0x100, "a"), unload(9, 0x1000)}, 0x1000,
			[]wantOwnership{{start, Never, "a"}}},
		{"its destructors run after the end was announced", []decode.MapEvent{load(1, 0x1000, 0x100, "a"), unload(4, 0x1000), load(6, 0x2000, 0x100, "b")}, 0x1000,
			[]wantOwnership{{start, Never, "a"}}},
		{"generated code ends when it is said to", []decode.MapEvent{code(1, 0x1000, 14, "jit"), unload(4, 0x1000)}, 0x1000,
			[]wantOwnership{{start, 4, "jit"}, {4, Never, ""}}},
		{"unloaded and reloaded elsewhere, another at the old address", []decode.MapEvent{
			load(1, 0x1000, 0x100, "one"), unload(4, 0x1000), load(5, 0x1000, 0x100, "two"), load(5, 0x9000, 0x100, "one")}, 0x1010,
			[]wantOwnership{{start, 4, "one"}, {4, Never, "two"}}},
		{"the newest mapping wins, also over part of an older one", []decode.MapEvent{
			load(1, 0x1000, 0x1000, "old"), load(3, 0x1800, 0x1000, "new")}, 0x1900,
			[]wantOwnership{{start, 3, "old"}, {3, Never, "new"}}},
		{"an older one stays where the newer does not reach", []decode.MapEvent{
			load(1, 0x1000, 0x1000, "old"), load(3, 0x1800, 0x1000, "new")}, 0x1100,
			[]wantOwnership{{start, Never, "old"}}},
		{"a replaced mapping does not come back", []decode.MapEvent{
			load(1, 0x1000, 0x100, "old"), load(3, 0x1000, 0x100, "new"), unload(6, 0x1000)}, 0x1000,
			[]wantOwnership{{start, 3, "old"}, {3, Never, "new"}}},
		{"generated code replaced at its address", []decode.MapEvent{
			code(1, 0x1000, 14, "one"), code(7, 0x1000, 14, "three")}, 0x1003,
			[]wantOwnership{{start, 7, "one"}, {7, Never, "three"}}},
		{"generated code shows through a file mapping noticed later", []decode.MapEvent{
			code(1, 0x1100, 14, "jit"), load(3, 0x1000, 0x1000, "memfd")}, 0x1102,
			[]wantOwnership{{start, Never, "jit"}}},
		{"events out of order", []decode.MapEvent{load(5, 0x1000, 0x100, "b"), load(2, 0x1000, 0x100, "a")}, 0x1000,
			[]wantOwnership{{start, 5, "a"}, {5, Never, "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log diagnostic.Log
			im := New(tt.events, "map.xml", &log)
			if diff := cmp.Diff(tt.want, spansOf(im, tt.addr)); diff != "" {
				t.Error(diff)
			}
			if len(log.Problems) != 0 {
				t.Errorf("problems: %v", log.Problems)
			}
		})
	}
}

func TestBadMappings(t *testing.T) {
	var log diagnostic.Log
	im := New([]decode.MapEvent{
		{Address: 0x1000, Size: 0, Path: "empty"},
		{Address: math.MaxUint64 - 1, Size: 0x1000, Path: "wraps"},
		{Address: 0x5000, Unmap: true},
	}, "map.xml", &log)
	if len(im.Mappings) != 0 || len(log.Problems) != 3 {
		t.Errorf("mappings %v, problems %v", im.Mappings, log.Problems)
	}
}
