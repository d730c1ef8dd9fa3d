import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { postgresOrSkip } from '../../../test/support/postgres.ts'
import type { Database } from '../../platform/database/database.ts'
import { migrations } from '../../platform/database/migrations/index.ts'
import { type DatabaseSetting, openDatabase } from '../../platform/database/open.ts'
import { libraryRelations } from '../../programs/assembly/dependents.ts'
import { findTicket } from '../../sharing/access/ticket-store.ts'
import { incrementEpoch } from '../accounts/account-store.ts'
import { Audit } from '../audit/audit.ts'
import { findAccountByApiToken } from './api-token-store.ts'
import { CredentialOrigins } from './credential-origins.ts'
import { ScopedTokens } from './scoped-tokens.ts'
import { findSyncGrant } from './sync-token-store.ts'

const NOW = 1_700_000_000
const older = migrations.filter(({ version }) => version < 11)
const onFatal = (error: Error) => {
  throw error
}
const hashed = (n: number) => Buffer.alloc(32, n)

/** Credentials of every kind, as stored before they had an origin. */
async function writeOlder(db: Database): Promise<void> {
  const none = new Uint8Array(20)
  const insert = (table: string, row: Record<string, string | number | Uint8Array>) =>
    db.write((tx) => tx.insert(table, Object.keys(row), [Object.values(row)]))
  await insert('account', {
    email: 'ann@example.org',
    password_hash: '',
    role: 'default',
    active: 1,
    created_at: NOW,
  })
  await insert('library', {
    id: 'l',
    owner_key: 1,
    name: 'Notes',
    description: '',
    head: none,
    head_seq: 1,
    root: none,
    size: 0,
    file_count: 0,
    updated_at: NOW,
    modifier: '',
    created_at: NOW,
  })
  const device = { device_name: '', client_version: '', platform_version: '', login_address: '' }
  for (const [n, platform] of ['', 'linux'].entries()) {
    const at = { created_at: NOW, last_used_at: NOW }
    const held = { account_key: 1, nonce: none, platform, device_id: platform }
    await insert('api_token', { hash: hashed(10 + n), ...held, ...device, ...at })
  }
  await insert('sync_token', { hash: hashed(20), library_key: 1, account_key: 1, created_at: NOW })
  const token = { kind: 'personal', account_key: 1, name: 'script', access: 'read', created_at: NOW }
  await insert('scoped_token', { hash: hashed(30), ...token })
  const link = { token: 'abcdef01', kind: 'share', account_key: 1, library_key: 1, path_key: none, path: '/' }
  const rights = { can_edit: 0, can_download: 1, can_upload: 0, scope: 'all_users', emails: '[]' }
  await insert('link', {
    ...link,
    is_dir: 1,
    ...rights,
    description: '',
    views: 0,
    active: 1,
    created_at: NOW,
  })
  const ticket = { operation: 'download', library_key: 1, account_key: 1, path: '/', reusable: 1 }
  const parents: Record<string, number>[] = [{}, { scoped_token_key: 1 }, { link_key: 1 }]
  for (const [n, parent] of parents.entries()) {
    await insert('ticket', { hash: hashed(40 + n), ...ticket, expires_at: NOW + 60, ...parent })
  }
}

function scopedTokensOn(db: Database): ScopedTokens {
  const now = () => NOW
  const audit = new Audit(db, now, -1)
  const onAdded = async () => {}
  return new ScopedTokens({
    db,
    audit,
    secret: [Buffer.from('secret')],
    now,
    relations: libraryRelations,
    onAdded,
  })
}

async function upgrade(setting: DatabaseSetting): Promise<void> {
  {
    await using db = await openDatabase(setting, { migrations: older, onFatal })
    await writeOlder(db)
  }
  await using db = await openDatabase(setting, { onFatal })
  const origins = new CredentialOrigins(db, scopedTokensOn(db))
  const isOpen = async () => {
    const tickets = await Promise.all([40, 41, 42].map(async (n) => findTicket(db, hashed(n))))
    const found = [await findSyncGrant(db, hashed(20)), ...tickets]
    return Promise.all(
      found.map(async (one) => one !== undefined && (await origins.findActor(one.origin)) !== undefined),
    )
  }
  for (const n of [10, 11]) assert.ok((await findAccountByApiToken(db, hashed(n)))?.account.apiTokenKey)
  assert.deepEqual(await isOpen(), [true, true, true, true])
  await db.write((tx) => incrementEpoch(tx, 'ann@example.org'))
  // All but the ticket of a link, which belongs to no session.
  assert.deepEqual(await isOpen(), [false, false, false, true])
}

describe('credentials from before they had an origin', () => {
  it('stay valid, and are revoked with the epoch of their account, on SQLite', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-origins-'))
    try {
      await upgrade({ kind: 'sqlite', file: path.join(folder, 'carrel.db') })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('stay valid, and are revoked with the epoch of their account, on PostgreSQL', async (t) => {
    await using server = await postgresOrSkip(t)
    if (server !== undefined) await upgrade({ kind: 'postgres', url: await server.createDatabase() })
  })
})

describe('an origin with an API token', () => {
  it('is valid until the token is deleted or its device is to be wiped', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-origins-'))
    try {
      await using db = await openDatabase(
        { kind: 'sqlite', file: path.join(folder, 'carrel.db') },
        { migrations: older, onFatal },
      )
      await writeOlder(db)
      await using current = await openDatabase(
        { kind: 'sqlite', file: path.join(folder, 'carrel.db') },
        { onFatal },
      )
      const origins = new CredentialOrigins(current, scopedTokensOn(current))
      const isOpen = async (apiTokenKey: number) => {
        const origin = { accountKey: 1, epoch: undefined, apiTokenKey, scopedTokenKey: undefined }
        return (await origins.findActor(origin)) !== undefined
      }
      assert.deepEqual([await isOpen(1), await isOpen(2)], [true, true])
      await current.write((tx) => tx.run('delete from api_token where key = 1'))
      await current.write((tx) => tx.run('update api_token set wiped_at = ? where key = 2', NOW))
      assert.deepEqual([await isOpen(1), await isOpen(2)], [false, false])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
