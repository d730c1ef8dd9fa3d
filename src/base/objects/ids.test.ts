import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type DirId,
  EMPTY_ID,
  idFromBytes,
  idToBytes,
  newLibraryId,
  parseBlockId,
  parseCommitId,
  parseFsId,
  parseLibraryId,
  parseObjectId,
} from './ids.ts'

describe('ids', () => {
  it('accepts only lower-case UUIDs as library ids', () => {
    const id = '7ff147b8-0784-448d-92d1-cf3b5a43ec65'
    assert.equal(parseLibraryId(id), id)
    const wrong = [id.toUpperCase(), id.slice(1), `${id}\n`, id.replaceAll('-', '0'), `-${id.slice(1)}`, '']
    for (const text of wrong) assert.equal(parseLibraryId(text), undefined, JSON.stringify(text))
  })

  it('accepts only forty lower-case hex digits as object ids', () => {
    const id = '22596363b3de40b06f981fb85d82312e8c0ed511'
    for (const parse of [parseObjectId, parseCommitId, parseFsId, parseBlockId]) {
      assert.equal(parse(id), id)
      for (const text of [id.toUpperCase(), id.slice(1), `${id}0`, `${id}\n`, `${id.slice(1)}g`, '']) {
        assert.equal(parse(text), undefined, JSON.stringify(text))
      }
    }
  })

  it('converts ids to twenty bytes and back', () => {
    const id = '22596363b3de40b06f981fb85d82312e8c0ed511' as DirId
    assert.equal(idToBytes(id).length, 20)
    assert.equal(idFromBytes<DirId>(new Uint8Array(idToBytes(id))), id)
    assert.equal(idFromBytes<DirId>(new Uint8Array(20)), EMPTY_ID)
    assert.throws(() => idFromBytes<DirId>(new Uint8Array(19)), RangeError)
  })

  it('creates valid library ids', () => {
    const id = newLibraryId()
    assert.equal(parseLibraryId(id), id)
    assert.notEqual(newLibraryId(), id)
  })
})
