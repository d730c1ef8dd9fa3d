import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { MemoryBlockStore } from '../../../test/support/memory-block-store.ts'
import { Cutter, chunksOf } from '../../base/objects/chunker.ts'
import { type BlockId, sha1Hex } from '../../base/objects/index.ts'
import { decryptPart } from './block-decryption.ts'
import { EncryptingBlock } from './block-encryption.ts'
import { DataKey } from './data-key.ts'
import { IncomingBlock, keepAll } from './incoming-block.ts'
import type { StagedBlock } from './staged-block-store.ts'
import { stageChunk } from './staged-chunk.ts'

const sizes = { min: 96, average: 64, max: 256 }
const SMALLEST_STORED = 32

/** An upload with tiny blocks. */
class Upload {
  readonly #key: DataKey | undefined
  readonly #store = new MemoryBlockStore()
  readonly #small = new Map<BlockId, Uint8Array>()
  blocks: StagedBlock[] = []
  /** The file so far. */
  model = Buffer.alloc(0)
  /** Bytes that were written to blocks. */
  written = 0

  constructor(key: DataKey | undefined) {
    this.#key = key
  }

  /** Adds a chunk, as a request does. */
  async add(start: number, bytes: Buffer, total: number): Promise<void> {
    const end = start + bytes.length
    const earlier = start === 0 ? [] : this.blocks.filter(({ offset }) => offset >= start - sizes.max)
    const chunk = await stageChunk(
      {
        cutter: new Cutter(sizes, 'plain'),
        incoming: () => this.#incoming(),
        read: (blocks, range, small) => this.#read(blocks, range, small),
      },
      { start, end, total },
      earlier,
      slicesOf(bytes),
    )
    await keepAll(chunk.taken)
    for (const [id, data] of chunk.small) this.#small.set(id, data)
    const kept = start === 0 ? [] : this.blocks.filter(({ offset }) => offset < chunk.from)
    this.blocks = [...kept, ...chunk.blocks]
    const rest = start === 0 ? Buffer.alloc(0) : this.model.subarray(end)
    this.model = Buffer.concat([this.model.subarray(0, start), bytes, rest])
  }

  /** All bytes, from the blocks. */
  async read(): Promise<Buffer> {
    const range = { start: 0, end: this.model.length }
    return Buffer.concat(
      await Array.fromAsync(this.#read(this.blocks, range, new Map()), (b) => Buffer.from(b)),
    )
  }

  #incoming(): IncomingBlock | EncryptingBlock {
    const block = new IncomingBlock(this.#store, SMALLEST_STORED, {
      onKept: async () => {},
      diskFault: () => undefined,
    })
    const write = block.write.bind(block)
    block.write = (piece) => {
      this.written += piece.length
      return write(piece)
    }
    return this.#key === undefined ? block : new EncryptingBlock(block, this.#key.encryptor())
  }

  async *#read(
    blocks: readonly StagedBlock[],
    span: { start: number; end: number },
    small: ReadonlyMap<BlockId, Uint8Array>,
  ): AsyncGenerator<Buffer, void> {
    for (const { id, size, offset, length } of blocks) {
      const range = { start: Math.max(0, span.start - offset), end: Math.min(length, span.end - offset) }
      if (range.start >= range.end) continue
      const known = small.get(id) ?? this.#small.get(id)
      const store = this.#store
      const read = async function* (part: { start: number; end: number }) {
        if (known === undefined) yield* store.read(id, part)
        else yield Buffer.from(known.subarray(part.start, part.end))
      }
      if (this.#key === undefined) yield* read(range)
      else yield* decryptPart(this.#key, { id, size, padding: size - length }, range, read)
    }
  }
}

/** Pieces of odd lengths, as they arrive from the network. */
async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0, length = 7; at < bytes.length; at += length, length = ((length * 5) % 61) + 1) {
    yield Buffer.from(bytes.subarray(at, at + length))
  }
}

const keyOf = () => new DataKey({ name: 'aes-256-cbc', key: Buffer.alloc(32, 7), iv: Buffer.alloc(16, 3) })

/** The ids and sizes of the blocks of a whole file. */
async function wholeBlocks(bytes: Buffer, key: DataKey | undefined) {
  const blocks: { id: string; length: number }[] = []
  for await (const pieces of chunksOf([bytes], sizes, 'plain')) {
    const plain = Buffer.concat(pieces)
    const cipher = key?.encryptor()
    const stored = cipher === undefined ? plain : Buffer.concat([cipher.update(plain), cipher.final()])
    blocks.push({ id: sha1Hex(stored), length: plain.length })
  }
  return blocks
}

/** Bytes with few different values, so that cuts are found, and long runs of one, so that some are not. */
const file = fc
  .array(
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc
        .record({ value: fc.nat(255), length: fc.integer({ min: 1, max: 600 }) })
        .map(({ value, length }) => new Uint8Array(length).fill(value)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts))

const step = fc.record({
  /** Offset of the chunk as a fraction of the stored bytes; above 1 the chunk is appended. */
  at: fc.oneof({ weight: 3, arbitrary: fc.constant(2) }, fc.double({ min: 0, max: 1, noNaN: true })),
  length: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 700 })),
})

describe('chunks of an upload', () => {
  for (const name of ['plain', 'encrypted']) {
    it(`become the blocks of the whole file, whatever the chunks and their order (${name})`, async () => {
      await fc.assert(
        fc.asyncProperty(file, fc.array(step, { maxLength: 100 }), async (bytes, steps) => {
          const key = name === 'plain' ? undefined : keyOf()
          const upload = new Upload(key)
          const total = bytes.length
          const send = async (start: number, length: number) => {
            const end = Math.min(total, start + length)
            // Whoever sends bytes twice may send other ones the first time.
            const isSure = end === total || start === upload.model.length
            const sent = Buffer.from(bytes.subarray(start, end))
            if (!isSure) sent[0] = (sent[0] ?? 0) ^ 1
            await upload.add(start, sent, total)
            if (!isSure) {
              assert(upload.model.equals(await upload.read()))
              await upload.add(start, bytes.subarray(start, end), total)
            }
            assert(upload.model.equals(await upload.read()))
            return end === total
          }
          let isDone = false
          for (const { at, length } of steps) {
            if (isDone) break
            const stored = upload.model.length
            isDone = await send(at > 1 ? stored : Math.floor(at * stored), length)
          }
          while (!isDone) isDone = await send(upload.model.length, 50)
          assert.deepEqual(
            upload.blocks.map(({ id, length }) => ({ id, length })),
            await wholeBlocks(bytes, key),
          )
          assert(upload.blocks.every(({ isFinal }) => isFinal))
        }),
        { numRuns: 80 },
      )
    })
  }

  it('are written at most twice', async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 8, max: 900 }), async (bytes, length) => {
        const upload = new Upload(undefined)
        for (let at = 0; at < bytes.length; at += length) {
          await upload.add(at, bytes.subarray(at, at + length), bytes.length)
        }
        assert(upload.written <= 2 * bytes.length, `${upload.written} for ${bytes.length}`)
      }),
      { numRuns: 80 },
    )
  })
})
