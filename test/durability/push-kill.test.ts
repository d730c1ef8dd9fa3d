import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient, type TreeSpec } from '../support/sync-client.ts'

const KILLS = Number(process.env['CARREL_TEST_KILLS'] ?? 3)
const CLIENTS = 4

/** One device: what it pushed, and the part of it that was answered. */
interface Device {
  readonly folder: Record<string, string | Buffer>
  readonly acknowledged: Map<string, string | Buffer>
  parent: string | undefined
  /** What it ever tried to push: a name is used once, for what was cut off may be there all the same. */
  tries: number
}

it(`killed ${KILLS} times under pushes, no acknowledged push is lost and every head is complete`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const random = seededRandom(seed)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-push-kill-'))
  const devices = Array.from({ length: CLIENTS }, (): Device => {
    return { folder: {}, acknowledged: new Map(), parent: undefined, tries: 0 }
  })
  let library: string | undefined
  try {
    for (let round = 0; round <= KILLS; round++) {
      await using server = await spawnServer(data)
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      library ??= await client.createLibrary('Under fire')
      await checkHead(client, library, devices)
      assert.deepEqual(await readdir(path.join(data, 'blocks', 'tmp')), [], 'blocks that never came to be')
      if (round === KILLS) {
        assert.equal(await server.stop(), 0)
        break
      }
      await pushUntilKilled(server, client, library, devices, random)
    }
    const answered = devices.reduce((sum, device) => sum + device.acknowledged.size, 0)
    assert.ok(answered > 0, 'nothing was pushed')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

async function pushUntilKilled(
  server: ChildServer,
  client: Client,
  library: string,
  devices: readonly Device[],
  random: () => number,
): Promise<void> {
  const killed = new AbortController()
  let missing = 1 + Math.floor(random() * 30)
  const pushing = devices.map(async (device, n) => {
    const sync = await SyncClient.link(client, library)
    device.parent ??= await sync.head()
    while (!killed.signal.aborted) {
      const name = `file ${device.tries++}`
      const content = random() < 0.3 ? Buffer.alloc(100_000 + Math.floor(random() * 1e5), name) : name
      const folder = { ...device.folder, [name]: content }
      const spec: TreeSpec = { [`device ${n}`]: folder }
      try {
        device.parent = await sync.push(spec, device.parent)
        device.folder[name] = content
        device.acknowledged.set(name, content)
        // The others are in the middle of theirs.
        if (--missing > 0) continue
        killed.abort()
        server.process.kill('SIGKILL')
      } catch (error) {
        // Cut off: it may be there or not. Any other answer is a fault of the server's.
        if (!killed.signal.aborted) throw error
      }
    }
  })
  await Promise.all(pushing)
  await server.kill()
}

/** All that was answered is in the head, and all the head reaches hashes to its id. */
async function checkHead(client: Client, library: string, devices: readonly Device[]): Promise<void> {
  const sync = await SyncClient.link(client, library)
  const files = await sync.clone()
  for (const [n, { acknowledged }] of devices.entries()) {
    for (const [name, content] of acknowledged) {
      assert.deepEqual(files.get(`/device ${n}/${name}`), Buffer.from(content), `device ${n}, ${name}`)
    }
  }
  const detail = (await client.get(`/api2/repos/${library}/`)).body
  const there = [...files.values()].filter((bytes) => bytes !== null)
  assert.equal(detail.file_count, there.length)
  assert.equal(
    detail.size,
    there.reduce((sum, bytes) => sum + bytes.length, 0),
  )
}
