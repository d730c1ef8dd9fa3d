import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'

const DAY = 86_400
const START = 1_754_000_000
const EMPTY = { data: [], more: false, scan_stat: null }
let clock = START
let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => clock })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const urlOf = (id: string) => `/api/v2.1/repos/${id}/trash/`
const headOf = async (id: string): Promise<string> =>
  (await ann.get(`/api2/repos/${id}/`)).body.head_commit_id
const pathsOf = (items: { parent_dir: string; obj_name: string }[]): string[] =>
  items.map((item) => item.parent_dir + item.obj_name)
const pathsIn = ({ body }: Reply): string[] => pathsOf(body.data)

describe('the trash', () => {
  let id: string
  let beforeFile: string
  let beforeFolder: string
  before(async () => {
    clock = START
    id = await ann.createLibrary()
    const content = contentOf(server, ann, id)
    await content.addFolder('/docs')
    await content.addFolder('/docs/inner')
    await content.addFolder('/docs2')
    await content.putFile('/docs/old.txt', 120, '7')
    await content.putFile('/docs2/gone.txt', 5, '8')
    beforeFile = await content.putFile('/docs/inner/x.txt', 1, '9')
    clock += DAY
    beforeFolder = await content.remove('/docs/old.txt')
    clock += DAY
    await content.remove('/docs/inner')
    clock += DAY
    await content.remove('/docs2/gone.txt')
    await content.rename('/docs2', 'docs3')
  })

  it('lists deletions with every field, latest first, a folder as one item', async () => {
    const reply = await ann.get(urlOf(id))
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body.data.slice(1), [
      {
        parent_dir: '/docs/',
        obj_name: 'inner',
        deleted_time: '2025-08-02T22:13:20+00:00',
        scan_stat: null,
        commit_id: beforeFolder,
        is_dir: true,
        size: 0,
        obj_id: '',
      },
      {
        parent_dir: '/docs/',
        obj_name: 'old.txt',
        deleted_time: '2025-08-01T22:13:20+00:00',
        scan_stat: null,
        commit_id: beforeFile,
        is_dir: false,
        size: 120,
        obj_id: '7'.repeat(40),
      },
    ])
    assert.deepEqual(pathsIn(reply), ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt'])
    assert.deepEqual([reply.body.more, reply.body.scan_stat], [false, null])
  })

  const listings: [sent: Record<string, unknown>, paths: string[]][] = [
    [{}, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ path: '/' }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ path: '' }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ path: '/docs' }, ['/docs/inner', '/docs/old.txt']],
    [{ path: 'docs/' }, ['/docs/inner', '/docs/old.txt']],
    [{ path: '/docs3' }, []],
    [{ show_days: 0 }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ show_days: 1 }, ['/docs2/gone.txt', '/docs/inner']],
    [{ show_days: 'x' }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ show_days: '9'.repeat(30) }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ path: '/docs', show_days: 1 }, ['/docs/inner']],
    [{ scan_stat: '' }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
    [{ scan_stat: 'null' }, ['/docs2/gone.txt', '/docs/inner', '/docs/old.txt']],
  ]
  for (const [sent, paths] of listings) {
    it(`lists ${paths.length} for ${JSON.stringify(sent)}, by GET or POST`, async () => {
      const query = sent as Record<string, string>
      const replies = [await ann.get(urlOf(id), query), await ann.get(urlOf(id).slice(0, -1), query)]
      for (const encoding of ['form', 'multipart', 'json']) {
        replies.push(await ann.post(urlOf(id), { [encoding]: sent }))
      }
      for (const reply of replies) {
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(pathsIn(reply), paths)
      }
    })
  }

  const refused: [sent: Record<string, unknown>, status: number, words: string][] = [
    [{ show_days: -1 }, 400, 'show_days invalid.'],
    [{ path: '/none', show_days: -1 }, 400, 'show_days invalid.'],
    [{ path: '/docs2' }, 404, 'Folder /docs2 not found.'],
    [{ path: '/docs/old.txt' }, 404, 'Folder /docs/old.txt not found.'],
    [{ path: '/docs/..' }, 404, 'Folder /docs/.. not found.'],
    [{ path: 'a\u0000b' }, 404, 'Folder a\u0000b not found.'],
    [{ path: '\ud800' }, 404, 'Folder \ud800 not found.'],
    [{ path: 'a/'.repeat(10_000) }, 404, `Folder ${'a/'.repeat(10_000)} not found.`],
    [{ path: 'x'.repeat(256) }, 404, `Folder ${'x'.repeat(256)} not found.`],
    [{ scan_stat: 'x' }, 500, 'Internal Server Error'],
    [{ scan_stat: '1' }, 500, 'Internal Server Error'],
    [{ scan_stat: '-1-0' }, 500, 'Internal Server Error'],
    [{ scan_stat: `${'9'.repeat(16)}-0` }, 500, 'Internal Server Error'],
    [{ scan_stat: 'a'.repeat(40) }, 500, 'Internal Server Error'],
    [{ scan_stat: '["a"]' }, 500, 'Internal Server Error'],
    [{ scan_stat: '\u0000' }, 500, 'Internal Server Error'],
  ]
  for (const [json, status, words] of refused) {
    it(`rejects ${JSON.stringify(json).slice(0, 50)}`, async () => {
      const head = await headOf(id)
      const reply = await ann.post(urlOf(id), { json })
      assert.equal(reply.status, status)
      assert.equal(JSON.stringify(reply.body), JSON.stringify({ error_msg: words }))
      assert.equal(await headOf(id), head)
    })
  }

  it('hides an entry that exists again, and shows it once it is deleted again', async () => {
    const content = contentOf(server, ann, id)
    await content.addFile('/docs/old.txt')
    assert.deepEqual(pathsIn(await ann.get(urlOf(id), { path: '/docs' })), ['/docs/inner'])
    await content.remove('/docs/old.txt')
    assert.deepEqual(pathsIn(await ann.get(urlOf(id), { path: '/docs' })), ['/docs/old.txt', '/docs/inner'])
  })

  it('is cut at the retention limit of the history', async () => {
    const set = (keep_days: number) => ann.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days } })
    await set(0)
    assert.deepEqual((await ann.get(urlOf(id))).body, EMPTY)
    await set(-1)
    assert.equal((await ann.get(urlOf(id))).body.data.length, 3)
  })
})

