import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Workspace } from '../api/folders-support.ts'
import { SHARE, sharedSpace, shareLink, UPLOAD, uploadLinkTo, visit } from '../api/links-support.ts'
import type { Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, postForm, type SentPart, storedBytes, uploadFile, uploadLink } from '../support/transfer.ts'

const KEPT = 'alpha beta gamma'

/** Both kinds of link that let a visitor add files to `/docs`. */
const kinds = {
  'an upload link': async (space: Workspace) =>
    `${UPLOAD}${(await uploadLinkTo(space, '/docs')).token}/upload/`,
  'a share link with can_upload': async (space: Workspace) => {
    const { token } = await shareLink(space, '/docs', { permissions: { can_upload: true } })
    return `${SHARE}${token}/upload/`
  },
  'a share link with can_upload and can_edit': async (space: Workspace) => {
    const { token } = await shareLink(space, '/docs', { permissions: { can_upload: true, can_edit: true } })
    return `${SHARE}${token}/upload/`
  },
}

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

async function addressOf(path: string): Promise<string> {
  const reply = await visit(server, path)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.upload_link
}

const contentOf = async (space: Workspace, path: string) => String(await storedBytes(server, space.id, path))

interface Sending {
  readonly fields?: readonly SentPart[]
  readonly query?: string
  readonly headers?: Record<string, string>
  readonly filename?: string
  readonly bytes?: string
}

/** Uploads a file as one row of a table describes. */
function send(
  address: string,
  { fields = [], filename = 'a.txt', bytes = 'from outside', ...more }: Sending,
) {
  const parts: SentPart[] = [['parent_dir', '/'], ...fields, { filename, bytes }]
  const { query = '', headers = {} } = more
  return postForm(address, parts, { query: query === '' ? 'ret-json=1' : `ret-json=1&${query}`, headers })
}

