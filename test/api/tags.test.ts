import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MAX_ANNOTATED_FILES } from '../../src/derived/annotations/annotated-file-store.ts'
import { indexComments } from '../../src/derived/annotations/comment-index.ts'
import { MAX_TAGS } from '../../src/derived/annotations/tags.ts'
import type { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually } from '../support/transfer.ts'
import { assertError, assertReply, NOON, NOON_TEXT, Workspace } from './folders-support.ts'
import { shareWith } from './sharing-support.ts'

describe('tags', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  async function filled(): Promise<Workspace> {
    const space = await Workspace.make(server)
    await space.folder('/d')
    await space.file('/d/a.txt')
    await space.file('/b.txt')
    return space
  }

  const make = async (space: Workspace, name: string, color = '#ff8000'): Promise<number> => {
    const reply = await space.client.post(space.v21('repo-tags/'), { form: { name, color } })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.repo_tag.repo_tag_id
  }
  const put = (by: Client, id: string, file_path: string, repo_tag_id: number) =>
    by.post(`/api/v2.1/repos/${id}/file-tags/`, { form: { file_path, repo_tag_id } })
  const namesOf = async (by: Client, id: string, file_path: string) => {
    const { body } = await by.get(`/api/v2.1/repos/${id}/file-tags/`, { file_path })
    return body.file_tags.map(({ tag_name }: { tag_name: string }) => tag_name)
  }
  const listed = async (space: Workspace, p: string, name: string) => {
    const { body } = await space.client.get(space.v21('dir/'), { p })
    return body.dirent_list.find((entry: { name: string }) => entry.name === name).file_tags
  }

  it('of a library are added, listed, changed and deleted', async () => {
    const space = await filled()
    const { client } = space
    const url = space.v21('repo-tags/')
    const added = await client.post(url, { form: { name: ' To do ', color: '#ff8000' } })
    const id = added.body.repo_tag.repo_tag_id
    const tag = { repo_tag_id: id, repo_id: space.id, tag_name: 'To do', tag_color: '#ff8000' }
    assertReply(added, 201, { repo_tag: tag })
    assertReply(await client.get(url), 200, { repo_tags: [{ ...tag, files_count: 0 }] })
    assertError(
      await client.post(url, { form: { name: 'TO DO', color: 'red' } }),
      400,
      'repo tag TO DO already exist.',
    )
    for (const name of ['', '  ', 'a\nb', 'x'.repeat(61)]) {
      assertError(await client.post(url, { form: { name, color: 'red' } }), 400, 'name invalid.')
    }
    for (const color of ['', 'red;background:url(//x)', '#12', 'url(x)']) {
      assertError(await client.post(url, { form: { name: 'n', color } }), 400, 'color invalid.')
    }
    const changed = { ...tag, tag_name: 'Done', tag_color: 'green' }
    const values = { json: { name: 'Done', color: 'green' } }
    assertReply(await client.put(`${url}${id}/`, values), 200, { repo_tag: changed })
    await make(space, 'Other')
    assert.equal((await client.put(`${url}${id}/`, { json: { name: 'other', color: 'red' } })).status, 400)
    assertReply(await client.delete(`${url}${id}/`), 200, { success: 'true' })
    assertError(await client.delete(`${url}${id}/`), 404, 'repo_tag not found.')
    assertError(await client.put(`${url}${id}/`, values), 404, 'repo_tag not found.')
  })

  it('of a library are limited', async () => {
    const space = await filled()
    const first = await make(space, 'first')
    const { db } = server.running.services
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${MAX_TAGS - 1})
         insert into library_tag (library_key, name, name_folded, color)
         select library_key, name, name_folded || i, color from library_tag join n on true where key = ?`,
        first,
      ),
    )
    const beyond = await space.client.post(space.v21('repo-tags/'), { form: { name: 'more', color: 'red' } })
    assertError(beyond, 400, `There can be at most ${MAX_TAGS} tags.`)
  })

  it('of several files are added and removed at once, of all of them or of none', async () => {
    const space = await filled()
    const { client } = space
    const [todo, done, old] = [
      await make(space, 'To do'),
      await make(space, 'Done'),
      await make(space, 'Old'),
    ]
    const both = ['/d/a.txt', '/b.txt']
    const change = (json: object, by = client) =>
      by.post(space.v21('file-tags/batch/'), { json: { file_paths: both, ...json } })
    const tagsOf = () => Promise.all(both.map((path) => namesOf(client, space.id, path)))
    await put(client, space.id, '/b.txt', old)
    assertReply(await change({ add: [todo, done, todo] }), 200, { changed: 2 })
    assert.deepEqual(await tagsOf(), [
      ['To do', 'Done'],
      ['Old', 'To do', 'Done'],
    ])
    // What they have, or do not have, is no error.
    assertReply(await change({ add: [done], remove: [old] }), 200, { changed: 1 })
    assertReply(await change({ remove: [old] }), 200, { changed: 0 })
    const before = await tagsOf()
    const refused: [json: object, status: number, message: string][] = [
      [{ add: [old], file_paths: [...both, '/none'] }, 404, 'File /none not found.'],
      [{ add: [old], file_paths: ['/b.txt', '/d'] }, 404, 'File /d not found.'],
      [{ add: [old], file_paths: ['/../b.txt'] }, 404, 'File /../b.txt not found.'],
      [{ add: [old, old + 1000] }, 404, 'repo_tag not found.'],
      [{ add: [old], file_paths: [] }, 400, 'file_paths invalid.'],
      [
        { add: [old], file_paths: Array.from({ length: 201 }, (_, n) => `/${n}`) },
        400,
        'file_paths invalid.',
      ],
      [{ add: ['x'] }, 400, 'add invalid.'],
      [{ add: [old], remove: [old] }, 400, 'remove invalid.'],
    ]
    for (const [json, status, message] of refused) assertError(await change(json), status, message)
    const reader = await server.signUp()
    await shareWith(client, space.id, reader, { permission: 'r' })
    assert.equal((await change({ add: [old] }, reader)).status, 403)
    assert.deepEqual(await tagsOf(), before)
  })

  it('of files are added, listed with the folder, and removed', async () => {
    const space = await filled()
    const { client } = space
    const id = await make(space, 'To do')
    const listing = await client.get(space.v21('dir/'), { p: '/d' })
    const added = await put(client, space.id, '/d/a.txt', id)
    const { file_tag_id } = added.body.file_tag
    const file_tag = { file_tag_id, repo_tag_id: id, tag_name: 'To do', tag_color: '#ff8000' }
    assertReply(added, 201, { file_tag })
    assertError(await put(client, space.id, '/d/a.txt', id), 400, `file tag ${id} already exist.`)
    assertError(await put(client, space.id, '/none', id), 404, 'File /none not found.')
    assertError(await put(client, space.id, '/b.txt', id + 1000), 404, 'repo_tag not found.')
    const url = space.v21('file-tags/')
    assertReply(await client.get(url, { file_path: '/d/a.txt' }), 200, { file_tags: [file_tag] })
    assert.deepEqual(await listed(space, '/d', 'a.txt'), [file_tag])
    assert.equal(await listed(space, '/', 'b.txt'), undefined)
    // A listing with another tag is another listing.
    const again = await client.get(space.v21('dir/'), { p: '/d' })
    assert.notEqual(again.headers.get('etag'), listing.headers.get('etag'))
    assertReply(await client.get(space.v21(`tagged-files/${id}/`)), 200, {
      tagged_files: [
        {
          parent_path: '/d',
          filename: 'a.txt',
          size: 0,
          mtime: NOON,
          last_modified: NOON_TEXT,
          modifier_email: client.email,
          modifier_contact_email: client.email,
          modifier_name: client.email.split('@')[0],
          file_tag_id,
        },
      ],
    })
    const { body } = await client.get(space.v21('repo-tags/'))
    assert.equal(body.repo_tags[0].files_count, 1)
    assertReply(await client.delete(`${url}${file_tag_id}/`), 200, { success: 'true' })
    assertError(await client.delete(`${url}${file_tag_id}/`), 404, 'file_tag not found.')
    assert.deepEqual(await namesOf(client, space.id, '/d/a.txt'), [])
  })

  it('of files are limited by the number of files, and a listing reads those of its own entries', async () => {
    const space = await filled()
    const tag = await make(space, 'first')
    assert.equal((await put(space.client, space.id, '/b.txt', tag)).status, 201)
    const { db } = server.running.services
    await db.write((tx) =>
      tx.run(
        `with recursive n (i) as (select 2 union all select i + 1 from n where i < ${MAX_ANNOTATED_FILES})
         insert into annotated_file (library_key, path_key, path, folder_key)
         select f.library_key, cast('key' || n.i as ${db.dialect === 'sqlite' ? 'blob' : 'bytea'}), '/d/' || n.i, f.path_key
         from annotated_file f join file_tag ft on ft.file_key = f.key join n on true where ft.tag_key = ?`,
        tag,
      ),
    )
    const beyond = await put(space.client, space.id, '/d/a.txt', tag)
    assertError(beyond, 400, `A library can have at most ${MAX_ANNOTATED_FILES} files with comments or tags.`)
    const query = `select 1 from annotated_file f join file_tag ft on ft.file_key = f.key
      where f.library_key = 1 and f.folder_key = x'00'`
    if (db.dialect === 'sqlite') {
      const plan = await db.all<{ detail: string }>(`explain query plan ${query}`)
      assert.match(String(plan[0]?.detail), /annotated_file_by_folder \(library_key=\? AND folder_key=\?\)/)
    }
    assert.equal((await listed(space, '/', 'b.txt')).length, 1)
  })

  it('follow the file, and end with the tag', async () => {
    const space = await filled()
    const { client } = space
    const [first, second] = [await make(space, 'one'), await make(space, 'two')]
    await put(client, space.id, '/d/a.txt', first)
    await put(client, space.id, '/d/a.txt', second)
    await client.post(space.v21('dir/'), { query: { p: '/d' }, form: { operation: 'rename', newname: 'e' } })
    assert.deepEqual(await namesOf(client, space.id, '/e/a.txt'), ['one', 'two'])
    assert.equal((await listed(space, '/e', 'a.txt')).length, 2)
    await client.delete(space.v21(`repo-tags/${first}/`))
    assert.deepEqual(await namesOf(client, space.id, '/e/a.txt'), ['two'])
    await client.delete(space.v21('file/'), { query: { p: '/e/a.txt' } })
    const { body } = await client.get(space.v21(`tagged-files/${second}/`))
    assert.deepEqual(
      body.tagged_files.map(({ file_deleted }: { file_deleted: boolean }) => file_deleted),
      [true],
    )
  })

  it('are merged: files get the other tag once', async () => {
    const space = await filled()
    const { client } = space
    const [from, into] = [await make(space, 'invoices'), await make(space, 'Invoice')]
    await put(client, space.id, '/d/a.txt', from)
    await put(client, space.id, '/b.txt', from)
    await put(client, space.id, '/b.txt', into)
    const url = space.v21(`repo-tags/${from}/merge/`)
    const other = await Workspace.make(server, client)
    const elsewhere = await make(other, 'Invoice')
    for (const wrong of [from, elsewhere, into + 1000]) {
      assertError(await client.post(url, { form: { into: wrong } }), 404, 'repo_tag not found.')
    }
    assertError(await client.post(url, { form: { into: 'x' } }), 400, 'into invalid.')
    const guest = await server.signUp()
    await shareWith(client, space.id, guest, { permission: 'r' })
    assert.equal((await guest.post(url, { form: { into } })).status, 403)
    const merged = await client.post(url, { form: { into } })
    assert.equal(merged.body.repo_tag?.repo_tag_id, into, merged.text)
    assert.deepEqual(await namesOf(client, space.id, '/d/a.txt'), ['Invoice'])
    assert.deepEqual(await namesOf(client, space.id, '/b.txt'), ['Invoice'])
    const { body } = await client.get(space.v21('repo-tags/'))
    assert.deepEqual(
      body.repo_tags.map(({ tag_name, files_count }: Record<string, unknown>) => [tag_name, files_count]),
      [['Invoice', 2]],
    )
    assertError(await client.post(url, { form: { into } }), 404, 'repo_tag not found.')
  })

  it('in a shared folder are those of its files', async () => {
    const space = await filled()
    const guest = await server.signUp()
    const sub = await shareWith(space.client, space.id, guest, { path: '/d' })
    const [inside, outside] = [await make(space, 'inside'), await make(space, 'secret project')]
    await put(space.client, space.id, '/d/a.txt', inside)
    await put(space.client, space.id, '/b.txt', outside)
    const { body } = await guest.get(`/api/v2.1/repos/${sub}/repo-tags/`)
    assert.deepEqual(
      body.repo_tags.map(({ tag_name }: { tag_name: string }) => tag_name),
      ['inside'],
    )
    assert.equal((await guest.get(`/api/v2.1/repos/${sub}/tagged-files/${outside}/`)).status, 404)
    assert.equal((await put(guest, sub, '/a.txt', outside)).status, 404)
    const form = { name: 'secret project', color: 'red' }
    assert.equal((await guest.post(`/api/v2.1/repos/${sub}/repo-tags/`, { form })).status, 403)
    assert.deepEqual(await namesOf(guest, sub, '/a.txt'), ['inside'])
  })

  it('and comments find files, as far as the caller may read them', async () => {
    const space = await filled()
    const { client } = space
    const guest = await server.signUp()
    const sub = await shareWith(client, space.id, guest, { path: '/d' })
    const [todo, both] = [await make(space, 'To do'), await make(space, 'Übung')]
    for (const path of ['/d/a.txt', '/b.txt']) await put(client, space.id, path, todo)
    await put(client, space.id, '/b.txt', both)
    const say = (p: string, comment: string) =>
      client.post(space.v2('file/comments/'), { query: { p }, form: { comment } })
    await say('/d/a.txt', 'the <i>Budget</i> of spring')
    await say('/b.txt', 'budget')
    const search = async (by: Client, q: string, more = {}) => {
      const { body } = await by.get('/api2/search/', { q, ...more })
      assert.equal(body.total, body.results.length, JSON.stringify(body))
      return body.results
        .map(({ repo_id, fullpath }: Record<string, string>) => `${repo_id} ${fullpath}`)
        .sort()
    }
    const [a, b] = [`${space.id} /d/a.txt`, `${space.id} /b.txt`]
    assert.deepEqual(await search(client, 'tag:"to DO"'), [a, b].sort())
    assert.deepEqual(await search(client, 'tag:"to do" tag:übung'), [b])
    assert.deepEqual(await search(client, 'tag:"to do" A.tx'), [a])
    assert.deepEqual(await search(client, 'tag:none'), [])
    assert.deepEqual(await search(client, 'comment:budget'), [a, b].sort())
    assert.deepEqual(await search(client, 'comment:budget comment:spring'), [a])
    assert.deepEqual(await search(client, 'comment:budget', { search_repo: space.id, search_path: '/d' }), [
      a,
    ])
    assert.deepEqual(await search(guest, 'comment:budget'), [`${sub} /a.txt`])
    assert.deepEqual(await search(guest, 'tag:"to do"'), [`${sub} /a.txt`])
    assert.deepEqual(await search(await server.signUp(), 'tag:"to do" comment:budget'), [])
    const { body } = await client.get('/api2/search/', { q: 'comment:spring' })
    assert.match(body.results[0].content_highlight, /&lt;i&gt;.*<b>spring<\/b>/)
    await client.delete(space.v21('file/'), { query: { p: '/b.txt' } })
    assert.deepEqual(await search(client, 'comment:budget'), [a])
  })

  it('and comments: plain words find comments after names and texts, with author and excerpt', async () => {
    const space = await filled()
    const { client } = space
    await space.file('/zebra.txt')
    const [guest, stranger] = [await server.signUp(), await server.signUp()]
    const sub = await shareWith(client, space.id, guest, { path: '/d' })
    const say = async (by: Client, id: string, p: string, comment: string): Promise<number> =>
      (await by.post(`/api2/repos/${id}/file/comments/`, { query: { p }, form: { comment } })).body.id
    const first = await say(client, space.id, '/b.txt', 'a striped Zébra, <i>not</i> a horse')
    await say(client, space.id, '/b.txt', 'something else')
    const second = await say(guest, sub, '/a.txt', 'two zebras; 斑马很好看')
    const found = async (by: Client, q: string, more = {}) => {
      const { body } = await by.get('/api2/search/', { q, ...more })
      const shown = body.results.map(
        ({ fullpath, comment }: { fullpath: string; comment?: { id: number } }) =>
          comment === undefined ? fullpath : `${fullpath} ${comment.id}`,
      )
      return [body.total, body.has_more, ...shown]
    }
    const [a, b] = [`/d/a.txt ${second}`, `/b.txt ${first}`]
    // The index of names follows commits.
    await eventually(async () =>
      assert.deepEqual(await found(client, 'zebra'), [3, false, '/zebra.txt', a, b]),
    )
    // Pages continue from the matches in names to those in comments.
    assert.deepEqual(await found(client, 'zebra', { per_page: 1 }), [3, true, '/zebra.txt'])
    assert.deepEqual(await found(client, 'zebra', { per_page: 1, page: 2 }), [3, true, a])
    assert.deepEqual(await found(client, 'zebra', { per_page: 2, page: 2 }), [3, false, b])
    assert.deepEqual(await found(client, 'zebra', { search_filename_only: true }), [1, false, '/zebra.txt'])
    assert.deepEqual(await found(client, 'zebra', { obj_type: 'dir' }), [0, false])
    assert.deepEqual(await found(client, 'zebra horse'), [1, false, b])
    assert.deepEqual(await found(client, '"striped zebra"'), [1, false, b])
    assert.deepEqual(await found(client, 'striped -horse'), [0, false])
    assert.deepEqual(await found(client, '斑马'), [1, false, a])
    assert.deepEqual(await found(client, 'zebra', { search_repo: space.id, search_path: '/d' }), [
      1,
      false,
      a,
    ])
    const { body } = await client.get('/api2/search/', { q: 'horse' })
    assert.match(body.results[0].content_highlight, /&lt;i&gt;not&lt;\/i&gt; a <b>horse<\/b>/)
    assert.deepEqual(body.results[0].comment, {
      id: first,
      user_email: client.email,
      user_name: client.email.split('@')[0],
      created_at: NOON_TEXT,
    })

    // Only what the caller may read now.
    assert.deepEqual(await found(guest, 'zebra'), [1, false, `/a.txt ${second}`])
    assert.deepEqual(await found(stranger, 'zebra'), [0, false])
    const shares = `/api2/repos/${space.id}/dir/shared_items/`
    await client.delete(shares, { query: { p: '/d', share_type: 'user', username: guest.email } })
    assert.deepEqual(await found(guest, 'zebra'), [0, false])

    // A changed comment is found by its new words, a deleted one and one of a deleted file not at all.
    await client.put(space.v2(`file/comments/${first}/`), { form: { comment: 'a giraffe' } })
    assert.deepEqual(await found(client, 'horse'), [0, false])
    assert.deepEqual(await found(client, 'giraffe'), [1, false, b])
    await client.delete(space.v2(`file/comments/${first}/`))
    assert.deepEqual(await found(client, 'giraffe'), [0, false])
    await client.delete(space.v21('file/'), { query: { p: '/d/a.txt' } })
    assert.deepEqual(await found(client, 'zebras'), [0, false])
  })

  it('and comments: those from before the index are added to it', async () => {
    const space = await filled()
    const { client } = space
    const form = { comment: 'an old okapi' }
    await client.post(space.v2('file/comments/'), { query: { p: '/b.txt' }, form })
    const { db } = server.running.services
    await db.write(async (tx) => {
      await tx.run('delete from comment_word')
      await tx.run('update file_comment set words_version = 0')
    })
    const total = async () => (await client.get('/api2/search/', { q: 'okapi' })).body.total
    assert.equal(await total(), 0)
    await indexComments(db, new AbortController().signal)
    assert.equal(await total(), 1)
    assert.equal(await indexComments(db, new AbortController().signal), 0)
  })

  it('are announced to open pages', async () => {
    const space = await filled()
    const id = await make(space, 'one')
    await server.running.services.activity.live.log.settled()
    await using stream = await EventStream.open(space.client)
    await stream.nextOf('ready')
    await put(space.client, space.id, '/b.txt', id)
    const told = { repo_id: space.id, path: '/b.txt', author_email: space.client.email }
    assert.deepEqual((await stream.nextOf('tag'))?.data, told)
  })
})
