import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { zipSync } from 'fflate'
import sharp from 'sharp'
import { referringSvg } from '../../../test/support/hostile-images.ts'
import {
  colored,
  coloredPdf,
  mp3With,
  packageWith,
  pdfOf,
  svgOf,
} from '../../../test/support/preview-files.ts'
import { seededRandom, testSeed } from '../../../test/support/random.ts'
import { rounds } from '../../../test/support/tier.ts'
import type { ImageSource } from './image-formats.ts'
import { type ImageOutcome, Images } from './images.ts'

const MiB = 2 ** 20
const undecodable = { failure: 'undecodable' }
const heic = readFileSync(path.join(import.meta.dirname, '../../../test/fixtures/photo.heic'))

describe('previews of files that are not plain images', () => {
  let images: Images
  let jpeg: Buffer
  before(async () => {
    images = new Images({ slots: 1, perKey: 1 })
    jpeg = await colored('#3366cc')
  })
  after(() => images[Symbol.asyncDispose]())

  function fit(source: ImageSource, bytes: Buffer, side = 64): Promise<ImageOutcome> {
    const read = async function* () {
      for (let at = 0; at < bytes.length; at += MiB) yield bytes.subarray(at, at + MiB)
    }
    return images.fit('a', { owner: '1', source, read, maxBytes: 64 * MiB }, side)
  }
  /** Size and color of the upper left corner, rounded, because JPEG is lossy. */
  async function seen(outcome: ImageOutcome): Promise<unknown> {
    if ('failure' in outcome) return outcome
    const { data, info } = await sharp(outcome.images[0]).raw().toBuffer({ resolveWithObject: true })
    return [info.width, info.height, ...data.subarray(0, 3).map((byte) => Math.round(byte / 51))]
  }
  const blue = [1, 2, 4]

  it('show a photo, a drawing, a page, a cover, a preview', async () => {
    assert.deepEqual(await seen(await fit('pixels', heic)), [64, 48, ...blue])
    assert.deepEqual(await seen(await fit('svg', svgOf('#3366cc'))), [64, 48, ...blue])
    assert.deepEqual(await seen(await fit('pdf', coloredPdf('0.2 0.4 0.8'))), [43, 64, ...blue])
    assert.deepEqual(await seen(await fit('audio', mp3With(jpeg))), [64, 48, ...blue])
    for (const name of ['docProps/thumbnail.jpeg', 'preview.jpg', 'OEBPS/images/cover.jpg'])
      assert.deepEqual(await seen(await fit('package', packageWith(name, jpeg))), [64, 48, ...blue], name)
  })

  it('are none for a file without a picture', async () => {
    const nothing = Buffer.from('nothing that anybody could show')
    for (const source of ['pixels', 'svg', 'pdf', 'audio', 'package'] as const) {
      for (const bytes of [Buffer.alloc(0), nothing]) assert.deepEqual(await fit(source, bytes), undecodable)
    }
    const document = packageWith('word/document.xml', Buffer.from('<document/>'))
    assert.deepEqual(await fit('package', document), undecodable)
    // A preview or cover must be an image itself, not something that would be drawn.
    assert.deepEqual(await fit('package', packageWith('docProps/thumbnail.png', referringSvg)), undecodable)
    assert.deepEqual(await fit('audio', mp3With(svgOf('red'), 'image/svg+xml')), undecodable)
  })

  it('load nothing from outside an SVG', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const style = `<style>@import url("${at}/style"); rect { fill: url(${at}/fill) }</style>`
      const image = `<image href="${at}/image" width="9" height="9"/><use href="${at}/use#a"/>`
      const file = '<image href="file:///etc/hostname" width="32" height="24"/>'
      const script = `<script href="${at}/script">fetch("${at}/run")</script>`
      assert.ok('images' in (await fit('svg', svgOf('#3366cc', style + image + file + script))))
      assert.deepEqual(asked, [])
    } finally {
      server.close()
    }
    // Entities are never taken from files.
    const entity = referringSvg.toString().replace('<text>', '<text x="5" y="50">')
    assert.notDeepEqual(await fit('svg', Buffer.from(entity)), { failure: 'exhausted' })
  })

  it('survive an SVG that expands, nests or repeats without end', async () => {
    const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`)
    const bombs = [
      `<!DOCTYPE svg [<!ENTITY e0 "ha">${laughs.join('')}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e9;</text></svg>`,
      svgOf('red', '<g>'.repeat(100_000)).toString(),
      svgOf('red', '<g id="a"><use href="#a"/></g>').toString(),
      svgOf(
        'red',
        '<filter id="f"><feGaussianBlur stdDeviation="1e9"/></filter><g filter="url(#f)"/>',
      ).toString(),
    ]
    for (const bomb of bombs) await fit('svg', Buffer.from(bomb))
    assert.deepEqual(await seen(await fit('svg', svgOf('#3366cc'))), [64, 48, ...blue])
  })

  it('have a bounded size whatever the file claims', async () => {
    const huge = pdfOf('0.2 0.4 0.8 rg 0 0 99999999 99999999 re f', { box: '0 0 99999999 99999999' })
    const page = await fit('pdf', huge)
    if ('images' in page) assert.equal((await sharp(page.images[0]).metadata()).width, 64)
    assert.deepEqual(await fit('pdf', pdfOf('', { box: '0 0 10000 1' })), undecodable)
    const tall = svgOf('red').toString().replace('height="24"', 'height="2000000000"')
    const drawing = await fit('svg', Buffer.from(tall))
    if ('images' in drawing) assert.equal((await sharp(drawing.images[0]).metadata()).height, 64)
    const claiming = Buffer.from(heic)
    for (let at = claiming.indexOf('ispe'); at >= 0; at = claiming.indexOf('ispe', at + 1)) {
      claiming.writeUInt32BE(100_000, at + 8)
      claiming.writeUInt32BE(100_000, at + 12)
    }
    assert.deepEqual(await fit('pixels', claiming), undecodable)
    assert.notDeepEqual(await fit('audio', mp3With(jpeg, 'image/jpeg', 0x7fffffff)), { failure: 'exhausted' })
  })

  it('unpack no zip bomb', async () => {
    const zeros = zipSync({ 'docProps/thumbnail.jpeg': new Uint8Array(40 * MiB) }, { level: 1 })
    assert.deepEqual(await fit('package', Buffer.from(zeros)), undecodable)
    // The directory claims one byte for what unpacks to 40 MiB.
    const lying = Buffer.from(zeros)
    lying.writeUInt32LE(1, lying.indexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24)
    assert.deepEqual(await fit('package', lying), undecodable)
  })

  it('run no script of a PDF, and need no password that is missing', async () => {
    const script = '/OpenAction<</S/JavaScript/JS(while(true){})>>'
    const outcome = await fit('pdf', pdfOf('0.2 0.4 0.8 rg 0 0 200 300 re f', { catalog: script }))
    assert.deepEqual(await seen(outcome), [43, 64, ...blue])
    const cyclic = coloredPdf('1 0 0').toString().replace('/Kids[3 0 R]', '/Kids[2 0 R]')
    assert.notDeepEqual(await fit('pdf', Buffer.from(cyclic)), { failure: 'exhausted' })
  })

  it('survive random damage', async (context) => {
    const seed = testSeed()
    context.diagnostic(`seed ${seed}`)
    const random = seededRandom(seed)
    const int = (below: number) => Math.floor(random() * below)
    const originals: readonly (readonly [ImageSource, Buffer])[] = [
      ['pixels', heic],
      [
        'svg',
        svgOf(
          '#3366cc',
          '<path d="M1 1L9 9Z" transform="rotate(9)"/><image href="data:image/png;base64,AA"/>',
        ),
      ],
      ['pdf', coloredPdf('0.2 0.4 0.8')],
      ['audio', mp3With(jpeg)],
      ['package', packageWith('docProps/thumbnail.jpeg', jpeg)],
    ]
    for (let n = 0; n < rounds(20, 100, 200); n += 1) {
      const [source, original] = originals[n % originals.length] ?? ['svg', jpeg]
      const bytes = Buffer.from(n % 4 === 3 ? original.subarray(0, int(original.length)) : original)
      for (let flips = 0; flips < 6 && bytes.length > 0; flips += 1) bytes[int(bytes.length)] = int(256)
      const outcome = await fit(source, bytes)
      assert.notDeepEqual(outcome, { failure: 'exhausted' }, `${source} ${n} of seed ${seed}`)
    }
    assert.deepEqual(await seen(await fit('pixels', heic)), [64, 48, ...blue])
  })
})
