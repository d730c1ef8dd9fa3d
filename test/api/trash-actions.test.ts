import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'

let clock = 1_754_000_000
let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => clock })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

interface Action {
  action: string
  deleted_by: string
  files: number
  folders: number
  repo_name?: string
  items: { obj_name: string }[]
}

const at = (id: string, rest = '') => `/api/v2.1/repos/${id}/trash2/actions/${rest}`

async function upload(client: Client, id: string, ...paths: string[]): Promise<void> {
  for (const path of paths) await uploadFile(client, id, path, `content of ${path}`)
}

async function remove(client: Client, id: string, ...names: string[]): Promise<void> {
  const json = { repo_id: id, parent_dir: '/', dirents: names }
  assert.equal((await client.delete('/api/v2.1/repos/batch-delete-item/', { json })).status, 200)
}

async function actionsOf(client: Client, id: string, query: Record<string, string> = {}): Promise<Action[]> {
  const { status, body } = await client.get(at(id), query)
  assert.equal(status, 200)
  return body.actions
}

const counts = (actions: readonly Action[]) =>
  actions.map(({ files, folders, items }) => [
    files,
    folders,
    items.map(({ obj_name }) => obj_name).join(' '),
  ])

async function revert(client: Client, id: string, json: object) {
  const { status, body, text } = await client.post(at(id, 'revert/'), { json })
  assert.equal(status, 200, text)
  return body as {
    success: { path: string; restored_path: string; is_dir: boolean }[]
    failed: { path: string; error_msg: string }[]
    left: number
  }
}