for (const [kind, open] of Object.entries(kinds)) {
  describe(`an existing file, and ${kind}`, () => {
    const attempts: Record<string, Sending> = {
      'replace=1 in the form': { fields: [['replace', '1']] },
      'replace=1 in the query': { query: 'replace=1' },
      'replace=1 in both': { fields: [['replace', '1']], query: 'replace=1' },
      'a name with leading folders': { fields: [['replace', '1']], filename: '/docs/a.txt' },
      'a name with backslashes': { fields: [['replace', '1']], filename: 'C:\\docs\\a.txt' },
      'a relative path to the same folder': {
        fields: [
          ['relative_path', './'],
          ['replace', '1'],
        ],
      },
      'one chunk': { fields: [['replace', '1']], headers: { 'Content-Range': 'bytes 0-11/12' } },
      'a name in a request header': {
        fields: [['replace', '1']],
        filename: 'other',
        headers: {
          'Content-Range': 'bytes 0-11/12',
          'Content-Disposition': 'attachment; filename="a.txt"',
        },
      },
      'a deferred response': { fields: [['replace', '1']], query: 'need_idx_progress=true' },
      'a different case': { fields: [['replace', '1']], filename: 'A.TXT' },
    }
    for (const [how, sending] of Object.entries(attempts)) {
      for (const form of ['upload-api', 'upload-aj']) {
        it(`is not replaced with ${how}, by ${form}`, async () => {
          const space = await sharedSpace(server)
          const address = (await addressOf(await open(space))).replace('upload-api', form)
          const reply = await send(address, sending)
          assert.ok([200, 400].includes(reply.status), reply.text)
          assert.equal(await contentOf(space, '/docs/a.txt'), KEPT)
        })
      }
    }

    it('is not replaced by a name in another Unicode normalization', async () => {
      const space = await sharedSpace(server)
      const [composed, decomposed] = ['\u00e4.txt', 'a\u0308.txt']
      await uploadFile(space.client, space.id, `/docs/${composed}`, KEPT)
      const address = await addressOf(await open(space))
      for (const filename of [composed, decomposed]) {
        assert.equal((await send(address, { filename, fields: [['replace', '1']] })).status, 200)
      }
      assert.equal(await contentOf(space, `/docs/${composed}`), KEPT)
      const names = await namesIn(space.client, space.id, '/docs')
      assert.ok(names.includes('\u00e4 (1).txt') && names.includes('\u00e4 (2).txt'), names.join())
    })

    it('is not replaced in chunks, nor in a subfolder', async () => {
      const space = await sharedSpace(server)
      const address = await addressOf(await open(space))
      const fields: SentPart[] = [
        ['relative_path', 'sub'],
        ['replace', '1'],
      ]
      for (const [bytes, range] of [
        ['from ', '0-4'],
        ['outside', '5-11'],
      ] as const) {
        const headers = { 'Content-Range': `bytes ${range}/12` }
        const reply = await send(address, { fields, filename: 'b.txt', bytes, headers })
        assert.equal(reply.status, 200, reply.text)
      }
      assert.equal(await contentOf(space, '/docs/sub/b.txt'), 'bee')
      assert.equal(await contentOf(space, '/docs/sub/b (1).txt'), 'from outside')
    })

    it('is not updated by its path', async () => {
      const space = await sharedSpace(server)
      const address = await addressOf(await open(space))
      for (const form of ['update-api', 'update-aj']) {
        const parts: SentPart[] = [
          ['target_file', '/docs/a.txt'],
          { filename: 'a.txt', bytes: 'from outside' },
        ]
        assert.equal((await postForm(address.replace('upload-api', form), parts)).status, 403)
      }
      for (const form of ['upload-raw-blks-api', 'upload-blks-api', 'update-blks-api']) {
        const reply = await postForm(`${address.replace('upload-api', form)}?commitonly=1`, [
          ['parent_dir', '/docs'],
          ['file_name', 'a.txt'],
          ['target_file', '/docs/a.txt'],
          ['file_size', '0'],
          ['replace', '1'],
          ['blockids', '[]'],
        ])
        assert.equal(reply.status, 403, form)
      }
      assert.equal(await contentOf(space, '/docs/a.txt'), KEPT)
    })

    it('keeps its name when a folder of that name is uploaded, which is renamed', async () => {
      const space = await sharedSpace(server)
      const address = await addressOf(await open(space))
      for (const name of ['x.txt', 'y.txt']) {
        const fields: SentPart[] = [['relative_path', 'a.txt/deep']]
        const reply = await send(address, { fields, filename: name })
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.body[0].name, name)
      }
      assert.equal(await contentOf(space, '/docs/a.txt'), KEPT)
      assert.deepEqual(await namesIn(space.client, space.id, '/docs/a.txt (1)/deep'), ['x.txt', 'y.txt'])
    })

    it('stays beside the new file, whose name is not revealed', async () => {
      const space = await sharedSpace(server)
      const address = await addressOf(await open(space))
      const fields: SentPart[] = [['replace', '1']]
      const taken = await send(address, { fields })
      const free = await send(address, { fields, filename: 'new.txt' })
      assert.equal(taken.body[0].name, 'a.txt')
      assert.equal(free.body[0].name, 'new.txt')
      assert.deepEqual({ ...taken.body[0], name: '' }, { ...free.body[0], name: '' })
      assert.equal(await contentOf(space, '/docs/a (1).txt'), 'from outside')
    })
  })
}

