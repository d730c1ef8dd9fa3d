import assert from 'node:assert/strict'
import { it } from 'node:test'
import { columnName, sheetOf } from '../../../web/src/viewer/spreadsheet-cells.ts'

it('cells of a spreadsheet are shown as texts', () => {
  const sheet = sheetOf('One', [
    ['a', 1.5, true, null],
    [new Date('2024-02-03T00:00:00Z'), new Date('2024-02-03T14:05:00Z')],
  ])
  assert.deepEqual(sheet.rows, [
    ['a', '1.5', 'true', ''],
    ['2024-02-03', '2024-02-03 14:05'],
  ])
  assert.deepEqual([sheet.columns, sheet.isCut], [4, false])
})

it('a sheet that is too wide is cut', () => {
  const sheet = sheetOf('Wide', [Array.from({ length: 500 }, (_, index) => index)])
  assert.equal(sheet.rows[0]?.length, 200)
  assert.equal(sheet.isCut, true)
})

it('columns are named by letters', () => {
  assert.deepEqual([0, 25, 26, 51, 52, 701, 702].map(columnName), ['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'])
})
