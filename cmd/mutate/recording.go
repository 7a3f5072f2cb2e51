package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/internal/corpus"
)

// base is an undamaged recording, with the files that its ingest needs.
type base struct {
	name    string
	gprofng bool
	path    string            // path of the recording in the unpacked archives
	beside  map[string]string // further files and directories of a mutant's folder: name there -> path in the unpacked archives
	args    []string          // further arguments of ingest; @ stands for the mutant's folder
	objects []string          // names of load objects
	texts   []string          // names of symbol lists and similar text files
	events  int               // how many samples depend on one record: more than 1 if values are differences
	dumps   bool              // stacks are unwound, by the call frame information of load objects
}

// recordingName returns the name of the recording in a mutant's folder.
func (b *base) recordingName() string {
	if b.gprofng {
		return "recording.er"
	}
	return "recording.data"
}

// bases are small recordings. Each has something that the others do not have.
var bases = func() []*base {
	list := []*base{
		{name: "recur", objects: []string{"recur_*", "libhrtick.so_*"}},
		{name: "heap", objects: []string{"heap_*"}},
		{name: "io"},
		{name: "sync"},
		{name: "forkexec", objects: []string{"forkexec_target_*"}},
		{name: "jit_api"},
		{name: "cxx", objects: []string{"cxx_*"}},
	}
	for _, b := range list {
		b.gprofng, b.path = true, "exp/"+b.name+".er"
		for i, o := range b.objects {
			b.objects[i] = b.recordingName() + "/archives/" + o
		}
	}
	perf := []*base{
		{name: "p_recur_fp", objects: []string{"recur_fp"}},
		{name: "p_recur_z"},
		{name: "p_pipe"},
		{name: "p_group_read", events: 6},
		{name: "p_fork"},
		{name: "p_multi", objects: []string{"cxx"}},
		{name: "p_tracepoint"},
		{name: "p_buildid_mmap"},
		{name: "p_threads_s"},
		{name: "p_data", objects: []string{"data"}},
		{name: "p_unwind_dwarf", objects: []string{"unwind"}, dumps: true},
		{name: "p_plt_lazy", objects: []string{"plt_lazy", "libpltlib.so"}},
		{name: "p_jit_map", texts: []string{"maps/perf-20278.map"}, beside: map[string]string{"maps": "perf/maps"}, args: []string{"--perf-map-dir", "@/maps"}},
		{name: "p_jitdump", path: "jitdump/p_jitdump.data", beside: map[string]string{"jit": "jitdump"}, texts: []string{"jit/jit-17136.dump"}, args: []string{"--perf-map-dir", "@/jit"}},
		{name: "p_traps_kernel", texts: []string{"kallsyms"}, beside: map[string]string{"kallsyms": "kallsyms.short"}, args: []string{"--kallsyms", "@/kallsyms"}},
	}
	for _, b := range perf {
		if b.path == "" {
			b.path = "perf/" + b.name + ".data"
		}
		if b.beside == nil {
			b.beside = map[string]string{}
		}
		b.beside["symfs"] = "symfs"
		b.args = append(b.args, "--symfs", "@/symfs")
		for i, o := range b.objects {
			b.objects[i] = "symfs/tmp/corpus/bin/" + o
		}
	}
	list = append(list, perf...)
	for _, name := range []string{"naps_both", "naps_switch", "naps_all", "naps_sched", "lost_small", "feed_all", "disk_all", "ns_all", "bank_probe", "convoy_freq", "attach_late", "onecpu"} {
		list = append(list, &base{name: "w_" + name, path: "wall/" + name + ".data"})
	}
	for _, b := range list {
		b.events = max(b.events, 1)
	}
	return list
}()

// unpack unpacks the archives with the bases' files into dir.
func unpack(dir string) error {
	root, err := corpus.Root()
	if err != nil {
		return err
	}
	if err := corpus.Unpack(filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), dir); err != nil {
		return err
	}
	if err := corpus.Perf(dir); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "wall"), os.DirFS(filepath.Join(root, "testdata/wall"))); err != nil {
		return err
	}
	all, err := os.ReadFile(filepath.Join(dir, "kallsyms"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kallsyms.short"), all[:min(len(all), 300_000)], 0o644)
}

// What may replace a file.
const (
	pipe      = "a pipe"
	device    = "a link to /dev/zero"
	folder    = "a folder"
	loop      = "a link to itself"
	nothing   = "nothing"
	empty     = "an empty file"
	denied    = "a file that nobody may read"
	directory = "a link to the folder above"
	outside   = "a link to /etc/passwd"
	sparse    = "followed by 3 GB that are not on disk"
)

var specials = []string{pipe, device, folder, loop, nothing, empty, denied, directory, outside, sparse}

// recording is a base whose files are being damaged. Files in changed have new content, and those
// in special are replaced by something else. All others are files of the base.
type recording struct {
	base    *base
	archive string            // folder with the unpacked archives
	origin  map[string]string // path of the undamaged file, by name in the mutant's folder
	changed map[string][]byte
	special map[string]string
}

func newRecording(b *base, archive string) (*recording, error) {
	r := &recording{b, archive, map[string]string{}, map[string][]byte{}, map[string]string{}}
	err := r.add(b.recordingName(), filepath.Join(archive, b.path))
	for name, path := range b.beside {
		err = errors.Join(err, r.add(name, filepath.Join(archive, path)))
	}
	return r, err
}

func (r *recording) add(name, path string) error {
	return filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			r.origin[filepath.Join(name, strings.TrimPrefix(p, path))] = p
		}
		return err
	})
}

// names returns the names of files that match a pattern and are not special, sorted.
func (r *recording) names(patterns ...string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(r.origin)) {
		for _, p := range patterns {
			if ok, _ := filepath.Match(p, name); ok && r.special[name] == "" {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// read returns a copy of a file's content, with earlier changes.
func (r *recording) read(name string) ([]byte, error) {
	if data, ok := r.changed[name]; ok {
		return slices.Clone(data), nil
	}
	return os.ReadFile(r.origin[name])
}

// write writes the mutant's folder. Unchanged files are links to those of the base.
func (r *recording) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.origin)) {
		if r.special[name] == nothing {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := r.writeFile(name, path); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) writeFile(name, path string) error {
	switch r.special[name] {
	case pipe:
		return unix.Mkfifo(path, 0o644)
	case device:
		return os.Symlink("/dev/zero", path)
	case folder:
		return os.Mkdir(path, 0o755)
	case loop:
		return os.Symlink(filepath.Base(path), path)
	case directory:
		return os.Symlink("..", path)
	case outside:
		return os.Symlink("/etc/passwd", path)
	case sparse:
		data, err := r.read(name)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		return errors.Join(err, os.Truncate(path, 3<<30))
	case empty:
		return os.WriteFile(path, nil, 0o644)
	case denied:
		return os.WriteFile(path, []byte("secret"), 0)
	}
	if data, ok := r.changed[name]; ok {
		return os.WriteFile(path, data, 0o644)
	}
	if os.Link(r.origin[name], path) == nil {
		return nil
	}
	data, err := os.ReadFile(r.origin[name])
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return os.WriteFile(path, data, 0o644)
}
