// Runs a query with DuckDB or Polars and prints its rows, a JSON array of texts a line.
//
//   node engines.mjs PACKAGES ENGINE QUERY
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const [packages, engine, query] = process.argv.slice(2)
const load = createRequire(resolve(packages, 'x'))

const run = {
  async DuckDB() {
    const connection = await (await load('@duckdb/node-api').DuckDBInstance.create()).connect()
    return (await connection.runAndReadAll(query)).getRows()
  },
  Polars() {
    return new (load('nodejs-polars').SQLContext)({}).execute(query, { eager: true }).rows()
  },
}
for (const row of await run[engine]()) console.log(JSON.stringify(row.map(String)))
