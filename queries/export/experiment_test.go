package export

import "testing"

// The program is the load object with the name of the first process. If there is none, it is the one with the name of
// the busiest process; and if there is none either, one that has a main function.
func TestProgram(t *testing.T) {
	library := &object{id: 1, name: "ld-linux-x86-64.so.2", path: "/lib/ld-linux-x86-64.so.2", kind: "elf"}
	long := &object{id: 2, name: "a_program_of_a_long_name", path: "/bin/a_program_of_a_long_name", kind: "elf"}
	shell := &object{id: 3, name: "sh", path: "/bin/sh", kind: "elf"}
	kernel := &object{id: 4, name: "[kernel.kallsyms]", path: "[kernel.kallsyms]", kind: "elf"}
	python := &object{id: 5, name: "python3.11", path: "/usr/bin/python3.11", kind: "elf"}
	main := map[int64]*function{1: {name: "_start", object: library}, 2: {name: "main", object: long}}
	for _, c := range []struct {
		what      string
		processes map[int32]process
		functions map[int64]*function
		want      *object
	}{
		{"its name", map[int32]process{1: {program: "sh", samples: 2}, 2: {program: long.name, samples: 3}}, main, shell},
		{"as much of its name as kernels keep", map[int32]process{1: {program: "other", samples: 9}, 3: {program: "sh", samples: 2}, 2: {program: "a_program_of_a_", samples: 3}}, nil, long},
		{"its name without the version", map[int32]process{1: {program: "python3", samples: 2}, 2: {program: "sh", samples: 3}}, nil, python},
		{"no part of its name", map[int32]process{1: {program: "pyth", samples: 2}, 2: {program: "sh", samples: 3}}, nil, shell},
		{"a main function", map[int32]process{1: {program: "Worker", samples: 2}}, main, long},
		{"nothing", map[int32]process{1: {program: "Worker", samples: 2}}, nil, nil},
	} {
		e := &experiment{objects: map[int64]*object{1: library, 2: long, 3: shell, 4: kernel, 5: python}, processes: c.processes, functions: c.functions}
		if got := e.program(); got != c.want {
			t.Errorf("by %s: %v", c.what, got)
		}
	}
}
