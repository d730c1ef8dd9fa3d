import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const START = 1_754_000_000
const ROUTE = '/api/v2.1/trash/'
let clock = START
let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => clock })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

interface Item {
  repo_id: string
  repo_name: string
  obj_name: string
  can_restore: boolean
  commit_id: string
}

async function deleteFile(client: Client, library: string, name: string): Promise<void> {
  await uploadFile(client, library, `/${name}`, name)
  await client.delete(`/api2/repos/${library}/file/`, { query: { p: `/${name}` } })
}

/** All pages, following the cursors. */
async function allItems(client: Client, query: Record<string, string> = {}): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await client.get(ROUTE, { ...query, cursor })
    assert.equal(status, 200)
    items.push(...body.items)
    if (body.next_cursor === null) return items
    cursor = body.next_cursor
  }
}

describe('the trash of all libraries', () => {
  it('merges libraries by time of deletion, with what the caller may restore', async () => {
    const bob = await server.signUp()
    const [own, shared, secret] = [
      await ann.createLibrary('Own'),
      await bob.createLibrary('Shared'),
      await bob.createLibrary('Secret'),
    ]
    await bob.put(`/api2/repos/${shared}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: ann.email, permission: 'r' },
    })
    await deleteFile(ann, own, 'first.txt')
    clock += 10
    await deleteFile(bob, shared, 'second.txt')
    await deleteFile(bob, secret, 'hidden.txt')
    clock += 10
    await deleteFile(ann, own, 'third.txt')
    const items = await allItems(ann)
    assert.deepEqual(
      items.map(({ repo_name, obj_name, can_restore }) => [repo_name, obj_name, can_restore]),
      [
        ['Own', 'third.txt', true],
        ['Shared', 'second.txt', false],
        ['Own', 'first.txt', true],
      ],
    )
    const [third] = items
    assert.ok(third !== undefined)
    const restored = await ann.post(`/api/v2.1/repos/${own}/trash2/revert/`, {
      json: { [third.commit_id]: ['/third.txt'] },
    })
    assert.equal(restored.status, 200)
    assert.deepEqual(
      (await allItems(ann)).map(({ obj_name }) => obj_name),
      ['second.txt', 'first.txt'],
    )
    assert.deepEqual(
      (await allItems(ann, { q: 'FIRST' })).map(({ obj_name }) => obj_name),
      ['first.txt'],
    )
  })

  it('lists every entry once over many pages, also if all were deleted in one second', async () => {
    const carl = await server.signUp()
    const expected: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const library = await carl.createLibrary(name)
      const names = Array.from({ length: 43 }, (_, index) => `${name}${index}.txt`)
      for (const one of names) await uploadFile(carl, library, `/${one}`, one)
      const reply = await carl.delete('/api/v2.1/repos/batch-delete-item/', {
        json: { repo_id: library, parent_dir: '/', dirents: names },
      })
      assert.equal(reply.status, 200)
      expected.push(...names)
    }
    const found = (await allItems(carl)).map(({ obj_name }) => obj_name)
    assert.equal(found.length, expected.length)
    assert.deepEqual(new Set(found), new Set(expected))
  })

  it('refuses strangers and malformed cursors', async () => {
    assert.equal((await server.anonymous.get(ROUTE)).status, 403)
    for (const cursor of ['x', '1_2_3_4', `1_${'0'.repeat(36)}_1_1`]) {
      assert.equal((await ann.get(ROUTE, { cursor })).status, 400, cursor)
    }
  })
})
