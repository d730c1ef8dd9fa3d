import assert from 'node:assert/strict'
import { it } from 'node:test'
import { numberPlaceholders } from './statements.ts'

const cases: [sql: string, numbered: string][] = [
  ['select 1', 'select 1'],
  ['select ? + ?', 'select $1 + $2'],
  [`select '?' || ?`, `select '?' || $1`],
  [`select 'it''s ?' || ?`, `select 'it''s ?' || $1`],
  ['select "a?" from t where b = ?', 'select "a?" from t where b = $1'],
  ['select ? -- why?\n, ?', 'select $1 -- why?\n, $2'],
  ['select /* ? */ ?', 'select /* ? */ $1'],
  ['values (?,?), (?,?)', 'values ($1,$2), ($3,$4)'],
]
for (const [sql, numbered] of cases) {
  it(`numbers the placeholders of ${JSON.stringify(sql)}`, () =>
    assert.equal(numberPlaceholders(sql), numbered))
}
