import assert from 'node:assert/strict'
import { type ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'

const PHOTOS = 160

/** The result of one thumbnail request. */
interface Fetched {
  readonly path: string
  readonly status: number
  readonly retryAfter: string | null
}

describe('many concurrent thumbnails', () => {
  let server: TestServer
  let space: Workspace
  const children: ChildProcess[] = []
  const remember = (message: unknown) => children.push((message as { process: ChildProcess }).process)
  before(async () => {
    subscribe('child_process', remember)
    server = await startServer()
    space = await Workspace.make(server)
    for (let n = 0; n < PHOTOS; n += 1) await uploadFile(space.client, space.id, `/${n}.png`, await photo(n))
  })
  after(async () => {
    unsubscribe('child_process', remember)
    await server[Symbol.asyncDispose]()
  })

  async function get(path: string): Promise<Fetched> {
    const url = `${server.url}${space.v2(`thumbnail/?p=${path}&size=48`)}`
    const response = await fetch(url, { headers: { Authorization: `Token ${space.client.token}` } })
    await response.arrayBuffer()
    return { path, status: response.status, retryAfter: response.headers.get('retry-after') }
  }

  it('are all created: a client that would wait too long is told to retry, and succeeds later', async () => {
    let missing = Array.from({ length: PHOTOS }, (_, n) => `/${n}.png`)
    for (let round = 0; round < 20 && missing.length > 0; round += 1) {
      const replies = await Promise.all(missing.map(get))
      const refused = replies.filter(({ status }) => status !== 200)
      for (const { path, status, retryAfter } of refused) {
        assert.equal(status, 503, path)
        assert.match(retryAfter ?? '', /^[1-9]\d*$/, path)
      }
      missing = refused.map(({ path }) => path)
    }
    assert.deepEqual(missing, [])
  })

  it('are created in worker processes: one that dies is replaced', async () => {
    // An idle worker process ends after a while, so one must be busy.
    await uploadFile(space.client, space.id, '/now.png', await photo(PHOTOS + 1))
    assert.equal((await get('/now.png')).status, 200)
    const child = children.find(
      ({ exitCode, signalCode, spawnargs }) =>
        exitCode === null && signalCode === null && spawnargs.some((text) => text.includes('image-worker')),
    )
    assert.ok(child, 'no process decodes images')
    child.kill('SIGKILL')
    await uploadFile(space.client, space.id, '/later.png', await photo(PHOTOS))
    assert.deepEqual(await get('/later.png'), { path: '/later.png', status: 200, retryAfter: null })
  })
})

/** A small unique image. */
function photo(n: number): Promise<Buffer> {
  const background = { r: n % 256, g: Math.floor(n / 256), b: 100 }
  return sharp({ create: { width: 160, height: 120, channels: 3, background } })
    .png()
    .toBuffer()
}
