import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../responses/refusal.ts'
import { parseMultipart } from './body.ts'

const type = 'multipart/form-data; boundary=XX'

/** Encodes parts, each given as its headers, a blank line and its content. */
function bodyOf(...parts: string[]): string {
  return `${parts.map((part) => `--XX\r\n${part}\r\n`).join('')}--XX--\r\n`
}

function parse(body: string | Buffer, contentType = type) {
  return parseMultipart(contentType, Buffer.from(body), 100)
}

describe('a multipart form', () => {
  const named = (parameters: string, content = 'v') =>
    `Content-Disposition: form-data; ${parameters}\r\n\r\n${content}`
  const texts: [about: string, body: string, name: string, value: string][] = [
    ['a plain part', bodyOf(named('name="a"')), 'a', 'v'],
    ['a name without quotes', bodyOf(named('name=a')), 'a', 'v'],
    ['escaped quotes in a name', bodyOf(named('name="a\\"b\\\\c"')), 'a"b\\c', 'v'],
    ['a semicolon in a name', bodyOf(named('name="a; name=b"')), 'a; name=b', 'v'],
    [
      'headers in any case',
      bodyOf('CONTENT-DISPOSITION: form-data; NAME="a"\r\nx-other: 1\r\n\r\nv'),
      'a',
      'v',
    ],
    ['a part of no content', bodyOf(named('name="a"', '')), 'a', ''],
    [
      'a part that shares its line break',
      '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n--XX--',
      'a',
      '',
    ],
    [
      'line breaks in the content',
      bodyOf(named('name="a"', '\r\n1\r\n--X\r\n2\n')),
      'a',
      '\r\n1\r\n--X\r\n2\n',
    ],
    ['UTF-8 everywhere', bodyOf(named('name="ä"', '📚')), 'ä', '📚'],
    [
      'blanks after the boundary',
      '--XX \t\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n--XX--',
      'a',
      'v',
    ],
    ['a preamble and an epilogue', `before\r\n${bodyOf(named('name="a"'))}after`, 'a', 'v'],
    [
      'a content-type of its own',
      bodyOf('Content-Type: text/plain; charset=UTF-8\r\nContent-Disposition: form-data; name="a"\r\n\r\nv'),
      'a',
      'v',
    ],
    ['the name __proto__', bodyOf(named('name="__proto__"')), '__proto__', 'v'],
  ]
  for (const [about, body, name, value] of texts) {
    it(`may have ${about}`, async () => assert.deepEqual(await parse(body), [[name, value]]))
  }

  it('keeps its parts in order', async () => {
    assert.deepEqual(
      await parse(bodyOf(named('name="a"', '1'), named('name="b"', '2'), named('name="a"', '3'))),
      [
        ['a', '1'],
        ['b', '2'],
        ['a', '3'],
      ],
    )
  })

  it('may have no parts at all', async () => assert.deepEqual(await parse('--XX--\r\n'), []))

  it('gives files with their bytes untouched', async () => {
    const bytes = Buffer.from([0, 0xff, 0x0d, 0x0a, 0x2d, 0x2d])
    const head =
      '--XX\r\nContent-Disposition: form-data; name="f"; filename="ö.bin"\r\nContent-Type: image/png\r\n\r\n'
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--XX--\r\n')])
    assert.deepEqual(await parse(body), [['f', { filename: 'ö.bin', contentType: 'image/png', bytes }]])
  })

  it('prefers a file name that says how it is encoded', async () => {
    const [part] = await parse(bodyOf(named(`name="f"; filename="x.txt"; filename*=UTF-8''%C3%B6%20%22.txt`)))
    assert.equal(typeof part?.[1] === 'object' && part[1].filename, 'ö ".txt')
  })

  it('marks bytes that are not UTF-8, so that no reader takes them', async () => {
    const body = Buffer.from(bodyOf(named('name="a"', '\xff')), 'latin1')
    assert.deepEqual(await parse(body), [['a', '\udcff']])
  })

  const malformed: [about: string, body: string, contentType?: string][] = [
    ['no boundary in its type', bodyOf(named('name="a"')), 'multipart/form-data'],
    ['an empty boundary', bodyOf(named('name="a"')), 'multipart/form-data; boundary='],
    ['an endless boundary', bodyOf(named('name="a"')), `multipart/form-data; boundary=${'x'.repeat(201)}`],
    ['another boundary', bodyOf(named('name="a"')), 'multipart/form-data; boundary=YY'],
    ['a part cut short', '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nv'],
    ['headers cut short', '--XX\r\nContent-Disposition: form-data; name="a"'],
    ['a part without a name', bodyOf('Content-Disposition: form-data\r\n\r\nv')],
    ['a part without headers', bodyOf('\r\nv')],
    ['text behind a boundary', '--XXa\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n--XX--'],
    ['too many parts', bodyOf(...Array.from({ length: 101 }, () => named('name="a"')))],
    ['nothing but text', 'name=value'],
  ]
  for (const [about, body, contentType] of malformed) {
    it(`is refused with ${about}`, () => {
      return assert.rejects(
        parse(body, contentType),
        (error) =>
          error instanceof Refusal &&
          error.status === 400 &&
          /^Multipart form parse error - ./.test((error.body as { detail: string }).detail),
      )
    })
  }
})
