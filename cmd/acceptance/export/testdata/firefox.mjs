// Validates profiles for Firefox's profiler with ajv.
//
//   node firefox.mjs PACKAGES SCHEMA FILE...
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages, schema, ...files] = process.argv.slice(2)
const { default: Ajv } = await import(pathToFileURL(resolve(packages, 'ajv/dist/2020.js')).href)
const valid = new (Ajv.default ?? Ajv)({ allErrors: true }).compile(JSON.parse(readFileSync(schema, 'utf8')))
for (const file of files) {
  if (!valid(JSON.parse(readFileSync(file, 'utf8')))) throw new Error(`${file}: ${JSON.stringify(valid.errors.slice(0, 5))}`)
}
