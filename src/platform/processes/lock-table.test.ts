import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LockTable } from './lock-table.ts'

describe('the locks of several processes', () => {
  const [one, two, three] = [{}, {}, {}]

  it('are granted in the order of the requests', () => {
    const { table, granted, request } = createTable()
    request(one, 1, 'write')
    request(two, 1, 'write')
    request(three, 1, 'write')
    assert.deepEqual(granted, ['write 1'])
    table.release(one, { id: 1, name: 'write' })
    table.release(two, { id: 1, name: 'write' })
    assert.equal(granted.length, 3)
  })

  it('are released when their process dies, and its requests are withdrawn', () => {
    const { table, granted, request } = createTable()
    request(one, 1, 'write')
    request(two, 2, 'write')
    request(two, 3, 'mutex 7')
    request(three, 4, 'write')
    request(three, 5, 'mutex 7')
    table.releaseAll(two)
    assert.deepEqual(granted, ['write 1', 'mutex 7 3', 'mutex 7 5'])
    table.releaseAll(one)
    assert.deepEqual(granted.slice(3), ['write 4'])
  })

  it('say which others are held or waited for', () => {
    const { table } = createTable()
    const seen: (readonly string[])[] = []
    table.request(one, { id: 1, name: 'mutex 7' }, (taken) => seen.push(taken))
    table.request(two, { id: 1, name: 'write' }, (taken) => seen.push(taken))
    assert.deepEqual(seen, [[], ['mutex 7']])
  })

  it('wait for whoever has another lock, and for nobody who comes later', () => {
    const { table, granted, request } = createTable()
    request(one, 1, 'write')
    table.request(two, { id: 2, name: 'mutex 7', after: 'write' }, () => granted.push('mutex 7 2'))
    request(three, 3, 'write')
    assert.deepEqual(granted, ['write 1'])
    table.release(one, { id: 1, name: 'write' })
    assert.deepEqual(granted.toSorted(), ['mutex 7 2', 'write 1', 'write 3'])
  })

  it('do not wait for another lock of the same process', () => {
    const { table, granted, request } = createTable()
    request(one, 1, 'write')
    table.request(one, { id: 2, name: 'mutex 7', after: 'write' }, () => granted.push('mutex 7 2'))
    assert.deepEqual(granted, ['write 1', 'mutex 7 2'])
  })
})

function createTable() {
  const table = new LockTable()
  const granted: string[] = []
  const request = (owner: object, id: number, name: string) =>
    table.request(owner, { id, name }, () => granted.push(`${name} ${id}`))
  return { table, granted, request }
}
