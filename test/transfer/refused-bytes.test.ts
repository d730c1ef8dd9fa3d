import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import path from 'node:path'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import {
  BOUNDARY,
  eventually,
  expectNothingLeft,
  formBytes,
  intoRoot,
  postForm,
  updateLink,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'
import { DavClient } from '../webdav/dav-client.ts'

const MB = 1_000_000
const PASSWORD = 'quiet-harbour-31'
const FORM_END = `\r\n--${BOUNDARY}--\r\n`

const setQuota = (server: TestServer, user: Client, quota: number) =>
  server.running.services.accounts.update(user.email, { quota }, undefined)

/** Bytes of all blocks that have names. */
async function namedBytes(server: TestServer): Promise<number> {
  let bytes = 0
  const blocks = path.join(server.data, 'blocks')
  for (const folder of (await readdir(blocks)).filter((name) => name.length === 2)) {
    for (const name of await readdir(path.join(blocks, folder))) {
      bytes += (await stat(path.join(blocks, folder, name))).size
    }
  }
  return bytes
}

function chunkOf(
  link: string,
  parts: Parameters<typeof postForm>[1],
  start: number,
  end: number,
  total: number,
) {
  return postForm(link, parts, {
    headers: {
      'Content-Range': `bytes ${start}-${end - 1}/${total}`,
      'Content-Disposition': 'attachment; filename="a.bin"',
    },
  })
}

// Blocks of a refused upload had got names, and stayed until garbage collection found them.
describe('a refused upload leaves no bytes', () => {
  it('if the file is locked', async () => {
    await using server = await startServer()
    const client = await server.signUp({ password: PASSWORD })
    const space = await Workspace.make(server, client)
    const { id } = space
    await uploadFile(client, id, '/a.bin', 'old')
    await space.lockFor('/a.bin', await server.signUp())
    const into = await uploadLink(client, id)
    const over = await updateLink(client, id)
    const dav = new DavClient(server.url, client.email, PASSWORD)
    const bytes = () => randomBytes(MB)
    const file = () => ({ filename: 'a.bin', bytes: bytes() })
    const target = ['target_file', '/a.bin'] as [string, string]
    const replace = ['replace', '1'] as [string, string]
    const refusals: [status: number, way: string, send: () => Promise<Reply>][] = [
      [403, 'an upload', () => postForm(into, [intoRoot, replace, file()])],
      [403, 'an upload with its folder at the end', () => postForm(into, [file(), replace, intoRoot])],
      [403, 'an update', () => postForm(over, [target, file()])],
      [403, 'an update with its target at the end', () => postForm(over, [file(), target])],
      [403, 'a chunk', () => chunkOf(into, [intoRoot, replace, file()], 0, MB, 2 * MB)],
      [403, 'a chunk of an update', () => chunkOf(over, [target, file()], 0, MB, 2 * MB)],
      [403, 'the last chunk', () => chunkOf(into, [file(), replace, intoRoot], 0, MB, MB)],
      [423, 'a PUT', () => dav.put('/dav/Plans/a.bin', bytes())],
    ]
    const before = await namedBytes(server)
    for (const [status, way, send] of refusals) {
      const reply = await send()
      assert.equal(reply.status, status, `${way}: ${reply.text}`)
      assert.equal(await namedBytes(server), before, way)
    }
    await expectNothingLeft(server)
  })

  it('if the library is full, or the file is locked while it arrives', async () => {
    await using server = await startServer({ env: { CARREL_MAX_LIBRARY_ENTRIES: '1' } })
    const space = await Workspace.make(server)
    await uploadFile(space.client, space.id, '/a.bin', 'old')
    const link = await uploadLink(space.client, space.id)
    const full = await postForm(link, [intoRoot, { filename: 'b.bin', bytes: randomBytes(MB) }])
    assert.deepEqual([full.status, full.body], [400, { error: 'Too many files in library.' }])
    const replaced = new Running(server, link, [['replace', '1']])
    await replaced.send(4 * MB)
    await space.lockFor('/a.bin', await server.signUp())
    assert.equal(await replaced.end(), 403)
    assert.equal(await namedBytes(server), 0)
    await expectNothingLeft(server)
  })

  it('if a chunk exceeds the quota with those of another file', async () => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const link = await uploadLink(space.client, space.id)
    await setQuota(server, space.client, 2 * MB)
    const statuses: number[] = []
    for (let count = 0; count < 10; count += 1) {
      const part = { filename: 'a.bin', bytes: randomBytes(1.5 * MB) }
      const headers = {
        'Content-Range': `bytes 0-${1.5 * MB - 1}/${1.6 * MB}`,
        'Content-Disposition': `attachment; filename="${count}.bin"`,
      }
      statuses.push((await postForm(link, [intoRoot, part], { headers })).status)
    }
    assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 443)])
    assert.equal(await namedBytes(server), 1.5 * MB)
  })

  it('or they stay reserved until garbage collection has freed them', async (t) => {
    await using server = await startServer()
    const space = await Workspace.make(server)
    const link = await uploadLink(space.client, space.id)
    await setQuota(server, space.client, 5 * MB)
    const { core, db } = server.running.services
    // The right ends between the rehearsal of the commit and the commit.
    const guard = core.growth.guard ?? assert.fail('there is a guard')
    t.mock.method(guard, 'check', () => Promise.reject(new Error('refused')))
    const parts = [intoRoot, { filename: 'a.bin', bytes: randomBytes(2 * MB) }]
    assert.equal((await postForm(link, parts)).status, 500)
    const rows = await db.all<{ bytes: number }>('select bytes from quota_reservation')
    assert.deepEqual(rows, [{ bytes: 2 * MB }])
    assert.equal(
      (await postForm(link, [intoRoot, { filename: 'b', bytes: Buffer.alloc(4 * MB) }])).status,
      443,
    )
  })
})

