import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { Client as PostgresClient } from 'pg'
import { type DirId, EMPTY_ID, idToBytes, type LibraryId } from '../../src/base/objects/ids.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import type { Database } from '../../src/platform/database/database.ts'
import type { Client } from '../support/client.ts'
import { openTestCore } from '../support/core.ts'
import { findPostgres } from '../support/postgres.ts'
import { RestorablePostgres } from '../support/restorable-postgres.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
if (typeof found !== 'string') await found[Symbol.asyncDispose]()

const BYTES = randomBytes(100_000)
/** More than one transaction of a copy or a push stores. */
const MANY = 140

/** The libraries of one attempt. */
interface Given {
  readonly client: Client
  readonly source: string
  readonly target: string
}

/** Each prepares a request that stores rows, and then a commit that refers to them. It resolves to the status of the answer. */
const operations: Record<string, (given: Given) => Promise<() => Promise<number>>> = {
  'a copy of a file':
    async ({ client, source, target }) =>
    () =>
      copy(client, source, target, 'file'),
  'a copy of a folder':
    async ({ client, source, target }) =>
    () =>
      copy(client, source, target, 'folder'),
  'a push': async ({ client, target }) => {
    const sync = await SyncClient.link(client, target)
    const files = Array.from({ length: MANY }, (_, number) => [`${number}`, `content ${number}`] as const)
    const id = await sync.send({ file: BYTES, folder: Object.fromEntries(files) }, await sync.head())
    return async () => (await sync.putHead(id)).status
  },
}

describe('a crash of PostgreSQL that loses what was not flushed', { skip }, () => {
  for (const [name, operate] of Object.entries(operations)) {
    it(`leaves ${name} whole or not there, whatever was committed before it`, {
      timeout: 600_000,
    }, async (t) => {
      await using postgres = await RestorablePostgres.create()
      await using server = await startServer({ env: { CARREL_DATABASE: postgres.url } })
      const client = await server.signUp()
      const source = await client.createLibrary('Source')
      await uploadFile(client, source, '/file', BYTES)
      const sync = await SyncClient.link(client, source)
      const files = Array.from({ length: MANY }, (_, number) => [`${number}`, `content ${number}`] as const)
      await sync.push({ file: BYTES, folder: Object.fromEntries(files) })
      const statuses: number[] = []
      for (let crashAt = 1; ; crashAt += 1) {
        const target = await client.createLibrary(`Target ${crashAt}`)
        const send = await operate({ client, source, target })
        using _log = await holdLog(postgres)
        using crashing = crashAfter(server.running.services.db, crashAt, () => postgres.crash())
        const status = await send()
        crashing[Symbol.dispose]()
        statuses.push(status)
        const names = await namesIn(client, target)
        assert.equal(names.length > 0, status === 200, `crash ${crashAt}`)
        await verify(postgres, target)
        if (!crashing.hasCrashed) break
      }
      t.diagnostic(`answered ${statuses.join(', ')}`)
      assert.ok(statuses.length > 2)
    })
  }
})

async function copy(client: Client, from: string, to: string, name: string): Promise<number> {
  const json = {
    src_repo_id: from,
    src_parent_dir: '/',
    src_dirents: [name],
    dst_repo_id: to,
    dst_parent_dir: '/',
  }
  return (await client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })).status
}

/** Reads all that the head of a library refers to, without the caches of the server. */
async function verify({ url }: RestorablePostgres, id: string): Promise<void> {
  await using stage = await openTestCore({ setting: { kind: 'postgres', url } })
  const { core, db } = stage
  const { key, root } = await getLibrary(core, id as LibraryId)
  const read = async (dir: DirId): Promise<void> => {
    if (dir === EMPTY_ID) return
    for (const entry of (await storesOf(core).objects.getDir(key, dir)).dir.entries) {
      if (entry.kind === 'dir') {
        await read(entry.id)
        continue
      }
      const file = await storesOf(core).objects.getFile(key, entry.id)
      for (const block of file.blockIds) {
        const sql = 'select size from library_block where library_key = ? and block_id = ?'
        assert.ok(await db.get(sql, key, idToBytes(block)), `a block of ${entry.name}`)
      }
      // Larger ones are files, which a crash of PostgreSQL does not touch.
      if (file.size < 1000) await Array.fromAsync(storesOf(core).content.read(key, file))
    }
  }
  await read(root)
}

/** Stops the process that flushes what nobody waits for. */
async function holdLog({ url }: RestorablePostgres): Promise<Disposable> {
  const client = new PostgresClient({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'walwriter'`,
  )
  await client.end()
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of rows) {
      try {
        process.kill(pid, name)
      } catch {
        // It has crashed with the others.
      }
    }
  }
  signal('SIGSTOP')
  return { [Symbol.dispose]: () => signal('SIGCONT') }
}

/** Calls `crash` once, after the numbered transaction and before its caller goes on. */
function crashAfter(db: Database, step: number, crash: () => Promise<void>) {
  const write = db.write.bind(db) as (...args: unknown[]) => Promise<unknown>
  let writes = 0
  let hasCrashed = false
  Object.assign(db, {
    write: async (...args: unknown[]) => {
      const result = await write(...args)
      if (++writes === step) {
        hasCrashed = true
        await crash()
      }
      return result
    },
  })
  return {
    get hasCrashed() {
      return hasCrashed
    },
    // That of the class is behind it.
    [Symbol.dispose]: () => Reflect.deleteProperty(db, 'write'),
  }
}
