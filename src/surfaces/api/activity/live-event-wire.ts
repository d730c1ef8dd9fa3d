import { ROOT } from '../../../base/paths/index.ts'
import type { LiveEvent, LiveMessage } from '../../../derived/activity/index.ts'
import { isoTime } from '../common/wire-formats.ts'

// Server-sent events: a line for each field, and an empty line at the end. JSON has no line breaks of its own.

/** A live event as clients read it. */
export function liveMessage(message: LiveMessage): string {
  const [name, data] = dataOf(message.event, message)
  return eventText(message.id, name, data)
}

/** The first event of a stream: all later events follow. */
export function liveReady(id: number): string {
  return eventText(id, 'ready', { since: id })
}

/** Events were lost: the client must fetch its data again. */
export function liveReset(id: number): string {
  return eventText(id, 'reset', { since: id })
}

/** A keep-alive. It is no event, because it has no data, but clients store its id. */
export function liveAlive(id: number): string {
  return `: alive\nid: ${id}\n\n`
}

function dataOf(event: LiveEvent, { view }: LiveMessage): [name: string, data: Record<string, unknown>] {
  switch (event.kind) {
    case 'commit': {
      // A folder of a library has no commit ids of its own.
      const isWhole = view?.readable.base === ROOT
      return [
        'commit',
        {
          repo_id: view?.readable.id,
          ...(isWhole && { commit_id: event.commitId }),
          author_email: event.author,
          ...(event.viaLink && { via_link: true }),
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
    case 'comment':
    case 'tag':
      return [event.kind, { repo_id: view?.readable.id, path: view?.path, author_email: event.author }]
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
