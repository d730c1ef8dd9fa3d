import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { pathKey } from '../../src/base/paths/path-key.ts'
import type { LibraryPath } from '../../src/base/paths/paths.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { filePart, intoRoot, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const GRACE_SECONDS = 600
const BYTES = 300_000

describe('blocks of uploads that came to nothing', () => {
  let clock = 1_754_000_000
  let server: TestServer
  let user: Client
  let library = ''
  before(async () => {
    server = await startServer({ now: () => clock, env: { CARREL_GC_GRACE_SECONDS: String(GRACE_SECONDS) } })
    user = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())
  beforeEach(async () => {
    library = await user.createLibrary()
    await uploadFile(user, library, '/kept.bin', randomBytes(BYTES))
  })

  const blockFiles = async () => {
    const names = await readdir(path.join(server.data, 'blocks'), { recursive: true, withFileTypes: true })
    return names
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort()
  }
  const collect = async () => {
    for (let run = 0; run < 3; run++) {
      await server.running.services.gc.runOnce()
      clock += GRACE_SECONDS + 1
    }
  }
  const expectFreed = async (before: readonly string[]) => {
    assert.deepEqual((await blockFiles()).length, before.length + 1)
    await collect()
    assert.deepEqual(await blockFiles(), before)
  }

  it('get no names if the file was locked', async () => {
    const before = await blockFiles()
    const { accounts, core, db } = server.running.services
    const holder = await accounts.get((await server.signUp()).email)
    await user.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: holder.email, permission: 'rw' },
    })
    const { key } = await getLibrary(core, library as LibraryId)
    const row = [key, pathKey('/kept.bin' as LibraryPath), '/kept.bin', holder.key, 0]
    const columns = ['library_key', 'path_key', 'path', 'account_key', 'locked_at']
    await db.write((tx) => tx.insert('file_lock', columns, [row]))
    const link = await uploadLink(user, library)
    const reply = await postForm(link, [intoRoot, ['replace', '1'], filePart('kept.bin', randomBytes(BYTES))])
    assert.notEqual(reply.status, 200, reply.text)
    assert.deepEqual(await blockFiles(), before)
  })

  it('are deleted if the process died before the commit', async () => {
    const before = await blockFiles()
    await server.running.services.core.incoming.receive(Readable.from([randomBytes(BYTES)]))
    await expectFreed(before)
  })

  it('are kept if another upload committed the same bytes meanwhile', async () => {
    const before = await blockFiles()
    const bytes = randomBytes(BYTES)
    await server.running.services.core.incoming.receive(Readable.from([bytes]))
    await server.running.services.gc.runOnce()
    clock += GRACE_SECONDS + 1
    await uploadFile(user, library, '/again.bin', bytes)
    await collect()
    assert.equal((await blockFiles()).length, before.length + 1)
    const file = await user.get(`/api2/repos/${library}/file/`, { p: '/again.bin' })
    const got = await fetch(file.body)
    assert.deepEqual(Buffer.from(await got.arrayBuffer()), bytes)
  })
})
