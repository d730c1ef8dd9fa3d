import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readEventStream } from '../../../web/src/live/event-stream.ts'
import { type LiveEvent, staleQueries } from '../../../web/src/live/stale-queries.ts'

async function eventsOf(...chunks: string[]): Promise<Record<string, string | undefined>[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
  const found: Record<string, string | undefined>[] = []
  for await (const event of readEventStream(new Response(body))) found.push(event)
  return found
}

describe('the stream of live events', () => {
  it('is read event by event, however it is cut into chunks', async () => {
    const text = 'id: 7\nevent: commit\ndata: {"repo_id":"x: y"}\n\nevent: ready\ndata: {}\n\n'
    const expected = [
      { id: '7', event: 'commit', data: '{"repo_id":"x: y"}' },
      { event: 'ready', data: '{}' },
    ]
    assert.deepEqual(await eventsOf(text), expected)
    assert.deepEqual(await eventsOf(...text.split('')), expected)
  })

  it('skips comments and an event that was not finished', async () => {
    assert.deepEqual(await eventsOf(': ping\n\n', 'event: task\n: x\ndata:1\n\nevent: com'), [
      {},
      { event: 'task', data: '1' },
    ])
  })
})

describe('the queries an event makes stale', () => {
  const keys = (name: LiveEvent['name'], data = {}) =>
    staleQueries({ name, data }).map((key) => key.join(' '))

  it('are those of the library of a commit and all lists', () => {
    assert.deepEqual(keys('commit', { repo_id: 'L' }), [
      'dir L',
      'library L',
      'libraries',
      'history L',
      'trash L',
      'activities',
      'photos days',
      'thumbhashes L',
    ])
    assert.deepEqual(keys('lock', { repo_id: 'L' }), ['dir L'])
    assert.deepEqual(keys('comment', { repo_id: 'L' }), ['comments L'])
    assert.deepEqual(keys('tag', { repo_id: 'L' }), ['tags L', 'dir L'])
  })

  it('are the lists after a change of access, and everything after a reset', () => {
    assert.ok(keys('libraries').includes('libraries'))
    assert.deepEqual(keys('notification'), ['notifications'])
    assert.deepEqual(staleQueries({ name: 'reset', data: {} }), [[]])
    assert.deepEqual(keys('ready'), ['dir'])
  })
})