describe('folders outside of a link', () => {
  const places = ['/docs/sub', '/docs/none', '/secret.txt', '/other', '/gone', '/', '/docs']

  for (const [kind, open] of Object.entries(kinds)) {
    it(`cannot be detected by the parent_dir of ${kind}`, async () => {
      const space = await sharedSpace(server)
      await space.folder('/other')
      const address = await addressOf(await open(space))
      const replies = []
      for (const [index, parent] of places.entries()) {
        const parts: SentPart[] = [['parent_dir', parent], { filename: `${index}.txt`, bytes: 'x' }]
        replies.push(await postForm(address, parts))
      }
      assertSame(replies)
      assert.deepEqual(await namesIn(space.client, space.id, '/other'), [])
      assert.deepEqual(await namesIn(space.client, space.id, '/docs/sub'), ['b.txt'])
    })

    it(`cannot be reached by the paths of ${kind}`, async () => {
      const space = await sharedSpace(server)
      const address = await addressOf(await open(space))
      for (const path of ['..', '../..', '../docs', '../none', 'sub/../..', '..\\..', '/', '/docs']) {
        const reply = await send(address, { fields: [['relative_path', path]] })
        assert.deepEqual([reply.status, reply.body], [400, { error: 'Invalid relative path.' }], path)
      }
      for (const parent of ['/..', '/docs/..', '/docs/../none', '/../docs']) {
        const reply = await postForm(address, [['parent_dir', parent], { filename: 'x.txt', bytes: 'x' }])
        assert.equal(reply.status, 400, parent)
      }
      assert.deepEqual(await namesIn(space.client, space.id), ['docs/', 'secret.txt'])
    })
  }

  it('cannot be detected by the path of an upload link, not even below it', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs')
    const ask = (path: string) => visit(server, `${UPLOAD}${token}/upload/`, { query: { path } })
    for (const path of ['/sub', '/none', '/sub/none', '/a.txt', '/../docs', '/docs']) {
      assert.equal((await ask(path)).status, 404, path)
    }
    assert.equal((await ask('/')).status, 200)
  })

  it('cannot be detected by reporting an upload as done', async () => {
    const space = await sharedSpace(server)
    const { token } = await uploadLinkTo(space, '/docs')
    const paths = ['/docs/a.txt', '/docs/none', '/secret.txt', '/nowhere', '/a.txt', '/..']
    const replies: Reply[] = []
    for (const file_path of paths) {
      for (const is_dir of ['false', 'true']) {
        replies.push(
          await server.anonymous.post(`${SHARE}${token}/upload/done/`, { form: { file_path, is_dir } }),
        )
      }
    }
    assertSame(replies)
  })
})

describe('chunks of a visitor', () => {
  const half = (range: string) => ({ 'Content-Range': `bytes ${range}/10` })

  it("do not enter an upload of the link's creator", async () => {
    const space = await sharedSpace(server)
    const own = await uploadLink(space.client, space.id, '/docs')
    const address = await addressOf(await kinds['an upload link'](space))
    const chunk = (to: string, bytes: string, range: string, parent: string) =>
      postForm(to, [['parent_dir', parent], { filename: 'big.bin', bytes }], { headers: half(range) })
    assert.equal((await chunk(own, 'AAAAA', '0-4', '/docs')).status, 200)
    // It neither continues nor overwrites the creator's upload, nor detects it.
    assert.equal((await chunk(address, 'XXXXX', '5-9', '/')).status, 400)
    assert.equal((await chunk(address, 'XXXXX', '0-4', '/')).status, 200)
    assert.equal((await chunk(own, 'BBBBB', '5-9', '/docs')).status, 200)
    assert.equal(await contentOf(space, '/docs/big.bin'), 'AAAAABBBBB')
  })

  it('do not enter an upload of another visitor', async () => {
    const space = await sharedSpace(server)
    const path = await kinds['an upload link'](space)
    const [one, other] = [await addressOf(path), await addressOf(path)]
    const chunk = (to: string, bytes: string, range: string) =>
      postForm(to, [['parent_dir', '/'], { filename: 'big.bin', bytes }], { headers: half(range) })
    assert.equal((await chunk(one, 'AAAAA', '0-4')).status, 200)
    assert.equal((await chunk(other, 'XXXXX', '5-9')).status, 400)
    assert.equal((await chunk(other, 'XXXXX', '0-4')).status, 200)
    assert.equal((await chunk(one, 'BBBBB', '5-9')).status, 200)
    assert.equal(await contentOf(space, '/docs/big.bin'), 'AAAAABBBBB')
  })
})

/** Asserts that no response distinguishes the cases. */
function assertSame(replies: readonly Reply[]): void {
  const [first] = replies
  for (const reply of replies) {
    assert.equal(reply.status, first?.status, reply.text)
    assert.equal(reply.text.replace(/[0-9a-f]{40}/, ''), first?.text.replace(/[0-9a-f]{40}/, ''))
  }
}
