package pipeline

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
)

// vdsoPath is the recorded path of the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

// vdsoImage is a copy of the vdso of the running kernel.
type vdsoImage struct{ file, buildID string }

// vdsoCache keeps the result of the first search for the vdso, also if there is none.
type vdsoCache struct {
	mu    sync.Mutex
	found bool
	vdso  vdsoImage
}

var kernelVDSO vdsoCache

// ownVDSO returns the running kernel's vdso, which is mapped into this process. The file is a copy
// in memory, which exists as long as the process. If there is no vdso, both fields are empty. After
// a host error the next call tries again.
func ownVDSO() (vdsoImage, error) { return kernelVDSO.get(copyVDSO) }

func (o *vdsoCache) get(copied func() (vdsoImage, error)) (vdsoImage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.found {
		v, err := copied()
		if hosterr.Is(err) {
			return vdsoImage{}, err
		}
		o.vdso, o.found = v, true
	}
	return o.vdso, nil
}

// copyVDSO copies the vdso into a file in memory.
func copyVDSO() (vdsoImage, error) {
	image, err := mappedVDSO("/proc/self/maps", "/proc/self/mem")
	if err != nil {
		return vdsoImage{}, err
	}
	fd, err := unix.MemfdCreate("vdso", unix.MFD_CLOEXEC)
	if err != nil {
		return vdsoImage{}, err
	}
	v := vdsoImage{file: fmt.Sprintf("/proc/self/fd/%d", fd)}
	if _, err = unix.Write(fd, image); err == nil {
		v.buildID, err = buildIDOf(v.file)
	}
	if err != nil {
		unix.Close(fd)
		return vdsoImage{}, err
	}
	return v, nil
}

func buildIDOf(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.BuildID(), nil
}

// maxVDSO bounds the size of the vdso, which has a few pages in every kernel.
const maxVDSO = 1 << 20

// mappedVDSO reads the vdso of a process. maps and mem are the process's files in /proc.
func mappedVDSO(maps, mem string) ([]byte, error) {
	list, err := safefile.Read(maps, safefile.Note)
	if err != nil {
		return nil, err
	}
	var from, end int64
	for line := range strings.Lines(string(list)) {
		if strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]) == vdsoPath {
			_, err = fmt.Sscanf(line, "%x-%x ", &from, &end)
		}
	}
	if err != nil || end <= from || end-from > maxVDSO {
		return nil, fmt.Errorf("a vdso from %#x to %#x: %w", from, end, errors.Join(errNoVDSO, err))
	}
	memory, _, err := safefile.Open(mem, safefile.Note)
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	image := make([]byte, end-from)
	_, err = io.ReadFull(io.NewSectionReader(memory, from, end-from), image)
	return image, err
}

var errNoVDSO = errors.New("the kernel maps none")
