import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressKey, clientAddress, parseTrustedProxies } from './client-address.ts'

describe('the address of a client', () => {
  const trust = parseTrustedProxies(['10.0.0.0/8', '::1', 'fd00::/8', '192.0.2.7'])
  const cases: [about: string, peer: string, forwardedFor: string | undefined, address: string][] = [
    ['is that of its connection', '198.51.100.1', undefined, '198.51.100.1'],
    ['is not what a stranger claims', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['is what a trusted proxy says', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['is read from the right', '10.1.2.3', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    [
      'passes through several trusted proxies',
      '10.1.2.3',
      '1.1.1.1, 203.0.113.9, 10.9.9.9,192.0.2.7',
      '203.0.113.9',
    ],
    ['is the first hop when all are trusted', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    [
      'is the last one known when a hop is nonsense',
      '10.1.2.3',
      '203.0.113.9, unknown, 10.0.0.2',
      '10.0.0.2',
    ],
    ['is the proxy when it says nothing usable', '10.1.2.3', '', '10.1.2.3'],
    ['is written without the port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['may be IPv6', '::1', '2001:db8::5', '2001:db8::5'],
    ['may be IPv6 in brackets with a port', 'fd12::1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['is IPv4 even when the socket wraps it', '::ffff:10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
  ]
  for (const [about, peer, forwardedFor, address] of cases) {
    it(about, () => assert.equal(clientAddress(peer, forwardedFor, trust), address))
  }

  it('never comes from a header when no proxy is trusted', () => {
    assert.equal(clientAddress('127.0.0.1', '203.0.113.9', parseTrustedProxies([])), '127.0.0.1')
  })
})

describe('a trusted proxy', () => {
  for (const entry of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/x',
    '*',
  ]) {
    it(`cannot be ${JSON.stringify(entry)}`, () => {
      assert.throws(() => parseTrustedProxies([entry]), /is not an address or a range/)
    })
  }
})

describe('what an address is counted by', () => {
  const cases: [address: string, key: string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['2001:0DB8:0:00::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
  ]
  for (const [address, key] of cases)
    it(`is ${key} for ${address}`, () => assert.equal(addressKey(address), key))
})
