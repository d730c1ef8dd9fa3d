import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Value } from '../../platform/database/index.ts'
import { RowChunker, rowsFromChunk } from './row-format.ts'

function chunksOf(rows: readonly Value[][]): Buffer[] {
  const chunker = new RowChunker()
  const chunks = rows.map((row) => chunker.push(row))
  return [...chunks, chunker.end()].filter((chunk) => chunk !== undefined)
}

const rowOf = (number: number): Value[] => [
  number,
  new Uint8Array(createHash('sha256').update(String(number)).digest()),
  'tëxt\n"quoted"',
  null,
]

describe('chunks of rows', () => {
  it('give back every value as it was', () => {
    const rows: Value[][] = [
      [1, -(2 ** 52), 'a', '', null, new Uint8Array(0), new Uint8Array([0, 255])],
      [2, 0, '\u2028\\', '[]', null, new Uint8Array([1]), new Uint8Array(70_000)],
    ]
    assert.deepEqual(chunksOf(rows).flatMap(rowsFromChunk), rows)
  })

  it('stay mostly the same when rows are added, removed and changed elsewhere', () => {
    const rows = Array.from({ length: 20_000 }, (_, number) => rowOf(number))
    const before = new Set(chunksOf(rows).map((chunk) => chunk.toString('latin1')))
    const changed = [...rows.slice(0, 5000), rowOf(-1), ...rows.slice(5001), rowOf(20_001)]
    const after = chunksOf(changed)
    const added = after.filter((chunk) => !before.has(chunk.toString('latin1')))
    assert.ok(before.size > 20, String(before.size))
    assert.ok(added.length <= 4, `${added.length} of ${after.length} chunks are new`)
  })
})
