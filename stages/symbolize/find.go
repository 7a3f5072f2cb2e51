package symbolize

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// fileSearch records why candidates for a load object's file were refused, and why the chosen
// candidate is doubtful.
type fileSearch struct {
	file            string
	refused         []remark
	doubt           *remark
	rejectedBuildID string // the recorded build-id, if it was rejected as another file's
}

type remark struct{ reason, message string }

// findObject describes the load object of a mapping. It chooses the first readable file, unless
// something in the recording proves that another file was mapped. Without a build-id or checksum, a
// rebuilt program may give wrong names: then it adds a problem.
func (r *Resolver) findObject(im *image.Image, m *image.Mapping, k objectKey) objectDraft {
	o := objectDraft{Object: program.Object{Name: path.Base(k.path), Path: k.path, Checksum: k.checksum, Kind: "elf", Symbols: "none"}}
	o.kernel = k.path == decode.KernelPath || r.IsKernel(m.Address)
	f := &fileSearch{file: k.path}
	if k.path == decode.KernelPath {
		r.kernelID = k.buildID
	}
	if why := r.contradiction(k); why != nil {
		k, f.refused, f.rejectedBuildID = k.unidentified(), []remark{*why}, k.buildID
	}
	stored := r.StoredLists[k.path]
	if stored != nil && stored.First {
		return stored.object(r, o, k)
	}
	if !o.kernel || k.path == decode.KernelPath || !r.chooseModuleList(&o, f, m) {
		r.chooseFile(&o, f, im, k)
	}
	if o.table == nil && stored == nil && decode.IsPerfMap(k.path) {
		r.chooseOtherPerfMap(&o, f, im, k)
	}
	if o.table == nil && stored != nil {
		return stored.object(r, o, k)
	}
	o.BuildID = cmp.Or(o.BuildID, k.buildID)
	o.ID = r.objectID(&o, im, k, o.kernel)
	o.report = func(touched bool) { r.reportFiles(&o, f, touched) }
	return o
}

// chooseModuleList gives a kernel module the part of the kernel's symbol list (kallsyms) that
// belongs to it. It returns false if there is no such part.
func (r *Resolver) chooseModuleList(o *objectDraft, f *fileSearch, m *image.Mapping) bool {
	list, origin, why := r.moduleList(m)
	if why != nil {
		f.refused = append(f.refused, *why)
	}
	if list == nil {
		return false
	}
	o.table, o.Symbols, o.placer, o.FunctionCount = list, origin, absolutePC, list.Functions.Len()
	return true
}

// chooseFile gives an object the first candidate file that is not refused. It records in f why
// others were refused, and any doubt about the chosen one.
func (r *Resolver) chooseFile(o *objectDraft, f *fileSearch, im *image.Image, k objectKey) {
	for _, c := range Candidates(r.locator, k.path, k.buildID) {
		if f.rejectedBuildID != "" && c.Path == k.path {
			continue
		}
		table, proof, why := r.checkCandidate(c, im, k, o.kernel)
		if table == nil {
			f.refused = append(f.refused, *why)
			continue
		}
		if f.rejectedBuildID != "" && table.BuildID == f.rejectedBuildID { // the candidate is a copy of the rejected file
			continue
		}
		if why != nil {
			f.refused = append(f.refused, *why)
		}
		o.table, o.file, o.Symbols, o.BuildID = table, c.Path, c.Origin, table.BuildID
		o.FunctionCount = table.Functions.Len()
		if o.kernel {
			o.placer = r.kernelPlacer(table)
		}
		switch proof {
		case proofNone:
			f.doubt = r.findDoubt(k, c)
		case proofListed:
			f.doubt = r.findListedDoubt(k, c)
		case proofKernel:
			f.doubt = &remark{"kernel-symbols", "the recording lacks the kernel's address: if these symbols are from another boot, the kernel's functions get wrong names"}
		}
		return
	}
}

