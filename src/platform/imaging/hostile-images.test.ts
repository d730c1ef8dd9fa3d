import assert from 'node:assert/strict'
import { type ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import sharp from 'sharp'
import { animatedGif, claimedPng, referringSvg, textBomb } from '../../../test/support/hostile-images.ts'
import { seededRandom, testSeed } from '../../../test/support/random.ts'
import { Busy } from '../../base/scheduling/fair-semaphore.ts'
import { visitorRequester } from '../../base/scheduling/shared-work.ts'
import { WorkersClosed } from '../workers/worker-pool.ts'
import { type ImageOutcome, Images } from './images.ts'

const MiB = 2 ** 20
const undecodable = { failure: 'undecodable' }

function input(bytes: Buffer, maxBytes = 30 * MiB) {
  return {
    owner: '1',
    maxBytes,
    async *read() {
      for (let at = 0; at < bytes.length; at += MiB) yield bytes.subarray(at, at + MiB)
    },
  }
}

const picture = (width = 300, height = 200) =>
  sharp({ create: { width, height, channels: 3, background: '#3366cc' } })

async function sizeOf(outcome: ImageOutcome): Promise<unknown> {
  if ('failure' in outcome) return outcome
  const { format, width, height, pages } = await sharp(outcome.images[0]).metadata()
  return { format, width, height, pages }
}

describe('a hostile image', () => {
  let images: Images
  let honest: Buffer
  before(async () => {
    images = new Images({ slots: 2, perKey: 2 })
    honest = await picture().jpeg().toBuffer()
  })
  after(() => images[Symbol.asyncDispose]())

  // Concurrently with a valid image, which must not be affected.
  async function fit(bytes: Buffer): Promise<unknown> {
    const [outcome, other] = await Promise.all([
      images.fit('a', input(bytes), 48),
      images.fit('b', input(honest), 48),
    ])
    assert.deepEqual(await sizeOf(other), { format: 'jpeg', width: 48, height: 32, pages: undefined })
    return sizeOf(outcome)
  }

  it('that is no image, or truncated, is handled', async () => {
    const webp = await picture().webp().toBuffer()
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('no image'),
      honest.subarray(0, 3),
      webp.subarray(0, 40),
    ])
      assert.deepEqual(await fit(bytes), undecodable)
    for (const kind of ['jpeg', 'png', 'gif', 'tiff', 'avif'] as const) {
      const whole = await picture().toFormat(kind).toBuffer()
      const outcome = await fit(whole.subarray(0, whole.length / 2))
      // A truncated image may be decoded partially, but nothing may hang or crash.
      assert.notDeepEqual(outcome, { failure: 'exhausted' }, kind)
    }
  })

  it('that claims too many pixels is rejected', async () => {
    for (const [width, height] of [
      [65_000, 65_000],
      [2 ** 31 - 1, 2 ** 31 - 1],
      [64_000_001, 1],
      [0, 0],
    ] as const)
      assert.deepEqual(await fit(claimedPng(width, height)), undecodable, `${width} × ${height}`)
    // The maximum number of pixels, compressed to a few kilobytes, is decoded.
    assert.deepEqual(await fit(claimedPng(8000, 8000, 8000)), {
      format: 'jpeg',
      width: 48,
      height: 48,
      pages: undefined,
    })
  })

  it('that is too large is rejected', async () => {
    const outcome = await images.fit('a', input(Buffer.concat([honest, Buffer.alloc(MiB)]), MiB), 48)
    assert.deepEqual(outcome, undecodable)
  })

  it('that is an SVG, PDF or other program is rejected', async () => {
    const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>')
    const postscript = Buffer.from('%!PS\n(/etc/passwd) (r) file')
    const vips = Buffer.from('08f2a6b6', 'hex')
    for (const bytes of [referringSvg, pdf, postscript, vips, Buffer.from('P6 9 9 255\n')])
      assert.deepEqual(await fit(bytes), undecodable, bytes.toString('latin1', 0, 8))
    // A false magic number is rejected, too.
    assert.deepEqual(await fit(Buffer.concat([Buffer.from('GIF89a'), referringSvg])), undecodable)
  })

  it('with 20,000 frames shows the first', async () => {
    assert.deepEqual(await fit(animatedGif(20_000, 3000)), {
      format: 'jpeg',
      width: 48,
      height: 48,
      pages: undefined,
    })
  })

  it('with a compressed text bomb is handled', async () => {
    const outcome = await fit(claimedPng(64, 64, 64, [textBomb(200), textBomb(200)]))
    assert.notDeepEqual(outcome, { failure: 'exhausted' })
  })

  it('that is a polyglot is re-encoded without its other content', async () => {
    const script = '<script>alert(document.domain)</script>'
    const polyglots = [
      Buffer.concat([honest, Buffer.from(`PK\x03\x04${script}`)]),
      Buffer.concat([await picture().png().toBuffer(), Buffer.from(script)]),
      await picture()
        .jpeg()
        .withExif({ IFD0: { Copyright: script } })
        .toBuffer(),
    ]
    for (const bytes of polyglots) {
      assert.ok(bytes.includes(script))
      const outcome = await images.fit('a', input(bytes), 48)
      assert.ok('images' in outcome)
      assert.ok(!Buffer.concat(outcome.images).includes('script'))
    }
  })

  it('with random damage is handled', async (context) => {
    const seed = testSeed()
    context.diagnostic(`seed ${seed}`)
    const random = seededRandom(seed)
    const int = (below: number) => Math.floor(random() * below)
    const originals = [
      honest,
      await picture().png().toBuffer(),
      await picture().webp().toBuffer(),
      await picture().gif().toBuffer(),
      await picture().tiff().toBuffer(),
    ]
    for (let n = 0; n < 60; n += 1) {
      const bytes = Buffer.from(originals[n % originals.length] ?? honest)
      for (let flips = 0; flips < 8; flips += 1) bytes[int(bytes.length)] = int(256)
      const outcome = await images.fit('a', input(bytes), 48)
      assert.notDeepEqual(outcome, { failure: 'exhausted' }, `image ${n} of seed ${seed}`)
    }
  })

  it('is no avatar unless PNG, JPEG or GIF', async () => {
    const made = await images.squares('a', await picture().png().toBuffer(), [32, 72])
    assert.ok('images' in made)
    assert.equal(made.images.length, 2)
    for (const bytes of [await picture().webp().toBuffer(), referringSvg, claimedPng(65_000, 65_000)])
      assert.deepEqual(await images.squares('a', bytes, [32, 72]), undecodable)
  })
})

