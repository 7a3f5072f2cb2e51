package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// image writes a container image, which podman load and docker load read. It contains only the
// program, the shared libraries that it needs and a folder for temporary files.
func (r *release) image(p product) error {
	list := []file{{path: "tmp"}, {"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nstackmill:x:1000:1000:stackmill:/tmp:/sbin/nologin\n")}}
	for _, f := range p.files {
		if strings.HasPrefix(f.path, "usr/bin/") {
			f.path = "usr/bin/stackmill"
			list = append(list, f)
		}
	}
	if p.libc {
		libraries, err := sharedLibraries(filepath.Join(r.root, "bin/dist/stackmill"))
		if err != nil {
			return err
		}
		list = append(list, libraries...)
	}
	content, err := r.tar(list)
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return err
	}
	built, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	// The image lacks the system's resolver libraries: Go resolves host names itself.
	built, err = mutate.ConfigFile(built, &v1.ConfigFile{Architecture: r.arch, OS: "linux", Created: v1.Time{Time: r.time}, RootFS: rootFS(built),
		Config: v1.Config{Entrypoint: []string{"/usr/bin/stackmill"}, Env: []string{"PATH=/usr/bin", "HOME=/tmp", "GODEBUG=netdns=go"}, WorkingDir: "/", User: "1000:1000"}})
	if err != nil {
		return err
	}
	tag, err := name.NewTag(p.name + ":" + strings.NewReplacer("~", "-", "+", "-").Replace(r.version))
	if err != nil {
		return err
	}
	return tarball.WriteToFile(filepath.Join(r.out, fmt.Sprintf("%s-%s-image-%s.tar", p.name, r.version, r.arch)), tag, built)
}

// rootFS returns the image's layers, by the digests of their uncompressed content.
func rootFS(i v1.Image) v1.RootFS {
	c, err := i.ConfigFile()
	if err != nil {
		return v1.RootFS{}
	}
	return c.RootFS
}

// sharedLibraries returns the shared libraries of this machine that a program needs, and the
// dynamic loader. Their paths are those at which the loader looks.
func sharedLibraries(program string) (list []file, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	loader := f.Section(".interp")
	if loader == nil {
		return nil, errors.New("the program has no loader")
	}
	path, err := loader.Data()
	if err != nil {
		return nil, err
	}
	paths := []string{strings.TrimRight(string(path), "\x00")}
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil, fmt.Errorf("ldd: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if _, at, found := strings.Cut(line, " => "); found {
			at, _, _ = strings.Cut(at, " ")
			paths = append(paths, at)
		}
	}
	for _, at := range paths {
		content, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		list = append(list, file{strings.TrimPrefix(at, "/"), 0o755, content})
	}
	return list, nil
}
