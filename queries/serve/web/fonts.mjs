// Makes the page's fonts in src/fonts, or in the folder given: the characters and features of Inter and JetBrains Mono
// that the page uses. `npm run fonts` renews them, with the same result each time; build.mjs only bundles them.
//
// It fails if the page's sources contain a character that neither font has: each machine would show another glyph.
import fontverter from 'fontverter';
import * as harfbuzz from 'harfbuzzjs';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'node:process';
import subset from 'subset-font';

const to = argv[2] ?? 'src/fonts';

// Names of people, files and symbols in Latin script; Greek; and the signs that the page might use.
const characters = [
  [0x20, 0x7e],
  [0xa0, 0x17f],
  [0x370, 0x3ff],
  [0x2000, 0x209f], // punctuation, spaces of all widths, raised and lowered digits
  [0x20ac, 0x20ac],
  [0x2122, 0x2122],
  [0x2190, 0x23ff], // arrows, mathematical and technical signs
  [0x2500, 0x27ff], // boxes, blocks, geometric shapes, check marks
]
  .map(([first, last]) => String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, i) => first + i)))
  .join('');

// Without ligatures and contextual alternates: text is shown as it was written, -> as two characters.
const shaping = ['kern', 'mark', 'mkmk', 'ccmp', 'locl'];
const jetbrains = 'node_modules/@expo-google-fonts/jetbrains-mono';
const fonts = [
  {
    family: 'Inter',
    name: 'inter',
    file: 'node_modules/inter-ui/variable/InterVariable.woff2',
    license: 'node_modules/inter-ui/LICENSE.txt',
    // Figures of one width (tnum), and the letters that base.css chooses.
    options: {
      variationAxes: { opsz: 14, wght: { min: 400, max: 650 } },
      keepFeatures: [...shaping, 'tnum', 'cv05', 'ss03'],
    },
  },
  ...['Regular', 'Medium'].map((weight, i) => ({
    family: 'JetBrains Mono',
    name: `jetbrains-mono-${weight.toLowerCase()}`,
    file: `${jetbrains}/${i + 4}00${weight}/JetBrainsMono_${i + 4}00${weight}.ttf`,
    license: `${jetbrains}/LICENSE_FONT`,
    options: { keepFeatures: shaping },
  })),
];

await mkdir(to, { recursive: true });
const drawn = new Set();
for (const f of fonts) {
  const font = await readFile(f.file);
  const made = await subset(font, characters, { targetFormat: 'woff2', ...f.options });
  await writeFile(join(to, `${f.name}.woff2`), made);
  await copyFile(f.license, join(to, `${f.family}.LICENSE.txt`));
  const face = new harfbuzz.Face(new harfbuzz.Blob(await fontverter.convert(made, 'truetype')));
  for (const c of face.collectUnicodes()) drawn.add(c);
}
for (const file of (await readdir('src', { recursive: true })).filter((f) => /\.(tsx?|css|html)$/.test(f)).sort())
  for (const c of await readFile(join('src', file), 'utf8'))
    if (c > '~' && !drawn.has(c.codePointAt(0)))
      throw new Error(`src/${file}: no font of the page has "${c}" (U+${c.codePointAt(0).toString(16)})`);
