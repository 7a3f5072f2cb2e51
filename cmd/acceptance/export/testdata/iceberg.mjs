// Reads Iceberg tables with icebird and prints of each a line of JSON: its name, its rows, and
// of each column but times a sum over the rows of a hash of its value.
//
//   node iceberg.mjs PACKAGES URL...
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages, ...urls] = process.argv.slice(2)
const { icebergRead } = await import(pathToFileURL(resolve(packages, 'icebird/src/index.js')).href)

const hash = text => createHash('md5').update(text).digest().readUInt32BE()
for (const tableUrl of urls) {
  const rows = await icebergRead({ tableUrl })
  const columns = {}
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (!(value instanceof Date)) columns[name] = (columns[name] ?? 0) + hash(String(value ?? 'null'))
    }
  }
  console.log(JSON.stringify({ Table: tableUrl.split('/').pop(), Rows: rows.length, Columns: columns }))
}
