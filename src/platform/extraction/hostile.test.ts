import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  deepXmlDocx,
  deepXmlFodt,
  entityBomb,
  entityBombDocx,
  formBombPdf,
  heapBombXlsx,
  loopPdfs,
  mailInMail,
  mailOfParts,
  manyEntries,
  nestedMail,
  repeatedChapters,
  streamBombPdf,
  zipBomb,
} from '../../../test/support/documents/hostile.ts'
import { makeMail } from '../../../test/support/documents/mail.ts'
import { makeSamples } from '../../../test/support/documents/samples.ts'
import { seededRandom, testSeed } from '../../../test/support/random.ts'
import { createTextExtractor, type Extracted, type TextExtractor } from './text-extractor.ts'

const MiB = 2 ** 20

function file(name: string, bytes: Buffer) {
  return {
    name,
    size: bytes.length,
    owner: '1',
    read: async function* () {
      for (let at = 0; at < bytes.length; at += MiB) yield bytes.subarray(at, at + MiB)
    },
  }
}

/**
 * Fails if the event loop is held up for 500 ms of CPU time at once while something is under way. CPU time of this thread, because the
 * time between two turns also grows while other processes have the CPU.
 */
async function whileResponsive<T>(work: () => Promise<T>): Promise<T> {
  let before = process.threadCpuUsage()
  let longestMs = 0
  const turn = () => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1000)
  }
  const watching = setInterval(turn, 10)
  try {
    return await work()
  } finally {
    clearInterval(watching)
    turn()
    // Generous. What hostile files do to an event loop is seconds.
    assert.ok(longestMs < 500, `the event loop was held up for ${longestMs} ms`)
  }
}