// checkCandidate reads a candidate file. It returns the file's symbol table and the proof that it
// is the object's file; why is then a remark on evidence to the contrary, or nil. If it refuses the
// file, table is nil, and why is the reason.
func (r *Resolver) checkCandidate(c decode.Candidate, im *image.Image, k objectKey, kernel bool) (table *symtab.Table, proof proof, why *remark) {
	table, err := r.tables.Load(c.Path)
	if err != nil {
		return nil, 0, &remark{"unreadable-load-object", fmt.Sprintf("the file from the %s cannot be used: %v", c.Origin, err)}
	}
	// Symbol lists have no build-id. A kernel image that the user names may lack one.
	isList := len(table.Regions) == 0
	if k.buildID != "" && table.BuildID != k.buildID && (table.BuildID != "" || !isList && (!kernel || c.Origin == "cache")) {
		if k.byPath && r.isMapped(k, c) && r.misfit(table, im, k) == "" {
			return table, proofInode, r.remarkOnBuildID(k, table)
		}
		return nil, 0, &remark{"wrong-build-id", fmt.Sprintf("the file from the %s is another program: its build-id is %s, the recorded one %s", c.Origin, cmp.Or(table.BuildID, "missing"), k.buildID)}
	}
	if kernel && table.Functions.Len() == 0 {
		return nil, 0, &remark{"kernel-symbols", fmt.Sprintf("the file from the %s has no addresses: only root may read them in /proc/kallsyms", c.Origin)}
	}
	if kernel && isList {
		l := r.kernelList(table)
		if l.table == nil {
			return nil, 0, &remark{"kernel-symbols", fmt.Sprintf("the file from the %s cannot be used: %s", c.Origin, l.why)}
		}
		table = l.table
	}
	switch {
	case kernel && k.path == decode.KernelPath && (r.rec.Kernel.Address == 0 || isList && r.rec.Kernel.Name == ""):
		return table, proofKernel, nil
	case kernel || k.buildID != "" && table.BuildID == k.buildID && !k.byPath:
		return table, proofOwn, nil
	case k.buildID != "" && table.BuildID == k.buildID:
		return table, proofListed, nil
	}
	message := r.misfit(table, im, k)
	if message == "" && c.Origin == "path" {
		message = r.whyDisplaced(k, c)
	}
	if message != "" {
		return nil, 0, &remark{"wrong-load-object", fmt.Sprintf("the file from the %s is another program: %s", c.Origin, message)}
	}
	if k.checksum != 0 {
		return table, proofOwn, nil
	}
	return table, proofNone, nil
}

// Candidates returns the files at a load object's path, then the files with its build-id. For the
// kernel, these include the running kernel's.
func Candidates(locator decode.Locator, file, buildID string) []decode.Candidate {
	list := locator.ByPath(file)
	if was := decode.TrimDeleted(file); was != file { // a file with the same build-id may be there again
		list = append(slices.Clip(list), locator.ByPath(was)...)
	}
	if buildID != "" || file == decode.KernelPath {
		list = append(slices.Clip(list), locator.ByBuildID(file, buildID)...)
	}
	return list
}

// objectID returns the ID of an object: a hash of its build-id, else of its file's content, else of
// recorded properties that are the same in other recordings. Builds that replace each other at a
// path have different IDs, if the build-id or file is known.
func (r *Resolver) objectID(o *objectDraft, im *image.Image, k objectKey, kernel bool) int64 {
	id := schema.NewID("object")
	switch {
	case o.BuildID != "":
		return id.Text(o.BuildID).Sum()
	case o.table != nil:
		return id.Text(o.Name).Number(o.table.Content).Number(uint64(k.checksum)).Sum()
	}
	id.Number(uint64(k.checksum)).Text(k.path)
	switch {
	case kernel:
		id.Text(r.rec.OS)
	case !decode.IsPerfMap(k.path): // offsets in perf maps are addresses, which differ in each run
		if loadings := r.loadingsOf(im, k); len(loadings) > 0 { // empty if the object has no executable mapping
			id.Number(loadings[0].start).Number(loadings[0].end)
		}
	}
	return id.Sum()
}

// reportFiles adds the problems of an object's files. They are only Info unless the object is
// touched, which means that some PC is in it.
func (r *Resolver) reportFiles(o *objectDraft, f *fileSearch, touched bool) {
	severity := diagnostic.Info
	switch generated := decode.IsPerfMap(f.file); {
	case touched && o.table == nil && f.file == decode.KernelPath:
		severity, f.refused = diagnostic.Warning, append(f.refused, remark{"kernel-symbols", "the kernel's functions have no names: pass a copy of /proc/kallsyms from the machine and time of recording with --kallsyms, or the kernel's image with --vmlinux"})
	case touched && o.table == nil && generated:
		severity, f.refused = diagnostic.Warning, []remark{{"generated-code", "code was made at run time, or its file was deleted, and no list of its functions was found: have the program write " + path.Base(f.file) + ", and say where it is with --perf-map-dir"}}
	case touched && o.table == nil: // samples without names
		severity = diagnostic.Warning
	case generated && !touched:
		return
	}
	if o.table == nil && len(f.refused) == 0 {
		f.refused = append(f.refused, remark{"missing-load-object", "no copy of the load object was found: its functions have no names"})
	}
	for _, x := range f.refused {
		r.problem(severity, f.file, x.reason, x.message)
	}
	if o.table == nil {
		return
	}
	if !touched { // a missing debug file may matter for other runs of the program
		for _, n := range o.table.Notes {
			if n.Reason == elf.MissingDebug {
				r.problem(diagnostic.Info, f.file, n.Reason, n.Text)
			}
		}
		return
	}
	if f.doubt != nil {
		r.problem(diagnostic.Warning, f.file, f.doubt.reason, f.doubt.message)
	}
	for _, n := range o.table.Notes {
		r.rec.Problems.Add(ProblemOf(n, f.file))
	}
}

