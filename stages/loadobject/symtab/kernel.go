package symtab

import (
	"bytes"
	"cmp"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strconv"
	"strings"
)

// kernelPage is the size that the last symbol is assumed to have, in bytes.
const kernelPage = 4096

// IsKernel reports whether head is the beginning of a list of the kernel's symbols in the
// form of /proc/kallsyms: `address type name[\t[module]]`.
func IsKernel(head []byte) bool {
	_, _, ok := parseKernelSymbol(head)
	return ok
}

// parseKernelSymbol reads the address and type at the start of a line.
func parseKernelSymbol(line []byte) (addr uint64, typ byte, ok bool) {
	i := bytes.IndexByte(line, ' ')
	if i < 8 || i > 16 || len(line) < i+4 || line[i+2] != ' ' {
		return 0, 0, false
	}
	addr, err := strconv.ParseUint(string(line[:i]), 16, 64)
	return addr, line[i+1], err == nil
}

type kernelSymbol struct {
	addr         uint64
	name, module string
	code         bool
}

// listKernel reads the kernel's symbols and sorts them by address. If there are too many, it
// returns the first ones and false.
func listKernel(text []byte) (list []kernelSymbol, whole bool) {
	whole = true
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		addr, typ, ok := parseKernelSymbol(line)
		if !ok || addr == 0 {
			continue // kptr_restrict hides addresses
		}
		rest := string(line[bytes.IndexByte(line, ' ')+3:])
		name, module, _ := strings.Cut(rest, "\t")
		if strings.HasPrefix(name, "$") {
			continue
		}
		if len(list) == maxListed {
			whole = false
			break
		}
		list = append(list, kernelSymbol{addr, name, strings.Trim(module, "[]"), strings.IndexByte("tTwW", typ) >= 0})
	}
	slices.SortStableFunc(list, func(a, b kernelSymbol) int { return cmp.Compare(a.addr, b.addr) })
	return list, whole
}

// ReadKernel reads a list of the kernel's symbols (perf-data 10.3). Offsets are addresses; a
// function ends where the next symbol begins. The modules of functions are kernel modules.
func ReadKernel(text []byte) *Draft {
	t := &Draft{Table: Table{Modules: []Module{{Name: Unknown, ShortPath: Unknown}}}}
	list, whole := listKernel(text)
	if !whole {
		t.Notes = append(t.Notes, tooManyNote())
	}
	modules := map[string]int32{"": 0}
	readable := NewNames()
	for len(list) > 0 {
		end := 1
		for end < len(list) && list[end].addr == list[0].addr {
			end++
		}
		size := uint64(kernelPage)
		if end < len(list) {
			size = list[end].addr - list[0].addr
		}
		t.addKernel(list[:end], size, modules, readable)
		list = list[end:]
	}
	t.Notes = append(t.Notes, readable.Notes()...)
	return t
}

// addKernel adds a function for the symbols at one address, if any of them is for code. modules
// maps the names of the table's modules to their indexes.
func (d *Draft) addKernel(symbols []kernelSymbol, size uint64, modules map[string]int32, readable Names) {
	f := Function{Offset: symbols[0].addr, Address: symbols[0].addr, Size: size, Kind: funcinfo.Kernel, Scope: funcinfo.ModuleScope}
	var names []string
	for _, s := range symbols {
		if !s.code {
			continue
		}
		names = append(names, s.name)
		f.PerfName = s.name // the last one listed
		n, ok := modules[s.module]
		if !ok {
			n = int32(len(d.Modules))
			modules[s.module] = n
			d.Modules = append(d.Modules, Module{Name: s.module, ShortPath: s.module})
		}
		f.Module = n
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	f.Linkage = names[len(names)-1]
	f.Name, f.Aliases = readable.Readable(f.Linkage), strings.Join(names, Separator)
	f.PerfName = readable.Readable(f.PerfName)
	d.Functions = append(d.Functions, f)
}