describe('a hostile file', () => {
  let extractor: TextExtractor
  before(() => {
    extractor = createTextExtractor({ simpleBytes: 0, threads: 2, limits: { workMs: 10_000 } })
  })
  after(() => extractor.close())

  // It does what it does beside an honest file, which must not suffer.
  async function extract(name: string, bytes: Buffer): Promise<Extracted> {
    const [extracted, honest] = await whileResponsive(() =>
      Promise.all([
        extractor.extract(file(name, bytes)),
        extractor.extract(file('honest.txt', Buffer.from('honest'))),
      ]),
    )
    assert.deepEqual(honest, { text: 'honest', truncated: false })
    return extracted
  }

  it('that unpacks to ten gigabytes yields the text before the limit', async () => {
    assert.deepEqual(await extract('bomb.docx', zipBomb(10)), { text: 'before', truncated: true })
  })

  it('with nested zip bombs is cut at the limit', async () => {
    const attached = {
      type: 'application/zip',
      body: zipBomb(1),
      encoding: 'base64',
      filename: 'bomb.docx',
    } as const
    const mail = makeMail(
      ['Subject: boom'],
      Array.from({ length: 30 }, () => attached),
    )
    const extracted = await extract('bomb.eml', mail)
    assert.ok('text' in extracted && extracted.truncated)
    assert.match(extracted.text, /^Subject: boom\n\nbomb\.docx\nbefore/)
  })

  it('that refers to one large part ten thousand times is cut', async () => {
    assert.deepEqual(await extract('bomb.epub', repeatedChapters()), { text: '', truncated: true })
  })

  it('with a hundred thousand parts is rejected', async () => {
    assert.deepEqual(await extract('many.docx', manyEntries(100_000)), { reason: 'has too many parts' })
  })

  it('with an entity bomb is read without expanding entities', async () => {
    const expected = { text: 'before &e9; after', truncated: false }
    assert.deepEqual(await extract('laughs.docx', entityBombDocx()), expected)
    const flat = `${entityBomb()}<office:document><text:p>before &e9; after</text:p></office:document>`
    assert.deepEqual(await extract('laughs.fodt', Buffer.from(flat)), expected)
    assert.ok('text' in (await extract('laughs.xml', Buffer.from(entityBomb()))))
  })

  it('with a million nested elements is read', async () => {
    assert.deepEqual(await extract('deep.docx', deepXmlDocx(1_000_000)), { text: 'bottom', truncated: false })
    assert.deepEqual(await extract('deep.fodt', deepXmlFodt(1_000_000)), { text: 'bottom', truncated: false })
    const html = `${'<div>'.repeat(300_000)}bottom`
    assert.deepEqual(await extract('deep.html', Buffer.from(html)), { text: 'bottom', truncated: false })
    const rtf = `{\\rtf1 ${'{'.repeat(1_000_000)}bottom`
    assert.deepEqual(await extract('deep.rtf', Buffer.from(rtf)), { text: 'bottom', truncated: false })
  })

  it('that is a message of ten thousand parts, nested or not, is cut', async () => {
    assert.deepEqual(await extract('nested.eml', nestedMail(10_000)), {
      text: 'Subject: nested',
      truncated: true,
    })
    for (const mail of [mailInMail(10_000), mailOfParts(10_000)]) {
      const extracted = await extract('mail.eml', mail)
      assert.ok('text' in extracted && extracted.truncated)
    }
  })

  for (const [name, bytes] of Object.entries(loopPdfs())) {
    it(`may be a PDF with ${name}`, async () => {
      const extracted = await extract('loop.pdf', bytes)
      assert.ok('text' in extracted || /damaged/.test(extracted.reason), JSON.stringify(extracted))
    })
  }

  it('that is truncated anywhere yields text or an error', async () => {
    const pdf = makeSamples()['sample.pdf'] ?? Buffer.alloc(0)
    for (let part = 0; part < 20; part += 1) {
      const extracted = await extract('cut.pdf', pdf.subarray(0, (pdf.length * part) / 20))
      assert.ok('text' in extracted || /damaged/.test(extracted.reason), JSON.stringify(extracted))
    }
  })

  it('whose content does not match its name yields text or an error', async () => {
    const samples = Object.entries(makeSamples())
    const lies = samples.flatMap(([, bytes], index) =>
      samples
        .filter((_, other) => (index + other) % 3 === 0)
        .map(([name]) => extractor.extract(file(name, bytes))),
    )
    for (const extracted of await whileResponsive(() => Promise.all(lies))) {
      assert.ok(
        'text' in extracted || /not what its name says|damaged|not text/.test(extracted.reason),
        JSON.stringify(extracted),
      )
    }
  })

  it('that is a text of a gigabyte is read only at its beginning', async () => {
    let asked = 0
    const line = Buffer.from('all work and no play makes a dull library\n'.repeat(25_000))
    const gigabyte = async function* () {
      for (; asked < 1024; asked += 1) yield line
    }
    const extracted = await whileResponsive(() =>
      extractor.extract({ name: 'long.log', size: 1024 * line.length, owner: '1', read: gigabyte }),
    )
    assert.ok('text' in extracted && extracted.truncated)
    assert.equal(extracted.text.length, MiB)
    assert.ok(asked < 6, `${asked} MiB were read`)
  })
})

describe('a file that never ends', () => {
  it('is stopped after its CPU time limit, while other files are read', async () => {
    await using extractor = disposable(
      createTextExtractor({ simpleBytes: 0, threads: 2, limits: { workMs: 1500 } }),
    )
    const bomb = formBombPdf(10, 10)
    const ended = new AbortController()
    await whileResponsive(async () => {
      const endless = extractor.extract(file('endless.pdf', bomb)).finally(() => {
        ended.abort()
      })
      let honest = 0
      while (!ended.signal.aborted) {
        const extracted = await extractor.extract(file('honest.txt', Buffer.from('honest')))
        assert.deepEqual(extracted, { text: 'honest', truncated: false })
        honest += 1
      }
      assert.deepEqual(await endless, { reason: 'takes too long to read' })
      assert.ok(honest > 5, `${honest} honest files were read meanwhile`)
    })
    const next = await extractor.extract(file('next.txt', Buffer.from('next')))
    assert.deepEqual(next, { text: 'next', truncated: false })
  })

  it('is stopped after its wall-clock limit, too', async () => {
    await using extractor = disposable(
      createTextExtractor({ simpleBytes: 0, threads: 1, limits: { timeoutMs: 3000 } }),
    )
    const extracted = await extractor.extract(file('endless.pdf', formBombPdf(10, 10)))
    assert.deepEqual(extracted, { reason: 'takes too long to read' })
  })

  it('is stopped at once when the request is aborted', async () => {
    await using extractor = disposable(createTextExtractor({ simpleBytes: 0, threads: 1 }))
    await extractor.extract(file('a.txt', Buffer.from('started')))
    const bomb = formBombPdf(10, 10)
    const abandoned = new AbortController()
    const read = async function* () {
      yield bomb
      setTimeout(() => abandoned.abort(new Error('nobody waits')), 300)
    }
    const endless = extractor.extract(
      { name: 'a.pdf', size: bomb.length, owner: '1', read },
      { signal: abandoned.signal },
    )
    await assert.rejects(endless, /nobody waits/)
    const next = await extractor.extract(file('next.txt', Buffer.from('next')))
    assert.deepEqual(next, { text: 'next', truncated: false })
  })
})

