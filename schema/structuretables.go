package schema

// NoFileOffset separates the values of `locations.offset`: smaller ones are offsets in a file. The
// others number locations whose offset the profile does not have.
const NoFileOffset = 1 << 61

// Program structure.
var (
	LoadObjects = &Table{Name: "load_objects", Summary: true, Row: "one load object: executable, shared object, vdso, generated code", Key: key("load_object_id"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Plain, "", false, "Hash of the build-id; without one, of the name and content of the file; without a file, of the path and mapping."},
		{"name", String, Dict, "", false, "The base name of the path; names of artificial load objects are in angle brackets."},
		{"path", String, Dict, "", false, "The recorded path."},
		{"build_id", String, Dict, "", false, "The build-id in hex, empty if there is none."},
		{"checksum", Int64, Plain, "", false, "The recorded checksum, 0 if not computed."},
		{"kind", String, Dict, "", false, "`elf`, `dynamic`, `java`, `artificial` or `unknown`."},
		{"symbols", String, Dict, "", false, "Where the load object's symbols came from: `archive`, `path`, `cache` (found by the build-id), `recording`, or `none`."},
		{"functions", Int64, Delta, "count", false, "The number of functions in its symbol tables."},
		{"lines", Bool, Plain, "", false, "Whether debug information was found, so that source lines are known."},
		{"short_path", String, Dict, "", false, "The name, preceded by as many parent folders as distinguish it from all other load objects of the experiment; only the name if another load object has the same path."},
	}}
	// Segments have no key: a recording may report a mapping twice.
	Segments = &Table{Name: "segments", Row: "one mapping of a load object in a process, with the time during which it existed (S1)", Key: nil, Columns: []Column{
		experimentID, process,
		{"load_object_id", Int64, Dict, "", false, "The mapped load object."},
		{"address", Int64, Plain, "", false, "The first address of the mapping."},
		{"size", Int64, Plain, "bytes", false, "The size of the mapping."},
		{"file_offset", Int64, Plain, "bytes", false, "The offset in the load object's file that is mapped to `address`."},
		{"permissions", Int32, Dict, "", false, "The permissions of the mapping, as a sum of 1 (read), 2 (write), 4 (execute), 8 (shared)."},
		{"loaded_ns", Int64, Plain, "ns", false, "When it was mapped, from the founder's start."},
		{"unloaded_ns", Int64, Plain, "ns", true, "When it was unmapped; missing if it was not."},
	}}
	Modules = &Table{Name: "modules", Row: "one compilation unit that a function on a stack belongs to", Key: key("module_id"), Columns: []Column{
		experimentID,
		{"module_id", Int64, Dict, "", false, "Hash of load object and name."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"name", String, Dict, "", false, "The unit's path; `(unknown)` for functions without debug information."},
		{"language", String, Dict, "", false, "The source language, empty if unknown."},
		{"short_path", String, Dict, "", false, "The part of the path that is the same for builds in other directories: the path relative to the common directory of the sources that were compiled together; without debug information, the name without directories."},
	}}
	Functions = &Table{Name: "functions", Row: "one function that is on a stack or inlined into one on a stack, from which the compiler made such a function (a clone, an outline function or the body of a parallel region), or that is artificial, such as `<Total>`", Key: key("function_id"), Columns: []Column{
		experimentID,
		functionNo.as(Delta),
		{"function_id", Int64, Dict, "", false, "Hash of load object, module, linkage name and address; for inlined functions, also of their declaration (S10)."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"module_id", Int64, Dict, "", false, "The function's module."},
		{"name", String, Dict, "", false, "The display name: demangled, with readable clone suffixes."},
		{"other_gprofng_name", String, Dict, "", true, "`gprofng_name`, if it differs from `name`."},
		{"other_perf_name", String, Dict, "", true, "`perf_name`, if it differs from `name`."},
		{"other_linkage_name", String, Dict, "", true, "`linkage_name`, if it differs from `name`."},
		{"other_aliases", String, Dict, "", true, "`aliases`, if they differ from `linkage_name`."},
		{"kind", String, Dict, "", false, "`normal`, `static`, `plt`, `outline`, `clone`, `body`, `dynamic`, `java`, `kernel`, `artificial`, `unknown`, or `inlined` (the load object has code of this function only inside other functions)."},
		{"address", Int64, Dict, "", false, "The link-time virtual address, as in the symbol table (S2)."},
		{"offset", Int64, Dict, "bytes", false, "The offset in the load object's file."},
		{"size", Int64, Dict, "bytes", false, "The size of the function's code."},
		{"clone_of", Int64, Dict, "", true, "For a clone: the function of which it is a variant (S9); missing if the load object no longer has that function."},
		{"outline_of", Int64, Dict, "", true, "For an outline function: the function from which the compiler cut it out (S12)."},
		{"body_of", Int64, Dict, "", true, "For the body of a parallel region: the function that contains the region in the source (S11)."},
		{"body_line", Int32, Dict, "", false, "For the body of a parallel region: its first source line; 0 if unknown, and for other functions."},
		{"start_line", Int32, Dict, "", false, "The source line of the function's declaration; 0 if unknown."},
		{"name_scope", String, Dict, "", false, "In which scope the linkage name (without one, the display name) identifies the function in every build: in its load object (`object`), in its module (`module`), or in none (`build`), because only its position, which differs between builds, distinguishes it from another function."},
	}, Computed: []DerivedColumn{
		{"gprofng_name", String, "COALESCE(other_gprofng_name, name)", "The name that gprofng would show: the alias that it chooses (S4), with the suffixes of compilers unchanged."},
		{"perf_name", String, "COALESCE(other_perf_name, name)", "The name that perf would show: the alias that it chooses (S4), with the suffixes of compilers unchanged."},
		{"linkage_name", String, "COALESCE(other_linkage_name, name)", "The name in the symbol table (for inlined functions, in the debug information); empty for artificial functions and for regions without symbols (`<static>@OFFSET`)."},
		{"aliases", String, "COALESCE(other_aliases, other_linkage_name, name)", "All linkage names at the function's address (S4), in byte order, separated by tabs because names in Go contain blanks."},
	}}
	Locations = &Table{Name: "locations", Row: "one instruction that is on a stack or accessed memory. An instruction in the body of a parallel region has a second row, for the function that user mode shows for it", Key: key("location"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "The instruction's number within the experiment, from 0, by which other tables refer to it."},
		{"other_location_id", Int64, Plain, "", true, "`location_id`, if it is not the hash of load object and offset."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo,
		{"offset", Int64, DictOrDelta, "bytes", false, "The offset in the load object's file; in `<Unknown>`, the PC itself; a number from 2^61 on for a place that a profile names without an address."},
		{"instruction", Int64, Dict, "bytes", true, "The offset of the instruction, if the recorded PC is not at its start: collectors only guess where the call before a return address starts."},
		{"file", String, Dict, "", false, "The source file's path, empty if unknown."},
		{"line", Int32, Dict, "", false, "The source line, 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "Distinguishes parts of a line, such as the bodies of two loops; 0 if the compiler does not distinguish them."},
		{"reason", String, Dict, "", false, "Why the function (S15) or the instruction (S22) is unknown; empty if both are known."},
	}, Joined: ofFunction, Computed: []DerivedColumn{
		{"location_id", Int64, `COALESCE(other_location_id, path_part(t.load_object_id, t."offset"))`, "Hash of load object and offset; also of the function, if the offset is not inside it or the function is in no file. The same instruction has the same hash in every experiment."},
		functionID.as("The instruction's function; in the row that user mode shows for the body of a parallel region, the function that contains the region (S11)."),
	}}
	InlineFrames = &Table{Name: "inline_frames", Row: "one function inlined at one instruction (S10); an instruction with nested inlining has a row for each inlined function", Key: key("location", "depth"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "The instruction: `locations.location`."},
		{"depth", Int32, Dict, "", false, "0 is the outermost inlined function, which the location's function calls at the location's line."},
		functionNo,
		{"file", String, Dict, "", false, "The source file of the place reached in the inlined function: of its call of the next inlined function or, in the innermost, of the instruction itself; empty if unknown."},
		{"line", Int32, Plain, "", false, "The line of that place in `file`; 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "As `locations.discriminator`, for that line."},
	}, Joined: ofFunction + " " + ofLocation, Computed: []DerivedColumn{
		locationID,
		functionID.as("The inlined function. If the debug information says that it also has code of its own, this is the function to which that code belongs."),
		{"function", String, "f.name", "The inlined function's display name; `(unknown)` if unknown."},
	}}
	Listings = &Table{Name: "listings", Row: "one function whose instructions are known", Key: key("function_no"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo.as(Delta),
		listedIn, listing, content,
	}}
	Instructions = &Table{Name: "instructions", Row: "one instruction of a function that is on a stack or accessed memory. Functions with the largest values have all their instructions (static regions and functions longer than 64 KiB, those near PCs on stacks), up to about 25,000 instructions in an experiment; other functions have only the instructions that are on stacks or accessed memory", Key: key("function_no", "offset"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"offset", Int64, Delta, "bytes", false, "As `locations.offset`: the offset in the load object's file; for generated code, from the function's start."},
		{"size", Int32, Dict, "bytes", false, "The length of the instruction; 0 if the file does not contain the code."},
		{"text", String, Dict, "", false, "The instruction in the syntax of the GNU tools (AT&T for x86); undecodable bytes are shown as bytes; `(not in the file)` if the file lacks the code at this PC."},
		{"target", Int64, PlainOrDelta, "bytes", true, "The offset to which a direct call or jump leads; missing for other instructions, and for targets outside the file."},
		{"target_name", String, Dict, "", false, "The function to which a call or jump leads: followed by the distance from its start if that is not 0, or by `@plt` if the way is through the procedure linkage table. Empty if the target is in the same function or unknown."},
		{"file", String, Dict, "", false, "The source file's path, as `locations.file`; empty if unknown."},
		{"line", Int32, Delta, "", false, "The source line, 0 if unknown."},
	}, Links: Listings, Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	SourceFiles = &Table{Name: "source_files", Row: "one source file that was found and has lines with values", Key: key("file"), Columns: []Column{
		experimentID,
		{"file", String, Dict, "", false, "The path, as `locations.file`."},
		listedIn, listing, content,
	}}
	SourceLines = &Table{Name: "source_lines", Row: "one line of a source file that was found and has lines with values", Key: key("file", "line"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"line", Int32, Delta, "", false, "The line, from 1."},
		{"text", String, Plain, "", false, "The line's text."},
	}, Links: SourceFiles}
)
