package synthetic

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/stages/decode/gprofng/archive"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// trait is a property in which the experiments of one collector differ from those of another.
type trait int

// The properties of experiments that Studio's collector wrote.
const (
	traitModes    trait = iota // of mappings
	traitBlocks                // their size, and whether threads share them
	traitProcess               // an element of the log
	traitArchives              // symbol tables instead of copies
	traitState                 // of the clock profile
	traitFields                // aligned in packets of the clock profile
	traitThreads               // addresses as ids
	traits
)

// allTraits are all traits of a form.
func allTraits() map[trait]bool {
	all := map[trait]bool{}
	for t := range traits {
		all[t] = true
	}
	return all
}

// rewrite copies a recorded experiment of gprofng as another collector would have written it, with
// the given traits.
func rewrite(from, to string, form gprofngtest.Form, in map[trait]bool) error {
	r := rewriter{form: form, in: in, blocks: blockSize}
	if in[traitBlocks] {
		r.blocks = form.BlockSize()
	}
	return r.experiment(from, to)
}

// The size of gprofng's blocks, and the packets that end one (gprofng-experiment 3.1).
const (
	blockSize  = 1 << 16
	typeEmpty  = 0
	typeClosed = 0xffff
)

type rewriter struct {
	form   gprofngtest.Form
	in     map[trait]bool
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
	if _, missing := os.Stat(filepath.Join(to, "jclasses")); missing != nil && r.form != gprofngtest.Studio123 {
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
		if r.form == gprofngtest.Studio123 && r.in[traitArchives] && recorded != "" {
			name = archive.SymbolTable(recorded)
			b, err = symbolTableOf(file, recorded)
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
	if !r.in[traitModes] {
		return b
	}
	return modes().ReplaceAllFunc(b, func(m []byte) []byte {
		n, _ := strconv.ParseUint(string(modes().FindSubmatch(m)[1]), 16, 16)
		written, checksum := r.form.Modes(int(n))
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
	if r.in[traitModes] { // the collector's name must not contradict them
		s = collectorText().ReplaceAllLiteralString(s, "<collector>"+r.form.Collector())
	}
	if r.in[traitFields] {
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
	if r.form != gprofngtest.Studio123 {
		return []byte(s)
	}
	s = archived().ReplaceAllLiteralString(s, "")
	s = secondRun().ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(s, "fork|exec|combo", "fork%7c%exec")
	if r.in[traitBlocks] { // the version implies their size
		s = strings.Replace(s, `version="12.4"`, `version="12.3"`, 1)
	}
	if r.in[traitProcess] {
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
			if name == "profile" && typ == 8 {
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
	if r.form == gprofngtest.Studio123 && r.in[traitState] && state == 10 {
		state = 0
	}
	if r.form == gprofngtest.Studio123 && r.in[traitThreads] {
		descriptor := 0x7fa400000000 + o.Uint64(p[16:])&0xffffff*0x1000
		o.PutUint64(p[8:], descriptor)
		o.PutUint64(p[16:], descriptor)
	}
	clear(p[28:])
	at := 28
	if r.in[traitFields] {
		at = 32
	}
	o.PutUint64(p[at:], time)
	o.PutUint64(p[at+8:], stack)
	o.PutUint32(p[at+16:], state)
	o.PutUint32(p[at+20:], ticks)
	return p
}

// symbolTableOf returns the symbol table that Studio 12.3 would archive for a load object.
func symbolTableOf(file, recorded string) ([]byte, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	modules := []gprofngtest.SymbolModule{{Object: "(unknown)", Source: "(unknown)"}}
	moduleOf := map[uint64]int{}
	if d, err := f.DWARF(); err == nil {
		if modules, err = sources(d, recorded, modules, moduleOf); err != nil {
			return nil, err
		}
	}
	list, _ := f.Symbols()
	if len(list) == 0 {
		list, _ = f.DynamicSymbols()
	}
	for _, s := range list {
		if int(s.Section) >= len(f.Sections) || elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || s.Size == 0 {
			continue
		}
		sec, m := f.Sections[s.Section], &modules[moduleOf[s.Value]]
		m.Functions = append(m.Functions, gprofngtest.SymbolFunction{Offset: uint32(s.Value - sec.Addr + sec.Offset), Size: uint32(s.Size), Name: s.Name})
	}
	if plt := f.Section(".plt"); plt != nil {
		modules[0].Functions = append(modules[0].Functions, gprofngtest.SymbolFunction{Offset: uint32(plt.Offset), Size: uint32(plt.Size), Name: "@plt"})
	}
	var size uint32
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags == elf.PF_R|elf.PF_X {
			size = uint32(p.Memsz)
		}
	}
	return gprofngtest.SymbolTable(recorded, 1, size, modules...), nil
}

// sources appends the units in debug information, and records the unit of each function address.
func sources(d *dwarf.Data, object string, modules []gprofngtest.SymbolModule, moduleOf map[uint64]int) ([]gprofngtest.SymbolModule, error) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return modules, err
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			name, _ := e.Val(dwarf.AttrName).(string)
			if dir, _ := e.Val(dwarf.AttrCompDir).(string); dir != "" && !strings.HasPrefix(name, "/") {
				name = dir + "/" + name
			}
			modules = append(modules, gprofngtest.SymbolModule{Language: language(e), Object: object, Source: name})
		case dwarf.TagSubprogram:
			if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
				moduleOf[low] = len(modules) - 1
			}
		}
	}
}

// language translates the language of a unit.
func language(e *dwarf.Entry) uint32 {
	code, _ := e.Val(dwarf.AttrLanguage).(int64)
	switch {
	case slices.Contains([]int64{0x04, 0x1a, 0x21, 0x2b}, code):
		return 4
	case slices.Contains([]int64{0x07, 0x08, 0x0e, 0x22, 0x23}, code):
		return 7
	case code == 0x8001:
		return 1
	}
	return 9
}
