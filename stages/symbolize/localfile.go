package symbolize

import (
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/internal/memo"
	"stackmill/internal/safefile"
	"stackmill/stages/decode"
)

// identity says whether the file now at a recorded path on this machine is the one that was mapped.
type identity uint8

const (
	// identityUnknown: the recording has no inode, or was made on another machine, or the file
	// system's inode numbers differ from those in mappings.
	identityUnknown identity = iota
	identityMapped           // it is the file that was mapped
	identityOther            // it is another file
)

// localFile is the file at a recorded path on this machine.
type localFile struct {
	identity
	differs                 bool // its inode is not the mapped one, in a file system with stable inodes
	device, inode           uint64
	generation              uint64    // of the inode, 0 if unknown
	fsType                  int64     // the type of its file system
	born, modified, changed time.Time // born is zero if the file system does not keep it
}

// localFile returns the file at a load object's path on this machine, compared with the file that
// was mapped.
func (r *Resolver) localFile(k objectKey) localFile {
	k = k.unidentified()
	return memo.Get(r.localFiles, k, func() localFile { return r.compareLocal(k) })
}

func (r *Resolver) compareLocal(k objectKey) localFile {
	f, ok := r.stat(k.path)
	if !ok || k.file.Inode == 0 || decode.IsJITted(k.path) || r.rec.Host == "" || r.rec.Host != hostname() {
		return localFile{}
	}
	switch generations := f.generation != 0 && k.file.Generation != 0; {
	case f.inode != k.file.Inode:
		f.differs = hasStableInodes(f.fsType)
	case generations: // a new file may have the inode number of a deleted one
		f.differs = f.generation != k.file.Generation
	case f.device == k.file.Device || sharesDevices(f.fsType):
		first, _ := r.whenMapped(k)
		f.differs = !f.born.IsZero() && !r.rec.Began.IsZero() && f.born.After(first)
	default:
		return f
	}
	switch {
	case !f.differs && f.inode == k.file.Inode:
		f.identity = identityMapped
	case f.differs && r.isLocalMachine():
		f.identity = identityOther
	}
	return f
}

// existed reports whether the file existed when the recording ended: by its birth time or, if that
// is unknown, by the inode's change time.
func (f *localFile) existed(ended time.Time) bool {
	if f.born.IsZero() {
		return !f.changed.After(ended)
	}
	return !f.born.After(ended)
}

// statLocal reads a file's properties from the file system.
func statLocal(path string) (f localFile, ok bool) {
	var st unix.Statx_t
	var fs unix.Statfs_t
	if !filepath.IsAbs(path) || unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st) != nil ||
		st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Statfs(path, &fs) != nil {
		return localFile{}, false
	}
	stamp := func(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }
	f = localFile{
		device: uint64(st.Dev_major)<<32 | uint64(st.Dev_minor), inode: st.Ino, generation: generationOf(path), fsType: int64(fs.Type),
		modified: stamp(st.Mtime), changed: stamp(st.Ctime),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		f.born = stamp(st.Btime)
	}
	return f, true
}

// getVersion is the ioctl FS_IOC_GETVERSION on 64-bit systems.
const getVersion = 0x80087601

// generationOf returns the generation of a file's inode, 0 if unknown.
func generationOf(path string) uint64 {
	f, _, err := safefile.Open(path, safefile.LoadObject)
	if err != nil {
		return 0
	}
	defer f.Close()
	generation, err := unix.IoctlGetUint32(int(f.Fd()), getVersion)
	if err != nil {
		return 0
	}
	return uint64(generation)
}

// stableInodes are the file systems in which files keep their inode numbers, and mappings have the
// same numbers as stat. In the overlayfs of containers, mappings have the number of the file in the
// lower layer; FUSE and FAT invent numbers.
var stableInodes = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.BCACHEFS_SUPER_MAGIC,
	unix.NFS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, zfsMagic, jfsMagic,
}

// Magic numbers of file systems that package unix lacks.
const (
	zfsMagic = 0x2fc12fc1
	jfsMagic = 0x3153464a
)

func hasStableInodes(system int64) bool { return slices.Contains(stableInodes, system) }

// sharesDevices reports whether device numbers in mappings differ from those that stat returns:
// stat returns one for each subvolume.
func sharesDevices(system int64) bool {
	return system == unix.BTRFS_SUPER_MAGIC || system == unix.BCACHEFS_SUPER_MAGIC
}

// whenMapped returns when a load object's file was mapped for the first and for the last time.
func (r *Resolver) whenMapped(k objectKey) (first, last time.Time) {
	x := r.allMappings().times[k.unidentified()]
	return r.rec.Began.Add(time.Duration(x.first)), r.rec.Began.Add(time.Duration(x.last))
}

// endTime returns when the recording ended, at the latest; zero if unknown.
func (r *Resolver) endTime() time.Time {
	if r.rec.Began.IsZero() {
		return time.Time{}
	}
	return r.rec.Began.Add(r.rec.Length())
}

// machineMatch says whether a recording whose host has this machine's name was made on this
// machine.
type machineMatch struct {
	local    bool
	compared int // number of the recording's files whose inodes were compared with those here
}

// isLocalMachine reports whether the recording was made on this machine. Equal host names do not
// prove it: also, a mapped file must still exist, or the kernel must not have been restarted since.
func (r *Resolver) isLocalMachine() bool {
	if r.machine == nil {
		r.machine = &machineMatch{}
		booted, ok := r.locator.(interface{ SameBoot() bool })
		r.machine.local = ok && booted.SameBoot() || r.hasMappedFile()
	}
	return r.machine.local
}

// hasMappedFile reports whether at least one of the mapped files still exists here.
func (r *Resolver) hasMappedFile() bool {
	for k := range r.allMappings().times {
		if k.file.Inode == 0 || decode.IsPerfMap(k.path) {
			continue
		}
		f, ok := r.stat(k.path)
		if !ok {
			continue
		}
		r.machine.compared++
		if f.inode != k.file.Inode {
			continue
		}
		if f.generation != 0 && k.file.Generation != 0 && f.generation == k.file.Generation || f.generation == 0 && f.device == k.file.Device {
			return true
		}
	}
	return false
}
