import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { SHARE, shareLink, visit } from '../api/links-support.ts'
import { shareWith, unshare } from '../api/sharing-support.ts'
import {
  archiveFiles,
  fetchArchive,
  holdContent,
  progressOf,
  startArchive,
  waitForArchive,
} from '../support/archives.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { storeFile } from '../support/stored-files.ts'

const LINK_TASK = '/api/v2.1/share-link-zip-task/'

function assertBusy(reply: Reply): void {
  assert.equal(reply.status, 503, reply.text)
  assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

function ask(client: Client, library: string, dirents: readonly string[]): Promise<Reply> {
  return client.post(`/api/v2.1/repos/${library}/zip-task/`, { form: { parent_dir: '/', dirents } })
}

/** Polls until an archive is being packed. */
async function begun(client: Client, token: string): Promise<void> {
  while ((await progressOf(client, token)).total === 1);
}

async function statusOf(client: Client, token: string): Promise<number> {
  return (await client.get('/api/v2.1/query-zip-progress/', { token })).status
}

describe('the slots of archives', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  async function furnished(): Promise<Workspace> {
    const space = await Workspace.make(server)
    for (const name of ['a', 'b'])
      await storeFile(server, space.client, space.id, `/${name}`, randomBytes(100))
    return space
  }

  it('are shared fairly between requesters', async (t) => {
    const [many, one] = [await furnished(), await furnished()]
    const held = holdContent(t, server)
    const tokens = []
    for (let n = 0; n < 10; n += 1) tokens.push(await startArchive(many.client, many.id, '/', ['a', 'b']))
    const [first = ''] = tokens
    await begun(many.client, first)
    const other = await startArchive(one.client, one.id, '/', ['a', 'b'])
    await begun(one.client, other)
    for (const token of tokens.slice(1)) assert.equal((await progressOf(many.client, token)).total, 1)
    held.open()
    for (const token of [...tokens, other]) assert.equal((await waitForArchive(many.client, token)).zipped, 2)
  })

  it('leave one slot to accounts while link visitors wait', async (t) => {
    const space = await furnished()
    const links = [await shareLink(space, '/', {}), await shareLink(await furnished(), '/', {})]
    const held = holdContent(t, server)
    const tokens: string[] = []
    for (const { token } of links) {
      const reply = await visit(server, `${LINK_TASK}?share_link_token=${token}&path=/`)
      tokens.push(reply.body.zip_token)
    }
    await begun(space.client, tokens[0] ?? '')
    const own = await startArchive(space.client, space.id, '/', ['a', 'b'])
    await begun(space.client, own)
    assert.equal((await progressOf(space.client, tokens[1] ?? '')).total, 1)
    held.open()
    for (const token of [...tokens, own]) assert.equal((await waitForArchive(space.client, token)).zipped, 2)
  })

  it('have a queue of 20 per account, and reject further requests as busy', async (t) => {
    const [many, one] = [await furnished(), await furnished()]
    const held = holdContent(t, server)
    const tokens = []
    for (let n = 0; n < 20; n += 1) tokens.push(await startArchive(many.client, many.id, '/', ['a']))
    assertBusy(await ask(many.client, many.id, ['a']))
    const other = await startArchive(one.client, one.id, '/', ['a'])
    held.open()
    for (const token of [...tokens, other]) await waitForArchive(one.client, token)
    assert.equal((await ask(many.client, many.id, ['a'])).status, 200)
  })

  it('are shared by equal requests of link visitors', async (t) => {
    const space = await furnished()
    const { token } = await shareLink(space, '/', {})
    const before = await archiveFiles(server)
    const held = holdContent(t, server)
    const tokens = new Set<string>()
    for (let n = 0; n < 30; n += 1) {
      const reply = await visit(server, `${LINK_TASK}?share_link_token=${token}&path=/`)
      assert.equal(reply.status, 200, reply.text)
      tokens.add(reply.body.zip_token)
    }
    assert.equal(tokens.size, 30)
    // One of them disconnects; the others still get theirs.
    const [canceled = '', ...others] = tokens
    await server.anonymous.post('/api/v2.1/cancel-zip-task/', { form: { token: canceled } })
    assert.equal((await progressOf(space.client, canceled)).canceled, 1)
    held.open()
    for (const other of others) assert.equal((await waitForArchive(space.client, other)).zipped, 2)
    assert.equal((await archiveFiles(server)).length - before.length, 1)
    const etags = new Set<string | null>()
    for (const other of others) {
      const response = await fetchArchive(server, other)
      await response.arrayBuffer()
      etags.add(response.headers.get('etag'))
    }
    assert.equal(etags.size, 1)
    // Different content is a different archive.
    await storeFile(server, space.client, space.id, '/c', randomBytes(100))
    const reply = await visit(server, `${LINK_TASK}?share_link_token=${token}&path=/`)
    assert.equal((await waitForArchive(space.client, reply.body.zip_token)).zipped, 3)
  })

  it('are released when the library is deleted, without leftovers', async (t) => {
    const space = await furnished()
    const before = await archiveFiles(server)
    const held = holdContent(t, server)
    const token = await startArchive(space.client, space.id, '/', ['a', 'b'])
    await begun(space.client, token)
    assert.equal((await space.client.delete(`/api2/repos/${space.id}/`)).status, 200)
    assert.equal(await statusOf(space.client, token), 404)
    held.open()
    const next = await furnished()
    await waitForArchive(next.client, await startArchive(next.client, next.id, '/', ['a']))
    assert.equal((await archiveFiles(server)).length, before.length + 1)
  })

  it('are not used by an archive whose requester lost access while queued', async (t) => {
    const [space, reader] = [await furnished(), await server.signUp()]
    await shareWith(space.client, space.id, reader, { permission: 'r' })
    const { token: link } = await shareLink(space, '/', {})
    const before = await archiveFiles(server)
    const held = holdContent(t, server)
    const [running, waiting] = [
      await startArchive(reader, space.id, '/', ['a', 'b']),
      await startArchive(reader, space.id, '/', ['a']),
    ]
    const visited = (await visit(server, `${LINK_TASK}?share_link_token=${link}&path=/`)).body.zip_token
    await begun(reader, running)
    await begun(reader, visited)
    await unshare(space.client, space.id, reader)
    assert.equal((await space.client.delete(`${SHARE}${link}/`)).status, 200)
    held.open()
    for (const token of [running, waiting, visited]) {
      assert.equal(await statusOf(space.client, token), 404)
      assert.equal((await fetchArchive(server, token)).status, 403)
    }
    const own = await startArchive(space.client, space.id, '/', ['a'])
    await waitForArchive(space.client, own)
    assert.equal((await archiveFiles(server)).length, before.length + 1)
  })
})

