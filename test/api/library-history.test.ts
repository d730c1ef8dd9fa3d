import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'

const DAY = 86_400
const START = 1_754_000_000
let clock = START
let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => clock })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('history', () => {
  let id: string
  let url: string
  before(async () => {
    clock = START
    id = await ann.createLibrary()
    url = `/api/v2.1/repos/${id}/history/`
    const content = contentOf(server, ann, id)
    for (const name of ['a', 'b', 'c', 'd']) {
      clock += DAY
      await content.addFile(`/${name}.txt`)
    }
  })
  const descriptions = async (query: object) => {
    const reply = await ann.get(url, { ...query })
    assert.equal(reply.status, 200, reply.text)
    const texts = reply.body.data.map(({ description }: { description: string }) => description)
    return [texts, reply.body.more]
  }
  const all = ['Added "d.txt"', 'Added "c.txt"', 'Added "b.txt"', 'Added "a.txt"', 'Created library']

  it('lists commits with every field, newest first', async () => {
    const reply = await ann.get(url)
    const head = (await ann.get(`/api2/repos/${id}/`)).body.head_commit_id
    assert.deepEqual(reply.body.data[0], {
      commit_id: head,
      time: '2025-08-04T22:13:20+00:00',
      description: 'Added "d.txt"',
      creator: ann.email,
      email: ann.email,
      name: ann.email.split('@')[0],
      contact_email: ann.email,
      client_version: null,
      device_name: null,
      second_parent_id: null,
      tags: [],
    })
    assert.deepEqual(await descriptions({}), [all, false])
  })

  const pages: [query: object, texts: string[], more: boolean][] = [
    [{ page: 1, per_page: 2 }, all.slice(0, 2), true],
    [{ page: 2, per_page: 2 }, all.slice(2, 4), true],
    [{ page: 3, per_page: 2 }, all.slice(4), false],
    [{ page: 4, per_page: 2 }, [], false],
    [{ per_page: 5 }, all, false],
    [{ per_page: 4 }, all.slice(0, 4), true],
    [{ page: 2 }, [], false],
    [{ page: 'x', per_page: 2 }, all, false],
    [{ page: 2, per_page: 'x' }, all, false],
    [{ page: '', per_page: 2 }, all, false],
    [{ page: 2, per_page: '2.0' }, all, false],
    [{ page: 1, per_page: '9'.repeat(40) }, all, false],
    [{ page: '9'.repeat(40), per_page: 1000 }, [], false],
    [{ page: 1, per_page: '\u0000' }, all, false],
  ]
  for (const [query, texts, more] of pages) {
    it(`returns ${texts.length} commits${more ? ' and more' : ''} for ${JSON.stringify(query).slice(0, 60)}`, async () => {
      assert.deepEqual(await descriptions(query), [texts, more])
    })
  }

  for (const [query, words] of [
    [{ page: 0 }, 'page invalid.'],
    [{ page: -1 }, 'page invalid.'],
    [{ page: '-0' }, 'page invalid.'],
    [{ per_page: 0 }, 'per_page invalid.'],
    [{ page: 1, per_page: -5 }, 'per_page invalid.'],
  ] as const) {
    it(`rejects ${JSON.stringify(query)}`, async () => {
      const reply = await ann.get(url, query)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: words }])
    })
  }

  it('lists at most a thousand commits at once', async () => {
    const many = await ann.createLibrary()
    const content = contentOf(server, ann, many)
    await Promise.all(Array.from({ length: 1001 }, (_, i) => content.addFile(`/${i}`)))
    const reply = await ann.get(`/api/v2.1/repos/${many}/history/`, { per_page: 5000 })
    assert.deepEqual([reply.body.data.length, reply.body.more], [1000, true])
  })

  it('is listed for older clients with every field', async () => {
    const reply = await ann.get(`/api2/repos/${id}/history/`)
    assert.equal(reply.status, 200)
    assert.deepEqual([reply.body.commits.length, reply.body.page_next], [5, false])
    const head = await ann.get(`/api2/repos/${id}/`)
    assert.deepEqual(reply.body.commits[0], {
      id: head.body.head_commit_id,
      creator_name: ann.email,
      creator: '0'.repeat(40),
      desc: 'Added "d.txt"',
      ctime: START + 4 * DAY,
      repo_id: id,
      root_id: head.body.root,
      parent_id: reply.body.commits[1].id,
      second_parent_id: null,
      version: 1,
      new_merge: false,
      conflict: false,
      rev_file_id: null,
      rev_file_size: 0,
      rev_renamed_old_path: null,
      device_name: null,
      client_version: null,
    })
    assert.equal(reply.body.commits[4].parent_id, null)
    for (const [query, count, more] of [
      [{ page: 1, per_page: 2 }, 2, true],
      [{ page: 3, per_page: 2 }, 1, false],
      [{ page: 0, per_page: 0 }, 5, false],
      [{ page: 'x', per_page: 2 }, 5, false],
    ] as const) {
      const { body } = await ann.get(`/api2/repos/${id}/history/`, query)
      assert.deepEqual([body.commits.length, body.page_next], [count, more], JSON.stringify(query))
    }
  })

  it('is cut at the retention limit, except for the head and the state before the cut', async () => {
    const limit = `/api2/repos/${id}/history-limit/`
    const set = (keep_days: number) => ann.put(limit, { form: { keep_days } })
    clock = START + 4 * DAY + 100
    await set(2)
    assert.deepEqual(await descriptions({}), [all.slice(0, 3), false])
    assert.deepEqual(await descriptions({ per_page: 2 }), [all.slice(0, 2), true])
    assert.deepEqual(await descriptions({ per_page: 2, page: 2 }), [all.slice(2, 3), false])
    await set(0)
    assert.deepEqual(await descriptions({}), [all.slice(0, 1), false])
    await set(-1)
    assert.deepEqual(await descriptions({}), [all, false])
  })
})

