package symbolize

import (
	"fmt"
	"path"
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize/image"
)

// chooseOtherPerfMap uses a list of generated code (perf-PID.map) with another PID than the
// recorded one: a process in a container uses its PID in the container. There must be exactly one
// list whose functions all lie where the process generated code.
func (r *Resolver) chooseOtherPerfMap(o *objectDraft, f *fileSearch, im *image.Image, k objectKey) {
	var found *symtab.Table
	var file string
	for _, c := range r.locator.ByBuildID(k.path, "") {
		if base := path.Base(c.Path); base == path.Base(k.path) || r.listOwners()[base] {
			continue
		}
		t, err := r.tables.Load(c.Path)
		if err != nil || !liesInCode(t, im, k.path) {
			continue
		}
		if found != nil {
			return
		}
		found, file, o.Symbols = t, c.Path, c.Origin
	}
	if found == nil {
		o.Symbols = "none"
		return
	}
	o.table, o.file, o.FunctionCount = found, file, found.Functions.Len()
	f.refused = []remark{{"inferred-list", fmt.Sprintf("%s is used as the list of the process's functions, since all of its functions lie where the process generated code: in a container, a process names its list by its PID there", path.Base(file))}}
}

// listOwners returns the file names of the lists of generated code (perf-PID.map) that the
// recording's own processes may have written.
func (r *Resolver) listOwners() map[string]bool {
	if r.owners == nil {
		r.owners = map[string]bool{}
		for _, p := range r.rec.Processes {
			own := path.Base(decode.PerfMap(p.PID))
			for i := range p.Mappings {
				if decode.IsPerfMap(p.Mappings[i].Path) {
					r.owners[own] = true
					break
				}
			}
		}
	}
	return r.owners
}

// liesInCode reports whether all functions of a list lie in mappings of generated code.
func liesInCode(t *symtab.Table, im *image.Image, file string) bool {
	var code []*image.Mapping
	for _, m := range im.Mappings {
		if m.Path == file {
			code = append(code, m)
		}
	}
	for f := range t.Functions.All() {
		if !slices.ContainsFunc(code, func(m *image.Mapping) bool { return m.Address <= f.Address && f.Address+f.Size <= m.End() }) {
			return false
		}
	}
	return t.Functions.Len() > 0
}
