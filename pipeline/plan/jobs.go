package plan

import (
	_ "embed" // of the templates
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"
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

//go:embed slurm.sh.tmpl
var slurmText string

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

var templates = template.Must(template.Must(template.New("slurm").Funcs(template.FuncMap{"quote": Quote, "yaml": yamlText}).Parse(slurmText)).New("kubernetes").Parse(kubernetesText))

// Slurm writes a script for sbatch: an array with a task for each chunk.
func (j *Jobs) Slurm(w io.Writer) error { return templates.ExecuteTemplate(w, "slurm", j) }

// Kubernetes writes an Indexed Job with an index for each chunk.
func (j *Jobs) Kubernetes(w io.Writer) error { return templates.ExecuteTemplate(w, "kubernetes", j) }

// Retry is the exit status of tasks that are to be run again, Restarts how often that is done.
func (*Jobs) Retry() int    { return Retry }
func (*Jobs) Restarts() int { return 5 }

// Last is the number of the last chunk.
func (j *Jobs) Last() int { return len(j.Plan.Chunks) - 1 }

// Most a scheduler is asked to run at once if nothing is said: a Job needs a number.
const atOnce = 100

// AtOnce is the most tasks at once.
func (j *Jobs) AtOnce() int {
	if j.Parallel > 0 {
		return j.Parallel
	}
	return min(len(j.Plan.Chunks), atOnce)
}

// beside is what an ingest takes beside the memory that it is to stay within, with room for
// the system's cache of its files, which schedulers count.
const beside = 512 << 20

// MegaBytes is the memory of a task.
func (j *Jobs) MegaBytes() int64 { return (j.Plan.Task.Memory + beside) >> 20 }

// Minutes is the most that a task may take: estimates may be wrong, and what a task has not
// done until then it does the next time.
func (j *Jobs) Minutes() int {
	return int(math.Ceil(4*j.Plan.Longest()/time.Minute.Seconds())) + 10
}

// Command is the command of a task, but for its chunk.
func (j *Jobs) Command() []string {
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

// yamlText writes a text as YAML: as JSON, which is YAML.
func yamlText(text string) (string, error) {
	out, err := json.Marshal(text)
	return string(out), err
}
