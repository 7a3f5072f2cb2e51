import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cwd } from 'node:process';

const folder = join(cwd(), 'src/style');
const files = readdirSync(folder, { recursive: true }).filter((f) => f.endsWith('.css'));

// selectorsOf returns the selectors of the rules in a style sheet.
function selectorsOf(text) {
  return [...text.replace(/\/\*[^]*?\*\//g, '').matchAll(/([^{};]+)\{/g)]
    .flatMap((m) => m[1].split(','))
    .map((s) => s.trim())
    .filter((s) => !s.startsWith('@'));
}

const classesOf = (selector) => [...selector.matchAll(/\.([a-z][\w-]*)/g)].map((m) => m[1]);

// All places share one style sheet. A rule for a class alone in the file of one place also changes elements of other
// places that have this class. Only the shared files have classes for all places.
test('the style of a place does not change other places', () => {
  const all = new Map(files.map((f) => [f, selectorsOf(readFileSync(join(folder, f), 'utf8'))]));
  const collisions = [];
  for (const [file, selectors] of all) {
    if (!file.startsWith('places')) continue;
    const alone = new Set(selectors.map((s) => /^[a-z]*\.([a-z][\w-]*)$/.exec(s)?.[1]).filter((c) => c !== undefined));
    for (const [other, others] of all) {
      if (other === file) continue;
      const used = new Set(others.flatMap(classesOf));
      for (const c of alone) if (used.has(c)) collisions.push(`.${c} of ${file} and ${other}`);
    }
  }
  assert.deepEqual(collisions, []);
});
