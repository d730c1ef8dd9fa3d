import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isPublicAddress, parseWebhookUrl } from './webhook-address.ts'

describe('addresses a webhook may have', () => {
  const refused = [
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '::127.0.0.1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    '3fff::1',
    'not an address',
    '',
  ]
  for (const address of refused) {
    it(`are not ${address || 'nothing'}`, () => assert.equal(isPublicAddress(address), false))
  }
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ]) {
    it(`can be ${address}`, () => assert.equal(isPublicAddress(address), true))
  }
})

describe('URLs a webhook may have', () => {
  const refused = [
    '',
    'example.org',
    '/path',
    'ftp://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'gopher://example.org/',
    'http://user:password@example.org/',
    'http://user@example.org/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://0/',
    'http://10.0.0.1:8080/hook',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fe80::1]/',
    'https://192.168.0.1/',
    `https://example.org/${'x'.repeat(2100)}`,
    `https://example.org/${'é'.repeat(400)}`,
  ]
  for (const url of refused) {
    it(`are not ${url.slice(0, 40) || 'nothing'}`, () => assert.equal(parseWebhookUrl(url, false), undefined))
  }

  it('are http and https, without what servers never see', () => {
    assert.equal(
      parseWebhookUrl('https://example.org/hook?a=1#there', false)?.href,
      'https://example.org/hook?a=1',
    )
    assert.equal(parseWebhookUrl('HTTP://Example.org', false)?.href, 'http://example.org/')
    assert.equal(parseWebhookUrl('http://8.8.8.8:81/', false)?.href, 'http://8.8.8.8:81/')
  })

  it('can be private where that is allowed', () => {
    assert.equal(parseWebhookUrl('http://127.0.0.1:9/', true)?.href, 'http://127.0.0.1:9/')
    assert.equal(parseWebhookUrl('http://u:p@127.0.0.1:9/', true), undefined)
  })
})
