package erbuild

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/archive"
)

// Trait is one difference between the forms.
type Trait int

// The traits of Studio's forms.
const (
	Modes    Trait = iota // of mappings
	Blocks                // their size, and threads that share them
	Process               // one element of the log
	Archives              // symbol tables in place of copies
	State                 // of the clock profile
	Fields                // aligned in packets of the clock profile
	Threads               // addresses as ids
	traits
)

// AllTraits are all traits of a form.
func AllTraits() map[Trait]bool {
	all := map[Trait]bool{}
	for t := range traits {
		all[t] = true
	}
	return all
}

// Rewrite writes a recorded experiment of gprofng anew as another collector would have
// written it, in the given traits.
func Rewrite(from, to string, form Form, in map[Trait]bool) error {
	r := rewriter{form: form, in: in, blocks: blockSize}
	if in[Blocks] {
		r.blocks = form.blockSize()
	}
	return r.experiment(from, to)
}

type rewriter struct {
	form   Form
	in     map[Trait]bool
	blocks int
	paths  map[string]string // of load objects by their names in archives
}

func (r *rewriter) experiment(from, to string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o755)
	}
	if err != nil {
		return err
	}
	maps, err := os.ReadFile(filepath.Join(from, "map.xml"))
	if err != nil {
		return err
	}
	if r.paths == nil {
		r.paths = map[string]string{}
	}
	for _, m := range mapName().FindAllSubmatch(maps, -1) {
		r.paths[archive.Name(string(m[1]))] = string(m[1])
	}
	for _, e := range entries {
		if err := r.entry(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	if _, missing := os.Stat(filepath.Join(to, "jclasses")); missing != nil && r.form != Studio123 {
		err = os.WriteFile(filepath.Join(to, "jclasses"), nil, 0o644)
	}
	return err
}

func (r *rewriter) entry(from, to string) error {
	name := filepath.Base(from)
	switch {
	case strings.HasPrefix(name, "_") && strings.HasSuffix(name, ".er"):
		return r.experiment(from, to)
	case name == archive.Dir:
		return r.archives(from, to)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	switch name {
	case "archive.log":
		to = filepath.Join(filepath.Dir(to), "er_archive.log")
	case "log.xml":
		b = r.padded(r.log(bytes.ReplaceAll(b, []byte{0}, nil)))
	case "map.xml":
		b = r.padded(r.maps(bytes.ReplaceAll(b, []byte{0}, nil)))
	case "overview", "dyntext", "jclasses":
	default:
		b = r.packets(name, b)
	}
	return os.WriteFile(to, b, 0o644)
}

func (r *rewriter) padded(b []byte) []byte {
	return append(b, make([]byte, (r.blocks-len(b)%r.blocks)%r.blocks)...)
}

func (r *rewriter) archives(from, to string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o755)
	}
	for _, e := range entries {
		if err != nil {
			break
		}
		file, recorded := filepath.Join(from, e.Name()), r.paths[e.Name()]
		var b []byte
		name := e.Name()
		if r.form == Studio123 && r.in[Archives] && recorded != "" {
			name = archive.SymbolTable(recorded)
			b, err = SymbolTableOf(file, recorded)
		} else {
			b, err = os.ReadFile(file)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o644)
		}
	}
	return err
}

var modes = lazyregexp.New(`modes="0x([0-9A-Fa-f]+)" chksum="[^"]*"`)

func (r *rewriter) maps(b []byte) []byte {
	if !r.in[Modes] {
		return b
	}
	return modes().ReplaceAllFunc(b, func(m []byte) []byte {
		n, _ := strconv.ParseUint(string(modes().FindSubmatch(m)[1]), 16, 16)
		written, checksum := r.form.modes(int(n))
		return []byte(`modes="0x0` + strconv.FormatInt(int64(written>>4), 16) + strings.ToUpper(strconv.FormatInt(int64(written&15), 16)) + `" chksum="` + checksum + `"`)
	})
}

