import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../api/index.ts'

/** What the server tells while we listen; `docs/events.md` has the list. */
export interface LiveEvent {
  readonly name: 'ready' | 'reset' | 'commit' | 'lock' | 'libraries' | 'notification' | 'task'
  readonly data: Readonly<Record<string, unknown>>
}

const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000]
/** Many commits in a row are shown by one refresh. */
const SETTLE_MS = 300
/** While they go on and on, a folder of thousands need not be loaded several times a second. */
const BUSY_MS = 1500

const listeners = new Set<(event: LiveEvent) => void>()

/** Hears of each event, beside what `useLive` does with it. */
export function useLiveEvents(listener: (event: LiveEvent) => void): void {
  useEffect(() => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [listener])
}

/** Listens for as long as it is mounted, and has what changed loaded again. */
export function useLive(): void {
  const queries = useQueryClient()
  useEffect(() => {
    const stopping = new AbortController()
    const refresh = refresher(queries)
    void listen(stopping.signal, (event) => {
      for (const key of concerned(event)) refresh(key)
      for (const listener of listeners) listener(event)
    })
    return () => stopping.abort()
  }, [queries])
}

/** The keys of the queries that an event makes stale. */
function concerned({ name, data }: LiveEvent): readonly (readonly string[])[] {
  const { repo_id: id = '' } = data as { repo_id?: string }
  if (name === 'commit')
    return [['dir', id], ['library', id], ['libraries'], ['history', id], ['trash', id], ['activities']]
  if (name === 'lock') return [['dir', id]]
  if (name === 'libraries') return [['libraries'], ['library'], ['groups'], ['deleted-libraries']]
  if (name === 'notification') return [['notifications']]
  if (name === 'reset') return [[]]
  return []
}

function refresher(queries: QueryClient): (key: readonly string[]) => void {
  const waiting = new Map<string, readonly string[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Number.NEGATIVE_INFINITY
  function tell(): void {
    timer = undefined
    last = performance.now()
    const keys = [...waiting.values()]
    waiting.clear()
    for (const queryKey of keys) {
      // What is being loaded is loaded to its end: a long list that changes all the time would never be there else.
      if (queries.isFetching({ queryKey }) > 0) refresh(queryKey)
      else void queries.invalidateQueries({ queryKey })
    }
  }
  function refresh(key: readonly string[]): void {
    waiting.set(key.join('\n'), key)
    const isBusy = performance.now() - last < BUSY_MS
    timer ??= setTimeout(tell, isBusy ? BUSY_MS : SETTLE_MS)
  }
  return refresh
}

async function listen(signal: AbortSignal, onEvent: (event: LiveEvent) => void): Promise<void> {
  let since: string | undefined
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const headers = { Accept: 'text/event-stream', ...(since !== undefined && { 'Last-Event-ID': since }) }
      const response = await call('GET', 'api/v2.1/events/', { signal, headers })
      for await (const fields of eventsIn(response)) {
        failures = 0
        since = fields['id'] ?? since
        const { event: name = '', data } = fields
        if (data !== undefined) onEvent({ name: name as LiveEvent['name'], data: JSON.parse(data) })
      }
    } catch {
      // Cut off, refused or not to be understood: come back a little later.
    }
    if (signal.aborted) return
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]))
  }
}

async function* eventsIn(response: Response): AsyncGenerator<Record<string, string | undefined>> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text
        .slice(0, end)
        .split('\n')
        .filter((line) => !line.startsWith(':'))
      text = text.slice(end + 2)
      yield Object.fromEntries(lines.map((line) => line.split(/: ?(.*)/s, 2)))
    }
  }
}
