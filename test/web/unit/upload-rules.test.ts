import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chunkLength, contentRange, nextChunk, resumeAt } from '../../../web/src/uploads/chunks.ts'
import {
  folderPlaces,
  foldersOf,
  type Known,
  placesOf,
  resolveConflicts,
} from '../../../web/src/uploads/conflicts.ts'
import { classifyResponse, scopeOfFailure } from '../../../web/src/uploads/failures.ts'
import { byteLength, freeName, isValidName } from '../../../web/src/uploads/names.ts'
import { RateMeter, secondsLeft } from '../../../web/src/uploads/rate.ts'

const MB = 1_000_000

describe('the chunks of a file', () => {
  it('cover it without gaps at any transfer rate', () => {
    for (const rate of [0, 1e5, 5e6, 1e9]) {
      const size = 100 * MB + 12_345
      let stored = 0
      for (let chunk = nextChunk(stored, size, rate); chunk; chunk = nextChunk(stored, size, rate)) {
        assert.equal(chunk.start, stored)
        assert.ok(chunk.end > stored && chunk.end <= size)
        stored = chunk.end
      }
      assert.equal(stored, size)
    }
  })

  it('grow with the transfer rate, within limits', () => {
    assert.equal(chunkLength(0), 8 * MB)
    assert.equal(chunkLength(5 * MB), 20 * MB)
    assert.equal(chunkLength(1e12), 64 * MB)
  })

  it('do not end with a tiny chunk', () => {
    assert.deepEqual(nextChunk(0, 9 * MB, 0), { start: 0, end: 9 * MB })
  })

  it('resume at the offset of the server, and start over if that offset is impossible', () => {
    assert.deepEqual([resumeAt(8, 20), resumeAt(20, 20), resumeAt(30, 20)], [8, 0, 0])
    assert.equal(contentRange({ start: 8, end: 20 }, 20), 'bytes 8-19/20')
  })
})

describe('the targets of files', () => {
  const content = (kinds: Record<string, 'file' | 'dir'>) => new Map(Object.entries(kinds))
  const known = (): Known =>
    new Map([
      ['', content({ 'a.txt': 'file', docs: 'dir', notes: 'file' })],
      ['docs', content({ 'b.txt': 'file', 'b (1).txt': 'file', sub: 'dir' })],
    ])

  it('include the folders to list, parents first', () => {
    assert.deepEqual(foldersOf(['x.txt', 'a/b/c.txt', 'a/d.txt']), ['', 'a', 'a/b'])
  })

  it('are taken if a name exists in any Unicode form', () => {
    const there: Known = new Map([['', content({ '\u00e9.txt': 'file' })]])
    assert.deepEqual(placesOf(['e\u0301.txt', 'new.txt'], there), [
      { folder: '', name: '\u00e9.txt', isTaken: true },
      { folder: '', name: 'new.txt', isTaken: false },
    ])
  })

  it('get another name where a file and a folder collide', () => {
    assert.deepEqual(placesOf(['notes/today.txt', 'notes/x/y.txt', 'docs'], known()), [
      { folder: 'notes (1)', name: 'today.txt', isTaken: false },
      { folder: 'notes (1)/x', name: 'y.txt', isTaken: false },
      { folder: '', name: 'docs (1)', isTaken: false },
    ])
    assert.deepEqual(folderPlaces(['notes/empty', 'docs/empty'], known()), ['notes (1)/empty', 'docs/empty'])
  })

  it('never make two files of one upload replace each other', () => {
    const places = placesOf(['x.txt', 'x.txt'], new Map())
    assert.deepEqual(
      places.map(({ name }) => name),
      ['x.txt', 'x (1).txt'],
    )
  })

  it('follow the answer to the conflict question', () => {
    const places = placesOf(['a.txt', 'docs/b.txt', 'docs/new.txt'], known())
    const names = (answer: Parameters<typeof resolveConflicts>[2]) =>
      resolveConflicts(places, known(), answer).map(
        (one) => one && `${one.folder}/${one.name}${one.replace ? '!' : ''}`,
      )
    assert.deepEqual(names('keep-both'), ['/a (1).txt', 'docs/b (2).txt', 'docs/new.txt'])
    assert.deepEqual(names('replace'), ['/a.txt!', 'docs/b.txt!', 'docs/new.txt'])
    assert.deepEqual(names('skip'), [undefined, undefined, 'docs/new.txt'])
  })

  it('get numbers within the name length the server accepts', () => {
    const taken = new Set(['a.txt', 'a (1).txt', '.bashrc'])
    assert.equal(
      freeName('a.txt', (name) => taken.has(name)),
      'a (2).txt',
    )
    assert.equal(
      freeName('.bashrc', (name) => taken.has(name)),
      '.bashrc (1)',
    )
    const long = `${'ü'.repeat(125)}.txt`
    const free = freeName(long, (name) => name === long)
    assert.ok(byteLength(free) <= 255 && free.endsWith(' (1).txt'))
  })

  it('reject names the server would refuse', () => {
    for (const bad of ['', '.', '..', 'a\\b', 'a\nb', 'a\u007f', '\u0085', 'ü'.repeat(128), '\ud800'])
      assert.ok(!isValidName(bad), bad)
    for (const good of ['a', '"<script>".txt', '\u202egpj.exe', 'ü'.repeat(127), '...'])
      assert.ok(isValidName(good))
  })
})

describe('an error response to an upload', () => {
  it('is classified by status and message', () => {
    const cases: readonly [number, string, string][] = [
      [0, '', 'cut'],
      [403, 'Access token not found', 'link'],
      [403, 'Permission denied.', 'permission'],
      [403, 'Repo status not writable.', 'read-only'],
      [443, 'Out of quota.', 'quota'],
      [500, 'Out of quota.', 'quota'],
      [442, 'File size is too large.', 'too-large'],
      [413, '', 'too-large'],
      [440, 'Invalid filename.', 'name'],
      [400, 'Repo is encrypted. Please provide password to view it.', 'locked'],
      [400, 'Invalid Seafile-Content-Range', 'range'],
      [400, "Parent dir doesn't exist.", 'gone'],
      [404, 'Library not found.', 'gone'],
      [500, 'Internal error', 'later'],
      [503, '', 'later'],
      [429, '', 'later'],
      [400, 'Too many files with same name.', 'refused'],
    ]
    for (const [status, message, expected] of cases) {
      const verdict = classifyResponse(status, message)
      assert.equal(typeof verdict === 'string' ? verdict : verdict.kind, expected, `${status} ${message}`)
    }
  })

  it('stops the file, its folder or its library', () => {
    assert.deepEqual(
      [scopeOfFailure('name'), scopeOfFailure('permission'), scopeOfFailure('locked')],
      ['file', 'folder', 'library'],
    )
  })
})

describe('the transfer rate', () => {
  it('is measured over the last seconds', () => {
    const meter = new RateMeter()
    assert.equal(meter.perSecond(0), 0)
    for (let at = 0; at <= 10_000; at += 100) meter.add(at, 100_000)
    const rate = meter.perSecond(10_000)
    assert.ok(Math.abs(rate - MB) < MB / 10, String(rate))
    assert.equal(meter.perSecond(60_000), 0)
    meter.reset()
    assert.equal(meter.perSecond(60_000), 0)
  })

  it('gives the time left, or nothing if it is unknown', () => {
    assert.equal(secondsLeft(10, 5), 2)
    assert.equal(secondsLeft(0, 0), 0)
    assert.equal(secondsLeft(10, 0), undefined)
  })
})
