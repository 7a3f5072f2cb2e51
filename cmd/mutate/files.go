package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// fileMutations damage whole files: they replace, truncate, extend, swap, add or remove them.
var fileMutations = []mutation{
	{"file-special", specialFile},
	{"file-cut", cutFile},
	{"file-grown", growFile},
	{"file-swapped", swapFiles},
	{"file-named", nameFile},
	{"folder-dropped", dropFolder},
}

// everyFile matches the files of a recording, and files that are passed to ingest with it.
var everyFile = []string{"recording.er/*", "recording.er/_*/*", "recording.er/archives/*", "recording.data", "maps/*", "jit/*", "kallsyms"}

// specialFile replaces a file by something else, such as a pipe or a folder.
func specialFile(d *damage) bool {
	names := d.rec.names(append(everyFile, d.rec.base.objects...)...)
	name, kind := pick(d, names), pick(d, specials)
	d.rec.special[name] = kind
	if d.objectFile(name) {
		return d.did("call frame information", 0, "%s is %s", name, kind)
	}
	return d.did("", 0, "%s is %s", name, kind)
}

// objectFile reports whether a file is a load object with which stacks are unwound.
func (d *damage) objectFile(name string) bool {
	return d.rec.base.dumps && strings.HasPrefix(name, "symfs/")
}

// cutFile truncates a file at a random offset. (cutPackets and cutPerf truncate only the
// recording.)
func cutFile(d *damage) bool {
	name, data := d.read(append(everyFile, d.rec.base.objects...)...)
	if len(data) == 0 {
		return false
	}
	at := d.IntN(len(data))
	if used := len(bytes.TrimRight(data, "\x00")); d.IntN(4) > 0 && used > 0 {
		at = d.IntN(used) // not in the padding at the end
	}
	d.write(name, data[:at])
	if d.objectFile(name) {
		return d.did("call frame information", 0, "%s is cut at byte %d of %d", name, at, len(data))
	}
	return d.did("", 0, "%s is cut at byte %d of %d", name, at, len(data))
}

// growFile appends bytes to a file.
func growFile(d *damage) bool {
	name, data := d.read(everyFile...)
	more := make([]byte, pick(d, []int{1, 3, 4096, 65536, 1 << 20}))
	what := "NULs"
	if d.IntN(2) == 0 {
		what = "random bytes"
		for i := range more {
			more[i] = byte(d.Uint32())
		}
	}
	d.write(name, append(data, more...))
	return d.did("", 0, "%s has %d %s more", name, len(more), what)
}

// swapFiles gives a file the content of another one.
func swapFiles(d *damage) bool {
	name, _ := d.read(everyFile...)
	other, data := d.read(append(everyFile, d.rec.base.objects...)...)
	if name == other || name == "" {
		return false
	}
	d.write(name, data)
	return d.did("", 0, "%s has the content of %s", name, other)
}

// nameFile adds a file that a recording normally does not have.
func nameFile(d *damage) bool {
	if !d.rec.base.gprofng {
		return false
	}
	name := pick(d, []string{"_f9.er", "_x1_f1_x1_f1_x1_f1.er", "_\x1b[31m.er", "heaptrace2", "warnings.xml", "notes", "labels.xml", "jclasses", "hwcounters", "omptrace", "dataraces", "archives/\xff\xfe_0123456789a"})
	name = "recording.er/" + name
	if _, ok := d.rec.origin[name]; ok {
		return false
	}
	d.rec.origin[name] = "/dev/null"
	if d.IntN(2) == 0 {
		d.rec.special[name] = pick(d, specials)
		return d.did("", 0, "%q is there and is %s", name, d.rec.special[name])
	}
	junk := make([]byte, 1+d.IntN(100000))
	for i := range junk {
		junk[i] = byte(d.Uint32())
	}
	d.write(name, junk)
	return d.did("", 0, "%q is there with %d random bytes", name, len(junk))
}

var executed = regexp.MustCompile(`_x\d+\.er$`)

// dropFolder removes the data of a descendant process, or the archive of load objects. The log of a
// descendant's parent says that the data should exist.
func dropFolder(d *damage) bool {
	if !d.rec.base.gprofng {
		return false
	}
	name := filepath.Dir(pick(d, d.rec.names("recording.er/*/*")))
	for _, n := range d.rec.names(name + "/*") {
		d.rec.special[n] = nothing
	}
	kind := ""
	if executed.MatchString(name) {
		kind = "program not recorded"
	}
	return d.did(kind, 0, "%s is not there", name)
}
