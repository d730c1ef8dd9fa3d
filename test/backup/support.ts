import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

/** A folder that is removed at the end of the test. */
export async function temporaryFolder() {
  const created = await mkdtemp(path.join(os.tmpdir(), 'carrel-backup-test-'))
  return { path: created, [Symbol.asyncDispose]: () => rm(created, { recursive: true, force: true }) }
}

/** The settings of a test server as flags. */
export function flagsOf({ data, databaseUrl }: { data: string; databaseUrl: string | undefined }): string[] {
  return ['--data', data, ...(databaseUrl === undefined ? [] : ['--database', databaseUrl])]
}
