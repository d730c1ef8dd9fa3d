import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { it, type TestContext } from 'node:test'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { PostgresUnavailable, startPostgres } from '../support/postgres.ts'
import { ADMIN } from '../support/server.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { eventually, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const MB = 1_000_000
const DISK_MB = 80
const RESERVE_MB = 8
const KB = 1000

type Server = ChildServer & { readonly client: Client }

/** Runs `work` with a small disk. */
function onSmallDisk(name: string, work: (disk: SmallDisk, t: TestContext) => Promise<void>): void {
  it(name, async (t: TestContext) => {
    await using disk = await mountSmallDisk(DISK_MB)
    if (disk === undefined) t.skip('a tmpfs cannot be mounted here (needs root)')
    else await work(disk, t)
  })
}

async function serve(disk: SmallDisk, env: Record<string, string> = {}): Promise<Server> {
  const settings = { CARREL_LOG: 'silent', CARREL_TEST_RESERVE_MB: String(RESERVE_MB), ...env }
  const server = await spawnServer(disk.folder, settings)
  return Object.assign(server, { client: await Client.signIn(server.url, ADMIN.email, ADMIN.password) })
}

const reserveOf = (disk: SmallDisk) => path.join(disk.folder, 'reserve')

async function reserved(disk: SmallDisk): Promise<void> {
  await eventually(async () => assert.equal((await stat(reserveOf(disk))).size, RESERVE_MB * MB))
}

function send(link: string, filename: string, size: number) {
  return postForm(link, [['parent_dir', '/'], { filename, bytes: randomBytes(size) }])
}

/** Fills the disk and writes until the reserve is released. */
async function fillUntilReleased(disk: SmallDisk, link: string): Promise<void> {
  await disk.fill()
  await eventually(async () => {
    await send(link, 'small.bin', 40 * KB)
    assert.ok(!existsSync(reserveOf(disk)))
  })
}

/** Everything that only frees, in the order in which users need it. */
async function deleteEverything(client: Client, library: string): Promise<void> {
  const at = `/api/v2.1/repos/${library}`
  const calls = [
    () => client.delete(`${at}/file/?p=/file.bin`),
    () => client.delete(`${at}/dir/?p=/folder`),
    () => client.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: '0' } }),
    () => client.delete(`${at}/trash/`),
    () => client.delete(`/api2/repos/${library}/`),
    () => client.delete('/api/v2.1/deleted-repos/'),
  ]
  for (const [step, call] of calls.entries()) {
    const { status, text } = await call()
    assert.equal(status, 200, `step ${step}: ${text}`)
  }
}

/** A library with a file and a folder. */
async function createFull(client: Client): Promise<{ library: string; link: string }> {
  const library = await client.createLibrary('Full')
  const link = await uploadLink(client, library)
  assert.equal((await send(link, 'file.bin', 2 * MB)).status, 200)
  const inFolder = [
    ['parent_dir', '/'],
    ['relative_path', 'folder'],
  ] as const
  const file = { filename: 'a.bin', bytes: randomBytes(MB) }
  assert.equal((await postForm(link, [...inFolder, file])).status, 200)
  return { library, link }
}

/** An upload that sends its body piece by piece. */
class SlowUpload {
  readonly #request: http.ClientRequest
  status: number | undefined

