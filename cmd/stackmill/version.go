package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/schema"
)

// Set by the linker; a plain `go build` leaves them to the build information.
var version, commit string

func newVersionCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of the program and its libraries",
		Example: "  stackmill version --format json",
		Args:    optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"store", "cache-size"} {
				if cmd.Flags().Changed(name) {
					return exit.Usagef("version: --%s: this verb does not read a store", name)
				}
			}
			return a.printVersion(format)
		},
	}
	formatVar(c, &format, "table or json", "table", "json")
	return c
}

func (a *app) printVersion(format string) error {
	program, revision, modules := built()
	names := []string{"stackmill", "commit", "duckdb", "arrow", "go", "store_format"}
	values := []any{program, revision, engineVersion(), modules["github.com/apache/arrow-go/v18"],
		strings.TrimPrefix(runtime.Version(), "go"), schema.StoreVersion}
	if format == "table" {
		for i, n := range names {
			_ = a.Printf("%-13s %s\n", strings.ReplaceAll(n, "_", " "), values[i])
		}
		return nil
	}
	object := make([]string, len(names))
	for i, n := range names {
		object[i] = fmt.Sprintf("%s:%s", terminal.MarshalJSON(n), terminal.MarshalJSON(values[i]))
	}
	return terminal.PrintJSON(a.Stdout, json.RawMessage("{"+strings.Join(object, ",")+"}"), false)
}

// programVersion identifies this build of the program.
func programVersion() string {
	program, revision, _ := built()
	return program + " " + revision
}

// built returns the version and the revision of the program, and the versions of its modules.
func built() (program, revision string, modules map[string]string) {
	program, revision, modules = version, commit, map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, d := range info.Deps {
			modules[d.Path] = strings.TrimPrefix(d.Version, "v")
		}
		if program == "" {
			program = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && revision == "" {
				revision = s.Value
			}
		}
	}
	if program == "" {
		program = "(devel)"
	}
	if revision == "" {
		revision = "unknown"
	}
	return program, revision, modules
}
