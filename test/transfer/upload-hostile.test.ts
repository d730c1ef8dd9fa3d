import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  expectNothingLeft,
  formBytes,
  headOf,
  postBody,
  postForm,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const texts: [about: string, text: string][] = [
  ['NUL', '/a\0b'],
  ['invalid UTF-8', '\xff\xfe'],
  ['..', '/..'],
  ['backslashes', '\\none\\'],
  ['a line break', '/a\r\nb'],
  ['20,000 characters', `/${'x'.repeat(20_000)}`],
  ['10,000 folders', '/a'.repeat(10_000)],
  ['__proto__', '__proto__'],
  ['a name of 256 bytes', 'x'.repeat(256)],
  ['a template', '${x}%s%n{{7*7}}'],
]

describe('malformed values', () => {
  let server: TestServer
  let user: Client
  let library: string
  let upload: string
  let update: string
  before(async () => {
    server = await startServer()
    user = await server.signUp()
    library = await user.createLibrary()
    await uploadFile(user, library, '/a.txt', 'a')
    upload = await uploadLink(user, library)
    update = await updateLink(user, library)
  })
  after(() => server[Symbol.asyncDispose]())

  for (const [about, text] of texts) {
    it(`with ${about} are rejected or ignored, and never cause a server error`, async () => {
      for (const name of ['parent_dir', 'target_file', 'replace']) {
        const head = await headOf(user, library)
        for (const link of [upload, update]) {
          const reply = await post(link, name, text)
          assert(reply.status >= 400 && reply.status < 500, `${name} ${reply.status} ${reply.text}`)
          assert.equal(typeof reply.body.error, 'string')
        }
        assert.equal(await headOf(user, library), head)
      }
      for (const name of ['relative_path', 'last_modify', 'X-Unknown']) {
        const reply = await post(upload, name, text)
        assert(reply.status < 500, `${name} ${reply.status} ${reply.text}`)
      }
      for (const link of [upload, update]) {
        const escaped = encodeURIComponent(text.toWellFormed())
        const query = `head=${escaped}&replace=${escaped}&ret-json=${escaped}&need_idx_progress=${escaped}`
        const parts = [['parent_dir', '/'] as const, ['target_file', '/a.txt'] as const]
        const reply = await postForm(link, [...parts, { filename: 'b', bytes: 'b' }], {
          query: query.slice(0, 12_000),
        })
        assert(reply.status < 500, `${reply.status} ${reply.text}`)
      }
      const disposition = `attachment; filename="${text.replace(/[\0\r\n]/g, '%00').slice(0, 8000)}"`
      const headers = { 'Content-Range': 'bytes 0-0/2', 'Content-Disposition': disposition }
      const chunk = await postForm(upload, [['parent_dir', '/'], { filename: 'b', bytes: 'b' }], { headers })
      assert(chunk.status < 500, `${chunk.status} ${chunk.text}`)
      await server.running.services.db.write((tx) => tx.run('delete from partial_upload'))
      await server.running.services.partialUploads.prepare()
      await expectNothingLeft(server)
    })
  }

  it('in place of a ticket are rejected', async () => {
    for (const ticket of ['%00', '%ff', '..%2f..', 'x'.repeat(900), "'%20or%201=1"]) {
      const reply = await postForm(upload.replace(/[^/]+$/, ticket), [])
      assert(reply.status === 403 || reply.status === 404, `${ticket} ${reply.status}`)
    }
  })

  /** A form with one text field as the bytes of its characters. */
  function post(link: string, name: string, text: string) {
    const rest = formBytes([
      ...(name === 'parent_dir' ? [] : [['parent_dir', '/'] as const]),
      ...(name === 'target_file' || link === upload ? [] : [['target_file', '/none'] as const]),
      { filename: name === 'target_file' && link === upload ? '' : 'b.txt', bytes: 'b' },
    ])
    const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
    return postBody(link, Buffer.concat([Buffer.from(part, 'latin1'), rest]))
  }
})

describe('a relative path of many folders', () => {
  it('is created or rejected as a whole', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const count of [100, 1000, 8000]) {
      const parts = [
        ['parent_dir', '/'] as const,
        ['relative_path', 'a/'.repeat(count)] as const,
        { filename: 'b.txt', bytes: 'b' },
      ]
      const reply = await postForm(link, parts)
      assert.equal(reply.status, count < 2000 ? 200 : 440, `${count} folders`)
    }
  })
})
