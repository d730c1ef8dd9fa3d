import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { DomainError } from '../../base/errors.ts'
import { type BlockId, sha1Hex } from '../../base/objects/ids.ts'
import { BlockDamaged, type ByteRange } from '../../platform/storage/block-store.ts'
import { decryptPart, type ReadStored, readPadding } from './block-decryption.ts'
import { type CipherParts, DataKey } from './data-key.ts'
import { TempFileCipher } from './temp-file-cipher.ts'

const ciphers: CipherParts['name'][] = ['aes-128-cbc', 'aes-256-cbc', 'aes-128-ecb']

function newKey(name: CipherParts['name']): DataKey {
  const key = randomBytes(name === 'aes-256-cbc' ? 32 : 16)
  return new DataKey({ name, key, iv: name === 'aes-128-ecb' ? null : randomBytes(16) })
}

function encrypt(key: DataKey, plain: Buffer) {
  const cipher = key.encryptor()
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()])
  const block = {
    id: sha1Hex(bytes) as BlockId,
    size: bytes.length,
    padding: bytes.length - plain.length,
  }
  return { bytes, block }
}

/** Yields a range in pieces of these lengths, cyclically. */
function inPieces(bytes: Buffer, lengths: readonly number[], seen: ByteRange[] = []): ReadStored {
  return async function* (range) {
    seen.push(range)
    for (let at = range.start, n = 0; at < range.end; n++) {
      const end = Math.min(range.end, at + (lengths[n % lengths.length] ?? 1))
      yield Buffer.from(bytes.subarray(at, end))
      at = end
    }
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks))
}

for (const name of ciphers) {
  describe(`a block encrypted with ${name}`, () => {
    it('has one to sixteen bytes of padding, for all sizes around a cipher block', async () => {
      const key = newKey(name)
      for (let size = 1; size <= 70; size++) {
        const plain = randomBytes(size)
        const { bytes, block } = encrypt(key, plain)
        assert.equal(block.size, 16 * (Math.floor(size / 16) + 1))
        assert.equal(await readPadding(key, block, inPieces(bytes, [7])), block.padding)
        const whole = await collect(decryptPart(key, block, { start: 0, end: size }, inPieces(bytes, [16])))
        assert.deepEqual(whole, plain)
      }
    })

    it('decrypts any range, however the ciphertext is split', async () => {
      const key = newKey(name)
      const ranges = fc.tuple(fc.integer({ min: 1, max: 600 }), fc.nat(), fc.nat())
      const pieces = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(ranges, pieces, async ([size, a, b], lengths) => {
          const plain = randomBytes(size)
          const { bytes, block } = encrypt(key, plain)
          const [start = 0, end = 0] = [a % (size + 1), b % (size + 1)].sort((x, y) => x - y)
          const seen: ByteRange[] = []
          const part = await collect(decryptPart(key, block, { start, end }, inPieces(bytes, lengths, seen)))
          assert.deepEqual(part, plain.subarray(start, end))
          // Reads at most one cipher block before the range and the rest of the last one.
          for (const range of seen) assert.ok(range.end - range.start <= end - start + 48)
        }),
        { numRuns: 500 },
      )
    })

    it('fails with another key and if it is truncated', async () => {
      const [key, other] = [newKey(name), newKey(name)]
      const plain = randomBytes(1000)
      const { bytes, block } = encrypt(key, plain)
      const whole = { start: 0, end: plain.length }
      const wrong = decryptPart(other, block, whole, inPieces(bytes, [64]))
      let given = 0
      await assert.rejects(async () => {
        for await (const chunk of wrong) given += chunk.length
      }, BlockDamaged)
      assert.ok(given < plain.length)
      const cut = bytes.subarray(0, 512)
      await assert.rejects(collect(decryptPart(key, block, whole, inPieces(cut, [64]))), BlockDamaged)
      const random = { ...block, size: 512 }
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => readPadding(key, random, inPieces(randomBytes(512), [64]))),
      )
      assert.ok(results.filter((result) => result.status === 'rejected').length > 40)
    })
  })
}

describe('a data key', () => {
  it('is wiped when it is retired and the last lease is released', () => {
    const parts = { name: 'aes-256-cbc', key: Buffer.alloc(32, 1), iv: Buffer.alloc(16, 2) } as const
    const key = new DataKey(parts)
    const leases = [key.lease(), key.lease()]
    key.retire()
    leases[0]?.[Symbol.dispose]()
    leases[0]?.[Symbol.dispose]()
    assert.deepEqual(parts.key, Buffer.alloc(32, 1))
    assert.ok(key.encryptor())
    leases[1]?.[Symbol.dispose]()
    assert.deepEqual([parts.key, parts.iv], [Buffer.alloc(32), Buffer.alloc(16)])
  })

  it('throws once wiped instead of encrypting with zeros', () => {
    const key = newKey('aes-256-cbc')
    key.retire()
    for (const use of [() => key.lease(), () => key.encryptor(), () => key.decryptor()]) {
      assert.throws(use, (error) => error instanceof DomainError && error.fault.code === 'password-needed')
    }
  })
})

describe('the cipher of temporary files', () => {
  it('decrypts at any position, however the bytes were split for encryption', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(400), fc.nat(300), (bytes, at, cut) => {
        const tempFileCipher = TempFileCipher.random()
        const middle = Math.min(cut, bytes.length)
        const covered = Buffer.concat([
          tempFileCipher.apply(bytes.subarray(0, middle), at),
          tempFileCipher.apply(bytes.subarray(middle), at + middle),
        ])
        assert.deepEqual(tempFileCipher.apply(covered, at), Buffer.from(bytes))
      }),
    )
  })

  it('differs by file', () => {
    const zeros = Buffer.alloc(64)
    assert.notDeepEqual(TempFileCipher.random().apply(zeros, 0), TempFileCipher.random().apply(zeros, 0))
  })

  it('works beyond 4 GiB', () => {
    const tempFileCipher = TempFileCipher.random()
    const far = 2 ** 40 + 3
    const bytes = randomBytes(50)
    assert.deepEqual(tempFileCipher.apply(tempFileCipher.apply(bytes, far), far), bytes)
    assert.notDeepEqual(tempFileCipher.apply(bytes, far), tempFileCipher.apply(bytes, 3))
  })
})
