package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
)

var (
	link       = regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)`)
	identifier = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?`")
	file       = regexp.MustCompile("`([a-z0-9_]+(?:/[a-z0-9_]+)*/[a-z0-9_]+\\.(?:go|sql))`")
)

// Pages link to pages and name files that exist.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	links, files := 0, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/formats/*.md", "testdata/*.md"} {
		for _, page := range testfiles.Glob(t, filepath.Join(root, pattern)) {
			text := read(t, page)
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				links++
				exists(t, page, filepath.Join(filepath.Dir(page), m[1]))
			}
			for _, m := range file.FindAllStringSubmatch(text, -1) {
				files++
				exists(t, page, filepath.Join(root, m[1]))
			}
		}
	}
	if links < 100 || files < 100 {
		t.Errorf("only %d links and %d names of files were found", links, files)
	}
}

// docs/architecture.md shows every room.
func TestRoomsAreShown(t *testing.T) {
	const page = "docs/architecture.md"
	text := read(t, filepath.Join("..", "..", "..", page))
	for folder := range packages(t) {
		name := room(folder)
		if !regexp.MustCompile(`\b` + strings.TrimPrefix(name, "stages/") + `\b`).MatchString(text) {
			t.Errorf("%s does not show %s", page, name)
		}
	}
}

// The names in docs/architecture.md are declared: `package.Name`, or a method.
func TestNamesAreDeclared(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	declared := map[string]bool{}
	for folder := range packages(t) {
		for _, source := range testfiles.Glob(t, filepath.Join(root, folder, "*.go")) {
			f, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names(f) {
				declared[path.Base(folder)+"."+n] = true
			}
		}
	}
	page := "docs/architecture.md"
	named := identifier.FindAllString(read(t, filepath.Join(root, page)), -1)
	if len(named) < 20 {
		t.Errorf("%s names only %d declarations", page, len(named))
	}
	for _, m := range named {
		if n := strings.Trim(m, "`"); !declared[n] {
			t.Errorf("%s names %s, which is not declared", page, n)
		}
	}
}

// names returns what a file declares: `Name`, and `Type.Name` of methods, also of interfaces.
func names(f *ast.File) (list []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			list = append(list, receiver(d)+d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				list = append(list, specNames(spec)...)
			}
		}
	}
	return list
}

func specNames(spec ast.Spec) (list []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			list = append(list, n.Name)
		}
	case *ast.TypeSpec:
		list = append(list, s.Name.Name)
		i, ok := s.Type.(*ast.InterfaceType)
		if !ok {
			break
		}
		for _, m := range i.Methods.List {
			for _, n := range m.Names {
				list = append(list, s.Name.Name+"."+n.Name)
			}
		}
	}
	return list
}

// receiver returns the type of a method, with a dot; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "."
	}
	return "" // generic
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names %s, which does not exist", page, path)
	}
}

// namedPlace matches a file and the functions named after it, as in the tables of "Where to look":
// each may have a note in brackets.
var namedPlace = regexp.MustCompile("`([\\w/]+\\.(?:go|tsx?|sql))`(?:: ((?:`\\w+`(?: \\([^)]*\\))?(?:, )?)+))?")

// placeName matches a name of such a function, or what is said about it in brackets.
var placeName = regexp.MustCompile("\\([^)]*\\)|`(\\w+)`")

// The tables of "Where to look" answer each question with at most three files, which declare the
// functions and types after them.
func TestPlaces(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	_, tables, _ := strings.Cut(read(t, filepath.Join(root, "docs", "architecture.md")), "\n## Where to look\n")
	tables, _, _ = strings.Cut(tables, "\n## ")
	questions, names := 0, 0
	for row := range strings.Lines(tables) {
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| question |") {
			continue
		}
		questions++
		places := namedPlace.FindAllStringSubmatch(row, -1)
		if len(places) > 3 {
			t.Errorf("docs/architecture.md needs more than three files: %s", row)
		}
		for _, m := range places {
			text := read(t, filepath.Join(root, filepath.FromSlash(m[1])))
			for _, name := range placeName.FindAllStringSubmatch(m[2], -1) {
				if name[1] == "" {
					continue
				}
				names++
				if !declares(text, name[1]) {
					t.Errorf("docs/architecture.md: %s does not declare %s", m[1], name[1])
				}
			}
		}
	}
	if questions < 40 || names < 80 {
		t.Errorf("only %d questions and %d names were found", questions, names)
	}
}

// declares reports whether a source file declares a function, type, variable or constant.
func declares(text, name string) bool {
	return regexp.MustCompile(`(?m)^(?:export )?(?:func (?:\([^)]*\) )?|function |var |const |type )` + name + `\b`).MatchString(text)
}
