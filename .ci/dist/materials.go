package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// materials writes a program's bill of materials as CycloneDX: its Go modules, from the program's
// build information, and the packages of the page that it serves.
func (r *release) materials(p product) error {
	built, err := buildinfo.ReadFile(filepath.Join(r.root, "bin/dist", p.name))
	if err != nil {
		return err
	}
	of := cyclonedx.Component{BOMRef: p.name, Type: cyclonedx.ComponentTypeApplication, Name: p.name, Version: r.version}
	list := []cyclonedx.Component{{BOMRef: "go", Type: cyclonedx.ComponentTypePlatform, Name: "go", Version: strings.TrimPrefix(built.GoVersion, "go")}}
	for _, m := range built.Deps {
		version := m.Version
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: version}
		if m.Replace != nil {
			c.Description = "with changes, see internal/demangle/README.md"
		}
		c.PackageURL = "pkg:golang/" + m.Path + "@" + version
		c.BOMRef = c.PackageURL
		list = append(list, c)
	}
	if p.libc {
		page, err := r.pagePackages()
		if err != nil {
			return err
		}
		list = append(list, page...)
	}
	slices.SortFunc(list, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format("2006-01-02T15:04:05Z"), Component: &of}
	bom.Components = &list
	var to bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&to, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-%s.cdx.json", p.name, r.version), to.Bytes())
}

// pagePackages returns the npm packages in the page, without build tools.
func (r *release) pagePackages() (list []cyclonedx.Component, err error) {
	text, err := os.ReadFile(filepath.Join(r.root, "queries/serve/web/package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
			License string
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	for at, p := range lock.Packages {
		_, name, ok := strings.Cut(at, "node_modules/")
		if !ok || p.Dev {
			continue
		}
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: p.Version}
		c.PackageURL = "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
		c.BOMRef = c.PackageURL
		if p.License != "" {
			c.Licenses = &cyclonedx.Licenses{{Expression: p.License}}
		}
		list = append(list, c)
	}
	return list, nil
}
