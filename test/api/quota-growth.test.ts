import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DomainError } from '../../src/base/errors.ts'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { makeFolder } from '../../src/libraries/edits/entries.ts'
import { copy } from '../../src/libraries/edits/move-copy.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import type { Client, Reply } from '../support/client.ts'
import { at } from '../support/core.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { filePart, headOf, intoRoot, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { ended, start } from './tasks-support.ts'

const MB = 1_000_000
const TO = at('/to')

const setQuota = (server: TestServer, user: Client, quota: number) =>
  server.running.services.accounts.update(user.email, { quota }, undefined)
const used = async (user: Client) => (await user.get('/api2/account/info/')).body.usage

async function newLibrary(server: TestServer, user: Client): Promise<EditableLibrary> {
  const { access, accounts } = server.running.services
  const id = await user.createLibrary()
  await makeFolder((await access.open(await accounts.get(user.email), id as LibraryId)).editable(ROOT), TO)
  return (await access.open(await accounts.get(user.email), id as LibraryId)).editable(ROOT)
}

/** Like a request, but without waiting: concurrent edits are committed together. */
async function attempt(
  server: TestServer,
  source: EditableLibrary,
  target: EditableLibrary,
): Promise<200 | 443> {
  const { core, quotas } = server.running.services
  const roomLeft = quotas.roomLeft.bind(quotas)
  try {
    await copy(core, source, { parent: ROOT, names: ['a.bin'] }, target, TO, roomLeft)
    return 200
  } catch (error) {
    assert.ok(error instanceof DomainError && error.fault.code === 'quota-exceeded', String(error))
    return 443
  }
}

describe('the quota', () => {
  for (const [where, count] of [
    ['one library', 1],
    ['several libraries', 4],
  ] as const) {
    it(`holds for concurrent copies into ${where}`, async () => {
      await using server = await startServer()
      const user = await server.signUp()
      const libraries: EditableLibrary[] = []
      for (let made = 0; made < count; made++) libraries.push(await newLibrary(server, user))
      const [first = assert.fail()] = libraries
      await uploadFile(user, first.info.id, '/a.bin', Buffer.alloc(5 * MB, 1))
      const { access, accounts } = server.running.services
      const source = (await access.open(await accounts.get(user.email), first.info.id)).editable(ROOT)
      await setQuota(server, user, 20 * MB)
      const copies = Array.from({ length: 40 }, (_, index) =>
        attempt(server, source, libraries[index % count] ?? first),
      )
      const statuses = await Promise.all(copies)
      assert.equal(statuses.filter((status) => status === 200).length, 2)
      assert.equal(await used(user), 15 * MB)
    })
  }

  it('holds for restores, reverts, tasks, pushes, copies and uploads at the same time', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const bytes = Buffer.alloc(5 * MB, 1)
    const withFile = async () => {
      const id = await user.createLibrary()
      const content = contentOf(server, user, id)
      await uploadFile(user, id, '/a.bin', bytes)
      return { id, head: await headOf(user, id), content }
    }
    const source = await withFile()
    const attempts: (() => Promise<boolean>)[] = []
    const isOk = async (reply: Promise<Reply>) => {
      const { status, body, text } = await reply
      assert.ok([200, 443].includes(status) || /quota/i.test(text), `${status} ${text}`)
      return status === 200 && (body?.failed?.length ?? 0) === 0
    }
    for (let copies = 0; copies < 2; copies++) {
      const { id: restored, head: before, content } = await withFile()
      await content.remove('/a.bin')
      const form = { path: '/a.bin', commit_id: before }
      attempts.push(() => isOk(user.post(`/api/v2.1/repos/${restored}/trash/revert-dirents/`, { form })))

      const { id: reverted, head: full, content: changed } = await withFile()
      await changed.remove('/a.bin')
      attempts.push(() => isOk(user.post(`/api/v2.1/repos/${reverted}/commits/${full}/revert/`)))

      const target = await user.createLibrary()
      attempts.push(async () => {
        const json = {
          src_repo_id: source.id,
          src_parent_dir: '/',
          src_dirents: ['a.bin'],
          dst_repo_id: target,
          dst_parent_dir: '/',
        }
        const reply = await start(user, 'copy', json)
        if (reply.status !== 200) return isOk(Promise.resolve(reply))
        return (await ended(user, reply.body.task_id)).successful
      })

      const pushed = await SyncClient.link(user, await user.createLibrary())
      const commit = await pushed.send({ 'pushed.bin': bytes }, await pushed.head())
      attempts.push(() => isOk(pushed.putHead(commit)))

      const form2 = { operation: 'copy', dst_repo: source.id, dst_dir: '/' }
      attempts.push(() => isOk(user.post(`/api/v2.1/repos/${source.id}/file/?p=/a.bin`, { form: form2 })))

      const uploaded = await user.createLibrary()
      const link = await uploadLink(user, uploaded)
      attempts.push(() => isOk(postForm(link, [intoRoot, filePart('up.bin', bytes)])))
    }
    await setQuota(server, user, 20 * MB)
    assert.equal(await used(user), 5 * MB)
    const done = await Promise.all(attempts.map((attempt) => attempt()))
    assert.equal(done.filter(Boolean).length, 2)
    assert.equal(await used(user), 15 * MB)
  })

  it('rejects only the edits without space in a group commit', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const made = await newLibrary(server, user)
    await uploadFile(user, made.info.id, '/a.bin', Buffer.alloc(3 * MB, 1))
    const { access, accounts } = server.running.services
    const library = (await access.open(await accounts.get(user.email), made.info.id)).editable(ROOT)
    await setQuota(server, user, 10 * MB)
    const copies: Promise<200 | 443>[] = []
    const folders: Promise<unknown>[] = []
    for (let index = 0; index < 6; index++) {
      copies.push(attempt(server, library, library))
      folders.push(makeFolder(library, at(`/folder-${index}`)))
    }
    await Promise.all(folders)
    assert.deepEqual(await Promise.all(copies), [200, 200, 443, 443, 443, 443])
    assert.equal(await used(user), 9 * MB)
  })

  it('holds for libraries that are restored or transferred', async () => {
    await using server = await startServer()
    const [user, other] = [await server.signUp(), await server.signUp()]
    const [first, second] = [await user.createLibrary(), await user.createLibrary()]
    await setQuota(server, user, 10 * MB)
    await uploadFile(user, first, '/a.bin', Buffer.alloc(6 * MB, 1))
    assert.equal((await user.delete(`/api2/repos/${first}/`)).status, 200)
    await uploadFile(user, second, '/b.bin', Buffer.alloc(6 * MB, 2))
    const restore = () => user.post('/api/v2.1/deleted-repos/', { form: { repo_id: first } })
    assert.equal((await restore()).status, 443)
    assert.equal(await used(user), 6 * MB)

    // No account can fill the quota of another.
    await setQuota(server, other, 5 * MB)
    const handOver = () => user.put(`/api2/repos/${second}/owner/`, { form: { owner: other.email } })
    assert.equal((await handOver()).status, 443)
    assert.deepEqual([await used(user), await used(other)], [6 * MB, 0])
    await setQuota(server, other, 7 * MB)
    assert.equal((await handOver()).status, 200)
    assert.equal((await restore()).status, 200)
    assert.deepEqual([await used(user), await used(other)], [6 * MB, 6 * MB])
  })
})
