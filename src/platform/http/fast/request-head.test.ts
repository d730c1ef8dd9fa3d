import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProtocolError } from '../protocol-error.ts'
import { MAX_HEAD_BYTES, MAX_HEADER_FIELDS } from '../transport.ts'
import { HeadReader } from './request-head.ts'

const read = (text: string) => new HeadReader().read(Buffer.from(text, 'latin1'))

function refusalOf(text: string): number | undefined {
  try {
    read(text)
  } catch (error) {
    assert(error instanceof ProtocolError)
    return error.status
  }
  return undefined
}

const get = (lines: string) => `GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`
const post = (lines: string) => `POST / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`

describe('the head of a request', () => {
  it('is read once it is all there, and not before', () => {
    const text = 'PUT /a%20b?c=d HTTP/1.1\r\nHost: a\r\nX-One:  two words \t\r\nx-empty:\r\n\r\n'
    for (let length = 0; length < text.length; length += 1) {
      assert.equal(read(text.slice(0, length)), undefined)
    }
    const found = read(`${text}body`)
    assert.deepEqual(
      [found?.head.method, found?.head.url, found?.head.isHttp11, found?.end],
      ['PUT', '/a%20b?c=d', true, text.length],
    )
    assert.deepEqual(
      ['host', 'x-one', 'x-empty', 'x-other'].map((name) => found?.head.headers.one(name)),
      ['a', 'two words', '', undefined],
    )
    assert.deepEqual({ ...found?.head.headers.all }, { host: 'a', 'x-one': 'two words', 'x-empty': '' })
  })

  it('gives headers sent several times as Node does', () => {
    const { all } = read(
      get(
        'A: 1\r\na: 2\r\nCookie: b=1\r\ncookie: c=2\r\nSet-Cookie: x\r\nset-cookie: y\r\nContent-Type: t\r\nContent-Type: u\r\n__proto__: p\r\n',
      ),
    )?.head.headers ?? { all: {} }
    assert.deepEqual(
      { ...all },
      {
        host: 'a',
        a: '1, 2',
        cookie: 'b=1; c=2',
        'set-cookie': ['x', 'y'],
        'content-type': 't',
        ['__proto__']: 'p',
      },
    )
  })

  it('is worked out once for the same headers, and anew for others', () => {
    const reader = new HeadReader()
    const one = reader.read(Buffer.from(get('A: 1\r\n')))
    const same = reader.read(Buffer.from(get('A: 1\r\n').replace('GET /', 'PUT /b')))
    const other = reader.read(Buffer.from(get('A: 2\r\n')))
    assert.equal(one?.head.headers, same?.head.headers)
    assert.equal(same?.head.url, '/b')
    assert.equal(other?.head.headers.one('a'), '2')
  })

  it('keeps nothing of the memory it was read from', () => {
    const bytes = Buffer.from(get(`Authorization: Token ${'a'.repeat(40)}\r\n`))
    const reader = new HeadReader()
    const token = reader.read(bytes)?.head.headers.one('authorization')
    bytes.fill('x')
    assert.equal(token, `Token ${'a'.repeat(40)}`)
    assert.equal(reader.read(Buffer.from(get('B: 1\r\n')))?.head.headers.one('authorization'), undefined)
  })

  const taken: [about: string, text: string][] = [
    ['an empty line before it', `\r\n${get('')}`],
    ['bytes above ASCII in a value', get('X-Name: caf\xe9\r\n')],
    ['HTTP/1.0 without a host', 'GET / HTTP/1.0\r\n\r\n'],
    ['a whole URL', 'GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a star', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an address and a port for a host', 'GET / HTTP/1.1\r\nHost: [2001:db8::1]:8000\r\n\r\n'],
    ['an empty host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
    ['chunks', post('Transfer-Encoding: Chunked\r\n')],
    ['a length', post('Content-Length: 0012\r\n')],
    ['as much as it may be long', get(`A: ${'a'.repeat(MAX_HEAD_BYTES - get('A: \r\n').length + 4)}\r\n`)],
  ]
  for (const [about, text] of taken) {
    it(`may have ${about}`, () => assert.notEqual(read(text), undefined))
  }

  const refused: [about: string, text: string, status: number][] = [
    ['two empty lines before it', `\r\n\r\n${get('')}`, 400],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['another version', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 400],
    ['no version', 'GET /\r\nHost: a\r\n\r\n', 400],
    ['two spaces', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a tab for a space', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['something behind the version', 'GET / HTTP/1.1 x\r\nHost: a\r\n\r\n', 400],
    ['a path without a slash', 'GET a HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a quote in the host of a whole URL', 'GET http://a"/b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a user in a whole URL', 'GET http://u@a/b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a tunnel for a method', 'CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['another scheme', 'GET file:///etc HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a control character in the path', 'GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a line feed alone', 'GET / HTTP/1.1\nHost: a\r\n\r\n', 400],
    ['a line feed alone between headers', get('A: 1\nB: 2\r\n'), 400],
    ['a carriage return alone', get('A: 1\rB: 2\r\n'), 400],
    ['a carriage return at the end', get('A: 1\r\r\n'), 400],
    ['a header that goes on in the next line', get('A: 1\r\n B: 2\r\n'), 400],
    ['a space before the colon', get('A : 1\r\n'), 400],
    ['a space in a name', get('A B: 1\r\n'), 400],
    ['no colon', get('A\r\n'), 400],
    ['no name', get(': 1\r\n'), 400],
    ['a name above ASCII', get('\xc4: 1\r\n'), 400],
    ['NUL in a value', get('A: \0\r\n'), 400],
    ['DEL in a value', get('A: \x7f\r\n'), 400],
    ['a host with a space', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['a host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['a host with a user', 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n', 400],
    ['a host with half an address', 'GET / HTTP/1.1\r\nHost: [::1\r\n\r\n', 400],
    ['a host with a port that is none', 'GET / HTTP/1.1\r\nHost: a:8o\r\n\r\n', 400],
    ['a host above ASCII', 'GET / HTTP/1.1\r\nHost: \xe4\r\n\r\n', 400],
    ['a host that is none in HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a b\r\n\r\n', 400],
    ['two hosts', get('Host: b\r\n'), 400],
    ['the same length twice', post('Content-Length: 1\r\nContent-Length: 1\r\n'), 400],
    ['a list of lengths', post('Content-Length: 1, 1\r\n'), 400],
    ['a length with a sign', post('Content-Length: +1\r\n'), 400],
    ['a length in hex', post('Content-Length: 0x1\r\n'), 400],
    ['a length with a dot', post('Content-Length: 1.0\r\n'), 400],
    ['an empty length', post('Content-Length:\r\n'), 400],
    ['a length nobody can count', post('Content-Length: 9999999999999999\r\n'), 400],
    ['chunks and a length', post('Transfer-Encoding: chunked\r\nContent-Length: 1\r\n'), 400],
    ['a tab behind chunks', post('Transfer-Encoding: chunked\t\r\n'), 400],
    ['chunks twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'), 501],
    ['chunks of something packed', post('Transfer-Encoding: gzip, chunked\r\n'), 501],
    ['something like chunks', post('Transfer-Encoding: xchunked\r\n'), 501],
    ['chunks in quotes', post('Transfer-Encoding: "chunked"\r\n'), 501],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['another expectation', post('Expect: 200-ok\r\n'), 417],
    ['too many bytes', get(`A: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n`), 431],
    ['too many fields', get('A: 1\r\n'.repeat(MAX_HEADER_FIELDS)), 431],
    ['too many bytes and no end', `GET /${'a'.repeat(MAX_HEAD_BYTES)}`, 431],
  ]
  for (const [about, text, status] of refused) {
    it(`with ${about} is refused with ${status}`, () => assert.equal(refusalOf(text), status))
  }
})