describe('the disk space of archives', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ env: { CARREL_ARCHIVE_SPACE_MB: '2' } })
  })
  after(() => server[Symbol.asyncDispose]())

  it('is limited: downloaded archives are evicted first, others are kept, and requesters share it fairly', async () => {
    const [space, other] = [await Workspace.make(server), await Workspace.make(server)]
    for (const { client, id } of [space, other])
      for (const name of ['one', 'two']) await storeFile(server, client, id, `/${name}`, randomBytes(800_000))
    const first = await startArchive(space.client, space.id, '/', ['one'])
    await waitForArchive(space.client, first)
    assertBusy(await ask(space.client, space.id, ['two']))
    const others = await startArchive(other.client, other.id, '/', ['one'])
    assert.equal((await waitForArchive(other.client, others)).zipped, 1)
    await (await fetchArchive(server, first)).arrayBuffer()
    const second = await startArchive(space.client, space.id, '/', ['two'])
    assert.equal((await waitForArchive(space.client, second)).zipped, 1)
    assert.equal(await statusOf(space.client, first), 404)
    assert.equal((await archiveFiles(server)).length, 2)
    // An archive that can never fit is rejected instead of queued.
    const both = await startArchive(space.client, space.id, '/', ['one', 'two'])
    assert.equal((await waitForArchive(space.client, both)).failed_reason, 'size too large')
    assert.equal((await archiveFiles(server)).length, 2)
  })
})
