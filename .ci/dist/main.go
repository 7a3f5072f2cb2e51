// Command dist packages the built programs for a release: tar archives, Debian and RPM packages,
// container images, a software bill of materials, and checksums. The same programs give the same
// bytes. See `make dist`.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// release describes the release to make, of one commit.
type release struct {
	root    string // folder of the checked out sources
	out     string // folder to write to
	version string
	time    time.Time // of the commit; every file gets it
	arch    string
	glibc   string // newest version of the C library that the full program may need; "": any
}

// file is a file in an archive, a package or an image.
type file struct {
	path    string // without a leading slash
	mode    int64
	content []byte
}

func main() {
	r := &release{arch: runtime.GOARCH}
	seconds := flag.Int64("time", 0, "the time of all files, in seconds since 1970")
	flag.StringVar(&r.root, "root", ".", "the checkout, with what was built in bin")
	flag.StringVar(&r.out, "out", "dist", "the folder to write to")
	flag.StringVar(&r.version, "version", "", "the version")
	flag.StringVar(&r.glibc, "glibc", "", "fail if the program needs a newer version of the C library")
	flag.Parse()
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.make(); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func (r *release) make() error {
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o777)); err != nil {
		return err
	}
	full, err := r.fullFiles()
	if err != nil {
		return err
	}
	worker, err := r.workerFiles()
	if err != nil {
		return err
	}
	for _, p := range []product{
		{name: "stackmill", about: "profile analysis: reads profiler recordings, answers questions by SQL", files: full, libc: true},
		{name: "stackmill-worker", about: "profile analysis: reads profiler recordings into a store", files: worker},
	} {
		if err := r.product(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return r.checksums()
}

// product is a released program with the files of its packages.
type product struct {
	name, about string
	files       []file
	libc        bool // the program needs the system's C library
}

func (r *release) product(p product) error {
	return errors.Join(r.archive(p), r.packages(p), r.image(p), r.materials(p))
}

// fullFiles lists the files in the package of the full program.
func (r *release) fullFiles() ([]file, error) {
	files, err := r.common("bin/dist/stackmill")
	if err != nil {
		return nil, err
	}
	for from, to := range map[string]string{"bin/dist/man": "usr/share/man/man1", "bin/dist/completions/bash": "usr/share/bash-completion/completions",
		"bin/dist/completions/zsh": "usr/share/zsh/site-functions", "bin/dist/completions/fish": "usr/share/fish/vendor_completions.d",
		".ci/dist/systemd": "usr/lib/systemd/system"} {
		more, err := r.folder(from, to)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// workerFiles lists the files in the package of the worker. Its program has another name, so that
// both packages can be installed.
func (r *release) workerFiles() ([]file, error) {
	return r.common("bin/dist/stackmill-worker")
}

// common lists the files that every package has: a program, licenses and documents.
func (r *release) common(program string) (files []file, err error) {
	name := path.Base(program)
	for from, to := range map[string]string{program: "usr/bin/" + name, "LICENSE": "usr/share/doc/" + name + "/copyright", "README.md": "usr/share/doc/" + name + "/README.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return nil, err
		}
		f := file{to, 0o644, content}
		if from == program {
			f.mode = 0o755
		}
		files = append(files, f)
	}
	return files, nil
}

// folder lists the files of a folder, with new paths below `to`. It compresses manual pages, as
// packages require.
func (r *release) folder(from, to string) (files []file, err error) {
	entries, err := os.ReadDir(filepath.Join(r.root, from))
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.root, from, e.Name()))
		if err != nil {
			return nil, err
		}
		f := file{path.Join(to, e.Name()), 0o644, content}
		if strings.HasPrefix(to, "usr/share/man") {
			if f.content, err = compress(content); err != nil {
				return nil, err
			}
			f.path += ".gz"
		}
		files = append(files, f)
	}
	return files, err
}

func compress(content []byte) ([]byte, error) {
	var to bytes.Buffer
	w, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return to.Bytes(), err
}

// archive writes a tar archive that can be unpacked anywhere: it has bin, share and lib below a
// single folder.
func (r *release) archive(p product) error {
	top := fmt.Sprintf("%s-%s", p.name, r.version)
	var files []file
	for _, f := range p.files {
		f.path = path.Join(top, strings.TrimPrefix(f.path, "usr/"))
		files = append(files, f)
	}
	content, err := r.tar(files)
	if err == nil {
		content, err = compress(content)
	}
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-linux-%s.tar.gz", top, r.arch), content)
}

// tar returns a tar archive of the files and the folders that they are in, sorted by path.
func (r *release) tar(files []file) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
	var to bytes.Buffer
	w, seen := tar.NewWriter(&to), map[string]bool{".": true}
	var folder func(string) error
	folder = func(dir string) error {
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		mode := int64(0o755)
		if dir == "tmp" {
			mode = 0o1777
		}
		return errors.Join(folder(path.Dir(dir)), w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: mode, ModTime: r.time, Format: tar.FormatPAX}))
	}
	for _, f := range files {
		if f.content == nil { // a folder
			if err := folder(f.path); err != nil {
				return nil, err
			}
			continue
		}
		err := errors.Join(folder(path.Dir(f.path)),
			w.WriteHeader(&tar.Header{Name: f.path, Mode: f.mode, Size: int64(len(f.content)), ModTime: r.time, Format: tar.FormatPAX}))
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return to.Bytes(), err
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o666)
}

// checksums writes the file SHA256SUMS for sha256sum -c.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		f, err := os.Open(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", h.Sum(nil), e.Name())
	}
	return r.write("SHA256SUMS", []byte(sums.String()))
}
