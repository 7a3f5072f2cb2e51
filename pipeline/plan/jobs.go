package plan

import (
	_ "embed" // of the texts
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"stackmill/internal/terminal"
)

// Retry is the exit status of a task that may succeed when it is run again: EX_TEMPFAIL of
// sysexits.h.
const Retry = 75

// Jobs has the values of the job files of a plan.
type Jobs struct {
	Plan     *Header
	Path     string   // absolute path of the plan
	Program  []string // the command and its global options
	Parallel int      // the most tasks at once, 0: as many as the scheduler runs
	Log      string   // the pattern of the files for a task's output (Slurm)

	Image, Claim, Mount string // the image, the claim of a volume and where it is mounted (Kubernetes)
}

//go:embed slurm.sh.txt
var slurmText string

//go:embed kubernetes.yaml.txt
var kubernetesText string

// restarts is how often a scheduler reruns a task that ends with Retry.
const restarts = 5

// WriteSlurm writes a script for sbatch: an array with a task for each chunk.
func (j *Jobs) WriteSlurm(w io.Writer) error {
	array := fmt.Sprintf("0-%d", len(j.Plan.Chunks)-1)
	if j.Parallel > 0 {
		array += fmt.Sprintf("%%%d", j.Parallel)
	}
	var words []string
	for _, word := range j.command() {
		words = append(words, terminal.ShellQuote(word))
	}
	return j.fill(w, slurmText, "{ARRAY}", array, "{MINUTES}", fmt.Sprint(j.minutes()), "{LOG}", terminal.ShellQuote(j.Log), "{COMMAND}", strings.Join(words, " "))
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

// fill writes the template text with values for the names in braces: those that all jobs have, and
// more (alternating names and values). text/template would make the worker a sixth larger, because
// with it linkers keep all methods of all packages.
func (j *Jobs) fill(w io.Writer, text string, more ...string) error {
	all := append(more, "{ID}", j.Plan.ID, "{CPUS}", fmt.Sprint(j.Plan.Task.CPUs), "{MEGABYTES}", fmt.Sprint(j.megaBytes()),
		"{RETRY}", fmt.Sprint(Retry), "{RESTARTS}", fmt.Sprint(restarts))
	_, err := strings.NewReplacer(all...).WriteString(w, text)
	return err
}

// mostAtOnce is how many tasks run at once by default. Kubernetes needs such a number.
const mostAtOnce = 100

// atOnce returns the maximum number of tasks at once.
func (j *Jobs) atOnce() int {
	if j.Parallel > 0 {
		return j.Parallel
	}
	return min(len(j.Plan.Chunks), mostAtOnce)
}

// overhead is the memory of an ingest on top of its limit, including the page cache of its files,
// which schedulers count.
const overhead = 512 << 20

// megaBytes returns the memory that a task needs, in MiB.
func (j *Jobs) megaBytes() int64 { return (j.Plan.Task.Memory + overhead) >> 20 }

// minutes returns the time limit of a task: four times the estimate for the longest chunk, and 10
// minutes. A task that is killed then continues in its next run.
func (j *Jobs) minutes() int {
	return int(math.Ceil(4*j.Plan.Longest()/time.Minute.Seconds())) + 10
}

// command returns the command of a task, to which the number of its chunk is appended.
func (j *Jobs) command() []string {
	t := &j.Plan.Task
	words := append(append([]string{}, j.Program...), "ingest", "--plan", j.Path, "--jobs", fmt.Sprint(t.CPUs), "--memory", fmt.Sprintf("%dM", t.Memory>>20))
	return append(words, t.Ingest...)
}

// yamlText returns a text as JSON, which is YAML.
func yamlText(text string) string {
	out, _ := json.Marshal(text) // texts always can be
	return string(out)
}
