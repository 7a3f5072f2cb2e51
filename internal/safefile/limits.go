package safefile

// The maximum sizes of files by kind, in bytes. Files that are mapped or read part by part may be
// large; files that are held in memory may not.
const (
	Recording  = 1 << 44   // event files, perf.data: mapped
	LoadObject = 16 << 30  // ELF files and their debug files: read part by part. A browser's debug file has 4 GB
	Log        = 1 << 30   // text files of a recording: read line by line
	SymbolList = 512 << 20 // lists of symbols, such as /proc/kallsyms: read line by line
	Source     = 16 << 20  // held in memory. Generated sources of some MB exist
	Plan       = 16 << 30  // an ingest's plan: read line by line
	Report     = 1 << 30   // an ingest's report: held in memory, some hundred bytes per recording
	Note       = 1 << 20   // /sys/kernel/notes and the like: held in memory
)
