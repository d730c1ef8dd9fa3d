import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { findPostgres } from '../../../../test/support/postgres.ts'
import type { Transaction } from '../database.ts'
import { type DatabaseSetting, openDatabase } from '../open.ts'
import { migrations } from './index.ts'

const older = migrations.filter(({ version }) => version < 13)

function open(setting: DatabaseSetting, known = migrations) {
  return openDatabase(setting, { migrations: known, onFatal: (error) => assert.fail(error) })
}

async function addAccount(tx: Transaction, email: string, contact = '', loginId: string | null = null) {
  const columns = ['email', 'contact_email', 'login_id', 'password_hash', 'role', 'active', 'created_at']
  await tx.insert('account', columns, [[email, contact, loginId, '', 'default', 1, 1]])
}

async function audit(tx: Transaction, action: string, actor: string, object: string, detail: object = {}) {
  const columns = ['at', 'actor', 'address', 'action', 'object_kind', 'object_id', 'path', 'detail']
  await tx.insert('audit_entry', columns, [
    [1, actor, '', action, 'account', object, '', JSON.stringify(detail)],
  ])
}

const failedSignIn = (tx: Transaction, name: string) => audit(tx, 'login-failed', name, name)

function suite(makeEmpty: () => Promise<DatabaseSetting>): void {
  it('verifies the contact addresses that administrators set, and no others', async () => {
    const setting = await makeEmpty()
    {
      await using db = await open(setting, older)
      await db.write(async (tx) => {
        await addAccount(tx, 'ann@example.org', 'ann@example.net')
        await addAccount(tx, 'bob@example.org', 'bob@example.net')
        await addAccount(tx, 'cy@example.org', 'cy@example.net')
        await addAccount(tx, 'dan@example.org')
        // Otherwise two accounts could share an address.
        await addAccount(tx, 'eve@example.org', 'ann@example.net')
        await audit(tx, 'account-made', 'root', 'ann@example.org', { contactEmail: ' ANN@example.net' })
        await audit(tx, 'account-changed', 'root', 'bob@example.org', { contactEmail: 'other@example.net' })
        await audit(tx, 'account-changed', 'root', 'eve@example.org', { contactEmail: 'ann@example.net' })
      })
    }
    await using db = await open(setting)
    const rows = await db.all('select email, contact_verified from account order by email')
    assert.deepEqual(
      rows.map((row) => [row['email'], row['contact_verified']]),
      [
        ['ann@example.org', 1],
        ['bob@example.org', 0],
        ['cy@example.org', 0],
        ['dan@example.org', 0],
        ['eve@example.org', 0],
      ],
    )
  })

  it('removes names typed at failed sign-ins unless an account has or had them', async () => {
    const setting = await makeEmpty()
    const kept = ['ann@example.org', ' ANN@example.org', 'Reader', 'office@example.net', 'gone@example.org']
    {
      await using db = await open(setting, older)
      await db.write(async (tx) => {
        await addAccount(tx, 'ann@example.org', 'office@example.net', 'reader')
        await addAccount(tx, 'deleted:7:gone@example.org')
        await tx.run("update account set key = 7 where email like 'deleted:%'")
        for (const name of [...kept, 'my secret password']) await failedSignIn(tx, name)
        await audit(tx, 'login', 'once@example.org', 'once@example.org')
      })
    }
    await using db = await open(setting)
    const rows = await db.all('select actor, object_id from audit_entry order by key')
    const expected = [...kept, 'unknown', 'once@example.org']
    assert.deepEqual(
      rows.map((row) => [row['actor'], row['object_id']]),
      expected.map((name) => [name, name]),
    )
  })
}

describe('migration 13 on SQLite', () => {
  const folders: string[] = []
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))
  suite(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'carrel-migration-'))
    folders.push(folder)
    return { kind: 'sqlite', file: path.join(folder, 'carrel.db') }
  })
})

const server = await findPostgres()
if (typeof server === 'string') describe('migration 13 on PostgreSQL', { skip: server }, () => {})
else {
  describe('migration 13 on PostgreSQL', () => {
    after(() => server[Symbol.asyncDispose]())
    suite(async () => ({ kind: 'postgres', url: await server.createDatabase() }))
  })
}
