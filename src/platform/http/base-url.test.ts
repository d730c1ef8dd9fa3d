import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, it } from 'node:test'
import { baseUrlOf, parsePublicUrl } from './base-url.ts'
import { parseTrustedProxies } from './client-address.ts'

describe('the base of links', () => {
  const trust = parseTrustedProxies(['10.0.0.1'])
  const fallback = 'http://192.0.2.1:8000'
  const base = (remoteAddress: string, headers: IncomingHttpHeaders, publicUrl?: string) =>
    baseUrlOf(addressed(remoteAddress, headers), { trust, publicUrl })
  const addressed = (remoteAddress: string, headers: IncomingHttpHeaders) => ({
    socket: { remoteAddress, localAddress: '192.0.2.1', localPort: 8000 },
    isEncrypted: false,
    head: { url: '/', headers: { all: headers } },
  })

  const hosts: [host: string, url: string][] = [
    ['files.example.org', 'http://files.example.org'],
    ['files.example.org:8000', 'http://files.example.org:8000'],
    ['127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['[::1]:8000', 'http://[::1]:8000'],
    ['my_host', 'http://my_host'],
    ['', fallback],
    ['a b', fallback],
    ['evil.org/path', fallback],
    ['user@evil.org', fallback],
    ['evil.org#', fallback],
    ['evil.org?x', fallback],
    ['evil.org\\x', fallback],
    ['"><script>', fallback],
    ['host:port', fallback],
    ['host:123456', fallback],
    ['ho\u00e4st', fallback],
    ['-x.org', fallback],
    ['x'.repeat(300), fallback],
  ]
  for (const [host, url] of hosts) {
    it(`for the host ${JSON.stringify(host.slice(0, 30))} is ${url}`, () => {
      assert.equal(base('198.51.100.1', { host }), url)
    })
  }

  it('has the host of an absolute-form target, whatever the Host field is', () => {
    const sent = addressed('198.51.100.1', { host: 'b' })
    const head = { ...sent.head, url: 'http://a:81/path' }
    assert.equal(baseUrlOf({ ...sent, head }, { trust, publicUrl: undefined }), 'http://a:81')
  })

  it('begins with https where the client speaks TLS with us', () => {
    const sent = { ...addressed('198.51.100.1', { host: 'a' }), isEncrypted: true }
    assert.equal(baseUrlOf(sent, { trust, publicUrl: undefined }), 'https://a')
    const head = { url: '/', headers: { all: {} } }
    assert.equal(baseUrlOf({ ...sent, head }, { trust, publicUrl: undefined }), 'https://192.0.2.1:8000')
  })

  const forwarded = {
    'x-forwarded-host': 'files.example.org',
    'x-forwarded-proto': 'https',
    host: 'inner:8000',
  }
  it('believes a trusted proxy', () => assert.equal(base('10.0.0.1', forwarded), 'https://files.example.org'))
  it('believes nobody else', () => assert.equal(base('10.0.0.2', forwarded), 'http://inner:8000'))
  it('takes what the nearest proxy wrote', () => {
    const headers = { 'x-forwarded-host': 'evil.org, files.example.org', 'x-forwarded-proto': 'http, https' }
    assert.equal(base('10.0.0.1', headers), 'https://files.example.org')
  })
  it('takes no scheme but https from a header', () => {
    assert.equal(base('10.0.0.1', { host: 'a', 'x-forwarded-proto': 'javascript' }), 'http://a')
  })
  it('takes no odd host from a trusted proxy either', () => {
    assert.equal(base('10.0.0.1', { host: 'a', 'x-forwarded-host': 'evil.org/x' }), 'http://a')
  })
  it('is the configured one whatever the request says', () => {
    assert.equal(base('10.0.0.1', forwarded, 'https://carrel.example.org/x'), 'https://carrel.example.org/x')
  })
})

describe('a configured public URL', () => {
  it('loses the slash at its end', () => {
    assert.equal(parsePublicUrl('https://files.example.org/'), 'https://files.example.org')
    assert.equal(parsePublicUrl('http://a:8000/carrel//'), 'http://a:8000/carrel')
  })
  for (const text of ['', 'files.example.org', 'ftp://a', 'https://a/?x', 'https://a/#x']) {
    it(`cannot be ${JSON.stringify(text)}`, () => assert.throws(() => parsePublicUrl(text), /must look like/))
  }
})
