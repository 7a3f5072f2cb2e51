// Runs the unit tests: bundles each with the sources that it imports, for node's test runner.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const outdir = await mkdtemp(join(tmpdir(), 'stackmill-page-'));
try {
  const tests = (await readdir('test')).filter((f) => f.endsWith('.test.mjs'));
  await build({
    entryPoints: tests.map((f) => join('test', f)),
    bundle: true,
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    outdir,
    logLevel: 'warning',
  });
  const files = tests.map((f) => join(outdir, f));
  process.exitCode = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1;
} finally {
  await rm(outdir, { recursive: true });
}