// ProblemOf turns a note about a load object into a problem of the recording.
func ProblemOf(n elf.Note, file string) diagnostic.Problem {
	severity, reason := diagnostic.Warning, cmp.Or(n.Reason, "bad-debug-information")
	switch {
	case n.Damage:
		reason = "damaged-load-object"
	case n.Reason == elf.UnusedRecord:
		severity = diagnostic.Info
	}
	return diagnostic.Problem{Severity: severity, File: file, Offset: n.Offset, Reason: reason, Message: n.Text}
}

// StoredList is the part of a symbol list (of the kernel or of generated code) that a store keeps:
// the functions on stacks. The list itself is often deleted soon after the recording was read.
type StoredList struct {
	ID        int64 // the load object's id
	Symbols   string
	Functions int // number of functions in the complete list
	Table     *symtab.Table
	Problems  []diagnostic.Problem // the load object's problems
	First     bool                 // used before any list that is found
}

// object completes a draft of a load object with the stored list.
func (k *StoredList) object(r *Resolver, o objectDraft, key objectKey) objectDraft {
	o.ID, o.Symbols, o.FunctionCount, o.table, o.BuildID = k.ID, k.Symbols, k.Functions, k.Table, cmp.Or(o.BuildID, key.buildID)
	if !decode.IsPerfMap(key.path) {
		o.placer = absolutePC
	}
	o.report = func(bool) {
		for _, p := range k.Problems {
			r.rec.Problems.Add(p)
		}
	}
	return o
}

// fileID identifies a load object by its build-id, else by the file on this machine.
type fileID struct {
	buildID       string
	device, inode uint64
	name          string // the load object's name
	found         bool   // its file was found
	content       string // symtab.Table.Key if the build-id is doubtful, else empty
}

// findSameFile returns the load object that has the same name and file as a draft, and the draft's
// fileID. One file may be recorded under several paths, such as /lib and /usr/lib or one in a
// container's layer, or both with and without a build-id. It becomes one load object, so that each
// function exists once (S2). The kernel and its modules are identified by path, since their table
// may be a symbol list. Files with the same build-id but other content are separate load objects.
func (r *Resolver) findSameFile(o *objectDraft) (id fileID, n program.ObjectNo, ok bool) {
	id = fileID{buildID: o.BuildID, name: o.Name, found: o.table != nil}
	if o.placer != nil || !id.found && id.buildID == "" {
		return fileID{}, 0, false
	}
	if id.buildID == "" {
		var st unix.Stat_t
		if unix.Stat(o.file, &st) != nil {
			return fileID{}, 0, false
		}
		id.device, id.inode = uint64(st.Dev), st.Ino
	}
	n, ok = r.objectsByFile[id]
	if !ok && !id.found { // the file may have been found under another path
		id.found = true
		if n, ok = r.objectsByFile[id]; !ok {
			id.found = false
		}
	}
	if ok && o.table != nil && r.contentDiffers(o, n) {
		id.content = o.table.Key
		n, ok = r.objectsByFile[id]
	}
	return id, n, ok
}

// contentDiffers reports whether an object's file and the n-th object's file have different content
// although their build-ids are equal, and one of these build-ids is doubtful. Then the functions
// differ.
func (r *Resolver) contentDiffers(o *objectDraft, n program.ObjectNo) bool {
	other := r.loadObjects[n].table
	return other != nil && other.Key != o.table.Key &&
		(slices.ContainsFunc(o.table.Notes, symtab.Note.Doubtful) || slices.ContainsFunc(other.Notes, symtab.Note.Doubtful))
}