describe('the processes that decode images', () => {
  let images: Images
  const children: ChildProcess[] = []
  const remember = (message: unknown) => children.push((message as { process: ChildProcess }).process)
  const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null
  beforeEach(() => {
    children.length = 0
    subscribe('child_process', remember)
  })
  afterEach(async () => {
    unsubscribe('child_process', remember)
    await images[Symbol.asyncDispose]()
    assert.deepEqual(children.filter(isRunning), [])
  })
  const large = () => sharp({ create: { width: 8000, height: 8000, channels: 3, background: '#fff' } })

  it('survive an image that takes too much memory, or are replaced', async () => {
    images = new Images({ slots: 1, limits: { processBytes: 256 * MiB } })
    const progressive = await large()
      .jpeg({ progressive: true, quality: 100, chromaSubsampling: '4:4:4' })
      .toBuffer()
    assert.deepEqual(await images.fit('a', input(progressive), 2048), { failure: 'exhausted' })
    const small = await picture(64, 64).png().toBuffer()
    assert.ok('images' in (await images.fit('a', input(small), 48)))
  })

  it('are killed on timeout and replaced', async () => {
    images = new Images({ slots: 1, limits: { workMs: 1 } })
    const png = await large().png({ progressive: true }).toBuffer()
    assert.deepEqual(await images.fit('a', input(png), 2048), { failure: 'exhausted' })
    assert.deepEqual(await images.fit('a', input(Buffer.from('no image')), 48), undecodable)
    assert.equal(children.length, 2)
  })

  it('are killed when the client disconnects, and replaced', async () => {
    images = new Images({ slots: 1 })
    const png = await large().png().toBuffer()
    const left = new AbortController()
    const read = async function* () {
      yield png
      setImmediate(() => left.abort(new Error('gone')))
    }
    await assert.rejects(images.fit('a', { owner: '1', read, maxBytes: 30 * MiB }, 2048, left.signal), /gone/)
    assert.ok('images' in (await images.fit('a', input(await picture().png().toBuffer()), 48)))
  })

  it('are shared: an account gets half, all link visitors together half, and excess jobs are refused', async () => {
    images = new Images({ slots: 2, waiting: 3, waitingPerKey: 2 })
    const small = await picture(64, 64).png().toBuffer()
    const began: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const full = Promise.withResolvers<void>()
    const fit = (requester: string) => {
      const read = async function* () {
        if (began.push(requester) === 2) full.resolve()
        await promise
        yield small
      }
      return images.fit(requester, { owner: requester, read, maxBytes: MiB }, 48).then(
        () => 'made',
        (error) => (error instanceof Busy ? 'busy' : String(error)),
      )
    }
    const visitors = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => fit(visitorRequester(address)))
    const accounts = ['1', '1', '1', '1'].map(fit)
    const other = fit('2')
    await full.promise
    await new Promise((done) => setImmediate(done))
    assert.deepEqual(began.toSorted(), ['1', 'visitor:192.0.2.1'])
    resolve()
    assert.deepEqual(await Promise.all(visitors), ['made', 'made', 'made'])
    assert.deepEqual(await Promise.all(accounts), ['made', 'made', 'busy', 'busy'])
    assert.equal(await other, 'busy')
  })

  it('accept no jobs once closed', async () => {
    images = new Images({ slots: 1 })
    await images[Symbol.asyncDispose]()
    await assert.rejects(images.squares('a', Buffer.from('x'), [32]), WorkersClosed)
    assert.equal(children.length, 0)
  })
})
