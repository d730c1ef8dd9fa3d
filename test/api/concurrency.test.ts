import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'

const WRITERS = 50
const EDITS = rounds(10, 40, 200)

it(`${WRITERS} writers with ${EDITS} edits each in one library end with no error and every edit present`, async () => {
  await using server = await startServer()
  const client = await server.signUp()
  const library = await client.createLibrary('Shared work')
  const url = `/api/v2.1/repos/${library}/file/`
  const failures: string[] = []
  const expected: string[] = []
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let edit = 0; edit < EDITS; edit++) {
        const name = `writer ${writer} edit ${edit}.txt`
        expected.push(name)
        const reply = await client.post(url, { query: { p: `/${name}` }, form: { operation: 'create' } })
        if (reply.status !== 200 || reply.body.obj_name !== name)
          failures.push(`${reply.status} ${reply.text}`)
      }
    }),
  )
  assert.deepEqual(failures, [])
  const listing = await client.get(`/api2/repos/${library}/dir/`)
  const names = listing.body.map((entry: { name: string }) => entry.name)
  assert.deepEqual(names.sort(), expected.sort())
  const detail = await client.get(`/api2/repos/${library}/`)
  assert.equal(detail.body.file_count, WRITERS * EDITS)
  const history = await client.get(`/api/v2.1/repos/${library}/history/`, {
    per_page: 1,
    page: WRITERS * EDITS + 1,
  })
  assert.equal(history.body.data[0].description, 'Created library')
})
