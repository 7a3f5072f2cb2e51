package plan

import (
	_ "embed" // of the texts
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Retry is the exit status of a task that may succeed when it is run again: EX_TEMPFAIL of
// sysexits.h.
const Retry = 75

// Jobs is what the job files of a plan say.
type Jobs struct {
	Plan     *Header
	Path     string   // of the plan, absolute
	Program  []string // the command and its options before those of its plan
	Parallel int      // the most tasks at once, 0: as many as the scheduler runs
	Log      string   // the pattern of the files for a task's output (Slurm)

	Image, Claim, Mount string // the image, the claim of a volume and where it is mounted (Kubernetes)
}

//go:embed slurm.sh.txt
var slurmText string

//go:embed kubernetes.yaml.txt
var kubernetesText string

// restarts is how often a task that ends with Retry is run again.
const restarts = 5

// WriteSlurm writes a script for sbatch: an array with a task for each chunk.
func (j *Jobs) WriteSlurm(w io.Writer) error {
	array := fmt.Sprintf("0-%d", len(j.Plan.Chunks)-1)
	if j.Parallel > 0 {
		array += fmt.Sprintf("%%%d", j.Parallel)
	}
	var words []string
	for _, word := range j.command() {
		words = append(words, Quote(word))
	}
	return j.fill(w, slurmText, "{ARRAY}", array, "{MINUTES}", fmt.Sprint(j.minutes()), "{LOG}", Quote(j.Log), "{COMMAND}", strings.Join(words, " "))
}

// WriteKubernetes writes an Indexed Job with an index for each chunk.
func (j *Jobs) WriteKubernetes(w io.Writer) error {
	var lines []string
	for _, word := range j.command() {
		lines = append(lines, "        - "+yamlText(word))
	}
	return j.fill(w, kubernetesText, "{CHUNKS}", fmt.Sprint(len(j.Plan.Chunks)), "{ATONCE}", fmt.Sprint(j.atOnce()), "{IMAGE}", yamlText(j.Image),
		"{MOUNT}", yamlText(j.Mount), "{CLAIM}", yamlText(j.Claim), "{COMMAND}", strings.Join(lines, "\n"))
}

// fill writes a job file; names in braces and values in turn. (text/template finds methods by
// their names, so that linkers keep all of every package: a sixth of the worker.)
func (j *Jobs) fill(w io.Writer, text string, more ...string) error {
	all := append(more, "{ID}", j.Plan.ID, "{CPUS}", fmt.Sprint(j.Plan.Task.CPUs), "{MEGABYTES}", fmt.Sprint(j.megaBytes()),
		"{RETRY}", fmt.Sprint(Retry), "{RESTARTS}", fmt.Sprint(restarts))
	_, err := strings.NewReplacer(all...).WriteString(w, text)
	return err
}

// Most a scheduler is asked to run at once if nothing is said: a Job needs a number.
const mostAtOnce = 100

// atOnce is the most tasks at once.
func (j *Jobs) atOnce() int {
	if j.Parallel > 0 {
		return j.Parallel
	}
	return min(len(j.Plan.Chunks), mostAtOnce)
}

// beside is what an ingest takes beside the memory that it is to stay within, with room for
// the system's cache of its files, which schedulers count.
const beside = 512 << 20

// megaBytes is the memory of a task.
func (j *Jobs) megaBytes() int64 { return (j.Plan.Task.Memory + beside) >> 20 }

// minutes is the most that a task may take: estimates may be wrong, and what a task has not
// done until then it does the next time.
func (j *Jobs) minutes() int {
	return int(math.Ceil(4*j.Plan.Longest()/time.Minute.Seconds())) + 10
}

// command is the command of a task, but for its chunk.
func (j *Jobs) command() []string {
	t := &j.Plan.Task
	words := append(append([]string{}, j.Program...), "ingest", "--plan", j.Path, "--jobs", fmt.Sprint(t.CPUs), "--memory", fmt.Sprintf("%dM", t.Memory>>20))
	return append(words, t.Ingest...)
}

// Quote writes a word for the shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./=,:%@+", r))
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// yamlText writes a text as JSON, which is YAML.
func yamlText(text string) string {
	out, _ := json.Marshal(text) // texts can be
	return string(out)
}
