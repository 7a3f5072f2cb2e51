package samples

import (
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
)

// Files assigns I/O calls to files. As in gprofng, a descriptor refers to a new file each time it
// is opened (gprofng-experiment 9.2).
type Files struct {
	Files []decode.IOFile // by number, from 0
	next  int32
}

// The numbers of files. Standard files have 1 to 3, and files that the program opens count from
// fileFirst.
const (
	fileNone  = -1
	fileOther = 4
	fileFirst = 10
)

// FilesOf returns the files that a store has for a recording.
func FilesOf(files []decode.IOFile) *Files { return &Files{Files: files} }

// NewFiles returns the files of a recording before its first I/O call.
func NewFiles() *Files {
	f := &Files{next: fileFirst}
	for i, name := range []string{"<stdin>", "<stdout>", "<stderr>", "<Other IO activity>"} {
		f.Files = append(f.Files, decode.IOFile{Number: int32(i + 1), Name: name, FileSystem: noFileSystem})
	}
	return f
}

func (f *Files) byNumber(n int32) decode.IOFile {
	if n >= fileFirst {
		n += fileOther + 1 - fileFirst // number 0 and the standard files come first
	}
	return f.Files[n-1]
}

const (
	noFileSystem = "N/A"
	unnamedFile  = "<pipe(), socket(), or other fds>"
)

var fileSystems = []string{"zfs", "nfs", "ufs", "udfs", "lofs", "vxfs", "tmpfs", "pcfs", "hsfs", "procfs",
	"fifofs", "swapfs", "cachefs", "autofs", "specfs", "sockfs", "fdfs", "mntfs", "namefs", "objfs", "sharefs",
	"ext2", "ext3", "ext4"}

func fileSystem(n int32) string {
	if n >= 0 && int(n) < len(fileSystems) {
		return fileSystems[n]
	}
	return noFileSystem
}

// Descriptors is the descriptor table of one process.
type Descriptors struct {
	files   *Files
	process int
	open    map[int32]int32 // descriptor -> file
}

// Process returns the descriptor table that a process has at its start.
func (f *Files) Process(number int) *Descriptors {
	return &Descriptors{f, number, map[int32]int32{0: 1, 1: 2, 2: 3}}
}

func (d *Descriptors) add(name, fs string) int32 {
	n := d.files.next
	d.files.next++
	d.files.Files = append(d.files.Files, decode.IOFile{Number: n, Process: d.process, Name: name, FileSystem: fs})
	return n
}

// The I/O operations. For failed calls, ioErrors is added to them.
const (
	ioRead = iota
	ioWrite
	ioOpen
	ioClose
	ioOther
	ioErrors
)

// File returns the file of a call, and applies the call's effect on the descriptor table.
func (d *Descriptors) File(op, fd, origFD, fs int32, name string) int32 {
	failed := op >= ioErrors
	switch op % ioErrors {
	case ioOpen:
		switch {
		case name != "" && failed:
			return d.add(name, fileSystem(fs))
		case failed:
			return fileNone
		case name != "":
			d.open[fd] = d.add(name, fileSystem(fs))
		case origFD > 0: // a duplicate of another descriptor
			d.open[fd] = d.duplicate(origFD)
		default: // origFD is 0 for a pipe, a socket, and a duplicate of <stdin>
			d.open[fd] = d.add(unnamedFile, noFileSystem)
		}
		return d.open[fd]
	case ioClose:
		n, ok := d.open[fd]
		if !ok {
			return fileNone
		}
		if !failed {
			delete(d.open, fd)
		}
		return n
	case ioOther:
		return fileOther
	}
	n, ok := d.open[fd]
	if !ok {
		n = d.add(unnamedFile, noFileSystem)
		d.open[fd] = n
	}
	return n
}

func (d *Descriptors) duplicate(orig int32) int32 {
	if n, ok := d.open[orig]; ok {
		f := d.files.byNumber(n)
		return d.add(f.Name, f.FileSystem)
	}
	return d.add(unnamedFile, noFileSystem)
}

// Rows emits the files, if the recording has I/O metrics.
func (f *Files) Rows(r *attribute.Result, emit attribute.Emit) error {
	rows := r.Rows(schema.IOFiles, emit)
	for _, m := range r.Sums.Metrics {
		if m.Kind == schema.IO {
			for _, file := range f.Files {
				rows.Append(file.Number, int32(file.Process), file.Name, file.FileSystem)
			}
			break
		}
	}
	return rows.Close()
}
