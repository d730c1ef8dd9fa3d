import { after, describe, type TestContext } from 'node:test'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import { findPostgres } from './postgres.ts'
import { isDeep } from './tier.ts'

/** Creates an empty database, or skips the test and returns undefined. */
export type FreshDatabase = (t: TestContext) => Promise<{ setting: DatabaseSetting | undefined } | undefined>

/**
 * Runs one suite on SQLite and, in the deep tier, on a real PostgreSQL: suites over HTTP stand for it in the fast tier. An undefined setting
 * means SQLite in a temporary folder.
 */
export function onBothDatabases(name: string, suite: (fresh: FreshDatabase) => void): void {
  describe(`${name}, on SQLite`, () => suite(async () => ({ setting: undefined })))
  if (!isDeep) return
  describe(`${name}, on PostgreSQL`, () => {
    let server: ReturnType<typeof findPostgres> | undefined
    after(async () => {
      const found = await server
      if (found !== undefined && typeof found !== 'string') await found[Symbol.asyncDispose]()
    })
    suite(async (t) => {
      server ??= findPostgres()
      const found = await server
      if (typeof found !== 'string')
        return { setting: { kind: 'postgres', url: await found.createWithSchema() } }
      t.skip(found)
      return undefined
    })
  })
}