describe('pages of the trash', () => {
  const COUNT = 230
  let id: string
  before(async () => {
    id = await ann.createLibrary()
    const content = contentOf(server, ann, id)
    await Promise.all(Array.from({ length: COUNT }, (_, i) => content.addFile(`/${i}.txt`)))
    await Promise.all(Array.from({ length: COUNT }, (_, i) => content.remove(`/${i}.txt`)))
  })

  it('follow one another without a gap until the end', async () => {
    const seen: string[] = []
    const sizes: number[] = []
    for (let scan_stat: string | null = null; ; ) {
      const reply: Reply = await ann.get(urlOf(id), scan_stat === null ? {} : { scan_stat })
      assert.equal(reply.status, 200)
      seen.push(...pathsIn(reply))
      sizes.push(reply.body.data.length)
      assert.equal(reply.body.more, reply.body.scan_stat !== null)
      if (!reply.body.more) break
      assert.equal(typeof reply.body.scan_stat, 'string')
      scan_stat = reply.body.scan_stat
    }
    assert.deepEqual(sizes, [100, 100, 30])
    assert.equal(new Set(seen).size, COUNT)
  })

  it('continue within a commit with many deletions, and with earlier commits', async () => {
    const many = await ann.createLibrary()
    const json = { repo_id: many, paths: Array.from({ length: 260 }, (_, n) => `/folder ${1000 + n}`) }
    assert.equal((await ann.post('/api/v2.1/repos/batch-create-dir/', { json })).status, 200)
    const names = json.paths.map((path) => path.slice(1))
    for (const dirents of [names.slice(0, 50), names.slice(50)]) {
      const body = { repo_id: many, parent_dir: '/', dirents }
      assert.equal((await ann.delete('/api/v2.1/repos/batch-delete-item/', { json: body })).status, 200)
    }
    const seen: string[] = []
    const sizes: number[] = []
    for (let scan_stat: string | undefined; scan_stat !== null; ) {
      const reply: Reply = await ann.get(urlOf(many), scan_stat === undefined ? {} : { scan_stat })
      seen.push(...pathsIn(reply))
      sizes.push(reply.body.data.length)
      scan_stat = reply.body.scan_stat
    }
    assert.deepEqual(sizes, [100, 100, 60])
    assert.deepEqual(seen, [...json.paths.slice(50), ...json.paths.slice(0, 50)])

    // By number, counted from either end, and again with one more.
    const numbered = async (page: number) => {
      const reply = await ann.get(`/api/v2.1/repos/${many}/trash2/`, { page, per_page: 30 })
      return { paths: pathsOf(reply.body.items), total: reply.body.total_count }
    }
    for (let page = 1; page <= 10; page++) {
      const paths = seen.slice((page - 1) * 30, page * 30)
      assert.deepEqual(await numbered(page), { paths, total: 260 }, `page ${page}`)
    }
    const one = { repo_id: many, paths: ['/one more'] }
    await ann.post('/api/v2.1/repos/batch-create-dir/', { json: one })
    await ann.delete(`/api2/repos/${many}/dir/`, { query: { p: '/one more' } })
    assert.deepEqual(await numbered(9), { paths: seen.slice(239), total: 261 })
  })

  it('of one library reveal nothing of another', async () => {
    const { scan_stat } = (await ann.get(urlOf(id))).body
    const other = await ann.createLibrary()
    const reply = await ann.get(urlOf(other), { scan_stat })
    assert.deepEqual([reply.status, reply.body], [200, EMPTY])
  })
})

