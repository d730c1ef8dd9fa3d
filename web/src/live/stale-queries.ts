/** A live event of the server. `docs/events.md` lists them. */
export interface LiveEvent {
  readonly name:
    | 'ready'
    | 'reset'
    | 'commit'
    | 'lock'
    | 'comment'
    | 'tag'
    | 'libraries'
    | 'notification'
    | 'task'
  readonly data: Readonly<Record<string, unknown>>
}

/** The keys of the cached queries that an event makes stale. The empty key stands for all of them. */
export function staleQueries({ name, data }: LiveEvent): readonly (readonly string[])[] {
  const { repo_id: id = '' } = data as { repo_id?: string }
  if (name === 'commit')
    return [
      ['dir', id],
      ['library', id],
      ['libraries'],
      ['history', id],
      ['trash', id],
      ['activities'],
      ['photos', 'days'],
      ['thumbhashes', id],
    ]
  // What was loaded before the stream started may have changed in between. Unchanged folders are not transferred again.
  if (name === 'ready') return [['dir']]
  if (name === 'lock') return [['dir', id]]
  if (name === 'libraries')
    return [['libraries'], ['library'], ['groups'], ['deleted-libraries'], ['photos', 'days']]
  if (name === 'comment') return [['comments', id]]
  if (name === 'tag')
    return [
      ['tags', id],
      ['dir', id],
    ]
  if (name === 'notification') return [['notifications']]
  if (name === 'reset') return [[]]
  return []
}
