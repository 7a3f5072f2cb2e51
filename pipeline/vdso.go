package pipeline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
)

// vdsoPath is the recorded path of the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

// ownVDSO is the vdso of the running kernel.
type ownVDSO struct{ file, buildID string }

// keptVDSO keeps the vdso once it was found, or that there is none.
type keptVDSO struct {
	mu    sync.Mutex
	found bool
	vdso  ownVDSO
}

var kernelVDSO keptVDSO

// vdsoHere returns the running kernel's vdso. It is not a file, but this process has it
// mapped: its copy is a file in memory, which lives as long as the process. Both fields
// are empty if there is none. After a fault of the machine, which is returned, the next
// call tries again.
func vdsoHere() (ownVDSO, error) { return kernelVDSO.get(copyVDSO) }

func (o *keptVDSO) get(copied func() (ownVDSO, error)) (ownVDSO, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.found {
		v, err := copied()
		if hosterr.Is(err) {
			return ownVDSO{}, err
		}
		o.vdso, o.found = v, true
	}
	return o.vdso, nil
}

// copyVDSO copies the vdso into a file in memory.
func copyVDSO() (ownVDSO, error) {
	image, err := mappedVDSO("/proc/self/auxv", "/proc/self/mem")
	if err != nil {
		return ownVDSO{}, err
	}
	fd, err := unix.MemfdCreate("vdso", unix.MFD_CLOEXEC)
	if err != nil {
		return ownVDSO{}, err
	}
	v := ownVDSO{file: fmt.Sprintf("/proc/self/fd/%d", fd)}
	if _, err = unix.Write(fd, image); err == nil {
		v.buildID, err = buildIDOf(v.file)
	}
	if err != nil {
		unix.Close(fd)
		return ownVDSO{}, err
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

// atSysinfoEHDR is the entry of the auxiliary vector with the vdso's address.
const atSysinfoEHDR = 33

// maxVDSO bounds what is read of it. In every kernel it has a few pages.
const maxVDSO = 1 << 20

// mappedVDSO reads the vdso from the memory of the process with this auxiliary
// vector.
func mappedVDSO(auxv, mem string) ([]byte, error) {
	vector, err := safefile.Read(auxv, safefile.Note)
	if err != nil {
		return nil, err
	}
	address := int64(0)
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.NativeEndian.Uint64(vector) == atSysinfoEHDR {
			address = int64(binary.NativeEndian.Uint64(vector[8:]))
		}
	}
	memory, _, err := safefile.Open(mem, safefile.Note)
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	page := make([]byte, 4096)
	if _, err := memory.ReadAt(page, address); err != nil {
		return nil, err
	}
	size, err := elfSize(page)
	if err != nil {
		return nil, err
	}
	image := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(memory, address, size), image)
	return image, err
}

// elfSize returns the size of a 64-bit object, given its first page: it ends after its
// segments and its section headers.
func elfSize(page []byte) (int64, error) {
	u := binary.NativeEndian
	number := func(b []byte, at int) uint64 { return uint64(u.Uint16(b[at:])) }
	if string(page[:5]) != "\x7fELF\x02" {
		return 0, errors.New("not a 64-bit object")
	}
	end := u.Uint64(page[0x28:]) // of sections
	if end > 0 {
		end += number(page, 0x3a) * number(page, 0x3c)
	}
	at, each := u.Uint64(page[0x20:]), number(page, 0x36)
	for range number(page, 0x38) {
		if at > uint64(len(page))-0x38 || each < 0x38 {
			return 0, errors.New("its program headers are not in the first page")
		}
		offset, size := u.Uint64(page[at+8:]), u.Uint64(page[at+0x20:])
		if offset > maxVDSO || size > maxVDSO {
			return 0, errors.New("a segment is too long for a vdso")
		}
		end, at = max(end, offset+size), at+each
	}
	if end == 0 || end > maxVDSO {
		return 0, fmt.Errorf("it would have %d bytes", end)
	}
	return int64(end), nil
}
