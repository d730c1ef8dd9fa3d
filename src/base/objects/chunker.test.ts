import assert from 'node:assert/strict'
import { createHash, hash } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../../../test/support/dirents.arbitrary.ts'
import { testSeed } from '../../../test/support/random.ts'
import { rounds } from '../../../test/support/tier.ts'
import { type BoundarySearch, Cutter, chunksOf, cut, leaving } from './chunker.ts'
import { fileId } from './file.ts'
import { type BlockId, sha1Hex } from './ids.ts'

const LENGTH = 62_914_560
const blocks: [length: number, id: string][] = [
  [10_485_760, '3bbca204230e902c0ff1ccfbf5b52c4dff2ad15d'],
  [10_485_760, 'ca63773aced494eb0d354edd8c3cce8a4d4e1cac'],
  [10_485_760, '4bba27ab3f42527162f38e101d0de9ccf68e7a77'],
  [10_485_760, '2c6cac385f86e0ae2e165da419f5e6b7c8d9ba24'],
  [10_485_760, '025f05a2402f80990930fc32681c004884295d2c'],
  [8_107_348, '7e1e5863daba9073a49f82e321b6db07067fa328'],
  [2_378_412, 'bb8667dd6fcf852464a1fe42b91f9143b181b2b8'],
]

/** Concatenated SHA-256 hashes of "cdc" and a counter. */
function makeData(): Buffer {
  const data = Buffer.allocUnsafeSlow(LENGTH)
  const input = Buffer.from('cdc\0\0\0\0\0\0\0\0')
  for (let at = 0; at < LENGTH; at += 32) {
    input.writeUInt32BE(at / 32, 7)
    hash('sha256', input, 'buffer').copy(data, at)
  }
  return data
}

function* pieces(data: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < data.length; i++) {
    const size = sizes[i % sizes.length] as number
    yield data.subarray(at, at + size)
    at += size
  }
}

async function cutUp(
  source: Iterable<Buffer>,
  sizes?: Parameters<typeof cut>[2],
  boundarySearch?: BoundarySearch,
) {
  const found: [number, string][] = []
  for await (const parts of chunksOf(source, sizes, boundarySearch)) {
    const digest = createHash('sha1')
    let length = 0
    for (const part of parts) {
      digest.update(part)
      length += part.length
    }
    found.push([length, digest.digest('hex')])
  }
  return found
}

describe('cutting files into blocks', () => {
  it('uses the table of the client', () => {
    const words = Buffer.alloc(1024)
    leaving.forEach((value, i) => words.writeInt32BE(value, 4 * i))
    assert.equal(sha1Hex(words), 'f8d7e0cb9851e0cadf5cf7839d37bcead5432047')
  })

  it('cuts 60 MiB at the offsets of the client, however the stream is split', async () => {
    const data = makeData()
    assert.equal(sha1Hex(data), '3894777729e4b8e261f20615843e0bf8f352b084')
    const splits = [[1, 47, 48, 49, 65_537, 3_000_001], [65_536], [LENGTH]]
    for (const sizes of splits.slice(0, rounds(1, splits.length))) {
      assert.deepEqual(await cutUp(pieces(data, sizes)), blocks)
    }
    assert.deepEqual(await cutUp(pieces(data, [65_537]), undefined, 'plain'), blocks)
    assert.equal(cut(data, 5 * 10_485_760), 8_107_348)
    const file = { blockIds: blocks.map(([, id]) => id as BlockId), size: LENGTH }
    assert.equal(fileId(file), '12734c8b63051c53bd6d19050b15b6e4883482ef')
  })

  it('does not cut less than a block, and finds no block in an empty stream', async () => {
    assert.deepEqual(await cutUp([]), [])
    assert.deepEqual(await cutUp([Buffer.alloc(0)]), [])
    assert.deepEqual(await cutUp([Buffer.from('hello '), Buffer.alloc(0), Buffer.from('world\n')]), [
      [12, '22596363b3de40b06f981fb85d82312e8c0ed511'],
    ])
  })

  it('cuts a stream like a single buffer and like the reference implementation', async (t) => {
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    const options = { min: 64, average: 64, max: 256 }
    const property = fc.asyncProperty(
      fc.uint8Array({ maxLength: 3000 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }),
      async (bytes, sizes) => {
        const data = Buffer.from(bytes)
        const whole: number[] = []
        for (let at = 0; at < data.length; at += whole.at(-1) as number) whole.push(cut(data, at, options))
        const byRule: number[] = []
        for (let at = 0; at < data.length; at += byRule.at(-1) as number)
          byRule.push(ruleCut(data.subarray(at), options))
        assert.deepEqual(whole, byRule)
        const streamed = await cutUp(pieces(data, sizes), options)
        assert.deepEqual(
          streamed.map(([length]) => length),
          whole,
        )
      },
    )
    await fc.assert(property, { seed, numRuns: 300 })
  })

  it('finds all stops of long data, whatever the boundaries of pieces and searches', async () => {
    const options = { min: 64, average: 65_536, max: 2 ** 20 }
    const data = Buffer.alloc(6_000_001)
    for (let at = 0, i = 0; at < data.length; i++, at += 32) hash('sha256', `${i}`, 'buffer').copy(data, at)
    const byRule: number[] = []
    for (let at = 0; at < data.length; at += byRule.at(-1) as number)
      byRule.push(ruleCut(data.subarray(at, at + options.max + 1), options))
    assert.ok(byRule.filter((length) => length < options.max).length > 50)
    for (const sizes of [
      [65_536],
      [data.length],
      [1, 2, 3, 15, 16, 17, 49, 63, 64, 65, 65_471, 65_473, 131_071],
    ]) {
      for (const search of ['plain', 'fast'] as const) {
        const lengths = (await cutUp(pieces(data, sizes), options, search)).map(([length]) => length)
        assert.deepEqual(lengths, byRule)
      }
    }
  })

  it('creates blocks between the minimum and the maximum size that add up', (t) => {
    const options = { min: 48, average: 128, max: 300 }
    const property = fc.property(fc.uint8Array({ minLength: 1, maxLength: 4000 }), (bytes) => {
      let at = 0
      while (at < bytes.length) {
        const length = cut(bytes, at, options)
        assert.ok(length > 0 && length <= options.max)
        if (at + length < bytes.length) assert.ok(length >= options.min)
        at += length
      }
      assert.equal(at, bytes.length)
    })
    check(t, property)
  })

  it('rejects invalid sizes', () => {
    const good = { min: 64, average: 64, max: 64 }
    assert.equal(new Cutter(good).pending, 0)
    for (const change of [{ min: 47 }, { average: 65 }, { average: 0 }, { max: 63 }]) {
      assert.throws(() => new Cutter({ ...good, ...change }), RangeError)
    }
  })
})

/** Reference implementation: each fingerprint from the previous one, without a window buffer. */
function ruleCut(
  bytes: Buffer,
  { min, average, max }: { min: number; average: number; max: number },
): number {
  if (bytes.length < min) return bytes.length
  let fingerprint = bytes.readInt32BE(min - 4)
  for (let end = min; ; end++) {
    const stops = (fingerprint & (average - 1)) === (0x13 & (average - 1))
    if (stops || end >= max || end === bytes.length) return end
    fingerprint =
      ((fingerprint << 8) | (bytes[end] as number)) ^ (leaving[bytes[end - 48] as number] as number)
  }
}
