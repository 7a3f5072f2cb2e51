// Reads files with speedscope's own importer and prints, for each profile of each, its
// name, unit, total weight and the weights of its functions.
//
//   node speedscope.mjs PACKAGES FILE...
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import vm from 'node:vm'

const [packages, ...files] = process.argv.slice(2)
const release = join(packages, 'speedscope/dist/release')
const bundle = readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name))
let code = readFileSync(join(release, bundle), 'utf8')

// The program is one script for a page: its importer is handed out in place of the page.
const importer = /importProfilesFromArrayBuffer:\(\)=>([\w$]+)/.exec(code)
const lazy = /return\(await ([\w$]+)\)\.importProfilesFromArrayBuffer/.exec(code)
const page = code.lastIndexOf('console.log(`speedscope v')
if (!importer || !lazy || page < 0) throw new Error('this speedscope is built otherwise')
code = code.slice(0, page) + `globalThis.importer=${lazy[1]};})();`

// What the page's modules ask of a browser when they are loaded.
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
  apply: () => anything,
  construct: () => anything,
})
const world = { console: { log() {}, assert() {}, warn() {}, error: console.error }, document: anything, navigator: { userAgent: '', platform: '' },
  location: { hash: '', href: 'file:///', protocol: 'file:' }, addEventListener() {}, matchMedia: () => anything,
  setTimeout, clearTimeout, TextDecoder, TextEncoder, URL, URLSearchParams, performance, Blob: anything, WebAssembly, requestAnimationFrame() {} }
world.window = world.self = world
vm.runInNewContext(code, world)

const read = (await world.importer).importProfilesFromArrayBuffer
for (const file of files) {
  const data = readFileSync(file)
  const group = await read(basename(file), data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
  if (!group) throw new Error(`${file}: speedscope knows no such format`)
  for (const profile of group.profiles) {
    const functions = {}
    profile.forEachFrame(f => {
      const of = (functions[f.name] ??= [0, 0])
      of[0] += f.getSelfWeight()
      of[1] += f.getTotalWeight()
    })
    console.log(JSON.stringify({ file: basename(file), name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), functions }))
  }
}
