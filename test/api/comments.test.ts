import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  MAX_COMMENT_TEXT,
  MAX_COMMENTS,
  MAX_COMMENTS_OF_ACCOUNT,
} from '../../src/derived/annotations/comments.ts'
import { deleteMissingFiles } from '../../src/derived/annotations/missing-files.ts'
import type { Client, Reply } from '../support/client.ts'
import { createEncrypted } from '../support/encrypted.ts'
import { EventStream } from '../support/event-stream.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, NOON, NOON_TEXT, Workspace } from './folders-support.ts'
import { shareWith, unshare } from './sharing-support.ts'

const DAY = 86_400

describe('comments on files', () => {
  let server: TestServer
  let now = NOON
  before(async () => {
    server = await startServer({ now: () => now })
  })
  after(async () => server[Symbol.asyncDispose]())

  async function filled(): Promise<Workspace> {
    now = NOON
    const space = await Workspace.make(server)
    await space.folder('/d')
    await space.file('/d/a.txt')
    await space.file('/b.txt')
    return space
  }

  const add = (by: Client, id: string, path: string, comment: string) =>
    by.post(`/api2/repos/${id}/file/comments/`, { query: { p: path }, form: { comment } })
  const list = (by: Client, id: string, path: string, more = {}) =>
    by.get(`/api2/repos/${id}/file/comments/`, { p: path, ...more })
  const textsOf = (reply: Reply) => {
    assert.equal(reply.status, 200, reply.text)
    return reply.body.comments.map(({ comment }: { comment: string }) => comment)
  }
  const notices = async (client: Client) => {
    const { body } = await client.get('/api/v2.1/notifications/')
    return body.notification_list.filter(({ type }: { type: string }) => type === 'file_comment')
  }
  const one = (space: Workspace, id: number) => space.v2(`file/comments/${id}/`)

  it('are added, listed, changed, resolved, counted and deleted', async () => {
    const space = await filled()
    const { client } = space
    const markup = '<img src=x onerror=alert(1)> & “ü” \u{1f600}'
    const added = await add(client, space.id, '/d/a.txt', markup)
    const { id } = added.body
    const comment = {
      id,
      repo_id: space.id,
      parent_path: '/d',
      item_name: 'a.txt',
      comment: markup,
      created_at: NOON_TEXT,
      updated_at: NOON_TEXT,
      resolved: false,
      detail: '',
      replies: [],
      user_email: client.email,
      user_name: client.email.split('@')[0],
      user_contact_email: client.email,
      avatar_url: `${server.url}/media/avatars/default.png`,
    }
    assertReply(added, 201, comment)
    assertReply(await list(client, space.id, '/d/a.txt'), 200, { comments: [comment] })
    assertReply(await client.get(one(space, id)), 200, comment)
    assertReply(await client.get(space.v2('file/comments/counts/'), { p: '/d' }), 200, [{ 'a.txt': 1 }])
    assertReply(await client.get(space.v2('file/comments/counts/'), { p: '/' }), 200, [])
    assertReply(await client.get(space.v2('file/comments/counts/'), { p: '/d/a.txt' }), 200, { 'a.txt': 1 })
    const detail = await client.get(space.v2('file/detail/'), { p: '/d/a.txt' })
    assert.equal(detail.body.comment_total, 1)
    now += 60
    const resolved = { ...comment, resolved: true }
    assertReply(await client.put(one(space, id), { json: { resolved: 'true' } }), 200, resolved)
    assert.deepEqual(textsOf(await list(client, space.id, '/d/a.txt', { resolved: 'false' })), [])
    assert.deepEqual(textsOf(await list(client, space.id, '/d/a.txt', { resolved: 'true' })), [markup])
    const changed = await client.put(one(space, id), { json: { comment: 'again', detail: '{"at":1}' } })
    assertReply(changed, 200, {
      ...resolved,
      comment: 'again',
      detail: '{"at":1}',
      updated_at: '2025-07-31T22:14:20+00:00',
    })
    const gone = await client.delete(one(space, id))
    assert.deepEqual([gone.status, gone.text], [204, ''])
    assertReply(await list(client, space.id, '/d/a.txt'), 200, { comments: [] })
    assertError(await client.get(one(space, id)), 404, `File comment not found: ${id}`)
    assertError(await client.delete(one(space, id)), 404, `File comment not found: ${id}`)
  })

  it('are refused without a file, empty, too long, with a wrong id, and beyond the limit', async () => {
    const space = await filled()
    const { client } = space
    assertError(await list(client, space.id, ''), 400, 'Wrong path.')
    assertError(await add(client, space.id, '/none.txt', 'x'), 404, 'File /none.txt not found.')
    assertError(await add(client, space.id, '/d', 'x'), 404, 'File /d not found.')
    for (const blank of ['', ' \n\t']) {
      assertError(await add(client, space.id, '/b.txt', blank), 400, 'Comment can not be empty.')
    }
    assertError(await add(client, space.id, '/b.txt', 'x'.repeat(10_001)), 400, 'Comment is too long.')
    assert.equal((await add(client, space.id, '/b.txt', 'a\0b')).status, 400)
    const { id } = (await add(client, space.id, '/b.txt', 'x')).body
    assertError(
      await client.put(one(space, id), { json: { comment: ' ' } }),
      400,
      'Comment can not be empty.',
    )
    assert.equal((await client.put(one(space, id), { json: { resolved: 'perhaps' } })).status, 400)
    for (const wrong of ['0', '-1', 'x', '99999999999999999999']) {
      assert.equal((await client.get(space.v2(`file/comments/${wrong}/`))).status, 404)
    }
    const { db } = server.running.services
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${MAX_COMMENTS - 1})
         insert into file_comment (file_key, author, comment, detail, resolved, created_at, updated_at)
         select file_key, author, comment, detail, resolved, created_at, updated_at
         from file_comment join n on true where file_comment.key = ?`,
        id,
      ),
    )
    const beyond = await add(client, space.id, '/b.txt', 'one more')
    assertError(beyond, 400, `A file can have at most ${MAX_COMMENTS} comments.`)
  })

  it('are limited in their length, together with their details', async () => {
    const space = await filled()
    const { client } = space
    const length = 10_000
    const { id } = (await add(client, space.id, '/b.txt', 'x'.repeat(length))).body
    const { db } = server.running.services
    const others = Math.floor(MAX_COMMENT_TEXT / length) - 1
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${others})
         insert into file_comment (file_key, author, comment, detail, resolved, created_at, updated_at)
         select file_key, author, comment, detail, resolved, created_at, updated_at
         from file_comment join n on true where file_comment.key = ?`,
        id,
      ),
    )
    const message = `The comments on a file can have at most ${MAX_COMMENT_TEXT} characters in all.`
    assertError(await add(client, space.id, '/b.txt', 'x'.repeat(length)), 400, message)
    assertError(await client.put(one(space, id), { json: { detail: 'x'.repeat(length) } }), 400, message)
    assert.equal((await client.put(one(space, id), { json: { comment: 'shorter' } })).status, 200)
    assert.equal((await add(client, space.id, '/b.txt', 'fits')).status, 201)
  })

  it('are limited for each author, whatever the file', async () => {
    const space = await filled()
    const guest = await server.signUp()
    await shareWith(space.client, space.id, guest, { permission: 'r' })
    const { id } = (await add(guest, space.id, '/d/a.txt', 'first')).body
    const { db } = server.running.services
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 2 union all select i + 1 from n where i < ${MAX_COMMENTS_OF_ACCOUNT})
         insert into file_comment (file_key, author_key, author, comment, detail, resolved, created_at, updated_at)
         select f.key, c.author_key, author, comment, detail, resolved, created_at, updated_at
         from file_comment c join annotated_file f on f.key = c.file_key join n on true where c.key = ?`,
        id,
      ),
    )
    const beyond = await add(guest, space.id, '/b.txt', 'one more')
    assertError(beyond, 400, `An account can write at most ${MAX_COMMENTS_OF_ACCOUNT} comments.`)
    assert.equal((await add(space.client, space.id, '/b.txt', 'of the owner')).status, 201)
    await db.write((tx) => tx.run('delete from file_comment where author = ?', guest.email))
    assert.equal((await add(guest, space.id, '/b.txt', 'again')).status, 201)
  })

  it('are stored in no encrypted library', async () => {
    const client = await server.signUp()
    const { id } = await createEncrypted(client, 2, 'a secret of many')
    const made = await client.post(`/api/v2.1/repos/${id}/file/`, {
      query: { p: '/a.txt' },
      form: { operation: 'create' },
    })
    assert.equal(made.status, 200, made.text)
    assert.equal((await add(client, id, '/a.txt', 'x')).status, 403)
  })

  it('follow renames and moves, and come back with a restored file', async () => {
    const space = await filled()
    const { client } = space
    await add(client, space.id, '/d/a.txt', 'about a')
    const rename = { operation: 'rename', newname: 'c.txt' }
    await client.post(space.v21('file/'), { query: { p: '/d/a.txt' }, form: rename })
    assert.deepEqual(textsOf(await list(client, space.id, '/d/c.txt')), ['about a'])
    const folder = { operation: 'rename', newname: 'e' }
    await client.post(space.v21('dir/'), { query: { p: '/d' }, form: folder })
    assert.deepEqual(textsOf(await list(client, space.id, '/e/c.txt')), ['about a'])
    const counts = (p: string) => client.get(space.v2('file/comments/counts/'), { p })
    assert.deepEqual((await counts('/e')).body, [{ 'c.txt': 1 }])
    const move = { operation: 'move', dst_repo: space.id, dst_dir: '/' }
    await client.post(space.v21('file/'), { query: { p: '/e/c.txt' }, form: move })
    const before = await space.head()
    assert.deepEqual(textsOf(await list(client, space.id, '/c.txt')), ['about a'])
    assert.deepEqual([(await counts('/e')).body, (await counts('/')).body], [[], [{ 'c.txt': 1 }]])
    await client.delete(space.v21('file/'), { query: { p: '/c.txt' } })
    assert.equal((await list(client, space.id, '/c.txt')).status, 404)
    await client.put(space.v2('file/revert/'), { form: { p: '/c.txt', commit_id: before } })
    assert.deepEqual(textsOf(await list(client, space.id, '/c.txt')), ['about a'])
  })

  it('end 90 days after their file', async () => {
    const space = await filled()
    const { client } = space
    const { db, core } = server.running.services
    const collect = () => deleteMissingFiles({ db, core, now: () => now }, new AbortController().signal)
    const count = async () => (await db.all('select 1 from annotated_file where path = ?', '/b.txt')).length
    const before = await count()
    await add(client, space.id, '/b.txt', 'x')
    await collect()
    now += 100 * DAY
    await collect()
    assert.equal(await count(), before + 1, 'the file is still there')
    const head = await space.head()
    await client.delete(space.v21('file/'), { query: { p: '/b.txt' } })
    await collect()
    now += 89 * DAY
    await collect()
    assert.equal(await count(), before + 1)
    const restore = { form: { p: '/b.txt', commit_id: head } }
    assert.equal((await client.put(space.v2('file/revert/'), restore)).status, 200)
    await collect()
    now += 100 * DAY
    await collect()
    assert.equal(await count(), before + 1, 'the file was restored')
    await client.delete(space.v21('file/'), { query: { p: '/b.txt' } })
    await collect()
    now += 89 * DAY
    await collect()
    assert.equal(await count(), before + 1)
    now += 2 * DAY
    await collect()
    assert.equal(await count(), before)
  })

  it('notify participants, the mentioned and the owner, only those who may read the file', async () => {
    const space = await filled()
    const owner = space.client
    const [reader, inFolder, stranger] = [await server.signUp(), await server.signUp(), await server.signUp()]
    await shareWith(owner, space.id, reader, { permission: 'r' })
    await shareWith(owner, space.id, inFolder, { permission: 'r', path: '/d' })
    const text = `@${inFolder.email}, @${stranger.email} and @nobody@example.org: look`
    const added = await add(reader, space.id, '/d/a.txt', text)
    assert.equal(added.status, 201)
    assert.deepEqual(await notices(stranger), [])
    assert.deepEqual(await notices(reader), [], 'not of their own comment')
    const [told] = await notices(owner)
    assert.deepEqual(told.detail, {
      repo_id: space.id,
      repo_name: 'Plans',
      file_path: '/d/a.txt',
      file_name: 'a.txt',
      author_email: reader.email,
      author_name: reader.email.split('@')[0],
      author_contact_email: reader.email,
      author_avatar_url: `${server.url}/media/avatars/default.png`,
      mentioned: false,
    })
    const [mention] = await notices(inFolder)
    const sub = mention.detail.repo_id
    assert.notEqual(sub, space.id)
    assert.deepEqual([mention.detail.file_path, mention.detail.mentioned], ['/a.txt', true])
    // The same comment through the shared folder, which shows nothing else.
    const [seen] = (await list(inFolder, sub, '/a.txt')).body.comments
    assert.deepEqual([seen.id, seen.parent_path, seen.repo_id], [added.body.id, '/', sub])
    const outside = await add(owner, space.id, '/b.txt', 'outside')
    assert.equal((await inFolder.get(`/api2/repos/${sub}/file/comments/${outside.body.id}/`)).status, 404)
    assert.equal((await list(inFolder, space.id, '/d/a.txt')).status, 403)
    // Participants are notified of the next one.
    await add(owner, space.id, '/d/a.txt', 'thank you')
    assert.equal((await notices(reader)).length, 1)
    assert.equal((await notices(inFolder)).length, 2)
    const people = await owner.get(space.v21('file/participants/'), { path: '/d/a.txt' })
    const emails = people.body.participant_list.map(({ email }: { email: string }) => email).sort()
    assert.deepEqual(emails, [owner.email, reader.email, inFolder.email].sort())
    const adding = await owner.post(space.v21('file/participants/'), {
      json: { path: '/b.txt', emails: [reader.email, stranger.email] },
    })
    assert.deepEqual(
      adding.body.success.map(({ email }: { email: string }) => email),
      [reader.email],
    )
    assert.deepEqual(adding.body.failed, [
      { email: stranger.email, error_code: 403, error_msg: 'Permission denied.' },
    ])
    const leave = { json: { path: '/d/a.txt', email: reader.email } }
    assertReply(await reader.delete(space.v21('file/participant/'), leave), 200, { success: true })
    const other = { json: { path: '/d/a.txt', email: inFolder.email } }
    assertError(await reader.delete(space.v21('file/participant/'), other), 403, 'Permission denied.')
    // Nothing after the share ended, and the earlier notification is hidden.
    await unshare(owner, space.id, reader)
    assertError(await list(reader, space.id, '/d/a.txt'), 403, 'Permission denied.')
    await add(owner, space.id, '/b.txt', `@${reader.email}`)
    assert.deepEqual(await notices(reader), [])
  })

  it('are changed by their author, resolved by writers, and deleted by author and owner', async () => {
    const space = await filled()
    const owner = space.client
    const [reader, writer] = [await server.signUp(), await server.signUp()]
    await shareWith(owner, space.id, reader, { permission: 'r' })
    await shareWith(owner, space.id, writer)
    const { id } = (await add(reader, space.id, '/b.txt', 'mine')).body
    assert.equal((await writer.put(one(space, id), { json: { comment: 'forged' } })).status, 403)
    assert.equal((await owner.put(one(space, id), { json: { comment: 'forged' } })).status, 403)
    assert.equal((await writer.put(one(space, id), { json: { resolved: 'true' } })).body.resolved, true)
    assert.equal((await writer.delete(one(space, id))).status, 403)
    assert.equal((await reader.put(one(space, id), { json: { comment: 'better' } })).status, 200)
    assert.equal((await owner.delete(one(space, id))).status, 204)
    // Comments of a removed account stay, and a new account with its e-mail has no rights on them.
    const kept = (await add(reader, space.id, '/b.txt', 'kept')).body.id
    await server.running.services.accounts.remove(reader.email, undefined)
    assert.deepEqual(textsOf(await list(owner, space.id, '/b.txt')), ['kept'])
    assert.equal((await owner.get(one(space, kept))).body.user_email, reader.email)
  })

  it('are announced to open pages', async () => {
    const space = await filled()
    const { client } = space
    await server.running.services.activity.live.log.settled()
    await using stream = await EventStream.open(client)
    await stream.nextOf('ready')
    const { id } = (await add(client, space.id, '/b.txt', 'x')).body
    const told = { repo_id: space.id, path: '/b.txt', author_email: client.email }
    assert.deepEqual((await stream.nextOf('comment'))?.data, told)
    await client.delete(one(space, id))
    assert.deepEqual((await stream.nextOf('comment'))?.data, told)
  })
})
