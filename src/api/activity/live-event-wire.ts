import type { LiveEvent, LiveMessage } from '../../activity/index.ts'
import { ROOT } from '../../objects/index.ts'
import { isoTime } from '../common/wire-formats.ts'

// Server-sent events: a line for each field, and an empty line at the end. JSON has no line breaks of its own.

/** A live event as clients read it. */
export function liveMessage(message: LiveMessage): string {
  const [name, data] = dataOf(message.event, message)
  return eventText(message.id, name, data)
}

/** What a stream begins with: from here on, everything is told. */
export function liveReady(id: number): string {
  return eventText(id, 'ready', { since: id })
}

/** Something was missed: what the client shows is to be fetched again. */
export function liveReset(id: number): string {
  return eventText(id, 'reset', { since: id })
}

/** Nothing happened. Without data it is no event, but clients keep its number. */
export function liveAlive(id: number): string {
  return `: alive\nid: ${id}\n\n`
}

function dataOf(event: LiveEvent, { view }: LiveMessage): [name: string, data: Record<string, unknown>] {
  switch (event.kind) {
    case 'commit': {
      // The commits of a library are not those of a folder in it.
      const isWhole = view?.readable.base === ROOT
      return [
        'commit',
        {
          repo_id: view?.readable.id,
          ...(isWhole && { commit_id: event.commitId }),
          author_email: event.author,
          time: isoTime(event.at),
        },
      ]
    }
    case 'lock':
      return [
        'lock',
        {
          repo_id: view?.readable.id,
          path: view?.path,
          locked: event.locked,
          author_email: event.author,
        },
      ]
    case 'access':
      return ['libraries', {}]
    case 'notification':
      return ['notification', { id: event.id, type: event.type }]
    case 'task': {
      const { id, type, state, done, total } = event.task
      return ['task', { task_id: id, type, state, done, total }]
    }
  }
}

function eventText(id: number | undefined, name: string, data: unknown): string {
  const number = id === undefined ? '' : `id: ${id}\n`
  return `${number}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
