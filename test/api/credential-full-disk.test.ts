import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { DatabaseError } from '../../src/platform/database/errors.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { postForm, updateLink, uploadFile, uploadLink } from '../support/transfer.ts'
import { PASSWORD } from './credential-support.ts'

let server: TestServer
before(async () => {
  server = await startServer({ env: { CARREL_LOG: 'silent' } })
})
after(() => server[Symbol.asyncDispose]())

const ok = (reply: { status: number; text: string }) => assert.equal(reply.status, 200, reply.text)

/** Runs a function while the database has no space, so that tickets stay in memory. */
async function onFullDisk<T>(t: TestContext, work: () => Promise<T>): Promise<T> {
  const { db } = server.running.services
  const full = t.mock.method(db, 'write', async () => {
    throw new DatabaseError('full', 'no space left')
  })
  try {
    return await work()
  } finally {
    full.mock.restore()
  }
}

const ends: Record<string, (client: Client, library: string) => Promise<void>> = {
  'signing out': async (client) => ok(await client.post('/api2/logout-device/')),
  'a new password': async (client) => {
    const form = { old_password: PASSWORD, new_password: 'another long password' }
    ok(await client.post('/api/v2.1/user/reset-password/', { form }))
  },
  'deleting and restoring the library': async (client, library) => {
    ok(await client.delete(`/api2/repos/${library}/`))
    ok(await client.post('/api/v2.1/deleted-repos/', { form: { repo_id: library } }))
  },
}

describe('a ticket that could not be stored because the disk is full', () => {
  for (const [way, end] of Object.entries(ends)) {
    it(`is revoked by ${way}`, async (t) => {
      const user = await server.signUp({ password: PASSWORD })
      const library = await user.createLibrary()
      const link = await onFullDisk(t, () => uploadLink(user, library))
      const send = (filename: string) => postForm(link, [['parent_dir', '/'], { filename, bytes: 'x' }])
      ok(await send('a'))
      await end(user, library)
      assert.equal((await send('b')).status, 403)
    })
  }

  it('of a link is revoked when the link is changed or deleted', async (t) => {
    const user = await server.signUp()
    const library = await user.createLibrary()
    for (const change of ['change', 'delete']) {
      const made = await user.post('/api/v2.1/upload-links/', { json: { repo_id: library, path: '/' } })
      ok(made)
      const path = `/api/v2.1/upload-links/${made.body.token}/`
      const asked = await onFullDisk(t, () => server.anonymous.get(`${path}upload/`))
      ok(asked)
      const send = () =>
        postForm(asked.body.upload_link, [['parent_dir', '/'], { filename: change, bytes: 'x' }])
      ok(await send())
      if (change === 'delete') ok(await user.delete(path))
      else ok(await user.put(path, { json: { is_active: true } }))
      assert.equal((await send()).status, 403, change)
    }
  })

  it('is bound to one file if it is an update ticket', async (t) => {
    const user = await server.signUp()
    const library = await user.createLibrary()
    for (const path of ['/a.txt', '/b.txt']) await uploadFile(user, library, path, 'old')
    const link = await onFullDisk(t, () => updateLink(user, library))
    const replace = (target: string) =>
      postForm(link, [['target_file', target], { filename: 'x', bytes: target }])
    ok(await replace('/a.txt'))
    assert.equal((await replace('/b.txt')).status, 403)
  })
})
