import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { blockIdOf, blockStoreContract } from '../../../../test/support/block-store.contract.ts'
import { type BlockId, parseBlockId } from '../../../base/objects/ids.ts'
import { BlockDamaged, BlockMismatch, BlockMissing, BlockStoreError, readWhole } from '../block-store.ts'
import { type DiskImplementation, openDiskBlockStore } from './disk-block-store.ts'

const root = mkdtempSync(path.join(tmpdir(), 'carrel-blocks-'))
after(() => rm(root, { recursive: true }))

let stores = 0
const newDirectory = () => path.join(root, `store-${stores++}`)
const fileOf = (directory: string, id: BlockId) => path.join(directory, id.slice(0, 2), id.slice(2))
const leftovers = (directory: string) => readdir(path.join(directory, 'tmp'))

for (const implementation of ['plain', 'fast'] as const) {
  blockStoreContract(`the ${implementation} disk store`, () =>
    openDiskBlockStore({ directory: newDirectory(), implementation }),
  )
  diskContract(implementation)
}

/** The contract of both disk stores beyond the block store contract. */
function diskContract(implementation: DiskImplementation) {
  const openStore = (options: { directory: string; shared?: boolean }) =>
    openDiskBlockStore({ ...options, implementation })

  describe(`the ${implementation} disk store`, () => {
    it('keeps the last chunk of a borrowed read valid until the next request', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const [first, second] = [randomBytes(3 * 2 ** 20 + 5), randomBytes(6 * 2 ** 20)]
      for (const bytes of [first, second]) {
        const id = blockIdOf(bytes)
        await store.put(id, bytes)
        // A changed mtime makes the store verify it again.
        await utimes(fileOf(directory, id), 1_600_000_000, 1_600_000_000)
      }
      let at = 0
      for await (const chunk of store.read(blockIdOf(first), undefined, { lend: true })) {
        // Other reads run in between.
        for await (const other of store.read(blockIdOf(second), undefined, { lend: true })) void other
        assert.ok(chunk.equals(first.subarray(at, at + chunk.length)), `from byte ${at} on`)
        at += chunk.length
      }
      assert.equal(at, first.length)
    })

    it('creates files and folders that only their owner may read', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const bytes = randomBytes(1000)
      await store.put(blockIdOf(bytes), bytes)
      const file = fileOf(directory, blockIdOf(bytes))
      assert.ok((await readFile(file)).equals(bytes))
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      for (const folder of [directory, path.dirname(file), path.join(directory, 'tmp')]) {
        assert.equal((await stat(folder)).mode & 0o777, 0o700, folder)
      }
    })

    it('still has its blocks when it is opened again', async () => {
      const directory = newDirectory()
      const bytes = randomBytes(1000)
      {
        await using store = await openStore({ directory })
        await store.put(blockIdOf(bytes), bytes)
      }
      await using store = await openStore({ directory })
      assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('leaves no temp file, whether a put succeeds or fails', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const bytes = randomBytes(3_000_000)
      async function* failing() {
        yield bytes
        throw new Error('the client went away')
      }
      await store.put(blockIdOf(bytes), bytes)
      await assert.rejects(store.put(blockIdOf(Buffer.of(1)), bytes), BlockMismatch)
      await assert.rejects(store.put(blockIdOf(Buffer.of(2)), failing()), /went away/)
      assert.deepEqual(await leftovers(directory), [])
    })

    it('removes temp files of a crash at the next start, unless it is shared', async () => {
      const directory = newDirectory()
      await (await openStore({ directory }))[Symbol.asyncDispose]()
      await writeFile(path.join(directory, 'tmp', 'half-a-block'), 'half')
      await using _second = await openStore({ directory, shared: true })
      assert.deepEqual(await leftovers(directory), ['half-a-block'])
      await using store = await openStore({ directory })
      assert.deepEqual(await leftovers(directory), [])
      assert.deepEqual(await Array.fromAsync(store.list()), [])
    })

    const damages: [name: string, damage: (file: string, bytes: Buffer) => Promise<void>][] = [
      ['is truncated', (file, bytes) => truncate(file, bytes.length - 1)],
      ['is emptied', (file) => truncate(file, 0)],
      ['has grown', (file) => writeFile(file, 'x', { flag: 'a' })],
      [
        'has one bit changed',
        (file, bytes) => {
          const altered = Buffer.from(bytes)
          altered.writeUInt8(altered.readUInt8(10) ^ 1, 10)
          return writeFile(file, altered)
        },
      ],
    ]
    for (const [name, damage] of damages) {
      for (const size of [1000, 3_000_000]) {
        it(`reports damage and never returns the whole block when a file of ${size} bytes ${name}`, async () => {
          const directory = newDirectory()
          await using store = await openStore({ directory })
          const bytes = randomBytes(size)
          const id = blockIdOf(bytes)
          await store.put(id, bytes)
          await damage(fileOf(directory, id), bytes)
          let given = 0
          const reading = async () => {
            for await (const chunk of store.read(id)) given += chunk.length
          }
          await assert.rejects(reading, (error) => error instanceof BlockDamaged && error.id === id)
          assert.ok(given < size)
        })
      }
    }

    for (const size of [1000, 3_000_000]) {
      it(`returns no range of a file of ${size} bytes that was damaged after a successful read`, async () => {
        const directory = newDirectory()
        await using store = await openStore({ directory })
        const bytes = randomBytes(size)
        const id = blockIdOf(bytes)
        await store.put(id, bytes)
        const range = { start: 100, end: 200 }
        const readRange = async () => Buffer.concat(await Array.fromAsync(store.read(id, range)))
        for (const _ of [1, 2]) assert.ok((await readRange()).equals(bytes.subarray(100, 200)))
        const altered = Buffer.from(bytes)
        altered.writeUInt8(altered.readUInt8(500) ^ 1, 500)
        await writeFile(fileOf(directory, id), altered)
        await assert.rejects(readRange, BlockDamaged)
        await assert.rejects(readWhole(store, id), BlockDamaged)
        await writeFile(fileOf(directory, id), bytes)
        assert.ok((await readRange()).equals(bytes.subarray(100, 200)))
        await rm(fileOf(directory, id))
        await assert.rejects(readRange, BlockMissing)
        await store.put(id, bytes)
        assert.ok((await readRange()).equals(bytes.subarray(100, 200)))
        await store.retire(id)
        await store.discard(id)
        await assert.rejects(readRange, BlockMissing)
      })
    }

    for (const [name, damage] of damages) {
      it(`readAtOnce returns nothing of a file that ${name} after a successful read`, async () => {
        const directory = newDirectory()
        await using store = await openStore({ directory })
        const bytes = randomBytes(200_000)
        const id = blockIdOf(bytes)
        await store.put(id, bytes)
        const ranges = [
          { start: 0, end: bytes.length },
          { start: 100, end: 70_000 },
        ]
        const readBoth = () => Promise.all(ranges.map((range) => store.readAtOnce(id, range)))
        for (const { bytes: read, release } of await readBoth()) {
          assert.ok(bytes.includes(read))
          release?.()
        }
        await damage(fileOf(directory, id), bytes)
        for (const range of ranges) await assert.rejects(store.readAtOnce(id, range), BlockDamaged)
        await rm(fileOf(directory, id))
        for (const range of ranges) await assert.rejects(store.readAtOnce(id, range), BlockMissing)
        await store.put(id, bytes)
        assert.equal((await readBoth()).length, 2)
      })
    }

    it('serves many concurrent readers from pooled buffers', async () => {
      await using store = await openStore({ directory: newDirectory() })
      const blocks = Array.from({ length: 4 }, () => randomBytes(5_000_001))
      for (const bytes of blocks) await store.put(blockIdOf(bytes), bytes)
      const reading = async (bytes: Buffer, start: number) => {
        const copies: Buffer[] = []
        const range = start === 0 ? undefined : { start, end: bytes.length }
        // More readers than the pool has buffers.
        for await (const chunk of store.read(blockIdOf(bytes), range, { lend: true })) {
          copies.push(Buffer.from(chunk))
        }
        assert.ok(Buffer.concat(copies).equals(bytes.subarray(start)))
      }
      const readers = Array.from({ length: 60 }, (_, index) =>
        reading(blocks[index % 4] ?? Buffer.of(), index % 3),
      )
      await Promise.all(readers)
      await Promise.all(blocks.map((bytes) => reading(bytes, 0)))
    })

    it('reads new blocks of any length repeatedly and concurrently', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const blocks = await Promise.all(
        [2 ** 20, 2 ** 20 + 1, 2 ** 21 + 4095, 3 * 2 ** 20 + 4096, 5 * 2 ** 20 + 4097].map(async (size) => {
          const bytes = randomBytes(size)
          const writer = store.begin()
          await writer.write(bytes)
          await (await writer.finish(blockIdOf(bytes))).keep()
          return bytes
        }),
      )
      const readLent = async (bytes: Buffer, readers = 1) => {
        let at = 0
        for await (const chunk of store.read(blockIdOf(bytes), undefined, { lend: true })) {
          assert.ok(
            chunk.equals(bytes.subarray(at, at + chunk.length)),
            `${bytes.length} bytes, from ${at} on`,
          )
          at += chunk.length
          // Start other readers before this one is done.
          if (readers > 1) await readLent(bytes, readers - 1)
        }
        assert.equal(at, bytes.length)
      }
      for (let time = 0; time < 8; time += 1) await Promise.all(blocks.map((bytes) => readLent(bytes)))
      for (const bytes of blocks) await readLent(bytes, 3)
    })

    it('reports damage of a new block that was changed or truncated', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const bytes = randomBytes(3 * 2 ** 20 + 5)
      const id = blockIdOf(bytes)
      const damage = {
        changed: () => writeFile(fileOf(directory, id), Buffer.from(bytes).fill((bytes[7] ?? 0) ^ 1, 7, 8)),
        truncated: () => truncate(fileOf(directory, id), 2 ** 21),
      }
      for (const [how, apply] of Object.entries(damage)) {
        const writer = store.begin()
        await writer.write(bytes)
        await (await writer.finish(id)).keep()
        const readLent = async () => {
          let given = 0
          for await (const chunk of store.read(id, undefined, { lend: true })) given += chunk.length
          return given
        }
        assert.equal(await readLent(), bytes.length)
        await apply()
        await assert.rejects(readLent, BlockDamaged, how)
      }
    })

    it('leaves no file open when readers stop early', { skip: process.platform !== 'linux' }, async () => {
      const directory = newDirectory()
      const open = async () => {
        const names = await readdir('/proc/self/fd')
        const files = await Promise.all(
          names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
        )
        // Without the folders, which stay open.
        return files.filter((file) => file.startsWith(directory) && /\/[0-9a-f]{38}/.test(file)).length
      }
      {
        await using store = await openStore({ directory })
        const ids: BlockId[] = []
        for (let count = 0; count < 100; count += 1) {
          const bytes = randomBytes(100)
          ids.push(blockIdOf(bytes))
          await store.put(blockIdOf(bytes), bytes)
        }
        for (const id of ids) {
          for await (const chunk of store.read(id)) if (chunk.length > 0) break
          for await (const chunk of store.read(id, { start: 1, end: 2 })) if (chunk.length > 0) break
        }
        assert.ok((await open()) <= 64)
      }
      assert.equal(await open(), 0)
    })

    it('repairs a damaged block by a put if its size is wrong or the bytes are streamed', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const bytes = randomBytes(1000)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      await truncate(fileOf(directory, id), 10)
      await store.put(id, bytes)
      assert.ok((await readWhole(store, id)).equals(bytes))
      await writeFile(fileOf(directory, id), randomBytes(1000))
      await store.put(
        id,
        (async function* () {
          yield bytes
        })(),
      )
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('ignores other files in its folders', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      await writeFile(path.join(directory, 'ab', 'notes.txt'), 'mine')
      assert.deepEqual(await Array.fromAsync(store.list()), [])
    })

    it('rejects a path that is not a folder, with one sentence', async () => {
      const directory = newDirectory()
      await writeFile(directory, 'a file')
      await assert.rejects(openStore({ directory }), (error) => {
        assert.ok(error instanceof BlockStoreError)
        assert.match(
          error.message,
          /^Blocks cannot be kept in .* \(E\w+\): make it a folder this account may write to\.$/,
        )
        return true
      })
    })

    it('reports the cause when the disk refuses a block', async () => {
      const directory = newDirectory()
      await using store = await openStore({ directory })
      const bytes = randomBytes(1000)
      const id = blockIdOf(bytes)
      // A folder in place of the file makes the rename fail, even for root.
      await mkdir(path.join(fileOf(directory, id), 'in-the-way'), { recursive: true })
      await assert.rejects(store.put(id, bytes), (error) => {
        assert.ok(error instanceof BlockStoreError && error.cause instanceof Error)
        assert.match(error.message, /could not be stored \(E\w+\)\.$/)
        return true
      })
      assert.deepEqual(await leftovers(directory), [])
    })

    it('keeps acknowledged blocks when the process is killed', async () => {
      const directory = newDirectory()
      const script = `
      import { createHash, randomBytes } from 'node:crypto'
      import { openDiskBlockStore } from ${JSON.stringify(path.join(import.meta.dirname, 'disk-block-store.ts'))}
      const store = await openDiskBlockStore({ directory: process.argv[1], implementation: process.argv[2] })
      const forever = async () => {
        for (;;) {
          const bytes = randomBytes(300_000)
          const id = createHash('sha1').update(bytes).digest('hex')
          await store.put(id, bytes)
          console.log(id)
        }
      }
      await Promise.all([forever(), forever(), forever(), forever()])
    `
      const child = spawn(
        process.execPath,
        ['--input-type=module', '-e', script, directory, implementation],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const exited = once(child, 'exit')
      const acknowledged: BlockId[] = []
      for await (const line of createInterface({ input: child.stdout })) {
        const id = parseBlockId(line)
        if (id !== undefined) acknowledged.push(id)
        if (acknowledged.length === 30) child.kill('SIGKILL')
      }
      await exited
      assert.ok(acknowledged.length >= 30)
      await using store = await openStore({ directory })
      for (const id of acknowledged) assert.equal((await readWhole(store, id)).length, 300_000)
      assert.deepEqual(await leftovers(directory), [])
    })
  })
}
