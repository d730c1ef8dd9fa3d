import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { postgresOrSkip } from '../../../test/support/postgres.ts'
import { DatabaseError } from './errors.ts'
import { inspectDatabase, knownSchemaVersion } from './inspect.ts'
import { openDatabase } from './open.ts'

describe('inspecting a database', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'carrel-inspect-'))
  })
  after(() => rm(folder, { recursive: true }))
  const settingFor = (name: string) => ({ kind: 'sqlite', file: path.join(folder, name) }) as const

  it('creates no file if there is none', async () => {
    assert.equal(await inspectDatabase(settingFor('none.db')), undefined)
    assert.deepEqual(await readdir(folder), [])
  })

  it('reads a closed SQLite file, and changes nothing', async () => {
    const setting = settingFor('closed.db')
    await (await openDatabase(setting, { onFatal: rethrow }))[Symbol.asyncDispose]()
    const before = await readFile(setting.file)
    {
      await using found = await inspectDatabase(setting)
      assert.equal(found?.schemaVersion, knownSchemaVersion)
      assert.deepEqual(await readdir(folder), ['closed.db'])
    }
    assert.ok(before.equals(await readFile(setting.file)))
    assert.deepEqual(await readdir(folder), ['closed.db'])
  })

  it('reads recent writes to an SQLite file in use, and cannot write', async () => {
    const setting = settingFor('open.db')
    await using db = await openDatabase(setting, { onFatal: rethrow })
    const row = [9999, 'of the future', 1]
    await db.write((tx) => tx.insert('schema_migration', ['version', 'name', 'applied_at'], [row]))
    await using found = await inspectDatabase(setting)
    assert.equal(found?.schemaVersion, 9999)
    await assert.rejects(async () => found?.all('delete from schema_migration'), DatabaseError)
  })

  it('distinguishes an empty file from one that is no database', async () => {
    await writeFile(settingFor('empty.db').file, '')
    await using found = await inspectDatabase(settingFor('empty.db'))
    assert.equal(found?.schemaVersion, 0)
    await writeFile(settingFor('text.db').file, 'this is no database'.repeat(100))
    await assert.rejects(inspectDatabase(settingFor('text.db')), DatabaseError)
  })

  it('reads PostgreSQL, before and after Carrel has used it', async (t) => {
    await using server = await postgresOrSkip(t)
    if (!server) return
    const setting = { kind: 'postgres', url: await server.createDatabase() } as const
    {
      await using found = await inspectDatabase(setting)
      assert.equal(found?.schemaVersion, 0)
      assert.deepEqual(await found?.all("select tablename from pg_tables where schemaname = 'public'"), [])
    }
    await (await openDatabase(setting, { onFatal: rethrow }))[Symbol.asyncDispose]()
    await using found = await inspectDatabase(setting)
    assert.equal(found?.schemaVersion, knownSchemaVersion)
  })
})

function rethrow(error: Error): never {
  throw error
}