describe('the actions of a trash', () => {
  it('are one for each deletion, also if it took several commits', async () => {
    const bob = await server.signUp()
    const id = await ann.createLibrary('Actions')
    await ann.put(`/api2/repos/${id}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: bob.email, permission: 'rw' },
    })
    await upload(ann, id, '/a.txt', '/b.txt', '/box/c.txt', '/d.txt', '/e.txt', '/f.txt')
    await remove(ann, id, 'a.txt', 'b.txt', 'box')
    await remove(bob, id, 'd.txt')
    clock += 60
    await remove(ann, id, 'e.txt')
    clock += 5
    await remove(ann, id, 'f.txt')
    const actions = await actionsOf(ann, id)
    assert.deepEqual(counts(actions), [
      [2, 0, 'f.txt e.txt'],
      [1, 0, 'd.txt'],
      [2, 1, 'a.txt b.txt box'],
    ])
    assert.deepEqual(
      actions.map(({ deleted_by }) => deleted_by),
      [ann.email, bob.email, ann.email],
    )
    assert.deepEqual(counts(await actionsOf(ann, id, { q: 'BOX' })), [[0, 1, 'box']])
    const [first] = actions
    const { body } = await ann.get(`/api/v2.1/repos/${id}/trash2/`, { action: first?.action ?? '' })
    assert.deepEqual([body.total_count, body.items.length], [2, 2])
  })

  it('are restored whole, in part, and without some', async () => {
    const id = await ann.createLibrary('Parts')
    const names = Array.from({ length: 6 }, (_, n) => `${n}.txt`)
    await upload(ann, id, ...names.map((name) => `/${name}`))
    await remove(ann, id, ...names)
    const [one] = await actionsOf(ann, id)
    assert.ok(one)
    const { action } = one
    assert.equal((await revert(ann, id, { action, only: ['/1.txt'] })).success.length, 1)
    assert.equal((await revert(ann, id, { action, except: ['/0.txt', '/2.txt'] })).success.length, 3)
    assert.deepEqual(await namesIn(ann, id), ['1.txt', '3.txt', '4.txt', '5.txt'])
    const before = (await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data.length
    assert.equal((await revert(ann, id, { action })).success.length, 2)
    assert.equal((await ann.get(`/api/v2.1/repos/${id}/history/`)).body.data.length, before + 1)
    assert.deepEqual(await actionsOf(ann, id), [])
    assert.deepEqual((await revert(ann, id, { action, only: ['/1.txt'] })).failed, [
      { path: '/1.txt', error_msg: 'Dirent /1.txt not found.' },
    ])
  })

  it('return below deleted folders, and beside what has their names now', async () => {
    const id = await ann.createLibrary('Names')
    await upload(ann, id, '/box/deep/a.txt', '/chair.txt')
    await ann.delete(`/api2/repos/${id}/file/`, { query: { p: '/box/deep/a.txt' } })
    await remove(ann, id, 'chair.txt')
    clock += 60
    await remove(ann, id, 'box')
    await ann.post(`/api/v2.1/repos/${id}/dir/`, {
      query: { p: '/chair.txt' },
      form: { operation: 'mkdir' },
    })
    const [, older] = await actionsOf(ann, id)
    const { success, failed } = await revert(ann, id, { action: older?.action })
    assert.deepEqual(failed, [])
    assert.deepEqual(Object.fromEntries(success.map(({ path, restored_path }) => [path, restored_path])), {
      '/box/deep/a.txt': '/box/deep/a.txt',
      '/chair.txt': '/chair (1).txt',
    })
    assert.deepEqual(await namesIn(ann, id, '/box/deep'), ['a.txt'])
    // A file at the path of a folder above it fails by itself.
    const other = await ann.createLibrary('Blocked')
    await upload(ann, other, '/box/a.txt', '/b.txt')
    await ann.delete(`/api2/repos/${other}/file/`, { query: { p: '/box/a.txt' } })
    await remove(ann, other, 'b.txt', 'box')
    await upload(ann, other, '/box')
    const [blocked] = await actionsOf(ann, other)
    const outcome = await revert(ann, other, { action: blocked?.action })
    assert.deepEqual(
      outcome.failed.map(({ path }) => path),
      ['/box/a.txt'],
    )
    assert.deepEqual(await namesIn(ann, other), ['b.txt', 'box', 'box (1)/'])
  })

  it('are listed once over pages, in one library and in all', async () => {
    const carl = await server.signUp()
    const expected: string[] = []
    const ids: string[] = []
    for (const name of ['A', 'B']) ids.push(await carl.createLibrary(name))
    for (let n = 0; n < 27; n += 1) {
      for (const [index, id] of ids.entries()) {
        if (index > 0 && n % 9 > 0) continue
        await upload(carl, id, `/${index}-${n}.txt`, `/${index}-${n}.md`)
        await remove(carl, id, `${index}-${n}.txt`)
        clock += 3
        await remove(carl, id, `${index}-${n}.md`)
        expected.push(`${index}-${n}.md ${index}-${n}.txt`)
      }
      clock += 11
    }
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const { status, body } = await carl.get('/api/v2.1/trash/actions/', { cursor })
      assert.equal(status, 200)
      found.push(...counts(body.actions).map(([, , names]) => String(names)))
      if (body.next_cursor === null) break
      cursor = body.next_cursor
    }
    assert.deepEqual(found.toSorted(), expected.toSorted())
    const [id = ''] = ids
    const pages: number[] = []
    for (let next: number | null = 0; next !== null; ) {
      const { body } = await carl.get(at(id), { before: String(next) })
      pages.push(body.actions.length)
      next = body.next
    }
    assert.deepEqual(pages, [25, 2])
  })

  it('refuse what is no action, and those who may only read', async () => {
    const id = await ann.createLibrary('Refused')
    await upload(ann, id, '/a.txt')
    await remove(ann, id, 'a.txt')
    for (const action of ['', 'x', '1', '1-2-3', 7]) {
      assert.equal((await ann.post(at(id, 'revert/'), { json: { action } })).status, 400, String(action))
    }
    assert.equal((await ann.get(at(id), { path: '/missing' })).status, 404)
    assert.equal((await ann.get(at(id), { before: '-1' })).status, 400)
    assert.equal((await ann.get('/api/v2.1/trash/actions/', { cursor: '1_2' })).status, 400)
    const dora = await server.signUp()
    assert.equal((await dora.get(at(id))).status, 403)
    await ann.put(`/api2/repos/${id}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: dora.email, permission: 'r' },
    })
    const [one] = await actionsOf(dora, id)
    assert.equal((await dora.post(at(id, 'revert/'), { json: { action: one?.action } })).status, 403)
  })
})
