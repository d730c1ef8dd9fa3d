import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { BlockUses, CURRENT, HISTORY, PARTS, partOf, TRASH, UNREFERENCED } from './block-uses.ts'

const idOf = (number: number) => createHash('sha1').update(String(number)).digest()

describe('BlockUses', () => {
  it('keeps the use that was noted first, however many blocks there are', () => {
    using uses = new BlockUses(0)
    const useOf = (number: number) => ([CURRENT, TRASH, HISTORY] as const)[number % 3] ?? CURRENT
    for (let number = 0; number < 20_000; number++) uses.note(idOf(number), 0, useOf(number))
    for (let number = 0; number < 20_000; number++) uses.note(idOf(number), 0, HISTORY)
    for (let number = 0; number < 20_000; number++) assert.equal(uses.find(idOf(number)), useOf(number))
    assert.equal(uses.find(idOf(20_000)), UNREFERENCED)
    assert.equal(uses.to, PARTS)
  })

  it('notes ids one after another, and ids of nothing but zeros', () => {
    using uses = new BlockUses(0)
    const ids = Buffer.concat([Buffer.alloc(20), idOf(1)])
    uses.note(ids, 0, CURRENT)
    uses.note(ids, 20, TRASH)
    assert.deepEqual([uses.find(Buffer.alloc(20)), uses.find(idOf(1))], [CURRENT, TRASH])
  })

  it('leaves to another round what is too much, and each block is of one round', () => {
    const ids = Array.from({ length: 5000 }, (_, number) => idOf(number))
    let found = 0
    let rounds = 0
    for (let part = 0; part < PARTS; rounds++) {
      using uses = new BlockUses(part, 1000)
      for (const id of ids) uses.note(id, 0, CURRENT)
      const own = ids.filter((id) => partOf(id) >= part && partOf(id) < uses.to)
      assert.ok(own.length > 0 && own.length <= 1000)
      assert.ok(own.every((id) => uses.find(id) === CURRENT))
      found += own.length
      part = uses.to
    }
    assert.equal(found, ids.length)
    assert.ok(rounds >= 5 && rounds < 20, `${rounds} rounds`)
  })

  it('takes all of a part that cannot be divided any more', () => {
    using uses = new BlockUses(PARTS - 1, 10)
    const ids = Array.from({ length: 5000 }, (_, number) => idOf(number)).filter(
      (id) => partOf(id) === PARTS - 1,
    )
    assert.ok(ids.length > 20)
    for (const id of ids) uses.note(id, 0, TRASH)
    assert.ok(ids.every((id) => uses.find(id) === TRASH))
  })
})
