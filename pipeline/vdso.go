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

// vdsoImage is a copy of the vdso of the running kernel.
type vdsoImage struct{ file, buildID string }

// vdsoCache keeps the vdso once it was found, or that there is none.
type vdsoCache struct {
	mu    sync.Mutex
	found bool
	vdso  vdsoImage
}

var kernelVDSO vdsoCache

// ownVDSO returns the running kernel's vdso. It is not a file, but mapped into this process: its
// copy is a file in memory, which lives as long as the process. Both fields are empty if there is
// none. After a host error the next call tries again.
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
	image, err := mappedVDSO("/proc/self/auxv", "/proc/self/mem")
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

// atSysinfoEHDR is the tag of the vdso address in the auxiliary vector.
const atSysinfoEHDR = 33

// maxVDSO bounds the size of the vdso, which has a few pages in every kernel.
const maxVDSO = 1 << 20

// mappedVDSO reads the vdso from the memory of the process with this auxiliary vector.
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

// elfSize returns the size of a 64-bit object from its first page: the end of its segments and
// section headers.
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
