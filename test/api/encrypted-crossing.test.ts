import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { Client } from '../support/client.ts'
import {
  createEncrypted,
  download,
  type EncryptedLibrary,
  openEncrypted,
  readAsClient,
} from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { batch, syncBatch } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'
import { ended } from './tasks-support.ts'

const LOCKED = 'This library has not been decrypted.'
const OPERATIONS = ['copy', 'move'] as const

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => NOON })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const note = Buffer.from('a note')
const long = randomBytes(9 * 2 ** 20 + 3)

interface Side {
  readonly space: Workspace
  readonly encrypted: EncryptedLibrary | undefined
}

async function side(kind: 'plain' | 2 | 3 | 4): Promise<Side> {
  if (kind === 'plain') return { space: await Workspace.make(server, ann), encrypted: undefined }
  const encrypted = await createEncrypted(ann, kind)
  await openEncrypted(ann, encrypted.id)
  return { space: new Workspace(server, ann, encrypted.id), encrypted }
}

async function fill({ space }: Side): Promise<void> {
  await uploadFile(ann, space.id, '/d/note.txt', note)
  await uploadFile(ann, space.id, '/d/deep/long.bin', long)
  await uploadFile(ann, space.id, '/d/deep/same/note.txt', note)
  await space.folder('/d/nothing')
  await space.file('/d/empty')
  await uploadFile(ann, space.id, '/top.txt', 'top')
}

/** Asserts that the content is unchanged for the web and for a sync client. */
async function expectFilled({ space, encrypted }: Side): Promise<void> {
  const read = async (path: string) => {
    const bytes = await download(ann, space.id, path)
    if (encrypted !== undefined) assert.ok((await readAsClient(ann, encrypted, path)).equals(bytes), path)
    return bytes
  }
  assert.deepEqual((await space.names('/d')).toSorted(), ['deep', 'empty', 'note.txt', 'nothing'])
  assert.deepEqual(await read('/d/note.txt'), note)
  assert.ok((await read('/d/deep/long.bin')).equals(long))
  assert.deepEqual(await read('/d/deep/same/note.txt'), note)
  assert.equal((await read('/d/empty')).length, 0)
  assert.equal((await read('/top.txt')).toString(), 'top')
  const listed = await ann.get(space.v2('dir/'), { p: '/d/deep' })
  const sizes = new Map(listed.body.map((entry: { name: string; size: number }) => [entry.name, entry.size]))
  assert.equal(sizes.get('long.bin'), long.length)
  const { size, file_count } = (await ann.get(space.v2(''))).body
  assert.deepEqual([size, file_count], [note.length * 2 + long.length + 3, 5])
}

for (const [from, to] of [
  ['plain', 2],
  [2, 'plain'],
  [2, 4],
  [3, 3],
  [4, 3],
] as const) {
  describe(`from ${name(from)} into ${name(to)}`, () => {
    it('copies and moves entries in one call and re-encrypts them', async () => {
      const source = await side(from)
      await fill(source)
      for (const operation of OPERATIONS) {
        const target = await side(to)
        const reply = await syncBatch(
          ann,
          operation,
          batch(source.space, ['d', 'top.txt'], target.space, '/'),
        )
        assertReply(reply, 200, { success: 'true' })
        await expectFilled(target)
        if (operation === 'copy') await expectFilled(source)
        else assert.deepEqual(await source.space.names(), [])
      }
    })

    it('copies and moves entries by tasks that report their progress', async () => {
      const source = await side(from)
      await fill(source)
      for (const operation of OPERATIONS) {
        const target = await side(to)
        const json = batch(source.space, ['d', 'top.txt'], target.space, '/')
        const { body } = await ann.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json })
        const { done, total, successful } = await ended(ann, body.task_id)
        assert.deepEqual([done, total, successful], [5, 5, true])
        await expectFilled(target)
      }
      assert.deepEqual(await source.space.names(), [])
    })

    it('merges a folder with another of the same name', async () => {
      const [source, target] = [await side(from), await side(to)]
      await fill(source)
      await uploadFile(ann, target.space.id, '/d/deep/other.txt', 'other')
      const json = {
        src_repo_id: source.space.id,
        src_parent_dir: '/',
        src_dirent_name: 'd',
        dst_repo_id: target.space.id,
        dst_parent_dir: '/',
      }
      const reply = await ann.post('/api/v2.1/move-folder-merge/', { json })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual((await target.space.names('/d/deep')).toSorted(), ['long.bin', 'other.txt', 'same'])
      assert.ok((await download(ann, target.space.id, '/d/deep/long.bin')).equals(long))
      assert.equal((await download(ann, target.space.id, '/d/deep/other.txt')).toString(), 'other')
    })

    it('copies a single file by the older calls, too', async () => {
      const [source, target] = [await side(from), await side(to)]
      await fill(source)
      const form = { operation: 'copy', dst_repo: target.space.id, dst_dir: '/' }
      const copied = await ann.post(source.space.v2('file/'), { query: { p: '/top.txt' }, form })
      assert.ok([200, 301].includes(copied.status), copied.text)
      assert.equal((await download(ann, target.space.id, '/top.txt')).toString(), 'top')
    })
  })
}

