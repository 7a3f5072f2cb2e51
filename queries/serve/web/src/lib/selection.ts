// The selection of experiments: selectors as in the server's parameter `experiment`, of which a chip names the
// programs and another one the runs.

export interface Selection {
  programs: string[]; // values of target=; empty: all programs
  runs: string[]; // the other conditions of each selector, without duplicates; empty: all runs
}

// parse divides selectors into programs and runs. If the selectors are not the product of both, runs has the whole
// selectors.
export function parse(selectors: string[]): Selection {
  const programs = new Set<string>();
  const runs = new Set<string>();
  let anyProgram = false;
  for (const s of selectors) {
    const conditions = s.split(',').map((c) => c.trim());
    const of = conditions.filter((c) => c.startsWith('target='));
    if (of.length > 1) return { programs: [], runs: selectors };
    if (of.length === 1) programs.add(of[0]!.slice('target='.length));
    else anyProgram = true;
    runs.add(conditions.filter((c) => !c.startsWith('target=')).join(','));
  }
  if (anyProgram) return { programs: [], runs: programs.size > 0 ? selectors : selectors.filter((s) => s !== '') };
  if (programs.size * runs.size !== new Set(selectors).size) return { programs: [], runs: selectors };
  return { programs: [...programs], runs: [...runs].filter((r) => r !== '') };
}

// format returns the selectors of a selection.
export function format({ programs, runs }: Selection): string[] {
  const of = programs.length === 0 ? [''] : programs.map((p) => `target=${p}`);
  const when = runs.length === 0 ? [''] : runs;
  return of.flatMap((p) => when.map((r) => [r, p].filter((t) => t !== '').join(','))).filter((s) => s !== '');
}
