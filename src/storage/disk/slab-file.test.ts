import assert from 'node:assert/strict'
import { randomFillSync } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { alignedSharedMemory } from './aligned-memory.ts'
import { SlabFile } from './slab-file.ts'

const root = mkdtempSync(path.join(tmpdir(), 'carrel-slabs-'))
after(() => rm(root, { recursive: true }))

const SLAB = 65_536

/** Writes memory slab by slab, all at once, as `length` bytes. */
async function written(name: string, memory: Buffer, length: number, isThere = true): Promise<Buffer> {
  const file = path.join(root, name)
  await using handle = await open(file, 'wx')
  {
    using slabs = await SlabFile.open(handle, isThere ? file : `${file}-gone`)
    const writes: Promise<void>[] = []
    for (let at = 0; at < length; at += SLAB) {
      writes.push(slabs.write(memory.subarray(at, Math.min(at + SLAB, length)), at))
    }
    await Promise.all(writes)
  }
  await handle.datasync()
  return readFile(file)
}

describe('a file written in slabs', () => {
  const memory = Buffer.from(alignedSharedMemory(4 * SLAB))
  randomFillSync(memory)

  it('holds what was written, wherever it ends', async () => {
    for (const length of [1, 4095, 4096, 4097, SLAB - 1, SLAB, SLAB + 1, 3 * SLAB + 4096 + 17, 4 * SLAB]) {
      const found = await written(`whole-${length}`, memory, length)
      assert.ok(found.equals(memory.subarray(0, length)), `${length} bytes`)
    }
  })

  it('does so too where nothing can be written past the cache', async () => {
    const elsewhere = Buffer.from(new SharedArrayBuffer(2 * SLAB + 8)).subarray(8)
    memory.copy(elsewhere)
    const length = 2 * SLAB - 100
    assert.ok((await written('unaligned', elsewhere, length)).equals(memory.subarray(0, length)))
    assert.ok((await written('unopened', memory, length, false)).equals(memory.subarray(0, length)))
  })

  it('says what went wrong', async () => {
    await using handle = await open(path.join(root, 'readable'), 'w')
    using slabs = await SlabFile.open(handle, path.join(root, 'readable'))
    await handle.close()
    await assert.rejects(slabs.write(memory.subarray(0, 100), 0), /EBADF|closed/)
  })
})
