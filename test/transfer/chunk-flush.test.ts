import assert from 'node:assert/strict'
import path from 'node:path'
import { it } from 'node:test'
import { recordFileCalls } from '../support/file-calls.ts'
import { startServer } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'

it('a chunk of an upload is acknowledged after its file is flushed, the first one with its folder', {
  skip: process.platform !== 'linux',
}, async () => {
  await using server = await startServer()
  const user = await server.signUp()
  const link = await uploadLink(user, await user.createLibrary())
  await using recorded = await recordFileCalls()
  const uploads = path.join(server.data, 'uploads')
  const flushed = () =>
    recorded.calls
      .filter((call) => call.path.startsWith(uploads))
      .map((call) => (call.path === uploads ? 'folder' : 'file'))
  for (const [start, expected] of [
    [0, ['file', 'folder']],
    [4, ['file']],
  ] as const) {
    recorded.clear()
    const reply = await postForm(link, [['parent_dir', '/'], { filename: 'part.bin', bytes: 'abcd' }], {
      query: 'ret-json=1',
      headers: {
        'Content-Range': `bytes ${start}-${start + 3}/12`,
        'Content-Disposition': 'attachment; filename="a.bin"',
      },
    })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(flushed(), expected)
  }
})
