import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { shareWith } from './sharing-support.ts'

/** In the comments, tags and names of files that were deleted. */
const CANARY = 'kingfisher'

describe('annotations of a deleted file', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  interface Ids {
    readonly comment: number
    readonly tag: number
    readonly fileTag: number
  }

  /** A library with the annotated files /d/a.txt and /d/kingfisher.txt. */
  async function begin() {
    const space = await Workspace.make(server)
    const { client, id } = space
    const form = { name: `${CANARY} tag`, color: 'red' }
    const tag = (await client.post(space.v21('repo-tags/'), { form })).body.repo_tag.repo_tag_id as number
    const ids: Ids[] = []
    for (const path of ['/d/a.txt', `/d/${CANARY}.txt`]) {
      await uploadFile(client, id, path, `the old ${path}`)
      const said = await client.post(space.v2('file/comments/'), {
        query: { p: path },
        form: { comment: `about the ${CANARY}` },
      })
      const tagged = await client.post(space.v21('file-tags/'), {
        form: { file_path: path, repo_tag_id: tag },
      })
      assert.deepEqual([said.status, tagged.status], [201, 201])
      ids.push({ comment: said.body.id, tag, fileTag: tagged.body.file_tag.file_tag_id })
    }
    return { space, client, id, ids }
  }

  /** Every answer about annotations in the shared folder with the file /a.txt. */
  async function answersTo(guest: Client, sub: string, ids: readonly Ids[]): Promise<string> {
    const [v2, v21] = [`/api2/repos/${sub}/`, `/api/v2.1/repos/${sub}/`]
    const replies = [
      await guest.get(`${v2}file/comments/`, { p: '/a.txt' }),
      await guest.get(`${v2}file/comments/counts/`, { p: '/' }),
      await guest.get(`${v2}file/comments/counts/`, { p: '/a.txt' }),
      await guest.get(`${v21}file/participants/`, { path: '/a.txt' }),
      await guest.get(`${v21}repo-tags/`),
      await guest.get(`${v21}file-tags/`, { file_path: '/a.txt' }),
      await guest.get(`${v21}dir/`, { p: '/' }),
      await guest.get('/api2/search/', { q: `comment:${CANARY}` }),
      await guest.get('/api2/search/', { q: `tag:"${CANARY} tag"` }),
    ]
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    for (const { comment, tag, fileTag } of ids) {
      const refused = [
        await guest.get(`${v2}file/comments/${comment}/`),
        await guest.put(`${v2}file/comments/${comment}/`, { form: { resolved: 'true' } }),
        await guest.get(`${v21}tagged-files/${tag}/`),
        await guest.delete(`${v21}file-tags/${fileTag}/`),
      ]
      for (const reply of refused) assert.equal(reply.status, 404, reply.text)
      replies.push(...refused)
    }
    return replies
      .map(({ text }) => text)
      .join('\n')
      .replaceAll(`comment:${CANARY}`, '')
  }

  const noLeak = async (guest: Client, sub: string, ids: readonly Ids[]) => {
    const text = await answersTo(guest, sub, ids)
    assert.ok(!text.includes(CANARY), text)
    assert.match(text, /"participant_list":\[\]/)
    assert.match(text, /"repo_tags":\[\]/)
    assert.match(text, /"a\.txt":0/)
  }

  it('are not shown on another file at its path, in a folder that is shared later', async () => {
    const { space, client, id, ids } = await begin()
    await client.delete(space.v21('dir/'), { query: { p: '/d' } })
    await uploadFile(client, id, '/d/a.txt', 'the new one')
    const guest = await server.signUp()
    const sub = await shareWith(client, id, guest, { path: '/d' })
    await noLeak(guest, sub, ids)
    // The recipient of the share deletes and restores the new file, and moves it away and back.
    await guest.delete(`/api/v2.1/repos/${sub}/file/`, { query: { p: '/a.txt' } })
    const [deleted] = (await guest.get(`/api/v2.1/repos/${sub}/trash/`)).body.data
    const form = { p: '/a.txt', commit_id: deleted.commit_id }
    const back = await guest.put(`/api2/repos/${sub}/file/revert/`, { form })
    assert.equal(back.status, 200, back.text)
    await noLeak(guest, sub, ids)
    const rename = (from: string, newname: string) =>
      guest.post(`/api/v2.1/repos/${sub}/file/`, {
        query: { p: from },
        form: { operation: 'rename', newname },
      })
    await rename('/a.txt', 'b.txt')
    await rename('/b.txt', 'a.txt')
    await noLeak(guest, sub, ids)
    // New annotations of the new file are the only ones.
    const said = await guest.post(`/api2/repos/${sub}/file/comments/`, {
      query: { p: '/a.txt' },
      form: { comment: 'mine' },
    })
    assert.equal(said.status, 201, said.text)
    const { body } = await client.get(space.v2('file/comments/'), { p: '/d/a.txt' })
    assert.deepEqual(
      body.comments.map(({ comment }: { comment: string }) => comment),
      ['mine'],
    )
  })

  it('are not shown when a sync client replaced the file', async () => {
    const { space, client, id, ids } = await begin()
    const device = await SyncClient.link(client, id)
    await device.push({ 'other.txt': 'x' })
    await device.push({ d: { 'a.txt': 'the new one' } })
    const guest = await server.signUp()
    const sub = await shareWith(client, id, guest, { path: '/d' })
    await noLeak(guest, sub, ids)
    assert.deepEqual((await client.get(space.v2('file/comments/'), { p: '/d/a.txt' })).body.comments, [])
  })

  it('come back when it is restored, and are not counted before', async () => {
    const { space, client, ids } = await begin()
    const head = await space.head()
    const files = async () => (await client.get(space.v21('repo-tags/'))).body.repo_tags[0].files_count
    assert.equal(await files(), 2)
    await client.delete(space.v21('dir/'), { query: { p: '/d' } })
    assert.equal(await files(), 0)
    const tagged = await client.get(space.v21(`tagged-files/${ids[0]?.tag}/`))
    assert.deepEqual(
      tagged.body.tagged_files.map(({ file_deleted }: { file_deleted: boolean }) => file_deleted),
      [true, true],
      'readers of the whole library see its trash',
    )
    const form = { p: '/d', commit_id: head }
    assert.equal((await client.put(space.v2('dir/revert/'), { form })).status, 200)
    assert.equal(await files(), 2)
    const { body } = await client.get(space.v2('file/comments/'), { p: '/d/a.txt' })
    assert.equal(body.comments.length, 1)
    // The same by a revert of the whole library.
    await client.delete(space.v21('file/'), { query: { p: '/d/a.txt' } })
    assert.equal(await files(), 1)
    const reverted = await client.post(space.v21(`commits/${head}/revert/`))
    assert.equal(reverted.status, 200, reverted.text)
    assert.equal(await files(), 2)
  })
})
