package structure

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// readProgram reads load objects, modules, functions and locations: only the columns that are
// needed to compute values.
func readProgram(tables schema.TableReader, p *program.Program, lines bool) error {
	objects, err := readObjects(tables, p)
	if err != nil {
		return err
	}
	modules, err := readModules(tables, p, objects)
	if err != nil {
		return err
	}
	if err := readFunctions(tables, p, objects, modules); err != nil {
		return err
	}
	if err := readLocations(tables, p, objects, lines); err != nil {
		return err
	}
	return readInlined(tables, p, lines)
}

// placeColumns returns the names of the columns with source lines, none if lines is false.
func placeColumns(lines bool) []string {
	if lines {
		return []string{"file", "line"}
	}
	return nil
}

// placeReader returns a function that reads a row's source line, from the column at this index and
// the next one. If lines is false, the function returns no line.
func placeReader(c *schema.Columns, column int, lines bool) func(row int) funcinfo.Place {
	if !lines {
		return func(int) funcinfo.Place { return funcinfo.Place{} }
	}
	files, numbers := c.Texts(column), c.Int32s(column+1)
	return func(row int) funcinfo.Place { return funcinfo.Place{File: files(row), Line: numbers[row]} }
}

// readObjects reads load objects, and returns their numbers by identifier.
func readObjects(tables schema.TableReader, p *program.Program) (map[int64]program.ObjectNo, error) {
	numbers := map[int64]program.ObjectNo{}
	err := schema.EachBatch(tables(schema.LoadObjects, 0, schema.AllRows, "load_object_id", "name", "path", "kind"), func(c *schema.Columns) error {
		ids, names, paths, kinds := c.Int64s(0), c.Texts(1), c.Texts(2), c.Texts(3)
		for i := range c.N {
			numbers[ids[i]] = program.ObjectNo(len(p.Objects))
			p.Objects = append(p.Objects, program.Object{ID: ids[i], Name: names(i), Path: paths(i), Kind: kinds(i)})
		}
		return nil
	})
	return numbers, err
}

// readModules reads modules, and returns their numbers by identifier.
func readModules(tables schema.TableReader, p *program.Program, objects map[int64]program.ObjectNo) (map[int64]program.ModuleNo, error) {
	numbers := map[int64]program.ModuleNo{}
	err := schema.EachBatch(tables(schema.Modules, 0, schema.AllRows, "module_id", "load_object_id"), func(c *schema.Columns) error {
		ids, owners := c.Int64s(0), c.Int64s(1)
		for i := range c.N {
			object, ok := objects[owners[i]]
			if !ok {
				return danglingError(schema.Modules, "row", int32(len(p.Modules)))
			}
			numbers[ids[i]] = program.ModuleNo(len(p.Modules))
			p.Modules = append(p.Modules, program.Module{ID: ids[i], Object: object})
		}
		return nil
	})
	return numbers, err
}

func readFunctions(tables schema.TableReader, p *program.Program, objects map[int64]program.ObjectNo, modules map[int64]program.ModuleNo) error {
	return schema.EachBatch(tables(schema.Functions, 0, schema.AllRows, "function_no", "function_id", "load_object_id", "module_id"), func(c *schema.Columns) error {
		numbers, ids, objectIDs, moduleIDs := c.Int32s(0), c.Int64s(1), c.Int64s(2), c.Int64s(3)
		for i := range c.N {
			object, ok := objects[objectIDs[i]]
			module, known := modules[moduleIDs[i]]
			if !ok || !known || int(numbers[i]) != len(p.Functions) {
				return danglingError(schema.Functions, "function_no", numbers[i])
			}
			p.Functions = append(p.Functions, program.Function{ID: ids[i], Object: object, Module: module})
		}
		return nil
	})
}

func readLocations(tables schema.TableReader, p *program.Program, objects map[int64]program.ObjectNo, lines bool) error {
	columns := append([]string{"location", "load_object_id", "function_no"}, placeColumns(lines)...)
	return schema.EachBatch(tables(schema.Locations, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		numbers, owners, functions, places := c.Int32s(0), c.Int64s(1), c.Int32s(2), placeReader(c, 3, lines)
		for i := range c.N {
			object, ok := objects[owners[i]]
			if !ok || !inRange(functions[i], len(p.Functions)) || int(numbers[i]) != p.Locations.Len() {
				return danglingError(schema.Locations, "location", numbers[i])
			}
			p.Locations.Add(program.Location{Object: object, Function: program.FunctionNo(functions[i]), Place: places(i)})
		}
		return nil
	})
}

// readInlined reads the functions inlined at each location.
func readInlined(tables schema.TableReader, p *program.Program, lines bool) error {
	p.Inlines = make([][]program.Level, p.Locations.Len())
	columns := append([]string{"location", "depth", "function_no"}, placeColumns(lines)...)
	return schema.EachBatch(tables(schema.InlineFrames, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
		locations, depths, functions, places := c.Int32s(0), c.Int32s(1), c.Int32s(2), placeReader(c, 3, lines)
		for i := range c.N {
			n := locations[i]
			if !inRange(n, len(p.Inlines)) || !inRange(functions[i], len(p.Functions)) || int(depths[i]) != len(p.Inlines[n]) {
				return danglingError(schema.InlineFrames, "location", n)
			}
			p.Inlines[n] = append(p.Inlines[n], program.Level{Function: program.FunctionNo(functions[i]), Place: places(i)})
		}
		return nil
	})
}