describe('history limit', () => {
  const urlOf = async () => `/api2/repos/${await ann.createLibrary()}/history-limit/`

  it('is unlimited by default', async () => {
    const reply = await ann.get(await urlOf())
    assert.deepEqual([reply.status, reply.body], [200, { keep_days: -1 }])
  })

  it('follows the default of the server', async () => {
    await using other = await startServer({ env: { CARREL_HISTORY_DAYS: '30' } })
    const bob = await other.signUp()
    const reply = await bob.get(`/api2/repos/${await bob.createLibrary()}/history-limit/`)
    assert.deepEqual(reply.body, { keep_days: 30 })
  })

  const kept: [sent: number | string, kept: number][] = [
    [4, 4],
    [0, 0],
    ['0', 0],
    [-1, -1],
    [-7, -1],
    ['-0', 0],
    ['+3', 3],
    ['9'.repeat(30), Number.MAX_SAFE_INTEGER],
    [`-${'9'.repeat(30)}`, -1],
  ]
  for (const [keep_days, expected] of kept) {
    it(`keeps ${expected} days of ${JSON.stringify(keep_days)}, in every encoding`, async () => {
      const url = await urlOf()
      for (const encoding of ['form', 'multipart', 'json']) {
        const reply = await ann.put(url, { [encoding]: { keep_days } })
        assert.deepEqual([reply.status, reply.body], [200, { keep_days: expected }])
      }
      assert.deepEqual((await ann.get(url.slice(0, -1))).body, { keep_days: expected })
      assert.equal(
        (await ann.get(url.replace('api2', 'api/v2.1').replace('history-limit', 'history'))).status,
        200,
      )
    })
  }

  for (const sent of [
    {},
    { keep_days: '' },
    { keep_days: 'x' },
    { keep_days: '1.5' },
    { keep_days: null },
    { keep_days: {} },
  ]) {
    it(`rejects ${JSON.stringify(sent)}, after the check of the permission`, async () => {
      const url = await urlOf()
      const reply = await ann.put(url, { json: sent })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'keep_days invalid.' }])
      const bob = await server.signUp()
      const denied = await bob.put(url, { json: sent })
      assert.deepEqual([denied.status, denied.body], [403, { error_msg: 'Permission denied.' }])
      assert.deepEqual((await ann.get(url)).body, { keep_days: -1 })
    })
  }
})

