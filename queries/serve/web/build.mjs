// Builds the page that the server embeds, reproducibly.
//
// Modules that are imported dynamically become files of their own. File names have no hash: the server puts
// one into the path of all files.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { argv } from 'node:process';

const to = argv[2] ?? '../page';
const documentsTo = argv[3] ?? '../../html/built';
await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
const { outputFiles, metafile } = await build({
  entryPoints: { app: 'src/main.tsx', style: 'src/style.css' },
  bundle: true,
  minify: true,
  splitting: true,
  format: 'esm',
  target: ['es2022'],
  outdir: to,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]',
  loader: { '.woff2': 'file' },
  legalComments: 'none', // licenses.txt has them
  charset: 'utf8',
  logLevel: 'warning',
  metafile: true,
  write: false,
});
await writeFiles(outputFiles);
await copyFile('src/index.html', join(to, 'index.html'));
const speedscope = await copySpeedscope();
await buildDocuments();

// Packages that only name their license, with the owners of the rights.
const withoutLicenseFile = {
  aphrodite: 'Copyright (c) 2016 Khan Academy. The terms of the MIT License are those that preact has here.',
  'string-hash': 'The author dedicated it to the public domain (CC0 1.0).',
};

// The packages in speedscope's release, by its package.json. Its preact has another version than ours.
const ofSpeedscope = ['aphrodite', 'jfrview', 'jszip', 'pako', 'preact-of-speedscope', 'protobufjs', 'source-map'];
await writeFile(
  join(to, 'licenses.txt'),
  await licenses([...Object.keys(metafile.inputs), speedscope, ...(await needed(ofSpeedscope, '.'))]),
);

// buildDocuments builds what documents of one file contain (queries/html). Each script is complete: a document loads
// nothing.
async function buildDocuments() {
  await rm(documentsTo, { recursive: true, force: true });
  await build({
    entryPoints: {
      document: 'src/document/document.css',
      flame: 'src/document/flame.tsx',
      tables: 'src/document/tables.ts',
      svg: 'src/document/svg.ts',
      'svg-style': 'src/document/svg.css',
    },
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022'],
    outdir: documentsTo,
    legalComments: 'none', // licenses.txt of the page has them
    charset: 'utf8',
    logLevel: 'warning',
  });
}

// copySpeedscope copies the files that show a profile given by its URL, without examples and importers of other
// formats.
async function copySpeedscope() {
  const from = 'node_modules/speedscope/dist/release';
  const files = await readdir(from);
  for (const name of files.filter((f) => /^speedscope-.*\.(js|css)$|\.woff2$/.test(f)))
    await copyFile(join(from, name), join(to, name));
  const index = await readFile(join(from, 'index.html'), 'utf8');
  await writeFile(
    join(to, 'speedscope.html'),
    index.replace(/^ *<link rel="icon".*\n/gm, '<link rel="icon" href="data:,">\n'),
  );
  return join(from, 'index.html');
}

// writeFiles writes the bundle. Dynamically imported modules and fonts keep their names; shared chunks become
// chunkN.js.
async function writeFiles(files) {
  const names = new Map(); // from built to written
  let chunks = 0;
  for (const name of files.map((f) => basename(f.path)).sort()) {
    const stem = /^(.*)-[A-Z0-9]{8}\.js$/.exec(name)?.[1];
    names.set(name, stem === undefined ? name : stem === 'chunk' ? `chunk${++chunks}.js` : `${stem}.js`);
  }
  if (new Set(names.values()).size < names.size) throw new Error(`two modules have one name: ${[...names.values()]}`);
  for (const f of files) {
    if (f.path.endsWith('.woff2')) {
      await writeFile(join(to, basename(f.path)), f.contents);
      continue;
    }
    let text = f.text;
    for (const [built, written] of names) if (built !== written) text = text.replaceAll(built, written);
    await writeFile(join(to, names.get(basename(f.path))), text);
  }
}

// needed returns the package.json files of packages and of all their dependencies, without type packages.
async function needed(names, folder, found = new Set()) {
  for (const name of names.filter((n) => !n.startsWith('@types/'))) {
    let at = folder;
    while (!existsSync(join(at, 'node_modules', name)) && at !== '.') at = dirname(at);
    const file = join(at, 'node_modules', name, 'package.json');
    if (found.has(file)) continue;
    found.add(file);
    const { version, dependencies, name: own } = JSON.parse(await readFile(file, 'utf8'));
    const pinned =
      at === '.' && folder === '.'
        ? JSON.parse(await readFile('node_modules/speedscope/package.json', 'utf8')).devDependencies[own]
        : version;
    if (pinned !== version)
      throw new Error(`speedscope was built with ${own} ${pinned}, not ${version}: change package.json`);
    await needed(Object.keys(dependencies ?? {}), dirname(file), found);
  }
  return found;
}

// licenses returns the license texts of all packages in the page.
async function licenses(inputs) {
  const folders = new Set(
    inputs
      .map((name) => /^(?:\.\.\/)*(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1])
      .filter((f) => f !== undefined),
  );
  const texts = [];
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const text = await licenseOf(folder, name);
    texts.push(`${name} ${version} (${license})\n\n${text.replaceAll('\r\n', '\n').trim()}\n`);
    for (const more of await within(folder))
      texts.push(
        `${name}: ${more}\n\n${(await readFile(join(folder, more), 'utf8')).replaceAll('\r\n', '\n').trim()}\n`,
      );
  }
  for (const file of (await readdir('src/fonts')).filter((f) => f.endsWith('.LICENSE.txt')).sort()) {
    const text = await readFile(join('src/fonts', file), 'utf8');
    texts.push(`${file.replace('.LICENSE.txt', '')} (parts of the font)\n\n${text.trim()}\n`);
  }
  return 'The page contains these packages.\n\n' + texts.join(`\n${'-'.repeat(80)}\n\n`);
}

// licenseOf returns the license text of a package.
async function licenseOf(folder, name) {
  const files = await readdir(folder);
  const file = files.find((f) => /^licen[cs]e(\.|$)/i.test(f));
  if (file !== undefined) return readFile(join(folder, file), 'utf8');
  if (withoutLicenseFile[name] !== undefined) return withoutLicenseFile[name];
  const readme = files.find((f) => /^readme/i.test(f));
  const section =
    readme && /^#+ licen[cs]e\s*([^]*?)(?=^#|(?![^]))/im.exec(await readFile(join(folder, readme), 'utf8'))?.[1];
  if (!section) throw new Error(`${folder} has no license`);
  return section;
}

// within returns the license files of code that a package includes from others.
async function within(folder) {
  const all = await readdir(folder, { recursive: true });
  return all.filter((f) => f.includes('/') && !f.includes('node_modules') && /licen[cs]e(\.\w+)?$/i.test(f)).sort();
}