var (
	processElement = lazyregexp.New(`<process( [^>]*)?>([^<]*)</process>\n`)
	pageSize       = lazyregexp.New(` pagesz="(\d+)" npages="\d+"`)
	secondRun      = lazyregexp.New(`(?s)(<event kind="run".*)<event kind="run"[^\n]*\n`)
	archived       = lazyregexp.New(`<event kind="comment" id="400">[^\n]*\n`)
	clockFields    = lazyregexp.New(`(?s)<profpckt kind="8".*?</profpckt>`)
	mapName        = lazyregexp.New(` name="([^"]*)"`)
	collectorText  = lazyregexp.New(`<collector>[^<]*`)
	fieldOffset    = lazyregexp.New(`(name="(\w+)"[^\n]*offset=")\d+`)
)

func (r *rewriter) log(b []byte) []byte {
	s := string(b)
	if r.in[Modes] { // the collector's name must not contradict them
		s = collectorText().ReplaceAllLiteralString(s, "<collector>"+r.form.collector())
	}
	if r.in[Fields] {
		aligned := map[string]string{"TSTAMP": "32", "FRINFO": "40", "MSTATE": "48", "NTICK": "52"}
		s = clockFields().ReplaceAllStringFunc(s, func(packet string) string {
			return fieldOffset().ReplaceAllStringFunc(packet, func(f string) string {
				m := fieldOffset().FindStringSubmatch(f)
				if to, ok := aligned[m[2]]; ok {
					return m[1] + to
				}
				return f
			})
		})
	}
	if r.form != Studio123 {
		return []byte(s)
	}
	s = archived().ReplaceAllLiteralString(s, "")
	s = secondRun().ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(s, "fork|exec|combo", "fork%7c%exec")
	if r.in[Blocks] { // the version says how large they are
		s = strings.Replace(s, `version="12.4"`, `version="12.3"`, 1)
	}
	if r.in[Process] {
		pages := pageSize().FindStringSubmatch(s)
		s = pageSize().ReplaceAllLiteralString(s, "")
		attributes, command := "", ""
		for _, m := range processElement().FindAllStringSubmatch(s, -1) {
			attributes, command = attributes+m[1], command+m[2]
		}
		at := strings.Index(s, "<process")
		s = processElement().ReplaceAllLiteralString(s, "")
		s = s[:at] + "<process" + attributes + ` pagesz="` + pages[1] + `">` + command + " </process>\n" + s[at:]
	}
	return []byte(s)
}

// packets writes the packets of a file in blocks that all threads share.
func (r *rewriter) packets(name string, b []byte) []byte {
	o := binary.LittleEndian
	var out []byte
	rest := func() int { return r.blocks - len(out)%r.blocks }
	end := func(typ uint16) {
		n := rest()
		out = append(o.AppendUint16(o.AppendUint16(out, uint16(n)), typ), make([]byte, n-4)...)
	}
	for at := 0; at+4 <= len(b); {
		size, typ := int(o.Uint16(b[at:])), o.Uint16(b[at+2:])
		if size == 0 {
			at += blockSize - at%blockSize
			continue
		}
		if typ != typeEmpty && typ != typeClosed && at+size <= len(b) {
			p := bytes.Clone(b[at : at+size])
			if name == fileNames[schema.Clock] && typ == 8 {
				p = r.clock(p)
			}
			if left := rest() - len(p); left < 0 || 0 < left && left < 8 {
				end(typeClosed)
			}
			out = append(out, p...)
		}
		at += size
	}
	if len(out) > 0 && rest() < r.blocks {
		end(typeEmpty)
	}
	return out
}

// clock rewrites a packet of the clock profile.
func (r *rewriter) clock(p []byte) []byte {
	o := binary.LittleEndian
	time, stack, state, ticks := o.Uint64(p[28:]), o.Uint64(p[36:]), o.Uint32(p[44:]), o.Uint32(p[48:])
	if r.form == Studio123 && r.in[State] && state == 10 {
		state = 0
	}
	if r.form == Studio123 && r.in[Threads] {
		descriptor := 0x7fa400000000 + o.Uint64(p[16:])&0xffffff*0x1000
		o.PutUint64(p[8:], descriptor)
		o.PutUint64(p[16:], descriptor)
	}
	clear(p[28:])
	at := 28
	if r.in[Fields] {
		at = 32
	}
	o.PutUint64(p[at:], time)
	o.PutUint64(p[at+8:], stack)
	o.PutUint32(p[at+16:], state)
	o.PutUint32(p[at+20:], ticks)
	return p
}
