import assert from 'node:assert/strict'
import path from 'node:path'
import { it } from 'node:test'
import { recordFileCalls } from '../support/file-calls.ts'
import { startServer } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'

it('a chunk of an upload is acknowledged after its block is flushed, renamed, and its folder flushed', {
  skip: process.platform !== 'linux',
}, async () => {
  await using server = await startServer({ env: { CARREL_DISK: 'plain' } })
  const user = await server.signUp()
  const link = await uploadLink(user, await user.createLibrary())
  await using recorded = await recordFileCalls()
  const blocks = path.join(server.data, 'blocks')
  const done = () =>
    recorded.calls
      .filter((call) => call.path.startsWith(blocks))
      .map((call) =>
        call.kind === 'rename' ? 'rename' : path.dirname(call.path) === blocks ? 'folder' : 'file',
      )
  for (const [index, start] of [0, 100_000].entries()) {
    recorded.clear()
    const bytes = Buffer.alloc(100_000, index)
    const reply = await postForm(link, [['parent_dir', '/'], { filename: 'part.bin', bytes }], {
      query: 'ret-json=1',
      headers: {
        'Content-Range': `bytes ${start}-${start + 99_999}/300000`,
        'Content-Disposition': 'attachment; filename="a.bin"',
      },
    })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(done(), ['file', 'rename', 'folder'])
  }
})
