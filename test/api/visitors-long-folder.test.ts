import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServer } from '../support/server.ts'
import { postForm } from '../support/transfer.ts'
import { fill } from './batch-support.ts'
import { type Shown, sharedSpace, UPLOAD, uploadLinkTo, visit } from './links-support.ts'

describe('a folder of more than 5,000 files', () => {
  it('marks the files of visitors', async () => {
    await using server = await startServer()
    const space = await sharedSpace(server)
    await fill(
      server,
      space,
      '/docs',
      Array.from({ length: 5001 }, (_, index) => `own-${index}`),
    )
    const { token } = await uploadLinkTo(space, '/docs')
    const { upload_link } = (await visit(server, `${UPLOAD}${token}/upload/`)).body
    const sent = await postForm(upload_link, [
      ['parent_dir', '/docs'],
      { filename: 'visitor.txt', bytes: 'x' },
    ])
    assert.equal(sent.status, 200)
    const { body } = await space.client.get(space.v21('dir/'), { p: '/docs' })
    const marked = body.dirent_list.filter((one: Shown) => one.modifier_via_link)
    assert.deepEqual(
      marked.map((one: Shown) => one.name),
      ['visitor.txt'],
    )
  })
})
