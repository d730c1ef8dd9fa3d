import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { filePart, intoRoot, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

let server: TestServer
let user: Client
before(async () => {
  server = await startServer({ env: { CARREL_MAX_HISTORY_MB: '1', CARREL_DEFAULT_QUOTA_MB: '2' } })
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

/** Runs the hourly count of the bytes of a library. */
async function count(library: string): Promise<void> {
  const reply = await user.get(`/api/v2.1/repos/${library}/usage/`)
  assert.equal(reply.status, 200, reply.text)
}

describe('the history allowance', () => {
  it('rejects new content beyond it until the history is cleaned', async () => {
    const library = await user.createLibrary()
    for (let version = 0; version < 4; version++) {
      await uploadFile(user, library, '/a.bin', randomBytes(600_000), { replace: true })
    }
    const link = await uploadLink(user, library)
    await count(library)

    const refused = await user.get(`/api2/repos/${library}/upload-link/`, { p: '/' })
    assert.equal(refused.status, 500, refused.text)
    const upload = await postForm(link, [intoRoot, filePart('b.bin')])
    assert.equal(upload.status, 443, upload.text)
    // Changes without new content still work, so that space can be freed.
    const renamed = await user.post(`/api/v2.1/repos/${library}/file/`, {
      query: { p: '/a.bin' },
      form: { operation: 'rename', newname: 'c.bin' },
    })
    assert.equal(renamed.status, 200, renamed.text)

    const cleaned = await user.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
    assert.equal(cleaned.status, 200, cleaned.text)
    await count(library)
    await uploadFile(user, library, '/d.bin', 'fits')
  })

  it('is counted per owner', async () => {
    const other = await server.signUp()
    const library = await other.createLibrary()
    await uploadFile(other, library, '/a.txt', 'one')
  })
})