describe('without the library password', () => {
  it('nothing is copied into or out of an encrypted library, and nothing changes', async () => {
    const [plain, locked] = [await side('plain'), await side(2)]
    for (const one of [plain, locked]) await fill(one)
    await ann.delete(locked.space.v21('set-password/'))
    const heads = await Promise.all([plain.space.head(), locked.space.head()])
    for (const operation of OPERATIONS) {
      const out = batch(locked.space, ['d'], plain.space, '/')
      const into = batch(plain.space, ['d'], locked.space, '/')
      assertError(await syncBatch(ann, operation, out), 403, LOCKED)
      assertError(await syncBatch(ann, operation, into), 403, LOCKED)
      const url = `/api/v2.1/repos/async-batch-${operation}-item/`
      assertError(await ann.post(url, { json: out }), 403, LOCKED)
      assertReply(await ann.post(url, { json: into }), 403, { lib_need_decrypt: true })
    }
    assert.deepEqual(await Promise.all([plain.space.head(), locked.space.head()]), heads)
    // Within one library no content is decrypted.
    await locked.space.folder('/in')
    for (const operation of OPERATIONS) {
      const within = batch(locked.space, ['top.txt'], locked.space, '/in')
      assertReply(await syncBatch(ann, operation, within), 200, { success: 'true' })
    }
    await openEncrypted(ann, locked.space.id)
    for (const file of ['top.txt', 'top (1).txt']) {
      assert.equal((await download(ann, locked.space.id, `/in/${file}`)).toString(), 'top')
    }
  })

  it('the password entered by another account does not count', async () => {
    const locked = await side(2)
    await fill(locked)
    const bob = await server.signUp()
    const theirs = await Workspace.make(server, bob)
    const handed = await ann.put(locked.space.v2('owner/'), { form: { owner: bob.email } })
    assert.equal(handed.status, 200, handed.text)
    const json = batch(new Workspace(server, bob, locked.space.id), ['d'], theirs, '/')
    assertError(await syncBatch(bob, 'copy', json), 403, LOCKED)
    await openEncrypted(bob, locked.space.id)
    assertReply(await syncBatch(bob, 'copy', json), 200, { success: 'true' })
    assert.ok((await download(bob, theirs.id, '/d/deep/long.bin')).equals(long))
  })

  it('a task whose key expired fails and leaves nothing visible', async (t) => {
    const [plain, target] = [await side('plain'), await side(2)]
    await fill(plain)
    const { quotas } = server.running.services
    const roomLeft = quotas.roomLeft.bind(quotas)
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    const held = t.mock.method(quotas, 'roomLeft', async (library: Parameters<typeof roomLeft>[0]) => {
      await gone
      return roomLeft(library)
    })
    const json = batch(plain.space, ['d'], target.space, '/')
    const { body } = await ann.post('/api/v2.1/repos/async-batch-move-item/', { json })
    await ann.delete(target.space.v21('set-password/'))
    resolve()
    const { failed, failed_reason } = await ended(ann, body.task_id)
    held.mock.restore()
    assert.deepEqual([failed, failed_reason], [true, 'Invalid arguments'])
    assert.deepEqual(await target.space.names(), [])
    assert.deepEqual((await plain.space.names()).toSorted(), ['d', 'top.txt'])
  })
})

describe('between two keys', () => {
  it('a task that is canceled during re-encryption leaves nothing visible', async (t) => {
    const [plain, target] = [await side('plain'), await side(2)]
    await fill(plain)
    const { content } = storesOf(server.running.services.core)
    const receive = content.receive.bind(content)
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const held = t.mock.method(content, 'receive', async (...args: Parameters<typeof receive>) => {
      reached.resolve()
      await gate.promise
      return receive(...args)
    })
    const json = batch(plain.space, ['d'], target.space, '/')
    const { body } = await ann.post('/api/v2.1/repos/async-batch-move-item/', { json })
    await reached.promise
    const form = { task_id: body.task_id }
    assertReply(await ann.delete('/api/v2.1/copy-move-task/', { form }), 200, { success: true })
    gate.resolve()
    const { canceled } = await ended(ann, body.task_id)
    held.mock.restore()
    assert.equal(canceled, true)
    assert.deepEqual(await target.space.names(), [])
    assert.deepEqual((await plain.space.names()).toSorted(), ['d', 'top.txt'])
  })
})

function name(kind: 'plain' | number): string {
  return kind === 'plain' ? 'a plain library' : `an encrypted one of version ${kind}`
}