describe('emptying the trash', () => {
  async function libraryWithTrash(): Promise<string> {
    clock = START
    const id = await ann.createLibrary()
    const content = contentOf(server, ann, id)
    for (const name of ['/a', '/b', '/c']) await content.addFile(name)
    for (const name of ['/a', '/b']) {
      clock += 10 * DAY
      await content.remove(name)
    }
    clock += DAY
    return id
  }
  const historyOf = async (id: string) =>
    (await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data.map(
      ({ description }: { description: string }) => description,
    )

  it('removes everything, and hides the history before it', async () => {
    const id = await libraryWithTrash()
    const head = await headOf(id)
    const reply = await ann.delete(urlOf(id))
    assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    assert.deepEqual((await ann.get(urlOf(id))).body, EMPTY)
    assert.deepEqual(await historyOf(id), ['Deleted "b"'])
    assert.equal(await headOf(id), head)
    await contentOf(server, ann, id).remove('/c')
    assert.deepEqual(pathsIn(await ann.get(urlOf(id))), ['/c'])
  })

  const spared: [name: string, options: object, left: string[]][] = [
    ['a form', { form: { keep_days: 5 } }, ['/b']],
    ['multipart', { multipart: { keep_days: 5 } }, ['/b']],
    ['JSON', { json: { keep_days: 5 } }, ['/b']],
    ['the query', { query: { keep_days: 5 } }, ['/b']],
    ['a form, all', { form: { keep_days: 500 } }, ['/b', '/a']],
    ['a form, none', { form: { keep_days: 0 } }, []],
    ['JSON, none', { json: { keep_days: 0 } }, []],
    ['JSON null', { json: { keep_days: null } }, []],
  ]
  for (const [name, options, left] of spared) {
    it(`keeps entries newer than the days given in ${name}`, async () => {
      const id = await libraryWithTrash()
      const reply = await ann.delete(urlOf(id), options)
      assert.deepEqual([reply.status, reply.body], [200, { success: true }])
      assert.deepEqual(pathsIn(await ann.get(urlOf(id))), left)
    })
  }

  it('never restores removed entries', async () => {
    const id = await libraryWithTrash()
    await ann.delete(urlOf(id))
    await ann.delete(urlOf(id), { form: { keep_days: 1000 } })
    assert.deepEqual((await ann.get(urlOf(id))).body, EMPTY)
  })

  for (const keep_days of ['x', '', '1.5', -1, {}, [[]], '9'.repeat(30)]) {
    it(`removes nothing for ${JSON.stringify(keep_days)} days`, async () => {
      const id = await libraryWithTrash()
      const reply = await ann.delete(urlOf(id), { json: { keep_days } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'keep_days invalid.' }])
      assert.deepEqual(pathsIn(await ann.get(urlOf(id))), ['/b', '/a'])
    })
  }
})
