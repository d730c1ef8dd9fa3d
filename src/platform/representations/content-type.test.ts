import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { servedAs } from './content-type.ts'

/** Names of files that a browser would execute, or apply to a page, if sent with their own type. */
const HOSTILE =
  'html htm shtml xhtml xht mhtml mht svg svgz xml xsl xslt rss atom rdf gpx kml js mjs cjs jsx css wasm swf hta htc ' +
  'eml jar class appcache manifest webmanifest vbs asp jsonld geojson vtt exe constructor __proto__ ' +
  'hasOwnProperty toString unknown'

const INERT =
  /^(?:image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|application\/pdf|application\/octet-stream)$/

describe('what files of users are sent as', () => {
  for (const ending of HOSTILE.split(' ')) {
    it(`is bytes to be saved for .${ending}`, () => {
      for (const name of [`a.${ending}`, `a.${ending.toUpperCase()}`, `.${ending}`, `a.png.${ending}`]) {
        for (const wantsInline of [true, false]) {
          const { contentType, isInline, policy } = servedAs(name, wantsInline)
          assert.deepEqual([contentType, isInline], ['application/octet-stream', false], name)
          assert.match(policy, /(?:^|; )sandbox(?:;|$)/)
          assert.match(policy, /default-src 'none'/)
        }
      }
    })
  }

  it('is shown for pictures, sound, film and PDF, and text as plain text', () => {
    const shown: Record<string, string> = {
      'a.png': 'image/png',
      'a.JPG': 'image/jpeg',
      'a.webp': 'image/webp',
      'a.mp3': 'audio/mpeg',
      'a.mp4': 'video/mp4',
      'a.pdf': 'application/pdf',
      'a.txt': 'text/plain; charset=utf-8',
      'a.md': 'text/plain; charset=utf-8',
      'a.csv': 'text/plain; charset=utf-8',
      'a.json': 'text/plain; charset=utf-8',
    }
    for (const [name, type] of Object.entries(shown)) {
      const { contentType, isInline } = servedAs(name, true)
      assert.deepEqual([contentType, isInline], [type, true], name)
      assert.deepEqual([servedAs(name, false).contentType, servedAs(name, false).isInline], [type, false])
    }
  })

  it('is nothing else, whatever a file is called', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
    for (const a of letters) {
      for (const b of letters) {
        for (const c of letters) {
          const { contentType } = servedAs(`x.${a}${b}${c}`, true)
          if (contentType === 'text/plain; charset=utf-8') continue
          assert.match(contentType, INERT, `${a}${b}${c}`)
        }
      }
    }
  })

  it('is confined but for a PDF that is shown, which no browser shows in a sandbox', () => {
    for (const name of ['a.png', 'a.mp4', 'a.txt', 'a.html']) {
      for (const wantsInline of [true, false]) {
        assert.match(
          servedAs(name, wantsInline).policy,
          /^sandbox; default-src 'none'; frame-ancestors 'none'/,
        )
      }
    }
    assert.match(servedAs('a.pdf', false).policy, /^sandbox/)
    assert.doesNotMatch(servedAs('a.pdf', true).policy, /sandbox/)
    assert.match(servedAs('a.pdf', true).policy, /frame-ancestors 'none'/)
  })
})
