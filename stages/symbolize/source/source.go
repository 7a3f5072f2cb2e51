// Package source finds and reads the source files that debug information names.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// Rule maps recorded paths of source files to paths on this machine.
type Rule struct {
	From string // prefix of the recorded paths, up to a slash or the end; empty with Any
	To   string // replaces the prefix
	// Any says that To is a folder in which all files are looked for: by the last elements of their
	// path, as many as exist there.
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

// ParseRules reads several rules.
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

// apply returns the paths at which the rule looks for a file, best first. They are always below To,
// whatever the recorded name is.
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
	if rest = strings.TrimPrefix(rest, "/"); rest == "" { // the rule is for a single file
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
	// NoRecorded disables reading files at their recorded paths.
	NoRecorded bool
	// Locate returns the candidates for the file recorded as path. If Locate is nil, the only
	// candidate is the path itself.
	Locate func(path string) []decode.Candidate
	// Stored returns the text that a store has for a path, nil if none. It is used instead of any
	// file. Stored may be nil.
	Stored func(path string) *Text
	Cache  *TextCache // may be nil
}

// Text is the text of a source file, with where it was found.
type Text struct {
	Path     string // at which it was found
	Recorded bool   // it was found at the recorded path, where it may have changed since
	Modified time.Time
	content
}

// content is the content of a source file.
type content struct {
	Lines   []string // valid UTF-8, without line ends
	Bytes   int      // size of the lines with line ends
	Content int64    // hash of the lines
}

// ErrNotFound says that no candidate for a file exists.
var ErrNotFound = errors.New("not found")

// Read returns the text of the file recorded as path: from the recording's archive, else by the
// rules, else from the recorded path if everyone may read it. If no file can be used, the error
// says why the first file found cannot (such as ErrPrivate or ErrLeadsOut); it is ErrNotFound if
// there is no file.
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

// The origins of files outside of the recording's archive.
const (
	originPath = "path" // at the recorded path
	originRule = "rule" // by a rule that the user gave
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
		case c.Path != path: // the user's --symfs folder replaces the root
			mapped = append(mapped, decode.Candidate{Path: c.Path, Origin: originRule})
		case filepath.IsAbs(c.Path) && !f.NoRecorded: // relative paths would depend on the current directory
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

// Bounds of a source file. Some generated sources have several megabytes, and some amalgamations
// 300,000 lines.
const (
	maxBytes = safefile.Source
	maxLines = 1 << 20
)

// openCandidate opens a file, with the checks that its origin requires.
func openCandidate(c decode.Candidate) (f *os.File, err error) {
	switch c.Origin {
	case originPath:
		return openPublic(c.Path)
	case originRule:
		f, _, err = safefile.Open(c.Path, 1<<62) // read checks the size
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
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1)) // the file may have grown
	switch {
	case err != nil:
		return b, err
	case len(data) > maxBytes:
		return b, fmt.Errorf("%s: larger than %d MB", path, maxBytes>>20)
	case bytes.IndexByte(data, 0) >= 0:
		return b, fmt.Errorf("%s: not a text file", path)
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

// NewText returns a text with these lines.
func NewText(path string, lines []string) *Text { return &Text{Path: path, content: newContent(lines)} }

// lines splits a text into lines, which may end in LF or CRLF.
func lines(data []byte) []string {
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	all := strings.Split(text, "\n")
	if n := len(all); all[n-1] == "" {
		all = all[:n-1]
	}
	return all
}

// TextCache caches the texts of files for experiments of the same programs. It is safe for
// concurrent use.
type TextCache struct {
	mu    sync.Mutex
	texts map[safefile.Stamp]content
	bytes int
}

// maxCacheBytes bounds the bytes of the cached texts.
const maxCacheBytes = 16 << 20

// NewTextCache returns an empty cache.
func NewTextCache() *TextCache { return &TextCache{texts: map[safefile.Stamp]content{}} }

// get returns the content of a file. It calls read if the content is not cached.
func (t *TextCache) get(at safefile.Stamp, read func() (content, error)) (content, error) {
	if t == nil || !at.Settled() {
		return read()
	}
	t.mu.Lock()
	b, known := t.texts[at]
	t.mu.Unlock()
	if known {
		return b, nil
	}
	b, err := read()
	if err != nil || b.Bytes > maxCacheBytes/2 {
		return b, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += b.Bytes; t.bytes > maxCacheBytes {
		clear(t.texts)
		t.bytes = b.Bytes
	}
	t.texts[at] = b
	return b, nil
}
