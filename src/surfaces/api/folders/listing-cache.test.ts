import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ListingCache } from './listing-cache.ts'

it('evicts the least recently used listing when it is full', () => {
  const cache = new ListingCache(100)
  for (const key of ['a', 'b', 'c', 'd']) cache.put(key, '', Buffer.alloc(25, key))
  assert.equal(cache.find('a', '')?.toString(), 'a'.repeat(25))
  cache.put('e', '', Buffer.alloc(25, 'e'))
  assert.equal(cache.find('b', ''), undefined, 'the least recently used one is evicted')
  assert.equal(cache.find('a', '')?.length, 25)
  assert.equal(cache.bytes, 100)
})

it('misses when the name of a modifier changed', () => {
  const cache = new ListingCache(100)
  cache.put('a', 'Ann', Buffer.from('by Ann'))
  assert.equal(cache.find('a', 'Anna'), undefined)
  cache.put('a', 'Anna', Buffer.from('by Anna'))
  assert.equal(cache.find('a', 'Anna')?.toString(), 'by Anna')
  assert.equal(cache.bytes, 7)
})

it('does not cache a listing larger than a quarter of the limit', () => {
  const cache = new ListingCache(100)
  cache.put('a', '', Buffer.alloc(10))
  cache.put('big', '', Buffer.alloc(26))
  assert.equal(cache.find('big', ''), undefined)
  assert.equal(cache.find('a', '')?.length, 10)
})
