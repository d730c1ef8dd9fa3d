import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrelProcess } from '../support/command.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, postForm, uploadLink } from '../support/transfer.ts'

const IMAGE_BYTES = 96_000_000

/** A file system of its own in a file, which the kernel can make read-only as it does after an error of a disk. */
class LoopDisk implements Disposable {
  readonly data: string
  readonly #image: string

  private constructor(image: string, data: string) {
    this.#image = image
    this.data = data
  }

  /** Undefined if this machine does not permit it. */
  static async create(folder: string, at: string): Promise<LoopDisk | undefined> {
    const [image, data] = [path.join(folder, 'image'), path.join(folder, at)]
    await writeFile(image, '')
    await truncate(image, IMAGE_BYTES)
    await mkdir(data, { recursive: true })
    const disk = new LoopDisk(image, data)
    return run('mkfs.ext4', '-q', '-F', image) && disk.mount() ? disk : undefined
  }

  mount(): boolean {
    return run('mount', '-o', 'loop', this.#image, this.data)
  }

  /** As the kernel does when it finds an error: nothing can be written any more, open files included. */
  turnReadOnly(): void {
    assert.ok(run('mount', '-o', 'remount,abort', this.data))
  }

  /** What an operator does: unmounts, checks, mounts. */
  async repair(): Promise<void> {
    assert.ok(run('umount', this.data))
    // A mount namespace that another test made meanwhile has a copy of the mount. Until it ends, a second mount would be the one that is read-only.
    await eventually(async () => {
      const { status, stdout } = spawnSync('losetup', ['--associated', this.#image], { encoding: 'utf8' })
      assert.deepEqual([status, stdout], [0, ''])
    })
    // 1: errors were corrected.
    assert.ok([0, 1].includes(spawnSync('fsck.ext4', ['-p', '-f', this.#image]).status ?? 8))
    assert.ok(this.mount())
  }

  [Symbol.dispose](): void {
    run('umount', '-l', this.data)
  }
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}

/** A client of a library, which remembers what was acknowledged. */
class Writer {
  readonly kept = new Map<string, Buffer>()
  library = ''

  async start(url: string): Promise<void> {
    this.library = await (await this.signIn(url)).createLibrary('Papers')
  }

  signIn(url: string): Promise<Client> {
    return Client.signIn(url, ADMIN.email, ADMIN.password)
  }

  /** The status; undefined if the server hung up. */
  async send(link: string, name: string, size: number): Promise<number | undefined> {
    const bytes = randomBytes(size)
    try {
      const { status } = await postForm(link, [['parent_dir', '/'], { filename: name, bytes }])
      if (status === 200) this.kept.set(name, bytes)
      return status
    } catch {
      return undefined
    }
  }

  async expectAll(client: Client): Promise<void> {
    for (const [name, bytes] of this.kept) {
      const { body, status, text } = await client.get(`/api2/repos/${this.library}/file/`, { p: `/${name}` })
      assert.equal(status, 200, text)
      assert.ok(Buffer.from(await (await fetch(body)).arrayBuffer()).equals(bytes), name)
    }
  }
}

const SIZES = [1000, 70_000, 3_000_000]

it('a file system of all data that turns read-only acknowledges nothing more, and loses nothing', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-read-only-'))
  try {
    using disk = await LoopDisk.create(folder, 'data')
    if (disk === undefined) return t.skip('a loop device cannot be mounted here (needs root)')
    const writer = new Writer()
    {
      await using server = await spawnServer(disk.data, { CARREL_LOG: 'silent' })
      await writer.start(server.url)
      const link = await uploadLink(await writer.signIn(server.url), writer.library)
      for (const size of SIZES) assert.equal(await writer.send(link, `${size}.bin`, size), 200)
      disk.turnReadOnly()
      for (const size of SIZES) {
        const status = await writer.send(link, `no-${size}.bin`, size)
        assert.ok(status === undefined || status === 503, String(status))
      }
      // A failed flush is final: the process ends. Without one it reports the disk.
      const ready = await fetch(`${server.url}/readyz`).then(
        ({ status }) => status,
        () => undefined,
      )
      assert.ok(ready === undefined || ready === 503, String(ready))
    }
    const { code, stderr } = await carrelProcess(['serve', '--port', '0', '--data', disk.data], {
      env: { CARREL_UNSAFE_STORAGE: 'allow' },
    })
    assert.equal(code, 1)
    assert.match(stderr, /^(?:Cannot write \S+, because its file system is read-only|The database cannot be)/)
    await disk.repair()
    await using server = await spawnServer(disk.data)
    const client = await writer.signIn(server.url)
    await writer.expectAll(client)
    const link = await uploadLink(client, writer.library)
    assert.equal(await writer.send(link, 'again.bin', 70_000), 200)
    await writer.expectAll(client)
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    assert.equal(await server.stop(), 0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

it('a file system of blocks that turns read-only is reported, small files can be written, and all can be read', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-read-only-'))
  try {
    using disk = await LoopDisk.create(folder, 'data/blocks')
    if (disk === undefined) return t.skip('a loop device cannot be mounted here (needs root)')
    const data = path.join(folder, 'data')
    const env = { CARREL_LOG: 'silent' }
    const writer = new Writer()
    {
      await using server = await spawnServer(data, env)
      await writer.start(server.url)
      const client = await writer.signIn(server.url)
      const link = await uploadLink(client, writer.library)
      for (const size of SIZES) assert.equal(await writer.send(link, `${size}.bin`, size), 200)
      const shared = { repo_id: writer.library, path: '/3000000.bin' }
      const share = (await client.post('/api/v2.1/share-links/', { json: shared })).body.link
      disk.turnReadOnly()
      assert.equal(await writer.send(link, 'no.bin', 3_000_000), 503)
      const ready = await fetch(`${server.url}/readyz`)
      assert.deepEqual(
        [ready.status, ((await ready.json()) as { checks: object }).checks],
        [503, { database: 'ok', disk: 'unwritable', writers: 'ok' }],
      )
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
      assert.equal(await writer.send(link, 'small.bin', 1000), 200)
      await writer.expectAll(client)
      assert.equal((await fetch(`${share}?dl=1`)).status, 200)
      assert.equal(await server.stop(), 0)
    }
    await disk.repair()
    await using server = await spawnServer(data, env)
    const client = await writer.signIn(server.url)
    assert.equal(await writer.send(await uploadLink(client, writer.library), 'again.bin', 3_000_000), 200)
    await writer.expectAll(client)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
