import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { zipBomb } from '../support/documents/hostile.ts'
import { makeDocx, makeOdf, makeXlsx, odfParagraphs } from '../support/documents/packages.ts'
import { createEncrypted, openEncrypted } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, Workspace } from './folders-support.ts'

describe('the text of a document', () => {
  let server: TestServer
  let space: Workspace
  before(async () => {
    server = await startServer()
    space = await Workspace.make(server)
  })
  after(() => server[Symbol.asyncDispose]())

  const textOf = (path: string, more = {}) => space.client.get(space.v21('file/text/'), { p: path, ...more })
  const put = (path: string, bytes: Uint8Array | string, replace = false) =>
    uploadFile(space.client, space.id, path, bytes, { replace })

  it('is extracted from office files', async () => {
    const { id } = await put('/a/Brief.docx', makeDocx(['Sehr geehrte Frau Ünal', 'zweiter Absatz']))
    const reply = await textOf('/a/Brief.docx')
    assert.equal(reply.status, 200, reply.text)
    const { text, ...rest } = reply.body
    assert.deepEqual(rest, { id, name: 'Brief.docx', truncated: false })
    assert.match(text, /Sehr geehrte Frau Ünal\n+zweiter Absatz/)

    await put('/a/sheet.xlsx', makeXlsx([{ name: 'Sums', rows: [['apples', 12]] }]))
    assert.match((await textOf('/a/sheet.xlsx')).body.text, /apples/)
    await put('/a/note.odt', makeOdf('text', odfParagraphs(['an open document'])))
    assert.match((await textOf('/a/note.odt')).body.text, /an open document/)
  })

  it('is that of an earlier revision on request', async () => {
    await put('/report.docx', makeDocx(['the first edition']))
    const then = await space.head()
    await put('/report.docx', makeDocx(['the second edition']), true)
    assert.match((await textOf('/report.docx')).body.text, /second/)
    assert.match((await textOf('/report.docx', { commit_id: then })).body.text, /first/)
    assertError(await textOf('/report.docx', { commit_id: 'nonsense' }), 400, 'commit_id invalid.')
  })

  it('is truncated at the length limit', async () => {
    await put('/long.docx', makeDocx(['word '.repeat(100_000)]))
    const { body } = await textOf('/long.docx')
    assert.equal(body.truncated, true)
    assert.ok(body.text.length <= 2 ** 18)
  })

  it('explains why there is none', async () => {
    await put('/picture.png', 'bytes')
    assertError(await textOf('/picture.png'), 422, 'The file is of a type that cannot be read.')
    await put('/broken.docx', 'no archive at all')
    const broken = await textOf('/broken.docx')
    assert.equal(broken.status, 422)
    assert.match(broken.body.error_msg, /^The file .*\.$/)
    assertError(await textOf(''), 400, 'p invalid.')
    assertError(await textOf('/missing.docx'), 404, 'File /missing.docx not found.')
    assertError(await textOf('/a'), 404, 'File /a not found.')
  })

  it('is cut off where a small file unpacks to gigabytes', async () => {
    await put('/bomb.docx', zipBomb(4))
    const reply = await textOf('/bomb.docx')
    assert.ok([200, 422].includes(reply.status), reply.text.slice(0, 200))
    assert.ok(reply.text.length < 2 ** 20)
  })

  it('is not readable without access', async () => {
    await put('/private.docx', makeDocx(['mine']))
    const other = await server.signUp()
    const reply = await other.get(space.v21('file/text/'), { p: '/private.docx' })
    assert.equal(reply.status, 403)
    assert.doesNotMatch(reply.text, /mine/)
  })

  it('is extracted in an encrypted library once it is unlocked', async () => {
    const { id } = await createEncrypted(space.client, 4)
    await openEncrypted(space.client, id)
    await uploadFile(space.client, id, '/secret.docx', makeDocx(['behind a password']))
    const open = await space.client.get(`/api/v2.1/repos/${id}/file/text/`, { p: '/secret.docx' })
    assert.match(open.body.text, /behind a password/)
    server.running.services.core.keys[Symbol.dispose]()
    const shut = await space.client.get(`/api/v2.1/repos/${id}/file/text/`, { p: '/secret.docx' })
    assertError(shut, 403, 'This library has not been decrypted.')
  })
})
