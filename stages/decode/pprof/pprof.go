// Package pprof reads profiles in pprof's format (profile.proto), compressed or not. Frames are
// recorded as names with files and lines. Load objects are those that mappings name; their files
// are not opened. Sample types become metrics, and samples have labels.
//
// Start reading with Decoder.Open, then file.go, locations.go and stacks.go.
package pprof

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Decoder reads profiles. The zero value is ready to use.
type Decoder struct{}

var _ decode.Decoder = (*Decoder)(nil)

// New returns a decoder.
func New() *Decoder { return &Decoder{} }

// Name returns `pprof`.
func (d *Decoder) Name() string { return "pprof" }

// Detect reports whether a file begins like a profile.
func (d *Decoder) Detect(path string) bool { return detect(path) }

// extensions are the usual extensions of profiles.
var extensions = []string{".pb.gz", ".pprof"}

// LooksLike reports whether a file that Detect rejects is named like a profile.
func (d *Decoder) LooksLike(path string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(path, e) })
}

// Members returns path itself.
func (d *Decoder) Members(path string) ([]string, error) { return []string{path}, nil }

// Files returns the empty name: a profile is one file.
func (d *Decoder) Files(string) ([]string, error) { return []string{""}, nil }

// The reasons of problems.
const (
	reasonUnreadable = "unreadable-profile"
	reasonNoTypes    = "no-sample-types"
	reasonTooLong    = "stack-too-long"
	reasonNoStack    = "missing-stack"
	reasonBadLine    = "impossible-line"
	reasonDropped    = "frames-to-drop"
	reasonTooDeep    = "inlined-too-deep"
	reasonNameless   = "addresses-without-functions"
)

// Open reads a profile into memory, and makes stacks of its samples.
func (d *Decoder) Open(ctx context.Context, path string) *decode.Recording {
	rec := &decode.Recording{Format: d.Name(), WordBits: 64,
		Locate: decode.AtPath, Close: func() error { return nil }}
	if info, err := safefile.Stat(path); err == nil {
		rec.FileTime = info.ModTime()
	}
	content, err := read(ctx, path)
	if err == nil && isLegacy(content) {
		content, err = fromLegacy(content)
	}
	if err == nil {
		err = fill(ctx, rec, content)
	}
	if err != nil && !rec.KeepHostError(err) && ctx.Err() == nil {
		rec.Processes = nil
		rec.Problems.Addf(diagnostic.Error, ".", diagnostic.NoOffset, reasonUnreadable, "the profile cannot be read: %v", err)
	}
	return rec
}

// fill makes the recording of a profile.
func fill(ctx context.Context, rec *decode.Recording, content []byte) error {
	x, err := newIndex(ctx, content)
	if err != nil {
		return err
	}
	if len(x.types) == 0 {
		rec.Problems.Addf(diagnostic.Error, ".", diagnostic.NoOffset, reasonNoTypes, "the profile has no sample types")
		return nil
	}
	if x.time > 0 {
		rec.Started = time.Unix(0, x.time).UTC()
	}
	rec.Comment = x.comment()
	p := &decode.Process{Number: 1, Shared: true, Closed: true, DurationNS: max(x.duration, 0), Target: x.program(),
		Kinds: []decode.KindInfo{{Kind: schema.Pprof}}, Stacks: &decode.Stacks{}}
	r := &reader{ctx: ctx, index: x, stacks: p.Stacks, names: decode.NewNames(), words: map[uint64]uint64{}}
	if err := r.read(); err != nil {
		return err
	}
	r.report(&rec.Problems)
	p.Mappings, p.Counters = r.image(), x.counters()
	p.Events = func(k schema.Kind, _ ...string) decode.EventReader {
		if k != schema.Pprof {
			return &eventReader{}
		}
		return &eventReader{index: x, rest: content, stacks: r.numbers}
	}
	p.Records = func(schema.Kind) int64 { return int64(len(r.numbers)) * int64(len(x.types)) }
	rec.Processes = []*decode.Process{p}
	return nil
}

// program returns the name of the program: the file name of the first mapping.
func (x *profileIndex) program() string {
	if len(x.mappings) == 0 {
		return ""
	}
	return filepath.Base("/" + x.text(x.mappings[0].file))
}
