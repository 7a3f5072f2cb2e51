package schema

// NoFileOffset separates the values of `locations.offset`: smaller ones are offsets in a file. The
// others number locations whose offset the profile does not have.
const NoFileOffset = 1 << 61

// Program structure.
var (
	LoadObjects = &Table{Name: "load_objects", Summary: true, Row: "one load object: executable, shared object, vdso, generated code", Key: key("load_object_id"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Plain, "", false, "Hash of the build-id; without one, of the name and the content of its file; without a file, of path and mapping."},
		{"name", String, Dict, "", false, "The base name; artificial ones stand in angle brackets."},
		{"path", String, Dict, "", false, "The path recorded."},
		{"build_id", String, Dict, "", false, "The build-id in hex, empty if there is none."},
		{"checksum", Int64, Plain, "", false, "The recorded checksum, 0 if not computed."},
		{"kind", String, Dict, "", false, "`elf`, `dynamic`, `java`, `artificial` or `unknown`."},
		{"symbols", String, Dict, "", false, "Where its symbols came from: `archive`, `path`, `cache` (found by its build-id), `recording`, or `none`."},
		{"functions", Int64, Delta, "count", false, "The number of functions its symbol tables name."},
		{"lines", Bool, Plain, "", false, "Whether its source lines are known: debug information was found."},
		{"short_path", String, Dict, "", false, "The shortest end of its path that no other load object of the experiment has, from its name on; the name where the whole path is another one's, too."},
	}}
	// Segments have no key: a recording may report a mapping twice.
	Segments = &Table{Name: "segments", Row: "one mapping of a load object in a process, with its life time (S1)", Key: nil, Columns: []Column{
		experimentID, process,
		{"load_object_id", Int64, Dict, "", false, "The load object mapped."},
		{"address", Int64, Plain, "", false, "The first address."},
		{"size", Int64, Plain, "bytes", false, "The size."},
		{"file_offset", Int64, Plain, "bytes", false, "The offset in the object's file."},
		{"permissions", Int32, Dict, "", false, "A sum of 1 (read), 2 (write), 4 (execute), 8 (shared)."},
		{"loaded_ns", Int64, Plain, "ns", false, "When it was mapped, from the founder's start."},
		{"unloaded_ns", Int64, Plain, "ns", true, "When it was unmapped; missing if it was not."},
	}}
	Modules = &Table{Name: "modules", Row: "one compilation unit that a function on a stack belongs to", Key: key("module_id"), Columns: []Column{
		experimentID,
		{"module_id", Int64, Dict, "", false, "Hash of load object and name."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"name", String, Dict, "", false, "The unit's path; `(unknown)` for functions without debug information."},
		{"language", String, Dict, "", false, "The source language, empty if unknown."},
		{"short_path", String, Dict, "", false, "The part of its path that builds in other directories share: the path from the common directory of the sources that were compiled together; without debug information, the name without directories."},
	}}
	Functions = &Table{Name: "functions", Row: "one function on a stack or inlined there, the function it was made from, and the artificial ones", Key: key("function_id"), Columns: []Column{
		experimentID,
		functionNo.as(Delta),
		{"function_id", Int64, Dict, "", false, "Hash of load object, module, linkage name and address; of inlined functions, also of their declaration (S10)."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		{"module_id", Int64, Dict, "", false, "Its module."},
		{"name", String, Dict, "", false, "The name for people: demangled, clone suffixes readable."},
		{"other_gprofng_name", String, Dict, "", true, "`gprofng_name` where it is not `name`."},
		{"other_perf_name", String, Dict, "", true, "`perf_name` where it is not `name`."},
		{"other_linkage_name", String, Dict, "", true, "`linkage_name` where it is not `name`."},
		{"other_aliases", String, Dict, "", true, "`aliases` where they are not `linkage_name`."},
		{"kind", String, Dict, "", false, "`normal`, `static`, `plt`, `outline`, `clone`, `body`, `dynamic`, `java`, `kernel`, `artificial`, `unknown`, or `inlined`: the load object has no such function, only code of it inside others."},
		{"address", Int64, Dict, "", false, "The link-time virtual address, as in the symbol table (S2)."},
		{"offset", Int64, Dict, "bytes", false, "The offset in the load object's file."},
		{"size", Int64, Dict, "bytes", false, "The size."},
		{"clone_of", Int64, Dict, "", true, "Of a clone, the function it is a variant of (S9); missing if the load object no longer has it."},
		{"outline_of", Int64, Dict, "", true, "Of an outline function, the function it was cut out of (S12)."},
		{"body_of", Int64, Dict, "", true, "Of the body of a parallel region, the function that holds the region (S11)."},
		{"body_line", Int32, Dict, "", false, "Of a body, its first source line; 0 if unknown, and for other functions."},
		{"start_line", Int32, Dict, "", false, "The line where the source declares it, 0 if unknown."},
		{"name_scope", String, Dict, "", false, "Where the linkage name, or else the name for people, identifies it in any build: in its load object (`object`), in its module (`module`), or nowhere, since only its place distinguishes it from another function (`build`)."},
	}, Computed: []DerivedColumn{
		{"gprofng_name", String, "COALESCE(other_gprofng_name, name)", "The name as gprofng would show it, of the alias that it chooses (S4): without a compiler's marks made readable."},
		{"perf_name", String, "COALESCE(other_perf_name, name)", "The name as perf would show it, of the alias that it chooses (S4): without a compiler's marks made readable."},
		{"linkage_name", String, "COALESCE(other_linkage_name, name)", "The name in the symbol table, of inlined functions that in the debug information; empty for artificial and static ones."},
		{"aliases", String, "COALESCE(other_aliases, other_linkage_name, name)", "All linkage names at its address, separated by tabs, since Go's have blanks, in byte order (S4)."},
	}}
	Locations = &Table{Name: "locations", Row: "one instruction on a stack, or that accessed memory; one in a body twice, as user mode shows it too", Key: key("location"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "Its number within the experiment, from 0: other tables refer to it."},
		{"other_location_id", Int64, Plain, "", true, "`location_id` where that is not the hash of load object and offset."},
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo,
		{"offset", Int64, DictOrDelta, "bytes", false, "The offset in the load object's file; in `<Unknown>`, the PC itself. Of a place that a profile names without saying where it is, a number from 2^61 on."},
		{"instruction", Int64, Dict, "bytes", true, "The offset of the instruction, where it differs from the recorded PC: collectors guess where the call before a return address starts."},
		{"file", String, Dict, "", false, "The source file's path, empty if unknown."},
		{"line", Int32, Dict, "", false, "The source line, 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "What tells the parts of a line apart, such as the bodies of two loops; 0 if the compiler does not."},
		{"reason", String, Dict, "", false, "Why the function (S15) or its instruction (S22) is unknown; empty if both are known."},
	}, Joined: ofFunction, Computed: []DerivedColumn{
		{"location_id", Int64, `COALESCE(other_location_id, path_part(t.load_object_id, t."offset"))`, "Hash of load object and offset, and of the function where that does not hold the offset or is in no file: the same instruction has the same one in every experiment."},
		functionID.as("Its function; in user mode, of an instruction in a body, the function the body was made from (S11)."),
	}}
	InlineFrames = &Table{Name: "inline_frames", Row: "one level of the inline chain of an instruction that was inlined (S10)", Key: key("location", "depth"), Columns: []Column{
		experimentID,
		{"location", Int32, Delta, "", false, "The instruction: `locations.location`."},
		{"depth", Int32, Dict, "", false, "0 is the outermost inlined function, which the location's function calls at the location's line."},
		functionNo,
		{"file", String, Dict, "", false, "The source file of the place reached in it, empty if unknown: the call of the next level or, at the last, the instruction's own line."},
		{"line", Int32, Plain, "", false, "The line there, 0 if unknown."},
		{"discriminator", Int32, Dict, "", false, "As `locations.discriminator`, of that line."},
	}, Joined: ofFunction + " " + ofLocation, Computed: []DerivedColumn{
		locationID,
		functionID.as("The inlined function: the load object's own if the debug information says that it has code that is not inlined, too."),
		{"function", String, "f.name", "Its name for people, `(unknown)` if unknown."},
	}}
	Listings = &Table{Name: "listings", Row: "one function whose instructions are known", Key: key("function_no"), Columns: []Column{
		experimentID,
		{"load_object_id", Int64, Dict, "", false, "Its load object."},
		functionNo.as(Delta),
		listedIn, listing, content,
	}}
	Instructions = &Table{Name: "instructions", Row: "one instruction of a function that is on a stack or accessed memory: all of the functions with the largest values, up to about 25,000 (of static regions and functions longer than 64 KiB only near PCs on stacks); of other functions only the instructions that are on stacks or accessed memory", Key: key("function_no", "offset"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"offset", Int64, Delta, "bytes", false, "As `locations.offset`: in the load object's file; in generated code, from the function's start."},
		{"size", Int32, Dict, "bytes", false, "Its length; 0 where the code is not in the file."},
		{"text", String, Dict, "", false, "The instruction in the syntax of the GNU tools (AT&T for x86); undecodable bytes are shown as bytes; `(not in the file)` at a PC in a part of the code that the file lacks."},
		{"target", Int64, PlainOrDelta, "bytes", true, "Where a direct call or jump goes, as `offset`; missing for other instructions and outside the file."},
		{"target_name", String, Dict, "", false, "The function that a call or jump leads to, with the distance from its start if that is not 0, or `@plt` when it goes through the procedure linkage table; empty within the function, or if unknown."},
		{"file", String, Dict, "", false, "The source file's path, as `locations.file`; empty if unknown."},
		{"line", Int32, Delta, "", false, "The source line, 0 if unknown."},
	}, Links: Listings, Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	SourceFiles = &Table{Name: "source_files", Row: "one source file that was found, of those in which lines have values", Key: key("file"), Columns: []Column{
		experimentID,
		{"file", String, Dict, "", false, "The path, as `locations.file`."},
		listedIn, listing, content,
	}}
	SourceLines = &Table{Name: "source_lines", Row: "one line of a source file that was found, of those in which lines have values", Key: key("file", "line"), Columns: []Column{
		listedIn, listing.as(Delta),
		{"line", Int32, Delta, "", false, "The line, from 1."},
		{"text", String, Plain, "", false, "Its text."},
	}, Links: SourceFiles}
)