  constructor(link: string, name: string, size: number) {
    const before = `--b\r\nContent-Disposition: form-data; name="parent_dir"\r\n\r\n/\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
    const after = '\r\n--b--\r\n'
    this.#request = http.request(link, {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': before.length + size + after.length,
      },
    })
    this.#request.on('error', () => {})
    this.#request.on('response', (response) => {
      this.status = response.statusCode
      response.resume()
    })
    this.#request.write(before)
  }

  async send(size: number): Promise<void> {
    if (!this.#request.write(randomBytes(size))) await once(this.#request, 'drain')
  }

  end(): void {
    this.#request.destroy()
  }
}

onSmallDisk('uploads in progress do not take the space that is reserved for deleting', async (disk) => {
  await using server = await serve(disk)
  const { library, link } = await createFull(server.client)
  await reserved(disk)
  const links = await Promise.all(Array.from({ length: 12 }, () => uploadLink(server.client, library)))
  const uploads = links.map((one, number) => new SlowUpload(one, `slow-${number}.bin`, 20 * MB))
  await Promise.all(uploads.map((upload) => upload.send(KB)))
  await fillUntilReleased(disk, link)

  for (const upload of uploads) void upload.send(2 * MB).catch(() => {})
  await eventually(async () => {
    const isSettled = uploads.every(({ status }) => status !== undefined) || (await disk.free()) < MB
    assert.ok(isSettled)
  })
  assert.deepEqual(
    uploads.map(({ status }) => status),
    uploads.map(() => 507),
  )
  assert.ok((await disk.free()) > (RESERVE_MB * MB) / 2, `${await disk.free()} bytes are free`)
  for (const upload of uploads) upload.end()
  await deleteEverything(server.client, library)
  assert.equal(await server.stop(), 0)
})

onSmallDisk('users who fill a disk together can delete, and upload again afterwards', async (disk) => {
  await using server = await serve(disk, { CARREL_GC_GRACE_SECONDS: '0' })
  const { library } = await createFull(server.client)
  await reserved(disk)
  const sizes = [20 * KB, 200 * KB, 3 * MB, 900 * KB]
  const user = async (number: number) => {
    const link = await uploadLink(server.client, library)
    for (let n = 0; n < 200; n += 1) {
      const { status, text } = await send(
        link,
        `${number}-${n}.bin`,
        sizes[(n + number) % sizes.length] ?? KB,
      )
      if (status === 200) continue
      assert.equal(status, 507, text)
      assert.match(text, /no disk space left/)
      return
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, number) => user(number)))
  await deleteEverything(server.client, library)
  // The collection of the server frees the bytes.
  await eventually(async () => assert.deepEqual(await blockFiles(disk), []))
  await reserved(disk)
  const other = await server.client.createLibrary('Other')
  const link = await uploadLink(server.client, other)
  assert.equal((await send(link, 'again.bin', 20 * MB)).status, 200)
  assert.equal(await server.stop(), 0)
})

onSmallDisk('a server that starts on a full disk refuses uploads and lets users delete', async (disk) => {
  let library = ''
  {
    await using first = await serve(disk)
    const full = await createFull(first.client)
    library = full.library
    await reserved(disk)
    await fillUntilReleased(disk, full.link)
  }
  await using server = await serve(disk)
  const link = await uploadLink(server.client, library)
  const { status, text } = await send(link, 'more.bin', MB)
  assert.equal(status, 507, text)
  assert.match(text, /Deleting still works/)
  const state = (await (await fetch(`${server.url}/readyz`)).json()) as { checks: { disk: string } }
  assert.equal(state.checks.disk, 'full')
  await deleteEverything(server.client, library)
  await disk.empty()
  await reserved(disk)
  assert.equal(await server.stop(), 0)
})

onSmallDisk('a killed server starts on a disk without a free byte, and lets users delete', async (disk) => {
  let library = ''
  {
    await using first = await serve(disk)
    library = (await createFull(first.client)).library
    await reserved(disk)
    await first.kill()
  }
  await disk.fill()
  await using server = await serve(disk)
  await deleteEverything(server.client, library)
  assert.equal(await server.stop(), 0)
})

onSmallDisk('carrel gc frees space on a disk without a free byte', async (disk) => {
  {
    await using server = await serve(disk)
    const { library } = await createFull(server.client)
    await reserved(disk)
    await deleteEverything(server.client, library)
    assert.equal(await server.stop(), 0)
  }
  assert.notDeepEqual(await blockFiles(disk), [])
  await disk.fill()
  const collect = ['gc', '--data', disk.folder, '--gc-grace-seconds', '0']
  for (let run = 0; run < 6 && (await blockFiles(disk)).length > 0; run += 1) {
    const { code, stderr } = await carrel(collect)
    assert.equal(code, 0, stderr)
  }
  assert.deepEqual(await blockFiles(disk), [])
})

onSmallDisk(
  'all processes of a server refuse uploads once one of them has released the reserve',
  async (disk) => {
    await using server = await serve(disk, { CARREL_PROCESSES: '2' })
    const { library, link } = await createFull(server.client)
    await reserved(disk)
    assert.ok(!existsSync(path.join(disk.folder, 'reserve-2')))
    await fillUntilReleased(disk, link)
    for (let n = 0; n < 20; n += 1) {
      const headers = { Connection: 'close' }
      const parts = [['parent_dir', '/'], { filename: `${n}.bin`, bytes: randomBytes(40 * KB) }] as const
      const { status, text } = await postForm(link, [...parts], { headers })
      assert.equal(status, 507, text)
    }
    await deleteEverything(server.client, library)
    assert.equal(await server.stop(), 0)
  },
)

onSmallDisk('a deletion for which there is no space is not told that deleting works', async (disk) => {
  await using server = await serve(disk, { CARREL_TEST_RESERVE_MB: '0' })
  const { library } = await createFull(server.client)
  await disk.fill()
  await eventually(async () => {
    const { status, text } = await server.client.delete(`/api2/repos/${library}/`)
    assert.equal(status, 507, text)
    assert.match(text, /no disk space left/)
    assert.doesNotMatch(text, /Deleting still works/)
  })
  assert.deepEqual(await namesIn(server.client, library), ['file.bin', 'folder/'])
  await disk.empty()
  await deleteEverything(server.client, library)
  assert.equal(await server.stop(), 0)
})

onSmallDisk('blocks on a full disk can be deleted with PostgreSQL elsewhere', async (disk, t) => {
  await using postgres = await startPostgres({ fsync: false }).catch((error: unknown) => {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return undefined
  })
  if (postgres === undefined) return t.skip('PostgreSQL cannot be started here')
  await using server = await serve(disk, { CARREL_DATABASE: await postgres.createDatabase() })
  const { library, link } = await createFull(server.client)
  await reserved(disk)
  await disk.fill()
  // No write of the database finds the disk full. The server looks every 5 seconds.
  await eventually(async () => assert.ok(!existsSync(reserveOf(disk))))
  const { status, text } = await send(link, 'more.bin', MB)
  assert.equal(status, 507, text)
  assert.match(text, /Deleting still works/)
  await deleteEverything(server.client, library)
  assert.equal(await server.stop(), 0)
})

async function blockFiles(disk: SmallDisk): Promise<string[]> {
  const entries = await readdir(path.join(disk.folder, 'blocks'), { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) =>
    entry.isFile() && /^[0-9a-f]{38,40}$/.test(entry.name) ? entry.name : [],
  )
}
