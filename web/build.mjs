// Builds the page that the server embeds. The same sources give the same bytes.
import { build } from 'esbuild';
import { copyFile, mkdir, rm } from 'node:fs/promises';

const to = process.argv[2] ?? '../queries/serve/page';
await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
await build({
  entryPoints: { app: 'src/main.tsx', style: 'src/style.css' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  outdir: to,
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
});
await copyFile('src/index.html', `${to}/index.html`);
