package verify

import (
	"errors"
	"fmt"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
)

var (
	none         = hash("")
	totalName    = hash("<Total>")
	artificial   = hash("artificial")
	unknownKind  = hash("unknown")
	bodyKind     = hash("body")
	knownParts   = map[int64]bool{none: true, hash("native"): true, hash("java"): true, hash("openmp"): true}
	ambiguousTag = lazyregexp.New(`:[0-9]+ > `)
)

// step marks names that look like a part of a path of inlined functions: the function's name, a
// colon and a line.
func step(name string) int64 {
	if strings.Contains(name, " > ") && ambiguousTag().MatchString(name) {
		return 1
	}
	return 0
}

// checkStructure checks that the load objects and modules of all functions are known.
func (x *experiment) checkStructure() error {
	x.metrics, x.functions, x.total = map[int64]int32{}, map[int64]int32{}, -1
	for i, m := range x.col(schema.Metrics, "metric") {
		x.metrics[m] = int32(i)
	}
	objects, modules := set(x.col(schema.LoadObjects, "load_object_id")), set(x.col(schema.Modules, "module_id"))
	for _, o := range x.col(schema.Modules, "load_object_id") {
		if !objects[o] {
			return errors.New("modules: a load object is unknown")
		}
	}
	numbers, names, kinds := x.col(schema.Functions, "function_no"), x.col(schema.Functions, "name"), x.col(schema.Functions, "kind")
	for i, no := range numbers {
		if _, twice := x.functions[no]; twice {
			return errors.New("functions: a number is not unique")
		}
		x.functions[no] = int32(i)
		if !objects[x.col(schema.Functions, "load_object_id")[i]] || !modules[x.col(schema.Functions, "module_id")[i]] {
			return errors.New("functions: a load object or module is unknown")
		}
		if names[i] == totalName && kinds[i] == artificial {
			if x.total >= 0 {
				return errors.New("functions: there are two rows for <Total>")
			}
			x.total = int32(i)
		}
	}
	return nil
}

func set(values []int64) map[int64]bool {
	m := make(map[int64]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}

func (x *experiment) function(no int64) (int32, error) {
	i, known := x.functions[no]
	if !known {
		return 0, fmt.Errorf("function %d is unknown", no)
	}
	return i, nil
}

type locationInfo struct {
	id       int64
	function int32 // index of the function's row
	inlined  int64 // number of functions inlined there
}

// checkLocations checks that locations are numbered from 0 and have unique identifiers, and that
// their functions and load objects are known.
func (x *experiment) checkLocations() error {
	t := schema.Locations
	if !dense(x.col(t, "location")) {
		return errors.New("locations: rows are not numbered 0, 1, 2 in order")
	}
	n := x.len(t)
	x.location = make([]locationInfo, n)
	objects := set(x.col(schema.LoadObjects, "load_object_id"))
	ids := make(map[int64]bool, n)
	other, given, object, offset := x.col(t, "other_location_id"), x.missing(t, "other_location_id"), x.col(t, "load_object_id"), x.col(t, "offset")
	function := x.col(t, "function_no")
	for i := range x.location {
		p := &x.location[i]
		if p.id = other[i]; given[i] {
			p.id = pathPart(object[i], offset[i])
		}
		f, err := x.function(function[i])
		if err != nil || ids[p.id] || !objects[object[i]] {
			return errors.New("locations: a function or load object is unknown, or an identifier is not unique")
		}
		ids[p.id] = true
		p.function = f
	}
	return x.checkInlined()
}

// checkInlined checks that the levels of inlined functions are numbered, and that their functions
// are known.
func (x *experiment) checkInlined() error {
	t := schema.InlineFrames
	at, depth, function := x.col(t, "location"), x.col(t, "depth"), x.col(t, "function_no")
	names := x.rows[schema.Functions].values[x.index(schema.Functions, "name")+1] // the column is read in two ways
	for i := range at {
		if at[i] < 0 || at[i] >= int64(len(x.location)) {
			return errors.New("inline_frames: an instruction is unknown")
		}
		p := &x.location[at[i]]
		f, err := x.function(function[i])
		if err != nil || depth[i] != p.inlined {
			return errors.New("inline_frames: a function is unknown, or levels are not numbered 0, 1, 2 in order")
		}
		if names[f] != 0 {
			return errors.New("inline_frames: a name looks like a path")
		}
		p.inlined++
	}
	return nil
}
