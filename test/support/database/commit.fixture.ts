import type { DatabaseSetting } from '../../../src/platform/database/open.ts'
import { openPostgres } from '../../../src/platform/database/postgres/postgres-database.ts'
import { openSqlite } from '../../../src/platform/database/sqlite/sqlite-database.ts'

// A process that commits one statement: the setting of the database as JSON, and the SQL.
const [json = '', sql = ''] = process.argv.slice(2)
const setting = JSON.parse(json) as DatabaseSetting
const onFatal = (error: Error) => {
  throw error
}
await using db = await (setting.kind === 'sqlite'
  ? openSqlite({ ...setting, onFatal })
  : openPostgres({ ...setting, onFatal }))
await db.write((tx) => tx.run(sql))
