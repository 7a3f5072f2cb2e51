package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// minimalLibc is the oldest C library on which the program runs: the symbols' versions that
// linking on Debian 12 gives it. TestNeeds of this folder compares it with the program.
const minimalLibc = "2.36"

// packages writes a Debian and an RPM package.
func (r *release) packages(p product) (err error) {
	stage, err := os.MkdirTemp("", "stackmill-dist-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	var contents files.Contents
	for _, f := range p.files {
		at := filepath.Join(stage, filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, f.content, 0o666)); err != nil {
			return err
		}
		contents = append(contents, &files.Content{Source: at, Destination: "/" + f.path, FileInfo: &files.ContentFileInfo{Mode: os.FileMode(f.mode), MTime: r.time, Owner: "root", Group: "root"}})
	}
	for format, depends := range map[string][]string{"deb": {"libc6 (>= " + minimalLibc + ")"}, "rpm": {"glibc >= " + minimalLibc}} {
		if !p.libc {
			depends = nil
		}
		info := nfpm.WithDefaults(&nfpm.Info{Name: p.name, Arch: r.arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional",
			Maintainer: "The authors of stackmill <stackmill@localhost>", Description: p.about, License: "see /usr/share/doc/" + p.name + "/copyright", MTime: r.time,
			Overridables: nfpm.Overridables{Depends: depends, Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost"}}})
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		var to bytes.Buffer
		if err := packager.Package(info, &to); err != nil {
			return err
		}
		if err := r.write(packager.ConventionalFileName(info), to.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
