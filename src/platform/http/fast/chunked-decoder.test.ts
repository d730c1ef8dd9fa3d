import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProtocolError } from '../protocol-error.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'

/** Feeds `text` in pieces of `size` bytes. Returns the body and the remaining bytes. */
function decode(text: string, size: number): { body: string; rest: string; isDone: boolean } {
  const decoder = new ChunkedDecoder()
  const bytes = Buffer.from(text, 'latin1')
  let body = ''
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    const used = decoder.feed(piece, (part) => {
      body += part.toString('latin1')
    })
    if (used < piece.length) {
      return { body, rest: bytes.toString('latin1', at + used), isDone: decoder.isDone }
    }
  }
  return { body, rest: '', isDone: decoder.isDone }
}

describe('a body in chunks', () => {
  const whole = '5;name="a b"\r\nhello\r\n009;x\r\n, \r\nworld\r\n0\r\nTrailer: x\r\n\r\nGET / '
  it('is the same however it arrives', () => {
    for (let size = 1; size <= whole.length; size += 1) {
      const { body, rest, isDone } = decode(whole, size)
      assert.deepEqual([body, isDone], ['hello, \r\nworld', true])
      assert.ok('GET / '.startsWith(rest))
    }
  })

  it('is one piece for all chunks that came together', () => {
    const decoder = new ChunkedDecoder()
    const pieces: Buffer[] = []
    const sent = Buffer.from('1\r\na\r\n'.repeat(10_000))
    assert.equal(
      decoder.feed(sent, (piece) => pieces.push(piece)),
      sent.length,
    )
    assert.deepEqual(
      pieces.map((piece) => piece.length),
      [10_000],
    )
    // The framing of the chunks is not retained in memory.
    assert.notEqual(pieces[0]?.buffer, sent.buffer)
  })

  it('ends behind its last line', () => {
    assert.deepEqual(decode('0\r\n\r\nnext', 100), { body: '', rest: 'next', isDone: true })
    assert.equal(decode('1\r\na\r\n0\r\n', 100).isDone, false)
  })

  const refused: [about: string, text: string][] = [
    ['no size', '\r\n'],
    ['a size that is none', 'x\r\n'],
    ['a size with a sign', '-1\r\n'],
    ['a size in another notation', '0x1\r\n'],
    ['a space before the size', ' 1\r\na\r\n'],
    ['a size nobody can count', 'fffffffffffff\r\n'],
    ['a line feed alone', '1\na\r\n'],
    ['a space after the size', '1 \r\na\r\n'],
    ['an extension without a name', '1;\r\na\r\n'],
    ['an open quote in an extension', '1;a="b\r\na\r\n'],
    ['an extension without a value', '1;a=\r\na\r\n'],
    ['extensions without end', '1;a=bbbbbbbbbbbbbbbbbbbbbbbbbb\r\na\r\n'.repeat(1000)],
    ['a trailer without a colon', '0\r\nX\r\n\r\n'],
    ['a trailer without a name', '0\r\n: x\r\n\r\n'],
    ['a space before the colon of a trailer', '0\r\nX : y\r\n\r\n'],
    ['a trailer that goes on in the next line', '0\r\nX: y\r\n z\r\n\r\n'],
    ['NUL in a trailer', '0\r\nX: \0\r\n\r\n'],
    ['a carriage return in a trailer', '0\r\nX: a\rb\r\n\r\n'],
    ['a length among the trailers', '0\r\nContent-Length: 5\r\n\r\n'],
    ['chunks among the trailers', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a host among the trailers', '0\r\nhost: b\r\n\r\n'],
    ['a carriage return in an extension', '1;a\rb\r\na\r\n'],
    ['more bytes than it said', '1\r\nab\r\n'],
    ['an endless line', `1;${'a'.repeat(5000)}`],
    ['endless trailers', `0\r\n${'A: b\r\n'.repeat(2000)}`],
  ]
  for (const [about, text] of refused) {
    it(`with ${about} is refused`, () => {
      for (const size of [1, 3, text.length]) assert.throws(() => decode(text, size), ProtocolError)
    })
  }
})
