import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { makeDocx } from '../support/documents/packages.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'

describe('concurrent text extraction', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  async function furnished(): Promise<Workspace> {
    const space = await Workspace.make(server)
    await uploadFile(space.client, space.id, '/a.docx', makeDocx(['words']))
    // The index reads the document, too. It must not do that later.
    await eventually(async () =>
      assert.equal((await space.client.get('/api2/search/?q=words')).body.total, 1),
    )
    return space
  }

  it('runs one document per account at a time, and rejects an account with more than 20 waiting', async (t) => {
    const [many, one] = [await furnished(), await furnished()]
    const { content } = storesOf(server.running.services.core)
    const open = content.open.bind(content)
    const { promise: opened, resolve: release } = Promise.withResolvers<void>()
    let begun = 0
    t.mock.method(content, 'open', async (...args: Parameters<typeof open>) => {
      begun += 1
      await opened
      return open(...args)
    })
    const read = (space: Workspace) => space.client.get(space.v21('file/text/'), { p: '/a.docx' })
    const statuses: number[] = []
    const note = async (asked: ReturnType<typeof read>) => {
      const { status, headers, body } = await asked
      if (status === 503) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      else assert.deepEqual([status, body.text], [200, 'words'])
      statuses.push(status)
    }
    const asked = Array.from({ length: 30 }, () => note(read(many)))
    await eventually(async () => assert.equal(statuses.length, 9))
    assert.deepEqual(new Set(statuses), new Set([503]))
    const other = note(read(one))
    await eventually(async () => assert.equal(begun, 2))
    release()
    await Promise.all([...asked, other])
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.length], [22, 31])
  })
})