describe('a commit', () => {
  let id: string
  let content: ReturnType<typeof contentOf>
  before(async () => {
    id = await ann.createLibrary()
    content = contentOf(server, ann, id)
  })
  const detailOf = (commit: string) => ann.get(`/api/v2.1/repos/${id}/commits/${commit}/`)
  const changesOf = async (commit: string) =>
    (await ann.get(`/api2/repo_history_changes/${id}/`, { commit_id: commit })).body

  it('returns the author, the time, the description and the changes', async () => {
    const first = (await ann.get(`/api2/repos/${id}/`)).body.head_commit_id
    const reply = await detailOf(first)
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, {
      commit_info: {
        creator_email: ann.email,
        creator_name: ann.email.split('@')[0],
        creator_contact_email: ann.email,
        time: new Date(clock * 1000).toISOString().replace('.000Z', '+00:00'),
        description: 'Created library',
        device_name: null,
      },
      commit_diffs: [],
    })
    assert.deepEqual(await changesOf(first), {})
  })

  it('reports each kind of change', async () => {
    const rows: [commit: () => Promise<string>, op: string, path: string, to: string, list: string][] = [
      [() => content.putFile('/a.txt', 10, '1'), 'new', '/a.txt', '', 'added_files'],
      [() => content.putFile('/a.txt', 20, '2'), 'modified', '/a.txt', '', 'modified_files'],
      [() => content.rename('/a.txt', 'b.txt'), 'renamed', '/a.txt', '/b.txt', 'renamed_files'],
      [() => content.addFolder('/docs'), 'newdir', '/docs', '', 'added_dirs'],
      [() => content.putFile('/docs/c.txt', 5, '3'), 'new', '/docs/c.txt', '', 'added_files'],
      [() => content.rename('/docs', 'texts'), 'renamed', '/docs', '/texts', 'renamed_files'],
      [() => content.remove('/b.txt'), 'removed', '/b.txt', '', 'deleted_files'],
      [() => content.remove('/texts'), 'deldir', '/texts', '', 'deleted_dirs'],
    ]
    for (const [commit, op_type, path, new_path, list] of rows) {
      const made = await commit()
      assert.deepEqual((await detailOf(made)).body.commit_diffs, [{ op_type, path, new_path }])
      assert.deepEqual(await changesOf(made), { [list]: new_path === '' ? [path] : [path, new_path] })
    }
  })

  it('lists folders as of that commit', async () => {
    await content.addFolder('/Zoo')
    await content.addFolder('/Zoo/inner')
    await content.putFile('/Zoo/b.txt', 7, '4')
    const commit = await content.putFile('/Zoo/A.txt', 8, '5')
    await content.remove('/Zoo')
    const url = `/api/v2.1/repos/${id}/commits/${commit}/dir`
    const root = await ann.get(`${url}/`)
    const zoo = root.body.dirent_list[0]
    assert.deepEqual(root.body, {
      dirent_list: [{ type: 'dir', parent_dir: '/', obj_id: zoo.obj_id, name: 'Zoo' }],
    })
    assert.match(zoo.obj_id, /^[0-9a-f]{40}$/)
    for (const path of ['/Zoo', '/Zoo/', 'Zoo', '//Zoo//']) {
      const reply = await ann.get(url, { path })
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body.dirent_list, [
        { type: 'dir', parent_dir: '/Zoo/', obj_id: '0'.repeat(40), name: 'inner' },
        { type: 'file', parent_dir: '/Zoo/', obj_id: '5'.repeat(40), name: 'A.txt', size: 8 },
        { type: 'file', parent_dir: '/Zoo/', obj_id: '4'.repeat(40), name: 'b.txt', size: 7 },
      ])
    }
    for (const path of ['/none', '/Zoo/b.txt', '/Zoo/..', '/a\u0000b', `/${'a/'.repeat(1500)}`]) {
      const reply = await ann.get(url, { path })
      assert.deepEqual([reply.status, reply.body], [404, { error_msg: `Folder ${path} not found.` }])
    }
  })

  it('of another library, or an unknown one, returns 404', async () => {
    const other = await ann.createLibrary()
    const foreign = (await ann.get(`/api2/repos/${other}/`)).body.head_commit_id
    for (const commit of [foreign, 'a'.repeat(40), '0'.repeat(40)]) {
      const words = { error_msg: `Commit ${commit} not found.` }
      for (const url of [`/commits/${commit}/`, `/commits/${commit}/dir/?path=/none`]) {
        const reply = await ann.get(`/api/v2.1/repos/${id}${url}`)
        assert.deepEqual([reply.status, reply.body], [404, words])
      }
    }
    for (const commit of ['x', 'A'.repeat(40), 'a'.repeat(41), '%00']) {
      const reply = await ann.get(`/api/v2.1/repos/${id}/commits/${commit}/`)
      assert.deepEqual([reply.status, reply.body], [404, { error_msg: 'Not found.' }])
    }
  })

  it('is rejected with separate messages on the route of the desktop client', async () => {
    const ask = (library: string, commit_id: string, who = ann) =>
      who.get(`/api2/repo_history_changes/${library}/`, { commit_id })
    const unknown = await ask('00000000-0000-4000-8000-000000000000', 'a'.repeat(40))
    assert.deepEqual([unknown.status, unknown.body], [400, { err: 'Library does not exist' }])
    for (const commit of ['', 'x', 'a'.repeat(40), '\u0000']) {
      const reply = await ask(id, commit)
      assert.deepEqual([reply.status, reply.body], [400, { err: 'Invalid argument' }])
    }
    const denied = await ask(id, 'a'.repeat(40), await server.signUp())
    assert.deepEqual([denied.status, denied.body], [403, { error_msg: 'Permission denied.' }])
  })
})
