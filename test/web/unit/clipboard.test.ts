import './browser-globals.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

const { parseClipped } = await import('../../../web/src/files/entry-clipboard.ts')
const { nameOfPasted } = await import('../../../web/src/uploads/pasted-files.ts')

describe('the stored clipboard', () => {
  const selected = { libraryId: 'L', folder: '/', names: ['a'] }

  it('is read as it was written', () => {
    const clipped = { id: '1', operation: 'move', selected }
    assert.deepEqual(parseClipped(JSON.stringify(clipped)), clipped)
  })

  it('is nothing if somebody else wrote it', () => {
    for (const text of [
      null,
      '',
      '7',
      'null',
      '{}',
      JSON.stringify({ id: '1', operation: 'erase', selected }),
      JSON.stringify({ id: 1, operation: 'copy', selected }),
      JSON.stringify({ id: '1', operation: 'copy', selected: { ...selected, names: [] } }),
      JSON.stringify({ id: '1', operation: 'copy', selected: { ...selected, names: [1] } }),
      JSON.stringify({ id: '1', operation: 'copy', selected: { ...selected, folder: undefined } }),
    ]) {
      assert.equal(parseClipped(text), undefined, String(text))
    }
  })
})

describe('a pasted image', () => {
  it('is named after the time, unless it has a name of its own', () => {
    const now = new Date(2026, 2, 4, 5, 6, 7)
    assert.equal(nameOfPasted('image.png', now), 'image 2026-03-04 05.06.07.png')
    assert.equal(nameOfPasted('beach.png', now), undefined)
    assert.equal(nameOfPasted('my image.png', now), undefined)
  })
})
