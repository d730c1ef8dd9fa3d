import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { blockIdOf } from '../../../../test/support/block-store.contract.ts'
import { testSeed } from '../../../../test/support/random.ts'
import { rounds } from '../../../../test/support/tier.ts'
import type { BlockId } from '../../../base/objects/ids.ts'
import type { BlockStore } from '../block-store.ts'
import { openDiskBlockStore } from './disk-block-store.ts'

const root = mkdtempSync(path.join(tmpdir(), 'carrel-disk-differential-'))
after(() => rm(root, { recursive: true }))

const MIB = 2 ** 20
/** Around the sizes at which the fast store changes its method: pages, buffers and chunks. */
const blocks = [0, 1, 4095, 4096, 65_536, MIB / 2, MIB / 2 + 1, MIB, MIB + 1, 2 * MIB + 4097].map((size) =>
  randomBytes(size),
)

type Operation =
  | {
      readonly kind: 'put' | 'putStream' | 'receive' | 'discard' | 'wrongBytes'
      readonly block: number
      readonly cut: number
    }
  | { readonly kind: 'read' | 'borrow' | 'retire' | 'remove' | 'size'; readonly block: number }
  | {
      readonly kind: 'range' | 'atOnce'
      readonly block: number
      readonly start: number
      readonly length: number
    }
  | { readonly kind: 'truncate' | 'overwrite' | 'reopen' | 'list'; readonly block: number }

const block = fc.nat(blocks.length - 1)
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('put', 'putStream', 'receive', 'discard', 'wrongBytes'),
    block,
    cut: fc.integer({ min: 1, max: MIB }),
  }),
  fc.record({ kind: fc.constantFrom('read', 'borrow', 'read', 'borrow', 'retire', 'remove', 'size'), block }),
  fc.record({
    kind: fc.constantFrom('range', 'atOnce'),
    block,
    start: fc.nat(MIB),
    length: fc.nat(MIB),
  }),
  fc.record({ kind: fc.constantFrom('truncate', 'overwrite', 'reopen', 'list'), block }),
)

describe('the fast disk store', () => {
  it('has the same outcome as the plain one for random operations', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
        const run = ++runs
        const [plain, fast] = await Promise.all(
          (['plain', 'fast'] as const).map((implementation) =>
            outcomesOf(implementation, path.join(root, `${run}-${implementation}`), operations),
          ),
        )
        assert.deepEqual(fast, plain)
      }),
      { numRuns: rounds(4, 10, 15), seed: testSeed() },
    )
  })

  it('reads the blocks of the plain store, and the other way round', async () => {
    for (const [writer, reader] of [
      ['plain', 'fast'],
      ['fast', 'plain'],
    ] as const) {
      const directory = path.join(root, `${writer}-to-${reader}`)
      {
        await using store = await openDiskBlockStore({ directory, implementation: writer })
        for (const bytes of blocks) await store.put(blockIdOf(bytes), bytes)
      }
      await using store = await openDiskBlockStore({ directory, implementation: reader })
      for (const bytes of blocks)
        assert.equal(await outcomeOf(() => readAll(store, blockIdOf(bytes))), digest(bytes))
    }
  })
})

async function outcomesOf(
  implementation: 'plain' | 'fast',
  directory: string,
  operations: readonly Operation[],
): Promise<string[]> {
  const open = () => openDiskBlockStore({ directory, implementation })
  let store = await open()
  const outcomes: string[] = []
  for (const one of operations) {
    if (one.kind === 'reopen') {
      await store[Symbol.asyncDispose]()
      store = await open()
    }
    outcomes.push(`${one.kind} ${one.block}: ${await outcomeOf(() => run(store, directory, one))}`)
  }
  await store[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
  return outcomes
}

async function run(store: BlockStore, directory: string, one: Operation): Promise<unknown> {
  const bytes = blocks[one.block] as Buffer
  const id = blockIdOf(bytes)
  const file = path.join(directory, id.slice(0, 2), id.slice(2))
  switch (one.kind) {
    case 'put':
      return store.put(id, bytes)
    case 'putStream':
      return store.put(id, inPieces(bytes, one.cut))
    case 'wrongBytes':
      return store.put(id, Buffer.concat([bytes, Buffer.of(1)]))
    case 'receive':
    case 'discard': {
      const writer = store.begin()
      for await (const piece of inPieces(bytes, one.cut)) await writer.write(piece)
      const received = await writer.finish(id)
      await (one.kind === 'receive' ? received.keep() : received.discard())
      return [received.id, received.size]
    }
    case 'read':
      return readAll(store, id)
    case 'borrow':
      return readAll(store, id, true)
    case 'range':
      return digest(Buffer.concat(await Array.fromAsync(store.read(id, rangeOf(one)))))
    case 'atOnce': {
      const read = await store.readAtOnce(id, rangeOf(one))
      const found = digest(read.bytes)
      read.release?.()
      return found
    }
    case 'retire':
      return store.retire(id)
    case 'remove':
      await store.retire(id)
      return store.discard(id)
    case 'size':
      return store.size(id)
    case 'truncate':
      return truncate(file, Math.floor(bytes.length / 2)).catch(() => 'no file')
    case 'overwrite':
      return writeFile(file, Buffer.alloc(bytes.length, 7), { flag: 'r+' }).catch(() => 'no file')
    case 'reopen':
    case 'list':
      return [await Array.fromAsync(store.list()), await store.missing(blocks.map(blockIdOf))]
  }
}

/** The result as text, or the name and message of the error. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify((await work()) ?? null).replaceAll('"', '')
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}

async function readAll(store: BlockStore, id: BlockId, lend = false): Promise<string> {
  const copies: Buffer[] = []
  for await (const chunk of store.read(id, undefined, { lend })) copies.push(Buffer.from(chunk))
  return digest(Buffer.concat(copies))
}

const digest = (bytes: Uint8Array) => `${bytes.length} bytes ${blockIdOf(bytes)}`

const rangeOf = ({ start, length }: { start: number; length: number }) => ({ start, end: start + length })

/** At most a thousand pieces: a block of 2 MiB in single bytes takes a minute, and finds no more. */
async function* inPieces(bytes: Buffer, wanted: number) {
  const size = Math.max(wanted, Math.ceil(bytes.length / 1000))
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}
