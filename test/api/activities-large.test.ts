import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LibraryPath } from '../../src/base/paths/paths.ts'
import { insertCommitActivities } from '../../src/derived/activity/activity-store.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { createLibraryIn } from '../../src/libraries/library/libraries.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const LIBRARIES = 1000
const ROWS = 100_000
const START = 1_754_000_000

interface Item {
  path: string
  repo_id: string
}

describe('a feed of 100,000 activities in 1,000 libraries', () => {
  let server: TestServer
  let ann: Client
  let expected: string[]
  before(async () => {
    server = await startServer({ now: () => START })
    ann = await server.signUp()
    const { accounts, core } = server.running.services
    const owner = await accounts.get(ann.email)
    const libraries = await dbOf(core).write(async (tx) => {
      const made = []
      for (let n = 0; n < LIBRARIES; n++) {
        made.push(await createLibraryIn(tx, core, owner, { name: `L${n}`, description: '' }, undefined))
      }
      return made
    })
    // One request processes the existing commits; the rows added afterwards stand for years of commits.
    assert.equal((await ann.get('/api/v2.1/activities/')).status, 200)
    const numbers = Array.from({ length: ROWS }, (_, n) => n)
    const rows = Object.groupBy(numbers, (n) => String((n * 7919) % LIBRARIES))
    for (const [index, library] of libraries.entries()) {
      const mine = rows[String(index)] ?? []
      await dbOf(core).write(
        (tx) =>
          insertCommitActivities(
            tx,
            library.key,
            mine.map((n) => ({
              op: 'edit',
              object: 'file',
              path: `/${n}` as LibraryPath,
              oldPath: undefined,
              oldName: undefined,
              author: n % 1000 === 0 ? 'rare@example.org' : ann.email,
              at: START + 1 + n,
              commitId: library.head,
              days: undefined,
              seq: n + 2,
            })),
          ),
        { durable: false },
      )
    }
    expected = numbers.map((n) => `/${n}`).toReversed()
  })
  after(() => server[Symbol.asyncDispose]())

  const read = async (query: Record<string, string | number>): Promise<string[]> => {
    const reply = await ann.get('/api/v2.1/activities/', query)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.events.map(({ path }: Item) => path)
  }

  it('is paged in order from its beginning', async () => {
    for (const page of [1, 2, 3, 40]) {
      assert.deepEqual(await read({ page }), expected.slice((page - 1) * 25, page * 25), `page ${page}`)
    }
    assert.deepEqual(await read({ per_page: 1000 }), expected.slice(0, 1000))
    assert.deepEqual(await read({ page: 100, per_page: 100 }), expected.slice(9900, 10_000))
  })

  it('filters the activities of one account among all others', async () => {
    const rare = expected.filter((path) => Number(path.slice(1)) % 1000 === 0)
    assert.deepEqual(await read({ op_user: 'rare@example.org', per_page: 200 }), rare)
  })

  it('serves a page at a cost proportional to the page', async (t) => {
    const times: number[] = []
    for (let n = 0; n < 20; n++) {
      const began = performance.now()
      await read({})
      times.push(performance.now() - began)
    }
    const median = times.toSorted((a, b) => a - b)[10] ?? 0
    t.diagnostic(`the first page took ${median.toFixed(1)} ms`)
    // Reading the whole feed takes seconds, so this bound holds on a busy machine too.
    assert.ok(median < 500, `${median} ms`)
  })
})
