import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { findPostgres } from '../../../../test/support/postgres.ts'
import type { LibraryPath } from '../../../base/paths/paths.ts'
import { parentColumns } from '../../../derived/photos/photo-parent.ts'
import { type DatabaseSetting, openDatabase } from '../open.ts'
import { migrations } from './index.ts'

const older = migrations.filter(({ version }) => version < 53)
// The last two have characters of 2 and 3 bytes at the limit. They are repetitive, because PostgreSQL had to compress them.
const short = ['/', '/holidays', `/${'s'.repeat(1023)}`]
const long = [`/${'l'.repeat(1024)}`, `/${'ü'.repeat(2000)}`, `/x${'写'.repeat(2000)}`]

function open(setting: DatabaseSetting, known = migrations) {
  return openDatabase(setting, { migrations: known, onFatal: (error) => assert.fail(error) })
}

function suite(makeEmpty: () => Promise<DatabaseSetting>): void {
  it('shortens the long folders of photos in the index as the photos module does', async () => {
    const setting = await makeEmpty()
    {
      await using db = await open(setting, older)
      await db.write(async (tx) => {
        await tx.insert(
          'account',
          ['key', 'email', 'password_hash', 'role', 'active', 'created_at'],
          [[1, 'ann@example.org', '', 'default', 1, 1]],
        )
        const id = Buffer.alloc(20)
        await tx.insert(
          'library',
          [
            'key',
            'id',
            'owner_key',
            'name',
            'description',
            'head',
            'head_seq',
            'root',
            'size',
            'file_count',
            'updated_at',
            'modifier',
            'created_at',
          ],
          [[1, 'library', 1, '', '', id, 1, id, 0, 0, 1, '', 1]],
        )
        await tx.insert(
          'photo',
          ['library_key', 'parent', 'name', 'file_id', 'kind', 'size', 'mtime', 'taken_at', 'day', 'seq'],
          [...short, ...long].map((parent) => [1, parent, 'a.jpg', id, 0, 1, 1, 1, 0, 1]),
        )
      })
    }
    await using db = await open(setting)
    const rows = await db.all<{ parent: string; long_parent: string | null }>(
      'select parent, long_parent from photo order by key',
    )
    assert.deepEqual(
      rows.map((row) => ({ parent: row.parent, longParent: row.long_parent })),
      [...short, ...long].map((parent) => parentColumns(parent as LibraryPath)),
    )
    for (const [at, parent] of long.entries()) {
      const row = rows[short.length + at]
      assert.equal(row?.long_parent, parent)
      assert.ok(row.parent.endsWith(`:${hash('sha1', parent)}`))
      assert.ok(parent.startsWith(row.parent.slice(0, -41)))
      const bytes = Buffer.byteLength(row.parent)
      assert.ok(bytes > 1024 && bytes <= 1024 + 41, String(bytes))
    }
  })
}

describe('migration 53 on SQLite', () => {
  const folders: string[] = []
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))
  suite(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'carrel-migration-'))
    folders.push(folder)
    return { kind: 'sqlite', file: path.join(folder, 'carrel.db') }
  })
})

const server = await findPostgres()
if (typeof server === 'string') describe('migration 53 on PostgreSQL', { skip: server }, () => {})
else {
  describe('migration 53 on PostgreSQL', () => {
    after(() => server[Symbol.asyncDispose]())
    suite(async () => ({ kind: 'postgres', url: await server.createDatabase() }))
  })
}
