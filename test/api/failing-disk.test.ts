import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { DatabaseError, type DatabaseReason } from '../../src/platform/database/errors.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { postForm, uploadFile, uploadLink } from '../support/transfer.ts'

let server: TestServer
let user: Client
let library = ''
let sync: SyncClient
let upload = ''
before(async () => {
  server = await startServer({ env: { CARREL_LOG: 'silent' } })
  user = await server.signUp()
  library = await user.createLibrary()
  await uploadFile(user, library, '/kept.txt', 'kept')
  sync = await SyncClient.link(user, library)
  upload = await uploadLink(user, library)
})
after(() => server[Symbol.asyncDispose]())

function failWrites(t: TestContext, reason: DatabaseReason): void {
  t.mock.method(server.running.services.db, 'write', async () => {
    throw new DatabaseError(reason, 'SQLite: the disk does not take it')
  })
}

const cases = {
  full: { status: 507, words: /no disk space left/ },
  unwritable: { status: 503, words: /cannot save anything at the moment/ },
} as const

describe('a disk that takes no writes', () => {
  for (const [reason, { status, words }] of Object.entries(cases)) {
    it(`is named to clients of every surface, and files can still be read (${reason})`, async (t) => {
      const commit = sync.makeCommit((await sync.commit(await sync.head())).root_id, await sync.head())
      failWrites(t, reason as DatabaseReason)
      const replies = {
        api: await user.post(`/api2/repos/${library}/dir/?p=/new`, { form: { operation: 'mkdir' } }),
        upload: await postForm(upload, [['parent_dir', '/'], { filename: 'a.txt', bytes: 'a' }]),
        sync: await sync.putCommit(commit),
      }
      for (const [surface, reply] of Object.entries(replies)) {
        assert.equal(reply.status, status, `${surface}: ${reply.text}`)
        assert.match(reply.text, words, surface)
      }
      const link = await user.get(`/api2/repos/${library}/file/`, { p: '/kept.txt' })
      assert.equal(link.status, 200, link.text)
      assert.equal(await (await fetch(link.body)).text(), 'kept')
      assert.equal((await user.get(`/api2/repos/${library}/dir/`)).status, 200)
      assert.equal((await sync.call('GET', 'commit/HEAD')).status, 200)
    })
  }
})
