import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { type FileCalls, recordFileCalls } from '../../../../test/support/file-calls.ts'
import { type BlockId, sha1Hex } from '../../../base/objects/index.ts'
import type { BlockStore } from '../index.ts'
import { openDiskBlockStore } from './disk-block-store.ts'

const SIZES = { 'one chunk': 100_000, 'several chunks': 3_000_000 }

for (const implementation of ['plain', 'fast'] as const) {
  describe(`a block of the ${implementation} store`, { skip: process.platform !== 'linux' }, () => {
    const ways = { put: (store: BlockStore, bytes: Buffer) => store.put(idOf(bytes), bytes), receive }
    for (const [way, write] of Object.entries(ways)) {
      for (const [length, size] of Object.entries(SIZES)) {
        it(`of ${length} is flushed, then named, then its folder is flushed, before ${way} resolves`, async () => {
          const directory = await mkdtemp(path.join(os.tmpdir(), 'carrel-flush-'))
          try {
            await using store = await openDiskBlockStore({ directory, implementation })
            const bytes = randomBytes(size)
            await using recorded = await recordFileCalls()
            await write(store, bytes)
            assert.deepEqual(stepsOf(recorded, directory), ['flush tmp', 'rename block', 'flush folder'])
          } finally {
            await rm(directory, { recursive: true, force: true })
          }
        })

        it(`of ${length} is named without a flush of its folder by ${way} in a cache`, async () => {
          const directory = await mkdtemp(path.join(os.tmpdir(), 'carrel-flush-'))
          try {
            await using store = await openDiskBlockStore({ directory, implementation, isCache: true })
            const bytes = randomBytes(size)
            await using recorded = await recordFileCalls()
            await write(store, bytes)
            const steps = implementation === 'plain' ? ['flush tmp', 'rename block'] : ['rename block']
            assert.deepEqual(stepsOf(recorded, directory), steps)
          } finally {
            await rm(directory, { recursive: true, force: true })
          }
        })
      }
    }
  })
}

const idOf = (bytes: Buffer) => sha1Hex(bytes) as BlockId

async function receive(store: BlockStore, bytes: Buffer): Promise<void> {
  const writer = store.begin()
  await writer.write(bytes)
  await (await writer.finish(idOf(bytes))).keep()
}

/** The calls by the kind of file they are about. */
function stepsOf({ calls }: FileCalls, directory: string): string[] {
  return calls.map((call) => {
    const [folder = '', name] = path.relative(directory, call.path).split(path.sep)
    const what = folder === 'tmp' ? 'tmp' : name === undefined ? 'folder' : 'block'
    return `${call.kind} ${what}`
  })
}
