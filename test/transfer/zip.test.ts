import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'
import { packWhole } from '../../src/surfaces/transfer/zip/compression.ts'
import { Deflaters, MAX_DEFLATED } from '../../src/surfaces/transfer/zip/deflaters.ts'
import { FreeNames, harmlessName, harmlessNames } from '../../src/surfaces/transfer/zip/names.ts'
import {
  directoryRecord,
  endRecords,
  localHeader,
  ZipNameTooLong,
} from '../../src/surfaces/transfer/zip/records.ts'
import {
  type ZipDirectory,
  ZipSizeMismatch,
  type ZipTarget,
  ZipWriter,
} from '../../src/surfaces/transfer/zip/writer.ts'
import { readZip, unzip } from '../support/zip-reader.ts'

const FILE = 0o100644
const MTIME = 1_700_000_001

/** An archive, or its central directory, in memory. */
class Memory implements ZipTarget, ZipDirectory {
  readonly #chunks: Buffer[] = []
  async append(bytes: Uint8Array) {
    this.#chunks.push(Buffer.copyBytesFrom(bytes))
  }
  async patch(position: number, bytes: Uint8Array) {
    const all = this.bytes
    all.set(bytes, position)
    this.#chunks.splice(0, Infinity, all)
  }
  async *read() {
    yield* this.#chunks
  }
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

async function zipOf(write: (writer: ZipWriter) => Promise<void>): Promise<Buffer> {
  const target = new Memory()
  const writer = new ZipWriter(target, new Memory())
  await write(writer)
  assert.equal(await writer.finish(), target.bytes.length)
  return target.bytes
}

async function* inPieces(bytes: Buffer, length: number) {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

const text = Buffer.from('All work and no play makes Jack a dull boy.\n'.repeat(5000))
const noise = randomBytes(200_000)
const executable = 0o100755
const deflaters = new Deflaters(2)

describe('a zip archive', () => {
  let zip: Buffer
  before(async () => {
    zip = await zipOf(async (writer) => {
      await writer.addWhole(
        { name: 'a.txt', mtime: MTIME, mode: FILE },
        { bytes: text, ...(await packWhole('a.txt', text, deflaters)) },
      )
      await writer.addWhole(
        { name: 'dir/noise', mtime: MTIME, mode: executable },
        { bytes: noise, ...(await packWhole('noise', noise, deflaters)) },
      )
      await writer.addFolder({ name: 'empty/', mtime: MTIME, mode: 0o040755 })
      await writer.addStream(
        { name: 'Ünïcödé 文件 🎉.bin', mtime: MTIME, mode: FILE },
        { size: noise.length, method: 'stored', chunks: inPieces(noise, 777) },
      )
      await writer.addStream(
        { name: 'long.log', mtime: MTIME, mode: FILE },
        { size: text.length, method: 'deflated', chunks: inPieces(text, 40_000) },
      )
      await writer.addWhole(
        { name: 'nothing', mtime: MTIME, mode: FILE },
        { bytes: Buffer.alloc(0), ...(await packWhole('nothing', Buffer.alloc(0), deflaters)) },
      )
    })
  })

  it('contains every file byte for byte, and empty folders', () => {
    assert.deepEqual(
      unzip(zip),
      new Map<string, Buffer | null>([
        ['a.txt', text],
        ['dir/noise', noise],
        ['empty/', null],
        ['Ünïcödé 文件 🎉.bin', noise],
        ['long.log', text],
        ['nothing', Buffer.alloc(0)],
      ]),
    )
  })

  it('marks its names as UTF-8, stores sizes in the local headers, and needs no Zip64', () => {
    const { entries, isZip64 } = readZip(zip.length, (at, length) => zip.subarray(at, at + length))
    assert.equal(isZip64, false)
    for (const entry of entries) {
      assert.equal(entry.flags, 1 << 11, entry.name)
      assert.deepEqual([entry.isZip64, entry.local.isZip64, entry.versionNeeded], [false, false, 20])
    }
    assert.deepEqual(
      entries.map(({ method }) => method),
      [8, 0, 0, 0, 8, 0],
    )
  })

  it('keeps times to the second, and modes', () => {
    const { entries } = readZip(zip.length, (at, length) => zip.subarray(at, at + length))
    for (const entry of entries) {
      assert.equal(entry.mtime, MTIME)
      assert.equal(entry.dosTime, '2023-11-14 22:13:20')
    }
    assert.deepEqual(
      entries.map(({ mode, isDosFolder }) => [mode, isDosFolder]),
      [FILE, executable, 0o040755, FILE, FILE, FILE].map((mode) => [mode, mode === 0o040755]),
    )
  })

  for (const [tool, args] of [['unzip', ['-tq']]] as const) {
    const isMissing = spawnSync(tool, ['-h']).error !== undefined
    it(`is accepted by ${tool}`, { skip: isMissing && `${tool} is not installed` }, async () => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-zip-'))
      try {
        await writeFile(path.join(folder, 'a.zip'), zip)
        const { status, stdout, stderr } = spawnSync(tool, [...args, path.join(folder, 'a.zip')])
        assert.equal(status, 0, String(stdout) + String(stderr))
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }

  it('may be empty', async () => {
    const empty = await zipOf(async () => {})
    assert.equal(empty.length, 22)
    assert.equal(unzip(empty).size, 0)
  })

  for (const [mtime, kept, dosTime] of [
    [0, 0, '1980-01-01 00:00:00'],
    [-1, undefined, '1980-01-01 00:00:00'],
    [2 ** 31 - 1, 2 ** 31 - 1, '2038-01-19 03:14:06'],
    [2 ** 31, undefined, '2038-01-19 03:14:08'],
    [2 ** 40, undefined, '2107-12-31 23:59:58'],
    [Number.NaN, undefined, '1980-01-01 00:00:00'],
  ] as const) {
    it(`stores the time ${mtime} as closely as the format allows`, async () => {
      const bytes = await zipOf((writer) => writer.addFolder({ name: 'a/', mtime, mode: 0o040755 }))
      const { entries } = readZip(bytes.length, (at, length) => bytes.subarray(at, at + length))
      assert.deepEqual([entries[0]?.mtime, entries[0]?.dosTime], [kept, dosTime])
    })
  }

  for (const method of ['stored', 'deflated'] as const) {
    for (const size of [99, 101]) {
      it(`rejects a ${method} file of 100 bytes that was announced with ${size}`, async () => {
        const writer = new ZipWriter(new Memory(), new Memory())
        const chunks = inPieces(Buffer.alloc(100), 30)
        const entry = { name: 'a', mtime: 0, mode: FILE }
        await assert.rejects(writer.addStream(entry, { size, method, chunks }), ZipSizeMismatch)
      })
    }

    it(`propagates an error in a ${method} file`, async () => {
      const writer = new ZipWriter(new Memory(), new Memory())
      const chunks = (async function* () {
        yield Buffer.alloc(10)
        throw new Error('no more')
      })()
      const entry = { name: 'a', mtime: 0, mode: FILE }
      await assert.rejects(writer.addStream(entry, { size: 100, method, chunks }), /no more/)
    })

    it(`propagates a full disk for a ${method} file, and closes its source`, async () => {
      let ended = false
      const chunks = (async function* () {
        try {
          for (;;) yield randomBytes(100_000)
        } finally {
          ended = true
        }
      })()
      let room = 500_000
      const target: ZipTarget = {
        async append(bytes) {
          room -= bytes.length
          if (room < 0) throw new Error('no room')
        },
        async patch() {},
      }
      const writer = new ZipWriter(target, new Memory())
      const entry = { name: 'a', mtime: 0, mode: FILE }
      await assert.rejects(writer.addStream(entry, { size: 1e9, method, chunks }), /no room/)
      assert.ok(ended)
    })
  }

  it('rejects a name that is too long for a header', async () => {
    const writer = new ZipWriter(new Memory(), new Memory())
    const entry = { name: 'ä'.repeat(32_768), mtime: 0, mode: FILE }
    await assert.rejects(writer.addFolder(entry), ZipNameTooLong)
  })
})

describe('Zip64', () => {
  it('is used for more entries than a plain archive can count', async () => {
    const count = 65_536
    const zip = await zipOf(async (writer) => {
      const nothing = { bytes: Buffer.alloc(0), method: 'stored', packed: Buffer.alloc(0) } as const
      for (let n = 0; n < count; n++) await writer.addWhole({ name: `f${n}`, mtime: n, mode: FILE }, nothing)
    })
    const { names, isZip64 } = readZip(zip.length, (at, length) => zip.subarray(at, at + length))
    assert.deepEqual([isZip64, names.length, names.at(-1)], [true, count, `f${count - 1}`])
  })

  it('starts where the fields of a plain archive overflow', () => {
    const plain = 22
    const wide = 22 + 56 + 20
    assert.equal(endRecords(65_534, 0xffff_fffe, 0xffff_fffe).length, plain)
    assert.equal(endRecords(65_535, 1, 1).length, wide)
    assert.equal(endRecords(1, 0xffff_ffff, 1).length, wide)
    assert.equal(endRecords(1, 1, 0xffff_ffff).length, wide)
  })

  it('is used for a file over 4 GiB, and for the entries after it', async () => {
    const size = 4_617_089_843 // 4.3 GiB
    const target = new SparseTarget()
    const writer = new ZipWriter(target, new Memory())
    const entry = { name: 'zeros', mtime: MTIME, mode: FILE }
    await writer.addStream(entry, { size, method: 'stored', chunks: zeros(size) })
    await writer.addWhole({ ...entry, name: 'after' }, { bytes: text, method: 'stored', packed: text })
    const length = await writer.finish()
    assert.equal(length, target.length)
    const { entries, isZip64 } = readZip(length, target.readAt)
    assert.equal(isZip64, true)
    const [large, after] = entries
    assert.deepEqual(
      [
        large?.size,
        large?.packedSize,
        large?.offset,
        large?.isZip64,
        large?.local.isZip64,
        large?.versionNeeded,
      ],
      [size, size, 0, true, true, 45],
    )
    assert.equal(large?.crc, target.zerosCrc)
    assert.deepEqual([after?.size, after?.isZip64, after?.local.isZip64], [text.length, true, false])
    assert.equal(after?.offset, (large?.local.dataOffset ?? 0) + size)
    assert.deepEqual(target.readAt(after?.local.dataOffset ?? 0, text.length), text)
  })

  it('is used for a file just under 4 GiB that deflate might expand', () => {
    const sizes = (size: number) =>
      ({ method: 'deflated', crc: 0, size, packedSize: size + 1_500_000 }) as const
    const entry = { name: 'zeros', mtime: MTIME, mode: FILE }
    const plain = localHeader(entry, sizes(0xfc00_0000)).length
    assert.equal(localHeader(entry, sizes(0xffff_fff0)).length, plain + 20)
    assert.equal(directoryRecord(entry, sizes(0xffff_fff0), 0).readUInt32LE(20), 0xffff_ffff)
  })
})

const zeroMegabyte = Buffer.alloc(2 ** 20)

async function* zeros(size: number) {
  for (let left = size; left > 0; left -= zeroMegabyte.length)
    yield left < zeroMegabyte.length ? zeroMegabyte.subarray(0, left) : zeroMegabyte
}

/** Stores everything but the zeros, whose CRC it knows. */
class SparseTarget implements ZipTarget {
  length = 0
  zerosCrc = 0
  readonly #kept: { at: number; bytes: Buffer }[] = []

  async append(bytes: Uint8Array) {
    if (bytes.buffer === zeroMegabyte.buffer) this.zerosCrc = crc32(bytes, this.zerosCrc)
    else this.#kept.push({ at: this.length, bytes: Buffer.copyBytesFrom(bytes) })
    this.length += bytes.length
  }

  async patch(position: number, bytes: Uint8Array) {
    const piece = this.#kept.find(({ at }) => at === position)
    assert.equal(piece?.bytes.length, bytes.length, 'a patch is as long as what it replaces')
    piece?.bytes.set(bytes)
  }

  readonly readAt = (position: number, length: number): Buffer => {
    const result = Buffer.alloc(length)
    for (const { at, bytes } of this.#kept) {
      const [from, to] = [Math.max(at, position), Math.min(at + bytes.length, position + length)]
      if (from < to) bytes.copy(result, from - position, from - at, to - at)
    }
    return result
  }
}

describe('compression', () => {
  const program = Buffer.concat(
    Array.from({ length: 40_000 }, (_, n) => Buffer.from([n & 7, 0, n & 63, 0xe3])),
  )
  const cases: [what: string, name: string, bytes: Buffer, method: string][] = [
    ['text', 'a.txt', text, 'deflated'],
    ['program-like data', 'a', program, 'deflated'],
    ['text with the extension of a picture', 'a.JPG', text, 'stored'],
    ['noise', 'a.txt', noise, 'stored'],
    ['noise after a page of text', 'a.txt', Buffer.concat([text.subarray(0, 5000), noise]), 'stored'],
    ['a few bytes', 'a.txt', text.subarray(0, 100), 'stored'],
    ['nothing', 'a.txt', Buffer.alloc(0), 'stored'],
  ]
  for (const [what, name, bytes, method] of cases) {
    it(`is ${method === 'deflated' ? 'used' : 'skipped'} for ${what}`, async () => {
      assert.equal((await packWhole(name, bytes, deflaters)).method, method)
    })
  }

  it('round-trips each of many pieces with reused memory', async () => {
    using few = new Deflaters(2)
    const lengths = [1, 300, MAX_DEFLATED, 70_000, MAX_DEFLATED - 1, 5]
    const pieces = lengths.flatMap((length) => [
      randomBytes(length),
      Buffer.alloc(length, 'x'),
      Buffer.alloc(length, text),
    ])
    const packed = await Promise.all(pieces.map((piece) => few.deflate(piece)))
    for (const [k, piece] of pieces.entries()) {
      assert.ok(inflateRawSync(packed[k] ?? Buffer.alloc(0)).equals(piece), `piece ${k}`)
    }
  })
})

describe('names in an archive', () => {
  const cases: [string, string][] = [
    ['plain.txt', 'plain.txt'],
    ['a b (1).tar.gz', 'a b (1).tar.gz'],
    ['..', '__'],
    ['.', '_'],
    ['', '_'],
    ['...', '...'],
    ['/etc/passwd', '_etc_passwd'],
    ['..\\..\\evil.bat', '.._.._evil.bat'],
    ['a\nb\r\t\u0000\u007f\u0085c', 'a_b_____c'],
    ['C:', 'C_'],
    ['c:evil', 'c_evil'],
    ['12:30 notes', '12:30 notes'],
    ['half \ud800', 'half \ufffd'],
    ['文件 🎉', '文件 🎉'],
  ]
  for (const [name, harmless] of cases) {
    it(`turns ${JSON.stringify(name)} into ${JSON.stringify(harmless)}`, () => {
      assert.equal(harmlessName(name), harmless)
      assert.equal(harmlessName(harmless), harmless)
    })
  }

  it('stay distinct when their safe forms are equal, and valid ones are unchanged', () => {
    assert.deepEqual(harmlessNames(['a\\b.txt', 'a\nb.txt', 'a_b.txt', 'x']), [
      'a_b (1).txt',
      'a_b (2).txt',
      'a_b.txt',
      'x',
    ])
  })

  it('are assigned once each', () => {
    const free = new FreeNames()
    const names = ['a.txt', 'a.txt', 'a (1).txt', 'a.txt', 'b', 'b', 'a (1).txt']
    assert.deepEqual(
      names.map((name) => free.take(name)),
      ['a.txt', 'a (1).txt', 'a (1) (1).txt', 'a (2).txt', 'b', 'b (1)', 'a (1) (2).txt'],
    )
  })

  it('are found in constant time when thousands are equal', () => {
    const free = new FreeNames()
    const names = new Set(Array.from({ length: 100_000 }, () => free.take('same.txt')))
    assert.equal(names.size, 100_000)
    assert.ok(names.has('same (99999).txt'))
  })
})
