import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Upload, UploadQueue } from '../../../web/src/uploads/queue.ts'

const MB = 1_000_000
let made = 0

function upload(more: Partial<Upload> = {}): Upload {
  made += 1
  return {
    key: `k${made}`,
    drop: 'd',
    isPlanned: true,
    isFolder: false,
    libraryId: 'lib',
    libraryName: 'Library',
    target: '/',
    folder: '',
    name: `f${made}`,
    size: 1000,
    modified: 1,
    replace: false,
    addedAt: 1,
    state: 'waiting',
    sent: 0,
    failure: undefined,
    tries: 0,
    isUnsure: false,
    isBegun: false,
    isAlone: false,
    ...more,
  }
}

function queueOf(...uploads: Upload[]): UploadQueue {
  const queue = new UploadQueue()
  queue.add(uploads)
  return queue
}

const any = { mayBeBig: true }

describe('the upload queue', () => {
  it('batches small files of one folder, up to 100 files and 8 MB', () => {
    const queue = queueOf(...Array.from({ length: 150 }, () => upload()))
    assert.equal(queue.take(any)?.uploads.length, 100)
    assert.equal(queue.take(any)?.uploads.length, 50)
    assert.equal(queue.take(any), undefined)
    const heavy = queueOf(...Array.from({ length: 20 }, () => upload({ size: MB })))
    assert.equal(heavy.take(any)?.uploads.length, 8)
  })

  it('does not mix folders, libraries, replace modes or sizes in a batch', () => {
    const queue = queueOf(
      upload(),
      upload({ folder: 'a' }),
      upload({ libraryId: 'other' }),
      upload({ replace: true }),
      upload({ size: 2 * MB }),
      upload({ isFolder: true, size: 0 }),
      upload(),
    )
    const taken = Array.from({ length: 6 }, () => queue.take(any)?.uploads.length)
    assert.deepEqual(taken, [2, 1, 1, 1, 1, 1])
  })

  it('sends big files in chunks, and smaller files past them when the limit of big ones is reached', () => {
    const queue = queueOf(upload({ size: 9 * MB }), upload())
    assert.equal(queue.take({ mayBeBig: false })?.kind, 'files')
    assert.equal(queue.take({ mayBeBig: false }), undefined)
    assert.equal(queue.take(any)?.kind, 'chunks')
  })

  it('retries first, and alone if the file was refused in a batch', () => {
    const [first, second] = [upload(), upload()]
    const queue = queueOf(first, second, upload())
    queue.take(any)
    for (const one of [first, second]) {
      one.isAlone = true
      queue.putBack(one)
    }
    queue.add([upload()])
    assert.deepEqual(queue.take(any)?.uploads, [first])
    assert.deepEqual(queue.take(any)?.uploads, [second])
  })

  it('counts what is done, and subtracts the bytes of a broken request', () => {
    const [small, big] = [upload({ size: 5000 }), upload({ size: 20 * MB, isBegun: true })]
    const queue = queueOf(small, big)
    queue.take(any)
    queue.take(any)
    queue.progress(small, 4000)
    queue.progress(big, 8 * MB)
    const before = queue.totals.workDone
    assert.equal(before, 4000 + 8 * MB)
    queue.putBack(small)
    queue.putBack(big)
    // Whole chunks have arrived; a part of a request has not.
    assert.deepEqual([small.sent, big.sent], [0, 8 * MB])
    assert.equal(queue.totals.counts.waiting, 2)
    queue.done(small, small.name)
    queue.done(big, big.name)
    assert.equal(queue.totals.workDone, queue.totals.work)
    assert.equal(queue.isBusy, false)
  })

  it('pauses, resumes and removes uploads', () => {
    const one = upload()
    const queue = queueOf(one)
    queue.pause(one)
    assert.equal(queue.take(any), undefined)
    queue.resume(one)
    assert.equal(queue.take(any)?.uploads[0], one)
    queue.pause(one)
    queue.remove(one)
    assert.deepEqual(queue.totals.all, 0)
    assert.equal(queue.totals.work, 0)
    queue.done(one, one.name)
    assert.equal(queue.totals.counts.done, 0)
  })

  it('ignores what becomes of an upload that a later visit has taken over', () => {
    const old = upload()
    const queue = queueOf(old)
    queue.take(any)
    queue.clear()
    queue.add([{ ...old, state: 'waiting' }])
    queue.done(old, old.name)
    queue.remove(old)
    assert.deepEqual([queue.totals.counts.waiting, queue.totals.counts.sending, queue.totals.all], [1, 0, 1])
  })

  it('fails all uploads that share the cause of a failure', () => {
    const full = upload({ size: 5000 })
    const [larger, smaller] = [upload({ size: 6000 }), upload({ size: 100 })]
    const elsewhere = upload({ libraryId: 'other', size: 9000 })
    const queue = queueOf(full, larger, smaller, elsewhere)
    const quota = { kind: 'quota', message: '' } as const
    queue.fail(full, quota)
    assert.deepEqual(queue.failLike(full, quota), [larger])
    const denied = { kind: 'permission', message: '' } as const
    assert.deepEqual(queue.failLike(full, denied), [smaller])
    assert.equal(elsewhere.state, 'waiting')
  })

  it('picks from 10,000 uploads quickly', () => {
    const queue = queueOf(...Array.from({ length: 10_000 }, (_, n) => upload({ folder: `d${n % 50}` })))
    const before = process.cpuUsage()
    let requests = 0
    for (let work = queue.take(any); work; work = queue.take(any)) {
      requests += 1
      for (const one of work.uploads) queue.done(one, one.name)
    }
    assert.ok(requests <= 1000, String(requests))
    assert.equal(queue.totals.counts.done, 10_000)
    assert.ok(process.cpuUsage(before).user < 2_000_000)
  })
})
