import path from 'node:path'
import type { Config } from '../config/index.ts'
import { compactSqlite, DatabaseError } from '../database/index.ts'
import { checkSchema } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { print, sizeText } from './output.ts'

/** Rewrites the SQLite files without free space. The server must be stopped. */
export async function compact(config: Config, { json }: { json: boolean }): Promise<void> {
  if (config.database.kind === 'postgres') {
    throw new CommandError('--compact is for SQLite: PostgreSQL is compacted by its own VACUUM FULL.')
  }
  await checkSchema(config)
  const files: { file: string; bytesBefore: number; bytesAfter: number }[] = []
  for (const file of [config.database.file, path.join(config.dataDirectory, 'search.db')]) {
    const compacted = await compactUnused(file)
    if (compacted === undefined) continue
    files.push({ file, bytesBefore: compacted.before, bytesAfter: compacted.after })
  }
  const lines = files.map(
    ({ file, bytesBefore, bytesAfter }) =>
      `Rewrote ${path.basename(file)}: ${sizeText(bytesBefore)} before, ${sizeText(bytesAfter)} now.`,
  )
  print(json, { files }, lines)
}

async function compactUnused(file: string) {
  try {
    return await compactSqlite(file)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.reason !== 'busy') throw error
    throw new CommandError(`${file} is in use: stop the server, and run this command again.`, {
      cause: error,
    })
  }
}
