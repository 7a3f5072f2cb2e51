// Package source finds the source files that debug information names, and reads
// their text.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// Rule says where source files are that are not at their recorded paths.
type Rule struct {
	// From is the start of the paths concerned, up to a slash or the end. Empty
	// in a rule with Any.
	From string
	To   string // what stands in its place
	// Any says that To is searched for every path, by as much of its end as fits.
	Any bool
}

// ParseRule reads `FROM=TO` or `DIR`.
func ParseRule(s string) (Rule, error) {
	from, to, ok := strings.Cut(s, "=")
	if !ok {
		from, to = "", s
	}
	if to == "" {
		return Rule{}, fmt.Errorf("%q names no directory (write FROM=TO, or DIR)", s)
	}
	if from != "" {
		from = filepath.Clean(from)
	}
	return Rule{From: from, To: to, Any: !ok}, nil
}

// ParseRules reads several.
func ParseRules(specs []string) ([]Rule, error) {
	rules := make([]Rule, len(specs))
	for i, s := range specs {
		var err error
		if rules[i], err = ParseRule(s); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// apply returns the paths that the rule gives a file, best first. They lie below
// To, whatever the file is called.
func (r Rule) apply(file string) []string {
	if r.Any {
		var paths []string
		for rest := strings.TrimPrefix(file, "/"); ; {
			if filepath.IsLocal(rest) {
				paths = append(paths, filepath.Join(r.To, rest))
			}
			_, behind, ok := strings.Cut(rest, "/")
			if !ok {
				return paths
			}
			rest = behind
		}
	}
	rest, ok := strings.CutPrefix(file, r.From)
	switch {
	case !ok, r.From == "" && filepath.IsAbs(file), r.From != "" && r.From != "/" && rest != "" && rest[0] != '/':
		return nil
	}
	if rest = strings.TrimPrefix(rest, "/"); rest == "" { // the rule is of one file
		return []string{r.To}
	}
	if !filepath.IsLocal(rest) {
		return nil
	}
	return []string{filepath.Join(r.To, rest)}
}

// Finder finds source files.
type Finder struct {
	Rules []Rule
	// NoRecorded says that recorded paths are not followed.
	NoRecorded bool
	// Locate returns files in which the one recorded as path may be, as
	// decode.Recording does. Nil: the path itself.
	Locate func(path string) []decode.Candidate
	// Stored returns a text that was read before, which is used in place of any file; nil if
	// there is none. It may be nil.
	Stored func(path string) *Text
	Cache  *TextCache // keeps what was read; nil: nothing is kept
}

// Text is the text of a source file.
type Text struct {
	Path     string // where it was found
	Recorded bool   // at the recorded path, where it may have changed since
	Modified time.Time
	content
}

// content is what stands in a source file.
type content struct {
	Lines   []string // valid UTF-8, without line ends
	Bytes   int      // in them, with line ends
	Content int64    // hash of the lines
}

// ErrNotFound says that a file is at none of the places where it may be.
var ErrNotFound = errors.New("not found")

// Read returns the text of the file recorded as path: that of the recording's
// archive, else what the rules lead to, else that at the recorded path, if
// everyone may read that. The error is ErrNotFound, or says why what was found
// cannot be used: ErrPrivate, ErrLeadsOut, or what it is.
func (f *Finder) Read(path string) (*Text, error) {
	if f.Stored != nil {
		if t := f.Stored(path); t != nil {
			return t, nil
		}
	}
	first := ErrNotFound
	for _, c := range f.candidates(path) {
		t, err := f.read(c)
		if err == nil {
			return t, nil
		}
		if first == ErrNotFound && !errors.Is(err, os.ErrNotExist) {
			first = err
		}
	}
	return nil, first
}

// Where a file may be, besides the recording's archive.
const (
	originPath = "path" // at its recorded path
	originRule = "rule" // where the user says that files are
)

func (f *Finder) candidates(path string) []decode.Candidate {
	path = filepath.Clean(path)
	if path == "." || path[0] == '<' {
		return nil
	}
	located := []decode.Candidate{{Path: path, Origin: originPath}}
	if f.Locate != nil {
		located = f.Locate(path)
	}
	var archived, mapped, own []decode.Candidate
	for _, c := range located {
		switch {
		case c.Origin != originPath:
			archived = append(archived, c)
		case c.Path != path: // below the folder that stands for the root
			mapped = append(mapped, decode.Candidate{Path: c.Path, Origin: originRule})
		case filepath.IsAbs(c.Path) && !f.NoRecorded: // others would depend on where we are
			own = append(own, c)
		}
	}
	for _, r := range f.Rules {
		for _, p := range r.apply(path) {
			mapped = append(mapped, decode.Candidate{Path: p, Origin: originRule})
		}
	}
	return append(append(archived, mapped...), own...)
}

// The largest text that is read. Generated sources of some megabytes exist, and
// amalgamations of 300000 lines.
const (
	maxBytes = safefile.Source
	maxLines = 1 << 20
)

// openCandidate opens a file as far as its origin is trusted.
func openCandidate(c decode.Candidate) (f *os.File, err error) {
	switch c.Origin {
	case originPath:
		return openPublic(c.Path)
	case originRule:
		f, _, err = safefile.Open(c.Path, 1<<62) // its size is looked at later
		return f, err
	}
	return openArchived(c.Path)
}

func (f *Finder) read(c decode.Candidate) (*Text, error) {
	path := c.Path
	file, err := openCandidate(c)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, safefile.ErrNotRegular)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s: larger than %d MB", path, maxBytes>>20)
	}
	t := Text{Path: path, Recorded: c.Origin == originPath, Modified: info.ModTime()}
	t.content, err = f.Cache.get(safefile.StampOf(info), func() (content, error) { return readContent(file, path) })
	return &t, err
}

// readContent reads the text of a file.
func readContent(file io.Reader, path string) (b content, err error) {
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1)) // it may have grown
	switch {
	case err != nil:
		return b, err
	case len(data) > maxBytes:
		return b, fmt.Errorf("%s: larger than %d MB", path, maxBytes>>20)
	case bytes.IndexByte(data, 0) >= 0:
		return b, fmt.Errorf("%s: not a text", path)
	case bytes.Count(data, []byte("\n")) > maxLines:
		return b, fmt.Errorf("%s: more than %d lines", path, maxLines)
	}
	return newContent(lines(data)), nil
}

func newContent(lines []string) content {
	b, id := content{Lines: lines}, schema.NewID("source")
	for _, line := range lines {
		id.Text(line)
		b.Bytes += len(line) + 1
	}
	b.Content = id.Sum()
	return b
}

// NewText returns a text that is known from before.
func NewText(path string, lines []string) *Text { return &Text{Path: path, content: newContent(lines)} }

// lines cuts at line ends of any system.
func lines(data []byte) []string {
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	all := strings.Split(text, "\n")
	if n := len(all); all[n-1] == "" {
		all = all[:n-1]
	}
	return all
}
