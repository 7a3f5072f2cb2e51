// Reads Parquet files with hyparquet and prints each file's rows, a JSON array a line.
//
//   node parquet.mjs PACKAGES FILE...
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages, ...files] = process.argv.slice(2)
const load = path => import(pathToFileURL(resolve(packages, path)).href)
const { asyncBufferFromFile, parquetReadObjects } = await load('hyparquet/src/node.js')
const { compressors } = await load('hyparquet-compressors/src/index.js')

const plain = value => (value === undefined || value === null ? null : value instanceof Date ? value.toISOString() : String(value))
for (const file of files) {
  for (const row of await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors })) {
    console.log(JSON.stringify(Object.values(row).map(plain)))
  }
}