describe('a file that takes all memory', () => {
  it('is stopped when the heap of its worker is full', async () => {
    await using extractor = disposable(
      createTextExtractor({ simpleBytes: 0, threads: 1, limits: { heapBytes: 48 * MiB, workMs: 60_000 } }),
    )
    const bomb = heapBombXlsx()
    const extracted = await whileResponsive(() => extractor.extract(file('heap.xlsx', bomb)))
    assert.deepEqual(extracted, { reason: 'needs too much memory to read' })
    const next = await extractor.extract(file('next.txt', Buffer.from('next')))
    assert.deepEqual(next, { text: 'next', truncated: false })
  })

  it('is stopped when its worker exceeds the memory limit', async () => {
    await using extractor = disposable(
      createTextExtractor({
        simpleBytes: 0,
        threads: 1,
        limits: { processBytes: 300 * MiB, workMs: 60_000 },
      }),
    )
    const bomb = streamBombPdf(10)
    const extracted = await whileResponsive(() => extractor.extract(file('blanks.pdf', bomb)))
    assert.deepEqual(extracted, { reason: 'needs too much memory to read' })
    const next = await extractor.extract(file('next.txt', Buffer.from('next')))
    assert.deepEqual(next, { text: 'next', truncated: false })
  })
})

describe('a file with random damage', () => {
  const seed = testSeed()
  const rounds = 25

  it(`gives text or a reason and never brings its worker down (seed ${seed})`, async () => {
    await using extractor = disposable(
      createTextExtractor({ simpleBytes: 0, threads: 2, limits: { workMs: 10_000 } }),
    )
    const random = seededRandom(seed)
    for (const [name, bytes] of Object.entries(makeSamples())) {
      const damaged = Array.from({ length: rounds }, () => damage(bytes, random))
      const answers = await Promise.all(damaged.map((bytes) => extractor.extract(file(name, bytes))))
      for (const extracted of answers) {
        const isFine = 'text' in extracted || !/crash|memory|too long/.test(extracted.reason)
        assert.ok(isFine, `${name} ${JSON.stringify(extracted)}`)
      }
    }
  })
})

function damage(bytes: Buffer, random: () => number): Buffer {
  const at = () => Math.floor(random() * bytes.length)
  const changed = Buffer.from(bytes)
  switch (Math.floor(random() * 5)) {
    case 0:
      return changed.subarray(0, at())
    case 1:
      return Buffer.concat([changed.subarray(0, at()), changed.subarray(at())])
    case 2:
      return changed.fill(Math.floor(random() * 256), at(), at())
    case 3: {
      const start = at()
      return Buffer.concat([
        changed.subarray(0, start),
        changed.subarray(start / 2, start),
        changed.subarray(start),
      ])
    }
    default:
      for (let count = 1 + Math.floor(random() * 20); count > 0; count -= 1) {
        changed[at()] = Math.floor(random() * 256)
      }
      return changed
  }
}

function disposable(extractor: TextExtractor): TextExtractor & AsyncDisposable {
  return {
    extract: (input, options) => extractor.extract(input, options),
    close: () => extractor.close(),
    [Symbol.asyncDispose]: () => extractor.close(),
  }
}
