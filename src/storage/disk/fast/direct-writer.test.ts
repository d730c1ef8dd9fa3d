import assert from 'node:assert/strict'
import { randomFillSync } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { alignedSharedMemory } from './aligned-memory.ts'
import { DirectWriter } from './direct-writer.ts'

const root = mkdtempSync(path.join(tmpdir(), 'carrel-direct-writer-'))
after(() => rm(root, { recursive: true }))

const BUFFER = 65_536

/** Writes `length` bytes of memory buffer by buffer, concurrently. */
async function written(name: string, memory: Buffer, length: number, isThere = true): Promise<Buffer> {
  const file = path.join(root, name)
  await using handle = await open(file, 'wx')
  {
    using writer = await DirectWriter.open(handle, isThere ? file : `${file}-gone`)
    const writes: Promise<void>[] = []
    for (let at = 0; at < length; at += BUFFER) {
      writes.push(writer.write(memory.subarray(at, Math.min(at + BUFFER, length)), at))
    }
    await Promise.all(writes)
  }
  await handle.datasync()
  return await readFile(file)
}

describe('DirectWriter', () => {
  const memory = Buffer.from(alignedSharedMemory(4 * BUFFER))
  randomFillSync(memory)

  it('writes files of any length', async () => {
    for (const length of [
      1,
      4095,
      4096,
      4097,
      BUFFER - 1,
      BUFFER,
      BUFFER + 1,
      3 * BUFFER + 4096 + 17,
      4 * BUFFER,
    ]) {
      const found = await written(`whole-${length}`, memory, length)
      assert.ok(found.equals(memory.subarray(0, length)), `${length} bytes`)
    }
  })

  it('falls back to buffered writes where O_DIRECT is not possible', async () => {
    const elsewhere = Buffer.from(new SharedArrayBuffer(2 * BUFFER + 8)).subarray(8)
    memory.copy(elsewhere)
    const length = 2 * BUFFER - 100
    assert.ok((await written('unaligned', elsewhere, length)).equals(memory.subarray(0, length)))
    assert.ok((await written('unopened', memory, length, false)).equals(memory.subarray(0, length)))
  })

  it('reports the error of a failed write', async () => {
    await using handle = await open(path.join(root, 'readable'), 'w')
    using writer = await DirectWriter.open(handle, path.join(root, 'readable'))
    await handle.close()
    await assert.rejects(writer.write(memory.subarray(0, 100), 0), /EBADF|closed/)
  })
})