/** An upload of unknown length that is under way. */
class Running {
  readonly status: Promise<number>
  readonly #request: ClientRequest
  readonly #server: TestServer
  #sent = 0
  #isAnswered = false

  constructor(server: TestServer, link: string, texts: [string, string][] = []) {
    this.#server = server
    const headers = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }
    this.#request = request(link, { method: 'POST', headers })
    this.status = new Promise((resolve) => {
      this.#request.on('response', (response) => {
        this.#isAnswered = true
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      // The server closes the connection of a refused body.
      this.#request.on('error', () => {})
    })
    const form = formBytes([intoRoot, ...texts, { filename: 'a.bin', bytes: '' }])
    this.#request.write(form.subarray(0, -FORM_END.length))
  }

  /** Sends so many bytes, and waits until they have arrived, but for what is buffered, or the server has answered. */
  async send(bytes: number): Promise<void> {
    const before = await this.#arrived()
    this.#sent += bytes
    this.#request.write(randomBytes(bytes))
    await eventually(async () => {
      assert.ok(
        this.#isAnswered || (await this.#arrived()) >= before + bytes - 1.5 * MB,
        `${this.#sent} have not arrived`,
      )
    })
  }

  end(): Promise<number> {
    this.#request.end(FORM_END)
    return this.status
  }

  abort(): void {
    this.#request.destroy()
  }

  async #arrived(): Promise<number> {
    const folder = path.join(this.#server.data, 'blocks/tmp')
    let bytes = 0
    for (const name of await readdir(folder)) {
      bytes += (await stat(path.join(folder, name)).catch(() => undefined))?.size ?? 0
    }
    return bytes
  }
}

// Each had been compared with what was left when it began.
describe('running uploads of unknown length', () => {
  it('exceed the quota neither alone nor together', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await setQuota(server, user, 10 * MB)
    const first = new Running(server, link)
    await first.send(6 * MB)
    const others = Array.from({ length: 4 }, () => new Running(server, link))
    for (const other of others) await other.send(5 * MB)
    assert.deepEqual(await Promise.all(others.map((other) => other.status)), [443, 443, 443, 443])
    // It still fits, and those that were refused have released what they had reserved.
    await first.send(3 * MB)
    assert.equal(await first.end(), 200)
    await eventually(() => expectNothingLeft(server))
  })

  it('of blocks of a sync client do not, either', async () => {
    await using server = await startServer()
    const user = await server.signUp()
    const library = await user.createLibrary()
    const { token } = await SyncClient.link(user, library)
    await setQuota(server, user, 10 * MB)
    const putBlock = () => {
      const url = `${server.url}/seafhttp/repo/${library}/block/${randomBytes(20).toString('hex')}`
      const sending = request(url, { method: 'PUT', headers: { 'Seafile-Repo-Token': token } })
      sending.on('error', () => {})
      return sending
    }
    const held = putBlock()
    held.write(randomBytes(6 * MB))
    const tmp = path.join(server.data, 'blocks/tmp')
    await eventually(async () => {
      const sizes = await Promise.all((await readdir(tmp)).map((name) => stat(path.join(tmp, name))))
      assert.ok(sizes.some(({ size }) => size > 5 * MB))
    })
    const second = putBlock()
    const status = new Promise((resolve) => second.on('response', ({ statusCode }) => resolve(statusCode)))
    second.write(randomBytes(6 * MB))
    assert.equal(await status, 443)
    held.destroy()
    second.destroy()
    await eventually(async () => assert.deepEqual(await readdir(tmp), []))
  })
})
