package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format deb
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"golang.org/x/mod/semver"
)

// minimalLibc returns the oldest version of the C library on which a program runs: the newest
// version that one of its symbols needs. The program must not export a function that it imports:
// the loader would take it instead of the library's.
func minimalLibc(program string) (newest string, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	all, err := f.DynamicSymbols()
	if err != nil {
		return "", err
	}
	symbols, err := f.ImportedSymbols()
	for _, s := range symbols {
		if slices.ContainsFunc(all, func(o elf.Symbol) bool { return o.Name == s.Name && o.Section != elf.SHN_UNDEF }) {
			return "", fmt.Errorf("the program exports %s, which it imports", s.Name)
		}
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && semver.Compare("v"+v, "v"+newest) > 0 {
			newest = v
		}
	}
	if newest == "" && err == nil {
		err = errors.New("the program has no symbol of the C library")
	}
	return newest, err
}

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
	depends := map[string][]string{"deb": nil, "rpm": nil}
	if p.libc {
		oldest, err := minimalLibc(filepath.Join(r.root, "bin/dist", p.name))
		if err != nil {
			return err
		}
		if r.glibc != "" && semver.Compare("v"+oldest, "v"+r.glibc) > 0 {
			return fmt.Errorf("the program needs glibc %s, and must run on %s", oldest, r.glibc)
		}
		depends = map[string][]string{"deb": {"libc6 (>= " + oldest + ")"}, "rpm": {"glibc >= " + oldest}}
	}
	for format := range depends {
		info := nfpm.WithDefaults(&nfpm.Info{Name: p.name, Arch: r.arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional",
			Maintainer: "The authors of stackmill <stackmill@localhost>", Description: p.about, License: "see /usr/share/doc/" + p.name + "/copyright", MTime: r.time,
			Overridables: nfpm.Overridables{Depends: depends[format], Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost"}}})
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
