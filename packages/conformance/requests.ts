import assert from 'node:assert/strict'
import { HttpClient } from './client.ts'
import { sendChunk } from './resumable.ts'
import { bodyOf, expectAnswer } from './stage.ts'
import type { Case, Statement } from './statement.ts'
import { postForm, type SentPart, updateLink, uploadLink } from './transfer.ts'

const parts: SentPart[] = [['parent_dir', '/'], { filename: 'a.txt', bytes: 'hello' }]

/** Section 4 about all endpoints. */
export const requestStatements: Case[] = [
  {
    id: '4/urlencoded',
    statement: 'Forms are urlencoded',
    note: 'Multipart and JSON are also accepted everywhere, because clients send all three.',
    async run({ user, checksNotes }) {
      for (const encoding of checksNotes ? ['form', 'multipart', 'json'] : ['form']) {
        const reply = await user.post('/api/v2.1/repos/', { [encoding]: { repo_name: 'Pläne & mehr' } })
        assert.equal(bodyOf(reply).repo_name, 'Pläne & mehr', encoding)
      }
    },
  },
  {
    id: '4/accept',
    statement: 'Clients may ask for JSON with an `Accept` header, and need to send nothing else',
    async run({ user }) {
      for (const accept of ['*/*', 'application/json; charset=utf-8; indent=4']) {
        const reply = await user.call('GET', '/api2/repos/', { headers: { Accept: accept } })
        assert.equal(reply.status, 200)
        assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      }
    },
  },
]

/** Section 5. */
export const authenticationStatements: Case[] = [
  {
    id: '5/header',
    statement: 'Calls carry the header `Authorization: Token <API_TOKEN>`',
    note: '`Bearer` is also accepted. Without a token 403, with a wrong one 401, as in the reference.',
    async run({ user, checksNotes }) {
      const anonymous = new HttpClient({ url: user.url })
      const statusWith = async (headers: Record<string, string>) =>
        (await anonymous.call('GET', '/api2/repos/', { headers })).status
      assert.equal(await statusWith({ Authorization: `Token ${user.token}` }), 200)
      assert.notEqual(await statusWith({}), 200)
      if (!checksNotes) return
      assert.equal(await statusWith({ Authorization: `Bearer ${user.token}` }), 200)
      assert.equal(await statusWith({}), 403)
      assert.equal(await statusWith({ Authorization: `Token ${'f'.repeat(40)}` }), 401)
    },
  },
  {
    id: '5/header-upload',
    statement: 'An upload may carry the header as well',
    note: 'It is ignored, as in the reference.',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      const headers = { Authorization: `Token ${stage.user.token}` }
      for (const options of [{ headers }, {}]) {
        assert.equal((await postForm(link, parts, options)).status, 200)
      }
    },
  },
  {
    id: '5/header-update',
    statement: 'An update may carry the header as well',
    note: 'It is ignored, as in the reference.',
    async run(stage) {
      const link = await updateLink(stage.user, await stage.library({ '/a.txt': 'hello' }))
      const form: SentPart[] = [['target_file', '/a.txt'], { filename: 'x', bytes: 'new' }]
      const headers = { Authorization: `Token ${stage.user.token}` }
      assert.equal((await postForm(link, form, { headers })).status, 200)
    },
  },
  {
    id: '5/link-token',
    statement: 'An upload link has a token of its own in its path',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      assert.ok(!link.includes(stage.user.token ?? ''))
      const headers = { Authorization: `Token ${stage.user.token}` }
      const forged = link.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000')
      assert.equal((await postForm(forged, parts, { headers })).status, 403)
    },
  },
]

/** Section 8. */
export const limitStatements: Case[] = [
  {
    id: '8/chunk-size',
    statement: 'The client chooses the size of the chunks of a resumable upload',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      let start = 0
      for (const chunk of ['0', '1234', '56', '7']) {
        expectAnswer(await sendChunk(link, chunk, start, 9), { success: true })
        start += chunk.length
      }
      assert.match((await sendChunk(link, '8', start, 9)).text, /^[0-9a-f]{40}$/)
    },
  },
  {
    id: '8/largest',
    statement: 'There is a maximum size for uploads',
    note: 'None unless the operator sets one.',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      const file: SentPart = { filename: 'a.bin', bytes: Buffer.alloc(stage.largestUpload + 1) }
      assert.equal((await postForm(link, [['parent_dir', '/'], file])).status, 442)
    },
  },
  {
    id: '8/quota',
    statement: 'There is a quota for uploads',
    note: 'None unless the operator sets one.',
    async run(stage) {
      const user = await stage.signUp()
      const link = await uploadLink(user, await user.createLibrary())
      await stage.limitSpace(user)
      const file: SentPart = { filename: 'a.bin', bytes: Buffer.alloc(2 * stage.smallestQuota) }
      assert.equal((await postForm(link, [['parent_dir', '/'], file])).status, 443)
    },
  },
]

const deprecated = [
  'POST /api/v2.1/repos/batch-copy-item/',
  'POST /api/v2.1/repos/batch-move-item/',
  'POST /api2/repos/:repo_id/fileops/copy/',
  'POST /api2/repos/:repo_id/fileops/move/',
  'POST /api/v2.1/copy-move-task/',
]

/** Section 9. */
export const versionStatements: Statement[] = [
  {
    id: '9/prefixes',
    statement: 'There are two prefixes, `/api2/` and `/api/v2.1/`, side by side',
    async run(stage) {
      const library = await stage.library()
      assert.equal(bodyOf(await stage.user.get(`/api2/repos/${library}/`)).id, library)
      assert.equal(bodyOf(await stage.user.get(`/api/v2.1/repos/${library}/`)).repo_id, library)
    },
  },
  {
    id: '9/deprecated',
    statement:
      'Batch copy and move with `paths`, `fileops` copy and move, and the single copy-move task are deprecated',
    note: 'They still work; `docs/endpoints.md` marks them.',
    async run({ inside }) {
      const labelled = inside.deprecatedCalls()
      for (const call of deprecated) assert.ok(labelled.includes(call), call)
    },
  },
  {
    id: '9/deprecated-links',
    statement: 'Listing and deleting the links of a library are deprecated',
    note: 'They still work; `docs/endpoints.md` marks them.',
    async run({ inside }) {
      const labelled = inside.deprecatedCalls().filter((call) => call.includes('-shared-links/'))
      assert.equal(labelled.length, 4)
    },
  },
]
