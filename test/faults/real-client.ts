import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { SeafClient, treeOf } from '../support/seaf-client.ts'
import { ADMIN } from '../support/server.ts'
import { download, hashOf, namesOf, sendFile } from '../support/workload.ts'
import type { Attempts } from './attempts.ts'
import type { Writer } from './writers.ts'

const LARGEST = 300_000
/** The client looks for changes every few seconds, and waits for half a minute after some errors. */
const VERIFY_MS = 240_000
const LOOK_MS = 300

/**
 * A real desktop client (`seaf-cli`) with one library. Files are written into its folder and have to arrive at the server, and others are uploaded and have
 * to arrive in its folder. It reaches the nodes through a proxy, as it knows one address only.
 */
export class RealClient implements Writer {
  readonly kind = 'real client'
  readonly #client: SeafClient
  readonly #library: string
  readonly #folder: string
  readonly #random: () => number
  readonly #opened: AsyncDisposableStack
  /** Files in its folder, and those that were uploaded and acknowledged, with the hash of their bytes. */
  readonly #written = new Map<string, string>()
  readonly #uploaded = new Map<string, string>()
  /** Uploads without a response. They may have been carried out. */
  readonly #uncertain = new Map<string, string>()

  private constructor(options: {
    client: SeafClient
    library: string
    folder: string
    random: () => number
    opened: AsyncDisposableStack
  }) {
    this.#client = options.client
    this.#library = options.library
    this.#folder = options.folder
    this.#random = options.random
    this.#opened = options.opened
  }

  static async create(
    program: string,
    client: Client,
    url: string,
    random: () => number,
  ): Promise<RealClient> {
    await using opened = new AsyncDisposableStack()
    const root = await mkdtemp(path.join(os.tmpdir(), 'carrel-faults-client-'))
    opened.defer(() => rm(root, { recursive: true, force: true }))
    const library = await client.createLibrary()
    const seaf = opened.use(await SeafClient.start(program, path.join(root, 'client'), { url, ...ADMIN }))
    const folder = path.join(root, 'synced')
    await mkdir(folder)
    await seaf.join(library, folder)
    return new RealClient({ client: seaf, library, folder, random, opened: opened.move() })
  }

  async write(attempts: Attempts): Promise<void> {
    const count = this.#written.size + this.#uploaded.size + this.#uncertain.size
    const bytes = randomBytes(1 + Math.floor(this.#random() ** 2 * LARGEST))
    if (count % 2 === 0) await this.#push(attempts, `ours ${count}`, bytes)
    else await this.#pull(attempts, `theirs ${count}`, bytes)
  }

  async #push(attempts: Attempts, name: string, bytes: Buffer): Promise<void> {
    this.#written.set(name, hashOf(bytes))
    await writeFile(path.join(this.#folder, name), bytes)
    // Whenever it arrives, it has to be there in the end. Until then a fault explains that it is not.
    await this.#until(attempts, async () =>
      assert.ok((await attempts.once((client) => namesOf(client, this.#library))).includes(name)),
    )
  }

  async #pull(attempts: Attempts, name: string, bytes: Buffer): Promise<void> {
    this.#uncertain.set(name, hashOf(bytes))
    await attempts.once((client) => sendFile(client, this.#library, name, bytes))
    this.#uncertain.delete(name)
    this.#uploaded.set(name, hashOf(bytes))
    await this.#until(attempts, async () =>
      assert.equal(hashOf(await readFile(path.join(this.#folder, name))), hashOf(bytes)),
    )
  }

  /** Polls until the check passes. When the load stops, what is still on its way is left to the verification. */
  async #until(attempts: Attempts, check: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await check()
      } catch {
        if (attempts.isStopped) return
      }
      await delay(LOOK_MS)
    }
  }

  /** Its folder and the server have the same files, all of them with their bytes, and no copies because of conflicts. */
  async verify(attempts: Attempts): Promise<void> {
    const deadline = performance.now() + VERIFY_MS
    for (;;) {
      try {
        return await this.#compare(attempts)
      } catch (error) {
        if (performance.now() > deadline) {
          throw new Error(`the real client: ${await this.#client.report()}`, { cause: error })
        }
      }
      await delay(LOOK_MS)
    }
  }

  async #compare(attempts: Attempts): Promise<void> {
    const names = await attempts.repeatedly((client) => namesOf(client, this.#library))
    const uncertain = [...this.#uncertain].filter(([name]) => names.includes(name))
    const expected = Object.fromEntries([...this.#written, ...this.#uploaded, ...uncertain])
    const local = await treeOf(this.#folder)
    assert.deepEqual(Object.keys(local).toSorted(), Object.keys(expected).toSorted())
    assert.deepEqual(names.toSorted(), Object.keys(expected).toSorted())
    for (const [name, hash] of Object.entries(expected)) {
      assert.equal(hashOf(await readFile(path.join(this.#folder, name))), hash, `${name} in the folder`)
      const bytes = await attempts.repeatedly((client) => download(client, this.#library, name))
      assert.equal(hashOf(bytes), hash, `${name} at the server`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync()
  }
}
